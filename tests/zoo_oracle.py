"""Makes an ONNX backend-test folder of a model: seeded input, output by onnxruntime. usage: zoo_oracle.py model.onnx dir"""
import os
import sys

import numpy
import onnxruntime

model, folder = sys.argv[1:]


def varint(n):
    out = b""
    while True:
        n, low = n >> 7, n & 127
        out += bytes([low | (128 if n else 0)])
        if not n:
            return out


def tensor_proto(a):
    """TensorProto of a float array: dims (1), data_type (2), raw_data (9)."""
    raw = a.astype("<f4").tobytes()
    dims = b"".join(b"\x08" + varint(d) for d in a.shape)
    return dims + b"\x10\x01" + b"\x4a" + varint(len(raw)) + raw


options = onnxruntime.SessionOptions()
options.log_severity_level = 3
session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
os.makedirs(f"{folder}/test_data_set_0", exist_ok=True)
feeds = {}
for i, x in enumerate(session.get_inputs()):
    feeds[x.name] = numpy.random.default_rng(7 + i).random(x.shape, dtype="float32")
    with open(f"{folder}/test_data_set_0/input_{i}.pb", "wb") as f:
        f.write(tensor_proto(feeds[x.name]))
for i, y in enumerate(session.run(None, feeds)):
    assert numpy.isfinite(y).all() and y.std() > 0, "constant or infinite output"
    with open(f"{folder}/test_data_set_0/output_{i}.pb", "wb") as f:
        f.write(tensor_proto(y))
if os.path.abspath(model) != os.path.abspath(f"{folder}/model.onnx"):
    os.link(model, f"{folder}/model.onnx")
