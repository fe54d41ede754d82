# The kernel tests under valgrind: nothing computed from memory that was never written, no read past a block's end.
. "$SRCDIR/tests/scripts/tap.inc"

clean() {
    valgrind -q --error-exitcode=9 --trace-children=no "out/test/kernels/$1" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
    ! grep '^==[0-9]*== ' "$work/log"
}

for program in out/test/kernels/*; do
    name=${program##*/}
    case $name in harness | *.*) continue ;; esac # its kernels are wrong on purpose
    if have valgrind; then check "kernels/$name under valgrind" clean "$name"
    else skip "kernels/$name under valgrind" "no valgrind"
    fi
done
finish
