/* Whether this processor has what a program's kernels need. */
#include "runtime/host/program.h"

#if defined(__x86_64__)
#include <cpuid.h>

#include "kernels_cpu/amx/grant.h"
#include "kernels_cpu/avxvnni/there.h"

/* Not __builtin_cpu_supports: it links 5 KB that ask for everything there is. The names are of <cpuid.h>. */
static const uint32_t first = bit_FMA | bit_F16C | bit_OSXSAVE, avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512BW | bit_AVX512VL;

/* Registers that the system saves, a bit for each kind: those of AVX, and with those of AVX-512. */
enum { SAVES_AVX = 6, SAVES_AVX512 = 0xe6 };

/* The best of those that `wanted` has beside it, which are in the order of enum ig_isa. */
static int32_t isa_here(int32_t wanted)
{
    uint32_t a, b, c, d, saves, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return IG_ISA_REF;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2)) return IG_ISA_REF;
    __asm__ volatile("xgetbv" : "=a"(saves), "=d"(high) : "c"(0));
    if ((saves & SAVES_AVX) != SAVES_AVX) return IG_ISA_REF;
    if (wanted == IG_ISA_AVXVNNI) return ig_avxvnni_there() ? IG_ISA_AVXVNNI : IG_ISA_AVX2;
    if ((b & avx512) != avx512 || (saves & SAVES_AVX512) != SAVES_AVX512) return IG_ISA_AVX2;
    if (!(c & bit_AVX512VNNI)) return IG_ISA_AVX512;
    return wanted == IG_ISA_AMX && ig_amx_granted() ? IG_ISA_AMX : IG_ISA_VNNI;
}

void ig_check_cpu(const struct ig_program *p)
{
    int32_t here = isa_here(p->isa);
    if (p->isa < IG_ISA_AVX2 || p->isa > IG_ISA_AMX || here >= p->isa) return;
    if (here == IG_ISA_REF) ig_die("this processor has no AVX2 and FMA, which its kernels need: cast it with ./configure --isa=ref");
    if (p->isa == IG_ISA_AVXVNNI) ig_die("this processor has no AVX-VNNI, which its kernels need: cast it with ./configure --isa=avx2");
    if (here == IG_ISA_AVX2) ig_die("this processor has no AVX-512, which its kernels need: cast it with ./configure --isa=avx2");
    if (p->isa == IG_ISA_VNNI) ig_die("this processor has no VNNI, which its kernels need: cast it with ./configure --isa=avx512");
    ig_die("this processor has no AMX for bfloat16 and bytes, or this system does not grant it, which its kernels need: cast it with ./configure --isa=avx512");
}
#elif defined(__aarch64__)
#include "kernels_cpu/dotprod/there.h"
#include "kernels_cpu/fp16/there.h"

void ig_check_cpu(const struct ig_program *p)
{
    if (p->isa == IG_ISA_FP16 && !ig_fp16_there())
        ig_die("this processor has no arithmetic on halves, which its kernels need: cast it with ./configure --isa=neon");
    if (p->isa == IG_ISA_DOTPROD && !ig_dotprod_there())
        ig_die("this processor has no dot products of bytes, which its kernels need: cast it with ./configure --isa=neon");
}
#else /* every processor of the target has all */
void ig_check_cpu(const struct ig_program *p)
{
    (void)p;
}
#endif
