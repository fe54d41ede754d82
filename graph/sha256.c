/*
 * SHA-256 as FIPS 180-4 section 6.2 states it: one block at a time, nothing unrolled; by the CPU's own instructions
 * where it has them.
 */
#include "graph/sha256.h"

#include <stdio.h>
#include <string.h>

#include "graph/sha256_x86.h"

static const uint32_t k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void expand(const unsigned char *p, uint32_t w[64])
{
    for (int i = 0; i < 16; i++, p += 4)
        w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
    for (int i = 16; i < 64; i++) {
        uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void hash_block(uint32_t state[8], const unsigned char *p)
{
    uint32_t w[64], v[8]; /* v: the working variables a..h */
    expand(p, w);
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25);
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22);
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t t1 = v[7] + s1 + choice + k[i] + w[i];
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + majority;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}

static void hash_blocks(uint32_t state[8], const unsigned char *p, size_t blocks)
{
    if (ig_sha256_x86(state, p, blocks, k)) return;
    for (; blocks; blocks--, p += 64) hash_block(state, p);
}

void ig_sha256_begin(struct ig_sha256 *s)
{
    static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(s->state, start, sizeof start);
    s->bytes = 0;
}

void ig_sha256_add(struct ig_sha256 *s, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t held = s->bytes % 64;
    s->bytes += n;
    while (n) {
        if (!held && n >= 64) {
            hash_blocks(s->state, p, n / 64);
            p += n / 64 * 64;
            n %= 64;
            continue;
        }
        size_t take = n < 64 - held ? n : 64 - held;
        memcpy(s->block + held, p, take);
        p += take;
        n -= take;
        held = (held + take) % 64;
        if (!held) hash_blocks(s->state, s->block, 1);
    }
}

void ig_sha256_end(struct ig_sha256 *s, char hex[IG_SHA256_TEXT])
{
    static const unsigned char padding[64] = {0x80};
    uint64_t bits = s->bytes * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
    ig_sha256_add(s, padding, 1 + (119 - s->bytes % 64) % 64);
    ig_sha256_add(s, length, sizeof length);
    for (int i = 0; i < 8; i++) snprintf(hex + 8 * i, 9, "%08x", (unsigned)s->state[i]);
}

void ig_sha256(const void *data, size_t n, char hex[IG_SHA256_TEXT])
{
    struct ig_sha256 s;
    ig_sha256_begin(&s);
    ig_sha256_add(&s, data, n);
    ig_sha256_end(&s, hex);
}

int ig_sha256_file(const char *path, char hex[IG_SHA256_TEXT])
{
    unsigned char buffer[1 << 16];
    struct ig_sha256 s;
    size_t n;
    FILE *f = fopen(path, "rb");
    if (!f) return -1;
    ig_sha256_begin(&s);
    while ((n = fread(buffer, 1, sizeof buffer, f)) > 0) ig_sha256_add(&s, buffer, n);
    int bad = ferror(f);
    fclose(f);
    ig_sha256_end(&s, hex);
    return bad ? -1 : 0;
}
