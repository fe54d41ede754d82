/* --bench of several networks: what each takes alone, and what it takes where the others have used the caches between. */
#include <stdlib.h>

#include "runtime/host/bundle.h"
#include "runtime/host/energy.h"

enum { MAX_ROUNDS = 1000, MIN_ROUNDS = 10 };

static int by_size(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median_ms(int64_t *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, by_size);
    return (double)ns[n / 2] * 1e-6;
}

/* Rounds of these networks one after the other: turn k of round r takes ns[k * MAX_ROUNDS + r]. Returns the rounds. */
static int measure(struct ig_turns *t, const int *order, int n, double seconds, int64_t *ns)
{
    int64_t end = 0;
    int rounds = -1; /* the first is not counted */
    for (; rounds < MAX_ROUNDS && (rounds < MIN_ROUNDS || ig_now_ns() < end); rounds++) {
        if (!rounds) end = ig_now_ns() + (int64_t)(seconds * 1e9);
        for (int k = 0; k < n; k++) {
            struct ig_session *s = &t->sessions[order[k]];
            int64_t begin = ig_now_ns();
            int status = ig_ctx_run(&s->ctx, (const void *const *)s->inputs, s->outputs);
            if (status) ig_die("%s", ig_status_text(status));
            if (rounds >= 0) ns[k * MAX_ROUNDS + rounds] = ig_now_ns() - begin;
        }
    }
    return rounds;
}

/* Medians of each turn, ms, and of whole rounds, which are put behind. */
static void in_order(struct ig_turns *t, double seconds, int64_t *ns, double *ms)
{
    int rounds = measure(t, t->order, t->n, seconds, ns);
    int64_t *whole = ns + t->n * MAX_ROUNDS;
    for (int r = 0; r < rounds; r++) {
        whole[r] = 0;
        for (int k = 0; k < t->n; k++) whole[r] += ns[k * MAX_ROUNDS + r];
    }
    for (int k = 0; k <= t->n; k++) ms[k] = median_ms(ns + k * MAX_ROUNDS, rounds);
}

/* Whole rounds: how many. */
static int rounds_for(void *arg, double seconds)
{
    struct ig_turns *t = arg;
    int64_t end = ig_now_ns() + (int64_t)(seconds * 1e9);
    int n = 0;
    for (; !n || ig_now_ns() < end; n++)
        for (int k = 0; k < t->n; k++) {
            struct ig_session *s = &t->sessions[t->order[k]];
            int status = ig_ctx_run(&s->ctx, (const void *const *)s->inputs, s->outputs);
            if (status) ig_die("%s", ig_status_text(status));
        }
    return n;
}

static void print_json(struct ig_turns *t, const struct ig_options *o, const double *alone, const double *ms)
{
    printf("{\"arena_bytes\":%lld,", (long long)t->bundle->arena_bytes);
    ig_bench_energy(&t->sessions[0], o, &(const struct ig_energy_run){rounds_for, t, "round"});
    printf("\"init_ms\":%.4f,\"networks\":[", t->init_ms);
    for (int k = 0; k < t->n; k++)
        printf("%s\n{\"alone_ms\":%.4f,\"in_turn_ms\":%.4f,\"name\":\"%s\"}", k ? "," : "", alone[t->order[k]], ms[k],
               t->sessions[t->order[k]].network);
    printf("\n],\"peak_rss_kib\":%ld,\"sequence_ms\":%.4f,\"threads\":%d}\n", ig_peak_rss_kib(), ms[t->n], t->threads);
}

static void print_text(struct ig_turns *t, const struct ig_options *o, const double *alone, const double *ms)
{
    char spoiled[160];
    int64_t weights = 0;
    ig_spoilers(spoiled, sizeof spoiled);
    printf("  %-36s %11s %11s %14s\n", "network", "alone, ms", "in turn, ms", "weights B");
    for (int k = 0; k < t->n; k++)
        printf("  %-36s %11.3f %11.3f %14lld\n", t->sessions[t->order[k]].network, alone[t->order[k]], ms[k],
               (long long)t->sessions[t->order[k]].program->model->weights_bytes);
    for (int i = 0; i < t->bundle->n; i++) weights += t->bundle->at[i].program->model->weights_bytes;
    printf("a round of these %.3f ms (medians, %d thread%s%s); init %.2f ms\n", ms[t->n], t->threads,
           t->threads == 1 ? "" : "s", spoiled, t->init_ms);
    printf("peak RSS %.1f MB, one arena of %lld B, weights of all %lld B\n", (double)ig_peak_rss_kib() * 1.024e-3,
           (long long)t->bundle->arena_bytes, (long long)weights);
    ig_bench_energy(&t->sessions[0], o, &(const struct ig_energy_run){rounds_for, t, "round"});
}

void ig_bench_bundle(struct ig_turns *t, const struct ig_options *o)
{
    int all = t->bundle->n;
    int64_t *ns = calloc((size_t)(t->n + 1) * MAX_ROUNDS, sizeof *ns);
    double *ms = calloc((size_t)t->n + 1, sizeof *ms), alone[IG_MAX_BUNDLE] = {0};
    if (!ns || !ms) ig_die("out of memory");
    for (int i = 0; i < all; i++) alone[i] = median_ms(ns, measure(t, &i, 1, o->seconds / (2 * all), ns));
    in_order(t, o->seconds / 2, ns, ms);
    if (o->json) print_json(t, o, alone, ms);
    else print_text(t, o, alone, ms);
    free(ns);
    free(ms);
}
