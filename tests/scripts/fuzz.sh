# Fuzzes the importer, AddressSanitizer and UndefinedBehaviorSanitizer on, from the backend tests' models and the inputs that once
# broke it: so many inputs, whatever else the machine does meanwhile, or FUZZ_SECONDS on one core.
. "$SRCDIR/tests/scripts/tap.inc"
if [ -n "${FUZZ_SECONDS:-}" ]; then most="-max_total_time=$FUZZ_SECONDS" words="in $FUZZ_SECONDS s"
else most=-runs=600000 words="of 600000 inputs"
fi
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
flags="-gline-tables-only -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -D_GNU_SOURCE -std=c11 -ffp-contract=off"

echo '#include <stddef.h>
int LLVMFuzzerTestOneInput(const unsigned char *, size_t);
int LLVMFuzzerTestOneInput(const unsigned char *d, size_t n) { return (void)d, (void)n, 0; }' >"$work/probe.c"
# shellcheck disable=SC2086
if ! have clang || ! clang $flags "$work/probe.c" -o "$work/probe" 2>"$work/err"; then
    skip "fuzzing the importer" "no clang with libFuzzer"
    finish
    exit
fi

build() {
    # shellcheck disable=SC2086
    (build=$PWD && cd "$SRCDIR" && clang $flags -DINGOT_HAVE_REF -I. -I"$build/out/gen" tests/fuzz/import_fuzz.c \
        graph/*.c graph/onnx/*.c graph/passes/*.c kernels_cpu/eval.c kernels_cpu/problem.c kernels_cpu/registry.c kernels_gpu/launch/*.c \
        kernels_cpu/pack/*.c kernels_cpu/common/*.c kernels_cpu/ref/*.c "$build/out/gen/graph/onnx.pb-c.c" -lprotobuf-c -ljansson -lm -o "$work/fuzz")
}

corpus() {
    mkdir "$work/corpus"
    cp "$SRCDIR"/tests/fuzz/corpus/* "$work/corpus/" 2>/dev/null
    for model in "$data"/node/*/model.onnx "$data"/pytorch-*/*/model.onnx; do
        [ -f "$model" ] && [ "$(wc -c <"$model")" -lt 20000 ] && cp "$model" "$work/corpus/$(basename "$(dirname "$model")").onnx"
    done
    for network in branches attention; do
        [ -z "$PYTHON" ] || "$PYTHON" -B "$SRCDIR/tests/${network}_network.py" "$work/corpus/$network.onnx" || return 1
    done
    [ -n "$(ls "$work/corpus")" ]
}

fuzz() {
    "$work/fuzz" "$most" -rss_limit_mb=4096 -malloc_limit_mb=2048 -timeout=120 -max_len=65536 -print_final_stats=1 \
        -artifact_prefix="$work/" "$work/corpus" >"$work/fuzz.log" 2>&1
    status=$?
    tail -15 "$work/fuzz.log"
    [ $status = 0 ] || { mkdir -p out/fuzz && cp "$work"/crash-* "$work"/oom-* "$work"/timeout-* "$work"/leak-* out/fuzz/ 2>/dev/null; }
    grep -a 'stat::number_of_executed_units' "$work/fuzz.log" >&2
    return $status
}

if check "the fuzz target builds" build && check "the corpus is there" corpus; then
    check "no crash, leak or hang $words" fuzz
fi
finish
