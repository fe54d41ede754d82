# The scripts of bench/: help, and one clear line for what is wrong, before anything is measured.
. "$SRCDIR/tests/scripts/tap.inc"
scripts=$(cd "$SRCDIR/bench" && for file in *; do case $file in *.[ch]) ;; *) [ ! -f "$file" ] || echo "$file" ;; esac; done)

helps() {
    for script in $scripts; do
        "$SRCDIR/bench/$script" --help >"$work/out" 2>"$work/err" && grep -q "bench/$script\|usage: $script" "$work/out" && [ ! -s "$work/err" ] || {
            echo "$script"
            return 1
        }
    done
}

said() { # status, words, script, arguments...: the words stand in the last line, behind no more than a usage
    status=$1 words=$2 script=$3
    shift 3
    timeout "$hang" "$SRCDIR/bench/$script" "$@" >"$work/out" 2>"$work/err" </dev/null
    was=$?
    echo "$script $*: $was" && cat "$work/err"
    [ $was = "$status" ] && tail -1 "$work/err" | grep -q -- "$words" && [ ! -s "$work/out" ] && [ "$(grep -c ': ' "$work/err")" -le 2 ] &&
        ! grep -q Traceback "$work/err"
}

options() {
    for script in $scripts; do said 2 . "$script" --nonsense || return 1; done
    said 2 "not 'x'" occupancy --sm x && said 2 "not '-o'" gpu.sh -o && said 2 "not 'x'" parts.sh x && said 2 "not 'x'" deploy -s x && said 2 "not 'x'" peers --threads x
}

files() { # that are not there, or not what is wanted, or cannot be written
    page=$SRCDIR/README.md none=$work/none/x
    said 1 "$none: No such file" roofline "$none" && said 1 "$page: not a graph.json" roofline "$page" &&
        said 1 "$none: No such file" occupancy --log "$none" && said 1 "no words of ptxas" occupancy --log "$page" &&
        said 1 "$none: No such file" gpu_stages --table "$none" && said 1 "$page: not results" gpu_stages --table "$page" &&
        said 1 "nothing was measured" peers --tables -o "$none" && said 1 "$page: not results" peers --tables -o "$page" &&
        said 1 "nothing was measured" pipeline --tables -o "$none" && said 1 "$page: not results" pipeline --tables -o "$page" &&
        said 1 "$none: its folder is not there" peers -o "$none" && said 1 "$none: its folder is not there" pipeline -o "$none" &&
        said 1 "$none: No such file" peers --models "$none" && said 1 "nothing was measured" estimate --check --folder "$work"
}

networks() {
    for script in "peers --networks" "pipeline --networks" "estimate --networks" precision; do
        # shellcheck disable=SC2086
        said 1 "no network 'none' in the zoo" $script none || return 1
    done
}

no_torch() {
    mkdir "$work/no" && echo 'raise ImportError("none", name="torch")' >"$work/no/torch.py" && : >"$work/no/numpy.py" || return 1
    PYTHONPATH=$work/no "${PYTHON:-python3}" "$SRCDIR/bench/peer/torch_net.py" --check x.onnx 2>"$work/err"
    [ $? = 1 ] && cat "$work/err" && [ "$(grep -c 'this Python has no torch' "$work/err")" = "$(wc -l <"$work/err")" ]
}

if have python3; then
    check "--help" helps
    check "options" options
    check "files" files
    check "networks" networks
    check "a Python without torch" no_torch
else
    skip "the scripts of bench/" "no python3"
fi
finish
