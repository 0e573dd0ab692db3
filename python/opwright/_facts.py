"""What is worth knowing about a run: command, versions, model, machine. Gathered when a trace starts, cheaply."""

from __future__ import annotations

import os
import sys

from . import _recorder
from ._errors import of_program
from ._version import __version__

#: Variables of the environment by which model programs choose what they run.
_ENVIRONMENT = (
    "HF_MODEL",
    "LLAMA_DIR",
    "MESH_DEVICE",
    "FAKE_DEVICE",
    "ARCH_NAME",
    "TT_METAL_SLOW_DISPATCH_MODE",
    "TTNN_CONFIG_OVERRIDES",
)
#: What pytest was asked for, as the plugin says it; None outside of pytest.
test_run: dict[str, str] | None = None

#: Variables with a path of the machine: only whether they are set.
_ENVIRONMENT_IS_SET = ("TT_METAL_HOME", "TT_METAL_SIMULATOR", "TT_METAL_MOCK_CLUSTER_DESC_PATH")


def write() -> None:
    """Writes all facts but the versions of libraries, which come when ttnn is there."""
    environment: dict[str, str | bool] = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    environment.update((name, True) for name in _ENVIRONMENT_IS_SET if os.environ.get(name))
    board = os.environ.get("OPWRIGHT_MOCK_BOARD")
    facts: dict[str, object] = {
        "uid": _recorder.uid,
        "command": [without_installation(word) for word in getattr(sys, "argv", [])],
        "interpreter_command": [without_installation(word) for word in sys.orig_argv],
        "script": script(),
        "environment": environment,
        "hostname": os.uname().nodename,
        "mock": bool(board),
        "board": board,
        "git_commit": git_commit(os.getcwd()),
        "options": _recorder.options() or None,
        **_asked_for(),
    }
    for name, value in facts.items():
        if value is not None:
            _recorder.fact(name, value)


def describe_test_run(run: dict[str, str]) -> None:
    """From the plugin: `test_source`, `pytest_args`. It knows better as pytest goes on; the last word counts."""
    global test_run
    if run != test_run:
        test_run = run
        for name, text in run.items():
            _recorder.fact(name, text)


def _asked_for() -> dict[str, str | None]:
    """Which test or program it is, and with which arguments, as the existing tracer calls them."""
    if test_run is not None:
        return dict(test_run)
    words = getattr(sys, "argv", [])[1:]
    return {"test_source": _program_file(), "pytest_args": " ".join(words) or None}


def _program_file() -> str | None:
    """The program as a file; None for what has no name of its own, and for pytest without our plugin."""
    name = script()
    if not name or name in ("-c", "-m", "-") or name.partition("/")[0] in ("pytest", "py.test"):
        return None
    return name


def write_versions() -> None:
    versions = {"python": ".".join(map(str, sys.version_info[:3])), "opwright": __version__}
    for name in ("ttnn", "torch", "numpy", "transformers", "pytest"):
        version = version_of(name)
        if version is not None:
            versions[name] = version
    _recorder.fact("versions", versions)


def version_of(package: str) -> str | None:
    """Of a package that is imported or installed; None where it is not."""
    version = getattr(sys.modules.get(package), "__version__", None)
    if isinstance(version, str) and version:
        return version
    try:
        from importlib import metadata

        return metadata.version(package)
    except Exception as error:
        if of_program(error):
            raise
        return None


def script() -> str | None:
    """The program that runs, relative to the working directory where it is below it; a notebook by its own name."""
    notebook = os.environ.get("JPY_SESSION_NAME")
    arguments = getattr(sys, "argv", None)
    path = notebook or (arguments[0] if arguments else None)
    if not path or path in ("-c", "-m"):
        return path or None
    installed = without_installation(path)
    if installed != path:
        return installed
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def without_installation(word: str) -> str:
    """`pytest` for …/bin/pytest, `pytest/__main__.py` for …/site-packages/pytest/__main__.py; other words as they are.

    Where this Python is installed says something about the machine, and nothing about the run.
    """
    if not os.path.isabs(word):
        return word
    folder, name = os.path.split(word)
    if folder == os.path.dirname(sys.executable or ""):
        return name
    for place in sys.path:
        if place.endswith(("site-packages", "dist-packages")) and word.startswith(place + os.sep):
            return word[len(place) + 1 :]
    return word


def git_commit(folder: str) -> str | None:
    """The commit checked out around `folder`, read from the files of git: starting git would take milliseconds."""
    try:
        while not os.path.exists(os.path.join(folder, ".git")):
            parent = os.path.dirname(folder)
            if parent == folder:
                return None
            folder = parent
        git = os.path.join(folder, ".git")
        if os.path.isfile(git):  # a work tree or a submodule: a file that names the folder
            git = os.path.join(folder, _first_line(git).removeprefix("gitdir:").strip())
        head = _first_line(os.path.join(git, "HEAD"))
        if not head.startswith("ref:"):
            return head or None
        reference = head.removeprefix("ref:").strip()
        common = git
        if os.path.exists(os.path.join(git, "commondir")):
            common = os.path.join(git, _first_line(os.path.join(git, "commondir")))
        if os.path.exists(os.path.join(common, reference)):
            return _first_line(os.path.join(common, reference)) or None
        with open(os.path.join(common, "packed-refs"), encoding="utf-8") as lines:
            for line in lines:
                words = line.split()
                if len(words) == 2 and words[1] == reference:
                    return words[0]
    except (OSError, ValueError):
        pass
    return None


def _first_line(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.readline().strip()
