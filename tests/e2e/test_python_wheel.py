"""The wheel that `./x wheel` builds: one file for every Python from 3.10 on, with the program in it."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest
import python_package
import support

pytestmark = pytest.mark.slow
SMALL = support.FIXTURES / "python" / "small"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as pip does it."""
    subprocess.run([support.REPO / "x", "wheel"], check=True, stdin=subprocess.DEVNULL, timeout=1800)
    (wheel,) = (support.REPO / "build" / "wheel").glob("*.whl")
    assert wheel.name.endswith("-cp310-abi3-linux_x86_64.whl")
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            os.chmod(archive.extract(entry, folder), (entry.external_attr >> 16) & 0o777 or 0o644)
    return folder


def run(folder: Path, *command: object, **env: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=support.command_env(folder, PYTHONDONTWRITEBYTECODE=1, **env),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=support.COMMAND_TIMEOUT_S,
    )


def test_every_python_can_use_it(site: Path, tmp_path: Path) -> None:
    for version, python in python_package.supported().items():
        program = "import opwright, ttnn\nwith opwright.trace('t') as t: ttnn.add(1, 2)\nprint(t.counters['calls'])"
        done = run(tmp_path, python, "-c", program, PYTHONPATH=f"{site}{os.pathsep}{SMALL}")
        assert (done.stdout, done.stderr) == ("1\n", ""), version


def test_the_program_carries_its_libraries(site: Path, tmp_path: Path) -> None:
    done = run(tmp_path, "ldd", site / "opwright" / "bin" / "opwright")
    inside = [line for line in done.stdout.splitlines() if str(site) in line]
    assert len(inside) == 2, done.stdout  # fmt, simdjson
    allowed = ("linux-vdso", "libstdc++", "libm.", "libgcc_s", "libc.", "ld-linux")
    outside = [line for line in done.stdout.splitlines() if line not in inside]
    assert all(any(name in line for name in allowed) for line in outside), done.stdout
    for python in python_package.supported().values():
        done = run(tmp_path, python, "-m", "opwright", "doctor", PYTHONPATH=site)
        assert "opwright" in done.stdout and done.stderr == ""


def test_pytest_finds_the_plugin(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import ttnn\ndef test_a(): assert ttnn.add(1, 2) == 3")
    for python in python_package.pythons_with("pytest").values():
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        env = {"PYTHONPATH": f"{site}{os.pathsep}{SMALL}"}
        done = run(tmp_path, *command, "--opwright-trace", tmp_path / "t", **env, PYTEST_DISABLE_PLUGIN_AUTOLOAD="")
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"opwright: the trace is in {tmp_path / 't'}" in done.stdout
