"""The mock device inside a Python that `opwright mock` or `trace --mock` started: $OPWRIGHT_MOCK_FOLDER is set.

The library is told its root here, when it is imported, and not by a variable: programs read $TT_METAL_RUNTIME_ROOT as
the root of their own repository. Only the library's own log lines are held back. With $OPWRIGHT_MOCK_STUBS=device-trace
the functions of device traces, which the mock device does not have, are stand-ins that do nothing.

Runs at the start of every interpreter, so it must be light.
"""

from __future__ import annotations

import os
import sys

from ._errors import of_handler
from ._import_hook import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

_ROOT_VARIABLE = "TT_METAL_RUNTIME_ROOT"
#: What the program had in that variable when the library got another value: for Pythons that are started from there.
_ROOT_WAS = "OPWRIGHT_MOCK_ROOT_WAS"
_ERROR = 40  # the level of loguru from which on the library's lines are shown

_has_run = False
_folder = ""
_traces = 0  # the last number that a stand-in gave to a device trace
_capturing: set[int] = set()  # devices between the begin and the end of a stand-in's capture


def run() -> None:
    """Arms the hooks. Never raises; at most one line on standard error."""
    global _has_run, _folder
    if _has_run:
        return
    _has_run = True
    _folder = os.environ.get("OPWRIGHT_MOCK_FOLDER", "")
    _give_back_root()
    after_import("ttnn._ttnn", _on_library)
    after_import("ttnn", _on_ttnn)
    if "LOGURU_LEVEL" not in os.environ:  # else the user says what is shown
        after_import("loguru", _on_loguru)


def _warn(text: str) -> None:
    try:
        sys.stderr.write(f"opwright: {text}\n")
    except Exception as error:
        if of_handler(error):
            raise


# --------------------------------------------------------------------------------------------------- the library's root


def _root() -> str:
    return os.path.join(_folder, "root")


def _give_back_root() -> None:
    """A Python started by one that had to hide the variable gets to see what its parent's program saw."""
    was = os.environ.pop(_ROOT_WAS, None)
    if was is None or os.environ.get(_ROOT_VARIABLE) != _root():
        return
    if was:
        os.environ[_ROOT_VARIABLE] = was
    else:
        del os.environ[_ROOT_VARIABLE]


def _set_root(library: ModuleType) -> None:
    """Of the two ways to tell the library its root, the variable wins; of several calls of SetRootDir, the first."""
    device = getattr(library, "device", None)
    set_root = getattr(device, "SetRootDir", None)
    if set_root is not None:
        set_root(_root())
    mine = os.environ.get(_ROOT_VARIABLE)
    if set_root is not None and mine is None:
        return
    # The library reads the variable of the process when it first looks for a device. os.environ, which the program
    # reads, stays as it is.
    os.environ[_ROOT_WAS] = mine or ""
    os.putenv(_ROOT_VARIABLE, _root())


def _on_library(library: ModuleType) -> None:
    """The compiled part has been imported, nobody has used it yet."""
    try:
        _set_root(library)
    except Exception as error:
        if of_handler(error):
            raise
        _warn(f"the mock device is not set up: {type(error).__name__}: {error}")
    try:
        _watch_device_traces(library)
    except Exception as error:
        if of_handler(error):
            raise
        _warn(f"device traces are not replaced: {type(error).__name__}: {error}")


def _on_ttnn(module: ModuleType) -> None:
    """`ttnn` itself calls SetRootDir in its last lines: in versions where the last call wins, that is ours."""
    try:
        library = getattr(module, "_ttnn", None)
        set_root = getattr(getattr(library, "device", None), "SetRootDir", None)
        if set_root is not None:
            set_root(_root())
    except Exception as error:
        if of_handler(error):
            raise
        _warn(f"the mock device is not set up: {type(error).__name__}: {error}")


# ------------------------------------------------------------------------------------------------- the library's log


def is_shown(record: dict[str, Any]) -> bool:
    """Whether a line of loguru's default output is shown: all but the library's own below an error."""
    name = record["name"] or ""
    is_library = name == "ttnn" or name.startswith("ttnn.")
    return not is_library or record["level"].no >= _ERROR


def _on_loguru(module: ModuleType) -> None:
    """Filters the output that loguru makes by itself; one that the program adds is the program's."""
    try:
        default = module.logger._core.handlers.get(0)
        if default is not None and default._filter is None:
            default._filter = is_shown
    except Exception as error:  # another version of loguru: the library's lines are shown, nothing is lost
        if of_handler(error):
            raise


# ------------------------------------------------------------------------------------------------------- device traces

_LETTERS = {"begin_trace_capture": "b", "end_trace_capture": "e", "execute_trace": "x", "release_trace": "r"}


def _count(letter: str) -> None:
    """One letter a call, in one file of all processes: what `opwright` counts when the program has ended, however."""
    try:
        descriptor = os.open(
            os.path.join(_folder, "device-traces"), os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
        try:
            os.write(descriptor, letter.encode())
        finally:
            os.close(descriptor)
    except OSError:
        pass


def _watch_device_traces(library: ModuleType) -> None:
    trace = getattr(getattr(library, "operations", None), "trace", None)
    if trace is None:
        return
    stubs = os.environ.get("OPWRIGHT_MOCK_STUBS", "").split(",")
    if "device-trace" not in stubs:
        original = getattr(trace, "begin_trace_capture", None)
        if original is not None:
            trace.begin_trace_capture = _asked_for(original)
        return
    number_type = getattr(trace, "MeshTraceId", int)
    for name, stand_in in _stand_ins(number_type).items():
        if hasattr(trace, name):
            setattr(trace, name, _named_like(stand_in, getattr(trace, name)))
    device = getattr(library, "device", None)
    active = getattr(device, "is_trace_capture_active", None)
    if active is not None:
        device.is_trace_capture_active = _named_like(  # type: ignore[union-attr]
            lambda device, *rest, **options: id(device) in _capturing, active
        )


def _asked_for(begin: Callable[..., Any]) -> Callable[..., Any]:
    """The library's own, which refuses or crashes here; that it was asked for is told when the program has failed."""

    def begin_trace_capture(*arguments: Any, **options: Any) -> Any:
        _count("a")
        return begin(*arguments, **options)

    return _named_like(begin_trace_capture, begin)


def _stand_ins(number_type: Callable[[int], Any]) -> dict[str, Callable[..., Any]]:
    """Calls between begin and end run at once, as they are, so that their outputs are there; a replay does nothing."""

    def begin_trace_capture(mesh_device: Any, *rest: Any, **options: Any) -> Any:
        global _traces
        _traces += 1
        _capturing.add(id(mesh_device))
        _count(_LETTERS["begin_trace_capture"])
        return number_type(_traces)

    def end_trace_capture(mesh_device: Any, *rest: Any, **options: Any) -> None:
        _capturing.discard(id(mesh_device))
        _count(_LETTERS["end_trace_capture"])

    def execute_trace(mesh_device: Any, *rest: Any, **options: Any) -> None:
        _count(_LETTERS["execute_trace"])

    def release_trace(mesh_device: Any, *rest: Any, **options: Any) -> None:
        _count(_LETTERS["release_trace"])

    return {
        "begin_trace_capture": begin_trace_capture,
        "end_trace_capture": end_trace_capture,
        "execute_trace": execute_trace,
        "release_trace": release_trace,
    }


def _named_like(stand_in: Callable[..., Any], original: Callable[..., Any]) -> Callable[..., Any]:
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        try:
            setattr(stand_in, name, getattr(original, name))
        except (AttributeError, TypeError):
            pass
    return stand_in
