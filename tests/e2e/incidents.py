"""Incidents with a known culprit: runs on the self-test device (exec/selftest_device.h) in which something goes wrong, and what
a run must say of it. `tests/bench/attribution.py` prints the table, `test_attribution.py` holds it."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import support

TILE = 32
GOOD, POISON, POISONED, CRASH_AFTER, WRITE_AFTER, TIRED, HALF_POISON, ONCE = 1, 9, 10, 22, 23, 24, 25, 26
# Width in tiles -> class, outcome and blame of a case that misbehaves whatever ran before.
ALONE = {
    2: ("crash", "crashed", "op"),
    3: ("crash", "crashed", "op"),
    13: ("crash", "crashed", "op"),
    14: ("crash", "crashed", "op"),
    7: ("wrong result", "failed", "op"),
    12: ("exception", "device_error", "op"),
    11: ("garbage", "harness_error", "harness"),
    16: ("reference", "harness_error", "reference"),
    17: ("reference", "crashed", "reference"),
    19: ("reference", "failed", "reference"),
    20: ("reference", "failed", "reference"),
    CRASH_AFTER: ("crash after the answer", "crashed", "op"),
    WRITE_AFTER: ("one line too many", "harness_error", "harness"),
    ONCE: ("failed once", "failed", "not reproduced"),
}


@dataclass
class Incident:
    """Cases that run one after the other in one worker, and what must be said of the last bad one."""

    kind: str
    cases: list[tuple[str, int]]  # operation, width in tiles
    bad: int  # which of them
    outcome: str
    blame: str
    words: str = ""  # in its evidence
    culprit: int | None = None  # the case that the evidence must name
    environment: dict[str, str] = field(default_factory=dict)


def some_good(random: random.Random, most: int = 6) -> list[tuple[str, int]]:
    ops = ("ttnn.relu", "ttnn.abs", "ttnn.exp", "ttnn.neg")
    return [(random.choice(ops), GOOD) for _ in range(random.randint(0, most))]


def incidents(seed: int, times: int) -> Iterator[Incident]:
    chance = random.Random(seed)

    def leak(kind: str, makers: list[int], words: str, named: bool) -> Incident:
        before, between = some_good(chance), some_good(chance, 20)
        cases = before + [("ttnn.relu", width) for width in makers] + between + [("ttnn.relu", POISONED)]
        culprit = len(before) if named else None
        return Incident(kind, cases + some_good(chance), len(cases) - 1, "failed", "state leak", words, culprit)

    for _ in range(times):
        for width, (kind, outcome, blame) in ALONE.items():
            before = some_good(chance)
            yield Incident(kind, [*before, ("ttnn.relu", width), *some_good(chance)], len(before), outcome, blame)
        yield leak("leak from further back", [POISON], "", True)
        yield leak("leak of two cases together", [HALF_POISON, HALF_POISON], "together", False)
        tired = [("ttnn.abs", GOOD)] * chance.randint(4, 12) + [("ttnn.relu", TIRED)]
        yield Incident("after the n-th call", tired, len(tired) - 1, "failed", "state leak", "whichever")
        broken = chance.choice(["ttnn.add", "ttnn.transpose", "ttnn.matmul", "ttnn.relu"])
        before = some_good(chance)
        yield Incident(
            "broken operator, a canary too", [*before, (broken, GOOD), *some_good(chance)], len(before), "failed", "op",
            environment={"OPWRIGHT_SELFTEST_BROKEN_OP": broken},
        )  # fmt: skip


def case_of(op: str, width: int, height: int) -> str:
    tensor = f"tensor([1,1,{height},{width * TILE}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"
    square = f"tensor([1,1,{height},{height}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"
    if op == "ttnn.add":
        return f"{{input_tensor_a: ['{tensor}'], input_tensor_b: ['{tensor}']}}"
    if op == "ttnn.matmul":
        return f"{{input_tensor_a: ['{square}'], input_tensor_b: ['{square}']}}"
    if op == "ttnn.transpose":
        return f"{{input_tensor: ['{tensor}'], dim1: [2], dim2: [3]}}"
    return f"{{input_tensor: ['{tensor}']}}"


def carry_out(incident: Incident, folder: Path) -> tuple[bool, str]:
    """Whether the run named the culprit, and what it said."""
    folder.mkdir(parents=True, exist_ok=True)
    suite = folder / "suite.yaml"
    entries = "".join(
        f"    - op: {op}\n      parameters: {case_of(op, width, TILE * (n + 1))}\n"
        for n, (op, width) in enumerate(incident.cases)
    )
    suite.write_text(f"suites:\n  incident:\n{entries}")
    store, out = folder / "s.db", folder / "results.jsonl"
    environment = support.command_env(folder, OPWRIGHT_SELFTEST_BROKEN=folder / "broken", **incident.environment)
    program = support.find_opwright()
    for arguments in (
        ["run", "--device", "selftest", "--suites", suite, "--jobs", 1, "--quiet", "--timeout", 20, "--plan-order"],
        ["results", "last", "--export", f"jsonl:{out}"],
    ):
        done = subprocess.run(
            [program, "--store", store, *map(str, arguments)], cwd=folder, env=environment, capture_output=True,
            text=True, timeout=200, check=False,
        )  # fmt: skip
        if done.returncode not in (0, 1):
            return False, done.stderr
    found = {}
    for line in out.read_text().splitlines():
        record = json.loads(line)
        if "outcome" in record:
            found[record["index"]] = record
    if len(found) != len(incident.cases):
        return False, f"{len(found)} results of {len(incident.cases)} cases"
    bad = found[incident.bad]
    said = f"{bad['outcome']}, {bad.get('blame')}: {bad.get('evidence')} ({bad.get('reason')})"
    if (bad["outcome"], bad.get("blame", "")) != (incident.outcome, incident.blame):
        return False, said
    evidence = bad.get("evidence", "")
    if incident.words not in evidence:
        return False, said
    if incident.culprit is not None:
        height = f"[1,1,{TILE * (incident.culprit + 1)},"
        if height not in evidence:
            return False, said
    others = [r for n, r in found.items() if n != incident.bad and r["outcome"] not in ("passed",)]
    if incident.environment:
        others = [r for r in others if r.get("blame") == "machine"]
    return (not others), said + (f"; and {others[0]['outcome']} of {others[0]['case']}" if others else "")
