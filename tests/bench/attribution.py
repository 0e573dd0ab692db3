"""The attribution table: incidents with a known culprit, and how many of them a run names right.

usage: attribution.py [--seed N] [--times N]      OPWRIGHT_BIN names the program
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import data  # noqa: E402
from incidents import carry_out, incidents  # noqa: E402

GOAL = 0.98


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--times", type=int, default=6, help="incidents of each kind")
    parser.add_argument("--table", help="write the table there, as opwright report --table shows it")
    options = parser.parse_args()
    todo = list(incidents(options.seed, options.times))
    tried, right, wrong = Counter(), Counter(), []
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        ended = pool.map(lambda n: carry_out(todo[n], Path(folder) / str(n)), range(len(todo)))
        for incident, (named, said) in zip(todo, ended):
            tried[incident.kind] += 1
            right[incident.kind] += named
            if not named:
                wrong.append(f"{incident.kind}: {said}")
    print(f"incidents whose culprit was named, seed {options.seed}")
    for kind in tried:
        print(f"  {kind:32} {right[kind]:4} of {tried[kind]:4}")
    share = right.total() / tried.total()
    print(f"  {'all':32} {right.total():4} of {tried.total():4}   {100 * share:.1f} % (goal {100 * GOAL:.0f} %)")
    if options.table:
        rows = [[kind, tried[kind], right[kind]] for kind in tried] + [["all", tried.total(), right.total()]]
        data.write_table(options.table, "Incidents with a known culprit", f"Seed {options.seed}.", ["incident", "tried", "named right"], rows)
    for line in wrong:
        print(f"not named: {line}")
    return 0 if share >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
