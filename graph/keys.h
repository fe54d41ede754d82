/* Which keys an object of JSON may have: one that nobody knows is a mistake of whoever wrote it. */
#ifndef GRAPH_KEYS_H
#define GRAPH_KEYS_H

#include <jansson.h>

/* The first key of `object` that is not among the words of `known` ("a b c"); NULL if there is none. */
const char *ig_unknown_key(const json_t *object, const char *known);

#endif
