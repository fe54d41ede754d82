/* Data that moves: move.cu, gather.cu. Operands are dense, but for copies. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

/* --- strided copies --- */

/* Whether elements of twice the size would do. */
static int can_widen(const struct ig_gpu_loops *l, const void *in, const void *out, int32_t bytes)
{
    int last = l->n - 1;
    if (bytes == 16 || l->n == 0 || l->at[0][last] != 1 || l->at[1][last] != 1 || l->dims[last] % 2) return 0;
    if ((uintptr_t)in % (uintptr_t)(2 * bytes) || (uintptr_t)out % (uintptr_t)(2 * bytes)) return 0;
    for (int i = 0; i < last; i++)
        if (l->at[0][i] % 2 || l->at[1][i] % 2) return 0;
    return 1;
}

static void widen(struct ig_gpu_loops *l)
{
    l->dims[l->n - 1] /= 2;
    for (int i = 0; i < l->n - 1; i++) l->at[0][i] /= 2, l->at[1][i] /= 2;
}

int ig_gpu_move_loops(const struct ig_gpu_loops *loops, const void *in, void *out, int32_t bytes, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = *loops;
    for (; can_widen(&l, in, out, bytes); bytes *= 2) widen(&l);
    struct ig_gpu_move p = {.in = in, .out = out, .count = ig_gpu_visits(&l), .n = l.n, .bytes = bytes};
    p.by = ig_gpu_inverse(l.n ? l.dims[l.n - 1] : 1, &p.shift);
    ig_gpu_put_loops(p.dims, l.dims, l.n);
    ig_gpu_put_loops(p.in_at, l.at[0], l.n);
    ig_gpu_put_loops(p.out_at, l.at[1], l.n);
    return ig_gpu_some(to, "move_any", p.count, 2, &p, sizeof p);
}

static int32_t element_bytes(const struct ig_call *call)
{
    return ig_type_bytes(call->out[0].shape->type);
}

/* All of a dense input in the output's order. */
static int move_dense(const struct ig_call *call, const struct ig_gpu_loops *l, int64_t first, struct ig_gpu_launch *to)
{
    return ig_gpu_move_loops(l, (const char *)call->in[0].data + first * element_bytes(call), call->out[0].data,
                             element_bytes(call), to);
}

int ig_gpu_supports_copy_any(const struct ig_call *call)
{
    return ig_ref_moves(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_copy(call);
}

int ig_gpu_copy_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_loops l = {0};
    (void)scratch;
    ig_gpu_loop(&l, out->h, in->row_stride, out->row_stride, 0, 0);
    ig_gpu_loop(&l, out->w, in->pixel_stride, out->pixel_stride, 0, 0);
    ig_gpu_loop(&l, out->c, 1, 1, 0, 0);
    return move_dense(call, &l, 0, to);
}

int ig_gpu_supports_move(const struct ig_call *call)
{
    return ig_ref_moves(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_reshape(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = {0};
    (void)scratch;
    ig_gpu_loop(&l, ig_count(call->out[0].shape), 1, 1, 0, 0);
    return move_dense(call, &l, 0, to);
}

static struct ig_gpu_loops transposed(const struct ig_call *call)
{
    const struct ig_transpose *a = (const struct ig_transpose *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_loops l = {0};
    for (int d = 0; d < s->rank; d++)
        ig_gpu_loop(&l, s->dims[a->perm[d]], ig_span(s, a->perm[d] + 1, s->rank), ig_span(out, d + 1, out->rank), 0, 0);
    return l;
}

int ig_gpu_supports_transpose_any(const struct ig_call *call)
{
    return ig_gpu_supports_move(call) && !ig_gpu_supports_transpose(call);
}

int ig_gpu_transpose_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = transposed(call);
    (void)scratch;
    return move_dense(call, &l, 0, to);
}

int ig_gpu_slice(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_slice *a = (const struct ig_slice *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_loops l = {0};
    int64_t first = 0;
    (void)scratch;
    for (int d = 0; d < s->rank; d++) {
        int64_t stride = ig_span(s, d + 1, s->rank);
        first += a->start[d] * stride;
        ig_gpu_loop(&l, out->dims[d], a->step[d] * stride, ig_span(out, d + 1, out->rank), 0, 0);
    }
    return move_dense(call, &l, first, to);
}

int ig_gpu_expand(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_shape *s = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_loops l = {0};
    (void)scratch;
    for (int d = 0; d < out->rank; d++)
        ig_gpu_loop(&l, out->dims[d], ig_gpu_broadcast(s, out, d), ig_span(out, d + 1, out->rank), 0, 0);
    return move_dense(call, &l, 0, to);
}

static struct ig_gpu_loops tiled(const struct ig_call *call)
{
    const struct ig_shape *s = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_loops l = {0};
    for (int d = 0; d < s->rank; d++) {
        int64_t stride = ig_span(out, d + 1, out->rank);
        ig_gpu_loop(&l, out->dims[d] / s->dims[d], 0, s->dims[d] * stride, 0, 0);
        ig_gpu_loop(&l, s->dims[d], ig_span(s, d + 1, s->rank), stride, 0, 0);
    }
    return l;
}

int ig_gpu_tile(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = tiled(call);
    (void)scratch;
    return move_dense(call, &l, 0, to);
}

int ig_gpu_supports_concat(const struct ig_call *call)
{
    return ig_ref_moves_all(call) && ig_gpu_addresses_all(call);
}

/* Elements of twice the size, as long as they do for all parts. */
static void widen_parts(struct ig_gpu_concat *p)
{
    uintptr_t places = (uintptr_t)p->out;
    int32_t lengths = 0;
    for (int i = 0; i < p->n; i++) places |= (uintptr_t)p->in[i], lengths |= p->length[i];
    for (; p->bytes < 16 && lengths % 2 == 0 && places % (uintptr_t)(2 * p->bytes) == 0; p->bytes *= 2, lengths /= 2) {
        for (int i = 0; i < p->n; i++) p->length[i] /= 2, p->start[i] /= 2;
        p->count /= 2, p->width /= 2;
    }
}

int ig_gpu_concat(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    int32_t axis = ((const struct ig_axis *)call->attrs)->axis;
    struct ig_gpu_concat p = {.out = call->out[0].data, .count = (int32_t)ig_count(call->out[0].shape), .n = call->n_in,
                              .bytes = element_bytes(call)};
    (void)scratch;
    _Static_assert((int)IG_GPU_PARTS >= (int)IG_MAX_IN, "all inputs of a call");
    for (int i = 0; i < p.n; i++) {
        struct ig_lines in = ig_lines_of(call->in[i].shape, axis);
        p.in[i] = call->in[i].data;
        p.start[i] = p.width;
        p.width += p.length[i] = (int32_t)(in.n * in.inner);
    }
    widen_parts(&p);
    p.by = ig_gpu_inverse(p.width, &p.shift);
    int64_t of_four = p.bytes == 16 ? p.count : p.bytes == 8 ? ig_gpu_ceil(p.count, 2) : ig_gpu_ceil(p.count, 4);
    return ig_gpu_some(to, "concat_any", of_four, IG_GPU_PARTS + 1, &p, sizeof p);
}

/* --- padding and marks --- */

int ig_gpu_supports_pad(const struct ig_call *call)
{
    return pad_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

/* Wider elements, as long as those of the last dim stay together. */
static void widen_pad(struct ig_gpu_pad *p)
{
    int last = p->n - 1;
    while (p->n && p->bytes < 16 && p->before[last] == 0 && p->inside[last] == p->dims[last] && p->dims[last] % 2 == 0) {
        uint64_t bits = p->value[0] | (uint64_t)p->value[1] << 32;
        if ((uintptr_t)p->in % (uintptr_t)(2 * p->bytes) || (uintptr_t)p->out % (uintptr_t)(2 * p->bytes)) return;
        for (int i = 0; i < last; i++)
            if (p->in_at[i] % 2) return;
        for (int i = 0; i < last; i++) p->in_at[i] /= 2;
        if (p->bytes < 8) bits |= bits << (8 * p->bytes);
        p->value[0] = (uint32_t)bits, p->value[1] = (uint32_t)(bits >> 32);
        p->inside[last] /= 2, p->dims[last] /= 2, p->count /= 2, p->bytes *= 2;
    }
}

int ig_gpu_pad(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_pad *a = (const struct ig_pad *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_pad p = {.out = call->out[0].data, .count = (int32_t)ig_count(out), .n = s->rank,
                           .bytes = element_bytes(call), .mode = a->mode};
    int64_t first = 0, value[1] = {0};
    (void)scratch;
    if (a->mode == IG_PAD_CONSTANT) ig_put_real(value, s->type, 0, a->value);
    memcpy(p.value, value, sizeof p.value);
    for (int d = 0; d < s->rank; d++) {
        int32_t crop = a->begin[d] < 0 ? -a->begin[d] : 0, crop_end = a->end[d] < 0 ? -a->end[d] : 0;
        p.dims[d] = out->dims[d];
        p.inside[d] = s->dims[d] - crop - crop_end;
        p.before[d] = a->begin[d] > 0 ? a->begin[d] : 0;
        p.in_at[d] = (int32_t)ig_span(s, d + 1, s->rank);
        first += (int64_t)crop * p.in_at[d];
    }
    p.in = (const char *)call->in[0].data + first * p.bytes;
    widen_pad(&p);
    return ig_gpu_each(to, "pad_any", p.count, 128, 2, &p, sizeof p);
}

int ig_gpu_supports_one_hot(const struct ig_call *call)
{
    return one_hot_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_one_hot(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_lines l = ig_lines_of(call->out[0].shape, ((const struct ig_axis *)call->attrs)->axis);
    struct ig_gpu_mark p = {.in = call->in[0].data, .values = call->in[1].data, .out = call->out[0].data,
                            .count = (int32_t)(l.outer * l.n * l.inner), .bytes = element_bytes(call),
                            .in_type = call->in[0].shape->type, .n = (int32_t)l.n, .inner = (int32_t)l.inner};
    (void)scratch;
    return ig_gpu_each(to, "one_hot_any", p.count, 128, 3, &p, sizeof p);
}

int ig_gpu_supports_triu(const struct ig_call *call)
{
    return triu_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_triu(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_triu *a = (const struct ig_triu *)call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_gpu_mark p = {.in = call->in[0].data, .out = call->out[0].data, .count = (int32_t)ig_count(s),
                            .bytes = element_bytes(call), .rows = s->dims[s->rank - 2], .columns = s->dims[s->rank - 1],
                            .k = a->k, .upper = a->upper};
    (void)scratch;
    return ig_gpu_each(to, "triu_any", p.count, 128, 3, &p, sizeof p);
}

/* --- gathers and scatters --- */

enum { GATHER_POINTERS = 3 };

int ig_gpu_supports_gather(const struct ig_call *call)
{
    return gather_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_scatter(const struct ig_call *call)
{
    return scatter_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

static struct ig_gpu_gather gather_of(const struct ig_call *call)
{
    return (struct ig_gpu_gather){.in = call->in[0].data, .index = call->in[1].data, .out = call->out[0].data,
                                  .count = (int32_t)ig_count(call->out[0].shape), .bytes = element_bytes(call),
                                  .type = call->out[0].shape->type, .index_type = call->in[1].shape->type};
}

int ig_gpu_gather(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_lines l = ig_lines_of(call->in[0].shape, ((const struct ig_axis *)call->attrs)->axis);
    struct ig_gpu_gather p = gather_of(call);
    (void)scratch;
    p.extent = (int32_t)l.n, p.inner = (int32_t)l.inner, p.taken = (int32_t)ig_count(call->in[1].shape);
    while (p.bytes < 16 && p.inner % 2 == 0 && ((uintptr_t)p.in | (uintptr_t)p.out) % (uintptr_t)(2 * p.bytes) == 0)
        p.inner /= 2, p.count /= 2, p.bytes *= 2;
    return ig_gpu_each(to, "gather_axis", p.count, 128, GATHER_POINTERS, &p, sizeof p);
}

/* Loops over the indices, of all dims or of all but the axis, with their strides in the data and among the indices. */
static void walk_indices(struct ig_gpu_gather *p, const struct ig_call *call, int with_axis)
{
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    int axis = ((const struct ig_axis *)call->attrs)->axis;
    struct ig_gpu_loops l = {0};
    for (int d = 0; d < s->rank; d++)
        if (d != axis || with_axis)
            ig_gpu_loop(&l, is->dims[d], d == axis ? 0 : ig_span(s, d + 1, s->rank), ig_span(is, d + 1, is->rank), 0, 0);
    p->n = l.n;
    ig_gpu_put_loops(p->dims, l.dims, l.n);
    ig_gpu_put_loops(p->in_at, l.at[0], l.n);
    ig_gpu_put_loops(p->index_at, l.at[1], l.n);
    p->extent = s->dims[axis];
    p->stride = (int32_t)ig_span(s, axis + 1, s->rank);
}

int ig_gpu_gather_elements(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_gather p = gather_of(call);
    (void)scratch;
    walk_indices(&p, call, 1);
    return ig_gpu_each(to, "gather_elements", p.count, 128, GATHER_POINTERS, &p, sizeof p);
}

/* Tuples that index the dims from `first` on. */
static void tuples_of(struct ig_gpu_gather *p, const struct ig_call *call, int first)
{
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    p->tuple = is->dims[is->rank - 1];
    p->tuples = (int32_t)ig_span(is, 0, is->rank - 1);
    p->per_batch = (int32_t)ig_span(is, first, is->rank - 1);
    p->run = (int32_t)ig_span(s, first + p->tuple, s->rank);
    for (int d = 0; d < p->tuple; d++) p->dims[d] = s->dims[first + d];
}

int ig_gpu_gather_nd(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_gather p = gather_of(call);
    (void)scratch;
    tuples_of(&p, call, ((const struct ig_axis *)call->attrs)->axis);
    return ig_gpu_each(to, "gather_nd", p.count, 128, GATHER_POINTERS, &p, sizeof p);
}

/* The copy that updates go into, in to[0], and the parameters of the updates. */
static struct ig_gpu_gather scatter_of(const struct ig_call *call, struct ig_gpu_launch *to)
{
    struct ig_gpu_gather p = gather_of(call);
    ig_gpu_reshape(call, NULL, to);
    p.in = call->in[2].data;
    p.mode = ((const struct ig_axis *)call->attrs)->mode;
    return p;
}

int ig_gpu_scatter_elements(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    int axis = ((const struct ig_axis *)call->attrs)->axis;
    const struct ig_shape *is = call->in[1].shape;
    struct ig_gpu_gather p = scatter_of(call, to);
    (void)scratch;
    walk_indices(&p, call, 0);
    p.taken = is->dims[axis];
    p.inner = (int32_t)ig_span(is, axis + 1, is->rank);
    p.count = (int32_t)(ig_count(is) / p.taken);
    return 1 + ig_gpu_each(&to[1], "scatter_elements", p.count, 128, GATHER_POINTERS, &p, sizeof p);
}

int ig_gpu_scatter_nd(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_gather p = scatter_of(call, to);
    (void)scratch;
    tuples_of(&p, call, 0);
    return 1 + ig_gpu_each(&to[1], "scatter_nd", p.run, 128, GATHER_POINTERS, &p, sizeof p);
}
