/* Functions of two integers, common/integers.h. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/integers.h"

void binary_any_integers__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_integer_rows(call, range);
}
