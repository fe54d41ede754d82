/* Keys of kind GPU: beside the CPU's plan of each part one of the GPU's, its launches, and where nvcc puts their code. */
#include <stdlib.h>
#include <string.h>

#include "cli/deploy.h"
#include "planner/alloc.h"
#include "planner/deploy/part_plan.h"

static const struct board { /* one chip, which shares the processor's memory */
    const char *target, *chip;
} boards[] = {{"tx2", "62"}, {"xavier", "72"}};

static const struct board *board_of(const char *target)
{
    for (size_t i = 0; i < sizeof boards / sizeof *boards; i++)
        if (!strcmp(boards[i].target, target)) return &boards[i];
    return NULL;
}

/* --- images --- */

static int has_chip(const char *chips, const char *chip)
{
    size_t n = strlen(chip);
    for (const char *at = chips; (at = strstr(at, chip)); at += n)
        if ((at == chips || at[-1] == ',') && (!at[n] || at[n] == ',')) return 1;
    return 0;
}

/* DIR/<prefix>.sm_62_72.fatbin, <prefix>.compute_62.ptx */
static const char *image_file(const struct ig_deployment *d, const char *prefix, const char *chips)
{
    char path[4096];
    int ptx = !strncmp(chips, "ptx", 3);
    int at = snprintf(path, sizeof path, "%s/%s.%s_", d->sources, prefix, ptx ? "compute" : "sm");
    int n = snprintf(path + at, at < (int)sizeof path ? sizeof path - (size_t)at : 0, "%s.%s", ptx ? chips + 3 : chips,
                     ptx ? "ptx" : "fatbin");
    if (at + n >= (int)sizeof path) ig_fatal("%s: name too long", d->sources);
    for (char *c = path + at; *c; c++)
        if (*c == ',') *c = '_';
    return ig_copy_text(path);
}

/* Has a board use for it? Code of its chip, or PTX of one before. */
static int serves(const struct ig_emit_image *of, const struct board *board)
{
    if (ig_emit_is_ptx(of)) return strtol(of->chips + 3, NULL, 10) <= strtol(board->chip, NULL, 10);
    return has_chip(of->chips, board->chip);
}

/* Those of a part: a board's chip alone, and PTX; of others all that are to be had. */
static void choose_images(const struct ig_deployment *d, int32_t rank, const char *prefix, struct ig_deployed_gpu *gpu)
{
    struct ig_emit_gpu *to = &gpu->emit;
    const struct board *board = board_of(d->rank[rank].target);
    int code = 0;
    for (int32_t i = 0; i < d->n_images; i++) {
        const struct ig_emit_image *of = &d->images[i];
        if (board && !serves(of, board)) continue;
        const char *chips = board && !of->path && !ig_emit_is_ptx(of) ? board->chip : of->chips;
        code += !ig_emit_is_ptx(of);
        gpu->made[to->n_images] = !of->path;
        to->images[to->n_images++] =
            (struct ig_emit_image){chips, of->path ? ig_copy_text(of->path) : image_file(d, prefix, chips)};
    }
    if (!code) ig_fatal("%s: none of --image is for %s%s", d->mapping->keys[rank].name, board ? "sm_" : "a chip", board ? board->chip : "");
}

void ig_deploy_list_images(FILE *f, const struct ig_deployed_part *part)
{
    const struct ig_emit_gpu *e = &part->gpu->emit;
    fputs(" gpu", f);
    for (int32_t i = 0; i < e->n_images; i++)
        if (part->gpu->made[i]) fprintf(f, ":%s", e->images[i].chips);
    fprintf(f, "=%s", part->prefix);
}

/* --- plans --- */

/* Of those that a part may meet: a board's, or the least that there is code for. */
static int32_t least_chip(const struct ig_deployment *d, const char *target)
{
    const struct board *board = board_of(target);
    long least = board ? strtol(board->chip, NULL, 10) : 0;
    for (int32_t i = 0; i < d->n_images && !board; i++)
        for (const char *at = d->images[i].chips; at && !ig_emit_is_ptx(&d->images[i]); at = strchr(at, ',')) {
            char *end;
            long chip = strtol(at + (*at == ','), &end, 10);
            if (!least || chip < least) least = chip;
            at = end;
        }
    return (int32_t)least;
}

static void refuse_layers_of_the_cpu(const struct ig_deployment *d, int32_t rank, const struct ig_graph *g,
                                     const struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        if (s->kernel && s->kernel->isa != IG_ISA_CUDA)
            ig_fatal("%s: layer '%s' (%s) has no GPU kernel: give it to cores", d->mapping->keys[rank].name,
                     g->nodes[s->node].name, ig_op_info((enum ig_op)g->nodes[s->node].op)->name);
    }
}

void ig_deploy_plan_gpu(struct ig_deployment *d, int32_t rank, struct ig_deployed_part *part)
{
    struct ig_plan_options o = {.target = d->rank[rank].target, .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF,
                                .max_error = d->options.max_error, .profile = d->on_gpu,
                                .sm = least_chip(d, d->rank[rank].target)};
    struct ig_deployed_gpu *gpu = part->gpu = ig_must_alloc(1, sizeof *gpu);
    const char *key = d->mapping->keys[rank].name;
    char err[4096];
    if (!(gpu->plan = ig_part_plan(d->g, NULL, part->graph, &o, err, sizeof err))) ig_fatal("%s: %s", key, err);
    refuse_layers_of_the_cpu(d, rank, part->graph, gpu->plan);
    if (ig_validate(part->graph, gpu->plan, 0, err, sizeof err))
        ig_fatal("internal error: the validator refuses the GPU's plan of %s: %s", part->prefix, err);
    if (board_of(o.target)) ig_passes_of_board(part->graph, gpu->plan, o.target);
    gpu->lowered = ig_lower(part->graph, gpu->plan);
    gpu->launches = ig_lower_gpu(gpu->lowered, err, sizeof err);
    if (!gpu->launches) ig_fatal("%s: %s", key, err);
    gpu->emit = (struct ig_emit_gpu){.lowered = gpu->lowered, .launches = gpu->launches, .plan_sha256 = gpu->plan_sha256};
    choose_images(d, rank, part->prefix, gpu);
}

void ig_deploy_free_gpu(struct ig_deployed_gpu *gpu)
{
    if (!gpu) return;
    for (int32_t i = 0; i < gpu->emit.n_images; i++) free((char *)(uintptr_t)gpu->emit.images[i].path);
    ig_gpu_lowered_free(gpu->launches);
    ig_lowered_free(gpu->lowered);
    ig_plan_free(gpu->plan);
    free(gpu);
}

/* --- files --- */

static const char *file_of(const struct ig_deployment *d, const struct ig_emit *e, const char *suffix, char path[4096])
{
    if (snprintf(path, 4096, "%s/%s%s", d->sources, e->prefix, suffix) >= 4096) ig_fatal("%s: name too long", d->sources);
    return path;
}

void ig_deploy_write_gpu(const struct ig_deployment *d, const struct ig_emit *e, struct ig_deployed_gpu *gpu)
{
    static const struct {
        const char *suffix;
        void (*emit)(FILE *, const struct ig_emit *);
    } files[] = {{"_gpu.c", ig_emit_gpu_tables}, {"_gpu.cu", ig_emit_gpu_kernels}, {"_gpu_image.S", ig_emit_gpu_images}};
    char path[4096], blob[4096], err[4096];
    file_of(d, e, ".gpu_plan.json", path);
    if (ig_plan_write(gpu->plan, gpu->lowered->graph, path, err, sizeof err)) ig_fatal("%s", err);
    ig_hash_file(path, gpu->plan_sha256);
    ig_write_weights(gpu->lowered, file_of(d, e, "_gpu_weights.bin", blob));
    ig_emit_gpu_weights(ig_open_output(file_of(d, e, "_gpu_weights.S", path)), e, blob);
    ig_close_output();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        files[i].emit(ig_open_output(file_of(d, e, files[i].suffix, path)), e);
        ig_close_output();
    }
}
