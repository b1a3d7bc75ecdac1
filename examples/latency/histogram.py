#!/usr/bin/env python3
"""Draws the latencies that `latency --samples FILE` wrote as histograms, one curve a case.

usage: histogram.py SAMPLES.csv OUT.png      (needs python3-matplotlib and python3-numpy)
"""
import csv
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    cases = {}
    with open(sys.argv[1], newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            cases.setdefault(row["case"], []).append(float(row["us"]))
    if not cases:
        sys.exit(f"{sys.argv[1]} holds no samples")
    everything = np.concatenate([np.asarray(us) for us in cases.values()])
    bins = np.geomspace(max(everything.min(), 1.0), everything.max() * 1.01, 120)
    figure, axes = plt.subplots(figsize=(10, 5.5))
    for name, us in cases.items():
        axes.hist(us, bins=bins, histtype="step", linewidth=1.4,
                  label=f"{name}: p50 {np.percentile(us, 50):.0f}, p99 {np.percentile(us, 99):.0f}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("latency through the pipeline, microseconds")
    axes.set_ylabel("frames")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3, which="both")
    figure.tight_layout()
    figure.savefig(sys.argv[2], dpi=120)


if __name__ == "__main__":
    main()
