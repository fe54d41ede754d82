# What a frame costs, in --bench of programs that measure it: on a made-up /sys, with a made-up NVML, and where there is nothing.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
gpu=$PWD/out/host/fashion_gpu
stages=$PWD/out/host/fashion_gpu_stages
rapl=sys/class/powercap/intel-rapl:0
iio=sys/bus/i2c/drivers/ina3221x/0-0041/iio:device3
chmod 755 "$work" # for one who may read less

builds() { # a board whose CPU has powers, a program of one thread and one of two stages that know it, one that does not, one without
    "$PYTHON" - "$SRCDIR/platforms/tx2.json" "$work/board.json" <<'PY' &&
import json, sys
board = json.load(open(sys.argv[1]))
board["name"] = "bench"
board["processors"][1].update(active_w=3.5, idle_w=1.5)
json.dump(board, open(sys.argv[2], "w"))
PY
        out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$net.json" && out/ingot plan "$net.json" --threads 1 -o "$work/plain.json" &&
        out/ingot plan "$net.json" --threads 1 --stages cpu:0,cpu:1 -o "$work/staged.json" &&
        program plain "$work/plain.json" --energy --platform "$work/board.json" && program staged "$work/staged.json" --energy --platform "$work/board.json" &&
        program unknown "$work/plain.json" --energy --platform tx2 2>"$work/err" && grep -q "'tx2' lacks powers" "$work/err" &&
        program without "$work/plain.json"
}

tree() { # root: fresh and empty
    rm -rf "${work:?}/$1" && mkdir -p "$work/$1"
}

bench() { # root, program, options..., of which the last may be another time
    root=$work/$1 name=$2
    shift 2
    INGOT_ROOT=$root timeout "$hang" "$work/$name" --bench=0.3 "$@"
}

rail() { # root: a module that draws 6 W
    tree "$1" && mkdir -p "$work/$1/$iio" && echo VDD_IN >"$work/$1/$iio/rail_name_0" && echo 6000 >"$work/$1/$iio/in_power0_input"
}

counter() { # root
    tree "$1" && mkdir -p "$work/$1/$rapl" && echo package-0 >"$work/$1/$rapl/name" && echo 1000 >"$work/$1/$rapl/energy_uj" &&
        echo 262143328850 >"$work/$1/$rapl/max_energy_range_uj"
}

# Makes a sensor's file a pipe, for each reading another, so that what is said depends on how often it is read, not on when.
serve() { # file, what it says first, what it says more at each reading, readings after which it is gone (0: never); unserve ends it
    rm -f "$1" && mkfifo "$1" || return 1
    served "$@" &
    server=$!
}

served() {
    says=$2 left=$4
    while exec 3>"$1"; do # there is a reader
        left=$((left - 1))
        if [ $left = 0 ]; then rm "$1"; else mkfifo "$1.next" && mv -f "$1.next" "$1"; fi || return 1
        echo "$says" >&3
        exec 3>&-
        [ $left != 0 ] || return 0
        says=$((says + $3))
    done
}

unserve() {
    kill "$server" 2>/dev/null
    wait "$server" 2>/dev/null
    return 0
}

integrated() { # seconds: board rails: seconds times watts, by frames; beside it what the plan says
    rail six && for name in plain staged; do
        bench six "$name" --json --bench="$1" >"$work/$name.out" && bench six "$name" >"$work/$name.text" &&
            grep -q "^energy [0-9.]* mJ a frame, 6.00 W: power of board rails (INA3221), integrated, VDD_IN, read .* every 10 ms" "$work/$name.text" &&
            grep -q "^predicted [0-9.]* mJ a frame with the powers of 'bench'" "$work/$name.text" || return 1
    done
    "$PYTHON" - "$work" <<'PY'
import json, sys
for name in "plain", "staged":
    e = json.load(open(f"{sys.argv[1]}/{name}.out"))["energy"]
    p = json.load(open(f"{sys.argv[1]}/{name}.json"))
    assert abs(e["watts"] - 6) < 0.01 and e["why"] is None, e
    assert abs(e["mj"] - 6e3 * e["seconds"] / e["frames"]) < 1e-3 * e["mj"] and e["seconds"] > 0.2, e
    (part,) = e["parts"]
    assert part["every_ms"] == 10 and part["samples"] > 5 and part["sensors"] == ["VDD_IN"] and abs(part["mj"] - e["mj"]) < 1e-6
    if name == "plain":
        mj = 3.5 * p["totals"]["latency_ms"]
    else:
        mj = 1.5 * p["totals"]["period_ms"] + 2 * sum(s["predicted_ns"] * 1e-6 for s in p["stages"])
    assert abs(e["predicted_mj"] - mj) < 1e-6 and e["platform"] == "bench", (e, mj)
PY
}

counted() {
    counter rapl && serve "$work/rapl/$rapl/energy_uj" 1000 2000000 0 || return 1
    bench rapl unknown --json >"$work/rapl.out" && bench rapl staged >"$work/rapl.text"
    status=$?
    unserve
    cat "$work/rapl.text"
    [ $status = 0 ] && grep -q "mJ a frame, .* W: energy counters of the CPU packages (RAPL), package-0, read .* every 100 ms" "$work/rapl.text" &&
        "$PYTHON" - "$work/rapl.out" <<'PY'
import json, sys
e = json.load(open(sys.argv[1]))["energy"]
(part,) = e["parts"]
joules = 2 * (part["samples"] - 1)
assert joules > 0 and abs(e["mj"] * e["frames"] / (1e3 * joules) - 1) < 1e-3, e
assert abs(e["watts"] * e["seconds"] / joules - 1) < 1e-3 and e["seconds"] > 0.2, e
assert e["predicted_mj"] is None and e["platform"] is None, e
PY
}

unknown() { # root, words: said in text, and null with the reason in JSON; frames are timed all the same
    bench "$1" plain >"$work/text" && bench "$1" plain --json >"$work/json" && cat "$work/text" &&
        grep -q "^NO ENERGY MEASURED: .*$2" "$work/text" && "$PYTHON" - "$work/json" "$2" <<'PY'
import json, re, sys
b = json.load(open(sys.argv[1]))
e = b["energy"]
assert e["mj"] is None and e["watts"] is None and re.search(sys.argv[2], e["why"]) and e["parts"][0]["mj"] is None, e
assert e["predicted_mj"] > 0 and b["median_ms"] > 0
PY
}

denied() { # by a user who may not read the counter
    counter secret && chmod 400 "$work/secret/$rapl/energy_uj" || return 1
    if [ "$(id -u)" = 0 ]; then as="setpriv --reuid=65534 --clear-groups"; else as= && chmod 0 "$work/secret/$rapl/energy_uj"; fi
    # shellcheck disable=SC2086
    INGOT_ROOT=$work/secret $as "$work/plain" --bench=0.1 >"$work/text" && cat "$work/text" && grep -q "^NO ENERGY MEASURED: .*energy_uj: Permission denied" "$work/text"
}

vanished() { # seconds: in the middle of a run, after a reading before its frames and one beside them; the first looks whether it can be read
    rail gone && serve "$work/gone/$iio/in_power0_input" 6000 0 3 || return 1
    bench gone staged --json --bench="$1" >"$work/json"
    status=$?
    unserve
    [ $status = 0 ] && "$PYTHON" - "$work/json" <<'PY'
import json, sys
e = json.load(open(sys.argv[1]))["energy"]
assert e["mj"] is None and "No such file" in e["why"] and e["parts"][0]["samples"] == 2, e
PY
}

lean() { # a program that was not asked for it has none of it, and says so
    ! grep -aq powercap "$work/without" && grep -aq powercap "$work/plain" && "$work/without" --bench=0.1 --json |
        grep -q '"energy":{"mj":null,"why":"not built in"}' || return 1
    echo "$(($(wc -c <"$work/plain") - $(wc -c <"$work/without"))) bytes more"
}

asks() { # options: 0 if ./configure has the network's program measure
    rm -rf "$work/build" && mkdir "$work/build"
    (cd "$work/build" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --prefix=boots --no-profile "$@") \
        >"$work/log" 2>&1
    grep -q 'wrote build.ninja' "$work/log" && grep -q 'args = --prefix boots .*--energy' "$work/build/build.ninja"
}

configured() { # with stages, and on boards; of one network on the CPU where it is asked for
    asks --without-aarch64 --stages=cpu:0,cpu:1 && asks --without-aarch64 --with-energy && ! asks --without-aarch64 &&
        ! asks --without-aarch64 --stages=cpu:0,cpu:1 --without-energy && asks --without-aarch64 --platform="$work/board.json" &&
        grep -q -- "--energy --platform $work/board.json" "$work/build/build.ninja" &&
        ! asks --without-aarch64 --platform=tx2 --without-energy && grep -q -- '--platform is for' "$work/log"
}

configured_boards() {
    asks --target=tx2 --gpu=off && ! asks --target=tx2 --gpu=off --without-energy
}

emulated() { # EMU_NVML, root, command...
    nvml=$1 root=$2
    shift 2
    EMU_NVML=$nvml INGOT_ROOT=$work/$root LD_LIBRARY_PATH=out/emu timeout "$hang" "$@"
}

on_the_gpu() { # seconds: the counter or the power of the GPU, with the CPU's; a board's rails have it in them; the CPU alone has none
    counter both && serve "$work/both/$rapl/energy_uj" 1000 2000000 0 || return 1
    for how in energy power; do emulated $how both "$gpu" --bench="$1" --json >"$work/$how.json" || break; done
    emulated energy both "$gpu" --bench=0.2 >"$work/text"
    emulated energy both "$gpu" --bench=0.2 --gpu=off --json >"$work/off.json"
    emulated energy both "$stages" --bench="$1" --json >"$work/stages.json"
    unserve
    cat "$work/text"
    grep -q "energy counter of the GPU (NVML), GPU 0" "$work/text" && grep -q "^energy of both" "$work/text" &&
        rail six && emulated energy six "$gpu" --bench=0.2 --json >"$work/board.json" && "$PYTHON" - "$work" <<'PY'
import json, sys
e = {n: json.load(open(f"{sys.argv[1]}/{n}.json"))["energy"] for n in ("energy", "power", "off", "stages", "board")}
for name, method in (("energy", "energy counter of the GPU (NVML)"), ("power", "power of the GPU (NVML), integrated"),
                     ("stages", "energy counter of the GPU (NVML)")):
    cpu, gpu = e[name]["parts"]
    assert gpu["method"] == method and abs(cpu["mj"] + gpu["mj"] - e[name]["mj"]) < 1e-5 * e[name]["mj"], e[name]
    watts = gpu["mj"] * 1e-3 * e[name]["frames"] / e[name]["seconds"]
    assert abs(watts - 50) < 5, (name, watts)
assert [len(e[n]["parts"]) for n in ("off", "board")] == [1, 1] and e["board"]["watts"] < 6.1
PY
}

gpu_unknown() { # EMU_NVML, words
    counter both && serve "$work/both/$rapl/energy_uj" 1000 2000000 0 || return 1
    emulated "$1" both "$gpu" --bench=0.2 --json >"$work/json"
    unserve
    cat "$work/json" && "$PYTHON" - "$work/json" "$2" <<'PY'
import json, sys
e = json.load(open(sys.argv[1]))["energy"]
assert e["mj"] is None and sys.argv[2] in e["why"] and e["parts"][0]["mj"] > 0 and e["parts"][1]["mj"] is None, e
PY
}

no_library() { # only the driver; where there is a real NVML, it does not know the emulated GPU
    no_nvml="no NVML"
    ! ldconfig -p 2>/dev/null | grep -q 'libnvidia-ml\.so\.1' || no_nvml=NVML
    mkdir -p "$work/cuda" && ln -sf "$PWD/out/emu/libcuda.so.1" "$work/cuda" && tree empty &&
        INGOT_ROOT=$work/empty LD_LIBRARY_PATH=$work/cuda "$gpu" --bench=0.1 >"$work/text" && cat "$work/text" &&
        grep -q "^NO ENERGY MEASURED: no sensor: neither RAPL" "$work/text" && grep -q "^NO ENERGY MEASURED: no sensor: $no_nvml" "$work/text"
}

check "programs that measure energy" builds || { finish; exit; }
check "rails of a board are integrated, beside what the plan says" within "0.3 2 8" integrated
check "counters are read" counted
check "no sensor" eval 'tree empty && unknown empty "no sensor: neither RAPL counters nor INA3221 rails"'
check "a counter that stands still" eval 'counter still && unknown still "energy_uj stood still"'
check "a counter that may not be read" denied
check "a sensor that vanishes" within "0.3 2 8" vanished
check "a program that does not measure has none of it" lean
check "./configure asks for it where it is of use" configured
if have "${CC_AARCH64:-aarch64-linux-gnu-gcc}"; then check "so it does for boards" configured_boards; else skip "boards" "no cross compiler"; fi
if [ -x "$gpu" ] && [ -e out/emu/libnvidia-ml.so.1 ]; then
    check "the GPU's energy, by its counter and by its power" within "0.5 2 8" on_the_gpu
    for failure in "init|NVML counts no energy here (status 9)" "bus|(status 6)" "lost|GPU 0: "; do
        check "NVML fails: ${failure%%|*}" gpu_unknown "${failure%%|*}" "${failure#*|}"
    done
    check "there is no NVML" no_library
else
    skip "the GPU's energy" "no emulated driver"
fi
finish
