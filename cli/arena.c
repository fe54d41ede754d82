#include "cli/arena.h"

#include "cli/chart.h"
#include "cli/cli.h"
#include "cli/page.h"
#include "planner/names.h"
#include "runtime/host/text.h"

/* Of neighbours in the list of values; muted enough for white and for black paper. */
static const char *const colours[] = {"#7b9fc4", "#cda06e", "#86b398", "#a893c6",
                                      "#c68d8f", "#83b3b8", "#b9b27a"};
enum { COLOURS = sizeof colours / sizeof *colours };

static int owns_arena(const struct ig_plan_buffer *b)
{
    return b->memory == IG_MEMORY_ARENA && b->alias_of < 0;
}

static int64_t scratch_of(const struct ig_plan *p, int32_t step)
{
    return p->steps[step].scratch_bytes * ig_scratch_threads(p, &p->steps[step]);
}

/* Bytes that two buffers share: where rows keep them apart. */
static int64_t shared(const struct ig_plan_buffer *a, const struct ig_plan_buffer *b)
{
    int64_t from = a->offset > b->offset ? a->offset : b->offset, end = a->offset + a->bytes;
    if (b->offset + b->bytes < end) end = b->offset + b->bytes;
    return end > from ? end - from : 0;
}

/* Bytes held in a step. */
static int64_t held(const struct ig_plan *p, int32_t step)
{
    int64_t bytes = scratch_of(p, step);
    for (int32_t i = 0; i < p->n_slots; i++) bytes += p->slots[i].bytes * p->slots[i].copies;
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (!owns_arena(b) || b->first > step || step > b->last) continue;
        bytes += b->bytes;
        for (int32_t u = 0; u < v; u++) {
            const struct ig_plan_buffer *other = &p->buffers[u];
            if (owns_arena(other) && other->first <= step && step <= other->last) bytes -= shared(b, other);
        }
    }
    return bytes;
}

static void rectangle(const struct ig_chart *c, int32_t first, int32_t last, int64_t offset, int64_t bytes,
                      const char *fill)
{
    double x = ig_chart_x(c, first), y = ig_chart_y(c, (double)(offset + bytes));
    fprintf(c->f,
            "<rect class=\"block\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\" "
            "stroke=\"#fff\" "
            "stroke-width=\".5\"><title>",
            x, y, ig_chart_x(c, last + 1) - x, ig_chart_y(c, (double)offset) - y, fill);
}

static void draw_buffers(const struct ig_chart *c, const struct ig_graph *g, const struct ig_plan *p)
{
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (!owns_arena(b)) continue;
        rectangle(c, b->first, b->last, b->offset, b->bytes, colours[v % COLOURS]);
        ig_xml_text(c->f, g->values[v].name);
        fprintf(c->f, ": %lld B at %lld, steps %d to %d</title></rect>\n", (long long)b->bytes,
                (long long)b->offset, b->first, b->last);
    }
}

static void draw_scratch(const struct ig_chart *c, const struct ig_graph *g, const struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        if (!scratch_of(p, i)) continue;
        rectangle(c, i, i, p->steps[i].scratch_offset, scratch_of(p, i), "url(#scratch)");
        fputs(ig_band_of(p, i) ? "rings and scratch of the band that ends in " : "scratch of ", c->f);
        ig_xml_text(c->f, g->nodes[p->steps[i].node].name);
        fprintf(c->f, ": %lld B at %lld, step %d</title></rect>\n", (long long)scratch_of(p, i),
                (long long)p->steps[i].scratch_offset, i);
    }
}

/* Copies of what passes between stages: there in every step. */
static void draw_slots(const struct ig_chart *c, const struct ig_graph *g, const struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        for (int32_t k = 0; k < s->copies; k++) {
            rectangle(c, 0, p->n_steps - 1, s->offset + k * s->bytes, s->bytes, colours[s->value % COLOURS]);
            ig_xml_text(c->f, g->values[s->value].name);
            fprintf(c->f, ": slot %d of %d, %lld B at %lld</title></rect>\n", k + 1, s->copies, (long long)s->bytes,
                    (long long)(s->offset + k * s->bytes));
        }
    }
}

static void draw_held(const struct ig_chart *c, const struct ig_plan *p)
{
    fputs("<path class=\"held\" fill=\"none\" stroke=\"currentColor\" d=\"", c->f);
    for (int32_t i = 0; i < p->n_steps; i++)
        fprintf(c->f, "%s%.1f %.1fH%.1f", i ? "L" : "M", ig_chart_x(c, i), ig_chart_y(c, (double)held(p, i)),
                ig_chart_x(c, i + 1));
    fputs("\"><title>held in each step</title></path>\n", c->f);
}

void ig_arena_svg(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_chart c = {.f = f,
                         .width = 1040,
                         .height = 400,
                         .left = 84,
                         .right = 4,
                         .top = 40,
                         .bottom = 62,
                         .x1 = p->n_steps ? p->n_steps : 1,
                         .y1 = p->arena_bytes ? (double)p->arena_bytes : 1};
    ig_chart_open(&c, "wide", "the arena over time");
    fputs("<defs><pattern id=\"scratch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
          "<path d=\"M0 6L6 0\" stroke=\"#888\"/></pattern></defs>\n",
          f);
    ig_chart_axes(&c, "step", "arena, B");
    draw_buffers(&c, g, p);
    draw_scratch(&c, g, p);
    draw_slots(&c, g, p);
    draw_held(&c, p);
    ig_chart_close(&c);
}

void ig_arena_table(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    char bytes[32], offset[32], name[41], owner[41];
    fprintf(f, "arena %s B, lower bound %s B\n", ig_commas(p->arena_bytes, bytes),
            ig_commas(p->arena_lower_bound_bytes, offset));
    fprintf(f, "  %-40s %-7s %13s %13s %11s  %s\n", "tensor", "memory", "bytes", "offset", "steps", "");
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (ig_is_const(g, v)) continue;
        fprintf(f, "  %-40s %-7s %13s %13s %5d..%-5d", ig_name_text(g->values[v].name, name, sizeof name),
                ig_memory_names[b->memory], ig_commas(b->bytes, bytes), ig_commas(b->offset, offset), b->first, b->last);
        if (b->ring_rows) fprintf(f, " ring of %d rows", b->ring_rows);
        if (b->alias_of >= 0) fprintf(f, " in %s", ig_name_text(g->values[b->alias_of].name, owner, sizeof owner));
        fputc('\n', f);
    }
    for (int32_t i = 0; i < p->n_bands; i++) {
        int32_t members[IG_MAX_BAND];
        char schedule[200];
        ig_band_members(p, &p->bands[i], members);
        if (ig_schedule_text(g, p, &p->bands[i], members, schedule, sizeof schedule))
            fprintf(f, "  steps %d..%d by rows: %s\n", p->bands[i].first, p->bands[i].last, schedule);
    }
}

void ig_arena_json(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    fprintf(f, "{\"arena_bytes\":%lld,\n\"held_bytes\":[", (long long)p->arena_bytes);
    for (int32_t i = 0; i < p->n_steps; i++) fprintf(f, "%s%lld", i ? "," : "", (long long)held(p, i));
    fputs("],\n\"tensors\":[", f);
    for (int32_t v = 0, n = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (ig_is_const(g, v)) continue;
        fprintf(f, "%s{\"bytes\":%lld,\"first\":%d,\"last\":%d,\"memory\":\"%s\",\"name\":", n++ ? ",\n" : "\n",
                (long long)b->bytes, b->first, b->last, ig_memory_names[b->memory]);
        ig_json_string(f, g->values[v].name);
        fprintf(f, ",\"offset\":%lld,\"ring_rows\":%d}", (long long)b->offset, b->ring_rows);
    }
    fputs("\n]}\n", f);
}
