#!/usr/bin/env python3
"""Our programs' times on a GPU beside PyTorch's: gpu_table.py OURS.json [PYTORCH.json], both a JSON object a line (lines that
begin with # are passed over). The ratio is theirs by ours: above 1 ours is faster. Then what shares of the GPU's arithmetic and
of a copy's rate the slowest of the large layers reach, and what share of the latter every kernel that memory bounds."""
import json
import math
import sys


def read(path):
    with open(path) as f:
        return [json.loads(line) for line in f if line.strip() and not line.startswith("#")]


def networks(rows):
    return {row["network"].replace(".", "_"): row for row in rows if row.get("network", "wide") != "wide"}


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
    precision = "halves" if peer.get("precision") == "half" else "fp32 without TF32"
    print(f"\n{peer['gpu']}; PyTorch {peer['torch']}, cuDNN {peer['cudnn']}, {precision}; medians, without copies to and from "
          "the GPU; off: largest difference from the CPU's output over the largest value.\n")


def percent(share):
    return f"{100 * share:.0f} %" if share else ""


def shares(ours):
    print("| network | ms a frame | GFLOP/s | launches | convolutions of 1 GMAC, of multiply-adds | of 200 MMAC | memory-bound layers, of a copy |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for name, e in ours.items():
        print(f"| {name} | {e['frame_ms']:.3f} | {e['gflops']:.0f} | {e['launches']} | {percent(e['large_conv_share'])} | "
              f"{percent(e.get('middle_conv_share'))} | "
              f"{percent(e['memory_bound_share'])} |")
    e = next(iter(ours.values()))
    print(f"\n{e['gpu']}: {e['most_gflops']:.0f} GFLOP/s of multiply-adds at the highest clock, {e['copy_gb_s']:.0f} GB/s read and "
          "written by a copy. Shares are the least of a network's layers of 1 GMAC, of 200 MMAC or more, and of those that move 64 MiB or more; "
          "Winograd's work counts as the convolution's.")


def wide(rows, whole):
    print("| layer | kernel | MiB moved | µs | GB/s | of a copy |")
    print("| --- | --- | --: | --: | --: | --: |")
    for e in rows:
        print(f"| {e['wide']} | `{e['kernel']}` | {e['mib']:.0f} | {e['us']:.1f} | {e['gb_s']:.0f} | {percent(e['share'])} |")
    if whole:
        print(f"\n{whole['gpu']}: {whole['copy_gb_s']:.0f} GB/s read and written by a copy; the fastest kernel of each layer; the "
              f"least share is {percent(whole['memory_bound_share'])}, of {whole['slowest']}.")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    rows = read(sys.argv[1])
    ours, layers = networks(rows), [row for row in rows if "wide" in row]
    if not ours and not layers:
        sys.exit("gpu_table: no figures")
    if ours and len(sys.argv) == 3:
        beside(ours, networks(read(sys.argv[2])))
    if ours:
        shares(ours)
    if ours and layers:
        print()
    if layers:
        wide(layers, next((row for row in rows if row.get("network") == "wide"), None))


if __name__ == "__main__":
    main()
