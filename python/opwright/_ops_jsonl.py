"""`--ops-jsonl`: the calls of a session as op JSONL, which the `opwright` program makes from the native trace."""

from __future__ import annotations

import os
import shutil
import time

from . import _binary
from ._convert import convert, traces_in


class OpsJsonl:
    """Calls are appended to the file at the end of the session. Until then they are in the native trace, whatever
    happens to the process: `opwright convert FOLDER --to jsonl -o PATH` does by hand what was not done at the end.
    """

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)
        self._own: str | None = None
        self._known: set[str] = set()

    def own_folder(self) -> str:
        """A folder for the trace beside the file, where no other was asked for; removed after the conversion."""
        self._own = f"{self.path}.trace-{time.strftime('%Y%m%d_%H%M%S')}-{os.getpid()}"
        return self._own

    def remember(self, folder: str | None, own: str | None) -> None:
        """What is in the folder by now is not of this session, but for the file `own` that this process has open."""
        self._known = set(traces_in(folder)) - {own}

    def convert(self, folder: str | None) -> list[str]:
        """Appends the calls of this session; messages for the user."""
        fresh = [trace for trace in traces_in(folder) if trace not in self._known]
        if not fresh:
            return [f"no ttnn calls were recorded; {self.path} is as it was"]
        program = _binary.find()
        by_hand = f"opwright convert {folder} --to jsonl -o {self.path}"
        if program is None:
            return [f"{_binary.missing_text()}. The calls are in {folder}; convert them with: {by_hand}"]
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        part = f"{self.path}.part-{os.getpid()}"
        lines = 0
        try:
            for trace in fresh:
                problem = convert(program, trace, "jsonl", part)
                if problem is not None:
                    return [f"{trace} is not converted: {problem}. By hand: {by_hand}"]
                lines += _append(part, self.path)
                os.remove(part)
        except OSError as error:
            return [f"the calls are not in {self.path}: {error}. They are in {folder}. By hand: {by_hand}"]
        finally:
            if os.path.exists(part):
                os.remove(part)
        if self._own is not None and self._own == folder:
            shutil.rmtree(folder, ignore_errors=True)
        return [f"{lines} calls appended to {self.path}"]


def _append(source: str, target: str) -> int:
    """Appends a file; the number of its lines."""
    lines = 0
    with open(source, "rb") as part, open(target, "ab") as whole:
        while block := part.read(1 << 20):
            lines += block.count(b"\n")
            whole.write(block)
    return lines
