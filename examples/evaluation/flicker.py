#!/usr/bin/env python3
"""Measures flicker: how much the noise estimate, the strength and the mean level change from frame to frame, exact against smoothed.

On a clip (.mha, .npy, or what OpenCV reads) and on a still phantom that has new noise in each frame. Frame-to-frame standard deviation
is that of the differences between neighbours.

usage: flicker.py [--build BUILD] [--output FOLDER] [CLIP...]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import zlib

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import evaluate  # noqa: E402
import tables  # noqa: E402


def read_mha(path):
    """Frames of a MetaImage of 8-bit gray frames, and their rate from its time stamps where it has some."""
    blob = path.read_bytes()
    end = blob.index(b"\n", blob.index(b"ElementDataFile"))
    head = dict(line.split(" = ", 1) for line in blob[:end].decode("latin1").splitlines() if " = " in line)
    if head["ElementType"].strip() != "MET_UCHAR" or head["ElementDataFile"].strip() != "LOCAL":
        raise SystemExit(f"error: {path} is no MetaImage of 8-bit samples in one file")
    data = blob[end + 1:]
    if head.get("CompressedData", "False").strip() == "True":
        data = zlib.decompressobj().decompress(data)
    width, height = map(int, head["DimSize"].split()[:2])
    frames = np.frombuffer(data[:len(data) // (width * height) * width * height], np.uint8).reshape(-1, height, width)
    stamps = [float(value) for key, value in head.items() if key.startswith("Seq_Frame") and key.endswith("_Timestamp")]
    rate = (len(stamps) - 1) / (stamps[-1] - stamps[0]) if len(stamps) > 1 and stamps[-1] > stamps[0] else 25
    return frames, rate


def read_video(path):
    import cv2

    video = cv2.VideoCapture(str(path))
    frames = []
    while (read := video.read())[0]:
        frames.append(cv2.cvtColor(read[1], cv2.COLOR_BGR2GRAY))
    if not frames:
        raise SystemExit(f"error: {path} cannot be read as video")
    return np.stack(frames), video.get(cv2.CAP_PROP_FPS) or 25


def read_clip(path):
    if path.suffix == ".mha":
        return read_mha(path)
    if path.suffix == ".npy":
        return np.load(path), 25
    return read_video(path)


def spread(rows, estimate):
    """Frame-to-frame standard deviations: of sigma and what is removed in percent of their means, of the mean level in levels."""
    of = {key: np.array(tables.column(tables.pick(rows, estimate=estimate), key)) for key in ("sigma", "removed", "mean", "mean_before")}
    steps = {key: np.diff(values) for key, values in of.items()}

    def relative(key):
        return f"{100 * steps[key].std() / of[key].mean():.2f} %" if of[key].any() else "nothing"

    return [f"{of['sigma'].mean():.2f}", f"{of['sigma'].min():.2f} to {of['sigma'].max():.2f}", relative("sigma"), relative("removed"),
            f"{steps['mean'].std():.4f}", f"{(steps['mean'] - steps['mean_before']).std():.4f}"]


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("clips", nargs="*", type=pathlib.Path, metavar="CLIP")
    p.add_argument("--build", type=pathlib.Path)
    p.add_argument("--output", type=pathlib.Path, default=pathlib.Path("flicker-output"))
    a = p.parse_args()
    evaluation = evaluate.find_program(a.build, "evaluation")
    a.output.mkdir(parents=True, exist_ok=True)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for clip in [None, *a.clips]:
            name = clip.name.split(".")[0] if clip else "still phantom"
            command = [evaluation, "flicker", "-o", a.output / f"{name.replace(' ', '-')}.csv"]
            if clip:
                frames, rate = read_clip(clip)
                raw = pathlib.Path(folder) / "clip.f32"
                frames.astype("<f4").tofile(raw)
                command += [raw, "--size", f"{frames.shape[2]}x{frames.shape[1]}", "--frame-rate", rate]
            subprocess.run(list(map(str, command)), check=True)
            measured = tables.read(a.output, command[3].name)
            for estimate in ("exact", "smoothed"):
                rows.append([name, len(measured) // 2, estimate, *spread(measured, estimate)])
    text = tables.table(["clip", "frames", "noise-estimate", "mean sigma", "range of sigma", "sigma, frame to frame",
                         "what is removed (RMS), frame to frame", "mean level, frame to frame", "the same beyond the input's own"], rows)
    (a.output / "flicker.md").write_text(text + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
