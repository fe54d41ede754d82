"""Attention of turned queries, of heads that share keys, with a mask, a past and a window: attention_network.py FILE. [1,2,8]."""
import struct
import sys

from onnx_bytes import num, txt, value

INT = 2


def node(op, inputs, outputs, **ints):
    attributes = b"".join(txt(5, txt(1, name) + num(3, i) + num(20, INT)) for name, i in ints.items())
    return txt(1, b"".join(txt(1, i) for i in inputs) + b"".join(txt(2, o) for o in outputs) + txt(4, op) + attributes)


def floats(name, *dims):
    count = 1
    for d in dims:
        count *= d
    return txt(5, b"".join(num(1, d) for d in dims) + num(2, 1) + txt(8, name) + txt(9, struct.pack(f"<{count}f", *(0.25 * (i % 5) for i in range(count)))))


graph = node("RotaryEmbedding", ["x", "cosine", "sine", "places"], ["q"], num_heads=4, interleaved=1)
graph += node("MatMul", ["x", "w"], ["k"])
graph += node("Attention", ["q", "k", "k", "mask", "before", "before"], ["y", "keys", "values", "scores"], q_num_heads=4, kv_num_heads=2,
              is_causal=1, left_window_size=2, qk_matmul_output_mode=3)
graph += txt(2, "attention") + floats("cosine", 3, 1) + floats("sine", 3, 1) + floats("w", 8, 4) + floats("before", 1, 2, 3, 2)
graph += txt(5, num(1, 1) + num(1, 2) + num(2, 7) + txt(8, "places") + txt(9, struct.pack("<2q", 2, 1)))
graph += txt(5, num(1, 5) + num(2, 9) + txt(8, "mask") + txt(9, b"\1\1\0\1\1"))
graph += txt(11, value("x", 1, 2, 8)) + txt(12, value("y", 1, 2, 8)) + txt(12, value("scores", 1, 4, 2, 5))
with open(sys.argv[1], "wb") as f:
    f.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 25)))
