/*
 * The eight tile registers: t0 ... t7, of up to 16 rows of 64 bytes. Wrappers that the compiler moves no memory access across, unlike
 * its own. A process has to be granted their use (Linux: arch_prctl(ARCH_REQ_XCOMP_PERM, 18)), a thread to configure them.
 */
#ifndef KERNELS_CPU_AMX_TILE_H
#define KERNELS_CPU_AMX_TILE_H

#include <stdint.h>

struct ig_tile_config { /* what ldtilecfg reads */
    uint8_t palette, start_row, reserved[14];
    uint16_t row_bytes[16];
    uint8_t rows[16];
};

#define TILE_CONFIGURE(config) __asm__ volatile("ldtilecfg %0" : : "m"(*(config)) : "memory")
#define TILE_RELEASE() __asm__ volatile("tilerelease" : : : "memory")
/* Rows at p, p + step bytes, ... */
#define TILE_LOAD(t, p, step) __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #t : : "r"(p), "r"((int64_t)(step)) : "memory")
#define TILE_STORE(t, p, step) __asm__ volatile("tilestored %%tmm" #t ", (%0,%1,1)" : : "r"(p), "r"((int64_t)(step)) : "memory")
#define TILE_ZERO(t) __asm__ volatile("tilezero %%tmm" #t : : : "memory")
/* c[m][n] += the sum over k of the products of the four u8 of a[m][k] and the four i8 of b[k][n] */
#define TILE_DOT_BYTES(c, a, b) __asm__ volatile("tdpbusd %%tmm" #b ", %%tmm" #a ", %%tmm" #c : : : "memory")
/* c[m][n] += the sum over k of the products of the pairs a[m][k] and b[k][n] */
#define TILE_DOT(c, a, b) __asm__ volatile("tdpbf16ps %%tmm" #b ", %%tmm" #a ", %%tmm" #c : : : "memory")

#endif
