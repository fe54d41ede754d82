/* A network on bare metal: runs the input that the image carries and prints the best class on the serial line. */
#include "runtime/api.h"

/* Named by the linker (--defsym): the model's own symbols. */
extern const struct ig_model ig_bare_model;
extern const unsigned char ig_bare_weights[], ig_bare_input[], ig_bare_input_end[];
extern unsigned char ig_arena_start[];

void ig_bare_main(void);

static void put(char c)
{
    volatile uint32_t *const uart = (volatile uint32_t *)0x09000000; /* PL011 of the virt board: data register */
    *uart = (unsigned char)c;
}

static void put_text(const char *s)
{
    for (; *s; s++) put(*s);
}

static void put_number(uint64_t v, int digits)
{
    char text[24];
    int n = 0;
    do text[n++] = (char)('0' + v % 10);
    while ((v /= 10) || n < digits);
    while (n) put(text[--n]);
}

/* Four digits behind the point; what 64 bits do not hold in words. */
static void put_value(double v)
{
    if (v < 0) put('-');
    v = v < 0 ? -v : v;
    if (!(v < 1e14)) {
        put_text(v != v ? "nan" : "above 1e14");
        return;
    }
    uint64_t parts = (uint64_t)(v * 1e4 + 0.5);
    put_number(parts / 10000, 1);
    put('.');
    put_number(parts % 10000, 4);
}

static void put_result(const struct ig_shape *s, const void *y)
{
    int64_t n = ig_count(s), best = 0;
    for (int64_t i = 1; i < n; i++)
        if (ig_as_double(s->type, y, i) > ig_as_double(s->type, y, best)) best = i;
    put('#');
    put_number((uint64_t)best, 1);
    put(' ');
    put_value(ig_as_double(s->type, y, best));
    put('\n');
}

void ig_bare_main(void)
{
    const struct ig_model *m = &ig_bare_model;
    unsigned char *free_bytes = ig_arena_start;
    int64_t arena = ig_arena_total(m, 1), in_bytes = m->n_inputs ? ig_bytes(m->inputs[0].shape) : 0;
    struct ig_ctx ctx;
    void *out[8];
    const void *in[1] = {ig_bare_input};
    if (m->n_inputs > 1 || m->n_outputs > 8 || ig_bare_input_end - ig_bare_input != in_bytes) {
        put_text("the input in this image is not the network's\n");
        return;
    }
    void *arena_bytes = free_bytes;
    free_bytes += (arena + 63) / 64 * 64;
    for (int32_t i = 0; i < m->n_outputs; i++) {
        out[i] = free_bytes;
        free_bytes += (ig_bytes(m->outputs[i].shape) + 63) / 64 * 64;
    }
    int status = ig_ctx_init(&ctx, m, ig_bare_weights, arena_bytes, (size_t)arena);
    if (!status) status = ig_ctx_run(&ctx, in, out);
    if (status) {
        put_text(ig_status_text(status));
        put('\n');
    } else put_result(m->outputs[0].shape, out[0]);
}
