"""Questions to the `opwright` program, and its answers row by row. Standard library only."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

from opwright import _binary


class StoreError(Exception):
    """What the program says of a store, a selector, an operation or a run that it cannot use."""


def _program() -> str:
    program = _binary.find()
    if program is None:
        raise StoreError(_binary.missing_text())
    return program


def lines(*arguments: str, store: str, accepted: tuple[int, ...] = (0,)) -> Iterator[dict[str, Any]]:
    """One object a line of that store, as the program finds them. Whoever stops reading ends it."""
    program = _program()
    # Not on the command line, which everybody on the machine can read: a URL may hold a password.
    environment = {**os.environ, "OPWRIGHT_STORE": store}
    # A file, not a pipe, takes what it says of errors: nobody reads that before the end.
    with (
        tempfile.TemporaryFile("w+", errors="replace") as said,
        subprocess.Popen(
            [program, *arguments], stdout=subprocess.PIPE, stderr=said, stdin=subprocess.DEVNULL, env=environment
        ) as process,
    ):
        assert process.stdout is not None
        ended = False
        try:
            for line in process.stdout:
                yield json.loads(line)
            ended = True
        finally:
            if not ended:
                process.kill()  # nobody wants the rest
        process.wait()
        said.seek(0)
        check(process.returncode, said.read(), accepted)


def answer(*arguments: str) -> dict[str, Any]:
    """One object."""
    done = subprocess.run([_program(), *arguments], capture_output=True, text=True, errors="replace", check=False)
    check(done.returncode, done.stderr, (0,))
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check(status: int, said: str, accepted: tuple[int, ...]) -> None:
    if status not in accepted:
        raise StoreError(said.strip().removeprefix("opwright: ") or f"the opwright program ended with {status}")
