#!/usr/bin/env python3
"""Our programs' times on a GPU beside PyTorch's: gpu_table.py OURS.json [PYTORCH.json], both a JSON object a line (lines that
begin with # are passed over). The ratio is theirs by ours: above 1 ours is faster. Then what shares of the GPU's arithmetic and
of a copy's rate the slowest of the large layers reach."""
import json
import math
import sys


def read(path):
    with open(path) as f:
        rows = [json.loads(line) for line in f if line.strip() and not line.startswith("#")]
    return {row["network"]: row for row in rows}


def beside(ours, theirs):
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
          "the GPU; off: largest difference from the CPU's output over the largest value.\n")


def percent(share):
    return f"{100 * share:.0f} %" if share else ""


def shares(ours):
    print("| network | ms a frame | GFLOP/s | launches | large convolutions, of multiply-adds | memory-bound layers, of a copy |")
    print("| --- | --: | --: | --: | --: | --: |")
    for name, e in ours.items():
        print(f"| {name} | {e['frame_ms']:.3f} | {e['gflops']:.0f} | {e['launches']} | {percent(e['large_conv_share'])} | "
              f"{percent(e['memory_bound_share'])} |")
    e = next(iter(ours.values()))
    print(f"\n{e['gpu']}: {e['most_gflops']:.0f} GFLOP/s of multiply-adds at the highest clock, {e['copy_gb_s']:.0f} GB/s read and "
          "written by a copy. Shares are the least of a network's layers of 200 MMAC or more, and of those that move 64 MiB or more; "
          "Winograd's work counts as the convolution's.")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    ours = read(sys.argv[1])
    if not ours:
        sys.exit("gpu_table: no figures")
    if len(sys.argv) == 3:
        beside(ours, read(sys.argv[2]))
    shares(ours)


if __name__ == "__main__":
    main()
