/* <model>_plan.c: the plan as static const tables. Equal shapes are written once. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/emit.h"
#include "graph/version.h"

enum { TEXT_BYTES = 400 /* of a band's schedule */, SUFFIX_BYTES = 16 };

void ig_emit_string(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++) {
        unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\') fprintf(f, "\\%c", c);
        else if (c < 32 || c > 126 || c == '?') fprintf(f, "\\%03o", c);
        else fputc(c, f);
    }
    fputc('"', f);
}

void ig_emit_float(FILE *f, float x)
{
    if (isnan(x)) fputs("__builtin_nanf(\"\")", f);
    else if (isinf(x)) fputs(x > 0 ? "__builtin_inff()" : "-__builtin_inff()", f);
    else {
        char text[32];
        for (int digits = 1; digits <= 9; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, (double)x);
            if (strtof(text, NULL) == x) break;
        }
        fprintf(f, "%s%sf", text, strpbrk(text, ".e") ? "" : ".0");
    }
}

void ig_emit_comment(FILE *f, const char *s)
{
    for (; *s; s++) fputc(*s == '*' || *s == '/' || *s == '\\' || (unsigned char)*s < 32 ? '.' : *s, f);
}

void ig_emit_head(FILE *f, const struct ig_emit *e, const char *open, const char *close)
{
    const struct ig_plan *p = e->lowered->plan;
    fprintf(f, "%s Do not edit: made by ingot gen %s.\n * model ", open, INGOT_VERSION);
    ig_emit_comment(f, e->lowered->graph->name);
    fputs(" sha256 ", f);
    ig_emit_comment(f, e->lowered->graph->source_sha256);
    fputs("\n * profile sha256 ", f);
    ig_emit_comment(f, p->profile_sha256[0] ? p->profile_sha256 : "none (estimated)");
    fprintf(f, "\n * plan sha256 %s%s\n", e->plan_sha256, close);
}

struct shapes {
    const struct ig_shape **at;
    int32_t n;
};

static int32_t shape_index(struct shapes *s, const struct ig_shape *shape)
{
    for (int32_t i = 0; i < s->n; i++)
        if (!memcmp(s->at[i], shape, sizeof *shape)) return i;
    const struct ig_shape **at = realloc(s->at, (size_t)(s->n + 1) * sizeof *at);
    if (!at) abort();
    s->at = at;
    s->at[s->n] = shape;
    return s->n++;
}

static void emit_shapes(FILE *f, const struct shapes *s)
{
    fprintf(f, "static const struct ig_shape shapes[%d] = {\n", s->n ? s->n : 1);
    for (int32_t i = 0; i < s->n; i++) {
        fprintf(f, "    {%d, %d, {", s->at[i]->type, s->at[i]->rank);
        for (int k = 0; k < IG_MAX_RANK; k++) fprintf(f, "%s%d", k ? ", " : "", s->at[i]->dims[k]);
        fputs("}},\n", f);
    }
    if (!s->n) fputs("    {0, 0, {1}},\n", f);
    fputs("};\n\n", f);
}

static int same_attrs(const struct ig_node *a, const struct ig_node *b)
{
    const struct ig_op_info *info = ig_op_info((enum ig_op)a->op);
    if (a->op != b->op) return 0;
    for (int32_t i = 0; i < info->n_fields; i++) {
        const struct ig_field *field = &info->fields[i];
        if (memcmp((const char *)&a->attrs + field->offset, (const char *)&b->attrs + field->offset,
                   (size_t)field->count * 4))
            return 0;
    }
    return 1;
}

/* The first step with that node's attributes: its are theirs. */
static int32_t attrs_of(const struct ig_lowered *l, const struct ig_node *n)
{
    int32_t first = 0;
    while (!same_attrs(l->nodes[first], n)) first++;
    return first;
}

static void emit_attrs(FILE *f, const struct ig_node *n, int32_t step)
{
    const struct ig_op_info *info = ig_op_info((enum ig_op)n->op);
    if (!info->struct_tag) return;
    fprintf(f, "static const struct %s attrs_%d = {", info->struct_tag, step);
    for (int32_t i = 0; i < info->n_fields; i++) {
        const struct ig_field *field = &info->fields[i];
        const char *at = (const char *)&n->attrs + field->offset;
        fprintf(f, "%s.%s = %s", i ? ", " : "", field->name, field->count > 1 ? "{" : "");
        for (int k = 0; k < field->count; k++) {
            if (k) fputs(", ", f);
            if (field->is_float) ig_emit_float(f, ((const float *)at)[k]);
            else fprintf(f, "%d", ((const int32_t *)at)[k]);
        }
        if (field->count > 1) fputc('}', f);
    }
    fputs("};\n", f);
}

static void emit_place(FILE *f, struct shapes *shapes, const struct ig_place *p)
{
    if (!p->shape) {
        fputs("    {0},\n", f);
        return;
    }
    fprintf(f, "    {&shapes[%d], %lld, %d, %d, %d, %d, %d, %d, %d, %d, %d},\n", shape_index(shapes, p->shape),
            (long long)p->offset, p->h, p->w, p->c, p->ring_rows, p->row_stride, p->pixel_stride, p->image, p->space,
            p->index);
}

/* The operands of all steps, one after the other: an array a step would begin at a multiple of 32 bytes each. */
static void emit_places(FILE *f, struct shapes *shapes, const struct ig_lowered *l, const char *of)
{
    fprintf(f, "\nstatic const struct ig_place places%s[] = {\n", of);
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        const struct ig_step *s = &l->steps[i];
        fprintf(f, "    /* step %d */\n", i);
        for (int32_t k = 0; k < s->n_in; k++) emit_place(f, shapes, &s->in[k]);
        for (int32_t k = 0; k < s->n_out; k++) emit_place(f, shapes, &s->out[k]);
    }
    fputs("    {0}\n};\n", f);
}

static void emit_feeds(FILE *f, const struct ig_step *s, const char *of, int32_t step)
{
    if (!s->n_feeds) return;
    fprintf(f, "static const struct ig_feed feeds%s_%d[%d] = {", of, step, s->n_feeds);
    for (int32_t i = 0; i < s->n_feeds; i++) {
        const struct ig_feed *at = &s->feeds[i];
        fprintf(f, "%s{{%d, %d, %d, %d}, 0x%x}", i ? ", " : "", at->reach.mul, at->reach.div, at->reach.lo, at->reach.hi,
                (unsigned)at->from);
    }
    fputs("};\n", f);
}

static void emit_kernels(FILE *f, const struct ig_lowered *l)
{
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        int32_t k = 0;
        while (k < i && l->kernels[k] != l->kernels[i]) k++;
        if (k == i) fprintf(f, "ig_kernel_fn %s;\n", l->kernels[i]->name);
    }
    fputc('\n', f);
}

/* What runs by rows, as loops: band after band in the order of the table, which is the plan's. */
static void emit_schedules(FILE *f, const struct ig_lowered *l)
{
    int32_t band = 0;
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        int32_t numbers[IG_MAX_BAND];
        char text[TEXT_BYTES];
        if (!l->steps[i].band) continue;
        for (int32_t k = 0; k < l->steps[i].band; k++) numbers[k] = i + k;
        if (!ig_schedule_text(l->graph, l->plan, &l->plan->bands[band++], numbers, text, sizeof text)) continue;
        fprintf(f, "\n/* Rows of steps %d to %d (l:r computes r of them): %s */", i, i + l->steps[i].band - 1, text);
    }
    if (band) fputc('\n', f);
}

/* Those of an alternative, "_1" and so on, have the attributes of the first one's, "". */
static void emit_steps(FILE *f, const struct ig_lowered *l, const struct ig_lowered *first, const char *of)
{
    fprintf(f, "\nstatic const struct ig_step steps%s[%d] = {\n", of, l->model.n_steps ? l->model.n_steps : 1);
    for (int32_t i = 0, place = 0; i < l->model.n_steps; i++) {
        const struct ig_step *s = &l->steps[i];
        char attrs[32] = "0", feeds[32] = "0";
        if (s->attrs) snprintf(attrs, sizeof attrs, "&attrs_%d", attrs_of(first, l->nodes[i]));
        if (s->n_feeds) snprintf(feeds, sizeof feeds, "feeds%s_%d", of, i);
        fprintf(f, "    {%s, %s, &places%s[%d], &places%s[%d], %s, %lld, %lld, %lld, %d, %d, %d, %d, %d, %d, %d, 0x%x, %d, %d, %d, %d, %d},\n",
                l->kernels[i]->name, attrs, of, place, of, place + s->n_in, feeds, (long long)s->weights, (long long)s->scratch,
                (long long)s->scratch_bytes, s->images, s->rows, s->cols, s->chunk, s->chunks, s->phase, s->row_tile,
                (unsigned)s->kept, s->n_in, s->n_out, s->n_feeds, s->split, s->band);
        place += s->n_in + s->n_out;
    }
    if (!l->model.n_steps) fputs("    {0},\n", f);
    fputs("};\n\n", f);
}

/* Of an alternative's tables. */
static const char *suffix(char text[SUFFIX_BYTES], int32_t alternative)
{
    if (alternative) snprintf(text, SUFFIX_BYTES, "_%d", alternative);
    return alternative ? text : "";
}

static void emit_others(FILE *f, struct shapes *shapes, const struct ig_lowered *l)
{
    for (int32_t a = 1; a < l->cuts.n; a++) {
        const struct ig_lowered *other = l->others[a - 1];
        char of[SUFFIX_BYTES];
        suffix(of, a);
        for (int32_t i = 0; i < other->model.n_steps; i++) emit_feeds(f, &other->steps[i], of, i);
        emit_places(f, shapes, other, of);
        emit_schedules(f, other);
        emit_steps(f, other, l, of);
    }
}

static void emit_ios(FILE *f, struct shapes *shapes, const char *name, const struct ig_io *io, int32_t n)
{
    fprintf(f, "static const struct ig_io %s[%d] = {\n", name, n ? n : 1);
    for (int32_t i = 0; i < n; i++) {
        fputs("    {", f);
        ig_emit_string(f, io[i].name);
        fprintf(f, ", &shapes[%d]},\n", shape_index(shapes, io[i].shape));
    }
    if (!n) fputs("    {0, 0},\n", f);
    fputs("};\n", f);
}

static void emit_model(FILE *f, const struct ig_emit *e, const struct ig_model *m, const char *of, int32_t first)
{
    fputs("\n    .name = ", f);
    ig_emit_string(f, e->prefix);
    fprintf(f, ", .steps = steps%s", of);
    if (first) fprintf(f, " + %d", first);
    fprintf(f, ", .inputs = inputs, .outputs = outputs,\n");
    fprintf(f, "    .n_steps = %d, .n_inputs = %d, .n_outputs = %d, .threads = %d,\n", m->n_steps,
            m->n_inputs, m->n_outputs, m->threads);
    fprintf(f, "    .arena_bytes = %lld, .scratch_bytes = %lld, .weights_bytes = %lld, .zeros = %lld,\n",
            (long long)m->arena_bytes, (long long)m->scratch_bytes, (long long)m->weights_bytes,
            (long long)m->zeros);
    fprintf(f, "    .weights_hash = 0x%016llxu", (unsigned long long)m->weights_hash);
}

static void emit_pipe(FILE *f, const struct ig_emit *e)
{
    const struct ig_pipe *p = &e->lowered->pipe;
    int32_t cuts = e->lowered->cuts.n;
    if (!p->n_stages) return;
    fputs("\nstatic const struct ig_slot slots[] = {\n", f);
    for (int32_t i = 0; i < p->n_slots; i++)
        fprintf(f, "    {%lld, %lld, %d, %d, %d},\n", (long long)p->slots[i].offset, (long long)p->slots[i].bytes,
                p->slots[i].from, p->slots[i].to, p->slots[i].copies);
    fputs("    {0}\n};\n\nstatic const struct ig_stage stages[] = {\n", f);
    for (int32_t i = 0; i < p->n_stages * (cuts ? cuts : 1); i++) {
        const struct ig_stage *s = &p->stages[i];
        char of[SUFFIX_BYTES];
        fputs("    {{", f);
        emit_model(f, e, &s->model, suffix(of, i / p->n_stages), s->first);
        fputs("}, ", f);
        ig_emit_string(f, s->processor);
        fprintf(f, ", 0x%llx, %d, %.0f},\n", (unsigned long long)s->cores, s->first, s->predicted_ns);
    }
    fprintf(f, "};\n\nextern const struct ig_pipe %s_pipe;\nconst struct ig_pipe %s_pipe = {\n", e->prefix, e->prefix);
    fprintf(f, "    &%s_model, stages, slots, %d, %d, %d, %.0f, %.0f};\n", e->prefix, p->n_stages, p->n_slots, p->flight,
            p->period_ns, p->full_ns);
    if (cuts)
        fprintf(f, "\nextern const struct ig_cuts %s_cuts;\nconst struct ig_cuts %s_cuts = {&%s_pipe, stages, %d};\n",
                e->prefix, e->prefix, e->prefix, cuts);
}

/*
 * The tables refer to shapes by index, so those come first in the file: the rest is written to memory before.
 */
void ig_emit_tables(FILE *f, const struct ig_emit *e)
{
    const struct ig_lowered *l = e->lowered;
    const struct ig_model *m = &l->model;
    struct shapes shapes = {NULL, 0};
    char *body = NULL;
    size_t bytes = 0;
    FILE *b = open_memstream(&body, &bytes);
    if (!b) abort();
    for (int32_t i = 0; i < m->n_steps; i++) {
        if (attrs_of(l, l->nodes[i]) == i) emit_attrs(b, l->nodes[i], i);
        emit_feeds(b, &l->steps[i], "", i);
    }
    emit_places(b, &shapes, l, "");
    emit_schedules(b, l);
    emit_steps(b, l, l, "");
    emit_others(b, &shapes, l);
    emit_ios(b, &shapes, "inputs", m->inputs, m->n_inputs);
    emit_ios(b, &shapes, "outputs", m->outputs, m->n_outputs);
    fclose(b);
    ig_emit_head(f, e, "/*", " */");
    fprintf(f, "\n#include \"runtime/%s.h\"\n\n", l->pipe.n_stages ? "stage" : "step");
    emit_kernels(f, l);
    emit_shapes(f, &shapes);
    fwrite(body, 1, bytes, f);
    fprintf(f, "\nextern const struct ig_model %s_model;\n", e->prefix);
    fprintf(f, "const struct ig_model %s_model = {", e->prefix);
    emit_model(f, e, m, "", 0);
    fputs("};\n", f);
    emit_pipe(f, e);
    free(body);
    free(shapes.at);
}
