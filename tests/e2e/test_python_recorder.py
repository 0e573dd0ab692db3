"""The Python package with the compiled recorder and the real hook, on a small library that is built like ttnn."""

import functools
import os
import signal
import struct
import subprocess
from pathlib import Path

import pytest
import python_package
import support

OPEN, CLOSED = 1, 2  # states in the header of a trace


def folders() -> list[Path]:
    """Where a package with a compiled recorder may be: beside the program under test, or of the other builds."""
    program = Path(os.environ.get("OPWRIGHT_BIN") or support.REPO / "build" / "dev" / "opwright").resolve()
    builds = [program.parent, support.REPO / "build" / "release"]
    found = [build / "python" for build in builds]
    return [folder for folder in found if list((folder / "opwright").glob("_capture.*so"))]


@functools.cache
def sanitizer_libraries() -> str:
    """A recorder built with sanitizers needs their libraries before everything else."""
    names = ("libasan.so", "libubsan.so")
    paths = [
        subprocess.run(["g++", f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        for name in names
    ]
    return " ".join(path for path in paths if os.path.isabs(path))


@functools.cache
def setting(python: Path) -> dict[str, str] | None:
    """The variables with which this Python can load the recorder; None when it cannot."""
    for folder in folders():
        for extra in ({}, {"LD_PRELOAD": sanitizer_libraries(), "ASAN_OPTIONS": "detect_leaks=0:exitcode=86"}):
            path = os.pathsep.join([str(folder), str(support.FIXTURES / "python" / "small")])
            env = {**support.command_env(Path("/")), **extra, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
            try:
                done = subprocess.run(
                    [python, "-c", "import opwright._capture"], env=env, capture_output=True, timeout=60
                )
            except OSError:
                continue
            if done.returncode == 0:
                return {**extra, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    return None


SUPPORTED = python_package.supported()
each_python = pytest.mark.parametrize("python", SUPPORTED.values(), ids=SUPPORTED.keys())


class Runner:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, python: Path, *arguments: object, **extra: object) -> subprocess.CompletedProcess:
        found = setting(python)
        if found is None:
            pytest.skip("no compiled recorder that this Python can load")
        return subprocess.run(
            [str(python), *map(str, arguments)],
            cwd=self.folder,
            env=support.command_env(self.folder, **{**found, **extra}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=support.COMMAND_TIMEOUT_S,
        )

    def traced(self, python: Path, *arguments: object, **extra: object) -> subprocess.CompletedProcess:
        found = setting(python) or {}
        package, _, rest = found.get("PYTHONPATH", "").partition(os.pathsep)
        bootstrap = os.pathsep.join([str(Path(package) / "bootstrap"), rest])
        return self(python, *arguments, PYTHONPATH=bootstrap, OPWRIGHT_TRACE=self.folder / "trace", **extra)

    def headers(self) -> list[dict[str, int]]:
        """State and counters of each trace (docs/formats/native-trace.md), in the order of their names."""
        headers = []
        for file in sorted((self.folder / "trace").glob("*.opwt")):
            content = file.read_bytes()[:4096]
            assert content[:8] == b"OPWTRACE"
            state, calls = struct.unpack_from("<I20xQ", content, 48)
            headers.append({"state": state, "calls": calls, "pid": struct.unpack_from("<I", content, 20)[0]})
        return headers


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


@each_python
def test_calls_of_a_program(runner: Runner, python: Path) -> None:
    program = """
import opwright, threading, ttnn
with opwright.phase("prefill"), opwright.label("layer 0"):
    assert ttnn.add(1, 2) == 3
try: ttnn.fail()
except ZeroDivisionError: pass
thread = threading.Thread(target=lambda: [ttnn.add(n, n) for n in range(100)]); thread.start(); thread.join()
"""
    (runner.folder / "program.py").write_text(program)
    done = runner.traced(python, "program.py")
    assert (done.returncode, done.stderr) == (0, "")
    (header,) = runner.headers()
    assert (header["state"], header["calls"]) == (CLOSED, 102)


@each_python
def test_a_trace_from_inside(runner: Runner, python: Path) -> None:
    program = """
import opwright, ttnn
with opwright.trace("trace") as trace:
    for n in range(10): ttnn.add(n, n)
ttnn.add(1, 1)
with opwright.trace("trace", first=2) as second:
    for n in range(10): ttnn.add(n, n)
print(trace.counters["calls"], second.counters["calls"], second.counters["calls_filtered"], trace.path != second.path)
"""
    (runner.folder / "program.py").write_text(program)
    done = runner(python, "program.py")
    assert (done.stdout, done.stderr) == ("10 2 8 True\n", "")
    assert [header["state"] for header in runner.headers()] == [CLOSED, CLOSED]


@each_python
@pytest.mark.parametrize("end", ["os._exit(0)", "os.kill(os.getpid(), 9)", "os.execv('/bin/true', ['true'])"])
def test_calls_survive_any_end(runner: Runner, python: Path, end: str) -> None:
    (runner.folder / "program.py").write_text(f"import os, ttnn\nfor n in range(50): ttnn.add(n, n)\n{end}")
    done = runner.traced(python, "program.py")
    assert done.returncode == (-signal.SIGKILL if "kill" in end else 0), done.stderr
    (header,) = runner.headers()
    if "kill" not in end:  # else the counters may be 20 ms old
        assert header["calls"] == 50


@each_python
def test_forked_children(runner: Runner, python: Path) -> None:
    """A child that calls has a trace of its own; one that does not leaves nothing behind."""
    program = """
import multiprocessing, os, ttnn
def work(n): return ttnn.add(n, n) if n else 0
ttnn.add(1, 1)
context = multiprocessing.get_context("fork")
children = [context.Process(target=work, args=(n,)) for n in (0, 1, 0)]
for child in children: child.start()
for child in children: child.join()
pid = os.fork()
if pid == 0: os.execv("/bin/true", ["true"])
os.waitpid(pid, 0)
ttnn.add(1, 1)
"""
    (runner.folder / "program.py").write_text(program)
    done = runner.traced(python, "-W", "error", "program.py")  # Python 3.12 warns of forks while other threads run
    assert (done.returncode, done.stderr) == (0, "")
    headers = runner.headers()
    assert sorted(header["calls"] for header in headers) == [1, 2]
    assert len({header["pid"] for header in headers}) == 2


@each_python
def test_many_words_cost_no_references(runner: Runner, python: Path) -> None:
    """None must not lose references: Pythons before 3.12 die of it at the end."""
    program = """
import opwright, sys, ttnn
before = sys.getrefcount(None)
for n in range(2000):
    with opwright.phase("a"): ttnn.add(1, 2)
print(abs(sys.getrefcount(None) - before) < 100)
"""
    (runner.folder / "program.py").write_text(program)
    done = runner.traced(python, "program.py")
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


@each_python
def test_an_unusable_folder_is_one_warning(runner: Runner, python: Path) -> None:
    (runner.folder / "trace").write_text("a file")
    done = runner.traced(python, "-c", "import ttnn; print(ttnn.add(1, 2))")
    assert (done.returncode, done.stdout) == (0, "3\n")
    assert done.stderr.startswith("opwright: nothing is traced: ") and done.stderr.count("\n") == 1


PYTESTS = python_package.pythons_with("pytest")


@pytest.mark.parametrize("python", PYTESTS.values(), ids=PYTESTS.keys())
def test_one_file_a_test(runner: Runner, python: Path) -> None:
    (runner.folder / "test_it.py").write_text(
        "import ttnn\ndef test_a(): ttnn.add(1, 2)\ndef test_b(): assert ttnn.add(1, 2) == 4"
    )
    arguments = ["-m", "pytest", "-p", "no:cacheprovider", "-q"]
    done = runner.traced(
        python, *arguments, OPWRIGHT_TRACE_OPTIONS='{"per_test": "1"}', PYTEST_DISABLE_PLUGIN_AUTOLOAD=1
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert [file.name.split("-")[0] for file in sorted((runner.folder / "trace").iterdir())] == [
        "test_it.py_test_a",
        "test_it.py_test_b",
    ]
    assert [(header["state"], header["calls"]) for header in runner.headers()] == [(CLOSED, 1), (CLOSED, 1)]
