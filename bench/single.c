#include "bench/single.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "kernels_cpu/problem.h"

static const double run_s = 20e-6; /* long against the clock's own cost */
enum { MOST_RUNS = 400 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *own(struct ig_single *s, size_t bytes)
{
    bytes = bytes ? bytes : 1;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED || s->n_owned == IG_SINGLE_MOST) return NULL;
    s->owned[s->n_owned].data = p;
    s->owned[s->n_owned++].bytes = bytes;
    return p;
}

/* Floats in [-1/2, 1/2). */
static void fill(float *x, int64_t n)
{
    uint32_t seed = 1;
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) * 0x1p-24f - 0.5f;
    }
}

static int build(const struct ig_single_problem *p, const void *const *data, struct ig_call *call)
{
    const struct ig_shape *in[IG_MAX_IN] = {0}, *out = &p->out;
    int batch;
    for (int32_t i = 0; i < p->n_in; i++)
        if (p->in[i].rank) in[i] = &p->in[i];
    return ig_build_call((enum ig_op)p->kernel->op, p->attrs, in, data, p->n_in, &out, 1, call, &batch);
}

int ig_single_call(const struct ig_single_problem *p, struct ig_call *call)
{
    static const float there;
    const void *data[IG_MAX_IN] = {0};
    for (int32_t i = 0; i < p->n_in; i++)
        if (p->constants >> i & 1) data[i] = &there;
    return p->kernel->run && !build(p, data, call) && (!p->kernel->supports || p->kernel->supports(call));
}

static int operands(struct ig_single *s)
{
    const void *data[IG_MAX_IN] = {0};
    const struct ig_single_problem *p = &s->problem;
    for (int32_t i = 0; i < p->n_in; i++) {
        if (!p->in[i].rank) continue;
        float *x = own(s, (size_t)ig_bytes(&p->in[i]));
        if (!x) return -1;
        fill(x, ig_count(&p->in[i]));
        data[i] = x;
    }
    return build(p, data, &s->call);
}

/* Constants that were packed are not given, as in a generated program. */
static int pack(struct ig_single *s)
{
    const struct ig_kernel *k = s->kernel;
    if (!k->pack) return 0;
    void *w = own(s, k->pack(&s->call, NULL));
    if (!w) return -1;
    k->pack(&s->call, w);
    s->call.weights = w;
    for (int32_t i = 1; i < 3 && i < s->call.n_in; i++)
        if (s->problem.constants >> i & 1) s->call.in[i].data = NULL;
    return 0;
}

int ig_single_make(struct ig_single *s, const struct ig_single_problem *p)
{
    *s = (struct ig_single){.kernel = p->kernel, .problem = *p};
    int status = ig_single_call(&s->problem, &s->call) ? operands(s) : -1;
    if (!status) {
        s->call.zeros = own(s, ig_zeros_bytes(&s->call));
        s->call.out[0].data = own(s, (size_t)ig_bytes(&s->problem.out));
        s->scratch = own(s, p->kernel->scratch ? p->kernel->scratch(&s->call) : 0);
        status = !s->call.zeros || !s->call.out[0].data || !s->scratch ? -1 : pack(s);
    }
    if (status) ig_single_free(s);
    return status;
}

void ig_single_free(struct ig_single *s)
{
    for (int32_t i = 0; i < s->n_owned; i++) munmap(s->owned[i].data, s->owned[i].bytes);
    s->n_owned = 0;
}

static double run(struct ig_single *s, int32_t times)
{
    struct ig_range all = ig_full_range(&s->call);
    double start = now();
    for (int32_t i = 0; i < times; i++) s->kernel->run(&s->call, all, s->scratch);
    return now() - start;
}

double ig_single_ns(struct ig_single *s, int32_t runs, double seconds)
{
    int32_t times = 1;
    double one = run(s, 1), again = run(s, 1), end = now() + seconds / 2;
    if (again < one) one = again;
    if (one < run_s) times = (int32_t)(run_s / one) + 1;
    double best = one;
    for (int32_t i = 0; i < runs || (i < MOST_RUNS && now() < end); i++) {
        double t = run(s, times) / times;
        if (t < best) best = t;
    }
    return best * 1e9;
}
