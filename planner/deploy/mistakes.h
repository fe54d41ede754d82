/* What is wrong with a file, all of it at once: "mapping.json: 2 mistakes:", then a line for each. */
#ifndef PLANNER_DEPLOY_MISTAKES_H
#define PLANNER_DEPLOY_MISTAKES_H

#include <stddef.h>
#include <stdint.h>

struct ig_mistakes {
    char *text; /* lines, from malloc */
    size_t used, room;
    int32_t n;
};

/* Notes one: what it says must fit a line of 500 bytes; control characters become dots. */
void ig_mistake(struct ig_mistakes *m, const char *words, ...) __attribute__((format(printf, 2, 3)));
/* 0: none. Else -1, with all of them in err: one on the line itself; what err has no room for is counted. Frees them. */
int ig_mistakes_tell(struct ig_mistakes *m, const char *path, char *err, size_t err_bytes);

#endif
