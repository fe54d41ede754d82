/* SHA-256 with the SHA extensions of x86-64: some ten times the speed of the plain code. */
#ifndef GRAPH_SHA256_X86_H
#define GRAPH_SHA256_X86_H

#include <stddef.h>
#include <stdint.h>

/* Hashes `blocks` blocks of 64 bytes into `state`; k: the round constants. 0 where this CPU cannot, else 1.
 */
int ig_sha256_x86(uint32_t state[8], const unsigned char *p, size_t blocks, const uint32_t k[64]);

#endif
