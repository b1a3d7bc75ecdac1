#!/usr/bin/env python3
"""Runs the commands over every picture of a folder of real ones, as somebody who tries filters on their own would.

usage: data.py QUIETFRAME FOLDER [-v]
Each still that quietframe reads is denoised, made noisy, cropped, measured and compared; others must be refused in one line.
Exits with 77 (skipped) where the folder is missing.
"""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
CLIPS = {".y4m", ".yuv", ".mp4", ".264", ".mha"}


class Failed(Exception):
    pass


def run(program, *words, code=0):
    result = subprocess.run([program, *map(str, words)], capture_output=True, text=True, errors="replace", timeout=300)
    if result.returncode != code:
        raise Failed(f"{' '.join(map(str, words))}: {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def try_all(program, path, scratch):
    """One picture through the commands; returns what is worth a line."""
    clean, noisy, out = scratch / "clean.tif", scratch / "noisy.tif", scratch / "out.tif"
    run(program, "denoise", path, "--filter", "none", "-q", "-o", clean)
    if not run(program, "compare", path, clean).startswith("0 of"):
        raise Failed("--filter none changed samples")
    run(program, "noise", path, "--type", "gaussian", "--strength", "12", "--seed", "3", "-o", noisy)
    before = json.loads(run(program, "metrics", noisy, "--reference", clean, "--roi", "0,0,7,7", "--json"))
    best = 0
    for name in ("gaussian", "median", "bilateral", "nlm", "wavelet"):
        run(program, "denoise", noisy, "--filter", name, "-q", "-o", out)
        after = json.loads(run(program, "metrics", out, "--reference", clean, "--json"))
        best = max(best, after["psnr"] or 0)
    run(program, "crop", path, "--rect", "1,2,7,7", "-o", scratch / "crop.tif")
    run(program, "compare", clean, out, "-o", scratch / "side.png", "-d", scratch / "difference.png")
    return f"{before['psnr']:.2f} dB noisy, {best:.2f} dB by the best filter", best > before["psnr"]


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if not sys.argv[2] or not folder.is_dir():
        print(f"skipped: there is no folder '{sys.argv[2]}'")
        return SKIPPED
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix.lower() not in CLIPS):
            result = subprocess.run([program, "denoise", str(path), "--filter", "none", "-q", "-o", f"{scratch}/x.tif"], capture_output=True,
                                    text=True, errors="replace", timeout=300)
            if result.returncode == 3 and len(result.stderr.strip().splitlines()) == 1:
                verdict, text = "refused", result.stderr.strip()
            else:
                try:
                    text, better = try_all(program, path, pathlib.Path(scratch))
                    verdict = "better" if better else "no better"
                except Failed as error:
                    verdict, text = "FAILED", str(error)
            counts[verdict] += 1
            if verdict.isupper() or "-v" in sys.argv:
                print(f"{verdict:9} {path.relative_to(folder)} {text}", flush=True)
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return 1 if counts["FAILED"] or not counts else 0


if __name__ == "__main__":
    sys.exit(main())
