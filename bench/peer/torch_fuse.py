"""What a network's nodes are to PyTorch: batch normalisations folded into convolutions, and layer normalisations, GELU and linear
layers, which exporters write as several nodes, as the functions of torch.nn.functional that they came from."""
import numpy

import onnx_file


class Net:
    """Nodes with who makes and who reads each tensor."""

    def __init__(self, nodes, constants):
        self.nodes, self.constants = nodes, constants
        self.made = {name: n for n in nodes for name in n.outputs}
        self.readers = {}
        for n in nodes:
            for name in n.inputs:
                self.readers.setdefault(name, []).append(n)

    def maker(self, name, op):
        """The node that makes it, if it is of that op and nothing else reads its output."""
        n = self.made.get(name)
        return n if n and n.op == op and len(self.readers.get(name, [])) == 1 else None

    def number(self, n):
        """(tensor, number) of a node of two inputs, one of them a constant of one element; or (None, None)."""
        for tensor, constant in (n.inputs, n.inputs[::-1]):
            if constant in self.constants and self.constants[constant].size == 1:
                return tensor, float(self.constants[constant].reshape(-1)[0])
        return None, None

    def weights(self, n):
        """(tensor, name) of a node of two inputs, one of them a constant of one dim; or (None, None)."""
        for tensor, constant in (n.inputs, n.inputs[::-1]):
            if constant in self.constants and self.constants[constant].ndim == 1:
                return tensor, constant
        return None, None


def fold(nodes, constants):
    """Batch normalisations behind a convolution that nothing else reads go into its weights."""
    net = Net(nodes, constants)
    kept = []
    for n in nodes:
        conv = net.maker(n.inputs[0], "Conv") if n.op == "BatchNormalization" else None
        if not conv:
            kept.append(n)
            continue
        scale, shift, mean, variance = (constants[name].astype(numpy.float64) for name in n.inputs[1:5])
        scale = scale / numpy.sqrt(variance + n.get("epsilon", 1e-5))
        weights = constants[conv.inputs[1]].astype(numpy.float64)
        bias = constants[conv.inputs[2]] if len(conv.inputs) > 2 else 0
        names = [f"{n.outputs[0]}.weights", f"{n.outputs[0]}.bias"]
        constants[names[0]] = (weights * scale.reshape(-1, 1, 1, 1)).astype(numpy.float32)
        constants[names[1]] = ((bias - mean) * scale + shift).astype(numpy.float32)
        conv.inputs = [conv.inputs[0]] + names
        net.made[n.outputs[0]] = conv
        conv.outputs = n.outputs
    return kept


def gelu(net, last):
    """Mul(Mul(x, Add(Erf(Div(x, sqrt 2)), 1)), 1/2)"""
    product, half = net.number(last) if last.op == "Mul" else (None, None)
    product = net.maker(product, "Mul") if half == 0.5 else None
    for x, sum_ in (product.inputs, product.inputs[::-1]) if product else ():
        sum_ = net.maker(sum_, "Add")
        erf, one = net.number(sum_) if sum_ else (None, None)
        erf = net.maker(erf, "Erf") if one == 1 else None
        scaled = net.maker(erf.inputs[0], "Div") if erf else None
        of, root = net.number(scaled) if scaled else (None, None)
        if of == x and abs(root - 2 ** 0.5) < 1e-6:
            return onnx_file.Node("Gelu", [x], last.outputs, {}), [product, sum_, erf, scaled]
    return None


def is_over_last(n):
    return n and n.get("axes") in ([-1],) and n.get("keepdims", 1)


def layer_norm(net, last):
    """Add(Mul(Div(d, Sqrt(Add(ReduceMean(Pow(d, 2)), epsilon))), scale), bias), d = Sub(x, ReduceMean(x))"""
    scaled, bias = net.weights(last) if last.op == "Add" else (None, None)
    scaled = net.maker(scaled, "Mul") if bias else None
    ratio, scale = net.weights(scaled) if scaled else (None, None)
    ratio = net.maker(ratio, "Div") if scale else None
    root = net.maker(ratio.inputs[1], "Sqrt") if ratio else None
    sum_ = net.maker(root.inputs[0], "Add") if root else None
    variance, epsilon = net.number(sum_) if sum_ else (None, None)
    variance = net.maker(variance, "ReduceMean") if epsilon else None
    square = net.maker(variance.inputs[0], "Pow") if is_over_last(variance) else None
    d, two = net.number(square) if square else (None, None)
    d = net.made.get(d) if two == 2 and d == ratio.inputs[0] else None
    mean = net.maker(d.inputs[1], "ReduceMean") if d and d.op == "Sub" and len(net.readers[d.outputs[0]]) == 2 else None
    if not is_over_last(mean) or mean.inputs[0] != d.inputs[0]:
        return None
    node = onnx_file.Node("LayerNormalization", [mean.inputs[0], scale, bias], last.outputs, {"epsilon": epsilon})
    return node, [scaled, ratio, root, sum_, variance, square, d, mean]


def linear(net, last):
    """Add(MatMul(x, matrix), bias); the matrix is turned, as F.linear wants it."""
    product, bias = net.weights(last) if last.op == "Add" else (None, None)
    product = net.maker(product, "MatMul") if bias else None
    if not product or product.inputs[1] not in net.constants or net.constants[product.inputs[1]].ndim != 2:
        return None
    turned = f"{last.outputs[0]}.weights"
    net.constants[turned] = numpy.ascontiguousarray(net.constants[product.inputs[1]].T)
    return onnx_file.Node("Gemm", [product.inputs[0], turned, bias], last.outputs, {"transB": 1}), [product]


def fuse(nodes, constants):
    """The nodes as PyTorch would have been asked for them."""
    nodes = fold(nodes, constants)
    for pattern in gelu, layer_norm, linear:
        net, gone, by = Net(nodes, constants), set(), {}
        for n in nodes:
            found = pattern(net, n)
            if found:
                by[id(n)] = found[0]
                gone.update(id(part) for part in found[1])
        nodes = [by.get(id(n), n) for n in nodes if id(n) not in gone]
    return nodes
