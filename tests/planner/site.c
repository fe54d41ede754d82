/* Sites: the three forms of platform.txt, JSON, links; wrong ones refused with their place. */
#include "tests/support/deploy.h"

#include <jansson.h>

#include "tests/support/golden.h"

static void assert_device(const struct ig_site *s, const char *name, const char *want)
{
    char text[256];
    int32_t at = ig_site_find(s, name);
    if (at < 0) fail_msg("no device '%s'", name);
    const struct ig_device *d = &s->devices[at];
    snprintf(text, sizeof text, "%s %s %d %s", d->host, d->target, d->n_cores, d->gpu ? d->gpu : "-");
    assert_string_equal(text, want);
}

/* Written as JSON and read again it is the same. */
static void assert_round_trip(const struct ig_site *s)
{
    struct d_text a, b;
    FILE *f = d_open(&a);
    ig_site_write(f, s);
    d_close(&a, f);
    struct ig_site *again = d_site(a.text);
    f = d_open(&b);
    ig_site_write(f, again);
    assert_string_equal(d_close(&b, f), a.text);
    ig_site_free(again);
    free(a.text);
    free(b.text);
}

static void text_forms(void **state)
{
    struct ig_site *s = d_site("# two boards\nnodeA, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)\r\n\n"
                               "nodeB, x86, slots=0-3\n  nodeC \nnodeD,arm,slots=0 # old\nnodeE, arm, gpu=NVIDIAPascal (CUDA)\n"
                               "nodeF_arm_012345_gpu_0\nmy_pc_cpu_01\nnodeG_gpu_0\nnodeH_arm_x");
    (void)state;
    assert_int_equal(s->n_devices, 9);
    assert_device(s, "nodeA", "nodeA xavier 6 NVIDIAVolta (CUDA)");
    assert_device(s, "nodeB", "nodeB host 4 -");
    assert_device(s, "nodeC", "nodeC host 0 -");
    assert_device(s, "nodeD", "nodeD aarch64 1 -");
    assert_device(s, "nodeE", "nodeE tx2 0 NVIDIAPascal (CUDA)");
    assert_device(s, "nodeF", "nodeF aarch64 6 gpu");
    assert_device(s, "my_pc", "my_pc host 2 -");
    assert_device(s, "nodeG", "nodeG host 0 gpu");
    assert_device(s, "nodeH_arm_x", "nodeH_arm_x host 0 -");
    assert_int_equal(ig_site_find(s, "node"), -1);
    assert_round_trip(s);
    ig_site_free(s);
    s = d_site(" [\"nodeA\", \"nodeB\"]");
    assert_int_equal(s->n_devices, 2);
    assert_device(s, "nodeB", "nodeB host 0 -");
    ig_site_free(s);
}

#define SITE(devices, links) \
    "{\"format\":\"ingot-site\",\"version\":1,\n\"devices\":[" devices "],\n\"links\":[" links "]}"
#define TWO "{\"name\":\"a\",\"host\":\"10.0.0.2\",\"target\":\"xavier\",\"cores\":6,\"gpu\":\"Volta\",\"platform\":\"xavier\"," \
            "\"memory_bytes\":8000000000},{\"name\":\"b\",\"machine\":\"m\"},{\"name\":\"c\",\"machine\":\"m\"}"

static void json_form(void **state)
{
    struct ig_site *s = d_site(SITE(TWO, "{\"from\":\"a\",\"to\":\"b\",\"alpha_ns\":1000,\"bytes_per_s\":125000000,"
                                         "\"send_alpha_ns\":7,\"receive_beta_ns\":0.5},"
                                         "{\"from\":\"b\",\"to\":\"b\",\"alpha_ns\":5,\"beta_ns\":0},"
                                         "{\"from\":\"a\",\"alpha_ns\":20,\"beta_ns\":1},"
                                         "{\"to\":\"a\",\"alpha_ns\":30,\"beta_ns\":1}"));
    (void)state;
    assert_device(s, "a", "10.0.0.2 xavier 6 Volta");
    assert_device(s, "b", "b host 0 -");
    assert_string_equal(s->devices[0].platform, "xavier");
    assert_true(s->devices[0].memory_bytes == 8e9);
    assert_round_trip(s);
    assert_true(ig_link_ns(s, 0, 1, 1000) == 9000); /* named */
    assert_true(ig_link_ns(s, 1, 0, 1000) == 9000); /* the other way round */
    assert_true(ig_link_host_ns(s, 0, 1, 1000, IG_LINK_SENDS) == 7);
    assert_true(ig_link_host_ns(s, 1, 0, 1000, IG_LINK_RECEIVES) == 500);
    assert_true(ig_link_host_ns(s, 0, 2, 1000, IG_LINK_RECEIVES) == 0); /* nobody has measured */
    assert_true(ig_link_ns(s, 0, 2, 10) == 30);     /* from a to any */
    assert_true(ig_link_ns(s, 2, 0, 10) == 40);     /* from any to a */
    assert_true(ig_link_ns(s, 0, 0, 10) == 0);
    assert_true(ig_link_ns(s, 1, 1, 10) == 5);
    assert_true(ig_link_ns(s, 1, 2, 1000) == IG_LINK_ALPHA_NS + 1000.0 * IG_LINK_BETA_NS);
    assert_true(ig_link_ns(NULL, 1, 2, 1000) == IG_LINK_ALPHA_NS + 1000.0 * IG_LINK_BETA_NS);
    assert_true(ig_link_ns(NULL, 1, 1, 1000) == 0);
    assert_int_equal(ig_site_same_machine(s, 1, 2), 1);
    assert_int_equal(ig_site_same_machine(s, 0, 0), 1);
    assert_int_equal(ig_site_same_machine(s, 0, 1), 0);
    assert_int_equal(ig_site_same_machine(s, -1, -1), 0);
    ig_site_free(s);
}

static void assert_refused(const char *text, const char *want)
{
    char err[4096];
    const char *path = d_file(text);
    struct ig_site *s = ig_site_read(path, err, sizeof err);
    unlink(path);
    if (s) fail_msg("taken: %s", text);
    assert_int_equal(strncmp(err, path, strlen(path)), 0);
    assert_string_equal(err + strlen(path) + 2, want);
}

static void wrong_sites(void **state)
{
    (void)state;
    assert_refused("", "it names no device");
    assert_refused("# nothing\n", "it names no device");
    assert_refused("nodeA, mips\nnodeB\nnodeB\n", "2 mistakes:\n  line 1: behind the name come arm or x86, slots=0-5, and gpu=NAME "
                                                  "where there is one\n  line 3: device 'nodeB' is there twice");
    assert_refused("nodeA, arm, slots=5-0", "line 1: 'slots' must be all cores of the device, such as 0-5");
    assert_refused("nodeA, arm, slots=2-3", "line 1: 'slots' must be all cores of the device, such as 0-5");
    assert_refused("nodeA, arm, slots=3", "line 1: 'slots' must be all cores of the device, such as 0-5");
    assert_refused("nodeA, arm, slots=", "line 1: 'slots' must be all cores of the device, such as 0-5");
    assert_refused("nodeA, slots=0-3", "line 1: it does not say what its CPU is: arm or x86");
    assert_refused("nodeA, arm, gpu=", "line 1: 'gpu' must be the name of one GPU");
    assert_refused("node A\n", "line 1: it begins with no name of a device (letters, digits, '.', '-', '_')");
    assert_refused(", arm\n", "line 1: it begins with no name of a device (letters, digits, '.', '-', '_')");
    assert_refused("[]", "a list of devices has 1 to 4096 names");
    assert_refused("[\"a\", \"a\"]", "device 'a' is there twice");
    assert_refused("[\"a\", 7]", "element 1 is no name of a device");
    assert_refused("{}", "'format' must be a string; it is missing");
    assert_refused("{\"format\":\"ingot-plan\"}", "format is 'ingot-plan', not 'ingot-site'");
    assert_refused(SITE("", ""), "'devices' has 0 records, not 1 to 4096");
    assert_refused(SITE("{\"nam\":\"a\"}", ""), "devices[0]: unknown field 'nam'; there are: name host target cores gpu platform memory_bytes machine");
    assert_refused(SITE("{\"name\":\"a\"},{\"name\":\"a\"}", ""), "devices[1]: device 'a' is there twice");
    assert_refused(SITE("{\"name\":\"a\",\"target\":\"vax\"}", ""), "devices[0]: 'target' is unknown: 'vax'");
    assert_refused(SITE("{\"name\":\"a\",\"cores\":0}", ""), "devices[0]: 'cores' is out of range: 0; an integer from 1 to 1024");
    assert_refused(SITE("{\"name\":\"a\",\"host\":\"-oProxyCommand=x\"}", ""), "devices[0]: 'host' must be a name or an address");
    assert_refused(SITE(TWO, "{\"from\":\"z\",\"alpha_ns\":1,\"beta_ns\":1}"), "links[0]: 'from': there is no device 'z'");
    assert_refused(SITE(TWO, "{\"from\":\"a\",\"alpha_ns\":1}"), "links[0]: one of 'beta_ns' (of a byte) and 'bytes_per_s' must be there");
    assert_refused(SITE(TWO, "{\"alpha_ns\":1,\"beta_ns\":1},{\"from\":\"*\",\"alpha_ns\":2,\"beta_ns\":1}"), "the link from * to * is there twice");
    assert_refused(SITE(TWO, "{\"alpha_ns\":1e300,\"beta_ns\":1}"), "links[0]: a link that takes more than 1e12 ns, or 1e9 ns a byte");
    assert_refused(SITE(TWO, "{\"alpha_ns\":1,\"bytes_per_s\":1,\"send_beta_ns\":2e9}"), "links[0]: a link that takes more than 1e12 ns, or 1e9 ns a byte");
    assert_refused(SITE(TWO, "{\"alpha_ns\":-1,\"beta_ns\":1}"), "links[0]: 'alpha_ns' is out of range: -1; a number from 0");
}

/* Every prefix gives one answer, and is never taken for JSON that ends. */
static void damaged_sites(void **state)
{
    static const char json[] = SITE(TWO, "{\"from\":\"a\",\"to\":\"b\",\"alpha_ns\":1000,\"beta_ns\":8}"),
                      text[] = "nodeA, arm, slots=0-5, gpu=NVIDIAVolta (CUDA)\nnodeF_arm_012345_gpu_0\n";
    char err[4096], damaged[sizeof json + sizeof text];
    (void)state;
    for (int form = 0; form < 2; form++)
        for (size_t n = 0; n < (form ? sizeof text : sizeof json) - 1; n++) {
            memcpy(damaged, form ? text : json, n);
            damaged[n] = 0;
            const char *path = d_file(damaged);
            struct ig_site *s = ig_site_read(path, err, sizeof err);
            assert_true(form || !s);
            if (!s) assert_null(strchr(err, '\n'));
            if (!s) assert_int_equal(strncmp(err, path, strlen(path)), 0);
            ig_site_free(s);
            unlink(path);
        }
}

/* --- docs/site.schema.json --- */

/* The fields that a reader names where it meets an unknown one are those of the schema's part. */
static void assert_fields(const char *text, const json_t *part)
{
    char err[4096], *word;
    const json_t *properties = json_object_get(part, "properties");
    const char *path = d_file(text);
    assert_null(ig_site_read(path, err, sizeof err));
    unlink(path);
    assert_non_null(properties);
    size_t n = 0;
    char *list = strstr(err, "; there are: ");
    assert_non_null(list);
    for (word = strtok(list + 13, " "); word; word = strtok(NULL, " "), n++)
        if (!json_object_get(properties, word)) fail_msg("docs/site.schema.json has no '%s'", word);
    assert_int_equal(n, json_object_size(properties));
}

static void schema_names_all(void **state)
{
    char file[1024];
    (void)state;
    snprintf(file, sizeof file, "%s/docs/site.schema.json", source_dir());
    json_t *schema = json_load_file(file, 0, NULL), *parts = json_object_get(schema, "$defs");
    assert_non_null(schema);
    assert_fields("{\"?\":1}", schema);
    assert_fields(SITE("{\"?\":1}", ""), json_object_get(parts, "device"));
    assert_fields(SITE(TWO, "{\"?\":1}"), json_object_get(parts, "link"));
    const json_t *devices = json_object_get(json_object_get(schema, "properties"), "devices");
    assert_int_equal(json_integer_value(json_object_get(devices, "maxItems")), 4096);
    json_decref(schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(text_forms), cmocka_unit_test(json_form),
                                       cmocka_unit_test(wrong_sites), cmocka_unit_test(damaged_sites),
                                       cmocka_unit_test(schema_names_all)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
