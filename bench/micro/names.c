/* Which layers there are to measure, and what they are called. */
#include <stdio.h>
#include <string.h>

#include "bench/micro/micro.h"
#include "gen/lower.h"

/* The convolution that `text` says, of odd windows padded to keep the image's extent; NULL if it says none. */
static struct ig_graph *one_conv(const char *text)
{
    int h, w, c, oc, kh, kw, s = 1, groups = 1, n = 0;
    if (sscanf(text, "%dx%dx%d>%d,%dx%d%n", &h, &w, &c, &oc, &kh, &kw, &n) != 6) return NULL;
    if (text[n] == 's') sscanf(text + n, "s%dg%d", &s, &groups);
    else sscanf(text + n, "g%d", &groups);
    if (h < 1 || w < 1 || oc < 1 || kh < 1 || kw < 1 || s < 1 || groups < 1 || c % groups || oc % groups) return NULL;
    struct ig_shape in = {IG_F32, 4, {1, h, w, c}}, weights = {IG_F32, 4, {oc, c / groups, kh, kw}};
    struct ig_shape out = {IG_F32, 4, {1, (h - 1) / s + 1, (w - 1) / s + 1, oc}};
    struct ig_graph *g = ig_graph_new("conv");
    struct ig_node *conv = ig_add_node(g, NULL, IG_CONV, 2, 1);
    conv->in[0] = ig_add_value(g, "x", &in);
    conv->in[1] = ig_add_const(g, "w", &weights, NULL);
    conv->out[0] = ig_add_value(g, "y", &out);
    ig_add_output(g, conv->out[0]);
    conv->attrs.conv = (struct ig_conv){
        .w = {1, kh, kw, 1, s, s, 1, 1, 1, 0, kh / 2, kw / 2, 0, kh / 2, kw / 2, 1, 1}, .groups = groups};
    g->channels_last = 1;
    return g;
}

struct ig_graph *ig_micro_graph(const char *text, char *err, size_t err_bytes)
{
    struct ig_graph *g = !strcmp(text, "streams") ? ig_micro_streams() : one_conv(text);
    return g ? g : ig_graph_read(text, err, err_bytes);
}

static int same_operand(const struct ig_operand *a, const struct ig_operand *b)
{
    return !a->shape == !b->shape && a->h == b->h && a->w == b->w && a->c == b->c && a->row_stride == b->row_stride &&
           a->pixel_stride == b->pixel_stride;
}

static int same_layer(const struct ig_graph *g, const struct ig_view *views, const struct ig_node *a,
                      const struct ig_node *b)
{
    struct ig_call x, y;
    int32_t batch;
    if (a->op != b->op || memcmp(&a->attrs, &b->attrs, sizeof a->attrs)) return 0;
    ig_node_call(g, views, a, &x, &batch);
    ig_node_call(g, views, b, &y, &batch);
    if (x.n_in != y.n_in || x.n_out != y.n_out) return 0;
    for (int32_t i = 0; i < x.n_in; i++)
        if (!same_operand(&x.in[i], &y.in[i])) return 0;
    for (int32_t i = 0; i < x.n_out; i++)
        if (!same_operand(&x.out[i], &y.out[i])) return 0;
    return 1;
}

int ig_micro_count(const struct ig_graph *g, const struct ig_view *views, int32_t i)
{
    int n = 0;
    for (int32_t k = 0; k < g->n_nodes; k++) {
        if (!same_layer(g, views, &g->nodes[i], &g->nodes[k])) continue;
        if (k < i) return 0;
        n++;
    }
    return n;
}

/* What its op computes, where there are several such things. */
static const char *kind_of(const struct ig_node *n)
{
    if (n->op == IG_UNARY) return ig_unary_name(n->attrs.unary.act.kind);
    if (n->op == IG_BINARY || n->op == IG_QLINEAR_BINARY) return ig_binary_name(n->attrs.binary.kind);
    if (n->op == IG_POOL) return n->attrs.pool.kind == IG_POOL_MAX ? "max" : "average";
    if (n->op == IG_RESIZE) return n->attrs.resize.mode == IG_NEAREST ? "nearest" : "linear";
    return NULL;
}

void ig_micro_describe(const struct ig_node *n, const struct ig_call *call, char *text, size_t bytes)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const char *kind = kind_of(n), *more = "";
    char window[48] = "";
    const struct ig_window *w = n->op == IG_CONV || n->op == IG_DECONV ? &n->attrs.conv.w
                                : n->op == IG_POOL                   ? &n->attrs.pool.w
                                                                     : NULL;
    if (kind) snprintf(window, sizeof window, " %s", kind);
    if (w) snprintf(window + strlen(window), sizeof window - strlen(window), " %dx%ds%d", w->kh, w->kw, w->sw);
    if (n->op == IG_CONV && n->attrs.conv.groups > 1)
        snprintf(window + strlen(window), sizeof window - strlen(window), "g%d", n->attrs.conv.groups);
    if (call->n_in > 3 && call->in[3].shape && n->op == IG_CONV) more = "+r";
    if (n->op == IG_BINARY && n->attrs.binary.act.kind) more = "+act";
    snprintf(text, bytes, "%s%s %dx%dx%d>%dx%dx%d%s", ig_op_info((enum ig_op)n->op)->name, window, in->h, in->w, in->c,
             out->h, out->w, out->c, more);
}

