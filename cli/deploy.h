/* A deployment on its way through `ingot deploy`: read, planned, written. */
#ifndef CLI_DEPLOY_H
#define CLI_DEPLOY_H

#include "cli/cli.h"
#include "gen/emit_rank.h"
#include "planner/deploy/horizontal.h"
#include "planner/deploy/package.h"
#include "planner/deploy/rewrite.h"

enum { IG_STEM_BYTES = 400, IG_DEPLOY_PROFILES = 3 };

struct ig_deployed_gpu {             /* of a GPU key's part, beside the CPU's plan */
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    struct ig_gpu_lowered *launches;
    struct ig_emit_gpu emit;
    int made[IG_EMIT_IMAGES];        /* by the build, each of emit.images; else it is a file that is there */
    char plan_sha256[65];
};

struct ig_deployed_part {
    struct ig_graph *graph;
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    char prefix[IG_STEM_BYTES + 16]; /* of its files and public names */
    char plan_sha256[65];
    int64_t weights_bytes; /* without the zeros that every blob begins with */
    double ns, beside_ns;  /* predicted, a frame: alone, and while another core runs the whole network; 0: not known */
    double demand;         /* bytes that it wants a ns, over those of the whole network; 0: not known */
    struct ig_deployed_gpu *gpu;     /* NULL: of a key of cores */
};

struct ig_deployed_rank {
    char stem[IG_STEM_BYTES];        /* of its files: <network>_<key> */
    char binary[IG_STEM_BYTES];      /* <key>, as file names have it */
    const char *target;              /* of configure */
    int64_t arena_bytes, weights_bytes, blob_bytes; /* the largest part's; sums */
    double ns;                       /* predicted, a frame, beside the ranks that share its memory */
};

struct ig_deployment {
    const char *onnx, *package, *sources; /* paths: the network, and where to */
    struct ig_emit words;            /* labels, mean and std, the input spec */
    struct ig_host_ops host_ops;     /* of words, where it has an input spec */
    struct ig_plan_options options;  /* of the whole network's plan */
    const char *profiles[IG_DEPLOY_PROFILES]; /* paths */
    int32_t n_profiles;
    struct ig_profile *alone;        /* beside options.profile, which was taken with other cores at work; NULL: none */
    struct ig_profile *on_gpu;       /* of a GPU's kernels, for keys of kind GPU; NULL: none */
    struct ig_graph *g;              /* whole */
    struct ig_emit_image images[IG_EMIT_IMAGES]; /* of --image; no path: the build makes each part's */
    int32_t n_images;
    struct ig_layers *layers;
    struct ig_mapping *mapping;
    struct ig_site *site;            /* NULL: none was given */
    struct ig_hsplits *splits;       /* NULL: none */
    int exact;                       /* splits keep the bits of the whole */
    int32_t border;                  /* of splits: enum ig_split_border */
    int32_t *key_of;                 /* [n_nodes] */
    struct ig_parts *parts;
    struct ig_ranks *ranks;
    struct ig_deployed_part *at;     /* [parts->n] */
    struct ig_deployed_rank *rank;   /* [ranks->n] */
    int32_t *by_weight;              /* [parts->n] while weights are written: the largest first */
    double period_ns;                /* predicted, from one result to the next */
    int64_t bytes_passed;            /* a frame's, between ranks */
    char plan_sha256[65];
    int quiet;
};

/* A network as ig_load_graph gives it, but for its views. Fatal on error. */
struct ig_graph *ig_deploy_load_unprepared(const char *path, const struct ig_source_options *o);
/*
 * Rewrites d->g, with key_of, by d->splits; `path` is what messages call their file. d->profiles are read for the whole
 * network and cut, too. Returns the kernels that its nodes keep, as a plan: those of the whole network's. Fatal on error.
 */
struct ig_plan *ig_deploy_split(struct ig_deployment *d, const char *path);

struct ig_split_orders {
    struct ig_hsplit_order *at; /* [n], pointing into the rest */
    int32_t n;
    int64_t *sizes;
    int32_t *keys;
    double *rates;              /* [mapping->n] of keys at the split layers, in `options` */
    double **layer_ns;          /* [mapping->n][n_nodes] of keys, likewise */
};
/*
 * Orders of d->splits for d->g; those without sizes get them by what layers take on their keys, which goes into `split`,
 * by plans of the whole network, prepared, with options `o`. Fatal on error.
 */
struct ig_split_orders ig_read_orders(const struct ig_deployment *d, const char *path, const struct ig_graph *prepared,
                                      const struct ig_plan_options *o, struct ig_split_options *split);
/* Threads of the largest key. */
int32_t ig_deploy_threads(const struct ig_deployment *d);
/* Of configure: the target of a key, and the ISA of its kernels. */
const char *ig_deploy_target(const struct ig_deployment *d, int32_t rank);
int32_t ig_deploy_isa(const struct ig_deployment *d, const char *target);
static inline int ig_deploy_is_gpu(const struct ig_deployment *d, int32_t rank)
{
    return d->mapping->keys[rank].kind == IG_KEY_GPU;
}
/* cli/deploy_gpu.c: part->gpu of a GPU key's part, which is planned for the CPU; its files; its word in the
 * build's list. Fatal on error. */
void ig_deploy_plan_gpu(struct ig_deployment *d, int32_t rank, struct ig_deployed_part *part);
void ig_deploy_write_gpu(const struct ig_deployment *d, const struct ig_emit *e, struct ig_deployed_gpu *gpu);
void ig_deploy_list_images(FILE *f, const struct ig_deployed_part *part);
void ig_deploy_free_gpu(struct ig_deployed_gpu *gpu);
/* Of d->profiles, taken of g, those into d->options, d->alone and d->on_gpu; so many threads, if nothing else is said. Fatal on
 * error. */
void ig_deploy_read_profiles(struct ig_deployment *d, const struct ig_graph *g);
/* Of planned parts: what each rank takes, what passes from one result to the next, what passes between ranks. */
void ig_deploy_predict(struct ig_deployment *d);
/* Plans every part with the kernels of `like`, d->g's plan, and names it. Fatal on error. */
void ig_deploy_plan(struct ig_deployment *d, const struct ig_plan *like);
/* Tables, weights and plans of all parts. Fatal on error. */
void ig_deploy_write_parts(struct ig_deployment *d);
/* Main files, the list of all files for the build, and what is passed on beside the programs. */
void ig_deploy_write_package(struct ig_deployment *d);
/* deploy.json: all of it, for people and programs. Without the hash it is what the hash is of. */
void ig_deploy_manifest(FILE *f, const struct ig_deployment *d, const char *plan_sha256);
/* A few lines for people. */
void ig_deploy_summary(FILE *f, const struct ig_deployment *d);

#endif
