/* Tensor and node names: a hash table with open addressing, FNV-1a. */
#include "graph/onnx/import.h"

#include <string.h>

static uint32_t hash(const char *s)
{
    uint32_t h = 2166136261u;
    for (; *s; s++)
        h = (h ^ (unsigned char)*s) * 16777619u;
    return h ^ h >> 15;
}

static struct im_name *slot(const struct im_names *names, const char *name)
{
    uint32_t i = hash(name) & (names->room - 1);
    while (names->slots[i].name && strcmp(names->slots[i].name, name))
        i = (i + 1) & (names->room - 1);
    return &names->slots[i];
}

static void grow(struct im *m, struct im_names *names)
{
    struct im_names bigger = {.n = names->n, .room = names->room ? names->room * 2 : 64};
    bigger.slots = im_array(m, bigger.room, sizeof *bigger.slots);
    for (uint32_t i = 0; i < names->room; i++)
        if (names->slots[i].name) *slot(&bigger, names->slots[i].name) = names->slots[i];
    *names = bigger;
}

struct im_name *im_find(struct im *m, struct im_names *names, const char *name, int make)
{
    if (make && names->n * 2 >= names->room) grow(m, names);
    if (!names->room) return NULL;
    struct im_name *found = slot(names, name);
    if (found->name) return found;
    if (!make) return NULL;
    *found = (struct im_name){.name = name, .value = IM_UNSET, .node = -1};
    names->n++;
    return found;
}
