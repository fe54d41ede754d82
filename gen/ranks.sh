#!/bin/sh
# Builds the programs of a deployment: ranks.sh LIST DIR, LIST being what `ingot deploy` wrote beside its sources, a line
# "program target main part..." each, of a GPU's "gpu=part", or "gpu:62,72:90:ptx62=part" with chips that code is made for here.
# In the environment: NINJA, MPICC, CFLAGS, LDFLAGS, PROGRAM_FLAGS, SRCDIR, of targets that are not this machine CROSS_* of
# gen/cross.sh, and of chips NVCC_62_72, the compiler.
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

image() { # part, chips: what a CUDA toolkit makes of the part's kernels
    chips=${2#ptx}
    eval "nvcc=\${NVCC_$(echo "$chips" | tr , _):-}"
    [ -n "$nvcc" ] || for name in $(set | sed -n 's/^NVCC_\([0-9_]*\)=.*/\1/p'); do # one chip's, of a toolkit that makes more
        case _${name}_ in *_${chips}_*) eval "nvcc=\$NVCC_$name" ;; esac
    done
    [ -n "$nvcc" ] || { echo "ranks.sh: $program: no CUDA toolkit for sm $chips" >&2; exit 1; }
    case $2 in
    ptx*) rule=ptx image=$sources/$1.compute_$chips.ptx words="  sm = $chips" ;;
    *) rule=nvcc image=$sources/$1.sm_$(echo "$chips" | tr , _).fatbin
        words="  chips =$(for sm in $(echo "$chips" | tr , ' '); do printf ' -gencode arch=compute_%s,code=sm_%s' "$sm" "$sm"; done)" ;;
    esac
    echo "build $image: $rule $sources/${1}_gpu.cu | $(echo "$SRCDIR"/gen/ptx.sh "$SRCDIR"/kernels_gpu/*.cu "$SRCDIR"/kernels_gpu/params*.h "$SRCDIR"/kernels_gpu/cuda/*.cu* "$SRCDIR"/graph/op.h "$SRCDIR"/graph/tensor.h)"
    echo "  nvcc = $nvcc" | sed 's/\$/$$/g'
    echo "$words"
    images="$images $image"
}

gpu_part() { # part, chips...: adds to $objects, $waits and $gpu_blobs
    part=$1 images=
    shift
    for chips; do image "$part" "$chips"; done
    object "$sources/${part}_gpu.o" cc "$sources/${part}_gpu.c"
    object "$sources/${part}_gpu_image.o" cc "$sources/${part}_gpu_image.S" "$images"
    object "$sources/${part}_gpu_weights.o" cc "$sources/${part}_gpu_weights.S" "$sources/${part}_gpu_weights.bin"
    objects="$objects $sources/${part}_gpu.o $sources/${part}_gpu_image.o"
    waits="$waits $sources/${part}_gpu_weights.bin $sources/${part}_gpu_weights.o"
    gpu_blobs="$gpu_blobs $sources/${part}_gpu"
}

rank() { # program, target, main, parts...
    program=$1 main=$3
    target_of "$1" "$2"
    shift 3
    objects="$sources/${main}_main.o" waits= blobs= gpu_blobs=
    object "$objects" mpicc "$sources/${main}_main.c"
    for part; do
        chips=${part%%=*} part=${part#*=}
        # shellcheck disable=SC2046
        [ "$chips" = "$part" ] || gpu_part "$part" $(echo "${chips#gpu}" | tr : ' ')
        object "$sources/${part}_plan.o" cc "$sources/${part}_plan.c"
        object "$sources/${part}_weights.o" cc "$sources/${part}_weights.S" "$sources/${part}_weights.bin"
        objects="$objects $sources/${part}_plan.o"
        waits="$waits $sources/${part}_weights.bin $sources/${part}_weights.o"
        blobs="$blobs $sources/$part"
    done
    echo "build $dir/$program: link $objects $libraries |$waits $SRCDIR/gen/link.sh"
    echo "  blobs =$blobs$gpu_blobs"
    dl=${gpu_blobs:+ -ldl}
    [ "$target" = host ] || printf '  linker = %s\n' "$CROSS_LINKER"
    [ "$target" = host ] && [ -z "$dl" ] || printf '  libs = %s\n' "$([ "$target" = host ] && echo "$LDFLAGS -lm -lpthread" || echo "$CROSS_LIBS")$dl"
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
rule nvcc
  command = \$nvcc -std=c++14 -O3 -fmad=false -fatbin \$chips -Xfatbin -compress-all -Xptxas -v -I$SRCDIR -o \$out \$in >\$out.log 2>&1 || { cat \$out.log >&2; exit 1; }
rule ptx
  command = (\$nvcc -std=c++14 -O3 -fmad=false -ptx -arch=compute_\$sm -I$SRCDIR -o \$out.all \$in && $SRCDIR/gen/ptx.sh \$out.all \$out && rm \$out.all) >\$out.log 2>&1 || { cat \$out.log >&2; exit 1; }
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
