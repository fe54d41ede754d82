"""Convolutions that end in recurrent layers, as those that read text: reading_network.py FILE. Two pictures [2,1,16,48] to [24,2,10].

An LSTM in both directions with peepholes and initial states, a GRU in both with its reset behind the product, and a fully connected layer.
"""
import random
import struct
import sys

from onnx_bytes import num, txt, value

ROWS, STEPS, UNITS, INTS, INT, STRING = 2, 24, 20, 7, 2, 3
random.seed(5)


def tensor(name, *dims):
    count = 1
    for d in dims:
        count *= d
    data = struct.pack(f"<{count}f", *[random.uniform(-1, 1) / dims[-1] ** 0.5 for _ in range(count)])
    return txt(5, b"".join(num(1, d) for d in dims) + num(2, 1) + txt(8, name) + txt(9, data))


def longs(name, *values):
    return txt(5, num(1, len(values)) + num(2, 7) + txt(8, name) + txt(9, struct.pack(f"<{len(values)}q", *values)))


def ints(name, *values):
    return txt(5, txt(1, name) + b"".join(num(8, v) for v in values) + num(20, INTS))


def node(op, inputs, output, attrs=b""):
    return txt(1, b"".join(txt(1, i) for i in inputs) + txt(2, output) + txt(3, output) + txt(4, op) + attrs)


def weights(name, gates, inputs):
    return tensor(name + "w", 2, gates * UNITS, inputs) + tensor(name + "r", 2, gates * UNITS, UNITS) + tensor(name + "b", 2, 2 * gates * UNITS)


both = txt(5, txt(1, "direction") + txt(4, "bidirectional") + num(20, STRING)) + txt(5, txt(1, "hidden_size") + num(3, UNITS) + num(20, INT))
after = both + txt(5, txt(1, "linear_before_reset") + num(3, 1) + num(20, INT))
graph = node("Conv", ["x", "k0"], "c0", ints("pads", 1, 1, 1, 1)) + node("Relu", ["c0"], "r0")
graph += node("MaxPool", ["r0"], "p0", ints("kernel_shape", 2, 2) + ints("strides", 2, 2)) + node("Conv", ["p0", "k1"], "c1")
graph += node("Squeeze", ["c1", "two"], "s") + node("Transpose", ["s"], "steps", ints("perm", 2, 0, 1))
graph += node("LSTM", ["steps", "aw", "ar", "ab", "", "h0", "c0_", "peep"], "ya", both)
graph += node("Transpose", ["ya"], "ta", ints("perm", 0, 2, 1, 3)) + node("Reshape", ["ta", "flat"], "a")
graph += node("GRU", ["a", "gw", "gr", "gb"], "yg", after)
graph += node("Transpose", ["yg"], "tg", ints("perm", 0, 2, 1, 3)) + node("Reshape", ["tg", "flat"], "g")
graph += node("MatMul", ["g", "m"], "y") + txt(2, "reading") + tensor("k0", 8, 1, 3, 3) + tensor("k1", 16, 8, 8, 1)
graph += weights("a", 4, 16) + weights("g", 3, 2 * UNITS) + tensor("h0", 2, ROWS, UNITS) + tensor("c0_", 2, ROWS, UNITS)
graph += tensor("peep", 2, 3 * UNITS) + tensor("m", 2 * UNITS, 10) + longs("two", 2) + longs("flat", 0, 0, -1)
graph += txt(11, value("x", ROWS, 1, 16, 48)) + txt(12, value("y", STEPS, ROWS, 10))
open(sys.argv[1], "wb").write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
