# The house: includes follow the table of rooms, nothing is left open, the program says its version.
. "$SRCDIR/tests/scripts/tap.inc"
cd "$SRCDIR"

# room, then the rooms and headers that its files may include beside their own
rooms='
graph:graph/
kernels_cpu:kernels_cpu/ graph/op.h graph/tensor.h kernels_gpu/kernels.inc kernels_gpu/launch/launch.h
kernels_gpu:kernels_gpu/ kernels_cpu/ graph/op.h graph/tensor.h runtime/gpu/driver.h
runtime:runtime/ kernels_cpu/kernel.h kernels_cpu/amx/grant.h kernels_cpu/avxvnni/there.h kernels_cpu/dotprod/there.h kernels_cpu/fp16/there.h kernels_cpu/reach.h graph/op.h graph/tensor.h
planner:planner/ graph/ kernels_cpu/
gen:gen/ planner/plan.h planner/deploy/ planner/host_ops.h graph/ kernels_gpu/kernel.h kernels_cpu/kernel.h kernels_cpu/problem.h kernels_cpu/registry.h kernels_cpu/slice.h runtime/
bench:bench/ gen/ planner/plan.h planner/joint.h planner/tradeoff.h graph/ kernels_cpu/ kernels_gpu/emu/run.h runtime/
models:models/ graph/
cli:cli/ bench/ gen/ planner/ graph/ kernels_cpu/ runtime/ models/
'
includes_follow_rooms() {
    bad=0
    for row in $(echo "$rooms" | sed 's/ /,/g'); do
        room=${row%%:*}
        allowed=$(echo "${row#*:}" | tr ',' '\n')
        for file in $(find "$room" -name '*.[chS]' ! -path kernels_cpu/eval.c ! -path kernels_cpu/eval.h); do
            for included in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file"); do
                ok=
                for prefix in $allowed; do case $included in "$prefix"*) ok=1 ;; esac; done
                [ -n "$ok" ] || { echo "$file includes $included"; bad=1; }
            done
        done
    done
    return $bad
}

headers_compile_alone() {
    for header in $(find graph kernels_cpu kernels_gpu runtime planner gen bench models -name '*.h' ! -path kernels_gpu/emu/cuda.h ! -path 'kernels_cpu/neon/*' ! -path 'kernels_cpu/avx2/*' ! -path 'kernels_cpu/avx512/*' ! -path '*/onnx/*'); do
        echo "#include \"$header\"" | ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Werror -I. -Iout/gen -fsyntax-only -xc - ||
            { echo "$header does not compile alone"; return 1; }
    done
}

nothing_left_open() {
    ! grep -rnE '\b(TODO|FIXME|XXX|HACK)\b' --include='*.[chS]' --include='*.cu' --include='*.cuh' --include='*.sh' graph kernels_cpu kernels_gpu runtime planner gen bench cli models configure
}

check "includes follow the table of rooms" includes_follow_rooms
check "every header compiles alone" headers_compile_alone
check "nothing is left open in the code" nothing_left_open
finish
