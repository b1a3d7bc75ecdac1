#!/usr/bin/env python3
"""Makes the gallery again: pictures, crops and the tables of README.md, by the commands of quietframe alone.

usage: docs/gallery/make.py [--quietframe PROGRAM] [--output FOLDER] [--scenes NAME,...] [--picture FILE]
                            [--settings README.md] [--times]

Without --quietframe the program is built first, in build-gallery and for the CPU. The output is this folder, whose files come out byte for
byte as they are in the tree; --picture adds a picture of yours (kodim07.png of the Kodak suite, for instance) and needs an
--output elsewhere. --settings takes the settings that such
a file names instead of searching for them. --times measures the filters on this machine's backends (those of --quietframe) and writes
times.md, which differs from run to run.
"""
import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
FILTERS = ["gaussian", "median", "bilateral", "nlm", "wavelet"]

# name: title, how the clean and the noisy picture are made, the rectangle that is shown enlarged
SCENES = {
    "target": ("A test target in colour, with Gaussian noise of sigma 20.4 levels",
               [["synth", "--scene", "target", "--size", "192x144", "--seed", "7", "--clean", "{clean}"],
                ["noise", "{clean}", "--type", "gaussian", "--strength", "20.4", "--seed", "7", "-o", "{noisy}"]], "72,48,48,48"),
    "ultrasound": ("An ultrasound phantom with its speckle",
                   [["synth", "--scene", "ultrasound", "--size", "160x160", "--seed", "7", "--clean", "{clean}", "-o", "{noisy}"]],
                   "56,56,48,48"),
    "brain": ("A brain phantom with Rician noise",
              [["synth", "--scene", "brain", "--size", "160x160", "--seed", "7", "--clean", "{clean}", "-o", "{noisy}"]],
              "60,40,48,48"),
}
PICTURE = ("{name}, with Gaussian noise of sigma 20.4 levels",
           [["noise", "{clean}", "--type", "gaussian", "--strength", "20.4", "--seed", "7", "-o", "{noisy}"]], "520,330,200,156")


class Tool:
    """The program; every call is on the CPU, so that the bytes do not depend on whether there is a GPU."""

    def __init__(self, program):
        self.program = program

    def __call__(self, *words):
        result = subprocess.run([str(self.program), *map(str, words)], capture_output=True, text=True)
        if result.returncode:
            sys.exit(f"quietframe {' '.join(map(str, words))}: {result.stderr.strip()}")
        return result.stdout

    def quality(self, picture, reference):
        found = json.loads(self("metrics", picture, "--reference", reference, "--json"))
        return f"{found['psnr']:.2f} | {found['ssim']:.4f}"


def build():
    folder = ROOT / "build-gallery"
    if not (folder / "build.ninja").exists():
        subprocess.run(["meson", "setup", folder, ROOT, "-Dtests=false", "-Dcuda=disabled"], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["ninja", "-C", folder, "examples/quietframe/quietframe"], check=True, stdout=subprocess.DEVNULL)
    return folder / "examples/quietframe/quietframe"


def tune(tool, name, noisy, clean, result):
    """Lets the tool search, writes its best picture, and returns the flags that give it."""
    text = tool("tune", noisy, "--reference", clean, "--filter", name, "--backend", "cpu", "-o", result)
    return re.search(r"^quietframe denoise \S+ (.*)$", text, re.MULTILINE)[1]


def settings_of(text, scene):
    """The flags of each filter that a README.md has for a scene."""
    part = next(p for p in text.split("\n## ") if f"({scene}/" in p)
    return dict(re.findall(r"^\| (\w+) \| `([^`]+)` \|", part, re.MULTILINE))


def make_scene(tool, folder, scene, known):
    """Makes the pictures of a scene in `folder`, with `known` flags or the best; returns a row (name, flags, quality) each."""
    _, commands, rect = scene
    clean, noisy = folder / "reference.png", folder / "noisy.png"
    folder.mkdir(parents=True, exist_ok=True)
    for words in commands:
        tool(*(w.format(clean=clean, noisy=noisy) for w in words))
    rows = [("noisy", "", tool.quality(noisy, clean))]
    for name in FILTERS:
        result = folder / f"{name}.png"
        if known:
            flags = known[name]
            tool("denoise", noisy, *flags.split(), "--backend", "cpu", "-q", "-o", result)
        else:
            flags = tune(tool, name, noisy, clean, result)
        rows.append((name, flags, tool.quality(result, clean)))
    for picture in [clean, noisy, *(folder / f"{name}.png" for name in FILTERS)]:
        tool("crop", picture, "--rect", rect, "-o", picture.with_name(picture.stem + "_crop.png"))
    return rows


def section(name, scene, rows, width):
    """The part of README.md about one scene."""
    shown = ["reference", *(row[0] for row in rows)]
    lines = [f"## {scene[0]}", "", "| " + " | ".join(shown) + " |", "|" + "---|" * len(shown),
             "| " + " | ".join(f"![]({name}/{s}.png)" for s in shown) + " |",
             "| " + " | ".join(f'<img src="{name}/{s}_crop.png" width="{width}">' for s in shown) + " |", "",
             "| filter | settings | PSNR dB | SSIM |", "|---|---|---|---|"]
    lines += [f"| {row[0]} | {f'`{row[1]}`' if row[1] else ''} | {row[2]} |" for row in rows]
    return "\n".join(lines) + "\n"


INTRODUCTION = """# Gallery

Generated pictures, made noisy and filtered. Each filter has the parameters that `quietframe tune` finds best for the picture:
the settings are what `quietframe denoise` takes. The second row shows a part of each picture enlarged. PSNR and SSIM are those
of scikit-image with its defaults, as `quietframe metrics` prints them.

All of this folder but times.md comes out of `docs/gallery/make.py`, byte for byte; on a CPU with other vector instructions a
few samples may be rounded the other way, by one code value. With `--picture kodim07.png` of the Kodak suite (not in this tree)
it finds 29.24 dB for gaussian, 28.01 for median, 30.81 for bilateral, 32.27 for nlm and 29.27 for wavelet, from 22.04 dB. Times differ from run to run: `--times` writes them to times.md.
"""


def measure_times(tool, folder, all_rows):
    """Writes times.md: milliseconds of each tuned filter on each backend that this machine has."""
    lines = ["# Times of the gallery's filters", "", "Milliseconds a frame with the gallery's settings, as `quietframe bench` "
             "prints them: best of 5, and the kernels' share of it.", ""]
    with tempfile.TemporaryDirectory() as scratch:
        for name, (size, pixel_format, rows) in all_rows.items():
            table, devices = [], {}
            for filter_name, flags, _ in rows[1:]:
                sweeps = [w for flag, value in re.findall(r"--(\S+) (\S+)", flags) if flag != "filter" for w in ("--sweep", f"{flag}={value}")]
                tool("bench", "--filter", filter_name, "--size", size, "--format", pixel_format, *sweeps, "--json", f"{scratch}/b.json")
                for row in json.loads(pathlib.Path(f"{scratch}/b.json").read_text())["rows"]:
                    devices[row["backend"]] = row["device"]
                    table.append((filter_name, row["backend"], row["best_ms"], row["kernel_ms"]))
            lines += [f"## {name}, {size} {pixel_format}", ""]
            lines += [f"- {backend}: {device}" for backend, device in sorted(devices.items())]
            lines += ["", "| filter | backend | best | kernel |", "|---|---|---|---|"]
            lines += [f"| {f} | {b} | {best:.3f} | {kernel:.3f} |" for f, b, best, kernel in table] + [""]
    (folder / "times.md").write_text("\n".join(lines))


def size_and_format(path):
    data = path.read_bytes()
    width, height = int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    return f"{width}x{height}", "RGB" if data[25] == 2 else "GRAY8"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quietframe", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=HERE)
    parser.add_argument("--scenes", default=",".join(SCENES))
    parser.add_argument("--picture", type=pathlib.Path)
    parser.add_argument("--settings", type=pathlib.Path)
    parser.add_argument("--times", action="store_true")
    options = parser.parse_args()
    if options.picture and options.output.resolve() == HERE:
        parser.error("--picture needs an --output elsewhere: this folder holds generated pictures alone")
    tool = Tool(options.quietframe or build())
    scenes = {name: SCENES[name] for name in options.scenes.split(",") if name}
    if options.picture:
        title, commands, rect = PICTURE
        name = options.picture.stem
        (options.output / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(options.picture, options.output / name / "reference.png")
        scenes[name] = (title.format(name=name), commands, rect)
    text, all_rows = INTRODUCTION, {}
    for name, scene in scenes.items():
        known = settings_of(options.settings.read_text(), name) if options.settings else {}
        rows = make_scene(tool, options.output / name, scene, known)
        all_rows[name] = (*size_and_format(options.output / name / "reference.png"), rows)
        text += "\n" + section(name, scene, rows, 96)
    (options.output / "README.md").write_text(text)
    if options.times:
        measure_times(tool, options.output, all_rows)


if __name__ == "__main__":
    main()
