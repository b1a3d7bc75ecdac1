#!/usr/bin/env python3
"""Times the cases of avior-cuda's README with quietframe bench, and writes them beside its published figures as a table.

usage: beside_avior.py run QUIETFRAME FOLDER [CASE...]    measures, and leaves the numbers in FOLDER as JSON and CSV
       beside_avior.py table FOLDER                       prints docs/bench.md, made from those numbers
avior-cuda's figures are its README's: a Tesla T4 and four threads of a Xeon Platinum 8259CL.
"""
import json
import pathlib
import subprocess
import sys

# name: the flags of bench. The CPU is timed where avior-cuda times it, and with few runs: its slowest cases take seconds.
BOTH, BOX = ["--sweep", "nlm-implementation=direct,box"], ["--sweep", "nlm-implementation=box"]
CUDA = ["--backend", "cuda", "--runs", "20"]
CPU1, CPU4 = (["--backend", "cpu", "--threads", n, "--runs", "2", "--in-flight", "1"] for n in ("1", "4"))
EVERY = ["--size", "1024x1024", *BOTH]
SIZES = ["--filter", "nlm", "--size", "256x256,512x512,1024x1024,2048x2048,4096x4096", *BOX]
PATCH = ["--filter", "nlm", "--size", "512x512", *BOTH, "--sweep", "nlm-patch-radius=1,2,4,6"]
SEARCH = ["--filter", "nlm", "--size", "512x512", *BOTH, "--sweep", "nlm-search-radius=3,5,7,10"]
RUNS = {"filters-cuda": EVERY + CUDA, "sizes-cuda": SIZES + CUDA, "patch-cuda": PATCH + CUDA, "search-cuda": SEARCH + CUDA,
        "filters-cpu1": EVERY + CPU1, "filters-cpu4": EVERY + CPU4, "sizes-cpu4": SIZES + CPU4, "patch-cpu1": PATCH + CPU1,
        "search-cpu4": SEARCH + CPU4}

# filter: cpu x1, cpu x4, cuda (ms), up / kernel / down
AVIOR_FILTERS = {
    "gaussian": (145.9, 76.3, 7.25, "2.81 / 0.41 / 2.33"), "median": (166.0, 124.3, 7.46, "2.77 / 0.28 / 2.63"),
    "bilateral": (2770.3, 1326.7, 8.49, "3.05 / 0.93 / 2.98"), "nlm direct": (23746.5, 9859.8, 45.45, "2.83 / 39.36 / 2.48"),
    "nlm box": (4881.1, 2492.9, 34.55, "3.05 / 28.09 / 2.72")}
# side: cpu x4, cuda (ms), up / kernel / down
AVIOR_SIZES = {256: (135.8, 2.18, "0.30 / 1.48 / 0.28"), 512: (569.4, 8.02, "0.84 / 6.12 / 0.73"), 1024: (2571.0, 33.49, "2.84 / 28.26 / 2.54"),
               2048: (10837.0, 170.34, "11.78 / 117.53 / 10.98"), 4096: (43853.6, 717.52, "42.99 / 504.92 / 43.39")}
# radius: CPU direct, CPU box, CUDA direct, CUDA box (ms)
AVIOR_PATCH = {1: (2622, 1216, 3.45, 5.14), 2: (5908, 1214, 9.28, 5.99), 4: (18901, 1202, 31.30, 8.69), 6: (39278, 1214, 65.46, 12.14)}
AVIOR_SEARCH = {3: (518, 183, 2.02, 1.54), 5: (1465, 306, 4.97, 3.38), 7: (2655, 590, 9.15, 6.06), 10: (4774, 1256, 18.40, 12.05)}


def measure(program, folder, names):
    has_cuda = subprocess.run([program, "devices"], capture_output=True, text=True, check=True).stdout.startswith("cuda:")
    for name in names or RUNS:
        if "-cuda" in name and not has_cuda:
            print(f"{name}: skipped, there is no CUDA device")
            continue
        print(name, flush=True)
        subprocess.run([program, "bench", "--format", "RGB", *RUNS[name], "--json", str(folder / f"{name}.json"), "--csv", str(folder / f"{name}.csv")], check=True)


class Numbers:
    def __init__(self, folder):
        self.rows = {}
        for name in RUNS:
            path = folder / f"{name}.json"
            self.rows[name] = json.loads(path.read_text())["rows"] if path.exists() else []

    def find(self, name, filter_name, settings="", size=None, default=None):
        """The row whose settings hold these words, and do not set the parameter `default`; None where it was not measured."""
        for row in self.rows[name]:
            words = row["settings"].split()
            if default and any(w.startswith(default + "=") for w in words):
                continue
            if row["filter"] == filter_name and all(w in words for w in settings.split()) and size in (None, row["width"]):
                return row
        return None

    def device(self, name):
        return self.rows[name][0]["device"] if self.rows[name] else "not measured"


def ms(row, key="best_ms"):
    return f"{row[key]:.3g}" if row else "-"


def split(row):
    return " / ".join(f"{row[k]:.3f}" for k in ("upload_ms", "kernel_ms", "download_ms")) if row else "-"


def implementation(name):
    return f"nlm-implementation={name}"


def table(titles, rows):
    print("| " + " | ".join(titles) + " |\n|" + "---|" * len(titles))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def print_tables(numbers):
    print(f"""# Times of the filters, beside avior-cuda's

Made by `tests/bench/beside_avior.py table` from what `beside_avior.py run` measured (`quietframe bench`). CUDA: {numbers.device("filters-cuda")};
CPU: {numbers.device("filters-cpu1")} and {numbers.device("filters-cpu4")}. The columns "there" are those that avior-cuda's README
prints for a Tesla T4 and a Xeon Platinum 8259CL: other machines, so the two do not compare as programs; what does compare is how
each grows. All frames are RGB of 8 bits; times are milliseconds, the best of the runs from submission to completion, the split is
the median of upload, kernel and download. bench uploads from page-locked memory, as the element does.

## Every filter, 1024x1024
""")
    rows = []
    for name, there in AVIOR_FILTERS.items():
        f, _, how = name.partition(" ")
        one, four, cuda = (numbers.find(f"filters-{b}", f, implementation(how) if how else "") for b in ("cpu1", "cpu4", "cuda"))
        rows.append((name, ms(one), ms(four), ms(cuda), split(cuda), *there))
    wavelet = [numbers.find(f"filters-{b}", "wavelet") for b in ("cpu1", "cpu4", "cuda")]
    rows.append(("wavelet", *(ms(w) for w in wavelet), split(wavelet[2]), "", "", "", ""))
    table(["filter", "CPU x1", "CPU x4", "CUDA", "up / kernel / down", "there: CPU x1", "CPU x4", "CUDA", "up / kernel / down"], rows)
    print("## Frame size, nlm box, patch radius 2, search radius 7\n")
    rows = []
    for side, there in AVIOR_SIZES.items():
        four, cuda = (numbers.find(f"sizes-{b}", "nlm", size=side) for b in ("cpu4", "cuda"))
        rows.append((f"{side}x{side}", ms(four), ms(cuda), split(cuda), f"{side * side / 1000 / cuda['best_ms']:.0f}" if cuda else "-", *there))
    table(["frame", "CPU x4", "CUDA", "up / kernel / down", "Mpix/s", "there: CPU x4", "CUDA", "up / kernel / down"], rows)
    for what, cpu, threads, there, default in (("patch", "patch-cpu1", 1, AVIOR_PATCH, 2), ("search", "search-cpu4", 4, AVIOR_SEARCH, 7)):
        print(f"## {what.capitalize()} radius, 512x512; CUDA: kernel time; CPU: {threads} thread{'s' if threads > 1 else ''}\n")
        rows = []
        for value, figures in there.items():
            # bench does not print a parameter that has its default.
            name = f"nlm-{what}-radius"
            words, unset = ("", name) if value == default else (f"{name}={value}", None)
            found = [numbers.find(n, "nlm", f"{implementation(i)} {words}", default=unset) for n in (cpu, f"{what}-cuda") for i in ("direct", "box")]
            rows.append((value, ms(found[0]), ms(found[1]), ms(found[2], "kernel_ms"), ms(found[3], "kernel_ms"), *figures))
        table([f"{what} radius", "CPU direct", "CPU box", "CUDA direct", "CUDA box", "there: CPU direct", "CPU box", "CUDA direct", "CUDA box"], rows)


def main():
    if len(sys.argv) >= 4 and sys.argv[1] == "run":
        folder = pathlib.Path(sys.argv[3])
        folder.mkdir(parents=True, exist_ok=True)
        measure(sys.argv[2], folder, sys.argv[4:])
    elif len(sys.argv) == 3 and sys.argv[1] == "table":
        print_tables(Numbers(pathlib.Path(sys.argv[2])))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
