/* Words that the hosted program and the tools have in common: shapes, and JSON. */
#ifndef RUNTIME_HOST_TEXT_H
#define RUNTIME_HOST_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "graph/tensor.h"

/* "1x3x224x224 f32", "scalar i64"; in at most n bytes. Returns text. */
const char *ig_shape_text(const struct ig_shape *s, char *text, size_t n);
/*
 * A tensor's or layer's name for the terminal: control characters as dots; in at most n bytes. Returns text.
 */
const char *ig_name_text(const char *name, char *text, size_t n);
/* Bytes of the UTF-8 character at s, or 0 where it is none: RFC 3629, without surrogates and overlong forms. */
int ig_utf8_bytes(const char *s);
/* `text` in quotes. What is not UTF-8 is written as U+FFFD, so the result is JSON whatever the bytes. */
void ig_json_string(FILE *f, const char *text);
/* `v` in nine digits; null where JSON has no number for it: infinities and NaN. */
void ig_json_number(FILE *f, double v);
/* {"name":...,"shape":[...],"type":...} */
void ig_json_tensor(FILE *f, const char *name, const struct ig_shape *s);

#endif
