/* SHA-256 (FIPS 180-4): identifies model files, graphs, profiles and plans. */
#ifndef GRAPH_SHA256_H
#define GRAPH_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { IG_SHA256_TEXT = 65 }; /* 64 lower-case hex digits and a NUL */

struct ig_sha256 {
    uint32_t state[8];
    uint64_t bytes;          /* hashed so far */
    unsigned char block[64]; /* the bytes % 64 last ones wait here */
};

void ig_sha256_begin(struct ig_sha256 *s);
void ig_sha256_add(struct ig_sha256 *s, const void *data, size_t n);
/* Ends the message and writes its digest. */
void ig_sha256_end(struct ig_sha256 *s, char hex[IG_SHA256_TEXT]);
/* Digest of n bytes in one go. */
void ig_sha256(const void *data, size_t n, char hex[IG_SHA256_TEXT]);
/* Digest of a file; 0, or -1 with errno where it cannot be read. */
int ig_sha256_file(const char *path, char hex[IG_SHA256_TEXT]);

#endif
