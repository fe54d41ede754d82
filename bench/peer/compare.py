"""Do the contenders compute the same?"""
import array
import ast


def read_raw(path):
    values = array.array("f")
    with open(path, "rb") as f:
        values.frombytes(f.read())
    return values


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 10 + int.from_bytes(data[8:10], "little")
    header = ast.literal_eval(data[10:at].decode())
    assert header["descr"] == "<f4" and not header["fortran_order"], header
    values = array.array("f")
    values.frombytes(data[at:])
    return values


def difference(ours, theirs):
    """The largest |a-b| over the largest |a|, over all outputs; None where they do not even have the same sizes. Where
    a peer names its outputs anew, one of the same size that fits best is taken."""
    worst, left = 0, list(theirs)
    for a in ours:
        fits = [(distance(a, b), i) for i, b in enumerate(left) if len(a) == len(b)]
        if not fits:
            return None
        d, i = min(fits)
        left.pop(i)
        worst = max(worst, d)
    return worst


def distance(a, b):
    largest = max(map(abs, a))
    d = max(abs(x - y) for x, y in zip(a, b))
    return d / largest if largest else d
