/* Board descriptions: read, written, read again; and wrong ones refused, each with its own words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/support/board.h"

static char path[64];

/* A file with this text; `path` is its name. */
static void put(const char *text)
{
    strcpy(path, "/tmp/ingot_platform_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static char *slurp(const char *from)
{
    static char text[1 << 16];
    FILE *f = fopen(from, "rb");
    assert_non_null(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return text;
}

static void assert_round_trip(const char *name)
{
    char err[512];
    struct ig_platform *a = board_read(name);
    put("");
    assert_int_equal(ig_platform_write(a, path, err, sizeof err), 0);
    struct ig_platform *b = ig_platform_read(path, err, sizeof err);
    if (!b) fail_msg("%s", err);
    assert_memory_equal(a, b, sizeof *a);
    char *first = strdup(slurp(path));
    assert_int_equal(ig_platform_write(b, path, err, sizeof err), 0);
    assert_string_equal(slurp(path), first);
    unlink(path);
    free(first);
    free(a);
    free(b);
}

/* The board with its first `from` replaced by `to` is refused, with `words` among what is said. */
static void assert_refused(const char *board, const char *from, const char *to, const char *words)
{
    char file[1024], text[8192], err[512];
    snprintf(file, sizeof file, "%s/platforms/%s.json", source_dir(), board);
    char *all = slurp(file), *at = strstr(all, from);
    if (!at) fail_msg("the test's own '%s' is not in %s", from, file);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(at - all), all, to, at + strlen(from));
    put(text);
    struct ig_platform *b = ig_platform_read(path, err, sizeof err);
    unlink(path);
    if (b) fail_msg("taken: '%s' for '%s'", to, from);
    if (!strstr(err, words)) fail_msg("says '%s', not '%s'", err, words);
}

static void platform_json(void **state)
{
    (void)state;
    assert_round_trip("neuraghe");
    assert_round_trip("tx2");
    assert_round_trip("xavier");
    assert_refused("neuraghe", "\"idle_w\"", "\"idel_w\"", "processors[0]: unknown field 'idel_w'");
    assert_refused("neuraghe", "\"element_bytes\":2", "\"element_bytes\":2,\"hz\":1", ": unknown field 'hz'");
    assert_refused("neuraghe", "\"level\":1,\"channel\":0", "\"level\":1,\"channel\":7",
                   "processors[0]: X: channel 7 is not among 'channels'");
    assert_refused("neuraghe", "\"memory\":1", "\"memory\":9", "processors[0]: Y: memory 9 is not among 'memories'");
    assert_refused("neuraghe", "\"loops\":[\"OF\"]", "\"loops\":[\"IF\"]",
                   "processors[0]: parallelism: loop IF is named twice");
    assert_refused("tx2", "\"FH\",\"FW\"]}", "\"FH\",\"FH\"]}", "parallelism: loop FH is named twice");
    assert_refused("tx2", "\"order\":[\"OF\",\"IF\"", "\"order\":[\"OF\",\"OF\"", "order: loop OF is named twice");
    assert_refused("tx2", "\"X\":{\"level\":0", "\"X\":{\"level\":6", "X: level 6: there are six loops");
    assert_refused("tx2", "\"X\":{\"level\":0", "\"X\":{\"level\":-1", "X: level -1");
    assert_refused("tx2", "\"limit\":\"OF\"", "\"limit\":\"C\"", "'C' is no loop");
    assert_refused("tx2", "\"order\":[\"OF\",\"IF\",\"FH\",\"FW\",\"KH\",\"KW\"],", "",
                   "belong together: 'order' is missing");
    assert_refused("tx2", "\"id\":1,\"bytes_per_s\"", "\"id\":0,\"bytes_per_s\"", "channels[1]: id 0 is there twice");
    assert_refused("tx2", "\"ops_per_s\":665600000000", "\"ops_per_s\":0", "'ops_per_s' is out of range");
    assert_refused("tx2", "\"type\":\"accelerator\"", "\"kind\":\"accelerator\"", "unknown field 'kind'");
    assert_refused("tx2", "\"extra\":0}", "\"extra\":0}]", "line ");
    assert_refused("tx2", "\"ingot-platform\"", "\"ingot-plan\"", "format is 'ingot-plan'");
}

static void operating_point(void **state)
{
    struct ig_platform *b = board_read("tx2");
    struct ig_processor *gpu = &b->processors[0];
    (void)state;
    ig_processor_at(gpu, &gpu->points[1]);
    assert_int_equal(gpu->hz, 850000000);
    assert_int_equal(gpu->ops_per_s, 256 * 2 * 850000000LL);
    assert_true(gpu->active_w == IG_UNKNOWN);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(platform_json), cmocka_unit_test(operating_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
