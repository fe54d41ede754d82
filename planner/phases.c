/*
 * How many rows of every ring must be kept. That is found by going through the phases as the executor will: rows are
 * asked for from the last member back to the first, what is not there is computed, and a ring holds at any time from
 * the lowest row that is still read to the highest that is there, of all that write into it. In the lowest phases
 * members that are asked for several rows go row by row, each a row before the next one goes on, so that what one does
 * not need any more is gone before another is ahead.
 */
#include "planner/alloc.h"
#include "planner/band.h"

struct walk { /* through the phases of one chunk */
    const struct ig_part *part;
    int by_tiles;              /* a phase is one tile of the last member: all go tile by tile */
    uint32_t several;          /* members that have several readers, or whose rows stay */
    int32_t done[IG_MAX_BAND]; /* where the rows end that are there */
    int32_t *rings;            /* [n_rings] grow to what is live */
    int64_t *computed;         /* [n] rows */
    struct ig_firing *firings; /* where they are noted down; or NULL */
    int32_t n_firings;
    struct ig_ring_life *lives; /* [n_rings] ...; or NULL */
    uint32_t late;             /* members that would write over rows that others are still to read */
};

static void produce(struct walk *w, int32_t i, int32_t a, int32_t b);

/* All rows [a, b) of what the members `from` write. */
static void feed(struct walk *w, uint32_t from, struct ig_rows need)
{
    for (int32_t row = need.a, next; row < need.b; row = next) {
        next = w->by_tiles ? row + 1 : need.b;
        for (uint32_t left = from; left; left &= left - 1) {
            int32_t m = __builtin_ctz(left);
            int32_t tile = w->part->row_tile[m], h = w->part->rows[m];
            int32_t a = ig_next_row(w->done[m], tile, need, w->several >> m & 1), b = (next + tile - 1) / tile * tile;
            if (b > h) b = h;
            if (a < b) produce(w, m, a, b);
        }
    }
}

static void keep(struct walk *w, int32_t ring, int32_t rows)
{
    if (ring >= 0 && rows > w->rings[ring]) w->rings[ring] = rows;
}

/* Rows of a ring that the firing now touches. */
static void touch(struct walk *w, int32_t ring, struct ig_rows rows)
{
    for (int32_t y = rows.a; w->lives && ring >= 0 && y < rows.b; y++) {
        struct ig_ring_life *l = &w->lives[ring];
        if (l->first[y] < 0) l->first[y] = w->n_firings;
        l->last[y] = w->n_firings;
    }
}

/* The rows of a chunk are gone, and others will be computed anew. */
static void bury(struct walk *w)
{
    for (int32_t r = 0; w->lives && r < w->part->n_rings; r++) {
        struct ig_ring_life *l = &w->lives[r];
        for (int32_t y = 0; y < l->rows; y++) {
            for (int32_t t = l->first[y]; t >= 0 && t <= l->last[y]; t++) l->busy[t / 64] |= UINT64_C(1) << t % 64;
            l->first[y] = -1;
        }
    }
}

/* Where the rows end that any member has written into a ring. */
static int32_t end_of(const struct walk *w, int32_t ring)
{
    int32_t end = 0;
    for (uint32_t left = ring < 0 ? 0 : w->part->writers[ring]; left; left &= left - 1) {
        int32_t m = __builtin_ctz(left);
        if (w->done[m] > end) end = w->done[m];
    }
    return end;
}

static struct ig_rows rows_of(const struct walk *w, const struct ig_feed *f, int32_t y, int32_t end)
{
    return ig_reach_rows(&f->reach, y, end, w->part->rows[__builtin_ctz(f->from)]);
}

/* Does that member, which has computed `done` rows, read none below `end` any more? */
static int is_past(const struct ig_part *part, int32_t m, const struct ig_reach *reach, int32_t done, int32_t end)
{
    return done >= part->rows[m] || ig_floor_div((int64_t)done * reach->mul + reach->lo, reach->div) >= end;
}

/* Is member i the last to read the rows up to `end` that it may write over? */
static int is_last_reader(const struct walk *w, int32_t i, int32_t end)
{
    const struct ig_part *part = w->part;
    for (int32_t v = 0; v < part->flow.n; v++)
        for (int32_t k = 0; k < part->flow.n_feeds[v]; k++)
            if (part->source[v][k] == part->source[i][part->over[i]] && (v != i || k != part->over[i]) &&
                (v == i || !is_past(part, v, &part->flow.feeds[v][k].reach, w->done[v], end)))
                return 0;
    return 1;
}

static void produce(struct walk *w, int32_t i, int32_t a, int32_t b)
{
    const struct ig_part *part = w->part;
    const struct ig_feed *feeds = part->flow.feeds[i];
    for (int32_t y = a, end; y < b; y = end) {
        end = w->by_tiles && b - y > part->row_tile[i] ? y + part->row_tile[i] : b;
        for (int32_t k = 0; k < part->flow.n_feeds[i]; k++) feed(w, feeds[k].from, rows_of(w, &feeds[k], y, end));
        for (int32_t k = 0; k < part->flow.n_feeds[i]; k++) {
            struct ig_rows need = rows_of(w, &feeds[k], y, end);
            if (need.a < need.b) keep(w, part->source[i][k], end_of(w, part->source[i][k]) - need.a);
            touch(w, part->source[i][k], need);
        }
        touch(w, part->ring[i], (struct ig_rows){y, end});
        if (w->lives && part->over[i] >= 0 && !is_last_reader(w, i, end)) w->late |= 1u << i;
        w->computed[i] += end - y;
        if (w->firings) w->firings[w->n_firings] = (struct ig_firing){i, end - y, end};
        w->n_firings++;
        w->done[i] = end;
        keep(w, part->ring[i], end - y);
    }
}

/* Rows [y, end) of the last member, and as much of the others whose rows stay. */
static void phase(struct walk *w, int32_t y, int32_t end)
{
    const struct ig_part *part = w->part;
    int32_t last = part->flow.n - 1;
    produce(w, last, y, end);
    for (int32_t m = 0; m < last; m++) {
        if (!(part->flow.kept >> m & 1)) continue;
        int64_t rows = ((int64_t)part->rows[m] * end + part->rows[last] - 1) / part->rows[last];
        feed(w, 1u << m, (struct ig_rows){w->done[m], (int32_t)rows});
    }
}

static int by_tiles(const struct ig_part *part, int32_t rows)
{
    return rows == ig_part_tile(part);
}

/* Where each member begins, for the last one to begin with row y: with the first row that any of its readers wants. */
static void begin(struct walk *w, int32_t y)
{
    const struct ig_flow *f = &w->part->flow;
    uint32_t read = 0;
    w->several = f->kept;
    for (int32_t i = 0; i < f->n; i++) w->done[i] = f->kept >> i & 1 ? 0 : w->part->rows[i];
    w->done[f->n - 1] = y;
    for (int32_t i = f->n - 1; i >= 0; i--)
        for (int32_t k = 0; k < f->n_feeds[i]; k++) {
            int32_t a = rows_of(w, &f->feeds[i][k], w->done[i], w->done[i] + 1).a;
            w->several |= read & f->feeds[i][k].from;
            read |= f->feeds[i][k].from;
            for (int32_t m = 0; m < i; m++)
                if ((f->feeds[i][k].from >> m & 1) && a < w->done[m]) w->done[m] = a - a % w->part->row_tile[m];
        }
}

static void walk_part(struct walk *w, int32_t rows, int32_t chunk)
{
    int32_t h = ig_part_rows(w->part);
    w->by_tiles = by_tiles(w->part, rows);
    for (int32_t from = 0, to; from < h; from = to) {
        to = h - from < chunk ? h : from + chunk;
        begin(w, from);
        for (int32_t y = from, end; y < to; y = end) phase(w, y, end = to - y < rows ? to : y + rows);
        bury(w);
    }
}

int ig_part_trails(const struct ig_part *part, const struct ig_reach *reach, int32_t rows)
{
    int32_t rings[IG_MAX_BAND] = {0}, h = ig_part_rows(part);
    int64_t computed[IG_MAX_BAND] = {0};
    struct walk w = {.part = part, .by_tiles = by_tiles(part, rows), .rings = rings, .computed = computed};
    begin(&w, 0);
    for (int32_t y = 0, end; y < h; y = end) {
        end = h - y < rows ? h : y + rows;
        produce(&w, part->flow.n - 1, y, end);
        for (int32_t m = 0; m < part->flow.n - 1; m++)
            if (reach[m].mul && !is_past(part, m, &reach[m], w.done[m], end)) return 0;
        phase(&w, end, end);
    }
    return 1;
}

void ig_part_rings(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings)
{
    int64_t computed[IG_MAX_BAND] = {0};
    struct walk w = {.part = part, .rings = rings, .computed = computed};
    for (int32_t i = 0; i < part->n_rings; i++) rings[i] = 1;
    walk_part(&w, rows, chunk);
}

struct ig_firing *ig_part_firings(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *n)
{
    int32_t rings[IG_MAX_BAND] = {0};
    int64_t computed[IG_MAX_BAND], most = 0;
    struct walk w = {.part = part, .rings = rings, .computed = computed};
    ig_part_work(part, rows, chunk, computed);
    for (int32_t i = 0; i < part->flow.n; i++) most += computed[i];
    w.firings = ig_must_alloc((size_t)most, sizeof *w.firings);
    walk_part(&w, rows, chunk);
    *n = w.n_firings;
    return w.firings;
}

uint32_t ig_part_lives(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings,
                       struct ig_ring_life *lives)
{
    int64_t computed[IG_MAX_BAND] = {0};
    for (int32_t i = 0; i < part->n_rings; i++) rings[i] = 1;
    struct walk w = {.part = part, .rings = rings, .computed = computed, .lives = lives};
    walk_part(&w, rows, chunk);
    uint32_t may = 0;
    for (int32_t i = 0; i < part->flow.n; i++)
        if (part->over[i] >= 0 && !(w.late >> i & 1)) may |= 1u << i;
    return may;
}

void ig_part_work(const struct ig_part *part, int32_t rows, int32_t chunk, int64_t *computed)
{
    int32_t rings[IG_MAX_BAND] = {0};
    struct walk w = {.part = part, .rings = rings, .computed = computed};
    for (int32_t i = 0; i < part->flow.n; i++) computed[i] = 0;
    walk_part(&w, rows, chunk);
}
