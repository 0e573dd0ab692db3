"""What a program on a mock board finds changed: a short list of variables, and inside the library what it was promised."""

import json
import subprocess
from pathlib import Path

import pytest
import support

USERS = {"TT_METAL_RUNTIME_ROOT": "/my/repository", "TT_METAL_HOME": "/my/repository", "LOGURU_LEVEL": "TRACE"}
ADDED = {
    "OPWRIGHT_MOCK_BOARD",
    "OPWRIGHT_MOCK_FOLDER",
    "PYTHONPATH",
    "TT_LOGGER_LEVEL",
    "TT_METAL_CACHE",
    "TT_METAL_LOGS_PATH",
    "TT_METAL_MOCK_CLUSTER_DESC_PATH",
}
TRACING = {"OPWRIGHT_TRACE", "OPWRIGHT_TRACE_OPTIONS", "OPWRIGHT_TRACE_UID"}
OPEN = (
    "device = ttnn.open_device(device_id=0)\n"
    "a = ttnn.zeros((1, 1, 32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)\n"
)


class Verb:
    """`mock` or `trace --mock` with the real library."""

    def __init__(self, opwright, ttnn_python: Path, verb: str):
        self.opwright = opwright
        self.python = ttnn_python
        self.words = ["trace", "--mock"] if verb == "trace" else ["mock", "--board"]
        self.env = {"PATH": f"{ttnn_python.parent}:/usr/bin:/bin", "TMPDIR": opwright.folder}

    def __call__(self, *command: object, board: str = "n150", flags: tuple = (), env: dict | None = None):
        return self.opwright(*self.words, board, *flags, "--", *command, env={**self.env, **(env or {})})

    def run(self, program: str, **more) -> subprocess.CompletedProcess:
        (self.opwright.folder / "program.py").write_text(program)
        return self("python", "program.py", **more)


@pytest.fixture(params=["mock", "trace"])
def verb(request, opwright, ttnn_python: Path) -> Verb:
    return Verb(opwright, ttnn_python, request.param)


@pytest.fixture
def mock(opwright, ttnn_python: Path) -> Verb:
    return Verb(opwright, ttnn_python, "mock")


@pytest.mark.parametrize("users", [{}, USERS], ids=["unset", "set"])
def test_every_variable_that_is_changed(users: dict, verb: Verb, opwright) -> None:
    done = verb("sh", "-c", "env -0 > after", env=users)
    assert done.returncode == 0, done.stderr
    after = dict(entry.split("=", 1) for entry in (opwright.folder / "after").read_text().split("\0") if entry)
    before = support.command_env(opwright.folder, **verb.env, **users)
    for shell in (before, after):
        for name in ("PWD", "OLDPWD", "SHLVL", "_"):
            shell.pop(name, None)
    own_path = before.pop("PYTHONPATH", "")
    assert after.pop("PYTHONPATH").endswith(f"bootstrap:{own_path}" if own_path else "bootstrap")
    assert {name: after.get(name) for name in before} == before
    assert set(after) - set(before) == (ADDED | (TRACING if verb.words[0] == "trace" else set())) - {"PYTHONPATH"}


def test_explain_lists_exactly_what_is_changed(opwright, mock: Verb) -> None:
    env = {**mock.env, **USERS}
    done = opwright("--format", "json", "mock", "--board", "n150", "--explain", env=env)
    variables = {variable["name"]: variable for variable in json.loads(done.stdout)["variables"]}
    assert {name for name, variable in variables.items() if variable["action"] == "set"} == ADDED
    kept = {name: variable["value"] for name, variable in variables.items() if variable["action"] == "yours, kept"}
    assert kept == {name: USERS[name] for name in ("TT_METAL_RUNTIME_ROOT", "LOGURU_LEVEL")}


SEEN = """
import os, subprocess, sys
names = ("TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME", "LOGURU_LEVEL")
def seen(): return [os.environ.get(name) for name in names]
before = seen()
import ttnn
assert seen() == before, seen()
"""
CHILD = "import os; print([os.environ.get(n) for n in ('TT_METAL_RUNTIME_ROOT', 'TT_METAL_HOME', 'LOGURU_LEVEL')])"


@pytest.mark.parametrize("users", [{}, USERS], ids=["unset", "set"])
def test_the_program_sees_the_users_root_and_the_library_its_own(users: dict, verb: Verb) -> None:
    program = f"{SEEN}{OPEN}assert seen() == before\nttnn.add(a, a)\nttnn.close_device(device)\n"
    # a Python below it sees the same, and opens a device as well
    program += f"child = subprocess.run([sys.executable, '-c', {CHILD!r}], capture_output=True, text=True)\n"
    program += "assert child.stdout.strip() == str(before), child\nprint('SEEN', before)\n"
    program += "if len(sys.argv) < 2: subprocess.run([sys.executable, __file__, 'again'], check=True)\n"
    done = verb.run(program, env=users)
    assert done.returncode == 0, done.stdout + done.stderr
    expected = [users.get(name) for name in ("TT_METAL_RUNTIME_ROOT", "TT_METAL_HOME", "LOGURU_LEVEL")]
    assert done.stdout.count(f"SEEN {expected}") == 2


def test_a_root_that_the_program_sets_itself(mock: Verb) -> None:
    """As tt-run does for the processes that it starts."""
    program = f"import os\nos.environ['TT_METAL_RUNTIME_ROOT'] = os.getcwd()\nimport ttnn\n{OPEN}ttnn.add(a, a)\n"
    program += "assert os.environ['TT_METAL_RUNTIME_ROOT'] == os.getcwd()\nprint('OPENED')\n"
    done = mock.run(program)
    assert "OPENED" in done.stdout, done.stdout + done.stderr


def test_a_device_that_is_opened_again(mock: Verb) -> None:
    program = f"import ttnn\n{OPEN}ttnn.close_device(device)\n{OPEN}ttnn.add(a, a)\nttnn.close_device(device)\nprint('AGAIN')\n"
    done = mock.run(program, env={"TT_METAL_RUNTIME_ROOT": "/my/repository"})
    assert "AGAIN" in done.stdout, done.stdout + done.stderr


# -- processes of every kind are on the mock board

WORKER = """
import multiprocessing, os
def work(number):
    import ttnn
    device = ttnn.open_device(device_id=0)
    grid = device.compute_with_storage_grid_size()
    ttnn.zeros((1, 1, 32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.close_device(device)
    return [grid.x, grid.y, os.environ.get("TT_METAL_RUNTIME_ROOT")]
if __name__ == "__main__":
    for method in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(method).Pool(1) as pool:
            print(method, *pool.apply(work, (0,)))
"""


def test_processes_of_multiprocessing(verb: Verb) -> None:
    done = verb.run(WORKER, env={"TT_METAL_RUNTIME_ROOT": "/my/repository"}, board="p150")
    assert done.returncode == 0, done.stdout + done.stderr
    for method in ("fork", "spawn", "forkserver"):
        assert f"{method} 11 10 /my/repository" in done.stdout


def test_workers_of_xdist(verb: Verb, opwright) -> None:
    test = "import os, pytest, ttnn\n@pytest.mark.parametrize('n', range(4))\ndef test_it(n):\n"
    test += "".join(f"    {line}\n" for line in OPEN.splitlines()) + "    ttnn.add(a, a)\n    ttnn.close_device(device)\n"
    test += "    assert os.environ['TT_METAL_RUNTIME_ROOT'] == '/my/repository'\n    assert 'LOGURU_LEVEL' not in os.environ\n"
    (opwright.folder / "test_it.py").write_text(test)
    env = {"TT_METAL_RUNTIME_ROOT": "/my/repository"}
    done = verb("pytest", "-q", "-p", "xdist", "-n", "2", "test_it.py", env=env)
    assert "4 passed" in done.stdout, done.stdout + done.stderr


def test_a_shell_between_two_pythons(verb: Verb, opwright) -> None:
    (opwright.folder / "inner.py").write_text(f"import os, ttnn\n{OPEN}print('INNER', os.environ['TT_METAL_RUNTIME_ROOT'])\n")
    program = "import os, ttnn\nttnn.open_device(device_id=0)\nassert os.system('sh -c \"exec python inner.py\"') == 0\n"
    done = verb.run(program, env={"TT_METAL_RUNTIME_ROOT": "/my/repository"})
    assert "INNER /my/repository" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("option", ["-I", "-BS"])
def test_a_python_that_does_not_load_our_package(option: str, verb: Verb, opwright, ttnn_python: Path) -> None:
    site = next(ttnn_python.parent.parent.glob("lib/python3.*/site-packages"))
    program = f"import sys\nsys.path.append({str(site)!r})\nimport ttnn\n{OPEN}print('OPENED')\n"
    (opwright.folder / "program.py").write_text(program)
    done = verb("python", option, "program.py")
    assert "OPENED" in done.stdout, done.stdout + done.stderr


def test_export_root_is_for_programs_that_are_no_python(mock: Verb) -> None:
    show = ("sh", "-c", 'echo "$TT_METAL_RUNTIME_ROOT $OPWRIGHT_MOCK_FOLDER/root" && ls "$TT_METAL_RUNTIME_ROOT"')
    done = mock(*show, flags=("--export-root",), env=USERS)
    exported, root = done.stdout.splitlines()[0].split()
    assert exported == root
    assert {"tt_metal", "runtime"} <= set(done.stdout.splitlines())


# -- logs

LOGS = """
from loguru import logger
logger.debug("mine, in detail")
import ttnn
assert ttnn.CONFIG
logger.info("mine")
import ttnn.device
exec(compile("logger.error('the library, an error'); logger.info('the library, a line')", "x", "exec"), {"logger": logger, "__name__": "ttnn.x"})
"""


def test_only_lines_of_the_library_are_held_back(verb: Verb) -> None:
    done = verb.run(LOGS)
    assert done.returncode == 0, done.stderr
    for line in ("mine, in detail", "mine", "the library, an error"):
        assert f"- {line}\n" in done.stderr
    assert "Initial ttnn.CONFIG" not in done.stderr and "the library, a line" not in done.stderr


def test_a_level_of_the_users_holds_for_all(mock: Verb) -> None:
    done = mock.run(LOGS, env={"LOGURU_LEVEL": "DEBUG"})
    assert "Initial ttnn.CONFIG" in done.stderr and "the library, a line" in done.stderr
    done = mock.run(LOGS, env={"LOGURU_LEVEL": "ERROR"})
    assert "- mine" not in done.stderr and "the library, an error" in done.stderr


def test_handlers_of_the_program_are_its_own(mock: Verb) -> None:
    program = "import sys\nfrom loguru import logger\nlogger.remove(0)\nlogger.add(sys.stdout, format='HANDLER {name} {message}')\n"
    done = mock.run(program + "import ttnn\nlogger.debug('x')\n")
    assert "HANDLER __main__ x" in done.stdout, done.stdout + done.stderr
    assert "HANDLER ttnn Initial" in done.stdout


# -- device traces

CAPTURE = f"""
import sys, ttnn
from ttnn import begin_trace_capture, execute_trace
{OPEN}
ttnn.add(a, a)
number = begin_trace_capture(device, cq_id=0)
assert ttnn.is_trace_capture_active(device)
b = ttnn.multiply(a, a)
ttnn.end_trace_capture(device, number, cq_id=0)
assert not ttnn.is_trace_capture_active(device)
for _ in range(20): execute_trace(device, number, cq_id=0, blocking=False)
ttnn.synchronize_device(device)
print("OUTPUT", list(b.shape), isinstance(number, ttnn.MeshTraceId))
ttnn.release_trace(device, number)
ttnn.close_device(device)
"""
TOLD = "device traces: 1 captured, 20 replayed by stand-ins"


@pytest.mark.parametrize("board", ["n150", "n300"])  # fast dispatch, where the library crashes; slow, where it refuses
def test_device_traces_by_stand_ins(board: str, verb: Verb) -> None:
    done = verb.run(CAPTURE, board=board, flags=("--stub-device-trace",))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "OUTPUT [1, 1, 32, 32] True" in done.stdout
    assert TOLD in (done.stdout if verb.words[0] == "trace" else done.stderr)


def test_device_traces_in_json_and_in_the_trace(opwright, ttnn_python: Path) -> None:
    (opwright.folder / "program.py").write_text(CAPTURE)
    words = ("trace", "--mock", "n300", "--stub-device-trace", "--", ttnn_python, "program.py")
    summary = json.loads(opwright("--format", "json", *words).stdout)
    assert summary["device_trace"] == {"captured": 1, "replayed": 20, "released": 1}
    assert summary["calls_by_operation"]["ttnn.multiply"] == 1  # once, at capture


def test_replays_are_counted_though_the_program_is_killed(opwright, ttnn_python: Path) -> None:
    (opwright.folder / "program.py").write_text(CAPTURE.replace("ttnn.synchronize_device(device)", "import os; os.kill(os.getpid(), 9)"))
    done = opwright("mock", "--board", "n150", "--stub-device-trace", "--", ttnn_python, "program.py")
    assert done.returncode == 137
    assert TOLD in done.stderr


def test_who_asks_for_a_device_trace_learns_of_the_stand_ins(verb: Verb) -> None:
    done = verb.run(CAPTURE, board="n300")
    assert done.returncode == 1
    assert "Not supported for slow dispatch" in done.stderr
    assert "--stub-device-trace puts stand-ins in its place" in done.stderr


def test_stand_ins_need_a_mock_board(opwright) -> None:
    done = opwright("trace", "--stub-device-trace", "--", "true")
    assert done.returncode == 2
    assert "add --mock BOARD" in done.stderr
