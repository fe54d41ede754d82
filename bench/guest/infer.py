"""Runs in the guest's Python: N inferences of one peer, one thread. infer.py PEER MODEL SHAPE INPUT N OUTPUT"""
import sys

import numpy as np

peer, model, shape, raw, runs, output = sys.argv[1:]
x = np.fromfile(raw, np.float32).reshape([int(d) for d in shape.split("x")])


def onnxruntime():
    import onnxruntime as ort
    options = ort.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda: session.run(None, {name: x})[0]


def ncnn():
    import ncnn as library
    net = library.Net()
    net.opt.num_threads = 1
    net.load_param(f"{model}.param")
    net.load_model(f"{model}.bin")
    image = library.Mat(x[0])

    def once():
        extractor = net.create_extractor()
        extractor.input("in0", image)
        return np.array(extractor.extract("out0")[1])
    return once


infer = {"onnxruntime": onnxruntime, "ncnn": ncnn}[peer]()
for _ in range(int(runs)):
    y = infer()
np.ascontiguousarray(y, np.float32).tofile(output)
