"""A network of boxes and scores: boxes_network.py FILE. A picture's 576 values are 144 boxes, their squares scores of 4 classes."""
import struct, sys
def number(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])
def field(n, value):
    if isinstance(value, int):
        return number(n << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(n << 3 | 2) + number(len(value)) + value
def tensor(name, values):
    return field(1, len(values)) + field(2, 7) + field(8, name) + field(9, struct.pack(f"<{len(values)}q", *values))
def node(op, inputs, output):
    return b"".join(field(1, i) for i in inputs) + field(2, output) + field(3, output) + field(4, op)
def value(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))
graph = field(1, node("Reshape", ["image", "as_boxes"], "boxes")) + field(1, node("Mul", ["image", "image"], "squares"))
graph += field(1, node("Reshape", ["squares", "as_scores"], "scores")) + field(2, "boxes")
graph += field(5, tensor("as_boxes", [1, 144, 4])) + field(5, tensor("as_scores", [1, 4, 144]))
graph += field(11, value("image", [1, 3, 12, 16])) + field(12, value("scores", [1, 4, 144])) + field(12, value("boxes", [1, 144, 4]))
open(sys.argv[1], "wb").write(field(1, 8) + field(7, graph) + field(8, field(2, 13)))
