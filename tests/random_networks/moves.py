"""Layers that move what is there or pick from it, and resizes: f(m) adds one to the network m and returns its output."""
import numpy as np
from onnx import numpy_helper

from layers import conv
from maker import INT64, Refused, image


def concat(m):
    x = m.pick(lambda s: len(s) > 0)
    axis = m.int(0, m.rank(x) - 1) if m.one_in(3) or m.rank(x) < 2 else 1
    s = m.shapes[x]
    others = m.floats(lambda t: len(t) == len(s) and t[:axis] + t[axis + 1:] == s[:axis] + s[axis + 1:])
    parts = [x] + [m.of(*others) for _ in range(m.int(1, 3))]
    if m.one_in(5):
        parts.insert(m.int(0, len(parts)), m.const(m.r.normal(size=s[:axis] + [m.int(1, 3)] + s[axis + 1:])))
    m.r.shuffle(parts)
    return m.node("Concat", parts, axis=axis if m.one_in(2) else axis - len(s))


def split(m):
    x = m.pick(lambda s: len(s) > 1 and max(s[1:]) > 1)
    s = m.shapes[x]
    axis = m.of(*[a for a in range(len(s)) if s[a] > 1])
    cuts = sorted({0, s[axis], m.int(1, s[axis] - 1), m.int(1, s[axis] - 1)})
    sizes = [b - a for a, b in zip(cuts, cuts[1:])]
    if m.opset >= 13:
        return m.node("Split", [x, m.ints(*sizes)], outs=len(sizes), axis=axis)[0]
    return m.node("Split", [x], outs=len(sizes), axis=axis, split=sizes)[0]


def slice_dim(m, n):
    """Start, end and step of a part of n elements, from either end, at times beyond it."""
    step, low = m.of(1, 1, 1, 2, 3, -1, -2), m.int(0, n - 1)
    high = m.int(low + 1, n)
    if step < 0:
        return high - 1, low - 1 if low else -(2**31), step
    return m.of(low, low - n), high if high < n else m.of(n, 2**31 - 1, 2**63 - 1), step


def slice_(m):
    x = m.pick(lambda s: len(s) > 1)
    axes = [a for a, n in enumerate(m.shapes[x]) if n > 1 and m.one_in(2)]
    if not axes:
        raise Refused("nothing to slice")
    starts, ends, steps = zip(*[slice_dim(m, m.shapes[x][a]) for a in axes])
    return m.node("Slice", [x, m.ints(*starts), m.ints(*ends), m.ints(*axes), m.ints(*steps)])


def transpose(m):
    x = m.pick(lambda s: len(s) > 1)
    perm = [int(a) for a in m.r.permutation(m.rank(x))]
    if m.rank(x) == 4 and m.one_in(2):
        perm = m.of([0, 2, 3, 1], [0, 3, 1, 2])
    return m.node("Transpose", [x], perm=perm)


def reshape(m):
    x = m.pick()
    dims, left = [], int(np.prod(m.shapes[x]))
    for i in range(m.int(0, 4)):
        dims.append(1 if i == 0 and m.one_in(2) else m.of(*[d for d in (1, 2, 3, 4, 5, 6, 8, 16) if left % d == 0]))
        left //= dims[-1]
    return m.node("Reshape", [x, m.ints(*dims, m.of(left, -1))])


def flatten(m):
    x = m.pick(lambda s: len(s) > 1)
    return m.node("Flatten", [x], axis=m.of(1, 1, m.int(0, m.rank(x))))


def squeeze(m):
    x = m.pick(lambda s: 1 in s and len(s) > 1)
    axes = [a for a, d in enumerate(m.shapes[x]) if d == 1][:m.int(1, 2)]
    return m.axes_node("Squeeze", x, axes, 13)


def unsqueeze(m):
    x = m.pick(lambda s: len(s) < 5)
    return m.axes_node("Unsqueeze", x, [m.int(0, m.rank(x))], 13)


def pad(m):
    x = m.pick(lambda s: len(s) > 1)
    s, mode = m.shapes[x], m.of("constant", "constant", "reflect", "edge")
    padded = [(d >= len(s) - 2 or m.one_in(3)) and (mode != "reflect" or n > 2) for d, n in enumerate(s)]
    before, after = ([m.int(0, 2) if p else 0 for p in padded] for _ in range(2))
    if mode == "constant" and m.one_in(4) and s[-1] > 3:
        before[-1] = -1
    value = [m.const(m.of(0.0, 0.0, 1.5, -2.0))] if mode == "constant" and m.one_in(2) else []
    y = m.node("Pad", [x, m.ints(*before, *after), *value], mode=mode)
    return conv(m, y) if image(m.shapes[y]) and m.one_in(2) else y


def resize(m):
    """Images of less than 100 pixels a side, as onnxruntime's coordinates are of single precision."""
    x = m.pick(lambda s: image(s) and max(s[2:]) < 100)
    s, mode = m.shapes[x], m.of("nearest", "nearest", "linear", "linear", "cubic")
    coordinates = m.of("half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel")
    attrs = dict(mode=mode)
    if mode == "nearest":
        attrs["nearest_mode"] = m.of("floor", "round_prefer_floor", "round_prefer_ceil", "ceil")
        if m.one_in(2):
            coordinates, attrs["nearest_mode"] = "asymmetric", "floor"
    if mode == "cubic" and m.one_in(2):
        attrs["cubic_coeff_a"] = m.of(-0.5, -0.75)
    empty = m.const(np.zeros(0))
    if m.one_in(2):
        scales = m.of([2, 2], [2, 2], [1, 3], [0.5, 0.5], [2, 1], [1.5, 2.5])
        if coordinates == "align_corners" and any(d * k % 1 for d, k in zip(s[2:], scales)):
            raise Refused("a case in which onnxruntime and ONNX's own tests differ")
        sizes = [m.const([1, 1, *scales])]
    else:
        sizes = [empty, m.ints(*s[:2], *[m.int(1, min(24, 2 * n)) for n in s[2:]])]
    y = m.node("Resize", [x, empty, *sizes], coordinate_transformation_mode=coordinates, **attrs)
    if mode == "nearest" and not all(rounds_alike(a, b, coordinates, attrs["nearest_mode"]) for a, b in zip(s[2:], m.shapes[y][2:])):
        raise Refused("onnxruntime takes another pixel than exact coordinates")
    return y


def rounds_alike(n, out, coordinates, mode):
    """Whether coordinates of single precision, as onnxruntime has them, fall on the side where exact ones are."""
    o, f = np.arange(out), np.float32
    if coordinates == "align_corners":
        exact, single = o * (n - 1) / max(1, out - 1), o.astype(f) * f(n - 1) / f(max(1, out - 1))
    else:
        half = 0.5 if coordinates == "half_pixel" or (coordinates == "pytorch_half_pixel" and out > 1) else 0
        exact, single = (o + half) * n / out - half, (o + half).astype(f) / (f(out) / f(n)) - f(half)
    rounded = {"floor": np.floor, "ceil": np.ceil, "round_prefer_floor": lambda x: np.ceil(x - 0.5),
               "round_prefer_ceil": lambda x: np.floor(x + 0.5)}[mode]
    return (rounded(exact) == rounded(single)).all()


def dim(m, x, d):
    """One dim of x, as a list of one number, the way PyTorch's exporter takes it."""
    shape = m.node("Shape", [x], shapes=[[m.rank(x)]], type=INT64)
    if m.one_in(3):
        return m.node("Slice", [shape, m.ints(d), m.ints(d + 1), m.ints(0)], shapes=[[1]], type=INT64)
    if m.one_in(2):
        return m.node("Gather", [shape, m.ints(d)], axis=0, shapes=[[1]], type=INT64)
    number = m.node("Gather", [shape, m.const(d, np.int64)], axis=0, shapes=[[]], type=INT64)
    return m.axes_node("Unsqueeze", number, [0], 13, shapes=[[1]], type=INT64)


def computed_reshape(m):
    """view(x.size(0), -1) or view(b, c, h * w), with the sizes computed."""
    x = m.pick(lambda s: len(s) >= 2)
    s = m.shapes[x]
    if len(s) != 4 or m.one_in(2):
        dims = m.node("Concat", [dim(m, x, 0), m.ints(-1)], axis=0, shapes=[[2]], type=INT64)
        return m.node("Reshape", [x, dims], shapes=[[s[0], int(np.prod(s[1:]))]])
    area = m.node("Mul", [dim(m, x, 2), dim(m, x, 3)], shapes=[[1]], type=INT64)
    dims = m.node("Concat", [dim(m, x, 0), dim(m, x, 1), area], axis=0, shapes=[[3]], type=INT64)
    return m.node("Reshape", [x, dims], shapes=[[s[0], s[1], s[2] * s[3]]])


def computed_resize(m):
    """interpolate(x, size=y.shape[2:])."""
    x, y = (m.pick(lambda s: image(s) and max(s[2:]) < 40) for _ in range(2))
    s, t = m.shapes[x], m.shapes[y]
    if not all(rounds_alike(a, b, "asymmetric", "floor") for a, b in zip(s[2:], t[2:])):
        raise Refused("onnxruntime takes another pixel than exact coordinates")
    shape = m.node("Shape", [x], shapes=[[4]], type=INT64)
    head = m.node("Slice", [shape, m.ints(0), m.ints(2), m.ints(0)], shapes=[[2]], type=INT64)
    sizes = m.node("Concat", [head, dim(m, y, 2), dim(m, y, 3)], axis=0, shapes=[[4]], type=INT64)
    empty = m.const(np.zeros(0))
    attrs = dict(mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    if m.one_in(2):
        attrs = dict(mode="linear", coordinate_transformation_mode=m.of("half_pixel", "pytorch_half_pixel", "align_corners"))
    return m.node("Resize", [x, empty, empty, sizes], shapes=[s[:2] + t[2:]], **attrs)


def computed_expand(m):
    """x.expand_as(y), and what full_like(y) gives, beside y."""
    x = m.pick(lambda s: 1 in s)
    s = m.shapes[x]
    y = m.of(*m.floats(lambda t: len(t) == len(s) and all(a in (1, b) for a, b in zip(s, t))))
    shape = m.node("Shape", [y], shapes=[[m.rank(y)]], type=INT64)
    if m.one_in(2):
        return m.node("Expand", [x, shape], shapes=[m.shapes[y]])
    value = numpy_helper.from_array(np.array([m.of(0.0, 1.0, 0.5)], np.float32))
    full = m.node("ConstantOfShape", [shape], value=value, shapes=[m.shapes[y]])
    return m.node("Concat", m.either(y, full), axis=m.int(0, m.rank(y) - 1)) if m.one_in(2) else m.node("Add", m.either(x, full))


def depth_space(m):
    x = m.pick(image)
    s = m.shapes[x]
    if s[1] % 4 == 0 and m.one_in(2):
        return m.node("DepthToSpace", [x], blocksize=2, mode=m.of("DCR", "CRD"))
    if s[2] % 2 or s[3] % 2:
        raise Refused("half a block")
    return m.node("SpaceToDepth", [x], blocksize=2)


def gather(m):
    x = m.pick(lambda s: len(s) > 0)
    axis = m.int(0, m.rank(x) - 1)
    n = m.shapes[x][axis]
    return m.node("Gather", [x, m.const(m.r.integers(-n, n, m.of([], [m.int(1, 4)], [2, 2])), np.int64)], axis=axis)


def gather_elements(m):
    x = m.pick(lambda s: len(s) > 1 and np.prod(s) < 20000)
    axis = m.int(0, m.rank(x) - 1)
    at = m.r.integers(0, m.shapes[x][axis], [m.int(1, d) for d in m.shapes[x]])
    return m.node("GatherElements", [x, m.const(at, np.int64)], axis=axis)


def scatter(m):
    x = m.pick(lambda s: len(s) > 1 and np.prod(s) < 20000)
    s = m.shapes[x]
    k = m.int(1, min(3, s[0]))
    at = m.r.permutation(s[0])[:k, None]
    return m.node("ScatterND", [x, m.const(at, np.int64), m.const(m.r.normal(size=[k] + s[1:]))])


def expand(m):
    x = m.pick(lambda s: 1 in s)
    shape = [m.int(1, 4) if d == 1 and m.one_in(2) else d for d in m.shapes[x]]
    if m.one_in(2):
        return m.node("Tile", [x, m.ints(*[a // b for a, b in zip(shape, m.shapes[x])])])
    return m.node("Expand", [x, m.ints(*shape)])


def tile(m):
    x = m.pick(lambda s: np.prod(s) < 5000 and len(s) > 0)
    return m.node("Tile", [x, m.ints(*[m.of(1, 1, 2, 3) for _ in m.shapes[x]])])


def grid_sample(m):
    if m.opset < 20:
        raise Refused("not yet there")
    x = m.pick(image)
    grid = m.uniform(-1.2, 1.2, (m.shapes[x][0], m.int(1, 12), m.int(1, 12), 2))
    return m.node("GridSample", [x, grid], mode="linear", padding_mode=m.of("zeros", "border"), align_corners=m.int(0, 1))
