#!/usr/bin/env python3
"""PyTorch and cuDNN as a peer on a GPU: runs the benchmark networks' ONNX files by torch.nn.functional, node by node, with
batch normalisations folded into convolutions and what exporters take apart put together (torch_fuse.py). fp32 with TF32 off, or halves.

  torch_net.py --check NET.onnx...          on the CPU, against onnxruntime: fails above 1e-4 of the largest output
  torch_net.py --time [-o FILE] NET.onnx... on GPU 0: a JSON object a network, the best of eager and captured in a CUDA
                                            graph, in channels_last or not; ms by CUDA events, medians; with --half
                                            inputs, weights and all between are of 16 bits
"""
import argparse
import json
import os
import statistics
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

try:
    import numpy  # noqa: E402
    import torch  # noqa: E402
    import torch.nn.functional as F  # noqa: E402
except ImportError as e:
    sys.exit(f"torch_net: this Python has no {e.name}: $PYTHON is to be one that has torch and numpy")

import onnx_file  # noqa: E402
import torch_fuse  # noqa: E402

MOST_OFF = 1e-4


# --- operators: node, its inputs as tensors (None where left out; constants as numpy where they are shapes) ---

def sides(n, x, kernel):
    """Pads of an image as F.pad takes them if they differ before and after, and as an operator takes them if not."""
    auto = n.get("auto_pad", "NOTSET")
    pads = n.get("pads", [0] * 4) if auto == "NOTSET" else [0] * 4
    if auto in ("SAME_UPPER", "SAME_LOWER"):
        for d in range(2):
            size, stride = x.shape[2 + d], n.get("strides", [1, 1])[d]
            reach = (kernel[d] - 1) * n.get("dilations", [1, 1])[d] + 1
            total = max((-(-size // stride) - 1) * stride + reach - size, 0)
            pads[d] = total // 2 if auto == "SAME_UPPER" else total - total // 2
            pads[2 + d] = total - pads[d]
    if pads[:2] == pads[2:]:
        return None, pads[:2]
    return [pads[1], pads[3], pads[0], pads[2]], [0, 0]


def conv(n, x, w, b=None):
    uneven, even = sides(n, x, w.shape[2:])
    if uneven:
        x = F.pad(x, uneven)
    return F.conv2d(x, w, b, n.get("strides", 1), even, n.get("dilations", 1), n.get("group", 1))


def deconv(n, x, w, b=None):
    pads = n.get("pads", [0] * 4)
    y = F.conv_transpose2d(x, w, b, n.get("strides", 1), 0, n.get("output_padding", 0), n.get("group", 1),
                           n.get("dilations", 1))
    return y[:, :, pads[0]:y.shape[2] - pads[2], pads[1]:y.shape[3] - pads[3]]


def max_pool(n, x):
    uneven, even = sides(n, x, n.get("kernel_shape"))
    if uneven:
        x = F.pad(x, uneven, value=-float("inf"))
    return F.max_pool2d(x, n.get("kernel_shape"), n.get("strides", 1), even, n.get("dilations", 1), bool(n.get("ceil_mode", 0)))


def average_pool(n, x):
    uneven, even = sides(n, x, n.get("kernel_shape"))
    counted = bool(n.get("count_include_pad", 0))
    if not uneven:
        return F.avg_pool2d(x, n.get("kernel_shape"), n.get("strides", 1), even, bool(n.get("ceil_mode", 0)), counted)
    ones = F.pad(torch.ones_like(x[:1, :1]), uneven, value=float(counted))
    area = F.avg_pool2d(ones, n.get("kernel_shape"), n.get("strides", 1))
    return F.avg_pool2d(F.pad(x, uneven), n.get("kernel_shape"), n.get("strides", 1)) / area


def gemm(n, a, b, c=None):
    y = F.linear(a.t() if n.get("transA", 0) else a, b if n.get("transB", 0) else b.t())
    y = y * n.get("alpha", 1.0) if n.get("alpha", 1.0) != 1 else y
    return y if c is None else y + n.get("beta", 1.0) * c


def linear(n, a, b, c=None):
    """The usual Gemm, by the function that takes a bias."""
    plain = n.get("transB", 0) and not n.get("transA", 0) and n.get("alpha", 1.0) == n.get("beta", 1.0) == 1
    return F.linear(a, b, c) if plain and (c is None or c.dim() == 1) else gemm(n, a, b, c)


def batch_norm(n, x, scale, shift, mean, variance):
    return F.batch_norm(x, mean, variance, scale, shift, False, 0, n.get("epsilon", 1e-5))


def clip(n, x, low=None, high=None):
    low = n.get("min") if low is None else float(low)
    return torch.clamp(x, low, n.get("max") if high is None else float(high))


def resize(n, x, region=None, scales=None, sizes=None):
    if n.get("mode", "nearest") != "nearest" or n.get("nearest_mode", "") != "floor":
        raise NotImplementedError(f"Resize {n.attributes}")
    if n.get("coordinate_transformation_mode") != "asymmetric" or scales is None:
        raise NotImplementedError(f"Resize {n.attributes}")
    return F.interpolate(x, scale_factor=[float(s) for s in scales[2:]], mode="nearest")


def slice_(n, x, starts, ends, axes=None, steps=None):
    if steps is not None and any(s != 1 for s in steps):
        raise NotImplementedError("Slice with steps")
    for axis, start, end in zip(axes if axes is not None else range(len(starts)), starts, ends):
        x = x[(slice(None),) * int(axis) + (slice(int(start), int(end)),)]
    return x


def softmax(n, x):
    return F.softmax(x, n.get("axis", -1))


OPERATORS = {
    "Conv": conv, "ConvTranspose": deconv, "MaxPool": max_pool, "AveragePool": average_pool, "Gemm": linear,
    "BatchNormalization": batch_norm, "Clip": clip, "Resize": resize, "Slice": slice_, "Softmax": softmax,
    "Relu": lambda n, x: F.relu(x), "LeakyRelu": lambda n, x: F.leaky_relu(x, n.get("alpha", 0.01)),
    "Sigmoid": lambda n, x: torch.sigmoid(x), "Tanh": lambda n, x: torch.tanh(x),
    "Add": lambda n, a, b: a + b, "Mul": lambda n, a, b: a * b,
    "GlobalAveragePool": lambda n, x: F.adaptive_avg_pool2d(x, 1),
    "Concat": lambda n, *x: torch.cat(x, n.get("axis")),
    "Gelu": lambda n, x: F.gelu(x),
    "LayerNormalization": lambda n, x, scale, bias: F.layer_norm(x, scale.shape, scale, bias, n.get("epsilon")),
    "Transpose": lambda n, x: x.permute(n.get("perm")),
    "Flatten": lambda n, x: x.flatten(n.get("axis", 1)) if n.get("axis", 1) else x.reshape(1, -1),
}
PLAIN = {"Clip", "Resize", "Slice"}  # whose further inputs are numbers when the network is read, not tensors


class Net:
    """A network on a device, in channels_last or not, of halves or not; call it with its inputs."""

    def __init__(self, path, device, channels_last=False, half=False):
        nodes, constants, self.inputs, self.outputs = onnx_file.read(path)
        self.nodes = torch_fuse.fuse(nodes, constants)
        unknown = {n.op for n in self.nodes} - set(OPERATORS)
        if unknown:
            raise NotImplementedError(", ".join(sorted(unknown)))
        self.format = torch.channels_last if channels_last else torch.contiguous_format
        self.half = half
        numbers = {name for n in self.nodes if n.op in PLAIN for name in n.inputs[1:]}
        used = {name for n in self.nodes for name in n.inputs}
        self.constants = {name: array if name in numbers else self.place(array, device)
                          for name, array in constants.items() if name in used}
        self.last = {name: i for i, n in enumerate(self.nodes) for name in n.inputs}

    def place(self, array, device):
        t = torch.from_numpy(numpy.array(array)).to(device)
        if self.half and t.is_floating_point():
            t = t.half()
        return t.contiguous(memory_format=self.format) if t.dim() == 4 else t

    def random_inputs(self, device):
        """[0, 1) from the same numbers everywhere."""
        random = numpy.random.default_rng(1)
        return [self.place(random.random(dims, numpy.float32), device) for _, dims in self.inputs]

    def __call__(self, inputs):
        values = dict(zip((name for name, _ in self.inputs), inputs))
        for i, n in enumerate(self.nodes):
            given = [self.constants.get(name, values.get(name)) if name else None for name in n.inputs]
            values[n.outputs[0]] = OPERATORS[n.op](n, *given)
            for name in n.inputs:
                if self.last.get(name) == i and name not in self.outputs:
                    values.pop(name, None)
        return [values[name] for name in self.outputs]


def off(got, want):
    """Largest difference over the largest value, over all outputs."""
    return max(float(numpy.abs(a - b).max() / numpy.abs(b).max()) for a, b in zip(got, want))


# --- on the CPU ---

def check(path):
    import onnxruntime

    net = Net(path, "cpu")
    inputs = net.random_inputs("cpu")
    with torch.inference_mode():
        got = [y.numpy() for y in net(inputs)]
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    want = session.run(net.outputs, {name: x.numpy() for (name, _), x in zip(net.inputs, inputs)})
    difference = off(got, want)
    print(f"{'ok' if difference <= MOST_OFF else 'FAILED'} {os.path.basename(path)} {difference:.2g}", flush=True)
    return difference <= MOST_OFF


# --- on the GPU ---

def median_ms(step, seconds):
    """Of single steps between two events: at least 20, until the time is up."""
    times, spent = [], 0
    while len(times) < 20 or spent < seconds * 1e3:
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        step()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end))
        spent += times[-1]
    return statistics.median(times)


def captured(net, inputs):
    """The network as a CUDA graph: its launch, and its outputs."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(inputs)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        outputs = net(inputs)
    return graph.replay, outputs


def time_net(path, seconds, half):
    with torch.inference_mode():
        cpu = Net(path, "cpu")
        want = [y.numpy() for y in cpu(cpu.random_inputs("cpu"))]
        ms, difference = {}, 0
        for channels_last in (False, True):
            layout = "channels_last" if channels_last else "contiguous"
            net = Net(path, "cuda", channels_last, half)
            inputs = net.random_inputs("cuda")
            for _ in range(5):
                outputs = net(inputs)
            ms[f"eager {layout}"] = median_ms(lambda: net(inputs), seconds)
            replay, outputs = captured(net, inputs)
            for _ in range(5):
                replay()
            ms[f"graph {layout}"] = median_ms(replay, seconds)
            difference = max(difference, off([y.float().cpu().numpy() for y in outputs], want))
            del net, inputs, outputs, replay
            torch.cuda.empty_cache()
    best = min(ms, key=ms.get)
    return {"network": os.path.basename(path)[:-len(".onnx")], "precision": "half" if half else "single",
            "gpu": torch.cuda.get_device_name(), "torch": torch.__version__, "cudnn": torch.backends.cudnn.version(),
            "frame_ms": round(ms[best], 4), "best": best, "variants_ms": {name: round(t, 4) for name, t in ms.items()}, "difference": float(f"{difference:.3g}")}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--check", action="store_true")
    p.add_argument("--time", action="store_true")
    p.add_argument("--half", action="store_true", help="with --time: in half precision")
    p.add_argument("--seconds", type=float, default=0.5, help="of each variant (default 0.5)")
    p.add_argument("-o", "--output", help="results (default: stdout)")
    p.add_argument("networks", nargs="+", metavar="NET.onnx")
    o = p.parse_args()
    if o.check == o.time:
        p.error("--check or --time")
    if o.check:
        sys.exit(not all([check(path) for path in o.networks]))
    if not torch.cuda.is_available():
        sys.exit("torch_net: this torch sees no GPU")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    with open(o.output, "w") if o.output else sys.stdout as f:
        for path in o.networks:
            print(json.dumps(time_net(path, o.seconds, o.half)), file=f, flush=True)


if __name__ == "__main__":
    main()
