#!/usr/bin/env python3
"""Runs nlm beside another program's non-local means, with parameters converted as docs/nlm.md says; they must agree.

usage: nlm_peers.py QUIETFRAME opencv|scikit-image|ffmpeg
Every comparison is made again with an h that is wrong by 5 %, which has to be noticed. Exits with 77 (skipped) where the
peer is not installed. Pixels that a border could reach are left out: each program continues an image in its own way.
"""
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
WRONG = (0.95, 1.05)

try:
    import numpy as np
except ImportError:
    np = None


def picture(channels, sigma=10.0):
    """Smooth shapes with edges and Gaussian noise: rows, columns, channels of uint8."""
    rng = np.random.default_rng(1)
    y, x = np.mgrid[0:96, 0:112]
    shapes = [110 + 35 * np.sin(x / (9 + c)) + 25 * np.cos(y / 7 + x / (23 - c)) + 20 * ((x // 16 + y // 16 + c) % 2)
              for c in range(channels)]
    levels = np.stack(shapes, axis=-1) + rng.normal(0, sigma, (96, 112, channels))
    return np.clip(np.rint(levels), 0, 255).astype(np.uint8)


class Quietframe:
    """nlm through the command line; pictures are PNM for codes and PFM for floats (1 is 255 levels)."""

    def __init__(self, program, folder):
        self.program, self.folder = program, pathlib.Path(folder)

    def nlm(self, levels, floats=False, **parameters):
        """Filters an array of codes 0 to 255; gives codes, or levels in float."""
        height, width, channels = levels.shape
        suffix = ".pfm" if floats else ".ppm" if channels == 3 else ".pgm"
        source, target = self.folder / ("in" + suffix), self.folder / ("out" + suffix)
        if floats:
            body = (levels[::-1] / 255).astype("<f4").tobytes()
            source.write_bytes(b"%s\n%d %d\n-1.0\n" % (b"PF" if channels == 3 else b"Pf", width, height) + body)
        else:
            source.write_bytes(b"P%d\n%d %d\n255\n" % (6 if channels == 3 else 5, width, height) + levels.tobytes())
        flags = [f"--nlm-{name.replace('_', '-')}={value}" for name, value in parameters.items()]
        subprocess.run([self.program, "denoise", source, "--filter", "nlm", "--backend", "cpu", "-q", *flags, "-o", target],
                       check=True, timeout=100)
        data = target.read_bytes()
        if floats:
            out = np.frombuffer(data[-levels.size * 4:], "<f4").reshape(levels.shape)[::-1]
            return out.astype(np.float64) * 255
        return np.frombuffer(data[-levels.size:], np.uint8).reshape(levels.shape)


class Report:
    failed = False

    def expect(self, holds, text):
        print("ok    " if holds else "FAILED", text)
        self.failed = self.failed or not holds


def interior(difference, margin):
    return np.abs(difference[margin:-margin, margin:-margin].astype(np.float64))


def compare_codes(report, name, ours, theirs, margin):
    """Codes are at most 1 apart, in at most 2 % of the samples; with h 5 % off, in more than 5 %."""
    off = {f: interior(ours(f).astype(int) - theirs.astype(int), margin) for f in (1.0, *WRONG)}
    share = {f: float(np.mean(d > 0)) for f, d in off.items()}
    report.expect(off[1.0].max() <= 1 and share[1.0] <= 0.02,
                  f"{name}: at most {off[1.0].max():.0f} code apart, in {100 * share[1.0]:.2f} % of the samples")
    for f in WRONG:
        report.expect(share[f] > 0.05, f"{name}: h times {f} is noticed, in {100 * share[f]:.1f} % of the samples")


def beside_opencv(ours, report):
    import cv2
    for channels in (1, 3):
        for h, p, s in ((12.0, 2, 5), (20.0, 2, 7), (20.0, 1, 4)):
            levels = picture(channels)
            theirs = cv2.fastNlMeansDenoising(levels, None, h, 2 * p + 1, 2 * s + 1).reshape(levels.shape)
            compare_codes(report, f"fastNlMeansDenoising h={h} {2 * p + 1} {2 * s + 1}, {channels} channels",
                          lambda f: ours.nlm(levels, h=h * f, patch_radius=p, search_radius=s), theirs, p + s)


def beside_ffmpeg(ours, report):
    for strength, p, s in ((8.0, 2, 5), (10.0, 2, 7), (14.0, 3, 4)):
        levels = picture(1)
        height, width, _ = levels.shape
        graph = f"nlmeans=s={strength}:p={2 * p + 1}:r={2 * s + 1}"
        raw = ["-f", "rawvideo", "-pixel_format", "gray", "-video_size", f"{width}x{height}"]
        done = subprocess.run(["ffmpeg", "-v", "error", *raw, "-i", "-", "-vf", graph, "-f", "rawvideo", "-"],
                              input=levels.tobytes(), capture_output=True, check=True, timeout=100)
        theirs = np.frombuffer(done.stdout, np.uint8).reshape(levels.shape)
        h = 10 * strength / (2 * p + 1)
        compare_codes(report, graph, lambda f: ours.nlm(levels, h=h * f, patch_radius=p, search_radius=s), theirs, p + s)


def skimage_odd(levels, h, sigma, p, s):
    """scikit-image's fast mode made to compare whole patches.

    Its window has 2 p samples a side, not 2 p + 1, and lies half a sample off. Of a picture whose pixels are doubled each
    way, a window of 2 (2 p + 1) holds every sample of a patch four times; displacements by half a pixel are made
    impossible by two more channels that tell odd rows and columns from even ones.
    """
    from skimage.restoration import denoise_nl_means
    side, channels = 2 * p + 1, levels.shape[2] + 2
    double = np.kron(levels / 255, np.ones((2, 2, 1)))
    y, x = np.mgrid[0:double.shape[0], 0:double.shape[1]]
    stack = np.dstack([double, 1e4 * (y % 2), 1e4 * (x % 2)])
    window = 2 * side + 1
    ratio = math.sqrt(4 * side * side * levels.shape[2] / (channels * window * window))
    out = denoise_nl_means(stack, window, 2 * s, h / 255 * ratio, sigma=sigma / 255 * math.sqrt(levels.shape[2] / channels),
                           fast_mode=True, channel_axis=-1)
    return out[::2, ::2, :-2] * 255


def beside_scikit_image(ours, report):
    from skimage.restoration import denoise_nl_means

    def rms(a, b, margin):
        return float(np.sqrt(np.mean(interior(a - b, margin) ** 2)))

    for channels, h, sigma, p, s in ((1, 20.0, 0.0, 2, 5), (3, 20.0, 0.0, 2, 4), (1, 30.0, 6.0, 2, 5), (1, 24.0, 0.0, 1, 4)):
        levels = picture(channels)
        theirs = skimage_odd(levels, h, sigma, p, s)
        off = {f: rms(ours.nlm(levels, True, h=h * f, sigma=sigma, patch_radius=p, search_radius=s), theirs, p + s)
               for f in (1.0, *WRONG)}
        name = f"whole patches, h={h} sigma={sigma} {2 * p + 1} {s}, {channels} channels"
        report.expect(off[1.0] <= 0.05, f"{name}: {off[1.0]:.3f} levels apart (root mean square)")
        for f in WRONG:
            report.expect(off[f] >= 2 * off[1.0], f"{name}: h times {f} is noticed, {off[f]:.3f} levels")

    # As a user calls it. The patches differ by a row and a column, which matters less the larger they are.
    for p, most in ((3, 0.9), (6, 0.4)):
        levels, s, h = picture(1), 5, 20.0
        given = h / 255 * 2 * p / (2 * p + 1)
        theirs = denoise_nl_means(levels[..., 0] / 255, 2 * p + 1, s, given, fast_mode=True)[..., np.newaxis] * 255
        apart = rms(ours.nlm(levels, True, h=h, patch_radius=p, search_radius=s), theirs, p + s)
        report.expect(apart <= most, f"patch_size={2 * p + 1}: {apart:.3f} levels apart (root mean square), at most {most}")


def missing(peer):
    if np is None:
        return "python3-numpy is not installed"
    if peer == "ffmpeg":
        return None if shutil.which("ffmpeg") else "ffmpeg is not installed"
    module, package = {"opencv": ("cv2", "python3-opencv"), "scikit-image": ("skimage", "python3-skimage")}[peer]
    try:
        __import__(module)
    except ImportError:
        return f"{package} is not installed"
    return None


def main(quietframe, peer):
    reason = missing(peer)
    if reason:
        print("skipped:", reason)
        return SKIPPED
    report = Report()
    compare = {"opencv": beside_opencv, "scikit-image": beside_scikit_image, "ffmpeg": beside_ffmpeg}[peer]
    with tempfile.TemporaryDirectory() as folder:
        compare(Quietframe(quietframe, folder), report)
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
