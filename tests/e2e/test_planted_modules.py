"""Files of the current folder are not run by what only asks which Python and which library there are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import support

PLANTED = """
sitecustomize usercustomize site os io abc codecs encodings stat posixpath genericpath json json.decoder ttnn numpy torch
pytest opwright opwright.ttnn_device importlib importlib.util importlib.machinery importlib.metadata email email.message
email.parser csv zipfile typing re collections functools itertools operator pathlib tempfile argparse gettext locale types
threading contextlib enum warnings abc keyword inspect textwrap posix zipimport _abc loguru runpy pkgutil ctypes signal
subprocess shutil mmap time datetime random platform hashlib string struct math queue heapq bisect weakref copy traceback
linecache tokenize token
""".split()


class Trap:
    """A folder full of modules and programs that leave a mark when they are run."""

    def __init__(self, opwright):
        self.opwright = opwright
        self.folder = opwright.folder / "planted"
        self.marks = opwright.folder / "marks"
        self.marks.mkdir()
        for name in PLANTED:
            self.plant(name)
        for name in ("python", "python3", "python3.10", "python3.12", "tt-smi", "riscv-tt-elf-g++", "env", "sh", "uv"):
            program = self.folder / name
            if not program.exists():
                program.write_text(f"#!/bin/sh\n: > {self.marks}/program-{name}\nexit 1\n")
                program.chmod(0o755)

    def plant(self, name: str) -> None:
        *packages, module = name.split(".")
        folder = self.folder
        for package in packages:
            folder = folder / package
        text = f"open({str(self.marks)!r} + '/{name}', 'w').close()\n"
        is_package = any(other.startswith(name + ".") for other in PLANTED) or name == "encodings"
        file = folder / module / "__init__.py" if is_package else folder / f"{module}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def __call__(self, *arguments: object, path: str = "", **env: object) -> subprocess.CompletedProcess:
        env = {"PATH": f"{path}/usr/bin:/bin", "TMPDIR": self.opwright.folder, "PYTHONDONTWRITEBYTECODE": "1", **env}
        return self.opwright(*arguments, cwd=self.folder, env=env)

    def sprung(self) -> list[str]:
        return sorted(path.name for path in self.marks.iterdir())


@pytest.fixture
def trap(opwright) -> Trap:
    return Trap(opwright)


CASE = "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"


def test_the_trap_works(trap: Trap) -> None:
    """Or no test here could fail."""
    subprocess.run([sys.executable, "-c", "import json"], cwd=trap.folder)
    assert "json" in trap.sprung()
    subprocess.run("python3", cwd=trap.folder, env={"PATH": ":/usr/bin"}, shell=True)
    assert "program-python3" in trap.sprung()


@pytest.mark.parametrize("path", ["", ":", ".:", "./:", "../planted:"], ids=["absolute", "empty", "dot", "dot-slash", "relative"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["doctor"],
        ["mock", "--board", "n150", "--explain"],
        ["mock", "--board", "n150", "--", "/bin/true"],
        ["trace", "--", "/bin/true"],
        ["trace", "--mock", "n150", "--", "/bin/true"],
        ["run", "--device", "ttnn:mock:n150", "--case", CASE],
        ["run", "--device", "ttnn", "--case", CASE],
        ["device", "list"],
    ],
    ids=" ".join,
)
def test_nothing_planted_runs_without_the_library(arguments: list, path: str, trap: Trap) -> None:
    trap(*arguments, path=path)
    assert trap.sprung() == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["doctor"],
        ["mock", "--board", "n150", "--explain"],
        ["mock", "--board", "n150", "--explain", "--", "python", "model.py"],
        ["mock", "--board", "n150", "--", "/bin/true"],
        ["trace", "--mock", "n150", "--", "/bin/true"],
        ["run", "--device", "ttnn:mock:n150", "--case", CASE],
    ],
    ids=" ".join,
)
def test_nothing_planted_runs_with_the_library(arguments: list, trap: Trap, ttnn_python: Path) -> None:
    done = trap(*arguments, path=f"{ttnn_python.parent}:", OPWRIGHT_TTNN_PYTHON=ttnn_python)
    assert done.returncode == 0, done.stdout + done.stderr
    if arguments[0] != "trace":
        assert "0.81.1" in done.stdout or "--explain" not in arguments
    assert trap.sprung() == []


def test_a_python_path_of_the_users_is_looked_at_and_not_run(trap: Trap) -> None:
    """Where the planted folder is on PYTHONPATH itself, the library there is the program's, and still not run."""
    for path in (trap.folder, "", ".", "/usr:"):
        trap("doctor", PYTHONPATH=path, PYTHONSTARTUP=trap.folder / "json.py", PYTHONWARNINGS="ignore::json.X")
        trap("mock", "--board", "n150", "--explain", PYTHONPATH=path)
        assert trap.sprung() == [], path


# -- and what must be found is found


def library(folder: Path) -> Path:
    for name in ("tt_metal/kernels", "runtime/hw"):
        (folder / "ttnn" / name).mkdir(parents=True)
    (folder / "ttnn" / "__init__.py").write_text("raise SystemExit('imported')\n")
    (folder / "ttnn-0.80.7.dist-info").mkdir()
    (folder / "ttnn-0.80.7.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: ttnn\nVersion: 0.80.7\n")
    return folder / "ttnn"


def explained(opwright, **env: object) -> dict:
    done = opwright("--format", "json", "mock", "--board", "n150", "--explain", env={"PATH": "/usr/bin:/bin", **env})
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_library_on_the_python_path(opwright, tmp_path: Path) -> None:
    ttnn = library(tmp_path / "libraries")
    answer = explained(opwright, PYTHONPATH=f"/no/such:{tmp_path / 'libraries'}")
    assert (answer["ttnn"], answer["ttnn_version"]) == (str(ttnn), "0.80.7")
    answer = explained(opwright, PYTHONPATH="libraries")  # relative to where the program will run
    assert answer["ttnn"] == str(ttnn)


def test_a_library_of_the_users_own_site(opwright, tmp_path: Path) -> None:
    site = subprocess.run(
        ["/usr/bin/python3", "-m", "site", "--user-site"], env={"HOME": str(tmp_path)}, capture_output=True, text=True
    ).stdout.strip()
    ttnn = library(Path(site))
    answer = explained(opwright)
    assert (answer["ttnn"], answer["ttnn_version"]) == (str(ttnn), "0.80.7")


# -- the user's own program finds its modules as it does without us


@pytest.mark.parametrize("how", [["-m", "mine"], ["mine.py"], ["-c", "import mine"], ["folder/mine.py"]], ids=" ".join)
def test_the_program_finds_its_own_modules(how: list, opwright, tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "folder"):
        folder.mkdir(exist_ok=True)
        (folder / "mine.py").write_text("import sys, queue\nprint(queue.who, sys.path[0])\n")
        (folder / "queue.py").write_text(f"who = {str(folder)!r}\n")
    alone = subprocess.run([sys.executable, *how], cwd=tmp_path, capture_output=True, text=True)
    done = opwright("trace", "--", sys.executable, *how)
    assert done.stdout.splitlines()[0].strip() == alone.stdout.strip()
    assert str(tmp_path) in alone.stdout


@pytest.mark.parametrize("how", [["program.py"], ["-m", "pytest", "-q", "-p", "no:cacheprovider", "program.py"]], ids=" ".join)
def test_recording_imports_no_module_of_the_programs_folder(how: list, opwright, ttnn_python: Path) -> None:
    """Every name of the standard library that the program does not import by itself lies in its folder."""
    mock = (opwright.program, "mock", "--board", "n150", "--", ttnn_python)
    list_modules = "print(*sorted({name.partition('.')[0] for name in sys.modules} | set(sys.builtin_module_names)))"
    program = (
        "import sys, os, ttnn\ndef test_it():\n    tensor = ttnn.zeros((1, 1, 32, 32))\n    tensor.to_list()\n"
        f"    {list_modules}\n"
    )
    (opwright.folder / "program.py").write_text(program + "if __name__ == '__main__': test_it()\n")
    env = support.command_env(opwright.folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTHONDONTWRITEBYTECODE="1")
    alone = subprocess.run([*mock, *how, *(["-s"] if "-m" in how else [])], cwd=opwright.folder, env=env, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stdout + alone.stderr
    imported = set(alone.stdout.split())
    assert "json" in imported
    there = "import importlib.util as u, sys; print(*(n for n in sys.stdlib_module_names if n != '__main__' and u.find_spec(n)))"
    names = subprocess.run([ttnn_python, "-I", "-c", there], capture_output=True, text=True)
    left = set(names.stdout.split()) - imported - {"antigravity", "this"}
    assert len(left) > 50
    for name in left:
        (opwright.folder / f"{name}.py").write_text(f"open('mark-{name}', 'w').close()\n")
    done = opwright("--format", "json", "trace", "--mock", "n150", "--", ttnn_python, *how, env=env)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["calls"] >= 2
    assert [path.name for path in opwright.folder.glob("mark-*")] == []


def test_the_console_script_takes_no_program_of_the_current_folder(tmp_path: Path) -> None:
    package = support.REPO / "python" / "opwright" / "_binary.py"
    planted = tmp_path / "here" / "opwright"
    planted.parent.mkdir()
    planted.write_bytes(Path("/bin/true").read_bytes())
    planted.chmod(0o755)
    copy = tmp_path / "package" / "elsewhere" / "_binary.py"  # where no build tree is around it
    copy.parent.mkdir(parents=True)
    copy.write_text(package.read_text())
    code = f"import sys; sys.path.insert(0, {str(copy.parent)!r}); import _binary; print(_binary.find())"
    for path in (":/usr/bin", ".:/usr/bin", "./:/usr/bin"):
        env = {"PATH": path, "HOME": str(tmp_path)}
        done = subprocess.run([sys.executable, "-c", code], cwd=planted.parent, env=env, capture_output=True, text=True)
        assert done.stdout.strip() == "None", path
    env = {"PATH": f"{planted.parent}:/usr/bin", "HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=os.sep, env=env, capture_output=True, text=True)
    assert done.stdout.strip() == str(planted)
