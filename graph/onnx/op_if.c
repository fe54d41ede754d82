/*
 * If: its outputs are those of the branch that is taken, which must be known now. Most conditions are of shapes, as
 * PyTorch's scripted modules have them ("is this dim 1?"), or flags.
 */
#include "graph/onnx/import.h"

static int condition(struct im *m, const struct im_node *n)
{
    int32_t v = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, v);
    int64_t value = 0;
    if (s.type != IG_BOOL || ig_count(&s) != 1) im_fail(m, "its condition must be one bool");
    if (!im_is_const(m, v))
        im_refuse(m, "its condition depends on the network's input; bind the input that decides it, export without the branch, or "
                     "cut the graph before it with --outputs");
    im_const_ints(m, v, "the condition", &value, 1);
    return value != 0;
}

void im_op_if(struct im *m, const struct im_node *n)
{
    struct im_fork *f = n->fork;
    if (!f) im_fail(m, "it lacks a branch");
    if (!f->taken) {
        f->taken = f->out[condition(m, n) ? 0 : 1];
        return;
    }
    for (int i = 0; i < n->n_out; i++) {
        if (!im_wants(m, n, i)) continue;
        int32_t v = im_in(m, n, i);
        if (v == IM_ABSENT) im_fail(m, "the branch that is taken does not make output %d", i);
        im_set(m, n, i, v);
    }
}
