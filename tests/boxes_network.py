"""A network of boxes and scores: boxes_network.py FILE. A picture's 576 values are 144 boxes, their squares scores of 4 classes."""
import struct
import sys

from onnx_bytes import num, txt, value


def tensor(name, values):
    return num(1, len(values)) + num(2, 7) + txt(8, name) + txt(9, struct.pack(f"<{len(values)}q", *values))


def node(op, inputs, output):
    return b"".join(txt(1, i) for i in inputs) + txt(2, output) + txt(3, output) + txt(4, op)


graph = txt(1, node("Reshape", ["image", "as_boxes"], "boxes")) + txt(1, node("Mul", ["image", "image"], "squares"))
graph += txt(1, node("Reshape", ["squares", "as_scores"], "scores")) + txt(2, "boxes")
graph += txt(5, tensor("as_boxes", [1, 144, 4])) + txt(5, tensor("as_scores", [1, 4, 144]))
graph += txt(11, value("image", 1, 3, 12, 16)) + txt(12, value("scores", 1, 4, 144)) + txt(12, value("boxes", 1, 144, 4))
open(sys.argv[1], "wb").write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
