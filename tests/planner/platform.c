/* Board descriptions: read, written, read again; and wrong ones refused, each with its own words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

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
    assert_round_trip("zen4");
    assert_refused("neuraghe", "\"idle_w\"", "\"idel_w\"", "processors[0]: unknown field 'idel_w'");
    assert_refused("neuraghe", "\"element_bytes\":2", "\"element_bytes\":2,\"hz\":1", ": unknown field 'hz'");
    assert_refused("neuraghe", "\"element_bytes\":2", "\"element_bytes\":2,\"\":1", ": unknown field ''");
    assert_refused("neuraghe", "\"level\":1,\"channel\":0", "\"level\":1,\"channel\":7",
                   "processors[0]: X: channel 7 is not among 'channels'; there are: 0 1 2");
    assert_refused("neuraghe", "\"memory\":1", "\"memory\":9", "processors[0]: Y: memory 9 is not among 'memories'; there are: 0 1 2 3");
    assert_refused("neuraghe", "\"loops\":[\"OF\"]", "\"loops\":[\"IF\"]",
                   "processors[0]: parallelism[1]: loop IF is named twice");
    assert_refused("tx2", "\"FH\",\"FW\"]}", "\"FH\",\"FH\"]}", "parallelism[2]: loop FH is named twice");
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
    assert_refused("tx2", "\"extra\":0},\n", "\"extra\":0},\"rates\":[{\"isa\":\"a\",\"ops_per_s\":[1,0]}],",
                   "processors[0]: rates[0]: ops_per_s[1] must be an integer from 1");
    assert_refused("tx2", "\"extra\":0},\n", "\"extra\":0},\"team_overhead_ns\":[],",
                   "processors[0]: 'team_overhead_ns' must be an array of 1 to 8 integers");
    assert_refused("tx2", "{\"hz\":850000000}", "{\"mhz\":850}",
                   "processors[0]: operating_points[1]: unknown field 'mhz'; there are: hz active_w idle_w");
    assert_refused("tx2", "\"extra\":0},\n",
                   "\"extra\":0},\"costs\":[{\"family\":\"a\",\"layers\":1,\"error\":0,\"ns\":{\"luck\":1}}],",
                   "processors[0]: costs[0]: ns: 'luck' is no feature");
    assert_refused("neuraghe", "\"bytes\":73728", "\"bytes\":0",
                   "memories[0]: 'bytes' is out of range: 0; an integer from 1");
    assert_refused("neuraghe", "\"bytes\":73728", "\"note\":\"\"",
                   "memories[0]: 'bytes' must be an integer from 1; it is missing");
    assert_refused("neuraghe", "\"lanes\":10", "\"lanes\":0",
                   "processors[0]: parallelism[1]: 'lanes' is out of range: 0; an integer from 1 to 1048576");
    assert_refused("tx2", "\"X\":{\"level\":0,", "\"X\":{", "processors[0]: X: 'level' must be an integer; it is missing");
    assert_refused("tx2", "{\"hz\":850000000}", "{\"active_w\":3}",
                   "processors[0]: operating_points[1]: 'hz' must be an integer from 1; it is missing");
    assert_refused("tx2", "\"active_w\":15,", "\"active_w\":-1,", "'active_w' is out of range: -1; a number from 0");
    assert_refused("tx2", "\"name\":\"tx2\",", "", ": 'name' must be a string; it is missing");
    assert_refused("tx2", "\"channels\":", "\"note\":\"\",\"memories\":", "line ");
    assert_refused("tx2", "\"ingot-platform\"", "\"ingot-plan\"", "format is 'ingot-plan'");
}

/* --- the schema --- */

static const json_t *resolved(const json_t *schema, const json_t *root)
{
    const char *ref = json_string_value(json_object_get(schema, "$ref"));
    if (!ref) return schema;
    assert_true(!strncmp(ref, "#/$defs/", 8));
    return json_object_get(json_object_get(root, "$defs"), ref + 8);
}

/* Every field of x is among the schema's, of its type and within its range; none that it requires is missing. */
static void assert_described(const json_t *x, const json_t *part, const json_t *root)
{
    const json_t *s = resolved(part, root), *required = json_object_get(s, "required"),
                 *more = json_object_get(s, "additionalProperties");
    const char *type = json_string_value(json_object_get(s, "type")), *key;
    json_t *field;
    size_t i;
    assert_non_null(s);
    if (type) assert_int_equal(json_is_object(x), !strcmp(type, "object"));
    if (type) assert_int_equal(json_is_array(x), !strcmp(type, "array"));
    if (type && !strcmp(type, "integer")) assert_true(json_is_integer(x));
    if (type && !strcmp(type, "string")) assert_true(json_is_string(x));
    if (json_object_get(s, "minimum") && json_is_number(x))
        assert_true(json_number_value(x) >= json_number_value(json_object_get(s, "minimum")));
    for (i = 0; i < json_array_size(required); i++)
        assert_non_null(json_object_get(x, json_string_value(json_array_get(required, i))));
    json_object_foreach((json_t *)(uintptr_t)x, key, field)
    {
        const json_t *known = json_object_get(json_object_get(s, "properties"), key);
        if (!known && json_is_object(more)) known = more;
        if (!known) fail_msg("docs/platform.schema.json has no '%s'", key);
        assert_described(field, known, root);
    }
    for (i = 0; i < json_array_size(x); i++)
        assert_described(json_array_get(x, i), json_object_get(s, "items"), root);
}

/* What all boards say, as it is in the source and as it is written, the schema describes. */
static void schema_describes_all(void **state)
{
    static const char *const boards[] = {"neuraghe", "tx2", "xavier", "zen4"};
    char file[1024], err[512];
    (void)state;
    snprintf(file, sizeof file, "%s/docs/platform.schema.json", source_dir());
    json_t *schema = json_load_file(file, 0, NULL);
    assert_non_null(schema);
    for (int i = 0; i < 4; i++) {
        snprintf(file, sizeof file, "%s/platforms/%s.json", source_dir(), boards[i]);
        json_t *x = json_load_file(file, 0, NULL);
        assert_described(x, schema, schema);
        json_decref(x);
        struct ig_platform *b = board_read(boards[i]);
        put("");
        assert_int_equal(ig_platform_write(b, path, err, sizeof err), 0);
        json_t *written = json_load_file(path, 0, NULL);
        assert_described(written, schema, schema);
        json_decref(written);
        unlink(path);
        free(b);
    }
    json_decref(schema);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(platform_json), cmocka_unit_test(schema_describes_all),
                                       cmocka_unit_test(operating_point)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
