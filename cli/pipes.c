#include "cli/pipes.h"

#include "cli/cli.h"
#include "planner/stages.h"
#include "runtime/host/text.h"

static const char *name_of(const struct ig_graph *g, const struct ig_plan *p, int32_t step)
{
    return g->nodes[p->steps[step].node].name;
}

/* 1: the GPU's stage reads or writes one of the slot's tensors, so that it is copied there or from there. */
static int gpu_touches(const struct ig_graph *g, const struct ig_plan *p, int32_t slot, int writes)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        if (!ig_step_is_gpu(p, i)) continue;
        for (int32_t k = 0; k < (writes ? n->n_out : n->n_in); k++) {
            int32_t v = writes ? n->out[k] : n->in[k];
            if (v >= 0 && p->buffers[v].memory == IG_MEMORY_SLOT && p->buffers[v].index == slot) return 1;
        }
    }
    return 0;
}

/* Where the copies lie; the GPU has its own of what it touches. */
static const char *memory_of(const struct ig_graph *g, const struct ig_plan *p, int32_t slot)
{
    if (ig_gpu_stage_of(p) < 0) return "arena";
    if (p->slots[slot].from < ig_gpu_stage_of(p) && gpu_touches(g, p, slot, 0)) return "arena, copied to the GPU";
    return gpu_touches(g, p, slot, 1) ? "arena, copied from the GPU" : "arena";
}

/* "stage 1", "push", "pop" */
static const char *end_text(int32_t end, int32_t n_stages, char text[16])
{
    snprintf(text, 16, end < 0 ? "push" : end == n_stages ? "pop" : "stage %d", end);
    return text;
}

static void put_text(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    char from[16], to[16], bytes[32], name[41];
    fprintf(f, "%d stages: a result every %.3f ms, %.3f ms from end to end where frames wait (predicted)\n", p->n_stages,
            p->period_ns * 1e-6, p->full_ns * 1e-6);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "  stage %d on %s: %d thread%s, steps %d..%d to %s, %.3f ms\n", i, s->processor, s->threads,
                s->threads == 1 ? "" : "s", s->first, s->last,
                ig_name_text(name_of(g, p, s->last), name, sizeof name), ig_stage_ns(p, i) * 1e-6);
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        fprintf(f, "  slot %-40s %8s to %-8s %13s B, %d cop%s, %s at %lld\n",
                ig_name_text(g->values[s->value].name, name, sizeof name), end_text(s->from, p->n_stages, from),
                end_text(s->to, p->n_stages, to), ig_commas(s->bytes, bytes), s->copies, s->copies == 1 ? "y" : "ies",
                memory_of(g, p, i), (long long)s->offset);
    }
}

static void put_json(FILE *f, const struct ig_graph *g, const struct ig_plan *p)
{
    fprintf(f, "\"full_ms\":%.6f,\n\"period_ms\":%.6f,\n\"slots\":[", p->full_ns * 1e-6, p->period_ns * 1e-6);
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        fprintf(f, "%s\n{\"bytes\":%lld,\"copies\":%d,\"from\":%d,\"memory\":\"%s\",\"name\":", i ? "," : "",
                (long long)s->bytes, s->copies, s->from, memory_of(g, p, i));
        ig_json_string(f, g->values[s->value].name);
        fprintf(f, ",\"offset\":%lld,\"to\":%d}", (long long)s->offset, s->to);
    }
    fputs("\n],\n\"stages\":[", f);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "%s\n{\"cores\":\"%llx\",\"first\":%d,\"last\":%d,\"node\":", i ? "," : "",
                (unsigned long long)s->cores, s->first, s->last);
        ig_json_string(f, name_of(g, p, s->last));
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
        put_json(f, g, ig_alternative(p, i));
        fputc('}', f);
    }
    if (json) {
        fputs("],\n", f);
        put_json(f, g, p);
        fputs("}\n", f);
        return;
    }
    for (int32_t i = 0; i <= p->n_others; i++) {
        if (i) fprintf(f, "alternative %d: ", i);
        put_text(f, g, ig_alternative(p, i));
    }
}
