# A deployment of several instruction sets, built on this PC: what the programs of boards ask of their system, and the
# parts of all keys run in turn, those of boards under emulation, against the single program.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
cc=${CC_AARCH64:-aarch64-linux-gnu-gcc}
readelf=${cc%gcc}readelf
mpicc=${MPICC:-mpicc}
if ! have "$cc" || ! have "$PYTHON" || ! "$mpicc" -showme:compile >/dev/null 2>&1; then
    skip "deployments over several instruction sets" "no cross compiler, Open MPI or $PYTHON"
    finish
    exit
fi
picture=$SRCDIR/models/pictures/boot.pgm
keys='nodeA_cpu0 nodeB_cpu0 nodeC_cpu0 nodeD_cpu01'
package=$work/build/out/fashion
build_folder "$work/build"
cat >"$work/site.json" <<'JSON'
{"format":"ingot-site","version":1,"links":[],
"devices":[{"name":"nodeA"},{"name":"nodeB","target":"aarch64"},{"name":"nodeC","target":"tx2"},{"name":"nodeD","target":"xavier"}]}
JSON

deployed() { # seed of the mapping: 0 gives each key a piece
    # shellcheck disable=SC2086
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$SRCDIR/models/fashion.onnx" "$1" $keys >"$work/mapping.json" &&
        (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --mapping="$work/mapping.json" \
            --platform="$work/site.json" --threads=1 && ${NINJA:-ninja} out/fashion.d/ranks.done) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    grep 'MPI for aarch64' "$work/log" && cat "$work/build/out/fashion.d/summary.txt"
}

machines() { # of the keys in turn
    for key in $keys; do $readelf -h "$package/$key" | sed -n 's/.*Machine: *//p'; done >"$work/machines"
    cat "$work/machines"
    printf 'Advanced Micro Devices X86-64\nAArch64\nAArch64\nAArch64\n' | cmp - "$work/machines"
}

boards_keys=${keys#* }
needs_little() {
    for key in $boards_keys; do
        $readelf -dW "$package/$key" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$work/needed"
        cat "$work/needed"
        grep -q '^libmpi\.so\.40$' "$work/needed" && grep -q '^libc\.so\.6$' "$work/needed" &&
            ! grep -vE '^lib(mpi\.so\.40|c\.so\.6|m\.so\.6|dl\.so\.2|pthread\.so\.0)$' "$work/needed" || return 1
    done
}

old_enough() { # no glibc after 2.27, no version of Open MPI's, and its data is looked up, not copied
    for key in $boards_keys; do
        newest=$($readelf -VW "$package/$key" | grep -o 'GLIBC_[0-9A-Z._]*' | sort -u -V | tail -1)
        echo "asks for ${newest:-nothing}"
        [ -n "$newest" ] && [ "$(printf '%s\nGLIBC_2.27\n' "$newest" | sort -V | tail -1)" = GLIBC_2.27 ] || return 1
        $readelf -rW "$package/$key" >"$work/relocations" && grep ompi_mpi_comm_world "$work/relocations" &&
            ! grep R_AARCH64_COPY "$work/relocations" && ! $readelf --dyn-syms -W "$package/$key" | grep 'MPI_.*@' || return 1
    done
}

list_is_true() { # functions, and data with its size, are in this PC's library
    library=$(ldd "$package/nodeA_cpu0" | sed -n 's/.*libmpi\.so\.40 => \([^ ]*\).*/\1/p')
    [ -n "$library" ] || return 1
    nm -DS "$library" | awk '{ print $NF, "0x" $2 }' >"$work/there"
    awk '/^#/ || $1 == "library" { next } { print }' "$SRCDIR/runtime/boards/openmpi.txt" | while read -r name bytes; do
        size=$(sed -n "s/^$name \(0x.*\)/\1/p" "$work/there")
        [ -n "$size" ] && [ "${bytes:-$((size))}" -eq $((size)) ] || { echo "$name: $size, not $bytes"; exit 1; }
    done
}

emulate() { # key, command...
    core=cortex-a57
    [ "$1" != nodeD_cpu01 ] || core=cortex-a76
    shift
    qemu-aarch64-static -L "$root" -cpu $core "$@"
}

starts() { # with the stub in the library's place, which nothing calls before MPI_Init
    libc=$($cc -print-file-name=libc.so.6)
    root=$(dirname "$(dirname "$(readlink -f "$libc")")")
    [ -e "$root/lib/ld-linux-aarch64.so.1" ] || root=/
    mkdir -p "$work/libraries" && cp "$work/build/out/stubs/aarch64/libmpi.so" "$work/libraries/libmpi.so.40" || return 1
    for key in $boards_keys; do
        emulate "$key" -E LD_LIBRARY_PATH="$work/libraries" "$package/$key" --info | tee "$work/info" | grep "'$key'" || return 1
    done
}

part_programs() { # a program a key, which runs one of its parts on files
    while read -r program target stem parts; do
        compiler=${CC:-cc} static=
        [ "$target" = host ] || compiler=$cc static=-static
        objects=$package.d/${stem}_main.o
        for part in $parts; do objects="$objects $package.d/${part}_plan.o $package.d/${part}_weights.o"; done
        # shellcheck disable=SC2086
        $compiler $static -std=c11 -O2 -D_GNU_SOURCE -I"$SRCDIR" -o "$work/$program" "$SRCDIR/tests/mpi/one_part.c" $objects \
            "$work/build/out/$target/libingot_runtime.a" "$work/build/out/$target/libingot_kernels.a" -lm -lpthread || return 1
    done <"$package.d/ranks.txt"
}

mixed_isa_bound() { # tensors pass by files; max|d| <= 1e-4 * max|ref| + 1e-6
    part_programs && out/host/fashion "$picture" -o "$work/want.npy" || return 1
    rm -f "$work"/tensor*.npy
    "$PYTHON" - "$package/deploy.json" "$work" "$picture" <<'PY'
import json, struct, subprocess, sys
d, work, picture = json.load(open(sys.argv[1])), sys.argv[2], sys.argv[3]
files, left, ran = {"image": picture}, list(d["parts"]), {}
while left:
    part = next(p for p in left if all(t in files for t in p["in"]))
    left.remove(part)
    rank = d["ranks"][part["rank"]]
    core = {"host": None, "xavier": "cortex-a76"}.get(rank["target"], "cortex-a57")
    command = ["qemu-aarch64-static", "-cpu", core] if core else []
    command += [f"{work}/{rank['file']}", part["prefix"].rsplit("_p", 1)[1]] + [files[t] for t in part["in"]]
    for t in part["out"]:
        files[t] = f"{work}/tensor{len(files)}.npy"
        command += ["-o", files[t]]
    subprocess.run(command, check=True)
    ran[rank["target"]] = ran.get(rank["target"], 0) + 1
def floats(path):
    data = open(path, "rb").read()
    at = 10 + struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - at) // 4}f", data[at:])
want, got = floats(f"{work}/want.npy"), floats(files["probabilities"])
worst, most = max(abs(a - b) for a, b in zip(want, got)), max(map(abs, want))
print("parts run:", ran, "largest difference", worst, "of", most)
assert len(want) == len(got) == 10 and set(ran) == {"host", "aarch64", "tx2", "xavier"}
assert worst <= 1e-4 * most + 1e-6 and got.index(max(got)) == 9
PY
}

without_compiler() { # one line says what is missing
    if (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --mapping="$work/mapping.json" \
        --platform="$work/site.json" --threads=1 --without-aarch64 && ${NINJA:-ninja} out/fashion.d/ranks.done) >"$work/log" 2>&1; then
        return 1
    fi
    grep '^ranks.sh: nodeB_cpu0: for aarch64 a cross compiler' "$work/log"
}

check "a key for x86, aarch64, tx2 and xavier each builds" deployed 0
check "each program is its machine's" machines
check "boards' programs need Open MPI's library and the C library's" needs_little
check "boards' programs ask for no glibc after 2.27" old_enough
check "the names of the stub are Open MPI's" list_is_true
if have qemu-aarch64-static; then
    check "boards' programs start" starts
    check "mixed_isa_bound: a piece each" mixed_isa_bound
    check "layers here and there build" deployed 7
    check "mixed_isa_bound: layers here and there" mixed_isa_bound
else
    skip "mixed_isa_bound" "no emulator"
fi
check "without a cross compiler a line says so" without_compiler
finish
