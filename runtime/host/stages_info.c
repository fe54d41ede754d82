/* --info of a pipeline: its stages, and what passes between them. */
#include "runtime/host/stages.h"

static void put_json(const struct ig_program *p)
{
    const struct ig_pipe *pipe = p->staged->pipe;
    printf("\"pipeline\":{\"full_ms\":%.6f,\"period_ms\":%.6f,\"slots\":[", pipe->full_ns * 1e-6,
           pipe->period_ns * 1e-6);
    for (int i = 0; i < pipe->n_slots; i++) {
        const struct ig_slot *s = &pipe->slots[i];
        printf("%s{\"bytes\":%lld,\"copies\":%d,\"from\":%d,\"memory\":\"%s\",\"name\":", i ? "," : "",
               (long long)s->bytes, s->copies, s->from, p->staged->slots[i].memory);
        ig_json_string(stdout, p->staged->slots[i].name);
        printf(",\"offset\":%lld,\"to\":%d}", (long long)s->offset, s->to);
    }
    fputs("],\"stages\":[", stdout);
    for (int i = 0; i < pipe->n_stages; i++) {
        const struct ig_stage *s = &pipe->stages[i];
        printf("%s{\"cores\":\"%llx\",\"layers\":%d,\"predicted_ms\":%.6f,\"processor\":\"%s\",\"threads\":%d}",
               i ? "," : "", (unsigned long long)s->cores, s->model.n_steps, s->predicted_ns * 1e-6, s->processor,
               s->model.threads);
    }
    fputs("]},", stdout);
}

/* "stage 1", "push", "pop" */
static const char *end_text(int end, int n_stages, char text[16])
{
    snprintf(text, 16, end < 0 ? "push" : end == n_stages ? "pop" : "stage %d", end);
    return text;
}

void ig_stages_info(const struct ig_program *p, int json)
{
    const struct ig_pipe *pipe = p->staged->pipe;
    char name[41], from[16], to[16];
    if (json) {
        if (p->staged->calls) p->staged->calls->info(p->staged->cuts, 1);
        put_json(p);
        return;
    }
    printf("%d stage%s: a result every %.3f ms, %.3f ms from end to end where frames wait (predicted)\n", pipe->n_stages,
           pipe->n_stages == 1 ? "" : "s", pipe->period_ns * 1e-6, pipe->full_ns * 1e-6);
    for (int i = 0; i < pipe->n_stages; i++) {
        const struct ig_stage *s = &pipe->stages[i];
        const char *last = s->model.n_steps ? p->layers[s->first + s->model.n_steps - 1].name : "";
        printf("  stage %d on %s: %d thread%s, %d layer%s to %s, %.3f ms\n", i, s->processor, s->model.threads,
               s->model.threads == 1 ? "" : "s", s->model.n_steps, s->model.n_steps == 1 ? "" : "s", ig_name_text(last, name, sizeof name),
               s->predicted_ns * 1e-6);
    }
    for (int i = 0; i < pipe->n_slots; i++) {
        const struct ig_slot *s = &pipe->slots[i];
        printf("  slot %-40s %8s to %-8s %10lld B, %d cop%s, %s at %lld\n",
               ig_name_text(p->staged->slots[i].name, name, sizeof name), end_text(s->from, pipe->n_stages, from),
               end_text(s->to, pipe->n_stages, to), (long long)s->bytes, s->copies, s->copies == 1 ? "y" : "ies",
               p->staged->slots[i].memory, (long long)s->offset);
    }
    if (p->staged->calls) p->staged->calls->info(p->staged->cuts, 0);
}
