#include "bench/gpu/expected.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"
#include "bench/compare.h"
#include "kernels_cpu/registry.h"

static const double OF_LARGEST = 2e-5, TIMES_STATED = 4;

struct ig_gpu_expected {
    struct ig_plan *plan;
    struct ig_lowered *lowered;
    struct ig_bed bed;
    void **inputs, **outputs; /* of the network */
    int32_t n_nodes;
    int32_t *steps;           /* by node; -1: it has none */
    void **outs;              /* by node: its outputs, dense, one behind the other; NULL: not computed yet */
};

static void *room(size_t n, size_t bytes)
{
    void *p = calloc(n + 1, bytes);
    if (!p) abort();
    return p;
}

static struct ig_gpu_expected *no_memory(struct ig_gpu_expected *e, char *err, size_t err_bytes)
{
    snprintf(err, err_bytes, "no memory to run the layers on the CPU");
    ig_gpu_expected_free(e);
    return NULL;
}

struct ig_gpu_expected *ig_gpu_expected_new(const struct ig_graph *g, char *err, size_t err_bytes)
{
    struct ig_plan_options o = {.target = "host", .isa = ig_isa_fastest(), .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan *plan = ig_plan_make(g, &o, err, err_bytes);
    if (!plan) return NULL;
    struct ig_gpu_expected *e = room(1, sizeof *e);
    e->plan = plan;
    e->lowered = ig_lower(g, plan);
    e->n_nodes = g->n_nodes;
    e->steps = room((size_t)g->n_nodes, sizeof *e->steps);
    e->outs = room((size_t)g->n_nodes, sizeof *e->outs);
    for (int32_t i = 0; i < g->n_nodes; i++) e->steps[i] = -1;
    for (int32_t s = 0; s < e->lowered->model.n_steps; s++) e->steps[e->lowered->nodes[s] - g->nodes] = s;
    const struct ig_model *m = &e->lowered->model;
    e->inputs = ig_io_buffers(m->inputs, m->n_inputs);
    e->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    if (!e->inputs || !e->outputs || ig_bed_make(&e->bed, e->lowered, 1, err, err_bytes)) return no_memory(e, err, err_bytes);
    return e;
}

void ig_gpu_expected_free(struct ig_gpu_expected *e)
{
    if (!e) return;
    if (e->bed.lowered) ig_bed_free(&e->bed);
    ig_io_buffers_free(e->inputs, e->lowered->model.inputs, e->lowered->model.n_inputs);
    ig_io_buffers_free(e->outputs, e->lowered->model.outputs, e->lowered->model.n_outputs);
    for (int32_t i = 0; i < e->n_nodes; i++) free(e->outs[i]);
    free(e->outs);
    free(e->steps);
    ig_lowered_free(e->lowered);
    ig_plan_free(e->plan);
    free(e);
}

/* --- tensors, dense and as they lie --- */

/* What a layer has, and what is not packed into its weights or a constant beside them. */
static int is_there(const struct ig_place *a)
{
    return a->space != IG_SPACE_NONE && a->space != IG_SPACE_WEIGHTS;
}

/* Bytes of it, dense. */
static size_t bytes_of(const struct ig_place *a)
{
    return is_there(a) ? (size_t)ig_bytes(a->shape) : 0;
}

static int64_t images(const struct ig_place *a)
{
    return ig_count(a->shape) / a->h / a->w / a->c;
}

/* Elements from one image to the next, whether they come one by one or all to a kernel. */
static int64_t image_stride(const struct ig_place *a)
{
    return (int64_t)a->h * a->row_stride;
}

static size_t extent(const struct ig_place *a)
{
    int64_t last = (images(a) - 1) * image_stride(a) + (int64_t)(a->h - 1) * a->row_stride + (int64_t)(a->w - 1) * a->pixel_stride + a->c;
    return (size_t)(last * ig_type_bytes(a->shape->type));
}

static int is_dense(const struct ig_place *a)
{
    return extent(a) == bytes_of(a);
}

/* Copies the elements from `lying` to `dense`, or back. */
static void move(const struct ig_place *a, char *lying, char *dense, int back)
{
    int64_t each = ig_type_bytes(a->shape->type), bytes = a->c * each;
    for (int64_t i = 0; i < images(a); i++)
        for (int64_t y = 0; y < a->h; y++)
            for (int64_t x = 0; x < a->w; x++, dense += bytes) {
                char *at = lying + (i * image_stride(a) + y * a->row_stride + x * a->pixel_stride) * each;
                memcpy(back ? at : dense, back ? dense : at, (size_t)bytes);
            }
}

static int is_centred(int32_t op)
{
    return op == IG_CONV || op == IG_DECONV || op == IG_FC || op == IG_MATMUL;
}

static void fill(const struct ig_place *a, int centred, uint32_t seed, void *dense)
{
    int32_t type = a->shape->type;
    memset(dense, 0, (size_t)ig_bytes(a->shape));
    for (int64_t i = 0; i < ig_count(a->shape); i++) {
        seed = seed * 1664525u + 1013904223u;
        float v = (float)(seed >> 8) * 0x1p-24f * (centred ? 2.0f : 1.0f) - (centred ? 1.0f : 0.0f);
        if (type == IG_F32) ((float *)dense)[i] = v;
        else if (type == IG_F16) ((uint16_t *)dense)[i] = ig_float_to_half(v);
        else if (type == IG_BOOL) ((uint8_t *)dense)[i] = seed >> 31;
        else if (ig_type_bytes(type) == 1) ((uint8_t *)dense)[i] = (uint8_t)(seed >> 24);
    }
}

/* A step's inputs but for constants, as they are for everyone: calls `put` with each, dense; its first error. */
static int give(const struct ig_step *s, int centred, int (*put)(void *to, const struct ig_place *a, void *dense), void *to)
{
    int error = 0;
    for (int32_t k = 0; k < s->n_in && !error; k++) {
        const struct ig_place *a = &s->in[k];
        if (!is_there(a)) continue;
        void *dense = room(bytes_of(a), 1);
        fill(a, centred, (uint32_t)k + 1, dense);
        error = put(to, a, dense);
        free(dense);
    }
    return error;
}

static size_t out_bytes(const struct ig_step *s)
{
    size_t bytes = 0;
    for (int32_t k = 0; k < s->n_out; k++) bytes += bytes_of(&s->out[k]);
    return bytes;
}

/* --- on the CPU --- */

static char *cpu_memory(const struct ig_gpu_expected *e, const struct ig_place *a)
{
    char *base = a->space == IG_SPACE_INPUT ? e->inputs[a->index] : a->space == IG_SPACE_OUTPUT ? e->outputs[a->index] : e->bed.arena;
    return base + a->offset;
}

static int put_on_cpu(void *to, const struct ig_place *a, void *dense)
{
    move(a, cpu_memory(to, a), dense, 1);
    return 0;
}

static void run_on_cpu(struct ig_gpu_expected *e, int32_t node)
{
    const struct ig_step *s = &e->lowered->steps[e->steps[node]];
    give(s, is_centred(e->lowered->nodes[e->steps[node]]->op), put_on_cpu, e);
    ig_bed_step(&e->bed, e->steps[node], (const void *const *)e->inputs, e->outputs);
    char *to = e->outs[node] = room(out_bytes(s), 1);
    for (int32_t k = 0; k < s->n_out; to += bytes_of(&s->out[k++]))
        if (is_there(&s->out[k])) move(&s->out[k], cpu_memory(e, &s->out[k]), to, 0);
}

/* --- on the GPU --- */

/* What lies on the GPU at `a`, elements of others between its own included, to `lying`, or back. */
static int copy(struct ig_gpu_bed *b, const struct ig_place *a, char *lying, int back)
{
    ig_cuda_address at = ig_gpu_address(&b->gpu, ig_gpu_address_of(b->launches, a));
    int error = back ? b->gpu.cuda.to_device(at, lying, extent(a), b->gpu.stream) : b->gpu.cuda.to_host(lying, at, extent(a), b->gpu.stream);
    return error ? error : b->gpu.cuda.stream_wait(b->gpu.stream);
}

static int put_on_gpu(void *to, const struct ig_place *a, void *dense)
{
    if (is_dense(a)) return copy(to, a, dense, 1);
    char *lying = room(extent(a), 1);
    int error = copy(to, a, lying, 0);
    move(a, lying, dense, 1);
    if (!error) error = copy(to, a, lying, 1);
    free(lying);
    return error;
}

static int poison_on_gpu(struct ig_gpu_bed *b, const struct ig_place *a)
{
    size_t bytes = bytes_of(a);
    void *dense = memset(room(bytes, 1), 0xff, bytes); /* NaN */
    int error = put_on_gpu(b, a, dense);
    free(dense);
    return error;
}

static int take_from_gpu(struct ig_gpu_bed *b, const struct ig_place *a, char *dense)
{
    if (is_dense(a)) return copy(b, a, dense, 0);
    char *lying = room(extent(a), 1);
    int error = copy(b, a, lying, 0);
    move(a, lying, dense, 0);
    free(lying);
    return error;
}

static int run_on_gpu(struct ig_gpu_bed *b, int32_t step, char *to)
{
    const struct ig_step *s = &b->lowered->steps[step];
    int32_t first = b->launches->first[step], n = b->launches->first[step + 1] - first;
    int error = 0;
    for (int32_t k = 0; k < s->n_out && !error; k++)
        if (is_there(&s->out[k])) error = poison_on_gpu(b, &s->out[k]);
    if (!error) error = give(s, is_centred(b->lowered->nodes[step]->op), put_on_gpu, b);
    if (!error) error = ig_gpu_enqueue(&b->gpu, first, n);
    for (int32_t k = 0; k < s->n_out && !error; to += bytes_of(&s->out[k++]))
        if (is_there(&s->out[k])) error = take_from_gpu(b, &s->out[k], to);
    return error;
}

/* ig_compare takes each element by its type: it is asked for the words where some are off. */
static int all_near(const float *got, const float *want, int64_t n, double of_largest)
{
    float largest = 0, off = 0;
    for (int64_t i = 0; i < n; i++) {
        float size = fabsf(want[i]), d = fabsf(got[i] - want[i]);
        if (!(d < INFINITY)) return 0;
        largest = size > largest ? size : largest;
        off = d > off ? d : off;
    }
    return off <= of_largest * largest;
}

/* 0, or 1 with a line in err. */
static int differ(const struct ig_shape *s, const void *got, const void *want, double of_largest, char *err, size_t err_bytes)
{
    const struct ig_tolerance most = {of_largest, s->type == IG_F16 ? 0x1p-11 : 0, 0}; /* both are rounded */
    double off = 0;
    if (s->type == IG_F32 && all_near(got, want, ig_count(s), of_largest)) return 0;
    return ig_compare(s, got, s, want, &most, &off, err, err_bytes) != 0;
}

int ig_gpu_step_agrees(struct ig_gpu_expected *e, struct ig_gpu_bed *b, int32_t step, char *err, size_t err_bytes)
{
    const struct ig_step *s = &b->lowered->steps[step];
    int32_t node = (int32_t)(b->lowered->nodes[step] - b->lowered->graph->nodes);
    double of_largest = OF_LARGEST + TIMES_STATED * b->lowered->kernels[step]->error;
    char *outs = room(out_bytes(s), 1), *got = outs;
    if (!e->outs[node]) run_on_cpu(e, node);
    const char *want = e->outs[node];
    int error = run_on_gpu(b, step, outs), wrong = 0;
    for (int32_t k = 0; k < s->n_out && !error && !wrong; k++) {
        if (is_there(&s->out[k])) wrong = differ(s->out[k].shape, got, want, of_largest, err, err_bytes);
        got += bytes_of(&s->out[k]);
        want += bytes_of(&s->out[k]);
    }
    free(outs);
    return error ? -error : wrong;
}
