#!/usr/bin/env python3
"""Our programs' times on a GPU beside PyTorch's: gpu_table.py OURS.json PYTORCH.json, both a JSON object a line (lines that
begin with # are passed over). The ratio is theirs by ours: above 1 ours is faster."""
import json
import math
import sys


def read(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f if line.strip() and not line.startswith("#")]
    return {row["network"]: row for row in rows}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    ours, theirs = (read(path) for path in sys.argv[1:])
    both = [name for name in ours if name in theirs]
    if not both:
        sys.exit("gpu_table: no network is in both files")
    print("| ms a frame | ingot | launches | PyTorch | its best | ratio | ingot off | PyTorch off |")
    print("| --- | --: | --: | --: | --- | --: | --: | --: |")
    logs = []
    for name in both:
        mine, peer = ours[name], theirs[name]
        ratio = peer["frame_ms"] / mine["frame_ms"]
        logs.append(math.log(ratio))
        print(f"| {name} | {mine['frame_ms']:.3f} | {mine['launches']} | {peer['frame_ms']:.3f} | {peer['best']} | {ratio:.2f} | "
              f"{mine['difference']:.1g} | {peer['difference']:.1g} |")
    print(f"| geometric mean | | | | | {math.exp(sum(logs) / len(logs)):.2f} | | |")
    peer = theirs[both[0]]
    print(f"\n{peer['gpu']}; PyTorch {peer['torch']}, cuDNN {peer['cudnn']}, fp32 without TF32; medians, without copies to and from "
          "the GPU; off: largest difference from the CPU's output over the largest value.")


if __name__ == "__main__":
    main()
