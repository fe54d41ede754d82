# Boards: what is cross-built for TX2 and Xavier needs no library but the C library's own, in no version after 2.27, is
# position-independent without an executable stack, and gives the bits of the static program.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
cc=${CC_AARCH64:-aarch64-linux-gnu-gcc}
picture=$SRCDIR/models/pictures/boot.pgm
stubs=out/stubs/aarch64

if ! have "$cc"; then
    skip "boards" "no cross compiler"
    finish
    exit
fi
readelf=${cc%gcc}readelf
nm=${cc%gcc}nm
libc=$($cc -print-file-name=libc.so.6)
root=$(dirname "$(dirname "$(readlink -f "$libc")")") # of the toolchain's own C library, for the emulator
[ -e "$root/lib/ld-linux-aarch64.so.1" ] || root=/

build_folder "$work/build" # one for all boards

build() { # board, targets of ninja if not all
    board_here=$1
    shift
    (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --target="$board_here" --prefix=boot \
        --threads=2 --no-profile --gpu=off && ${NINJA:-ninja} "$@") >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
}

needs_little() { # file
    $readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$work/needed"
    cat "$work/needed"
    grep -q '^libc\.so\.6$' "$work/needed" && ! grep -vE '^lib(c\.so\.6|m\.so\.6|dl\.so\.2|pthread\.so\.0)$' "$work/needed"
}

old_enough() { # file: the newest version of glibc that it asks for
    newest=$($readelf -VW "$1" | grep -o 'GLIBC_[0-9A-Z._]*' | sort -u -V | tail -1)
    echo "asks for ${newest:-nothing}"
    [ -n "$newest" ] && [ "$(printf '%s\nGLIBC_2.27\n' "$newest" | sort -V | tail -1)" = GLIBC_2.27 ]
}

well_made() { # file
    $readelf -hlW "$1" >"$work/elf" && $readelf -dW "$1" >"$work/dynamic" && cat "$work/elf" "$work/dynamic" || return 1
    grep -q 'Type: *DYN' "$work/elf" && grep -q 'Machine: *AArch64' "$work/elf" && grep -q 'GNU_RELRO' "$work/elf" &&
        grep -q 'Flags:.*NOW PIE' "$work/dynamic" && ! grep -q TEXTREL "$work/dynamic" &&
        grep -q 'GNU_STACK.* RW ' "$work/elf" && ! grep -q ' RWE ' "$work/elf" &&
        grep -qF '[Requesting program interpreter: /lib/ld-linux-aarch64.so.1]' "$work/elf"
}

emulate() { # board, command...: on a core of the board's instruction set
    core=cortex-a57
    [ "$1" != xavier ] || core=cortex-a76
    shift
    qemu-aarch64-static -L "$root" -cpu $core "$@"
}

static_twin() { # board: the same objects with the toolchain's own C library
    d=$work/build/out/$1
    $cc -static -no-pie -o "$work/$1.static" "$d"/boot.d/boot_*.o "$d/libingot_runtime.a" "$d/libingot_kernels.a" -lm -lpthread
}

same_bits() { # board: as the static program, on one thread and on two, with a result that makes sense
    static_twin "$1" 2>"$work/log" || { cat "$work/log"; return 1; }
    for threads in 1 2; do
        emulate "$1" "$work/$1.static" "$picture" --threads $threads -o "$work/static.npy" &&
            emulate "$1" "$work/build/out/$1/boot" "$picture" --threads $threads -o "$work/dynamic.npy" &&
            cmp "$work/static.npy" "$work/dynamic.npy" || return 1
    done
    tail -c 40 "$work/dynamic.npy" | $PYTHON -c '
import struct, sys
p = struct.unpack("<10f", sys.stdin.buffer.read())
print(p)
sys.exit(max(p) < 0.5 or p.index(max(p)) != 9)'
}

same_class() { # board: as the static program of plain aarch64 that cross.sh compares with this PC
    emulate "$1" "$work/build/out/$1/boot" "$picture" --top 1 --json >"$work/top.json" && cat "$work/top.json" &&
        out/host/fashion "$picture" --top 1 --json >"$work/host.json" &&
        $PYTHON - "$work/host.json" "$work/top.json" <<'PY'
import json, sys
host, board = (json.load(open(p))["top"][0]["index"] for p in sys.argv[1:])
sys.exit(host != board)
PY
}

quantised() { # target, program, options of configure: a network in 8 bits
    target=$1 program=$2
    shift 2
    [ -e "$work/quantised.onnx" ] || $PYTHON -B "$SRCDIR/tests/quantised_net.py" "$work/quantised.onnx" || return 1
    (cd "$work/build" && ./configure --model="$work/quantised.onnx" --target="$target" --prefix="$program" --threads=2 --no-profile "$@" &&
        ${NINJA:-ninja} "out/$target/$program") >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
}

by_bytes() { # board: its convolutions and its sum are by NEON's kernels of bytes, which the program is linked with
    quantised "$1" bytes --gpu=off && $nm "$work/build/out/$1/bytes.d/bytes_plan.o" >"$work/names" || return 1
    sed -n 's/.*"kernel":"\(qlinear_[a-z0-9_]*\)".*/\1/p' "$work/build/out/$1/bytes.d/plan.json" >"$work/kernels"
    cat "$work/kernels"
    [ "$(grep -c '^qlinear_conv_i[0-9]*_[a-z0-9_]*__neon$' "$work/kernels")" = 6 ] && [ "$(grep -c '^qlinear_binary_i8_8__neon$' "$work/kernels")" = 1 ] || return 1
    for kernel in $(sort -u "$work/kernels"); do grep -q " U $kernel\$" "$work/names" || { echo "$kernel is not called"; return 1; }; done
}

answers() { # picture, name, command...: what it computes is in NAME.npy then, its class in NAME.top
    file=$1 name=$2
    shift 2
    "$@" "$file" -o "$work/$name.npy" 2>"$work/err" && "$@" "$file" --top 1 >"$work/$name.top" 2>"$work/err" || { cat "$work/err"; return 1; }
}

bytes_of_host() { # board, program: for each picture the bits and the class of this PC's program; not all pictures are of one class
    [ -x "$work/build/out/host/bytes" ] || quantised host bytes --without-aarch64 || return 1
    : >"$work/classes"
    for each in "$SRCDIR"/models/pictures/*.pgm; do
        answers "$each" host "$work/build/out/host/bytes" && answers "$each" board emulate "$1" "$work/build/out/$1/$2" &&
            cmp "$work/host.npy" "$work/board.npy" && cmp "$work/host.top" "$work/board.top" && sed 's/ .*//' "$work/board.top" >>"$work/classes" || return 1
    done
    cat "$work/classes"
    [ "$(sort -u "$work/classes" | wc -l)" -gt 1 ]
}

profile=$work/build/out/tx2/ingot-profile
profiles() { # a profile taken "on the board" becomes a plan here
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/boot.json" &&
        emulate tx2 "$profile" -q --seconds 0.1 --threads 2 -o "$work/profile.json" "$work/boot.json" &&
        out/ingot plan "$work/boot.json" --target tx2 --isa neon --threads 2 --profile "$work/profile.json" -o "$work/plan.json" &&
        grep -q '"kernel":"conv_f32_.*__neon"' "$work/plan.json"
}

helps() { # with what it reads on a board, and nothing else
    emulate tx2 "$profile" --help >"$work/help" && cat "$work/help" && grep -q '^ingot-profile graph.json' "$work/help" &&
        grep -q -e '--threads' "$work/help" && ! grep -qE 'net\.onnx|--links|--outputs' "$work/help"
}

refused() { # words, text...: a graph.json of that text is an error that says so
    words=$1
    printf "$2" >"$work/wrong.json"
    if emulate tx2 "$profile" -o "$work/none.json" "$work/wrong.json" 2>"$work/err"; then return 1; fi
    cat "$work/err"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$words" "$work/err"
}

refuses() {
    refused 'line 1: a string expected' '{' && refused 'line 2: two members' '{"a":1,\n"a":2}' &&
        refused 'no such escape' '{"a":"\\q"}' && refused 'without an end' '{"a":"b' && refused 'no value' '[1,]' &&
        refused 'no value' '[01]' && refused 'no value' '[.5]' && refused 'no such escape' '["\\ud800"]' &&
        refused 'behind the end' '{} {}' && refused "it has no .format.: ingot graph" '{"a":"\\u00e9\\ud83d\\ude00"}' &&
        refused 'too deep' "$(printf '%300s' '' | tr ' ' '[')" && refused 'too large' '[99999999999999999999]' &&
        refused 'no value' '' && ! emulate tx2 "$profile" net.onnx 2>"$work/err" && grep -q 'only graph.json' "$work/err"
}

link() { # source, program: as ninja links one
    $cc -O2 -fPIE -fno-stack-protector -c "$1" -o "$2.o" || return 1
    # shellcheck disable=SC2046
    (cd "$work/build" && $cc $(sed -n 's/^board_flags = //p' build.ninja) "$2.o" $stubs/start-tx2.a $stubs/lib*.so \
        $(sed -n 's/^board_libs = //p' build.ninja) -o "$2")
}

# What the toolchain's start files do for a program: constructors, destructors, threads, libraries, stat.
cat >"$work/whole.c" <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
static int made;
__attribute__((constructor)) static void make(void) { made++; }
__attribute__((destructor)) static void unmake(void) { puts("destructor"); }
static void at_end(void) { puts("atexit"); }
static void *run(void *arg) { return (char *)arg + 1; }
long __isoc23_strtol(const char *s, char **end, int base);
int main(int argc, char **argv)
{
    pthread_t t;
    void *joined = 0, *libm = dlopen("libm.so.6", RTLD_NOW);
    double (*cosine)(double) = 0;
    struct stat st = {0};
    if (libm) *(void **)&cosine = dlsym(libm, "cos");
    if (pthread_create(&t, 0, run, argv) || pthread_join(t, &joined) || atexit(at_end)) return 1;
    if (stat(argv[0], &st) || !S_ISREG(st.st_mode) || st.st_size < 1000) return 2;
    printf("%d %d %d %.1f %ld\n", argc, made, joined == (char *)argv + 1, cosine ? cosine(0) : 0, __isoc23_strtol("42", 0, 10));
    return 0;
}
C
whole() {
    link "$work/whole.c" "$work/whole" && emulate tx2 "$work/whole" word >"$work/out"
    cat "$work/out"
    printf '2 1 1 1.0 42\natexit\ndestructor\n' | cmp - "$work/out"
}

echo 'int memfd_create(const char *, unsigned); int main(void) { return memfd_create("", 0); }' >"$work/newer.c"
newer_is_refused() {
    if link "$work/newer.c" "$work/newer" 2>"$work/err"; then return 1; fi
    grep 'undefined reference to .memfd_create' "$work/err"
}

list_is_true() { # every name of the list is in the toolchain's C library, in that version
    awk '$1 == "library" { version = $3; next } /^#/ || !NF { next }
        { if (split($1, part, "@") == 2) print part[1] "@" part[2]; else print $1 "@" version }' \
        "$SRCDIR/runtime/boards/aarch64.txt" | sort >"$work/listed"
    for library in libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0; do
        $nm -D --with-symbol-versions "$(dirname "$libc")/$library"
    done | awk '{ sub("@@", "@", $NF); print $NF }' | sort >"$work/there"
    comm -23 "$work/listed" "$work/there" >"$work/false"
    cat "$work/false"
    [ -s "$work/listed" ] && [ ! -s "$work/false" ]
}

list_is_whole() { # what any program may come to call of the C library is on the list, or start.c's
    for archive in libingot_runtime.a libingot_kernels.a; do $nm "$work/build/out/tx2/$archive"; done >"$work/nm" 2>/dev/null
    awk 'NF == 3 { print $3 }' "$work/nm" >"$work/defined"
    $nm "$work/build/$stubs/start-tx2.a" | awk 'NF == 3 { print $3 }' >>"$work/defined"
    sed 's/@.*//' "$work/listed" >>"$work/defined"
    sort -u "$work/defined" -o "$work/defined"
    awk '$1 == "U" && $2 !~ /^__aarch64_/ { print $2 }' "$work/nm" | sort -u >"$work/undefined"
    comm -23 "$work/undefined" "$work/defined" >"$work/missing"
    cat "$work/missing"
    [ -s "$work/undefined" ] && [ ! -s "$work/missing" ]
}

staged() { # a pipeline of two cores of the board gives the same class
    (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --target=tx2 --prefix=staged \
        --stages=cpu:0,cpu:1 --no-profile && ${NINJA:-ninja} out/tx2/staged) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    old_enough "$work/build/out/tx2/staged" || return 1
    [ -z "$emulator" ] || emulate tx2 "$work/build/out/tx2/staged" "$picture" --top 1 | grep '^#9 '
}

toolkit_for() { # chip: a CUDA toolkit that makes code for it
    for nvcc in ${NVCC:-} $(command -v nvcc) /usr/local/cuda*/bin/nvcc /usr/lib/nvidia-cuda-toolkit/bin/nvcc; do
        if "$nvcc" --list-gpu-code 2>/dev/null | grep -qx "sm_$1"; then
            echo "$nvcc"
            return
        fi
    done
}

has_gpu() { # board, chip: without being asked to, the program carries code for its board's chip, and for no other, and PTX for its driver
    (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --target="$1" --prefix=gpu --no-profile \
        --nvcc="$(toolkit_for "$2")" && ${NINJA:-ninja} "out/$1/gpu") >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
    if grep 'warning #' "$work/log"; then return 1; fi
    program=$work/build/out/$1/gpu
    image=$work/build/out/$1/gpu.d/gpu.sm_$2.fatbin
    needs_little "$program" && old_enough "$program" && well_made "$program" >"$work/log" || { cat "$work/log"; return 1; }
    of_one_chip "$2" "$image" && is_in "$image" "$program" && is_old_ptx "$2" "$work/build/out/$1/gpu.d/gpu.compute_$2.ptx" "$program"
}

in_halves() { # board, chip: the same in half precision, where the chip has them by tensor cores
    (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --target="$1" --prefix=half --no-profile --precision=half \
        --nvcc="$(toolkit_for "$2")" && ${NINJA:-ninja} "out/$1/half") >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
    d=$work/build/out/$1/half.d
    of_one_chip "$2" "$d/half.sm_$2.fatbin" && is_in "$d/half.sm_$2.fatbin" "$work/build/out/$1/half" &&
        is_old_ptx "$2" "$d/half.compute_$2.ptx" "$work/build/out/$1/half" || return 1
    "$(dirname "$(toolkit_for "$2")")/cuobjdump" -sass "$d/half.sm_$2.fatbin" | grep -c HMMA >"$work/products"
    echo "$(cat "$work/products") instructions of tensor cores"
    if [ "$2" = 62 ]; then [ "$(cat "$work/products")" = 0 ]; else [ "$(cat "$work/products")" -gt 100 ]; fi
}

in_bytes() { # board, chip: the same of a quantised network, whose convolutions and sum are by kernels of bytes, by tensor cores where the chip has them
    quantised "$1" bytes_gpu --nvcc="$(toolkit_for "$2")" || return 1
    d=$work/build/out/$1/bytes_gpu.d
    of_one_chip "$2" "$d/bytes_gpu.sm_$2.fatbin" && is_in "$d/bytes_gpu.sm_$2.fatbin" "$work/build/out/$1/bytes_gpu" &&
        is_old_ptx "$2" "$d/bytes_gpu.compute_$2.ptx" "$work/build/out/$1/bytes_gpu" || return 1
    sed -n 's/.*"kernel":"\(qlinear_[a-z0-9_]*\)".*/\1/p' "$d/gpu_plan.json" >"$work/kernels"
    cat "$work/kernels"
    [ "$(grep -c '^qlinear_conv_.*__cuda$' "$work/kernels")" = 6 ] && [ "$(grep -c '^qlinear_conv_i8_.*__cuda$' "$work/kernels")" -ge 5 ] &&
        grep -qx 'qlinear_binary_any_4__cuda' "$work/kernels" || return 1
    "$(dirname "$(toolkit_for "$2")")/cuobjdump" -sass "$d/bytes_gpu.sm_$2.fatbin" | grep -c IMMA >"$work/products"
    echo "$(cat "$work/products") instructions of tensor cores"
    if [ "$2" = 62 ]; then [ "$(cat "$work/products")" = 0 ]; else [ "$(cat "$work/products")" -gt 50 ]; fi
}

bytes_without_gpu() { # board: the program of a quantised network says so in one line, and gives this PC's bits
    bytes_of_host "$1" bytes_gpu && cat "$work/err" && [ "$(grep -c 'running on the CPU' "$work/err")" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ]
}

of_one_chip() { # chip, fatbin
    "$(dirname "$(toolkit_for "$1")")/cuobjdump" --list-elf "$2" >"$work/images" && cat "$work/images" &&
        [ "$(sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin.*/\1/p' "$work/images" | sort -u)" = "sm_$1" ]
}

is_in() { # file, program, 1 if a 0 ends it
    $PYTHON -c 'import sys; sys.exit(open(sys.argv[1], "rb").read() + bytes(len(sys.argv) - 3) not in open(sys.argv[2], "rb").read())' "$@"
}

is_old_ptx() { # chip, file, program: it has this for its board's driver
    grep -qx "\.version 6\.5" "$2" && grep -qx "\.target sm_$1" "$2" && is_in "$2" "$3" 1
}

has_kernels() { # board, chip: so does its ingot-profile, of all kernels
    (cd "$work/build" && ${NINJA:-ninja} "out/$1/ingot-profile") >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
    of_one_chip "$2" "$work/build/out/$1/kernels.sm_$2.fatbin" &&
        is_in "$work/build/out/$1/kernels.sm_$2.fatbin" "$work/build/out/$1/ingot-profile" &&
        is_old_ptx "$2" "$work/build/out/$1/kernels.compute_$2.ptx" "$work/build/out/$1/ingot-profile"
}

says_no_gpu() { # board: in one line, and computes on the CPU; or not, where it must have one
    program=$work/build/out/$1/gpu
    emulate "$1" "$program" "$picture" --top 1 2>"$work/err" | grep '^#9 ' || return 1
    cat "$work/err"
    [ "$(grep -c 'running on the CPU' "$work/err")" = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] || return 1
    if emulate "$1" "$program" "$picture" --gpu=require -o "$work/none.npy" 2>"$work/err"; then return 1; fi
    [ "$(wc -l <"$work/err")" = 1 ] && [ ! -e "$work/none.npy" ]
}

toolkit() { # one that knows the boards' chips; what it makes says for which, as the emulated driver has the kernels itself
    cat >"$work/nvcc" <<'SH'
#!/bin/sh
for word; do
    case $word in
    --list-gpu-code) printf 'sm_62\nsm_72\n' ;;
    -fatbin | -ptx) made=$word ;;
    -arch=*) chips=${word#*_} ;;
    *code=*) chips="$chips ${word#*code=}" ;;
    esac
    [ "${last:-}" != -o ] || out=$word
    last=$word
done
case ${made:-} in
-fatbin) echo "kernels of$chips" >"$out" ;;
-ptx) printf '.version 7.8\n.target sm_%s\n' "$chips" >"$out" ;;
esac
SH
    chmod +x "$work/nvcc"
}

made() { # target, options of configure: its ingot-profile
    made_for=$1
    shift
    (cd "$work/build" && ./configure --target="$made_for" --nvcc="$work/nvcc" "$@" && ${NINJA:-ninja} "out/$made_for/ingot-profile") \
        >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
}

holds() { # board, chip: its ingot-profile has the kernels for the chip
    grep -aqx "kernels of sm_$2" "$work/build/out/$1/kernels.sm_$2.fatbin" &&
        is_in "$work/build/out/$1/kernels.sm_$2.fatbin" "$work/build/out/$1/ingot-profile" &&
        is_old_ptx "$2" "$work/build/out/$1/kernels.compute_$2.ptx" "$work/build/out/$1/ingot-profile"
}

carries() { # board, chip: with a network of its own, without one, and with one that has no GPU; none that is not wanted
    for options in "--model=$SRCDIR/models/fashion.onnx --no-profile" "" "--model=$SRCDIR/models/fashion.onnx --no-profile --stages=cpu:0,cpu:1"; do
        # shellcheck disable=SC2086
        made "$1" $options && holds "$1" "$2" || { echo "$options"; return 1; }
    done
    program=$work/build/out/$1/ingot-profile
    needs_little "$program" && old_enough "$program" && well_made "$program" >"$work/log" || { cat "$work/log"; return 1; }
    made "$1" --model="$SRCDIR/models/fashion.onnx" --no-profile --gpu=off && ! grep -aq 'kernels of sm_' "$program" && made "$1"
}

driver() { # of no code for its GPU: it says what kernels it is given
    mkdir -p "$work/driver" && {
        echo '#include <stdio.h>'
        for name in $(sed -n 's/^ *\(ENTRY(\|{\)"\(cu[A-Za-z0-9_]*\)".*/\2/p' "$SRCDIR/runtime/gpu/driver.c"); do
            case $name in
            cuDeviceGetCount) echo "int $name(int *n) { return (*n = 1) < 1; }" ;;
            cuDeviceGetName) echo "int $name(char *name, int bytes, int device) { return snprintf(name, (size_t)bytes, \"A GPU\") < 0 || device; }" ;;
            cuModuleLoadData) echo "int $name(void **m, const char *kernels) { *m = 0; fputs(kernels, stdout); fflush(stdout); return 209; }" ;;
            *) echo "int $name(void) { return 0; }" ;;
            esac
        done
    } >"$work/driver/cuda.c" && $cc -shared -fPIC "$work/driver/cuda.c" -o "$work/driver/libcuda.so.1"
}

gives_its_own() { # board, chip: the driver gets the kernels that the program carries, or those of a file
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/boot.json" && driver || return 1
    program=$work/build/out/$1/ingot-profile
    echo "kernels of a file" >"$work/file"
    printf 'kernels of sm_%s\n.version 6.5\n.target sm_%s\n' "$2" "$2" >"$work/all"
    for option in --gpu --gpu="$work/file"; do
        want=${option#--gpu}
        want=${want#=}
        LD_LIBRARY_PATH=$work/driver emulate "$1" "$program" "$option" "$work/boot.json" -o "$work/none.json" >"$work/out" 2>"$work/err"
        status=$?
        cat "$work/out" "$work/err"
        [ $status = 1 ] && cmp "${want:-$work/all}" "$work/out" && [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'no code' "$work/err" || return 1
    done
}

any_aarch64() { # for machines of no name: as a board's, with the kernels of the chip that is asked for, or of none
    program=$work/build/out/aarch64/ingot-profile
    made aarch64 --model="$SRCDIR/models/fashion.onnx" --no-profile --gpu=sm_72 && holds aarch64 72 && needs_little "$program" && old_enough "$program" &&
        well_made "$program" >"$work/log" || { cat "$work/log"; return 1; }
    [ -z "$emulator" ] || { gives_its_own aarch64 72 && emulate aarch64 "$program" -q --seconds 0.1 --threads 2 -o "$work/profile.json" "$work/boot.json"; } || return 1
    made aarch64 --model="$SRCDIR/models/fashion.onnx" --no-profile && ! grep -aq 'kernels of sm_' "$program" && needs_little "$program"
}

words_of_the_profiler() { # without a driver, and without kernels: one line, no file
    program=$work/build/out/tx2/ingot-profile
    made tx2 || return 1
    for words in 'no CUDA driver' 'no GPU kernels are in this program'; do
        if emulate tx2 "$program" --gpu "$work/boot.json" -o "$work/none.json" 2>"$work/err"; then return 1; fi
        cat "$work/err"
        [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$words" "$work/err" && [ ! -e "$work/none.json" ] || return 1
        made tx2 --gpu=off --model="$SRCDIR/models/fashion.onnx" --no-profile || return 1
    done
}

profiles_here() { # this PC's: one file that takes a GPU's profile, here by the emulated driver, an old one, too; of several modules the one for the chip
    made host --model="$SRCDIR/models/fashion.onnx" --no-profile --without-aarch64 --gpu=sm_62 && holds host 62 || return 1
    cp "$work/build/out/host/ingot-profile" "$work/profiler" && readelf -dW "$work/profiler" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$work/needed"
    cat "$work/needed"
    ! grep -vE '^(libc|libm|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$' "$work/needed" && taken_here && EMU_CUDA_FAILS=old taken_here || return 1
    printf 'of another chip' >"$work/other" && sh "$SRCDIR/cli/boards/kernels.sh" "$work/other" "$work/build/out/host/kernels.sm_62.fatbin" >"$work/build/out/host/kernels.S" &&
        (cd "$work/build" && ${NINJA:-ninja} out/host/ingot-profile >"$work/log" 2>&1) && cp "$work/build/out/host/ingot-profile" "$work/profiler" &&
        grep -aq 'of another chip' "$work/profiler" && taken_here
}

taken_here() {
    rm -f "$work/gpu.json"
    LD_LIBRARY_PATH=$PWD/out/emu "$work/profiler" --gpu --seconds 0.1 -q "$PWD/out/host/fashion.d/graph.json" -o "$work/gpu.json" &&
        out/ingot plan --isa cuda --profile "$work/gpu.json" out/host/fashion.d/graph.json -o "$work/plan.json" &&
        grep -q '"cpu":"Emulated GPU"' "$work/gpu.json" && grep -q '"kernel":"conv_f32_.*__cuda"' "$work/plan.json"
}

emulator=
! have qemu-aarch64-static || emulator=1
toolkit
for board in tx2 xavier; do
    products=boot
    [ $board = xavier ] || products="boot ingot-profile"
    # shellcheck disable=SC2046
    check "$board builds" build $board $(printf "out/$board/%s " $products) || continue
    for file in $products; do
        check "$board: $file needs no other library" needs_little "$work/build/out/$board/$file"
        check "$board: $file asks for no glibc after 2.27" old_enough "$work/build/out/$board/$file"
        check "$board: $file is position-independent, its stack not executable" well_made "$work/build/out/$board/$file"
    done
    check "$board: a quantised network goes by bytes" by_bytes $board
    [ -n "$emulator" ] || continue
    check "$board gives the static program's bits" same_bits $board
    check "$board gives this PC's class" same_class $board
    check "$board: a quantised network gives this PC's bits" bytes_of_host $board bytes
done
for pair in tx2:62 xavier:72; do
    board=${pair%:*} chip=${pair#*:}
    check "$board: ingot-profile carries the kernels of its GPU" carries $board $chip && [ -n "$emulator" ] &&
        check "$board: ingot-profile brings them to the driver" gives_its_own $board $chip
    if [ -z "$(toolkit_for $chip)" ]; then
        skip "$board with its GPU" "no CUDA toolkit for sm_$chip"
        continue
    fi
    check "$board has its GPU's code where there is a toolkit" has_gpu $board $chip || continue
    check "$board: ingot-profile has all kernels for its chip" has_kernels $board $chip
    check "$board: a program in half precision" in_halves $board $chip
    check "$board: a program in bytes" in_bytes $board $chip
    [ -n "$emulator" ] || continue
    check "$board without a GPU says so and runs on the CPU" says_no_gpu $board
    check "$board: so does a quantised network's, with this PC's bits" bytes_without_gpu $board
done
check "aarch64: ingot-profile for machines of no name" any_aarch64
check "the names that programs may use are glibc 2.17's" list_is_true
check "every name that the runtime may need is among them" list_is_whole
check "a newer name does not link" newer_is_refused
check "a program with stages is as old, and right" staged
if [ -f out/emu/libcuda.so.1 ]; then
    check "this PC's ingot-profile takes a GPU's profile, by its own kernels" profiles_here
else
    skip "this PC's ingot-profile" "no emulated driver"
fi
if [ -n "$emulator" ]; then
    check "constructors, threads, libraries and stat work" whole
    check "ingot-profile takes a profile, from which a plan is made" profiles
    check "ingot-profile refuses what is no graph" refuses
    check "ingot-profile --help tells what it does on a board" helps
    check "ingot-profile without a driver, or without kernels" words_of_the_profiler
else
    skip "programs of boards run" "no emulator"
fi
finish
