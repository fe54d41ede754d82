/* A session on a GPU: to the rest of the program it is a model whose frames a team of another kind runs. */
#include "runtime/host/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/team.h"

enum mode { AUTO, REQUIRE, OFF };

static struct {
    struct ig_team team; /* first: what a context holds; of one thread, so that stopping it is nothing */
    struct ig_gpu gpu;
    const struct ig_gpu_program *program;
    struct ig_program as; /* the program as the GPU runs it */
    struct ig_model model;
    const char *name;     /* that the program was started by */
    enum mode mode;
    int says;             /* which GPU it is */
    int threads;          /* were asked for */
    char why[300];
} on;

static void run_frame(struct ig_team *team, const struct ig_run *run)
{
    const struct ig_gpu_program *p = on.program;
    int bad = run->step_ns ? ig_gpu_run_apart(&on.gpu, run->inputs, run->outputs, p->first, p->n_layers, run->step_ns,
                                              run->clock_ns, on.why, sizeof on.why)
                           : ig_gpu_run(&on.gpu, run->inputs, run->outputs, on.why, sizeof on.why);
    (void)team;
    if (bad) ig_die("%s", on.why);
}

/* Weights and kernels to the GPU, and a frame of zeros. */
static int open_gpu(void)
{
    const struct ig_gpu_program *p = on.program;
    const void *constants = p->constants ? p->constants : ig_map_gpu_weights(p->plan->constants_bytes, p->constants_hash);
    if (ig_gpu_open(&on.gpu, p->plan, constants, on.why, sizeof on.why)) return -1;
    if (!ig_gpu_try(&on.gpu, on.why, sizeof on.why)) return 0;
    ig_gpu_close(&on.gpu);
    return -1;
}

/* The program's model with the GPU's layers; inputs and outputs are read and written where the GPU takes them. */
static void start_gpu(struct ig_session *s)
{
    const struct ig_gpu_plan *plan = on.program->plan;
    struct ig_step *steps = calloc((size_t)on.program->n_layers + 1, sizeof *steps); /* of no band */
    if (!steps || ig_team_start(&on.team, 1)) ig_die("out of memory");
    on.as = *s->program;
    on.model = *s->program->model;
    on.as.model = &on.model;
    on.as.layers = on.program->layers;
    on.model.steps = steps;
    on.model.n_steps = on.program->n_layers;
    on.model.arena_bytes = plan->arena_bytes;
    on.model.weights_bytes = plan->constants_bytes;
    s->program = &on.as;
    s->threads = 1;
    s->ctx = (struct ig_ctx){.model = &on.model, .team = &on.team, .run_team = run_frame};
    for (int32_t i = 0; i < plan->n_inputs; i++) s->inputs[i] = ig_gpu_place(&on.gpu, i);
    for (int32_t i = 0; i < plan->n_outputs; i++) s->outputs[i] = ig_gpu_place(&on.gpu, plan->n_inputs + i);
}

struct ig_gpu *ig_gpu_look(void)
{
    if (on.mode == OFF) return NULL;
    if (!open_gpu()) {
        if (on.gpu.ptx && on.gpu.ptx < on.gpu.sm)
            fprintf(stderr, "%s: the driver of %s, an sm_%d, takes no machine code of this program, and translates its PTX for sm_%d\n", on.name,
                    on.gpu.name, on.gpu.sm, on.gpu.ptx);
        if (on.says) printf("GPU: %s, sm_%d, %d processors\n", on.gpu.name, on.gpu.sm, on.gpu.processors);
        return &on.gpu;
    }
    if (on.mode == REQUIRE) ig_die("no GPU (%s)", on.why);
    fprintf(stderr, "%s: no GPU (%s): running on the CPU\n", on.name, on.why);
    return NULL;
}

void ig_gpu_shut(void)
{
    if (on.gpu.plan) ig_gpu_close(&on.gpu);
}

const struct ig_gpu *ig_gpu_in_use(void)
{
    return on.gpu.plan ? &on.gpu : NULL;
}

void ig_gpu_start(struct ig_session *s, int threads)
{
    const struct ig_model *m = s->program->model;
    if (m->n_inputs > IG_GPU_EDGES || m->n_outputs > IG_GPU_EDGES || !ig_gpu_look()) ig_start(s, threads);
    else start_gpu(s);
}

const struct ig_gpu_program *ig_gpu_program_of(int *threads)
{
    *threads = on.threads;
    return on.program;
}

/* --- the command line --- */

static enum mode mode_of(const char *text)
{
    if (!strcmp(text, "auto")) return AUTO;
    if (!strcmp(text, "require")) return REQUIRE;
    if (!strcmp(text, "off")) return OFF;
    fprintf(stderr, "%s: --gpu takes auto, require or off, not '%s'\n", on.name, text);
    exit(2);
}

struct wishes { /* what else the command line asks for that concerns the GPU */
    int json, info, bench, help;
};

/* Takes --gpu out of the arguments; the rest is ig_main's. Returns their number. */
static int take_options(int argc, char **argv, struct wishes *w)
{
    int n = 0, ended = 0;
    for (int i = 0; i < argc; i++) {
        const char *a = argv[i];
        ended |= !strcmp(a, "--");
        if (i && !ended && !strncmp(a, "--gpu=", 6)) {
            on.mode = mode_of(a + 6);
            continue;
        }
        on.threads |= i && !ended && !strncmp(a, "--threads", 9);
        w->json |= !ended && !strcmp(a, "--json");
        w->info |= !ended && !strcmp(a, "--info");
        w->bench |= !ended && (!strcmp(a, "--bench") || (!strncmp(a, "--bench=", 8) && strcmp(a + 8, "-")));
        w->help |= !ended && (!strcmp(a, "--help") || !strcmp(a, "-h"));
        argv[n++] = argv[i];
    }
    argv[n] = NULL;
    return n;
}

/* Input i of the network, or behind those an output: how it passes. */
static int32_t kind_of(const struct ig_gpu_plan *p, int32_t i)
{
    return i < p->n_inputs ? p->inputs[i].kind : p->outputs[i - p->n_inputs].kind;
}

static const char *name_of(const struct ig_model *m, int32_t i)
{
    return i < m->n_inputs ? m->inputs[i].name : m->outputs[i - m->n_inputs].name;
}

static void print_info(const struct ig_program *cpu, const struct ig_gpu_program *p)
{
    static const char *const words[] = {[IG_GPU_PINNED] = "copied, page-locked on the host",
                                        [IG_GPU_MAPPED] = "page-locked, used by the GPU in place",
                                        [IG_GPU_MANAGED] = "managed, the GPU's by turns"};
    char name[41];
    if (p->stage) printf("Stage %d of the pipeline: gpu\n", p->stage->stage);
    for (int32_t i = 0; !p->stage && i < p->plan->n_inputs + p->plan->n_outputs; i++) /* those of a stage are slots */
        printf("GPU %s %s: %s\n", i < p->plan->n_inputs ? "input" : "output",
               ig_name_text(name_of(cpu->model, i), name, sizeof name), words[kind_of(p->plan, i)]);
    printf("GPU plan: %d layer%s in %d launch%s of %d kernel%s, for sm %s%s%s; arena %lld B, weights %lld B\nGPU plan  %s\n",
           p->n_layers, p->n_layers == 1 ? "" : "s", p->plan->n_calls, p->plan->n_calls == 1 ? "" : "es", p->plan->n_functions,
           p->plan->n_functions == 1 ? "" : "s", p->chips, p->ptx ? ", PTX for sm " : "", p->ptx ? p->ptx : "",
           (long long)p->plan->arena_bytes, (long long)p->plan->constants_bytes, p->plan_sha256);
}

static void print_passes(const struct ig_model *m, const struct ig_gpu_plan *p)
{
    static const char *const kinds[] = {"pinned", "mapped", "managed"};
    fputs("\"passes\":[", stdout);
    for (int32_t i = 0; i < p->n_inputs + p->n_outputs; i++) {
        printf("%s{\"kind\":\"%s\",\"name\":", i ? "," : "", kinds[kind_of(p, i)]);
        ig_json_string(stdout, name_of(m, i));
        putchar('}');
    }
    fputs("],", stdout);
}

/* The CPU's object with a member more. */
static int print_info_json(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *p)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = stdout, *memory = open_memstream(&text, &bytes);
    if (!memory) ig_die("out of memory");
    stdout = memory;
    int status = ig_main(argc, argv, cpu);
    stdout = out;
    fclose(memory);
    text[strcspn(text, "\n")] = 0;
    text[strlen(text) - 1] = 0; /* its brace */
    printf("%s,\"gpu\":{\"arena_bytes\":%lld,\"chips\":[%s],\"kernels\":%d,\"launches\":%d,\"layers\":%d,",
           text, (long long)p->plan->arena_bytes, p->chips, p->plan->n_functions, p->plan->n_calls, p->n_layers);
    if (!p->stage) print_passes(cpu->model, p->plan);
    printf("\"plan_sha256\":\"%s\",", p->plan_sha256);
    if (p->ptx) printf("\"ptx\":%s,", p->ptx);
    if (p->stage) printf("\"stage\":%d,", p->stage->stage);
    printf("\"weights_bytes\":%lld}}\n", (long long)p->plan->constants_bytes);
    free(text);
    return status ? status : ig_finish();
}

int ig_gpu_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu)
{
    struct wishes w = {0, 0, 0, 0};
    const char *slash = strrchr(argv[0] ? argv[0] : "", '/');
    on.name = slash ? slash + 1 : argv[0] ? argv[0] : cpu->model->name;
    on.program = gpu;
    argc = take_options(argc, argv, &w);
    on.says = w.bench && !w.json;
    if (w.help)
        printf("%s --gpu=auto|require|off    on the GPU where there is one (auto), only there, or on the CPU\n", on.name);
    if (w.info && w.json && !w.help) return print_info_json(argc, argv, cpu, gpu);
    int status = ig_main(argc, argv, cpu);
    if (w.info) print_info(cpu, gpu);
    if (!gpu->stage) ig_gpu_shut();
    if (fflush(stdout)) ig_die("stdout: %s", strerror(errno));
    return status;
}
