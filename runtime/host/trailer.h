/*
 * The last 64 bytes of a program that carries its weights behind its own image. Little-endian. Where there are several
 * blobs, their trailers follow all of them, the first blob's last.
 */
#ifndef RUNTIME_HOST_TRAILER_H
#define RUNTIME_HOST_TRAILER_H

#include <stdint.h>

#define IG_TRAILER_MAGIC "INGOTWT1"

struct ig_trailer {
    char magic[8];   /* IG_TRAILER_MAGIC */
    uint64_t offset; /* bytes from the start of the file, multiple of a page */
    uint64_t bytes;  /* of the blob */
    uint64_t hash;   /* ig_blob_hash of the blob */
    uint64_t zero[4];
};

#endif
