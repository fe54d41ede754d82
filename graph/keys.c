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
