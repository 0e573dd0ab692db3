"""Devices that are programs: `--device exec:…` with a device of our own that fails as it is told, and the real library."""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support

FAKE = Path(__file__).parent / "programs" / "fake_device.py"
ORACLE = support.FIXTURES / "oracle"
A = "tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"
ADD = f"ttnn.add(input_tensor_a={A},input_tensor_b={A})"
ADD_BY_POSITION = f"ttnn.add(arg0={A},arg1={A})"
ERA1 = (
    "ttnn::add(arg0=tensor([1,1,32,64] BFLOAT16 TILE memory(DRAM INTERLEAVED) {alignment=[32,32]}),"
    "arg1=tensor([1,1,32,64] BFLOAT16 TILE memory(DRAM INTERLEAVED) {alignment=[32,32]}))"
)


def fake(*options: str) -> str:
    return "exec:" + shlex.join([sys.executable, "-I", str(FAKE), *options])


def run(opwright, case: str, device: str, *more: str, **named) -> dict:
    result = opwright("--format", "json", "run", "--case", case, "--device", device, *more, **named)
    assert result.returncode in (0, 1), result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("case", [ADD, ADD_BY_POSITION, ERA1], ids=["named", "by_position", "era1"])
def test_a_program_computes_and_is_judged(opwright, case: str) -> None:
    answer = run(opwright, case, fake())
    # Right, but the program does not tell what it executed.
    assert answer["outcome"] == "unproven" and "capture" in answer["reason"], answer
    assert answer["numerics"] == "real" and answer["outputs"][0]["verdict"]["outcome"] == "passed"
    assert answer["dram"] == 3 * 2 * 2048
    assert answer["seconds"] == 0.5  # as the device says, not as we measure
    assert shlex.split(answer["repeat"])[-1] == fake()  # a shell gives it back whole


def test_without_numerics_it_accepts_and_never_passes(opwright) -> None:
    answer = run(opwright, ADD, fake("--numerics", "none"))
    assert answer["outcome"] == "accepted" and "verdict" not in answer["outputs"][0]


def test_a_wrong_value_fails(opwright) -> None:
    answer = run(opwright, ADD, fake("--fault", "wrong_value"))
    assert answer["outcome"] == "failed", answer


def test_an_output_of_another_shape_fails_and_says_so(opwright) -> None:
    answer = run(opwright, ADD, fake("--fault", "other_shape"))
    assert answer["outcome"] == "failed"
    assert "output 0 shape: promised [1,1,32,64], came [1,1,1,1]" in answer["reason"]


@pytest.mark.parametrize(
    ("fault", "outcome", "words"),
    [
        ("segfault", "crashed", "SIGSEGV"),
        ("exit", "crashed", "exit status 3"),
        ("garbage", "device_error", "TT_METAL: loading firmware"),
        ("wrong_id", "device_error", "instead of"),
        ("beside", "device_error", "wrote beside its outputs"),
        ("unwritten", "device_error", "2048 of 2048 elements were not written"),
        ("error", "device_error", "RuntimeError: error as told"),
        ("refused", "refused", "refused as told (a == b)"),
        ("out_of_memory", "out_of_memory", "out_of_memory as told"),
        ("unsupported", "unsupported", "unsupported as told"),
    ],
)
def test_every_way_to_fail_has_its_outcome(opwright, fault: str, outcome: str, words: str) -> None:
    answer = run(opwright, ADD, fake("--fault", fault))
    assert answer["outcome"] == outcome and words in answer["reason"], answer


def test_an_operator_that_nobody_here_knows_is_asked_too(opwright) -> None:
    """The device decides; without a reference nothing is judged."""
    answer = run(opwright, ADD.replace("ttnn.add", "ttnn.no_such_operator"), fake())
    assert answer["outcome"] == "unsupported" and "this device has no ttnn.no_such_operator" in answer["reason"]


def test_an_era1_call_of_an_unknown_operator_is_unsupported(opwright) -> None:
    answer = run(opwright, ERA1.replace("ttnn::add", "ttnn::no_such_operator"), fake())
    assert answer["outcome"] == "unsupported" and "C++ arguments by position" in answer["reason"]


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("exec:", ["needs a command"]),
        ("exec:no-such-program-anywhere", ["is no device", "no-such-program-anywhere"]),
        (f"exec:{sys.executable} -c 'print(1)'", ["its first line is no hello"]),
        (fake("--fault", "no_hello"), ["exit status 1", "this device will not start"]),
        (fake("--fault", "new_protocol"), ["version 2 of the device protocol"]),
        ("ttnn:mock:", ["ttnn:mock:BOARD"]),
        ("ttnn:mock:no_such_board", ["no_such_board"]),
        ("ttnn:n150", ["ttnn:mock:BOARD"]),
    ],
)
def test_what_is_no_device_is_an_error_with_a_reason(opwright, device: str, words: list[str]) -> None:
    result = opwright("run", "--case", ADD, "--device", device)
    assert result.returncode in (2, 3), result
    for word in words:
        assert word in result.stderr, result.stderr


def test_no_python_with_ttnn_says_how_to_get_one(opwright, tmp_path: Path) -> None:
    result = opwright("run", "--case", ADD, "--device", "ttnn:mock:n150", env={"PATH": "/nowhere"})
    assert result.returncode != 0 and "pip install ttnn" in result.stderr, result.stderr
    result = opwright("run", "--case", ADD, "--device", "ttnn", "--python", "/usr/bin/env")
    assert result.returncode != 0, result.stdout


def test_list_names_the_programs(opwright) -> None:
    result = opwright("device", "list")
    for word in ("ttnn:mock:BOARD", "exec:", "pip install ttnn"):
        assert word in result.stdout


def test_nothing_is_left_when_we_are_killed(opwright) -> None:
    """kill -9: the device's program goes with us, and no file stays in /dev/shm."""
    command = [str(opwright.program), "run", "--case", ADD, "--device", fake("--fault", "hang")]
    process = subprocess.Popen(command, cwd=opwright.folder, env=support.command_env(opwright.folder))
    try:
        child = wait_for(lambda: children_of(process.pid), 30)[0]
        wait_for(lambda: shared_by(process.pid), 30)
        time.sleep(0.5)
    finally:
        process.kill()
        process.wait()
    wait_for(lambda: not Path(f"/proc/{child}").exists() or is_zombie(child), 30)
    assert not shared_by(process.pid)


def shared_by(pid: int) -> list[str]:
    return [name for name in os.listdir("/dev/shm") if name.startswith("opwright") and f"-{pid}-" in name]


def children_of(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_zombie(pid: int) -> bool:
    return ") Z " in Path(f"/proc/{pid}/stat").read_text()


def wait_for(found, seconds: float):
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return answer


def test_the_conformity_of_a_program_is_counted(opwright) -> None:
    """Our stub knows two operators: it refuses the others, and every refusal is a disagreement with a repeat line."""
    result = opwright(
        "--format", "json", "device", "conform", "--device", fake("--numerics", "none"),
        "--oracle", ORACLE / "models_n150.jsonl.zst",
    )  # fmt: skip
    report = json.loads(result.stdout)
    assert result.returncode == 1 and report["cases"] == 181
    assert report["outcome"]["agree"] > 0 and report["outcome"]["disagree"] > 0
    assert all(one["repeat"].startswith("opwright run --case ") for one in report["disagreements"])


# ------------------------------------------------------------------------------------------- with the real library


@pytest.fixture
def ttnn(opwright, ttnn_python: Path):
    def call(case: str, board: str = "n150", *more: str) -> dict:
        return run(opwright, case, f"ttnn:mock:{board}", "--python", str(ttnn_python), *more)

    return call


def test_the_real_library_accepts_and_reports_what_it_made(ttnn) -> None:
    answer = ttnn(ADD)
    assert answer["outcome"] == "accepted" and answer["numerics"] == "none", answer
    assert answer["outputs"][0]["spec"]["tensor"]["shape"] == [1, 1, 32, 64]


def test_the_real_library_refuses_in_its_own_words(ttnn) -> None:
    other = A.replace("[1,1,32,64]", "[1,1,32,63]")
    answer = ttnn(f"ttnn.add(input_tensor_a={A},input_tensor_b={other})")
    assert answer["outcome"] == "refused" and "roadcast" in answer["reason"], answer


def test_golden_functions_of_integers_are_compared(ttnn, ttnn_python: Path) -> None:
    if subprocess.run([ttnn_python, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip("torch is not there")
    numbers = "tensor([32] INT32 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED))"
    answer = ttnn(f"ttnn.plus_one(input_tensor={numbers})", "n150", "--golden")
    assert (answer["outcome"], answer["against"], answer["disagreement"]) == ("accepted", "passed", ""), answer
    assert answer["repeat"].endswith(" --golden")


def test_an_era1_call_reaches_the_real_library(ttnn) -> None:
    assert ttnn(ERA1)["outcome"] == "accepted"


def test_the_real_library_agrees_with_what_was_recorded_from_it(opwright, ttnn_python: Path) -> None:
    result = opwright(
        "--format", "json", "device", "conform", "--device", "ttnn:mock:n150", "--python", ttnn_python,
        "--oracle", ORACLE / "models_n150.jsonl.zst",
    )  # fmt: skip
    report = json.loads(result.stdout)
    assert report["cases"] == 181 and not report["skipped"], report["skipped"]
    assert report["outcome"]["disagree"] == 0 and report["specs"]["disagree"] == 0, report["disagreements"][:5]
