/* Operators that change the shape, the order of dims, or repeat. */
#include <string.h>

#include "graph/onnx/import.h"

/* Dims of a Reshape: 0 copies (unless allowzero), one -1 takes what is left. */
static void resolve_dims(struct im *m, const struct ig_shape *from, int64_t *dims, int rank, int allow_zero)
{
    int64_t known = 1, total = ig_count(from);
    int open = -1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] == 0 && !allow_zero) {
            if (i >= from->rank)
                im_fail(m, "dimension %d of the new shape copies one that the data does not have", i);
            dims[i] = from->dims[i];
        }
        if (dims[i] < -1 || (dims[i] == -1 && open >= 0))
            im_fail(m, "the new shape holds %lld", (long long)dims[i]);
        if (dims[i] == -1)
            open = i;
        else if (dims[i] && known > total / dims[i])
            im_fail(m, "the new shape needs more than the %lld elements there are", (long long)total);
        else
            known *= dims[i];
    }
    if (open >= 0 && known && total % known == 0) dims[open] = total / known;
    if (open >= 0 && dims[open] < 0) im_fail(m, "%lld elements do not fill the new shape", (long long)total);
}

void im_op_reshape(struct im *m, const struct im_node *n)
{
    int64_t dims[IG_MAX_RANK];
    int32_t x = im_in(m, n, 0);
    if (x <= IM_EMPTY) {
        im_set(m, n, 0, x);
        return;
    }
    x = im_need(m, n, 0);
    struct ig_shape from = im_shape(m, x);
    int rank = im_ints_from(m, n, 1, "shape", dims, IG_MAX_RANK);
    if (rank < 0) im_fail(m, "it has no shape");
    resolve_dims(m, &from, dims, rank, im_int(m, n, "allowzero", 0) != 0);
    im_set(m, n, 0, im_reshape(m, x, rank, dims));
}

void im_op_flatten(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    int64_t axis = im_int(m, n, "axis", 1), dims[2] = {1, 1};
    if (axis < 0) axis += s.rank;
    if (axis < 0 || axis > s.rank)
        im_fail(m, "axis %lld is outside a tensor of rank %d", (long long)axis, s.rank);
    for (int i = 0; i < s.rank; i++)
        dims[i >= axis] *= s.dims[i];
    im_set(m, n, 0, im_reshape(m, x, 2, dims));
}

void im_op_squeeze(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), rank = 0, mask = 0;
    struct ig_shape s = im_shape(m, x);
    int64_t axes[IG_MAX_RANK], dims[IG_MAX_RANK];
    int count = im_ints_from(m, n, 1, "axes", axes, IG_MAX_RANK);
    if (count >= 0) mask = im_mask(m, axes, count, s.rank);
    for (int i = 0; i < s.rank; i++) {
        int drop = count < 0 ? s.dims[i] == 1 : mask >> i & 1;
        if (drop && s.dims[i] != 1) im_fail(m, "dimension %d is %d and cannot be squeezed", i, s.dims[i]);
        if (!drop) dims[rank++] = s.dims[i];
    }
    im_set(m, n, 0, im_reshape(m, x, rank, dims));
}

void im_op_unsqueeze(struct im *m, const struct im_node *n)
{
    int32_t x = im_in(m, n, 0);
    if (x <= IM_EMPTY) {
        im_set(m, n, 0, x);
        return;
    }
    x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    int64_t axes[IG_MAX_RANK], dims[IG_MAX_RANK];
    int count = im_ints_from(m, n, 1, "axes", axes, IG_MAX_RANK), from = 0;
    if (count < 0) im_fail(m, "it has no axes");
    int32_t rank = s.rank + count;
    if (rank > IG_MAX_RANK) im_refuse(m, "a result of rank %d; at most %d is supported", rank, IG_MAX_RANK);
    int32_t mask = im_mask(m, axes, count, rank);
    for (int i = 0; i < rank; i++)
        dims[i] = mask >> i & 1 ? 1 : s.dims[from++];
    im_set(m, n, 0, im_reshape(m, x, rank, dims));
}

void im_op_transpose(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), rank = im_shape(m, x).rank, perm[IG_MAX_RANK];
    int64_t list[IG_MAX_RANK];
    int count = im_ints(m, n, "perm", list, IG_MAX_RANK);
    if (count >= 0 && count != rank) im_fail(m, "perm has %d elements for a tensor of rank %d", count, rank);
    if (count > 0) im_mask(m, list, count, rank);
    for (int i = 0; i < rank; i++)
        perm[i] = count < 0 ? rank - 1 - i : im_axis(m, list[i], rank);
    im_set(m, n, 0, im_transpose(m, x, perm));
}

/* Reshape to 6 dims, transpose, reshape to 4. */
static void shuffle(struct im *m, const struct im_node *n, int32_t x, const int64_t *six, const int32_t *perm,
                    const int64_t *four)
{
    im_set(m, n, 0, im_reshape(m, im_transpose(m, im_reshape(m, x, 6, six), perm), 4, four));
}

static struct ig_shape image(struct im *m, int32_t x)
{
    struct ig_shape s = im_shape(m, x);
    if (s.rank != 4) im_fail(m, "data of rank %d; it must be 4", s.rank);
    return s;
}

void im_op_depth_to_space(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"DCR", "CRD", NULL};
    static const int32_t dcr[6] = {0, 3, 4, 1, 5, 2}, crd[6] = {0, 1, 4, 2, 5, 3};
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = image(m, x);
    int64_t b = im_int32(m, n, "blocksize", 0, 1, 1 << 12), c = s.dims[1] / (b * b), h = s.dims[2],
            w = s.dims[3];
    int rows_first = im_choice(m, n, "mode", "DCR", modes);
    if (s.dims[1] % (b * b))
        im_misfit(m, "%d channels do not make blocks of %lld x %lld", s.dims[1], (long long)b, (long long)b);
    shuffle(m, n, x,
            rows_first ? (int64_t[]){s.dims[0], c, b, b, h, w} : (int64_t[]){s.dims[0], b, b, c, h, w},
            rows_first ? crd : dcr, (int64_t[]){s.dims[0], c, h * b, w * b});
}

void im_op_space_to_depth(struct im *m, const struct im_node *n)
{
    static const int32_t perm[6] = {0, 3, 5, 1, 2, 4};
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = image(m, x);
    int64_t b = im_int32(m, n, "blocksize", 0, 1, 1 << 12), c = s.dims[1], h = s.dims[2] / b,
            w = s.dims[3] / b;
    if (s.dims[2] % b || s.dims[3] % b)
        im_misfit(m, "%d x %d pixels do not make blocks of %lld", s.dims[2], s.dims[3], (long long)b);
    shuffle(m, n, x, (int64_t[]){s.dims[0], c, h, b, w, b}, perm, (int64_t[]){s.dims[0], c * b * b, h, w});
}

void im_op_expand(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    int64_t want[IG_MAX_RANK], dims[IG_MAX_RANK];
    int count = im_const_ints(m, im_in(m, n, 1), "the shape", want, IG_MAX_RANK);
    if (count < 0) im_fail(m, "input 1 is missing");
    int32_t rank = count > s.rank ? count : s.rank;
    for (int i = 0; i < rank; i++) {
        int64_t a = i < rank - s.rank ? 1 : s.dims[i - (rank - s.rank)],
                b = i < rank - count ? 1 : want[i - (rank - count)];
        if (a != 1 && b != 1 && a != b)
            im_fail(m, "dimension %lld does not expand to %lld", (long long)a, (long long)b);
        dims[i] = a == 1 ? b : a;
    }
    struct ig_shape to = im_make_shape(m, s.type, rank, dims);
    im_set(m, n, 0, im_expand(m, x, &to));
}

/* Tile-1 has one count and its axis, Tile-6 a count per dimension. */
void im_op_tile(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), y;
    struct ig_shape s = im_shape(m, x);
    struct im_emit e = {.op = IG_TILE, .n_in = 1, .in = &x};
    int64_t repeats[IG_MAX_RANK], dims[IG_MAX_RANK], tiles, axis = 0;
    int count = im_const_ints(m, im_need(m, n, 1), "the repeats", repeats, IG_MAX_RANK);
    if (n->opset < 6) {
        tiles = repeats[0];
        im_const_ints(m, im_need(m, n, 2), "the axis", &axis, 1);
        axis = im_axis(m, axis, s.rank);
        for (int i = 0; i < s.rank; i++)
            repeats[i] = i == axis ? tiles : 1;
        count = s.rank;
    }
    if (count != s.rank) im_fail(m, "%d repeats for a tensor of rank %d", count, s.rank);
    for (int i = 0; i < s.rank; i++) {
        if (repeats[i] < 0 || repeats[i] > INT32_MAX) im_fail(m, "a repeat of %lld", (long long)repeats[i]);
        dims[i] = s.dims[i] * repeats[i];
    }
    e.given[0] = im_make_shape(m, s.type, s.rank, dims);
    im_emit(m, &e, &y);
    im_set(m, n, 0, y);
}

void im_op_trilu(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    int64_t k = 0;
    im_const_ints(m, im_in(m, n, 1), "k", &k, 1);
    k = k < -INT32_MAX ? -INT32_MAX : k > INT32_MAX ? INT32_MAX : k;
    union ig_attrs a = {.triu = {(int32_t)k, im_int(m, n, "upper", 1) != 0}};
    im_set(m, n, 0, im_emit1(m, IG_TRIU, 1, &x, &a));
}
