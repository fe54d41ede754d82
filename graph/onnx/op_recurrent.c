/*
 * RNN, GRU and LSTM: the product of the input, of all steps and with all biases that are only added, and a node for what is left (struct
 * ig_recurrent); both are there twice where directions differ in their activations. ONNX's tensors of D directions, X [T,B,I] (with
 * layout 1 [B,T,I]):
 *   W [D,G H,I], R [D,G H,H], B [D,2 G H]: of W, then of R; P [D,3 H]; initial h and c [D,B,H] (layout 1: [B,D,H])
 *   -> Y [T,D,B,H] (layout 1: [B,T,D,H]), Y_h and Y_c as the initial ones
 */
#include <string.h>
#include <strings.h>

#include "graph/onnx/import.h"

enum { ACTS = 3 }; /* at most */

struct layer {
    struct im *m;
    const struct im_node *n;
    struct ig_recurrent attrs[IG_DIRECTIONS];
    int32_t directions, gates, hidden, steps, batch, inputs;
    int rows_first; /* layout 1 */
};

/* Directions that one node has, and their rows of all tensors. */
struct group {
    int32_t first, n;
    struct ig_recurrent attrs;
};

/* Of ONNX's default alpha and beta; `takes`: how many of the two. */
static const struct {
    const char *name;
    struct ig_act act;
    int takes;
} activations[] = {
    {"Sigmoid", {IG_SIGMOID, 0, 0}, 0},      {"Tanh", {IG_TANH, 0, 0}, 0}, {"Relu", {IG_RELU, 0, 0}, 0},
    {"HardSigmoid", {IG_HARD_SIGMOID, 0.2f, 0.5f}, 2}, {"LeakyRelu", {IG_LEAKY_RELU, 0.01f, 0}, 1}, {"Elu", {IG_ELU, 1, 0}, 1},
    {"Softplus", {IG_SOFTPLUS, 0, 0}, 0},
};

static int activation_of(struct im *m, const char *name)
{
    for (int i = 0; i < (int)(sizeof activations / sizeof *activations); i++)
        if (!strcasecmp(activations[i].name, name)) return i; /* as onnxruntime */
    im_refuse(m, "activation '%.40s' is not supported", name);
}

/* Lists of alphas and betas have those of the functions that take one. */
static void read_activations(struct layer *l)
{
    static const char *const usual[] = {"Sigmoid", "Tanh", "Tanh"};
    struct ig_recurrent *a = l->attrs;
    const int per = a->kind == IG_LSTM ? 3 : a->kind == IG_GRU ? 2 : 1;
    const char *names[IG_DIRECTIONS * ACTS];
    float alpha[IG_DIRECTIONS * ACTS], beta[IG_DIRECTIONS * ACTS];
    int given = im_strings(l->m, l->n, "activations", names, IG_DIRECTIONS * ACTS), next_alpha = 0, next_beta = 0;
    int alphas = im_floats(l->m, l->n, "activation_alpha", alpha, IG_DIRECTIONS * ACTS);
    int betas = im_floats(l->m, l->n, "activation_beta", beta, IG_DIRECTIONS * ACTS);
    if (given > 0 && given != per * l->directions) im_fail(l->m, "%d activations where %d are needed", given, per * l->directions);
    for (int i = 0; i < per * l->directions; i++) {
        int k = activation_of(l->m, given > 0 ? names[i] : usual[per == 1 ? 1 : i % per]);
        struct ig_act act = activations[k].act, *to = i % per == 0 ? &a[i / per].f : i % per == 1 ? &a[i / per].g : &a[i / per].u;
        if (activations[k].takes > 0 && next_alpha < alphas) act.alpha = alpha[next_alpha++];
        if (activations[k].takes > 1 && next_beta < betas) act.beta = beta[next_beta++];
        *to = act;
    }
}

static void read_attributes(struct layer *l)
{
    static const char *const directions[] = {"forward", "reverse", "bidirectional", NULL};
    int direction = im_choice(l->m, l->n, "direction", "forward", directions);
    struct ig_recurrent a = {.kind = im_op_find(l->n)->kind};
    l->directions = direction == 2 ? 2 : 1;
    l->gates = ig_gates_of(&a);
    l->rows_first = im_int32(l->m, l->n, "layout", 0, 0, 1);
    a.clip = im_float(l->m, l->n, "clip", 0);
    if (im_attr(l->n, "clip") && !(a.clip > 0)) im_fail(l->m, "clip is not above 0");
    a.reset_after = a.kind == IG_GRU && im_int(l->m, l->n, "linear_before_reset", 0);
    a.input_forget = a.kind == IG_LSTM && im_int(l->m, l->n, "input_forget", 0);
    l->attrs[0] = l->attrs[1] = a;
    l->attrs[0].reverse = direction == 1;
    l->attrs[1].reverse = 1;
    read_activations(l);
}

/* Input i, which must have those dims; or IM_ABSENT. */
static int32_t input_of(const struct layer *l, int i, const char *name, int rank, const int64_t *dims)
{
    if (im_in(l->m, l->n, i) == IM_ABSENT) return IM_ABSENT;
    int32_t v = im_need(l->m, l->n, i);
    struct ig_shape s = im_shape(l->m, v);
    if (s.type != IG_F32) im_refuse(l->m, "only float32 data is supported");
    if (s.rank != rank) im_fail(l->m, "%s has %d dimensions, not %d", name, s.rank, rank);
    for (int k = 0; k < rank; k++)
        if (s.dims[k] != dims[k]) im_misfit(l->m, "dimension %d of %s is %d, not %lld", k, name, s.dims[k], (long long)dims[k]);
    return v;
}

static void read_sizes(struct layer *l)
{
    struct ig_shape x = im_shape(l->m, im_need(l->m, l->n, 0)), r = im_shape(l->m, im_need(l->m, l->n, 2));
    if (x.rank != 3 || r.rank != 3) im_fail(l->m, "X and R must have 3 dimensions");
    if (x.type != IG_F32) im_refuse(l->m, "only float32 data is supported");
    l->steps = x.dims[l->rows_first];
    l->batch = x.dims[!l->rows_first];
    l->inputs = x.dims[2];
    l->hidden = r.dims[2];
    if (im_int(l->m, l->n, "hidden_size", l->hidden) != l->hidden) im_fail(l->m, "hidden_size is not the last dimension of R, %d", l->hidden);
}

/* Lengths that differ from T would be another network for every row. */
static void check_lengths(const struct layer *l)
{
    enum { MOST = 4096 };
    int64_t lengths[MOST];
    int32_t v = im_in(l->m, l->n, 4);
    if (v == IM_ABSENT) return;
    if (!im_is_const(l->m, v)) im_refuse(l->m, "sequence_lens that are computed are not supported; leave them away");
    const int n = im_const_ints(l->m, v, "sequence_lens", lengths, MOST);
    if (n != l->batch) im_fail(l->m, "%d sequence_lens for a batch of %d", n, l->batch);
    for (int i = 0; i < n; i++)
        if (lengths[i] != l->steps) im_refuse(l->m, "sequence_lens of other than the %d steps are not supported", l->steps);
}

/* Elements [from, from + n) of dim `axis` of v, which has rank `rank`. */
static int32_t part(const struct layer *l, int32_t v, int axis, int32_t from, int32_t n)
{
    struct ig_shape s = im_shape(l->m, v);
    int32_t start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK];
    int64_t extent[IG_MAX_RANK];
    for (int i = 0; i < s.rank; i++) step[i] = 1, extent[i] = s.dims[i];
    start[axis] = from, extent[axis] = n;
    return n == s.dims[axis] ? v : im_slice(l->m, v, start, step, extent);
}

/* Those directions of v [D,...]. */
static int32_t directions_of(const struct layer *l, const struct group *g, int32_t v)
{
    return v == IM_ABSENT ? v : part(l, v, 0, g->first, g->n);
}

/* dims 0 and 1 of v, of three, the other way round where layout 1 has them so. */
static int32_t turned(const struct layer *l, int32_t v)
{
    static const int32_t perm[] = {1, 0, 2};
    return l->rows_first && v != IM_ABSENT ? im_transpose(l->m, v, perm) : v;
}

/* Biases of W and R [n,2 G H] -> what is added to the product of the input [n,G H], and what the node adds itself. */
static int32_t split_bias(const struct layer *l, int32_t b, int32_t *own)
{
    const int32_t all = l->gates * l->hidden, most = 2 * l->hidden;
    int32_t w = part(l, b, 1, 0, all), r = part(l, b, 1, all, all);
    if (!l->attrs->reset_after) return im_binary(l->m, IG_ADD, w, r);
    *own = part(l, r, 1, most, l->hidden);
    const int32_t in[] = {im_binary(l->m, IG_ADD, part(l, w, 1, 0, most), part(l, r, 1, 0, most)), part(l, w, 1, most, l->hidden)};
    return im_emit1(l->m, IG_CONCAT, 2, in, &(union ig_attrs){.axis = {1, 0}});
}

/* x [1,T B,I], w [n,G H,I], bias [n,G H] -> [T,B,n G H]; of one pixel a matrix, of more an image. */
static int32_t project(const struct layer *l, int32_t n, int32_t x, int32_t w, int32_t bias)
{
    const union ig_attrs t = {.matmul = {0, 1, 1}};
    const int64_t width = (int64_t)n * l->gates * l->hidden;
    if (l->steps == 1 && l->batch == 1) x = im_drop_dims(l->m, x, 1);
    int32_t y = im_emit1(l->m, IG_MATMUL, 2, (int32_t[]){x, im_reshape(l->m, w, 2, (int64_t[]){width, l->inputs})}, &t);
    if (bias != IM_ABSENT) y = im_binary(l->m, IG_ADD, y, im_reshape(l->m, bias, 1, &width));
    return im_reshape(l->m, y, 3, (int64_t[]){l->steps, l->batch, width});
}

/* Output k of n nodes, side by side along `axis`. */
static int32_t joined(const struct layer *l, int n, int32_t (*out)[3], int k, int axis)
{
    const int32_t all[] = {out[0][k], out[n - 1][k]};
    return n == 1 ? all[0] : im_emit1(l->m, IG_CONCAT, 2, all, &(union ig_attrs){.axis = {axis, 0}});
}

static void set_outputs(const struct layer *l, int n, int32_t (*out)[3])
{
    static const int32_t rows_first[] = {2, 0, 1, 3};
    int32_t y = im_wants(l->m, l->n, 0) ? joined(l, n, out, 0, 1) : IM_ABSENT;
    if (y != IM_ABSENT) im_set(l->m, l->n, 0, l->rows_first ? im_transpose(l->m, y, rows_first) : y);
    for (int k = 1; k < 3; k++)
        if (im_wants(l->m, l->n, k)) im_set(l->m, l->n, k, turned(l, joined(l, n, out, k, 0)));
}

static int same_act(struct ig_act a, struct ig_act b)
{
    return a.kind == b.kind && a.alpha == b.alpha && a.beta == b.beta;
}

/* All directions in one, or each in its own: how many. */
static int groups_of(const struct layer *l, struct group *to)
{
    const struct ig_recurrent *a = &l->attrs[0], *b = &l->attrs[1];
    const int together = l->directions == 2 && same_act(a->f, b->f) && same_act(a->g, b->g) && same_act(a->u, b->u);
    for (int i = 0; i < l->directions; i++) to[i] = (struct group){i, 1, l->attrs[i]};
    if (!together) return l->directions;
    to->n = 2;
    to->attrs.reverse = 2;
    return 1;
}

void im_op_recurrent(struct im *m, const struct im_node *n)
{
    struct layer l = {.m = m, .n = n};
    struct group groups[IG_DIRECTIONS];
    int32_t out[IG_DIRECTIONS][3];
    read_attributes(&l);
    read_sizes(&l);
    check_lengths(&l);
    const int is_lstm = l.attrs->kind == IG_LSTM;
    const int64_t d = l.directions, all = l.gates * (int64_t)l.hidden;
    const int64_t state[] = {l.rows_first ? l.batch : d, l.rows_first ? d : l.batch, l.hidden};
    int32_t w = input_of(&l, 1, "W", 3, (int64_t[]){d, all, l.inputs}), r = input_of(&l, 2, "R", 3, (int64_t[]){d, all, l.hidden});
    int32_t b = input_of(&l, 3, "B", 2, (int64_t[]){d, 2 * all}), h0 = turned(&l, input_of(&l, 5, "initial_h", 3, state));
    int32_t c0 = is_lstm ? turned(&l, input_of(&l, 6, "initial_c", 3, state)) : IM_ABSENT;
    int32_t p = is_lstm ? input_of(&l, 7, "P", 2, (int64_t[]){d, 3 * (int64_t)l.hidden}) : IM_ABSENT;
    int32_t x = im_reshape(m, turned(&l, im_need(m, n, 0)), 3, (int64_t[]){1, l.steps * (int64_t)l.batch, l.inputs});
    if (w == IM_ABSENT) im_fail(m, "input 1 is missing");
    const int n_groups = groups_of(&l, groups);
    for (int i = 0; i < n_groups; i++) {
        const struct group *g = &groups[i];
        int32_t own = IM_ABSENT, bias = b == IM_ABSENT ? b : split_bias(&l, directions_of(&l, g, b), &own);
        const int32_t gates = project(&l, g->n, x, directions_of(&l, g, w), bias);
        const int32_t in[] = {gates, directions_of(&l, g, r), own, directions_of(&l, g, h0), directions_of(&l, g, c0), directions_of(&l, g, p)};
        struct im_emit e = {.op = IG_RECURRENT, .n_in = 6, .in = in, .attrs.recurrent = g->attrs, .n_out = is_lstm ? 3 : 2};
        e.unwanted = (im_wants(m, n, 1) ? 0 : 2) | (is_lstm && im_wants(m, n, 2) ? 0 : 4);
        im_emit(m, &e, out[i]);
    }
    set_outputs(&l, n_groups, out);
}
