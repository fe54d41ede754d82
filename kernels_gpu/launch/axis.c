/* Along axes: line.cu, reduce.cu, norm.cu. Operands are dense. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

enum { FEW_LINES = 256, LONG_LINE = 64, FEW_OUTPUTS = 4096, WARP = 32, MOST_BLOCKS = 1024, MOST_PIECES = 256, MANY_PIXELS = 256, NORM_POINTERS = 7 };

/* --- lines --- */

static struct ig_gpu_line line_of(const struct ig_call *call, int32_t axis)
{
    struct ig_lines l = ig_lines_of(call->in[0].shape, axis);
    return (struct ig_gpu_line){.in = call->in[0].data, .out = call->out[0].data, .lines = (int32_t)(l.outer * l.inner),
                                .n = (int32_t)l.n, .inner = (int32_t)l.inner, .in_type = call->in[0].shape->type,
                                .out_type = call->out[0].shape->type};
}

int ig_gpu_supports_softmax_any(const struct ig_call *call)
{
    return ig_ref_is_float(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_softmax(call);
}

int ig_gpu_softmax_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_axis *a = (const struct ig_axis *)call->attrs;
    struct ig_gpu_line p = line_of(call, a->axis);
    (void)scratch;
    p.mode = a->mode;
    return ig_gpu_each(to, "softmax_line", p.lines, 128, 2, &p, sizeof p);
}

int ig_gpu_supports_cumsum(const struct ig_call *call)
{
    return cumsum_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_cumsum(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_cumsum *a = (const struct ig_cumsum *)call->attrs;
    struct ig_gpu_line p = line_of(call, a->axis);
    (void)scratch;
    p.exclusive = a->exclusive, p.reverse = a->reverse;
    return ig_gpu_each(to, "cumsum_line", p.lines, 128, 2, &p, sizeof p);
}

static struct ig_gpu_select select_of(const struct ig_call *call, int32_t axis)
{
    const struct ig_shape *s = call->in[0].shape;
    struct ig_lines l = ig_lines_of(s, axis);
    return (struct ig_gpu_select){.in = call->in[0].data, .lines = (int32_t)(l.outer * l.inner), .n = (int32_t)l.n,
                                  .inner = (int32_t)l.inner, .k = 1, .type = s->type, .bytes = ig_type_bytes(s->type)};
}

/* Few long lines: a block each. */
static int select_lines(const struct ig_gpu_select *p, struct ig_gpu_launch *to)
{
    int wide = p->lines < FEW_LINES && p->n > LONG_LINE;
    ig_gpu_fill(to, wide ? "select_block" : "select_line", wide ? p->lines : ig_gpu_ceil(p->lines, 128), 1, 1, 128, 3, p,
                sizeof *p);
    return 1;
}

int ig_gpu_supports_arg(const struct ig_call *call)
{
    return arg_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_arg(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_arg *a = (const struct ig_arg *)call->attrs;
    struct ig_gpu_select p = select_of(call, a->axis);
    (void)scratch;
    p.indices = (int64_t *)call->out[0].data;
    p.smallest = a->min, p.last = a->select_last;
    return select_lines(&p, to);
}

int ig_gpu_supports_topk(const struct ig_call *call)
{
    return topk_any_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_topk(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_topk *a = (const struct ig_topk *)call->attrs;
    const struct ig_shape *s = call->out[0].shape ? call->out[0].shape : call->out[1].shape;
    struct ig_gpu_select p = select_of(call, a->axis);
    (void)scratch;
    p.values = ig_gpu_out(call, 0);
    p.indices = (int64_t *)ig_gpu_out(call, 1);
    p.k = s->rank ? s->dims[a->axis] : 1;
    p.smallest = !a->largest;
    return select_lines(&p, to);
}

/* --- reductions --- */

int ig_gpu_supports_reduce(const struct ig_call *call)
{
    return ig_ref_is_number(call) && ig_gpu_addresses_all(call);
}

/* Loops over the dims whose bit in `mask` equals `set`. */
static struct ig_gpu_loops loops_of(const struct ig_shape *s, int mask, int set)
{
    struct ig_gpu_loops l = {0};
    for (int d = 0; d < s->rank; d++)
        if ((mask >> d & 1) == set) ig_gpu_loop(&l, s->dims[d], ig_span(s, d + 1, s->rank), 0, 0, 0);
    return l;
}

/* The two nests of loops one behind the other. */
static void put_both(int32_t *dims, int32_t *at, const struct ig_gpu_loops *a, const struct ig_gpu_loops *b)
{
    ig_gpu_put_loops(dims, a->dims, a->n);
    ig_gpu_put_loops(dims + a->n, b->dims, b->n);
    ig_gpu_put_loops(at, a->at[0], a->n);
    ig_gpu_put_loops(at + a->n, b->at[0], b->n);
}

static const char *reducer(int32_t type, int32_t kind)
{
    int real = kind == IG_REDUCE_L2 || kind == IG_REDUCE_LOG_SUM || kind == IG_REDUCE_LOG_SUM_EXP;
    return type == IG_F32 ? "reduce_f32" : real ? "reduce_real" : "reduce_integer";
}

/* Neighbours in memory, 32 or more, of floats. */
static int are_columns(const struct ig_call *call, const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    int32_t kind = ((const struct ig_reduce *)call->attrs)->kind;
    return call->in[0].shape->type == IG_F32 && kind != IG_REDUCE_LOG_SUM_EXP && kept->n && kept->at[0][kept->n - 1] == 1 &&
           kept->dims[kept->n - 1] >= WARP && ig_gpu_visits(gone) > LONG_LINE;
}

/* Pieces of what is reduced, where outputs alone would leave most of a GPU idle. */
static int32_t pieces(const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    int32_t most = MOST_BLOCKS / ig_gpu_ceil(ig_gpu_visits(kept), WARP), n = ig_gpu_visits(gone) / LONG_LINE;
    n = n < most ? n : most;
    return n < 2 ? 1 : n < MOST_PIECES ? n : MOST_PIECES;
}

size_t ig_gpu_scratch_reduce(const struct ig_call *call)
{
    int mask = ((const struct ig_reduce *)call->attrs)->mask;
    struct ig_gpu_loops kept = loops_of(call->in[0].shape, mask, 0), gone = loops_of(call->in[0].shape, mask, 1);
    int32_t n = are_columns(call, &kept, &gone) ? pieces(&kept, &gone) : 1;
    return n > 1 ? (size_t)n * (size_t)ig_gpu_visits(&kept) * sizeof(float) : 0;
}

static void columns(const struct ig_gpu_reduce *p, int32_t n, struct ig_gpu_launch *to)
{
    ig_gpu_fill(to, "reduce_columns", ig_gpu_ceil(p->outputs, WARP), n, 1, 256, 2, p, sizeof *p);
}

static int reduce_columns(struct ig_gpu_reduce *p, int32_t n, void *scratch, struct ig_gpu_launch *to)
{
    p->chunk = ig_gpu_ceil(p->count, n), p->by = p->count;
    if (n == 1) {
        columns(p, 1, to);
        return 1;
    }
    struct ig_gpu_reduce second = {.in = scratch, .out = p->out, .outputs = p->outputs, .count = n, .kept = 1, .gone = 1,
                                   .kind = p->kind, .type = p->type, .chunk = n, .joined = 1, .by = p->count,
                                   .kept_dims = {p->outputs}, .kept_at = {1}, .gone_dims = {n}, .gone_at = {p->outputs}};
    p->out = scratch, p->by = 0;
    columns(p, n, &to[0]);
    columns(&second, 1, &to[1]);
    return 2;
}

int ig_gpu_reduce(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_reduce *a = (const struct ig_reduce *)call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_gpu_loops kept = loops_of(s, a->mask, 0), gone = loops_of(s, a->mask, 1);
    struct ig_gpu_reduce p = {.in = call->in[0].data, .out = call->out[0].data, .outputs = ig_gpu_visits(&kept),
                              .count = ig_gpu_visits(&gone), .kept = kept.n, .gone = gone.n, .kind = a->kind, .type = s->type};
    ig_gpu_put_loops(p.kept_dims, kept.dims, kept.n);
    ig_gpu_put_loops(p.kept_at, kept.at[0], kept.n);
    ig_gpu_put_loops(p.gone_dims, gone.dims, gone.n);
    ig_gpu_put_loops(p.gone_at, gone.at[0], gone.n);
    if (are_columns(call, &kept, &gone)) return reduce_columns(&p, pieces(&kept, &gone), scratch, to);
    p.wide = p.count > LONG_LINE && (p.outputs < FEW_OUTPUTS || gone.at[0][gone.n - 1] == 1);
    ig_gpu_fill(to, reducer(p.type, p.kind), p.wide ? p.outputs : ig_gpu_ceil(p.outputs, 128), 1, 1, 128, 2, &p, sizeof p);
    return 1;
}

/* --- normalisations --- */

int ig_gpu_supports_norm(const struct ig_call *call)
{
    return norm_f32_nd__supports(call) && ig_gpu_addresses_all(call);
}

/* The tensor as its groups see it: of images [N, pixels, groups, channels of one]. */
static struct ig_shape norm_view(const struct ig_norm *a, const struct ig_shape *s)
{
    if (a->kind != IG_NORM_INSTANCE && a->kind != IG_NORM_GROUP) return *s;
    int32_t c = s->dims[s->rank - 1], groups = a->kind == IG_NORM_GROUP ? a->groups : c;
    return (struct ig_shape){s->type, 4, {s->dims[0], (int32_t)ig_span(s, 1, s->rank - 1), groups, c / groups, 1, 1, 1, 1}};
}

/* The dims of the view that are within a group. */
static int norm_mask(const struct ig_norm *a, const struct ig_shape *view)
{
    switch (a->kind) {
    case IG_NORM_INSTANCE:
    case IG_NORM_GROUP: return 1 << 1 | 1 << 3;
    case IG_NORM_LP: return 1 << a->axis;
    case IG_NORM_MVN: return a->mask;
    default: return (1 << view->rank) - (1 << a->axis);
    }
}

/* Whether a parameter's strides are those of a group's members, one behind the other, the same for all groups. */
static int is_plain(const struct ig_gpu_norm *p, const float *parameter, const int32_t *at)
{
    if (!parameter) return 1;
    for (int i = 0; i < p->rank - 1; i++)
        if (at[i]) return 0;
    return p->rank > 0 && p->shape[p->rank - 1] == p->count && at[p->rank - 1] == 1;
}

/* Pixels of an image whose channels are normalised each; 0: it is something else, or so small that blocks of a channel do. */
static int32_t channel_pixels(const struct ig_call *call)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    int64_t pixels = ig_span(s, 0, s->rank - 1);
    return a->kind == IG_NORM_INSTANCE && s->dims[0] == 1 && pixels >= MANY_PIXELS ? (int32_t)pixels : 0;
}

static int32_t channel_pieces(int32_t pixels)
{
    int32_t n = pixels / LONG_LINE;
    return n < MOST_PIECES ? n : MOST_PIECES;
}

size_t ig_gpu_scratch_norm(const struct ig_call *call)
{
    int32_t pixels = channel_pixels(call), c = call->in[0].shape->dims[call->in[0].shape->rank - 1];
    return pixels ? ((size_t)channel_pieces(pixels) * 3 + 2) * (size_t)c * sizeof(float) : 0;
}

static int norm_channels(const struct ig_call *call, int32_t pixels, float *scratch, struct ig_gpu_launch *to)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    int32_t c = call->in[0].shape->dims[call->in[0].shape->rank - 1], n = channel_pieces(pixels);
    uintptr_t moments = (uintptr_t)scratch, shifts = moments + (uintptr_t)n * 3 * (uintptr_t)c * sizeof(float);
    struct ig_gpu_norm_channels p = {(const float *)call->in[0].data, (const float *)ig_gpu_in(call, 1), (const float *)ig_gpu_in(call, 2),
                                     (float *)call->out[0].data, (float *)moments, (float *)shifts,
                                     (float *)(shifts + (uintptr_t)c * sizeof(float)), pixels, c, ig_gpu_ceil(pixels, n), 0, a->epsilon};
    ig_gpu_fill(&to[0], "norm_moments_32", ig_gpu_ceil(c, WARP), n, 1, 256, NORM_POINTERS, &p, sizeof p);
    p.pieces = p.chunk = n;
    ig_gpu_fill(&to[1], "norm_moments_32", ig_gpu_ceil(c, WARP), 1, 1, 256, NORM_POINTERS, &p, sizeof p);
    return 2 + ig_gpu_some(&to[2], "norm_channels", (int64_t)pixels * c, NORM_POINTERS, &p, sizeof p);
}

int ig_gpu_norm(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, view = norm_view(a, s);
    const struct ig_shape *scale = ig_has(call, 1) ? call->in[1].shape : s, *bias = ig_has(call, 2) ? call->in[2].shape : s;
    struct ig_gpu_loops groups = loops_of(&view, norm_mask(a, &view), 0), members = loops_of(&view, norm_mask(a, &view), 1);
    struct ig_gpu_loops all = {0};
    struct ig_gpu_norm p = {.in = (const float *)call->in[0].data, .scale = (const float *)ig_gpu_in(call, 1),
                            .bias = (const float *)ig_gpu_in(call, 2), .out = (float *)call->out[0].data,
                            .shifts = (float *)ig_gpu_out(call, 1), .factors = (float *)ig_gpu_out(call, 2),
                            .groups = ig_gpu_visits(&groups), .count = ig_gpu_visits(&members), .outer = groups.n,
                            .inner = members.n, .kind = a->kind, .p = a->p, .epsilon = a->epsilon};
    if (channel_pixels(call)) return norm_channels(call, channel_pixels(call), (float *)scratch, to);
    for (int d = 0; d < s->rank; d++)
        ig_gpu_loop(&all, s->dims[d], ig_gpu_broadcast(scale, s, d), ig_gpu_broadcast(bias, s, d), 0, 0);
    p.rank = all.n;
    put_both(p.dims, p.at, &groups, &members);
    ig_gpu_put_loops(p.shape, all.dims, all.n);
    ig_gpu_put_loops(p.scale_at, all.at[0], all.n);
    ig_gpu_put_loops(p.bias_at, all.at[1], all.n);
    int run = members.n == 1 && members.at[0][0] == 1;
    p.plain = run && is_plain(&p, p.scale, p.scale_at) && is_plain(&p, p.bias, p.bias_at);
    ig_gpu_fill(to, run && p.count <= IG_GPU_NORM_KEPT ? "norm_kept" : "norm_128", p.groups, 1, 1, 128, 6, &p, sizeof p);
    return 1;
}
