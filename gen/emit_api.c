/* The library's face, the hosted program and the weight section of one model. */
#include <ctype.h>
#include <string.h>

#include "gen/emit.h"
#include "graph/version.h"
#include "kernels_cpu/registry.h"

static void upper(char *dst, size_t n, const char *s)
{
    size_t i = 0;
    for (; s[i] && i + 1 < n; i++) dst[i] = (char)toupper((unsigned char)s[i]);
    dst[i] = 0;
}

/* enum ig_isa: the one that has the kernels of all steps, those of alternatives too. */
static int32_t isa_of(const struct ig_lowered *l)
{
    int32_t isa = IG_ISA_REF;
    for (int32_t a = 0; !a || a < l->cuts.n; a++) {
        const struct ig_lowered *one = a ? l->others[a - 1] : l;
        for (int32_t i = 0; i < one->model.n_steps; i++)
            if (!ig_isa_has(isa, one->kernels[i]->isa)) isa = one->kernels[i]->isa;
    }
    return isa;
}

void ig_emit_isa(FILE *f, const struct ig_lowered *l)
{
    char up[32];
    upper(up, sizeof up, ig_isa_name(isa_of(l)));
    fprintf(f, ".isa = IG_ISA_%s", up);
}

static void emit_processor(FILE *f, const struct ig_lowered *l)
{
    static const char *const words[IG_ISAS] = {[IG_ISA_AVX2] = "x86-64 with AVX2 and FMA, which only the program checks",
                                               [IG_ISA_AVXVNNI] = "x86-64 with AVX2, FMA and AVX-VNNI, which only the program checks",
                                               [IG_ISA_AVX512] = "x86-64 with AVX-512 (F, BW, DQ, VL), which only the program checks",
                                               [IG_ISA_VNNI] = "x86-64 with AVX-512 (F, BW, DQ, VL) and VNNI, which only the program checks",
                                               [IG_ISA_AMX] = "x86-64 with AVX-512 (F, BW, DQ, VL) and VNNI, which only the program checks, and AMX "
                                                              "(tiles, bfloat16, bytes) and VBMI, which _init asks for",
                                               [IG_ISA_NEON] = "any aarch64",
                                               [IG_ISA_FP16] = "aarch64 with arithmetic on halves (Armv8.2, FEAT_FP16), which only the program checks",
                                               [IG_ISA_DOTPROD] = "aarch64 with dot products of bytes (Armv8.2, FEAT_DotProd, FEAT_FP16), which only the program checks"};
    const char *what = words[isa_of(l)];
    fprintf(f, " * Processor: %s.\n", what ? what : "any");
}

static void emit_dims(FILE *f, const struct ig_shape *s)
{
    static const char *const types[IG_TYPES] = {
        "float", "int32_t", "int64_t", "uint8_t", "int8_t", "uint8_t (0 or 1)", "IEEE half in uint16_t"};
    fprintf(f, "%s [", types[s->type]);
    for (int32_t i = 0; i < s->rank; i++) fprintf(f, "%s%d", i ? "," : "", s->dims[i]);
    fputc(']', f);
}

static void emit_io_list(FILE *f, const char *what, const struct ig_io *io, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        fprintf(f, " *   %s[%d] ", what, i);
        ig_emit_comment(f, io[i].name);
        fputs(": ", f);
        emit_dims(f, io[i].shape);
        fprintf(f, ", %lld bytes\n", (long long)ig_bytes(io[i].shape));
    }
}

static void emit_budget(FILE *f, const struct ig_emit *e, const char *up)
{
    int64_t budget = e->lowered->plan->memory_budget;
    if (!budget) return;
    fprintf(f, "#define %s_MEMORY_BUDGET_BYTES %lld /* that it was planned within */\n", up,
            (long long)budget);
    fputs("#ifdef __cplusplus\nstatic_assert", f);
    for (int c = 0; c < 2; c++)
        fprintf(f,
                "%s(%s_ARENA_BYTES(1) + %s_WEIGHTS_BYTES <= %s_MEMORY_BUDGET_BYTES,\n"
                "    \"arena and weights exceed the memory budget\");\n",
                c ? "#else\n_Static_assert" : "", up, up, up);
    fputs("#endif\n\n", f);
}

void ig_emit_header(FILE *f, const struct ig_emit *e)
{
    const struct ig_model *m = &e->lowered->model;
    const char *p = e->prefix;
    char up[256];
    upper(up, sizeof up, p);
    ig_emit_head(f, e, "/*", "\n *");
    fprintf(
        f,
        " * Tensors are dense, row-major, in the order of the ONNX file; the library allocates nothing.\n");
    emit_processor(f, e->lowered);
    emit_io_list(f, "in", m->inputs, m->n_inputs);
    emit_io_list(f, "out", m->outputs, m->n_outputs);
    fprintf(f, " *\n * What returns an int returns 0, or a status for %s_strerror.\n */\n", p);
    fprintf(f, "#ifndef INGOT_%s_H\n#define INGOT_%s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n", up,
            up);
    fprintf(f, "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    fprintf(f, "#define %s_INPUTS %d\n#define %s_OUTPUTS %d\n", up, m->n_inputs, up, m->n_outputs);
    for (int32_t i = 0; i < m->n_inputs; i++)
        fprintf(f, "#define %s_INPUT%d_BYTES %lld\n", up, i, (long long)ig_bytes(m->inputs[i].shape));
    for (int32_t i = 0; i < m->n_outputs; i++)
        fprintf(f, "#define %s_OUTPUT%d_BYTES %lld\n", up, i, (long long)ig_bytes(m->outputs[i].shape));
    fprintf(f, "#define %s_ALIGN 64 /* of the arena */\n", up);
    fprintf(f, "#define %s_ARENA_BYTES(threads) (INT64_C(%lld) + ((threads) > %d ? (threads) - %d : 0) * INT64_C(%lld))\n", up,
            (long long)m->arena_bytes, m->threads, m->threads, (long long)m->scratch_bytes);
    fprintf(f, "#define %s_WEIGHTS_BYTES INT64_C(%lld)\n\n", up, (long long)m->weights_bytes);
    emit_budget(f, e, up);
    fprintf(f,
            "struct %s_ctx { /* one instance; contents are the library's */\n    uint64_t opaque[16];\n};\n",
            p);
    fprintf(f, "struct %s_team { /* threads of one instance */\n", p);
    fprintf(f, "#ifdef __cplusplus\n    alignas(64) unsigned char opaque[2048];\n#else\n");
    fprintf(f, "    _Alignas(64) unsigned char opaque[2048];\n#endif\n};\n\n");
    fprintf(f,
            "/* Ready on one thread; arena: %s_ARENA_BYTES(1) bytes or more, aligned to %s_ALIGN, the "
            "caller's. */\n",
            up, up);
    fprintf(f, "int %s_init(struct %s_ctx *ctx, void *arena, size_t bytes);\n", p, p);
    fprintf(f, "/* One frame: in[%d] and out[%d] as above. Re-entrant over contexts. */\n", m->n_inputs,
            m->n_outputs);
    fprintf(f, "int %s_run(struct %s_ctx *ctx, const void *const *in, void *const *out);\n", p, p);
    fprintf(f,
            "/* Run on `threads` threads from now on (arena: %s_ARENA_BYTES(threads)); planned for %d. Needs "
            "pthreads. */\n",
            up, m->threads);
    fprintf(f, "int %s_start_threads(struct %s_ctx *ctx, struct %s_team *team, int threads);\n", p, p, p);
    fprintf(f, "void %s_stop_threads(struct %s_ctx *ctx);\n", p, p);
    ig_emit_stages_header(f, e, up);
    fprintf(f, "/* One line of JSON about the network: name, bytes, hashes. */\nconst char *%s_info(void);\n",
            p);
    fprintf(f, "const char *%s_strerror(int status);\n\n", p);
    if (e->gpu) ig_emit_gpu_header(f, e);
    fprintf(f, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

void ig_emit_api(FILE *f, const struct ig_emit *e)
{
    const struct ig_model *m = &e->lowered->model;
    const char *p = e->prefix;
    const int tiles = isa_of(e->lowered) == IG_ISA_AMX;
    ig_emit_head(f, e, "/*", " */");
    fprintf(f, "\n#include \"%s.h\"\n\n%s#include \"runtime/api.h\"\n\n", p, tiles ? "#include \"kernels_cpu/amx/grant.h\"\n" : "");
    fprintf(f, "extern const struct ig_model %s_model;\n", p);
    fprintf(f, "extern const unsigned char %s_weights[];\n\n", p);
    fprintf(f, "_Static_assert(sizeof(struct ig_ctx) <= sizeof(struct %s_ctx), \"context\");\n\n", p);
    fprintf(f, "int %s_init(struct %s_ctx *ctx, void *arena, size_t bytes)\n{\n", p, p);
    if (tiles) fprintf(f, "    if (!ig_amx_granted()) return IG_ERROR_PROCESSOR;\n");
    fprintf(
        f,
        "    return ig_ctx_init((struct ig_ctx *)(void *)ctx, &%s_model, %s_weights, arena, bytes);\n}\n\n",
        p, p);
    fprintf(f, "int %s_run(struct %s_ctx *ctx, const void *const *in, void *const *out)\n{\n", p, p);
    fprintf(f, "    return ig_ctx_run((const struct ig_ctx *)(void *)ctx, in, out);\n}\n\n");
    fprintf(f,
            "const char *%s_info(void)\n{\n    return \"{\\\"arena_bytes\\\":%lld,\\\"model\\\":\\\"%s\\\",",
            p, (long long)m->arena_bytes, p);
    fprintf(f, "\\\"plan_sha256\\\":\\\"%s\\\",\\\"scratch_bytes\\\":%lld,\\\"threads\\\":%d,\"\n",
            e->plan_sha256, (long long)m->scratch_bytes, m->threads);
    fprintf(f, "           \"\\\"tool\\\":\\\"ingot %s\\\",\\\"weights_bytes\\\":%lld}\";\n}\n\n",
            INGOT_VERSION, (long long)m->weights_bytes);
    fprintf(f, "const char *%s_strerror(int status)\n{\n    return ig_status_text(status);\n}\n", p);
    if (e->gpu && !e->gpu->stage) ig_emit_gpu_api(f, e);
    fprintf(f, "\n#if __STDC_HOSTED__\n#include \"runtime/team.h\"\n\n");
    fprintf(f, "_Static_assert(sizeof(struct ig_team) <= sizeof(struct %s_team), \"team\");\n\n", p);
    fprintf(f, "int %s_start_threads(struct %s_ctx *ctx, struct %s_team *team, int threads)\n{\n", p, p, p);
    fprintf(f, "    return ig_ctx_start_threads((struct ig_ctx *)(void *)ctx, (struct ig_team *)(void "
               "*)team, threads);\n}\n\n");
    fprintf(f, "void %s_stop_threads(struct %s_ctx *ctx)\n{\n", p, p);
    fprintf(f, "    ig_ctx_stop_threads((struct ig_ctx *)(void *)ctx);\n}\n");
    ig_emit_stages_api(f, e);
    if (e->gpu && e->gpu->stage) ig_emit_gpu_api(f, e);
    fprintf(f, "#endif\n");
}

void ig_emit_labels(FILE *f, const struct ig_emit *e)
{
    if (!e->n_labels) return;
    fprintf(f, "static const char *const labels[%d] = {\n", e->n_labels);
    for (int32_t i = 0; i < e->n_labels; i++) {
        fputs("    ", f);
        ig_emit_string(f, e->labels[i]);
        fputs(",\n", f);
    }
    fputs("};\n\n", f);
}

void ig_emit_layers(FILE *f, const char *name, const struct ig_lowered *l)
{
    fprintf(f, "static const struct ig_layer %s[%d] = {\n", name, l->model.n_steps ? l->model.n_steps : 1);
    for (int32_t i = 0; i < l->model.n_steps; i++) {
        fputs("    {", f);
        ig_emit_string(f, l->layers[i].name);
        fputs(", ", f);
        ig_emit_string(f, l->layers[i].kernel);
        fprintf(f, ", %.0f, %.0f},\n", l->layers[i].macs, l->layers[i].predicted_ns);
    }
    if (!l->model.n_steps) fputs("    {\"\", \"\", 0, 0},\n", f);
    fprintf(f, "};\n\n");
}

static const char *start_of(const struct ig_emit *e)
{
    if (e->member) return "ig_bundle_start";
    if (e->gpu) return e->gpu->stage ? "ig_gpu_stages_start" : "ig_gpu_start";
    return "ig_start";
}

static void emit_energy(FILE *f, const struct ig_emit *e)
{
    fputs("static const struct ig_energy energy = {\n", f);
    fprintf(f, "    .predicted_mj = %.9g, .platform = ", e->energy->predicted_mj);
    if (e->energy->platform) ig_emit_string(f, e->energy->platform);
    else fputc('0', f);
    fprintf(f, ", .gpu_stage = %d,\n    .open_gpu = %s, .measure = ig_energy_measure};\n\n", e->gpu && e->gpu->stage,
            e->gpu ? "ig_gpu_power" : "0");
}

void ig_emit_program(FILE *f, const struct ig_emit *e)
{
    const struct ig_lowered *l = e->lowered;
    const char *p = e->prefix;
    ig_emit_head(f, e, "/*", " */");
    int staged = l->pipe.n_stages > 0;
    fprintf(f, "\n#include \"runtime/host/%s.h\"\n\n", staged ? "stages" : e->member ? "bundle" : "program");
    if (e->host_ops) fprintf(f, "#include \"runtime/host/spec.h\"\n\n");
    if (e->energy) fprintf(f, "#include \"runtime/host/energy.h\"\n\n");
    fprintf(f, "extern const struct ig_model %s_model;\n", p);
    if (staged) ig_emit_stages_program(f, e);
    fprintf(f, "/* Weak: large weights are not linked but appended to the program's file. */\n");
    fprintf(f, "extern const unsigned char %s_weights[] __attribute__((weak));\n", p);
    fputc('\n', f);
    ig_emit_layers(f, "layers", l);
    ig_emit_labels(f, e);
    if (e->host_ops) ig_emit_spec(f, e);
    if (e->energy) emit_energy(f, e);
    if (e->member) fprintf(f, "extern const struct ig_program %s_program;\nconst struct ig_program %s_program", p, p);
    else fputs("static const struct ig_program program", f);
    fprintf(f, " = {\n    .model = &%s_model, .layers = layers,\n", p);
    fprintf(f, "    .weights = %s_weights,\n", p);
    if (staged) fputs("    .staged = &staged,\n", f);
    if (e->host_ops) fputs("    .spec = &spec,\n", f);
    if (e->energy) fputs("    .energy = &energy,\n", f);
    fprintf(f, "    .labels = %s, .n_labels = %d,\n", e->n_labels ? "labels" : "0", e->n_labels);
    fputs("    .mean = {", f);
    for (int i = 0; i < 4; i++) fputs(i ? ", " : "", f), ig_emit_float(f, e->mean[i]);
    fputs("}, .std = {", f);
    for (int i = 0; i < 4; i++) fputs(i ? ", " : "", f), ig_emit_float(f, e->std[i]);
    fprintf(f, "},\n    .plan_sha256 = \"%s\",\n    .source_sha256 = ", e->plan_sha256);
    ig_emit_string(f, l->graph->source_sha256);
    fputs(",\n    .target = ", f);
    ig_emit_string(f, l->plan->target);
    fprintf(f, ", .tool = \"ingot %s\", ", INGOT_VERSION);
    ig_emit_isa(f, l);
    fprintf(f, ",\n    .start = %s};\n\n", start_of(e));
    if (e->member) return;
    if (e->gpu) ig_emit_gpu_program(f, e);
    else fprintf(f, "int main(int argc, char **argv)\n{\n    return ig_main(argc, argv, &program);\n}\n");
}

void ig_emit_blob(FILE *f, const char *prefix, const char *name, const char *path)
{
    fprintf(f, "    .section .rodata.%s_%s, \"a\", %%progbits\n    .balign 64\n", prefix, name);
    fprintf(f, "    .globl %s_%s\n    .hidden %s_%s\n    .type %s_%s, %%object\n", prefix, name, prefix, name,
            prefix, name);
    fprintf(f, "%s_%s:\n    .incbin ", prefix, name);
    ig_emit_string(f, path);
    fprintf(f, "\n    .size %s_%s, . - %s_%s\n", prefix, name, prefix, name);
}

void ig_emit_weights(FILE *f, const struct ig_emit *e, const char *blob_path)
{
    ig_emit_head(f, e, "/*", " */");
    ig_emit_blob(f, e->prefix, "weights", blob_path);
    fprintf(f, "    .section .note.GNU-stack, \"\", %%progbits\n");
}
