"""Layers that few networks have: f(m) adds one to the network m and returns its output."""
import numpy as np
from onnx import TensorProto

from layers import activation, divisors
from maker import FLOAT, INT64, Refused, image


def settled(m, x):
    """Numbers near 2.5 or -1.5, which rounding moves to no other whole one."""
    return m.node("Add", [m.node("Mul", [m.node("Tanh", [x]), m.const(0.1)]), m.const(m.of(2.5, -1.5))])


def sharp(m, x):
    return m.node("Mul", m.either(x, m.node(m.of("Floor", "Ceil", "Sign"), [settled(m, x)])))


def curved(m, x):
    y = m.node("Mul", [m.node("Tanh", [x]), m.const(0.8)])
    return m.node(m.of("Acos", "Asin", "Atanh", "Asinh", "Sinh", "Cosh", "Tan"), [y])


def positive(m, x):
    return m.node(m.of("Log", "Reciprocal", "Acosh"), [m.node("Add", [m.node("Abs", [x]), m.const(1.2)])])


def bent(m, x):
    op = m.of("Celu", "Shrink", "Mish")
    if op == "Mish" and m.opset < 18:
        raise Refused("not yet there")
    return m.node(op, [x], **{"Celu": dict(alpha=0.7), "Shrink": dict(bias=0.3, lambd=0.3), "Mish": {}}[op])


def function(m):
    return m.of(sharp, curved, positive, bent)(m, m.pick())


def truth(m, x, shape):
    """Of x's elements, or a constant that broadcasts."""
    if m.one_in(3):
        return m.const(m.r.integers(0, 2, [d if m.one_in(2) else 1 for d in shape]), np.bool_)
    if m.one_in(2):
        return m.node(m.of("Less", "Greater"), [settled(m, x), m.const(2)])
    return m.node("Equal", [m.node("Cast", [settled(m, x)], to=INT64), m.ints(m.of(2, -1))])


def logic(m):
    x = m.pick(lambda s: len(s) > 0)
    s = m.shapes[x]
    y = m.node(m.of("And", "Or", "Xor"), [truth(m, x, s), truth(m, x, s)])
    y = m.node("Not", [y]) if m.one_in(2) else y
    if m.one_in(2):
        return m.node("Add", [x, m.node("Cast", [y], to=FLOAT)])
    return m.node("Where", [y, x, m.const(m.r.normal(size=s[-1:]))])


def remainder(m):
    """Of whole numbers."""
    x = m.pick()
    y = m.node("Cast", [settled(m, x)], to=INT64)
    y = m.node("Mod", [m.node("Mul", [y, m.ints(m.int(1, 9))]), m.ints(m.of(3, 5, -4))])
    return m.node("Mul", [x, m.node("Cast", [y], to=FLOAT)])


def lp_pool(m):
    x = m.pick(lambda s: 3 <= len(s) <= 4)
    if m.one_in(3):
        return m.node("GlobalLpPool", [x], p=m.of(1, 2))
    dims = m.rank(x) - 2
    k, stride = [m.int(1, 3) for _ in range(dims)], m.int(1, 2)
    if any(n < a for n, a in zip(m.shapes[x][2:], k)):
        raise Refused("a window that does not fit")
    pads = [m.int(0, a // 2) for a in k] * 2 if m.one_in(2) else [0] * 2 * dims
    return m.node("LpPool", [x], kernel_shape=k, strides=[stride] * dims, pads=pads, p=m.of(1, 2, 2, 3))


def lp_norm(m):
    x = m.pick(lambda s: len(s) > 1 and max(s) > 2)
    axis = m.of(*[a for a, n in enumerate(m.shapes[x]) if n > 2])
    y = m.node("Add", [x, m.const(m.of(2.0, 5.0))])
    return m.node("LpNormalization", [y], axis=m.of(axis, axis - m.rank(x)), p=m.of(1, 2))


def variance_norm(m):
    x = m.pick(lambda s: image(s) and s[2] * s[3] > 8)
    return m.node("MeanVarianceNormalization", [x], **({} if m.one_in(2) else dict(axes=m.of([2, 3], [1, 2, 3]))))


def product(m):
    x = m.pick(lambda s: len(s) > 1 and min(s) <= 8)
    axis = m.of(*[a for a, n in enumerate(m.shapes[x]) if n <= 8])
    if m.one_in(2):
        return m.reduce("ReduceProd", x, [axis], m.int(0, 1))
    return m.reduce("ReduceLogSum", m.node("Add", [m.node("Abs", [x]), m.const(0.5)]), [axis], m.int(0, 1))


def best(m):
    """Where the best of few is, of numbers that are far from each other."""
    x = m.pick(lambda s: len(s) > 1 and 2 <= s[-1] <= 16)
    far = m.node("Add", [m.node("Tanh", [x]), m.const(4.0 * m.r.permutation(m.shapes[x][-1]))])
    y = m.node(m.of("ArgMax", "ArgMin"), [far], axis=m.of(-1, m.rank(x) - 1), keepdims=m.int(0, 1))
    y = m.node("Cast", [y], to=FLOAT)
    return m.node("Mul", [y, m.const(0.1)])


def hot(m):
    """Rows of an identity, as many as there are steps."""
    x = m.pick(lambda s: len(s) > 1 and s[-1] <= 48)
    n = m.shapes[x][-1]
    at = m.ints(*m.r.integers(-n, n, m.int(1, 6)))
    rows = m.node("OneHot", [at, m.const(n, np.int64), m.const([0.0, m.of(1.0, 0.5)])], axis=-1, shapes=[[len(m.constants[at]), n]])
    w = m.node("Add", [rows, m.weights(n, scale=0.1)])
    return m.node("MatMul", [x, m.node("Transpose", [w], perm=[1, 0])])


def triangle(m):
    if m.opset < 14:
        raise Refused("not yet there")
    x = m.pick(lambda s: len(s) > 1)
    k = [m.const(m.int(-2, 2), np.int64)] if m.one_in(2) else []
    return m.node("Trilu", [x, *k], upper=m.int(0, 1))


def gather_nd(m):
    x = m.pick(lambda s: len(s) > 1 and np.prod(s) < 20000)
    s = m.shapes[x]
    many = m.of((3,), (2, 4))
    at = np.stack([m.r.integers(-d, d, many) for d in s[:m.int(1, len(s) - 1)]], -1)
    return m.node("GatherND", [x, m.const(at, np.int64)])


def scatter_elements(m):
    x = m.pick(lambda s: len(s) > 1 and np.prod(s) < 20000)
    s, axis = m.shapes[x], m.int(0, m.rank(x) - 1)
    n = m.int(1, min(4, s[axis]))
    part = s[:axis] + [n] + s[axis + 1:]
    at = np.moveaxis(np.broadcast_to(m.r.permutation(s[axis])[:n], s[:axis] + s[axis + 1:] + [n]), -1, axis)
    attrs = dict(reduction=m.of("none", "add", "mul")) if m.opset >= 16 else {}
    return m.node("ScatterElements", [x, m.const(at, np.int64), m.const(m.r.normal(size=part))], axis=axis, **attrs)


def reversed_(m):
    x = m.pick(lambda s: len(s) > 1)
    time = m.int(0, 1)
    t, n = m.shapes[x][time], m.shapes[x][1 - time]
    return m.node("ReverseSequence", [x, m.ints(*m.r.integers(1, t + 1, n))], time_axis=time, batch_axis=1 - time)


def cropped(m):
    if m.opset < 18:
        raise Refused("not yet there")
    x = m.pick(lambda s: len(s) > 1)
    axes = [m.rank(x) - 2, m.rank(x) - 1]
    sizes = [max(1, m.shapes[x][a] + m.int(-3, 3)) for a in axes]
    return m.node("CenterCropPad", [x, m.ints(*sizes)], axes=axes)


def columns(m):
    """An image of overlapping blocks that are added up."""
    if m.opset < 18:
        raise Refused("not yet there")
    h, w, k = m.int(3, 8), m.int(3, 8), m.int(1, 3)
    n = (h - k + 1) * (w - k + 1)
    x = m.pick(lambda s: len(s) >= 2 and np.prod(s) % n == 0 and np.prod(s) // n % (k * k) == 0)
    y = m.node("Reshape", [x, m.ints(1, -1, n)])
    return m.node("Col2Im", [y, m.ints(h, w), m.ints(k, k)])


def roi_align(m):
    if m.opset < 16:
        raise Refused("otherwise before")
    x = m.pick(lambda s: image(s) and min(s[2:]) > 3)
    n, _, h, w = m.shapes[x]
    count = m.int(1, 5)
    corner = m.r.uniform(0, 0.5, (count, 2)) * [w, h]
    boxes = np.concatenate([corner, corner + m.r.uniform(0.2, 0.6, (count, 2)) * [w, h]], 1)
    at = m.const(m.r.integers(0, n, count), np.int64)
    return m.node("RoiAlign", [x, m.const(boxes), at], output_height=m.int(1, 5), output_width=m.int(1, 5), sampling_ratio=m.int(0, 3),
                  spatial_scale=m.of(1.0, 0.5), mode="avg", coordinate_transformation_mode=m.of("half_pixel", "output_half_pixel"))


def deformed(m):
    """Offsets are another convolution's."""
    if m.opset < 19:
        raise Refused("not yet there")
    x = m.pick(lambda s: image(s) and s[0] == 1 and np.prod(s) < 20000)
    c, k, out = m.shapes[x][1], m.of(1, 3), m.of(1, 4, 8)
    attrs = dict(kernel_shape=[k, k], pads=[k // 2] * 4, strides=[m.int(1, 2)] * 2)
    offsets = m.node("Conv", [x, m.weights(2 * k * k, c, k, k, scale=0.5 / k / np.sqrt(c))], **attrs)
    mask = m.node("Sigmoid", [m.node("Conv", [x, m.weights(k * k, c, k, k)], **attrs)])
    bias = m.weights(out, scale=0.3)
    return m.node("DeformConv", [x, m.weights(out, c, k, k), offsets, bias, *([mask] if m.one_in(2) else [])], **attrs)


def warped(m):
    """By a matrix of its own."""
    if m.opset < 20:
        raise Refused("not yet there")
    x = m.pick(lambda s: image(s) and min(s[2:]) > 2)
    n, c = m.shapes[x][:2]
    h, w, corners = m.int(2, 10), m.int(2, 10), m.int(0, 1)
    theta = m.const(np.broadcast_to([[1, 0, 0], [0, 1, 0]], (n, 2, 3)) + m.r.uniform(-0.2, 0.2, (n, 2, 3)))
    grid = m.node("AffineGrid", [theta, m.ints(n, c, h, w)], align_corners=corners, shapes=[[n, h, w, 2]])
    return m.node("GridSample", [x, grid], mode="linear", align_corners=corners)


def rms_norm(m):
    if m.opset < 23:
        raise Refused("not yet there")
    x = m.pick(lambda s: len(s) > 1 and s[-1] > 3)
    return m.node("RMSNormalization", [x, m.uniform(0.5, 1.5, m.shapes[x][-1])], axis=-1, epsilon=m.of(1e-3, 1e-2))


def swish_node(m):
    if m.opset < 24:
        raise Refused("not yet there")
    return m.node("Swish", [m.pick()], alpha=m.of(1.0, 1.7))


def mask_of(m, t):
    """Of bool, each of whose rows allows something, or of floats; or none."""
    if m.one_in(2):
        return []
    if m.one_in(2):
        return [m.const(m.r.normal(size=m.of((t, t), (1, 1, t, t), (t,))))]
    allowed = m.r.integers(0, 3, (t, t)) > 0
    np.fill_diagonal(allowed, True)
    return [m.const(allowed, np.bool_)]


def attention_node(m):
    """Heads of keys may be fewer; tensors of three dims or four."""
    if m.opset < 23:
        raise Refused("not yet there")
    x = m.pick(lambda s: len(s) == 3 and s[1] < 60)
    b, t, c = m.shapes[x]
    heads = m.of(*[d for d in divisors(c) if d <= 4])
    kv_heads = m.of(*divisors(heads))
    size = c // heads
    q, k, v = (m.node("MatMul", [x, m.weights(c, n * size)]) for n in (heads, kv_heads, kv_heads))
    attrs = dict(is_causal=m.int(0, 1), softcap=m.of(0.0, 0.0, 1.5))
    if m.one_in(3):
        attrs["scale"] = 0.3
    if m.one_in(2):
        return m.node("Attention", [q, k, v, *mask_of(m, t)], q_num_heads=heads, kv_num_heads=kv_heads, shapes=[[b, t, c]], **attrs)
    parts = [m.node("Transpose", [m.node("Reshape", [y, m.ints(0, 0, -1, size)])], perm=[0, 2, 1, 3]) for y in (q, k, v)]
    return m.node("Attention", parts + mask_of(m, t), shapes=[[b, heads, t, size]], **attrs)


def rotated(m):
    if m.opset < 23:
        raise Refused("not yet there")
    x = m.pick(lambda s: len(s) == 3 and s[-1] % 4 == 0 and s[1] < 60)
    _, t, c = m.shapes[x]
    heads = m.of(*[d for d in divisors(c) if c // d % 4 == 0])
    angle = m.r.uniform(-3, 3, (m.shapes[x][0], t, c // heads // 2))
    return m.node("RotaryEmbedding", [x, m.const(np.cos(angle)), m.const(np.sin(angle))], num_heads=heads, interleaved=m.int(0, 1),
                  shapes=[m.shapes[x]])


def dynamic_product(m):
    """As onnxruntime's quantiser writes it, of weights in bytes and of inputs that are quantised as they come."""
    if not m.quantised:
        raise Refused("of bytes alone")
    x = m.pick(lambda s: len(s) > 1)
    s, n = m.shapes[x], m.of(4, 8, 16)
    q, scale, zero = m.node("DynamicQuantizeLinear", [x], outs=3, shapes=[s, [], []])
    m.types.update({q: TensorProto.UINT8, zero: TensorProto.UINT8, scale: TensorProto.UNDEFINED})
    w = m.const(m.r.integers(-127, 128, (s[-1], n)), np.int8)
    y = m.node("MatMulInteger", [q, w, zero, m.const(0, np.int8)], shapes=[s[:-1] + [n]], type=TensorProto.INT32)
    y = m.node("Cast", [y], to=FLOAT, shapes=[s[:-1] + [n]], type=TensorProto.UNDEFINED)
    by = m.node("Mul", [scale, m.const(0.01 / np.sqrt(s[-1]))], shapes=[[]], type=TensorProto.UNDEFINED)
    y = m.node("Mul", [y, by], shapes=[s[:-1] + [n]])
    return activation(m, y)


RARE = [function, logic, remainder, lp_pool, lp_norm, variance_norm, product, best, hot, triangle, gather_nd, scatter_elements, reversed_,
        cropped, columns, roi_align, deformed, warped, rms_norm, swish_node, attention_node, rotated, dynamic_product]
