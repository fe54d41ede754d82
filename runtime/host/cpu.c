/* Whether this processor has what a program's kernels need. */
#include "runtime/host/program.h"

#if defined(__x86_64__)
#include <cpuid.h>

/* Not __builtin_cpu_supports: it links 5 KB that ask for everything there is. The names are of <cpuid.h>. */
static const uint32_t first = bit_FMA | bit_F16C | bit_OSXSAVE, avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;

/* Registers that the system saves, a bit for each kind: those of AVX, and with those of AVX-512. */
enum { SAVES_AVX = 6, SAVES_AVX512 = 0xe6 };

static int32_t isa_here(void)
{
    uint32_t a, b, c, d, saves, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return IG_ISA_REF;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return IG_ISA_REF;
    __asm__ volatile("xgetbv" : "=a"(saves), "=d"(high) : "c"(0));
    if ((saves & SAVES_AVX) != SAVES_AVX) return IG_ISA_REF;
    return (b & avx512) == avx512 && (saves & SAVES_AVX512) == SAVES_AVX512 ? IG_ISA_AVX512 : IG_ISA_AVX2;
}

void ig_check_cpu(const struct ig_program *p)
{
    int32_t here = isa_here();
    if (p->isa == IG_ISA_AVX512 && here == IG_ISA_AVX2)
        ig_die("this processor has no AVX-512, which its kernels need: cast it with ./configure --isa=avx2");
    if ((p->isa == IG_ISA_AVX512 || p->isa == IG_ISA_AVX2) && here == IG_ISA_REF)
        ig_die("this processor has no AVX2 and FMA, which its kernels need: cast it with ./configure --isa=ref");
}
#else /* every processor of the target has all */
void ig_check_cpu(const struct ig_program *p)
{
    (void)p;
}
#endif
