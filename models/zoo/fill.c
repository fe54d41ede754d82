/* Seeded values: splitmix64 (Steele, Lea, Flood 2014) by counter, 24 bits an element, integers until the last
 * step. */
#include "models/zoo/build.h"

static uint64_t mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint64_t hash(uint64_t h, const char *s) /* FNV-1a */
{
    while (*s) h = (h ^ (unsigned char)*s++) * 1099511628211u;
    return h;
}

void zoo_fill(const struct zoo *z, const struct zoo_tensor *t, size_t first, size_t n, float *out)
{
    uint64_t seed = hash(hash(14695981039346656037u, z->name), t->proto.name);
    float step = (float)((t->high - t->low) / 16777216.0), low = (float)t->low;
    for (size_t i = 0; i < n; i += 2) { /* first is even */
        uint64_t r = mix(seed + ((first + i) / 2 + 1) * 0x9e3779b97f4a7c15u);
        out[i] = low + step * (float)(int32_t)(r >> 40);
        if (i + 1 < n) out[i + 1] = low + step * (float)(int32_t)(r & 0xffffff);
    }
}
