#include "runtime/host/energy.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Power is integrated, and a reading of it takes up to a millisecond; counters wrap within minutes. */
enum { PARTS = 2, POWER_EVERY_MS = 10, COUNTER_EVERY_MS = 100 };

static struct meter {
    struct ig_power parts[PARTS]; /* the machine's sensors, and the GPU's where they do not hold it */
    int n, on_gpu;
    long every_ms;
    pthread_t thread;
    pthread_mutex_t lock; /* of readings */
    int ended;
} meter = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void open_sensors(struct meter *m, const struct ig_energy *e)
{
    const char *root = getenv("INGOT_ROOT");
    struct ig_power *machine = &m->parts[0], gpu;
    ig_power_open(machine, root ? root : "");
    m->n = 1;
    int found = e->open_gpu ? e->open_gpu(&gpu) : 1;
    m->on_gpu = found < 1;
    if (m->on_gpu && !ig_power_is_board(machine)) m->parts[m->n++] = gpu;
    m->every_ms = COUNTER_EVERY_MS;
    for (int i = 0; i < m->n; i++)
        if (m->parts[i].n && !ig_power_counts(&m->parts[i])) m->every_ms = POWER_EVERY_MS;
}

static void read_all(struct meter *m)
{
    for (int i = 0; i < m->n; i++) ig_power_sample(&m->parts[i], ig_now_ns());
}

static void *watch(void *arg)
{
    struct meter *m = arg;
    struct timespec pause = {.tv_nsec = m->every_ms * 1000000};
    for (int ended = 0; !ended;) {
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&m->lock);
        ended = m->ended;
        if (!ended) read_all(m);
        pthread_mutex_unlock(&m->lock);
    }
    return NULL;
}

/* How many frames; the sensors are read directly before and after them, too. */
static int watched(struct meter *m, const struct ig_energy_run *run, double seconds)
{
    m->ended = 0;
    read_all(m);
    if (pthread_create(&m->thread, NULL, watch, m)) ig_die("cannot start a thread");
    int frames = run->frames(run->arg, seconds);
    pthread_mutex_lock(&m->lock);
    read_all(m);
    m->ended = 1;
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    return frames;
}

/* Never 0 J: that is a sensor that does not work, such as a virtual machine's. */
static int known(struct ig_power *p)
{
    if (!p->n || p->broken) return 0;
    if (p->energy_uj > 0) return 1;
    const struct ig_power_rail *r = &p->rails[0];
    snprintf(p->why, sizeof p->why, "%s stood still", r->path[0] ? r->path : r->name);
    return 0;
}

static double seconds_of(const struct ig_power *p)
{
    return (double)(p->last_ns - p->first_ns) * 1e-9;
}

/* mJ a frame of all parts; < 0: not all are known. */
static double total_mj(struct meter *m, int frames)
{
    double mj = 0;
    for (int i = 0; i < m->n; i++) {
        if (!known(&m->parts[i])) return -1;
        mj += (double)m->parts[i].energy_uj * 1e-3 / frames;
    }
    return mj;
}

static void put_number(const char *key, double v)
{
    printf("\"%s\":", key);
    if (v < 0) fputs("null", stdout);
    else printf("%.6f", v);
}

static void put_part(struct meter *m, struct ig_power *p, int frames)
{
    int is = known(p);
    printf("{\"every_ms\":%ld,\"method\":\"%s\",", m->every_ms, ig_power_method(p));
    put_number("mj", is ? (double)p->energy_uj * 1e-3 / frames : -1);
    printf(",\"samples\":%d,\"sensors\":[", p->samples);
    for (int i = 0; i < p->n; i++) {
        if (i) putchar(',');
        ig_json_string(stdout, p->rails[i].name);
    }
    fputs("],\"why\":", stdout);
    if (is) fputs("null}", stdout);
    else ig_json_string(stdout, p->why), putchar('}');
}

static void put_json(struct meter *m, const struct ig_energy *e, double predicted, int frames)
{
    double mj = total_mj(m, frames), s = seconds_of(m->parts[0].n ? &m->parts[0] : &m->parts[m->n - 1]);
    const char *why = NULL;
    for (int i = m->n - 1; i >= 0; i--)
        if (!known(&m->parts[i])) why = m->parts[i].why;
    printf("\"energy\":{\"frames\":%d,", frames);
    put_number("mj", mj);
    fputs(",\"parts\":[", stdout);
    for (int i = 0; i < m->n; i++) {
        if (i) putchar(',');
        put_part(m, &m->parts[i], frames);
    }
    fputs("],\"platform\":", stdout);
    if (predicted >= 0) ig_json_string(stdout, e->platform);
    else fputs("null", stdout);
    putchar(',');
    put_number("predicted_mj", predicted);
    printf(",\"seconds\":%.6f,", s);
    put_number("watts", mj < 0 ? -1 : mj * 1e-3 * frames / s);
    fputs(",\"why\":", stdout);
    if (why) ig_json_string(stdout, why);
    else fputs("null", stdout);
    fputs("},", stdout);
}

static void put_text(struct meter *m, const struct ig_energy *e, const char *of, double predicted, int frames)
{
    double mj = total_mj(m, frames);
    for (int i = 0; i < m->n; i++) {
        struct ig_power *p = &m->parts[i];
        if (!known(p)) {
            printf("NO ENERGY MEASURED: %s\n", p->why);
            continue;
        }
        printf("energy %.3f mJ a %s, %.2f W: %s,", (double)p->energy_uj * 1e-3 / frames, of,
               (double)p->energy_uj * 1e-6 / seconds_of(p), ig_power_method(p));
        for (int k = 0; k < p->n; k++) printf("%s%s", k ? " + " : " ", p->rails[k].name);
        printf(", read %d times in %.2f s, every %ld ms, %d %ss of their own\n", p->samples, seconds_of(p),
               m->every_ms, frames, of);
    }
    if (mj >= 0 && m->n > 1) printf("energy of both %.3f mJ a %s\n", mj, of);
    if (predicted >= 0) printf("predicted %.3f mJ a %s with the powers of '%s'\n", predicted, of, e->platform);
}

static int own_frames(void *session, double seconds)
{
    const struct ig_session *s = session;
    int64_t end = ig_now_ns() + (int64_t)(seconds * 1e9);
    int n = 0;
    do {
        int status = ig_ctx_run(&s->ctx, (const void *const *)s->inputs, s->outputs);
        if (status) ig_die("%s", ig_status_text(status));
        n++;
    } while (ig_now_ns() < end);
    return n;
}

void ig_energy_measure(const struct ig_session *s, const struct ig_options *o, const struct ig_energy_run *run)
{
    struct ig_session session = *s;
    const struct ig_energy_run own = {own_frames, &session, "frame"};
    const struct ig_energy *e = s->program->energy;
    struct meter *m = &meter;
    int frames = 0, sensors = 0;
    if (!run) run = &own;
    open_sensors(m, e);
    for (int i = 0; i < m->n; i++) sensors += m->parts[i].n;
    if (sensors) frames = watched(m, run, o->seconds);
    double predicted = run->of[0] == 'f' && m->on_gpu == e->gpu_stage ? e->predicted_mj : -1;
    if (o->json) put_json(m, e, predicted, frames);
    else put_text(m, e, run->of, predicted, frames);
}
