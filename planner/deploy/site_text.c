/*
 * platform.txt: a device a line, in AutoDiCE's three forms; '#' begins a remark.
 *
 *     nodeA, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)      name, kind of CPU, cores, GPU or none
 *     nodeA                                              name
 *     nodeA_arm_012345_gpu_0                             name, kind of CPU, a digit a core, GPU or none: the search script's
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/mistakes.h"
#include "planner/deploy/site_read.h"

static char *copy(const char *from, size_t n)
{
    char *to = ig_must_alloc(n + 1, 1);
    memcpy(to, from, n);
    return to;
}

/* The target of configure for a CPU and a GPU as platform.txt names them; NULL: no such CPU. */
static const char *target_of(const char *cpu, const char *gpu)
{
    if (!strcmp(cpu, "x86") || !strcmp(cpu, "cpu")) return "host";
    if (strcmp(cpu, "arm")) return NULL;
    return gpu && strstr(gpu, "Volta") ? "xavier" : gpu && strstr(gpu, "Pascal") ? "tx2" : "aarch64";
}

/* "0-5" or "0": how many cores these are; 0: malformed, or they do not begin with the first. */
static int32_t count_cores(const char *text)
{
    char *end;
    long last = strtol(text, &end, 10);
    if (!isdigit((unsigned char)*text) || last) return 0;
    if (*end == '-' && isdigit((unsigned char)end[1])) last = strtol(end + 1, &end, 10);
    return *end || last >= IG_SITE_CORES ? 0 : (int32_t)last + 1;
}

/* One past the highest of the digits; 0: none, or something else among them. */
static int32_t count_digits(const char *text, size_t n)
{
    int32_t cores = 0;
    for (size_t i = 0; i < n; i++) {
        if (!isdigit((unsigned char)text[i])) return 0;
        if (text[i] - '0' + 1 > cores) cores = text[i] - '0' + 1;
    }
    return cores;
}

/* Where "_WORD_DIGITS" stands at the end of text[0..n); NULL: it does not. */
static const char *ending(const char *text, size_t n, const char *word)
{
    size_t digits = 0, letters = strlen(word);
    while (digits < n && isdigit((unsigned char)text[n - 1 - digits])) digits++;
    if (!digits || n < digits + letters + 3) return NULL;
    const char *at = text + n - digits - letters - 2;
    return *at == '_' && !strncmp(at + 1, word, letters) && at[letters + 1] == '_' && at > text ? at : NULL;
}

/* The third form, or a bare name. */
static void read_name(const char *line, struct ig_device *d)
{
    static const char *const cpus[] = {"arm", "cpu", "x86"};
    size_t n = strlen(line);
    const char *gpu = ending(line, n, "gpu"), *at = NULL;
    if (gpu) n = (size_t)(gpu - line);
    for (int i = 0; i < 3 && !at; i++) {
        at = ending(line, n, cpus[i]);
        if (!at) continue;
        d->n_cores = count_digits(at + 5, n - (size_t)(at - line) - 5);
        d->target = ig_copy_text(target_of(cpus[i], NULL));
    }
    if (at) n = (size_t)(at - line);
    if (gpu) d->gpu = ig_copy_text("gpu");
    d->name = copy(line, n);
}

static char *trimmed(char *s)
{
    char *end = s + strlen(s);
    while (isspace((unsigned char)*s)) s++;
    while (end > s && isspace((unsigned char)end[-1])) *--end = 0;
    return s;
}

/* The first form: what stands behind the name. Gives what is wrong, or NULL. */
static const char *read_fields(char *rest, struct ig_device *d)
{
    const char *cpu = NULL;
    for (char *field = rest, *comma; field; field = comma ? comma + 1 : NULL) {
        comma = strchr(field, ',');
        if (comma) *comma = 0;
        const char *text = trimmed(field);
        if (!strncmp(text, "slots=", 6)) {
            if (d->n_cores || !(d->n_cores = count_cores(text + 6)))
                return "'slots' must be all cores of the device, such as 0-5";
        } else if (!strncmp(text, "gpu=", 4)) {
            if (d->gpu || !text[4]) return "'gpu' must be the name of one GPU";
            d->gpu = ig_copy_text(text + 4);
        } else {
            if (cpu || !target_of(text, NULL))
                return "behind the name come arm or x86, slots=0-5, and gpu=NAME where there is one";
            cpu = text;
        }
    }
    if (!cpu) return "it does not say what its CPU is: arm or x86";
    d->target = ig_copy_text(target_of(cpu, d->gpu));
    return NULL;
}

static const char *read_device(char *line, struct ig_device *d)
{
    const char *wrong = NULL;
    char *comma = strchr(line, ',');
    if (comma) *comma = 0;
    const char *name = trimmed(line);
    if (comma)
        d->name = ig_copy_text(name);
    else
        read_name(name, d);
    if (!ig_site_is_name(d->name)) return "it begins with no name of a device (letters, digits, '.', '-', '_')";
    if (comma) wrong = read_fields(comma + 1, d);
    if (!d->target) d->target = ig_copy_text("host");
    d->host = ig_copy_text(d->name);
    return wrong;
}

static void read_line(struct ig_site *s, char *line, int32_t number, struct ig_mistakes *wrong)
{
    struct ig_device *d = &s->devices[s->n_devices];
    char *remark = strchr(line, '#');
    if (remark) *remark = 0;
    line = trimmed(line);
    if (!*line) return;
    s->n_devices++;
    const char *why = read_device(line, d);
    if (why)
        ig_mistake(wrong, "line %d: %s", number, why);
    else if (ig_site_find(s, d->name) < s->n_devices - 1)
        ig_mistake(wrong, "line %d: device '%s' is there twice", number, d->name);
}

static int32_t count_lines(const char *text)
{
    int32_t n = 1;
    for (; *text; text++) n += *text == '\n';
    return n;
}

struct ig_site *ig_site_parse_text(const char *text, size_t bytes, const char *path, char *err, size_t err_bytes)
{
    struct ig_site *s = ig_must_alloc(1, sizeof *s);
    struct ig_mistakes wrong = {.n = 0};
    char *all = copy(text, bytes);
    int32_t lines = count_lines(all), number = 1;
    if (strlen(all) < bytes)
        ig_mistake(&wrong, "it is no text");
    else if (lines > IG_SITE_DEVICES)
        ig_mistake(&wrong, "it has more than %d lines", IG_SITE_DEVICES);
    else
        s->devices = ig_must_alloc((size_t)lines, sizeof *s->devices);
    for (char *line = s->devices ? all : NULL, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next) *next++ = 0;
        read_line(s, line, number, &wrong);
    }
    if (!wrong.n && !s->n_devices) ig_mistake(&wrong, "it names no device");
    free(all);
    if (!ig_mistakes_tell(&wrong, path, err, err_bytes)) return s;
    ig_site_free(s);
    return NULL;
}
