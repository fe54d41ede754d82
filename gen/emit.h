/* Writes the generated sources of one model. Every file opens with who made it and from what. */
#ifndef GEN_EMIT_H
#define GEN_EMIT_H

#include <stdio.h>

#include "gen/lower_gpu_stage.h"
#include "planner/host_ops.h"

struct ig_emit_image { /* a fatbin that nvcc makes of <model>_gpu.cu */
    const char *chips; /* that it is for: "62,72"; of PTX the least: "ptx62" */
    const char *path;
};

/* Is it a text, which the driver translates and a 0 ends? */
int ig_emit_is_ptx(const struct ig_emit_image *image);

enum { IG_EMIT_IMAGES = 8 };

struct ig_emit_gpu { /* the plan for a GPU beside the CPU's */
    const struct ig_lowered *lowered;
    const struct ig_gpu_lowered *launches;
    const struct ig_lowered *weights;  /* whose constants those of all launches are */
    const struct ig_gpu_stage_lowered *stage; /* whose these are; NULL: they are the whole network's */
    const char *plan_sha256;
    struct ig_emit_image images[IG_EMIT_IMAGES];
    int32_t n_images;
};

struct ig_emit_energy {   /* --bench measures what a frame costs */
    double predicted_mj;  /* < 0: not known */
    const char *platform; /* whose powers say so, or NULL */
};

struct ig_emit {
    const struct ig_lowered *lowered;
    const char *prefix;        /* C identifier: of every public name */
    const char *plan_sha256;   /* hex digest of plan.json */
    const char *const *labels; /* class names of output 0, or NULL */
    int32_t n_labels;
    float mean[4], std[4]; /* a picture's channel v (0..255) becomes (v - mean)/std */
    int32_t n_mean, n_std; /* how many of them were said: 0, 1 for all channels, or one for each */
    const struct ig_emit_gpu *gpu; /* NULL: a program of the CPU */
    int member;                    /* one of several networks: <model>_main.c has no main but <prefix>_program */
    const struct ig_host_ops *host_ops; /* of an input spec; NULL: mean and std are all */
    const struct ig_emit_energy *energy; /* NULL: it measures none */
};

void ig_emit_tables(FILE *f, const struct ig_emit *e); /* <model>_plan.c: tables */
void ig_emit_api(FILE *f, const struct ig_emit *e);    /* <model>_api.c: the <prefix>_ functions */
void ig_emit_header(FILE *f, const struct ig_emit *e); /* <model>.h */
/* The pipeline's part of both, where the plan has stages; up: the prefix in capitals. */
void ig_emit_stages_header(FILE *f, const struct ig_emit *e, const char *up);
void ig_emit_stages_api(FILE *f, const struct ig_emit *e);
/* And of the program. */
void ig_emit_stages_program(FILE *f, const struct ig_emit *e);
void ig_emit_spec(FILE *f, const struct ig_emit *e); /* gen/emit_spec.c: the program's part, where host_ops is one */
void ig_emit_program(FILE *f,
                     const struct ig_emit *e); /* <model>_main.c: main and the words of the command line */
void ig_emit_weights(FILE *f, const struct ig_emit *e,
                     const char *blob_path); /* <model>_weights.S: .incbin */

/* gen/emit_gpu.c, where e->gpu is one: */
void ig_emit_gpu_tables(FILE *f, const struct ig_emit *e); /* <model>_gpu.c: launches */
void ig_emit_gpu_kernels(FILE *f, const struct ig_emit *e); /* <model>_gpu.cu: the kernels that they name, for nvcc */
void ig_emit_gpu_images(FILE *f, const struct ig_emit *e); /* <model>_gpu_image.S: what nvcc made of it */
void ig_emit_gpu_weights(FILE *f, const struct ig_emit *e, const char *blob_path); /* <model>_gpu_weights.S */
void ig_emit_gpu_header(FILE *f, const struct ig_emit *e);  /* parts of the other files */
void ig_emit_gpu_api(FILE *f, const struct ig_emit *e);
void ig_emit_gpu_program(FILE *f, const struct ig_emit *e);
/* Members of a table: `.chips = "62,72"`, and of PTX `, .ptx = "62"`. */
void ig_emit_gpu_chips(FILE *f, const struct ig_emit_gpu *g);
/* Alternatives of the GPU's stage, 1 where it has one cut only, or none; and the launches of each. */
int32_t ig_emit_gpu_cuts(const struct ig_emit_gpu *g);
const struct ig_gpu_lowered *ig_emit_gpu_launches(const struct ig_emit_gpu *g, int32_t cut);
/* gen/emit_gpu_stage.c, where the GPU has a stage: parts of the tables, the header and the interface. */
void ig_emit_gpu_stage_tables(FILE *f, const struct ig_emit *e);
void ig_emit_gpu_stage_header(FILE *f, const struct ig_emit *e, const char *up);
void ig_emit_gpu_stage_api(FILE *f, const struct ig_emit *e);

/* The names of the classes, as `labels`; nothing where there are none. */
void ig_emit_labels(FILE *f, const struct ig_emit *e);
/* Member of a program: what its kernels need of a processor, `.isa = IG_ISA_AVX2`. */
void ig_emit_isa(FILE *f, const struct ig_lowered *l);
/* The table of a program's layers. */
void ig_emit_layers(FILE *f, const char *name, const struct ig_lowered *l);
/* A read-only section with the bytes of a file (.incbin) under the name <prefix>_<name>. */
void ig_emit_blob(FILE *f, const char *prefix, const char *name, const char *path);
/* `s` as a C string literal with quotes. */
void ig_emit_string(FILE *f, const char *s);
/* `s` inside a comment: what could end the comment or the line is a dot. */
void ig_emit_comment(FILE *f, const char *s);
/* `x` in the fewest digits that read back as x; INFINITY and NAN spelled for C. */
void ig_emit_float(FILE *f, float x);
/* The opening comment. */
void ig_emit_head(FILE *f, const struct ig_emit *e, const char *open, const char *close);

#endif
