# Bad input: one clear line that names the file, exit 1 (usage: 2), no half-written output, never a signal.
. "$SRCDIR/tests/scripts/tap.inc"
model=$SRCDIR/models/fashion.onnx
bytes=$(wc -c <"$model")

refused() { # command...: exit 1, one line on stderr
    "$@" >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ]
}

refused_naming() { # word, command...
    word=$1
    shift
    refused "$@" && grep -q -- "$word" "$work/err"
}

truncated() {
    for n in 0 1 7 100 1000 $((bytes / 2)) $((bytes - 1)); do
        head -c "$n" "$model" >"$work/t.onnx"
        refused_naming t.onnx out/ingot inspect "$work/t.onnx" || return 1
        refused_naming t.onnx out/ingot inspect --layers "$work/t.onnx" || return 1
    done
}

wrong_kind() { # of file: in words that say which kind was wanted
    : >"$work/empty.onnx"
    out/ingot graph "$model" -o "$work/good.json" >"$work/out"
    refused_naming "empty.onnx: the file is empty" out/ingot inspect "$work/empty.onnx" &&
        refused_naming "boot.pgm: not a valid ONNX file" out/ingot inspect "$SRCDIR/models/pictures/boot.pgm" &&
        refused_naming "fashion.onnx: no JSON" out/ingot plan "$work/good.json" --profile "$model" -o "$work/none.json" &&
        refused_naming "63, such as cpu:0" out/ingot profile "$work/good.json" --stages cpu:99 -o "$work/none.json"
}

is_kind() { # bytes for printf, words: a file that begins so is refused with them
    printf "$1" >"$work/kind.onnx" && head -c 64 /dev/zero >>"$work/kind.onnx" && refused_naming "kind.onnx: not a valid ONNX file: .*$2" out/ingot inspect "$work/kind.onnx" &&
        refused_naming "kind.onnx: not a valid ONNX file: .*$2" out/ingot inspect --layers "$work/kind.onnx"
}

text_is() { # all bytes, words
    printf "$1" >"$work/kind.onnx" && refused_naming "kind.onnx: not a valid ONNX file: .*$2" out/ingot inspect "$work/kind.onnx"
}

kinds() { # what people have in the place of an ONNX file: what it is, and how to come by one
    is_kind 'PK\003\004' "ZIP.*torch.onnx.export" && is_kind '\200\002\212\nl\374\234F' "PyTorch.*torch.onnx.export" && is_kind '\034\000\000\000TFL3' "tf2onnx" &&
        is_kind '\211HDF\r\n\032\n' "Keras.*tf2onnx" && is_kind '\n\005\n\003' "TensorFlow.*tf2onnx" && text_is '\010\001' "no graph.*tf2onnx" &&
        is_kind '\037\213\010' "gunzip" && is_kind '\177ELF' "program" && is_kind '\020\0\0\0\0\0\0\0{"a":{}}' "safetensors" &&
        is_kind 'P5\n28 28\n255\n' "picture" && text_is '# Notes\non networks\n' "text file" && text_is '<!DOCTYPE html>\n<html></html>\n' "web page" &&
        text_is '\n<html lang="en">\n' "web page" && text_is '<h' "text file" && text_is 'version https://git-lfs.github.com/spec/v1\noid sha256:0\n' "git lfs pull" &&
        refused_naming "stdin: it is empty" sh -c 'out/ingot inspect - </dev/null'
}

other_formats() { # and versions: by which command the right one is made
    out/ingot graph "$model" -o "$work/f.json" && out/ingot plan "$work/f.json" -o "$work/f.plan" && cp "$work/f.plan" "$work/plan.json" && sed 's/"version":1/"version":9/' "$work/f.plan" >"$work/f9.plan" &&
        sed 's/"format":"[a-z-]*",//' "$work/f.plan" >"$work/f0.plan" || return 1
    refused_naming "'ingot-plan', not 'ingot-graph', which ingot graph net.onnx -o graph.json makes" out/ingot inspect "$work/plan.json" &&
        refused_naming "'ingot-graph', not 'ingot-plan', which ingot plan graph.json -o plan.json makes" out/ingot plan --summary "$work/f.json" "$work/f.json" &&
        refused_naming "version 9 of 'ingot-plan', not 1: make it anew: ingot plan " out/ingot plan --summary "$work/f.json" "$work/f9.plan" &&
        refused_naming "no 'format': ingot plan graph.json -o plan.json makes" out/ingot plan --summary "$work/f.json" "$work/f0.plan" &&
        refused_naming "not 'ingot-profile', which ingot profile " out/ingot plan "$work/f.json" --profile "$work/f.plan" -o "$work/none.json"
}

flipped() { # any answer but a crash
    i=0
    while [ $i -lt 60 ]; do
        cp "$model" "$work/f.onnx"
        printf "\\$(printf %03o $((i * 37 % 256)))" |
            dd of="$work/f.onnx" bs=1 seek=$((i * 7919 % bytes)) conv=notrunc 2>"$work/dd"
        timeout "$hang" out/ingot inspect -q "$work/f.onnx" >"$work/out" 2>"$work/err"
        [ $? -le 1 ] || return 1
        i=$((i + 1))
    done
}

nowhere() { # is said before what takes long begins: of two wrongs this one
    for verb in "profile $work/none.json" "trial --stages cpu:0 $work/none.json" "calibrate --platform $work/none.json"; do
        # shellcheck disable=SC2086
        refused_naming "$work/nowhere/x: cannot write: No such file" out/ingot $verb -o "$work/nowhere/x" || return 1
    done
    mkdir -p "$work/folder" && refused_naming "$work/folder: cannot write: Is a directory" out/ingot profile "$work/none.json" -o "$work/folder" &&
        refused_naming none.json out/ingot profile "$work/none.json" -o "$work/kept" && [ ! -e "$work/kept" ] && [ -z "$(ls "$work" | grep '\.tmp$')" ]
}

full_disk() {
    [ -w /dev/full ] || return 0
    out/ingot inspect "$model" >/dev/full 2>"$work/err"
    [ $? = 1 ] && grep -q '^ingot: stdout: cannot write: No space' "$work/err"
}

refused_picture() { # what it says, what the program says of it
    ! out/host/fashion "$work/picture.pgm" 2>"$work/err" && cat "$work/err" && grep -q "picture.pgm: $1" "$work/err"
}

pictures() { # too short, too long, and a file that is none, of which all was read
    head -c 784 /dev/zero >"$work/pixels"
    (printf 'P5\n28 28\n255\n' && head -c 783 "$work/pixels") >"$work/picture.pgm" && refused_picture "truncated picture" &&
        printf 'P5\n28 28\n255' >"$work/picture.pgm" && refused_picture "truncated picture" &&
        printf 'P5\n0 28\n255\n' >"$work/picture.pgm" && refused_picture "malformed PNM header" &&
        printf 'P5\n99999999 99999999\n255\n' >"$work/picture.pgm" && refused_picture "malformed PNM header" &&
        (printf 'P5\n28 28\n255\n' && cat "$work/pixels" && echo) >"$work/picture.pgm" && refused_picture "more bytes" &&
        head -c 4000 /dev/zero >"$work/picture.pgm" && refused_picture "4000 bytes, neither" &&
        head -c 99999 /dev/zero >"$work/picture.pgm" && refused_picture "at least [0-9]* bytes, neither"
}

no_half_output() {
    mkdir -p "$work/ro"
    ln -s /proc/nowhere "$work/ro/dir"
    ! out/ingot graph "$model" -o "$work/ro/dir/graph.json" 2>"$work/err" && grep -q "ro/dir/graph" "$work/err" &&
        [ -z "$(ls "$work"/ro/*.json "$work"/ro/*.tmp 2>/dev/null)" ]
}

folder() { # in the place of an ONNX file
    refused_naming "a folder: name the .onnx file in it" out/ingot inspect "$work" && refused_naming "a folder: name" out/ingot inspect --layers "$work"
}

limited() { # that many blocks of 512 bytes a file, words, command...: the file that grows beyond is not there, nor is any of a new folder
    blocks=$1 word=$2
    shift 2
    rm -rf "$work/limit" && mkdir "$work/limit" && (ulimit -f "$blocks" && exec "$@") >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "$word.*File too large" "$work/err" && [ -z "$(ls -A "$work/limit")" ]
}

limits() {
    boot=$SRCDIR/models/pictures/boot.pgm
    out/ingot graph "$model" -o "$work/l.json" && out/ingot plan "$work/l.json" --threads 1 -o "$work/l.plan" &&
        limited 100 l.bin out/ingot graph "$model" -o "$work/limit/l.json" &&
        limited 100 fashion_weights.bin out/ingot gen "$work/l.json" "$work/l.plan" -o "$work/limit/tables" &&
        limited 1 trace.json out/host/fashion "$boot" --trace "$work/limit/trace.json"
}

signalled() { # signal: as soon as the folder is there; the exit status
    rm -rf "$work/made"
    out/ingot gen "$work/i.json" "$work/i.plan" -o "$work/made" &
    while [ ! -e "$work/made" ]; do kill -0 $! || break; done
    kill -"$1" $!
    wait $!
}

interrupted() { # nothing of a folder that is not whole; one that was there before stays, without drafts
    out/ingot zoo resnet18 -o "$work/i.onnx" && out/ingot graph "$work/i.onnx" -o "$work/i.json" && out/ingot plan "$work/i.json" --threads 1 -o "$work/i.plan" || return 1
    i=0 status=0
    while [ $i -lt 10 ] && [ $status = 0 ]; do # 0: it was faster
        signalled TERM
        status=$?
        i=$((i + 1))
    done
    [ $status = 143 ] && [ ! -e "$work/made" ]
}

# A signal that comes as soon as the folder is there, from within the call that makes it.
cat >"$work/mkdir.c" <<'C'
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>
int mkdir(const char *path, mode_t mode)
{
    int status = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
    raise(SIGTERM);
    return status;
}
C
interrupted_at_once() {
    rm -rf "$work/made"
    ${CC:-cc} -D_GNU_SOURCE -shared -fPIC "$work/mkdir.c" -o "$work/mkdir.so" || return 1
    LD_PRELOAD=$work/mkdir.so out/ingot gen "$work/i.json" "$work/i.plan" -o "$work/made"
    [ $? = 143 ] && [ ! -e "$work/made" ]
}

ignored() { # as by nohup
    trap '' HUP
    signalled HUP
    status=$?
    trap - HUP
    [ $status = 0 ] && [ -e "$work/made/i.h" ]
}

both_or_none() { # graph.json cannot be written: its constants are not there either
    mkdir -p "$work/both/graph.json"
    refused_naming both/graph.json out/ingot graph "$model" -o "$work/both/graph.json" && [ "$(ls "$work/both")" = graph.json ]
}

printed_in_vain() { # command...: what only prints, to a full disk
    [ -w /dev/full ] || return 0
    "$@" >/dev/full 2>"$work/err"
    [ $? = 1 ] && grep -q 'No space' "$work/err"
}

options_of_an_import() { # a graph.json has been imported
    out/ingot graph "$model" -o "$work/imported.json" && for option in --outputs=a --input-shape=image=1x1x28x28 --detach; do
        refused_naming "of ingot graph" out/ingot plan "$work/imported.json" $option -o "$work/never.json" || return 1
    done
}

printing() {
    printed_in_vain out/ingot --version && printed_in_vain out/ingot graph --help && printed_in_vain out/ingot kernels &&
        printed_in_vain out/host/fashion --info && printed_in_vain out/host/fashion --help
}

edited_plan() { # that says nonsense: refused before anything is printed of it
    out/ingot graph "$model" -o "$work/edited.json" && out/ingot plan "$work/edited.json" --threads 1 --bands chains -o "$work/good.plan" &&
        out/ingot plan --summary "$work/edited.json" "$work/good.plan" >"$work/out" && grep -q ' by rows: ' "$work/out" &&
        sed 's/"split":"whole"/"split":"rows"/' "$work/good.plan" >"$work/rows.plan" || return 1
    for printer in "plan --summary" "inspect --memory" "report -o $work/never.html"; do
        # shellcheck disable=SC2086
        refused_naming 'rows.plan: ' timeout "$hang" out/ingot $printer "$work/edited.json" "$work/rows.plan" && [ ! -s "$work/out" ] &&
            [ ! -e "$work/never.html" ] || return 1
    done
}

plan_of_a_gpu() { # in the place of the CPU's
    out/ingot graph "$model" -o "$work/small.json" && out/ingot plan "$work/small.json" --isa cuda -o "$work/gpu.plan" &&
        refused_naming "give it with --gpu" out/ingot gen "$work/small.json" "$work/gpu.plan" -o "$work/tables" && [ ! -e "$work/tables" ]
}

report_of_a_child() { # a case that ends its process leaves the report of all cases where it is
    mkdir -p "$work/case/test_data_set_0" && cp "$model" "$work/case" && mv "$work/case/fashion.onnx" "$work/case/model.onnx"
    { printf '\010\001\010\001\010\034\010\034\020\001\112\300\030' && head -c 3136 /dev/zero; } >"$work/case/test_data_set_0/input_0.pb"
    TMPDIR=$work/none out/ingot verify -o "$work/verdicts" "$work/case" 2>"$work/err"
    [ $? = 1 ] && grep -q '^FAIL.*without a verdict' "$work/verdicts"
}

pipe() { # a named pipe is opened once: else its writer now and then finds nobody who reads
    mkfifo "$work/pipe" && head -c 3136 /dev/zero >"$work/raw" && out/host/fashion "$work/raw" >"$work/raw.out" || return 1
    i=0
    while [ $i -lt 60 ]; do
        cat "$work/raw" >"$work/pipe" &
        timeout "$hang" out/host/fashion "$work/pipe" | cmp - "$work/raw.out" || return 1
        i=$((i + 1))
    done
}

program_input() { # contents, words...: the program refuses the file
    printf '%s' "$1" >"$work/in"
    refused_naming "in: " out/host/fashion "$work/in"
}

program_options() { # status, words, options...: one line that has the words
    status=$1 words=$2
    shift 2
    out/host/fashion "$@" >"$work/none" 2>"$work/err"
    [ $? = "$status" ] && cat "$work/err" && [ "$(grep -cv '^usage: ' "$work/err")" = 1 ] && [ "$(wc -l <"$work/err")" -le 2 ] &&
        grep -qF -- "$words" "$work/err"
}

gpu_of_none() { # a program without one: what is no wish for one is nothing
    boot=$SRCDIR/models/pictures/boot.pgm
    program_options 1 "for the CPU alone" "$boot" --gpu=require && program_options 2 "not 'on'" "$boot" --gpu=on &&
        out/host/fashion "$boot" --top 1 >"$work/want" && out/host/fashion "$boot" --top 1 --gpu=auto --gpu=off >"$work/got" &&
        cmp "$work/want" "$work/got"
}

check "truncated models" truncated
check "bit-flipped models" flipped
check "a missing file" refused_naming nowhere.onnx out/ingot inspect "$work/nowhere.onnx"
check "a folder" folder
check "not ONNX at all" refused out/ingot inspect "$SRCDIR/README.md"
check "full disk" full_disk
check "an output that cannot be written" nowhere
check "a file of another kind" wrong_kind
check "what is no ONNX file" kinds
check "a file of another step or version" other_formats
check "options name the verb" sh -c '! out/ingot plan --nonsense 2>&1 | head -1 | grep -v "^ingot plan: "'
check "pictures that are too short or too long" pictures
check "an output folder that cannot be written" no_half_output
check "both files of a graph or none" both_or_none
check "a limit on the size of files" limits
check "an interrupted folder" interrupted
check "a folder interrupted as it is made" interrupted_at_once
check "a signal that is ignored" ignored
check "options of an import behind one" options_of_an_import
check "a full disk under what only prints" printing
check "an edited plan" edited_plan
check "a GPU's plan for the CPU" plan_of_a_gpu
check "a report outlives the process of a case" report_of_a_child
usage() { # what was wrong is seen above a few lines
    out/ingot plan --thread=3x a 2>"$work/err"
    [ $? = 2 ] && cat "$work/err" && head -1 "$work/err" | grep -q "3x" || return 1
    for words in "profile --frontz a" "append a b" "graph a b" gen "deploy $model --mapping a"; do
        # shellcheck disable=SC2086
        out/ingot $words 2>"$work/err"
        [ $? = 2 ] && cat "$work/err" && grep -q "^ingot ${words%% *} " "$work/err" && [ "$(wc -l <"$work/err")" -le 8 ] || return 1
    done
}

check "usage errors are short" usage
check "usage errors exit with 2" sh -c 'out/ingot inspect 2>/dev/null; [ $? = 2 ] && { out/ingot plan --threads=x a 2>/dev/null; [ $? = 2 ]; }'
check "half a thread is none" sh -c 'out/ingot plan --threads=1.5 a 2>&1 | grep -q "^ingot: --threads takes a whole number from 1 to 64, not .1.5.$"'
check "an option no program has" program_options 2 treads=2 --treads=2
other_pictures() { # PNG and JPEG are not read
    printf '\211PNG\r\n\032\n0000' >"$work/picture.pgm" && refused_picture "a picture in PNG; PGM and PPM are read" &&
        printf '\377\330\377\3400000' >"$work/picture.pgm" && refused_picture "a picture in JPEG; PGM and PPM are read"
}

check "pictures of other kinds" other_pictures
check "no input" program_options 2 "no input: give a file, or - for raw frames on stdin"
check "more outputs than there are" program_options 2 "two.npy: the network has 1 output" x -o "$work/one.npy" -o "$work/two.npy"
check "a GPU asked of a program without one" gpu_of_none
check "wrong input size" program_input "abc"
check "a truncated picture" program_input "P5
28 28
255
abc"
check "a picture of the wrong size" program_input "P5
2 2
255
abcd"
check "a .npy of the wrong type" sh -c 'printf "\223NUMPY\001\000\166\000{'"'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 28, 28), }"'%59s\n" "" >'"$work/in.npy"'; out/host/fashion '"$work/in.npy"' 2>&1 | grep -q "type"'
check "a .npy of the wrong shape" sh -c 'printf "\223NUMPY\001\000\166\000{'"'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }"'%65s\n" "" >'"$work/in.npy"'; out/host/fashion '"$work/in.npy"' 2>&1 | grep -q "shape (1, 3) differs from the network.s"'
check "a named pipe" pipe
check "a folder in place of a stream" sh -c '! out/host/fashion - <'"$work"' 2>'"$work"'/err && grep -q "stdin: Is a directory" '"$work"'/err'
check "a stream that ends within a frame" sh -c 'head -c 100 /dev/zero | out/host/fashion - 2>&1 | grep -q "middle of a frame"'
check "a full disk under the program's output" sh -c 'out/host/fashion '"$SRCDIR"'/models/pictures/boot.pgm >/dev/full 2>'"$work"'/err; [ $? = 1 ]'
check "weights lost by strip are told" sh -c 'cp out/host/fashion '"$work"'/f && strip '"$work"'/f && '"$work"'/f '"$SRCDIR"'/models/pictures/boot.pgm'
finish
