#!/bin/sh
# Builds the programs of a deployment: ranks.sh LIST DIR, LIST being what `ingot deploy` wrote beside its sources, a line
# "program target main part..." each. In the environment: NINJA, MPICC, CFLAGS, LDFLAGS, PROGRAM_FLAGS, SRCDIR,
# and of targets that are not this machine, CROSS_* of gen/cross.sh.
set -eu

list=$1 dir=$2
sources=${list%/*}
file=$sources/ranks.ninja

object() { # object, rule, source, what it reads beside it
    echo "build $1: $2 $3${4:+ | $4}"
    [ "$target" = host ] || echo "  ${2} = $([ "$2" = cc ] && echo "$CROSS_CC" || echo "$CROSS_MPICC") $target_flags"
}

target_of() { # program, target: sets $target_flags, $linker and $libraries, what follows a program's objects
    target=$2
    libraries="out/$2/libingot_mpi.a out/$2/libingot_runtime.a out/$2/libingot_kernels.a"
    [ "$2" != host ] || return 0
    eval "target_flags=\${CROSS_FLAGS_$2:-} libraries=\"$libraries \${CROSS_LINK_$2:-}\""
    [ -n "$target_flags" ] || {
        echo "ranks.sh: $1: for $2 a cross compiler and Open MPI's mpicc are needed, or MPICC_AARCH64 (docs/deploy.md)" >&2
        exit 1
    }
}

rank() { # program, target, main, parts...
    program=$1 main=$3
    target_of "$1" "$2"
    shift 3
    objects="$sources/${main}_main.o" waits= blobs=
    object "$objects" mpicc "$sources/${main}_main.c"
    for part; do
        object "$sources/${part}_plan.o" cc "$sources/${part}_plan.c"
        object "$sources/${part}_weights.o" cc "$sources/${part}_weights.S" "$sources/${part}_weights.bin"
        objects="$objects $sources/${part}_plan.o"
        waits="$waits $sources/${part}_weights.bin $sources/${part}_weights.o"
        blobs="$blobs $sources/$part"
    done
    echo "build $dir/$program: link $objects $libraries |$waits $SRCDIR/gen/link.sh"
    echo "  blobs =$blobs"
    [ "$target" = host ] || printf '  linker = %s\n  libs = %s\n' "$CROSS_LINKER" "$CROSS_LIBS"
}

{
    cat <<TEXT
cc = ${CC:-cc}
mpicc = $MPICC
linker = $MPICC $PROGRAM_FLAGS
libs = $LDFLAGS -lm -lpthread
rule cc
  command = \$cc $CFLAGS -MD -MF \$out.d -c \$in -o \$out
  depfile = \$out.d
  deps = gcc
rule mpicc
  command = \$mpicc $CFLAGS -MD -MF \$out.d -c \$in -o \$out
  depfile = \$out.d
  deps = gcc
rule link
  command = $SRCDIR/gen/link.sh bundle \$out '\$blobs' \$linker \$in \$libs
TEXT
    while read -r line; do
        # shellcheck disable=SC2086
        rank $line
    done <"$list"
} >"$file.new"
mv "$file.new" "$file"
# shellcheck disable=SC2086
${NINJA:-ninja} -f "$file" >"$sources/ranks.log" 2>&1 || {
    cat "$sources/ranks.log" >&2
    exit 1
}
