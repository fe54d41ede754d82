/* What a program of a plan with stages did: its --bench --json and its --trace. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"

static json_t *load(const char *path)
{
    json_error_t error;
    json_t *root = strcmp(path, "-") ? json_load_file(path, 0, &error) : json_loadf(stdin, 0, &error);
    if (!root) ig_fatal("%s: line %d: %s", path, error.line, error.text);
    return root;
}

static double number(const json_t *o, const char *key, const char *path)
{
    const json_t *x = json_object_get(o, key);
    double v = json_number_value(x);
    if (!json_is_number(x) || !(v >= 0)) ig_fatal("%s: '%s' is no number from 0 on", path, key);
    return v;
}

void ig_run_read_bench(struct ig_report_run *run, const char *path, const struct ig_plan *p)
{
    json_t *root = load(path);
    const json_t *stages = json_object_get(root, "stages");
    if (!p->n_stages) ig_fatal("--bench: the plan has no stages");
    if (json_array_size(stages) != (size_t)p->n_stages)
        ig_fatal("%s: not what --bench --json said of a program with %d stages", path, p->n_stages);
    for (int32_t i = 0; i < p->n_stages; i++) {
        const json_t *s = json_array_get(stages, (size_t)i);
        const char *on = json_string_value(json_object_get(s, "processor"));
        if (!on || strcmp(on, p->stages[i].processor))
            ig_fatal("%s: stage %d runs on '%.40s', the plan's on '%s'", path, i, on ? on : "", p->stages[i].processor);
        run->stage_ms[i] = number(s, "ms", path);
    }
    run->fps = number(root, "fps", path);
    run->latency_ms = number(root, "latency_ms", path);
    run->alone_ms = number(root, "latency_alone_ms", path);
    json_decref(root);
}

/* A span of a frame in a stage; others are arrows and names. */
static void take_span(struct ig_report_run *run, const json_t *e, const char *path, int32_t n_stages)
{
    const char *ph = json_string_value(json_object_get(e, "ph")), *name = json_string_value(json_object_get(e, "name"));
    int frame, stage;
    if (!ph || strcmp(ph, "X")) return;
    stage = (int)json_integer_value(json_object_get(e, "tid")) - 1;
    if (stage < 0 || stage >= n_stages || !name || sscanf(name, "frame %d", &frame) != 1 || frame < 0)
        ig_fatal("%s: not the --trace of a program with %d stages", path, n_stages);
    if (frame >= IG_RUN_FRAMES) return;
    run->begin_us[frame][stage] = number(e, "ts", path);
    run->end_us[frame][stage] = run->begin_us[frame][stage] + number(e, "dur", path);
    if (frame >= run->frames) run->frames = frame + 1;
}

void ig_run_read_trace(struct ig_report_run *run, const char *path, const struct ig_plan *p)
{
    json_t *root = load(path);
    const json_t *events = json_object_get(root, "traceEvents");
    if (!p->n_stages) ig_fatal("--trace: the plan has no stages");
    for (size_t i = 0; i < json_array_size(events); i++) take_span(run, json_array_get(events, i), path, p->n_stages);
    if (!run->frames) ig_fatal("%s: not the --trace of a program with %d stages", path, p->n_stages);
    json_decref(root);
}
