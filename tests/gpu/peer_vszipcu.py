#!/usr/bin/env python3
"""Frame rates of non-local means beside vszipcu, the fastest public one, in one run on one GPU; copies to and from it included.

usage: peer_vszipcu.py FILTERS_BENCH [PAIR.npz]   FILTERS_BENCH: tests/filters-bench of a build with CUDA
Both get frames in ordinary host memory, stage them through pinned memory of their own, and give frames in host memory back.
Patch radius 2, search radius 7, the exponential weight. PAIR.npz: writes a frame and what vszipcu made of it, to compare with
`quietframe denoise --filter nlm --nlm-h 12 --nlm-centre-weight max`. Needs the wheels vapoursynth and vapoursynth-vszipcu, and
the CUDA toolkit's libnvrtc beside the plugin or the wheel nvidia-cuda-nvrtc. Exits with 77 where one is missing.
"""
import json
import subprocess
import sys
import time

import numpy as np

FORMATS = {"GRAY8": ("GRAY8", "Y"), "RGB": ("RGB24", "RGB")}
SIZES = [("GRAY8", 1920, 1080), ("RGB", 1920, 1080), ("GRAY8", 512, 512)]
PEER = dict(d=0, a=7, s=2, wmode=0, wref=1.0)


def peer_rate(vs, pixels, width, height, streams):
    """Frames per second of a clip whose one frame is asked for again and again, `streams` filtered at a time."""
    core = vs.core
    name, channels = FORMATS[pixels]
    warm_up = 50
    count = max(300, int(1.2e9 / (width * height * (3 if pixels == "RGB" else 1))))
    clip = core.std.BlankClip(width=width, height=height, format=getattr(vs, name), length=warm_up + count, keep=True)
    clip = core.vszipcu.NLMeans(clip, h=20.0, channels=channels, num_streams=streams, **PEER)
    start = 0.0
    for number, _ in enumerate(clip.frames(prefetch=2 * streams, close=True), 1):
        if number == warm_up:
            start = time.perf_counter()
    return count / (time.perf_counter() - start)


def our_rates(program):
    """(format, width, height, frames in flight) to frames per second."""
    pattern = r"^cuda/nlm/h=20( implementation=box search-radius=7)?/(GRAY8|RGB)/(1920x1080|512x512)/"
    found = subprocess.run([program, "--backend=cuda", f"--benchmark_filter={pattern}", "--benchmark_format=json", "--benchmark_min_time=0.5"],
                           capture_output=True, text=True, check=True)
    rates = {}
    for row in json.loads(found.stdout)["benchmarks"]:
        _, _, _, pixels, size, flight, *_ = row["name"].split("/")
        width, height = map(int, size.split("x"))
        rates[pixels, width, height, int(flight.split(":")[1])] = row["frames/s"]
    return rates


def filtered_pair(vs, path):
    rng = np.random.default_rng(2)
    y, x = np.mgrid[0:192, 0:256]
    levels = 110 + 40 * np.sin(x / 9) + 25 * np.cos(y / 7) + 20 * ((x // 16 + y // 16) % 2) + rng.normal(0, 10, (192, 256))
    codes = np.clip(np.rint(levels), 0, 255).astype(np.uint8)

    def fill(n, f):
        frame = f.copy()
        np.copyto(np.asarray(frame[0]), codes)
        return frame

    blank = vs.core.std.BlankClip(width=256, height=192, format=vs.GRAY8, length=1)
    clip = vs.core.vszipcu.NLMeans(blank.std.ModifyFrame(blank, fill), h=12.0, channels="Y", **PEER)
    np.savez(path, given=codes, made=np.asarray(clip.get_frame(0)[0]))


def main(program, pair=None):
    try:
        import vapoursynth as vs
        vs.core.vszipcu
    except (ImportError, AttributeError) as error:
        print("skipped:", error)
        return 77
    if pair:
        filtered_pair(vs, pair)
    ours = our_rates(program)
    print(f"{'frame':18} {'vszipcu, streams':>34}   {'quietframe, in flight':>30}   ratio of the best")
    for pixels, width, height in SIZES:
        peer = {n: peer_rate(vs, pixels, width, height, n) for n in (1, 2, 4, 8)}
        mine = {key[3]: rate for key, rate in ours.items() if key[:3] == (pixels, width, height)}
        print(f"{pixels} {width}x{height}".ljust(18), "  ".join(f"{n}: {r:.0f}/s" for n, r in peer.items()).rjust(34), " ",
              "  ".join(f"{n}: {r:.0f}/s" for n, r in sorted(mine.items())).rjust(30), " ", f"{max(mine.values()) / max(peer.values()):.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
