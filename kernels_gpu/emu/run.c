#include "kernels_gpu/emu/run.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/registry.h"

/* --- operands in device memory --- */

struct mirror {        /* of one operand */
    const struct ig_operand *host;
    struct ig_operand device;
    void *block;
};

static size_t type_bytes(const struct ig_operand *o)
{
    return (size_t)ig_type_bytes(o->shape->type);
}

static void *pixel_of(const struct ig_operand *o, int32_t y, int32_t x)
{
    return (char *)ig_row(o, y, (int32_t)type_bytes(o)) + (size_t)(x * o->pixel_stride) * type_bytes(o);
}

static void *take(size_t bytes)
{
    void *block = emu_alloc(bytes);
    if (!block) {
        fprintf(stderr, "emulator: no room for %zu bytes of device memory\n", bytes);
        abort();
    }
    return block;
}

static void mirror_make(struct mirror *m, const struct ig_operand *host, size_t shift, unsigned access)
{
    size_t bytes = type_bytes(host);
    int64_t last = (host->h - 1) * host->row_stride + (host->w - 1) * host->pixel_stride + host->c;
    m->host = host;
    m->block = take((size_t)last * bytes + shift);
    m->device = *host;
    m->device.data = (char *)m->block + shift;
    for (int32_t y = 0; y < host->h; y++)
        for (int32_t x = 0; x < host->w; x++) {
            void *to = pixel_of(&m->device, y, x);
            emu_allow(to, (size_t)host->c * bytes, access);
            memcpy(to, pixel_of(host, y, x), (size_t)host->c * bytes); /* what is not written comes back as it was */
        }
}

static void mirror_back(const struct mirror *m)
{
    for (int32_t y = 0; y < m->host->h; y++)
        for (int32_t x = 0; x < m->host->w; x++)
            memcpy(pixel_of(m->host, y, x), pixel_of(&m->device, y, x), (size_t)m->host->c * type_bytes(m->host));
}

static void *constants(const void *from, size_t bytes)
{
    void *block = take(bytes);
    if (from) memcpy(block, from, bytes);
    emu_allow(block, bytes, EMU_READ);
    return block;
}

static int launch(const struct ig_gpu_launch *of, uint32_t turn)
{
    struct ig_gpu_launch l = *of;
    struct emu_dim grid = {l.grid[0], l.grid[1], l.grid[2]};
    emu_kernel_fn *function = emu_function(l.function);
    if (!function) {
        fprintf(stderr, "emulator: no function %s\n", l.function);
        abort();
    }
    if (turn) memcpy(l.params + l.pointers * sizeof(uint64_t), &turn, sizeof turn);
    return emu_launch(l.function, function, grid, l.block, l.params);
}

/* Of many turns that are counted the last two, as those of one parity may be halves of steps. */
static int launch_all(const struct ig_gpu_launch *l, int n)
{
    for (int i = 0; i < n; i++) {
        const uint32_t turns = l[i].turns, first = emu_is_counting && turns > 2 ? turns - 2 : 0;
        emu_count_as(first ? turns / 2.0 : 1);
        for (uint32_t turn = first; turn < turns; turn++)
            if (launch(&l[i], turn)) return -1;
    }
    return 0;
}

/* Updates go into the copy that the output is. */
static int updates_output(const struct ig_kernel *k)
{
    return k->op == IG_SCATTER_ELEMENTS || k->op == IG_SCATTER_ND;
}

/* Moves the operands; every other time they begin at an odd multiple of an element's size. */
static void mirror_call(struct ig_call *device, const struct ig_call *call, struct mirror *in, struct mirror *out,
                        const struct ig_kernel *k, unsigned odd)
{
    int in_place = -1;
    for (int i = 0; i < call->n_in; i++) {
        in[i].block = NULL;
        if (!call->in[i].shape || !call->in[i].data) continue;
        if (call->in[i].data == call->out[0].data) in_place = i;
        else mirror_make(&in[i], &call->in[i], odd * type_bytes(&call->in[i]), EMU_READ), device->in[i] = in[i].device;
    }
    for (int i = 0; i < call->n_out; i++) {
        out[i].block = NULL;
        if (!call->out[i].shape) continue;
        unsigned access = i || in_place < 0 ? EMU_WRITE : EMU_READ | EMU_WRITE;
        mirror_make(&out[i], &call->out[i], odd * type_bytes(&call->out[i]), access | (updates_output(k) ? EMU_READ : 0));
        device->out[i] = out[i].device;
    }
    if (in_place >= 0) device->in[in_place].data = device->out[0].data;
}

static int watched = -1;

void emu_watch_input(int k)
{
    watched = k;
}

static void watch(const struct mirror *m)
{
    const struct ig_operand *o = &m->device;
    emu_watch(o->data, (size_t)((o->h - 1) * o->row_stride + (o->w - 1) * o->pixel_stride + o->c) * type_bytes(o));
}

int emu_run(const char *name, const struct ig_call *call)
{
    static unsigned runs;
    const struct ig_kernel *k = ig_kernel_by_name(name);
    struct ig_gpu_launch launches[IG_GPU_LAUNCHES];
    struct ig_call device = *call;
    struct mirror in[IG_MAX_IN], out[IG_MAX_OUT];
    size_t scratch_bytes = k->scratch ? k->scratch(call) : 0;
    int bad;
    mirror_call(&device, call, in, out, k, emu_is_counting ? 0 : runs++ % 2);
    size_t weights_bytes = k->pack ? k->pack(call, NULL) : 0;
    void *weights = k->pack ? constants(call->weights, weights_bytes) : NULL;
    void *zeros = constants(call->zeros, ig_zeros_bytes(call)), *scratch = take(scratch_bytes);
    emu_allow(scratch, scratch_bytes, EMU_READ | EMU_WRITE);
    device.weights = weights;
    device.zeros = zeros;
    if (watched == EMU_PACKED) emu_watch(weights, weights_bytes);
    else if (watched >= 0 && in[watched].block) watch(&in[watched]);
    bad = launch_all(launches, ig_gpu_launcher(name)(&device, scratch, launches));
    for (int i = 0; i < call->n_out; i++)
        if (!bad && out[i].block) mirror_back(&out[i]);
    emu_watch(NULL, 0);
    for (int i = 0; i < call->n_in; i++) emu_free(in[i].block);
    for (int i = 0; i < call->n_out; i++) emu_free(out[i].block);
    emu_free(weights);
    emu_free(zeros);
    emu_free(scratch);
    return bad;
}

/* --- the registry's run functions: a fault is the kernel's, as a signal is on a CPU --- */

/* Chips of all kinds by turns, the same for one problem. */
static int chip_for(const struct ig_call *call)
{
    static const int chips[] = {90, 72, 90, 62};
    const struct ig_operand *out = &call->out[0];
    return chips[(uint32_t)(out->h + out->w + out->c + call->in[0].c) % 4];
}

static void run_or_stop(const char *name, const struct ig_call *call)
{
    emu_set_chip(chip_for(call));
    if (!emu_run(name, call)) return;
    fprintf(stderr, "%s\n", emu_fault());
    raise(SIGTRAP);
}

#include "kernels_gpu/emu/runs.inc"
