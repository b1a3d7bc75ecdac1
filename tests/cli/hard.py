#!/usr/bin/env python3
"""Feeds quietframe a folder of hostile files: each is decoded to ImageMagick's pixels, or refused in one line.

DICOM files are compared with pydicom's stored values where that is installed: ImageMagick shows them through a window.

usage: hard.py QUIETFRAME FOLDER [-v]
Exits with 77 (skipped) where the folder or ImageMagick is missing. Run it with a sanitizer build as well.
"""
import collections
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
KNOWN_CODES = {0, 3}  # decoded, refused


def find_imagemagick():
    # A distribution's own name first: "convert" alone may be anything.
    for name in ("convert-im6.q16", "magick", "convert"):
        path = shutil.which(name)
        if path and "ImageMagick" in subprocess.run([path, "-version"], capture_output=True, text=True).stdout:
            return path
    return None


def pixels(convert, path):
    """16-bit RGBA of the first picture and its size, or None where ImageMagick cannot read it."""
    size = subprocess.run([convert, f"{path}[0]", "-format", "%w %h", "info:"], capture_output=True, text=True, timeout=60)
    data = subprocess.run([convert, f"{path}[0]", "-set", "colorspace", "sRGB", "-depth", "16", "rgba:-"], capture_output=True, timeout=60)
    if size.returncode or data.returncode or not data.stdout:
        return None
    return size.stdout.split(), data.stdout


def run(quietframe, path, target):
    try:
        return subprocess.run([quietframe, "denoise", str(path), "--filter", "none", "-q", "-o", str(target)],
                              capture_output=True, text=True, errors="replace", timeout=60)
    except subprocess.TimeoutExpired:
        return None


def is_dicom(path):
    with open(path, "rb") as f:
        return f.read(132)[128:] == b"DICM"


def dicom_values(path):
    """The stored values as 16-bit big endian text, the least of signed ones at 0; None where pydicom cannot read them."""
    try:
        import numpy
        import pydicom
        data = pydicom.dcmread(path)
        if data.BitsAllocated == 8 and data["PixelData"].VR == "OW" and not data.is_little_endian:
            return None  # which pydicom 2.3 does not swap
        values = data.pixel_array.astype(numpy.int64)
        if data.SamplesPerPixel == 1 and data.PhotometricInterpretation.startswith("MONOCHROME"):
            top = 2 ** data.BitsStored - 1
            values = (values & top) ^ (data.PixelRepresentation << (data.BitsStored - 1))
            if data.PhotometricInterpretation == "MONOCHROME1":
                values = top - values
        elif data.PhotometricInterpretation != "RGB":
            return None
        return values.astype(">u2").tobytes()
    except Exception:  # whatever pydicom makes of a damaged file
        return None


def pam_values(path):
    import numpy
    head, samples = path.read_bytes().split(b"ENDHDR\n", 1)
    top = int(head.split(b"MAXVAL ")[1].split()[0])
    return numpy.frombuffer(samples, ">u2" if top > 255 else "u1").astype(">u2").tobytes()


def judge_dicom(quietframe, path, target):
    if run(quietframe, path, target.with_suffix(".pam")).returncode:
        return "DIFFERS", "can be written as PNG, but not as PAM"
    theirs = dicom_values(path)
    if theirs is None:
        return "only us", "pydicom cannot read it, or has other colours"
    return ("equal", "") if theirs == pam_values(target.with_suffix(".pam")) else ("DIFFERS", "from pydicom's values")


def judge(quietframe, convert, path, target):
    result = run(quietframe, path, target)
    if result is None:
        return "HANG", "no answer in 60 s"
    lines = result.stderr.strip().splitlines()
    if result.returncode not in KNOWN_CODES:
        return "CRASH", f"exit code {result.returncode}: {' '.join(lines[:3])}"
    if result.returncode:
        if len(lines) != 1 or str(path) not in lines[0]:
            return "CRASH", f"{len(lines)} lines instead of one that names the file: {' '.join(lines[:3])}"
        if target.exists():
            return "CRASH", "refused, but a file was written"
        return "refused", lines[0]
    if is_dicom(path):
        return judge_dicom(quietframe, path, target)
    theirs, ours = pixels(convert, path), pixels(convert, target)
    if theirs is None:
        return "only us", "ImageMagick cannot read it"
    if ours != theirs:
        return "DIFFERS", f"{ours[0] if ours else None} and {theirs[0]}, or their pixels"
    return "equal", ""


def main():
    quietframe, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    verbose = "-v" in sys.argv
    convert = find_imagemagick()
    if not sys.argv[2] or not folder.is_dir() or not convert:
        print(f"skipped: there is no folder '{sys.argv[2]}'" if convert else "skipped: ImageMagick is not there")
        return SKIPPED
    counts, bad = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as scratch:
        for path in sorted(p for p in folder.rglob("*") if p.is_file()):
            target = pathlib.Path(scratch) / "out.png"
            target.unlink(missing_ok=True)
            verdict, why = judge(quietframe, convert, path, target)
            counts[verdict] += 1
            failed = verdict.isupper()
            bad += failed
            if failed or verbose:
                print(f"{verdict:8} {path.relative_to(folder)} {why}")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return 1 if bad or not counts else 0


if __name__ == "__main__":
    os.environ.setdefault("ASAN_OPTIONS", "allocator_may_return_null=0")
    sys.exit(main())
