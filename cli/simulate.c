/* ingot simulate: frames through a deployment, event by event: how fast it will be, and who holds it up. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "planner/deploy/fleet.h"
#include "planner/text.h"

static const char help[] =
    "ingot simulate deploy.json --platform site.json\n"
    "ingot simulate deploy.json --link 100 --frames 500\n\n"
    "Runs frames through a deployment as its ranks do: parts in turn on each rank, tensors in copies, a message at a time\n"
    "over each device's link. Says what passes from one result to the next, what a frame takes, who is how busy.\n"
    "  --platform FILE     links between devices (docs/formats.md), as ingot profile --links measures them; default: links\n"
    "                      of 1 Gbit/s\n"
    "  --link MBIT[,US]    one link for all: bandwidth, and what every message takes besides\n"
    "  --frames N          default 200; the period is that of the second half\n"
    "  --interval-ms X     a frame comes so often (default: there always is one)\n"
    "  --copies N          of every tensor, in place of the deployment's own\n"
    "  --json              as JSON\n"
    "  -o FILE             where to (default: stdout)\n";

struct simulation {
    struct ig_fleet *fleet;
    struct ig_fleet_run run;
    int64_t alone_ns;                   /* of a frame by itself */
    int64_t median_ns, most_ns;         /* of the second half */
    int64_t bytes;                      /* between devices a frame */
};

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static void take_link(struct ig_fleet *f, char *text)
{
    char *comma = strchr(text, ',');
    if (comma) *comma = 0;
    double mbit = ig_number(text, "--link", 1e-3, 1e9), us = comma ? ig_number(comma + 1, "--link", 0, 1e9) : 0;
    ig_fleet_link_all(f, 1e3 * us, 8e3 / mbit);
}

static void replay(struct simulation *s, int32_t frames, int64_t interval)
{
    char err[400];
    struct ig_fleet *f = s->fleet;
    if (ig_fleet_replay(f, 1, 0, &s->run, err, sizeof err)) ig_fatal("%s", err);
    s->alone_ns = s->run.out_ns[0] - s->run.in_ns[0];
    ig_fleet_run_free(&s->run);
    if (ig_fleet_replay(f, frames, interval, &s->run, err, sizeof err)) ig_fatal("%s", err);
    int32_t n = frames - frames / 2;
    int64_t *took = calloc((size_t)n, sizeof *took);
    if (!took) ig_fatal("out of memory");
    for (int32_t i = 0; i < n; i++) took[i] = s->run.out_ns[frames / 2 + i] - s->run.in_ns[frames / 2 + i];
    qsort(took, (size_t)n, sizeof *took, ascending);
    s->median_ns = took[n / 2];
    s->most_ns = took[n - 1];
    free(took);
    for (int32_t i = 0; i < f->n_messages; i++) {
        const struct ig_fleet_buffer *from = &f->buffers[f->messages[i].from], *to = &f->buffers[f->messages[i].to];
        if (f->device[from->rank] != f->device[to->rank]) s->bytes += from->bytes;
    }
}

/* --- JSON --- */

static void put_number(FILE *f, const char *before, const char *key, double x)
{
    fprintf(f, "%s\"%s\":", before, key);
    ig_put_double(f, x);
}

static void put_named(FILE *f, const char *before, const char *key, const char *name)
{
    fprintf(f, "%s{\"%s\":", before, key);
    ig_put_text(f, name);
}

static void print_json(FILE *f, const struct simulation *s)
{
    const struct ig_fleet *fleet = s->fleet;
    const struct ig_fleet_run *run = &s->run;
    double frames = run->frames;
    put_number(f, "{", "bound_ms", (double)ig_fleet_bound(fleet) / 1e6);
    fprintf(f, ",\n\"bytes\":%lld,\n\"devices\":[", (long long)s->bytes);
    for (int32_t i = 0; i < fleet->n_devices; i++) {
        put_named(f, i ? ",\n" : "\n", "device", fleet->devices[i]);
        put_number(f, ",", "receives_ms", (double)run->receives_ns[i] / frames / 1e6);
        put_number(f, ",", "sends_ms", (double)run->sends_ns[i] / frames / 1e6);
        fputc('}', f);
    }
    fprintf(f, "\n],\n\"events\":%lld,\n\"frames\":%d", (long long)run->events, run->frames);
    put_number(f, ",\n", "latency_ms", (double)s->alone_ns / 1e6);
    put_number(f, ",\n", "latency_median_ms", (double)s->median_ns / 1e6);
    put_number(f, ",\n", "latency_most_ms", (double)s->most_ns / 1e6);
    put_number(f, ",\n", "period_ms", ig_fleet_period(run) / 1e6);
    fputs(",\n\"ranks\":[", f);
    for (int32_t i = 0; i < fleet->n_ranks; i++) {
        put_named(f, i ? ",\n" : "\n", "key", fleet->keys[i]);
        put_number(f, ",", "busy_ms", (double)run->busy_ns[i] / frames / 1e6);
        fputc('}', f);
    }
    fputs("\n]}\n", f);
}

/* --- words --- */

static double share(int64_t ns, const struct simulation *s) /* of the time, in per cent */
{
    return 100 * (double)ns / s->run.frames / ig_fleet_period(&s->run);
}

static void print_words(FILE *f, const struct simulation *s)
{
    const struct ig_fleet *fleet = s->fleet;
    const struct ig_fleet_run *run = &s->run;
    double period = ig_fleet_period(run), bound = (double)ig_fleet_bound(fleet);
    char bytes[32];
    fprintf(f, "%d rank%s on %d device%s, %d part%s, %d message%s; %s bytes between devices a frame\n", fleet->n_ranks,
            ig_plural(fleet->n_ranks), fleet->n_devices, ig_plural(fleet->n_devices), fleet->n_parts, ig_plural(fleet->n_parts), fleet->n_messages,
            ig_plural(fleet->n_messages), ig_commas(s->bytes, bytes));
    fprintf(f, "  period   %10.3f ms, %.2f frames a second; no less than %.3f ms (%.1f %%)\n", period / 1e6, 1e9 / period,
            bound / 1e6, 100 * bound / period);
    fprintf(f, "  latency  %10.3f ms of a frame alone; %.3f ms in the stream, at most %.3f ms\n", (double)s->alone_ns / 1e6,
            (double)s->median_ns / 1e6, (double)s->most_ns / 1e6);
    for (int32_t i = 0; i < fleet->n_ranks; i++)
        fprintf(f, "  %-24s computes %9.3f ms a frame, %5.1f %%\n", fleet->keys[i],
                (double)run->busy_ns[i] / run->frames / 1e6, share(run->busy_ns[i], s));
    for (int32_t i = 0; i < fleet->n_devices; i++)
        fprintf(f, "  %-24s sends    %9.3f ms a frame, %5.1f %%; receives %9.3f ms, %5.1f %%\n", fleet->devices[i],
                (double)run->sends_ns[i] / run->frames / 1e6, share(run->sends_ns[i], s),
                (double)run->receives_ns[i] / run->frames / 1e6, share(run->receives_ns[i], s));
}

static void read_fleet(struct simulation *s, const char *path, const char *platform, char *link, int32_t copies)
{
    static char err[IG_ERROR_BYTES];
    s->fleet = ig_fleet_read(path, err, sizeof err);
    if (!s->fleet) ig_fatal("%s", err);
    ig_fleet_link_all(s->fleet, 0, 8);
    if (platform) {
        struct ig_site *site = ig_site_read(platform, err, sizeof err);
        if (!site) ig_fatal("%s", err);
        ig_fleet_link(s->fleet, site);
        ig_site_free(site);
    }
    if (link) take_link(s->fleet, link);
    if (copies) ig_fleet_copies(s->fleet, copies);
}

int ig_verb_simulate(int argc, char **argv)
{
    static const struct option longs[] = {{"help", 0, 0, 'h'},   {"platform", 1, 0, 'p'},    {"link", 1, 0, 'l'},
                                          {"frames", 1, 0, 'f'}, {"interval-ms", 1, 0, 'i'}, {"copies", 1, 0, 'c'},
                                          {"json", 0, 0, 'j'},   {"output", 1, 0, 'o'},      {0, 0, 0, 0}};
    struct simulation s = {.bytes = 0};
    const char *platform = NULL, *out = "-";
    char *link = NULL;
    int32_t frames = 200, copies = 0;
    int64_t interval = 0;
    int json = 0;
    for (int c; (c = getopt_long(argc, argv, "o:h", longs, NULL)) != -1;) switch (c) {
        case 'h': return fputs(help, stdout) < 0;
        case 'p': platform = optarg; break;
        case 'l': link = optarg; break;
        case 'f': frames = (int32_t)ig_whole_number(optarg, "--frames", 1, 1000000); break;
        case 'i': interval = (int64_t)(1e6 * ig_number(optarg, "--interval-ms", 0, 1e6)); break;
        case 'c': copies = (int32_t)ig_whole_number(optarg, "--copies", 1, 1000); break;
        case 'j': json = 1; break;
        case 'o': out = optarg; break;
        default: ig_usage(help);
        }
    if (optind != argc - 1) ig_usage(help);
    read_fleet(&s, argv[optind], platform, link, copies);
    replay(&s, frames, interval);
    (json ? print_json : print_words)(ig_open_output(out), &s);
    ig_close_output();
    ig_fleet_run_free(&s.run);
    ig_fleet_free(s.fleet);
    return 0;
}
