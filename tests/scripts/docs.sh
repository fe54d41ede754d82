# The documentation: every ```sh block of README.md and docs/ runs, in order, in a fresh copy of the tree, and every link leads somewhere.
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

headings() { # of a page, as links name them
    sed -n '/^```/,/^```/!s/^##* //p' "$1" | tr 'A-Z' 'a-z' | sed -e 's/[^a-z0-9 _-]//g' -e 's/ /-/g'
}

links_lead() { # to files of the tree, and to headings of pages
    wrong=0
    for link in $(grep -o '\](\([^) ]*\))' "$1" | sed -e 's/^](//' -e 's/)$//' | grep -v '^https*:' | sort -u); do
        file=$1
        [ -z "${link%%#*}" ] || file=$(dirname "$1")/${link%%#*}
        case $link in
        *#*) [ -f "$file" ] && headings "$file" | grep -qx -- "${link#*#}" ;;
        *) [ -e "$file" ] ;;
        esac || { echo "$1: $link leads nowhere"; wrong=1; }
    done
    return $wrong
}

check "a copy of the tree" copy_tree "$work/tree"
for page in README.md $(cd "$SRCDIR" && ls docs/*.md); do
    check "the links of $page" links_lead "$SRCDIR/$page"
    check "the commands of $page" runs "$work/tree/$page"
done
finish
