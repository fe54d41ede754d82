# The matrix kernels' inner loops against the FMLA bound of the Cortex-A57, by llvm-mca; bench/neon's figures.
. "$SRCDIR/tests/scripts/tap.inc"

built() {
    [ -f out/aarch64/libingot_kernels.a ]
}

loops_reach_the_bound() {
    "${PYTHON:-python3}" "$SRCDIR/bench/neon" --loops --least 0.98
}

plugin_compiles() {
    "${CC:-cc}" -std=c11 -Wall -Wextra -Wshadow -Werror -shared -fPIC "$SRCDIR/bench/guest/count.c" -o "$work/count.so"
}

counts_ours() {
    PYTHONDONTWRITEBYTECODE=1 "${PYTHON:-python3}" "$SRCDIR/bench/neon" --networks mobilenet_v1_025 --peers "" -o "$work/neon.json" &&
        grep -q '"ingot": [0-9]' "$work/neon.json"
}

mca=$(for tool in llvm-mca llvm-mca-20 llvm-mca-19 llvm-mca-18 llvm-mca-17 llvm-mca-16 llvm-mca-15 llvm-mca-14; do
    command -v "$tool" && break; done)
if ! built; then
    skip "matrix loops reach 98 % of the Cortex-A57's FMLA bound" "no aarch64 build here"
elif [ -z "$mca" ]; then
    skip "matrix loops reach 98 % of the Cortex-A57's FMLA bound" "no llvm-mca: apt-get install llvm"
else
    check "matrix loops reach 98 % of the Cortex-A57's FMLA bound" loops_reach_the_bound
fi
check "the counting plugin compiles" plugin_compiles
if ! built || ! have qemu-aarch64 || ! qemu-aarch64 --help 2>/dev/null | grep -q -- -plugin; then
    skip "instructions of a network are counted" "no aarch64 build, or no qemu-aarch64 with plugins (apt-get install qemu-user)"
else
    check "instructions of a network are counted" counts_ours
fi
finish
