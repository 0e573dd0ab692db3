"""The simulated device's clock beside rows of real profiler files: modelled over measured kernel time, by class.

usage: clock.py BUILD_FOLDER [--fit] [--swap] [--kernels] [--files] [--json FILE]

Every device row counts whose board and configuration the file itself tells: architecture, cores, shapes, dtypes, memory,
fidelity. Of each model that has two files one is fitted to and one is held out; `--fit` prints src/exec/data/clock.tsv
with constants fitted to the first half (`--swap`: to the second one, and reports the first).
Files are read in $OPWRIGHT_REAL_DATA, else ../shared/data: capture/perf_csv.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REAL = Path(os.environ.get("OPWRIGHT_REAL_DATA") or ROOT.parent / "shared" / "data") / "capture" / "perf_csv"
#: Of each model one file; the other one of the model, and a model with one file, is held out. Decode and prefill, and
#: both boards, are in both halves.
FITTED = (
    "gemma4_31b_long_gelu_B0_vs_F4",
    "gemma4_31b_mesh4_decode_traced",
    "gpt_oss_20b_fused_prefill",
    "llama31_8b_prefill",
    "qwen36_27b_full_attention_incumbent",
)
GOAL = ("matmul", "eltwise", "reduction", "data movement", "attention")
LEAST, MOST = 0.7, 1.4
FUSED, CHUNK = re.compile(r"fuse_batch=1"), re.compile(r"q_chunk_size=(\d+)")

csv.field_size_limit(1 << 30)


def dimension(text: str) -> tuple[str, str]:
    padded, _, logical = text.partition("[")
    return padded, logical.rstrip("]") or padded


def tensors(row: dict, side: str) -> list[str] | None:
    """As clock_bench reads them; None where a cell is not understood."""
    out = []
    for i in range(64):
        if f"{side}_{i}_X_PAD[LOGICAL]" not in row:
            break
        cells = [row[f"{side}_{i}_{axis}_PAD[LOGICAL]"] for axis in "WZYX"]
        if not any(cells):
            continue
        dims = [dimension(cell) for cell in cells]
        if not all(part.isdigit() for dim in dims for part in dim):
            return None
        kind = [row[f"{side}_{i}_{what}"] for what in ("DATATYPE", "LAYOUT", "MEMORY")]
        if not kind[2].startswith("DEV_"):
            return None
        out += [side[0], "x".join(d[0] for d in dims), "x".join(d[1] for d in dims), *kind]
    return out


def rows_of(path: Path, is_fitted: bool, left_out: Counter) -> list[tuple[str, str, float, str]]:
    """(file, class, measured, line) of every row that says enough."""
    out = []
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row.get("OP TYPE") != "tt_dnn_device":
                continue
            board, cores, available = (row.get(c) for c in ("DEVICE ARCH", "CORE COUNT", "AVAILABLE WORKER CORE COUNT"))
            if board not in ("wormhole_b0", "blackhole") or not cores or not available:
                left_out["the file does not tell the board or its cores"] += 1
                continue
            measured = row.get("DEVICE KERNEL DURATION [ns]") or "0"
            inputs, outputs = tensors(row, "INPUT"), tensors(row, "OUTPUT")
            if not measured.replace(".", "").isdigit() or not float(measured) > 0:
                left_out["no kernel time"] += 1
            elif inputs is None or outputs is None or not outputs:
                left_out["a tensor that is not told, or not on the device"] += 1
            else:
                name = row["OP CODE"].split("::")[-1]
                fused = "1" if FUSED.search(row.get("ATTRIBUTES") or "") else "0"
                chunk = found[1] if (found := CHUNK.search(row.get("ATTRIBUTES") or "")) else "32"
                head = ["1" if is_fitted else "0", name, board, cores, available, row["MATH FIDELITY"] or "-", fused, chunk, measured]
                out.append((path.name, name, float(measured), "\t".join([*head, *inputs, *outputs])))
    return out


def quantile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def print_table(title: str, groups: dict[str, list[float]]) -> None:
    print(f"  {title:38} {'rows':>5} {'10 %':>6} {'median':>7} {'90 %':>6}")
    for name, ratios in groups.items():
        print(f"  {name:38} {len(ratios):5} {quantile(ratios, 0.1):6.2f} {quantile(ratios, 0.5):7.2f} {quantile(ratios, 0.9):6.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--fit", action="store_true", help="print the table with fitted constants")
    parser.add_argument("--swap", action="store_true", help="the halves exchanged")
    parser.add_argument("--kernels", action="store_true", help="also by kind of kernel")
    parser.add_argument("--files", action="store_true", help="also by file")
    parser.add_argument("--json", type=Path, help="the figures, to this file")
    options = parser.parse_args()
    paths = sorted(REAL.glob("*.csv*"))
    if not paths:
        print(f"no profiler files in {REAL}: nothing is measured", file=sys.stderr)
        return 3
    left_out: Counter = Counter()
    rows = []
    for path in paths:
        rows += rows_of(path, (path.name.split(".")[0] in FITTED) != options.swap, left_out)
    text = "\n".join(row[3] for row in rows) + "\n"
    command = [options.build / "clock_bench"] + (["--fit"] if options.fit else [])
    answer = subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout
    if options.fit:
        print(answer, end="")
        return 0

    groups: dict[str, dict[str, list[float]]] = {"fitted": defaultdict(list), "held out": defaultdict(list)}
    kernels, files = defaultdict(list), defaultdict(list)
    cores, unknown = [], Counter()
    for (file, name, measured, line), modelled in zip(rows, answer.splitlines()):
        kernel, group, ns, own_cores, own_ns = [*modelled.split("\t"), "0"][:5]
        if kernel == "-":
            unknown[name] += 1
            continue
        ratio, half = float(ns) / measured, "fitted" if line.startswith("1") else "held out"
        groups[half][group].append(ratio)
        groups.setdefault(f"{half}, cores chosen by the clock", defaultdict(list))[group].append(float(own_ns) / measured)
        if half == "held out":
            kernels[kernel].append(ratio)
            cores.append(float(own_cores) / float(line.split("\t")[3]))
        files[f"{file} ({half})"].append(ratio)
    print(f"modelled / measured kernel time, {len(rows)} rows of {len(paths)} files")
    for half, by_group in groups.items():
        print_table(half, dict(sorted(by_group.items())))
    if options.kernels:
        print_table("held out, by kind of kernel", dict(sorted(kernels.items())))
    if options.files:
        print_table("by file", files)
    print_table("held out: cores chosen / used", {"all": cores})
    for reason, count in (left_out + Counter({f"no kernel of class {n}": c for n, c in unknown.items()})).items():
        print(f"  not compared: {count} rows: {reason}")
    figures = {g: [len(r), quantile(r, 0.1), quantile(r, 0.5), quantile(r, 0.9)] for g, r in sorted(groups["held out"].items())}
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    missed = [g for g in GOAL if g not in figures or not LEAST <= figures[g][2] <= MOST]
    print(f"  goal: the median of each class within {LEAST} to {MOST}: {'missed by ' + ', '.join(missed) if missed else 'reached'}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
