#!/usr/bin/env python3
"""Makes wavelet.bin, what PyWavelets says the wavelet filter's output is; needs python3-pywt.

The file is a sequence of cases, little-endian: seven int32 (width, height, basis, levels, rule, seed, given), float32
sigma (what the case uses: the MAD of its finest HH, or a given one), float32 mad (of the finest HH), the output as width x
height float32 in levels. The input is pseudo-random and made by both sides: sample i of a case is
((seed + i) * 2654435761 mod 2^32) >> 24, in levels.
"""
import pathlib
import struct
import warnings

import numpy as np
import pywt

BASES = ["haar", "db4", "sym4", "coif2", "bior4.4"]
RULES = ["soft", "hard", "garrote"]
BETA = {"lh": 0.8, "hl": 0.8, "hh": 1.2}


def noise(width, height, seed):
    i = np.arange(width * height, dtype=np.uint64) + seed
    return ((i * 2654435761 & 0xFFFFFFFF) >> 24).astype(np.float64).reshape(height, width)


def filtered(image, basis, levels, rule, sigma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # levels above dwt_max_level are wanted
        coefficients = pywt.wavedec2(image, basis, "symmetric", levels)
    mad = np.median(np.abs(coefficients[-1][2])) / 0.6745
    sigma = mad if sigma is None else sigma
    # cH is vertical high-pass: LH in the filter's naming, cV is HL.
    for level in range(1, len(coefficients)):
        coefficients[level] = tuple(
            shrunk(band, BETA[name] * sigma, rule) for band, name in zip(coefficients[level], ("lh", "hl", "hh"))
        )
    height, width = image.shape
    return pywt.waverec2(coefficients, basis, "symmetric")[:height, :width], sigma, mad


def shrunk(band, tau, rule):
    # pywt.threshold divides zero by zero where tau is 0; the rules themselves are continued there by c.
    return band if tau == 0 else pywt.threshold(band, tau, rule)


def cases():
    seed = 1
    for basis in range(len(BASES)):
        for width, height in [(1, 1), (2, 1), (1, 7), (3, 2), (5, 5), (13, 12), (31, 18), (40, 33)]:
            for levels in (1, 2, 3, 5):
                seed += 1000
                rule = (levels + width + basis) % 3
                yield width, height, basis, levels, rule, seed, None if (width + levels) % 2 else 12.5


def main():
    with open(pathlib.Path(__file__).with_name("wavelet.bin"), "wb") as f:
        for width, height, basis, levels, rule, seed, given in cases():
            out, sigma, mad = filtered(noise(width, height, seed), BASES[basis], levels, RULES[rule], given)
            f.write(struct.pack("<7i2f", width, height, basis, levels, rule, seed, given is not None, sigma, mad))
            f.write(out.astype("<f4").tobytes())


if __name__ == "__main__":
    main()
