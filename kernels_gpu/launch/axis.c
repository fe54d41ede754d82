/* Along axes: line.cu, reduce.cu, norm.cu. Operands are dense. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

enum { FEW_LINES = 256, LONG_LINE = 64, FEW_OUTPUTS = 4096, WARP = 32, MANY_PIXELS = 256, NORM_POINTERS = 7 };
enum { TILE = 256, ROW_THREADS = 128 /* threads of a block */, SEVERAL = 4 /* loads that a thread has under way */, FEW_ROWS = 8,
       LONG_ROW = 512, LONG_PIECE = 4096, FEW_BLOCKS = 256, MOST_BLOCKS = 2048, FEW_PIECES = 4, MOST_PIECES = 1024 };
enum { MANY_GROUPS = 512, SMALL_GROUP = 256, WARP_KEPT = 1024 /* members that a warp keeps in registers */ };

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
    return ig_ref_is_float(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_softmax(call) && !ig_gpu_supports_half_softmax(call);
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

/* Reductions of floats that have kernels of their own. */
enum way { ANY, COLUMNS, ROWS };

static enum way way_of(const struct ig_call *call, const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    int32_t kind = ((const struct ig_reduce *)call->attrs)->kind, count = ig_gpu_visits(gone);
    if (call->in[0].shape->type != IG_F32 || kind == IG_REDUCE_LOG_SUM_EXP || !gone->n || gone->n > 2) return ANY;
    if (gone->at[0][gone->n - 1] == 1) return gone->n == 1 || gone->dims[1] >= WARP ? ROWS : ANY;
    return count >= FEW_ROWS && kept->n && kept->at[0][kept->n - 1] == 1 && kept->dims[kept->n - 1] >= WARP ? COLUMNS : ANY;
}

/* Whether all of a nest's strides but the last are whole quads. */
static int are_quads(const struct ig_gpu_loops *l, int n)
{
    for (int i = 0; i < n; i++)
        if (l->at[0][i] % 4) return 0;
    return 1;
}

/* Outputs that a thread of columns has by their shape; aligned or not, their sums have the same order. */
static int32_t columns_width(const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    return kept->dims[kept->n - 1] % 4 == 0 && are_quads(kept, kept->n - 1) && are_quads(gone, gone->n) ? 4 : 1;
}

/* How blocks share a reduction: outputs of a thread, threads side by side or of an output, blocks of a piece, pieces. */
struct sharing {
    int32_t width, across, blocks, pieces;
};

/* Pieces of `count`, `least` each or more, where `blocks` alone would leave most of a GPU idle. */
static int32_t pieces(int32_t blocks, int32_t count, int32_t least)
{
    int32_t most = MOST_BLOCKS / blocks, n = count / least;
    n = n < most ? n : most;
    return n < FEW_PIECES ? 1 : n < MOST_PIECES ? n : MOST_PIECES;
}

/* Threads side by side for n units: fewer than a warp to fill a GPU, while its threads have rows, or several, to take. */
static int32_t tile_across(int32_t n, int32_t count, int32_t least)
{
    int32_t across = WARP;
    while (across > 1 && across / 2 >= n) across /= 2;
    for (; across > least; across /= 2) {
        int32_t blocks = ig_gpu_ceil(n, across), rows = TILE / across;
        if (blocks >= MOST_BLOCKS || (blocks < FEW_BLOCKS ? rows : rows * SEVERAL) >= count) break;
    }
    return across;
}

/* Tiles and pieces for n outputs side by side of `count` each. */
static struct sharing share_tiles(int32_t width, int32_t n, int32_t count)
{
    struct sharing s = {.width = width, .across = tile_across(n / width, count, WARP / width)};
    s.blocks = ig_gpu_ceil(n / width, s.across);
    s.pieces = pieces(s.blocks, count, TILE / s.across * SEVERAL);
    return s;
}

/* The same where outputs are joined from all their pieces. */
static struct sharing share_joins(int32_t width, int32_t n, int32_t count)
{
    struct sharing s = {width, tile_across(n / width, count, 1), 0, 1};
    s.blocks = ig_gpu_ceil(n / width, s.across);
    return s;
}

/* The same tile for one output a thread, where those of several are not aligned. */
static void narrow(struct sharing *s, int32_t n)
{
    s->width = 1;
    s->blocks = ig_gpu_ceil(n, s->across);
}

/* Lanes for the quads of a row, a block's threads where rows are few. */
static struct sharing share_rows(const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    int32_t outputs = ig_gpu_visits(kept), run = gone->dims[gone->n - 1];
    struct sharing s = {.across = 1};
    while (s.across < WARP && s.across * 4 < run) s.across *= 2;
    if (outputs < FEW_OUTPUTS && ig_gpu_visits(gone) >= LONG_ROW) s.across = ROW_THREADS;
    s.blocks = ig_gpu_ceil(outputs, ROW_THREADS / s.across);
    s.pieces = gone->n == 1 ? pieces(s.blocks, run, LONG_PIECE) : 1;
    return s;
}

static struct sharing share(enum way way, const struct ig_gpu_loops *kept, const struct ig_gpu_loops *gone)
{
    if (way == ROWS) return share_rows(kept, gone);
    return share_tiles(columns_width(kept, gone), ig_gpu_visits(kept), ig_gpu_visits(gone));
}

size_t ig_gpu_scratch_reduce(const struct ig_call *call)
{
    int mask = ((const struct ig_reduce *)call->attrs)->mask;
    struct ig_gpu_loops kept = loops_of(call->in[0].shape, mask, 0), gone = loops_of(call->in[0].shape, mask, 1);
    enum way way = way_of(call, &kept, &gone);
    int32_t n = way == ANY ? 1 : share(way, &kept, &gone).pieces;
    return n > 1 ? (size_t)n * (size_t)ig_gpu_visits(&kept) * sizeof(float) : 0;
}

static int is_aligned(const void *a, const void *b)
{
    return ((uintptr_t)a | (uintptr_t)b) % 16 == 0;
}

static void columns(struct ig_gpu_reduce *p, const struct sharing *shared, struct ig_gpu_launch *to)
{
    struct sharing s = *shared;
    if (!is_aligned(p->in, p->out)) narrow(&s, p->outputs);
    p->across = s.across;
    ig_gpu_fill(to, s.width == 4 ? "reduce_columns_4" : "reduce_columns_1", s.blocks, s.pieces, 1, TILE, 2, p, sizeof *p);
}

static void rows(struct ig_gpu_reduce *p, const struct sharing *s, struct ig_gpu_launch *to)
{
    p->across = s->across;
    ig_gpu_fill(to, is_aligned(p->in, NULL) ? "reduce_rows_4" : "reduce_rows_1", s->blocks, s->pieces, 1, ROW_THREADS, 2, p, sizeof *p);
}

/* What pieces gave, [pieces][outputs]. */
static void join_pieces(const struct ig_gpu_reduce *first, int32_t n, void *out, struct ig_gpu_launch *to)
{
    struct sharing s = share_joins(first->outputs % 4 ? 1 : 4, first->outputs, n);
    struct ig_gpu_reduce p = {.in = first->out, .out = out, .outputs = first->outputs, .count = n, .kept = 1, .gone = 1, .kind = first->kind,
                              .type = first->type, .chunk = n, .joined = 1, .by = first->count, .run = n, .run_at = first->outputs,
                              .kept_dims = {first->outputs}, .kept_at = {1}};
    p.inverse = ig_gpu_inverse(n, &p.shift);
    columns(&p, &s, to);
}

/* p's floats by one of the two ways; from several pieces in a second launch. */
static int reduce_floats(struct ig_gpu_reduce *p, enum way way, const struct ig_gpu_loops *gone, const struct sharing *s, void *scratch,
                         struct ig_gpu_launch *to)
{
    void *out = p->out;
    int32_t whole = way == ROWS ? gone->dims[gone->n - 1] : p->count;
    p->run = gone->dims[gone->n - 1], p->run_at = gone->at[0][gone->n - 1], p->outer_at = gone->n > 1 ? gone->at[0][0] : 0;
    p->inverse = ig_gpu_inverse(p->run, &p->shift);
    p->chunk = ig_gpu_round4(ig_gpu_ceil(whole, s->pieces)), p->by = s->pieces > 1 ? 0 : p->count;
    if (s->pieces > 1) p->out = scratch;
    if (way == ROWS) rows(p, s, &to[0]);
    else columns(p, s, &to[0]);
    if (s->pieces == 1) return 1;
    join_pieces(p, s->pieces, out, &to[1]);
    return 2;
}

int ig_gpu_reduce(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_reduce *a = (const struct ig_reduce *)call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_gpu_loops kept = loops_of(s, a->mask, 0), gone = loops_of(s, a->mask, 1);
    enum way way = way_of(call, &kept, &gone);
    struct ig_gpu_reduce p = {.in = call->in[0].data, .out = call->out[0].data, .outputs = ig_gpu_visits(&kept),
                              .count = ig_gpu_visits(&gone), .kept = kept.n, .gone = gone.n, .kind = a->kind, .type = s->type};
    ig_gpu_put_loops(p.kept_dims, kept.dims, kept.n);
    ig_gpu_put_loops(p.kept_at, kept.at[0], kept.n);
    ig_gpu_put_loops(p.gone_dims, gone.dims, gone.n);
    ig_gpu_put_loops(p.gone_at, gone.at[0], gone.n);
    if (way != ANY) {
        struct sharing shared = share(way, &kept, &gone);
        return reduce_floats(&p, way, &gone, &shared, scratch, to);
    }
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

static struct sharing share_channels(int32_t c, int32_t pixels)
{
    return share_tiles(c % 4 ? 1 : 4, c, pixels);
}

size_t ig_gpu_scratch_norm(const struct ig_call *call)
{
    int32_t pixels = channel_pixels(call), c = call->in[0].shape->dims[call->in[0].shape->rank - 1];
    return pixels ? ((size_t)share_channels(c, pixels).pieces * 3 + 2) * (size_t)c * sizeof(float) : 0;
}

/* Whether a thread may have four channels, if their number allows. */
static int channels_align(const struct ig_call *call, const void *scratch)
{
    return is_aligned(call->in[0].data, call->out[0].data) && is_aligned(ig_gpu_in(call, 1), ig_gpu_in(call, 2)) && is_aligned(scratch, NULL);
}

static void moments(struct ig_gpu_norm_channels *p, const struct sharing *s, struct ig_gpu_launch *to)
{
    p->across = s->across;
    ig_gpu_fill(to, s->width == 4 ? "norm_moments_4" : "norm_moments_1", s->blocks, s->pieces, 1, TILE, NORM_POINTERS, p, sizeof *p);
}

/* Each element, up to IG_GPU_SOME vectors a thread, those of a block side by side. */
static void apply_channels(struct ig_gpu_norm_channels *p, int32_t width, struct ig_gpu_launch *to)
{
    int64_t vectors = (int64_t)p->pixels * p->c / width;
    p->chunk = ig_gpu_ceil(ig_gpu_ceil(vectors, ig_gpu_some_blocks(vectors)), 128) * 128;
    ig_gpu_fill(to, width == 4 ? "norm_channels_4" : "norm_channels_1", ig_gpu_ceil(vectors, p->chunk), 1, 1, 128, NORM_POINTERS, p,
                sizeof *p);
}

static int norm_channels(const struct ig_call *call, int32_t pixels, float *scratch, struct ig_gpu_launch *to)
{
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    int32_t c = call->in[0].shape->dims[call->in[0].shape->rank - 1];
    struct sharing s = share_channels(c, pixels), joins = share_joins(s.width, c, s.pieces);
    uintptr_t made = (uintptr_t)scratch, shifts = made + (uintptr_t)s.pieces * 3 * (uintptr_t)c * sizeof(float);
    struct ig_gpu_norm_channels p = {(const float *)call->in[0].data, (const float *)ig_gpu_in(call, 1), (const float *)ig_gpu_in(call, 2),
                                     (float *)call->out[0].data, (float *)made, (float *)shifts,
                                     (float *)(shifts + (uintptr_t)c * sizeof(float)), pixels, c, ig_gpu_ceil(pixels, s.pieces), 0, 0,
                                     a->epsilon};
    if (!channels_align(call, scratch)) narrow(&s, c), narrow(&joins, c);
    moments(&p, &s, &to[0]);
    p.pieces = p.chunk = s.pieces;
    moments(&p, &joins, &to[1]);
    apply_channels(&p, s.width, &to[2]);
    return 3;
}

/* Which kernel, and groups of a block: members side by side stay in registers, of many groups a warp's. */
static void fill_norm(const struct ig_gpu_norm *p, int run, struct ig_gpu_launch *to)
{
    int small = p->count <= SMALL_GROUP, power = p->kind == IG_NORM_LP && p->p > 2;
    int warp = run && p->plain && !power && p->count <= WARP_KEPT && (small || p->groups >= MANY_GROUPS);
    const char *block = run && p->count <= IG_GPU_NORM_KEPT ? "norm_kept" : "norm_128";
    const char *name = !warp ? block : small ? "norm_warp8" : "norm_warp32";
    ig_gpu_fill(to, name, ig_gpu_ceil(p->groups, warp ? 4 : 1), 1, 1, 128, 6, p, sizeof *p);
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
    fill_norm(&p, run, to);
    return 1;
}
