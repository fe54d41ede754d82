#include "runtime/gpu/slots.h"

#include <string.h>

static int32_t n_ends(const struct ig_gpu_slots *s)
{
    return s->stage->plan->n_inputs + s->stage->plan->n_outputs;
}

static const struct ig_slot *slot_of(const struct ig_gpu_slots *s, int32_t end)
{
    return &s->pipe->slots[s->stage->places[end].slot];
}

static int64_t bytes_of(const struct ig_gpu_slots *s, int32_t end)
{
    return slot_of(s, end)->bytes * slot_of(s, end)->copies;
}

/* From where a slot's copy begins to the end in it: places of the arena count from the arena's start. */
static int64_t within(const struct ig_gpu_slots *s, int32_t end)
{
    const struct ig_gpu_place *p = &s->stage->places[end];
    int32_t ios = s->pipe->model->n_inputs + s->pipe->model->n_outputs;
    return p->offset - (p->slot < ios ? 0 : s->pipe->slots[p->slot].offset);
}

static int32_t common(int32_t a, int32_t b)
{
    return b ? common(b, a % b) : a;
}

/* --- opening --- */

/* Ends whose slots have few enough copies; returns how many graphs these take. */
static int32_t choose(struct ig_gpu_slots *s)
{
    int32_t phases = 1;
    for (int32_t i = 0; i < n_ends(s); i++) {
        int32_t copies = slot_of(s, i)->copies, all = phases / common(phases, copies) * copies;
        s->reach[i].direct = copies <= IG_GPU_COPIES && all <= IG_GPU_PHASES;
        if (s->reach[i].direct) phases = all;
    }
    return phases;
}

/* Widens the range by the copies of slots of these ends, which are locked where they are. */
static void widen(const struct ig_gpu_slots *s, struct ig_gpu_range *range)
{
    for (int32_t i = 0; i < n_ends(s); i++) {
        if (!s->reach[i].direct || s->gpu->kinds[i] == IG_GPU_MANAGED) continue;
        int64_t from = slot_of(s, i)->offset, to = from + bytes_of(s, i);
        if (from < range->from) range->from = from;
        if (to > range->to) range->to = to;
    }
}

void ig_gpu_slots_lock(struct ig_gpu_slots *s, const struct ig_gpu_range *range)
{
    if (!s->gpu->registers || range->from >= range->to) return;
    char *at = s->arena + range->from;
    if (s->gpu->cuda.host_register(at, (size_t)(range->to - range->from), IG_CUDA_HOST_PORTABLE | IG_CUDA_HOST_MAPPED)) return;
    s->registered = at;
    if (s->gpu->cuda.host_address(&s->registered_device, s->registered, 0)) s->registered_device = 0;
}

/* Copy `copy` of an end; `device` is the slot's copy's for launches in place, else 0. */
static void set_copy(struct ig_gpu_slots *s, int32_t end, int32_t copy, char *host, ig_cuda_address device)
{
    struct ig_gpu_end *e = &s->reach[end].copies[copy];
    e->host = host + within(s, end);
    e->device = device ? device + (uint64_t)within(s, end) : s->gpu->ends[end].device;
}

static int manage(struct ig_gpu_slots *s, int32_t end)
{
    ig_cuda_address own;
    for (int32_t c = 0; c < slot_of(s, end)->copies; c++) {
        if (s->gpu->cuda.managed(&own, (size_t)slot_of(s, end)->bytes, IG_CUDA_ATTACH_HOST)) return 0;
        memset((void *)(uintptr_t)own, 0, (size_t)slot_of(s, end)->bytes);
        set_copy(s, end, c, (char *)(uintptr_t)own, own);
    }
    return 1;
}

/* Page-locked memory of its own, where the arena cannot be. */
static int map(struct ig_gpu_slots *s, int32_t end)
{
    struct ig_gpu_reach *r = &s->reach[end];
    ig_cuda_address device;
    if (s->gpu->cuda.host_memory(&r->block, (size_t)bytes_of(s, end), IG_CUDA_HOST_PORTABLE | IG_CUDA_HOST_MAPPED)) {
        r->block = NULL;
        return 0;
    }
    memset(r->block, 0, (size_t)bytes_of(s, end));
    if (s->gpu->cuda.host_address(&device, r->block, 0)) return 0;
    for (int32_t c = 0; c < slot_of(s, end)->copies; c++) {
        int64_t at = c * slot_of(s, end)->bytes;
        set_copy(s, end, c, (char *)r->block + at, device + (uint64_t)at);
    }
    return 1;
}

/* The slot in the arena's locked part. */
static int keep(struct ig_gpu_slots *s, int32_t end)
{
    int in_place = s->gpu->kinds[end] == IG_GPU_MAPPED;
    if (!s->registered || (in_place && !s->registered_device)) return 0;
    for (int32_t c = 0; c < slot_of(s, end)->copies; c++) {
        char *at = s->arena + slot_of(s, end)->offset + c * slot_of(s, end)->bytes;
        set_copy(s, end, c, at, in_place ? s->registered_device + (uint64_t)(at - (char *)s->registered) : 0);
    }
    return 1;
}

/* An end before this one that is in the same slot; -1: none. */
static int32_t before(const struct ig_gpu_slots *s, int32_t end)
{
    for (int32_t k = 0; k < end; k++)
        if (s->stage->places[k].slot == s->stage->places[end].slot) return k;
    return -1;
}

/* A slot is what its first end wants; another end that wants it otherwise is copied through the staging. */
static void share(struct ig_gpu_slots *s, int32_t end, int32_t first)
{
    int32_t kind = s->gpu->kinds[end];
    s->reach[end].direct &= s->reach[first].direct && s->gpu->kinds[first] == kind;
    for (int32_t c = 0; s->reach[end].direct && c < slot_of(s, end)->copies; c++) {
        const struct ig_gpu_end *e = &s->reach[first].copies[c];
        uint64_t back = (uint64_t)within(s, first);
        set_copy(s, end, c, (char *)e->host - back, kind ? e->device - back : 0);
    }
}

static void reach(struct ig_gpu_slots *s, int32_t end)
{
    int32_t first = before(s, end), kind = s->gpu->kinds[end];
    if (first >= 0) share(s, end, first);
    else if (s->reach[end].direct)
        s->reach[end].direct = kind == IG_GPU_MANAGED ? manage(s, end) : keep(s, end) || (kind == IG_GPU_MAPPED && map(s, end));
}

static void ends_of(const struct ig_gpu_slots *s, int32_t phase, struct ig_gpu_end *ends)
{
    for (int32_t i = 0; i < n_ends(s); i++)
        ends[i] = s->reach[i].direct ? s->reach[i].copies[phase % slot_of(s, i)->copies] : s->gpu->ends[i];
}

static void close_slots(void *slots)
{
    struct ig_gpu_slots *s = slots;
    const struct ig_cuda *c = &s->gpu->cuda;
    for (int32_t i = 0; i < IG_GPU_PHASES; i++) {
        if (s->execs[i]) c->exec_free(s->execs[i]);
        if (s->graphs[i]) c->graph_free(s->graphs[i]);
    }
    for (int32_t i = 0; i < n_ends(s); i++) {
        struct ig_gpu_reach *r = &s->reach[i];
        if (r->block) c->host_memory_free(r->block);
        for (int32_t k = 0; s->gpu->kinds[i] == IG_GPU_MANAGED && before(s, i) < 0 && k < IG_GPU_COPIES; k++)
            if (r->copies[k].device) c->memory_free(r->copies[k].device - (uint64_t)within(s, i));
    }
    if (s->registered && !s->gpu->beside) c->host_unregister(s->registered);
    memset(s, 0, sizeof *s);
}

void ig_gpu_slots_choose(struct ig_gpu_slots *s, struct ig_gpu *gpu, const struct ig_gpu_stage *stage, const struct ig_pipe *pipe,
                         void *arena, struct ig_gpu_range *range)
{
    memset(s, 0, sizeof *s);
    s->gpu = gpu;
    s->stage = stage;
    s->pipe = pipe;
    s->arena = arena;
    gpu->at_close = close_slots;
    gpu->at_close_arg = s;
    s->phases = choose(s);
    widen(s, range);
}

/* Graphs of the ends that the GPU reaches. */
static int capture_all(struct ig_gpu_slots *s, char *why, size_t bytes)
{
    struct ig_gpu_end ends[2 * IG_GPU_EDGES];
    int any = 0;
    for (int32_t i = 0; i < n_ends(s); i++) any |= s->reach[i].direct;
    for (int32_t i = 0; any && i < s->phases; i++) {
        ends_of(s, i, ends);
        if (ig_gpu_capture(s->gpu, ends, &s->graphs[i], &s->execs[i], why, bytes)) return -1;
    }
    s->n_phases = any ? s->phases : 0;
    return 0;
}

int ig_gpu_slots_open(struct ig_gpu_slots *s, struct ig_gpu *gpu, const struct ig_gpu_stage *stage, const struct ig_pipe *pipe,
                      void *arena, char *why, size_t bytes)
{
    struct ig_gpu_range range = {INT64_MAX, 0};
    ig_gpu_slots_choose(s, gpu, stage, pipe, arena, &range);
    ig_gpu_slots_lock(s, &range);
    for (int32_t i = 0; i < n_ends(s); i++) reach(s, i);
    return capture_all(s, why, bytes);
}

int ig_gpu_slots_open_locked(struct ig_gpu_slots *s, const struct ig_gpu_slots *first, char *why, size_t bytes)
{
    s->registered = first->registered;
    s->registered_device = first->registered_device;
    for (int32_t i = 0; i < n_ends(s); i++)
        s->reach[i].direct = s->reach[i].direct && s->gpu->kinds[i] != IG_GPU_MANAGED && keep(s, i);
    return capture_all(s, why, bytes);
}

char *ig_gpu_slot_place(void *slots, int32_t slot, int32_t copy)
{
    const struct ig_gpu_slots *s = slots;
    for (int32_t i = 0; i < n_ends(s); i++)
        if (s->stage->places[i].slot == slot)
            return s->reach[i].direct ? (char *)s->reach[i].copies[copy].host - within(s, i) : NULL;
    return NULL;
}

/* --- a frame --- */

/* Are the frame's ends those of the phase, as far as they are in slots? */
static int fits(const struct ig_gpu_slots *s, int32_t phase, const void *const *inputs, void *const *outputs)
{
    int32_t n = s->stage->plan->n_inputs;
    for (int32_t i = 0; i < n_ends(s); i++) {
        const struct ig_gpu_reach *r = &s->reach[i];
        if (r->direct && r->copies[phase % slot_of(s, i)->copies].host != (i < n ? inputs[i] : outputs[i - n])) return 0;
    }
    return 1;
}

int ig_gpu_slots_run(struct ig_gpu_slots *s, const void *const *inputs, void *const *outputs, char *why, size_t bytes)
{
    const struct ig_gpu_plan *p = s->stage->plan;
    struct ig_gpu_end ends[2 * IG_GPU_EDGES];
    int32_t tries = 0;
    while (tries < s->n_phases && !fits(s, s->phase, inputs, outputs)) s->phase = (s->phase + 1) % s->n_phases, tries++;
    if (tries == s->n_phases) return ig_gpu_run(s->gpu, inputs, outputs, why, bytes);
    ends_of(s, s->phase, ends);
    for (int32_t i = 0; i < p->n_inputs; i++)
        if (!s->reach[i].direct) memcpy(ends[i].host, inputs[i], (size_t)p->inputs[i].bytes);
    if (ig_gpu_frame(s->gpu, s->execs[s->phase], ends, why, bytes)) return -1;
    for (int32_t i = 0; i < p->n_outputs; i++)
        if (!s->reach[p->n_inputs + i].direct) memcpy(outputs[i], ends[p->n_inputs + i].host, (size_t)p->outputs[i].bytes);
    s->phase = (s->phase + 1) % s->n_phases;
    return 0;
}
