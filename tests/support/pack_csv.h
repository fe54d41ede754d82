/*
 * Packing problems as MiniMalloc's CSV files: a header naming the columns in any order, then integers. lower, upper
 * and size must be there (begin/start and end are aliases, end inclusive); other columns are passed over. Times are
 * half-open but for `end`.
 */
#ifndef TESTS_SUPPORT_PACK_CSV_H
#define TESTS_SUPPORT_PACK_CSV_H

#include <stdint.h>

#include "planner/plan.h"

enum { PACK_CSV_ROWS = 1024 };

/* Reads at most PACK_CSV_ROWS rows from text into items; returns how many, or -1 at what is no such file. */
int32_t pack_csv_parse(const char *text, struct ig_pack_item *items);
/* The same of a file; -1 also where there is none. */
int32_t pack_csv_read(const char *path, struct ig_pack_item *items);

#endif
