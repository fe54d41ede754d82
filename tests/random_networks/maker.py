"""A network in the making: constants, nodes, and the tensors that the next node may read, with their shapes."""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT, HALF, INT64 = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.INT64
CHANNELS = (1, 2, 3, 4, 5, 6, 8, 12, 15, 16, 17, 24, 32, 40, 48)
MOST_ELEMENTS, MOST_WEIGHTS, MOST_OUTPUTS = 400_000, 2_000_000, 64


class Refused(Exception):
    """What was drawn is no network, too large, or one whose results are not settled; the layer is drawn anew."""


def image(shape):
    return len(shape) == 4 and shape[0] <= 3


class Maker:
    """`quantised`: tensors go through bytes, and weights are of bytes, as quantisers write them."""

    def __init__(self, seed, quantised):
        self.r = np.random.default_rng(seed)
        self.quantised = quantised
        self.opset = int(self.r.choice([11, 13, 14, 16, 17, 18, 19, 21, 23, 24]))
        self.inputs, self.nodes, self.initializers = [], [], []
        self.constants = {}  # name: value
        self.shapes, self.types = {}, {}  # of all other tensors, in the order they were made
        self.names = 0

    # --- draws ---
    def one_in(self, n):
        return self.r.integers(n) == 0

    def of(self, *items):
        return items[self.r.integers(len(items))]

    def int(self, low, high):
        return int(self.r.integers(low, high + 1))

    def uniform(self, low, high, shape):
        return self.const(self.r.uniform(low, high, shape))

    def pick(self, fits=lambda shape: True):
        """A tensor of floats that fits, mostly one of the last."""
        all_ = self.floats(fits)
        if not all_:
            raise Refused("no tensor fits")
        return self.of(*all_) if self.one_in(3) else all_[-1 - min(len(all_) - 1, int(self.r.exponential(1.5)))]

    def floats(self, fits=lambda shape: True):
        return [v for v, shape in self.shapes.items() if self.types[v] == FLOAT and fits(shape)]

    def rank(self, x):
        return len(self.shapes[x])

    def either(self, a, b):
        return [a, b] if self.one_in(2) else [b, a]

    # --- tensors ---
    def name(self, stem="v"):
        self.names += 1
        return f"{stem}{self.names}"

    def input(self, shape):
        x = f"in{len(self.inputs)}"
        self.inputs.append(x)
        self.shapes[x], self.types[x] = shape, FLOAT
        return x

    def const(self, value, dtype=np.float32):
        """An initializer, or the output of a Constant."""
        name = self.name("c")
        self.constants[name] = np.asarray(value, dtype=dtype)
        tensor = numpy_helper.from_array(self.constants[name], name)
        if self.one_in(6):
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.initializers.append(tensor)
        return name

    def ints(self, *values):
        return self.const(values, np.int64)

    def weights(self, *shape, scale=None):
        """Of a layer whose outputs are as large as its inputs: shape[1:] are summed over, unless a scale is given."""
        if np.prod(shape) > MOST_WEIGHTS:
            raise Refused("too many weights")
        value = self.r.normal(size=shape) * (scale or 1 / np.sqrt(max(1, np.prod(shape[1:]))))
        return self.of_bytes(value) if self.quantised and len(shape) > 1 and not self.one_in(4) else self.const(value)

    def of_bytes(self, value):
        """Weights of i8 with a scale for each output channel, or one; at times of u8."""
        each = self.opset >= 13 and self.one_in(2)
        unsigned = not each and self.one_in(6)
        most = np.abs(value).reshape(value.shape[0], -1).max(1) if each else np.abs(value).max()
        scale = np.asarray((most + 1e-6) / 127, np.float32)
        along = scale.reshape([-1] + [1] * (value.ndim - 1)) if each else scale
        kind, zero = (np.uint8, 128) if unsigned else (np.int8, 0)
        ints = np.clip(np.round(value / along) + zero, zero - 127, zero + 127)
        name = self.name()
        ins = [self.const(ints, kind), self.const(scale), self.const(np.full(scale.shape, zero), kind)]
        self.nodes.append(helper.make_node("DequantizeLinear", ins, [name], **(dict(axis=0) if each else {})))
        self.constants[name] = ((ints - zero) * along).astype(np.float32)
        return name

    def node(self, op, ins, outs=1, shapes=None, type=FLOAT, **attrs):
        """Its output, or outputs; their shapes and type have to be said where ONNX's inference does not compute them."""
        names = [self.name() for _ in range(outs)]
        node = helper.make_node(op, ins, names, **attrs)
        types = [type] * outs
        if shapes is None:
            shapes, types = self.infer(node)
        for shape in shapes:
            if any(d <= 0 for d in shape) or np.prod(shape) > MOST_ELEMENTS:
                raise Refused(f"{op} of {shape}")
        self.nodes.append(node)
        self.shapes.update(zip(names, shapes))
        self.types.update(zip(names, types))
        return names if outs > 1 else names[0]

    def infer(self, node):
        tensors = [helper.make_tensor_value_info(i, self.types[i], self.shapes[i]) for i in node.input if i in self.shapes]
        values = [numpy_helper.from_array(self.constants[i], i) for i in node.input if i in self.constants]
        graph = helper.make_graph([node], "g", tensors, [helper.make_empty_tensor_value_info(o) for o in node.output], values)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)])
        try:
            model = onnx.shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except onnx.shape_inference.InferenceError as e:
            raise Refused(str(e)) from None
        found = {v.name: v.type.tensor_type for v in [*model.graph.output, *model.graph.value_info]}
        if not all(found[o].HasField("shape") for o in node.output):
            raise Refused(f"{node.op_type} of an unknown shape")
        return [[d.dim_value for d in found[o].shape.dim] for o in node.output], [found[o].elem_type for o in node.output]

    def axes_node(self, op, x, axes, since, **attrs):
        """Axes as an attribute, or from opset `since` on as an input."""
        return self.node(op, [x, self.ints(*axes)], **attrs) if self.opset >= since else self.node(op, [x], axes=axes, **attrs)

    def reduce(self, op, x, axes, keepdims):
        return self.axes_node(op, x, axes, 13 if op == "ReduceSum" else 18, keepdims=keepdims)

    def through_bytes(self, x):
        """x as a quantiser leaves it: quantised, and turned back for what reads it."""
        zeros, kind = ((128, 128, 120), TensorProto.UINT8) if self.one_in(2) else ((0, 0, -5), TensorProto.INT8)
        scale, zero = self.const(self.of(0.02, 0.03, 0.05)), self.const(self.of(*zeros), helper.tensor_dtype_to_np_dtype(kind))
        q = self.node("QuantizeLinear", [x, scale, zero], shapes=[self.shapes[x]], type=kind)
        return self.node("DequantizeLinear", [q, scale, zero], shapes=[self.shapes[x]])

    # --- the end ---
    def tried(self, layer):
        """layer(self): its output, or None where it is none, and then nothing of it is left."""
        nodes, shapes, types = len(self.nodes), dict(self.shapes), dict(self.types)
        try:
            return layer(self)
        except Refused:
            del self.nodes[nodes:]
            self.shapes, self.types = shapes, types
            return None

    def model(self, name):
        """The network whose outputs are what nobody reads and some of the rest; None where there are none."""
        read = {i for n in self.nodes for i in n.input}
        made = [v for v in self.floats() if v not in self.inputs]
        outs = [v for v in made if v not in read or self.one_in(15)][-MOST_OUTPUTS:]
        if not outs:
            return None
        ends = [[helper.make_tensor_value_info(v, FLOAT, self.shapes[v]) for v in names] for names in ([i for i in self.inputs if i in read], outs)]
        graph = helper.make_graph(self.nodes, name, *ends, [t for t in self.initializers if t.name in read])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=8)
