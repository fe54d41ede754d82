/* ingot plan --deploy: which devices of a site, how many cores of them or their GPUs, and where the network is cut. */
#include "cli/explore.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/estimate.h"
#include "graph/draft.h"
#include "planner/alloc.h"
#include "planner/costs.h"
#include "planner/deploy/assign.h"
#include "planner/energy.h"

static const char help[] =
    "ingot plan --deploy net.onnx --platform=site.json --pareto -o DIR\n"
    "ingot plan --deploy net.onnx --platform=xavier --devices 8 --objective=throughput -o mapping.json\n\n"
    "Puts a network on several devices: how many, 1 to all cores or the GPU of each, and where it is cut; all deployments\n"
    "that no other one beats in time, energy of the busiest and memory of the fullest device on as few devices, exactly.\n"
    "  --platform SITE     the devices and their links (docs/formats.md); or a board (xavier, tx2, a file), of which there\n"
    "                      are --devices, on gigabit Ethernet\n"
    "  --devices N         at most so many of them (default: all; of a board: 8)\n"
    "  --profile FILE      times taken on the target; may be given for several numbers of threads, and of the GPU; other\n"
    "                      numbers of threads are estimated, in proportion\n"
    "  --objective X       which of them is chosen: throughput (default), latency, energy (of all devices) or memory\n"
    "  --pareto            all of them, as a table; with -o DIR also DIR/front.json, DIR/front.svg and a mapping for each\n"
    "  --all               the whole table, not the best for each number of devices\n"
    "  --point N           chooses that line of the table\n"
    "  --powers I,C,G      watts: a device that waits, each core that computes more, the GPU more; else the board's\n"
    "  --memory-budget B   most bytes on a device, e.g. 512MB\n"
    "  --min-fps X, --max-latency-ms X   of the one that is chosen\n"
    "  --rows N            a stage may be split by rows over 2 to N devices (at most 8), each with all of its weights;\n"
    "                      such a point has a horizontal.json, too\n"
    "  --apart             a device has one stage; else its GPU and its other cores may have one each\n"
    "  --algorithm X       exact (default), or nsga2: 100 x 400, as Guo, Pimentel & Stefanov (2023), to compare with\n"
    "  --seed N            of nsga2 (default 1)\n"
    "  --max-error X       as of ingot plan\n"
    "  --json              the front on stdout instead of the table\n"
    "  -o DIR or FILE      where to; without --pareto: mapping.json (default)\n" IG_SOURCE_HELP;

enum { MOST_FILES = 16 };

struct wishes {
    const char *path, *platform, *out, *profiles[MOST_FILES];
    int32_t n_profiles, devices, objective, algorithm, point;
    uint64_t seed;
    int64_t memory;
    double fps, latency_ms, error, watts[3]; /* watts[0] < 0: not given */
    int32_t rows;                    /* devices that a stage may be split over */
    int pareto, all, apart, json;
};

static const char *const objectives[] = {"throughput", "latency", "energy", "memory"};
enum { THROUGHPUT, LATENCY, ENERGY, MEMORY };

/* --- the site --- */

static const struct ig_processor *processor_of(const struct ig_platform *b, int gpu)
{
    for (int32_t i = 0; b && i < b->n_processors; i++)
        if ((strcasecmp(b->processors[i].type, "CPU") != 0) == gpu) return &b->processors[i];
    return NULL;
}

/* A site of so many boards of one name or file. */
static struct ig_site *site_of_board(const char *name, int32_t devices)
{
    struct ig_platform *b = ig_load_board(name);
    const struct ig_processor *cpu = processor_of(b, 0);
    int is_target = !strcmp(name, "tx2") || !strcmp(name, "xavier");
    struct ig_site *s = ig_must_alloc(1, sizeof *s);
    s->devices = ig_must_alloc((size_t)devices, sizeof *s->devices);
    s->n_devices = devices;
    for (int32_t i = 0; i < devices; i++) {
        struct ig_device *d = &s->devices[i];
        char text[16];
        snprintf(text, sizeof text, "node%d", i);
        d->name = ig_copy_text(text);
        d->host = ig_copy_text(text);
        d->target = ig_copy_text(is_target ? name : "host");
        d->platform = is_target ? NULL : ig_copy_text(name);
        d->n_cores = cpu ? cpu->count : 1;
        if (processor_of(b, 1)) d->gpu = ig_copy_text("GPU");
    }
    free(b);
    return s;
}

static struct ig_site *load_site(const struct wishes *w, int *made)
{
    char err[4096];
    struct ig_site *s = NULL;
    *made = 0;
    if (!w->platform) ig_fatal("--deploy: which devices? --platform=SITE, or a board's name and --devices=N");
    if (!access(w->platform, R_OK) && (s = ig_site_read(w->platform, err, sizeof err))) return s;
    if (!access(w->platform, R_OK) && !strstr(err, "format")) ig_fatal("%s", err);
    *made = 1;
    return site_of_board(w->platform, w->devices ? w->devices : 8);
}

static int same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static int are_alike(const struct ig_device *a, const struct ig_device *b)
{
    return same_text(a->target, b->target) && same_text(a->platform, b->platform) && !a->gpu == !b->gpu &&
           a->n_cores == b->n_cores && !(a->memory_bytes < b->memory_bytes) && !(a->memory_bytes > b->memory_bytes);
}

static double at_least(double x, double low)
{
    return x > low ? x : low;
}

/* A board's speed and powers; what the estimates were made for has its own. */
static void describe(const struct ig_device *d, const struct wishes *w, struct ig_explore_board *b)
{
    int is_host = same_text(d->target, "host");
    const char *name = d->platform ? d->platform : is_host ? NULL : strcmp(d->target, "aarch64") ? d->target : NULL;
    struct ig_platform *board = name ? ig_load_board(name) : NULL;
    const struct ig_processor *cpu = processor_of(board, 0), *gpu = processor_of(board, 1);
    double gflops, gbytes;
    *b = (struct ig_explore_board){.isa = is_host ? ig_host_isa() : IG_ISA_NEON, .gpu = d->gpu != NULL, .cpu_slower = 1,
                                   .gpu_slower = 1, .memory_bytes = (int64_t)d->memory_bytes};
    b->cores = d->n_cores ? d->n_cores : cpu ? cpu->count : is_host ? ig_cores() : 1;
    ig_estimate_rates(b->isa, 1, &gflops, &gbytes);
    if (cpu && !ig_costs_of(b->isa) && cpu->ops_per_s) b->cpu_slower = gflops * 1e9 / (double)cpu->ops_per_s;
    ig_estimate_rates(IG_ISA_CUDA, 1, &gflops, &gbytes);
    if (gpu && gpu->ops_per_s) b->gpu_slower = gflops * 1e9 / (double)gpu->ops_per_s;
    if (cpu && cpu->idle_w >= 0 && cpu->active_w > cpu->idle_w) {
        b->idle_w = cpu->idle_w + (gpu && b->gpu ? at_least(gpu->idle_w, 0) : 0);
        b->core_w = cpu->active_w - cpu->idle_w;
        if (gpu) b->gpu_w = at_least(gpu->active_w, 0) - at_least(gpu->idle_w, 0);
    }
    if (w->watts[0] >= 0) {
        b->idle_w = w->watts[0];
        b->core_w = w->watts[1];
        b->gpu_w = w->watts[2];
    }
    if (w->memory && (!b->memory_bytes || w->memory < b->memory_bytes)) b->memory_bytes = w->memory;
    free(board);
}

/* Devices of a kind count as alike; at most --devices of them all. Returns how many kinds. */
static int32_t sort_kinds(const struct ig_site *s, const struct wishes *w, int32_t *kind_of,
                          struct ig_explore_board *boards)
{
    int32_t n = 0, of[IG_EXPLORE_KINDS] = {0}, most = w->devices ? w->devices : s->n_devices;
    for (int32_t i = 0; i < s->n_devices; i++) {
        int32_t k = 0;
        kind_of[i] = -1;
        if (i >= most) continue;
        while (k < n && !are_alike(&s->devices[of[k]], &s->devices[i])) k++;
        if (k == IG_EXPLORE_KINDS) ig_fatal("%s: devices of more than %d kinds", w->platform, IG_EXPLORE_KINDS);
        if (k == n) {
            of[n++] = i;
            describe(&s->devices[i], w, &boards[k]);
        }
        kind_of[i] = k;
        boards[k].count++;
    }
    return n;
}

static struct ig_pipe_link link_of(const struct ig_site *s, int32_t from, int32_t to)
{
    double none = ig_link_ns(s, from, to, 0), many = ig_link_ns(s, from, to, 1000000);
    return (struct ig_pipe_link){llround(none), llround(many - none)}; /* fs a byte: ns of 1e6 bytes */
}

/* What a core loses at that end; of several links the costliest counts. */
static void set_host(const struct ig_site *s, int32_t from, int32_t to, enum ig_link_end end, struct ig_pipe_link *l)
{
    double none = ig_link_host_ns(s, from, to, 0, end), many = ig_link_host_ns(s, from, to, 1000000, end);
    if (llround(none) > l->x0_ns) l->x0_ns = llround(none);
    if (llround(many - none) > l->fs_per_byte) l->fs_per_byte = llround(many - none);
}

/* Of the links between two kinds the slowest counts, where they differ. */
static void set_links(const struct ig_site *s, const int32_t *kind_of, struct ig_explore *x)
{
    int differ = 0, seen[IG_EXPLORE_KINDS][IG_EXPLORE_KINDS] = {{0}};
    for (int32_t i = 0; i < s->n_devices; i++)
        for (int32_t j = 0; j < s->n_devices; j++) {
            if (kind_of[i] < 0 || kind_of[j] < 0) continue;
            struct ig_pipe_link l = link_of(s, i, j);
            struct ig_pipe_link *to = i == j ? &x->own[kind_of[i]] : &x->link[kind_of[i]][kind_of[j]];
            int *before = &seen[kind_of[i]][kind_of[j]];
            if (i != j) differ |= *before && (to->x0_ns != l.x0_ns || to->fs_per_byte != l.fs_per_byte);
            if (i != j) *before = 1;
            if (i != j) set_host(s, i, j, IG_LINK_SENDS, &x->sends[kind_of[i]]);
            if (i != j) set_host(s, i, j, IG_LINK_RECEIVES, &x->receives[kind_of[j]]);
            if (l.x0_ns > to->x0_ns) to->x0_ns = l.x0_ns;
            if (l.fs_per_byte > to->fs_per_byte) to->fs_per_byte = l.fs_per_byte;
        }
    if (differ) fprintf(stderr, "ingot: links between devices of the same kinds differ: the slowest of them counts\n");
}

/* --- which one --- */

static int keeps(const struct wishes *w, const struct ig_explore_point *p)
{
    return (w->fps <= 0 || (double)p->period_ns * w->fps <= 1e9) &&
           (w->latency_ms <= 0 || (double)p->latency_ns <= w->latency_ms * 1e6);
}

static int64_t measure(const struct wishes *w, const struct ig_explore_point *p)
{
    return w->objective == LATENCY ? p->latency_ns
           : w->objective == ENERGY ? p->total_pj
           : w->objective == MEMORY ? p->memory_bytes
                                    : p->period_ns;
}

/* What adds up over stages has a least that need not be on the front: it joins it, behind all others. */
static void add_least(const struct wishes *w, struct ig_exploration *x)
{
    struct ig_explore_limits limits = {.period_ns = w->fps > 0 ? (int64_t)(1e9 / w->fps) : 0};
    struct ig_explore_front *f = &x->front;
    struct ig_explore_point *p = ig_must_alloc(1, sizeof *p);
    int32_t same = 0;
    if (!ig_explore_least(x->r, limits, w->objective == LATENCY ? IG_EXPLORE_LATENCY : IG_EXPLORE_TOTAL_ENERGY, p)) {
        while (same < f->n && (measure(w, &f->at[same]) > measure(w, p) || !keeps(w, &f->at[same]))) same++;
        if (same == f->n) {
            struct ig_explore_point *more = realloc(f->at, (size_t)(f->n + 1) * sizeof *more);
            if (!more) ig_fatal("out of memory");
            f->at = more;
            f->at[f->n++] = *p;
        }
    }
    free(p);
}

static void choose(const struct wishes *w, struct ig_exploration *x)
{
    x->chosen = -1;
    if (w->point > x->front.n) ig_fatal("--point=%d: there are %d", w->point, x->front.n);
    if (w->point) x->chosen = w->point - 1;
    for (int32_t i = 0; i < x->front.n && !w->point; i++) {
        const struct ig_explore_point *p = &x->front.at[i];
        if (keeps(w, p) && (x->chosen < 0 || measure(w, p) < measure(w, &x->front.at[x->chosen]))) x->chosen = i;
    }
}

/* --- files --- */

/* Beside the mapping: mapping-3.json has horizontal-3.json, a.json a.horizontal.json. */
static const char *horizontal_path(const char *mapping, char path[4200])
{
    const char *slash = strrchr(mapping, '/'), *name = slash ? slash + 1 : mapping, *dot = strrchr(name, '.');
    int folder = (int)(name - mapping), stem = (int)(dot ? dot - name : (long)strlen(name));
    if (!strncmp(name, "mapping", 7)) snprintf(path, 4200, "%.*shorizontal%s", folder, mapping, name + 7);
    else snprintf(path, 4200, "%.*s%.*s.horizontal.json", folder, mapping, stem, name);
    return path;
}

static void write_mapping(const struct ig_exploration *x, const struct ig_explore_point *p, const char *path)
{
    char other[4200];
    ig_explore_mapping(ig_open_output(path), x, p);
    ig_close_output();
    if (!strcmp(path, "-") || !ig_explore_has_groups(p)) return;
    ig_explore_horizontal(ig_open_output(horizontal_path(path, other)), x, p);
    ig_close_output();
}

/* A board's site has no file yet. */
static const char *write_site(const struct ig_exploration *x, int made, const char *dir, char path[4200])
{
    if (!made) return x->platform;
    snprintf(path, 4200, "%s/site.json", dir);
    FILE *f = ig_open_output(path);
    ig_site_write(f, x->site);
    ig_close_output();
    return path;
}

static void put_command(FILE *f, const struct ig_exploration *x, const struct ig_explore_point *p, const char *mapping,
                        const char *site)
{
    char path[4200];
    fprintf(f, "These are sums over the network planned as one; configure plans each part by itself, and says what that gives:\n");
    fprintf(f, "./configure --model=%s", x->model);
    ig_put_source(f, x->source);
    fprintf(f, " --mapping=%s", mapping);
    if (ig_explore_has_groups(p)) fprintf(f, " --horizontal=%s", horizontal_path(mapping, path));
    fprintf(f, " --platform=%s && ninja\n", site);
}

static void write_all(const struct ig_exploration *x, const char *dir, int made, FILE *words)
{
    char path[4200], site_path[4200];
    ig_make_folder(dir);
    snprintf(path, sizeof path, "%s/front.json", dir);
    ig_explore_json(ig_open_output(path), x);
    ig_close_output();
    snprintf(path, sizeof path, "%s/front.svg", dir);
    ig_explore_svg(ig_open_output(path), x);
    ig_close_output();
    for (int32_t i = 0; i < x->front.n; i++) {
        snprintf(path, sizeof path, "%s/mapping-%d.json", dir, i + 1);
        write_mapping(x, &x->front.at[i], path);
    }
    const char *site = write_site(x, made, dir, site_path);
    ig_folders_keep();
    snprintf(path, sizeof path, "%s/mapping-%d.json", dir, x->chosen + 1);
    if (x->chosen >= 0) put_command(words, x, &x->front.at[x->chosen], path, site);
}

static void write_one(const struct ig_exploration *x, const char *path, int made, FILE *words)
{
    char dir[4096], site_path[4200];
    const char *slash = strrchr(path, '/');
    snprintf(dir, sizeof dir, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    write_mapping(x, &x->front.at[x->chosen], path);
    if (strcmp(path, "-")) put_command(words, x, &x->front.at[x->chosen], path, write_site(x, made, dir, site_path));
}

static void put_results(const struct wishes *w, const struct ig_exploration *x, int made)
{
    size_t n = w->out ? strlen(w->out) : 0;
    int is_file = n > 5 && !strcmp(w->out + n - 5, ".json"), to_stdout = w->out && !strcmp(w->out, "-");
    FILE *words = to_stdout ? stderr : stdout;
    if (w->json)
        ig_explore_json(stdout, x);
    else if (w->pareto)
        ig_explore_table(words, x, w->all);
    if (x->chosen >= 0 && !w->json) ig_explore_put_stages(words, x, &x->front.at[x->chosen]);
    if (w->pareto && w->out && (is_file || to_stdout)) {
        ig_explore_json(ig_open_output(w->out), x);
        ig_close_output();
    } else if (w->pareto && w->out)
        write_all(x, w->out, made, w->json ? stderr : words);
    if (x->chosen < 0) ig_fatal("%s: none of %d deployments keeps the limits", w->path, x->front.n);
    if (!w->pareto) write_one(x, w->out ? w->out : "mapping.json", made, w->json ? stderr : words);
}

/* --- all of it --- */

static int32_t read_profiles(const struct wishes *w, const struct ig_graph *g, const struct ig_profile **to)
{
    char err[4096];
    for (int32_t i = 0; i < w->n_profiles; i++) {
        to[i] = ig_profile_read(w->profiles[i], g, err, sizeof err);
        if (!to[i]) ig_fatal("%s", err);
        if (!ig_is_profiled(to[i], g, w->path)) ig_fatal("%s: taken of another graph; take a new profile", w->profiles[i]);
    }
    return w->n_profiles;
}

static void find_cuts(const struct ig_graph *g, const struct ig_layers *layers, struct ig_explore_net *e)
{
    int32_t *home = ig_must_alloc((size_t)layers->n, sizeof *home);
    ig_find_homes(g, layers, home);
    ig_explore_net_layers(g, home, layers->n, e);
    free(home);
}

/* What can be split: nodes that layers of the file stand for. */
static struct ig_explore_split *find_splits(const struct ig_graph *g, const struct ig_layers *layers,
                                            const struct ig_explore_net *e)
{
    int32_t *home = layers ? ig_must_alloc((size_t)layers->n, sizeof *home) : NULL;
    uint8_t *has = ig_must_alloc((size_t)g->n_nodes, 1);
    if (layers) ig_find_homes(g, layers, home);
    for (int32_t i = 0; layers && i < layers->n; i++)
        if (home[i] >= 0) has[home[i]] = 1;
    for (int32_t i = 0; !layers && i < g->n_nodes; i++) has[i] = 1;
    struct ig_explore_split *split = ig_explore_splits(g, e, has);
    free(home);
    free(has);
    return split;
}

static void search(const struct wishes *w, struct ig_exploration *x)
{
    if (w->algorithm)
        ig_explore_nsga2(x->r, w->seed, IG_EXPLORE_GENERATIONS, &x->front);
    else if (x->split)
        ig_explore_rows(x->r, x->split, w->rows, &x->front);
    else
        ig_explore_all(x->r, &x->front);
    if (!x->front.n) ig_fatal("%s: fits on none of the devices", w->path);
    if (!w->algorithm && (w->objective == LATENCY || w->objective == ENERGY)) add_least(w, x);
    choose(w, x);
}

static void explore(const struct wishes *w, const struct ig_source_options *source)
{
    char err[4096];
    int made;
    size_t length = strlen(w->path);
    struct ig_graph *g = ig_load_graph(w->path, source);
    struct ig_site *s = load_site(w, &made);
    struct ig_layers *layers = NULL;
    struct ig_explore_board boards[IG_EXPLORE_KINDS];
    struct ig_explore_net e;
    struct ig_ranges r;
    const struct ig_profile *profiles[MOST_FILES];
    int32_t *kind_of = ig_must_alloc((size_t)s->n_devices, sizeof *kind_of), n = sort_kinds(s, w, kind_of, boards);
    if (length > 5 && !strcmp(w->path + length - 5, ".onnx") && !(layers = ig_layers_read(w->path, err, sizeof err)))
        ig_fatal("%s", err);
    int32_t n_profiles = read_profiles(w, g, profiles);
    if (ig_explore_net_make(g, boards, n, profiles, n_profiles, w->error, &e, err, sizeof err)) ig_fatal("%s", err);
    set_links(s, kind_of, &e.x);
    if (layers) find_cuts(g, layers, &e);
    e.x.apart = w->apart;
    ig_ranges_make(&e.x, &r);
    struct ig_exploration x = {.g = g, .layers = layers, .model = w->path, .platform = w->platform, .source = source, .site = s,
                               .kind_of = kind_of, .e = &e, .r = &r};
    if (w->rows > 1) x.split = find_splits(g, layers, &e);
    for (int32_t i = 0; i < e.x.n_ways; i++) x.powers |= e.x.ways[i].mw > 0;
    search(w, &x);
    put_results(w, &x, made);
    ig_explore_front_free(&x.front);
    free((struct ig_explore_split *)(uintptr_t)x.split);
    ig_ranges_free(&r);
    ig_explore_net_free(&e);
    for (int32_t i = 0; i < n_profiles; i++) ig_profile_free((struct ig_profile *)(uintptr_t)profiles[i]);
    ig_layers_free(layers);
    ig_site_free(s);
    free(kind_of);
    ig_graph_free(g);
}

static int32_t word(const char *option, const char *text, const char *const *words, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(text, words[i])) return i;
    ig_fatal("%s=%s: unknown", option, text);
}

static void powers_option(const char *text, double *watts)
{
    int end = 0;
    if (sscanf(text, "%lf,%lf,%lf%n", &watts[0], &watts[1], &watts[2], &end) != 3 || text[end] || watts[0] < 0 ||
        watts[1] < 0 || watts[2] < 0)
        ig_fatal("--powers=%s: three numbers of watts, as in 2,1.2,6", text);
}

int ig_explore_main(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},       {"deploy", 0, 0, 'd'},
                                          {"output", 1, 0, 'o'},     {"platform", 1, 0, 'P'},
                                          {"profile", 1, 0, 'p'},    {"devices", 1, 0, 'n'},
                                          {"objective", 1, 0, 'O'},  {"pareto", 0, 0, 'F'},
                                          {"all", 0, 0, 'a'},        {"point", 1, 0, 'i'},
                                          {"powers", 1, 0, 'w'},     {"memory-budget", 1, 0, 'm'},
                                          {"min-fps", 1, 0, 'f'},    {"max-latency-ms", 1, 0, 'l'},
                                          {"apart", 0, 0, 'A'},      {"algorithm", 1, 0, 'x'},
                                          {"seed", 1, 0, 'S'},       {"max-error", 1, 0, 'E'},
                                          {"json", 0, 0, 'j'},       {"rows", 1, 0, 'R'},
                                          IG_SOURCE_OPTIONS,
                                          {0, 0, 0, 0}};
    static const char *const algorithms[] = {"exact", "nsga2"};
    struct wishes w = {.seed = 1, .error = IG_MAX_ERROR, .watts = {-1, 0, 0}};
    struct ig_source_options source = {.n_binds = 0};
    int c;
    while ((c = getopt_long(argc, argv, "ho:", longs, NULL)) != -1) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'd': break;
        case 'o': w.out = optarg; break;
        case 'P': w.platform = optarg; break;
        case 'p':
            if (w.n_profiles == MOST_FILES) ig_fatal("--profile: given more than %d times", MOST_FILES);
            w.profiles[w.n_profiles++] = optarg;
            break;
        case 'n': w.devices = (int32_t)ig_whole_number(optarg, "--devices", 1, IG_EXPLORE_DEVICES); break;
        case 'O': w.objective = word("--objective", optarg, objectives, 4); break;
        case 'F': w.pareto = 1; break;
        case 'a': w.all = 1; break;
        case 'i': w.point = (int32_t)ig_whole_number(optarg, "--point", 1, 1000000); break;
        case 'w': powers_option(optarg, w.watts); break;
        case 'm': w.memory = ig_size_option(optarg, "--memory-budget"); break;
        case 'f': w.fps = ig_number(optarg, "--min-fps", 1e-9, 1e9); break;
        case 'l': w.latency_ms = ig_number(optarg, "--max-latency-ms", 1e-9, 1e9); break;
        case 'A': w.apart = 1; break;
        case 'R': w.rows = (int32_t)ig_whole_number(optarg, "--rows", 1, IG_EXPLORE_GROUP); break;
        case 'x': w.algorithm = word("--algorithm", optarg, algorithms, 2); break;
        case 'S': w.seed = (uint64_t)ig_whole_number(optarg, "--seed", 0, 9007199254740992); break;
        case 'E': w.error = ig_number(optarg, "--max-error", 0, 1); break;
        case 'j': w.json = 1; break;
        default:
            if (!ig_source_option(&source, c, optarg)) ig_usage(help);
        }
    if (optind != argc - 1) ig_usage(help);
    w.path = argv[optind];
    explore(&w, &source);
    return 0;
}
