"""Runs in isolated workers: what misbehaves costs one case and is named, nothing is lost, everything can be resumed."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
import support

TILE = 32
# Width in tiles -> what the self-test device does (exec/selftest_device.h), and what a run must say of it.
MISDEEDS = {
    1: ("passed", ""),
    2: ("crashed", "op"),  # segfault
    3: ("crashed", "op"),  # abort
    4: ("timed_out", "op"),  # hang
    5: ("passed", ""),  # leak
    7: ("failed", "op"),  # wrong result
    9: ("passed", ""),  # poisons its process
    11: ("harness_error", "harness"),  # garbage in the protocol
    12: ("device_error", "op"),  # throws
    13: ("crashed", "op"),  # exits
    14: ("crashed", "op"),  # kill -9
    16: ("harness_error", "reference"),  # the reference throws
    17: ("crashed", "reference"),  # … crashes
    18: ("timed_out", "reference"),  # … hangs
    19: ("failed", "reference"),  # … is wrong
    20: ("failed", "reference"),  # … gives NaN
}
POISON, POISONED, FLAKY = 9, 10, 8


def tensor(tiles: int, height: int = 32) -> str:
    return f"tensor([1,1,{height},{tiles * TILE}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"


def suite_file(folder: Path, cases: list[tuple[int, int]], name: str = "bad") -> Path:
    """A suite of relu calls: (width in tiles, height) each."""
    path = folder / f"{name}.yaml"
    lines = "".join(
        f"    - op: ttnn.relu\n      parameters: {{input_tensor: ['{tensor(width, height)}']}}\n" for width, height in cases
    )
    path.write_text(f"suites:\n  {name}:\n{lines}")
    return path


def results(opwright, store: Path, run: str = "last") -> list[dict]:
    """Every result of a run, by its place."""
    out = store.with_suffix(".jsonl")
    done = opwright("--store", store, "results", run, "--export", f"jsonl:{out}")
    assert done.returncode in (0, 1), done.stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    return sorted((record for record in found if "outcome" in record), key=lambda record: record["index"])


def width_of(record: dict) -> int:
    return int(record["case"].split("[1,1,")[1].split("]")[0].split(",")[1]) // TILE


def test_every_misdeed_costs_one_case_and_is_named(opwright, tmp_path: Path) -> None:
    widths = [width for width in MISDEEDS for _ in range(2)]
    random.Random(3).shuffle(widths)
    # Between two bad ones a good one, so that a loss would show. Heights make every case another configuration.
    cases = [pair for n, width in enumerate(widths) for pair in ((width, 32 * (n + 1)), (1, 32 * (n + 100)))]
    store = tmp_path / "s.db"
    done = opwright(
        "--store", store, "run", "--device", "selftest", "--suites", suite_file(tmp_path, cases), "--timeout", 6,
        "--jobs", 2, "--quiet", "--attribute", "all",
    )
    assert done.returncode == 1, done.stderr
    found = results(opwright, store)
    assert len(found) == len(cases)
    wrong = []
    for record in found:
        outcome, blame = MISDEEDS[width_of(record)]
        if (record["outcome"], record.get("blame", "")) != (outcome, blame):
            wrong.append((width_of(record), record["outcome"], record.get("blame"), record.get("evidence"), record["reason"]))
    assert not wrong, wrong
    assert all(record["repeat"].startswith("opwright run --case ") for record in found)


def test_a_repeat_line_asks_what_the_run_asked(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    opwright(
        "--store", store, "run", "--device", "sim:n150", "--suites", suite_file(tmp_path, [(1, 32)]), "--pcc", 0.5,
        "--against", "sim:n300", "--seed", 3, "--quiet",
    )  # fmt: skip
    (record,) = results(opwright, store)
    assert record["repeat"].endswith(" --device sim:n150 --seed 3 --pcc 0.5 --against sim:n300"), record["repeat"]


def test_state_that_leaks_is_named(opwright, tmp_path: Path) -> None:
    cases = [(POISON, 32), (POISONED, 32), (1, 32), (1, 64), (POISON, 64), (POISONED, 64)]
    store = tmp_path / "s.db"
    opwright(
        "--store", store, "run", "--device", "selftest", "--suites", suite_file(tmp_path, cases), "--jobs", 1, "--quiet"
    )
    found = results(opwright, store)
    blamed = [record.get("blame") for record in found if width_of(record) == POISONED]
    # The first case of each pair ran before the second in the same process.
    assert blamed == ["state leak", "state leak"], found


def test_flaky_cases_have_a_rate(opwright, tmp_path: Path) -> None:
    cases = [(FLAKY, 32 * (n + 1)) for n in range(12)]
    store = tmp_path / "s.db"
    opwright("--store", store, "run", "--device", "selftest", "--suites", suite_file(tmp_path, cases), "--quiet")
    failed = [record for record in results(opwright, store) if record["outcome"] == "failed"]
    assert failed, "twelve coins never showed tails"
    flaky = [record for record in failed if record["blame"] == "flaky"]
    assert len(flaky) >= len(failed) - 1  # seven tails in a row happen, rarely
    assert all(" of " in record["evidence"] for record in flaky)


def test_a_broken_machine_ends_the_run(opwright, tmp_path: Path) -> None:
    cases = [(1, 32), (21, 32)] + [(1, 32 * n) for n in range(2, 40)]
    store = tmp_path / "s.db"
    done = opwright(
        "--store", store, "run", "--device", "selftest", "--suites", suite_file(tmp_path, cases), "--jobs", 1,
        env={"OPWRIGHT_SELFTEST_BROKEN": tmp_path / "broken"},
    )
    assert done.returncode == 1
    assert "the machine is not fit" in done.stderr
    found = results(opwright, store)
    assert len(found) < len(cases) and "machine" in [record.get("blame") for record in found]


def start(program: Path, tmp_path: Path, *arguments: object, **env: object) -> subprocess.Popen:
    return subprocess.Popen(
        [program, *map(str, arguments)], cwd=tmp_path, env=support.command_env(tmp_path, **env),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
    )


def outcome_table(records: list[dict]) -> list[tuple]:
    return [(r["index"], r["case"], r["outcome"], r.get("blame", ""), r.get("pcc"), r.get("ulp")) for r in records]


def test_killed_at_random_points_and_resumed_to_the_same_table(opwright, tmp_path: Path) -> None:
    cases = [(1 + 6 * (n % 5 == 0), 32 * (n + 1)) for n in range(60)]  # every fifth one is wrong
    suite = suite_file(tmp_path, cases)
    whole = tmp_path / "whole.db"
    arguments = ("run", "--device", "selftest", "--suites", suite, "--jobs", 2)
    assert opwright("--store", whole, *arguments, "--quiet").returncode == 1
    wanted = outcome_table(results(opwright, whole))
    assert len(wanted) == len(cases)

    program = support.find_opwright()
    store = tmp_path / "killed.db"
    chance = random.Random(11)
    kills = 0
    process = start(program, tmp_path, "--store", store, *arguments)
    for _ in range(40):
        time.sleep(chance.uniform(0.05, 0.6))
        if process.poll() is not None:
            break
        process.kill()
        process.communicate()
        kills += 1
        # A run that died before its device answered is none: there is nothing to resume yet.
        there = opwright("--store", store, "results", "--runs", "--format", "jsonl").stdout.strip() != ""
        process = start(program, tmp_path, "--store", store, *(("run", "--resume", "--jobs", 2) if there else arguments))
    process.communicate(timeout=300)
    assert kills > 0
    last = opwright("--store", store, "run", "--resume")
    assert last.returncode in (0, 1), last.stderr
    assert outcome_table(results(opwright, store)) == wanted


def test_ctrl_c_ends_well(opwright, tmp_path: Path) -> None:
    cases = [(1, 32 * (n + 1)) for n in range(400)]
    store = tmp_path / "s.db"
    process = start(
        support.find_opwright(), tmp_path, "--store", store, "run", "--device", "selftest",
        "--suites", suite_file(tmp_path, cases), "--jobs", 1,
    )
    assert process.stderr is not None
    for _ in range(5):
        process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "--resume" in errors
    some = len(results(opwright, store))
    assert 0 < some < len(cases)
    assert opwright("--store", store, "run", "--resume", "--quiet").returncode == 0
    assert len(results(opwright, store)) == len(cases)


def test_expected_failures_are_turned_round(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    suite = suite_file(tmp_path, [(1, 32), (7, 32)], name="xfail_odd")
    done = opwright("--store", store, "run", "--device", "selftest", "--suites", suite, "--quiet")
    assert done.returncode == 1  # the one that passed was not expected to
    assert {width_of(r): r["outcome"] for r in results(opwright, store)} == {1: "xpassed", 7: "xfailed"}


def test_shards_are_parts_of_the_whole(opwright, tmp_path: Path) -> None:
    suite = suite_file(tmp_path, [(1, 32 * (n + 1)) for n in range(20)])
    seen: list[str] = []
    for part in (1, 2, 3):
        store = tmp_path / f"{part}.db"
        opwright("--store", store, "run", "--device", "null", "--suites", suite, "--shard", f"{part}/3", "--quiet")
        seen += [record["case"] for record in results(opwright, store)]
    assert len(seen) == len(set(seen)) == 20


def test_fail_fast_and_dry_run(opwright, tmp_path: Path) -> None:
    suite = suite_file(tmp_path, [(7, 32)] + [(1, 32 * (n + 1)) for n in range(50)])
    store = tmp_path / "s.db"
    plan = opwright("--store", store, "--format", "json", "run", "--suites", suite, "--dry-run")
    assert plan.returncode == 0 and json.loads(plan.stdout)[-1]["cases"] == 51
    assert not store.exists()
    done = opwright(
        "--store", store, "run", "--device", "selftest", "--suites", suite, "--jobs", 1, "--fail-fast", "--quiet"
    )
    assert done.returncode == 1 and "--fail-fast" in done.stderr
    assert 0 < len(results(opwright, store)) < 51


def test_a_run_without_numbers_is_no_pass(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    done = opwright(
        "--store", store, "--format", "json", "run", "--device", "null", "--suites", suite_file(tmp_path, [(1, 32)])
    )
    report = json.loads(done.stdout)
    assert report["outcomes"] == {"accepted": 1} and report["passed"] == 0 and done.returncode == 0
    results(opwright, store)
    assert '"numerics": "none"' in store.with_suffix(".jsonl").read_text().splitlines()[0]


def test_two_devices_are_compared(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    suite = suite_file(tmp_path, [(1, 32), (7, 32)])
    done = opwright(
        "--store", store, "run", "--device", "sim:n150", "--against", "selftest", "--suites", suite, "--quiet"
    )
    assert done.returncode == 1
    by_width = {width_of(record): record for record in results(opwright, store)}
    assert by_width[1]["against"] == "passed" and not by_width[1].get("disagreement")
    assert by_width[7]["outcome"] == "passed" and by_width[7]["against"] == "failed" and by_width[7]["disagreement"]


def test_planted_faults_are_noticed(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    opwright("--store", store, "run", "--device", "sim:n150", "--mutate", "--suites", suite_file(tmp_path, [(2, 64)]))
    (record,) = results(opwright, store)
    assert record["outcome"] == "passed" and record["faults"] == record["faults_noticed"] > 5
    assert record["fields"] == record["fields_equal"] > 0
    # … and wrong uses of the data are asked, by class.
    asked = json.loads(record["verdicts"])[0]["misuse"]
    assert {"previous call's data", "neighbour row"} <= {one["class"] for one in asked}
    table = json.loads(opwright("--store", store, "--format", "json", "results").stdout)["misuse"]
    assert table["cases"] == 1 and table["tried"] == len(asked) and table["large_noticed"] == table["large"] > 0
    assert "wrong use of data" in opwright("--store", store, "results").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "nowhere"], "nowhere"),
        (["--timeout", "soon"], "--timeout soon"),
        (["--memory", "much"], "--memory much"),
        (["--shard", "4/3"], "4/3"),
        (["--jobs", "0"], "--jobs"),
    ],
)
def test_bad_flags_are_named(opwright, tmp_path: Path, arguments: list[str], message: str) -> None:
    done = opwright("--store", tmp_path / "s.db", "run", "--suites", suite_file(tmp_path, [(1, 32)]), *arguments)
    assert done.returncode in (2, 3) and message in done.stderr, done.stderr


def test_nothing_to_run_is_no_success(opwright, tmp_path: Path) -> None:
    done = opwright("--store", tmp_path / "none.db", "run")
    assert done.returncode == 3 and "none.db" in done.stderr
    assert not os.path.exists(tmp_path / "none.db")
