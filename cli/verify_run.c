/*
 * Running one backend test: the plan's tables in this process, or a program built from the generated sources.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/bed.h"
#include "cli/verify.h"
#include "gen/emit.h"

struct build { /* one case on its way to a program */
    struct ig_lowered *lowered;
    const struct ig_verify_options *o;
    char dir[1024]; /* work folder */
    char *err;
    size_t n;
};

static void *zeroed(int64_t bytes)
{
    size_t n = ((size_t)bytes + 64) / 64 * 64;
    void *p = aligned_alloc(64, n);
    if (!p) ig_fatal("out of memory");
    return memset(p, 0, n);
}

static int run_here(struct ig_lowered *l, int threads, const void *const *inputs, void *const *outputs,
                    char *err, size_t n)
{
    struct ig_bed bed;
    if (ig_bed_make(&bed, l, threads, err, n)) return -1;
    int status = ig_ctx_run(&bed.ctx, inputs, outputs);
    if (status) snprintf(err, n, "%s", ig_status_text(status));
    ig_bed_free(&bed);
    return status ? -1 : 0;
}

/* Runs `text`, whose words go to <dir>/log; where it fails, their first line is the reason. */
static int command(struct build *b, const char *text)
{
    char path[1100], line[200] = "";
    int status = system(text);
    if (!status) return 0;
    snprintf(path, sizeof path, "%s/log", b->dir);
    FILE *f = fopen(path, "r");
    if (f && fgets(line, sizeof line, f)) line[strcspn(line, "\n")] = 0;
    if (f) fclose(f);
    if (line[0]) snprintf(b->err, b->n, "%s", line);
    else snprintf(b->err, b->n, "status %d of: %.300s", WIFEXITED(status) ? WEXITSTATUS(status) : -1, text);
    return -1;
}

static int write_raw(struct build *b, const char *path, const void *data, int64_t bytes)
{
    FILE *f = fopen(path, "wb");
    int failed = !f || fwrite(data, 1, (size_t)bytes, f) != (size_t)bytes;
    if (f && fclose(f)) failed = 1;
    if (failed) snprintf(b->err, b->n, "%s: %s", path, strerror(errno));
    return failed ? -1 : 0;
}

/* plan, main and weights of one case as one source file: one run of the compiler. */
static int write_sources(struct build *b)
{
    char path[1100], blob[1100];
    struct ig_emit e = {.lowered = b->lowered, .prefix = "net", .plan_sha256 = "verify", .std = {1, 1, 1, 1}};
    void *weights = zeroed(b->lowered->model.weights_bytes);
    ig_fill_weights(b->lowered, weights);
    snprintf(blob, sizeof blob, "%s/net_weights.bin", b->dir);
    int status = write_raw(b, blob, weights, b->lowered->model.weights_bytes);
    free(weights);
    if (status) return status;
    snprintf(path, sizeof path, "%s/net.c", b->dir);
    FILE *f = ig_open_output(path);
    ig_emit_tables(f, &e);
    ig_emit_program(f, &e);
    ig_close_output();
    snprintf(path, sizeof path, "%s/net_weights.S", b->dir);
    f = ig_open_output(path);
    ig_emit_weights(f, &e, blob);
    ig_close_output();
    return 0;
}

static int compile(struct build *b)
{
    char line[8192];
    char library[128];
    const char *cc = b->o->cc ? b->o->cc : INGOT_PROGRAM_CC, *target = b->o->target, *d = b->dir;
    snprintf(library, sizeof library, "out/%s/libingot_runtime.a", target);
    snprintf(line, sizeof line,
             "%s -std=c11 -O0 -I'%s' -static -Wl,--gc-sections '%s/net.c' '%s/net_weights.S' "
             "%s out/%s/libingot_kernels.a -lm -lpthread -o '%s/net' >'%s/log' 2>&1",
             cc, INGOT_SRCDIR, d, d, b->o->cc ? library : INGOT_PROGRAM_RUNTIME, target, d, d);
    return command(b, line);
}

/* The data of a .npy file are its last bytes. */
static int read_tail(const char *path, void *data, int64_t bytes)
{
    FILE *f = fopen(path, "rb");
    int failed = !f || fseek(f, -(long)bytes, SEEK_END) || fread(data, 1, (size_t)bytes, f) != (size_t)bytes;
    if (f) fclose(f);
    return failed;
}

/* The command line of the program, whose inputs lie in files by now. */
static void command_line(const struct build *b, char *line, size_t n)
{
    const struct ig_model *m = &b->lowered->model;
    const char *runner = b->o->runner ? b->o->runner : "", *d = b->dir;
    size_t at = (size_t)snprintf(line, n, "%s '%s/net' --top 0 --threads %d", runner, d, b->o->threads);
    for (int32_t i = 0; i < m->n_inputs && at < n; i++)
        at += (size_t)snprintf(line + at, n - at, " '%s/in%d.raw'", d, i);
    for (int32_t i = 0; i < m->n_outputs && at < n; i++)
        at += (size_t)snprintf(line + at, n - at, " -o '%s/out%d.npy'", d, i);
    if (at < n) snprintf(line + at, n - at, " >'%s/log' 2>&1", d);
}

static int run_program(struct build *b, const void *const *inputs, void *const *outputs)
{
    static char line[160 * 1100];
    char path[1100];
    const struct ig_model *m = &b->lowered->model;
    for (int32_t i = 0; i < m->n_inputs; i++) {
        snprintf(path, sizeof path, "%s/in%d.raw", b->dir, i);
        if (write_raw(b, path, inputs[i], ig_bytes(m->inputs[i].shape))) return -1;
    }
    command_line(b, line, sizeof line);
    if (command(b, line)) return -1;
    for (int32_t i = 0; i < m->n_outputs; i++) {
        snprintf(path, sizeof path, "%s/out%d.npy", b->dir, i);
        if (read_tail(path, outputs[i], ig_bytes(m->outputs[i].shape))) {
            snprintf(b->err, b->n, "%s: no such output", path);
            return -1;
        }
    }
    return 0;
}

int ig_verify_run(struct ig_lowered *l, const struct ig_verify_options *o, const void *const *inputs,
                  void *const *outputs, char *err, size_t n)
{
    if (o->fatbin) return ig_verify_gpu(l, o->fatbin, inputs, outputs, err, n);
    if (o->in_process) return run_here(l, o->threads, inputs, outputs, err, n);
    struct build b = {.lowered = l, .o = o, .err = err, .n = n};
    char line[1100];
    const char *parent = getenv("TMPDIR");
    snprintf(b.dir, sizeof b.dir, "%.900s/ingot-verify-XXXXXX", parent && *parent ? parent : P_tmpdir);
    if (strchr(b.dir, '\'') || !mkdtemp(b.dir)) ig_fatal("%s: cannot make a work folder", b.dir);
    int status = write_sources(&b);
    if (!status) status = compile(&b);
    if (!status) status = run_program(&b, inputs, outputs);
    snprintf(line, sizeof line, "rm -rf '%s'", b.dir);
    if (o->keep) fprintf(stderr, "ingot: kept %s\n", b.dir);
    else if (system(line)) return -1;
    return status;
}
