#include "cli/pipes.h"

#include <stdlib.h>

#include "cli/cli.h"
#include "planner/stages.h"
#include "runtime/host/text.h"

static const char *name_of(const struct ig_graph *g, const struct ig_plan *p, int32_t step)
{
    return g->nodes[p->steps[step].node].name;
}

/* The slot that holds value v; -1: none does. */
static int32_t slot_of(const struct ig_graph *g, const struct ig_plan *p, int32_t v)
{
    const struct ig_plan_buffer *b = &p->buffers[v];
    if (b->memory == IG_MEMORY_INPUT) return b->index;
    if (b->memory == IG_MEMORY_OUTPUT) return g->n_inputs + b->index;
    return b->memory == IG_MEMORY_SLOT ? b->index : -1;
}

/* How the GPU's stage has a slot; one of several cuts copies what one alone would have managed. */
static const char *pass_words(const struct ig_plan *p, int32_t v, int in, int cuts)
{
    int32_t kind = ig_pass_kind(p, v);
    if (kind == IG_PASS_MAPPED) return "page-locked, used by the GPU in place";
    if (kind == IG_PASS_MANAGED && cuts == 1) return "managed, the GPU's by turns";
    return in ? "arena, copied to the GPU" : "arena, copied from the GPU";
}

/* Where the copies of each slot lie, words[n_slots], as a program of the plan says it. */
static void name_memories(const struct ig_graph *g, const struct ig_plan *p, int cuts, const char **words)
{
    int32_t gpu = ig_gpu_stage_of(p);
    uint8_t *marks = calloc((size_t)g->n_values + 1, 1);
    if (!marks) ig_fatal("out of memory");
    for (int32_t i = 0; i < p->n_slots; i++) words[i] = "arena";
    if (gpu >= 0) ig_mark_passes(g, p, &p->stages[gpu], marks);
    for (int in = 0; in <= 1; in++) /* of what passes both ways the way in is told, of several tensors the first */
        for (int32_t v = g->n_values - 1; v >= 0; v--) {
            int32_t slot = slot_of(g, p, v);
            if (slot >= 0 && (in ? ig_passes_in(marks[v]) : ig_passes_out(marks[v]))) words[slot] = pass_words(p, v, in, cuts);
        }
    free(marks);
}

/* "stage 1", "push", "pop" */
static const char *end_text(int32_t end, int32_t n_stages, char text[16])
{
    snprintf(text, 16, end < 0 ? "push" : end == n_stages ? "pop" : "stage %d", end);
    return text;
}

static void put_text(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int cuts)
{
    char from[16], to[16], bytes[32], name[41];
    const char *memory[IG_PLAN_SLOTS];
    name_memories(g, p, cuts, memory);
    fprintf(f, "%d stage%s: a result every %.3f ms, %.3f ms from end to end where frames wait (predicted)\n", p->n_stages, ig_plural(p->n_stages),
            p->period_ns * 1e-6, p->full_ns * 1e-6);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "  stage %d on %s: %d thread%s, steps %d..%d to %s, %.3f ms", i, s->processor, s->threads,
                ig_plural(s->threads), s->first, s->last,
                ig_name_text(name_of(g, p, s->last), name, sizeof name), ig_stage_ns(p, i) * 1e-6);
        if (s->pass_ns > 0) fprintf(f, ", %.3f of them to pass tensors", s->pass_ns * 1e-6);
        fputc('\n', f);
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        fprintf(f, "  slot %-40s %8s to %-8s %13s B, %d cop%s, %s at %lld\n",
                ig_name_text(g->values[s->value].name, name, sizeof name), end_text(s->from, p->n_stages, from),
                end_text(s->to, p->n_stages, to), ig_commas(s->bytes, bytes), s->copies, s->copies == 1 ? "y" : "ies",
                memory[i], (long long)s->offset);
    }
}

static void put_json(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int cuts)
{
    const char *memory[IG_PLAN_SLOTS];
    name_memories(g, p, cuts, memory);
    fprintf(f, "\"full_ms\":%.6f,\n\"period_ms\":%.6f,\n\"slots\":[", p->full_ns * 1e-6, p->period_ns * 1e-6);
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        fprintf(f, "%s\n{\"bytes\":%lld,\"copies\":%d,\"from\":%d,\"memory\":\"%s\",\"name\":", i ? "," : "",
                (long long)s->bytes, s->copies, s->from, memory[i]);
        ig_json_string(f, g->values[s->value].name);
        fprintf(f, ",\"offset\":%lld,\"to\":%d}", (long long)s->offset, s->to);
    }
    fputs("\n],\n\"stages\":[", f);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "%s\n{\"cores\":\"%llx\",\"first\":%d,\"last\":%d,\"node\":", i ? "," : "",
                (unsigned long long)s->cores, s->first, s->last);
        ig_json_string(f, name_of(g, p, s->last));
        if (s->pass_ns > 0) fprintf(f, ",\"passing_ms\":%.6f", s->pass_ns * 1e-6);
        fprintf(f, ",\"predicted_ms\":%.6f,\"processor\":\"%s\",\"threads\":%d}", ig_stage_ns(p, i) * 1e-6, s->processor,
                s->threads);
    }
    fputs("\n]", f);
}

void ig_pipes_put(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int json)
{
    if (json) fputs("{\"alternatives\":[", f);
    for (int32_t i = 1; json && i <= p->n_others; i++) {
        fputs(i > 1 ? ",\n{" : "\n{", f);
        put_json(f, g, ig_alternative(p, i), 1 + p->n_others);
        fputc('}', f);
    }
    if (json) {
        fputs("],\n", f);
        put_json(f, g, p, 1 + p->n_others);
        fputs("}\n", f);
        return;
    }
    for (int32_t i = 0; i <= p->n_others; i++) {
        if (i) fprintf(f, "alternative %d: ", i);
        put_text(f, g, ig_alternative(p, i), 1 + p->n_others);
    }
}
