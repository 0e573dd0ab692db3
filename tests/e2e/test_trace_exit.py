"""`opwright trace` ends as the traced program ended, whatever becomes of the trace; what is lost is told."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import support

SMALL = {"PYTHONPATH": support.FIXTURES / "python" / "small", "PYTHONDONTWRITEBYTECODE": "1"}
CALLS = "import os, shutil, sys, ttnn\nfor n in range(5): ttnn.add(n, n)\nfolder = os.environ['OPWRIGHT_TRACE']\n"


def traced(opwright, program: str, *flags: str, env: dict | None = None) -> subprocess.CompletedProcess:
    (opwright.folder / "program.py").write_text(program)
    return opwright(*flags, "trace", "--", sys.executable, "program.py", env={**SMALL, **(env or {})})


@pytest.mark.parametrize("status", [0, 1, 7, 255])
def test_the_trace_folder_is_removed_while_the_program_runs(status: int, opwright) -> None:
    done = traced(opwright, CALLS + f"shutil.rmtree(folder)\nsys.exit({status})\n")
    assert done.returncode == status, done.stderr
    assert "folder is gone" in done.stderr
    assert "LOST" in done.stdout and "trace: lost" in done.stdout
    assert "Did the program import ttnn?" not in done.stdout


def test_what_is_lost_is_in_the_json(opwright) -> None:
    done = traced(opwright, CALLS + "shutil.rmtree(folder)\n", "--format", "json")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert (summary["exit"], summary["calls"], summary["trace"]) == (0, 0, "")
    assert "folder is gone" in summary["problems"][0]
    assert summary["not_done"] == []


@pytest.mark.parametrize("status", [0, 4])
@pytest.mark.parametrize(
    "damage",
    [
        "open(folder + '/other.opwt', 'wb').write(b'no trace at all')",
        "open(folder + '/other.opwt', 'wb').write(b'')",
        "os.mkdir(folder + '/other.opwt')",
        "os.symlink('/no/such/file', folder + '/other.opwt')",
        "shutil.rmtree(folder); open(folder, 'w').write('a file')",
        "os.chmod(folder, 0)",
    ],
)
def test_damage_beside_the_trace(damage: str, status: int, opwright) -> None:
    done = traced(opwright, CALLS + f"{damage}\nsys.exit({status})\n")
    assert done.returncode == status, done.stdout + done.stderr
    for folder in (opwright.folder / "opwright-traces").glob("*"):
        folder.chmod(0o700)
    # chmod hinders nobody who is root; what is no file is none of ours, and nothing of the trace is missing.
    if not any(word in damage for word in ("chmod", "mkdir", "symlink")):
        assert "opwright: " in done.stderr


def test_the_working_folder_is_removed_while_the_program_runs(opwright) -> None:
    (opwright.folder / "here").mkdir()
    program = opwright.folder / "program.py"
    program.write_text(CALLS + "shutil.rmtree(os.getcwd())\nsys.exit(6)\n")
    done = opwright("trace", "--include-failed", "--", sys.executable, program, env=SMALL, cwd=opwright.folder / "here")
    assert done.returncode == 6, done.stderr
    assert done.stderr


@pytest.mark.parametrize("status", [0, 9])
def test_a_store_that_cannot_be_written(status: int, opwright) -> None:
    (opwright.folder / "program.py").write_text(CALLS + f"sys.exit({status})\n")
    store = opwright.folder / "no" / "such" / "folder.db"
    arguments = ("trace", "--include-failed", "--store", store, "--", sys.executable, "program.py")
    done = opwright(*arguments, env=SMALL)
    assert done.returncode == status, done.stderr
    assert "NOT DONE not imported: " in done.stdout
    assert "not imported: " in done.stderr and "the trace is in " in done.stderr
    done = opwright("--format", "json", *arguments, env=SMALL)
    assert done.returncode == status
    summary = json.loads(done.stdout)
    assert summary["not_done"][0].startswith("not imported: ")
    (kept,) = Path(summary["trace"]).glob("*.opwt")  # nothing is lost
    assert opwright("import", kept, *(["--include-failed"] if status else [])).returncode == 0


def test_side_files_that_cannot_be_written(opwright) -> None:
    (opwright.folder / "program.py").write_text(CALLS)
    done = opwright("trace", "--ops-jsonl", "/no/such/folder/ops.jsonl", "--", sys.executable, "program.py", env=SMALL)
    assert done.returncode == 0, done.stderr
    assert "not written: /no/such/folder/ops.jsonl" in done.stderr


@pytest.mark.parametrize("status", [0, 5])
@pytest.mark.parametrize("output", ["/dev/full", "a closed pipe"])
def test_output_that_cannot_be_written(status: int, output: str, opwright) -> None:
    program = f"{opwright.program} trace -- {sys.executable} -c 'raise SystemExit({status})'"
    to = "> /dev/full" if output == "/dev/full" else "| true; exit ${PIPESTATUS[0]}"
    done = subprocess.run(
        ["bash", "-c", f"{program} {to}"],
        cwd=opwright.folder,
        env=support.command_env(opwright.folder),
        capture_output=True,
        text=True,
        timeout=support.COMMAND_TIMEOUT_S,
    )
    assert done.returncode == status, done.stderr


def test_a_batch_tells_what_was_not_imported(opwright) -> None:
    (opwright.folder / "list.txt").write_text(f"{sys.executable} program.py\n{sys.executable} -c 'raise SystemExit(3)'\n")
    (opwright.folder / "program.py").write_text(CALLS + "shutil.rmtree(folder)\nos.mkdir(folder + '.opwt')\n")
    done = opwright("trace", "--list", "list.txt", env=SMALL)
    assert done.returncode == 3
    assert "2 commands, 1 failed" in done.stdout


# -- tests that fail

TESTS = "import ttnn\ndef test_good():\n    ttnn.add(1, 2)\ndef test_bad():\n    ttnn.add(3, 4)\n    assert {}\n"


def pytest_command(*more: str) -> list[str]:
    return [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py", *more]


def test_failing_tests_are_allowed_where_asked(opwright) -> None:
    (opwright.folder / "test_it.py").write_text(TESTS.format(False))
    assert opwright("trace", "--", *pytest_command(), env=SMALL).returncode == 1
    done = opwright("--format", "json", "trace", "--allow-failures", "--", *pytest_command(), env=SMALL)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["exit"] == 1, "how the program ended is told as it was"
    assert (summary["tests"], summary["kept_apart"]) == ({"failed": 1, "passed": 1}, True)


def test_failing_tests_are_allowed_though_their_trace_is_lost(opwright) -> None:
    lost = "__import__('shutil').rmtree(__import__('os').environ['OPWRIGHT_TRACE'])"
    (opwright.folder / "test_it.py").write_text(TESTS.format(lost))
    assert opwright("trace", "--allow-failures", "--", *pytest_command(), env=SMALL).returncode == 0


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ([sys.executable, "-c", "raise SystemExit(1)"], 1),  # no tests
        ([sys.executable, "-c", "raise SystemExit(5)"], 5),
        ([sys.executable, "-m", "pytest", "--no-such-option"], 4),
        ([sys.executable, "-m", "pytest", "-q", "-k", "no_such_test"], 5),
        (["sh", "-c", "kill -KILL $$"], 137),
    ],
    ids=lambda value: " ".join(value[-2:]) if isinstance(value, list) else None,
)
def test_only_failing_tests_are_allowed(command: list, status: int, opwright) -> None:
    assert opwright("trace", "--allow-failures", "--", *command, env=SMALL).returncode == status
