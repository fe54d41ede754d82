"""A network of Ifs in Ifs and in a function, all of whose conditions are known when it is cast: branches_network.py FILE. [1,2,6,5]."""
import struct
import sys

from onnx_bytes import num, txt, value

GRAPH = 5


def node(op, inputs, outputs, attributes=b""):
    return txt(1, b"".join(txt(1, i) for i in inputs) + b"".join(txt(2, o) for o in outputs) + txt(4, op) + attributes)


def branch(name, body, output):
    return txt(5, txt(1, name) + txt(6, body + txt(2, name) + txt(12, txt(1, output))) + num(20, GRAPH))


def choice(condition, output, then, other):
    """An If of that output, `r` in both branches, which are nodes and initializers."""
    return node("If", [condition], [output], branch("then_branch", then, "r") + branch("else_branch", other, "r"))


def floats(name, *elements):
    return txt(5, num(1, len(elements)) + num(2, 1) + txt(8, name) + txt(9, struct.pack(f"<{len(elements)}f", *elements)))


def index(name, i):
    return txt(5, num(2, 7) + txt(8, name) + txt(9, struct.pack("<q", i)))


inner = choice("wide", "r", node("Exp", ["t"], ["r"]), node("Mul", ["x", "w"], ["r"]) + floats("w", 1, 2, 3, 4, 5))
body = node("Shape", ["x"], ["s"]) + node("Gather", ["s", "two"], ["h"]) + node("Greater", ["h", "five"], ["high"]) + node("Neg", ["x"], ["t"])
body += node("Gather", ["s", "three"], ["v"]) + node("Greater", ["v", "five"], ["wide"])
body += choice("high", "y", inner, node("Frobnicate", ["t"], ["r"]))
called = choice("wide", "b", node("Loop", ["a"], ["r"]), node("Abs", ["a"], ["r"]))
function = txt(1, "f") + txt(4, "a") + txt(4, "wide") + txt(5, "b") + called.replace(b"\x0a", b"\x3a", 1) + txt(9, num(2, 17)) + txt(10, "my")
body += txt(1, txt(1, "y") + txt(1, "wide") + txt(2, "z") + txt(4, "f") + txt(7, "my"))
graph = body + txt(2, "branches") + index("two", 2) + index("three", 3) + index("five", 5)
graph += txt(11, value("x", 1, 2, 6, 5)) + txt(12, value("z", 1, 2, 6, 5))
with open(sys.argv[1], "wb") as f:
    f.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 17)) + txt(8, txt(1, "my") + num(2, 1)) + txt(25, function))
