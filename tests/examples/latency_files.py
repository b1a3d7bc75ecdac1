#!/usr/bin/env python3
"""What the latency program writes: table, samples, timeline and histogram agree; Ctrl-C ends a run with its table.

usage: latency_files.py LATENCY HISTOGRAM.py
"""
import csv
import importlib.util
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

VIDEOS = ["64x48:GRAY8", "32x18:P010_10LE"]
PARTS = ["gaussian", "identity"]
COMMON = ["--filter", "gaussian", "--backend", "cpu", "--warmup", "0.1"]


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def check(what, truth):
    if not truth:
        sys.exit(f"not so: {what}")


def main():
    latency, histogram = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = {kind: str(folder / f"{kind}.csv") for kind in ("csv", "samples", "timeline")}
        said = subprocess.run(
            [latency, "--video", ",".join(VIDEOS), *COMMON, "--side-by-side", "--phase", "0.5", "--against", "identity",
             "--seconds", "1.2", "--window", "0.5", *(a for kind, path in files.items() for a in (f"--{kind}", path))],
            check=True, capture_output=True, text=True).stdout
        whole = [r for r in rows(files["csv"]) if r["leg"] == "whole"]
        check("a row for every part and video, all sizes of a part together",
              [(r["part"], r["video"]) for r in whole] == [(p, v) for p in PARTS for v in VIDEOS])
        check("the table names them too", all(f"{v} {p}" in said for v in VIDEOS for p in PARTS))
        samples, timeline = rows(files["samples"]), rows(files["timeline"])
        for row in whole:
            arrived = int(row["frames"]) - int(row["drops"])
            case = [float(s["us"]) for s in samples if s["case"] == f"{row['video']} {row['part']}"]
            check("as many samples as frames", len(case) == arrived)
            check("the largest is the maximum", abs(max(case) - float(row["max_us"])) < 0.11)
            windows = [t for t in timeline if (t["part"], t["video"]) == (row["part"], row["video"])]
            check("the timeline has a line for every window", [float(t["second"]) for t in windows][:3] == [0, 0.5, 1])
            check("and all frames are in it", sum(int(t["frames"]) for t in windows) == int(row["frames"]))
        if importlib.util.find_spec("matplotlib"):
            subprocess.run([sys.executable, histogram, files["samples"], str(folder / "histogram.png")], check=True)
            check("the histogram is a PNG", (folder / "histogram.png").read_bytes().startswith(b"\x89PNG"))

        process = subprocess.Popen([latency, "--video", VIDEOS[0], *COMMON, "--seconds", "600"], stdout=subprocess.PIPE, text=True)
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
        check("Ctrl-C prints the row", f"{VIDEOS[0]} gaussian" in said and process.returncode == 0)


if __name__ == "__main__":
    main()
