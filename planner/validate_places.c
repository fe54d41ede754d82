/* Has every tensor the bytes it must have, aligned, and inside its memory? */
#include "planner/validate.h"

#include "planner/validate_bands.h"

static int check_sizes(struct ig_check *c)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t bytes = b->ring_rows && b->alias_of < 0 ? ig_ring_bytes(c->g, b) : ig_bytes(&c->g->values[v].shape);
        if (b->bytes != bytes)
            return ig_say(c, IG_BAD_SIZE, "'%s' has %lld bytes, not %lld", ig_value_name(c, v), (long long)bytes,
                       (long long)b->bytes);
        int64_t end = b->ring_rows || b->memory == IG_MEMORY_NONE ? b->offset + bytes : ig_box_end(&c->boxes[v]);
        if (b->alias_of < 0 && end - b->offset != bytes)
            return ig_say(c, IG_BAD_SIZE, "'%s' owns its storage but is not dense", ig_value_name(c, v));
    }
    return IG_PLAN_OK;
}

static int check_alignment(struct ig_check *c)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t align = b->alias_of < 0 ? IG_ALIGN : ig_type_bytes(c->g->values[v].shape.type);
        if (b->offset % align)
            return ig_say(c, IG_MISALIGNED, "'%s' lies at %lld, no multiple of %lld", ig_value_name(c, v),
                       (long long)b->offset, (long long)align);
    }
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (c->p->steps[i].scratch_offset % IG_ALIGN)
            return ig_say(c, IG_MISALIGNED, "the scratch of step %d lies at %lld", i,
                       (long long)c->p->steps[i].scratch_offset);
    return IG_PLAN_OK;
}

/* Bytes of the memory that v is in; -1: no such memory for it. */
static int64_t memory_bytes(const struct ig_check *c, int32_t v)
{
    const struct ig_plan_buffer *b = &c->p->buffers[v];
    const struct ig_graph *g = c->g;
    switch (b->memory) {
    case IG_MEMORY_NONE: return ig_is_const(g, v) ? INT64_MAX : -1;
    case IG_MEMORY_ARENA:
        return ig_is_const(g, v) || ig_is_input(g, v) || ig_is_output(g, v) ? -1 : c->p->arena_bytes;
    case IG_MEMORY_RING: return c->p->scratch_bytes;
    case IG_MEMORY_SLOT:
        if (ig_is_const(g, v) || ig_is_input(g, v) || ig_is_output(g, v)) return -1;
        return b->index < 0 || b->index >= c->p->n_slots ? -1 : c->p->slots[b->index].bytes;
    case IG_MEMORY_WEIGHTS: return ig_is_input(g, v) || ig_is_output(g, v) ? -1 : c->p->weights_bytes;
    case IG_MEMORY_INPUT:
        return b->index < 0 || b->index >= g->n_inputs ? -1 : ig_bytes(&g->values[g->inputs[b->index]].shape);
    case IG_MEMORY_OUTPUT:
        return b->index < 0 || b->index >= g->n_outputs ? -1
                                                        : ig_bytes(&g->values[g->outputs[b->index]].shape);
    default: return -1;
    }
}

static int check_range(struct ig_check *c)
{
    const struct ig_graph *g = c->g;
    for (int32_t v = 0; v < g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t room = memory_bytes(c, v);
        if (room < 0)
            return ig_say(c, IG_OUT_OF_ARENA, "'%s' is in a memory where it cannot be", ig_value_name(c, v));
        if (b->ring_rows && b->alias_of >= 0) continue; /* in its owner's */
        int64_t end = b->ring_rows ? b->offset + b->bytes : ig_box_end(&c->boxes[v]);
        if (b->offset < 0 || end > room)
            return ig_say(c, IG_OUT_OF_ARENA, "'%s' ends at %lld of %lld bytes", ig_value_name(c, v), (long long)end,
                       (long long)room);
    }
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        if (s->scratch_offset < 0 || s->scratch_bytes < 0 ||
            s->scratch_offset + s->scratch_bytes * ig_scratch_threads(c->p, s) > c->p->arena_bytes)
            return ig_say(c, IG_OUT_OF_ARENA, "the scratch of step %d ends behind the arena", i);
    }
    for (int32_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        int is_input = i < g->n_inputs, index = is_input ? i : i - g->n_inputs;
        const struct ig_plan_buffer *b = &c->p->buffers[is_input ? g->inputs[index] : g->outputs[index]];
        int32_t memory = is_input ? IG_MEMORY_INPUT : IG_MEMORY_OUTPUT;
        if (b->memory != memory || b->index != index || b->offset)
            return ig_say(c, IG_OUT_OF_ARENA, "'%s' is not the caller's %s %d", ig_value_name(c, b->value),
                       is_input ? "input" : "output", index);
    }
    return IG_PLAN_OK;
}

int ig_check_places(struct ig_check *c)
{
    int bad = check_sizes(c);
    if (bad || (bad = check_alignment(c))) return bad;
    return check_range(c);
}
