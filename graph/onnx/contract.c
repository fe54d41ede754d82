/*
 * A product of two labelled tensors is one of matrices, or of stacks of them, where it sums over a label that both have and
 * some label is one side's alone:
 *
 *   left [lead.., rows, inner]   right [lead.., inner, columns]   ->   [lead.., rows, columns]
 *
 * inner are the labels summed over, lead those of both sides and the result, and some of the left alone, along which the
 * right is broadcast; rows and columns are the others of one side alone. Of rows, inner and columns there may be several
 * labels each, or none: they are one dim. Which side is left, which labels lead, in what order each kind comes and which side
 * lies transposed is chosen such that the fewest elements are moved; but a constant matrix is right of one that lies as it
 * is, so that the product becomes a layer. All other products are made element by element and summed.
 */
#include "graph/onnx/contract.h"

#include <string.h>

enum {
    LABELS = 2 * IG_MAX_RANK + 1, /* of two tensors, and the end */
    SIZES = 128,
    LEAD = 3 /* with as many, a product with a constant matrix becomes a convolution (graph/passes/matmul_to_fc.c) */
};

struct job {
    struct im *m;
    const struct im_labelled *a, *b;
    const char *out;
    int32_t size[SIZES]; /* by label */
};

struct arrangement {
    const struct im_labelled *left, *right;
    char lead[LABELS], rows[LABELS], columns[LABELS], inner[LABELS];
    struct ig_matmul t;
    int64_t moved;    /* elements transposed at run time */
    int64_t products; /* matrices multiplied; 1 where it becomes a layer */
    int64_t turned;   /* elements transposed at import, or within the product as its left side */
};

static int has(const char *labels, char c)
{
    return strchr(labels, c) != NULL;
}

static void append(char *labels, char c)
{
    size_t n = strlen(labels);
    labels[n] = c;
    labels[n + 1] = 0;
}

int32_t im_label_size(const struct im *m, const struct im_labelled *t, char label)
{
    const char *at = strchr(t->labels, label);
    return at ? im_shape(m, t->v).dims[at - t->labels] : 0;
}

/* t without the dims of `mask`, which are 1. */
static struct im_labelled without(struct im *m, struct im_labelled t, int32_t mask)
{
    struct im_labelled y = {.v = im_drop_dims(m, t.v, mask)};
    for (int i = 0; t.labels[i]; i++)
        if (!(mask >> i & 1)) append(y.labels, t.labels[i]);
    return y;
}

struct im_labelled im_sum_others(struct im *m, struct im_labelled t, const char *a, const char *b)
{
    int32_t mask = 0;
    for (int i = 0; t.labels[i]; i++)
        if (!has(a, t.labels[i]) && !has(b, t.labels[i])) mask |= 1 << i;
    if (mask) t.v = im_reduce(m, IG_REDUCE_SUM, t.v, mask);
    return mask ? without(m, t, mask) : t;
}

/* t without the dims of 1 that are more in `other`. */
static struct im_labelled without_ones(struct im *m, struct im_labelled t, const struct im_labelled *other)
{
    int32_t mask = 0;
    for (int i = 0; t.labels[i]; i++)
        if (im_label_size(m, &t, t.labels[i]) == 1 && im_label_size(m, other, t.labels[i]) > 1) mask |= 1 << i;
    return mask ? without(m, t, mask) : t;
}

/* Elements of t change places where its dims come in that order. */
static int moves(const char *from, const char *to, const int32_t *size)
{
    const char *last = from;
    for (; *to; to++) {
        const char *at = strchr(from, *to);
        if (size[(int)*to] == 1) continue;
        if (at < last) return 1;
        last = at;
    }
    return 0;
}

static void read_sizes(const struct im *m, const struct im_labelled *t, int32_t *size)
{
    for (const char *c = t->labels; *c; c++)
        size[(int)*c] = im_label_size(m, t, *c);
}

/* t with its elements as they lie where its dims come in that order. */
static int32_t turn(struct im *m, const struct im_labelled *t, const char *order)
{
    int32_t size[SIZES], perm[IG_MAX_RANK];
    read_sizes(m, t, size);
    for (int i = 0; order[i]; i++)
        perm[i] = (int32_t)(strchr(t->labels, order[i]) - t->labels);
    return moves(t->labels, order, size) ? im_transpose(m, t->v, perm) : t->v;
}

int32_t im_in_order(struct im *m, const struct im_labelled *t, const char *order)
{
    int32_t rank = 0;
    int64_t dims[IG_MAX_RANK];
    for (; order[rank]; rank++)
        dims[rank] = im_label_size(m, t, order[rank]);
    return im_reshape(m, turn(m, t, order), rank, dims);
}

/* Dims of t broadcast to `lead`: 1 where it lacks one, none in front of its first. */
static int32_t lead_dims(const struct job *j, const struct im_labelled *t, const char *lead, int64_t *dims)
{
    int32_t rank = 0;
    for (; *lead; lead++)
        if (has(t->labels, *lead)) dims[rank++] = j->size[(int)*lead];
        else if (rank) dims[rank++] = 1;
    return rank;
}

/* t's labels among `lead`, then the others. */
static void join(char *order, const struct im_labelled *t, const char *lead, const char *rows, const char *columns)
{
    *order = 0;
    for (; *lead; lead++)
        if (has(t->labels, *lead)) append(order, *lead);
    strcat(strcat(order, rows), columns);
}

static int64_t count(const struct job *j, const char *labels)
{
    int64_t n = 1;
    for (; *labels; labels++)
        n *= j->size[(int)*labels];
    return n;
}

/* t's elements in the order of `order`, as a tensor that broadcasts along it. */
static int32_t broadcast_to(const struct job *j, const struct im_labelled *t, const char *full)
{
    char order[LABELS];
    int64_t dims[IG_MAX_RANK];
    join(order, t, full, "", "");
    int32_t rank = lead_dims(j, t, full, dims);
    return im_reshape(j->m, turn(j->m, t, order), rank, dims);
}

static int32_t by_elements(const struct job *j)
{
    char full[LABELS];
    strcpy(full, j->out);
    for (int i = 0; i < 2; i++)
        for (const char *c = i ? j->b->labels : j->a->labels; *c; c++)
            if (!has(full, *c)) append(full, *c);
    if (strlen(full) > IG_MAX_RANK) im_refuse(j->m, "a product of rank %zu; at most %d is supported", strlen(full), IG_MAX_RANK);
    int32_t left = broadcast_to(j, j->a, full), right = broadcast_to(j, j->b, full);
    struct im_labelled y = {.v = im_binary(j->m, IG_MUL, left, right)};
    strcpy(y.labels, full);
    return im_sum_others(j->m, y, j->out, "").v;
}

/* The labels of each kind, in the orders given; of those of the left alone the first `alone` lead. 0: there are too few. */
static int sort_labels(struct arrangement *p, const char *out, const char *lefts, const char *rights, const char *inners, int alone)
{
    const char *left = p->left->labels, *right = p->right->labels;
    for (const char *c = lefts; *c; c++)
        if (has(left, *c) && has(out, *c)) append(has(right, *c) || alone-- > 0 ? p->lead : p->rows, *c);
    for (const char *c = rights; *c; c++)
        if (!has(left, *c) && has(out, *c)) append(p->columns, *c);
    for (const char *c = inners; *c; c++)
        if (has(left, *c) && has(right, *c) && !has(out, *c)) append(p->inner, *c);
    return alone <= 0 && strlen(p->lead) + 2 <= IG_MAX_RANK;
}

static void left_order(const struct arrangement *p, char *order)
{
    join(order, p->left, p->lead, p->t.trans_a ? p->inner : p->rows, p->t.trans_a ? p->rows : p->inner);
}

static void right_order(const struct arrangement *p, char *order)
{
    join(order, p->right, p->lead, p->t.trans_b ? p->columns : p->inner, p->t.trans_b ? p->inner : p->columns);
}

static void result_order(const struct arrangement *p, char *order)
{
    strcat(strcat(strcpy(order, p->lead), p->rows), p->columns);
}

static void weigh(const struct job *j, struct arrangement *p)
{
    char left[LABELS], right[LABELS], result[LABELS];
    int64_t *to_left = im_is_const(j->m, p->left->v) ? &p->turned : &p->moved;
    int64_t *to_right = im_is_const(j->m, p->right->v) ? &p->turned : &p->moved;
    left_order(p, left);
    right_order(p, right);
    result_order(p, result);
    if (moves(p->left->labels, left, j->size)) *to_left += count(j, left);
    if (moves(p->right->labels, right, j->size)) *to_right += count(j, right);
    if (moves(result, j->out, j->size)) p->moved += count(j, result);
    if (p->t.trans_a) p->turned += count(j, left);
    p->products = count(j, p->lead);
}

/* t is a constant matrix of labels that the other side, no constant, does not share with the result: a layer's weights. */
static int is_weights(const struct job *j, const struct im_labelled *t, const struct im_labelled *other)
{
    for (const char *c = t->labels; *c; c++)
        if (has(other->labels, *c) && has(j->out, *c)) return 0;
    return im_is_const(j->m, t->v) && !im_is_const(j->m, other->v);
}

/* Arrangement number `choice`, with so many labels of the left alone leading; 0: there is no such one. */
static int arrange(const struct job *j, int choice, int alone, struct arrangement *p)
{
    int swap = choice >> 5 & 1;
    *p = (struct arrangement){.left = swap ? j->b : j->a, .right = swap ? j->a : j->b, .t = {choice >> 1 & 1, choice & 1, 1}};
    const char *left = p->left->labels, *right = p->right->labels;
    if (!sort_labels(p, j->out, choice & 4 ? left : j->out, choice & 8 ? right : j->out, choice & 16 ? right : left, alone)) return 0;
    if (alone && !*p->rows) return 0;
    if (is_weights(j, p->left, p->right)) return 0;
    weigh(j, p);
    if (!is_weights(j, p->right, p->left)) return 1;
    if (strlen(p->lead) <= LEAD) p->products = 1;
    return !p->t.trans_a;
}

static int is_better(const struct arrangement *p, const struct arrangement *q)
{
    if (p->moved != q->moved) return p->moved < q->moved;
    return p->products != q->products ? p->products < q->products : p->turned < q->turned;
}

/* The first of the best, more leading labels before fewer: without several labels in one dim there is nothing to reshape. */
static struct arrangement best(const struct job *j)
{
    struct arrangement p, found = {.moved = INT64_MAX};
    for (int alone = IG_MAX_RANK - 2; alone >= 0; alone--)
        for (int choice = 0; choice < 64; choice++)
            if (arrange(j, choice, alone, &p) && is_better(&p, &found)) found = p;
    return found;
}

/* t, its elements in the order of `order`, as matrices. */
static int32_t matrices(const struct job *j, const struct im_labelled *t, const char *order, const char *lead, const char *rows,
                        const char *columns)
{
    int64_t dims[IG_MAX_RANK];
    int32_t rank = lead_dims(j, t, lead, dims);
    dims[rank] = count(j, rows);
    dims[rank + 1] = count(j, columns);
    return im_reshape(j->m, turn(j->m, t, order), rank + 2, dims);
}

static int32_t by_matrices(const struct job *j)
{
    struct arrangement p = best(j);
    union ig_attrs t = {.matmul = p.t};
    char order[LABELS];
    int32_t in[2], rank = 0;
    int64_t dims[IG_MAX_RANK];
    left_order(&p, order);
    in[0] = matrices(j, p.left, order, p.lead, p.t.trans_a ? p.inner : p.rows, p.t.trans_a ? p.rows : p.inner);
    right_order(&p, order);
    in[1] = matrices(j, p.right, order, p.lead, p.t.trans_b ? p.columns : p.inner, p.t.trans_b ? p.inner : p.columns);
    struct im_labelled y = {.v = im_emit1(j->m, IG_MATMUL, 2, in, &t)};
    result_order(&p, order);
    strcpy(y.labels, moves(order, j->out, j->size) ? order : j->out);
    for (; y.labels[rank]; rank++)
        dims[rank] = j->size[(int)y.labels[rank]];
    y.v = im_reshape(j->m, y.v, rank, dims);
    return im_in_order(j->m, &y, j->out);
}

/* One has a label that the other lacks. */
static int differ(const struct im_labelled *a, const struct im_labelled *b)
{
    return a->labels[strspn(a->labels, b->labels)] || b->labels[strspn(b->labels, a->labels)];
}

static int sums(const struct im_labelled *a, const char *out)
{
    return a->labels[strspn(a->labels, out)] != 0;
}

struct im_labelled im_contract(struct im *m, struct im_labelled a, struct im_labelled b, const char *out)
{
    struct im_labelled x = without_ones(m, a, &b), y = without_ones(m, b, &a);
    a = im_sum_others(m, x, y.labels, out);
    b = im_sum_others(m, y, x.labels, out);
    struct job j = {.m = m, .a = &a, .b = &b, .out = out};
    read_sizes(m, &a, j.size);
    read_sizes(m, &b, j.size);
    int product = sums(&a, out) && differ(&a, &b) && im_shape(m, a.v).type == IG_F32;
    struct im_labelled made = {.v = product ? by_matrices(&j) : by_elements(&j)};
    strcpy(made.labels, out);
    return made;
}
