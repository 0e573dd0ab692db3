"""The call as it is made, recorded by the hook that traces models: one native trace file a case.

Files lie in the folder that the client made and named in the request; it reads and removes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import ttnn

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

    @contextmanager
    def recording(self, folder: str) -> Iterator[Recording]:
        """Records the calls inside, also those that raise, into a file of `folder`."""
        made = Recording()
        path = self._capture.start(folder, {"stem": "call"})
        try:
            yield made
        finally:
            self._capture.stop()
            made.path = path

    def close(self) -> None:
        self._hook.remove()  # else the recorder holds objects of the library beyond the end of the interpreter


def recorder() -> Recorder | None:
    """None where the compiled recorder is not built for this Python."""
    try:
        return Recorder()
    except ImportError:
        return None
