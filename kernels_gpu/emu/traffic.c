/*
 * What the accesses of kernels cost a GPU's memory: lanes of a warp that come to one instruction for the n-th time since the last
 * barrier make one request. By NVIDIA's Nsight Compute documentation ("Memory Tables") shared memory serves a request in wavefronts,
 * each of 32 banks of four bytes; device memory comes in sectors of 32 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels_gpu/emu/emu.h"

enum { BANKS = 32, BANK = 4, SECTOR = 32, LAUNCHES = 8, KINDS = 4, WIDE = 16, SITES = 1 << 14 };

int emu_is_counting;

struct access {
    const void *site;        /* where the kernel's code goes on behind it */
    uint64_t address;
    uint8_t bytes, kind;
};

static struct log {          /* of a thread since the last barrier */
    struct access *list;
    size_t n, room;
    uint64_t vector, behind; /* what it accesses next as a whole, though the host's compiler may take it apart */
    int kind;                /* what it has accessed it as; -1: not yet */
} logs[EMU_MAX_THREADS];

struct request {             /* of a warp */
    const void *site;
    uint32_t turn, lanes;    /* the n-th at its site; a bit for each lane that takes part */
    uint8_t bytes, kind;
    uint64_t address[EMU_WARP];
};

struct table {               /* of requests by site and turn; of sectors of a block. A hash table of indices from 1 */
    uint32_t *slots;
    size_t room, n;
};

static struct request *requests;
static size_t n_requests, room_requests;
static struct table by_site, by_sector;
static uint64_t *sectors;    /* that the running block has read */
static size_t room_sectors;
static unsigned sampled;
static struct emu_traffic counted[LAUNCHES];
static unsigned n_counted;
static double times = 1;

static void *more(void *list, size_t *room, size_t bytes)
{
    *room = *room ? 2 * *room : 1024;
    list = realloc(list, *room * bytes);
    if (!list) abort();
    return list;
}

void emu_count(unsigned blocks)
{
    sampled = blocks;
    n_counted = 0;
    emu_is_counting = blocks > 0;
}

void emu_count_as(double n)
{
    times = n;
}

const struct emu_traffic *emu_counted(unsigned i)
{
    return i < n_counted ? &counted[i] : NULL;
}

unsigned emu_sampled(void)
{
    return sampled;
}

void emu_traffic_vector(const void *p, size_t bytes)
{
    struct log *l = &logs[emu_now.thread.x];
    l->vector = (uintptr_t)p, l->behind = (uintptr_t)p + bytes, l->kind = -1;
}

void emu_traffic_access(const void *site, const void *p, size_t bytes, int kind)
{
    struct log *l = &logs[emu_now.thread.x];
    uint64_t address = (uintptr_t)p;
    if (address >= l->vector && address + bytes <= l->behind) {
        if (l->kind == kind) return;
        address = l->vector, bytes = l->behind - l->vector, l->kind = kind;
    }
    if (l->n == l->room) l->list = more(l->list, &l->room, sizeof *l->list);
    l->list[l->n++] = (struct access){site, address, (uint8_t)bytes, (uint8_t)kind};
}

/* --- requests --- */

static size_t hash(uint64_t a, uint64_t b)
{
    return (size_t)((a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu) >> 20);
}

static void clear(struct table *t)
{
    if (t->n) memset(t->slots, 0, t->room * sizeof *t->slots);
    t->n = 0;
}

static int is_full(const struct table *t)
{
    return 2 * t->n >= t->room;
}

static void widen(struct table *t)
{
    t->room = t->room ? 2 * t->room : 4096;
    free(t->slots);
    t->slots = calloc(t->room, sizeof *t->slots);
    if (!t->slots) abort();
}

static uint32_t *request_slot(const void *site, uint32_t turn)
{
    size_t i = hash((uintptr_t)site, turn) & (by_site.room - 1);
    while (by_site.slots[i] && (requests[by_site.slots[i] - 1].site != site || requests[by_site.slots[i] - 1].turn != turn))
        i = (i + 1) & (by_site.room - 1);
    return &by_site.slots[i];
}

static struct request *request(const struct access *a, uint32_t turn)
{
    if (is_full(&by_site)) {
        widen(&by_site);
        for (size_t i = 0; i < n_requests; i++) *request_slot(requests[i].site, requests[i].turn) = (uint32_t)i + 1;
    }
    uint32_t *slot = request_slot(a->site, turn);
    if (*slot) return &requests[*slot - 1];
    if (n_requests == room_requests) requests = more(requests, &room_requests, sizeof *requests);
    requests[n_requests] = (struct request){.site = a->site, .turn = turn, .bytes = a->bytes, .kind = a->kind};
    by_site.n++;
    *slot = (uint32_t)++n_requests;
    return &requests[n_requests - 1];
}

/* How often the lane whose log is gone through has been at the site, from 0. */
static uint32_t visit(const void *site, uint32_t run)
{
    static struct {
        const void *site;
        uint32_t run, turn;
    } visits[SITES];
    size_t i = hash((uintptr_t)site, 0) % SITES, tries = 0;
    while (visits[i].run == run && visits[i].site != site) {
        if (++tries == SITES) emu_fail("more than %d accesses in the code", SITES);
        i = (i + 1) % SITES;
    }
    if (visits[i].run == run) return ++visits[i].turn;
    visits[i].site = site, visits[i].run = run, visits[i].turn = 0;
    return 0;
}

static void join(unsigned lane, const struct log *l)
{
    static uint32_t run;
    run++;
    for (size_t i = 0; i < l->n; i++) {
        struct request *r = request(&l->list[i], visit(l->list[i].site, run));
        r->lanes |= 1u << lane;
        r->address[lane] = l->list[i].address;
    }
}

/* --- what they cost --- */

/* Distinct units of `unit` bytes that lanes [from, from + n) touch, in `units`. */
static unsigned distinct(const struct request *r, unsigned from, unsigned n, unsigned unit, uint64_t units[EMU_WARP * WIDE])
{
    unsigned count = 0;
    for (unsigned lane = from; lane < from + n; lane++) {
        if (!(r->lanes >> lane & 1)) continue;
        for (uint64_t u = r->address[lane] / unit; u <= (r->address[lane] + r->bytes - 1) / unit; u++) {
            unsigned i = 0;
            while (i < count && units[i] != u) i++;
            units[i] = u;
            count += i == count;
        }
    }
    return count;
}

static int share(const struct request *r, unsigned bit)
{
    for (unsigned lane = 0; lane < EMU_WARP; lane++)
        if (r->lanes != ~0u || r->address[lane] != r->address[lane ^ bit]) return 0;
    return 1;
}

/*
 * Accesses of 8 and 16 bytes go by halves and quarters of a warp, two of these at once where all lanes that differ in bit 0 alone, or
 * all that differ in bit 1 alone, have one address.
 */
static void shared(const struct request *r, struct emu_flow *f)
{
    uint64_t words[EMU_WARP * WIDE];
    unsigned step = r->bytes <= BANK ? EMU_WARP : EMU_WARP * BANK / r->bytes;
    if (step < EMU_WARP && (share(r, 1) || share(r, 2))) step *= 2;
    for (unsigned from = 0; from < EMU_WARP; from += step) {
        unsigned of_bank[BANKS] = {0}, most = 0, n = distinct(r, from, step, BANK, words);
        for (unsigned i = 0; i < n; i++)
            if (++of_bank[words[i] % BANKS] > most) most = of_bank[words[i] % BANKS];
        f->units += most;
        f->least += (n + BANKS - 1) / BANKS;
    }
}

static uint32_t *sector_slot(uint64_t sector)
{
    size_t i = hash(sector, 0) & (by_sector.room - 1);
    while (by_sector.slots[i] && sectors[by_sector.slots[i] - 1] != sector) i = (i + 1) & (by_sector.room - 1);
    return &by_sector.slots[i];
}

static int is_first(uint64_t sector)
{
    if (is_full(&by_sector)) {
        widen(&by_sector);
        for (size_t i = 0; i < by_sector.n; i++) *sector_slot(sectors[i]) = (uint32_t)i + 1;
    }
    uint32_t *slot = sector_slot(sector);
    if (*slot) return 0;
    if (by_sector.n == room_sectors) sectors = more(sectors, &room_sectors, sizeof *sectors);
    sectors[by_sector.n] = sector;
    *slot = (uint32_t)++by_sector.n;
    return 1;
}

static void global(const struct request *r, struct emu_traffic *t)
{
    uint64_t of[EMU_WARP * WIDE];
    struct emu_flow *f = &t->flow[r->kind];
    unsigned n = distinct(r, 0, EMU_WARP, 1, of);
    f->least += (n + SECTOR - 1) / SECTOR;
    n = distinct(r, 0, EMU_WARP, SECTOR, of);
    f->units += n;
    for (unsigned i = 0; i < n && r->kind == EMU_GLOBAL_LOAD; i++) t->block_sectors += is_first(of[i]);
}

void emu_traffic_phase(void)
{
    struct emu_traffic *t = n_counted ? &counted[n_counted - 1] : NULL;
    for (unsigned warp = 0; t && warp < t->threads; warp += EMU_WARP) {
        for (unsigned lane = 0; lane < EMU_WARP && warp + lane < t->threads; lane++)
            join(lane, &logs[warp + lane]);
        for (size_t i = 0; i < n_requests; i++) {
            const struct request *r = &requests[i];
            t->flow[r->kind].requests++;
            if (r->kind == EMU_SHARED_LOAD || r->kind == EMU_SHARED_STORE) shared(r, &t->flow[r->kind]);
            else global(r, t);
        }
        n_requests = 0;
        clear(&by_site);
    }
    for (unsigned i = 0; i < EMU_MAX_THREADS; i++) logs[i].n = 0, logs[i].behind = 0;
}

void emu_traffic_products(int n)
{
    if (n_counted) counted[n_counted - 1].products += n;
}

void emu_traffic_block(void)
{
    clear(&by_sector);
}

void emu_traffic_launch(const char *name, uint64_t blocks, unsigned threads)
{
    if (n_counted == LAUNCHES) emu_fail("more than %d launches are counted", LAUNCHES);
    counted[n_counted++] = (struct emu_traffic){.name = name, .blocks = blocks, .threads = threads, .times = times};
}

void emu_traffic_end(uint64_t ran)
{
    struct emu_traffic *t = &counted[n_counted - 1];
    double share_of = (double)t->blocks / (double)ran;
    for (int k = 0; k < KINDS; k++) {
        t->flow[k].requests *= share_of;
        t->flow[k].units *= share_of;
        t->flow[k].least *= share_of;
    }
    t->products *= share_of;
    t->block_sectors *= share_of;
}
