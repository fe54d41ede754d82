# Sourced by configure: keys of a deployment whose device is an aarch64 machine. Their ranks are compiled against
# the mpi.h of this machine's Open MPI and linked with a stub of its library (runtime/boards/openmpi.txt): Linux on
# x86-64 and on aarch64 agrees in all that MPI's handles, statuses and constants are made of. Or by $MPICC_AARCH64.

MPICC_AARCH64=${MPICC_AARCH64:-}

site_targets() { # that the platform file speaks of, or more: AutoDiCE's tells them by a CPU and a GPU
    [ -z "$site" ] || for pair in 'aarch64:"aarch64"|(^|[^a-z])arm([^a-z]|$)' 'tx2:"tx2"|Pascal' 'xavier:"xavier"|Volta'; do
        ! grep -qE "${pair#*:}" "$site" || echo "${pair%%:*}"
    done
}

cross_mpicc() { # what compiles calls of MPI for aarch64; nothing if nothing does
    if [ -n "$MPICC_AARCH64" ]; then
        cross_try="$MPICC_AARCH64"
    else
        # shellcheck disable=SC2086
        cross_try="$CC_AARCH64 $($mpicc -showme:compile 2>/dev/null)" # MPICH's knows no such word
    fi
    echo '#include <mpi.h>
#if defined(STUB) && (!defined(OMPI_MAJOR_VERSION) || OMPI_MAJOR_VERSION < 4 || OMPI_MAJOR_VERSION > 5)
#error no Open MPI whose library has the name and the handles of the stub
#endif
_Static_assert(sizeof(void *) == 8 && sizeof(long) == 8, "LP64");
int main(void) { return MPI_Finalize(); }' | try_cc "$cross_try" -c $([ -n "$MPICC_AARCH64" ] || echo -DSTUB) && echo "$cross_try"
}

cross_rank() { # target, flags, compiler of calls of MPI: adds to $cross_parts and $cross_words
    [ "$1" = aarch64 ] || runtime_for "$1" neon "$CC_AARCH64" "$2"
    compile "out/obj/$1-mpi" neon "$3" "$sections $2" $(list runtime/mpi/*.c)
    emit "build out/$1/libingot_mpi.a: ar$objects"
    cross_link=
    if [ -z "$MPICC_AARCH64" ]; then
        board_parts "$1" "$CC_AARCH64" "$2"
        cross_link="$board_link $stubs/libmpi.so"
    fi
    cross_parts="$cross_parts out/$1/libingot_mpi.a out/$1/libingot_runtime.a out/$1/libingot_kernels.a $cross_link"
    cross_words="$cross_words CROSS_FLAGS_$1='$2' CROSS_LINK_$1='$cross_link'"
}

cross_ranks() { # sets $cross_parts, what ranks of the platform's targets link with, and $cross_words for gen/ranks.sh
    cross_parts= cross_words=
    cross_targets=$(site_targets)
    [ -n "$cross_targets" ] && [ $cross = yes ] || return 0
    cross_cc=$(cross_mpicc) || cross_cc=
    answer "MPI for aarch64" "$([ -z "$cross_cc" ] && echo no || echo "${MPICC_AARCH64:-a stub of Open MPI}")"
    [ -n "$cross_cc" ] || return 0
    cross_words="CROSS_CC='$CC_AARCH64' CROSS_MPICC='$cross_cc'"
    if [ -n "$MPICC_AARCH64" ]; then
        cross_words="$cross_words CROSS_LINKER='$MPICC_AARCH64 \$gpu_program_flags' CROSS_LIBS='-lm -lpthread'"
    else
        stub openmpi.txt libmpi.so.40 "$CC_AARCH64"
        cross_words="$cross_words CROSS_LINKER='$CC_AARCH64 \$board_flags' CROSS_LIBS='\$board_libs'"
    fi
    for cross_target in $cross_targets; do
        eval "cross_rank $cross_target \"\$${cross_target}_flags\" \"\$cross_cc\""
    done
}
