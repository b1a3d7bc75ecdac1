#!/usr/bin/env python3
"""Plots what median-sweep measured: throughput against the window for each type, and how the time a pixel takes grows.

    median_plot.py SWEEP.csv [PEERS.csv...] OUTPUT.png

Rows are k,type,method,us,gpix_per_s,chosen, the time for one 3840x2160 frame. The growth of a method is the exponent b of
a least-squares fit of log(time per pixel) = a + b log(k); for the networks, whose operations are known to grow as
k log k, the same is fitted against k log2(k)."""
import csv
import math
import sys
from collections import defaultdict

try:
    import matplotlib
    matplotlib.use('Agg')
    import matplotlib.pyplot as plt
except ImportError:
    plt = None

PIXELS = 3840 * 2160
TYPES = ('u8', 'u16', 'f32')


def read(paths):
    """{(type, method): [(k, microseconds)]}; the method measured as chosen is kept under 'chosen' too."""
    series = defaultdict(list)
    for path in paths:
        with open(path, encoding='utf-8') as f:
            for row in csv.DictReader(f):
                point = int(row['k']), float(row['us'])
                series[row['type'], row['method']].append(point)
                if row['chosen'] == '1':
                    series[row['type'], 'chosen'].append(point)
    return series


def slope(xs, ys):
    xs, ys = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mx, my = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mx) * (y - my) for x, y in zip(xs, ys)) / sum((x - mx) ** 2 for x in xs)


def print_growth(series):
    print('type  method           windows    time ~ k^b    time ~ (k log k)^b')
    for (kind, method), points in sorted(series.items()):
        # 3x3 is a kernel of its own, bound by memory.
        points = [(k, us) for k, us in points if k >= 5]
        if len(points) < 4:
            continue
        ks, us = zip(*points)
        print(f'{kind:5} {method:16} {min(ks):3}..{max(ks):<3}   b = {slope(ks, us):5.2f}     '
              f'b = {slope([k * math.log2(k) for k in ks], us):5.2f}')


def print_steps(series):
    """The largest step between neighbouring windows: nobody likes a cliff."""
    for kind in TYPES:
        points = sorted(series[kind, 'chosen'])
        if len(points) > 1:
            step, k = max((b[1] / a[1], b[0]) for a, b in zip(points, points[1:]))
            print(f'{kind}: largest step between neighbouring windows {step:.2f}x, to {k}x{k}')


WINDOWS = [3, 5, 7, 11, 15, 21, 31, 45, 75]
# The two variants of the algorithm, and what the paper says time per pixel grows with.
GROWTH = {'network': (lambda k: k * math.log2(k), 'k log k'), 'data-aware': (lambda k: k, 'k')}


def style_axis(axis):
    axis.set(xlabel='window side k', xscale='log', yscale='log')
    axis.set_xticks(WINDOWS, WINDOWS)
    axis.minorticks_off()
    axis.grid(True, alpha=0.3)


def plot_throughput(axis, series, kind):
    for (t, method), points in sorted(series.items()):
        if t != kind:
            continue
        ks, us = zip(*sorted(points))
        style = {'linewidth': 2.5, 'color': 'black'} if method == 'chosen' else {'linewidth': 1, 'marker': '.'}
        axis.plot(ks, [PIXELS / u * 1e-3 for u in us], label=method, **style)
    axis.set_title(kind)
    style_axis(axis)
    axis.legend(fontsize='small')


def plot_growth(axis, series, kind):
    for method, (measure, name) in GROWTH.items():
        points = sorted((k, us) for k, us in series.get((kind, method), []) if k >= 5)
        if len(points) < 4:
            continue
        ks, times = zip(*points)
        xs, ys = [measure(k) for k in ks], [us / PIXELS * 1e3 for us in times]
        b = slope(xs, ys)
        a = sum(math.log(y) - b * math.log(x) for x, y in zip(xs, ys)) / len(xs)
        line, = axis.plot(ks, ys, '.', label=method)
        axis.plot(ks, [math.exp(a) * x**b for x in xs], '--', linewidth=1, color=line.get_color(),
                  label=f'~ ({name})^{b:.2f}')
    style_axis(axis)
    axis.legend(fontsize='small')


def plot(series, path):
    figure, axes = plt.subplots(2, len(TYPES), figsize=(15, 9), sharey='row', squeeze=False)
    for column, kind in enumerate(TYPES):
        plot_throughput(axes[0][column], series, kind)
        plot_growth(axes[1][column], series, kind)
    axes[0][0].set_ylabel('Gpixel/s at 3840x2160')
    axes[1][0].set_ylabel('ns a pixel')
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    series = read(arguments[:-1])
    if not any(method == 'chosen' for _, method in series):
        raise SystemExit(f'{arguments[0]} has no times')
    print_growth(series)
    print_steps(series)
    if plt:
        plot(series, arguments[-1])
    else:
        print('matplotlib is not installed: no plot')


if __name__ == '__main__':
    main(sys.argv[1:])
