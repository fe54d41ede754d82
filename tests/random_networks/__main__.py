"""
Random networks as ONNX's backend tests are: folders with a model, inputs, and what onnxruntime makes of them with no optimisation.

usage: random_networks DIR FIRST COUNT floats|halves|quantised

Writes DIR/FIRST, ... for COUNT seeds, but for those that are no network after all, that onnxruntime refuses, or whose results hang on
a millionth of the inputs. Of halves are weights, inputs and results of the same networks. Of quantised ones tensors go through bytes,
and a number may be rounded to either side.
"""
import os
import sys
from collections import Counter

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

import blocks
import layers
import moves
import rare
from maker import CHANNELS, FLOAT, HALF, Maker

MOST_LAYERS, TRIES = 18, 200
OFTEN = {layers.conv: 22, layers.add: 10, layers.activation: 8, moves.concat: 7, layers.pool: 6, layers.gemm: 4, layers.matmul: 4, moves.split: 4,
         moves.slice_: 4, moves.transpose: 4, moves.reshape: 4, moves.pad: 4, moves.resize: 4, blocks.residual: 4, layers.conv_transpose: 3,
         layers.reduce: 3, layers.softmax: 3, layers.layer_norm: 3, layers.channel_norm: 3, blocks.squeeze_excite: 3, blocks.attention: 3,
         blocks.pyramid: 3, layers.batch_norm: 2, layers.variadic: 2, layers.where: 2, moves.squeeze: 2, moves.unsqueeze: 2, moves.depth_space: 2,
         moves.gather: 2, moves.expand: 2, moves.grid_sample: 2, moves.computed_reshape: 2, moves.computed_resize: 2, moves.computed_expand: 2,
         blocks.shuffle: 2, blocks.tokens: 2, blocks.untokens: 2, blocks.dense_block: 2}
ONCE = [layers.global_pool, layers.einsum, layers.recurrent, layers.cumulate, layers.cast, layers.top, layers.identity, moves.flatten,
        moves.gather_elements, moves.scatter, moves.tile, blocks.focus, blocks.positions]
LAYERS = ONCE + rare.RARE + [layer for layer, times in OFTEN.items() for _ in range(times)]


def input_shape(m):
    kind = m.int(0, 9)
    if kind < 3:
        return [1, m.of(3, 8, 16), 32, m.of(32, 40)]
    if kind < 7:
        return [m.of(1, 1, 1, 2), m.of(*CHANNELS), m.int(1, 20), m.int(1, 20)]
    if kind == 7:
        return [m.of(1, 2), m.of(*CHANNELS), m.int(1, 30)]
    return [m.of(1, 2), m.of(*CHANNELS)] if kind == 8 else [1, m.of(1, 2, 4, 8), m.int(2, 6), m.int(2, 8), m.int(2, 8)]


def make(seed, quantised):
    """A model and its inputs, or None."""
    m = Maker(seed, quantised)
    for _ in range(m.of(1, 1, 1, 2, 3)):
        x = m.input(input_shape(m))
        if quantised:
            m.through_bytes(x)
    left = m.int(1, MOST_LAYERS)
    for _ in range(TRIES):
        y = m.tried(m.of(*LAYERS))
        if y and quantised and not m.one_in(5):
            m.through_bytes(y)
        left -= bool(y)
        if not left:
            break
    model = m.model(f"random{seed}")
    return model and (model, {i.name: m.r.uniform(-1, 1, m.shapes[i.name]).astype(np.float32) for i in model.graph.input})


def is_settled(outputs, others, least, change):
    """Whether outputs are numbers of a common size, and the others, of all but the same network, hardly differ."""
    for y, z in zip(outputs, others):
        most = np.abs(y).max()
        if not np.isfinite(y).all() or most > 1e4 or most < least or np.abs(y - z).max() > change * most:
            return False
    return True


def nudged(inputs, seed):
    r = np.random.default_rng(seed)
    return {k: v * (1 + r.choice([-1e-6, 1e-6], v.shape)).astype(np.float32) for k, v in inputs.items()}


def halve(tensor):
    if tensor.data_type == FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))


def in_halves(model):
    """The same in half precision, as PyTorch's model.half() would be written; scales of a Resize stay floats."""
    model = onnx.ModelProto.FromString(model.SerializeToString())
    kept = {name for n in model.graph.node if n.op_type == "Resize" for name in n.input[1:3]}
    for tensor in model.graph.initializer:
        if tensor.name not in kept:
            halve(tensor)
    for node in model.graph.node:
        for a in node.attribute:
            if a.HasField("t") and node.output[0] not in kept:
                halve(a.t)
            if node.op_type == "Cast" and a.i == FLOAT:
                a.i = HALF
    for v in [*model.graph.input, *model.graph.output]:
        v.type.tensor_type.elem_type = HALF
    return model


def results(model, inputs):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def write(folder, seed, kind):
    """What became of it: "written", or why not."""
    made = make(seed, kind == "quantised")
    if not made:
        return "no outputs"
    model, inputs = made
    try:
        outputs = results(model, inputs)
        if not is_settled(outputs, results(model, nudged(inputs, seed)), *((0.4, 0.1) if kind == "quantised" else (1e-4, 2e-5))):
            return "not settled"
        if kind == "halves":
            model, inputs, floats = in_halves(model), {name: x.astype(np.float16) for name, x in inputs.items()}, outputs
            outputs = results(model, inputs)
            if not is_settled(outputs, floats, 1e-2, 1e-2):
                return "not settled in halves"
    except Exception as e:  # of a dozen classes
        return f"onnxruntime refuses: {str(e)[:100]}"
    data = f"{folder}/{seed}/test_data_set_0"
    os.makedirs(data, exist_ok=True)
    onnx.save(model, f"{folder}/{seed}/model.onnx")
    for stem, tensors, values in ("input", model.graph.input, inputs.values()), ("output", model.graph.output, outputs):
        for i, (tensor, value) in enumerate(zip(tensors, values)):
            with open(f"{data}/{stem}_{i}.pb", "wb") as f:
                f.write(numpy_helper.from_array(value, tensor.name).SerializeToString())
    return "written"


def main(folder, first, count, kind):
    ends = Counter(write(folder, seed, kind) for seed in range(int(first), int(first) + int(count)))
    for end, times in ends.most_common():
        print(times, end)


main(*sys.argv[1:])
