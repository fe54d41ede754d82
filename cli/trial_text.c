/* What was tried, as a table and as JSON. */
#include <math.h>

#include "cli/trial.h"

static double ms(double ns)
{
    return ns * 1e-6;
}

/* The standard error of a median, over it: of rounds that are normally distributed 0.98 of this. */
static double doubt(const struct ig_found *f)
{
    return f->spread / sqrt(fmax(f->rounds, 1));
}

/* A line where the rounds do not tell the chosen one from the next: two standard errors of what they differ by. */
static void put_doubt(FILE *f, const struct ig_trials *t)
{
    const struct ig_found *best = &t->entries[t->chosen].found, *next = NULL;
    for (int32_t i = 0; i < t->n; i++)
        if (i != t->chosen && (!next || t->entries[i].found.period_ns < next->period_ns)) next = &t->entries[i].found;
    if (!next) return;
    double apart = next->period_ns / best->period_ns - 1;
    if (apart < 2 * hypot(doubt(best), doubt(next)))
        fprintf(f, "  the two fastest differ by %.1f %%, their rounds by up to +-%.1f %%: either may be the better one; ingot trial --seconds %.0f would tell more\n",
                100 * apart, 100 * fmax(best->spread, next->spread), 4 * t->seconds);
}

void ig_trials_text(FILE *f, const struct ig_trials *t)
{
    fprintf(f, "model %s: whole plans at work on this machine, in turns\n", t->g->name);
    fprintf(f, "  %-44s %10s %6s %8s %6s %10s %10s %10s\n", "", "period ms", "+-%", "fps", "gain", "predicted", "latency ms", "alone ms");
    for (int32_t i = 0; i < t->n; i++) {
        const struct ig_trial_entry *e = &t->entries[i];
        const char *what = i ? "all cores as one team" : t->sets[0].processor;
        if (e->cut.n) what = e->option;
        fprintf(f, "%c %-44s %10.3f %6.1f %8.1f %6.3f %10.3f %10.3f %10.3f\n", i == t->chosen ? '*' : ' ', what,
                ms(e->found.period_ns), 100 * e->found.spread, 1e9 / e->found.period_ns,
                t->entries[0].found.period_ns / e->found.period_ns, ms(e->foretold_ns), ms(e->found.full_ns),
                ms(e->found.alone_ns));
    }
    put_doubt(f, t);
}

static void put_entry(FILE *f, const struct ig_trial_entry *e)
{
    fprintf(f,
            "{\"alone_ms\":%.6f,\"foretold_alone_ms\":%.6f,\"foretold_full_ms\":%.6f,\"foretold_ms\":%.6f,"
            "\"full_ms\":%.6f,\"period_ms\":%.6f,\"rounds\":%d,\"spread_percent\":%.1f,\"stage_ms\":[",
            ms(e->found.alone_ns), ms(e->foretold_alone_ns), ms(e->foretold_full_ns), ms(e->foretold_ns),
            ms(e->found.full_ns), ms(e->found.period_ns), e->found.rounds, 100 * e->found.spread);
    for (int32_t s = 0; s < e->plan->n_stages; s++) fprintf(f, "%s%.6f", s ? "," : "", ms(e->found.stage_ns[s]));
    fprintf(f, "],\"stages\":\"%s\",\"way\":\"%s\"}", e->option, e->what);
}

void ig_trials_json(FILE *f, const struct ig_trials *t)
{
    fprintf(f, "{\"chosen\":%d,\n\"trials\":[", t->chosen);
    for (int32_t i = 0; i < t->n; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_entry(f, &t->entries[i]);
    }
    fputs("\n]}\n", f);
}
