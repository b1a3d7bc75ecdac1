#!/usr/bin/env python3
"""Runs every filter over pictures of all depths again and again: the same bytes on any number of threads and on every run, and
between backends nothing more than one code value apart.

usage: determinism.py threads QUIETFRAME     on the CPU, and on the GPU where there is one, run after run
       determinism.py backends QUIETFRAME    prints how many samples differ between the backends; 77 (skipped) without a GPU
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = 77
# Of each filter, beside its defaults, settings that take other ways through it.
SETTINGS = {"gaussian": ["--gaussian-sigma 2.5"], "median": ["--median-radius 4", "--median-rank 20"],
            "bilateral": ["--bilateral-sigma-space 3"], "nlm": ["--nlm-implementation direct", "--nlm-implementation box --nlm-h 12"],
            "wavelet": ["--wavelet-levels 3 --wavelet-basis db4", "--wavelet-threshold garrote"]}
PICTURES = {"gray-8": ["brain", "8"], "gray-16": ["brain", "16"], "colour-8": ["target", "8"], "colour-16": ["target", "16"]}


def quietframe(program, *words):
    return subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=True).stdout


def filters(program):
    lines = quietframe(program, "filters", "--markdown").splitlines()[2:]
    return sorted({line.split("|")[1].strip() for line in lines} - {"all"})


def cases(program, folder):
    """Each picture with each filter's settings: a name, the picture and the words."""
    for name, (scene, depth) in PICTURES.items():
        picture = folder / f"{name}.png"
        quietframe(program, "synth", "--scene", scene, "--size", "197x131", "--depth", depth, "--seed", "3", "-o", picture)
        for f in filters(program):
            for more in ["", *SETTINGS.get(f, [])]:
                yield f"{name} {f} {more}".strip(), picture, ["--filter", f, *more.split()]


def has_gpu(program):
    return quietframe(program, "devices").startswith("cuda:")


def check_threads(program, folder):
    threads = sorted({1, 2, 3, 4, 7, os.cpu_count() or 1})
    ways = [["--backend", "cpu", "--threads", str(n)] for n in threads + threads[:2]]
    gpu = [["--backend", "cuda"]] * 3 if has_gpu(program) else []
    bad = count = 0
    for name, picture, words in cases(program, folder):
        for group in filter(None, (ways, gpu)):
            results = set()
            for way in group:
                quietframe(program, "denoise", picture, *words, *way, "-q", "-o", folder / "out.png")
                results.add((folder / "out.png").read_bytes())
            count += 1
            if len(results) != 1:
                bad += 1
                print(f"{name}: {len(results)} different results of {len(group)} runs ({' '.join(group[0][:2])})")
    print(f"{count} cases on {', '.join(map(str, threads))} threads{' and on the GPU' if gpu else ''}: {bad} differ from run to run")
    return 1 if bad or not count else 0


def check_backends(program, folder):
    if not has_gpu(program):
        print("skipped: " + quietframe(program, "devices").splitlines()[0])
        return SKIPPED
    bad = 0
    for name, picture, words in cases(program, folder):
        for backend in ("cpu", "cuda"):
            quietframe(program, "denoise", picture, *words, "--backend", backend, "-q", "-o", folder / f"{backend}.png")
        text = quietframe(program, "compare", folder / "cpu.png", folder / "cuda.png")
        differing, samples, most = re.match(r"(\d+) of (\d+) samples differ, by (\S+) of", text).groups()
        print(f"{name}: {differing} of {samples} samples differ, by {most} at most")
        bad += float(most) > (0 if words[1] == "median" else 1)
    print(f"{bad} cases are further apart than one code value (the median: than nothing)")
    return 1 if bad else 0


def main():
    what, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        return {"threads": check_threads, "backends": check_backends}[what](program, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
