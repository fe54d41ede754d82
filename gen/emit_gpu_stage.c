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
    fprintf(f, "#define %s_GPU_ARENA_BYTES INT64_C(%lld) /* of the GPU's memory */\n", up, (long long)s->plan->arena_bytes);
    fprintf(f, "#define %s_GPU_CONSTANTS_BYTES INT64_C(%lld)\n", up, (long long)s->plan->constants_bytes);
    fprintf(f, "struct %s_gpu { /* an open GPU; contents are the library's */\n    uint64_t opaque[%d];\n};\n", p,
            3072 * ig_emit_gpu_cuts(e->gpu));
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
    fprintf(f, "struct on_gpu {\n    struct ig_gpu gpu;\n    struct ig_gpu_worker worker;\n");
    if (cuts > 1) fprintf(f, "    struct ig_gpu_beside others[%d];\n", cuts - 1);
    fprintf(f, "};\n\n_Static_assert(sizeof(struct on_gpu) <= sizeof(struct %s_gpu), \"GPU\");\n\n", p);
    fprintf(f, "static int open_all(struct on_gpu *on, char *why, size_t bytes)\n{\n"
               "    if (ig_gpu_open(&on->gpu, &%s_gpu_plan, %s_gpu_weights, why, bytes)) return -1;\n", p, p);
    fprintf(f, "    on->worker.gpu = &on->gpu;\n    on->worker.stage = %s_gpu_stage;\n    on->worker.n_others = 0;\n", p);
    if (cuts > 1) fprintf(f, "    on->worker.others = on->others;\n");
    fprintf(f, "    if (!ig_gpu_try(&on->gpu, why, bytes) && !ig_gpu_open_others(&on->worker, %d, why, bytes)) return 0;\n"
               "    ig_gpu_part(&on->worker);\n    return -1;\n}\n\n", cuts - 1);
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
                   "    run->work = ig_gpu_cut_work;\n    run->work_arg = &on->worker;\n"
                   "    if (!status) status = ig_gpu_join_cuts(&on->worker, &%s_pipe, c->arena, why, bytes);\n", p, p);
    else
        fprintf(f, "    int status = ig_gpu_join(&on->worker, own, &%s_pipe, c->arena, why, bytes);\n", p);
    fprintf(f,
            "    if (!status) status = ig_pipeline_start(own, &%s_pipe, c->weights, c->arena, (size_t)c->arena_bytes);\n"
            "    if (status) ig_gpu_part(&on->worker);\n    return status;\n}\n\n", p);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu)\n{\n    ig_gpu_part(&((struct on_gpu *)(void *)gpu)->worker);\n}\n", p, p);
}
