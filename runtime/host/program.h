/* The hosted program around a baked model: command line, files, bench. */
#ifndef RUNTIME_HOST_PROGRAM_H
#define RUNTIME_HOST_PROGRAM_H

#include <stddef.h>
#include <stdio.h>

#include "runtime/api.h"
#include "runtime/host/text.h"

struct ig_session;
struct ig_staged; /* runtime/host/stages.h */
struct ig_spec;   /* runtime/host/spec.h */
struct ig_energy; /* runtime/host/energy.h */
struct ig_energy_run;

struct ig_program { /* filled by the generated main file */
    const struct ig_model *model;
    const struct ig_layer *layers; /* model->n_steps */
    const void *weights;           /* linked in, or NULL: appended to the program's file */
    const char *const *labels;     /* class names of output 0, or NULL */
    int32_t n_labels;
    float mean[4], std[4]; /* a picture's channel v (0..255) becomes (v - mean)/std */
    const struct ig_spec *spec; /* of an --input-spec; else NULL, and nothing of one is linked */
    const struct ig_staged *staged; /* of a plan with stages; else NULL, and nothing of a pipeline is linked */
    const struct ig_energy *energy; /* of one that measures what a frame costs; else NULL, and nothing of it is linked */
    const char *plan_sha256, *source_sha256, *target, *tool;
    int32_t isa; /* enum ig_isa: what its kernels need of the processor */
    void (*start)(struct ig_session *s, int threads); /* ig_start, or ig_gpu_start, which looks for a GPU first */
};

enum { IG_MAX_TOP = 100 };  /* of --top */
enum { IG_MAX_ENDS = 64 };  /* inputs of a program's network, and outputs; the library has no limit */

struct ig_options { /* the command line, parsed */
    const char *inputs[IG_MAX_ENDS], *outputs[IG_MAX_ENDS];
    int n_inputs, n_outputs;
    int top, threads, json, info, bench, stream;
    int top_said; /* --top was given: it is every network's */
    int whole; /* threads were asked for: all of them run every frame together, without stages */
    double seconds; /* of --bench; 0: stdin says how many frames */
    const char *trace;
};

struct ig_session { /* a running model with its buffers */
    const struct ig_program *program;
    struct ig_ctx ctx;
    void *inputs[IG_MAX_ENDS], *outputs[IG_MAX_ENDS]; /* dense buffers */
    const char *network; /* its name, where it is one of several; else NULL */
    int threads;
    double init_ms; /* main's start to ready */
};

/* The whole program; returns its exit status: 0, 1 (a line on stderr) or 2 (usage). */
int ig_main(int argc, char **argv, const struct ig_program *program);

/* Makes the session ready on threads of the CPU. */
void ig_start(struct ig_session *s, int threads);
void ig_gpu_start(struct ig_session *s, int threads); /* runtime/host/gpu.h */
void ig_gpu_stages_start(struct ig_session *s, int threads); /* the same, of a pipeline with a stage on the GPU */
/* Parts of both, for a program of several networks: the command line of one network; the name that errors begin with, from
 * the path that it was started by; bytes of its inputs and outputs; where these are, in so many bytes at a cache line. */
struct ig_options ig_parse(int argc, char **argv, const struct ig_program *p);
void ig_name_program(const char *path, const char *otherwise);
int64_t ig_io_bytes(const struct ig_model *m);
void ig_place_io(struct ig_session *s, char *at);
/* runtime/host/cpu.c: dies where this processor lacks what the program's kernels need. */
void ig_check_cpu(const struct ig_program *p);
/* One line on stderr: "<program>: <what>", exit 1. */
_Noreturn void ig_die(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* 0 once all that was printed is written; dies where it cannot be. */
int ig_finish(void);
int64_t ig_now_ns(void);

/*
 * runtime/host/input.c: fills input i from a .npy, raw, PGM or PPM file. Dies on a wrong size, type or shape.
 */
void ig_load_input(const struct ig_session *s, int i, const char *path);
/* Width and height of a PGM or PPM of n bytes; where its pixels begin. Dies on a malformed one or one of other than 8
 * bits. */
size_t ig_pnm_header(const char *path, const unsigned char *data, size_t n, long *w, long *h);
/* A PNM file of n bytes, whose pixels begin at `at`, has not just the `bytes` that they take. */
_Noreturn void ig_die_of_pixels(const char *path, size_t n, size_t at, long bytes);
/* The next frame's input i from stdin to dst, through the spec where that has frames: bytes that were read, of *bytes
 * that a frame has. */
size_t ig_read_input(const struct ig_program *p, int i, void *dst, size_t *bytes);
/* Reads the next raw frame of all inputs from stdin: 1, or 0 at the end of the stream. Dies on a partial
 * frame. */
int ig_next_frame(const struct ig_session *s);
/* runtime/host/output.c; path "-": stdout */
void ig_write_npy(const char *path, const struct ig_shape *shape, const void *data);
void ig_print_result(const struct ig_session *s, const struct ig_options *o, double ms);
/* The k largest of the elements, ties to the lower index: how many, and which. */
int ig_best(const struct ig_shape *shape, const void *data, int k, int64_t *index);
void ig_print_info(const struct ig_session *s, int json);
/* runtime/host/bench.c */
long ig_peak_rss_kib(void);
/* What spoils a figure, in words that follow others; empty if nothing was found. */
void ig_spoilers(char *text, size_t n);
void ig_bench(struct ig_session *s, const struct ig_options *o);
/* What a frame costs (run NULL), or what else is run, or that it is not known. */
void ig_bench_energy(const struct ig_session *s, const struct ig_options *o, const struct ig_energy_run *run);
void ig_write_trace(struct ig_session *s, const char *path);
/* runtime/host/memory.c: zeroed bytes at a multiple of a page, resident; never freed. Dies if there are none. */
void *ig_memory(int64_t bytes);
/* Maps all pages of `data`, which are read-only, at once. */
void ig_map_all(const void *data, int64_t bytes);
/* runtime/host/weights.c: maps the blob that is appended to the program's own file. Dies if it is not this
 * model's. */
const void *ig_map_weights(const struct ig_model *m);
/* The same of network i of several, whose blobs are appended in order. */
const void *ig_map_bundled_weights(const struct ig_model *m, int i);
/* The same of the blob for a GPU, appended too. */
const void *ig_map_gpu_weights(int64_t bytes, uint64_t hash);

#endif
