/* The generated sources: golden text, valid C whatever the names, floats that survive, the same bytes every
 * time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "gen/emit.h"
#include "planner/stages.h"
#include "tests/support/golden.h"
#include "tests/support/tiny.h"

typedef void emit_fn(FILE *f, const struct ig_emit *e);

static void emit_weights(FILE *f, const struct ig_emit *e)
{
    ig_emit_weights(f, e, "dir \"of\"/tiny_weights.bin");
}

/* The tables where the first layers are a band. */
static void emit_bands(FILE *f, const struct ig_emit *e)
{
    ig_emit_tables(f, e);
}

/* Tables and header of a pipeline. */
static void emit_stages(FILE *f, const struct ig_emit *e)
{
    ig_emit_tables(f, e);
    ig_emit_header(f, e);
}

/* In two stages, cut behind the third step. */
static struct ig_plan *staged_plan(const struct ig_graph *g)
{
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan_stage stages[2] = {{.processor = "cpu:0-1", .cores = 3, .threads = 2, .slots = 2},
                                      {.processor = "cpu:2", .cores = 4, .threads = 1, .slots = 3}};
    int32_t stage_of[64];
    char err[256];
    assert_in_range(g->n_nodes, 4, 64);
    for (int32_t i = 0; i < g->n_nodes; i++) stage_of[i] = i > 2;
    struct ig_plan *p = ig_plan_stages(g, &o, stage_of, stages, 2, err, sizeof err);
    if (!p) fail_msg("%s", err);
    for (int32_t i = 0; i < p->n_steps; i++) p->steps[i].predicted_ns = 1000 * (i + 1);
    ig_time_stages(p);
    return p;
}

static const struct part {
    const char *name, *suffix;
    emit_fn *emit;
} parts[] = {
    {"tables", "_plan.c", ig_emit_tables},   {"api", "_api.c", ig_emit_api},
    {"program", "_main.c", ig_emit_program}, {"header", ".h", ig_emit_header},
    {"weights", "_weights.S", emit_weights}, {"bands", "_bands.c", emit_bands},
    {"stages", "_stages.txt", emit_stages},
};
enum { PARTS = sizeof parts / sizeof *parts };

static const char *const labels[] = {"cat, \"tom\"", "dog \\ ?\?/ \xff*/"};

/* The text that `emit` writes for the tiny network; malloc'ed. */
static char *text_of(emit_fn *emit)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct ig_graph *g = tiny_net();
    struct ig_plan *p = emit == emit_stages  ? staged_plan(g)
                        : emit == emit_bands ? tiny_plan(g, IG_BANDS_ALL)
                                             : tiny_plan(g, IG_BANDS_OFF);
    struct ig_lowered *l = plain_tables(g, p);
    const struct ig_emit e = {.lowered = l,
                              .prefix = "tiny",
                              .plan_sha256 = "feedface",
                              .labels = labels,
                              .n_labels = 2,
                              .mean = {0.5f, 0, 0, 0},
                              .std = {0.1f, 1, 1, 1}};
    assert_non_null(f);
    emit(f, &e);
    fclose(f);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
    return text;
}

static void golden(void **state)
{
    int differ = 0;
    (void)state;
    for (int i = 0; i < PARTS; i++) {
        char name[64], *text = text_of(parts[i].emit);
        snprintf(name, sizeof name, "gen/%s.txt", parts[i].name);
        differ |= golden_check(name, text);
        free(text);
    }
    assert_int_equal(differ, 0);
}

static void same_bytes_again(void **state)
{
    (void)state;
    for (int i = 0; i < PARTS; i++) {
        char *a = text_of(parts[i].emit), *b = text_of(parts[i].emit);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

static void write_file(const char *dir, const struct part *part)
{
    char path[256], *text = text_of(part->emit);
    snprintf(path, sizeof path, "%s/tiny%s", dir, part->suffix);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    free(text);
}

/* Warnings are errors: trigraphs, comments in comments and floats out of range would be some. */
static int syntax_check(const char *compiler, const char *dir, const char *file)
{
    char line[4096];
    snprintf(line, sizeof line, "%s -Wall -Wextra -Werror -D_GNU_SOURCE -I'%s' -I%s -fsyntax-only %s/%s",
             compiler, source_dir(), dir, dir, file);
    return system(line);
}

static void compiles(void **state)
{
    char dir[] = "emit-XXXXXX";
    int c = 0, header, plus = 0;
    (void)state;
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < PARTS; i++) write_file(dir, &parts[i]);
    for (int i = 0; i < PARTS; i++) {
        char file[32];
        snprintf(file, sizeof file, "tiny%s", parts[i].suffix);
        if (strstr(file, ".c")) c |= syntax_check("${CC:-cc} -std=c11", dir, file);
    }
    header = syntax_check("${CC:-cc} -std=c11 -xc", dir, "tiny.h");
    if (!system("command -v g++ >/dev/null")) plus = syntax_check("g++ -std=c++11 -xc++", dir, "tiny.h");
    for (int i = 0; i < PARTS; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s/tiny%s", dir, parts[i].suffix);
        remove(path);
    }
    remove(dir);
    assert_int_equal(c, 0);
    assert_int_equal(header, 0);
    assert_int_equal(plus, 0);
}

struct sizes { /* in place of the tiny network's */
    int64_t arena, scratch, weights;
};

static char *header_within(int64_t budget, const struct sizes *sizes)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    struct ig_graph *g = tiny_net();
    struct ig_plan *p = tiny_plan(g, IG_BANDS_OFF);
    p->memory_budget = budget < 0 ? p->arena_bytes + p->weights_bytes + budget : budget;
    struct ig_lowered *l = plain_tables(g, p);
    assert_non_null(f);
    if (sizes) {
        l->model.arena_bytes = sizes->arena;
        l->model.scratch_bytes = sizes->scratch;
        l->model.weights_bytes = sizes->weights;
    }
    ig_emit_header(
        f, &(struct ig_emit){.lowered = l, .prefix = "tiny", .plan_sha256 = "feedface", .std = {1, 1, 1, 1}});
    fclose(f);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
    return text;
}

/* With `more` behind it. */
static int header_compiles(int64_t budget, const struct sizes *sizes, const char *more, const char *compiler)
{
    char dir[] = "emit-XXXXXX", path[64], *text = header_within(budget, sizes);
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/tiny.h", dir);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fputs(more, f);
    fclose(f);
    int status = syntax_check(compiler, dir, "tiny.h 2>/dev/null");
    free(text);
    remove(path);
    remove(dir);
    return !status;
}

/* The compiler refuses a header whose arena and weights exceed the budget that the plan was made for. */
static void budget(void **state)
{
    static const char *const compilers[] = {"${CC:-cc} -std=c11 -xc", "g++ -std=c++11 -xc++"};
    char *without = header_within(0, NULL), *within = header_within(1 << 30, NULL);
    (void)state;
    assert_null(strstr(without, "BUDGET"));
    assert_non_null(strstr(
        within, "_Static_assert(TINY_ARENA_BYTES(1) + TINY_WEIGHTS_BYTES <= TINY_MEMORY_BUDGET_BYTES"));
    free(without);
    free(within);
    for (int i = 0; i < 2 && (!i || !system("command -v g++ >/dev/null")); i++) {
        assert_true(header_compiles(1 << 30, NULL, "", compilers[i]));
        assert_false(header_compiles(-1, NULL, "", compilers[i]));
    }
}

/* Arena and weights that are each below 2^31, and above, add up to what they are. */
static void sizes_beyond_an_int(void **state)
{
    static const char *const compilers[] = {"${CC:-cc} -std=c11 -Wconversion -D'IS=_Static_assert' -xc",
                                            "g++ -std=c++11 -Wconversion -DIS=static_assert -xc++"};
    static const struct {
        struct sizes sizes;
        const char *arena, *both;
    } cases[] = {{{2000000000, 500000000, 2000000000}, "5500000000", "4000000000"},
                 {{3000000000, 3000000000, 3000000000}, "24000000000", "6000000000"}};
    (void)state;
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 2 && (!i || !system("command -v g++ >/dev/null")); i++) {
            char more[400];
            snprintf(more, sizeof more,
                     "\nIS(TINY_ARENA_BYTES(8) == %s, \"arena\");\nIS(TINY_ARENA_BYTES(1) + TINY_WEIGHTS_BYTES == %s, \"both\");\n"
                     "#if TINY_ARENA_BYTES(8) != %s\n#error\n#endif\n"
                     "int64_t arena(int n);\nint64_t arena(int n)\n{\n    return TINY_ARENA_BYTES(n);\n}\n",
                     cases[k].arena, cases[k].both, cases[k].arena);
            assert_true(header_compiles((int64_t)1 << 40, &cases[k].sizes, more, compilers[i]));
            assert_false(header_compiles(3900000000, &cases[k].sizes, more, compilers[i]));
        }
}

static void check_float(float x)
{
    char text[64];
    FILE *f = fmemopen(text, sizeof text, "w");
    ig_emit_float(f, x);
    fclose(f);
    size_t n = strlen(text);
    assert_true(n > 1 && text[n - 1] == 'f');
    text[n - 1] = 0;
    assert_true(strpbrk(text, ".e") != NULL); /* "1f" is no C */
    float back = strtof(text, NULL);
    assert_memory_equal(&back, &x, sizeof x); /* the sign of zero too */
}

static void floats(void **state)
{
    const float some[] = {0,
                          -0.0f,
                          1,
                          -1,
                          0.1f,
                          1.0f / 3,
                          16777216,
                          16777217,
                          3.4028235e38f,
                          -3.4028235e38f,
                          1.17549435e-38f,
                          1e-45f,
                          -1e-45f,
                          1.1754942e-38f,
                          123456.789f,
                          1e10f};
    uint32_t seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof some / sizeof *some; i++) check_float(some[i]);
    for (int i = 0; i < 20000; i++) {
        float x;
        seed = seed * 1664525u + 1013904223u;
        memcpy(&x, &seed, sizeof x);
        if (isfinite(x)) check_float(x);
    }
}

static void not_numbers(void **state)
{
    char text[64] = "";
    (void)state;
    FILE *f = fmemopen(text, sizeof text, "w");
    ig_emit_float(f, INFINITY);
    fputc(' ', f);
    ig_emit_float(f, -INFINITY);
    fputc(' ', f);
    ig_emit_float(f, NAN);
    fclose(f);
    assert_string_equal(text, "__builtin_inff() -__builtin_inff() __builtin_nanf(\"\")");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden), cmocka_unit_test(same_bytes_again), cmocka_unit_test(compiles),
        cmocka_unit_test(budget), cmocka_unit_test(sizes_beyond_an_int),
        cmocka_unit_test(floats), cmocka_unit_test(not_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
