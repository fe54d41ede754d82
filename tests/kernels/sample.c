/* Random samples of images in ONNX's layout: deformable convolution, regions, grids, columns, inverse pooling. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check.h"
#include "tests/support/windows.h"

static void deform_conv(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_deform *a = &p->attrs.deform;
    int32_t in[3], out[3], n = rng_int(r, 1, 2);
    *a = (struct ig_deform){.groups = rng_int(r, 1, 2), .offset_groups = rng_int(r, 1, 2)};
    windows_make(r, &a->w, 2, in, out);
    const struct ig_window *w = &a->w;
    int32_t ic = 2 * rng_int(r, 1, 3), oc = 2 * rng_int(r, 1, 6), taps = w->kh * w->kw;
    check_in(p, 0, IG_F32, 4, (int32_t[]){n, ic, in[1], in[2]});
    check_in(p, 1, IG_F32, 4, (int32_t[]){oc, ic / a->groups, w->kh, w->kw});
    check_in(p, 2, IG_F32, 4, (int32_t[]){n, a->offset_groups * taps * 2, out[1], out[2]});
    if (!rng_one_in(r, 3)) check_in(p, 3, IG_F32, 1, &oc);
    if (!rng_one_in(r, 3)) check_in(p, 4, IG_F32, 4, (int32_t[]){n, a->offset_groups * taps, out[1], out[2]});
    check_out(p, 0, IG_F32, 4, (int32_t[]){n, oc, out[1], out[2]});
    p->low[2] = -2, p->high[2] = 2;
    p->exact = pass == CHECK_INTEGERS;
    p->abs = 8.0 * taps * ic * 16; /* a weight between pixels is as exact as the coordinate, which has a few bits before its point */
    snprintf(p->text, sizeof p->text, "deform %dx%d, %d to %d channels, groups %d and %d", w->kh, w->kw, ic, oc, a->groups,
             a->offset_groups);
}

static void roi_align(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    int32_t n = rng_int(r, 1, 3), c = rng_one_in(r, 2) ? rng_int(r, 1, 70) : 4, h = rng_int(r, 1, 12), w = rng_int(r, 1, 12), rois = rng_int(r, 1, 4);
    (void)pass;
    p->attrs.roi_align = (struct ig_roi_align){rng_int(r, IG_ROI_AVERAGE, IG_ROI_POOL), rng_int(r, 0, 1), rng_int(r, 0, 3), rng_one_in(r, 2) ? 0.5f : 1};
    check_in(p, 0, IG_F32, 4, (int32_t[]){n, h, w, c});
    check_in(p, 1, IG_F32, 2, (int32_t[]){rois, 4});
    check_in(p, 2, IG_I64, 1, &rois);
    check_out(p, 0, IG_F32, 4, (int32_t[]){rois, rng_int(r, 1, 4), rng_int(r, 1, 4), c});
    p->low[1] = -3, p->high[1] = 16;
    p->high[2] = n - 1;
    p->low[2] = n > 1 ? 0 : -1;
    p->rel = 16;
    p->abs = 64;
    snprintf(p->text, sizeof p->text, "%d regions of %dx%dx%d, mode %d, sampling %d", rois, h, w, c, p->attrs.roi_align.mode,
             p->attrs.roi_align.sampling);
}

static void grid_sample(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_grid_sample *a = &p->attrs.grid_sample;
    int dims = rng_one_in(r, 4) ? 3 : 2;
    int32_t in[5] = {rng_int(r, 1, 2), rng_int(r, 1, 3)}, grid[5] = {in[0]}, out[5] = {in[0], in[1]};
    (void)pass;
    *a = (struct ig_grid_sample){rng_int(r, IG_NEAREST, IG_CUBIC), rng_int(r, IG_SAMPLE_ZEROS, IG_SAMPLE_REFLECTION),
                                 rng_int(r, 0, 1)};
    for (int i = 0; i < dims; i++) {
        in[2 + i] = rng_int(r, 1, 8);
        grid[1 + i] = out[2 + i] = i == dims - 1 && rng_one_in(r, 3) ? rng_int(r, 7, 150) : rng_int(r, 1, 6);
    }
    grid[dims + 1] = dims;
    check_in(p, 0, IG_F32, dims + 2, in);
    check_in(p, 1, IG_F32, dims + 2, grid);
    check_out(p, 0, IG_F32, dims + 2, out);
    p->low[1] = -1.6, p->high[1] = 1.6;
    p->rel = 8;
    p->abs = 16;
    snprintf(p->text, sizeof p->text, "grid, %d dims, mode %d, padding %d, corners %d", dims, a->mode, a->padding, a->align_corners);
}

static void col2im(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_col2im *a = &p->attrs.col2im;
    int32_t rank = rng_int(r, 1, 3), n = rng_int(r, 1, 2), c = rng_int(r, 1, 3), columns = 1, taps = 1, out[5] = {n, c};
    a->rank = rank;
    for (int d = 0; d < rank; d++) {
        a->block[d] = rng_int(r, 1, 3), a->dilation[d] = rng_int(r, 1, 2), a->stride[d] = rng_int(r, 1, 3);
        a->begin[d] = rng_int(r, 0, 1), a->end[d] = rng_int(r, 0, 1);
        a->image[d] = out[2 + d] = a->dilation[d] * (a->block[d] - 1) + 1 + rng_int(r, 0, 6);
        columns *= (a->image[d] + a->begin[d] + a->end[d] - a->dilation[d] * (a->block[d] - 1) - 1) / a->stride[d] + 1;
        taps *= a->block[d];
    }
    check_in(p, 0, IG_F32, 3, (int32_t[]){n, c * taps, columns});
    check_out(p, 0, IG_F32, rank + 2, out);
    p->exact = pass == CHECK_INTEGERS;
    p->terms = taps;
    p->magnitude = p->attrs;
    snprintf(p->text, sizeof p->text, "columns, rank %d, %d taps, %d columns", rank, taps, columns);
}

static void max_unpool(struct rng *r, enum check_pass pass, struct check_problem *p)
{
    struct ig_window *w = &p->attrs.pool.w;
    int rank = rng_int(r, 1, 3);
    int32_t in[5] = {rng_int(r, 1, 2), rng_int(r, 1, 3)}, out[5] = {in[0], in[1]}, k[3] = {1, 1, 1}, all = in[0] * in[1];
    (void)pass;
    for (int d = 0; d < rank; d++) {
        k[3 - rank + d] = rng_int(r, 1, 3);
        in[2 + d] = rng_int(r, 1, 5);
        out[2 + d] = in[2 + d] * k[3 - rank + d] + (rng_one_in(r, 4) ? 1 : 0);
        all *= in[2 + d] * k[3 - rank + d];
    }
    *w = (struct ig_window){k[0], k[1], k[2], k[0], k[1], k[2], 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    check_in(p, 0, IG_F32, rank + 2, in);
    check_in(p, 1, IG_I64, rank + 2, in);
    check_out(p, 0, IG_F32, rank + 2, out);
    p->low[1] = -2, p->high[1] = all + 1;
    p->exact = 1;
    snprintf(p->text, sizeof p->text, "unpool, rank %d, %d outputs by the window", rank, all);
}

int main(int argc, char **argv)
{
    static const struct check_body bodies[] = {{IG_DEFORM_CONV, 24, 100, deform_conv, NULL},
                                               {IG_ROI_ALIGN, 40, 100, roi_align, NULL},
                                               {IG_GRID_SAMPLE, 60, 100, grid_sample, NULL},
                                               {IG_COL2IM, 24, 100, col2im, NULL},
                                               {IG_MAX_UNPOOL, 24, 100, max_unpool, NULL}};
    return check_main_of(bodies, (int)(sizeof bodies / sizeof *bodies), argc, argv);
}
