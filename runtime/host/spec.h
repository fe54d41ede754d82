/* What an --input-spec asks of the CPU before and after a network; only in programs of networks that have one. */
#ifndef RUNTIME_HOST_SPEC_H
#define RUNTIME_HOST_SPEC_H

#include "runtime/host/boxes.h"
#include "runtime/picture.h"

struct ig_spec {      /* filled by the generated main file */
    const char *text; /* the spec in one line */
    struct ig_picture picture;
    int32_t frame_w, frame_h, frame_c; /* of a stream's frames, bytes; 0: they are the network's own inputs */
    unsigned char *frame;              /* [frame_w * frame_h * frame_c] of the thread that reads, or NULL */
    int32_t softmax;                   /* of output 0 along its last dimension: it holds logits */
    int32_t top;                       /* of --top where it is not given; 0: 5 */
    double pre_ns, post_ns;            /* predicted */
    const struct ig_boxes *boxes;      /* of nms=; else NULL, and nothing of it is linked */
    /* Functions of the same names below, so that a program without a spec links none of them. */
    int (*fit)(const struct ig_picture *p, const uint8_t *pixels, int32_t w, int32_t h, int32_t c, void *dst);
    int (*load)(const struct ig_session *s, const char *path);
    void (*finish)(const struct ig_session *s);
    void (*info)(const struct ig_spec *spec, int json);
    void (*bench)(const struct ig_session *s, double network_ms, int json);
};

/* --top where it was not given, of results that are printed. */
static inline int ig_default_top(const struct ig_program *p)
{
    return p->spec && p->spec->top ? p->spec->top : 5;
}

/* Input 0 from a PGM or PPM of any size, or a frame of the spec's size: 1; 0: the file is neither. Dies on a bad one.
 */
int ig_spec_load(const struct ig_session *s, const char *path);
/* Post-processing of s->outputs[0], in place. */
void ig_spec_finish(const struct ig_session *s);
/* Of --info: two lines, or a member of the JSON object. */
void ig_spec_info(const struct ig_spec *spec, int json);
/* Of --bench, in the same ways: medians of pre-processing a frame of the spec's size, or of 640 x 480 pixels, and of
 * post-processing, beside the network's. Writes input 0 and reads output 0. */
void ig_spec_bench(const struct ig_session *s, double network_ms, int json);

#endif
