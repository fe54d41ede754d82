#include "cli/arena.h"

#include "cli/cli.h"
#include "planner/names.h"
#include "runtime/host/text.h"

enum { WIDTH = 1000, HEIGHT = 320 };

void ig_xml_text(FILE *f, const char *s)
{
    for (; *s; s++)
        if (*s == '<') fputs("&lt;", f);
        else if (*s == '>') fputs("&gt;", f);
        else if (*s == '&') fputs("&amp;", f);
        else if (*s == '"') fputs("&quot;", f);
        else if ((unsigned char)*s < 32) fputc('.', f);
        else fputc(*s, f);
}

static int owns_arena(const struct ig_plan_buffer *b)
{
    return b->memory == IG_MEMORY_ARENA && b->alias_of < 0;
}

static int64_t scratch_of(const struct ig_plan *p, int32_t step)
{
    return p->steps[step].scratch_bytes * ig_scratch_threads(p, &p->steps[step]);
}

/* Bytes held in a step. */
static int64_t held(const struct ig_plan *p, int32_t step)
{
    int64_t bytes = scratch_of(p, step);
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (owns_arena(b) && b->first <= step && step <= b->last) bytes += b->bytes;
    }
    return bytes;
}

struct scale { double x, y; };

static void rectangle(FILE *f, struct scale s, int32_t first, int32_t last, int64_t offset, int64_t bytes, const char *fill)
{
    fprintf(f, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"><title>", first * s.x,
            HEIGHT - (double)(offset + bytes) * s.y, (last - first + 1) * s.x, (double)bytes * s.y, fill);
}

static void draw_buffers(FILE *f, const struct ig_graph *g, const struct ig_plan *p, struct scale s)
{
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        char fill[32];
        if (!owns_arena(b)) continue;
        snprintf(fill, sizeof fill, "hsl(%d,55%%,60%%)", v * 47 % 360);
        rectangle(f, s, b->first, b->last, b->offset, b->bytes, fill);
        ig_xml_text(f, g->values[v].name);
        fprintf(f, ": %lld B at %lld, steps %d to %d</title></rect>\n", (long long)b->bytes, (long long)b->offset, b->first,
                b->last);
    }
}

static void draw_scratch(FILE *f, const struct ig_graph *g, const struct ig_plan *p, struct scale s)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        if (!scratch_of(p, i)) continue;
        rectangle(f, s, i, i, p->steps[i].scratch_offset, scratch_of(p, i), "url(#scratch)");
        fputs(ig_band_of(g, p, i) ? "rings and scratch of the band that ends in " : "scratch of ", f);
        ig_xml_text(f, g->nodes[p->steps[i].node].name);
        fprintf(f, ": %lld B at %lld, step %d</title></rect>\n", (long long)scratch_of(p, i),
                (long long)p->steps[i].scratch_offset, i);
    }
}

static void draw_held(FILE *f, const struct ig_plan *p, struct scale s)
{
    fputs("<path fill=\"none\" stroke=\"#c00\" d=\"", f);
    for (int32_t i = 0; i < p->n_steps; i++)
        fprintf(f, "%s%.1f %.1fH%.1f", i ? "L" : "M", i * s.x, HEIGHT - (double)held(p, i) * s.y, (i + 1) * s.x);
    fputs("\"><title>held in each step</title></path>\n", f);
}

void ig_arena_svg(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    struct scale s = {(double)WIDTH / (p->n_steps ? p->n_steps : 1),
                      (double)HEIGHT / (p->arena_bytes ? (double)p->arena_bytes : 1)};
    fprintf(f, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n", WIDTH,
            HEIGHT, WIDTH, HEIGHT);
    fputs("<defs><pattern id=\"scratch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\">"
          "<path d=\"M0 6L6 0\" stroke=\"#666\"/></pattern></defs>\n", f);
    draw_buffers(f, g, p, s);
    draw_scratch(f, g, p, s);
    draw_held(f, p, s);
    fputs("</svg>\n", f);
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
        ig_band_members(g, p, &p->bands[i], members);
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
