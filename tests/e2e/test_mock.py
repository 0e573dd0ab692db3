"""`opwright mock`: a program on the real ttnn library without hardware.

Most tests need no ttnn: a stand-in answers as a Python with the library would. Those with the fixture `ttnn_python` run
the real one.
"""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support

PROGRAMS = Path(__file__).parent / "ttnn_programs"
MESHES = {"n150": (1, 1), "n300": (1, 2), "t3k": (2, 4), "galaxy": (4, 8), "p100": (1, 1), "p150": (1, 1), "p300": (1, 2)}


def make_program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


class Mock:
    """Runs `opwright mock` with temporary folders in a folder of its own, where `left()` counts what stays behind."""

    def __init__(self, opwright, path: str):
        self.opwright = opwright
        self.temporary = opwright.folder / "temporary"
        self.temporary.mkdir()
        self.env = {"PATH": path, "TMPDIR": self.temporary}

    def __call__(self, *arguments: object, env: dict | None = None, **more) -> subprocess.CompletedProcess:
        return self.opwright("mock", *arguments, env={**self.env, **(env or {})}, **more)

    def start(self, *arguments: object, **more) -> subprocess.Popen:
        return subprocess.Popen(
            [self.opwright.program, "mock", *map(str, arguments)],
            cwd=self.opwright.folder,
            env=support.command_env(self.opwright.folder, **self.env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **more,
        )

    def left(self) -> list[str]:
        return [path.name for path in self.temporary.iterdir() if path.name.startswith("opwright-")]


@pytest.fixture
def mock(opwright, tmp_path: Path) -> Mock:
    """With a stand-in for a Python that has ttnn, which is all that this verb needs to know of one."""
    library = tmp_path / "library" / "ttnn"
    for name in ("tt_metal/kernels", "runtime/hw"):
        (library / name).mkdir(parents=True)
    (library / "__init__.py").write_text("")
    answers = {"version": "3.10.13", "executable": tmp_path / "bin/python3", "ttnn_version": "0.81.1", "ttnn_folder": library}
    lines = "".join(f"echo 'opwright-probe {key}={value}'\n" for key, value in answers.items())
    make_program(tmp_path / "bin/python3", f"#!/bin/sh\n{lines}")
    return Mock(opwright, f"{tmp_path / 'bin'}:/usr/bin:/bin")


@pytest.fixture
def real_mock(opwright, ttnn_python: Path) -> Mock:
    return Mock(opwright, f"{ttnn_python.parent}:/usr/bin:/bin")


def package_of(ttnn_python: Path) -> Path:
    code = "import importlib.util as u; print(u.find_spec('ttnn').origin)"
    return Path(subprocess.run([ttnn_python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()).parent


def report_of(result: subprocess.CompletedProcess) -> dict:
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout.splitlines()[-1])


def wait_for_line(process: subprocess.Popen, line: str) -> None:
    seen = process.stdout.readline()
    assert seen.strip() == line, seen + process.stderr.read()


# -- the program is itself


@pytest.mark.parametrize("status", [0, 1, 2, 3, 17, 255])
def test_exit_status_is_that_of_the_program(status: int, mock: Mock) -> None:
    result = mock("--board", "n150", "--", "sh", "-c", f"exit {status}")
    assert (result.returncode, result.stdout, result.stderr) == (status, "", "")
    assert mock.left() == []


def test_every_word_behind_the_dashes_is_the_programs(mock: Mock) -> None:
    words = ["--board", "x", "--help", "-h", "--", "--format=json", "", "a b", "--store", "ünï"]
    result = mock("--board", "n150", "--", "sh", "-c", 'for w in "$@"; do echo "<$w>"; done', "sh", *words)
    assert result.stdout.splitlines() == [f"<{word}>" for word in words], result.stderr


def test_input_goes_through(mock: Mock) -> None:
    assert mock("--board", "n150", "--", "cat", input="a\nb").stdout == "a\nb"


def test_output_streams(mock: Mock) -> None:
    process = mock.start("--board", "n150", "--", "sh", "-c", "echo now; read line; echo $line", stdin=subprocess.PIPE)
    wait_for_line(process, "now")  # while it runs
    assert process.communicate("later\n", timeout=60)[0] == "later\n"


def test_variables_reach_the_program(mock: Mock) -> None:
    result = mock("--board", "n300", "--", "env", env={"TT_LOGGER_LEVEL": "INFO", "TT_METAL_SIMULATOR": "x", "MINE": "1"})
    variables = dict(line.split("=", 1) for line in result.stdout.splitlines())
    assert variables["OPWRIGHT_MOCK_BOARD"] == "n300"
    assert variables["TT_METAL_SLOW_DISPATCH_MODE"] == "1"
    assert variables["TT_LOGGER_LEVEL"] == "INFO"
    assert variables["MINE"] == "1"
    assert "TT_METAL_SIMULATOR" not in variables
    for name in ("TT_METAL_MOCK_CLUSTER_DESC_PATH", "OPWRIGHT_MOCK_FOLDER", "TT_METAL_CACHE"):
        assert variables[name].startswith(str(mock.temporary)), name


def test_the_files_are_there_while_it_runs(mock: Mock) -> None:
    script = 'cd "$OPWRIGHT_MOCK_FOLDER/root" && ls . runtime && cd runtime/sfpi'
    script += " && compiler/bin/riscv-tt-elf-g++ --version && compiler/bin/riscv-tt-elf-g++ -c -o k.o k.cc && cat k.d"
    result = mock("--board", "p150", "--", "sh", "-c", script)
    assert result.returncode == 0, result.stderr
    assert {"tt_metal", "runtime", "hw", "sfpi", "k.o: k.cc"} <= set(result.stdout.splitlines())
    assert "opwright stand-in" in result.stdout


def test_keep_leaves_the_files(mock: Mock) -> None:
    result = mock("--board", "n150", "--keep", "--", "true")
    (kept,) = mock.left()
    assert f"files kept in {mock.temporary / kept}" in result.stderr
    assert mock("--board", "n150", "--", "true").returncode == 0
    assert mock.left() == [kept]


# -- signals


def test_a_crash_is_named_and_leaves_nothing(mock: Mock) -> None:
    result = mock("--board", "n150", "--", "sh", "-c", "kill -SEGV $$")
    assert result.returncode == 128 + signal.SIGSEGV
    assert "sh was ended by SIGSEGV, segmentation fault" in result.stderr
    assert mock.left() == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_is_passed_on(name: str, mock: Mock) -> None:
    script = f"trap 'exit 5' {name[3:]}; echo ready; while :; do sleep 0.05; done"
    process = mock.start("--board", "n150", "--", "sh", "-c", script)
    wait_for_line(process, "ready")
    process.send_signal(getattr(signal, name))
    assert process.wait(timeout=60) == 5
    assert mock.left() == []


def test_control_c_reaches_the_program_once(mock: Mock) -> None:
    script = "n=0; trap 'n=$((n+1))' INT; echo ready; i=0; while [ $i -lt 20 ]; do sleep 0.05; i=$((i+1)); done; exit $n"
    child, terminal = pty.fork()
    if child == 0:
        env = support.command_env(mock.opwright.folder, **mock.env)
        program = str(mock.opwright.program)
        os.execve(program, [program, "mock", "--board", "n150", "--", "sh", "-c", script], env)
    seen = b""
    while b"ready" not in seen:
        seen += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    assert status == 1, seen
    assert mock.left() == []


def test_what_a_killed_run_left_is_removed_by_the_next(mock: Mock) -> None:
    process = mock.start("--board", "n150", "--", "sh", "-c", "echo $$; read line", stdin=subprocess.PIPE)
    program = int(process.stdout.readline())
    process.kill()
    process.wait(timeout=60)
    left = mock.left()
    assert len(left) == 1
    assert mock("--board", "n150", "--", "true").returncode == 0
    assert mock.left() == left, "its program still runs and needs the folder"
    process.stdin.close()  # which ends the program
    for _ in range(200):
        if not Path(f"/proc/{program}").exists():
            break
        time.sleep(0.05)
    assert mock("--board", "n150", "--", "true").returncode == 0
    assert mock.left() == []


# -- explaining, listing


def test_explain_runs_nothing_and_leaves_nothing(mock: Mock) -> None:
    result = mock("--board", "n150", "--explain", "--", "touch", "was-run", env={"TT_METAL_CACHE": "/mine"})
    assert result.returncode == 0, result.stderr
    assert not (mock.opwright.folder / "was-run").exists()
    assert mock.left() == []
    for text in ("TT_METAL_MOCK_CLUSTER_DESC_PATH=", "yours was /mine", "ttnn     0.81.1", "riscv-tt-elf-g++", "touch was-run"):
        assert text in result.stdout


def test_explain_as_json(mock: Mock) -> None:
    env = {"TT_METAL_CACHE": "/mine", "LOGURU_LEVEL": "INFO", "TT_METAL_SIMULATOR": "/sim.so"}
    result = mock("--board", "P150B", "--explain", "--format", "json", env=env)
    answer = json.loads(result.stdout)
    variables = {variable["name"]: variable for variable in answer["variables"]}
    assert (answer["board"], answer["ttnn_version"], answer["python_version"]) == ("p150", "0.81.1", "3.10.13")
    assert variables["TT_METAL_CACHE"]["was"] == "/mine"
    assert (variables["LOGURU_LEVEL"]["action"], variables["LOGURU_LEVEL"]["value"]) == ("yours, kept", "INFO")
    assert variables["TT_METAL_SIMULATOR"]["action"] == "removed"
    assert all(variable["why"] for variable in answer["variables"])
    assert all(file["path"] and file["what"] for file in answer["files"])


def test_list_in_every_format(opwright) -> None:
    names = list(MESHES)
    rows = json.loads(opwright("mock", "--list", "--format", "json").stdout)
    assert [row["board"] for row in rows] == names
    assert {row["board"]: row["mesh"] for row in rows} == {name: f"{r}x{c}" for name, (r, c) in MESHES.items()}
    assert [line.split()[0] for line in opwright("mock", "--list").stdout.splitlines()[1:]] == names


# -- what cannot work


@pytest.mark.parametrize(
    ("arguments", "status", "texts"),
    [
        (["--board", "n15", "--", "true"], 2, ["no board 'n15'", "did you mean 'n150'", "galaxy"]),
        (["--board", "n150"], 2, ["needs a program", "--explain"]),
        (["--", "true"], 2, ["needs --board", "--list"]),
        ([], 2, ["needs --board"]),
        (["--board", "n150", "python3", "x.py"], 2, ["put -- before the program", "-- python3 x.py"]),
        (["--bord", "n150", "--", "true"], 2, ["no option --bord", "'--board'"]),
        (["--board", "n150", "--", "no-such-program"], 3, ["no program 'no-such-program' on PATH"]),
        (["--board", "n150", "--", "./no/such"], 3, ["no program ./no/such"]),
        (["--board", "n150", "--", "/etc/passwd"], 3, ["not an executable file", "chmod +x"]),
        (["--board", "missing.yaml", "--", "true"], 3, ["missing.yaml"]),
        (["--board", "/etc/passwd", "--", "true"], 3, ["no cluster descriptor"]),
        (["--board", "n150", "--python", "no-python", "--", "true"], 3, ["no-python"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_wrong_usage(arguments: list, status: int, texts: list, mock: Mock) -> None:
    result = mock(*arguments)
    assert result.returncode == status, result.stderr
    assert result.stderr.startswith("opwright: ") and len(result.stderr.splitlines()) == 1
    for text in texts:
        assert text in result.stderr
    assert mock.left() == []


def test_no_python(mock: Mock, tmp_path: Path) -> None:
    tool = make_program(tmp_path / "tools/tool", "#!/bin/sh\n")
    result = mock("--board", "n150", "--", tool, env={"PATH": tool.parent})
    assert result.returncode == 3
    assert "no Python on PATH" in result.stderr


@pytest.mark.parametrize(
    ("answers", "texts"),
    [
        ("version=3.10.4", ["there is no ttnn in", "-m pip install ttnn"]),
        ("version=3.13.0", ["there is no ttnn in", "only for 3.10 and 3.12"]),
        ("version=2.7.18", ["there is no ttnn in", "only for 3.10 and 3.12"]),
        ("version=3.10.4\nttnn_bare=/x", ["only a bare folder named ttnn, /x"]),
        ("version=3.10.4\nttnn_folder=/usr/lib\nttnn_version=0.65.1", ["ttnn 0.65.1", "--upgrade ttnn"]),
        ("version=3.10.4\nttnn_folder=/usr/lib\nttnn_version=0.81.1", ["no ttnn library as opwright knows it"]),
        ("", ["does not answer as a Python"]),
    ],
)
def test_python_that_cannot(answers: str, texts: list, mock: Mock, tmp_path: Path) -> None:
    lines = "".join(f"echo 'opwright-probe {line}'\n" for line in answers.splitlines())
    python = make_program(tmp_path / "other/python3", f"#!/bin/sh\n{lines}")
    result = mock("--board", "n150", "--", python, "x.py")
    assert result.returncode == 3, result.stderr
    for text in texts:
        assert text in result.stderr


def test_no_place_for_files(mock: Mock) -> None:
    result = mock("--board", "n150", "--", "true", env={"TMPDIR": "/no/such/folder"})
    assert result.returncode == 3
    assert "set TMPDIR to a folder that you can write to" in result.stderr


# -- the real library


@pytest.fixture(scope="module")
def reports() -> dict[str, dict]:
    """What the library said of our boards: a board is started once."""
    return {}


def report_on(board: str, real_mock: Mock, reports: dict[str, dict]) -> dict:
    if board not in reports:
        reports[board] = report_of(real_mock("--board", board, "--", "python", PROGRAMS / "report_board.py", *MESHES[board]))
    return reports[board]


@pytest.mark.parametrize("board", MESHES)
def test_board_is_what_the_list_says(board: str, real_mock: Mock, reports: dict) -> None:
    (row,) = [row for row in json.loads(real_mock("--list", "--format", "json").stdout) if row["board"] == board]
    report = report_on(board, real_mock, reports)
    rows, columns = MESHES[board]
    assert report["arch"].lower() == f"arch.{row['arch']}"
    assert report["chips"] == report["all_chips"] == row["chips"]
    assert "{}x{}".format(*report["grid"]) == row["grid"]
    assert report["dram_banks"] == {"p100": 7, "p150": 8, "p300": 8}.get(board, 12)
    width = 64 * rows * columns
    assert report["shapes"]["add"] == [1, 1, 64, width]
    assert report["shapes"]["matmul"] == [1, 1, 64, 64]
    if width > 64:
        assert report["shapes"]["all_gather"] == [1, 1, 64, width * columns]
    assert real_mock.left() == []
    assert not (real_mock.opwright.folder / "generated").exists()


@pytest.mark.parametrize(
    ("board", "file"),
    [
        ("n150", "wormhole_N150.yaml"),
        ("n300", "wormhole_N300.yaml"),
        ("t3k", "t3k_cluster_desc.yaml"),
        ("galaxy", "6u_cluster_desc.yaml"),
        ("p100", "blackhole_P100.yaml"),
        ("p150", "blackhole_P150.yaml"),
    ],
)
def test_our_descriptor_reports_what_the_drivers_own_does(
    board: str, file: str, real_mock: Mock, real_data: Path, reports: dict
) -> None:
    program = ["python", PROGRAMS / "report_board.py", *MESHES[board]]
    theirs = report_of(real_mock("--board", real_data / "boards" / file, "--", *program))
    assert report_on(board, real_mock, reports) == theirs


def listing(folder: Path) -> dict[str, tuple]:
    entries = (Path(parent, name) for parent, folders, files in os.walk(folder) for name in (*folders, *files))
    return {str(path): (path.lstat().st_size, path.lstat().st_mtime_ns, path.lstat().st_mode) for path in entries}


def test_installation_is_left_alone(real_mock: Mock, ttnn_python: Path) -> None:
    package = package_of(ttnn_python)
    before = listing(package)
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    report_of(real_mock("--board", "n150", "--", "python", PROGRAMS / "report_board.py", 1, 1, env=env))
    assert listing(package) == before


def test_read_only_installation(real_mock: Mock, ttnn_python: Path) -> None:
    package = package_of(ttnn_python)
    mount = f"mount --bind {package} {package} && mount -o remount,bind,ro {package}"
    if subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True).returncode != 0:
        pytest.skip("this machine does not let a test mount a folder read-only")
    program = f"{real_mock.opwright.program} mock --board n150 -- python {PROGRAMS / 'report_board.py'} 1 1"
    result = subprocess.run(
        ["unshare", "-rm", "sh", "-c", f"{mount} && ! touch {package}/x 2>/dev/null && exec {program}"],
        env=support.command_env(real_mock.opwright.folder, **real_mock.env),
        cwd=real_mock.opwright.folder,
        capture_output=True,
        text=True,
        timeout=support.COMMAND_TIMEOUT_S,
    )
    assert report_of(result)["grid"] == [8, 8]


def test_two_at_once(real_mock: Mock) -> None:
    program = ["--", "python", PROGRAMS / "report_board.py", 1, 1]
    runs = [real_mock.start("--board", board, *program) for board in ("n150", "p150", "n150")]
    outputs = [run.communicate(timeout=support.COMMAND_TIMEOUT_S) for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0], outputs
    assert [json.loads(out.splitlines()[-1])["grid"] for out, _ in outputs] == [[8, 8], [11, 10], [8, 8]]
    assert real_mock.left() == []


def test_pytest_is_seen_through(real_mock: Mock, ttnn_python: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import ttnn\ndef test_grid():\n    d = ttnn.open_device(device_id=0)\n"
        "    assert d.compute_with_storage_grid_size().y == 10\n    ttnn.close_device(d)\n"
        "def test_fails():\n    assert False\n"
    )
    env = {"PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}  # only the script's first line tells the Python
    result = real_mock("--board", "p150", "--", ttnn_python.parent / "pytest", "-q", "test_it.py", env=env)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "1 failed, 1 passed" in result.stdout


def test_numbers_read_back_as_zeros_and_torch_goes_in(real_mock: Mock, ttnn_python: Path) -> None:
    if subprocess.run([ttnn_python, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("no torch in this environment")
    program = (
        "import torch, ttnn\nd = ttnn.open_device(device_id=0)\n"
        "t = ttnn.from_torch(torch.ones(32, 32), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
        "print(float(ttnn.to_torch(ttnn.add(t, t)).abs().sum()))\nttnn.close_device(d)\n"
    )
    result = real_mock("--board", "n150", "--", "python", "-c", program)
    assert result.stdout.splitlines()[-1:] == ["0.0"], result.stdout + result.stderr


def test_a_refusal_of_the_library_comes_through(real_mock: Mock) -> None:
    program = (
        "import ttnn\nd = ttnn.open_device(device_id=0)\n"
        "a = ttnn.zeros((1, 1, 64, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
        "b = ttnn.zeros((1, 1, 32, 64), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=d)\n"
        "ttnn.matmul(a, b)\n"
    )
    result = real_mock("--board", "n150", "--", "python", "-c", program)
    assert result.returncode == 1
    assert "TT_FATAL" in result.stderr
    assert real_mock.left() == []


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_program_that_is_replaced_while_it_runs_still_compiles(mock: Mock, tmp_path: Path) -> None:
    own = tmp_path / "own/opwright"
    own.parent.mkdir()
    own.write_bytes(mock.opwright.program.read_bytes())
    own.chmod(0o755)
    # The stand-in for Python removes the program before its path is used.
    text = (tmp_path / "bin/python3").read_text()
    make_program(tmp_path / "bin/python3", text.replace("#!/bin/sh\n", f"#!/bin/sh\nrm -f {own}\n"))
    result = subprocess.run(
        [own, "mock", "--board", "n150", "--", "sh", "-c", 'cd "$OPWRIGHT_MOCK_FOLDER/root" && runtime/sfpi/compiler/bin/*g++ --version'],
        env=support.command_env(tmp_path, **mock.env),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "opwright stand-in" in result.stdout, result.stderr
