/* The sources of a program and library of several networks, beside those of each. */
#ifndef GEN_EMIT_BUNDLE_H
#define GEN_EMIT_BUNDLE_H

#include <stdint.h>
#include <stdio.h>

struct ig_emit_member {
    const char *prefix;  /* that its own sources were made with */
    int64_t arena_bytes; /* a multiple of 64 */
    int64_t weights_bytes;
    int32_t threads;     /* that it was planned for */
};

struct ig_emit_bundle {
    const char *name; /* C identifier */
    const struct ig_emit_member *members;
    const int64_t *base; /* where each one's arena begins in the shared one, bytes */
    int32_t n;
    int64_t arena_bytes;
};

void ig_emit_bundle_header(FILE *f, const struct ig_emit_bundle *b);  /* <name>.h */
void ig_emit_bundle_api(FILE *f, const struct ig_emit_bundle *b);     /* <name>_api.c: the <name>_ functions */
void ig_emit_bundle_program(FILE *f, const struct ig_emit_bundle *b); /* <name>_main.c: main */

#endif
