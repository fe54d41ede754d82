/* What was tried, as a table and as JSON. */
#include "cli/trial.h"

static double ms(double ns)
{
    return ns * 1e-6;
}

void ig_trials_text(FILE *f, const struct ig_trials *t)
{
    fprintf(f, "model %s: whole plans at work on this machine, in turns\n", t->g->name);
    fprintf(f, "  %-44s %10s %8s %6s %10s %10s %10s\n", "", "period ms", "fps", "gain", "predicted", "latency ms", "alone ms");
    for (int32_t i = 0; i < t->n; i++) {
        const struct ig_trial_entry *e = &t->entries[i];
        const char *what = i ? "all cores as one team" : t->sets[0].processor;
        if (e->cut.n) what = e->option;
        fprintf(f, "%c %-44s %10.3f %8.1f %6.3f %10.3f %10.3f %10.3f\n", i == t->chosen ? '*' : ' ', what,
                ms(e->found.period_ns), 1e9 / e->found.period_ns,
                t->entries[0].found.period_ns / e->found.period_ns, ms(e->foretold_ns), ms(e->found.full_ns),
                ms(e->found.alone_ns));
    }
}

static void put_entry(FILE *f, const struct ig_trial_entry *e)
{
    fprintf(f,
            "{\"alone_ms\":%.6f,\"foretold_alone_ms\":%.6f,\"foretold_full_ms\":%.6f,\"foretold_ms\":%.6f,"
            "\"full_ms\":%.6f,\"period_ms\":%.6f,\"rounds\":%d,\"stage_ms\":[",
            ms(e->found.alone_ns), ms(e->foretold_alone_ns), ms(e->foretold_full_ns), ms(e->foretold_ns),
            ms(e->found.full_ns), ms(e->found.period_ns), e->found.rounds);
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
