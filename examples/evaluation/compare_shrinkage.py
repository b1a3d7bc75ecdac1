#!/usr/bin/env python3
"""PSNR and SSIM of the wavelet filter's presets and level counts beside scikit-image's denoise_wavelet (BayesShrink) on real slices.

Slices keep their own size; noise is added as Gaussian or Rician, without clamping; metrics are scikit-image's, of the unclamped result.

usage: compare_shrinkage.py [options] FOLDER
"""
import argparse
import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from skimage.metrics import peak_signal_noise_ratio, structural_similarity
from skimage.restoration import denoise_wavelet

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import evaluate  # noqa: E402
import slices as slice_files  # noqa: E402
import tables  # noqa: E402

OURS = {
    "paper (1 level)": [],
    "paper, 2 levels": ["--wavelet-levels", "2"],
    "paper, 3 levels": ["--wavelet-levels", "3"],
    "paper, 4 levels": ["--wavelet-levels", "4"],
    "strong (3 levels)": ["--wavelet-preset", "strong"],
    "strong, sym4": ["--wavelet-preset", "strong", "--wavelet-basis", "sym4"],
}


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("folder", help="folder of slices")
    p.add_argument("--output", type=pathlib.Path, default=pathlib.Path("shrinkage-output"), help="where shrinkage.csv and .md go")
    p.add_argument("--build", type=pathlib.Path, help="build folder; none: the first of build* that has the programs")
    p.add_argument("--per-volume", type=int, default=3, help="slices taken of a volume, from its middle outwards")
    p.add_argument("--sigmas", default="5,10,15,20,25,40", help="noise, levels")
    return p.parse_args()


def real_slices(folder, per_volume):
    """(name, levels) of slices of at least 48 pixels each way that are not nearly empty."""
    for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
        try:
            found, deep = slice_files.read_file(path)
        except Exception as error:  # a file of many libraries' reading: all that is wrong with it is said
            print(f"{path.name} is left out: {error}", file=sys.stderr)
            continue
        found = [s for s in (slice_files.scaled(found, deep) if found else []) if min(s.shape) >= 48 and s.std() > 5]
        middle = len(found) // 2
        for k in sorted(range(len(found)), key=lambda i: abs(i - middle))[:per_volume]:
            yield f"{path.name}:{k}", found[k].astype(np.float32)


def degraded(clean, kind, sigma, seed):
    random = np.random.default_rng(seed)
    real = clean + random.normal(0, sigma, clean.shape)
    return (real if kind == "gaussian" else np.hypot(real, random.normal(0, sigma, clean.shape))).astype(np.float32)


def ours(evaluation, noisy, flags, folder):
    noisy.astype("<f4").tofile(folder / "in.f32")
    subprocess.run([evaluation, "denoise", folder / "in.f32", "-o", folder / "out.f32", "--size",
                    f"{noisy.shape[1]}x{noisy.shape[0]}", *flags], check=True)
    return np.fromfile(folder / "out.f32", "<f4").reshape(noisy.shape)


def bayes(noisy, **more):
    return 255 * denoise_wavelet(noisy / 255, method="BayesShrink", mode="soft", rescale_sigma=True, **more)


def methods(evaluation, folder):
    yield "noisy", lambda noisy: noisy
    for name, flags in OURS.items():
        yield name, lambda noisy, flags=flags: ours(evaluation, noisy, flags, folder)
    yield "BayesShrink (db1)", lambda noisy: bayes(noisy)
    for levels in (1, 2, 3, 4):
        yield f"BayesShrink, bior4.4, {levels} level{'s' * (levels > 1)}", (
            lambda noisy, levels=levels: bayes(noisy, wavelet="bior4.4", wavelet_levels=levels))


def measure(a):
    evaluation = evaluate.find_program(a.build, "evaluation")
    found = list(real_slices(a.folder, a.per_volume))
    print(f"{len(found)} slices: {', '.join(name for name, _ in found)}")
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, clean) in enumerate(found):
            for kind in ("gaussian", "rician"):
                for sigma in a.sigmas.split(","):
                    noisy = degraded(clean, kind, float(sigma), 1000 * number + int(float(sigma)))
                    for method, run in methods(evaluation, pathlib.Path(folder)):
                        result = run(noisy)
                        yield {"slice": name, "noise": kind, "sigma": sigma, "method": method,
                               "psnr": peak_signal_noise_ratio(clean, result, data_range=255),
                               "ssim": structural_similarity(clean, result, data_range=255)}
            print(f"{number + 1} of {len(found)}", flush=True)


def markdown(rows):
    text = []
    for kind in tables.ordered(rows, "noise"):
        of = tables.pick(rows, noise=kind)
        sigmas = tables.ordered(of, "sigma")
        cells = []
        for method in tables.ordered(of, "method"):
            these = [tables.pick(of, method=method, sigma=sigma) for sigma in sigmas]
            cells.append([method] + [f"{tables.mean(t, 'psnr'):.2f} / {tables.mean(t, 'ssim'):.3f}" for t in these])
        text.append(f"{kind.capitalize()} noise, PSNR in dB / SSIM by sigma:\n\n" + tables.table(["method"] + sigmas, cells) + "\n")
    return "\n".join(text)


def main():
    a = arguments()
    a.output.mkdir(parents=True, exist_ok=True)
    rows = list(measure(a))
    with open(a.output / "shrinkage.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    (a.output / "shrinkage.md").write_text(markdown(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
