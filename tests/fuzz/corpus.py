#!/usr/bin/env python3
"""Makes the seed corpus of a fuzz target, and runs a program over it.

usage: corpus.py TARGET FOLDER                 writes the seeds, for libFuzzer to start from
       corpus.py TARGET --replay REPLAY        runs REPLAY over the seeds, and over cut and damaged copies of them
"""
import gzip
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import zlib

# Inputs that a fuzzer found, kept so that they stay mended.
FOUND = {"pnm": [], "y4m": [], "values": [], "options": [], "picture": []}


def pnm():
    yield b"P1\n# bits\n3 2\n1 0 1\n010\n"
    yield b"P4 9 2\n" + bytes([0xAA, 0x80, 0x55, 0])
    yield b"P2\n2 2 7\n0 7\n3 4\n"
    yield b"P3 2 1 1023 1 2 3 1023 0 7"
    yield b"P5 3 2 255\n" + bytes(range(6))
    yield b"P5 2 2 4095\n" + struct.pack(">4H", 0, 4095, 17, 2048)
    yield b"P6 2 1 65535\n" + struct.pack(">6H", *range(0, 60000, 10000))
    yield b"P7\nWIDTH 2\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n" + bytes(range(8))
    yield b"P7\n#c\nWIDTH 1\nHEIGHT 2\nDEPTH 2\nMAXVAL 300\nTUPLTYPE GRAYSCALE_ALPHA\nENDHDR\n" + bytes(8)
    yield b"Pf\n2 2\n-1.0\n" + struct.pack("<4f", 0, 0.5, 1, 2)
    yield b"PF\n1 1\n2.5\n" + struct.pack(">3f", 0, float("nan"), float("inf"))


def y4m():
    def clip(header, frame, count=2):
        return b"YUV4MPEG2 " + header + b"\n" + count * (b"FRAME\n" + bytes(frame))
    yield clip(b"W3 H3 F30:1 Ip A1:1 C420jpeg XYSCSS=420JPEG", 9 + 8)
    yield clip(b"W4 H2 F30000:1001 It A0:0 C422", 16)
    yield clip(b"W2 H2 F1:1 C444", 12)
    yield clip(b"W2 H2 C420p10", 12)
    yield clip(b"W3 H1 Cmono", 3)
    yield clip(b"W3 H1 Cmono12", 6)
    yield b"YUV4MPEG2 W2 H2\nFRAME Ixyz\n" + bytes(6)


def values():
    for text in ("640x480", "1x1", "32767x32767", "x", "-1x5"):
        yield b"\0" + text.encode()
    for text in ("1,2,3,4", "0,0,32767,1", ",,,", "1,2,3,4,5"):
        yield b"\1" + text.encode()
    for text in ("640x480:NV12", "1024x1024:GRAY16_LE:12", "1x1:RGB", "2x2:GRAY16_BE:9", "3x3:I420:8", "::"):
        yield b"\2" + text.encode()
    for kind in range(3, 48):
        for text in ("0", "1", "2.5", "255", "1e-3", "soft", "bior4.4", "yes", "off", "auto", "nan", "-inf", "luma"):
            yield bytes([kind]) + text.encode()


def options():
    lines = ["denoise in.png --filter nlm --nlm-h 20 --nlm-patch-radius 3 -o out.png", "denoise folder -r clean --in-flight 4 -q",
             "denoise a.y4m --backend cpu --threads 2 --strength=0.5 --planes luma", "noise in.png --type rician --strength 9 --seed 7",
             "denoise a.raw --raw 640x480:GRAY16_LE:12", "synth -o a.y4m --scene sector --size 64x48 --frames 9 --clean c.y4m",
             "crop a.png --rect 1,2,3,4", "metrics a.png -r b.png --roi 1,2,3,4 --roi 5,6,7,8 --json", "compare a b -d d.png --gain 8",
             "tune a.png -r b.png --filter wavelet --rounds 2 --choices", "devices", "filters --markdown", "completion", "manual",
             "bench --filter nlm,median --size 64x48,1x1 --sweep nlm-h=1,2 --runs 2 --json j --csv c --plot p.png", "--help", "--version",
             "denoise --help", "denoise -- --odd", "formats"]
    for line in lines:
        yield line.replace(" ", "\n").encode()


def png_chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(colour_type, bits, rows, *more):
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour_type]
    header = struct.pack(">IIBBBBB", len(rows[0]) * 8 // (bits * channels), len(rows), bits, colour_type, 0, 0, 0)
    chunks = [(b"IHDR", header), *more, (b"IDAT", zlib.compress(b"".join(b"\0" + r for r in rows))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(png_chunk(*c) for c in chunks)


def tiff(order, bits, samples, data, *more):
    """One strip, uncompressed."""
    fields = [(256, 3, 2), (257, 3, 1), (258, 3, bits), (259, 3, 1), (262, 3, 2 if samples > 2 else 1), (273, 4, 8), (277, 3, samples),
              (278, 3, 1), (279, 4, len(data)), *more]
    e = "<" if order == b"II" else ">"
    value = {3: lambda v: struct.pack(e + "HH", v, 0), 4: lambda v: struct.pack(e + "I", v)}
    table = struct.pack(e + "H", len(fields)) + b"".join(struct.pack(e + "HHI", tag, kind, 1) + value[kind](v) for tag, kind, v in fields)
    return order + struct.pack(e + "HI", 42, 8 + len(data)) + data + table + bytes(4)


def nifti(order, datatype, voxels, slope=0):
    """NIfTI-1 of 2 x 2 x 2 voxels."""
    header = bytearray(352)
    struct.pack_into(order + "i", header, 0, 348)
    struct.pack_into(order + "8h", header, 40, 3, 2, 2, 2, 1, 1, 1, 1)
    struct.pack_into(order + "h", header, 70, datatype)
    struct.pack_into(order + "ff", header, 108, 352, slope)
    return bytes(header[:344]) + b"n+1\0" + bytes(4) + voxels


def nifti2():
    header = bytearray(544)
    struct.pack_into("<i8s2h", header, 0, 540, b"n+2\0\r\n\x1a\n", 16, 32)
    struct.pack_into("<9q", header, 16, 3, 2, 2, 2, 1, 1, 1, 1, 0)
    struct.pack_into("<q", header, 168, 544)
    return bytes(header) + struct.pack("<8f", *range(8))


def picture():
    yield png(0, 8, [bytes(range(3))] * 2)
    yield png(0, 1, [b"\xa0"] * 3)
    yield png(2, 16, [bytes(range(12))] * 2, (b"gAMA", struct.pack(">I", 45455)), (b"tRNS", bytes(6)), (b"tEXt", b"Title\0x"))
    yield png(3, 4, [b"\x01\x10"] * 2, (b"PLTE", bytes(range(6))), (b"tRNS", b"\x80"))
    yield png(6, 8, [bytes(range(8))] * 2, (b"sRGB", b"\0"), (b"pHYs", bytes(9)), (b"eXIf", b"MM\0*\0\0\0\x08\0\0"))
    yield tiff(b"II", 8, 1, b"\x10\x20")
    yield tiff(b"MM", 16, 1, bytes(4))
    yield tiff(b"II", 32, 1, struct.pack("<2f", 0.5, 1), (339, 3, 3))
    yield from pnm()
    yield bytes(128) + b"DICM" + bytes(40)
    yield bytes(344) + b"n+1\0" + bytes(10)
    yield nifti("<", 4, struct.pack("<8h", *range(-4, 4)))
    yield nifti(">", 16, struct.pack(">8f", *range(8)), 0.5)
    yield nifti("<", 128, bytes(range(24)))
    yield nifti2()
    yield gzip.compress(nifti("<", 512, bytes(16)), mtime=0)


SEEDS = {"pnm": pnm, "y4m": y4m, "values": values, "options": options, "picture": picture}


def damaged(seed, dice):
    """The seed cut at a few places, and with bytes changed, doubled and left out."""
    for _ in range(4):
        yield seed[:dice.randrange(len(seed) + 1)]
    for _ in range(24):
        copy = bytearray(seed)
        for _ in range(dice.choice((1, 1, 2, 5))):
            at = dice.randrange(len(copy)) if copy else 0
            how = dice.randrange(4)
            if how == 0 and copy:
                copy[at] ^= 1 << dice.randrange(8)
            elif how == 1 and copy:
                copy[at] = dice.choice((0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x0A, 0x39))
            elif how == 2:
                copy[at:at] = copy[at:at + dice.randrange(1, 9)]
            else:
                del copy[at:at + dice.randrange(1, 5)]
        yield bytes(copy)


def write(folder, inputs):
    for number, data in enumerate(inputs):
        (pathlib.Path(folder) / f"{number:05}").write_bytes(data)


def main():
    target = sys.argv[1]
    seeds = [*SEEDS[target](), *FOUND[target]]
    if sys.argv[2] != "--replay":
        pathlib.Path(sys.argv[2]).mkdir(parents=True, exist_ok=True)
        write(sys.argv[2], seeds)
        return 0
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as folder:
        write(folder, seeds + [copy for seed in seeds for copy in damaged(seed, dice)])
        result = subprocess.run([sys.argv[3], folder], capture_output=True, text=True, errors="replace")
        print("\n".join(result.stdout.splitlines()[-1:]) + "\n" + result.stderr)
        return result.returncode


if __name__ == "__main__":
    sys.exit(main())
