#!/usr/bin/env python3
"""giant_net.py OUT.onnx: three convolutions on 4 x 48 x 48, of which the middle one takes nearly all of the time."""
import random
import struct
import sys

from onnx_bytes import num, txt, value


def ints(name, *v):
    return txt(5, txt(1, name) + b"".join(num(8, n) for n in v) + num(20, 7))


r = random.Random(1)


def weights(name, *d):
    n = 1
    for k in d:
        n *= k
    return txt(5, b"".join(num(1, k) for k in d) + num(2, 1) + txt(8, name) +
               txt(9, struct.pack("<%df" % n, *(r.uniform(-.1, .1) for _ in range(n)))))


def conv(i, x, y, c, m, k):
    node = txt(1, txt(1, x) + txt(1, "w%d" % i) + txt(2, y) + txt(3, y) + txt(4, "Conv") + ints("kernel_shape", k, k) +
               ints("pads", *[k // 2] * 4))
    return node, weights("w%d" % i, m, c, k, k)


layers = [conv(0, "x", "a", 4, 32, 1), conv(1, "a", "b", 32, 64, 5), conv(2, "b", "y", 64, 4, 1)]
graph = b"".join(l[0] for l in layers) + txt(2, "giant") + b"".join(l[1] for l in layers) + \
    txt(11, value("x", 1, 4, 48, 48)) + txt(12, value("y", 1, 4, 48, 48))
open(sys.argv[1], "wb").write(num(1, 8) + txt(7, graph) + txt(8, txt(1, "") + num(2, 13)))
