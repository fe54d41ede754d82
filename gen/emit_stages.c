/* The pipeline's part of the library's face. */
#include "gen/emit.h"
#include "runtime/run.h"

enum { STAGES_BYTES = 49152, CUTS_BYTES = 16384 }; /* of a pipeline, and of its alternatives, with room to spare: the library
                                                      asserts it */

/* The same function of a pipeline under the model's name. */
struct face {
    const char *type, *name, *own, *parameters, *arguments, *comment;
};

static const struct face faces[] = {
    {"int", "push", "push", "const void *const *in, int wait", "in, wait",
     "Gives it a frame (copied); wait: until there is room, else _AGAIN where there is none."},
    {"int", "pop", "pop", "void *const *out, int wait", "out, wait",
     "Takes the oldest frame's outputs, or its error: frames come in order; wait: until it is ready."},
    {"int", "push_begin", "push_begin", "void **in, int wait", "in, wait",
     "Without the copy: where the inputs are to be written ..."},
    {"void", "push_end", "push_end", "", "", "... and that they are."},
    {"int", "pop_begin", "pop_begin", "void **out, int wait, int *ready", "out, wait, ready",
     "Where the outputs are; *ready (or NULL): whether there is a frame, which is then to be ended, even one in error "
     "..."},
    {"void", "pop_end", "pop_end", "", "", "... and that they have been read."},
    {"void", "push_close", "push_close", "", "", "No more frames will come: pop says _END behind the last one."},
    {"void", "shut_stages", "pipeline_shut", "", "",
     "From any thread: a push or a pop that waits comes back with _END. Then stop."},
    {"void", "stop_stages", "pipeline_stop", "", "", "Ends the threads; frames that were not popped are lost."},
};

void ig_emit_stages_header(FILE *f, const struct ig_emit *e, const char *up)
{
    const char *p = e->prefix;
    int32_t n = e->lowered->pipe.n_stages, bytes = STAGES_BYTES + (e->lowered->cuts.n ? CUTS_BYTES : 0);
    if (!n) return;
    fprintf(f,
            "\n/*\n * Consecutive frames in %d stages at once, each on threads and cores of its own. One thread "
            "pushes, and one\n"
            " * pops, or the same does both.\n */\n",
            n);
    fprintf(f, "#define %s_STAGES %d\n#define %s_AGAIN %d\n#define %s_END %d\n", up, n, up, IG_AGAIN, up, IG_END);
    fprintf(f,
            "struct %s_stages { /* of one instance */\n#ifdef __cplusplus\n    alignas(64) unsigned char "
            "opaque[%d];\n#else\n",
            p, bytes);
    fprintf(f, "    _Alignas(64) unsigned char opaque[%d];\n#endif\n};\n\n", bytes);
    fprintf(f, "/* Starts them in the context's arena, which is theirs until they stop: no %s_run so long. */\n", p);
    fprintf(f, "int %s_start_stages(struct %s_ctx *ctx, struct %s_stages *stages);\n", p, p, p);
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++)
        fprintf(f, "/* %s */\n%s %s_%s(struct %s_stages *stages%s%s);\n", faces[i].comment, faces[i].type, p,
                faces[i].name, p, *faces[i].parameters ? ", " : "", faces[i].parameters);
    fputc('\n', f);
}

void ig_emit_stages_api(FILE *f, const struct ig_emit *e)
{
    const char *p = e->prefix;
    if (!e->lowered->pipe.n_stages) return;
    int cuts = e->lowered->cuts.n > 0;
    fprintf(f, "\n#include \"runtime/%s.h\"\n\nextern const struct ig_pipe %s_pipe;\n", cuts ? "cuts" : "pipeline", p);
    if (cuts)
        fprintf(f, "extern const struct ig_cuts %s_cuts;\n"
                   "struct cut_pipeline {\n    struct ig_pipeline p;\n    struct ig_cut_run cuts;\n};\n", p);
    fprintf(f, "_Static_assert(sizeof(struct %s) <= sizeof(struct %s_stages), \"stages\");\n\n",
            cuts ? "cut_pipeline" : "ig_pipeline", p);
    fprintf(f, "int %s_start_stages(struct %s_ctx *ctx, struct %s_stages *stages)\n{\n", p, p, p);
    fprintf(f,
            "    const struct ig_ctx *c = (const struct ig_ctx *)(void *)ctx;\n"
            "    struct ig_pipeline *own = (struct ig_pipeline *)(void *)stages;\n"
            "    if (!c || !own) return IG_ERROR_NULL;\n    if (!c->model) return IG_ERROR_STATE;\n"
            "    ig_pipeline_clear(own);\n");
    if (cuts)
        fprintf(f, "    if (ig_cuts_attach(&((struct cut_pipeline *)(void *)stages)->cuts, &%s_cuts, own)) return "
                   "IG_ERROR_STATE;\n", p);
    fprintf(f, "    return ig_pipeline_start(own, &%s_pipe, c->weights, c->arena, (size_t)c->arena_bytes);\n}\n\n", p);
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++)
        fprintf(
            f,
            "%s %s_%s(struct %s_stages *stages%s%s)\n{\n    %sig_%s((struct ig_pipeline *)(void *)stages%s%s);\n}\n\n",
            faces[i].type, p, faces[i].name, p, *faces[i].parameters ? ", " : "", faces[i].parameters,
            faces[i].type[0] == 'i' ? "return " : "", faces[i].own, *faces[i].arguments ? ", " : "",
            faces[i].arguments);
}

/* --- the program --- */

static const char *slot_name(const struct ig_lowered *l, int32_t slot)
{
    const struct ig_model *m = &l->model;
    if (slot < m->n_inputs) return m->inputs[slot].name;
    if (slot < m->n_inputs + m->n_outputs) return m->outputs[slot - m->n_inputs].name;
    return l->cuts.n ? "several" : l->graph->values[l->plan->slots[slot].value].name;
}

/* How the GPU's stage has a slot; what it cannot use in place is copied after all, as is what alternatives have managed. */
static const char *end_memory(const struct ig_gpu_plan *p, int32_t end, int32_t cuts)
{
    int in = end < p->n_inputs;
    int32_t kind = in ? p->inputs[end].kind : p->outputs[end - p->n_inputs].kind;
    if (kind == IG_GPU_MAPPED) return "page-locked, used by the GPU in place";
    if (kind == IG_GPU_MANAGED && cuts == 1) return "managed, the GPU's by turns";
    return in ? "arena, copied to the GPU" : "arena, copied from the GPU";
}

/* The GPU's stage has places for what it reads, then for what it makes, in some alternative or other. */
static const char *slot_memory(const struct ig_emit *e, int32_t slot)
{
    const struct ig_gpu_stage_lowered *first = e->gpu ? e->gpu->stage : NULL;
    int32_t cuts = first ? ig_emit_gpu_cuts(e->gpu) : 0;
    for (int32_t a = 0; a < cuts; a++) {
        const struct ig_gpu_stage *s = a ? &first->others[a - 1]->stage : &first->stage;
        for (int32_t i = 0; i < s->plan->n_inputs + s->plan->n_outputs; i++)
            if (s->places[i].slot == slot) return end_memory(s->plan, i, cuts);
    }
    return "arena";
}

void ig_emit_stages_program(FILE *f, const struct ig_emit *e)
{
    const struct ig_lowered *l = e->lowered;
    const char *p = e->prefix;
    fprintf(f, "extern const struct ig_pipe %s_pipe;\n", p);
    if (l->cuts.n) fprintf(f, "extern const struct ig_cuts %s_cuts;\n", p);
    fputs("static const struct ig_slot_words slots[] = {\n", f);
    for (int32_t i = 0; i < l->pipe.n_slots; i++) {
        fputs("    {", f);
        ig_emit_string(f, slot_name(l, i));
        fprintf(f, ", \"%s\"},\n", slot_memory(e, i));
    }
    fprintf(f, "    {0, 0}};\nstatic const struct ig_staged staged = {&%s_pipe, ig_run_stages", p);
    if (l->cuts.n) fprintf(f, ", &%s_cuts, &ig_cut_calls", p);
    else fputs(", 0, 0", f);
    fputs(", slots, ig_stages_info};\n", f);
}
