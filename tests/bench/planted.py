"""What the judge notices of kernel bugs: a device that computes with PyTorch, right or with one planted bug a call.

usage: planted.py [--seed N] [--sample N] [--rounds N] [--where SELECTOR] [--json FILE]     OPWRIGHT_BIN names the program

Configurations of real traces, where they are there ($OPWRIGHT_REAL_DATA, else ../shared/data), else those of our
fixtures. The device (tests/bench/planted_device) takes specs and the record of what was executed from the real library
on a mock board: OPWRIGHT_TTNN_PYTHON names a Python that has ttnn and torch. It runs once without a bug, which must not
be blamed, and then in rounds in which every call has a bug of its family that changes the result.

A bug is noticed when the case does not pass: `failed`, or `mistrusted`. A right number that is `unproven` is none of them.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(Path(__file__).resolve().parent))
import data  # noqa: E402

LARGE = 0.02
GOAL_LARGE, GOAL_ALL = 0.98, 0.90
DEVICE = Path(__file__).resolve().parent / "planted_device"
JUDGED = ("passed", "unproven", "failed", "mistrusted", "vacuous")


class Opwright:
    def __init__(self, folder: Path, python: str) -> None:
        self._program = os.environ.get("OPWRIGHT_BIN") or str(ROOT / "build" / "release" / "opwright")
        self._folder, self._python = folder, python
        self._env = {**os.environ, "OPWRIGHT_TTNN_PYTHON": python}

    def __call__(self, *arguments: object, may_fail: bool = False) -> str:
        command = [self._program, *map(str, arguments)]
        done = subprocess.run(command, env=self._env, cwd=self._folder, capture_output=True, text=True)
        if done.returncode not in ((0, 1) if may_fail else (0,)):
            sys.exit(f"{shlex.join(command)}\nexit status {done.returncode}\n{done.stderr[-2000:]}")
        return done.stdout

    def run(self, store: Path, name: str, choice: list[str], bug: str, seed: int) -> list[dict[str, Any]]:
        """Results of one run, each with what the device planted."""
        log = self._folder / f"{name}.log"
        device = [self._program, "mock", "--board", "n300", "--", self._python, str(DEVICE)]
        device += ["--bug", bug, "--seed", str(seed), "--log", str(log)]
        own = self._folder / f"{name}.db"
        own.write_bytes(store.read_bytes())
        results = self._folder / f"{name}.jsonl"
        self("--store", own, "run", "--device", "exec:" + shlex.join(device), "--jobs", "1", "--no-attribute", "--quiet", "--seed", seed,
             "--timeout", "120", *choice, may_fail=True)  # fmt: skip
        self("--store", own, "results", "--export", f"jsonl:{results}", may_fail=True)
        planted = {}
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
            entry = json.loads(line)
            planted[entry["line"]] = entry
        out = []
        for line in results.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            if record.get("outcome") in JUDGED and record.get("kernel_seconds"):
                out.append({**record, "planted": planted[round(record["kernel_seconds"])]})
        return out


def table(rounds: list[dict[str, Any]]) -> tuple[dict[str, Counter[str]], list[str]]:
    families: dict[str, Counter[str]] = defaultdict(Counter)
    survivors: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    bugs: dict[str, set[str]] = defaultdict(set)
    for record in rounds:
        planted = record["planted"]
        if not planted["bug"]:
            continue
        large, noticed = planted["change"] >= LARGE, record["outcome"] in ("failed", "mistrusted", "vacuous")
        bugs[planted["family"]].add(planted["bug"])
        for family in (planted["family"], "all"):
            families[family]["tried"] += 1
            families[family]["noticed"] += noticed
            families[family]["large"] += large
            families[family]["large noticed"] += large and noticed
        if large and not noticed:
            survivors[planted["bug"], planted["op"]].append(record)
    for family, names in bugs.items():
        families[family]["bugs"] = len(names)
    families["all"]["bugs"] = len(set().union(*bugs.values())) if bugs else 0
    lines = []
    for (bug, op), records in sorted(survivors.items(), key=lambda item: -len(item[1])):
        most = max(records, key=lambda record: record["planted"]["change"])
        lines.append(f"not noticed: {len(records):3} x {bug} in {op}, change up to {most['planted']['change']:.3g}: {most['case'][:400]}")
    return families, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sample", type=int, default=300, help="configurations; 0: all")
    parser.add_argument("--rounds", type=int, default=3, help="bugs that each configuration gets")
    parser.add_argument("--where", help="only these configurations (docs/formats/selector.md)")
    parser.add_argument("--bug", default="any", help="this bug alone")
    parser.add_argument("--json", help="write the table there, too")
    parser.add_argument("--table", help="and there as opwright report --table shows it")
    options = parser.parse_args()
    python = os.environ.get("OPWRIGHT_TTNN_PYTHON", "")
    if not python or subprocess.run([python, "-c", "import torch, ttnn"], capture_output=True).returncode:
        sys.exit("planted: needs a Python with ttnn and torch; name it with OPWRIGHT_TTNN_PYTHON")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        opwright = Opwright(folder, python)
        store = folder / "all.db"
        opwright("--store", store, "import", *data.masters())
        choice = ["--suite", "sample", "--count", str(options.sample), "--randomize", str(options.seed)] if options.sample else []
        choice += ["--where", options.where] if options.where else []
        right = opwright.run(store, "right", choice, "none", options.seed)
        alarms = [record for record in right if record["outcome"] not in ("passed", "unproven")]
        wrong = []
        for n in range(options.rounds):
            wrong += opwright.run(store, f"round{n}", choice, options.bug, options.seed + n)
    families, lines = table(wrong)
    print(f"right device: {len(right)} cases judged, {Counter(r['outcome'] for r in right)}, {len(alarms)} false alarms")
    for record in alarms:
        print(f"false alarm: {record['outcome']} {record.get('reason', '')[:300]}\n  {record['case'][:300]}")
    print(f"\nplanted bugs, seed {options.seed}\n  {'family':12} {'bugs':>5} {'large':>6} {'noticed':>8} {'':>8} {'all':>6} {'noticed':>8}")
    for family, count in sorted(families.items(), key=lambda item: (item[0] == "all", item[0])):
        print(f"  {family:12} {count['bugs']:5} {count['large']:6} {count['large noticed']:8} {share(count['large noticed'], count['large']):>8}"
              f" {count['tried']:6} {count['noticed']:8} {share(count['noticed'], count['tried']):>8}")  # fmt: skip
    print("\n".join(lines))
    if options.table:
        about = f"{len(right)} cases of a right device judged, {len(alarms)} false alarms. Seed {options.seed}; large: changes the output by 2 % rms or more."
        rows = [[family, count["bugs"], count["large"], share(count["large noticed"], count["large"]), count["tried"],
                 share(count["noticed"], count["tried"])] for family, count in families.items()]  # fmt: skip
        data.write_table(options.table, "Planted kernel bugs", about, ["family", "bugs", "large", "noticed", "all", "noticed"], rows)
    if options.json:
        Path(options.json).write_text(json.dumps({"right": len(right), "false_alarms": len(alarms), "families": families}))
    total = families["all"]
    if not total["tried"] or not right:
        sys.exit("planted: nothing was judged")
    reached = total["large noticed"] >= GOAL_LARGE * total["large"] and total["noticed"] >= GOAL_ALL * total["tried"]
    return 0 if reached and not alarms else 1


def share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if whole else ""


if __name__ == "__main__":
    sys.exit(main())
