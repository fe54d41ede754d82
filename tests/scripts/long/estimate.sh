# bench/estimate: this machine calibrated, some layers of the grid, the smallest network, from nothing to the table.
. "$SRCDIR/tests/scripts/tap.inc"

if [ "$(uname -m)" != x86_64 ] || ! grep -q avx2 /proc/cpuinfo; then
    skip "estimates beside measurements" "no vector kernels"
    finish
    exit
fi

whole_bench() {
    "$SRCDIR/bench/estimate" --layers 40 --passes 1 --seconds 0.1 --networks mlp --folder "$work/estimate" >"$work/out" &&
        grep -q '^calibrated  *40 ' "$work/out" && grep -q '^mlp .*[0-9]' "$work/out" && [ -s "$work/estimate/errors.svg" ] &&
        "$SRCDIR/bench/estimate" --check --folder "$work/estimate" | cmp - "$work/out"
}

check "estimates beside measurements" whole_bench
finish
