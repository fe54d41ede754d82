/*
 * Convolution to few output channels, as the last layers of segmentation and super-resolution and attention over an image's places have, where a panel of
 * 16 would be padding. A kernel row's taps lie side by side in a padded copy of the input's row (common/first_rows.h), and an output is a dot product along
 * them: vectors go along taps and input channels, not along output channels.
 *
 * Packed weights, in vectors of N: bias[IG_FEW], then [ky][ceil(kw ic / N)][oc][N], zero beyond the last tap.
 */
#ifndef KERNELS_CPU_COMMON_FEW_H
#define KERNELS_CPU_COMMON_FEW_H

#include "kernels_cpu/kernel.h"

enum { IG_FEW = 4, IG_FEW_ROWS = 11 }; /* output channels, kernel rows: at most */

#endif
