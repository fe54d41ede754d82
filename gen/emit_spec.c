/* An input spec as the table of the hosted program. */
#include "gen/emit.h"

static void floats(FILE *f, const char *name, const float v[4])
{
    fprintf(f, ", .%s = {", name);
    for (int i = 0; i < 4; i++) fputs(i ? ", " : "", f), ig_emit_float(f, v[i]);
    fputc('}', f);
}

void ig_emit_spec(FILE *f, const struct ig_emit *e)
{
    const struct ig_host_ops *o = e->host_ops;
    fprintf(f, "static struct ig_tap columns[%d];\n", o->w);
    if (o->frame_w) fprintf(f, "static unsigned char frame[%d * %d * %d];\n", o->frame_w, o->frame_h, o->frame_c);
    if (o->nms) {
        fprintf(f, "static int left[%d];\nstatic const struct ig_boxes boxes = {\n    .nms = {", o->n_boxes);
        fprintf(f, "%d, %d, %d, %d, ", o->n_boxes, o->n_classes, o->center, o->boxes);
        ig_emit_float(f, o->nms);
        fputs(", ", f);
        ig_emit_float(f, o->score);
        fprintf(f, "}, .boxes = %d, .scores = %d, .left = left,\n", o->boxes_out, o->scores_out);
        fputs("    .find = ig_boxes_find, .print = ig_boxes_print};\n", f);
    }
    fprintf(f, "static const struct ig_spec spec = {\n    .text = ");
    ig_emit_string(f, o->text);
    fprintf(f, ",\n    .picture = {.c = %d, .h = %d, .w = %d, .channels_last = %d, .type = %d, .short_side = %d,\n", o->c,
            o->h, o->w, o->channels_last, o->type, o->short_side);
    fprintf(f, "        .width = %d, .height = %d, .bgr = %d, .scale = ", o->width, o->height, o->bgr);
    ig_emit_float(f, o->scale);
    floats(f, "mean", o->mean);
    floats(f, "std", o->std);
    fprintf(f, ", .columns = columns},\n");
    if (o->frame_w)
        fprintf(f, "    .frame_w = %d, .frame_h = %d, .frame_c = %d, .frame = frame,\n", o->frame_w, o->frame_h,
                o->frame_c);
    fprintf(f, "    .softmax = %d, .top = %d, .pre_ns = %.0f, .post_ns = %.0f,\n", o->softmax,
            o->top ? o->top : o->nms ? 100 : 0, o->pre_ns, o->post_ns);
    if (o->nms) fputs("    .boxes = &boxes,\n", f);
    fprintf(f, "    .fit = ig_picture_fit, .load = ig_spec_load, .finish = ig_spec_finish,\n"
               "    .info = ig_spec_info, .bench = ig_spec_bench};\n\n");
}
