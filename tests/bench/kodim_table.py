#!/usr/bin/env python3
"""Prints the published comparison: kodim07 with Gaussian noise, PSNR and SSIM of four filters, and their times, as Markdown.

usage: kodim_table.py QUIETFRAME KODIM07.png [SIGMA=20.4]
kodim07 is of Kodak's Lossless True Color Image Suite (768x512, RGB). Noise is that of `quietframe noise`, seed 1, clipped to
8 bits. Filters run on every backend that can be used; times are medians of `quietframe bench` for one frame alone, copies
included. "published" is what avior-cuda prints for its own four filters at that sigma.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FILTERS = [
    ("gaussian", {"gaussian-sigma": 0.9}, 29.26),
    ("median", {"median-radius": 1}, 28.01),
    ("bilateral", {"bilateral-sigma-space": 2, "bilateral-sigma-range": 63.75}, 30.66),
    ("nlm", {"nlm-patch-radius": 2, "nlm-search-radius": 7, "nlm-h": 21.675}, 31.12),
]


def main(program, clean, sigma="20.4"):
    def run(*arguments, code=0):
        done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=300)
        if done.returncode != code:
            sys.exit(done.stderr.strip() or f"{program} {arguments[0]} ended with {done.returncode}")
        return done.stdout

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        noisy, out, numbers = folder / "noisy.png", folder / "out.png", folder / "bench.json"
        run("noise", clean, "--strength", sigma, "-o", noisy)

        def quality(picture):
            values = json.loads(run("metrics", picture, "--reference", clean, "--json"))
            return values["psnr"], values["ssim"]

        backends = ["cpu"]
        if subprocess.run([program, "denoise", str(noisy), "--filter", "gaussian", "--backend", "cuda", "-q", "-o", str(out)],
                          capture_output=True, timeout=300).returncode == 0:
            backends.append("cuda")
        print("| filter | " + " | ".join(f"PSNR, {b} | SSIM, {b} | ms, {b}" for b in backends) + " | published PSNR |")
        print("|---" * (2 + 3 * len(backends)) + "|")
        psnr, ssim = quality(noisy)
        print(f"| none | " + " | ".join(f"{psnr:.2f} | {ssim:.3f} | " for _ in backends) + " | 22.04 |")
        for name, parameters, published in FILTERS:
            flags = [f"--{key}={value}" for key, value in parameters.items()]
            sweeps = [word for key, value in parameters.items() for word in ("--sweep", f"{key}={value}")]
            cells = []
            for backend in backends:
                run("denoise", noisy, "--filter", name, *flags, "--backend", backend, "-q", "-o", out)
                run("bench", "--filter", name, *sweeps, "--size", "768x512", "--format", "RGB", "--backend", backend, "--runs", 7,
                    "--json", numbers)
                row = json.loads(numbers.read_text())["rows"][0]
                cells.append("{:.2f} | {:.3f} | {:.3g}".format(*quality(out), row["median_ms"]))
            print(f"| {name} | " + " | ".join(cells) + f" | {published} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
