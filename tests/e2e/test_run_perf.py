"""`run --perf`, and what `results` says of times: devices with known times, noisy ones, ones that cannot, busy machines."""

import json
import multiprocessing
import os
import shlex
import sqlite3
import sys
import time
from pathlib import Path

import pytest
import support

DEVICE = Path(__file__).parent / "programs" / "timed_device.py"
FEW = ("--perf", "--perf-iterations", "1+6", "--perf-device-iterations", "1+3", "--perf-rounds", "3")
# Tests run beside each other on a machine that is never quiet.
FORCED = (*FEW, "--perf-force")


def timed(*options: object) -> str:
    return "exec:" + shlex.join([sys.executable, "-I", str(DEVICE), *map(str, options)])


def suites(folder: Path, rows: tuple[int, ...] = (32, 2, 5)) -> Path:
    values = ", ".join(f"'tensor([1,1,{n},64] BFLOAT16 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED))'" for n in rows)
    file = folder / "suites.yaml"
    file.write_text(
        f"suites:\n  timed:\n    - op: ttnn.relu\n      parameters: {{input_tensor: [{values}]}}\n", encoding="utf-8"
    )
    return file


@pytest.fixture
def run(opwright, tmp_path):
    """Runs the suite on a device, with times."""

    def go(device: str, *more: object, rows: tuple[int, ...] = (32, 2, 5), factor: float = 1):
        env = {"TIMED_LOG": tmp_path / "requests.jsonl", "TIMED_FACTOR": factor}
        return opwright("run", "--quiet", "--suites", suites(tmp_path, rows), "--device", device, *more, env=env)

    return go


def asked(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]


def shown(opwright, *arguments: object):
    result = opwright("--format", "json", "results", *arguments)
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("sleep", [True, False], ids=["slept", "told"])
def test_times_are_those_of_the_device(opwright, run, tmp_path, sleep: bool) -> None:
    result = run(timed(*(["--sleep"] if sleep else [])), *FORCED)
    assert "3 cases timed" in result.stderr, result.stderr
    cases = shown(opwright, "--perf")
    assert [case["clock"] for case in cases] == ["measured"] * 3
    for case, rows in zip(cases, (32, 2, 5), strict=True):
        figures = case["end_to_end_ns"]
        assert figures["iterations"] == 6 and case["device_ns"] is None
        assert rows * 1e6 <= figures["min"] <= figures["median"] <= figures["max"]
        if not sleep:  # a busy machine adds to a sleep, nobody knows how much
            assert figures["max"] == rows * 1e6 and figures["sd"] == pytest.approx(0, abs=1)
        assert case["host_ns"]["median"] == pytest.approx(figures["median"] / 10, rel=0.01)
    # In rounds: every case a part of its iterations, in another order each time.
    log = asked(tmp_path)
    orders = [[entry["rows"] for entry in log[at : at + 3]] for at in (0, 3, 6)]
    assert len(log) == 9 and all(sorted(order) == [2, 5, 32] for order in orders), log
    assert len({tuple(order) for order in orders}) > 1, orders
    assert all((e["warm_up"], e["iterations"]) == (1, 2) for e in log)


def test_what_a_device_can_do_is_asked_for_and_what_it_cannot_is_said(opwright, run, tmp_path) -> None:
    result = run(timed("--hello", "all"), *FORCED, "--perf-trace", rows=(2,))
    assert "1 case timed" in result.stderr, result.stderr
    (case,) = shown(opwright, "--perf")
    assert case["device_ns"]["median"] == 1e6 and case["device_ns"]["iterations"] == 3
    log = asked(tmp_path)
    assert {entry["device_time"] for entry in log} == {True, False} and all(entry["trace"] for entry in log)

    result = run(timed("--hello", "all"), *FORCED, "--perf-no-program-cache", rows=(2,))
    assert not any(entry["program_cache"] for entry in asked(tmp_path)[len(log) :])

    for device, flag, words in (
        ("eager", "--perf-trace", "does not replay traces"),
        ("eager", "--perf-no-program-cache", "cannot do without its program cache"),
        ("refused", "--perf", "it has no clock, as told"),
    ):
        result = run(timed("--hello", device), *FORCED, flag, rows=(2,))
        assert result.returncode == 0 and "0 cases timed" in result.stderr, result.stderr
        assert "1 case without times: " in result.stderr and words in result.stderr
        (case,) = shown(opwright, "--perf")
        assert words in case["refused"]


def test_a_device_of_before_is_asked_to_repeat(opwright, run, tmp_path) -> None:
    result = run(timed("--hello", "old"), *FORCED, rows=(2, 5))
    assert "2 cases timed" in result.stderr, result.stderr
    assert [case["end_to_end_ns"]["median"] for case in shown(opwright, "--perf")] == [2e6, 5e6]
    assert not (tmp_path / "requests.jsonl").exists()
    result = run(timed("--hello", "old"), *FORCED, "--perf-trace", rows=(2,))
    assert "does not replay traces" in result.stderr


def test_simulated_times_are_modelled_and_the_null_device_has_none(opwright, run) -> None:
    result = run("sim:n150", *FEW, rows=(32, 64))  # however busy the machine is
    assert "2 cases timed" in result.stderr, result.stderr
    first = shown(opwright, "--perf")
    assert [case["clock"] for case in first] == ["modelled"] * 2 and first[0]["end_to_end_ns"] is None
    run("sim:n150", *FORCED, rows=(32, 64))
    assert [c["device_ns"] for c in shown(opwright, "--perf")] == [c["device_ns"] for c in first]
    diff = shown(opwright, "--diff", "last~1", "last", "--perf")
    assert (diff["compared"], diff["same"], diff["slower"]) == (2, 2, 0)
    result = run("null", *FORCED, rows=(32,))
    assert "computes nothing" in result.stderr


def test_only_cases_that_are_right_are_timed(opwright, run) -> None:
    result = run(timed("--refuse", 5), *FORCED, rows=(2, 5))
    assert "1 case timed" in result.stderr, result.stderr
    assert [case["end_to_end_ns"]["median"] for case in shown(opwright, "--perf")] == [2e6]
    assert shown(opwright)["outcomes"] == {"accepted": 1, "refused": 1}
    assert "1 result without times" in opwright("results", "--perf").stderr


def spin() -> None:
    while True:
        pass


def test_a_busy_machine_is_refused_and_named(opwright, run) -> None:
    busy = [multiprocessing.Process(target=spin, daemon=True) for _ in range(2 * (os.cpu_count() or 1))]
    for process in busy:
        process.start()
    try:
        time.sleep(0.3)
        result = run(timed(), *FEW, rows=(2,))
        assert result.returncode == 3
        assert "no times: the machine is too busy" in result.stderr and "other processes use" in result.stderr
        assert "--perf-force" in result.stderr
        refused = opwright("results", "--perf")
        assert refused.returncode == 3 and "has no times" in refused.stderr
        assert shown(opwright)["outcomes"] == {"accepted": 1}  # what was judged is kept
        result = run(timed(), *FORCED, rows=(2,))
        assert result.returncode == 0, result.stderr
        assert shown(opwright, "--perf")[0]["forced"] is True
        assert "measured on a busy machine" in opwright("results", "--perf").stdout
    finally:
        for process in busy:
            process.kill()
            process.join()


def test_slower_faster_same_and_cannot_tell(opwright, run) -> None:
    run(timed("--hello", "old"), *FORCED, rows=(2, 5, 32))
    run(timed("--hello", "old", "--factor", 1.3), *FORCED, rows=(2, 5, 32))
    result = opwright("results", "--diff", "last~1", "last", "--perf")
    assert result.returncode == 1 and "slower 3, faster 0" in result.stdout, result.stdout
    diff = shown(opwright, "--diff", "last", "last~1", "--perf")
    assert diff["faster"] == 3 and diff["cases"][0]["ratio"] == pytest.approx(1 / 1.3)
    assert any("devices differ" in caution for caution in diff["cautions"])
    assert shown(opwright, "--diff", "last", "last", "--perf")["same"] == 3


def test_noise_is_no_change(opwright, run) -> None:
    run(timed("--hello", "old", "--noise", 0.4), *FORCED, rows=(2, 5, 32))
    run(timed("--hello", "old", "--noise", 0.4, "--seed", 2), *FORCED, rows=(2, 5, 32))
    diff = shown(opwright, "--diff", "last~1", "last", "--perf")
    assert diff["cannot_tell"] == 3, diff


def test_runs_without_times_are_told(opwright, run) -> None:
    run(timed(), rows=(2,))
    result = opwright("results", "--diff", "last", "last", "--perf")
    assert result.returncode == 3 and "run --perf" in result.stderr


def test_the_history_of_a_case_says_where_it_changed(opwright, run) -> None:
    device = timed("--hello", "old")
    for factor in (1, 1.01, 1, 1.5, 1.5, 1.51):
        run(device, "--perf", "--perf-iterations", "0+3", "--perf-rounds", 1, "--perf-force", rows=(2,), factor=factor)
    case = shown(opwright, "--list")[0]
    rows = shown(opwright, "--history", case["case"])
    assert len(rows) == 6 and {row["clock"] for row in rows} == {"end to end"}
    changes = [row["change"] for row in rows]
    assert changes[:3] + changes[4:] == [None] * 5 and changes[3] == pytest.approx(1.5, rel=0.02), changes
    assert rows == shown(opwright, "--history", case["vector"][:10])
    unknown = opwright("results", "--history", "no such case")
    assert unknown.returncode == 3 and "no run has a case" in unknown.stderr


def test_exports_carry_times(opwright, run, tmp_path) -> None:
    run(timed("--hello", "old"), *FORCED, rows=(2,))
    assert opwright("results", "--export", "csv:all.csv", "--export", "jsonl:all.jsonl").returncode == 0
    assert "end_to_end_ns" in (tmp_path / "all.csv").read_text()
    assert opwright("--store", "other.db", "results", "--import", "all.jsonl").returncode == 0
    again = opwright("--store", "other.db", "--format", "json", "results", "--perf")
    assert json.loads(again.stdout)[0]["end_to_end_ns"]["median"] == 2e6
    with sqlite3.connect(tmp_path / "opwright.db") as store:
        assert store.execute("SELECT count(*) FROM result WHERE perf <> ''").fetchone() == (1,)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--perf-trace",), "goes with --perf"),
        (("--perf-iterations", "1+2"), "goes with --perf"),
        (("--perf", "--perf-iterations", "many"), "as in 10+100"),
        (("--perf", "--perf-iterations", "1+0"), "as in 10+100"),
        (("--perf", "--perf-rounds", "0"), "from 1 to 1000"),
        (("--perf", "--perf-trace", "--perf-no-program-cache"), "needs the program cache"),
    ],
)
def test_wrong_use(run, arguments, words) -> None:
    result = run("null", *arguments)
    assert result.returncode == 2 and words in result.stderr


def test_a_replay_times_its_calls(opwright, tmp_path) -> None:
    trace = support.FIXTURES / "native" / "killed.opwt"
    replay = opwright("--format", "json", "replay", trace, "--device", "sim:n150", "--perf", "--profile-csv", "r.csv")
    calls = json.loads(replay.stdout)["sequence"]
    assert [call["perf"]["clock"] for call in calls] == ["modelled"] * 2
    table = opwright("replay", trace, "--device", "sim:n150", "--perf").stdout
    assert "times of 2 calls, medians added up" in table
    rows = (tmp_path / "r.csv").read_text().splitlines()
    assert len(rows) == 5 and rows[0].startswith("OP CODE,OP TYPE,GLOBAL CALL COUNT,")
    modelled = {str(call["perf"]["device_ns"][0][0]) for call in calls}
    assert modelled == {row.split(",")[19] for row in rows[2:4]}  # one clock
    env = {"TIMED_LOG": tmp_path / "requests.jsonl"}
    timed_calls = ("--perf", "--perf-force", "--perf-iterations", "1+4")
    replay = opwright("--format", "json", "replay", trace, "--device", timed("--hello", "eager"), *timed_calls, env=env)
    assert replay.returncode in (0, 1), replay.stderr
    times = [call["perf"]["end_to_end_ns"] for call in json.loads(replay.stdout)["sequence"] if "perf" in call]
    assert times and all(len(rounds) == 1 and len(rounds[0]) == 4 for rounds in times), replay.stdout
    assert opwright("replay", trace, "--perf-trace").returncode == 2
    assert opwright("replay", trace, "--device", "null", "--profile-csv", "n.csv").returncode == 2


def test_the_mock_board_times_nothing_and_says_why(opwright, run, ttnn_python) -> None:
    env = {"OPWRIGHT_TTNN_PYTHON": ttnn_python}
    result = opwright("run", "--quiet", "--suites", suites(opwright.folder, (32,)), "--device", "ttnn:mock:n150", *FORCED, env=env)
    assert "1 case without times: a mock board has no chip" in result.stderr, result.stderr


# The library's own calls, on a mock board with stand-ins for its traces: that they are there and take what they get.
# What they measure is for a chip to say.
USES = """
import sys
sys.path.insert(0, {package!r})
import ttnn
from opwright.device import Timing
from opwright.ttnn_device import boards, timing
mesh = boards.OpenMesh(24576)
device = mesh.device(None, timing.TRACE_REGION)
x = ttnn.zeros([1, 1, 32, 64], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
for how in ({{}}, {{"program_cache": False}}, {{"trace": True}}):
    asked = Timing({{"warm_up": 2, "iterations": 3, **how}})
    found = timing.measure(asked, device, lambda: ttnn.relu(x), ttnn.deallocate, x.is_allocated)
    print("measured", how, [len(found[name]) for name in ("seconds", "host_seconds")])
mesh.close()
"""


def test_the_ttnn_device_uses_the_real_calls(opwright, opwright_program, ttnn_python, tmp_path) -> None:
    script = tmp_path / "uses.py"
    script.write_text(USES.format(package=str(opwright_program.parent / "python")))
    result = opwright("mock", "--board", "n150", "--stub-device-trace", "--", ttnn_python, script)
    measured = [line for line in result.stdout.splitlines() if line.startswith("measured")]
    assert len(measured) == 3 and all(line.endswith("[3, 3]") for line in measured), result.stdout + result.stderr
