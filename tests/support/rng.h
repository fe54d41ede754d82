/* Random numbers for tests: splitmix64 (Steele, Lea, Flood 2014), the same on every machine. */
#ifndef TESTS_SUPPORT_RNG_H
#define TESTS_SUPPORT_RNG_H

#include <stdint.h>
#include <stdlib.h>

struct rng {
    uint64_t state; /* the seed */
};

static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* An integer in [lo, hi]. */
static inline int32_t rng_int(struct rng *r, int32_t lo, int32_t hi)
{
    return lo + (int32_t)(rng_next(r) % ((uint64_t)((int64_t)hi - lo) + 1));
}

/* A number in [lo, hi). */
static inline double rng_real(struct rng *r, double lo, double hi)
{
    return lo + (hi - lo) * ((double)(rng_next(r) >> 11) / 9007199254740992.0);
}

/* One of n numbers. */
static inline int32_t rng_pick(struct rng *r, const int32_t *values, int n)
{
    return values[rng_int(r, 0, n - 1)];
}

/* Of the list after r. */
#define RNG_OF(r, ...) rng_pick(r, (const int32_t[]){__VA_ARGS__}, sizeof((const int32_t[]){__VA_ARGS__}) / 4)

/* 1 in `n` of the time. */
static inline int rng_one_in(struct rng *r, int n)
{
    return rng_int(r, 1, n) == 1;
}

/* Of n random cases one in INGOT_SHARE, where they take many times as long as elsewhere (tests/run.sh). */
static inline uint64_t rng_share(uint64_t n)
{
    const char *share = getenv("INGOT_SHARE");
    return share && atoi(share) > 0 ? n / (uint64_t)atoi(share) : n;
}

/* FNV-1a: a seed from a name. */
static inline uint64_t rng_hash(const char *s)
{
    uint64_t h = 14695981039346656037u;
    while (*s) h = (h ^ (unsigned char)*s++) * 1099511628211u;
    return h;
}

#endif
