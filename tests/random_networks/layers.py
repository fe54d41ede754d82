"""Layers, each of one operator and what comes with it: f(m) adds one to the network m and returns its output."""
import numpy as np
from onnx import TensorProto

from maker import CHANNELS, FLOAT, INT64, Refused, image


def divisors(n):
    return [d for d in range(1, n + 1) if n % d == 0]


def conv(m, x=None):
    x = x or m.pick(lambda s: 3 <= len(s) <= 5)
    dims, c = len(m.shapes[x]) - 2, m.shapes[x][1]
    groups = m.of(*divisors(c)) if m.one_in(3) else c if m.one_in(4) else 1
    out = groups * m.int(1, 3) if groups > 1 else m.of(*CHANNELS)
    square = m.of(1, 1, 3, 3, 3, 5, 7)
    k = [m.int(1, 7) if m.one_in(8) else square for _ in range(dims)]
    strides = [m.of(1, 1, 1, 2, 2, 3)] * dims if m.one_in(6) else [m.of(1, 1, 1, 2, 3) for _ in range(dims)]
    dilation = m.of(1, 1, 1, 1, 2, 3)
    attrs = dict(kernel_shape=k, group=groups, strides=strides, dilations=[dilation] * dims)
    if m.one_in(6):
        attrs["auto_pad"] = m.of("SAME_UPPER", "SAME_LOWER", "VALID") if dilation == 1 else "VALID"
    elif m.one_in(6):
        attrs["pads"] = [m.int(0, (a - 1) * dilation) for a in k + k]
    else:
        attrs["pads"] = [(a - 1) * dilation // 2 for a in k + k]
    bias = [m.weights(out, scale=0.3)] if m.one_in(2) else []
    y = m.node("Conv", [x, m.weights(out, c // groups, *k), *bias], **attrs)
    if m.one_in(3):
        y = batch_norm(m, y)
    return y if m.one_in(3) else activation(m, y)


def conv_transpose(m):
    x = m.pick(lambda s: 3 <= len(s) <= 4)
    dims, c = len(m.shapes[x]) - 2, m.shapes[x][1]
    groups = m.of(*divisors(c)) if m.one_in(3) else 1
    out = m.of(1, 2, 3, 4, 8)
    k = [m.int(1, 4) for _ in range(dims)]
    strides = [m.int(1, 3) for _ in range(dims)]
    attrs = dict(kernel_shape=k, strides=strides, group=groups, dilations=[m.of(1, 1, 2)] * dims)
    if m.one_in(2):
        attrs["pads"] = [m.int(0, a // 2) for a in k] * 2
    if m.one_in(4):
        attrs["output_padding"] = [m.int(0, a - 1) for a in strides]
    bias = [m.weights(out * groups, scale=0.3)] if m.one_in(2) else []
    return m.node("ConvTranspose", [x, m.weights(c, out, *k, scale=1 / np.sqrt(c)), *bias], **attrs)


def batch_norm(m, x=None):
    x = x or m.pick(lambda s: 2 <= len(s) <= 5)
    c = m.shapes[x][1]
    return m.node("BatchNormalization", [x, m.uniform(0.5, 1.5, c), m.weights(c, scale=0.3), m.weights(c, scale=0.3),
                                         m.uniform(0.5, 2, c)], epsilon=m.of(1e-5, 1e-3))


def swish(m, x):
    return m.node("Mul", m.either(x, m.node("Sigmoid", [x])))


def hard_swish(m, x):
    if m.opset >= 14 and m.one_in(2):
        return m.node("HardSwish", [x])
    six = m.node("Clip", [m.node("Add", [x, m.const(3)]), m.const(0), m.const(6)])
    return m.node("Div", [m.node("Mul", m.either(x, six)), m.const(6)])


def gelu(m, x):
    if m.opset >= 20 and m.one_in(2):
        return m.node("Gelu", [x], approximate=m.of("none", "tanh"))
    half = m.node("Mul", [x, m.const(0.5)])
    error = m.node("Erf", [m.node("Div", [x, m.const(np.sqrt(2))])])
    return m.node("Mul", m.either(half, m.node("Add", [error, m.const(1)])))


def prelu(m, x):
    each = m.rank(x) > 1 and m.one_in(2)
    return m.node("PRelu", [x, m.uniform(0, 0.5, [m.shapes[x][1]] + [1] * (m.rank(x) - 2)) if each else m.const([0.2])])


ACTIVATIONS = 4 * [lambda m, x: m.node("Relu", [x])] + [
    swish, hard_swish, gelu, prelu,
    lambda m, x: m.node("LeakyRelu", [x], alpha=0.1),
    lambda m, x: m.node("Clip", [x, m.const(-0.5), m.const(m.of(1.0, 6.0))]),
    lambda m, x: m.node("HardSigmoid", [x], alpha=m.of(0.2, 1 / 6), beta=0.5),
    lambda m, x: m.node("Elu", [x], alpha=m.of(1.0, 0.5)),
    lambda m, x: m.node("Mul", m.either(x, m.node("Tanh", [m.node("Softplus", [x])]))),
    lambda m, x: m.node(m.of("Sigmoid", "Tanh", "Softplus", "Softsign", "Selu"), [x]),
    lambda m, x: m.node(m.of("Abs", "Neg", "Sin", "Cos", "Erf", "Atan"), [x]),
    lambda m, x: m.node("Sqrt", [m.node("Add", [m.node("Abs", [x]), m.const(0.5)])]),
    lambda m, x: m.node("Pow", [x, m.const(2)]),
    lambda m, x: m.node("Exp", [m.node("Clip", [x, m.const(-3), m.const(1)])]),
]


def activation(m, x=None):
    return m.of(*ACTIVATIONS)(m, x or m.pick())


def pool(m):
    """Not what onnxruntime does otherwise than ONNX: SAME padding of dilated windows, and of strides beyond them, which it takes as
    negative; windows that do not fit once."""
    x = m.pick(lambda s: 3 <= len(s) <= 5)
    op, dims, average = m.of("MaxPool", "MaxPool", "AveragePool"), m.rank(x) - 2, m.one_in(2)
    k = [m.of(1, 2, 2, 3, 3, 5)] * dims if not m.one_in(4) else [m.int(1, 4) for _ in range(dims)]
    attrs = dict(kernel_shape=k, strides=[m.int(1, 3)] * dims)
    if m.one_in(4):
        attrs["auto_pad"] = m.of("SAME_UPPER", "SAME_LOWER")
        if min(k) + 1 < attrs["strides"][0]:
            raise Refused("strides beyond the window")
    elif m.one_in(3):
        attrs["ceil_mode"] = 1
    elif any(n < 2 * a for n, a in zip(m.shapes[x][2:], k)):
        raise Refused("a window that does not fit")
    if "auto_pad" not in attrs and m.one_in(2):
        attrs["pads"] = [a // 2 for a in k + k] if m.one_in(2) else [m.int(0, a // 2) for a in k + k]
    if op == "AveragePool" and average:
        attrs["count_include_pad"] = 1
    if op == "MaxPool" and "auto_pad" not in attrs and "pads" not in attrs and m.one_in(5):
        attrs["dilations"] = [2] * dims
    return m.node(op, [x], **attrs)


def global_pool(m):
    x = m.pick(lambda s: 3 <= len(s) <= 5)
    return m.node(m.of("GlobalAveragePool", "GlobalMaxPool"), [x])


def gemm(m):
    x = m.pick(lambda s: len(s) == 2)
    turned, turned_weights, n = int(m.one_in(5)), m.int(0, 1), m.of(*CHANNELS)
    k = m.shapes[x][1 - turned]
    bias = [m.const(m.r.normal(size=m.of([n], [1, n], [1], [])))] if m.one_in(2) else []
    w = m.weights(*([n, k] if turned_weights else [k, n]), scale=1 / np.sqrt(k))
    return activation(m, m.node("Gemm", [x, w, *bias], transA=turned, transB=turned_weights, alpha=m.of(1.0, 1.0, 0.5), beta=m.of(1.0, 1.0, 2.0)))


def matmul(m):
    x = m.pick(lambda s: len(s) > 1)
    s = m.shapes[x]
    n = m.of(*CHANNELS)
    if m.one_in(3):
        y = m.node("MatMul", [m.weights(n, s[-2]), x])
    else:
        w = [s[-1], n] if m.one_in(2) or len(s) < 3 else [m.of(1, s[-3]), s[-1], n]
        y = m.node("MatMul", [x, m.weights(*w, scale=1 / np.sqrt(s[-1]))])
    return m.node("Add", m.either(y, m.weights(m.shapes[y][-1], scale=0.3))) if m.one_in(2) else y


def einsum(m):
    x = m.pick(lambda s: 3 <= len(s) <= 4 and s[-1] * s[-2] < 5000)
    k = m.shapes[x][-1]
    equation = m.of("bij,jk->bik", "bij,jk->bki") if m.rank(x) == 3 else m.of("bhij,jk->bhik", "bhij,jk->bkhi")
    return m.node("Einsum", [x, m.weights(k, m.of(*CHANNELS), scale=1 / np.sqrt(k))], equation=equation)


def recurrent(m):
    x = m.pick(lambda s: len(s) == 3 and s[0] <= 12 and s[1] <= 6 and s[2] <= 64)
    c = m.shapes[x][2]
    op, gates = m.of(("LSTM", 4), ("GRU", 3), ("RNN", 1))
    direction = m.of("forward", "reverse", "bidirectional")
    d, h = 2 if direction == "bidirectional" else 1, m.of(3, 4, 8, 16)
    ins = [x, m.weights(d, gates * h, c, scale=1 / np.sqrt(c)), m.weights(d, gates * h, h, scale=1 / np.sqrt(h))]
    ins += [m.uniform(-0.3, 0.3, (d, 2 * gates * h))] if m.one_in(2) else []
    attrs = dict(linear_before_reset=m.int(0, 1)) if op == "GRU" else {}
    ys = m.node(op, ins, outs=2, hidden_size=h, direction=direction, **attrs)
    y = m.node("Transpose", [ys[0]], perm=[0, 2, 1, 3])
    return m.node("Reshape", [y, m.ints(0, 0, -1)])


def layer_norm(m, x=None):
    x = x or m.pick(lambda s: len(s) > 1)
    c = m.shapes[x][-1]
    if c < 4:
        raise Refused("a norm of so few is all but a step")
    gain, bias = m.uniform(0.5, 1.5, c), m.weights(c, scale=0.3)
    if m.opset >= 17 and m.one_in(2):
        return m.node("LayerNormalization", [x, gain, *([bias] if m.one_in(2) else [])], axis=-1, epsilon=m.of(1e-3, 1e-2))
    mean = m.reduce("ReduceMean", x, [-1], 1)
    d = m.node("Sub", [x, mean])
    square = m.node("Pow", [d, m.const(2)]) if m.one_in(2) else m.node("Mul", [d, d])
    var = m.node("Sqrt", [m.node("Add", [m.reduce("ReduceMean", square, [-1], 1), m.const(1e-2)])])
    y = m.node("Mul", m.either(m.node("Div", [d, var]), gain))
    return m.node("Add", m.either(y, bias))


def channel_norm(m):
    x = m.pick(lambda s: image(s) and s[2] * s[3] > 3)
    n, c, h, w = m.shapes[x]
    kind = m.int(0, 3)
    if kind == 0:
        return m.node("InstanceNormalization", [x, m.uniform(0.5, 1.5, c), m.weights(c, scale=0.3)], epsilon=1e-2)
    if kind == 1:
        return m.node("LRN", [x], size=m.of(1, 3, 5), alpha=m.of(1e-4, 0.1), bias=m.of(1.0, 2.0))
    groups = m.of(*[d for d in divisors(c) if d <= 4])
    if kind == 2 and m.opset >= 21:
        return m.node("GroupNormalization", [x, m.uniform(0.5, 1.5, c), m.weights(c, scale=0.3)], num_groups=groups, epsilon=1e-2)
    y = m.node("Reshape", [x, m.ints(0, groups, -1)])
    y = m.node("InstanceNormalization", [y, m.const(np.ones(groups)), m.const(np.zeros(groups))], epsilon=1e-2)
    y = m.node("Reshape", [y, m.ints(n, c, h, w)])
    y = m.node("Mul", [y, m.uniform(0.5, 1.5, (c, 1, 1))])
    return m.node("Add", [y, m.weights(c, 1, 1, scale=0.3)])


def softmax(m):
    x = m.pick(lambda s: len(s) > 0)
    if m.opset < 13:
        return m.node(m.of("Softmax", "LogSoftmax"), [x], axis=m.rank(x) - 1)
    return m.node(m.of("Softmax", "Softmax", "LogSoftmax"), [x], axis=m.of(-1, 1, m.int(0, m.rank(x) - 1)))


def reduce(m):
    x = m.pick(lambda s: len(s) > 1)
    axes = [a for a in range(m.rank(x)) if m.one_in(2)] or [m.rank(x) - 1]
    if m.one_in(4):
        axes = [a - m.rank(x) for a in axes]
    op = m.of("ReduceMean", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceSum", "ReduceL2", "ReduceL1", "ReduceSumSquare", "ReduceLogSumExp")
    if op == "ReduceSum" and np.prod([m.shapes[x][a] for a in axes]) > 100:
        raise Refused("a sum of so many")
    return m.reduce(op, x, axes, m.int(0, 1))


def add(m):
    """A sum, product, ... of two tensors, or of one and a constant, that broadcast."""
    x = m.pick()
    s = m.shapes[x]

    others = m.floats(lambda t: len(t) <= len(s) and all(a == b or 1 in (a, b) for a, b in zip(reversed(s), reversed(t))))
    op = m.of("Add", "Add", "Add", "Sub", "Mul", "Max", "Min")
    if others and not m.one_in(3):
        y = m.node(op, m.either(x, m.of(*others)))
        return m.node("Relu", [y]) if m.one_in(3) else y
    shape = [d if m.one_in(2) else 1 for d in s][m.int(0, len(s)):]
    if len(s) == 4 and m.one_in(2):
        shape = [1, s[1], 1, 1]
    if m.one_in(6):
        return m.node("Div", [x, m.uniform(0.7, 2, shape)])
    return m.node(op, m.either(x, m.uniform(-1.5, 1.5, shape)))


def variadic(m):
    x = m.pick()
    same = m.floats(lambda s: s == m.shapes[x])
    return m.node(m.of("Sum", "Max", "Min", "Mean"), [m.of(*same) for _ in range(m.int(1, 4))])


def where(m):
    x = m.pick()
    same = m.of(*m.floats(lambda s: s == m.shapes[x]))
    # what is compared is far from all values, so that rounding decides nothing
    condition = m.node("Greater", [x, m.const(m.of(-30.0, 30.0))]) if m.one_in(3) else m.const(m.r.integers(0, 2, m.shapes[x]), np.bool_)
    return m.node("Where", [condition, x, m.const(0.5) if m.one_in(2) else same])


def cumulate(m):
    x = m.pick(lambda s: len(s) > 0 and max(s) <= 40)
    y = m.node("CumSum", [x, m.const(m.int(0, m.rank(x) - 1), np.int64)], exclusive=m.int(0, 1), reverse=m.int(0, 1))
    return m.node("Mul", [y, m.const(0.1)])


def cast(m):
    """There and back, by whole numbers that rounding cannot move."""
    x = m.pick()
    y = m.node("Mul", [m.node("Tanh", [x]), m.const(0.1)])
    y = m.node("Cast", [m.node("Add", [y, m.const(m.of(2.5, -1.5, 7.5))])], to=m.of(TensorProto.INT32, INT64))
    return m.node("Cast", [y], to=FLOAT)


def top(m):
    """The largest values, not where they were, which rounding may decide."""
    x = m.pick(lambda s: len(s) > 0 and np.prod(s) < 5000)
    axis = m.int(0, m.rank(x) - 1)
    k = m.int(1, m.shapes[x][axis])
    s = m.shapes[x][:axis] + [k] + m.shapes[x][axis + 1:]
    y, where_ = m.node("TopK", [x, m.ints(k)], outs=2, axis=axis, shapes=[s, s])
    m.types[where_] = INT64
    return y


def identity(m):
    return m.node(m.of("Identity", "Dropout"), [m.pick()])
