"""`perf record -- CMD`: a program under the profiler, for which a stand-in plays that writes real files, crashes, hangs, is late."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support
from conftest import Opwright

STAND_IN = Path(__file__).resolve().parent / "programs" / "profiler"


@pytest.fixture
def record(opwright: Opwright, tmp_path: Path):
    def run(*words: object, fault: str = "", flags: tuple = (), **env: object):
        return opwright("perf", "record", *flags, "--", *words, env={"PYTHONPATH": STAND_IN, "STAND_IN": fault, **env})

    (tmp_path / "model.py").write_text("import sys\nprint('model', sys.argv[1:])\nsys.exit(len(sys.argv) > 3)\n")
    return run


def answer(done: subprocess.CompletedProcess, status: int = 0) -> dict:
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


JSON = ("--format", "json")


def processes_below(folder: Path) -> list[str]:
    """Command lines of processes that have this folder as their working folder, but our own."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and int(entry.name) != os.getpid() and (entry / "cwd").resolve() == folder:
                found.append((entry / "cmdline").read_text())
        except OSError:
            continue
    return found


def test_runs_keeps_the_log_and_explains_its_own_report(record, tmp_path: Path) -> None:
    for other in ("opwright-profiles/zzz/reports/2030/x", "opwright-profiles/reports"):
        (tmp_path / other).mkdir(parents=True)
        (tmp_path / other / "ops_perf_results_2030_01_01_00_00_00.csv").write_text("OP CODE,OP TYPE\n")
    done = record("python3", "model.py", "a b", "it's")
    assert done.returncode == 0, done.stderr
    assert "stand-in: 1 10000 False\nmodel ['a b', \"it's\"]\n" in done.stdout
    assert "3 iterations of 4 positions, 1 device" in done.stdout
    run = next(path for path in (tmp_path / "opwright-profiles").iterdir() if (path / "run.json").exists())
    kept = json.loads((run / "run.json").read_text())
    assert kept["run"] == run.name and kept["outcome"] == "reported" and kept["exit"] == 0
    assert kept["report"] == str(run / "reports" / run.name / "2026_01_02_03_04_05" / f"ops_perf_results_{run.name}_2026_01_02_03_04_05.csv")
    assert kept["environment"]["TT_METAL_PROFILER_TRACE_TRACKING"] == "1"
    assert "model ['a b'" in (run / "program.log").read_text()


def test_in_json_standard_output_is_ours(record) -> None:
    done = record("python3", "model.py", flags=(*JSON, "--profiler-option", "--sync-host-device", "--op-support-count", 7))
    found = answer(done)
    assert (found["outcome"], found["exit"], found["why"], found["perf"]["iterations"]) == ("reported", 0, None, 3)
    assert "stand-in: 1 7 True\nmodel []" in done.stderr


@pytest.mark.parametrize("words", [("-m", "model", "x y"), ("model.py", "x y")])
def test_modules_and_files(record, words) -> None:
    assert "model ['x y']" in record("python3", *words).stdout


def test_a_program_that_is_no_python(record, tmp_path: Path) -> None:
    program = tmp_path / "run_model"
    program.write_text("#!/bin/sh\nfor word in \"$@\"; do echo \"word $word\"; done\n")
    program.chmod(0o755)
    done = record("./run_model", "two words", "$HOME")
    assert done.returncode == 0, done.stderr
    assert "word two words\nword $HOME\n" in done.stdout


def test_pytest_is_run_as_a_module(record, tmp_path: Path) -> None:
    (tmp_path / "test_model.py").write_text("def test_one(): pass\ndef test_two(): assert False\n")
    environment = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": 1}
    python = Path(sys.executable)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "pytest").write_text(f"#!{python}\n")
    (tmp_path / "bin" / "pytest").chmod(0o755)
    path = {"PATH": f"{tmp_path / 'bin'}:{python.parent}:{os.environ['PATH']}", **environment}
    assert answer(record("pytest", "-q", "-k", "one and not two", "test_model.py", flags=JSON, **path))["outcome"] == "reported"
    failed = answer(record("pytest", "-q", "test_model.py", flags=JSON, **path), 1)
    assert failed["outcome"] == "program_failed" and failed["exit"] == 4 and failed["report"] is None


def test_a_failing_program_is_exit_status_1(record, tmp_path: Path) -> None:
    found = answer(record("python3", "model.py", 1, 2, 3, flags=JSON), 1)
    assert found["why"] == "the program ended with exit status 4" and found["report"] is None
    assert (Path(found["folder"]) / "program.log").read_text().endswith("model ['1', '2', '3']\n")


def test_a_crash_is_named_and_the_device_reset(record, tmp_path: Path) -> None:
    found = answer(record("python3", "model.py", fault="crash", flags=(*JSON, "--reset-cmd", "echo done > reset")), 1)
    assert found["why"] == "the program was ended by SIGSEGV, segmentation fault"
    assert found["reset"] == "done" and (tmp_path / "reset").exists()


@pytest.mark.parametrize(("flag", "why"), [("--silence", "printed nothing for 2 s"), ("--timeout", "ran longer than 2 s")])
def test_a_program_that_hangs_is_ended_with_all_it_started(record, tmp_path: Path, flag: str, why: str) -> None:
    began = time.monotonic()
    found = answer(record("python3", "model.py", fault="hang", flags=(*JSON, flag, 2, "--reset-cmd", "exit 3")), 3)
    assert found["outcome"] == "stopped" and why in found["why"] and flag in found["why"]
    assert found["reset"].startswith("failed: exit status 3")
    assert time.monotonic() - began < 60
    assert processes_below(tmp_path.resolve()) == []


def test_a_program_that_speaks_is_not_silent(record, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time\nfor i in range(12):\n    print(i, flush=True)\n    time.sleep(0.5)\n")
    assert answer(record("python3", "slow.py", flags=(*JSON, "--silence", 4)))["outcome"] == "reported"


def test_a_report_that_comes_late_is_waited_for(record) -> None:
    found = answer(record("python3", "model.py", fault="late", flags=JSON))
    assert found["perf"]["iterations"] == 3 and found["left_behind"] == 1 and found["ended_by_us"] == 0


def test_what_never_ends_is_ended(record, tmp_path: Path) -> None:
    found = answer(record("python3", "model.py", fault="never", flags=(*JSON, "--late", 1)), 3)
    assert found["outcome"] == "no_report" and found["ended_by_us"] == 1
    assert "1 process that it had left behind" in found["why"] and "--late" in found["why"]
    assert processes_below(tmp_path.resolve()) == []


def test_a_report_that_is_cut_is_read_as_far_as_it_goes(record) -> None:
    found = answer(record("python3", "model.py", fault="cut", flags=JSON))
    assert found["perf"]["coverage"]["troubles"]


def test_an_older_profiler_does_not_know_names(record) -> None:
    assert answer(record("python3", "model.py", fault="nameless", flags=JSON))["outcome"] == "reported"


def test_two_reports_are_never_guessed(record) -> None:
    found = answer(record("python3", "model.py", fault="two", flags=JSON), 3)
    assert found["outcome"] == "no_report" and "2 reports of this run" in found["why"]


def test_no_report_is_said(record) -> None:
    done = record("python3", "model.py", fault="nothing")
    assert done.returncode == 3 and "wrote no ops_perf_results*.csv" in done.stderr and "log: " in done.stderr


def test_several_windows_are_listed(record) -> None:
    done = record("python3", "model.py", fault="windows")
    assert done.returncode == 0 and "which one? opwright perf " in done.stdout
    found = answer(record("python3", "model.py", fault="windows", flags=(*JSON, "--window", "B")))
    assert found["perf"]["window"] == "B" and found["perf"]["iterations"] == 2


def test_without_a_profiler_it_says_what_is_missing(opwright: Opwright, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    done = opwright("perf", "record", "--", sys.executable, "model.py")
    assert done.returncode == 3 and "it has no module 'tracy'" in done.stderr and "PYTHONPATH=" in done.stderr
    assert not (tmp_path / "opwright-profiles").exists()


@pytest.mark.parametrize(
    ("words", "says"),
    [((), "needs a program behind --"), (("python3", "-c", "1"), "cannot pass -c on"), (("no_such_program",), "there is no program")],
)
def test_wrong_usage(record, words, says: str) -> None:
    done = record(*words)
    assert done.returncode in (2, 3) and says in done.stderr


def test_an_interrupt_reaches_the_program(opwright: Opwright, record, tmp_path: Path) -> None:
    (tmp_path / "wait.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(100)\n")
    child = subprocess.Popen(
        [opwright.program, "perf", "record", "--", "python3", "wait.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=support.command_env(tmp_path, PYTHONPATH=STAND_IN), start_new_session=True, encoding="utf-8")  # fmt: skip
    while "ready" not in child.stdout.readline():
        pass
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130 and "was interrupted" in err
    assert processes_below(tmp_path.resolve()) == []
