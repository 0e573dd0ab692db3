"""What a run does with the time it has: order, budgets, and repetitions of failures."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
from pathlib import Path

import pytest

FAKE = Path(__file__).parent / "programs" / "fake_device.py"


def tensor(height: int, width: int) -> str:
    return f"tensor([1,1,{height},{width}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"


def suite_of(path: Path, cases: int, ops: tuple[str, ...] = ("relu", "add")) -> Path:
    """So many different cases, the operations in turn."""
    lines = ["suites:", "  many:"]
    for i in range(cases):
        operands = ("input_tensor_a", "input_tensor_b") if ops[i % len(ops)] == "add" else ("input_tensor",)
        tensors = ", ".join(f"{name}: ['{tensor(32, 32 * (1 + i))}']" for name in operands)
        lines += [f"    - op: ttnn.{ops[i % len(ops)]}", f"      parameters: {{{tensors}}}"]
    path.write_text("\n".join(lines) + "\n")
    return path


def slow_device(seconds: float) -> str:
    return "exec:" + shlex.join([sys.executable, "-I", str(FAKE), "--seconds", str(seconds)])


def results(opwright) -> list[dict]:
    done = opwright("results", "--list", "--format", "json")
    return json.loads(done.stdout)


def test_a_budget_is_a_deadline_on_a_device_that_is_slower_than_anybody_thought(opwright, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "many.yaml", 400)
    before = time.monotonic()
    done = opwright("run", "--suites", suite, "--device", slow_device(0.3), "--jobs", "2", "--budget", "8s")
    seconds = time.monotonic() - before
    assert done.returncode == 0, done.stderr
    assert seconds < 8 * 1.1 + 3, "the deadline, a tenth of it, and the end of the program"
    ran = results(opwright)
    assert 3 <= len(ran) < 200, "it ran some, and not what the estimate promised"
    assert {record["operation"] for record in ran} == {"ttnn.relu", "ttnn.add"}, "every operation was seen"
    assert re.search(rf"budget: {len(ran)} of 400 cases in \d+\.\d s", done.stderr), done.stderr
    assert "left out:" in done.stderr and "'opwright run --resume' goes on" in done.stderr
    again = opwright("run", "--resume", "--quiet")
    assert again.returncode == 0 and len(results(opwright)) > len(ran), again.stderr


def test_what_still_runs_at_the_end_of_the_budget_is_stopped(opwright, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "many.yaml", 3)
    before = time.monotonic()
    done = opwright("run", "--suites", suite, "--device", slow_device(60), "--jobs", "1", "--budget", "6s")
    assert time.monotonic() - before < 6 * 1.1 + 3
    assert "1 case was stopped" in done.stderr, done.stderr
    assert "budget: 0 of 3 cases" in done.stderr
    assert results(opwright) == []


def test_the_next_run_knows_what_the_first_took(opwright, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "many.yaml", 6)
    device = slow_device(0.4)
    assert opwright("run", "--suites", suite, "--device", device, "--jobs", "2", "--quiet").returncode == 0
    plan = opwright("run", "--suites", suite, "--device", device, "--jobs", "2", "--dry-run", "--format", "json")
    assert "of 6 cases the time is that of an earlier run" in plan.stderr
    total = next(row for row in json.loads(plan.stdout) if row["operation"] == "all")
    assert 2.4 <= float(total["seconds"]) < 30
    other = opwright("run", "--suites", suite, "--device", "sim:n150", "--dry-run", "--format", "json")
    assert "earlier run" not in other.stderr, "of another device nothing is known"


@pytest.mark.parametrize("which", ["once", "all"])
def test_failures_of_one_cause_share_their_diagnosis(opwright, tmp_path: Path, which: str) -> None:
    suite = suite_of(tmp_path / "many.yaml", 8, ("relu",))
    done = opwright("run", "--suites", suite, "--device", "planted:wrong if ttnn.relu", "--jobs", "2", "--attribute", which)
    assert done.returncode == 1, done.stderr
    ran = results(opwright)
    assert [record["outcome"] for record in ran] == ["failed"] * 8
    assert [record["blame"] for record in ran] == ["op"] * 8, "each has its blame"
    shared = [record for record in ran if record.get("evidence", "").startswith("shared, not repeated itself")]
    if which == "all":
        assert shared == [] and all(record["attempts"] > 1 for record in ran)
        return
    patterns = {re.sub(r"[\d.e+-]+", "N", record["reason"]) for record in ran}
    assert len(shared) == 8 - len(patterns), ran
    assert all(record["attempts"] == 1 and "fails again" in record["evidence"] for record in shared)
    assert f"{len(shared)} failures share the blame" in done.stderr


def test_nobody_is_repeated_where_nobody_asked(opwright, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "many.yaml", 2, ("relu",))
    opwright("run", "--suites", suite, "--device", "planted:wrong if ttnn.relu", "--attribute", "none")
    assert [record.get("blame", "") for record in results(opwright)] == ["", ""]
    wrong = opwright("run", "--suites", suite, "--attribute", "some")
    assert wrong.returncode == 2 and "once, all or none" in wrong.stderr
