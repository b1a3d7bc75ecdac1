#!/usr/bin/env python3
"""Makes the pictures of docs/wavelet.md out of generated phantoms, by `quietframe synth` and `quietframe denoise`.

usage: pictures.py [--build BUILD] [--output docs/pictures]
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import evaluate  # noqa: E402

TILE = 128  # pixels of the picture shown, at its own scale
GRAYS = 48  # few enough for small files, too many to see

STRONG = ["--wavelet-preset", "strong"]
SHEETS = {
    "wavelet-presets": (20, [("clean", None), ("noisy, sigma 20", []), ("paper", ["--filter", "wavelet"]), ("strong", STRONG),
                             ("strong, alpha 0.7", STRONG + ["--wavelet-alpha", "0.7"])]),
    "wavelet-levels": (20, [(f"{n} level{'s' * (n > 1)}", ["--wavelet-levels", str(n), "--wavelet-alpha", "2.5", "--wavelet-decay", "0.6"]) for n in range(1, 6)]),
    "wavelet-alpha": (10, [(f"alpha {a}", ["--wavelet-levels", "2", "--wavelet-alpha", a]) for a in ("0.5", "1", "2", "4", "8")]),
    "wavelet-rules": (20, [("soft", STRONG), ("garrote", STRONG + ["--wavelet-threshold", "garrote"]),
                           ("hard", STRONG + ["--wavelet-threshold", "hard"]), ("haar, soft", STRONG + ["--wavelet-basis", "haar"]),
                           ("sym4, soft", STRONG + ["--wavelet-basis", "sym4"])]),
}


def sheet(quietframe, noise, tiles, folder):
    noisy, clean, out = (folder / name for name in ("noisy.png", "clean.png", "out.png"))
    run = lambda *words: subprocess.run([quietframe, *map(str, words)], check=True, stdout=subprocess.DEVNULL)  # noqa: E731
    run("synth", "--scene", "brain", "--noise", noise, "--size", "256x256", "-o", noisy, "--clean", clean)
    strip = Image.new("L", (len(tiles) * (TILE + 4) - 4, TILE + 14), 255)
    draw = ImageDraw.Draw(strip)
    for i, (label, flags) in enumerate(tiles):
        path = clean if flags is None else noisy
        if flags:
            run("denoise", noisy, "-o", out, "--backend", "cpu", *flags)
            path = out
        with Image.open(path) as picture:
            strip.paste(picture.convert("L").crop((64, 40, 64 + TILE, 40 + TILE)), (i * (TILE + 4), 14))
        draw.text((i * (TILE + 4) + 2, 1), label, fill=0)
    levels = np.asarray(strip, np.float32)
    coarse = np.round(levels * (GRAYS - 1) / 255).astype(np.uint8)
    small = Image.fromarray(coarse, "P")
    small.putpalette([round(g * 255 / (GRAYS - 1)) for g in range(GRAYS) for _ in range(3)])
    return small


def main():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    p.add_argument("--build", type=pathlib.Path)
    p.add_argument("--output", type=pathlib.Path, default=evaluate.SOURCE / "docs" / "pictures")
    a = p.parse_args()
    quietframe = evaluate.find_program(a.build, "quietframe/quietframe")
    a.output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        for name, (noise, tiles) in SHEETS.items():
            sheet(quietframe, noise, tiles, pathlib.Path(folder)).save(a.output / f"{name}.png", optimize=True)


if __name__ == "__main__":
    main()
