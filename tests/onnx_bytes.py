"""Fields of an ONNX file, which is a protocol buffer, as bytes: f is a field's number in graph/onnx.proto."""


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def num(f, n):
    return varint(f << 3) + varint(n)


def txt(f, b):
    b = b.encode() if isinstance(b, str) else b
    return varint(f << 3 | 2) + varint(len(b)) + b


def value(name, *dims):
    """ValueInfoProto of a float tensor, an input (11) or output (12) of a graph."""
    return txt(1, name) + txt(2, txt(1, num(1, 1) + txt(2, b"".join(txt(1, num(1, d)) for d in dims))))
