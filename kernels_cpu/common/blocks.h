/*
 * How the drivers cut their products into blocks, by ISA: the kernels' own sizes, which planner/features.c foretells
 * times by.
 */
#ifndef KERNELS_CPU_COMMON_BLOCKS_H
#define KERNELS_CPU_COMMON_BLOCKS_H

enum {
    IG_GEMM_TABLE_BYTES = 1 << 16,           /* of a block's addresses; fewer groups where there are very many taps */

    IG_GEMM_BLOCK_AVX2 = 64,                 /* groups of a block */
    IG_GEMM_STREAM_BYTES_AVX2 = 1 << 16,     /* weights above this are read panel by panel: right where they come from memory, no loss elsewhere */
    IG_GEMM_LOOPS_AVX2 = 1,                  /* the micro-kernels go on to the next panel and group by themselves */

    IG_GEMM_BLOCK_AVX512 = 32,
    IG_GEMM_STREAM_BYTES_AVX512 = 1 << 16,
    IG_GEMM_LOOPS_AVX512 = 2,                /* ... by two panels at a time */

    IG_GEMM_BLOCK_SMALL = 4,                 /* where memory is dear: little room for addresses */

    IG_GEMM_BLOCK_NEON = 16,
    IG_GEMM_STREAM_BYTES_NEON = 512 << 10,   /* a quarter of a cluster's L2 of 2 MiB, which two to four cores share */
    IG_GEMM_LOOPS_NEON = 0,

    IG_WINOGRAD_NEAR_BYTES = 2 << 20,       /* weights up to this stay in a cache over the blocks: */
    IG_WINOGRAD_NEAR_GROUPS = 2,             /* few groups of tiles a block do */
    IG_WINOGRAD_FAR_TILES = 54,              /* others come from memory once a block: many tiles, */
    IG_WINOGRAD_FAR_BYTES = 8 << 20,         /* but no more of V than this */
    IG_WINOGRAD_RAW_DEPTH = 128,             /* input channels whose weights are transformed at a time, for every block */
    IG_WINOGRAD_LEAN_DEPTH = 64,             /* where room is dear */
    IG_WINOGRAD_LEAN_TILES = 18,             /* anew: as few tiles as are a row take little room, */
    IG_WINOGRAD_RAW_TILES = 54,              /* many little time, but no more of V than this */
    IG_WINOGRAD_RAW_BYTES = 3 << 18
};

#endif
