#!/usr/bin/env python3
"""alexnet_network.py OUT.onnx: the layers of AlexNet as first published, two groups and all, by the names that the ONNX model zoo's
file has for them, which AutoDiCE's examples map; of a smaller picture, with fewer numbers where fully connected layers have most."""
import random
import struct
import sys

from onnx_bytes import num, txt, value, varint


def attribute(name, v):
    if isinstance(v, float):
        return txt(5, txt(1, name) + varint(2 << 3 | 5) + struct.pack("<f", v) + num(20, 1))
    if isinstance(v, int):
        return txt(5, txt(1, name) + num(3, v) + num(20, 2))
    return txt(5, txt(1, name) + b"".join(num(8, n) for n in v) + num(20, 7))


r = random.Random(1)
nodes, tensors, last = [], [], "data_0"


def tensor(name, dims, scale):
    n = 1
    for k in dims:
        n *= k
    numbers = struct.pack("<%df" % n, *(scale * (r.random() - .5) for _ in range(n)))
    tensors.append(txt(5, b"".join(num(1, k) for k in dims) + num(2, 1) + txt(8, name) + txt(9, numbers)))


def node(op, name, more=(), others=(), **attributes):
    global last
    nodes.append(txt(1, b"".join(txt(1, i) for i in (last, *more)) + b"".join(txt(2, o) for o in (name, *others)) + txt(4, op) +
                     b"".join(attribute(k, v) for k, v in attributes.items())))
    last = name


def conv(i, ic, oc, k, stride, pad, group):
    w, b = f"conv{i}_w_0", f"conv{i}_b_0"
    tensor(w, (oc, ic // group, k, k), 4 * (3 / (ic // group * k * k)) ** .5)
    tensor(b, (oc,), .2)
    node("Conv", f"conv{i}_1", (w, b), kernel_shape=[k, k], strides=[stride] * 2, pads=[pad] * 4, group=group)
    node("Relu", f"conv{i}_2")


def norm_and_pool(i):
    node("LRN", f"norm{i}_1", size=5, alpha=1e-4, beta=.75, bias=1.)
    node("MaxPool", f"pool{i}_1", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 0, 0])


def gemm(i, n, m):
    tensor(f"fc{i}_w_0", (m, n), 4 * (3 / n) ** .5)
    tensor(f"fc{i}_b_0", (m,), .2)
    node("Gemm", f"fc{i}_1", (f"fc{i}_w_0", f"fc{i}_b_0"), transB=1)


conv(1, 3, 96, 11, 4, 0, 1)
norm_and_pool(1)
conv(2, 96, 256, 5, 1, 2, 2)
norm_and_pool(2)
conv(3, 256, 384, 3, 1, 1, 1)
conv(4, 384, 384, 3, 1, 1, 2)
conv(5, 384, 256, 3, 1, 1, 2)
node("MaxPool", "pool5_1", kernel_shape=[3, 3], strides=[2, 2], pads=[0, 0, 0, 0])
tensors.append(txt(5, num(1, 2) + num(2, 7) + txt(8, "OC2_DUMMY_1") + txt(9, struct.pack("<2q", 1, 256))))
node("Reshape", "OC2_DUMMY_0", ("OC2_DUMMY_1",))
for i, n, m in ((6, 256, 4096), (7, 4096, 64)):
    gemm(i, n, m)
    node("Relu", f"fc{i}_2")
    node("Dropout", f"fc{i}_3", (), (f"_fc{i}_mask_1",), ratio=.5)
gemm(8, 64, 100)
node("Softmax", "prob_1", axis=1)
graph = b"".join(nodes) + txt(2, "alexnet") + b"".join(tensors) + txt(11, value("data_0", 1, 3, 67, 67)) + \
    txt(12, value("prob_1", 1, 100))
with open(sys.argv[1], "wb") as f:
    f.write(num(1, 3) + txt(7, graph) + txt(8, txt(1, "") + num(2, 9)))
