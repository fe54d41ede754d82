/*
 * Which values are boxes of other values' storage: rows, columns and channels of a tensor [rows, w, c] from
 * some offset on, with strides. The answer depends on the graph alone, so a graph read back from its file
 * gives the same one.
 */
#include "planner/views.h"

#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"

struct ig_form ig_form_of(const struct ig_shape *s)
{
    struct ig_form f;
    int32_t images;
    ig_collapse(IG_RESHAPE, s, &images, &f.rows, &f.w, &f.c);
    return f;
}

int ig_is_run(const struct ig_view *v, struct ig_form f)
{
    return (f.rows == 1 || v->row_stride == (int64_t)f.w * f.c) && (f.w == 1 || v->pixel_stride == f.c);
}

int ig_restride(const struct ig_view *v, struct ig_form from, struct ig_form to, int64_t *row_stride,
                int64_t *pixel_stride)
{
    if (ig_is_run(v, from)) {
        *row_stride = (int64_t)to.w * to.c;
        *pixel_stride = to.c;
        return 1;
    }
    if (from.c != to.c) return 0;
    if (from.w == to.w && from.rows == to.rows) {
        *row_stride = v->row_stride;
        *pixel_stride = v->pixel_stride;
        return 1;
    }
    if (from.w > 1 && from.rows > 1 && v->row_stride != from.w * v->pixel_stride) return 0;
    *pixel_stride = from.w > 1 ? v->pixel_stride : v->row_stride; /* all pixels are one distance apart */
    *row_stride = to.w * *pixel_stride;
    return 1;
}

/* Leading dims of the collapsed form: all but the last two (w, c), or but the last where there are only two.
 */
static int leading_dims(const struct ig_shape *s)
{
    return s->rank >= 3 ? s->rank - 2 : s->rank - 1;
}

int ig_concat_is_boxes(const struct ig_graph *g, const struct ig_node *n)
{
    const struct ig_shape *s = &g->values[n->out[0]].shape;
    int32_t axis = n->attrs.axis.axis;
    if (axis >= leading_dims(s)) return 1;
    for (int32_t i = 0; i < axis; i++)
        if (s->dims[i] != 1) return 0;
    return 1;
}

/*
 * Of the leading dims, one may be cut; those before it must be cut to one index, those after kept, and with a
 * step there must be none after it: else the rows that remain are not evenly spaced.
 */
int ig_slice_is_box(const struct ig_graph *g, const struct ig_node *n)
{
    const struct ig_shape *in = &g->values[n->in[0]].shape, *out = &g->values[n->out[0]].shape;
    const int32_t *step = n->attrs.slice.step;
    int lead = leading_dims(in), cut = -1;
    int64_t inner = 1;
    if (in->rank == 0) return 1;
    for (int i = 0; i < in->rank; i++)
        if (step[i] < 1 && out->dims[i] > 1) return 0;
    if (step[in->rank - 1] > 1 && out->dims[in->rank - 1] > 1) return 0;
    for (int i = lead - 1; i >= 0; i--) {
        if (out->dims[i] > 1 && (cut >= 0 || (step[i] > 1 && inner > 1))) return 0;
        if (out->dims[i] != in->dims[i]) cut = i;
        inner *= in->dims[i];
    }
    return 1;
}

static int is_free(const struct ig_graph *g, const struct ig_link *links, int32_t v)
{
    return links[v].parent < 0 && !ig_is_const(g, v) && !ig_is_input(g, v) && !ig_is_output(g, v);
}

/* May v, and whatever v is only another shape of, be moved into a concat's output? */
static int can_embed(const struct ig_graph *g, const struct ig_link *links, int32_t v)
{
    while (is_free(g, links, v) && g->values[v].producer >= 0) {
        const struct ig_node *n = &g->nodes[g->values[v].producer];
        if (n->op == IG_SLICE) return !ig_slice_is_box(g, n);
        if (n->op != IG_RESHAPE) return 1;
        v = n->in[0];
    }
    return 0;
}

static void embed(const struct ig_graph *g, struct ig_link *links, int32_t v, struct ig_link to)
{
    for (;;) {
        int32_t producer = g->values[v].producer;
        links[v] = to;
        if (g->nodes[producer].op != IG_RESHAPE) return;
        to = (struct ig_link){v, producer, -1, 0};
        v = g->nodes[producer].in[0];
    }
}

static int link_concat(const struct ig_graph *g, struct ig_link *links, int32_t node, uint8_t *clashes)
{
    const struct ig_node *n = &g->nodes[node];
    int32_t count = 0, start = 0;
    for (int32_t k = 0; k < n->n_in; start += g->values[n->in[k++]].shape.dims[n->attrs.axis.axis]) {
        if (can_embed(g, links, n->in[k])) {
            embed(g, links, n->in[k], (struct ig_link){n->out[0], node, k, start});
        } else {
            if (clashes) clashes[k] = 1;
            count++;
        }
    }
    return count;
}

int ig_link_values(const struct ig_graph *g, struct ig_link *links, uint8_t *clashes, const int64_t *first)
{
    int count = 0;
    for (int32_t v = 0; v < g->n_values; v++) links[v] = (struct ig_link){-1, -1, -1, 0};
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_CONCAT && ig_concat_is_boxes(g, &g->nodes[i]))
            count += link_concat(g, links, i, clashes ? clashes + first[i] : NULL);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        int follows = n->op == IG_RESHAPE || (n->op == IG_SLICE && ig_slice_is_box(g, n));
        if (follows && links[n->out[0]].parent < 0) links[n->out[0]] = (struct ig_link){n->in[0], i, -1, 0};
    }
    return count;
}

/* Moves view v of form f by `start` along dimension `axis` of shape s. */
static void move(struct ig_view *v, const struct ig_shape *s, int32_t axis, int64_t start)
{
    int lead = leading_dims(s);
    if (axis == s->rank - 1) {
        v->offset += start;
    } else if (axis >= lead) {
        v->offset += start * v->pixel_stride;
    } else {
        for (int i = axis + 1; i < lead; i++) start *= s->dims[i];
        v->offset += start * v->row_stride;
    }
}

static void view_slice(const struct ig_graph *g, const struct ig_node *n, struct ig_view *v)
{
    const struct ig_shape *in = &g->values[n->in[0]].shape, *out = &g->values[n->out[0]].shape;
    const struct ig_slice *slice = &n->attrs.slice;
    int lead = leading_dims(in);
    int64_t inner = 1, rows = 1;
    for (int i = 0; i < in->rank; i++) move(v, in, i, slice->start[i]);
    if (lead == in->rank - 2 && out->dims[lead] > 1) v->pixel_stride *= slice->step[lead];
    for (int i = lead - 1; i >= 0; i--) {
        if (out->dims[i] > 1 && slice->step[i] > 1) rows = inner * slice->step[i];
        inner *= in->dims[i];
    }
    v->row_stride *= rows;
}

/* One step from the parent's view to the child's; 0 if strides cannot say it (a reshape of what is not one
 * run). */
static int step_down(const struct ig_graph *g, const struct ig_link *link, int32_t child, struct ig_view *v)
{
    const struct ig_node *n = &g->nodes[link->node];
    struct ig_form form = ig_form_of(&g->values[child].shape);
    if (n->op == IG_RESHAPE)
        return ig_restride(v, ig_form_of(&g->values[link->parent].shape), form, &v->row_stride,
                           &v->pixel_stride);
    if (n->op == IG_CONCAT)
        move(v, &g->values[n->out[0]].shape, n->attrs.axis.axis, link->start);
    else
        view_slice(g, n, v);
    if (ig_is_run(v, form)) {
        v->row_stride = (int64_t)form.w * form.c;
        v->pixel_stride = form.c;
    }
    return 1;
}

int32_t ig_resolve_views(const struct ig_graph *g, const struct ig_link *links, struct ig_view *views)
{
    int32_t *path = ig_must_alloc((size_t)g->n_values, sizeof *path), bad = -1;
    for (int32_t v = 0; v < g->n_values; v++) views[v].root = -1;
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t depth = 0, at = v;
        for (; views[at].root < 0 && links[at].parent >= 0; at = links[at].parent) path[depth++] = at;
        if (views[at].root < 0) {
            struct ig_form f = ig_form_of(&g->values[at].shape);
            views[at] = (struct ig_view){at, 0, (int64_t)f.w * f.c, f.c};
        }
        while (depth) {
            int32_t child = path[--depth];
            views[child] = views[links[child].parent];
            if (!step_down(g, &links[child], child, &views[child]) && bad < 0) bad = links[child].node;
        }
    }
    free(path);
    return bad;
}

void ig_compute_views(const struct ig_graph *g, struct ig_view *views)
{
    struct ig_link *links = ig_must_alloc((size_t)g->n_values, sizeof *links);
    ig_link_values(g, links, NULL, NULL);
    ig_resolve_views(g, links, views);
    free(links);
}

int ig_node_is_view(const struct ig_graph *g, const struct ig_view *views, int32_t node)
{
    const struct ig_node *n = &g->nodes[node];
    if (n->op == IG_CONCAT ? !ig_concat_is_boxes(g, n)
                           : n->op != IG_RESHAPE && !(n->op == IG_SLICE && ig_slice_is_box(g, n)))
        return 0;
    for (int32_t k = 0; k < n->n_in; k++)
        if (views[n->in[k]].root != views[n->out[0]].root) return 0;
    return 1;
}
