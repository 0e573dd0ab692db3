"""Native traces in other formats, by the `opwright` program."""

from __future__ import annotations

import os
import shutil
import subprocess

from . import _binary


def traces_in(folder: str | None) -> list[str]:
    """The trace files of a folder."""
    if folder is None:
        return []
    files = (os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    return sorted(file for file in files if file.endswith(".opwt"))


def convert(program: str, trace: str, to: str, output: str) -> str | None:
    """Converts one trace; None, or why it was not done."""
    command = [program, "convert", trace, "--to", to, "-o", output]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1].removeprefix("opwright: ") if said else f"exit status {done.returncode}"


class PerOpFiles:
    """`--trace-params`: at the end of the session the trace becomes per-op files, where the library's own tracer would
    have put them. The native trace goes when they are there.
    """

    def __init__(self) -> None:
        self._known: set[str] = set()

    def remember(self, folder: str | None, own: str | None) -> None:
        """What is in the folder by now is not of this session, but for the file `own` that this process has open."""
        self._known = set(traces_in(folder)) - {own}

    def convert(self, folder: str | None) -> list[str]:
        """Messages for the user."""
        fresh = [trace for trace in traces_in(folder) if trace not in self._known]
        if folder is None or not fresh:
            return ["nothing was recorded: no test imported ttnn"]
        program = _binary.find()
        by_hand = f"opwright convert {fresh[0]} --to per-op -o FOLDER"
        if program is None:
            return [f"{_binary.missing_text()}. The calls are in {folder}; convert them with: {by_hand}"]
        written = 0
        for trace in fresh:
            part = os.path.join(folder, f".opwright-{os.getpid()}")
            problem = convert(program, trace, "per-op", part)
            if problem is not None:
                return [f"{trace} is not converted: {problem}. By hand: {by_hand}"]
            written += _move_into(part, folder)
            os.remove(trace)
        return [f"{written} per-op files in {folder}"]


def _move_into(source: str, target: str) -> int:
    """Moves files, folder by folder; what is there under the same name (a test's status) is replaced."""
    moved = 0
    for place, _, names in os.walk(source):
        folder = os.path.normpath(os.path.join(target, os.path.relpath(place, source)))
        os.makedirs(folder, exist_ok=True)
        for name in names:
            os.replace(os.path.join(place, name), os.path.join(folder, name))
            moved += not name.startswith("_")
    shutil.rmtree(source, ignore_errors=True)
    return moved
