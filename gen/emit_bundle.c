#include "gen/emit_bundle.h"

#include <ctype.h>

#include "graph/version.h"

static const char *upper(const char *s, char to[256])
{
    size_t i = 0;
    for (; s[i] && i < 255; i++) to[i] = (char)toupper((unsigned char)s[i]);
    to[i] = 0;
    return to;
}

static void emit_head(FILE *f, const char *rest)
{
    fprintf(f, "/* Do not edit: made by ingot bundle %s.%s */\n", INGOT_VERSION, rest);
}

static void emit_numbers(FILE *f, const struct ig_emit_bundle *b, const char *up)
{
    char one[256];
    int64_t weights = 0;
    for (int32_t i = 0; i < b->n; i++) weights += b->members[i].weights_bytes;
    fprintf(f, "#define %s_NETWORKS %d\n", up, b->n);
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "#define %s_NETWORK_%s %d\n", up, upper(b->members[i].prefix, one), i);
    fprintf(f, "#define %s_ALIGN 64 /* of the arena */\n", up);
    fprintf(f, "#define %s_ARENA_BYTES INT64_C(%lld) /* for all networks, each on the threads that it was planned for */\n", up,
            (long long)b->arena_bytes);
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "#define %s_ARENA_OF_%s INT64_C(%lld) /* bytes into the arena */\n", up, upper(b->members[i].prefix, one),
                (long long)b->base[i]);
    fprintf(f, "#define %s_WEIGHTS_BYTES INT64_C(%lld)\n\n", up, (long long)weights);
}

/* The networks' own headers say what each needs. */
static void emit_checks(FILE *f, const struct ig_emit_bundle *b, const char *up)
{
    char one[256];
    fprintf(f, "#ifdef __cplusplus\n#define %s_ASSERT static_assert\n#else\n", up);
    fprintf(f, "#define %s_ASSERT _Static_assert\n#endif\n", up);
    for (int32_t i = 0; i < b->n; i++) {
        upper(b->members[i].prefix, one);
        fprintf(f, "%s_ASSERT(%s_ARENA_OF_%s + %s_ARENA_BYTES(%d) <= %s_ARENA_BYTES,", up, up, one, one,
                b->members[i].threads, up);
        fputs(" \"made from another plan\");\n", f);
    }
    fprintf(f, "#undef %s_ASSERT\n\n", up);
}

void ig_emit_bundle_header(FILE *f, const struct ig_emit_bundle *b)
{
    char up[256];
    const char *p = b->name;
    upper(p, up);
    emit_head(f, " Several networks over one arena.\n"
                 " * Those that were not said to run together share bytes of it: run them one after the other, in any\n"
                 " * order.\n"
                 " * Between two frames a network keeps nothing there. Functions return 0, or a status for _strerror.\n");
    fprintf(f, "#ifndef INGOT_%s_H\n#define INGOT_%s_H\n\n", up, up);
    for (int32_t i = 0; i < b->n; i++) fprintf(f, "#include \"%s.h\"\n", b->members[i].prefix);
    fprintf(f, "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
    emit_numbers(f, b, up);
    emit_checks(f, b, up);
    fprintf(f, "struct %s_ctx { /* one instance of every network; the functions of each take its own */\n", p);
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "    struct %s_ctx of_%s;\n", b->members[i].prefix, b->members[i].prefix);
    fprintf(f, "};\n\n");
    fprintf(f, "/* All networks ready on one thread; arena: %s_ARENA_BYTES or more, aligned to", up);
    fprintf(f, " %s_ALIGN, the caller's. */\n", up);
    fprintf(f, "int %s_init(struct %s_ctx *ctx, void *arena, size_t bytes);\n", p, p);
    fprintf(f, "/* One frame of network %s_NETWORK_...; in and out as its header says. */\n", up);
    fprintf(f, "int %s_run(struct %s_ctx *ctx, int network, const void *const *in, void *const *out);\n", p, p);
    fprintf(f, "const char *%s_strerror(int status);\n\n", p);
    fprintf(f, "#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}

void ig_emit_bundle_api(FILE *f, const struct ig_emit_bundle *b)
{
    const char *p = b->name;
    char up[256], one[256];
    upper(p, up);
    emit_head(f, "");
    fprintf(f, "\n#include \"%s.h\"\n\n#include \"runtime/run.h\"\n\n", p);
    fprintf(f, "int %s_init(struct %s_ctx *ctx, void *arena, size_t bytes)\n{\n", p, p);
    fprintf(f, "    unsigned char *at = (unsigned char *)arena;\n    int status = IG_OK;\n");
    fprintf(f, "    if (!ctx || (!arena && %s_ARENA_BYTES)) return IG_ERROR_NULL;\n", up);
    fprintf(f, "    if ((int64_t)bytes < %s_ARENA_BYTES) return IG_ERROR_ARENA_SMALL;\n", up);
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "    if (!status) status = %s_init(&ctx->of_%s, at + %s_ARENA_OF_%s, %lld);\n", b->members[i].prefix,
                b->members[i].prefix, up, upper(b->members[i].prefix, one), (long long)b->members[i].arena_bytes);
    fprintf(f, "    return status;\n}\n\n");
    fprintf(f, "int %s_run(struct %s_ctx *ctx, int network, const void *const *in, void *const *out)\n{\n", p, p);
    fprintf(f, "    if (!ctx) return IG_ERROR_NULL;\n    switch (network) {\n");
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "    case %s_NETWORK_%s: return %s_run(&ctx->of_%s, in, out);\n", up, upper(b->members[i].prefix, one),
                b->members[i].prefix, b->members[i].prefix);
    fprintf(f, "    default: return IG_ERROR_STATE;\n    }\n}\n\n");
    fprintf(f, "const char *%s_strerror(int status)\n{\n    return ig_status_text(status);\n}\n", p);
}

void ig_emit_bundle_program(FILE *f, const struct ig_emit_bundle *b)
{
    emit_head(f, "");
    fprintf(f, "\n#include \"runtime/host/bundle.h\"\n\n");
    for (int32_t i = 0; i < b->n; i++) fprintf(f, "extern const struct ig_program %s_program;\n", b->members[i].prefix);
    fprintf(f, "\nstatic const struct ig_bundled networks[] = {\n");
    for (int32_t i = 0; i < b->n; i++)
        fprintf(f, "    {&%s_program, %lld},\n", b->members[i].prefix, (long long)b->base[i]);
    fprintf(f, "};\n\nstatic const struct ig_bundle bundle = {\"%s\", networks, %d, %lld};\n\n", b->name, b->n,
            (long long)b->arena_bytes);
    fprintf(f, "int main(int argc, char **argv)\n{\n    return ig_bundle_main(argc, argv, &bundle);\n}\n");
}
