/* How a rank ends before its time: with an error, at a signal, or because whoever started it is gone. */
#ifndef RUNTIME_MPI_FAIL_H
#define RUNTIME_MPI_FAIL_H

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/host/program.h"

/* From here on ig_die, on whichever thread, and any other exit end all ranks; behind MPI_Init; before MPI_Finalize. */
void ig_fail_begin(void);
void ig_fail_joined(void);
void ig_fail_parted(void);
/* SIGTERM, SIGINT and SIGHUP end the rank at the next ig_heed, but not while a line is being written. */
void ig_fail_guard(void);
extern _Atomic int ig_printing;
void ig_heed(void);
/* What ig_heed calls first where the end came from outside, as mpirun ends all when one has died; it may say why. */
void ig_fail_last_words(void (*say)(void *arg), void *arg);
void ig_nap(int64_t ns);

#endif
