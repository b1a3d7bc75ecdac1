#!/usr/bin/env python3
"""Runs every command of quietframe as a user would, on pictures that it makes itself.

usage: commands.py QUIETFRAME
"""
import gzip
import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

QUIETFRAME = ""
COMMANDS = ["denoise", "noise", "synth", "crop", "metrics", "compare", "tune", "bench", "devices", "filters", "formats",
            "completion", "manual"]


def run(*arguments, code=0):
    result = subprocess.run([QUIETFRAME, *map(str, arguments)], capture_output=True, text=True, timeout=300)
    if result.returncode != code:
        raise AssertionError(f"{arguments}: exit code {result.returncode}, not {code}\n{result.stdout}{result.stderr}")
    return result


def filters():
    lines = run("filters", "--markdown").stdout.splitlines()[2:]
    return sorted({line.split("|")[1].strip() for line in lines} - {"all"})


def png_header(path):
    """Bit depth and colour type."""
    data = pathlib.Path(path).read_bytes()
    return data[24], data[25]


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png_chunks(path):
    """Name and data of each chunk, in order."""
    data, at, chunks = pathlib.Path(path).read_bytes(), 8, []
    while at < len(data):
        length = struct.unpack(">I", data[at:at + 4])[0]
        chunks.append((data[at + 4:at + 8], data[at + 8:at + 8 + length]))
        at += 12 + length
    return chunks


def write_png(path, colour_type, bits, rows, before=(), after=()):
    """`rows` are bytes as the file holds them; chunks go before and after them."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    header = struct.pack(">IIBBBBB", len(rows[0]) * 8 // (bits * channels), len(rows), bits, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", header), *before, (b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))), *after, (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*c) for c in chunks))


def gray_profile():
    """The least ICC profile that libpng takes: a gray display profile with a curve of gamma 1 and a white point."""
    white = struct.pack(">iii", 0xF6D6, 0x10000, 0xD32D)
    tags = [(b"wtpt", b"XYZ \0\0\0\0" + white), (b"kTRC", b"curv\0\0\0\0\0\0\0\0")]
    table, body, at = struct.pack(">I", len(tags)), b"", 132 + 12 * len(tags)
    for name, data in tags:
        table += struct.pack(">4sII", name, at + len(body), len(data))
        body += data
    size = 128 + len(table) + len(body)
    head = struct.pack(">I4sI4s4s4s12s4s4s", size, b"none", 0x02100000, b"mntr", b"GRAY", b"XYZ ", b"\0" * 12, b"acsp", b"none")
    return (head + b"\0" * (68 - len(head)) + white).ljust(128, b"\0") + table + body


def write_dicom(path, width, height, photometric, allocated, stored, signed, pixels, frames=1):
    """Explicit little endian, the least that a reader needs."""
    def element(group, number, kind, value):
        value += b"\0" * (len(value) % 2)
        length = struct.pack("<HI", 0, len(value)) if kind in (b"OB", b"OW") else struct.pack("<H", len(value))
        return struct.pack("<HH", group, number) + kind + length + value

    def short(group, number, value):
        return element(group, number, b"US", struct.pack("<H", value))
    meta = element(2, 0x10, b"UI", b"1.2.840.10008.1.2.1")
    data = short(0x28, 2, 3 if photometric == b"RGB" else 1) + element(0x28, 4, b"CS", photometric.ljust(len(photometric) + len(photometric) % 2))
    data += short(0x28, 6, 0) if photometric == b"RGB" else b""
    data += element(0x28, 8, b"IS", b"%d " % frames) if frames != 1 else b""
    for number, value in ((0x10, height), (0x11, width), (0x100, allocated), (0x101, stored), (0x102, stored - 1), (0x103, signed)):
        data += short(0x28, number, value)
    data += element(0x7FE0, 0x10, b"OB" if allocated == 8 else b"OW", pixels)
    path.write_bytes(bytes(128) + b"DICM" + element(2, 0, b"UL", struct.pack("<I", len(meta))) + meta + data)


def nifti(order, version, size, datatype, voxels, slope=0, inter=0, magic=None):
    """A NIfTI file of one part, by hand; `size` is width, height, slices, volumes; `voxels` the bytes behind the header."""
    header = bytearray(352 if version == 1 else 544)
    dim, wide = [len(size), *size] + [1] * (7 - len(size)), version == 2
    struct.pack_into(order + "i", header, 0, len(header) - 4)
    struct.pack_into(order + ("8q" if wide else "8h"), header, 16 if wide else 40, *dim)
    struct.pack_into(order + "h", header, 12 if wide else 70, datatype)
    struct.pack_into(order + ("q" if wide else "f"), header, 168 if wide else 108, len(header))
    struct.pack_into(order + ("2d" if wide else "2f"), header, 176 if wide else 112, slope, inter)
    magic = magic or (b"n+2\0\r\n\x1a\n" if wide else b"n+1\0")
    at = 4 if wide else 344
    header[at:at + len(magic)] = magic
    return bytes(header) + voxels


def read_pfm(path):
    """Rows of floats from the top."""
    _, size, scale, body = path.read_bytes().split(b"\n", 3)
    width, height = map(int, size.split())
    values = struct.unpack(("<" if float(scale) < 0 else ">") + f"{width * height}f", body)
    return [values[y * width:(y + 1) * width] for y in reversed(range(height))]


def write_pgm(path, width, height, maxval, sample):
    size = ">H" if maxval > 255 else "B"
    body = b"".join(struct.pack(size, sample(x, y)) for y in range(height) for x in range(width))
    path.write_bytes(b"P5\n%d %d\n%d\n" % (width, height, maxval) + body)


def read_pnm(path):
    data = path.read_bytes()
    fields = data.split(maxsplit=4)
    return int(fields[3]), data[-int(fields[1]) * int(fields[2]) * (2 if int(fields[3]) > 255 else 1):]


class Commands(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.at = pathlib.Path(self.directory.name)

    def tearDown(self):
        self.directory.cleanup()

    def make(self, name="noisy.png", *more):
        run("synth", "-o", self.at / name, "--size", "61x47", *more)
        return self.at / name

    def test_help_everywhere(self):
        top = run("--help").stdout
        for command in COMMANDS:
            self.assertIn(f"\n  {command} ", top)
            self.assertIn("Usage: quietframe " + command, run(command, "--help").stdout)
        for filter_name in filters():
            self.assertIn(filter_name + ": ", run("denoise", "--help").stdout)

    def test_exit_codes_and_one_line_that_names_the_remedy(self):
        noisy = self.make()
        empty = self.at / "empty.png"
        empty.write_bytes(b"")
        cases = [
            (2, "wavelet", ["denoise", noisy, "--filter", "nothing"]),
            (2, "--filter nlm", ["denoise", noisy, "--filter", "median", "--nlm-h", "3"]),
            (2, "0..255", ["denoise", noisy, "--filter", "nlm", "--nlm-h", "900"]),
            (2, "soft|hard|garrote".split("|")[1], ["denoise", noisy, "--wavelet-threshold", "mushy"]),
            (2, "--help", ["denoise", noisy, "--no-such-flag"]),
            (2, "--help", []),
            (2, "x,y,width,height", ["crop", noisy, "--rect", "1,2,3"]),
            (2, "outside", ["crop", noisy, "--rect", "50,0,20,20"]),
            (2, "png", ["denoise", noisy, "-o", self.at / "x.docx"]),
            (2, "--reference", ["metrics", noisy]),
            (2, "NV12", ["denoise", noisy, "--raw", "10x10"]),
            (3, "missing.png", ["denoise", self.at / "missing.png"]),
            (3, "empty", ["denoise", empty]),
            (3, "no pictures", ["denoise", self.at / "bare"]),
        ]
        (self.at / "bare").mkdir()
        for code, remedy, arguments in cases:
            result = run(*arguments, code=code)
            self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
            self.assertIn(remedy, result.stderr)

    def test_output_names(self):
        noisy = self.make("deep.name.png", "--scene", "target")
        run("denoise", noisy)
        self.assertTrue((self.at / "deep.name_output.png").exists())
        run("denoise", noisy, "-o", self.at / "new" / "folder" / "x.pgm", "--filter", "median", code=3)  # colour in PGM
        run("denoise", noisy, "-o", self.at / "new" / "folder" / "x.ppm", "--filter", "median")
        self.assertTrue((self.at / "new" / "folder" / "x.ppm").exists())
        self.assertEqual([], list(self.at.rglob("*.part")))

    def test_a_preset_and_what_is_given_beside_it_in_any_order(self):
        noisy = self.make()
        strong, levels = ["--wavelet-preset", "strong"], ["--wavelet-levels", "4"]
        results = []
        for flags in [[], strong, strong + levels, levels + strong, levels]:
            run("denoise", noisy, "-o", self.at / "x.pgm", *flags)
            results.append((self.at / "x.pgm").read_bytes())
        self.assertEqual(results[2], results[3])
        self.assertEqual(4, len(set(results)))

    def test_noise_is_the_same_on_any_number_of_threads_and_every_run(self):
        noisy = self.make("noisy.png", "--scene", "target")
        for kind in ["gaussian", "rician", "salt-pepper", "speckle", "poisson"]:
            results = set()
            for threads in [1, 1, 3]:
                run("noise", noisy, "--type", kind, "--seed", 9, "--threads", threads, "--shift", 3, "--rotate", 2,
                    "-o", self.at / "n.png")
                results.add((self.at / "n.png").read_bytes())
            self.assertEqual(len(results), 1, kind)
        run("noise", noisy, "--seed", 10, "-o", self.at / "other.png")
        self.assertNotEqual((self.at / "other.png").read_bytes(), (self.at / "n.png").read_bytes())

    def test_none_and_strength_0_change_nothing(self):
        for name, more in [("a.png", []), ("b.png", ["--depth", "16"]), ("c.pfm", ["--depth", "float"])]:
            noisy = self.make(name, *more)
            for how in (["--filter", "none"], ["--filter", "nlm", "--strength", "0"]):
                run("denoise", noisy, *how, "-q", "-o", self.at / ("out" + noisy.suffix))
                self.assertIn("0 of", run("compare", noisy, self.at / ("out" + noisy.suffix)).stdout)

    def test_depth_stays(self):
        for depth, bits in (("8", 8), ("16", 16)):
            for scene, colour_type in (("brain", 0), ("target", 2)):
                noisy = self.make("in.png", "--scene", scene, "--depth", depth)
                run("denoise", noisy, "-q", "-o", self.at / "out.png")
                self.assertEqual(png_header(self.at / "out.png"), (bits, colour_type))
        for maxval in (1, 15, 100, 255, 1000, 1023, 4095, 65535):
            write_pgm(self.at / "odd.pgm", 23, 17, maxval, lambda x, y: (x * 7919 + y * 104729) % (maxval + 1))
            run("denoise", self.at / "odd.pgm", "--filter", "median", "--median-rank", "100", "-q", "-o", self.at / "o.pgm")
            got, samples = read_pnm(self.at / "o.pgm")
            self.assertEqual(got, maxval)
            self.assertGreater(len(set(samples)), 0)
            run("denoise", self.at / "odd.pgm", "--filter", "none", "-q", "-o", self.at / "o.pgm")
            self.assertEqual(read_pnm(self.at / "o.pgm"), read_pnm(self.at / "odd.pgm"))

    def test_png_keeps_what_it_says_of_its_samples(self):
        carried = [(b"gAMA", struct.pack(">I", 45455)), (b"cHRM", struct.pack(">8I", *range(30000, 30008))),
                   (b"pHYs", struct.pack(">IIB", 2000, 3000, 1)), (b"tEXt", b"Title\0one"), (b"eXIf", b"MM\0*\0\0\0\x08\0\0\0\0\0\0")]
        srgb, profile = (b"sRGB", b"\1"), (b"iCCP", b"linear\0\0" + zlib.compress(gray_profile()))
        left = [(b"tIME", b"\x07\xe0\1\1\0\0\0"), (b"bKGD", b"\0\1"), (b"sBIT", b"\x0c"), (b"vpAg", b"12345")]
        rows = [bytes((x * 37 + y * 11) % 256 for x in range(2 * 9)) for y in range(7)]
        for colour, kept in (([srgb], [b"sRGB"]), ([profile], [b"iCCP"]), ([srgb, profile], [b"iCCP"])):
            write_png(self.at / "in.png", 0, 16, rows, colour + carried[:3] + left, carried[3:] + [(b"gAMA", b"123")])
            for output, command in (("out.png", ["denoise", "--filter", "none", "-q"]), ("crop.png", ["crop", "--rect", "1,1,4,3"])):
                run(command[0], self.at / "in.png", *command[1:], "-o", self.at / output)
                got = dict(png_chunks(self.at / output))
                self.assertEqual(sorted(got), sorted([c[0] for c in carried] + kept + [b"IHDR", b"IDAT", b"IEND"]))
                for name, data in carried:
                    self.assertEqual(got[name], data, name)
                self.assertEqual(png_header(self.at / output), (16, 0))
                if b"iCCP" in kept:
                    self.assertEqual(zlib.decompress(got[b"iCCP"].split(b"\0", 1)[1][1:]), gray_profile())
        self.assertEqual(zlib.decompress(dict(png_chunks(self.at / "out.png"))[b"IDAT"])[1:19], rows[0])  # not converted
        write_png(self.at / "in.png", 2, 8, [bytes(range(12))] * 4, [(b"tRNS", struct.pack(">3H", 3, 4, 5))])
        run("denoise", self.at / "in.png", "-q", "-o", self.at / "out.png")
        self.assertEqual(png_header(self.at / "out.png"), (8, 6))  # a transparent colour has become alpha
        run("denoise", self.at / "in.png", "-q", "-o", self.at / "out.pam")
        self.assertEqual((self.at / "out.pam").read_bytes()[-16:][3::4], b"\xff\0\xff\xff")

    def test_profiles_go_between_formats(self):
        if "without libtiff" in run("formats").stdout:
            self.skipTest("this build is without libtiff")
        rows = [bytes(range(y, y + 9)) for y in range(7)]
        write_png(self.at / "in.png", 0, 8, rows, [(b"iCCP", b"linear\0\0" + zlib.compress(gray_profile()))])
        run("denoise", self.at / "in.png", "--filter", "none", "-q", "-o", self.at / "x.tif")
        run("denoise", self.at / "x.tif", "--filter", "none", "-q", "-o", self.at / "out.png")
        got = dict(png_chunks(self.at / "out.png"))
        self.assertEqual(zlib.decompress(got[b"iCCP"].split(b"\0", 1)[1][1:]), gray_profile())

    def test_formats_keep_pixels(self):
        known = run("formats").stdout
        for suffix in [".png", ".ppm", ".pam"] + ([".tif"] if "without libtiff" not in known else []):
            for depth in ("8", "16"):
                noisy = self.make("in.png", "--scene", "target", "--depth", depth)
                run("denoise", noisy, "--filter", "none", "-q", "-o", self.at / ("x" + suffix))
                self.assertIn("0 of", run("compare", noisy, self.at / ("x" + suffix)).stdout, suffix + depth)

    def test_dicom_gives_its_stored_values(self):
        if "without DCMTK" in run("formats").stdout:
            self.skipTest("this build is without DCMTK")
        picture, signed = self.at / "in.dcm", [-2048, -1, 0, 1, 7, 2047]
        for kind, allocated, stored, is_signed, values, expected in (
                (b"MONOCHROME2", 16, 12, 0, [0, 1, 4095, 17, 2048, 9], [0, 1, 4095, 17, 2048, 9]),
                (b"MONOCHROME1", 16, 10, 0, [0, 1, 1023, 17, 512, 9], [1023, 1022, 0, 1006, 511, 1014]),
                (b"MONOCHROME2", 16, 12, 1, [v & 4095 for v in signed], [v + 2048 for v in signed]),
                (b"MONOCHROME2", 8, 8, 0, [0, 1, 255, 17, 99, 9], [0, 1, 255, 17, 99, 9])):
            write_dicom(picture, 3, 2, kind, allocated, stored, is_signed, struct.pack("<6" + ("B" if allocated == 8 else "H"), *values))
            run("denoise", picture, "--filter", "none", "-q", "-o", self.at / "o.pgm")
            top, samples = read_pnm(self.at / "o.pgm")
            self.assertEqual(top, 2 ** stored - 1)
            self.assertEqual(struct.unpack(">6" + ("B" if top < 256 else "H"), samples), tuple(expected), kind)
        write_dicom(picture, 2, 2, b"RGB", 8, 8, 0, bytes(range(12)))
        run("denoise", picture, "--filter", "none", "-q", "-o", self.at / "o.ppm")
        self.assertEqual((self.at / "o.ppm").read_bytes()[-12:], bytes(range(12)))
        run("denoise", picture, "-q")  # what cannot be written as DICOM is written as PNG
        self.assertTrue((self.at / "in_output.png").exists())
        write_dicom(picture, 3, 2, b"MONOCHROME2", 16, 12, 0, bytes(24), frames=2)
        self.assertIn("2 frames", run("denoise", picture, code=3).stderr)
        write_dicom(picture, 3, 2, b"MONOCHROME2", 16, 12, 0, bytes(6))
        self.assertIn("3 of 6 pixels", run("denoise", picture, code=3).stderr)

    def test_nifti_gives_its_middle_slice(self):
        if "without nifticlib" in run("formats").stdout:
            self.skipTest("this build is without nifticlib")
        out, pgm = self.at / "o.pfm", self.at / "o.pgm"
        first, middle, last = [0, 1, 2, 3, 4, 5], [900, 1, 1162, 17, 0, 9], [2, 2, 2, 2, 2, 2]

        def codes(file, name="in.nii"):
            (self.at / name).write_bytes(file)
            run("denoise", self.at / name, "--filter", "none", "-q", "-o", pgm)
            top, samples = read_pnm(pgm)
            return top, list(struct.unpack(f">{len(samples) // (1 if top < 256 else 2)}" + ("B" if top < 256 else "H"), samples))

        for order in "<>":
            for version in (1, 2):
                def volume(values, kind, datatype, size=(3, 2, 3), **more):
                    return nifti(order, version, size, datatype, struct.pack(f"{order}{len(values)}{kind}", *values), **more)
                whole = first + middle + last
                for kind, datatype in (("h", 4), ("H", 512), ("i", 8), ("I", 768), ("q", 1024), ("Q", 1280)):
                    self.assertEqual(codes(volume(whole, kind, datatype)), (2047, middle), kind)
                self.assertEqual(codes(volume(whole, "h", 4, slope=2, inter=1)), (4095, [2 * v + 1 for v in middle]))
                self.assertEqual(codes(gzip.compress(volume(whole, "h", 4)), "in.nii.gz"), (2047, middle))
                members = volume(whole, "h", 4)  # as programs write that pack in parallel
                self.assertEqual(codes(gzip.compress(members[:400]) + gzip.compress(members[400:])), (2047, middle))
                self.assertEqual(codes(volume(whole + [30000] * 18, "h", 4, (3, 2, 3, 2))), (2047, middle))  # first volume
                self.assertEqual(codes(volume([-2048, -1, 0, 1, 7, 2047], "h", 4, (3, 2))), (4095, [0, 2047, 2048, 2049, 2055, 4095]))
                self.assertEqual(codes(volume([-5, 0, 127, 1, 2, 3], "b", 256, (3, 2))), (255, [123, 128, 255, 129, 130, 131]))
                self.assertEqual(codes(volume([5, 0, 100, 1, 2, 3], "B", 2, (3, 2))), (255, [5, 0, 100, 1, 2, 3]))
                for kind, datatype, values, more, expected in (
                        ("f", 16, [0, -1, 6, float("nan"), 3, float("inf")], {}, [0, -1 / 8, 6 / 8, 0, 3 / 8, 0]),
                        ("d", 64, [0, 0.25, 0.125, 0, 0, 0], {}, [0, 1, 0.5, 0, 0, 0]),
                        ("h", 4, [0, 4, 8, 2, 1, 0], {"slope": 0.5, "inter": 0.25}, [0.25 / 8, 2.25 / 8, 4.25 / 8, 1.25 / 8, 0.75 / 8, 0.25 / 8]),
                        ("i", 8, [0, 65536, 2, 0, 0, 0], {}, [0, 1, 2 / 65536, 0, 0, 0])):
                    (self.at / "in.nii").write_bytes(volume(values, kind, datatype, (3, 2), **more))
                    run("denoise", self.at / "in.nii", "--filter", "none", "-q", "-o", out)
                    self.assertEqual([v for row in read_pfm(out) for v in row], expected)
                (self.at / "in.nii").write_bytes(nifti(order, version, (2, 2), 128, bytes(range(12))))
                run("denoise", self.at / "in.nii", "--filter", "none", "-q", "-o", self.at / "o.ppm")
                self.assertEqual((self.at / "o.ppm").read_bytes()[-12:], bytes(range(12)))
                for remedy, file in (("truncated NIfTI: 35 of the 36 bytes", volume(whole, "h", 4)[:-1]),
                                     ("ends inside its header", volume(whole, "h", 4)[:347] if version == 1 else volume(whole, "h", 4)[:400]),
                                     ("COMPLEX64", volume(whole, "h", 32)), ("1999", volume(whole, "h", 1999)),
                                     ("no sense", volume(whole, "h", 4, (3, 0, 3))), ("taken for damage", volume(whole, "h", 4, (32767, 12000, 30000))),
                                     ("in two files", volume(whole, "h", 4, magic=b"ni1\0" if version == 1 else b"ni2\0\r\n\x1a\n"))):
                    (self.at / "bad.nii").write_bytes(file)
                    result = run("denoise", self.at / "bad.nii", code=3)
                    self.assertIn(remedy, result.stderr)
                    self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
                    (self.at / "bad.nii.gz").write_bytes(gzip.compress(file))
                    self.assertIn(remedy, run("denoise", self.at / "bad.nii.gz", code=3).stderr)
                (self.at / "bad.nii.gz").write_bytes(gzip.compress(volume(whole, "h", 4))[:-20])
                self.assertIn("NIfTI", run("denoise", self.at / "bad.nii.gz", code=3).stderr)
        self.assertEqual(codes(gzip.compress(nifti("<", 1, (3, 2), 4, struct.pack("<6h", *middle))), "scan.nii.gz")[1], middle)
        if "without libtiff" not in run("formats").stdout:  # what cannot be written as NIfTI is written as TIFF
            run("denoise", self.at / "scan.nii.gz", "-q")
            self.assertTrue((self.at / "scan_output.tif").exists())
            (self.at / "scans").mkdir()
            shutil.copy(self.at / "scan.nii.gz", self.at / "scans")
            run("denoise", self.at / "scans", "-q")
            self.assertEqual([p.name for p in (self.at / "scans" / "output").iterdir()], ["scan.tif"])

    def test_folder(self):
        folder = self.at / "folder"
        folder.mkdir()
        for i, more in enumerate([[], ["--scene", "target"], ["--depth", "16"], ["--scene", "target", "--depth", "16"]]):
            run("synth", "-o", folder / f"{i}.png", "--size", f"{40 + 7 * i}x31", *more)
        write_pgm(folder / "ten.pgm", 33, 21, 1023, lambda x, y: x * y)
        (folder / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 50)
        (folder / "notes.txt").write_text("not a picture")
        result = run("denoise", folder, "--filter", "median", code=1)
        self.assertIn("bad.png", result.stderr)
        self.assertEqual(len(result.stderr.strip().splitlines()), 1)
        self.assertIn("5 pictures", result.stdout)
        names = sorted(p.name for p in (folder / "output").iterdir())
        self.assertEqual(names, ["0.png", "1.png", "2.png", "3.png", "ten.pgm"])
        first = {p.name: p.read_bytes() for p in (folder / "output").iterdir()}
        run("denoise", folder, "--filter", "median", "--in-flight", 1, "--io-threads", 3, code=1)
        self.assertEqual({p.name: p.read_bytes() for p in (folder / "output").iterdir()}, first)
        for name in names:  # one by one gives the same
            run("denoise", folder / name, "--filter", "median", "-q", "-o", self.at / name)
            self.assertEqual((self.at / name).read_bytes(), first[name], name)
        (folder / "bad.png").unlink()
        run("denoise", folder, "--filter", "gaussian", "--reference", folder, "-o", self.at / "elsewhere" / "deep")
        self.assertEqual(len(list((self.at / "elsewhere" / "deep").iterdir())), 5)

    def test_clips(self):
        run("synth", "--scene", "sector", "--size", "63x41", "--frames", 5, "-o", self.at / "a.y4m", "--clean", self.at / "c.y4m")
        clip = self.at / "a.y4m"
        run("denoise", clip, "--filter", "none", "-q", "-o", self.at / "same.y4m")
        self.assertEqual(clip.read_bytes(), (self.at / "same.y4m").read_bytes())
        results = set()
        for in_flight in (1, 4):
            run("denoise", clip, "-q", "--in-flight", in_flight, "-o", self.at / "out.y4m")
            results.add((self.at / "out.y4m").read_bytes())
        self.assertEqual(len(results), 1)
        self.assertNotEqual(results.pop(), clip.read_bytes())
        frame = bytes(i * 7 % 251 for i in range(31 * 17 + 2 * 16 * 9))
        for name, format_name in (("a.yuv", "I420"), ("b.yuv", "NV12")):
            (self.at / name).write_bytes(frame * 3)
            run("denoise", self.at / name, "--raw", "31x17:" + format_name, "--filter", "none", "-q", "-o", self.at / "o.yuv")
            self.assertEqual((self.at / "o.yuv").read_bytes(), frame * 3)
        (self.at / "cut.yuv").write_bytes(frame[:-1])
        self.assertIn("1 bytes are missing", run("denoise", self.at / "cut.yuv", "--raw", "31x17:I420", code=3).stderr)
        (self.at / "cut.y4m").write_bytes(clip.read_bytes()[:-1])
        run("denoise", self.at / "cut.y4m", code=3)
        self.assertFalse((self.at / "cut_output.y4m").exists())

    def test_crop_cuts_samples(self):
        write_pgm(self.at / "in.pgm", 20, 10, 255, lambda x, y: x + 20 * y)
        run("crop", self.at / "in.pgm", "--rect", "3,4,5,2", "-o", self.at / "out.pgm")
        self.assertEqual(read_pnm(self.at / "out.pgm")[1], bytes(x + 20 * y for y in (4, 5) for x in range(3, 8)))

    def test_metrics(self):
        run("synth", "--scene", "brain", "--size", "80x80", "-o", self.at / "n.png", "--clean", self.at / "c.png")
        values = json.loads(run("metrics", self.at / "n.png", "-r", self.at / "c.png", "--roi", "30,30,8,8", "--roi",
                                "1,1,6,6", "--json").stdout)
        self.assertTrue(15 < values["psnr"] < 30 and 0 < values["ssim"] < 1 and values["mse"] > 0)
        self.assertTrue(values["enl"] > 0 and values["cnr"] > 1 and 0.5 < values["gcnr"] <= 1)
        same = json.loads(run("metrics", self.at / "n.png", "-r", self.at / "n.png", "--json").stdout)
        self.assertEqual((same["psnr"], same["ssim"], same["mse"]), (None, 1, 0))

    def test_tune_improves_and_prints_what_it_found(self):
        run("synth", "--scene", "target", "--size", "96x72", "-o", self.at / "n.png", "--clean", self.at / "c.png")
        result = run("tune", self.at / "n.png", "-r", self.at / "c.png", "--filter", "gaussian", "-o", self.at / "best.png").stdout
        best = json.loads(run("metrics", self.at / "best.png", "-r", self.at / "c.png", "--json").stdout)["psnr"]
        arguments = result.splitlines()[1].split()[1:]
        run(*arguments, "-q", "-o", self.at / "again.png")
        self.assertEqual((self.at / "again.png").read_bytes(), (self.at / "best.png").read_bytes())
        for sigma in ("0.3", "0.6", "0.9", "1.5"):
            run("denoise", self.at / "n.png", "--filter", "gaussian", "--gaussian-sigma", sigma, "-q", "-o", self.at / "x.png")
            other = json.loads(run("metrics", self.at / "x.png", "-r", self.at / "c.png", "--json").stdout)["psnr"]
            self.assertGreaterEqual(best, other - 0.01)

    def test_compare_draws(self):
        run("synth", "--size", "40x30", "-o", self.at / "n.png", "--clean", self.at / "c.png")
        run("compare", self.at / "n.png", self.at / "c.png", "-o", self.at / "s.png", "-d", self.at / "d.png")
        data = (self.at / "s.png").read_bytes()
        self.assertEqual(struct.unpack(">II", data[16:24]), (80, 30))
        self.assertTrue((self.at / "d.png").exists())

    def test_bench_writes_numbers(self):
        run("bench", "--filter", "gaussian,median", "--size", "64x48,33x31", "--sweep", "median-radius=1,2", "--runs", 2,
            "--backend", "cpu", "--json", self.at / "b.json", "--csv", self.at / "b.csv")
        rows = json.loads((self.at / "b.json").read_text())["rows"]
        self.assertEqual(len(rows), 6)
        self.assertEqual(len((self.at / "b.csv").read_text().splitlines()), 7)
        for row in rows:
            self.assertTrue(0 < row["best_ms"] <= row["median_ms"])

    def test_completion_completes(self):
        bash = shutil.which("bash")
        if not bash:
            self.skipTest("bash is not there")
        (self.at / "c").write_text(run("completion").stdout)

        def complete(*words):
            quoted = " ".join(f"'{w}'" for w in ("quietframe",) + words)
            script = f"source {self.at}/c; COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; _quietframe; echo ${{COMPREPLY[@]}}"
            return subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True).stdout.split()

        self.assertEqual(complete("den"), ["denoise"])
        self.assertIn("--nlm-h", complete("denoise", "--nl"))
        self.assertEqual(complete("denoise", "--filter", "gau"), ["gaussian"])
        self.assertIn("poisson", complete("noise", "--type", ""))

    def test_manual_is_in_order(self):
        text = run("manual").stdout
        for command in COMMANDS:
            self.assertIn(f".SS {command}", text)
        codes = text.split(".SH EXIT STATUS", 1)[1]
        for code in range(6):
            self.assertIn(f".TP\n.B {code}\n", codes)
            self.assertIn(f"\n  {code}  ", run("--help").stdout)
        for words in (".SH FORMATS", "iCCP, sRGB, gAMA", "tRNS"):
            self.assertIn(words, text)
        groff = shutil.which("groff")
        if groff:
            result = subprocess.run([groff, "-man", "-Tascii", "-ww"], input=text, capture_output=True, text=True, check=True)
            self.assertEqual(result.stderr, "")
            for option in ("--nlm-patch-radius", "--roi", "--in-flight"):
                self.assertIn(option, re.sub("\x1b\\[[0-9;]*m|.\b", "", result.stdout))

    def test_devices_and_filters_answer_on_every_machine(self):
        devices = run("devices").stdout
        self.assertRegex(devices, r"(?m)^(cuda:\d+  .+\n +\d+ multiprocessors, compute capability \d+\.\d+, [\d.]+ GiB|no CUDA device: .+)$")
        self.assertRegex(devices, r"(?m)^driver supports CUDA (none|\d+\.\d+), runtime is CUDA (none|\d+\.\d+)$")
        self.assertIn("cpu", devices)
        if "no CUDA device" in devices:
            result = run("denoise", self.make(), "--backend", "cuda", code=4)
            self.assertIn(devices.splitlines()[0].split(": ", 1)[1], result.stderr)  # the same reason
        listed = run("filters").stdout
        for line in run("filters", "--markdown").stdout.splitlines()[2:]:
            self.assertIn("--" + line.split("`")[1], listed)


if __name__ == "__main__":
    QUIETFRAME = sys.argv.pop(1)
    unittest.main()
