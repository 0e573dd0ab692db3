"""The Python package under test: its files with a fake recorder and a fake ttnn, in any Python of this machine."""

import functools
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import support

SOURCES = support.REPO / "python"
FAKES = support.FIXTURES / "python" / "fake"
SUPPORTED = [(3, 10), (3, 11), (3, 12), (3, 13)]


def interpreters() -> dict[str, Path]:
    """Pythons by version ("3.10"): this one, those of pyenv; further ones from $OPWRIGHT_TEST_PYTHONS, a path list."""
    named = [Path(path) for path in os.environ.get("OPWRIGHT_TEST_PYTHONS", "").split(os.pathsep) if path]
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    found: dict[str, Path] = {}
    for python in [*named, Path(sys.executable), *sorted(pyenv.glob("*/bin/python"))]:
        version = _version(python)
        if version is not None:
            found.setdefault(version, python)
    return found


@functools.cache
def _version(python: Path) -> str | None:
    try:
        return subprocess.run(
            [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"],
            capture_output=True, text=True, check=True, timeout=60,
        ).stdout.strip()  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None


def supported() -> dict[str, Path]:
    names = [f"{major}.{minor}" for major, minor in SUPPORTED]
    return {version: python for version, python in interpreters().items() if version in names}


def unsupported() -> dict[str, Path]:
    return {version: python for version, python in interpreters().items() if version not in supported()}


def has_module(python: Path, name: str) -> bool:
    code = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    return subprocess.run([python, "-c", code], capture_output=True, timeout=60).returncode == 0


def pythons_with(*modules: str) -> dict[str, Path]:
    """Pythons that have these modules: supported ones, and that of `./x setup --with-ttnn`."""
    found = dict(supported())
    named = os.environ.get("OPWRIGHT_TTNN_PYTHON")
    ttnn_env = Path(named) if named else support.REPO / "build" / "ttnn-env" / "bin" / "python"
    if ttnn_env.exists():
        found["ttnn-env"] = ttnn_env
    return {name: python for name, python in found.items() if all(has_module(python, module) for module in modules)}


@dataclass
class Ran:
    returncode: int
    stdout: str
    stderr: str
    #: What each trace file holds, by name: the records in order.
    traces: dict[str, list[list]] = field(default_factory=dict)

    def records(self, kind: str) -> list[list]:
        return [record[1:] for trace in self.traces.values() for record in trace if record[0] == kind]

    def facts(self) -> dict[str, object]:
        return dict(self.records("fact"))


class Package:
    """A copy of the package (links) in `folder`/lib, the fake ttnn in `folder`/site; programs run in `folder`."""

    def __init__(self, folder: Path, *, with_recorder: bool = True) -> None:
        self.folder = folder
        self.trace = folder / "trace"
        self.library = folder / "lib"
        self.bootstrap = self.library / "bootstrap"
        self.site = folder / "site"
        package = self.library / "opwright"
        package.mkdir(parents=True)
        fakes = sorted((FAKES / "opwright").glob("*.py")) if with_recorder else []
        taken = {fake.name for fake in fakes} | {"ttnn_hook.py"}
        for file in [*fakes, *(file for file in (SOURCES / "opwright").glob("*.py") if file.name not in taken)]:
            (package / file.name).symlink_to(file)
        self.bootstrap.symlink_to(SOURCES / "bootstrap")
        self.site.mkdir()
        (self.site / "ttnn").symlink_to(FAKES / "ttnn")

    def environment(self, *, tracing: bool = True, **extra: object) -> dict[str, str]:
        """What `opwright trace` sets; without tracing, the package is merely installed."""
        paths = [self.bootstrap] if tracing else [self.library]
        env = support.command_env(
            self.folder,
            PYTHONPATH=os.pathsep.join(map(str, [*paths, self.site])),
            PYTHONDONTWRITEBYTECODE=1,
            PYTEST_DISABLE_PLUGIN_AUTOLOAD=1,
        )
        for name in ("PYTEST_PLUGINS", "PYTEST_ADDOPTS", "TT_TEST_RESULTS_CSV", "TT_OP_RESULTS_JSONL"):
            env.pop(name, None)
        if tracing:
            env.update(OPWRIGHT_TRACE=str(self.trace), OPWRIGHT_TRACE_UID="run-1")
        env.update({name: str(value) for name, value in extra.items()})
        return env

    def run(
        self,
        python: Path | str,
        *arguments: object,
        tracing: bool = True,
        cwd: Path | None = None,
        env: dict[str, object] | None = None,
    ) -> Ran:
        done = subprocess.run(
            [str(python), *map(str, arguments)],
            cwd=cwd or self.folder,
            env=self.environment(tracing=tracing, **(env or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=support.COMMAND_TIMEOUT_S,
        )
        return Ran(done.returncode, done.stdout, done.stderr, self.read_traces())

    def read_traces(self, folder: Path | None = None) -> dict[str, list[list]]:
        files = sorted((folder or self.trace).glob("*.opwt"))
        return {file.name: [json.loads(line) for line in file.read_text().splitlines()] for file in files}

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path
