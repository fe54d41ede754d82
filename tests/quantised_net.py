#!/usr/bin/env python3
"""quantised_net.py OUT.onnx [dynamic]: a picture's class by a network in 8 bits, as onnxruntime's quantize_static writes one: QuantizeLinear
and DequantizeLinear around convolutions, a sum, a pool and a fully connected layer. Or as its quantize_dynamic does: DynamicQuantizeLinear,
products of integers, and these as floats times scales. Weights are random, the same each time."""
import random
import struct
import sys

from onnx_bytes import num, txt, value

TYPES = {"f": 1, "B": 2, "b": 3, "i": 6}  # of struct, in ONNX's numbers
STEP = 0.02  # of what layers pass on

r = random.Random(1)
nodes, constants = [], []


def constant(name, kind, dims, values):
    constants.append(b"".join(num(1, d) for d in dims) + num(2, TYPES[kind]) + txt(8, name) + txt(9, struct.pack(f"<{len(values)}{kind}", *values)))
    return name


def attribute(name, v):
    if isinstance(v, int):
        return txt(5, txt(1, name) + num(3, v) + num(20, 2))
    return txt(5, txt(1, name) + b"".join(num(8, n) for n in v) + num(20, 7))


def node(op, inputs, output, **attributes):
    nodes.append(b"".join(txt(1, i) for i in inputs) + txt(2, output) + txt(3, output) + txt(4, op) +
                 b"".join(attribute(*a) for a in attributes.items()))
    return output


def through_bytes(x, step, zero):
    """What is left of x between quantising and its contrary."""
    parameters = [constant(x + "_scale", "f", [], [step]), constant(x + "_zero", "B", [], [zero])]
    return node("DequantizeLinear", [node("QuantizeLinear", [x, *parameters], x + "_bytes"), *parameters], x + "_again")


def weights(name, dims, step_of_x):
    """Signed bytes with a scale a channel, by which sums are about as large as what is added up, and a bias."""
    n = dims[0]
    inner = 1
    for d in dims[1:]:
        inner *= d
    scales = [r.uniform(0.5, 1.5) / 50 / inner ** 0.5 for _ in range(n)]
    scale = constant(name + "_w_scale", "f", [n], scales)
    w = constant(name + "_w_bytes", "b", dims, [r.randrange(-127, 128) for _ in range(n * inner)])
    bias = constant(name + "_b_words", "i", [n], [r.randrange(-2000, 2001) for _ in range(n)])
    steps = constant(name + "_b_scale", "f", [n], [s * step_of_x for s in scales])
    zeros = [constant(name + "_w_zero", "b", [n], [0] * n), constant(name + "_b_zero", "i", [n], [0] * n)]
    return [node("DequantizeLinear", [w, scale, zeros[0]], name + "_w", axis=0), node("DequantizeLinear", [bias, steps, zeros[1]], name + "_b", axis=0)]


def conv(name, x, dims, stride=1, group=1, step_of_x=STEP):
    around = dims[2] // 2
    return node("Conv", [x, *weights(name, dims, step_of_x)], name, kernel_shape=dims[2:], strides=[stride] * 2, pads=[around] * 4, group=group)


def relu(x):
    return through_bytes(node("Relu", [x], x + "_relu"), STEP, 0)


def weights_dynamic(name, dims, kind):
    """Bytes, their zero point, their scale: sums are about as large as what is added up."""
    inner = 1
    for d in dims[1:] if len(dims) > 2 else dims[:1]:
        inner *= d
    n = inner * (dims[0] if len(dims) > 2 else dims[1])
    least, zero = (0, r.randrange(90, 160)) if kind == "B" else (-128, 0)
    w = constant(name + "_w_bytes", kind, dims, [r.randrange(least, least + 256) for _ in range(n)])
    return w, constant(name + "_w_zero", kind, [], [zero]), constant(name + "_w_scale", "f", [], [1 / 50 / inner ** 0.5])


def product_dynamic(op, name, x, dims, kind, channels, **attributes):
    """x quantised by its own extremes, the product of integers, the float that it is, plus a bias."""
    w, w_zero, w_scale = weights_dynamic(name, dims, kind)
    q, scale, zero = (x + part + "_of_" + name for part in ("_bytes", "_scale", "_zero"))
    nodes.append(txt(1, x) + b"".join(txt(2, o) for o in (q, scale, zero)) + txt(3, q) + txt(4, "DynamicQuantizeLinear"))
    sums = node("Cast", [node(op, [q, w, zero, w_zero], name + "_sums", **attributes)], name + "_cast", to=1)
    sums = node("Mul", [sums, node("Mul", [scale, w_scale], name + "_scale")], name + "_scaled")
    bias = constant(name + "_b", "f", channels, [r.uniform(-0.5, 0.5) for _ in range(max(channels))])
    return node("Add", [sums, bias], name)


def conv_dynamic(name, x, dims, kind, stride=1, group=1):
    around = dims[2] // 2
    y = product_dynamic("ConvInteger", name, x, dims, kind, [1, dims[0], 1, 1], kernel_shape=dims[2:], strides=[stride] * 2, pads=[around] * 4,
                        group=group)
    return node("Relu", [y], name + "_relu")


def dynamic():
    x = conv_dynamic("first", "image", [32, 1, 3, 3], "B")
    x = conv_dynamic("smaller", x, [64, 32, 3, 3], "b", stride=2)
    x = node("Add", [x, conv_dynamic("beside", x, [64, 64, 3, 3], "B")], "sum")
    x = conv_dynamic("depthwise", x, [64, 1, 3, 3], "B", group=64)
    x = node("MaxPool", [x], "pool", kernel_shape=[2, 2], strides=[2, 2])
    x = conv_dynamic("groups", x, [64, 16, 3, 3], "b", group=4)
    x = conv_dynamic("wider", x, [70, 64, 1, 1], "B")
    x = node("Flatten", [x], "line", axis=1)
    return product_dynamic("MatMulInteger", "classes", x, [70 * 7 * 7, 10], "B", [10])


def static():
    x = through_bytes("image", 1 / 255, 0)
    x = relu(conv("first", x, [32, 1, 3, 3], step_of_x=1 / 255))
    x = relu(conv("smaller", x, [64, 32, 3, 3], stride=2))
    y = through_bytes(conv("beside", x, [64, 64, 3, 3]), 2 * STEP, 128)
    x = relu(node("Add", [x, y], "sum"))
    x = relu(conv("depthwise", x, [64, 1, 3, 3], group=64))
    x = through_bytes(node("MaxPool", [x], "pool", kernel_shape=[2, 2], strides=[2, 2]), STEP, 0)
    x = relu(conv("wider", x, [128, 64, 1, 1]))
    x = node("Flatten", [x], "line", axis=1)
    return through_bytes(node("Gemm", [x, *weights("classes", [10, 128 * 7 * 7], STEP)], "scores", transB=1), 2 * STEP, 128)


x = dynamic() if sys.argv[2:] == ["dynamic"] else static()
graph = b"".join(txt(1, n) for n in nodes) + txt(2, "quantised") + b"".join(txt(5, c) for c in constants)
graph += txt(11, value("image", 1, 1, 28, 28)) + txt(12, value(x, 1, 10))
open(sys.argv[1], "wb").write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
