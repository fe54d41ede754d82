/*
 * Signs of life: ranks that share an edge send each other a few bytes every two seconds (seven in a silence that is a fault), so that an idle stream and a
 * slow part are no fault, and a rank that is dead or stopped, or a link that is cut, is one, soon. Of the thread that
 * called MPI_Init alone.
 */
#ifndef RUNTIME_MPI_PULSE_H
#define RUNTIME_MPI_PULSE_H

#include <stdint.h>

enum { IG_SILENCE_MS = 15000 }; /* without a sign is a fault, if a rank's tables say nothing else */

struct ig_pulse;

/* peers[n]: ranks, each once; every rank of the deployment calls it, with the same silence that is a fault. */
struct ig_pulse *ig_pulse_open(const int32_t *peers, int32_t n, int32_t n_ranks, int32_t silence_ms);
/* heard[n_ranks]: when a message came from each, which others may write too. */
int64_t *ig_pulse_heard(struct ig_pulse *p);
/* To be called often; sends and takes signs of life. A peer that has been silent for too long, or -1. */
int32_t ig_pulse_poll(struct ig_pulse *p);
/* A peer on this machine whose process is not there any more; -1: none is known of. */
int32_t ig_pulse_gone(const struct ig_pulse *p);
/* All ranks' `mine` of so many bytes into all[n_ranks], once each rank has called it. A silent peer or -1. */
int32_t ig_pulse_share(struct ig_pulse *p, const void *mine, int bytes, void *all);
/* Takes leave of the peers. A silent peer or -1. */
int32_t ig_pulse_close(struct ig_pulse *p);

#endif
