/* What a program carries for a GPU: launches as tables, the kernels that they name, and its part of the other files. */
#include <ctype.h>
#include <string.h>

#include "gen/emit.h"

enum { SUFFIX_BYTES = 16 };

int32_t ig_emit_gpu_cuts(const struct ig_emit_gpu *g)
{
    return g->stage ? 1 + g->stage->n_others : 1;
}

static const struct ig_lowered *lowered_of(const struct ig_emit_gpu *g, int32_t cut)
{
    return cut ? g->stage->others[cut - 1]->lowered : g->lowered;
}

const struct ig_gpu_lowered *ig_emit_gpu_launches(const struct ig_emit_gpu *g, int32_t cut)
{
    return cut ? g->stage->others[cut - 1]->launches : g->launches;
}

/* Of an alternative's tables; nothing of the first one's. */
static const char *suffix(char text[SUFFIX_BYTES], int32_t cut)
{
    text[0] = 0;
    if (cut) snprintf(text, SUFFIX_BYTES, "_%d", cut);
    return text;
}

/* Numbers of one record, `per` a line. */
static void emit_words(FILE *f, const uint64_t *words, uint32_t n)
{
    enum { PER_LINE = 5 };
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, "%s0x%llxu,%s", i % PER_LINE ? " " : "    ", (unsigned long long)words[i],
                i + 1 == n || i % PER_LINE == PER_LINE - 1 ? "\n" : "");
}

static void emit_params(FILE *f, const struct ig_lowered *lowered, const struct ig_gpu_lowered *l, const char *of)
{
    fprintf(f, "static const uint64_t params%s[] = {\n", of);
    for (int32_t step = 0; step < lowered->model.n_steps; step++) {
        fputs("    /* ", f);
        ig_emit_comment(f, lowered->layers[step].name);
        fputs(" */\n", f);
        for (int32_t i = l->first[step]; i < l->first[step + 1]; i++) emit_words(f, l->calls[i].params, l->calls[i].words);
    }
    fputs("    0};\n\n", f);
}

static void emit_calls(FILE *f, const struct ig_gpu_plan *p, const char *of)
{
    uint32_t at = 0;
    fprintf(f, "static const struct ig_gpu_call calls%s[] = {\n", of);
    for (int32_t i = 0; i < p->n_calls; at += p->calls[i++].words) {
        const struct ig_gpu_call *c = &p->calls[i];
        fprintf(f, "    {%u, {%u, %u, %u}, %u, %u, %u, %u, &params%s[%u]},\n", c->function, c->grid[0], c->grid[1], c->grid[2],
                c->block, c->pointers, c->words, c->turns, of, at);
    }
    fputs("    {0}};\n\n", f);
}

static void emit_copies(FILE *f, const char *name, const char *of, const struct ig_gpu_copy *copies, int32_t n)
{
    fprintf(f, "static const struct ig_gpu_copy %s%s[] = {", name, of);
    for (int32_t i = 0; i < n; i++)
        fprintf(f, "{%lld, %lld, %d}, ", (long long)copies[i].offset, (long long)copies[i].bytes, copies[i].kind);
    fputs("{0}};\n", f);
}

int ig_emit_is_ptx(const struct ig_emit_image *image)
{
    return !strncmp(image->chips, "ptx", 3);
}

/* The first module, and what follows it. */
static void emit_modules(FILE *f, const struct ig_emit *e)
{
    const struct ig_emit_gpu *g = e->gpu;
    for (int32_t i = 0; i < g->n_images; i++) fprintf(f, "extern const unsigned char %s_gpu_image%d[];\n", e->prefix, i);
    fputs("static const void *const others[] = {", f);
    for (int32_t i = 1; i < g->n_images; i++) fprintf(f, "%s_gpu_image%d, ", e->prefix, i);
    fputs("0};\n\n", f);
}

/* What one plan points to. */
static void emit_arrays(FILE *f, const struct ig_emit_gpu *g, int32_t cut)
{
    const struct ig_gpu_plan *p = &ig_emit_gpu_launches(g, cut)->plan;
    char of[SUFFIX_BYTES];
    fprintf(f, "static const char *const functions%s[] = {\n", suffix(of, cut));
    for (int32_t i = 0; i < p->n_functions; i++) fprintf(f, "    \"%s\",\n", p->functions[i]);
    fputs("    0};\n\n", f);
    emit_params(f, lowered_of(g, cut), ig_emit_gpu_launches(g, cut), of);
    emit_calls(f, p, of);
    emit_copies(f, "inputs", of, p->inputs, p->n_inputs);
    emit_copies(f, "outputs", of, p->outputs, p->n_outputs);
}

static void emit_plan(FILE *f, const struct ig_emit *e, int32_t cut)
{
    const struct ig_gpu_plan *p = &ig_emit_gpu_launches(e->gpu, cut)->plan;
    char of[SUFFIX_BYTES];
    suffix(of, cut);
    if (cut) fprintf(f, "static const struct ig_gpu_plan plan%s = {\n", of);
    else fprintf(f, "extern const struct ig_gpu_plan %s_gpu_plan;\nconst struct ig_gpu_plan %s_gpu_plan = {\n", e->prefix, e->prefix);
    fprintf(f, "    .fatbin = %s_gpu_image0, .functions = functions%s, .calls = calls%s, .inputs = inputs%s, .outputs = outputs%s,\n",
            e->prefix, of, of, of, of);
    fprintf(f, "    .n_functions = %d, .n_calls = %d, .n_inputs = %d, .n_outputs = %d,\n", p->n_functions, p->n_calls,
            p->n_inputs, p->n_outputs);
    fprintf(f, "    .arena_bytes = %lld, .constants_bytes = %lld, .others = others, .n_others = %d};\n",
            (long long)p->arena_bytes, (long long)p->constants_bytes, e->gpu->n_images - 1);
}

void ig_emit_gpu_tables(FILE *f, const struct ig_emit *e)
{
    int32_t cuts = ig_emit_gpu_cuts(e->gpu);
    ig_emit_head(f, e, "/*", "");
    fprintf(f, " * GPU's plan sha256 %s */\n\n#include \"runtime/gpu/%s.h\"\n\n", e->gpu->plan_sha256,
            e->gpu->stage ? "stage" : "gpu");
    for (int32_t i = 0; i < cuts; i++) emit_arrays(f, e->gpu, i);
    emit_modules(f, e);
    for (int32_t i = 0; i < cuts; i++) emit_plan(f, e, i);
    if (e->gpu->stage) ig_emit_gpu_stage_tables(f, e);
}

/* A bit for each activation that may follow a layer of the plan, or is within one: fields `act.kind`, or those of a recurrent layer's three. */
static unsigned activations(const struct ig_lowered *l)
{
    unsigned kinds = 0;
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        const struct ig_op_info *info = ig_op_info((enum ig_op)l->nodes[i]->op);
        for (int32_t k = 0; k < info->n_fields; k++) {
            int32_t kind;
            if (!strstr(info->fields[k].name, ".kind")) continue;
            memcpy(&kind, (const char *)&l->nodes[i]->attrs + info->fields[k].offset, sizeof kind);
            if (kind < IG_FUSABLE) kinds |= 1u << kind;
        }
    }
    return kinds;
}

/* Does an alternative before that one call it? */
static int is_chosen(const struct ig_emit_gpu *g, int32_t cut, const char *function)
{
    for (int32_t i = 0; i < cut; i++)
        for (int32_t k = 0; k < ig_emit_gpu_launches(g, i)->plan.n_functions; k++)
            if (!strcmp(ig_emit_gpu_launches(g, i)->functions[k], function)) return 1;
    return 0;
}

void ig_emit_gpu_kernels(FILE *f, const struct ig_emit *e)
{
    unsigned kinds = 0;
    ig_emit_head(f, e, "/*", "");
    for (int32_t i = 0; i < ig_emit_gpu_cuts(e->gpu); i++) kinds |= activations(lowered_of(e->gpu, i));
    fprintf(f, " * GPU's plan sha256 %s */\n#define GPU_CHOSEN\n", e->gpu->plan_sha256);
    fprintf(f, "#define GPU_ACTIVATIONS 0x%xu\n", kinds);
    for (int32_t i = 0; i < ig_emit_gpu_cuts(e->gpu); i++)
        for (int32_t k = 0; k < ig_emit_gpu_launches(e->gpu, i)->plan.n_functions; k++)
            if (!is_chosen(e->gpu, i, ig_emit_gpu_launches(e->gpu, i)->functions[k]))
                fprintf(f, "#define CHOSEN_%s 1\n", ig_emit_gpu_launches(e->gpu, i)->functions[k]);
    fputs("\n#include \"kernels_gpu/module.cu\"\n", f);
}

void ig_emit_gpu_images(FILE *f, const struct ig_emit *e)
{
    ig_emit_head(f, e, "/*", " */");
    for (int32_t i = 0; i < e->gpu->n_images; i++) {
        char name[32];
        snprintf(name, sizeof name, "gpu_image%d", i);
        fprintf(f, "    /* sm %s */\n", e->gpu->images[i].chips);
        ig_emit_blob(f, e->prefix, name, e->gpu->images[i].path);
        if (ig_emit_is_ptx(&e->gpu->images[i])) fputs("    .byte 0\n", f);
    }
    fprintf(f, "    .section .note.GNU-stack, \"\", %%progbits\n");
}

void ig_emit_gpu_weights(FILE *f, const struct ig_emit *e, const char *blob_path)
{
    ig_emit_head(f, e, "/*", " */");
    ig_emit_blob(f, e->prefix, "gpu_weights", blob_path);
    fprintf(f, "    .section .note.GNU-stack, \"\", %%progbits\n");
}

/* --- parts of other files --- */

void ig_emit_gpu_header(FILE *f, const struct ig_emit *e)
{
    const struct ig_gpu_plan *g = &e->gpu->launches->plan;
    const char *p = e->prefix;
    char up[256];
    size_t n = 0;
    for (; p[n] && n + 1 < sizeof up; n++) up[n] = (char)toupper((unsigned char)p[n]);
    up[n] = 0;
    if (e->gpu->stage) {
        ig_emit_gpu_stage_header(f, e, up);
        return;
    }
    fprintf(f, "/*\n * On the GPU, beside the CPU: the CUDA driver is found at run time (link with -ldl). Where it, a GPU or its\n"
               " * memory is missing, %s_gpu_open says so in `why`, and %s_init and %s_run still serve.\n */\n", p, p, p);
    fprintf(f, "#define %s_GPU_ARENA_BYTES INT64_C(%lld) /* of the GPU's memory */\n", up, (long long)g->arena_bytes);
    fprintf(f, "#define %s_GPU_CONSTANTS_BYTES INT64_C(%lld)\n", up, (long long)g->constants_bytes);
    fprintf(f, "struct %s_gpu { /* an open GPU; contents are the library's */\n    uint64_t opaque[512];\n};\n", p);
    fprintf(f, "/* Brings weights and kernels there and runs a frame of zeros. 0, or -1 with one line in why[bytes]. */\n");
    fprintf(f, "int %s_gpu_open(struct %s_gpu *gpu, char *why, size_t bytes);\n", p, p);
    fprintf(f, "/* One frame: in[%d], out[%d] as above. 0, or -1 with one line in why[bytes]. One thread at a time. */\n",
            g->n_inputs, g->n_outputs);
    fprintf(f, "int %s_gpu_run(struct %s_gpu *gpu, const void *const *in, void *const *out, char *why, size_t bytes);\n", p, p);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu);\n\n", p, p);
}

void ig_emit_gpu_api(FILE *f, const struct ig_emit *e)
{
    const char *p = e->prefix;
    if (e->gpu->stage) {
        ig_emit_gpu_stage_api(f, e);
        return;
    }
    fprintf(f, "\n#include \"runtime/gpu/gpu.h\"\n\nextern const struct ig_gpu_plan %s_gpu_plan;\n", p);
    fprintf(f, "extern const unsigned char %s_gpu_weights[];\n\n", p);
    fprintf(f, "_Static_assert(sizeof(struct ig_gpu) <= sizeof(struct %s_gpu), \"GPU\");\n\n", p);
    fprintf(f, "int %s_gpu_open(struct %s_gpu *gpu, char *why, size_t bytes)\n{\n", p, p);
    fprintf(f, "    struct ig_gpu *g = (struct ig_gpu *)(void *)gpu;\n");
    fprintf(f, "    if (ig_gpu_open(g, &%s_gpu_plan, %s_gpu_weights, why, bytes)) return -1;\n", p, p);
    fprintf(f, "    if (!ig_gpu_try(g, why, bytes)) return 0;\n    ig_gpu_close(g);\n    return -1;\n}\n\n");
    fprintf(f, "int %s_gpu_run(struct %s_gpu *gpu, const void *const *in, void *const *out, char *why, size_t bytes)\n{\n", p, p);
    fprintf(f, "    return ig_gpu_run((struct ig_gpu *)(void *)gpu, in, out, why, bytes);\n}\n\n");
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu)\n{\n    ig_gpu_close((struct ig_gpu *)(void *)gpu);\n}\n", p, p);
}

void ig_emit_gpu_chips(FILE *f, const struct ig_emit_gpu *g)
{
    fputs(".chips = \"", f);
    for (int32_t i = 0, n_chips = 0; i < g->n_images; i++)
        if (!ig_emit_is_ptx(&g->images[i])) fprintf(f, "%s%s", n_chips++ ? "," : "", g->images[i].chips);
    fputs("\"", f);
    for (int32_t i = 0; i < g->n_images; i++)
        if (ig_emit_is_ptx(&g->images[i])) fprintf(f, ", .ptx = \"%s\"", g->images[i].chips + 3);
}

void ig_emit_gpu_program(FILE *f, const struct ig_emit *e)
{
    const struct ig_emit_gpu *g = e->gpu;
    const char *p = e->prefix;
    int32_t n = g->lowered->model.n_steps;
    fprintf(f, "#include \"runtime/host/gpu.h\"\n\nextern const struct ig_gpu_plan %s_gpu_plan;\n", p);
    if (g->stage) fprintf(f, "extern const struct ig_gpu_stage %s_gpu_stage[];\n", p);
    fprintf(f, "extern const unsigned char %s_gpu_weights[] __attribute__((weak));\n\n", p);
    ig_emit_layers(f, "gpu_layers", g->lowered);
    fprintf(f, "static const int32_t first[%d] = {", n + 1);
    for (int32_t i = 0; i <= n; i++) fprintf(f, "%s%d", !i ? "" : i % 20 ? ", " : ",\n    ", g->launches->first[i]);
    fprintf(f, "};\n\nstatic const struct ig_gpu_program gpu = {\n    .plan = &%s_gpu_plan, .constants = %s_gpu_weights,\n", p, p);
    fprintf(f, "    .constants_hash = 0x%016llxu,\n", (unsigned long long)g->weights->model.weights_hash);
    fprintf(f, "    .layers = gpu_layers, .first = first, .n_layers = %d,\n    ", n);
    ig_emit_gpu_chips(f, g);
    fprintf(f, ", .plan_sha256 = \"%s\"", g->plan_sha256);
    if (g->stage) fprintf(f, ", .stage = %s_gpu_stage", p);
    fprintf(f, "};\n\n");
    fprintf(f, "int main(int argc, char **argv)\n{\n    return ig_gpu_%smain(argc, argv, &program, &gpu);\n}\n",
            g->stage ? "stages_" : "");
}
