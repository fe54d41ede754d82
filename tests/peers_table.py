"""The tables of bench/peers: ratios, merging, Markdown. usage: peers_table.py srcdir"""
import copy
import os
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(sys.argv[1], "bench"))
from peer import compare, contest, table  # noqa: E402


def entry(network, threads, order, ours, *peers):
    contenders = {"ingot": {"median_ms": ours}}
    for name, ms in zip(table.PEERS, peers):
        contenders[name] = {"median_ms": ms, "difference": 1e-6} if ms else {"error": "no such op"}
    starts = {"ingot": {"exec_ms": 5.0, "rss_kib": 2048}, "ncnn": {"load_ms": 6.0, "first_ms": 4.0, "rss_kib": 1024}}
    return {"network": network, "threads": threads, "order": order, "contenders": contenders, "starts": starts,
            "macs": 1e8, "peak_gflops": 100.0, "stream_gbs": 10.0, "traffic_bytes": 4e6, "binary_bytes": 10**6,
            "cpu": "a CPU", "date": "2024-01-02T03:04:05", "versions": {"ncnn": "1"}}


a, b = entry("a", 1, 1, 4.0, 8.0, 5.0, None), entry("b", 1, 0, 2.0, 1.0, 3.0, 4.0)
assert table.fastest(a) == (5.0, "openvino") and table.ratio(a) == 0.8 and table.ratio(b) == 2.0
assert table.start_ratio(a) == 0.5 and table.calm_ratio(a) is None
assert table.calm_ratio({"contenders": {"ingot": {"p10_ms": 3.0}, "ncnn": {"p10_ms": 2.0}, "openvino": {}}}) == 1.5
assert abs(table.share_of_peak(a) - 0.5) < 1e-12
assert table.share_of_stream(a) is None, "bound by arithmetic"
slow = dict(a, traffic_bytes=3e7)
assert abs(table.share_of_stream(slow) - 0.75) < 1e-12

results = table.read(None)
for e in (a, b, copy.deepcopy(a)):
    table.merge(results, e)
assert [e["network"] for e in results["results"]] == ["b", "a"], "each once, in the zoo's order"
table.merge(results, entry("a", 1, 1, 10.0, 8.0, 5.0, 9.0))
assert table.ratio(results["results"][1]) == 2.0, "the new one replaces the old one"
table.merge(results, entry("a", 2, 1, 1.0, None, None, None))
words = "\n".join(table.verdict([a, b]))
assert "geometric mean of ingot / fastest peer 1.265 over 2 networks; above 1: b 2.00" in words, words
assert "ncnn cannot run it: no such op" in words, words

with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/r.json"
    table.write(results, path)
    assert table.read(path) == results
    page = f"{folder}/page.md"
    for _ in range(2):
        if not os.path.exists(page):
            with open(page, "w") as f:
                f.write(f"before\n{table.BEGIN}\n{table.END}\nafter\n")
        table.update(page, table.markdown_brief(results))
        table.update(page, table.markdown_full(results))
    with open(page) as f:
        text = f.read()
    assert text.startswith("before\n") and text.endswith("\nafter\n") and text.count("| a | 2 |") == 2, text

assert table.number(1234.5) == "1234" or table.number(1234.5) == "1235"
assert table.number(0.12345) == "0.123" and table.number(12.345) == "12.3" and table.number(None) == "-"
assert compare.difference([[1.0, -2.0]], [[1.0, -2.0]]) == 0
assert compare.difference([[1.0, -2.0], [4.0]], [[4.0], [1.0, -1.9]]) > 0.04
assert compare.difference([[1.0]], [[1.0, 2.0]]) is None


class Options:
    runs, seconds, slow, most = 30, 3, 20, 2000


assert contest.iterations(1, Options) == 2000 and contest.iterations(10, Options) == 300
assert contest.iterations(500, Options) == 30 and contest.iterations(1000, Options) == 20
assert contest.iterations(9000, Options) == 10
assert contest.summary([3000000, 1000000, 2000000])["median_ms"] == 2
