#!/usr/bin/env python3
"""quantise_fashion.py FOLDER OUT.onnx: fashion.onnx in 8 bits, by onnxruntime's quantiser; FOLDER has the training pictures.

Ranges of activations are those of 1000 training pictures. Activations are unsigned, weights signed with a scale a channel. What
normalises the pixels and the softmax stay in floats.
"""
import gzip
import logging
import os
import sys
import tempfile

import numpy
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

PICTURES = 1000
HERE = os.path.dirname(os.path.abspath(__file__))


class Pictures(CalibrationDataReader):
    def __init__(self, folder):
        with gzip.open(f"{folder}/train-images-idx3-ubyte.gz") as f:
            pixels = numpy.frombuffer(f.read(16 + PICTURES * 784)[16:], "uint8")
        self.left = list(pixels.reshape(PICTURES, 1, 1, 28, 28).astype("float32"))

    def get_next(self):
        return {"image": self.left.pop()} if self.left else None


def main(folder, out):
    logging.disable(logging.WARNING)
    with tempfile.TemporaryDirectory() as work:
        quant_pre_process(f"{HERE}/fashion.onnx", f"{work}/folded.onnx", skip_symbolic_shape=True)
        quantize_static(f"{work}/folded.onnx", out, Pictures(folder), quant_format=QuantFormat.QDQ, per_channel=True,
                        activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8, calibrate_method=CalibrationMethod.MinMax,
                        op_types_to_quantize=["Conv", "Gemm", "Add", "Clip", "Relu", "GlobalAveragePool", "Flatten"],
                        nodes_to_exclude=["centre", "scale", "softmax"])


main(*sys.argv[1:])
