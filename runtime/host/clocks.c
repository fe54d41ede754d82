#include "runtime/host/clocks.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_text(const char *dir, const char *name, char *text, int bytes)
{
    char path[IG_CLOCK_PATH + 64];
    snprintf(path, sizeof path, "%s%s%s", dir, *name ? "/" : "", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, (size_t)bytes - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    text[strcspn(text, "\n")] = 0;
    return n > 0 ? 0 : -1;
}

static int64_t read_hz(const char *path, int64_t unit)
{
    char text[32];
    return read_text(path, "", text, sizeof text) ? -1 : strtoll(text, NULL, 10) * unit;
}

static void read_steps(struct ig_clock *k, const char *dir, const char *name)
{
    char text[1024], *at = text;
    if (read_text(dir, name, text, sizeof text)) return;
    for (char *end; k->n_steps < IG_CLOCK_STEPS; at = end) {
        int64_t step = strtoll(at, &end, 10);
        if (end == at) break;
        k->step_hz[k->n_steps++] = step * k->unit_hz;
    }
}

/* --- what there is --- */

struct layout {
    const char *pattern, *low, *high, *steps, *least, *most;
    int64_t unit_hz;
};

static const struct layout layouts[] = {
    {"/sys/devices/system/cpu/cpufreq/policy*", "scaling_min_freq", "scaling_max_freq", "scaling_available_frequencies",
     "cpuinfo_min_freq", "cpuinfo_max_freq", 1000},
    {"/sys/class/devfreq/*", "min_freq", "max_freq", "available_frequencies", "min_freq", "max_freq", 1},
};

static int is_gpu(const char *dir)
{
    char name[64];
    const char *own = strrchr(dir, '/') + 1;
    if (strstr(own, "gp10b") || strstr(own, "gv11b") || strstr(own, "gpu")) return 1;
    return !read_text(dir, "device/of_node/name", name, sizeof name) &&
           (strstr(name, "gpu") || strstr(name, "gv11b") || strstr(name, "gp10b"));
}

static void add(struct ig_clocks *c, const struct layout *l, const char *dir)
{
    struct ig_clock *k = &c->at[c->n];
    char path[IG_CLOCK_PATH + 64];
    if (c->n == IG_CLOCKS || strlen(dir) > IG_CLOCK_PATH - 32) return;
    *k = (struct ig_clock){.unit_hz = l->unit_hz};
    snprintf(k->name, sizeof k->name, "%s", strrchr(dir, '/') + 1);
    snprintf(path, sizeof path, "%s/%s", dir, l->low);
    memcpy(k->low, path, IG_CLOCK_PATH);
    snprintf(path, sizeof path, "%s/%s", dir, l->high);
    memcpy(k->high, path, IG_CLOCK_PATH);
    if (read_text(k->low, "", k->was_low, sizeof k->was_low) || read_text(k->high, "", k->was_high, sizeof k->was_high))
        return;
    snprintf(path, sizeof path, "%s/%s", dir, l->least);
    k->least_hz = read_hz(path, l->unit_hz);
    snprintf(path, sizeof path, "%s/%s", dir, l->most);
    k->most_hz = read_hz(path, l->unit_hz);
    snprintf(path, sizeof path, "%s/device/power/control", dir);
    if (!read_text(path, "", k->was_control, sizeof k->was_control) && strcmp(k->was_control, "on"))
        memcpy(k->control, path, IG_CLOCK_PATH);
    read_steps(k, dir, l->steps);
    for (int32_t i = 0; i < k->n_steps; i++) {
        if (k->step_hz[i] < k->least_hz) k->least_hz = k->step_hz[i];
        if (k->step_hz[i] > k->most_hz) k->most_hz = k->step_hz[i];
    }
    c->n++;
}

int32_t ig_clocks_open(struct ig_clocks *c, const char *root)
{
    *c = (struct ig_clocks){.n = 0};
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        char pattern[IG_CLOCK_PATH];
        glob_t found;
        snprintf(pattern, sizeof pattern, "%s%s", root, layouts[i].pattern);
        if (glob(pattern, 0, NULL, &found)) continue;
        for (size_t k = 0; k < found.gl_pathc; k++)
            if (!i || is_gpu(found.gl_pathv[k])) add(c, &layouts[i], found.gl_pathv[k]);
        globfree(&found);
    }
    return c->n;
}

int32_t ig_clocks_find(const struct ig_clocks *c, const char *name)
{
    size_t n = strlen(name);
    for (int32_t i = 0; i < c->n; i++) {
        size_t own = strlen(c->at[i].name);
        if (n && own >= n && !strcmp(c->at[i].name + own - n, name)) return i;
    }
    return -1;
}

/* --- changes --- */

static int put(const struct ig_clocks *c, const char *path, const char *text)
{
    if (c->write) return c->write(c->context, path, text);
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_TRUNC);
    if (fd < 0) return -1;
    ssize_t n = write(fd, text, strlen(text));
    int reason = errno;
    close(fd);
    errno = reason;
    return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* A GPU whose power is gated takes no limits: it is kept on meanwhile. */
static int put_both(const struct ig_clocks *c, const struct ig_clock *k, const char *low, const char *high, int up)
{
    if (*k->control) put(c, k->control, "on");
    int rc = put(c, up ? k->high : k->low, up ? high : low) || put(c, up ? k->low : k->high, up ? low : high);
    int reason = errno;
    if (*k->control) put(c, k->control, k->was_control);
    errno = reason;
    return rc ? -1 : 0;
}

static int fits(const struct ig_clock *k, int64_t hz, char *err, int32_t err_bytes)
{
    if (hz < k->least_hz || hz > k->most_hz) {
        snprintf(err, (size_t)err_bytes, "%s: %lld Hz is not within %lld and %lld", k->name, (long long)hz,
                 (long long)k->least_hz, (long long)k->most_hz);
        return 0;
    }
    for (int32_t i = 0; i < k->n_steps; i++)
        if (k->step_hz[i] == hz) return 1;
    if (!k->n_steps) return 1;
    snprintf(err, (size_t)err_bytes, "%s: %lld Hz is none of its %d frequencies", k->name, (long long)hz, k->n_steps);
    return 0;
}

static int restore(const struct ig_clocks *c, const struct ig_clock *k)
{
    /* Whichever limit is in the way of the other one now, one of both orders works. */
    return put_both(c, k, k->was_low, k->was_high, 1) && put_both(c, k, k->was_low, k->was_high, 0) ? -1 : 0;
}

int ig_clocks_pin(struct ig_clocks *c, int32_t i, int64_t hz, int64_t *got, char *err, int32_t err_bytes)
{
    struct ig_clock *k = &c->at[i];
    char text[32];
    if (!fits(k, hz, err, err_bytes)) return -1;
    int up = hz >= read_hz(k->high, k->unit_hz);
    snprintf(text, sizeof text, "%lld", (long long)(hz / k->unit_hz));
    if (!k->changed) {
        c->order[c->n_changed++] = i;
        k->changed = 1;
    }
    if (put_both(c, k, text, text, up)) {
        snprintf(err, (size_t)err_bytes, "%s: %lld Hz refused: %s", k->name, (long long)hz, strerror(errno));
        restore(c, k);
        return -1;
    }
    *got = read_hz(k->high, k->unit_hz);
    return *got != hz || read_hz(k->low, k->unit_hz) != hz;
}

int ig_clocks_restore(struct ig_clocks *c)
{
    int rc = 0;
    while (c->n_changed) {
        struct ig_clock *k = &c->at[c->order[--c->n_changed]];
        rc |= restore(c, k);
        k->changed = 0;
    }
    return rc;
}

static struct ig_clocks *volatile guarded;

static void give_back(void)
{
    struct ig_clocks *c = guarded;
    guarded = NULL;
    if (c) ig_clocks_restore(c);
}

static void interrupted(int number)
{
    give_back();
    signal(number, SIG_DFL);
    raise(number);
}

void ig_clocks_guard(struct ig_clocks *c)
{
    static int registered;
    guarded = c;
    if (!c) return;
    if (!registered++) atexit(give_back);
    signal(SIGINT, interrupted);
    signal(SIGTERM, interrupted);
}
