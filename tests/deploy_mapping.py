"""A mapping of a network's layers to keys: deploy_mapping.py net.onnx SEED KEY... >mapping.json

Seed 0 gives every key a piece of the same length, a negative seed one piece of any length, others layers here and there.
"""
import json
import random
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, value) of a protobuf message; values of fixed size are left out."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
            yield tag >> 3, value
        elif tag & 7 == 2:
            size, at = varint(data, at)
            yield tag >> 3, data[at:at + size]
            at += size
        else:
            at += 8 if tag & 7 == 1 else 4


def layers(path):
    """Names of the nodes of ModelProto.graph that are no constants."""
    with open(path, "rb") as f:
        model = memoryview(f.read())
    for number, graph in fields(model):
        if number != 7:
            continue
        for kind, node in fields(graph):
            if kind == 1:
                of = dict(fields(node))
                if bytes(of[4]) != b"Constant":
                    yield bytes(of[3]).decode()


def main():
    path, seed, keys = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    rng = random.Random(seed)
    names = list(layers(path))
    mapping = {key: [] for key in keys}
    cuts = sorted(rng.sample(range(1, len(names)), len(keys) - 1)) if seed < 0 else []
    for i, name in enumerate(names):
        if seed < 0:
            key = keys[sum(cut <= i for cut in cuts)]
        elif seed == 0:
            key = keys[i * len(keys) // len(names)]
        elif i < len(keys):  # nobody goes without
            key = keys[i]
        elif rng.random() < 0.2:
            key = rng.choice(keys)
        mapping[key].append(name)
    json.dump(mapping, sys.stdout, indent=1)


main()
