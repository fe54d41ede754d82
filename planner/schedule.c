/* Bands in words. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/loops.h"

enum { NAME = 32 };

/* Each different firing once: names[] by the numbers that are written to list[n]. Returns how many there are. */
static int32_t number_firings(const struct ig_firing *firings, int32_t n, const int32_t *numbers, int32_t *list,
                              char (*names)[NAME])
{
    struct ig_firing *kinds = ig_must_alloc((size_t)n, sizeof *kinds);
    int32_t n_kinds = 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < n_kinds && (kinds[k].member != firings[i].member || kinds[k].rows != firings[i].rows)) k++;
        list[i] = k;
        if (k < n_kinds) continue;
        int at = snprintf(names[k], NAME, "l%d", numbers[firings[i].member]);
        if (firings[i].rows > 1) snprintf(names[k] + at, NAME - (size_t)at, ":%d", firings[i].rows);
        kinds[n_kinds++] = firings[i];
    }
    free(kinds);
    return n_kinds;
}

static size_t firings_text(const struct ig_firing *firings, int32_t n, const int32_t *numbers, char *text, size_t bytes)
{
    int32_t *list = ig_must_alloc((size_t)n, sizeof *list);
    char(*names)[NAME] = ig_must_alloc((size_t)n, sizeof *names);
    const char **name = ig_must_alloc((size_t)n, sizeof *name);
    struct ig_loops loops;
    int32_t kinds = number_firings(firings, n, numbers, list, names);
    for (int32_t k = 0; k < kinds; k++) name[k] = names[k];
    ig_loops_make(&loops, list, n);
    size_t length = ig_loops_text(&loops, name, text, bytes);
    if (length >= bytes && bytes > 3) memcpy(text + bytes - 4, "...", 4);
    ig_loops_free(&loops);
    free(list);
    free(names);
    free(name);
    return length;
}

size_t ig_schedule_text(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *band,
                        const int32_t *numbers, char *text, size_t bytes)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    const struct ig_plan_step *last = &p->steps[band->last];
    struct ig_part part;
    size_t length = 0;
    ig_compute_views(g, views);
    if (bytes) text[0] = 0;
    if (ig_part_of(g, views, p, band, &part)) {
        int32_t n, chunk = last->split ? last->chunk : ig_part_rows(&part);
        struct ig_firing *firings = ig_part_firings(&part, band->rows, chunk, &n);
        length = firings_text(firings, n, numbers, text, bytes);
        free(firings);
    }
    free(views);
    return length;
}
