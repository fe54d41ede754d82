/* Memory for the planner: a host tool that is out of it ends with one line. */
#ifndef PLANNER_ALLOC_H
#define PLANNER_ALLOC_H

#include <stddef.h>

/* Zeroed, for n elements (at least one); free() takes it. */
void *ig_must_alloc(size_t n, size_t bytes);
char *ig_copy_text(const char *s);

#endif
