# What is shipped: one small static file of a benchmark network, which needs nothing but the kernel.
. "$SRCDIR/tests/scripts/tap.inc"
most=308224 wide=365568 widest=377856 # bytes without the weights, where programs are linked with musl; with AVX-512 beside AVX2, with AMX
net=$work/net
program=$work/densenet
cc=$(sed -n 's/^program_cc = //p' build.ninja)
flags=$(sed -n 's/^program_flags = //p' build.ninja)
runtime=$(sed -n 's/^program_runtime = //p' build.ninja)

builds() { # as ninja builds it, from a plan on the estimate
    out/ingot zoo densenet121 -o "$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --threads 2 -o "$net.plan.json" &&
        out/ingot gen "$net.json" "$net.plan.json" --prefix net -o "$work" || return 1
    for unit in plan.c main.c weights.S; do
        $cc -std=c11 -O2 -ffunction-sections -fdata-sections -I"$SRCDIR" -I"$work" -c "${net}_$unit" -o "${net}_${unit%.*}.o" || return 1
    done
    # shellcheck disable=SC2086
    "$SRCDIR/gen/link.sh" program "$program" "$net" $cc $flags \
        "${net}_main.o" "${net}_plan.o" $runtime out/host/libingot_kernels.a -lm -lpthread
}

static() {
    ! readelf -lW "$program" | grep -E 'INTERP|DYNAMIC'
}

small() { # an appended blob is padded to a page and has a trailer: both count
    bytes=$(($(wc -c <"$program") - $(wc -c <"${net}_weights.bin")))
    echo "$bytes bytes without the weights"
    ! grep -qE '"isa":"(avx512|vnni)"' "$net.plan.json" || most=$wide
    ! grep -q '"isa":"amx"' "$net.plan.json" || most=$widest
    [ $bytes -le $most ]
}

own_memcpy() { # runtime/libc's, in place of the one of musl
    # shellcheck disable=SC2086
    $cc $flags -Wl,-Map="$work/map" "${net}_main.o" "${net}_plan.o" $runtime out/host/libingot_kernels.a -lm -lpthread -o "$work/mapped" &&
        grep '^ \.text\.memcpy .*(copy\.c\.o)' "$work/map"
}

lonely() { # its answer in an empty root: no /proc, by which it finds its weights elsewhere
    head -c 602112 /dev/zero >"$work/zeros"
    "$program" "$work/zeros" --top 3 --threads 2 >"$work/here" || return 1
    mkdir -p "$work/root" && cp "$program" "$work/zeros" "$work/root" || return 1
    chroot "$work/root" /densenet /zeros --top 3 --threads 2 >"$work/there" && cmp "$work/here" "$work/there"
}

check "densenet121 is built" builds
check "it is static, without an interpreter" static
case $runtime in
*musl*)
    check "it is small without its weights" small
    check "it copies by functions of its own" own_memcpy ;;
*)
    skip "it is small without its weights" "programs are linked with glibc: no musl-gcc"
    skip "it copies by functions of its own" "the same" ;;
esac
if [ "$(id -u)" = 0 ]; then
    check "it runs in an empty root" lonely
else
    skip "it runs in an empty root" "chroot is root's"
fi
finish
