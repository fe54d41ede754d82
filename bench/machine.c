#include "bench/machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "bench/profile.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- /sys --- */

static int read_line(const char *path, char *line, int bytes)
{
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    int got = fgets(line, bytes, f) != NULL;
    fclose(f);
    return got;
}

static int last_core(void)
{
    cpu_set_t set;
    int last = 0;
    if (sched_getaffinity(0, sizeof set, &set)) return 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, &set)) last = i;
    return last;
}

static void read_caches(struct ig_machine *m, int core)
{
    char path[128], type[32], level[16], size[32];
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/type", core, i);
        if (!read_line(path, type, sizeof type) || !strncmp(type, "Instruction", 11)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/level", core, i);
        if (!read_line(path, level, sizeof level)) continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/size", core, i);
        if (!read_line(path, size, sizeof size)) continue;
        int at = atoi(level) - 1;
        int64_t unit = strchr(size, 'M') ? 1 << 20 : strchr(size, 'K') ? 1 << 10 : 1;
        if (at >= 0 && at < IG_MACHINE_CACHES) m->cache_bytes[at] = atoll(size) * unit;
    }
}

/* Kilohertz in /sys, else megahertz in /proc/cpuinfo. */
static int64_t read_hz(int core)
{
    char path[128], line[256];
    double mhz = 0;
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq", core);
    if (read_line(path, line, sizeof line)) return atoll(line) * 1000;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && mhz <= 0 && fgets(line, sizeof line, f))
        if (!strncmp(line, "cpu MHz", 7) && strchr(line, ':')) mhz = atof(strchr(line, ':') + 1);
    if (f) fclose(f);
    return (int64_t)(mhz * 1e6);
}

void ig_machine_pin(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(last_core(), &set);
    sched_setaffinity(0, sizeof set, &set);
}

/* --- bandwidth --- */

#if defined(__x86_64__)
/* Touches n bytes, a multiple of 256: a load for every 32. */
static void sweep(const char *p, int64_t n)
{
    __asm__ volatile(
        "1:\n\t"
        "movups (%0), %%xmm0\n\tmovups 32(%0), %%xmm1\n\tmovups 64(%0), %%xmm2\n\tmovups 96(%0), %%xmm3\n\t"
        "movups 128(%0), %%xmm4\n\tmovups 160(%0), %%xmm5\n\tmovups 192(%0), %%xmm6\n\t"
        "movups 224(%0), %%xmm7\n\tadd $256, %0\n\tsub $256, %1\n\tjnz 1b"
        : "+r"(p), "+r"(n)
        :
        : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "memory", "cc");
}
#elif defined(__aarch64__)
static void sweep(const char *p, int64_t n)
{
    __asm__ volatile("1:\n\t"
                     "ldp q0, q1, [%0]\n\tldp q2, q3, [%0, 64]\n\tldp q4, q5, [%0, 128]\n\tldp q6, q7, [%0, 192]\n\t"
                     "add %0, %0, 256\n\tsubs %1, %1, 256\n\tb.ne 1b"
                     : "+r"(p), "+r"(n)
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "memory", "cc");
}
#else
static void sweep(const char *p, int64_t n)
{
    for (int64_t i = 0; i < n; i += 32) (void)((const volatile char *)p)[i];
}
#endif

/* Best of some sweeps over `bytes`, in bytes/s. */
static int64_t read_rate(const char *p, int64_t bytes)
{
    double best = 0;
    int64_t times = (8 << 20) / bytes + 1;
    bytes &= ~(int64_t)255;
    sweep(p, bytes);
    for (int run = 0; run < 8; run++) {
        double start = now();
        for (int64_t i = 0; i < times; i++) sweep(p, bytes);
        double rate = (double)(bytes * times) / (now() - start);
        if (rate > best) best = rate;
    }
    return (int64_t)best;
}

/* Half of each cache, so that nothing else pushes it out; four times the last one for memory. */
static void measure_bandwidth(struct ig_machine *m)
{
    int64_t last = 0;
    for (int i = 0; i < IG_MACHINE_CACHES; i++)
        if (m->cache_bytes[i] > last) last = m->cache_bytes[i];
    int64_t most = last ? 4 * last : 256 << 20;
    char *p = mmap(NULL, (size_t)most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (p == MAP_FAILED) return;
    memset(p, 1, (size_t)most);
    for (int i = 0; i < IG_MACHINE_CACHES; i++)
        if (m->cache_bytes[i]) m->bytes_per_s[i] = read_rate(p, m->cache_bytes[i] / 2);
    m->bytes_per_s[IG_MACHINE_CACHES] = read_rate(p, most);
    munmap(p, (size_t)most);
}

/* --- multiply-adds --- */

struct peak {
    int set;
    double gflops;
};

static void *peak_of_thread(void *peak)
{
    struct peak *p = peak;
    p->gflops = ig_peak_of(p->set);
    return NULL;
}

/* Threads that the system spreads over the cores; their rates added. */
static int64_t team_rate(int n, int set)
{
    pthread_t threads[IG_MACHINE_TEAMS];
    struct peak peaks[IG_MACHINE_TEAMS];
    double sum = 0;
    int started = 0;
    for (int i = 0; i < n; i++) peaks[i] = (struct peak){set, 0};
    while (started < n && !pthread_create(&threads[started], NULL, peak_of_thread, &peaks[started])) started++;
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        sum += peaks[i].gflops;
    }
    return (int64_t)(sum * 1e9);
}

static void measure_rates(struct ig_machine *m)
{
    for (int set = 0; ig_peak_isa(set) && m->n_rates < IG_MACHINE_RATES; set++) {
        struct ig_machine_rate *r = &m->rates[m->n_rates];
        if (ig_peak_of(set) <= 0) continue;
        r->isa = ig_peak_isa(set);
        for (int n = 0; n < m->n_teams; n++) r->ops_per_s[n] = team_rate(n + 1, set);
        m->n_rates++;
    }
}

void ig_machine_measure(struct ig_machine *m)
{
    cpu_set_t set;
    memset(m, 0, sizeof *m);
    m->cores = sched_getaffinity(0, sizeof set, &set) ? 1 : CPU_COUNT(&set);
    ig_cpu_name(m->cpu, sizeof m->cpu);
    read_caches(m, last_core());
    m->hz = read_hz(last_core());
    m->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
    m->n_teams = m->cores < IG_MACHINE_TEAMS ? m->cores : IG_MACHINE_TEAMS;
    measure_rates(m);
    for (int n = 0; n < m->n_teams; n++) m->team_overhead_ns[n] = ig_step_overhead_ns(n + 1);
    measure_bandwidth(m);
}
