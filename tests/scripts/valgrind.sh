# The kernel tests under valgrind: nothing computed from memory that was never written, no read past a block's end.
# The first few small random problems of every kernel, each run in every way of the contract, whose comparisons show unwritten
# memory in an output; the reference's values are those programs' own business.
. "$SRCDIR/tests/scripts/tap.inc"
problems=6

under_valgrind() {
    INGOT_MEMORY=$problems valgrind -q --error-exitcode=9 --trace-children=no "$@" >"$work/log" 2>&1
}

clean() {
    under_valgrind "out/test/kernels/$1" || { cat "$work/log"; return 1; }
    ! grep '^==[0-9]*== ' "$work/log"
}

caught() { # a kernel of the harness's whose results are right by chance
    under_valgrind out/test/kernels/harness reads_unwritten
    [ $? = 9 ] && grep 'uninitialised value' "$work/log"
}

if have valgrind; then check "a kernel that reads unwritten memory is caught" caught
else skip "a kernel that reads unwritten memory is caught" "no valgrind"
fi
for program in out/test/kernels/*; do
    name=${program##*/}
    case $name in harness | *.*) continue ;; esac # its kernels are wrong on purpose
    if have valgrind; then check "kernels/$name under valgrind" clean "$name"
    else skip "kernels/$name under valgrind" "no valgrind"
    fi
done
finish
