"""The paper's figures out of the experiments' CSV files: box plots, before and after, differences, time."""
import pathlib
import statistics

import numpy as np

from tables import column, ordered, pick


def plotting():
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def save(pyplot, figure, folder, name):
    path = pathlib.Path(folder) / name
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)
    return path


def boxes(results, folder):
    """Figure 2: PSNR and SSIM of each image by degradation, before and after."""
    pyplot = plotting()
    rows = pick(results.quality, program=results.ours)
    kinds = ordered(rows, "degradation")
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    for axis, key, label in zip(axes, ("psnr", "ssim"), ("PSNR, dB", "SSIM")):
        data = [column(pick(rows, degradation=kind), key + end) for kind in kinds for end in ("_before", "")]
        axis.boxplot(data, flierprops={"markersize": 2})
        axis.set_xticks(range(1, len(data) + 1), [f"{kind}\n{when}" for kind in kinds for when in ("before", "after")], fontsize=7)
        axis.set_ylabel(label)
    return save(pyplot, figure, folder, "figure-2-quality.png")


def before_after(clean, noisy, outputs, folder):
    """Figure 3: one slice clean, noisy, and filtered by each of `outputs` (name: levels), with what was removed."""
    pyplot = plotting()
    panels = [("clean", clean), ("noisy", noisy)] + list(outputs.items())
    figure, axes = pyplot.subplots(2, len(panels), figsize=(2.6 * len(panels), 5.4), squeeze=False)
    for i, (name, levels) in enumerate(panels):
        axes[0, i].imshow(levels, cmap="gray", vmin=0, vmax=255)
        axes[0, i].set_title(name, fontsize=9)
        if name == "clean":
            continue
        error = axes[1, i].imshow(levels - clean, cmap="RdBu_r", vmin=-40, vmax=40)
        axes[1, i].set_title(f"{name} - clean", fontsize=9)
    for axis in axes.flat:
        axis.axis("off")
    figure.colorbar(error, ax=axes[1, :], fraction=0.02, label="levels")
    return save(pyplot, figure, folder, "figure-3-before-after.png")


def difference(outputs, folder):
    """Figure 4: the difference between the CPU's and a GPU schedule's output, levels."""
    pyplot = plotting()
    (first, reference), (name, other) = list(outputs.items())[0], list(outputs.items())[-1]
    figure, axis = pyplot.subplots(figsize=(4.4, 3.6))
    image = axis.imshow(np.abs(other - reference), cmap="magma")
    axis.set_title(f"|{name} - {first}|, levels", fontsize=9)
    axis.axis("off")
    figure.colorbar(image, ax=axis)
    return save(pyplot, figure, folder, "figure-4-difference.png")


def time(results, folder):
    """Figure 5: total time against the number of images."""
    pyplot = plotting()
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4), sharey=True)
    for axis, mode, words in zip(axes, ("one", "flight"), ("one image at a time", "several images in flight")):
        for program in ordered(results.timing, "program"):
            points = [(int(n), statistics.fmean(ms) / 1000) for n in results.counts() if (ms := results.milliseconds(program, n, mode))]
            if points:
                axis.loglog(*zip(*points), marker="o", markersize=3, label=program)
        axis.set_xlabel("images")
        axis.set_title(words, fontsize=9)
        axis.grid(True, which="major", alpha=0.3)
    axes[0].set_ylabel("total time, s (float32 samples)")
    axes[0].legend(fontsize=8)
    return save(pyplot, figure, folder, "figure-5-time.png")
