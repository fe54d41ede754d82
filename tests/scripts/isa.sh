# A program on a processor without what its kernels need says so and what helps, where it would die of an unknown instruction.
# valgrind's processor has AVX2 and no AVX-512; of QEMU's, qemu64 has neither; the use of tiles is denied by a filter of system calls.
# ./configure --isa is tested in configure.sh.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
picture=$SRCDIR/models/pictures/boot.pgm
qemu=$(command -v qemu-x86_64-static || command -v qemu-x86_64 || true)

planned() { # ISA, options of ingot plan...: a program of that name, and its library's header
    isa=$1
    shift
    out/ingot plan "$net.json" --threads 1 --isa "$isa" "$@" -o "$work/$isa.json" && program "$isa" "$work/$isa.json"
}

programs() {
    out/ingot graph "$SRCDIR/models/fashion_int8.onnx" -o "$net.json" && planned avxvnni &&
        grep -q '^ \* Processor: x86-64 with AVX2, FMA and AVX-VNNI' "$net.h" && out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$net.json" || return 1
    planned avx512 && grep -q '^ \* Processor: x86-64 with AVX-512 ' "$net.h" &&
        planned vnni && grep -q '^ \* Processor: x86-64 with AVX-512 ' "$net.h" && ! grep VNNI "$net.h" && # no kernel of its own
        planned amx && grep -q '^ \* Processor: x86-64 with AVX-512 .* and AMX ' "$net.h" &&
        planned ref && grep -q '^ \* Processor: any\.' "$net.h" &&
        planned avx2 && grep -q '^ \* Processor: x86-64 with AVX2 and FMA' "$net.h" || return 1
    sed 's/"isa":"avx2"/"isa":"avx512"/' "$work/avx2.json" >"$work/wide.json" && ! cmp "$work/avx2.json" "$work/wide.json" &&
        program wide "$work/wide.json" && grep -q '^ \* Processor: x86-64 with AVX2 and FMA' "$net.h"
}

emulated() { # command that emulates a processor
    emulator=$*
}

refuses() { # what the processor has not, what helps, program, arguments...: one line, and status 1
    lacks=$1 helps=$2 name=$3
    shift 3
    $emulator "$work/$name" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    grep -v ': warning: TCG' "$work/err" >"$work/line"
    cat "$work/out" "$work/line"
    [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(cat "$work/line")" = \
        "$name: this processor has no $lacks, which its kernels need: cast it with ./configure --isa=$helps" ]
}

runs() { # program: to the reference's result
    "$work/ref" "$picture" --json --top 1 >"$work/want" && $emulator "$work/$1" "$picture" --json --top 1 >"$work/got" 2>"$work/err" || return 1
    sed 's/.*"index":\([0-9]*\).*/\1/' "$work/want" >"$work/a" && sed 's/.*"index":\([0-9]*\).*/\1/' "$work/got" | cmp - "$work/a"
}

says() { # of a program that does not run here
    $emulator "$work/avx512" --info >"$work/out" 2>"$work/err" && grep -q "^plan" "$work/out" && $emulator "$work/avx512" --help >"$work/out"
}

without_avx512() {
    refuses AVX-512 avx2 avx512 "$picture" && refuses AVX-512 avx2 avx512 --bench=1 && refuses AVX-512 avx2 vnni "$picture" && refuses AVX-512 avx2 amx "$picture" && says
}

without_avxvnni() {
    refuses AVX-VNNI avx2 avxvnni "$picture" && refuses AVX-VNNI avx2 avxvnni --bench=1
}

bundled() { # a sequence, and the first network alone
    out/ingot gen "$net.json" "$work/avx512.json" --prefix net --member -o "$work" &&
        out/ingot gen "$net.json" "$work/avx2.json" --prefix other --member -o "$work" && compile plan.c main.c weights.S &&
        (net=$work/other && compile plan.c main.c weights.S) &&
        out/ingot bundle --name both net "$net.json" "$work/avx512.json" other "$net.json" "$work/avx2.json" -o "$work" &&
        (net=$work/both && compile main.c) || return 1
    # shellcheck disable=SC2086
    "$SRCDIR/gen/link.sh" bundle "$work/both" "$work/net $work/other" $cc $flags "$work/both_main.o" "$work/net_main.o" "$work/other_main.o" \
        "$work/net_plan.o" "$work/other_plan.o" $runtime out/host/libingot_kernels.a -lm -lpthread &&
        refuses AVX-512 avx2 both --sequence=other,net - && refuses AVX-512 avx2 both "$picture" &&
        $emulator "$work/both" --network=other "$picture" --top 1 2>"$work/err"
}

denied() { # the system grants no tiles
    cat >"$work/deny.c" <<'END'
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sock_filter f[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x1023, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EOPNOTSUPP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog p = {sizeof f / sizeof *f, f};
    if (argc < 2 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) return 2;
    execv(argv[1], argv + 1);
    return 2;
}
END
    ${CC:-cc} -o "$work/deny" "$work/deny.c" && refuses "AMX for bfloat16 and bytes, or this system does not grant it" avx512 amx "$picture" &&
        refuses "AMX for bfloat16 and bytes, or this system does not grant it" avx512 amx --bench=1 && runs avx512
}

library() { # the same from a library
    out/ingot gen "$net.json" "$work/amx.json" --prefix net -o "$work" && compile plan.c api.c weights.S || return 1
    cat >"$work/use.c" <<'END'
#include <stdio.h>

#include "net.h"

static _Alignas(NET_ALIGN) unsigned char arena[NET_ARENA_BYTES(1)];

int main(void)
{
    struct net_ctx ctx;
    puts(net_strerror(net_init(&ctx, arena, sizeof arena)));
    return 0;
}
END
    # shellcheck disable=SC2086
    $cc -I"$work" -o "$work/use" "$work/use.c" "${net}_api.o" "${net}_plan.o" "${net}_weights.o" $runtime out/host/libingot_kernels.a -lm -lpthread &&
        $emulator "$work/use" >"$work/out" && cat "$work/out" &&
        [ "$(cat "$work/out")" = "the processor lacks what the kernels need, or the system does not grant it" ]
}

staged() {
    staged_program --isa avx512 --stages cpu:0,cpu:1 && grep -q '^ \* Processor: x86-64 with AVX-512 ' "$net.h" && refuses AVX-512 avx2 program -
}

rank() { # of a deployment, before it waits for others
    out/ingot inspect --layers -q "$SRCDIR/models/fashion.onnx" | sed 's/.*/"&"/' | paste -sd, | sed 's/.*/{"here_cpu0": [&]}/' >"$work/mapping.json" &&
        out/ingot deploy "$SRCDIR/models/fashion.onnx" --isa avx512 --mapping "$work/mapping.json" -o "$work/ranks" &&
        NINJA=${NINJA:-ninja} MPICC=${MPICC:-mpicc} CC=${CC:-cc} CFLAGS="-std=c11 -D_GNU_SOURCE -I$SRCDIR -O1" LDFLAGS='' PROGRAM_FLAGS='' \
            "$SRCDIR/gen/ranks.sh" "$work/ranks.d/ranks.txt" "$work/ranks" && mv "$work/ranks/here_cpu0" "$work" &&
        refuses AVX-512 avx2 here_cpu0 "$picture"
}

[ "$(uname -m)" = x86_64 ] || {
    skip "programs on a lesser processor" "they are x86-64's"
    finish
    exit
}
check "programs of every ISA of x86-64" programs
if grants_tiles; then
    emulated
    check "AMX kernels here" runs amx
else skip "AMX kernels here" "this processor has none, or this system grants none"
fi
case $(grep -m1 ^flags /proc/cpuinfo) in
*avx512vl*)
    emulated "$work/deny"
    check "AMX kernels where none are granted" denied
    check "AMX kernels of a library where none are granted" library ;;
*)
    for what in "AMX kernels" "AMX kernels of a library"; do skip "$what where none are granted" "this processor has no AVX-512"; done ;;
esac
if have valgrind; then
    emulated valgrind -q
    check "AVX-512 kernels without AVX-512" without_avx512
    check "AVX-VNNI kernels without AVX-VNNI" without_avxvnni
    check "of a plan for AVX-512 that has AVX2 kernels only" runs wide
    check "of several networks" bundled
    check "of a pipeline" staged
    if have "${MPICC:-mpicc}"; then check "of a rank of a deployment" rank
    else skip "of a rank of a deployment" "no mpicc"
    fi
else
    for what in "AVX-512 kernels without AVX-512" "AVX-VNNI kernels without AVX-VNNI" "of a plan for AVX-512 that has AVX2 kernels only" \
        "of several networks" "of a pipeline" "of a rank of a deployment"; do skip "$what" "no valgrind"; done
fi
if [ -n "$qemu" ]; then
    emulated "$qemu" -cpu qemu64
    check "AVX2 kernels without AVX2" refuses "AVX2 and FMA" ref avx2 "$picture"
    check "AVX-VNNI kernels without AVX2" refuses "AVX2 and FMA" ref avxvnni "$picture"
    check "AVX-512 kernels without AVX2" refuses "AVX2 and FMA" ref avx512 "$picture"
    check "AMX kernels without AVX2" refuses "AVX2 and FMA" ref amx "$picture"
    check "reference kernels without AVX2" runs ref
else
    for what in "AVX2 kernels without AVX2" "AVX-VNNI kernels without AVX2" "AVX-512 kernels without AVX2" "AMX kernels without AVX2" \
        "reference kernels without AVX2"; do skip "$what" "no qemu-x86_64"; done
fi
finish
