"""Our references beside PyTorch, in double precision.

    OPWRIGHT_BIN=build/release/opwright python tests/reference/suite.py            # with torch: compares, prints the table
    OPWRIGHT_BIN=… python3 tests/reference/suite.py --digests                     # without: outputs as they were recorded
    … --write-digests    records them;   --part 2/6   every sixth case;   --list   cases that differ;   --json FILE

Exit status 1: a reference differs from PyTorch by more than its case allows, or from its digest.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import eltwise  # noqa: E402
import families  # noqa: E402
import movement  # noqa: E402
import sums  # noqa: E402
from cases import ANYTHING, Case, torch  # noqa: E402

DIGESTS = HERE / "digests.tsv"


def all_cases() -> list[Case]:
    return [*eltwise.every(), *movement.every(), *sums.every(), *families.every()]


def answers(binary: str, cases: list[Case]) -> list[dict[str, Any]]:
    requests = "".join(case.request() + "\n" for case in cases)
    done = subprocess.run([binary, "reference"], input=requests, capture_output=True, text=True, check=True)
    lines = done.stdout.splitlines()
    if len(lines) != len(cases):
        raise SystemExit(f"{len(cases)} requests, {len(lines)} answers: {done.stderr}")
    return [json.loads(line) for line in lines]


def numbers(of: dict[str, Any]) -> tuple[float, ...]:
    raw = bytes.fromhex(of["values"])
    return struct.unpack(f"<{len(raw) // 8}d", raw)


def tensors(of: list[dict[str, Any]]) -> list[Any]:
    return [torch.tensor(numbers(one), dtype=torch.double).reshape(one["spec"]["shape"]) for one in of]


def difference(ours: Any, theirs: Any, tolerance: float) -> tuple[float, str]:
    """The largest error in units of the output's size; a text where shapes or classes of numbers differ."""
    theirs = theirs.double()
    if tuple(ours.shape) != tuple(theirs.shape):
        return float("inf"), f"shape {tuple(ours.shape)}, PyTorch has {tuple(theirs.shape)}"
    if theirs.numel() == 0:
        return 0.0, ""
    promised = theirs != ANYTHING
    if bool(((torch.isnan(ours) != torch.isnan(theirs)) & promised).any()):
        return float("inf"), "NaN on one side only"
    known = promised & ~torch.isnan(theirs)
    infinite = torch.isinf(theirs) | torch.isinf(ours)
    if bool((infinite & known & (ours != theirs)).any()):
        return float("inf"), "an infinity on one side only"
    finite = known & ~infinite
    if not bool(finite.any()):
        return 0.0, ""
    a, b = ours[finite], theirs[finite]
    size = b.abs() + b.abs().median()
    error = float(((a - b).abs() / size.clamp(min=5e-324)).max())
    return error, f"error {error:.1e}" if error > tolerance else ""


def compare(case: Case, answer: dict[str, Any]) -> tuple[float, str]:
    inputs, outputs = tensors(answer["inputs"]), tensors(answer["outputs"])
    expected = case.formula(*inputs)
    expected = list(expected) if isinstance(expected, (tuple, list)) else [expected]
    if len(expected) != len(outputs):
        return float("inf"), f"{len(outputs)} outputs, PyTorch has {len(expected)}"
    found = [difference(ours, theirs, case.tolerance) for ours, theirs in zip(outputs, expected)]
    return max(error for error, _ in found), "; ".join(text for _, text in found if text)


def digest_of(answer: dict[str, Any]) -> bytes:
    """Ten digits of every number: what another compiler's last bit cannot change."""
    hash_ = hashlib.sha256()
    for output in answer.get("outputs", ()):
        hash_.update(json.dumps(output["spec"]["shape"]).encode())
        for value in numbers(output):
            hash_.update(b"%.9e;" % (value + 0.0))
    return hash_.digest()


def digests(cases: list[Case], got: list[dict[str, Any]]) -> dict[str, tuple[int, str]]:
    by_op: dict[str, Any] = defaultdict(lambda: [0, hashlib.sha256()])
    for case, answer in zip(cases, got):
        if "outputs" in answer:
            by_op[case.op][0] += 1
            by_op[case.op][1].update(digest_of(answer))
    return {op: (count, hash_.hexdigest()[:32]) for op, (count, hash_) in sorted(by_op.items())}


def check_digests(cases: list[Case], got: list[dict[str, Any]]) -> int:
    recorded = {}
    for line in DIGESTS.read_text().splitlines():
        if line and not line.startswith("#"):
            op, count, digest = line.split("\t")
            recorded[op] = (int(count), digest)
    found = digests(cases, got)
    wrong = sorted(op for op in recorded.keys() | found.keys() if recorded.get(op) != found.get(op))
    for op in wrong:
        print(f"{op}: recorded {recorded.get(op)}, now {found.get(op)}")
    print(f"{sum(count for count, _ in found.values())} cases of {len(found)} operators: {len(wrong)} differ from their digests")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--digests", action="store_true")
    parser.add_argument("--write-digests", action="store_true")
    parser.add_argument("--part", help="default: all, of digests every fourth")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--table", type=Path, help="one row an operator, as opwright report --table shows it")
    options = parser.parse_args()
    binary = os.environ.get("OPWRIGHT_BIN", str(HERE.parents[1] / "build" / "release" / "opwright"))
    begun = time.monotonic()
    by_digest = options.digests or options.write_digests or torch is None
    part, of = map(int, (options.part or ("1/4" if by_digest else "1/1")).split("/"))
    cases = all_cases()[part - 1 :: of]
    got = answers(binary, cases)
    if options.write_digests:
        rows = [f"{op}\t{count}\t{digest}" for op, (count, digest) in digests(cases, got).items()]
        head = "# Operator, cases, digest of the exact results of every fourth case: written by suite.py --write-digests, where PyTorch agreed.\n"
        DIGESTS.write_text(head + "\n".join(rows) + "\n")
        return 0
    if by_digest:
        return check_digests(cases, got)
    table: dict[tuple[str, str], dict[str, Any]] = {}
    wrong = []
    for case, answer in zip(cases, got):
        row = table.setdefault((case.op, case.about), {"cases": 0, "refused": 0, "differ": 0, "worst": 0.0})
        if "outputs" not in answer:
            row["refused"] += 1
            if options.list:
                print(f"refused {case.op} ({case.about}): {answer.get('reason', answer.get('error', ''))[:140]}")
            continue
        try:
            error, text = compare(case, answer)
        except Exception as problem:  # a formula that cannot take the inputs is a wrong formula
            error, text = float("inf"), f"{type(problem).__name__}: {problem}"
        row["cases"] += 1
        if text:
            row["differ"] += 1
            wrong.append((case, text))
        else:
            row["worst"] = max(row["worst"], error)
    for case, text in wrong if options.list else wrong[:20]:
        print(f"DIFFERS {case.op} ({case.about}), seed {case.seed}: {text}\n    {case.line}")
    name = max(len(op) for op, _ in table)
    print(f"{'operator':<{name}}  {'parameter':<42} {'cases':>6} {'refused':>8} {'differ':>7}  worst error")
    for (op, about), row in sorted(table.items()):
        print(f"{op:<{name}}  {about[:42]:<42} {row['cases']:>6} {row['refused'] or '':>8} {row['differ'] or '':>7}  {row['worst']:.1e}")
    total = {key: sum(row[key] for row in table.values()) for key in ("cases", "refused", "differ")}
    operators = len({op for op, _ in table})
    print(f"{total['cases']} cases of {operators} operators compared in double precision, {total['refused']} refused, "
          f"{total['differ']} differ from PyTorch; {time.monotonic() - begun:.1f} s")
    if options.table:
        of: dict[str, list[float]] = defaultdict(lambda: [0, 0, 0, 0.0])
        for (op, _), row in sorted(table.items()):
            of[op] = [of[op][0] + row["cases"], of[op][1] + row["refused"], of[op][2] + row["differ"], max(of[op][3], row["worst"])]
        rows = [[op, *counts[:3], f"{counts[3]:.1e}"] for op, counts in of.items()]
        rows.append(["all", total["cases"], total["refused"], total["differ"], ""])
        about = "Exact results of ours beside PyTorch's, in double precision."
        columns = ["operator", "cases", "refused", "differ", "worst error"]
        options.table.write_text(json.dumps({"title": "References", "about": about, "columns": columns, "rows": rows}, indent=1) + "\n")
    if options.json:
        options.json.write_text(json.dumps({"total": total, "operators": operators, "rows": [{"op": op, "about": about, **row} for (op, about), row in sorted(table.items())]}, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
