/* Running one backend test: the plan's tables in this process, or a program built from the generated sources. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/verify.h"
#include "gen/emit.h"
#include "runtime/api.h"
#include "runtime/team.h"

static void *zeroed(int64_t bytes)
{
    void *p = NULL;
    size_t n = ((size_t)bytes + 127) / 64 * 64;
    if (posix_memalign(&p, 64, n)) ig_fatal("out of memory");
    memset(p, 0, n);
    return p;
}

/* The case's data for input `name`, or NULL. */
static const void *input_data(const struct ig_case *c, const char *name)
{
    for (int i = 0; i < c->n_in; i++)
        if (!strcmp(c->in[i].name, name)) return c->in[i].data;
    return NULL;
}

static int run_here(const struct ig_case *c, struct ig_lowered *l, int threads, void **outputs, char *err, size_t n)
{
    static struct ig_team team;
    const struct ig_model *m = &l->model;
    const void *inputs[IG_CASE_TENSORS] = {NULL};
    struct ig_ctx ctx;
    void *weights = zeroed(m->weights_bytes), *arena = zeroed(ig_arena_total(m, threads));
    ig_fill_weights(l, weights);
    for (int32_t i = 0; i < m->n_inputs && i < IG_CASE_TENSORS; i++)
        if (!(inputs[i] = input_data(c, m->inputs[i].name))) {
            snprintf(err, n, "no data for input '%s'", m->inputs[i].name);
            return -1;
        }
    int status = ig_ctx_init(&ctx, m, weights, arena, (size_t)ig_arena_total(m, threads) + 64);
    if (!status && threads > 1) status = ig_ctx_start_threads(&ctx, &team, threads);
    if (!status) status = ig_ctx_run(&ctx, inputs, outputs);
    ig_ctx_stop_threads(&ctx);
    if (status) snprintf(err, n, "%s", ig_status_text(status));
    free(weights);
    free(arena);
    return status ? -1 : 0;
}

static int command(const char *text, char *err, size_t n)
{
    int status = system(text);
    if (!status) return 0;
    snprintf(err, n, "failed (%d): %.300s", WIFEXITED(status) ? WEXITSTATUS(status) : -1, text);
    return -1;
}

/* plan, main and weights of one case as one source file: one run of the compiler. */
static int write_sources(struct ig_lowered *l, const char *dir, char *err, size_t n)
{
    char path[4200];
    struct ig_emit e = {.lowered = l, .prefix = "net", .plan_sha256 = "verify", .std = {1, 1, 1, 1}};
    void *weights = zeroed(l->model.weights_bytes);
    ig_fill_weights(l, weights);
    snprintf(path, sizeof path, "%s/net_weights.bin", dir);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(weights, 1, (size_t)l->model.weights_bytes, f) != (size_t)l->model.weights_bytes || fclose(f)) {
        snprintf(err, n, "%s: %s", path, strerror(errno));
        return -1;
    }
    free(weights);
    snprintf(path, sizeof path, "%s/net.c", dir);
    f = ig_open_output(path);
    ig_emit_tables(f, &e);
    ig_emit_program(f, &e);
    ig_close_output(f, path);
    snprintf(path, sizeof path, "%s/net_weights.S", dir);
    f = ig_open_output(path);
    char blob[4300];
    snprintf(blob, sizeof blob, "%s/net_weights.bin", dir);
    ig_emit_weights(f, &e, blob);
    ig_close_output(f, path);
    return 0;
}

static int write_raw(const char *path, const void *data, int64_t bytes)
{
    FILE *f = fopen(path, "wb");
    return !f || fwrite(data, 1, (size_t)bytes, f) != (size_t)bytes || fclose(f);
}

/* The data of a .npy file are its last bytes. */
static int read_tail(const char *path, void *data, int64_t bytes)
{
    FILE *f = fopen(path, "rb");
    int failed = !f || fseek(f, -(long)bytes, SEEK_END) || fread(data, 1, (size_t)bytes, f) != (size_t)bytes;
    if (f) fclose(f);
    return failed;
}

static int run_program(const struct ig_case *c, const struct ig_lowered *l, const struct ig_verify_options *o,
                       const char *dir, void **outputs, char *err, size_t n)
{
    char line[16384], path[4200];
    const struct ig_model *m = &l->model;
    int at = snprintf(line, sizeof line, "%s %s/net --top 0 --threads %d", o->runner ? o->runner : "", dir, o->threads);
    for (int32_t i = 0; i < m->n_inputs; i++) {
        const void *data = input_data(c, m->inputs[i].name);
        snprintf(path, sizeof path, "%s/in%d.raw", dir, i);
        if (!data || write_raw(path, data, ig_bytes(m->inputs[i].shape))) {
            snprintf(err, n, "no data for input '%s'", m->inputs[i].name);
            return -1;
        }
        at += snprintf(line + at, sizeof line - (size_t)at, " %s", path);
    }
    for (int32_t i = 0; i < m->n_outputs; i++) at += snprintf(line + at, sizeof line - (size_t)at, " -o %s/out%d.npy", dir, i);
    snprintf(line + at, sizeof line - (size_t)at, " >%s/log 2>&1", dir);
    if (command(line, err, n)) return -1;
    for (int32_t i = 0; i < m->n_outputs; i++) {
        snprintf(path, sizeof path, "%s/out%d.npy", dir, i);
        if (read_tail(path, outputs[i], ig_bytes(m->outputs[i].shape))) {
            snprintf(err, n, "%s: no such output", path);
            return -1;
        }
    }
    return 0;
}

static int build_and_run(const struct ig_case *c, struct ig_lowered *l, const struct ig_verify_options *o, void **outputs,
                         char *err, size_t n)
{
    char dir[] = "/tmp/ingot-verify-XXXXXX", line[8192];
    if (!mkdtemp(dir)) ig_fatal("%s: %s", dir, strerror(errno));
    int status = write_sources(l, dir, err, n);
    snprintf(line, sizeof line,
             "%s -std=c11 -O0 -I%s -static -Wl,--gc-sections %s/net.c %s/net_weights.S out/%s/libingot_runtime.a "
             "out/%s/libingot_kernels.a -lm -lpthread -o %s/net >%s/log 2>&1",
             o->cc, INGOT_SRCDIR, dir, dir, o->target, o->target, dir, dir);
    if (!status) status = command(line, err, n);
    if (!status) status = run_program(c, l, o, dir, outputs, err, n);
    snprintf(line, sizeof line, "rm -rf %s", dir);
    if (!o->keep && system(line)) return -1;
    return status;
}

int ig_case_run(const struct ig_case *c, const struct ig_graph *g, const struct ig_verify_options *o, void **outputs,
                char *err, size_t n)
{
    struct ig_plan_options po = {.target = o->target, .isa = o->isa, .threads = o->threads};
    struct ig_plan *p = ig_plan_make(g, &po, err, n);
    if (!p) return -1;
    if (ig_validate(g, p, 0, err, n)) {
        ig_plan_free(p);
        return -1;
    }
    struct ig_lowered *l = ig_lower(g, p);
    for (int32_t i = 0; i < g->n_outputs; i++) outputs[i] = zeroed(ig_bytes(&g->values[g->outputs[i]].shape));
    int status = o->in_process ? run_here(c, l, o->threads, outputs, err, n) : build_and_run(c, l, o, outputs, err, n);
    ig_lowered_free(l);
    ig_plan_free(p);
    return status;
}
