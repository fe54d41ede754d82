/*
 * Memory of one import. Small pieces are cut from blocks that die with the import; a large piece is the
 * graph's, so that the weights which protobuf-c copies out of the file become constants without a second
 * copy.
 */
#include "graph/onnx/import.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 16, ALIGN = 16 };

struct im_block {
    struct im_block *next;
    char pad[8]; /* keeps what follows aligned */
};

static void *cut(struct im_arena *arena, size_t bytes)
{
    if (bytes >= IM_LARGE) return ig_graph_alloc(arena->g, bytes);
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    if (!bytes) bytes = ALIGN;
    if (bytes > arena->left) {
        struct im_block *b = calloc(1, sizeof *b + BLOCK_BYTES);
        if (!b) return NULL;
        b->next = arena->blocks;
        arena->blocks = b;
        arena->at = (char *)(b + 1);
        arena->left = BLOCK_BYTES;
    }
    void *p = arena->at;
    arena->at += bytes;
    arena->left -= bytes;
    return p;
}

void *im_alloc(struct im *m, size_t bytes)
{
    void *p = cut(&m->arena, bytes);
    if (!p) im_fail(m, "out of memory");
    return p;
}

void *im_array(struct im *m, size_t n, size_t bytes)
{
    if (bytes && n > SIZE_MAX / 2 / bytes) im_fail(m, "out of memory");
    return im_alloc(m, n * bytes);
}

const char *im_strdup(struct im *m, const char *s)
{
    return strcpy(im_alloc(m, strlen(s) + 1), s);
}

const char *im_format(struct im *m, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int n = vsnprintf(NULL, 0, format, list);
    char *text = im_alloc(m, (size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(list);
    return text;
}

static void *allocate(void *arena, size_t bytes)
{
    return cut(arena, bytes);
}

static void release(void *arena, void *p)
{
    (void)arena;
    (void)p;
}

ProtobufCAllocator im_allocator(struct im_arena *arena)
{
    return (ProtobufCAllocator){.alloc = allocate, .free = release, .allocator_data = arena};
}

void im_arena_free(struct im_arena *arena)
{
    for (struct im_block *b = arena->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    arena->blocks = NULL;
}
