"""Finds the `opwright` program and runs it. Standard library only, imported when needed."""

from __future__ import annotations

import os
import shutil
import sys

_HOW = "install the opwright wheel, build it with ./x build, or set OPWRIGHT_BIN to the program"


def find() -> str | None:
    """$OPWRIGHT_BIN, else the program inside the package, of the build tree around it, or on PATH."""
    named = os.environ.get("OPWRIGHT_BIN")
    if named:
        return named
    package = os.path.dirname(os.path.abspath(__file__))
    python = os.path.dirname(package)
    candidates = [
        os.path.join(package, "bin", "opwright"),
        os.path.join(os.path.dirname(python), "opwright"),  # build/PRESET/python/opwright/ -> build/PRESET/opwright
        os.path.join(os.path.dirname(python), "build", "release", "opwright"),  # python/opwright/ of a checkout
        os.path.join(os.path.dirname(python), "build", "dev", "opwright"),
    ]
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("opwright", path=folder) if os.path.isabs(folder) else None  # not the current folder's
        if found:
            candidates.append(found)
    return next((candidate for candidate in candidates if _is_program(candidate)), None)


def _is_program(path: str) -> bool:
    """Not a script: the console script `opwright` on PATH would start us again, for ever."""
    if not (os.path.isfile(path) and os.access(path, os.X_OK)):
        return False
    try:
        with open(path, "rb") as file:
            return file.read(2) != b"#!"
    except OSError:
        return False


def missing_text() -> str:
    return f"the opwright program is not found; {_HOW}"


def main() -> int:
    """The console script: becomes the program, with the same arguments."""
    program = find()
    if program is None:
        sys.stderr.write(f"opwright: {missing_text()}\n")
        return 3
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.stderr.write(f"opwright: {program} cannot be started: {error.strerror}; {_HOW}\n")
        return 3
