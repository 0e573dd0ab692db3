"""Devices that misbehave (programs/hostile_device.py), one kind after the other: each is noticed within its time, named as
the device's own fault where it is one, costs its case and no more, and leaves nothing behind."""

import json
import os
import shlex
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest
import support
from test_run import results, suite_file

PROGRAM = Path(__file__).parent / "programs" / "hostile_device.py"
MOST_KILOBYTES = 1_000_000  # of any of our processes, in a build with sanitizers


def device(kind: str, folder: Path) -> str:
    return "exec:" + shlex.join([sys.executable, "-I", "-S", str(PROGRAM), kind, str(folder)])


class Ended(NamedTuple):
    code: int
    out: str
    err: str
    kilobytes: int  # of the largest of our processes


def run(folder: Path, *arguments: object, seconds: float = 120, **env: object) -> Ended:
    """As opwright(), and says how much memory was used at most."""
    out, err = folder / "out", folder / "err"
    command = [str(support.find_opwright()), *map(str, arguments)]
    with out.open("wb") as to, err.open("wb") as errors:
        pid = os.posix_spawn(
            command[0], command, support.command_env(folder, **env),
            file_actions=[(os.POSIX_SPAWN_DUP2, to.fileno(), 1), (os.POSIX_SPAWN_DUP2, errors.fileno(), 2)],
        )  # fmt: skip
    deadline = time.monotonic() + seconds
    while True:
        ended, status, used = os.wait4(pid, os.WNOHANG)
        if ended:
            break
        if time.monotonic() > deadline:
            os.kill(pid, 9)
            os.wait4(pid, 0)
            pytest.fail(f"no end within {seconds} s: {err.read_text(errors='replace')[-2000:]}")
        time.sleep(0.01)
    read = [path.read_bytes().decode() for path in (out, err)]  # what we print is text, whatever a device says
    return Ended(os.waitstatus_to_exitcode(status), *read, used.ru_maxrss)


def left_of(token: str) -> list[str]:
    """Processes that name the folder of this test."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if token.encode() in command and int(entry.name) != os.getpid():
                found.append(f"{entry.name}: {command!r}")
    return found


def check_nothing_left(folder: Path, shared_before: set[str]) -> None:
    deadline = time.monotonic() + 20
    while (left := left_of(str(folder))) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not left
    # Tests beside this one leave folders of killed programs, until the next program starts.
    while (ours := orphaned_folders(shared_before)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not ours


def orphaned_folders(shared_before: set[str]) -> set[str]:
    """Folders of devices that are new, and whose process is gone."""
    mine = {name for name in set(os.listdir("/dev/shm")) - shared_before if name.startswith("opwright")}
    return {name for name in mine if not Path(f"/proc/{name.split('-')[3]}").exists()}


# What stands instead of a hello -> what must be said of it.
NO_DEVICE = {
    "silent": "no hello: nothing came within 1 s",
    "deaf_and_silent": "no hello: nothing came within 1 s",
    "stops_itself": "no hello: nothing came within 1 s",
    "loud": "no hello: nothing came within 1 s",
    "leaves": "said no hello and ended with exit status 0",
    "forks_and_leaves": "said no hello and ended with exit status 0",
    "fails": "this device will not start",
    "crashes": "SIGSEGV",
    "kills_itself": "SIGKILL",
    "closes_output": "said no hello and closed its output and did not end",
    "prose": "its first line is no hello: Hello, World!",
    "not_utf8": "its first line is no hello",
    "nul": "its first line is no hello: ????",
    "escapes": "its first line is no hello: ?[2J?]0;title?",
    "number": "its first line is no hello",
    "list": "its first line is no hello",
    "cut": "its first line is no hello",
    "deep": "its first line is no hello",
    "empty_line": "its first line is no hello",
    "many_lines": "its first line is no hello: loading",
    "endless_line": "bytes without an end of line",
    "newer": "it speaks version 2 of the device protocol",
    "version_text": "it speaks version 1 of the device protocol",
    "version_huge": "of the device protocol, this program 1",
    "nameless": 'its hello has no "name"',
    "no_numerics": 'the "numerics" of its hello are not',
    "odd_numerics": 'the "numerics" of its hello are not',
    "no_board": 'it names no "board"',
    "unknown_board": "no_such_board",
    "huge_grid": 'the "grid" of its board',
    "negative_grid": 'the "grid" of its board',
}


@pytest.mark.parametrize("kind", NO_DEVICE)
def test_a_bad_hello_is_the_devices_fault_and_no_run(opwright, tmp_path: Path, kind: str) -> None:
    shared = set(os.listdir("/dev/shm"))
    store = tmp_path / "s.db"
    done = run(
        tmp_path, "--store", store, "run", "--device", device(f"hello_{kind}", tmp_path), "--start-timeout", 1,
        "--suites", suite_file(tmp_path, [(1, 32), (1, 64)]), "--jobs", 1,
    )  # fmt: skip
    assert done.code == 3, done
    assert "is no device" in done.err and NO_DEVICE[kind] in done.err, done.err
    assert "no case was run, and no run was stored" in done.err
    assert "no run '" not in done.err and "\x1b" not in done.err
    assert done.kilobytes < MOST_KILOBYTES
    if store.exists():  # the verb that begins a run may make the store; there is no run in it
        listed = opwright("--store", store, "results", "--runs", "--format", "json")
        assert json.loads(listed.stdout or "[]") == [], listed.stdout
    check_nothing_left(tmp_path, shared)


# What it does when it is called -> outcome, blame (None: whoever repeating finds), words, of the first case.
FAULTS: dict[str, tuple[str, str | None, str]] = {
    "prose": ("device_error", "device", "a line that is no JSON object: TT_METAL: loading firmware"),
    "not_utf8": ("device_error", "device", "a line that is no JSON object"),
    "nul": ("device_error", "device", "a line that is no JSON object: ???"),
    "deep": ("device_error", "device", "a line that is no JSON object"),
    "cut": ("device_error", "device", "a line that is no JSON object"),
    "endless_line": ("device_error", "device", "bytes without an end of line"),
    "gigabyte_line": ("device_error", "device", "bytes without an end of line"),
    "wrong_id": ("device_error", "device", "answered request 2 instead of 1"),
    "text_id": ("device_error", "device", "instead of 1"),
    "huge_id": ("device_error", "device", "instead of 1"),
    "hello_again": ("device_error", "device", "answered request ? instead of 1"),
    "no_outcome": ("device_error", "device", "an outcome that the protocol does not know"),
    "odd_outcome": ("device_error", "device", "an outcome that the protocol does not know"),
    "negative_memory": ("device_error", "device", '"dram" that cannot be: -1'),
    "huge_memory": ("device_error", "device", '"l1_per_core" that cannot be: 1e300'),
    "huge_integer": ("device_error", "device", '"dram" that cannot be'),
    "nan_seconds": ("device_error", "device", '"seconds" that cannot be: NaN'),
    "negative_seconds": ("device_error", "device", '"seconds" that cannot be: -5.0'),
    "infinite_kernel": ("device_error", "device", '"kernel_seconds" that cannot be: Infinity'),
    "overflowing_shape": ("device_error", "device", "more elements than any memory holds"),
    "negative_shape": ("device_error", "device", "an output of the answer"),
    "huge_shape_number": ("device_error", "device", "an output of the answer"),
    "text_shape": ("device_error", "device", "an output of the answer"),
    "outputs_text": ("device_error", "device", 'the "outputs" of the answer are no list'),
    "many_outputs": ("device_error", "device", 'the "outputs" of the answer are no list'),
    "negative_written": ("device_error", "device", '"written" that is no number'),
    "closes_output": ("device_error", "device", "closed its output and did not end"),
    "leaves": ("device_error", "device", "ended with exit status 0, without an answer"),
    "long_message": ("device_error", None, "bytes more)"),
    "crashes": ("crashed", None, "SIGSEGV"),
    "hangs": ("timed_out", None, "no answer within 2 s"),
    "deaf": ("timed_out", None, "no answer within 2 s"),
    "stops_itself": ("timed_out", None, "no answer within 2 s"),
    "late": ("timed_out", None, "no answer within 2 s"),
    "beats_for_ever": ("timed_out", None, "no answer within 2 s"),
    "forks_and_hangs": ("timed_out", None, "no answer within 2 s"),
    "forks_and_crashes": ("crashed", None, "SIGSEGV"),
    "trace_elsewhere": ("device_error", "device", "not its own to give"),
    "trace_elsewhere_of_refusal": ("device_error", "device", "not its own to give"),
    "trace_dotdot": ("device_error", "device", "does not lie in the folder"),
    "trace_relative": ("device_error", "device", "does not lie in the folder"),
    "trace_link": ("device_error", "device", "it is a link, no plain file"),
    "trace_linked_folder": ("device_error", "device", "does not lie in the folder"),
    "trace_hard_link": ("device_error", "device", "a file of 2 names"),
    "trace_pipe": ("device_error", "device", "it is a pipe, no plain file"),
    "trace_folder": ("device_error", "device", "it is a folder, no plain file"),
    "trace_sparse": ("device_error", "device", "68719476736 bytes"),
    "trace_missing": ("device_error", "device", "No such file"),
    "trace_itself": ("device_error", "device", "not its own to give"),
    "trace_nul": ("device_error", "device", "does not lie in the folder"),
    "trace_long_name": ("device_error", "device", "not its own to give"),
}


@pytest.mark.parametrize("kind", FAULTS)
def test_a_fault_costs_its_case_and_has_a_name(opwright, tmp_path: Path, kind: str) -> None:
    shared = set(os.listdir("/dev/shm"))
    victim = tmp_path / "victim"
    victim.write_text("not for devices")
    store = tmp_path / "s.db"
    outcome, blame, words = FAULTS[kind]
    seconds = 2 if outcome == "timed_out" else 30
    done = run(
        tmp_path, "--store", store, "run", "--device", device(f"call_{kind}", tmp_path), "--timeout", seconds, "--no-attribute",
        "--suites", suite_file(tmp_path, [(1, 32), (1, 64)]), "--jobs", 1, "--quiet",
    )  # fmt: skip
    assert done.code == 1, done
    found = results(opwright, store)
    assert len(found) == 2
    for record in found:
        assert record["outcome"] == outcome, record
        assert blame is None or record.get("blame") == blame, record
        assert len(record["reason"]) < 50_000
    assert words in found[0]["reason"], found[0]["reason"]
    assert "\x1b" not in done.err and done.kilobytes < MOST_KILOBYTES
    assert victim.read_text() == "not for devices"
    check_nothing_left(tmp_path, shared)


@pytest.mark.parametrize("kind", ["well_behaved", "call_loud", "call_cuts_the_data", "hello_long_name", "call_forks", "call_trace_garbage"])
def test_what_does_no_harm_is_judged_as_any(opwright, tmp_path: Path, kind: str) -> None:
    """Too much on standard error, a file that it may not shorten, processes that it leaves: its numbers are right."""
    shared = set(os.listdir("/dev/shm"))
    store = tmp_path / "s.db"
    done = run(
        tmp_path, "--store", store, "run", "--device", device(kind, tmp_path), "--no-attribute",
        "--suites", suite_file(tmp_path, [(1, 32), (1, 64)]), "--jobs", 1, "--quiet",
    )  # fmt: skip
    found = results(opwright, store)
    assert [record["outcome"] for record in found] == ["unproven"] * 2, (done, found)
    if kind == "call_trace_garbage":
        assert "what was executed could not be read" in found[0]["notes"], found[0]
    assert done.kilobytes < MOST_KILOBYTES
    check_nothing_left(tmp_path, shared)


def outcomes(opwright, tmp_path: Path, kind: str, cases: int, *more: object) -> tuple[Ended, list[dict]]:
    store = tmp_path / "s.db"
    suite = suite_file(tmp_path, [(1, 32 * (n + 1)) for n in range(cases)])
    done = run(
        tmp_path, "--store", store, "run", "--device", device(f"call_{kind}", tmp_path), "--suites", suite, "--jobs", 1,
        *more,
    )
    return done, results(opwright, store)


@pytest.mark.parametrize("more", [(), ("--no-attribute",)], ids=["attributed", "not"])
def test_an_answer_too_many_belongs_to_the_call_that_was_answered(opwright, tmp_path: Path, more: tuple) -> None:
    _, found = outcomes(opwright, tmp_path, "answers_twice_once", 3, *more)
    said = [(record["outcome"], record.get("blame", "")) for record in found]
    assert said == [("unproven", ""), ("device_error", "device"), ("unproven", "")], found
    assert "a line more than it was asked for" in found[1]["reason"]


@pytest.mark.parametrize("more", [(), ("--no-attribute",)], ids=["attributed", "not"])
def test_a_death_after_the_answer_belongs_to_the_call_that_was_answered(opwright, tmp_path: Path, more: tuple) -> None:
    _, found = outcomes(opwright, tmp_path, "crashes_after_its_answer", 3, *more)
    said = [(record["outcome"], record.get("blame", "")) for record in found]
    assert said == [("unproven", ""), ("crashed", "" if more else "op"), ("unproven", "")], found
    assert "SIGSEGV" in found[1]["reason"] and "after its answer" in found[1]["reason"], found[1]


def test_a_crash_at_the_second_call_costs_the_second(opwright, tmp_path: Path) -> None:
    _, found = outcomes(opwright, tmp_path, "crashes_at_the_second", 4, "--no-attribute")
    assert [record["outcome"] for record in found] == ["unproven", "crashed", "unproven", "unproven"], found


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("other_after_restart", "after a restart it says that it is another device"),
        ("silent_after_restart", "no hello: nothing came within 1 s"),
        ("prose_after_restart", "its first line is no hello"),
    ],
)
def test_a_device_that_comes_back_as_another_is_to_blame(opwright, tmp_path: Path, kind: str, words: str) -> None:
    """Never the operator, although its case was running; and a run of many is not spent on waiting for it."""
    done, found = outcomes(opwright, tmp_path, kind, 40, "--start-timeout", 1, "--timeout", 20)
    assert done.code == 1, done
    assert found[0]["outcome"] == "crashed" and found[0]["blame"] == "device", found[0]
    assert words in found[0]["evidence"], found[0]
    assert all(record.get("blame") == "device" for record in found), found
    assert len(found) < 10 and "opwright: stopped: the device " in done.err, done.err


def test_garbage_for_every_call_ends_the_run_as_the_devices_fault(opwright, tmp_path: Path) -> None:
    done, found = outcomes(opwright, tmp_path, "prose", 40)
    assert {record["blame"] for record in found} == {"device"} and len(found) < 10
    assert "opwright: stopped: the device is not fit" in done.err, done.err


def test_a_second_device_that_says_no_hello_is_named_before_anything_runs(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    done = run(
        tmp_path, "--store", store, "run", "--device", "sim:n150", "--against", device("hello_silent", tmp_path),
        "--start-timeout", 1, "--suites", suite_file(tmp_path, [(1, 32)]), "--jobs", 1,
    )  # fmt: skip
    assert done.code == 3 and "no hello: nothing came within 1 s" in done.err, done


def test_one_case_alone_has_the_same_words(opwright, tmp_path: Path) -> None:
    shared = set(os.listdir("/dev/shm"))
    tensor = "tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"
    case = f"ttnn.relu(input_tensor={tensor})"
    victim = tmp_path / "victim"
    victim.write_text("not for devices")
    for kind in ("trace_elsewhere", "trace_dotdot", "prose", "not_utf8"):
        done = run(tmp_path, "--format", "json", "run", "--case", case, "--device", device(f"call_{kind}", tmp_path))
        answer = json.loads(done.out)
        assert done.code == 1 and answer["outcome"] == "device_error", done
        assert FAULTS[kind][2] in answer["reason"], answer
    done = run(tmp_path, "run", "--case", case, "--device", device("hello_silent", tmp_path), "--start-timeout", 0.5)
    assert done.code == 3 and "nothing came within 0.5 s" in done.err, done
    assert victim.read_text() == "not for devices"
    check_nothing_left(tmp_path, shared)
