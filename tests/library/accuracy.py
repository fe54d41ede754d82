"""Runs a program over all Fashion-MNIST test pictures as one stream; exit 1 below the given accuracy in per cent."""
import array
import gzip
import json
import subprocess
import sys

program, images, bar = sys.argv[1], sys.argv[2], float(sys.argv[3])


def read(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as f:
        return f.read()


pixels = read(images)[16:]
labels = read(images.replace("images-idx3", "labels-idx1"))[8:]
stream = array.array("f", [float(v) for v in pixels])
result = subprocess.run([program, "-", "--json", "--top", "1"], input=stream.tobytes(), capture_output=True, check=True)
answers = [json.loads(line)["top"][0]["index"] for line in result.stdout.splitlines()]
assert len(answers) == len(labels) == 10000, len(answers)
right = sum(a == b for a, b in zip(answers, labels))
print(f"{right} of {len(labels)} right: {100 * right / len(labels):.2f} %")
sys.exit(100 * right / len(labels) < bar)
