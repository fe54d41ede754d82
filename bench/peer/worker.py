"""One peer on one network, in a process of its own.

usage: worker.py PEER MODEL INPUT DIMS THREADS OUT    PEER: onnxruntime, openvino, ncnn

Prints a JSON line about loading and the first inference and writes every output to OUT/<i>.raw. Then every line of
stdin is a number of inferences to run; a JSON array of their times in ns answers it. Nothing but the peer's own call
is between the two readings of the clock.
"""
import json
import os
import sys
import time

import numpy

TRIALS = 10


def status_kib(field):
    with open("/proc/self/status") as f:
        for line in f:
            if line.startswith(field):
                return int(line.split()[1])
    return 0


class OnnxRuntime:
    def load(self, model, x, threads):
        import onnxruntime as ort
        self.x = x
        o = ort.SessionOptions()
        o.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        o.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
        o.intra_op_num_threads = threads
        o.inter_op_num_threads = 1
        o.add_session_config_entry("session.intra_op.allow_spinning", "1")
        o.log_severity_level = 3
        self.ort = ort
        self.session = ort.InferenceSession(model, o, providers=["CPUExecutionProvider"])
        self.input = self.session.get_inputs()[0].name
        self.outputs = [y.name for y in self.session.get_outputs()]
        return self

    def ways(self):
        """Calls that all do one inference: plain, and with inputs and outputs bound to fixed memory."""
        feeds = {self.input: self.x}
        binding = self.session.io_binding()
        binding.bind_ortvalue_input(self.input, self.ort.OrtValue.ortvalue_from_numpy(self.x))
        for name, value in zip(self.outputs, self.session.run(None, feeds)):
            binding.bind_ortvalue_output(name, self.ort.OrtValue.ortvalue_from_numpy(value))
        return {"run": lambda: self.session.run(None, feeds),
                "run_with_iobinding": lambda: self.session.run_with_iobinding(binding)}

    def first(self):
        return self.session.run(None, {self.input: self.x})


class OpenVino:
    def load(self, model, x, threads):
        import openvino as ov
        settings = {"PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": str(threads),
                    "INFERENCE_PRECISION_HINT": "f32"}
        self.core = ov.Core()
        self.compiled = self.core.compile_model(model, "CPU", settings)
        self.request = self.compiled.create_infer_request()
        self.x = ov.Tensor(numpy.ascontiguousarray(x), shared_memory=True)
        self.request.set_input_tensor(0, self.x)
        self.buffers = [numpy.empty(list(y.shape), "float32") for y in self.compiled.outputs]
        for i, buffer in enumerate(self.buffers):
            self.request.set_output_tensor(i, ov.Tensor(buffer, shared_memory=True))
        return self

    def two_calls(self):
        self.request.start_async()
        self.request.wait()

    def ways(self):
        return {"start_async, wait": self.two_calls,
                "infer": lambda: self.request.infer(None, share_inputs=True, share_outputs=True)}

    def first(self):
        self.two_calls()
        return self.buffers


class Ncnn:
    def load(self, model, x, threads):
        import ncnn
        self.net = net = ncnn.Net()
        o = net.opt
        o.num_threads = threads
        o.use_vulkan_compute = False
        for name in ("fp16_packed", "fp16_storage", "fp16_arithmetic", "bf16_storage", "bf16_packed"):
            if hasattr(o, f"use_{name}"):
                setattr(o, f"use_{name}", False)
        o.lightmode = o.use_winograd_convolution = o.use_sgemm_convolution = o.use_packing_layout = True
        if net.load_param(f"{model}.param") or net.load_model(f"{model}.bin"):
            raise RuntimeError("ncnn cannot load what pnnx made")
        self.input, self.outputs = net.input_names()[0], net.output_names()
        self.mat = ncnn.Mat(x[0]).clone()
        return self

    def extract(self):
        e = self.net.create_extractor()
        e.input(self.input, self.mat)
        out = []
        for name in self.outputs:
            status, y = e.extract(name)
            if status:
                raise RuntimeError(f"ncnn: extract {name}: {status}")
            out.append(y)
        return out

    def ways(self):
        return {"extract": self.extract}

    def first(self):
        return self.extract()


def timed(call, n):
    clock = time.perf_counter_ns
    times = [0] * n
    for i in range(n):
        start = clock()
        call()
        times[i] = clock() - start
    return times


def fastest(ways):
    """The way with the least time in a few trials; stops early on networks of seconds."""
    if len(ways) == 1:
        return next(iter(ways.items()))
    best = {}
    for _ in range(TRIALS):
        for name, call in ways.items():
            best[name] = min(timed(call, 1)[0], best.get(name, 1 << 62))
        if sum(best.values()) > 1e9:
            break
    name = min(best, key=best.get)
    return name, ways[name]


def main(peer, model, path, dims, threads, out):
    x = numpy.fromfile(path, "<f4").reshape([int(d) for d in dims.split("x")])
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    before = status_kib("VmRSS:")
    contender = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "ncnn": Ncnn}[peer]()
    __import__(peer)
    start = time.perf_counter_ns()
    contender.load(model, x, int(threads))
    loaded = time.perf_counter_ns()
    first = contender.first()
    done = time.perf_counter_ns()
    about = {"load_ms": (loaded - start) * 1e-6, "first_ms": (done - loaded) * 1e-6,
             "rss_kib": status_kib("VmHWM:") - before, "before_kib": before}
    os.makedirs(out, exist_ok=True)
    for i, y in enumerate(first):
        numpy.ascontiguousarray(numpy.array(y), dtype="<f4").tofile(f"{out}/{i}.raw")
    about["outputs"] = len(first)
    print(json.dumps(about), flush=True)
    call = None
    for line in sys.stdin:
        if not call:
            name, call = fastest(contender.ways())
            print(f"{peer}: {name}", file=sys.stderr, flush=True)
        print(json.dumps(timed(call, int(line))), flush=True)


main(*sys.argv[1:])
