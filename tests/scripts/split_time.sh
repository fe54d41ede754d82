# VGG-19 for 24 keys: what `ingot deploy` takes of the processors beside copying the model's file, and its memory. Time is
# counted, not waited for: other programs and the disk do not matter.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
if ! have "$PYTHON"; then
    skip "split_time" "no $PYTHON"
    finish
    exit
fi

split_time() { # least of three, in turns; of up to thirty where other programs take the caches
    out/ingot zoo vgg19 -o "$work/vgg19.onnx" &&
        # shellcheck disable=SC2046
        "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/vgg19.onnx" 0 $(seq -f 'node%g_cpu0' 24) >"$work/mapping.json" &&
        "$PYTHON" - "$work" <<'PY'
import os, resource, shutil, sys
work = sys.argv[1]
model = f"{work}/vgg19.onnx"
def run(*words):
    pid = os.fork()
    if not pid:
        os.execvp(words[0], words)
    status, used = os.wait4(pid, 0)[1:]
    assert status == 0, words
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
copy, deploy, memory = [], [], []
while len(copy) < 3 or (len(copy) < 30 and min(deploy) >= 8 * min(copy)):
    copy.append(run("cp", model, f"{work}/copy")[0])
    os.unlink(f"{work}/copy")
    for at in ("out", "out.d"):
        shutil.rmtree(f"{work}/{at}", ignore_errors=True)
    seconds, rss = run("out/ingot", "deploy", "-q", model, "--mapping", f"{work}/mapping.json", "-o", f"{work}/out")
    deploy.append(seconds)
    memory.append(rss)
size = os.path.getsize(model)
print(f"copy {min(copy):.2f} s, deploy {min(deploy):.2f} s: {min(deploy) / min(copy):.1f} times; memory {max(memory) / size:.2f} of the model")
assert max(memory) < 0.4 * size
assert min(deploy) < 8 * min(copy)
PY
}

check "split_time: all parts of VGG-19 for 24 keys, within 8 copies of its file and 0.4 of its memory" split_time
finish
