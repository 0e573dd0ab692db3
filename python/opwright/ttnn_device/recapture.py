"""The call as it is made, recorded by the hook that traces models: one native trace file a case.

Files lie in a folder of this process, which goes with it; that of a process that crashed goes when the next one starts.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import ttnn

_PREFIX = "opwright-recapture-"


class Recording:
    #: The trace file, when the `with` block has been left.
    path = ""


class Recorder:
    """Opened and closed around each case; what the compiled module keeps between stays warm."""

    def __init__(self) -> None:
        from opwright import _capture, ttnn_hook

        ttnn_hook.install(ttnn)  # costs a call next to nothing while no trace is open
        self._capture: ModuleType = _capture
        self._hook: ModuleType = ttnn_hook
        place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path(tempfile.gettempdir())
        remove_folders_of_the_dead(place)
        self._folder = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-", dir=place)

    @contextmanager
    def recording(self) -> Iterator[Recording]:
        """Records the calls inside, also those that raise."""
        made = Recording()
        path = self._capture.start(self._folder, {"stem": "call"})
        try:
            yield made
        finally:
            self._capture.stop()
            made.path = path

    def close(self) -> None:
        self._hook.remove()  # else the recorder holds objects of the library beyond the end of the interpreter
        shutil.rmtree(self._folder, ignore_errors=True)


def remove_folders_of_the_dead(place: Path) -> None:
    for folder in place.glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdigit() and not os.path.exists(f"/proc/{pid}"):
            shutil.rmtree(folder, ignore_errors=True)


def recorder() -> Recorder | None:
    """None where the compiled recorder is not built for this Python."""
    try:
        return Recorder()
    except ImportError:
        return None
