# The documentation's commands: every ```sh block of README.md and docs/ runs, in order, in a fresh copy of the tree.
. "$SRCDIR/tests/scripts/tap.inc"

blocks() { # the sh blocks of a file, without what installs packages or runs this very test
    sed -n '/^ *```sh$/,/^ *```$/p' "$1" | grep -v '^ *```' | sed -e 's/ --install//' -e '/ninja test/d' -e 's/^\$ //'
}

runs() {
    blocks "$1" >"$work/block.sh"
    [ -s "$work/block.sh" ] || return 0
    case $1 in */docs/deploy.md) have "${MPICC:-mpicc}" || return 0 ;; esac
    (cd "$work/tree" && sh -eux "$work/block.sh")
}

check "a copy of the tree" copy_tree "$work/tree"
for page in README.md $(cd "$SRCDIR" && ls docs/*.md); do
    check "the commands of $page" runs "$work/tree/$page"
done
finish
