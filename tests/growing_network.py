"""A network whose image shrinks and grows again by transposed convolutions: growing_network.py FILE. [1,3,20,24] to [1,4,40,48]."""
import random
import struct
import sys

from onnx_bytes import num, txt, value

random.seed(3)


def tensor(name, *dims):
    count, inputs = 1, 1
    for d in dims:
        count *= d
    for d in dims[1:]:
        inputs *= d
    data = struct.pack(f"<{count}f", *[random.uniform(-1, 1) / inputs ** 0.5 for _ in range(count)])
    return txt(5, b"".join(num(1, d) for d in dims) + num(2, 1) + txt(8, name) + txt(9, data))


def ints(name, *values):
    return txt(5, txt(1, name) + b"".join(num(8, v) for v in values) + num(20, 7))


def node(op, inputs, output, attrs=b""):
    return txt(1, b"".join(txt(1, i) for i in inputs) + txt(2, output) + txt(3, output) + txt(4, op) + attrs)


axis = txt(5, txt(1, "axis") + num(3, 1) + num(20, 2))
graph = node("Conv", ["image", "w0", "b0"], "c0", ints("pads", 1, 1, 1, 1)) + node("Relu", ["c0"], "large")
graph += node("Conv", ["large", "w1"], "c1", ints("pads", 1, 1, 1, 1) + ints("strides", 2, 2)) + node("Relu", ["c1"], "small")
graph += node("ConvTranspose", ["small", "w2", "b2"], "c2", ints("strides", 2, 2)) + node("Relu", ["c2"], "grown")
graph += node("Concat", ["large", "grown"], "both", axis)
graph += node("ConvTranspose", ["both", "w3"], "out", ints("strides", 2, 2) + ints("pads", 1, 1, 1, 1) + ints("output_padding", 1, 1))
graph += txt(2, "growing") + tensor("w0", 16, 3, 3, 3) + tensor("b0", 16) + tensor("w1", 32, 16, 3, 3)
graph += tensor("w2", 32, 16, 2, 2) + tensor("b2", 16) + tensor("w3", 32, 4, 3, 3)
graph += txt(11, value("image", 1, 3, 20, 24)) + txt(12, value("out", 1, 4, 40, 48))
open(sys.argv[1], "wb").write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
