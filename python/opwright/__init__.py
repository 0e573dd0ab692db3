"""Opwright in a Python program: names for parts of a run, and tracing from inside.

A program needs none of this to be traced: `opwright trace -- python my_model.py` does it without a change. But a model
may say where it is,

    with opwright.phase("prefill"):
        with opwright.label("layer 0"):
            ...

and a notebook may trace a part of itself:

    with opwright.trace("my-trace") as trace:
        model(tokens)
    print(trace.path, trace.counters["calls"])

Importing this module needs neither ttnn nor torch nor the compiled recorder, and takes well under a millisecond. While
nothing is traced, `phase` and `label` cost a fraction of a microsecond.

(PYTEST_DONT_REWRITE: we are imported before pytest, which would warn of that.)
"""

from __future__ import annotations

import os

from . import _recorder
from ._recorder import TraceError
from ._version import __version__

TYPE_CHECKING = False  # `typing` takes longer to import than all of this package
if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from typing_extensions import Self

    from .store import Store

__all__ = ["Trace", "TraceError", "__version__", "is_tracing", "label", "open", "parametrize", "phase", "trace"]


class Scope:
    """What `phase` and `label` return: a name that holds inside a `with` block, for the thread that entered it."""

    __slots__ = ("_kind", "_text")

    def __init__(self, kind: _recorder.Kind, text: str) -> None:
        self._kind = kind
        self._text = text

    def __enter__(self) -> None:
        _recorder.enter(self._kind, self._text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _recorder.leave(self._kind)


class _NoScope(Scope):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("label", "")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


_NO_SCOPE = _NoScope()


def phase(name: str) -> Scope:
    """Calls inside the `with` block belong to this phase of the run: "prefill", "decode".

    Of nested phases the inner one holds. `opwright trace --phase NAME` records only calls of that phase. A phase
    belongs to the thread that entered it; threads started inside do not inherit it.
    """
    return Scope("phase", name) if _recorder.on else _NO_SCOPE


def label(name: str) -> Scope:
    """Calls inside the `with` block carry this label; nested labels are joined: "layer 0/attention"."""
    return Scope("label", name) if _recorder.on else _NO_SCOPE


def is_tracing() -> bool:
    """Is this process being traced? Under `opwright trace` the answer is yes before ttnn is imported, too."""
    return _recorder.on


class Trace:
    """A trace of a part of the program; made by `trace()`. Use it in a `with` block, or call `start` and `stop`."""

    def __init__(self, folder: str | os.PathLike[str], options: dict[str, str]) -> None:
        self.folder = os.path.abspath(folder)
        self.options = options
        #: Path of the trace file; None before the start.
        self.path: str | None = None
        #: What was recorded (calls, errors, calls_lost, …); empty until the end.
        self.counters: dict[str, int] = {}
        #: The process was being traced already, so calls go into that trace, and `folder` stays as it is.
        self.is_part_of_another = False
        self._is_running = False

    def start(self) -> Self:
        """Opens the trace. TraceError where the compiled recorder is missing, OSError where the folder is unusable."""
        from . import startup

        if self._is_running:
            raise TraceError("this trace has been started already; stop it first")
        if _recorder.on:
            self.is_part_of_another = True
        else:
            startup.check_python()
            startup.prepare()
            _recorder.arm(self.folder, self.options)
            try:
                _recorder.start()
            except BaseException:
                _recorder.disarm()
                raise
            startup.watch()
        self.path = _recorder.path()
        self._is_running = True
        return self

    def stop(self) -> None:
        """Closes the trace and fills `counters`. Does nothing where there is none to close."""
        if self._is_running and not self.is_part_of_another:
            from . import startup

            self.counters = _recorder.stop()
            _recorder.disarm()
            startup.unhook()
        self._is_running = False

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()


def trace(
    folder: str | os.PathLike[str],
    *,
    only: str | Iterable[str] | None = None,
    phase: str | Iterable[str] | None = None,
    first: int | None = None,
    values: str | None = None,
    max_overhead: float | None = None,
    device_ops: bool = False,
) -> Trace:
    """Traces the ttnn calls of a `with` block into a file in `folder`, which is made where it is missing.

    only: globs of operations to record, e.g. "ttnn.matmul" or ["ttnn.*norm*", "ttnn.linear"].
    phase: phases to record.  first: record only so many calls, count the others.
    values: what is kept of tensor contents: "off" (the default), "sketch", "hash" or "full".
    max_overhead: the share of the run that recording may cost, e.g. 0.05; beyond it less detail is recorded.
    device_ops: record what happens on the device below each call, too; slow.

    In a program that is being traced already (by `opwright trace`) the block becomes a part of that trace.
    """
    options: dict[str, str] = {}
    for name, names in (("only", only), ("phase", phase)):
        if names is not None:
            options[name] = names if isinstance(names, str) else ",".join(names)
    if first is not None:
        if first < 0:
            raise ValueError(f"first={first}: the number of calls to record, 0 for all")
        options["first"] = str(int(first))
    if values is not None:
        if values not in _recorder.VALUES:
            raise ValueError(f"values={values!r} is none of {', '.join(_recorder.VALUES)}")
        options["values"] = values
    if max_overhead is not None:
        if not 0 <= max_overhead <= 1:
            raise ValueError(f"max_overhead={max_overhead}: a share between 0 and 1, e.g. 0.05 for 5 %")
        options["max_overhead"] = repr(float(max_overhead))
    if device_ops:
        options["device_ops"] = "1"
    return Trace(folder, options)


def open(path: str | os.PathLike[str] | None = None) -> Store:
    """What is in a store: `opwright.open("opwright.db").configs("ttnn.add")`. Without a path: $OPWRIGHT_STORE, else
    ./opwright.db."""
    from .store import Store

    return Store(path)


def parametrize(op: str, where: str | None = None, store: str | os.PathLike[str] | None = None) -> object:
    """For pytest: the test gets each recorded configuration of an operation as `config` (`opwright.store`)."""
    from .store import parametrize

    return parametrize(op, where, store)


if os.environ.get("OPWRIGHT_MOCK_FOLDER"):  # before tracing, which looks at the library as it then is
    from . import _mock

    _mock.run()

if os.environ.get("OPWRIGHT_TRACE"):
    from . import startup

    startup.run()
