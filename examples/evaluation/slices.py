"""Reads folders of pictures as gray float32 slices in levels, 0..255, of one size, or has phantoms generated."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image

PICTURES = {".png", ".jpg", ".jpeg", ".pgm", ".bmp", ".tif", ".tiff"}


def gray(picture):
    """A PIL picture as float32 rows; 8-bit ones keep their codes, deeper ones their own range."""
    return np.asarray(picture if picture.mode in ("I", "F", "I;16", "I;16B") else picture.convert("L"), np.float32)


def read_picture(path):
    with Image.open(path) as picture:
        deep = picture.mode in ("I", "F", "I;16", "I;16B")
        return [gray(picture)], deep


def read_dicom(path):
    import pydicom

    data = pydicom.dcmread(path)
    pixels = data.pixel_array.astype(np.float32)
    if data.get("SamplesPerPixel", 1) != 1:
        raise ValueError("it is in colour")
    if data.get("PhotometricInterpretation") == "MONOCHROME1":
        pixels = pixels.max() - pixels
    return list(pixels.reshape(-1, *pixels.shape[-2:])), True


def read_nifti(path):
    import nibabel

    volume = nibabel.load(path).get_fdata(dtype=np.float32)
    volume = volume.reshape(*volume.shape[:2], -1)
    return [np.rot90(volume[:, :, k]) for k in range(volume.shape[2])], True


def read_array(path):
    array = np.load(path).astype(np.float32)
    return list(array.reshape(-1, *array.shape[-2:])), True


def read_file(path):
    """All slices of a file; a file that is no picture of a known kind gives none."""
    name = path.name.lower()
    if name.endswith((".nii", ".nii.gz")):
        return read_nifti(path)
    if path.suffix.lower() == ".npy":
        return read_array(path)
    if path.suffix.lower() in (".dcm", ".ima"):
        return read_dicom(path)
    if path.suffix.lower() in PICTURES:
        return read_picture(path)
    return [], False


def scaled(slices, deep):
    """8-bit pictures stay as they are; other files are scaled by their largest value, as the paper does."""
    low, high = min(s.min() for s in slices), max(s.max() for s in slices)
    if deep and high > low:
        return [(s - low) * (255 / (high - low)) for s in slices]
    return slices


def resized(levels, size):
    if levels.shape == (size[1], size[0]):
        return levels
    return np.asarray(Image.fromarray(levels.astype(np.float32)).resize(size, Image.BILINEAR))


def read_folder(folder, size, most=0):
    """Yields the slices of all files below `folder` in the order of their names, resampled to `size`, `most` of them at the most (0:
    all); empty ones are left out, and files that cannot be read, with the reason."""
    count = 0
    for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
        try:
            slices, deep = read_file(path)
        except Exception as error:  # a file of many libraries' reading: all that is wrong with it is said
            print(f"{path} is left out: {error}", file=sys.stderr)
            continue
        for levels in (resized(s, size) for s in (scaled(slices, deep) if slices else []) if s.std() > 1):
            yield levels
            count += 1
            if count == most:
                return
    if count == 0:
        raise SystemExit(f"error: {folder} holds no slices (PNG, JPEG, PGM, TIFF, DICOM, NIfTI and .npy are read)")


def generate(quietframe, count, size):
    """Yields clean brain phantoms of different anatomy, by `quietframe synth`."""
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(1, count + 1):
            path = pathlib.Path(folder) / "slice.png"
            subprocess.run([quietframe, "synth", "--scene", "brain", "--clean", path, "--size", f"{size[0]}x{size[1]}",
                            "--seed", str(seed), "--first", str(5 * seed)], check=True)
            yield from read_picture(path)[0]
