/* Networks on a GPU: every kernel on every layer, timed and checked, then the network of the fastest. */
#ifndef BENCH_GPU_GPU_H
#define BENCH_GPU_GPU_H

#include "gen/lower_gpu.h"

/* A plan that is ready to run. */
struct ig_gpu_bed {
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    struct ig_gpu_lowered *launches;
    struct ig_gpu gpu;
};

/* A plan of GPU kernels of no larger error, by `profile` (NULL: on the estimator). NULL with a line in err. Freed by ig_plan_free. */
struct ig_plan *ig_gpu_plan(const struct ig_graph *g, const struct ig_profile *profile, double max_error, char *err, size_t err_bytes);
/*
 * Brings such a plan to the GPU: modules[] are the kernels, of which the first with code for the GPU serves; NULL ends them.
 * nodes[] marks those whose weights are brought there, for who runs no others; NULL: all. 0, or -1 with a line in err and nothing open.
 */
int ig_gpu_bed_make(struct ig_gpu_bed *b, const struct ig_graph *g, const struct ig_profile *profile, double max_error,
                    const char *nodes, const void *const *modules, char *err, size_t err_bytes);
void ig_gpu_bed_free(struct ig_gpu_bed *b);
/*
 * ns of the launches of a step, one after the other with themselves: the difference of two captured graphs, of `repeats` and
 * twice as many, so that what a graph costs is not in it; the least of `runs`. Negative: the driver's error.
 */
double ig_gpu_step_ns(struct ig_gpu_bed *b, int32_t step, int repeats, int runs);
/* ns of a frame by the GPU's clock: all launches as one graph, without the copies of inputs and outputs; median of `runs`. */
double ig_gpu_frame_ns(struct ig_gpu_bed *b, int runs);

/* Told of a kernel that does not compute on this GPU what the CPU computes of a layer, and of an element that is off. */
typedef void ig_gpu_wrong(const char *layer, const char *kernel, const char *what);
/*
 * Times copies, and every GPU kernel that fits on every layer, where it computes what the CPU does; graph_sha256 is left "". What is
 * wrong goes to `wrong`, if not NULL, and has no time. NULL with a line in err: also where no kernel of a layer is right. Freed by
 * ig_profile_free.
 */
struct ig_profile *ig_gpu_profile(const struct ig_graph *g, const void *const *modules, int repeats, int runs, ig_gpu_wrong *wrong,
                                  char *err, size_t err_bytes);
/*
 * What weights cost in a frame. A layer that is launched over and over finds its weights in the last cache, in a frame they may come
 * from memory, and kernels differ by how many they have (Winograd's, 16/9 to 4 times as many): so for some prices of a byte, beginning
 * with none, that change what is fastest, `runs` frames of that plan are timed, and the price of the fastest one is added to
 * all times: in_order_ns, which a plan goes by; 0 where it is none. 0, or -1 with a line in err.
 */
int ig_gpu_profile_weights(const struct ig_graph *g, const void *const *modules, int repeats, int runs, struct ig_profile *p, char *err,
                           size_t err_bytes);
/*
 * Runs the fastest plan by p, `runs` frames of it, and multiplies all times of p by what the median frame takes over what they
 * sum up to, which p->whole_over_sum then tells. 0, or -1 with a line in err.
 */
int ig_gpu_profile_whole(const struct ig_graph *g, const void *const *modules, int repeats, int runs, struct ig_profile *p, char *err,
                         size_t err_bytes);

#endif
