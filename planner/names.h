/* Words of the plan's and the profile's text forms, by enum value. */
#ifndef PLANNER_NAMES_H
#define PLANNER_NAMES_H

enum { IG_MEMORY_NAMES = 7, IG_SPLIT_NAMES = 3, IG_PASS_NAMES = 3 };

static const char *const ig_memory_names[IG_MEMORY_NAMES] = {"none", "arena", "weights", "input", "output",
                                                             "ring", "slot"};
static const char *const ig_split_names[IG_SPLIT_NAMES] = {"whole", "rows", "channels"};
static const char *const ig_pass_names[IG_PASS_NAMES] = {"pinned", "mapped", "managed"};

#endif
