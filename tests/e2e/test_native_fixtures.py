"""Traces of the models in examples/ttnn, as the recorder wrote them: imported, they hold what was counted without us."""

import json

import pytest
from traces import EXPECTED, answer, fixture, load_trace

NATIVE = [name for name, facts in EXPECTED.items() if facts.get("format") == "native" and "total_calls" in facts]


@pytest.mark.parametrize("name", NATIVE)
def test_import(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert (summary["calls"], summary["raised"]) == (facts["calls"], facts["errors"])
    assert summary["operations"] == facts["ops"]
    assert summary["forms"] == facts["forms"]
    assert summary["configurations"] == summary["added"] == facts["distinct"]
    assert summary["filtered"] == facts["filtered"]
    assert (summary["losses"], summary["uncounted"], summary["unknown_names"]) == ({}, 0, 0)
    assert summary["bytes"] == facts["bytes_unpacked"]
    ops = answer(opwright("ops", "--format", "json"))
    rows = {row["operation"]: {"forms": row["configurations"], "calls": row["calls"]} for row in ops}
    assert rows == facts["per_op"]


@pytest.mark.parametrize("name", NATIVE)
def test_dump(name: str, opwright) -> None:
    facts = EXPECTED[name]
    result = opwright("dump", fixture(name), "--format", "jsonl")
    assert result.returncode == 0, result.stderr
    lines = [json.loads(line) for line in result.stdout.splitlines()]
    (head,) = (line["trace"] for line in lines if "trace" in line)
    calls = [line["call"] for line in lines if "call" in line]
    tests = [line["test"]["outcome"] for line in lines if "test" in line]
    phases = [call.get("phase", "") for call in calls]
    assert (head["calls"], len(calls)) == (facts["total_calls"], facts["total_calls"])
    assert head["errors"] == sum(call["err"] is not None for call in calls)
    assert {phase: phases.count(phase) for phase in sorted(set(phases))} == facts["phases"]
    assert {outcome: tests.count(outcome) for outcome in tests} == facts["tests"]
    assert not any("loss" in line for line in lines)
