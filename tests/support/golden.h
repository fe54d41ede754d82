/* Golden text: tests/golden/<name> in the source tree; INGOT_UPDATE_GOLDEN=1 writes it anew. */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The root of the source tree, as the compiler was told of this file. */
static inline const char *source_dir(void)
{
    static char dir[512] = "./" __FILE__;
    char *end = strstr(dir, "/tests/support/");
    if (end) *end = 0;
    return dir[2] == '/' ? dir + 2 : dir;
}

/* 0 if `text` is what the file holds; else -1, after the difference was printed. */
static inline int golden_check(const char *name, const char *text)
{
    char path[1024], command[1200], have[1 << 17];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/tests/golden/%s", source_dir(), name);
    if (getenv("INGOT_UPDATE_GOLDEN")) {
        FILE *out = fopen(path, "wb");
        return !out || fputs(text, out) < 0 || fclose(out) ? -1 : 0;
    }
    FILE *f = fopen(path, "rb");
    if (f) {
        n = fread(have, 1, sizeof have, f);
        fclose(f);
    }
    if (f && n == strlen(text) && !memcmp(have, text, n)) return 0;
    printf("# %s differs (- golden, + now):\n", path);
    fflush(stdout);
    snprintf(command, sizeof command, "diff -u '%s' - | sed 's/^/# /'", path);
    FILE *diff = popen(command, "w");
    if (diff) {
        fputs(text, diff);
        pclose(diff);
    }
    return -1;
}

#endif
