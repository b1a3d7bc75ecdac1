#!/usr/bin/env python3
"""Runs the experiments of "Hybrid CUDA acceleration of wavelet-based MRI image denoising" and writes its tables and figures.

With a folder of slices (PNG, JPEG, PGM, TIFF, DICOM, NIfTI, .npy) or, without one, on generated brain phantoms; on the GPU where there
is one, on the CPU alone where not. Writes CSV files, tables.md and PNG figures into the output folder.

usage: evaluate.py [options] [FOLDER]
"""
import argparse
import csv
import pathlib
import shutil
import subprocess
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import kernel_profile  # noqa: E402
import slices as slice_files  # noqa: E402
import tables  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[2]


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("folder", nargs="?", help="folder of slices; none: generated phantoms")
    p.add_argument("--output", type=pathlib.Path, default=pathlib.Path("evaluation-output"), help="where the results go")
    p.add_argument("--build", type=pathlib.Path, help="build folder; none: the first of build* that has the programs")
    p.add_argument("--generate", type=int, default=16, help="phantoms that are generated")
    p.add_argument("--max-slices", type=int, default=0, help="slices that are read; 0: all")
    p.add_argument("--size", default="512x512", help="to which slices are resampled")
    p.add_argument("--runs", type=int, default=5, help="realisations of the noise, and repetitions of timings")
    p.add_argument("--sigmas", default="5,10,15,20,25", help="noise, levels")
    p.add_argument("--whole", type=int, default=0, help="images of the largest timing, slices repeated as needed; 0: 3064 of "
                   "phantoms, or those of the folder")
    p.add_argument("--budget", type=float, default=60, help="seconds for the runs of one timing; those that do not fit are left out")
    p.add_argument("--no-figures", action="store_true", help="tables alone")
    p.add_argument("--again", action="store_true", help="only make tables and figures anew from the output folder's CSV files")
    return p.parse_args()


def find_program(build, name):
    folders = [build] if build else sorted(SOURCE.glob("build*"))
    for folder in folders:
        path = folder / "examples" / name
        if path.is_file():
            return path
    if found := shutil.which(pathlib.Path(name).name):
        return found
    raise SystemExit(f"error: {name} is not built; run `meson setup build && ninja -C build`, or name the build folder with --build")


class Evaluation:
    def __init__(self, a):
        self.a = a
        self.out = a.output
        self.program = find_program(a.build, "evaluation")
        self.slices = self.out / "slices.f32"
        self.size = tuple(map(int, a.size.split("x")))

    def run(self, command, *more):
        subprocess.run(list(map(str, [self.program, command, *more])), check=True)

    def experiment(self, name, command, *more):
        print(f"{name}:", flush=True)
        self.run(command, self.slices, "--size", self.a.size, "-o", self.out / f"{name}.csv", *more)

    def prepare(self):
        a = self.a
        self.out.mkdir(parents=True, exist_ok=True)
        if a.folder:
            found = slice_files.read_folder(a.folder, self.size, a.max_slices)
            source = f"of a folder, resampled to {a.size}"
        else:
            print(f"generating {a.generate} phantoms", flush=True)
            found = slice_files.generate(find_program(a.build, "quietframe/quietframe"), a.generate, self.size)
            source = f"generated brain phantoms of {a.size}"
        count = 0
        with open(self.slices, "wb") as file:  # one by one: a whole set may be larger than memory
            for levels in found:
                levels.astype("<f4").tofile(file)
                count += 1
        (self.out / "source.txt").write_text(f"{count} {source}\n", encoding="utf-8")
        self.whole = a.whole or (count if a.folder else 3064)

    def measure(self):
        a = self.a
        self.run("machine", "-o", self.out / "machine.csv")
        self.experiment("timing", "timing", "--whole", self.whole, "--runs", a.runs, "--budget", a.budget)
        self.experiment("quality", "quality", "--runs", a.runs, "--sigmas", a.sigmas)
        results = tables.Results(self.out)
        for name, vary in (("basis", "basis=haar,db4,sym4,coif2,bior4.4"), ("alpha", "alpha=0.6,0.8,1,1.2,1.4")):
            self.experiment(name, "quality", "--runs", a.runs, "--sigmas", a.sigmas, "--degradations", "gaussian", "--vary", vary,
                            "--programs", results.ours)
        self.profile(results)

    def profile(self, results):
        if "gpu" not in results.machine:
            return
        print("kernels:", flush=True)
        rows, why = kernel_profile.profile(self.program, self.slices, self.a.size, [p for p in results.programs if p != "cpu"])
        if rows:
            with open(self.out / "kernels.csv", "w", newline="", encoding="utf-8") as file:
                writer = csv.DictWriter(file, rows[0])
                writer.writeheader()
                writer.writerows(rows)
        else:
            with open(self.out / "machine.csv", "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow(["ncu absent", why])

    def draw(self):
        import figures

        results = tables.Results(self.out)
        figures.boxes(results, self.out)
        figures.time(results, self.out)
        shape = self.size[::-1]
        clean = np.fromfile(self.slices, "<f4", shape[0] * shape[1]).reshape(shape)
        noisy = clean + np.random.default_rng(1).normal(0, 15, shape).astype(np.float32)
        noisy.astype("<f4").tofile(self.out / "noisy.f32")
        outputs = {}
        for program in dict.fromkeys(["cpu", results.ours]):
            self.run("denoise", self.out / "noisy.f32", "--size", self.a.size, "-o", self.out / "filtered.f32", "--program", program)
            outputs[program] = np.fromfile(self.out / "filtered.f32", "<f4").reshape(shape)
        figures.before_after(clean, noisy, outputs, self.out)
        if len(outputs) > 1:
            figures.difference(outputs, self.out)
        for name in ("noisy.f32", "filtered.f32"):
            (self.out / name).unlink()


def main():
    a = arguments()
    evaluation = Evaluation(a)
    if not a.again:
        evaluation.prepare()
        evaluation.measure()
    source = (a.output / "source.txt").read_text(encoding="utf-8").strip()
    text = "# Evaluation of the wavelet filter\n\n" + tables.markdown(a.output, source)
    (a.output / "tables.md").write_text(text, encoding="utf-8")
    if not a.no_figures:
        evaluation.draw()
    print(f"tables and figures are in {a.output}")


if __name__ == "__main__":
    main()
