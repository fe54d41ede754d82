"""A network in 8 bits, by onnxruntime's own quantiser: QuantizeLinear and DequantizeLinear around its layers.

usage: quantise.py FLOAT.onnx OUT.onnx DIMS    DIMS: of its input, such as 1x3x224x224

Activations are unsigned and weights signed, a scale a channel, which is what onnxruntime runs fastest on x86; ranges are those
that uniform numbers in [0,1) take, four images of them.
"""
import logging
import os
import sys
import tempfile

import numpy
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

IMAGES = 4


class Images(CalibrationDataReader):
    def __init__(self, name, dims):
        rng = numpy.random.default_rng(11)
        self.left = [{name: rng.random(dims, dtype="float32")} for _ in range(IMAGES)]

    def get_next(self):
        return self.left.pop() if self.left else None


def main(model, out, dims):
    logging.disable(logging.WARNING)
    dims = [int(d) for d in dims.split("x")]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(out)) as folder:
        folded = f"{folder}/folded.onnx"
        quant_pre_process(model, folded, skip_symbolic_shape=True)
        name = onnxruntime.InferenceSession(folded, providers=["CPUExecutionProvider"]).get_inputs()[0].name
        quantize_static(folded, f"{folder}/quantised.onnx", Images(name, dims), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
        os.replace(f"{folder}/quantised.onnx", out)


main(*sys.argv[1:])
