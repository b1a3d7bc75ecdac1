#!/usr/bin/env python3
"""Denoises a folder of 200 pictures of mixed sizes, depths, colours and formats on each backend, and prints how many a second.

usage: folder.py QUIETFRAME FOLDER [denoise's words...]
The pictures are made in FOLDER, and used again where they are there. Lines end as quietframe denoise prints them: with the
share of the time in which the backend ran kernels and copies, and in which it waited.
"""
import pathlib
import random
import subprocess
import sys

GROUP = 8  # pictures of one kind
KINDS = [(scene, size, depth, suffix) for scene, size, depth, suffix in [
    ("target", "640x480", "8", "png"), ("target", "1280x720", "8", "png"), ("target", "1920x1080", "8", "ppm"), ("target", "801x601", "8", "tif"),
    ("target", "1024x768", "16", "png"), ("target", "640x512", "16", "tif"), ("target", "333x251", "8", "png"), ("sector", "800x600", "8", "png"),
    ("sector", "640x480", "8", "pgm"), ("sector", "1024x768", "8", "png"), ("ultrasound", "512x512", "8", "png"), ("ultrasound", "820x616", "8", "pgm"),
    ("ultrasound", "1234x688", "8", "tif"), ("brain", "256x256", "8", "png"), ("brain", "512x512", "16", "png"), ("brain", "128x128", "16", "tif"),
    ("brain", "1024x1024", "16", "pgm"), ("brain", "484x484", "16", "png"), ("target", "1920x1080", "8", "png"), ("target", "1920x1080", "16", "ppm"),
    ("sector", "1920x1080", "8", "png"), ("brain", "64x64", "8", "png"), ("target", "100x75", "8", "png"), ("target", "2560x1440", "8", "ppm"),
    ("ultrasound", "975x735", "8", "png")]]


def make(program, folder):
    folder.mkdir(parents=True, exist_ok=True)
    order = list(range(len(KINDS) * GROUP))
    random.Random(1).shuffle(order)
    for kind, (scene, size, depth, suffix) in enumerate(KINDS):
        subprocess.run([program, "synth", "--scene", scene, "--size", size, "--depth", depth, "--frames", str(GROUP),
                        "-o", str(folder / f"k.{suffix}")], check=True)
        for i in range(GROUP):
            (folder / f"k_{i:04}.{suffix}").rename(folder / f"{order[kind * GROUP + i]:03}.{suffix}")


def main():
    program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    if not folder.is_dir():
        make(program, folder)
    count = sum(p.is_file() for p in folder.iterdir())
    has_cuda = subprocess.run([program, "devices"], capture_output=True, text=True, check=True).stdout.startswith("cuda:")
    for backend in ["cuda"] * has_cuda + ["cpu"]:
        for run in range(3):
            lines = subprocess.run([program, "denoise", str(folder), "--backend", backend, *sys.argv[3:]], capture_output=True, text=True,
                                   check=True).stdout.splitlines()
            if run == 0:
                print(f"{lines[0]}; {count} pictures, {len(lines) - 2} lines as: {lines[1]}")
            print(f"{backend}: {lines[-1]}", flush=True)


if __name__ == "__main__":
    main()
