#!/bin/sh
# Builds the programs of a deployment: ranks.sh LIST DIR, LIST being what `ingot deploy` wrote beside its sources, a line
# "program target main part..." each. In the environment: NINJA, MPICC, CFLAGS, LDFLAGS, PROGRAM_FLAGS, SRCDIR.
set -eu

list=$1 dir=$2
sources=${list%/*}
file=$sources/ranks.ninja

objects_of() { # prefix: of a part, and its weights
    echo "build $sources/$1_plan.o: cc $sources/$1_plan.c"
    echo "build $sources/$1_weights.o: cc $sources/$1_weights.S | $sources/$1_weights.bin"
}

rank() { # program, target, main, parts...
    program=$1 target=$2 main=$3
    shift 3
    [ "$target" = host ] || {
        echo "ranks.sh: $program: no MPI for $target" >&2
        exit 1
    }
    objects="$sources/${main}_main.o" waits= blobs=
    echo "build $sources/${main}_main.o: mpicc $sources/${main}_main.c"
    for part; do
        objects_of "$part"
        objects="$objects $sources/${part}_plan.o"
        waits="$waits $sources/${part}_weights.bin $sources/${part}_weights.o"
        blobs="$blobs $sources/$part"
    done
    libraries="out/$target/libingot_mpi.a out/$target/libingot_runtime.a out/$target/libingot_kernels.a"
    echo "build $dir/$program: link $objects $libraries |$waits $SRCDIR/gen/link.sh"
    echo "  blobs =$blobs"
}

{
    cat <<TEXT
rule cc
  command = ${CC:-cc} $CFLAGS -MD -MF \$out.d -c \$in -o \$out
  depfile = \$out.d
  deps = gcc
rule mpicc
  command = $MPICC $CFLAGS -MD -MF \$out.d -c \$in -o \$out
  depfile = \$out.d
  deps = gcc
rule link
  command = $SRCDIR/gen/link.sh bundle \$out '\$blobs' $MPICC $PROGRAM_FLAGS \$in $LDFLAGS -lm -lpthread
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
