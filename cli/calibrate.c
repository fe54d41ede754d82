#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/grid.h"
#include "bench/machine.h"
#include "cli/cli.h"
#include "cli/grid.h"
#include "cli/samples.h"

static const char help[] =
    "ingot calibrate -o host.json\n"
    "ingot calibrate --grid times.txt --seconds 30\n"
    "ingot calibrate --check times.txt --platform host.json --svg errors.svg\n\n"
    "Describes this machine for `ingot plan --estimate`: caches, bandwidths, multiply-add rates, and what each\n"
    "family of kernels costs, fitted to at most 32 measured layers of each.\n"
    "  -o FILE            where to (default host.json; - is stdout)\n"
    "  --no-costs         the machine alone, no kernels: two seconds\n"
    "  --samples FILE     of these layers' times, which it takes from and adds to: goes on where it ended\n"
    "  --missing          with --platform: what its kernels cost stays, families of which it has no costs are added\n"
    "  --seconds S        budget of a layer (default 0.1); of a run of --grid (default 30) or --samples (none)\n"
    "  --grid FILE        measure the grid of convolutions that the estimate is tried on; goes on where it ended\n"
    "  --layers N         how many of them (default 2200)\n"
    "  --passes N         how often each (default 1); the least time counts\n"
    "  --skip N           leave out the first N (default 0)\n"
    "  --max-gmacs X      leave out larger layers (default 3)\n"
    "  --kernel NAME      measure this kernel instead of the usual one\n"
    "  --check FILE       errors of the estimate on a measured grid, beside operations, roofline and plain ALOHA\n"
    "  --platform FILE    the calibrated machine for --check (default host.json); else: the machine as this says, but for\n"
    "                     what kernels cost, which is measured\n"
    "  --svg FILE         the errors as a picture\n"
    "  -q                 no table of families\n"
    "  -v                 every layer: measured, and what the fit says\n";

/* --- the machine as a platform --- */

static int32_t add_store(struct ig_platform *b, int64_t bytes, const char *note)
{
    struct ig_store *s = &b->stores[b->n_stores];
    s->id = b->n_stores;
    s->bytes = bytes;
    snprintf(s->note, sizeof s->note, "%s", note);
    return b->n_stores++;
}

static int32_t add_channel(struct ig_platform *b, int64_t bytes_per_s, const char *note)
{
    struct ig_channel *c = &b->channels[b->n_channels];
    c->id = b->n_channels;
    c->bytes_per_s = bytes_per_s > 0 ? bytes_per_s : 1;
    c->printed = IG_UNKNOWN;
    snprintf(c->note, sizeof c->note, "%s", note);
    return b->n_channels++;
}

/* 16 channels and 6 pixels at a time; images from the last cache, weights again for every 6 pixels from the second. */
static void map_loops(struct ig_processor *p, int32_t far, int32_t near, int32_t store_far, int32_t store_near)
{
    static const int32_t order[IG_LOOPS] = {IG_FH, IG_FW, IG_OF, IG_IF, IG_KH, IG_KW};
    p->mapped = 1;
    memcpy(p->order, order, sizeof order);
    p->n_grid = 2;
    p->grid[0] = (struct ig_grid){16, 1, {IG_OF}};
    p->grid[1] = (struct ig_grid){6, 2, {IG_FH, IG_FW}};
    p->place[IG_X] = (struct ig_placement){0, far, store_far, IG_FH, 0};
    p->place[IG_Y] = (struct ig_placement){0, far, store_far, IG_FH, 0};
    p->place[IG_W] = (struct ig_placement){2, near, store_near, IG_OF, 0};
}

static void add_rate(struct ig_processor *p, const struct ig_machine_rate *from, int32_t cores)
{
    struct ig_rate *r = &p->rates[p->n_rates++];
    snprintf(r->isa, sizeof r->isa, "%s", from->isa);
    for (r->n = 0; r->n < cores; r->n++) r->ops_per_s[r->n] = from->ops_per_s[r->n];
}

static void describe(struct ig_platform *b, const struct ig_machine *m)
{
    static const char *const names[] = {"L1", "L2", "L3"};
    struct ig_processor *p = &b->processors[0];
    int32_t memory = add_store(b, m->memory_bytes, "memory");
    int32_t channel = add_channel(b, m->bytes_per_s[IG_MACHINE_CACHES], "memory, read by one core");
    int32_t far = channel, near = channel, store_near = memory;
    strcpy(b->name, "host");
    snprintf(b->note, sizeof b->note, "%.120s, measured", m->cpu);
    b->element_bytes = 4;
    b->n_processors = 1;
    strcpy(p->type, "CPU");
    snprintf(p->subtype, sizeof p->subtype, "%.47s", m->cpu);
    p->count = 1;
    for (int i = 0; i < IG_MACHINE_CACHES; i++) {
        if (!m->cache_bytes[i]) continue;
        int32_t at = add_store(b, m->cache_bytes[i], names[i]);
        p->caches[p->n_caches++] = at;
        far = add_channel(b, m->bytes_per_s[i], names[i]);
        if (i < 2) near = far, store_near = at;
    }
    p->ops_per_s = m->n_rates ? m->rates[0].ops_per_s[0] : 1000000000;
    p->hz = m->hz > 0 ? m->hz : 1000000000;
    p->printed = p->printed_hz = IG_UNKNOWN;
    p->active_w = p->idle_w = p->dram_pj_per_bit = IG_UNKNOWN;
    p->overhead_ns = m->team_overhead_ns[0];
    for (int i = 0; i < m->n_teams && m->team_overhead_ns[i] > 0; i++)
        p->team_overhead_ns[p->n_teams++] = m->team_overhead_ns[i];
    for (int i = 0; i < m->n_rates; i++) add_rate(p, &m->rates[i], m->n_teams);
    map_loops(p, far, near, memory, store_near);
}

static struct ig_platform *this_machine(void)
{
    struct ig_machine m;
    struct ig_platform *b = calloc(1, sizeof *b);
    if (!b) ig_fatal("out of memory");
    ig_machine_measure(&m);
    describe(b, &m);
    return b;
}

/* platform: a file that says what the machine is; NULL: it is measured. */
static void describe_host(const char *out, const char *platform, int costs, const struct ig_samples_options *o)
{
    char err[4096];
    struct ig_platform *b = platform ? ig_platform_read(platform, err, sizeof err) : this_machine();
    if (!b) ig_fatal("%s", err);
    if (!o->missing) b->processors[0].n_costs = 0;
    if (costs) ig_samples_fit(b, o);
    if (ig_platform_write(b, out, err, sizeof err)) ig_fatal("%s", err);
    free(b);
}

int ig_verb_calibrate(int argc, char **argv)
{
    static const struct option longs[] = {
        {"help", 0, 0, 'h'},      {"output", 1, 0, 'o'}, {"no-costs", 0, 0, 'n'}, {"seconds", 1, 0, 's'},
        {"grid", 1, 0, 'g'},      {"layers", 1, 0, 'l'}, {"passes", 1, 0, 'p'},   {"skip", 1, 0, 'S'},
        {"max-gmacs", 1, 0, 'm'}, {"kernel", 1, 0, 'k'}, {"check", 1, 0, 'c'},    {"platform", 1, 0, 'P'},
        {"svg", 1, 0, 'w'},       {"quiet", 0, 0, 'q'},  {"verbose", 0, 0, 'v'},  {"samples", 1, 0, 'f'},
        {"missing", 0, 0, 'M'},
        {0, 0, 0, 0}};
    struct ig_grid_options grid = {.layers = 2200, .passes = 1, .seconds = 30, .most_macs = 3e9};
    struct ig_samples_options samples = {.layer_s = 0.1, .seconds = 1e9, .words = IG_SAMPLES_FAMILIES};
    const char *out = "host.json", *times = NULL, *check = NULL, *platform = NULL, *svg = NULL;
    int costs = 1;
    double seconds = 0;
    for (int c; (c = getopt_long(argc, argv, "o:qvh", longs, NULL)) != -1;) switch (c) {
        case 'h':
            return fputs(help, stdout) < 0;
        case 'o':
            out = optarg;
            break;
        case 'n':
            costs = 0;
            break;
        case 's':
            seconds = ig_number(optarg, "--seconds", 0.001, 86400);
            break;
        case 'g':
            times = optarg;
            break;
        case 'f':
            samples.file = optarg;
            break;
        case 'l':
            grid.layers = (int32_t)ig_whole_number(optarg, "--layers", 1, 16384);
            break;
        case 'p':
            grid.passes = (int32_t)ig_whole_number(optarg, "--passes", 1, 100);
            break;
        case 'S':
            grid.skip = (int32_t)ig_whole_number(optarg, "--skip", 0, 16384);
            break;
        case 'm':
            grid.most_macs = 1e9 * ig_number(optarg, "--max-gmacs", 1e-6, 1e6);
            break;
        case 'k':
            grid.kernel = optarg;
            break;
        case 'c':
            check = optarg;
            break;
        case 'P':
            platform = optarg;
            break;
        case 'M':
            samples.missing = 1;
            break;
        case 'w':
            svg = optarg;
            break;
        case 'q':
            samples.words = IG_SAMPLES_QUIET;
            break;
        case 'v':
            samples.words = IG_SAMPLES_LAYERS;
            break;
        default:
            ig_usage(help);
        }
    if (optind != argc || (samples.missing && !platform)) ig_usage(help);
    if (seconds > 0) grid.seconds = seconds;
    if (seconds > 0 && samples.file) samples.seconds = seconds;
    else if (seconds > 0) samples.layer_s = seconds;
    if (!times && !check) ig_check_output(out);
    if (svg) ig_check_output(svg);
    if (times) ig_grid_measure(times, &grid);
    if (check) ig_grid_check(check, platform ? platform : "host.json", svg);
    if (!times && !check) describe_host(out, platform, costs, &samples);
    return 0;
}
