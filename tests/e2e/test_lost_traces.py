"""A recorded program lives on whatever happens to its trace; what was lost is said."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import support
from test_python_recorder import PYTESTS, Runner, each_python, runner  # noqa: F401

# Calls before, something that happens to the trace, calls after.
PROGRAM = """
import faulthandler, glob, os, resource, shutil, signal, sys, threading, time, ttnn
{before}
def use(count):
    for n in range(count): assert ttnn.add(n, n) == 2 * n
use(3000)
(trace,) = glob.glob(os.environ["OPWRIGHT_TRACE"] + "/*.opwt")
{happens}
use(3000)
time.sleep(0.1)
use(3000)
print("lived", signal.getsignal(signal.SIGBUS) if {python_handler} else "")
"""
HAPPENS = {
    "emptied": "os.truncate(trace, 0)",
    "cut": "os.truncate(trace, 6000)",
    "emptied again and again": "for _ in range(20): use(50); [os.truncate(f, 0) for f in glob.glob(os.path.dirname(trace) + '/*.opwt')]",
    "removed": "os.remove(trace)",
    "folder removed": "shutil.rmtree(os.path.dirname(trace))",
    "folder replaced": "shutil.rmtree(os.path.dirname(trace)); open(os.path.dirname(trace), 'w').close()",
    "overwritten": "open(trace, 'wb').write(b'x' * 100)",
    "read-only folder": "os.chmod(os.path.dirname(trace), 0o500)",
    "file size limit": "resource.setrlimit(resource.RLIMIT_FSIZE, (8192, resource.RLIM_INFINITY)); [ttnn.add(n, float(n)) for n in range(40000)]",
    "emptied under threads": "threads = [threading.Thread(target=use, args=(20000,)) for _ in range(4)]\n"
    "for thread in threads: thread.start()\nfor _ in range(5): time.sleep(0.02); os.truncate(trace, 0)\n"
    "for thread in threads: thread.join()",
    "emptied before a fork": "os.truncate(trace, 0)\nchild = os.fork()\nif child == 0:\n    use(100)\n    os._exit(0)\nassert os.waitpid(child, 0)[1] == 0",
}
BEFORE = {"plain": "", "faulthandler": "faulthandler.enable()"}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("what", HAPPENS)
def test_the_program_lives_on(runner: Runner, what: str, before: str) -> None:  # noqa: F811
    program = PROGRAM.format(before=BEFORE[before], happens=HAPPENS[what], python_handler=False)
    (runner.folder / "program.py").write_text(program)
    done = runner.traced(Path(sys.executable), "program.py")
    assert (done.returncode, done.stdout.strip()) == (0, "lived"), done.stderr
    assert all(line.startswith("opwright: ") for line in done.stderr.splitlines()), done.stderr
    if "removed" in what:
        assert "was removed while the program ran" in done.stderr


@each_python
def test_later_calls_go_into_another_file_which_tells_the_loss(runner: Runner, python: Path) -> None:  # noqa: F811
    (runner.folder / "program.py").write_text(PROGRAM.format(before="", happens=HAPPENS["emptied"], python_handler=False))
    done = runner.traced(python, "program.py")
    assert (done.returncode, done.stderr) == (0, "")
    files = sorted((runner.folder / "trace").glob("*.opwt"), key=lambda file: file.stat().st_size)
    assert len(files) == 2 and files[0].stat().st_size == 0
    assert all(file.stat().st_mode & 0o777 == 0o600 for file in files)
    shown = subprocess.run(
        [support.find_opwright(), "dump", "--limit", "1", files[1]], capture_output=True, text=True, timeout=120
    )
    assert "was truncated or could not be written while the program ran; of the" in shown.stdout, shown.stdout


def test_handlers_of_the_program_stay_its_own(runner: Runner) -> None:  # noqa: F811
    """Python's own handler for SIGBUS, set after ours: it gets what is sent, and faulthandler what is not ours."""
    program = PROGRAM.format(
        before="hits = []\nsignal.signal(signal.SIGBUS, lambda *args: hits.append(1))",
        happens="os.truncate(trace, 0)\nuse(100)\nos.kill(os.getpid(), signal.SIGBUS)\nuse(1)\nassert hits == [1]",
        python_handler=True,
    )
    (runner.folder / "program.py").write_text(program)
    done = runner.traced(Path(sys.executable), "program.py")
    assert done.returncode == 0 and "<function <lambda>" in done.stdout, done.stderr
    (runner.folder / "own.py").write_text(
        "import faulthandler, mmap, os, ttnn\nttnn.add(1, 2)\nfaulthandler.enable()\n"
        "file = open('own', 'w+b'); file.write(bytes(4096)); file.flush()\n"
        "page = mmap.mmap(file.fileno(), 4096)\nos.truncate('own', 0)\nprint(page[0])\n"
    )
    for delay in ("", "import time; time.sleep(0.1)\n"):
        source = (runner.folder / "own.py").read_text().replace("faulthandler.enable()\n", f"faulthandler.enable()\n{delay}")
        (runner.folder / "delayed.py").write_text(source)
        plain = runner(Path(sys.executable), "delayed.py")
        traced = runner.traced(Path(sys.executable), "delayed.py")
        assert traced.returncode == plain.returncode == -7, (traced.returncode, plain.returncode, traced.stderr)
        assert traced.stderr.count("Fatal Python error: Bus error") == plain.stderr.count("Fatal Python error: Bus error") == 1


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_a_test_that_was_running_when_the_program_died_is_named(opwright, tmp_path: Path, end: str) -> None:
    if not PYTESTS:
        pytest.skip("no Python with pytest")
    (tmp_path / "test_it.py").write_text(
        f"import os, ttnn\ndef test_before(): ttnn.add(1, 2)\ndef test_dies():\n    ttnn.add(1, 2)\n    {end}\n"
    )
    env = {"PYTHONPATH": support.FIXTURES / "python" / "small", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    arguments = ["--", next(iter(PYTESTS.values())), "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    done = opwright("trace", "--keep", *arguments, env=env)
    assert "UNFINISHED: the process ended during the test test_it.py::test_dies" in done.stdout, done.stdout + done.stderr
    done = opwright("--format", "json", "trace", "--keep", *arguments, env=env)
    assert json.loads(done.stdout)["running_tests"] == ["test_it.py::test_dies"]
    (tmp_path / "test_it.py").write_text("import ttnn\ndef test_a(): ttnn.add(1, 2)\n")
    done = opwright("--format", "json", "trace", "--keep", *arguments, env=env)
    assert json.loads(done.stdout)["running_tests"] == []


def test_the_summary_says_what_was_lost_and_the_exit_code_is_the_programs(opwright, tmp_path: Path) -> None:
    program = PROGRAM.format(before="", happens=HAPPENS["cut"], python_handler=False)
    (tmp_path / "program.py").write_text(program + "\nsys.exit(5)\n")
    env = {"PYTHONPATH": support.FIXTURES / "python" / "small"}
    done = opwright("--format", "json", "trace", "--output", "kept", "--", sys.executable, "program.py", env=env)
    summary = json.loads(done.stdout)
    assert done.returncode == 5 and summary["exit"] == 5, done.stderr
    assert any(note.startswith("lost: ") for note in summary["notes"]), summary["notes"]
    assert any("missing" in problem or "cut" in problem for problem in summary["problems"]), summary["problems"]
    assert os.path.isdir(summary["trace"])
