#!/usr/bin/env python3
"""Compares quietframe metrics with scikit-image: peak_signal_noise_ratio and structural_similarity, to 1e-6.

usage: metrics.py QUIETFRAME          against the numbers in metrics.json, and scikit-image's own where it is installed
       metrics.py --make METRICS.json  writes that file (needs NumPy and scikit-image)
Both of scikit-image's functions with their defaults: uniform 7x7 windows that lie wholly inside, sample covariance,
K1 = 0.01, K2 = 0.03; the data range is the largest code of the format, colour is the mean over the channels.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

TOLERANCE = 1e-6
NUMBERS = pathlib.Path(__file__).with_name("metrics.json")
# name: width, height, channels, largest code, noise in codes
CASES = {
    "gray-8": (97, 61, 1, 255, 20),
    "colour-8": (53, 40, 3, 255, 35),
    "gray-16": (64, 33, 1, 65535, 2500),
    "colour-16": (31, 45, 3, 65535, 9000),
    "gray-10": (40, 29, 1, 1023, 50),
    "least": (7, 7, 1, 255, 40),
    "close-16": (80, 50, 1, 65535, 1),
    "dark-8": (60, 44, 3, 255, 2),
}


def picture_pair(name):
    """Reference and noisy samples, row by row with channels interleaved; the same on every machine."""
    width, height, channels, top, noise = CASES[name]
    state = sum(name.encode())
    reference, noisy = [], []
    for y in range(height):
        for x in range(width):
            for c in range(channels):
                base = 0 if name.startswith("dark") else ((x * (c + 3) + y * 5) * 2477 + (x // 9 + y // 7) % 2 * top // 2) % (top + 1)
                state = (state * 1103515245 + 12345) % 2 ** 31
                reference.append(base)
                noisy.append(min(top, max(0, base + state // 65536 % (2 * noise + 1) - noise)))
    return reference, noisy


def write_pnm(path, name, samples):
    width, height, channels, top, _ = CASES[name]
    size = 2 if top > 255 else 1
    header = b"P%d\n%d %d\n%d\n" % (5 if channels == 1 else 6, width, height, top)
    path.write_bytes(header + b"".join(s.to_bytes(size, "big") for s in samples))


def by_scikit_image(name):
    import numpy
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity
    width, height, channels, top, _ = CASES[name]
    shape = (height, width) if channels == 1 else (height, width, channels)
    reference, noisy = (numpy.array(s, numpy.uint8 if top == 255 else numpy.uint16).reshape(shape) for s in picture_pair(name))
    axis = {} if channels == 1 else {"channel_axis": -1}
    return {"psnr": float(peak_signal_noise_ratio(reference, noisy, data_range=top)),
            "ssim": float(structural_similarity(reference, noisy, data_range=top, **axis))}


def by_quietframe(quietframe, name, folder):
    files = []
    for role, samples in zip(("reference", "noisy"), picture_pair(name)):
        files.append(folder / f"{name}-{role}.{'pgm' if CASES[name][2] == 1 else 'ppm'}")
        write_pnm(files[-1], name, samples)
    result = subprocess.run([quietframe, "metrics", files[1], "--reference", files[0], "--json"], capture_output=True, text=True, check=True)
    return json.loads(result.stdout)


def scikit_image_version():
    try:
        import skimage
        return skimage.__version__
    except ImportError:
        return None


def main():
    if sys.argv[1] == "--make":
        numbers = {"scikit-image": scikit_image_version(), "cases": {name: by_scikit_image(name) for name in CASES}}
        pathlib.Path(sys.argv[2]).write_text(json.dumps(numbers, indent=1) + "\n")
        return 0
    recorded = json.loads(NUMBERS.read_text())
    sources = {f"recorded of {recorded['scikit-image']}": recorded["cases"]}
    if scikit_image_version():
        sources[f"scikit-image {scikit_image_version()}"] = {name: by_scikit_image(name) for name in CASES}
    worst = 0
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            got = by_quietframe(sys.argv[1], name, pathlib.Path(folder))
            for source, expected in sources.items():
                for measure, value in expected[name].items():
                    off = abs(got[measure] - value)
                    worst = max(worst, off)
                    if off > TOLERANCE:
                        print(f"{name}: {measure} is {got[measure]!r}, and {value!r} by {source}")
    print(f"{len(CASES)} pairs, beside {' and '.join(sources)}: {worst:.2g} apart at most")
    return 1 if worst > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
