#!/usr/bin/env python3
"""Draws what quietframe bench --json measured: time a frame by filter, size or parameter, and where it went."""
import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def label(row):
    settings = row["settings"].split(" ", 1)
    extra = settings[1] if len(settings) > 1 else ""
    return f'{row["filter"]} {row["width"]}x{row["height"]} {row["backend"]} {extra}'.strip()


def main(source, target):
    with open(source) as f:
        rows = json.load(f)["rows"]
    labels = [label(r) for r in rows]
    places = range(len(rows))
    figure, axes = plt.subplots(figsize=(9, 1.2 + 0.3 * len(rows)))
    left = [0.0] * len(rows)
    for part, colour in (("upload_ms", "#8fb8de"), ("kernel_ms", "#2a6f97"), ("download_ms", "#f4a259")):
        values = [r[part] for r in rows]
        axes.barh(places, values, left=left, color=colour, label=part[:-3])
        left = [a + b for a, b in zip(left, values)]
    axes.plot([r["best_ms"] for r in rows], places, "k|", markersize=9, label="wall, best")
    axes.set_xscale("log")
    axes.set_yticks(list(places), labels, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("milliseconds a frame")
    axes.legend(loc="lower right", fontsize=7)
    figure.tight_layout()
    figure.savefig(target, metadata={"Software": None} if target.endswith(".png") else None)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: plot_bench.py NUMBERS.json PLOT.png|svg|pdf")
    main(*sys.argv[1:])
