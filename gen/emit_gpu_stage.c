/* What a program whose pipeline has a stage on the GPU carries beside its launches. */
#include "gen/emit.h"

void ig_emit_gpu_stage_tables(FILE *f, const struct ig_emit *e)
{
    const struct ig_gpu_stage *s = &e->gpu->stage->stage;
    const char *p = e->prefix;
    int32_t n = s->plan->n_inputs + s->plan->n_outputs;
    fputs("\nstatic const struct ig_gpu_place places[] = {", f);
    for (int32_t i = 0; i < n; i++) fprintf(f, "{%d, %lld}, ", s->places[i].slot, (long long)s->places[i].offset);
    fprintf(f, "{0}};\nextern const struct ig_gpu_stage %s_gpu_stage;\n", p);
    fprintf(f, "const struct ig_gpu_stage %s_gpu_stage = {&%s_gpu_plan, places, %d};\n", p, p, s->stage);
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
    fprintf(f, "struct %s_gpu { /* an open GPU; contents are the library's */\n    uint64_t opaque[1024];\n};\n", p);
    fprintf(f, "/*\n * As %s_start_stages, which would have that stage's steps run on a thread. 0; another status; or -1 with one\n"
               " * line in why[bytes]. A frame that the GPU fails is popped with an error. To be closed behind %s_stop_stages.\n"
               " */\n", p, p);
    fprintf(f, "int %s_start_gpu_stages(struct %s_ctx *ctx, struct %s_stages *stages, struct %s_gpu *gpu, char *why, size_t bytes);\n",
            p, p, p, p);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu);\n\n", p, p);
}

void ig_emit_gpu_stage_api(FILE *f, const struct ig_emit *e)
{
    const char *p = e->prefix;
    fprintf(f, "\n#include \"runtime/gpu/stage.h\"\n\nextern const struct ig_gpu_plan %s_gpu_plan;\n", p);
    fprintf(f, "extern const struct ig_gpu_stage %s_gpu_stage;\nextern const struct ig_pipe %s_pipe;\n", p, p);
    fprintf(f, "extern const unsigned char %s_gpu_weights[];\n\n", p);
    fprintf(f, "struct on_gpu {\n    struct ig_gpu gpu;\n    struct ig_gpu_worker worker;\n};\n\n");
    fprintf(f, "_Static_assert(sizeof(struct on_gpu) <= sizeof(struct %s_gpu), \"GPU\");\n\n", p);
    fprintf(f, "int %s_start_gpu_stages(struct %s_ctx *ctx, struct %s_stages *stages, struct %s_gpu *gpu, char *why, size_t bytes)\n{\n",
            p, p, p, p);
    fprintf(f,
            "    const struct ig_ctx *c = (const struct ig_ctx *)(void *)ctx;\n"
            "    struct ig_pipeline *own = (struct ig_pipeline *)(void *)stages;\n"
            "    struct on_gpu *on = (struct on_gpu *)(void *)gpu;\n"
            "    if (!c || !own || !on) return IG_ERROR_NULL;\n    if (!c->model) return IG_ERROR_STATE;\n");
    fprintf(f, "    if (ig_gpu_open(&on->gpu, &%s_gpu_plan, %s_gpu_weights, why, bytes)) return -1;\n", p, p);
    fprintf(f, "    on->worker.gpu = &on->gpu;\n    on->worker.stage = &%s_gpu_stage;\n    ig_pipeline_clear(own);\n", p);
    fprintf(f,
            "    int status = ig_gpu_try(&on->gpu, why, bytes);\n"
            "    if (!status) status = ig_gpu_join(&on->worker, own, &%s_pipe, c->arena, why, bytes);\n"
            "    if (!status) status = ig_pipeline_start(own, &%s_pipe, c->weights, c->arena, (size_t)c->arena_bytes);\n"
            "    if (status) ig_gpu_close(&on->gpu);\n    return status;\n}\n\n", p, p);
    fprintf(f, "void %s_gpu_close(struct %s_gpu *gpu)\n{\n    ig_gpu_close(&((struct on_gpu *)(void *)gpu)->gpu);\n}\n", p, p);
}
