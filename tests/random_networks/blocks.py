"""Layers as they come together in networks: f(m) adds some to the network m and returns their output."""
import numpy as np

from layers import activation, batch_norm, conv, divisors, layer_norm
from maker import CHANNELS, INT64, image
from moves import dim


def squeeze_excite(m):
    x = m.pick(image)
    c = m.shapes[x][1]
    y = m.node("GlobalAveragePool", [x]) if m.one_in(2) else m.reduce("ReduceMean", x, [2, 3], 1)
    mid = m.of(1, 2, 4, 8)
    y = m.node("Relu", [m.node("Conv", [y, m.weights(mid, c, 1, 1), m.weights(mid)], kernel_shape=[1, 1])])
    y = m.node(m.of("Sigmoid", "HardSigmoid"), [m.node("Conv", [y, m.weights(c, mid, 1, 1)], kernel_shape=[1, 1])])
    return m.node("Mul", m.either(x, y))


def focus(m):
    """The four quarters of an image by slices of step two, as channels."""
    x = m.pick(lambda s: image(s) and s[2] % 2 == 0 and s[3] % 2 == 0)
    ends, axes, steps = m.ints(2**31 - 1, 2**31 - 1), m.ints(2, 3), m.ints(2, 2)
    parts = [m.node("Slice", [x, m.ints(a, b), ends, axes, steps]) for a in (0, 1) for b in (0, 1)]
    return conv(m, m.node("Concat", parts, axis=1))


def shuffle(m):
    """Channels of two groups in turns."""
    x = m.pick(lambda s: image(s) and s[1] % 2 == 0)
    n, c, h, w = m.shapes[x]
    y = m.node("Reshape", [x, m.ints(n, 2, c // 2, h, w)])
    y = m.node("Transpose", [y], perm=[0, 2, 1, 3, 4])
    return m.node("Reshape", [y, m.ints(n, -1, h, w)])


def attention(m):
    x = m.pick(lambda s: len(s) == 3 and s[1] * s[1] < 4000)
    b, t, c = m.shapes[x]
    heads = m.of(*[d for d in divisors(c) if d <= 4])
    q, k, v = (m.node("MatMul", [x, m.weights(c, c)]) for _ in range(3))
    parts = []
    for i, y in enumerate((q, k, v)):
        y = m.node("Reshape", [y, m.ints(0, -1, heads, c // heads)])
        parts.append(m.node("Transpose", [y], perm=[0, 2, 3, 1] if i == 1 else [0, 2, 1, 3]))
    a = m.node("MatMul", parts[:2])
    a = m.node("Softmax", [m.node("Mul", [a, m.const(1 / np.sqrt(c // heads))])], axis=-1 if m.opset >= 13 else 3)
    y = m.node("Transpose", [m.node("MatMul", [a, parts[2]])], perm=[0, 2, 1, 3])
    y = m.node("Reshape", [y, m.ints(b, t, c)])
    return m.node("Add", m.either(x, m.node("MatMul", [y, m.weights(c, c)])))


def tokens(m):
    """An image as a sequence of its pixels."""
    x = m.pick(lambda s: image(s) and s[2] * s[3] <= 100)
    n, c, h, w = m.shapes[x]
    y = m.node("Reshape", [x, m.ints(n, c, h * w)])
    return layer_norm(m, m.node("Transpose", [y], perm=[0, 2, 1]))


def untokens(m):
    """The way back."""
    x = m.pick(lambda s: len(s) == 3 and s[0] <= 3 and s[1] > 3)
    n, t, c = m.shapes[x]
    h = max(d for d in divisors(t) if d * d <= t)
    y = m.node("Transpose", [x], perm=[0, 2, 1])
    return m.node("Reshape", [y, m.ints(n, c, h, t // h)])


def residual(m):
    x = m.pick(image)
    c, mid = m.shapes[x][1], m.of(*CHANNELS)
    y = m.node("Conv", [x, m.weights(mid, c, 1, 1)], kernel_shape=[1, 1])
    y = activation(m, batch_norm(m, y) if m.one_in(2) else y)
    k = m.of(3, 5)
    groups = mid if m.one_in(2) else 1
    y = m.node("Conv", [y, m.weights(mid, mid // groups, k, k), m.weights(mid)], kernel_shape=[k, k], pads=[k // 2] * 4, group=groups)
    y = activation(m, y)
    y = m.node("Conv", [y, m.weights(c, mid, 1, 1), m.weights(c)], kernel_shape=[1, 1])
    y = m.node("Add", m.either(x, y))
    return m.node("Relu", [y]) if m.one_in(2) else y


def dense_block(m):
    x = m.pick(image)
    for _ in range(m.int(1, 3)):
        c = m.shapes[x][1]
        y = m.node("Relu", [batch_norm(m, x)])
        y = m.node("Conv", [y, m.weights(m.of(4, 8), c, 3, 3)], kernel_shape=[3, 3], pads=[1] * 4)
        x = m.node("Concat", [x, y], axis=1)
    return x


def pyramid(m):
    """Up by two, and a sum or a concatenation with what is of that size."""
    x = m.pick(lambda s: image(s) and max(s[2:]) <= 20)
    attrs = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    up = m.node("Resize", [x, m.const(np.zeros(0)), m.const([1, 1, 2, 2])], **attrs)
    s = m.shapes[up]
    other = m.of(*m.floats(lambda t: image(t) and t[0] == s[0] and t[2:] == s[2:]))
    if m.shapes[other] == s and m.one_in(2):
        return m.node("Add", m.either(up, other))
    return conv(m, m.node("Concat", m.either(up, other), axis=1))


def positions(m):
    """A table's first rows, as many as the sequence is long, added to it."""
    x = m.pick(lambda s: len(s) == 3 and s[1] <= 64)
    t, c = m.shapes[x][1:]
    n = m.axes_node("Squeeze", dim(m, x, 1), [0], 13, shapes=[[]], type=INT64)
    at = m.node("Range", [m.const(0, np.int64), n, m.const(1, np.int64)], shapes=[[t]], type=INT64)
    rows = m.node("Gather", [m.weights(64, c), at], axis=0, shapes=[[t, c]])
    return m.node("Add", m.either(x, rows))
