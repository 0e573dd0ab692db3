#!/usr/bin/python3
"""What a run of real configurations spends its time on: device, reference, judge, and each check beside them.

    ./x bench cases [--every N] [--where SELECTOR] [--operations]

Every Nth configuration of the December 2025 master (5,213; $OPWRIGHT_REAL_DATA, else ../shared/data), else all of our fixtures, in one
process, in processor seconds; what all of them would take on 2 cores follows from that. `blind` and `whole` are the checks that a
plain verdict has besides: which wrong uses of the data it would not have shown, and the second look on whole numbers.
Exit status 1 where all would take more than 30 minutes, or these checks more than 15 % of the time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import data  # noqa: E402

PARTS = ("data", "device", "reference", "judge", "blind", "whole")
CHECKS = ("blind", "whole")
MOST_MINUTES, MOST_SHARE = 30, 0.15


def shares(row: dict) -> str:
    rest = row["seconds"] - sum(row[part] for part in PARTS)
    cells = [f"{part} {row[part] / row['seconds']:6.1%}" for part in PARTS] + [f"rest {rest / row['seconds']:6.1%}"]
    return "  ".join(cells)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=20, help="take every Nth configuration (default 20)")
    parser.add_argument("--where", help="only these configurations (docs/formats/selector.md)")
    parser.add_argument("--operations", action="store_true", help="also a line an operation, dearest first")
    options = parser.parse_args()
    program = Path(os.environ["OPWRIGHT_BIN"])
    real = data.DECEMBER.exists()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "cases.db"
        subprocess.run([program, "--store", store, "import", data.DECEMBER if real else data.FIXTURES / "master"], check=True, stdout=subprocess.DEVNULL)
        where = ["--where", options.where] if options.where else []
        listed = subprocess.run([program, "--store", store, "vectors", "--format", "jsonl", *where], check=True, stdout=subprocess.PIPE, text=True)
    vectors = listed.stdout.splitlines()
    taken = vectors[:: options.every if real else 1]
    done = subprocess.run([program.parent / "case_bench"], input="\n".join(taken), check=True, stdout=subprocess.PIPE, text=True)
    *operations, every = [json.loads(line) for line in done.stdout.splitlines()]
    if not every["judged"]:
        sys.exit("cases: nothing was judged")
    if options.operations:
        for row in sorted(operations, key=lambda row: -row["seconds"]):
            if row["seconds"] > 0:
                print(f"{row['operation']:45}{row['cases']:5} cases {row['seconds']:8.2f} s  {shares(row)}")
    minutes = every["seconds"] * len(vectors) / len(taken) / 2 / 60
    share = sum(every[part] for part in CHECKS) / every["seconds"]
    print(f"{every['cases']} of {len(vectors)} configurations, {every['judged']} judged, {every['looked_twice']} looked at twice")
    print(f"{every['seconds']:.1f} processor s: {shares(every)}")
    print(f"all on 2 cores: {minutes:.1f} min (at most {MOST_MINUTES}); new checks {share:.1%} (at most {MOST_SHARE:.0%})")
    return 0 if minutes <= MOST_MINUTES and share <= MOST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
