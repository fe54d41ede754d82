#include "tests/support/contract.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "tests/support/image.h"
#include "tests/support/registers.h"

enum { MAX_ROW_CUTS = 7, MAX_CHANNEL_CUTS = 4, MAX_RANGES = MAX_ROW_CUTS * MAX_CHANNEL_CUTS, THREADS = 3 };

struct style {          /* how a run's operands lie in memory */
    const char *name;
    int front;          /* operands start, else end, at an unmapped page */
    int strided;        /* gaps between pixels and rows */
    int in_place;       /* 0: no; 1 + k: out[0] is in[k] */
    int32_t in_ring[IG_MAX_IN], out_ring[IG_MAX_OUT]; /* 0: whole images */
};

struct run {
    const struct ig_kernel *kernel;
    struct ig_call call;
    struct image in[IG_MAX_IN], out[IG_MAX_OUT];
    struct guard weights, zeros, scratch; /* scratch: of the calls one after the other */
};

struct piece {          /* one call of the kernel */
    const struct ig_kernel *kernel;
    const struct ig_call *call;
    struct ig_range range;
    void *scratch;
    int loses;          /* registers that it is to keep */
};

static int has(uint32_t mask, int k)
{
    return mask >> k & 1;
}

/* Extents as calls that are built from shapes have them. */
static struct ig_operand described(const struct check_problem *p, const struct ig_shape *s)
{
    struct ig_operand o;
    ig_describe(s, p->op, &o);
    return o;
}

/* Input k's extents: operands that broadcast are aligned to the output from the right. */
static struct ig_operand operand_in(const struct check_problem *p, int k)
{
    return ig_is_along_axes(p->op) ? described(p, &p->in[k]) : image_operand(&p->in[k], p->broadcasts ? p->out[0].rank : 0);
}

/* Output k's extents. */
static struct ig_operand operand_out(const struct check_problem *p, int k)
{
    if (ig_is_along_axes(p->op)) return described(p, &p->out[k]);
    return p->steps_first ? image_steps_first(&p->out[k], k == 0) : image_operand(&p->out[k], 0);
}

static int violated(struct contract *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->why, c->why_bytes, format, args);
    va_end(args);
    return -1;
}

static struct image_layout layout(struct contract *c, const struct style *s, int32_t ring)
{
    struct image_layout l = {.front = s->front, .ring_rows = ring};
    if (s->strided) {
        l.pixel_gap = rng_one_in(c->rng, 4) ? 0 : rng_int(c->rng, 0, 9); /* rows alone may lie apart */
        l.row_gap = rng_int(c->rng, 0, 17);
    }
    return l;
}

/* --- making a run --- */

static struct ig_call plan_call(const struct contract *c, const struct ig_call *call)
{
    struct ig_call plan = *call;
    plan.weights = plan.zeros = NULL;
    for (int k = 0; k < plan.n_in; k++)
        if (!has(c->problem->constant, k)) plan.in[k].data = NULL;
    for (int k = 0; k < plan.n_out; k++) plan.out[k].data = NULL;
    return plan;
}

struct ig_call contract_plan_call(const struct contract *c)
{
    const struct check_problem *p = c->problem;
    struct ig_call call = {.attrs = &p->attrs, .n_in = p->n_in, .n_out = p->n_out};
    for (int k = 0; k < p->n_in; k++)
        if (has(p->has_in, k)) {
            call.in[k] = operand_in(p, k);
            call.in[k].data = c->in[k];
        }
    for (int k = 0; k < p->n_out; k++)
        if (has(p->has_out, k)) call.out[k] = operand_out(p, k);
    return plan_call(c, &call);
}

static void place(struct contract *c, struct run *r, const struct style *s)
{
    const struct check_problem *p = c->problem;
    for (int k = 0; k < p->n_out; k++)
        if (has(p->has_out, k)) {
            image_make(&r->out[k], operand_out(p, k), layout(c, s, s->out_ring[k]));
            r->call.out[k] = r->out[k].operand;
        }
    for (int k = 0; k < p->n_in; k++) {
        if (!has(p->has_in, k)) continue;
        if (s->in_place == 1 + k) {
            r->call.in[k] = r->call.out[0];
            r->call.in[k].shape = &p->in[k];
            continue;
        }
        int constant = has(p->constant | p->dense, k);
        image_make(&r->in[k], operand_in(p, k),
                   constant ? (struct image_layout){.front = s->front} : layout(c, s, s->in_ring[k]));
        r->call.in[k] = r->in[k].operand;
        if (s->in_ring[k]) continue;
        image_load(&r->in[k], c->in[k], 0, r->in[k].operand.h);
        guard_read_only(&r->in[k].memory, 1);
    }
}

struct packing {
    const struct ig_kernel *kernel;
    struct ig_call plan;
    struct guard *weights;
    int front;
    size_t asked, made;
};

static void pack(void *arg)
{
    struct packing *p = arg;
    p->asked = p->kernel->pack(&p->plan, NULL);
    guard_make(p->weights, p->asked, 64, p->front);
    p->made = p->kernel->pack(&p->plan, p->weights->data);
}

static int pack_weights(struct contract *c, struct run *r, const struct style *s)
{
    struct packing p = {c->kernel, plan_call(c, &r->call), &r->weights, s->front, 0, 0};
    struct guard_fault fault = guard_call(pack, &p);
    if (fault.signal) return violated(c, "pack: %s", strsignal(fault.signal));
    if (p.made != p.asked) return violated(c, "pack: %zu bytes asked for, %zu made", p.asked, p.made);
    guard_read_only(&r->weights, 1);
    r->call.weights = r->weights.data;
    for (int k = 0; k < r->call.n_in; k++)
        if (has(c->problem->constant, k)) r->call.in[k].data = NULL;
    return 0;
}

static void run_free(struct run *r)
{
    for (int k = 0; k < IG_MAX_IN; k++) image_free(&r->in[k]);
    for (int k = 0; k < IG_MAX_OUT; k++) image_free(&r->out[k]);
    guard_free(&r->weights);
    guard_free(&r->zeros);
    guard_free(&r->scratch);
}

/* 1: made; 0: the kernel does not support such operands; -1 with why. */
static int run_make(struct contract *c, struct run *r, const struct style *s)
{
    const struct ig_kernel *k = c->kernel;
    *r = (struct run){.kernel = k, .call = {.attrs = &c->problem->attrs, .n_in = c->problem->n_in}};
    r->call.n_out = c->problem->n_out;
    place(c, r, s);
    struct ig_call plan = plan_call(c, &r->call);
    if (k->supports && !k->supports(&plan)) return 0;
    guard_make(&r->scratch, k->scratch ? k->scratch(&plan) : 0, 64, 0);
    size_t zeros = ig_reads_zeros((enum ig_op)k->op) ? ig_zeros_read(k, &r->call) : ig_zeros_bytes(&r->call);
    guard_make(&r->zeros, zeros, 64, s->front);
    memset(r->zeros.data, 0, r->zeros.bytes);
    guard_read_only(&r->zeros, 1);
    r->call.zeros = r->zeros.data;
    return k->pack && pack_weights(c, r, s) ? -1 : 1;
}

/* --- running --- */

static void call_kernel(void *arg)
{
    struct piece *p = arg;
    p->loses = !keeps_registers(p->kernel->run, p->call, p->range, p->scratch);
}

struct nearest {         /* the memory that an address is in or closest to */
    const unsigned char *address;
    ptrdiff_t distance;  /* bytes; 0: in it */
    char text[48];
};

static void closer(struct nearest *n, const struct guard *g, const char *name, int k)
{
    const unsigned char *a = n->address;
    if (!g->base) return;
    ptrdiff_t distance = a < g->base ? g->base - a : a >= g->base + g->size ? a - (g->base + g->size) + 1 : 0;
    if (distance >= n->distance) return;
    n->distance = distance;
    const char *where = a < g->base ? "before" : distance ? "past the end of" : "writing to";
    if (k < 0) snprintf(n->text, sizeof n->text, "%s %s", where, name);
    else snprintf(n->text, sizeof n->text, "%s %s[%d]", where, name, k);
}

/* Names the memory next to which, or in which, a kernel faulted. */
static void explain_fault(const struct run *r, const struct guard *scratch, const void *address, char *text,
                          size_t n)
{
    struct nearest at = {address, 65536, "at no operand's address"};
    closer(&at, &r->weights, "the packed weights", -1);
    closer(&at, &r->zeros, "zeros", -1);
    closer(&at, scratch, "scratch", -1);
    for (int k = 0; k < r->call.n_in; k++) closer(&at, &r->in[k].memory, "in", k);
    for (int k = 0; k < r->call.n_out; k++) closer(&at, &r->out[k].memory, "out", k);
    if (at.distance == 0 || at.distance == 65536) snprintf(text, n, "%s", at.text);
    else snprintf(text, n, "%td bytes %s", at.distance, at.text);
}

/* One call, in scratch that is full of poison; -1 with text if it faulted or lost a register. */
static int run_piece_in(const struct run *r, const struct guard *scratch, struct ig_range range, char *text, size_t n)
{
    struct piece p = {r->kernel, &r->call, range, scratch->data, 0};
    struct guard_fault fault = guard_call(call_kernel, &p);
    if (fault.signal) {
        char place_text[80];
        explain_fault(r, scratch, fault.address, place_text, sizeof place_text);
        snprintf(text, n, "%s %s, rows %d..%d, channels %d..%d", strsignal(fault.signal), place_text,
                 range.y0, range.y1, range.c0, range.c1);
    }
    if (p.loses) snprintf(text, n, "it loses registers, rows %d..%d, channels %d..%d", range.y0, range.y1, range.c0, range.c1);
    return fault.signal || p.loses ? -1 : 0;
}

static int run_piece(struct run *r, struct ig_range range, char *text, size_t n)
{
    guard_poison(&r->scratch);
    return run_piece_in(r, &r->scratch, range, text, n);
}

/* What `range` of the first output is of output k: all, where that has another extent, as an op has that is not cut. */
static struct ig_range range_of(const struct contract *c, int k, struct ig_range range)
{
    struct ig_operand first = operand_out(c->problem, 0), o = operand_out(c->problem, k);
    int same = !has(c->problem->has_out, 0) || (o.h == first.h && (o.w == first.w || c->problem->steps_first) && o.c == first.c);
    return same ? range : (struct ig_range){0, o.h, 0, o.c};
}

/*
 * Sign and payload of what is no number depend on the order of an instruction's operands, which is the compiler's to choose: of a
 * GPU's kernels, which are C++, nobody says more than that it is none.
 */
static int check_outputs(struct contract *c, const struct run *r, struct ig_range range, const char *style)
{
    char text[200];
    int any_nan = c->kernel->isa == IG_ISA_CUDA || c->problem->any_nan;
    for (int k = 0; k < r->call.n_out; k++)
        if (has(c->problem->has_out, k) && image_check(&r->out[k], c->whole[k], range_of(c, k, range), any_nan, text, sizeof text))
            return violated(c, "%s: out[%d] of rows %d..%d, channels %d..%d %s", style, k, range.y0, range.y1,
                            range.c0, range.c1, text);
    return 0;
}

static void poison_outputs(struct run *r)
{
    for (int k = 0; k < r->call.n_out; k++)
        if (r->out[k].memory.base) guard_poison(&r->out[k].memory);
}

static struct ig_range all_of(const struct contract *c)
{
    struct ig_operand o = operand_out(c->problem, 0);
    return (struct ig_range){0, o.h, 0, o.c};
}

/* --- cutting --- */

/* Where a piece that starts at `from` ends. */
static int32_t cut_end(struct rng *r, int32_t from, int32_t extent, int32_t tile, int left)
{
    if (!tile || left <= 1) return extent;
    int32_t tiles = (extent + tile - 1) / tile;
    int64_t to = from + (int64_t)tile * rng_int(r, 1, tiles > 6 ? tiles / 3 : 2);
    return to < extent ? (int32_t)to : extent;
}

/* Ranges that make up the whole output, in the order of rows. */
static int cut(struct contract *c, struct ig_range *ranges)
{
    struct ig_range all = all_of(c);
    int n = 0;
    for (int32_t y = 0, rows = 0, y1; y < all.y1; y = y1, rows++) {
        y1 = cut_end(c->rng, y, all.y1, c->kernel->row_tile, MAX_ROW_CUTS - rows);
        for (int32_t ch = 0, cols = 0, c1; ch < all.c1; ch = c1, cols++) {
            c1 = cut_end(c->rng, ch, all.c1, c->kernel->col_tile, MAX_CHANNEL_CUTS - cols);
            ranges[n++] = (struct ig_range){y, y1, ch, c1};
        }
    }
    return n;
}

static void shuffle(struct rng *r, struct ig_range *ranges, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int j = rng_int(r, 0, i);
        struct ig_range t = ranges[i];
        ranges[i] = ranges[j];
        ranges[j] = t;
    }
}

/* --- the ways to run --- */

int contract_whole(struct contract *c)
{
    struct style s = {.name = "dense"};
    struct run r;
    char text[200];
    int made = run_make(c, &r, &s), bad = made < 0;
    if (!made) bad = violated(c, "supports changed its mind");
    if (!bad && run_piece(&r, all_of(c), text, sizeof text)) bad = violated(c, "whole run: %s", text);
    for (int k = 0; !bad && k < r.call.n_out; k++)
        if (has(c->problem->has_out, k)) image_store(&r.out[k], c->whole[k]);
    if (!bad) bad = check_outputs(c, &r, all_of(c), "whole run");
    run_free(&r);
    return bad ? -1 : 0;
}

/* Pieces one by one, each on fresh poison. */
static int run_pieces(struct contract *c, struct run *r, const struct style *s, struct ig_range *ranges,
                      int n)
{
    char text[200];
    for (int i = 0; i < n; i++) {
        poison_outputs(r);
        if (run_piece(r, ranges[i], text, sizeof text)) return violated(c, "%s: %s", s->name, text);
        if (check_outputs(c, r, ranges[i], s->name)) return -1;
    }
    return 0;
}

/* The whole and then pieces in any order. */
static int check_style(struct contract *c, const struct style *s)
{
    struct run r;
    struct ig_range ranges[MAX_RANGES], all = all_of(c);
    int bad = run_make(c, &r, s);
    if (bad > 0) {
        bad = run_pieces(c, &r, s, &all, 1);
        int n = cut(c, ranges);
        shuffle(c->rng, ranges, n);
        if (!bad && n > 1) bad = run_pieces(c, &r, s, ranges, n);
    }
    run_free(&r);
    return bad;
}

static void needed_rows(const struct contract *c, int in, struct ig_range r, int32_t *a, int32_t *b)
{
    int32_t h = operand_in(c->problem, in).h;
    *a = h == 1 ? 0 : r.y0;
    *b = h == 1 ? 1 : r.y1;
    if (c->body->rows) c->body->rows(c->problem, in, r.y0, r.y1, a, b);
    *a = *a < 0 ? 0 : *a;
    *b = *b > h ? h : *b;
}

/* Rings just large enough for the largest piece. */
static struct style ring_style(const struct contract *c, const struct ig_range *ranges, int n)
{
    int only_out = !(c->kernel->flags & IG_STRIDED);
    struct style s = {.name = "rings of rows", .strided = !only_out};
    for (int i = 0; i < n; i++) {
        int32_t rows = ranges[i].y1 - ranges[i].y0;
        for (int k = 0; k < c->problem->n_out; k++)
            if (s.out_ring[k] < rows) s.out_ring[k] = rows;
        for (int k = 0; k < c->problem->n_in && !only_out; k++) {
            if (!has(c->problem->has_in, k) || has(c->problem->constant | c->problem->dense, k)) continue;
            int32_t a, b;
            needed_rows(c, k, ranges[i], &a, &b);
            if (s.in_ring[k] < b - a) s.in_ring[k] = b - a;
            if (!s.in_ring[k]) s.in_ring[k] = 1;
        }
    }
    return s;
}

/* Pieces whose input rows alone are in memory. */
static int check_rings(struct contract *c)
{
    struct ig_range ranges[MAX_RANGES];
    int n = cut(c, ranges);
    struct style s = ring_style(c, ranges, n);
    struct run r;
    int bad = run_make(c, &r, &s);
    for (int i = 0; bad >= 0 && r.call.zeros && i < n; i++) {
        for (int k = 0; k < c->problem->n_in; k++) {
            if (!s.in_ring[k]) continue;
            int32_t a, b;
            needed_rows(c, k, ranges[i], &a, &b);
            guard_poison(&r.in[k].memory);
            image_load(&r.in[k], c->in[k], a, b);
        }
        bad = run_pieces(c, &r, &s, &ranges[i], 1);
    }
    run_free(&r);
    return bad;
}

struct team {
    struct run run;
    struct ig_range ranges[MAX_RANGES];
    int n;
    atomic_int next, failed;
    char text[200]; /* of the first failure */
};

static void *work(void *arg)
{
    struct team *t = arg;
    for (int i; (i = atomic_fetch_add(&t->next, 1)) < t->n;) {
        char text[200];
        struct guard scratch;
        guard_make(&scratch, t->run.scratch.bytes, 64, 0);
        if (run_piece_in(&t->run, &scratch, t->ranges[i], text, sizeof text) && !atomic_fetch_add(&t->failed, 1))
            memcpy(t->text, text, sizeof text);
        guard_free(&scratch);
    }
    return NULL;
}

static int check_threads(struct contract *c)
{
    struct style s = {.name = "threads"};
    struct team t = {.next = 0};
    pthread_t threads[THREADS];
    int bad = run_make(c, &t.run, &s);
    if (bad > 0) {
        t.n = cut(c, t.ranges);
        shuffle(c->rng, t.ranges, t.n);
        for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, &t);
        for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
        bad = atomic_load(&t.failed) ? violated(c, "threads: %s", t.text)
                                     : check_outputs(c, &t.run, all_of(c), s.name);
    }
    run_free(&t.run);
    return bad;
}

/* out[0] is the memory of in[k], whole and in pieces. */
static int check_in_place(struct contract *c, int k, int whole)
{
    struct style s = {.name = whole ? "in place" : "in place, in pieces", .in_place = 1 + k};
    s.strided = !whole && c->kernel->flags & IG_STRIDED;
    struct ig_range ranges[MAX_RANGES] = {all_of(c)};
    struct run r;
    char text[200];
    int bad = run_make(c, &r, &s);
    if (bad > 0) {
        int n = whole ? 1 : cut(c, ranges);
        shuffle(c->rng, ranges, n);
        image_load(&r.out[0], c->in[k], 0, r.out[0].operand.h);
        bad = 0;
        for (int i = 0; i < n && !bad; i++)
            if (run_piece(&r, ranges[i], text, sizeof text)) bad = violated(c, "%s: %s", s.name, text);
        if (!bad) bad = check_outputs(c, &r, all_of(c), s.name);
    }
    run_free(&r);
    return bad;
}

static int may_be_in_place(const struct contract *c, int k)
{
    const struct check_problem *p = c->problem;
    if (!has(p->has_in, k) || has(p->constant, k)) return 0;
    struct ig_operand in = operand_in(p, k), out = operand_out(p, 0);
    return in.h == out.h && in.w == out.w && in.c == out.c && p->in[k].type == p->out[0].type;
}

int contract_check(struct contract *c)
{
    static const struct style dense[] = {{.name = "pieces"},
                                         {.name = "operands after an unmapped page", .front = 1}};
    static const struct style gaps[] = {{.name = "views with gaps", .strided = 1},
                                        {.name = "views after an unmapped page", .strided = 1, .front = 1}};
    static const struct {
        int flag, in;
    } places[] = {{IG_IN_PLACE_0, 0}, {IG_IN_PLACE_1, 1}, {IG_IN_PLACE_3, 3}};
    int strided = c->kernel->flags & IG_STRIDED;
    for (int i = 0; i < 2; i++) {
        if (check_style(c, &dense[i]) < 0) return -1;
        if (strided && check_style(c, &gaps[i]) < 0) return -1;
    }
    if ((strided || c->kernel->flags & IG_RING_OUT) && check_rings(c) < 0) return -1;
    if (check_threads(c) < 0) return -1;
    for (int i = 0; i < 3; i++)
        if (c->kernel->flags & places[i].flag && may_be_in_place(c, places[i].in))
            for (int whole = 0; whole < 2; whole++)
                if (check_in_place(c, places[i].in, whole) < 0) return -1;
    return 0;
}
