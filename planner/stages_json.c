#include "planner/stages_json.h"

#include <string.h>

#include "planner/alloc.h"
#include "planner/stages.h"

static const int64_t MAX_BYTES = (int64_t)1 << 42;

static void put_slots(FILE *f, const struct ig_plan *p, const struct ig_graph *g)
{
    fputs(",\n\"slots\":[", f);
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        fprintf(f, "%s{\"bytes\":%lld,\"copies\":%d,\"from\":%d,\"name\":", i ? ",\n" : "\n", (long long)s->bytes,
                s->copies, s->from);
        ig_put_text(f, g->values[s->value].name);
        fprintf(f, ",\"offset\":%lld,\"to\":%d}", (long long)s->offset, s->to);
    }
    fputs(p->n_slots ? "\n]" : "]", f);
}

static void put_number(FILE *f, const char *key, double ns)
{
    fprintf(f, ",\"%s\":", key);
    ig_put_double(f, ns);
}

void ig_put_stages(FILE *f, const struct ig_plan *p, const struct ig_graph *g)
{
    if (!p->n_stages) return;
    put_slots(f, p, g);
    fputs(",\n\"stages\":[", f);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        fprintf(f, "%s{\"cores\":\"%llx\",\"first\":%d", i ? ",\n" : "\n", (unsigned long long)s->cores, s->first);
        if (ig_stage_is_gpu(s)) put_number(f, "gpu_ns", s->gpu_ns);
        fprintf(f, ",\"last\":%d,\"node\":", s->last);
        ig_put_text(f, g->nodes[p->steps[s->last].node].name);
        if (s->pass_ns > 0) put_number(f, "passing_ns", s->pass_ns);
        put_number(f, "predicted_ns", ig_stage_ns(p, i));
        fputs(",\"processor\":", f);
        ig_put_text(f, s->processor);
        fprintf(f, ",\"slots\":%d,\"threads\":%d}", s->slots, s->threads);
    }
    fputs("\n]", f);
}

/* --- in --- */

static uint64_t get_cores(struct ig_reader *r, const json_t *o)
{
    const char *text = ig_get_text(r, o, "cores");
    uint64_t cores = 0;
    if (!r->failed && (!*text || strlen(text) > 16 || strspn(text, "0123456789abcdef") != strlen(text)))
        ig_reader_fail(r, "cores are up to 16 hexadecimal digits, not '%s'", text);
    for (; !r->failed && *text; text++) cores = cores << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return cores;
}

static void read_stage(struct ig_reader *r, const json_t *o, int32_t n_steps, struct ig_plan_stage *s)
{
    ig_reader_only(r, o, "cores first gpu_ns last node passing_ns predicted_ns processor slots threads");
    const char *processor = ig_get_text(r, o, "processor");
    if (strlen(processor) >= sizeof s->processor)
        ig_reader_fail(r, "processor '%s' has too long a name", processor);
    else if (strcmp(processor, "gpu") &&
             (strncmp(processor, "cpu:", 4) || strspn(processor + 4, "0123456789+-") != strlen(processor + 4)))
        ig_reader_fail(r, "processor '%s' is neither gpu nor a set of cores such as cpu:0-3", processor);
    else
        strcpy(s->processor, processor);
    s->cores = get_cores(r, o);
    s->first = (int32_t)ig_get_int(r, o, "first", 0, n_steps - 1);
    s->last = (int32_t)ig_get_int(r, o, "last", s->first, n_steps - 1);
    s->slots = (int32_t)ig_get_int(r, o, "slots", 1, 16);
    s->threads = (int32_t)ig_get_int(r, o, "threads", 1, 4096);
    if (ig_stage_is_gpu(s)) s->gpu_ns = ig_get_double(r, o, "gpu_ns", 0);
    if (json_object_get(o, "passing_ns")) s->pass_ns = ig_get_double(r, o, "passing_ns", 0);
}

static void read_slot(struct ig_reader *r, const json_t *o, const struct ig_graph *g, int32_t n_stages,
                      struct ig_plan_slot *s)
{
    ig_reader_only(r, o, "bytes copies from name offset to");
    const char *name = ig_get_text(r, o, "name");
    while (s->value < g->n_values && strcmp(g->values[s->value].name, name)) s->value++;
    if (s->value == g->n_values) ig_reader_fail(r, "the graph has no value '%s'", name);
    s->bytes = ig_get_int(r, o, "bytes", 1, MAX_BYTES);
    s->copies = (int32_t)ig_get_int(r, o, "copies", 1, 64);
    s->from = (int32_t)ig_get_int(r, o, "from", -1, n_stages);
    s->to = (int32_t)ig_get_int(r, o, "to", -1, n_stages);
    s->offset = ig_get_int(r, o, "offset", 0, MAX_BYTES);
}

void ig_read_stages(struct ig_reader *r, const json_t *root, const struct ig_graph *g, struct ig_plan *p)
{
    if (r->failed || !json_object_get(root, "stages")) return;
    const json_t *stages = ig_get_array(r, root, "stages"), *slots = ig_get_array(r, root, "slots");
    size_t n = json_array_size(stages), m = json_array_size(slots);
    if (!r->failed && (n < 1 || n > IG_PLAN_STAGES || m > IG_PLAN_SLOTS))
        ig_reader_fail(r, "%zu stages and %zu slots, at most %d and %d can be", n, m, IG_PLAN_STAGES, IG_PLAN_SLOTS);
    if (r->failed) return;
    p->stages = ig_must_alloc(n, sizeof *p->stages);
    p->slots = ig_must_alloc(m, sizeof *p->slots);
    p->n_stages = (int32_t)n;
    p->n_slots = (int32_t)m;
    r->where = "stages";
    for (r->at = 0; !r->failed && r->at < n; r->at++)
        read_stage(r, json_array_get(stages, r->at), p->n_steps, &p->stages[r->at]);
    r->where = "slots";
    for (r->at = 0; !r->failed && r->at < m; r->at++)
        read_slot(r, json_array_get(slots, r->at), g, p->n_stages, &p->slots[r->at]);
    r->where = "";
}
