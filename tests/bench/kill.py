"""The kill table: which wrong uses of data the cases of real configurations would notice, by class.

usage: kill.py [--seed N] [--sample N] [--data NAME] [--where SELECTOR] [--json FILE]     OPWRIGHT_BIN names the program

Configurations of real traces, where they are there ($OPWRIGHT_REAL_DATA, else ../shared/data), else of our fixtures, with
`run --mutate` on the simulated device. Exit status 0: of what changes an output by 2 % rms or more at least 98 % are noticed in
every class, and at least 90 % of all.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))
import data  # noqa: E402

GOAL_LARGE, GOAL_ALL = 0.98, 0.90


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=600, help="configurations; 0: all")
    parser.add_argument("--where", help="only these configurations (docs/formats/selector.md)")
    parser.add_argument("--data", default="normal", help="the recipe of the inputs")
    parser.add_argument("--json", help="write the table there, too")
    options = parser.parse_args()
    program = os.environ.get("OPWRIGHT_BIN") or str(ROOT / "build" / "release" / "opwright")
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "kill.db"

        def opwright(*arguments: object) -> str:
            done = subprocess.run([program, "--store", store, *map(str, arguments)], capture_output=True, text=True)
            if done.returncode not in (0, 1):
                sys.exit(f"{arguments}: exit status {done.returncode}\n{done.stderr[-2000:]}")
            return done.stdout

        opwright("import", *data.masters())
        choice = ["--suite", "sample", "--count", options.sample, "--randomize", options.seed] if options.sample else []
        choice += ["--where", options.where] if options.where else []
        opwright("run", "--mutate", "--quiet", "--seed", options.seed, "--data", options.data, *choice)
        print(opwright("results"))
        misuse = json.loads(opwright("--format", "json", "results"))["misuse"]
    if options.json:
        Path(options.json).write_text(json.dumps(misuse))
    below = [one for one in misuse["classes"] if one["large_noticed"] < GOAL_LARGE * one["large"]]
    for one in below:
        print(f"below {GOAL_LARGE:.0%}: {one['class']}: {one['large_noticed']} of {one['large']}")
    if not misuse["tried"]:
        sys.exit("kill: nothing was asked")
    return 0 if not below and misuse["noticed"] >= GOAL_ALL * misuse["tried"] else 1


if __name__ == "__main__":
    sys.exit(main())
