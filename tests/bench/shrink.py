"""The shrinking table: planted faults with a known condition, and how many of them are shrunk to it.

usage: shrink.py [--seed N] [--only WORD] [--verbose]      OPWRIGHT_BIN names the program
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from shrink_faults import carry_out, faults  # noqa: E402
from shrink_faults_more import more_faults  # noqa: E402

GOAL = 0.95
MOST_TRIALS = 60
MOST_SECONDS = 10.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="faults whose kind or family has this word")
    parser.add_argument("--verbose", action="store_true", help="a line a fault")
    options = parser.parse_args()
    every = [*faults(options.seed), *more_faults(options.seed)]
    todo = [fault for fault in every if options.only in f"{fault.kind} {fault.family} {fault.device}"]
    tried, right, wrong = Counter(), Counter(), []
    trials, seconds = [], []
    with ThreadPoolExecutor(2) as pool:
        for fault, (found, answer, problem) in zip(todo, pool.map(carry_out, todo)):
            tried[fault.kind] += 1
            right[fault.kind] += found
            if answer:
                trials.append(answer["trials"])
                seconds.append(answer["seconds"])
            if options.verbose:
                print(f"{'ok ' if found else 'BAD'} {answer.get('trials', 0):4} {answer.get('seconds', 0):6.2f} s  {fault.device}")
            if not found:
                wrong.append(f"{fault.kind}, {fault.device}\n    {problem}\n    {answer.get('case', '')}\n    {answer.get('matters', '')}")
    print(f"planted faults that were shrunk to their condition, seed {options.seed}")
    for kind in tried:
        print(f"  {kind:32} {right[kind]:4} of {tried[kind]:4}")
    share = right.total() / max(1, tried.total())
    print(f"  {'all':32} {right.total():4} of {tried.total():4}   {100 * share:.1f} % (goal {100 * GOAL:.0f} %)")
    if trials:
        print(f"  median trials  {statistics.median(trials):6.0f} (goal {MOST_TRIALS}), most {max(trials)}")
        print(f"  median seconds {statistics.median(seconds):6.2f} (goal {MOST_SECONDS:.0f}), most {max(seconds):.2f}")
    for line in wrong:
        print(f"not found: {line}")
    good = share >= GOAL and statistics.median(trials) <= MOST_TRIALS and statistics.median(seconds) <= MOST_SECONDS
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
