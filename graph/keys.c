#include "graph/keys.h"

#include <stdint.h>
#include <string.h>

static int is_word(const char *key, const char *words) {
    size_t n = strlen(key);
    for (const char *at = n ? strstr(words, key) : NULL; at; at = strstr(at + n, key))
        if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n])) return 1;
    return 0;
}

const char *ig_unknown_key(const json_t *object, const char *known) {
    const char *key;
    json_t *field;
    json_object_foreach((json_t *)(uintptr_t)object, key, field) if (!is_word(key, known)) return key;
    return NULL;
}

const char *ig_maker_of(const char *format) {
    static const struct {
        const char *format, *command;
    } makers[] = {
        {"ingot-graph", "ingot graph net.onnx -o graph.json"},
        {"ingot-plan", "ingot plan graph.json -o plan.json"},
        {"ingot-profile", "ingot profile graph.json -o profile.json"},
        {"ingot-platform", "ingot calibrate -o host.json"},
        {"ingot-pareto", "ingot plan graph.json -o plan.json --pareto front.json"},
        {"ingot-deploy", "ingot deploy net.onnx --mapping mapping.json -o DIR"},
        {"ingot-site", "ingot profile --links --hosts A,B -o site.json"},
    };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (!strcmp(format, makers[i].format)) return makers[i].command;
    return "ingot --help";
}
