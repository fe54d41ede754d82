/* A /sys of a test's own: files made, removed and looked at below a folder that is there while the test runs. cmocka.h comes first. */
#ifndef TESTS_SUPPORT_SYS_H
#define TESTS_SUPPORT_SYS_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[64];

static inline void put(const char *path, const char *text)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    for (char *at = strchr(full + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(full, 0755);
        *at = '/';
    }
    FILE *f = fopen(full, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static inline void assert_holds(const char *path, const char *text)
{
    char full[512], got[64] = "";
    snprintf(full, sizeof full, "%s%s", root, path);
    FILE *f = fopen(full, "r");
    assert_non_null(f);
    if (!fgets(got, sizeof got, f)) got[0] = 0;
    fclose(f);
    got[strcspn(got, "\n")] = 0;
    assert_string_equal(got, text);
}

static inline void drop(const char *path)
{
    char full[512];
    snprintf(full, sizeof full, "%s%s", root, path);
    assert_int_equal(remove(full), 0);
}

static inline int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
    (void)s, (void)kind, (void)at;
    return remove(path);
}

static inline int fresh(void **state)
{
    (void)state;
    strcpy(root, "/tmp/ingot-sys-XXXXXX");
    return !mkdtemp(root) || chmod(root, 0755);
}

static inline int clean(void **state)
{
    (void)state;
    return nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

#define IN_TREE(test) cmocka_unit_test_setup_teardown(test, fresh, clean)

#endif
