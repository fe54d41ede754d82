# docs/add-a-kernel.md carried out on a copy of the tree: a kernel variant is one file and one line, an ISA one folder
# and three edits; the tests take both up unedited.
. "$SRCDIR/tests/scripts/tap.inc"

if [ "$(uname -m)" != x86_64 ] || ! grep -q avx2 /proc/cpuinfo; then
    skip "adding kernels and ISAs" "the recipe's example is for AVX2"
    finish
    exit
fi

block() { # n: the n-th ```c block of the recipe, without its indentation
    awk -v want="$1" '/^ *```c$/ {n++; inside = 1; next} /^ *```$/ {inside = 0} inside && n == want' \
        "$SRCDIR/docs/add-a-kernel.md" | sed 's/^   //'
}

tested() { # variant, folder, ./configure as that sees it, its options: the copy's contract test, built there, runs it and passes
    mkdir -p "$2" && cd "$2" && "$3" --without-aarch64 ${4:-} >"$work/log" && { ${NINJA:-ninja} out/test/kernels/copy >>"$work/log" || { tail "$work/log"; return 1; }; } &&
        CMOCKA_MESSAGE_OUTPUT=TAP out/test/kernels/copy >"$work/tap" && cat "$work/tap" && grep -q "^ok.*$1" "$work/tap" &&
        ! grep -q '^not ok' "$work/tap"
}

variant() {
    block 1 >"$work/tree/kernels_cpu/avx2/copy_plain.c" && block 2 >>"$work/tree/kernels_cpu/avx2/kernels.inc"
    (tested copy_any_plain__avx2 "$work/tree" ./configure)
}

isa() { # a folder, and the three edits of the recipe
    (cd "$work/tree" && mkdir kernels_cpu/plain &&
        block 1 | sed 's/__avx2/__plain/' >kernels_cpu/plain/copy.c &&
        block 2 | sed -e 's/__avx2/__plain/g' -e 's/IG_ISA_AVX2/IG_ISA_PLAIN/' >kernels_cpu/plain/kernels.inc &&
        sed -i 's/IG_ISA_NEON,/IG_ISA_NEON, IG_ISA_PLAIN,/' kernels_cpu/kernel.h &&
        awk '/^#include "kernels_cpu\/neon\/kernels.inc"/ && !declared {print; print "#include \"kernels_cpu/plain/kernels.inc\""; declared = 1; next}
             /^static const struct ig_kernel kernels/ {print; print "#ifdef INGOT_HAVE_PLAIN\n#define RUN(symbol) symbol\n#else\n#define RUN(symbol) NULL\n#endif"
                 print "#include \"kernels_cpu/plain/kernels.inc\"\n#undef RUN"; next}
             /IG_ISA_REF\] = / {print "    [IG_ISA_PLAIN] = {\"plain\", always},"} {print}' kernels_cpu/registry.c >"$work/r" &&
        cp "$work/r" kernels_cpu/registry.c &&
        sed -i -e 's/echo avx2 $avxvnni avx512 vnni amx /echo avx2 $avxvnni avx512 vnni amx plain /' -e 's|^    kernels_cpu/avx2/\*) .*|&\n    kernels_cpu/plain/*) folder_flags=-fno-builtin ;;|' configure)
    (tested copy_any_plain__plain "$work/elsewhere" "$work/tree/configure" CFLAGS=-O0) || return 1 # which compiles all anew
    grep -q 'DINGOT_HAVE_PLAIN' "$work/elsewhere/build.ninja" && grep -A 1 'kernels_cpu/plain/copy.c.o: cc' "$work/elsewhere/build.ninja" | grep -e ' -fno-builtin'
}

outside() { # that build was out of the tree; so is a network's: its program gives its class, its library links
    (cd "$work/elsewhere" && ${NINJA:-ninja} out/host/fashion_half out/host/libfashion_half.a out/host/fashion_half.h) >"$work/log" 2>&1 || { tail "$work/log"; return 1; }
    sed 's/fashion/fashion_half/g; s/FASHION/FASHION_HALF/g' "$SRCDIR/tests/library/client.c" >"$work/client.c" &&
        ${CC:-cc} -std=c11 -I"$work/elsewhere/out/host" "$work/client.c" "$work/elsewhere/out/host/libfashion_half.a" -lm -lpthread -o "$work/client" &&
        "$work/elsewhere/out/host/fashion_half" "$SRCDIR/models/pictures/boot.pgm" --top 1 | grep '^Ankle boot '
}

check "a copy of the tree" copy_tree "$work/tree"
check "a kernel variant: one file and one line" variant
check "an ISA: one folder and three edits" isa && check "a build out of the tree" outside
finish
