"""An ONNX file as plain Python and numpy, of the protobuf's bytes alone: a machine with a GPU may have torch and no onnx."""
import struct

import numpy

FLOAT, INT32, INT64 = 1, 6, 7
TYPES = {FLOAT: numpy.float32, INT32: numpy.int32, INT64: numpy.int64, 9: numpy.bool_, 11: numpy.float64}


class Node:
    """op, inputs, outputs (names, "" where left out), attributes by name."""

    def __init__(self, op, inputs, outputs, attributes):
        self.op, self.inputs, self.outputs, self.attributes = op, inputs, outputs, attributes

    def get(self, name, default=None):
        return self.attributes.get(name, default)


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """(number, value) of a message: an integer, or bytes."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def integers(value):
    """Of a repeated field, packed or not; signed."""
    if isinstance(value, int):
        return [value - (value >> 63 << 64)]
    out, at = [], 0
    while at < len(value):
        n, at = varint(value, at)
        out.append(n - (n >> 63 << 64))
    return out


def floats(value):
    return list(struct.unpack(f"<{len(value) // 4}f", value))


def tensor(data):
    dims, kind, name, raw, numbers = [], FLOAT, "", None, []
    for number, value in fields(data):
        if number == 1:
            dims += integers(value)
        elif number == 2:
            kind = value
        elif number == 4:
            numbers += floats(value)
        elif number in (5, 7):
            numbers += integers(value)
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9:
            raw = value
    array = numpy.frombuffer(raw, TYPES[kind]) if raw is not None else numpy.array(numbers, TYPES[kind])
    return name, array.reshape(dims)


def attribute(data):
    name, value, many = "", None, []
    for number, field in fields(data):
        if number == 1:
            name = bytes(field).decode()
        elif number == 2:
            value = floats(field)[0]
        elif number == 3:
            value = integers(field)[0]
        elif number == 4:
            value = bytes(field).decode()
        elif number == 5:
            value = tensor(field)[1]
        elif number == 7:
            many += floats(field)
        elif number == 8:
            many += integers(field)
    return name, many or value


def node(data):
    inputs, outputs, op, attributes = [], [], "", {}
    for number, value in fields(data):
        if number == 1:
            inputs.append(bytes(value).decode())
        elif number == 2:
            outputs.append(bytes(value).decode())
        elif number == 4:
            op = bytes(value).decode()
        elif number == 5:
            key, attributes_value = attribute(value)
            attributes[key] = attributes_value
    return Node(op, inputs, outputs, attributes)


def value_info(data):
    """Name and dims; 0 where a dim has no number."""
    parts = dict(fields(data))
    shape = dict(fields(dict(fields(parts[2]))[1])).get(2, b"") if 2 in parts else b""
    dims = [dict(fields(value)).get(1, 0) for number, value in fields(shape) if number == 1]
    return bytes(parts[1]).decode(), dims


def read(path):
    """nodes (in order), constants by name, inputs (name, dims), outputs (names)."""
    with open(path, "rb") as f:
        model = memoryview(f.read())
    graph = dict(fields(model))[7]
    nodes, constants, inputs, outputs = [], {}, [], []
    for number, value in fields(graph):
        if number == 1:
            nodes.append(node(value))
        elif number == 5:
            name, array = tensor(value)
            constants[name] = array
        elif number == 11:
            inputs.append(value_info(value))
        elif number == 12:
            outputs.append(value_info(value)[0])
    for n in [n for n in nodes if n.op == "Constant"]:
        constants[n.outputs[0]] = numpy.asarray(n.get("value"))
        nodes.remove(n)
    return nodes, constants, [i for i in inputs if i[0] not in constants], outputs
