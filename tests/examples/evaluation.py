#!/usr/bin/env python3
"""Runs the evaluation on a small folder of slices and on phantoms, and looks at what it writes.

usage: evaluation.py EVALUATE BUILD. Exits 77 where numpy, Pillow or matplotlib are missing.
"""
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import matplotlib  # noqa: F401
    import numpy as np
    from PIL import Image
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

EVALUATE = BUILD = ""
SMALL = ["--size", "64x48", "--runs", "2", "--sigmas", "10,20", "--budget", "5"]


def evaluate(*more, code=0):
    result = subprocess.run([sys.executable, EVALUATE, "--build", BUILD, *map(str, more)], capture_output=True, text=True, timeout=100)
    if result.returncode != code:
        raise AssertionError(f"exit code {result.returncode}, not {code}\n{result.stdout}{result.stderr}")
    return result


class Evaluation(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def test_a_folder_of_slices(self):
        slices = self.at / "slices"
        (slices / "deeper").mkdir(parents=True)
        y, x = np.mgrid[:60, :80]
        disc = (np.hypot(x - 40, y - 30) < 20) * 140.0 + 40
        Image.fromarray(disc.astype(np.uint8)).save(slices / "a.png")
        Image.fromarray(disc.astype(np.uint8)).save(slices / "deeper" / "b.pgm")
        np.save(slices / "c.npy", np.stack([disc * 16, disc * 0, disc[::-1] * 16]))
        (slices / "broken.png").write_bytes(b"no picture")
        (slices / "notes.txt").write_text("no slice")
        result = evaluate(slices, "--output", self.at / "out", *SMALL)
        self.assertIn("broken.png is left out", result.stderr)
        self.assertRegex(result.stderr, r"quality +\[#+ *\] +100 %")
        text = (self.at / "out" / "tables.md").read_text()
        self.assertIn("4 of a folder", text)  # the empty slice is left out
        for number in (1, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14):
            self.assertIn(f"## Table {number}. ", text)
        self.assertNotIn("nan", text)
        self.assertIn("uniform 7x7 windows", text)
        if "GPU: absent" in text:
            self.assertIn("absent: ", text.split("## Table 6.")[1].split("## Table 8.")[0])
        for figure in ("figure-2-quality", "figure-3-before-after", "figure-5-time"):
            self.assertGreater((self.at / "out" / f"{figure}.png").stat().st_size, 5000)
        self.check_quality(text)

    def check_quality(self, text):
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in
                text.split("## Table 4.")[1].split("## Table 5.")[0].splitlines() if line.startswith("| gaussian")]
        self.assertEqual(2, len(rows))
        for row in rows:
            self.assertEqual("8", row[2])  # 4 slices, 2 runs
            self.assertGreater(float(row[4].split()[0]), float(row[3]) + 2)  # the filter gains

    def test_phantoms_and_the_tables_again(self):
        evaluate("--generate", 2, "--whole", 12, "--no-figures", "--output", self.at / "out", *SMALL)
        tables = self.at / "out" / "tables.md"
        text = tables.read_text()
        self.assertIn("2 generated brain phantoms", text)
        self.assertIn("12 images", text)
        tables.unlink()
        evaluate("--again", "--no-figures", "--output", self.at / "out", "--size", "64x48")
        self.assertEqual(text, tables.read_text())

    def test_a_folder_without_slices(self):
        (self.at / "empty").mkdir()
        self.assertIn("no slices", evaluate(self.at / "empty", "--output", self.at / "out", code=1).stderr)

    def test_flicker_is_less_with_the_smoothed_estimate(self):
        np.save(self.at / "clip.npy", np.random.default_rng(1).normal(100, 9, (16, 48, 64)).clip(0, 255).astype(np.uint8))
        flicker = pathlib.Path(EVALUATE).with_name("flicker.py")
        subprocess.run([sys.executable, flicker, "--build", BUILD, "--output", self.at / "out", self.at / "clip.npy"], check=True,
                       capture_output=True, timeout=100)
        rows = [line.split("|") for line in (self.at / "out" / "flicker.md").read_text().splitlines()[2:]]
        self.assertEqual(["still phantom", "still phantom", "clip", "clip"], [row[1].strip() for row in rows])
        for exact, smoothed in (rows[:2], rows[2:]):
            self.assertLess(float(smoothed[6].split()[0]), float(exact[6].split()[0]))


if __name__ == "__main__":
    EVALUATE, BUILD = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
