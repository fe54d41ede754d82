/* Inside the planner's files: canonical JSON out and checked fields in. */
#ifndef PLANNER_TEXT_H
#define PLANNER_TEXT_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "graph/draft.h"

/* --- out --- */

/* A JSON string, escaped; a number with the fewest digits that read back as the same double. */
void ig_put_text(FILE *f, const char *s);
void ig_put_double(FILE *f, double x);

/* --- in --- */

struct ig_reader {
    const char *path;
    char sha256[65];         /* of the file's bytes */
    const char *where;       /* the array being read, or "" */
    size_t at;               /* its element */
    const char *part;        /* place inside the element that the functions below read, as "X: "; NULL: the element */
    char *err;
    size_t err_bytes;
    int failed;              /* once set, nothing more is written to err */
};

/* The root object of a JSON file ("-": standard input) of that format and version, or NULL. */
json_t *ig_reader_open(struct ig_reader *r, const char *path, const char *format, char *err,
                       size_t err_bytes);
/* The same of a text in memory; `path` is what messages call it. */
json_t *ig_reader_open_text(struct ig_reader *r, const char *text, const char *path, const char *format, char *err,
                            size_t err_bytes);
/* The root of any JSON file: formats of others say nothing of themselves. */
json_t *ig_reader_open_any(struct ig_reader *r, const char *path, char *err, size_t err_bytes);
json_t *ig_reader_parse(struct ig_reader *r, const char *text, size_t bytes, const char *path, char *err,
                        size_t err_bytes); /* of a text in memory */
/* All of a file ("-": standard input) and a zero behind it, for free(); NULL with "path: reason" in err. */
char *ig_read_text(const char *path, size_t *bytes, char *err, size_t err_bytes);
/* Notes a failure ("path: steps[3]: words"). */
void ig_reader_fail(struct ig_reader *r, const char *words, ...) __attribute__((format(printf, 2, 3)));
/* Every key of o must be among the words of `known` ("a b c"), and o an object. */
void ig_reader_only(struct ig_reader *r, const json_t *o, const char *known);
/* Fields; a missing or wrong one fails the reader and gives 0 or "". */
int64_t ig_get_int(struct ig_reader *r, const json_t *o, const char *key, int64_t low, int64_t high);
double ig_get_double(struct ig_reader *r, const json_t *o, const char *key, double low);
const char *ig_get_text(struct ig_reader *r, const json_t *o, const char *key);
const char *ig_get_hash(struct ig_reader *r, const json_t *o, const char *key); /* 64 hex digits or "" */
const json_t *ig_get_array(struct ig_reader *r, const json_t *o, const char *key);
/* Index of a text among n names; fails with 0 if it is none. */
int ig_get_name(struct ig_reader *r, const json_t *o, const char *key, const char *const *names, int n);

#endif
