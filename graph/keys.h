/* Which keys an object of JSON may have, as one that nobody knows is a mistake of whoever wrote it; and what makes which file. */
#ifndef GRAPH_KEYS_H
#define GRAPH_KEYS_H

#include <jansson.h>

/* The first key of `object` that is not among the words of `known` ("a b c"); NULL if there is none. */
const char *ig_unknown_key(const json_t *object, const char *known);
/* The command that makes a file of that "format", such as "ingot graph net.onnx -o graph.json"; of another "ingot --help". */
const char *ig_maker_of(const char *format);

#endif
