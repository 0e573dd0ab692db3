"""What calls returned when they were traced decides who is wrong: the device, or our own rules."""

import json
import shlex
import sys
from pathlib import Path

import hostile
import pytest
import support
from traces import answer, era2_master, fixture, load_trace, tensor

assert hostile  # its import puts the maker of native traces on the path
FAKE = f"exec:{sys.executable} -I {support.REPO / 'tests/e2e/programs/fake_device.py'}"
RIGHT, OTHER = [1, 1, 32, 64], [1, 1, 32, 32]


def made_trace(path: Path, returned: list[list[int]]) -> Path:
    """Calls of ttnn.relu on one tensor, which return these shapes one after the other."""
    from maker.native import T, Trace, Ttnn

    trace = Trace()
    ttnn = Ttnn(trace)
    trace.fact("uid", "made")
    call = trace.call_value("ttnn.relu", T(ttnn.spec(RIGHT)))
    for number, shape in enumerate(returned):
        trace.call(call, [(2 * number + 1, 0)], result=trace.value(T(ttnn.spec(shape))), returned=[(2 * number + 2, 0, 0, 0, 0)])
    path.write_bytes(trace.bytes())
    return path


def run(opwright, *options: object) -> tuple[dict, dict]:
    """The first case of a run, and the analysis."""
    done = opwright("run", "--no-attribute", "--quiet", *options, "--format", "jsonl")
    assert done.returncode in (0, 1), done.stderr
    listed = opwright("results", "--list", "--format", "jsonl")
    totals = opwright("results", "--format", "json")
    return json.loads(listed.stdout.splitlines()[0]), json.loads(totals.stdout)


def test_what_the_trace_recorded_is_what_our_rules_must_promise(opwright, tmp_path: Path) -> None:
    load_trace(opwright, made_trace(tmp_path / "right.opwt", [RIGHT, RIGHT]))
    case, totals = run(opwright, "--device", "sim:n150")
    assert case["outcome"] == "passed", case
    assert totals["failed"] == 0


def test_a_promise_that_no_call_kept_is_our_mistake(opwright, tmp_path: Path) -> None:
    load_trace(opwright, made_trace(tmp_path / "other.opwt", [OTHER, OTHER, OTHER]))
    for options in (["--device", "sim:n150"], ["--device", "sim:n150", "--check"], ["--device", "null"]):
        case, totals = run(opwright, *options)
        assert (case["outcome"], case["blame"]) == ("reference_wrong", "reference"), case
        assert case["reason"] == "output 0 shape: recorded [1,1,32,32], promised [1,1,32,64]", case
        assert case["evidence"].startswith("3 calls of the traces returned so"), case
        assert totals["outcomes"] == {"reference_wrong": 1} and totals["failed"] == 1
    # The repeat line says the same without the store.
    again = opwright("run", "--format", "json", *shlex.split(case["repeat"])[2:], cwd=tmp_path)
    assert answer(again, 1)["outcome"] == "reference_wrong", again.stdout


def test_of_several_returns_one_is_enough(opwright, tmp_path: Path) -> None:
    load_trace(opwright, made_trace(tmp_path / "both.opwt", [OTHER, OTHER, RIGHT]))
    assert run(opwright, "--device", "sim:n150")[0]["outcome"] == "passed"


@pytest.mark.parametrize("numerics", ["none", "real"])
def test_a_device_that_returns_something_else_failed(opwright, tmp_path: Path, numerics: str) -> None:
    load_trace(opwright, made_trace(tmp_path / "right.opwt", [RIGHT]))
    device = f"{FAKE} --numerics {numerics}"
    case, _ = run(opwright, "--device", f"{device} --fault other_memory")
    assert case["outcome"] == "failed" and "came memory(L1 INTERLEAVED)" in case["reason"], case
    assert "and the rules here promise the same" in case["evidence"], case
    assert run(opwright, "--device", device)[0]["outcome"] in ("accepted", "unproven")


@pytest.mark.parametrize("name", ["mlp", "encoder", "decoder", "mbconv"])
def test_our_rules_promise_what_real_programs_were_given(opwright, name: str) -> None:
    """Native traces of the example programs on the real library: every recorded return is as promised."""
    load_trace(opwright, fixture(f"native/{name}.opwt.zst"))
    done = opwright("run", "--check", "--quiet", "--no-attribute", "--format", "json")
    assert done.returncode == 0, done.stdout
    listed = opwright("results", "--list", "--format", "jsonl")
    recorded = [line for line in map(json.loads, listed.stdout.splitlines()) if " --recorded " in line["repeat"]]
    assert len(recorded) > 3, "the trace has no returns"


def test_only_real_disagreements_are_counted_and_shown(opwright, tmp_path: Path) -> None:
    """The fake device adds and knows relu; of the rest it has no answer."""
    one, two = {"arg0": tensor(RIGHT)}, {"arg0": tensor(RIGHT), "arg1": tensor(RIGHT)}
    master = tmp_path / "ttnn_operations_master.json"
    master.write_text(json.dumps(era2_master({"ttnn.relu": [one], "ttnn.exp": [one], "ttnn.add": [two]})))
    load_trace(opwright, master)
    device = f"{FAKE} --adds 2"
    done = opwright("run", "--device", "sim:n150", "--against", device, "--quiet", "--no-attribute")
    assert done.returncode == 1, done.stderr
    totals = answer(opwright("results", "--format", "json"), 0)
    assert {key: totals["differential"][key] for key in ("cases", "disagreed", "not_compared")} == {"cases": 3, "disagreed": 1, "not_compared": 1}
    shown = opwright("results", "--disagreeing", "--list", "--format", "jsonl")
    assert sorted(json.loads(line)["op"] for line in shown.stdout.splitlines()) == ["ttnn.add"]
    assert "1 of 2 cases disagree" in opwright("results").stdout
