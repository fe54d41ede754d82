/*
 * What messages take of a core that computes: a thread counts on the core that also sends or receives them, as a rank's do
 * that is pinned to one core, and what it counts less is what they cost - the copies of MPI, the kernel's work and its
 * interrupts, and looking whether they have come.
 */
#ifndef BENCH_LINKS_LOAD_H
#define BENCH_LINKS_LOAD_H

/* Starts the thread that counts, which sleeps meanwhile, and finds how fast it is alone. Rank i of a machine takes core i. */
void load_begin(int rank);
/*
 * Sends (or receives) so many messages of so many bytes to (from) the peer, which does the other at the same time, two at a
 * time, as ranks do; data has room for both. Returns the seconds of the core that each took.
 */
double load_run(int peer, void *data, int bytes, int messages, int sends);
void load_end(void);

#endif
