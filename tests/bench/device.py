#!/usr/bin/python3
"""What the simulated matrix engine and the judge do, as two tables.

    ./x bench device [--quick] [--json]

`gemm_bench` and `judge_bench` measure and print one JSON object a line, which --json hands on as it is.
"""

import argparse
import json
import pathlib
import subprocess

GEMM = [
    ("m x n x k", lambda row: f"{row['m']} x {row['n']} x {row['k']}"),
    ("threads", lambda row: str(row["threads"])),
    ("fidelity", lambda row: row["fidelity"]),
    ("destination", lambda row: "float32" if row["fp32_acc"] else "bfloat16"),
    ("OpenBLAS GFLOP/s", lambda row: measured(row["openblas_gflops"], ".1f")),
    ("model GFLOP/s a pass", lambda row: measured(row["model_gflops_per_pass"], ".1f")),
    ("times OpenBLAS", lambda row: measured(row["ratio"], ".2f")),
]
JUDGE = [
    ("verdict", lambda row: row["bench"]),
    ("million elements", lambda row: f"{row['elements'] / 1e6:.0f}"),
    ("GB/s of actual values", lambda row: measured(row["gb_per_s"], ".2f")),
    ("only reading", lambda row: measured(row["read_gb_per_s"], ".2f")),
    ("ratio", lambda row: measured(row["of_reading"], ".2f")),
]


def measured(value, form):
    return "not measured" if value is None else format(value, form)


def table(columns, rows):
    cells = [[name for name, _ in columns]] + [[text(row) for _, text in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells)]
    for line in cells:
        print("  ".join(cell.ljust(width) if i == 0 else cell.rjust(width) for i, (cell, width) in enumerate(zip(line, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="where gemm_bench and judge_bench are")
    parser.add_argument("--quick", action="store_true", help="few shapes, few elements")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    arguments = parser.parse_args()
    jobs = [
        (GEMM, [arguments.folder / "gemm_bench"] + ["--quick"] * arguments.quick),
        (JUDGE, [arguments.folder / "judge_bench"] + ["4", "3"] * arguments.quick),
    ]
    for columns, command in jobs:
        lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        if arguments.json:
            print(lines, end="")
        else:
            table(columns, [json.loads(line) for line in lines.splitlines()])
            print()


if __name__ == "__main__":
    main()
