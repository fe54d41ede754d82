/* A reader of packing problems. */
#include "tests/support/pack_csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 8, OTHER = 0, LOWER, UPPER, END, SIZE, KINDS };

static int column_kind(const char *name, size_t length)
{
    static const struct { const char *name; int kind; } known[] = {
        {"lower", LOWER}, {"start", LOWER}, {"begin", LOWER}, {"upper", UPPER}, {"end", END}, {"size", SIZE}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == length && !strncmp(known[i].name, name, length)) return known[i].kind;
    return OTHER;
}

/* Columns of the header; -1 if one that is needed is missing. */
static int read_header(const char *line, int *kinds)
{
    int n = 0, seen[KINDS] = {0};
    for (;;) {
        size_t length = strcspn(line, ",\r\n");
        if (n == COLUMNS) return -1;
        kinds[n] = column_kind(line, length);
        seen[kinds[n++]]++;
        if (line[length] != ',') break;
        line += length + 1;
    }
    return seen[LOWER] == 1 && seen[UPPER] + seen[END] == 1 && seen[SIZE] == 1 ? n : -1;
}

static int read_row(const char *line, const int *kinds, int n, struct ig_pack_item *item)
{
    *item = (struct ig_pack_item){0};
    for (int i = 0; i < n; i++) {
        char *end;
        long long x = strtoll(line, &end, 10);
        if (kinds[i] != OTHER && end == line) return -1;
        if (kinds[i] == LOWER) item->lower = (int32_t)x;
        if (kinds[i] == UPPER || kinds[i] == END) item->upper = (int32_t)x + (kinds[i] == END);
        if (kinds[i] == SIZE) item->size = x;
        line += strcspn(line, ",\r\n");
        if (i < n - 1 && *line++ != ',') return -1;
    }
    return item->lower < item->upper && item->size > 0 ? 0 : -1;
}

int32_t pack_csv_parse(const char *text, struct ig_pack_item *items)
{
    int kinds[COLUMNS], columns = read_header(text, kinds);
    int32_t n = 0;
    if (columns < 0) return -1;
    for (const char *line = strchr(text, '\n'); line && line[1]; line = strchr(line + 1, '\n')) {
        if (n == PACK_CSV_ROWS || read_row(line + 1, kinds, columns, &items[n])) return -1;
        n++;
    }
    return n;
}

int32_t pack_csv_read(const char *path, struct ig_pack_item *items)
{
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    int32_t n = -1;
    if (f && text && fread(text, 1, (1 << 16) - 1, f) > 0) n = pack_csv_parse(text, items);
    if (f) fclose(f);
    free(text);
    return n;
}
