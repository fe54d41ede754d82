/* Names of layers: what is exactly a tensor's name goes before what AutoDiCE makes of one, and that before nodes' names. */
#include "planner/deploy/layers.h"

#include <string.h>

static int is_output(const struct ig_layer_entry *e, const char *name)
{
    return e->n_out && !strcmp(e->out[0], name);
}

static int is_autodice(const struct ig_layer_entry *e, const char *name)
{
    return !strcmp(e->autodice, name);
}

/* With '/' and '.' as '_'. */
static int is_plain(const struct ig_layer_entry *e, const char *name)
{
    const char *own = e->n_out ? e->out[0] : "";
    for (; *own && *name; own++, name++)
        if (*name != (*own == '/' || *own == '.' ? '_' : *own)) return 0;
    return *own == *name;
}

static int is_node(const struct ig_layer_entry *e, const char *name)
{
    return !strcmp(e->name, name);
}

static int32_t find(const struct ig_layer_entry *list, int32_t n, const char *name)
{
    static int (*const is[])(const struct ig_layer_entry *, const char *) = {is_output, is_autodice, is_plain, is_node};
    for (size_t k = 0; k < sizeof is / sizeof *is && *name; k++)
        for (int32_t i = 0; i < n; i++)
            if (is[k](&list[i], name)) return i;
    return -1;
}

int32_t ig_layer_find(const struct ig_layers *l, const char *name)
{
    return find(l->at, l->n, name);
}

int ig_layer_is_spare(const struct ig_layers *l, const char *name)
{
    return find(l->spare, l->n_spare, name) >= 0;
}
