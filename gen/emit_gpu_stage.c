/* What a program whose pipeline has a stage on the GPU carries beside its launches. */
#include "gen/emit.h"

static const struct ig_gpu_stage *stage_of(const struct ig_emit_gpu *g, int32_t cut)
{
    return cut ? &g->stage->others[cut - 1]->stage : &g->stage->stage;
}

void ig_emit_gpu_stage_tables(FILE *f, const struct ig_emit *e)
{
    int32_t cuts = ig_emit_gpu_cuts(e->gpu), at = 0;
    const char *p = e->prefix;
    fputs("\nstatic const struct ig_gpu_place places[] = {", f);
    for (int32_t i = 0; i < cuts; i++) {
        const struct ig_gpu_stage *s = stage_of(e->gpu, i);
        for (int32_t k = 0; k < s->plan->n_inputs + s->plan->n_outputs; k++)
            fprintf(f, "{%d, %lld}, ", s->places[k].slot, (long long)s->places[k].offset);
    }
    fprintf(f, "{0}};\nextern const struct ig_gpu_stage %s_gpu_stage[];\n", p);
    fprintf(f, "const struct ig_gpu_stage %s_gpu_stage[] = {\n", p);
    for (int32_t i = 0; i < cuts; i++) {
        const struct ig_gpu_stage *s = stage_of(e->gpu, i);
        if (i) fprintf(f, "    {&plan_%d, places + %d, %d},\n", i, at, s->stage);
        else fprintf(f, "    {&%s_gpu_plan, places, %d},\n", p, s->stage);
        at += s->plan->n_inputs + s->plan->n_outputs;
    }
    fputs("};\n", f);
}

void ig_emit_gpu_stage_header(FILE *f, const struct ig_emit *e, const char *up)
{
    const struct ig_gpu_stage *s = &e->gpu->stage->stage;
    const char *p = e->prefix;
    fprintf(f, "/*\n * Stage %d on the GPU: the CUDA driver is found at run time (link with -ldl). Where it, a GPU or its\n"
               " * memory is missing, %s_start_gpu_stages says so in `why`; %s_run and %s_start_stages still serve.\n */\n",
            s->stage, p, p, p);
    fprintf(f, "#define %s_GPU_ARENA_BYTES %lld     /* of the GPU's memory */\n", up, (long long)s->plan->arena_bytes);
    fprintf(f, "#define %s_GPU_CONSTANTS_BYTES %lld\n", up, (long long)s->plan->constants_bytes);
    fprintf(f, "struct %s_gpu { /* an open GPU; contents are the library's */\n    uint64_t opaque[%d];\n};\n", p,
            256 * ig_emit_gpu_cuts(e->gpu));
    fprintf(f, "/*\n * As %s_start_stages, which would have that stage's steps run on a thread. 0; another status; or -1 with one\n"
               " * line in why[bytes]. A frame that the GPU fails is popped with an error. To be closed behind %s_stop_stages.\n"
               " */\n", p, p);
    fprintf(f, "int %s_start_gpu_stages(struct %s_ctx *ctx, struct %s_stages *stages, struct %s_gpu *gpu, char *why, size_t bytes);\n",
            p, p, p, p);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu);\n\n", p, p);
}

/* Opens what the pipeline's stage needs, one GPU with launches for each alternative. */
static void emit_open(FILE *f, const char *p, int32_t cuts)
{
    fprintf(f, "struct on_gpu {\n    struct ig_gpu gpu[%d];\n    struct ig_gpu_worker worker;\n};\n\n", cuts);
    fprintf(f, "_Static_assert(sizeof(struct on_gpu) <= sizeof(struct %s_gpu), \"GPU\");\n\n", p);
    fprintf(f, "static void close_all(struct on_gpu *on, int n)\n{\n    while (n) ig_gpu_close(&on->gpu[--n]);\n}\n\n");
    fprintf(f, "static int open_all(struct on_gpu *on, char *why, size_t bytes)\n{\n"
               "    if (ig_gpu_open(&on->gpu[0], &%s_gpu_plan, %s_gpu_weights, why, bytes)) return -1;\n", p, p);
    fprintf(f, "    for (int i = 0; i < %d; i++) {\n"
               "        int bad = i && ig_gpu_open_beside(&on->gpu[i], &on->gpu[0], %s_gpu_stage[i].plan, why, bytes);\n"
               "        if (!bad && !ig_gpu_try(&on->gpu[i], why, bytes)) continue;\n"
               "        close_all(on, i + !bad);\n        return -1;\n    }\n", cuts, p);
    fprintf(f, "    on->worker = (struct ig_gpu_worker){on->gpu, %s_gpu_stage, \"\", on->gpu + 1};\n    return 0;\n}\n\n", p);
}

void ig_emit_gpu_stage_api(FILE *f, const struct ig_emit *e)
{
    const char *p = e->prefix;
    int32_t cuts = ig_emit_gpu_cuts(e->gpu);
    fprintf(f, "\n#include \"runtime/gpu/stage.h\"\n\nextern const struct ig_gpu_plan %s_gpu_plan;\n", p);
    fprintf(f, "extern const struct ig_gpu_stage %s_gpu_stage[];\nextern const struct ig_pipe %s_pipe;\n", p, p);
    fprintf(f, "extern const unsigned char %s_gpu_weights[];\n\n", p);
    emit_open(f, p, cuts);
    fprintf(f, "int %s_start_gpu_stages(struct %s_ctx *ctx, struct %s_stages *stages, struct %s_gpu *gpu, char *why, size_t bytes)\n{\n",
            p, p, p, p);
    fprintf(f,
            "    const struct ig_ctx *c = (const struct ig_ctx *)(void *)ctx;\n"
            "    struct ig_pipeline *own = (struct ig_pipeline *)(void *)stages;\n"
            "    struct on_gpu *on = (struct on_gpu *)(void *)gpu;\n"
            "    if (!c || !own || !on) return IG_ERROR_NULL;\n    if (!c->model) return IG_ERROR_STATE;\n"
            "    if (open_all(on, why, bytes)) return -1;\n    ig_pipeline_clear(own);\n");
    if (cuts > 1)
        fprintf(f, "    struct ig_cut_run *run = &((struct cut_pipeline *)(void *)stages)->cuts;\n"
                   "    int status = ig_cuts_attach(run, &%s_cuts, own);\n"
                   "    run->work = ig_gpu_cut_work;\n    run->work_arg = &on->worker;\n", p);
    else
        fprintf(f, "    own->work = ig_gpu_work;\n    own->work_arg = &on->worker;\n    int status = IG_OK;\n");
    fprintf(f,
            "    if (!status) status = ig_pipeline_start(own, &%s_pipe, c->weights, c->arena, (size_t)c->arena_bytes);\n"
            "    if (status) close_all(on, %d);\n    return status;\n}\n\n", p, cuts);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu)\n{\n    close_all((struct on_gpu *)(void *)gpu, %d);\n}\n", p, p, cuts);
}
