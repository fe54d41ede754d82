/* Pipelines in words, as a table and as JSON. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/pipeline.h"
#include "planner/alloc.h"
#include "planner/pipe_slots.h"
#include "planner/text.h"

const char *const ig_way_names[IG_WAYS] = {
    "single", "team", "algorithm1-printed", "algorithm1", "neuropipe-printed", "neuropipe", "cuts", "stages",
    "shared", "map", "objective"};
static const char *const way_texts[IG_WAYS] = {"one processor",
                                               "all cores as one team",
                                               "Algorithm 1 as printed",
                                               "Algorithm 1",
                                               "NeuroPipe as printed",
                                               "NeuroPipe",
                                               "cuts of this order (A)",
                                               "cuts of any order (A)",
                                               "three stages, shared (B)",
                                               "any map (C)",
                                               "by the objective (D)"};

static double ms(int64_t ns)
{
    return (double)ns * 1e-6;
}

static int64_t period_of(const struct ig_pipeline_report *r, int32_t way)
{
    if (way == IG_WAY_TEAM) return r->team_ns;
    return r->of[way].n_stages ? r->of[way].period_ns : 0;
}

static void put_row(FILE *f, const struct ig_pipeline_report *r, int32_t way)
{
    const struct ig_pipe_plan *p = &r->of[way];
    int64_t t = period_of(r, way), single = period_of(r, IG_WAY_SINGLE);
    if (!t) {
        if (way != IG_WAY_TEAM && way != IG_WAY_OBJECTIVE) fprintf(f, "  %-24s  none\n", way_texts[way]);
        return;
    }
    fprintf(f, "%c %-24s %10.3f %8.1f", way == r->chosen ? '*' : ' ', way_texts[way], ms(t), 1e3 / ms(t));
    if (single)
        fprintf(f, " %6.3f", (double)single / (double)t);
    else
        fprintf(f, " %6s", "");
    if (way == IG_WAY_TEAM)
        fprintf(f, " %6d %10.3f %9s %10s", 1, ms(t), "", "");
    else
        fprintf(f, " %6d %10.3f %9.1f %10.3f", p->n_stages, ms(p->latency_ns), (double)p->moved_bytes * 1e-3,
                (double)p->memory_bytes * 1e-6);
    if (way != IG_WAY_TEAM) fprintf(f, " %6.2f %%", (double)ig_pipe_gap_ppm(t, r->bound_ns) * 1e-4);
    fprintf(f, "\n");
}

void ig_pipeline_table(FILE *f, const struct ig_pipeline_report *r)
{
    const struct ig_pipe *p = &r->net->p;
    fprintf(f, "model %s: %d segment%s on", r->g->name, p->n, ig_plural(p->n));
    for (int32_t k = 0; k < p->n_processors; k++) fprintf(f, "%s %s", k ? "," : "", p->processors[k]);
    if (r->ideals >= 0) fprintf(f, "; %d place%s to cut at", r->ideals, ig_plural(r->ideals));
    fprintf(f, "\ntimes %s\n", r->times);
    fprintf(f, "  %-24s %10s %8s %6s %6s %10s %9s %10s %8s\n", "", "period ms", "fps", "gain", "stages", "latency ms",
            "moved KB", "memory MB", "gap");
    for (int32_t way = 0; way < IG_WAYS; way++) put_row(f, r, way);
    fprintf(f, "  %-24s %10.3f\n", "lower bound", ms(r->bound_ns));
}

/* --- the chosen plan --- */

static void put_stage(FILE *f, const struct ig_pipeline_report *r, const struct ig_pipe_plan *plan, int32_t s)
{
    const struct ig_pipe *p = &r->net->p;
    int32_t n = 0, first = -1, last = -1;
    for (int32_t v = 0; v < p->n; v++) {
        if (plan->stage[v] != s) continue;
        if (first < 0) first = v;
        last = v;
        n++;
    }
    fprintf(f, "  stage %d on %s: %.3f ms, %d segments, %s .. %s\n", s, p->processors[plan->processor[s]],
            ms(plan->stage_ns[s]), n, p->names[first], p->names[last]);
}

static int32_t slots_behind(const struct ig_pipe_plan *plan, int32_t s)
{
    return s + 1 < plan->n_stages ? ig_slots_between(plan->stage_ns[s], plan->stage_ns[s + 1]) : 2;
}

/* Are the processors sets of cores, or such and the GPU, as programs have them? */
static int can_run(const struct ig_pipe *p)
{
    for (int32_t k = 0; k < p->n_processors; k++)
        if (!strncmp(p->processors[k], "cpu:", 4)) return 1;
    return 0;
}

void ig_pipeline_option(FILE *f, const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *plan = &r->of[r->chosen];
    if (r->chosen == IG_WAY_TEAM || plan->n_stages < 2 || !can_run(&r->net->p)) return;
    for (int32_t v = 1; v < plan->n; v++)
        if (plan->stage[v] < plan->stage[v - 1]) return;
    int32_t from = r->net->host, to = plan->n - r->net->host; /* other threads run what is before and behind */
    for (int32_t v = from; v < to; v++) {
        int32_t s = plan->stage[v], ends = v + 1 < to && plan->stage[v + 1] != s;
        if (v == from || plan->stage[v - 1] != s)
            fprintf(f, "%s%s", v > from ? "," : "", r->net->p.processors[plan->processor[s]]);
        if (ends) fprintf(f, "/%d@%d", slots_behind(plan, s), r->net->first_step[v + 1] - 1);
    }
}

void ig_pipeline_stages(FILE *f, const struct ig_pipeline_report *r)
{
    if (r->chosen == IG_WAY_TEAM) return;
    const struct ig_pipe_plan *plan = &r->of[r->chosen];
    for (int32_t s = 0; s < plan->n_stages; s++) put_stage(f, r, plan, s);
    if ((r->chosen != IG_WAY_CUTS && r->chosen != IG_WAY_OBJECTIVE) || plan->n_stages < 2 ||
        !can_run(&r->net->p))
        return;
    fprintf(f, "  ingot plan --stages=");
    ig_pipeline_option(f, r);
    fprintf(f, "\n");
}

/* The slots between stages, slots[n], and the stages as a line of them. */
static struct ig_slots line_of(const struct ig_pipe_plan *plan, int32_t *slots)
{
    for (int32_t s = 0; s < plan->n_stages; s++) slots[s] = slots_behind(plan, s);
    return (struct ig_slots){.n = plan->n_stages, .ns = plan->stage_ns, .on = plan->processor, .slots = slots};
}

/* From end to end of a frame that others wait behind. */
static int64_t full_latency(const struct ig_pipe_plan *plan)
{
    enum { FRAMES = 64 };
    int32_t n = plan->n_stages, *slots = ig_must_alloc((size_t)n, sizeof *slots);
    int64_t *start = ig_must_alloc((size_t)n * FRAMES, sizeof *start);
    struct ig_slots line = line_of(plan, slots);
    int64_t last = ig_slots_run(&line, FRAMES, 0, start), latency = last - start[(int64_t)(FRAMES - 1) * n];
    free(slots);
    free(start);
    return latency;
}

static void explain_one(FILE *f, const struct ig_pipeline_report *r)
{
    int64_t single = period_of(r, IG_WAY_SINGLE), best = period_of(r, IG_WAY_MAP);
    if (r->team_ns && r->chosen == IG_WAY_TEAM) {
        int64_t cuts = period_of(r, IG_WAY_CUTS);
        fprintf(f, "All %d cores on each frame are best here: %.3f ms a frame", r->team_threads, ms(r->team_ns));
        if (cuts) fprintf(f, ", where stages on consecutive frames take %.3f.", ms(cuts));
        fprintf(f, " No other way to cut could take less than %.3f.\n", ms(r->bound_ns));
        return;
    }
    if (r->least_gain > 0) {
        fprintf(f, "%s alone is taken: stages promise %.1f %% more frames, and less than %g %% may be nothing (--least-gain).\n",
                r->net->p.processors[r->of[IG_WAY_SINGLE].processor[0]],
                100 * ((double)single / (double)period_of(r, IG_WAY_CUTS) - 1), r->least_gain);
        return;
    }
    fprintf(f, "One processor is best here: a second stage could gain at most %.1f %%",
            single ? 100 * ((double)single / (double)r->bound_ns - 1) : 0.0);
    if (best && best < single)
        fprintf(f, ", and any map that was found gains %.1f %%", 100 * ((double)single / (double)best - 1));
    fprintf(f, ".\n");
}

/* What keeps the slowest stage from being shorter. */
static void explain_slowest(FILE *f, const struct ig_pipeline_report *r, const struct ig_pipe_plan *plan)
{
    const struct ig_pipe *p = &r->net->p;
    int32_t slow = 0, big = 0;
    for (int32_t k = 1; k < p->n_processors; k++)
        if (plan->load_ns[k] > plan->load_ns[slow]) slow = k;
    for (int32_t v = 0; v < p->n; v++)
        if (plan->on[v] == slow && (plan->on[big] != slow || p->ns[(int64_t)v * p->n_processors + slow] >
                                                                 p->ns[(int64_t)big * p->n_processors + slow]))
            big = v;
    fprintf(f, "%s sets the pace with %.3f ms a frame, of which its longest segment, %s, is %.1f %%;",
            p->processors[slow], ms(plan->load_ns[slow]), p->names[big],
            100 * (double)p->ns[(int64_t)big * p->n_processors + slow] / (double)plan->period_ns);
    for (int32_t k = 0, comma = 0; k < p->n_processors; k++)
        if (k != slow)
            fprintf(f, "%s %s is busy %.1f %%", comma++ ? "," : "", p->processors[k],
                    100 * (double)plan->load_ns[k] / (double)plan->period_ns);
    fprintf(f, " of that.\n");
}

void ig_pipeline_explain(FILE *f, const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *plan = &r->of[r->chosen];
    int64_t t = period_of(r, r->chosen), single = period_of(r, IG_WAY_SINGLE);
    if (r->chosen == IG_WAY_OBJECTIVE) return; /* ig_pipeline_wish says it */
    if (r->chosen == IG_WAY_TEAM || plan->n_stages == 1) {
        explain_one(f, r);
        return;
    }
    if (single)
        fprintf(f, "%d stages take %.3f ms a frame, one processor alone %.3f: %.3f times as many frames.\n",
                plan->n_stages, ms(t), ms(single), (double)single / (double)t);
    else
        fprintf(f, "No processor runs all of it; %d stages take %.3f ms a frame.\n", plan->n_stages, ms(t));
    explain_slowest(f, r, plan);
    fprintf(f, "No plan at all takes less than %.3f ms: at most %.2f %% are left.", ms(r->bound_ns),
            (double)ig_pipe_gap_ppm(t, r->bound_ns) * 1e-4);
    for (int32_t way = r->chosen + 1; way < IG_WAYS; way++)
        if (period_of(r, way) && period_of(r, way) < t)
            fprintf(f, " %s would gain %.2f %% with %d stages.", way_texts[way],
                    100 * ((double)t / (double)period_of(r, way) - 1), r->of[way].n_stages);
    fprintf(f,
            "\n%.1f KB a frame change processors. A frame takes %.3f ms from end to end if it comes alone, and %.3f if "
            "others always wait.\n",
            (double)plan->moved_bytes * 1e-3, ms(plan->latency_ns), ms(full_latency(plan)));
}

void ig_pipeline_gantt(FILE *f, const struct ig_pipeline_report *r)
{
    enum { FRAMES = 5, WIDTH = 96 };
    const struct ig_pipe_plan *plan = &r->of[r->chosen];
    if (r->chosen == IG_WAY_TEAM || !plan->n_stages) return;
    int32_t n = plan->n_stages, *slots = ig_must_alloc((size_t)n, sizeof *slots);
    int64_t *start = ig_must_alloc((size_t)n * FRAMES, sizeof *start);
    struct ig_slots line = line_of(plan, slots);
    int64_t last = ig_slots_run(&line, FRAMES, 0, start);
    if (!last) last = 1; /* of a profile without times */
    for (int32_t s = 0; s < n; s++) {
        char row[WIDTH + 1];
        memset(row, '.', WIDTH);
        row[WIDTH] = 0;
        for (int32_t k = 0; k < FRAMES; k++) {
            int64_t from = start[(int64_t)k * n + s] * WIDTH / last,
                    to = (start[(int64_t)k * n + s] + plan->stage_ns[s]) * WIDTH / last;
            for (int64_t x = from; x < to && x < WIDTH; x++) row[x] = (char)('0' + k);
        }
        fprintf(f, "  stage %-2d %-8s |%s|\n", s, r->net->p.processors[plan->processor[s]], row);
    }
    free(slots);
    free(start);
}

void ig_pipeline_front(FILE *f, const struct ig_pipeline_report *r)
{
    struct ig_pipe in_order = r->net->p;
    struct ig_pipe_front front;
    in_order.in_order = 1;
    ig_pipe_front_make(&in_order, &front);
    fprintf(f, "%d of %lld plans are beaten by none:\n  %10s %10s %10s  stages\n", front.n, (long long)front.points,
            "period ms", "memory MB", "mJ");
    for (int32_t i = 0; i < front.n; i++) {
        const struct ig_pipe_plan *p = &front.plans[i];
        fprintf(f, "  %10.3f %10.3f %10.3f ", ms(p->period_ns), (double)p->memory_bytes * 1e-6,
                (double)p->energy_pj * 1e-9);
        for (int32_t s = 0, v = 0; s < p->n_stages; s++) {
            while (v < p->n && p->stage[v] == s) v++;
            fprintf(f, " %s", r->net->p.processors[p->processor[s]]);
            if (v < p->n) fprintf(f, " up to %s,", r->net->p.names[v - 1]);
        }
        fprintf(f, "\n");
    }
    ig_pipe_front_free(&front);
}

/* --- JSON --- */

static void put_plan(FILE *f, const struct ig_pipeline_report *r, int32_t way)
{
    const struct ig_pipe_plan *p = &r->of[way];
    fprintf(f,
            "{\"algorithm\":\"%s\",\"energy_pj\":%lld,\"latency_ns\":%lld,\"memory_bytes\":%lld,\"moved_bytes\":%lld,\"period_ns\":%lld,"
            "\"stage_ns\":[",
            ig_way_names[way], (long long)p->energy_pj, (long long)(way == IG_WAY_TEAM ? r->team_ns : p->latency_ns),
            (long long)p->memory_bytes,
            (long long)p->moved_bytes, (long long)period_of(r, way));
    for (int32_t s = 0; s < p->n_stages; s++) fprintf(f, "%s%lld", s ? "," : "", (long long)p->stage_ns[s]);
    fprintf(f, "],\"stages\":[");
    for (int32_t s = 0; s < p->n_stages; s++) {
        if (s) fprintf(f, ",");
        ig_put_text(f, r->net->p.processors[p->processor[s]]);
    }
    fprintf(f, "]}");
}

static void put_nodes(FILE *f, const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *p = &r->of[r->chosen];
    for (int32_t v = 0; v < r->net->p.n && p->n_stages; v++) {
        fprintf(f, "%s\n{\"first\":", v ? "," : "");
        ig_put_text(f, r->net->p.names[v]);
        fprintf(f, ",\"first_step\":%d,\"last_step\":%d,\"processor\":", r->net->first_step[v], r->net->last_step[v]);
        ig_put_text(f, r->net->p.processors[p->on[v]]);
        fprintf(f, ",\"stage\":%d}", p->stage[v]);
    }
}

void ig_pipeline_json(FILE *f, const struct ig_pipeline_report *r)
{
    int any = 0;
    fprintf(f, "{\n\"algorithms\":[");
    for (int32_t way = 0; way < IG_WAYS; way++) {
        if (!period_of(r, way)) continue;
        fprintf(f, "%s\n", any++ ? "," : "");
        put_plan(f, r, way);
    }
    fprintf(f, "\n],\n\"bound_ns\":%lld,\n\"chosen\":\"%s\",\n\"ideals\":%d,\n\"model\":", (long long)r->bound_ns,
            ig_way_names[r->chosen], r->ideals);
    ig_put_text(f, r->g->name);
    if (r->wish)
        fprintf(f, ",\n\"plans_kept\":%lld,\n\"plans_looked_at\":%lld", (long long)r->choice.kept, (long long)r->choice.looked);
    fprintf(f, ",\n\"segments\":[");
    put_nodes(f, r);
    fprintf(f, "\n],\n\"stages_option\":\"");
    ig_pipeline_option(f, r);
    fprintf(f, "\",\n\"times\":");
    ig_put_text(f, r->times);
    fprintf(f, "\n}\n");
}
