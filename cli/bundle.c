#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "gen/emit_bundle.h"
#include "graph/draft.h"
#include "planner/share.h"

static const char help[] =
    "ingot bundle --name app -o DIR  a a.graph.json a.plan.json  b b.graph.json b.plan.json\n\n"
    "Lays the arenas of several networks, each given as the prefix that ingot gen --member was given, its graph and its\n"
    "plan, into one: those that run in turn over each other, those that run together beside. Writes NAME_main.c, NAME_api.c\n"
    "and NAME.h. ./configure --model=a.onnx --model=b.onnx does all of it.\n"
    "  --name NAME          C identifier: the program's name and the library's prefix\n"
    "  --together A,B       these may run at the same time; may be repeated\n"
    "  -o DIR               where to; made if it is not there. Without it only the figures are printed\n"
    "  --json               them as one object\n";

enum { MOST = 64 };

struct bundle {
    struct ig_emit_member members[MOST];
    uint64_t beside[MOST];
    int64_t base[MOST];
    int32_t n;
};

static int32_t member(const struct bundle *b, const char *name, size_t n)
{
    for (int32_t i = 0; i < b->n; i++)
        if (strlen(b->members[i].prefix) == n && !strncmp(b->members[i].prefix, name, n)) return i;
    fprintf(stderr, "ingot: --together: no network '%.*s'; there are", (int)n, name);
    for (int32_t i = 0; i < b->n; i++) fprintf(stderr, "%s %s", i ? "," : "", b->members[i].prefix);
    fputc('\n', stderr);
    exit(1);
}

/* "a,b,c": every one meets every other. */
static void together(struct bundle *b, const char *list)
{
    uint64_t all = 0;
    for (const char *p = list; *p; p += *p == ',') {
        size_t n = strcspn(p, ",");
        uint64_t one = (uint64_t)1 << member(b, p, n);
        if (all & one) ig_fatal("--together=%s: '%.*s' is there twice", list, (int)n, p);
        all |= one;
        p += n;
    }
    if (!(all & (all - 1))) ig_fatal("--together=%s: name at least two networks", list);
    for (int32_t i = 0; i < b->n; i++)
        if (all >> i & 1) b->beside[i] |= all & ~((uint64_t)1 << i);
}

static void check_name(const char *name)
{
    size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (!n || n > 200 || name[n] || (name[0] >= '0' && name[0] <= '9') || !strcmp(name, "ig"))
        ig_fatal("a name is a C identifier other than ig, not '%s'", name);
}

/* prefix, graph, plan */
static void read_member(struct bundle *b, const char *name, char **at)
{
    char err[4096];
    struct ig_source_options none = {.n_binds = 0};
    check_name(at[0]);
    if (!strcmp(at[0], name)) ig_fatal("'%s' is a network's name, not the program's too: say another --name", name);
    for (int32_t i = 0; i < b->n; i++)
        if (!strcasecmp(b->members[i].prefix, at[0]))
            ig_fatal("two networks are called '%s': rename one of the files", at[0]);
    struct ig_graph *g = ig_load_graph(at[1], &none);
    struct ig_plan *p = ig_plan_read(at[2], g, err, sizeof err);
    if (!p) ig_fatal("%s", err);
    b->members[b->n++] = (struct ig_emit_member){at[0], (p->arena_bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN,
                                                 p->weights_bytes, p->threads};
    ig_plan_free(p);
    ig_graph_free(g);
}

static void write_file(const struct ig_emit_bundle *e, const char *dir, const char *suffix,
                       void (*emit)(FILE *, const struct ig_emit_bundle *))
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s%s", dir, e->name, suffix) >= (int)sizeof path) ig_fatal("%s: name too long", dir);
    emit(ig_open_output(path), e);
    ig_close_output();
}

static void write_all(const struct ig_emit_bundle *e, const char *dir)
{
    ig_make_folder(dir);
    write_file(e, dir, "_main.c", ig_emit_bundle_program);
    write_file(e, dir, "_api.c", ig_emit_bundle_api);
    write_file(e, dir, ".h", ig_emit_bundle_header);
    ig_folders_keep();
}

static void print_text(const struct ig_emit_bundle *e)
{
    char a[32], c[32], w[32];
    int64_t apart = 0, weights = 0;
    for (int32_t i = 0; i < e->n; i++) {
        apart += e->members[i].arena_bytes;
        weights += e->members[i].weights_bytes;
    }
    printf("%s: %d networks; one arena %s B (%s B apart), weights %s B\n", e->name, e->n, ig_commas(e->arena_bytes, a),
           ig_commas(apart, c), ig_commas(weights, w));
}

static void print_json(const struct ig_emit_bundle *e)
{
    printf("{\"arena_bytes\":%lld,\n\"networks\":[", (long long)e->arena_bytes);
    for (int32_t i = 0; i < e->n; i++)
        printf("%s\n{\"arena_bytes\":%lld,\"arena_offset\":%lld,\"name\":\"%s\",\"weights_bytes\":%lld}", i ? "," : "",
               (long long)e->members[i].arena_bytes, (long long)e->base[i], e->members[i].prefix,
               (long long)e->members[i].weights_bytes);
    puts("\n]}");
}

int ig_verb_bundle(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'}, {"name", 1, 0, 'n'}, {"together", 1, 0, 't'},
                                          {"output", 1, 0, 'o'}, {"json", 0, 0, 'j'}, {0, 0, 0, 0}};
    static struct bundle b;
    const char *dir = NULL, *name = NULL, *lists[MOST];
    int json = 0, n_lists = 0;
    int64_t bytes[MOST];
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'n': name = optarg; break;
        case 't':
            if (n_lists == MOST) ig_fatal("more than %d of --together", MOST);
            lists[n_lists++] = optarg;
            break;
        case 'o': dir = optarg; break;
        case 'j': json = 1; break;
        default: ig_usage(help);
        }
    int words = argc - optind;
    if (!name || words < 3 || words % 3 || words > 3 * MOST) ig_usage(help);
    check_name(name);
    for (int i = optind; i < argc; i += 3) read_member(&b, name, argv + i);
    for (int i = 0; i < n_lists; i++) together(&b, lists[i]);
    for (int32_t i = 0; i < b.n; i++) bytes[i] = b.members[i].arena_bytes;
    struct ig_emit_bundle e = {name, b.members, b.base, b.n, ig_share_beside(bytes, b.beside, b.n, b.base)};
    if (dir) write_all(&e, dir);
    if (json) print_json(&e);
    else if (!dir) print_text(&e);
    return 0;
}
