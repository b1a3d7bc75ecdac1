#!/usr/bin/env python3
"""Writes and draws how nlm's time grows with patch radius, search radius and frame size, direct and box.

usage: nlm_growth.py OUT.csv OUT.png [--bench FILTERS_BENCH] [--threads N] [--gpu GROWTH.csv]
--bench: runs that tests/filters-bench on the CPU (GRAY8, 512x512; sizes with search radius 3); its time is the CPU time of a
frame over all threads, which other work on the machine disturbs least. --gpu: what `filters-gpu-time growth` printed on a GPU
(kernel time; its gray 8-bit rows are drawn, sizes with search radius 7).
"""
import argparse
import csv
import json
import re
import subprocess

COLUMNS = ["backend", "law", "implementation", "patch_radius", "search_radius", "width", "height", "milliseconds"]
LAWS = [("patch", "patch_radius", "patch radius"), ("search", "search_radius", "search radius"), ("size", "width", "side of the frame")]
NAME = re.compile(r"cpu/nlm/h=20 implementation=(\w+)(?: (patch|search)-radius=(\d+))?/GRAY8/(\d+)x(\d+)/")


def measure_cpu(program, threads):
    """Rows of one run of filters-bench."""
    found = subprocess.run([program, f"--threads={threads}", "--benchmark_filter=^cpu/nlm/h=20 implementation=", "--benchmark_format=json",
                            "--benchmark_min_time=0.3"], capture_output=True, text=True, check=True)
    rows = []
    results = {result["name"]: result for result in json.loads(found.stdout)["benchmarks"]}  # 512x512 is there for two laws
    for result in results.values():
        how, which, radius, width, height = NAME.match(result["name"]).groups()
        row = {"backend": "cpu", "implementation": how, "patch_radius": 2, "search_radius": 7, "width": int(width), "height": int(height),
               "milliseconds": result["cpu_time"], "law": which}
        row[which + "_radius"] = int(radius)
        if which == "search" and int(radius) == 3:
            rows.append({**row, "law": "size"})
            if int(width) != 512:
                continue
        rows.append(row)
    return rows


def read_gpu(path):
    with open(path, newline="") as file:
        return [{**{k: row[k] for k in COLUMNS if k in row}, "backend": "cuda", "milliseconds": float(row["us"]) / 1000}
                for row in csv.DictReader(file) if row["format"] == "GRAY8"]


def draw(rows, path):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    backends = sorted({row["backend"] for row in rows})
    figure, axes = plt.subplots(len(backends), 3, figsize=(11, 3.3 * len(backends)), squeeze=False)
    for line, backend in zip(axes, backends):
        for axis, (law, key, label) in zip(line, LAWS):
            for how, style in (("direct", "o--"), ("box", "s-")):
                points = sorted({(int(r[key]), float(r["milliseconds"])) for r in rows
                                 if (r["backend"], r["law"], r["implementation"]) == (backend, law, how)})
                axis.plot(*zip(*points), style, label=how, markersize=4) if points else None
            axis.set_xlabel(label)
            axis.set_ylabel(f"ms a frame, {backend}")
            if law == "size":
                axis.set_xscale("log", base=2)
                axis.set_yscale("log")
            else:
                axis.set_ylim(bottom=0)
            axis.grid(alpha=0.3)
        line[0].legend()
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("csv")
    parser.add_argument("png")
    parser.add_argument("--bench")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--gpu")
    options = parser.parse_args()
    rows = (measure_cpu(options.bench, options.threads) if options.bench else []) + (read_gpu(options.gpu) if options.gpu else [])
    if not rows:
        parser.error("nothing to draw: give --bench, --gpu or both")
    with open(options.csv, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows({**row, "milliseconds": f"{float(row['milliseconds']):.4g}"} for row in rows)
    draw(rows, options.png)


if __name__ == "__main__":
    main()
