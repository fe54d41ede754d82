/*
 * A rank of a deployment that its first arguments describe: relay SPEC RANK ARGUMENTS... (tests/mpi/ranks.h). From the
 * environment: RELAY_WIDTH (floats a tensor, 256), RELAY_COPIES (2), RELAY_THREADS (1), RELAY_CORE (pinned to it:
 * all ranks, or RELAY_PINNED alone), RELAY_SILENCE (ms that are a fault, 15000) and, of one rank only, RELAY_ODD=RANK,
 * which then is of another plan.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/mpi/ranks.h"

static int32_t setting(const char *name, int32_t otherwise)
{
    const char *value = getenv(name);
    return value ? (int32_t)strtol(value, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
    static struct ranks_spec s;
    static int16_t core;
    if (argc < 3 || ranks_parse(&s, argv[1], setting("RELAY_WIDTH", 256), setting("RELAY_COPIES", 2))) {
        fprintf(stderr, "relay SPEC RANK ARGUMENTS...\n");
        return 2;
    }
    int32_t rank = (int32_t)strtol(argv[2], NULL, 10);
    struct ig_rank *r = ranks_table(&s, rank);
    core = (int16_t)setting("RELAY_CORE", 0);
    r->threads = setting("RELAY_THREADS", 1);
    r->n_cores = getenv("RELAY_CORE") && setting("RELAY_PINNED", rank) == rank;
    r->cores = &core;
    r->silence_ms = setting("RELAY_SILENCE", 0);
    r->plan_hash[31] = setting("RELAY_ODD", -1) == rank;
    argv[2] = argv[0];
    return ig_rank_main(argc - 2, argv + 2, r);
}
