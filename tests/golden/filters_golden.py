#!/usr/bin/env python3
"""Makes filters.bin: what scipy says of gaussian and median, and a program in double precision of bilateral and nlm.

Needs python3-scipy. The file is a sequence of cases, little-endian: int32 length of a text, the text (filter and
parameters), seven int32 (width, height, channels, past frames, pattern, seed, bytes of an output sample), then the output,
channel after channel, as uint8 or float32 levels. Inputs are made by both sides with level() below.
"""
import pathlib
import struct

import numpy as np
from scipy import ndimage


def level(pattern, seed, channel, width, height):
    """Levels 0..255, whole numbers, of a test picture: integer arithmetic modulo 2^32, the same in any language."""
    y, x = np.mgrid[0:height, 0:width].astype(np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    h = ((y * 4099 + x + seed * 65537 + channel * 7919) * 2654435761) & mask
    h ^= h >> np.uint64(15)
    h = (h * 2246822519) & mask
    h ^= h >> np.uint64(13)
    if pattern == 0:  # stripes, a slope and noise
        v = 60 + 80 * ((x // 5 + y // 3) % 2) + x + channel * 20 + (h >> np.uint64(27))
    elif pattern == 1:  # two values
        v = 255 * (h & 1)
    else:  # a ramp with salt and pepper
        v = np.where(h % 5 == 0, 255 * ((h >> np.uint64(8)) & 1), (x * 3 + y * 5) % 256)
    return np.minimum(v, 255).astype(np.float64)


def gaussian(images, _past, sigma):
    radius = int(np.ceil(3 * sigma))
    return [ndimage.gaussian_filter(i, sigma, radius=radius, mode="nearest") for i in images]


def median(images, _past, width, height, rank):
    return [ndimage.rank_filter(i, rank, size=(height, width), mode="nearest") for i in images]


def shifted(image, margin, dx, dy, more=0):
    """The image moved by (-dx, -dy), continued by replication, with `more` samples of it all round."""
    padded = np.pad(image, margin, mode="edge")
    h, w = image.shape
    return padded[margin + dy - more : margin + dy + h + more, margin + dx - more : margin + dx + w + more]


def bilateral(images, _past, sigma_space, sigma_range):
    r = int(np.ceil(3 * sigma_space))
    total, sums = 0.0, [0.0] * len(images)
    for dy in range(-r, r + 1):
        for dx in range(-r, r + 1):
            moved = [shifted(i, r, dx, dy) for i in images]
            squares = sum((m - i) ** 2 for m, i in zip(moved, images))
            w = np.exp(-(dx * dx + dy * dy) / (2 * sigma_space**2) - squares / (2 * sigma_range**2))
            total = total + w
            sums = [s + w * m for s, m in zip(sums, moved)]
    return [s / total for s in sums]


def nlm(images, past, h, patch, search, sigma, centre):
    margin = patch + search
    total, largest, sums = 0.0, np.zeros_like(images[0]), [0.0] * len(images)
    height, width = images[0].shape
    for index, frame in enumerate([images] + past):
        for dy in range(-search, search + 1):
            for dx in range(-search, search + 1):
                if index == 0 and dx == 0 and dy == 0:
                    continue
                moved = [shifted(i, margin, dx, dy) for i in frame]
                squares = sum((shifted(f, margin, dx, dy, patch) - shifted(i, margin, 0, 0, patch)) ** 2 for f, i in zip(frame, images))
                msd = sum(
                    squares[j : j + height, i : i + width] for j in range(2 * patch + 1) for i in range(2 * patch + 1)
                ) / ((2 * patch + 1) ** 2 * len(images))
                w = np.exp(-np.maximum(msd - 2 * sigma**2, 0) / h**2)
                total = total + w
                largest = np.maximum(largest, w)
                sums = [s + w * m for s, m in zip(sums, moved)]
    own = 1.0 if centre == "one" else np.maximum(largest, 1e-20)
    return [(s + own * i) / (total + own) for s, i in zip(sums, images)]


def cases():
    """Yields text, function, its arguments, (width, height, channels, past frames, pattern, seed)."""
    for i, sigma in enumerate([0.3, 0.9, 2.0, 6.5]):
        yield f"gaussian sigma={sigma}", gaussian, (sigma,), (31, 23, 1, 0, i % 3, i)
    yield "gaussian sigma=10", gaussian, (10.0,), (9, 5, 1, 0, 0, 4)
    for k in range(3, 33, 2):
        for pattern in range(3):
            yield f"median {k} {k} {k * k // 2}", median, (k, k, k * k // 2), (37, 29, 1, 0, pattern, k)
    for width, height, rank in [(1, 7, 3), (9, 1, 4), (5, 3, 0), (3, 11, 32), (7, 5, 20), (75, 75, 2812), (75, 3, 100)]:
        yield f"median {width} {height} {rank}", median, (width, height, rank), (26, 19, 2, 0, 2, rank)
    for i, (ss, sr) in enumerate([(2.0, 30.0), (0.5, 10.0), (3.3, 80.0), (1.0, 255.0)]):
        for channels in (1, 3):
            text = f"bilateral sigma-space={ss} sigma-range={sr}"
            yield text, bilateral, (ss, sr), (23, 17, channels, 0, 0, i)
    for i, (h, patch, search, sigma, centre, channels, past) in enumerate(
        [
            (20.0, 2, 7, 0.0, "one", 1, 0),
            (20.0, 2, 7, 0.0, "one", 3, 0),
            (12.0, 1, 3, 8.0, "max", 1, 0),
            (9.0, 0, 5, 0.0, "max", 2, 0),
            (30.0, 3, 4, 12.0, "one", 1, 0),
            (15.0, 4, 2, 0.0, "one", 1, 0),
            (40.0, 5, 3, 5.0, "one", 2, 0),
            (25.0, 6, 16, 0.0, "one", 1, 0),
            (15.0, 2, 3, 4.0, "one", 1, 1),
            (18.0, 1, 2, 0.0, "max", 3, 3),
        ]
    ):
        text = f"nlm h={h} patch-radius={patch} search-radius={search} sigma={sigma} centre-weight={centre} temporal-radius={past}"
        yield text, nlm, (h, patch, search, sigma, centre), (25, 18, channels, past, 0, 40 + i)


def main():
    out = bytearray()
    for text, function, arguments, shape in cases():
        width, height, channels, past, pattern, seed = shape
        images = [level(pattern, seed, c, width, height) for c in range(channels)]
        older = [[level(pattern, seed + 1 + n, c, width, height) for c in range(channels)] for n in range(past)]
        result = function(images, older, *arguments)
        sample = 1 if function is median else 4
        out += struct.pack("<i", len(text)) + text.encode() + struct.pack("<7i", *shape, sample)
        for image in result:
            out += image.astype(np.uint8 if sample == 1 else "<f4").tobytes()
    path = pathlib.Path(__file__).with_name("filters.bin")
    path.write_bytes(out)
    print(f"{path}: {len(out)} bytes")


if __name__ == "__main__":
    main()
