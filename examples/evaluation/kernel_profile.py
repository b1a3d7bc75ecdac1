"""Runs the schedules under Nsight Compute and sums up their kernels: time, occupancy, memory throughput."""
import collections
import csv
import re
import shutil
import subprocess

METRICS = {
    "time_ns": "gpu__time_duration.sum",
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "dram_bytes_s": "dram__bytes.sum.per_second",
    "l2_bytes_s": "lts__t_bytes.sum.per_second",
}


def short_name(name):
    """The function's name without namespaces, template arguments and parameters."""
    name = name.replace("(anonymous namespace)::", "")
    while "<" in name and ">" in name:
        shorter = re.sub(r"<[^<>]*>", "", name)
        if shorter == name:
            break
        name = shorter
    return re.sub(r"\(.*", "", name).split("::")[-1].split()[-1]


def parse(text):
    """Rows of `ncu --csv --page raw --print-units base`: kernel name and metrics."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    for row in rows:
        if row.get("ID"):  # the first has the units
            yield short_name(row["Kernel Name"]), {key: float(row[metric].replace(",", "")) for key, metric in METRICS.items()}


def profile(evaluation, slices, size, programs, frames=3):
    """(rows, why): a row a program and kernel; without rows, why there are none."""
    ncu = shutil.which("ncu") or shutil.which("/usr/local/cuda/bin/ncu")
    if not ncu:
        return [], "ncu (Nsight Compute) is not installed here"
    rows = []
    for program in programs:
        command = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--metrics", ",".join(METRICS.values()),
                   evaluation, "profile", slices, "--size", size, "--program", program, "--frames", str(frames)]
        result = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
        kernels = collections.defaultdict(list)
        for name, metrics in parse(result.stdout):
            kernels[name].append(metrics)
        if not kernels:
            last = (result.stdout + result.stderr).strip().splitlines()
            return [], "ncu measured nothing: " + (last[-1] if last else "no output")
        total = sum(m["time_ns"] for ms in kernels.values() for m in ms)
        for name, ms in kernels.items():
            time = sum(m["time_ns"] for m in ms)
            mean = {key: sum(m[key] * m["time_ns"] for m in ms) / time for key in METRICS if key != "time_ns"}
            rows.append({"program": program, "kernel": name, "launches": len(ms) / frames, "us": time / frames / 1000,
                         "share": 100 * time / total, "occupancy": mean["occupancy"],
                         "dram_gb_s": mean["dram_bytes_s"] / 1e9, "l2_gb_s": mean["l2_bytes_s"] / 1e9})
    return rows, ""
