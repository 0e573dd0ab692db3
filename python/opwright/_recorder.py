"""The state of tracing in this process, and the only module that talks to the compiled recorder.

A trace is *armed* (we know the folder) before it is *started* (the file is open): it starts when ttnn is imported, so
that a program without ttnn leaves no file. What is said before (the running test, phases, results of tests) is
kept and written at the start.
"""

from __future__ import annotations

import os
import sys
from _thread import _local

from ._errors import of_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Literal

    Kind = Literal["phase", "label"]

VALUES = ("off", "sketch", "hash", "full")
_MAX_PENDING = 100_000  # results of tests before the start
_IS_USED = ("calls", "errors", "calls_filtered", "calls_lost", "calls_thinned")  # counters of a trace worth keeping


class TraceError(RuntimeError):
    """Tracing is not possible here; the text says why, and what to do."""


#: Armed or started. `phase` and `label` look at this alone.
on = False
#: One trace file for each test (set by the pytest plugin or by the options).
per_test = False
#: Called after each start: writes the facts of the run.
on_start: list[Callable[[], None]] = []
#: Where warnings go instead of standard error, which pytest captures while it imports tests.
deferred: list[str] | None = None
#: Names the run; processes of one run share it, through the environment where `opwright trace` started them.
uid: str | None = None

#: This process is a fork of the one that started the trace: it has a trace of its own from its first call on.
is_forked = False

_folder: str | Callable[[], str] | None = None
_options: dict[str, str] | str = {}
_is_started = False
_is_broken = False  # a start failed: not tried again
_has_warned = False
_test: str | None = None
_module: str | None = None  # the test file that is being imported
_file_test: str | None = None  # the test that the open file belongs to, where each has its own
_pending: list[tuple[str, str, float]] = []
_capture: ModuleType | None = None
_scopes = _local()


def warn(text: str) -> None:
    """One line a process, and never an exception: the model goes on."""
    global _has_warned
    if _has_warned:
        return
    _has_warned = True
    line = f"opwright: {text}"
    try:
        if deferred is not None:
            deferred.append(line)
        else:
            sys.stderr.write(line + "\n")
            sys.stderr.flush()
    except Exception as error:
        if of_program(error):
            raise


def load() -> None:
    """Imports the compiled recorder; TraceError where that is impossible."""
    global _capture
    if _capture is not None:
        return
    try:
        from . import _capture as compiled
    except ImportError as error:
        raise TraceError(
            f"the compiled recorder opwright._capture cannot be loaded ({error}); "
            "build it with ./x build, or install the opwright wheel for this Python"
        ) from error
    _capture = compiled


def after_fork_in_child() -> None:
    global is_forked
    is_forked = True


def arm(folder: str | Callable[[], str], options: dict[str, str] | str) -> None:
    """From here on the process is traced. A function as folder is asked at the start; text as options is JSON."""
    global on, uid, _folder, _options, _is_broken, _is_started
    _folder, _options, _is_broken, _is_started = folder, options, False, False
    uid = os.environ.get("OPWRIGHT_TRACE_UID") or os.urandom(16).hex()
    on = True


def disarm() -> None:
    global on, _folder, _options
    on, _folder, _options = False, None, {}
    _pending.clear()


def is_started() -> bool:
    return _is_started


def path() -> str | None:
    """Path of the open trace file."""
    return _capture.path() if _capture is not None and _is_started else None


def folder() -> str | None:
    """The folder of the trace; None when nothing is traced."""
    return _folder if _folder is None or isinstance(_folder, str) else os.path.abspath(_folder())


def options() -> dict[str, str]:
    return _options if isinstance(_options, dict) else {}


def start() -> None:
    """Opens the trace file, once. TraceError or OSError when that fails."""
    global _is_started, _folder, _options, per_test, _file_test
    if _is_started or _folder is None:
        return
    load()
    assert _capture is not None
    _folder = folder()
    assert _folder is not None
    if isinstance(_options, str):
        _options = parse_options(_options)
    if _options.get("per_test") == "1":
        per_test = True
    wanted = {name: text for name, text in _options.items() if name != "per_test"}
    if per_test and _test is not None:
        wanted["stem"] = _stem_of_test(_test)
    _capture.start(_folder, wanted)
    _is_started = True
    _file_test = _test
    if _test is not None:
        _capture.set_context("test", _test)
    elif _module is not None and not per_test:
        _capture.set_context("test", _module)
    for kind, stack in vars(_scopes).items():  # of the thread that imports ttnn
        if stack:
            _capture.set_context(kind, stack[-1])
    for callback in on_start:
        callback()
    for result in _pending:
        _capture.test_result(*result)
    _pending.clear()


def try_start() -> bool:
    """Like `start`, but a failure is one warning: the model never fails because of us."""
    global _is_broken
    if _is_broken or not on:
        return False
    try:
        start()
        return True
    except Exception as error:
        if of_program(error):
            raise
        _is_broken = True
        warn(f"nothing is traced: {error or type(error).__name__}")
        return False


def parse_options(text: str) -> dict[str, str]:
    """Options from $OPWRIGHT_TRACE_OPTIONS. What cannot be read is said, and everything is recorded."""
    import json

    try:
        options = json.loads(text) if text else {}
        if not isinstance(options, dict):
            raise ValueError("no object")
    except ValueError as error:
        warn(f"OPWRIGHT_TRACE_OPTIONS is not read ({error}); everything is recorded. It is a JSON object of strings")
        return {}
    return {str(name): value if isinstance(value, str) else json.dumps(value) for name, value in options.items()}


def stop() -> dict[str, int]:
    """Closes the trace file; the counters of the recorder."""
    global _is_started
    if _capture is None or not _is_started:
        return {}
    _is_started = False
    path = _capture.path()
    counters: dict[str, int] = _capture.stop()
    trouble = _capture.trouble()
    if trouble:
        warn(trouble)
    elif path and not os.path.exists(path):
        warn(f"{path} was removed while the program ran; its {counters.get('calls', 0)} calls are lost")
    if path and (is_forked or (per_test and _file_test is None)) and not any(counters.get(name) for name in _IS_USED):
        try:
            os.remove(path)  # of a child that called nothing, or of the time before the first test
        except OSError:
            pass
    return counters


def flush() -> None:
    if _capture is not None and _is_started:
        _capture.flush()


def fact(name: str, value: object) -> None:
    """Something about the run. Secrets in command lines, settings and addresses are masked before they are written."""
    if _capture is not None and _is_started:
        _capture.fact(name, _without_secrets(value))


def _without_secrets(value: object) -> object:
    if isinstance(value, str):
        return _capture.masked(value)
    if isinstance(value, dict):
        return {key: _without_secrets_of(key, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        if value and all(isinstance(each, str) for each in value):
            return _capture.masked(value)  # the words of a command line
        return [_without_secrets(each) for each in value]
    return value


def _without_secrets_of(key: object, value: object) -> object:
    if isinstance(key, str) and isinstance(value, str):
        return _capture.masked([f"{key}={value}"])[0][len(key) + 1 :]  # API_KEY says what it is by its name
    return _without_secrets(value)


def note(kind: str, text: str) -> None:
    if _capture is not None and _is_started:
        _capture.note(kind, text)


# ------------------------------------------------------------------------------------------------------ phases, labels


def enter(kind: Kind, text: str) -> None:
    stack = getattr(_scopes, kind, None)
    if stack is None:
        stack = []
        setattr(_scopes, kind, stack)
    text = str(text)
    if kind == "label" and stack:
        text = f"{stack[-1]}/{text}"
    stack.append(text)
    if _is_started:
        _set_context(kind, text)


def leave(kind: Kind) -> None:
    stack = getattr(_scopes, kind, None)
    if not stack:
        return
    stack.pop()
    if _is_started:
        _set_context(kind, stack[-1] if stack else None)


def _set_context(kind: Literal["test", "phase", "label"], text: str | None) -> None:
    try:
        if _capture is not None:
            _capture.set_context(kind, text)
    except Exception as error:
        if of_program(error):
            raise
        warn(f"the {kind} {text!r} is not recorded: {error}")


# --------------------------------------------------------------------------------------------------------------- tests


def begin_test(test: str) -> None:
    """Calls from here on belong to this test."""
    global _test
    _test = test
    if not on:
        return
    if per_test and _is_started and _file_test != test:
        try:
            stop()
        except Exception as error:
            if of_program(error):
                raise
            warn(f"a trace file was not closed: {error}")
        try_start()
    elif _is_started:
        _set_context("test", test)


def begin_module(path: str) -> None:
    """Calls from here on are those of a test file while it is imported. Where each test has a file they have no name."""
    global _module
    _module = path
    if _is_started and not per_test:
        _set_context("test", path)


def end_module() -> None:
    global _module
    _module = None
    if _is_started and not per_test:
        _set_context("test", None)


def end_test() -> None:
    global _test
    _test = None
    if _is_started:
        _set_context("test", None)


def test_result(test: str, outcome: str, seconds: float) -> None:
    """How a test ended. Before the start it is kept: a test may run before the first one that imports ttnn."""
    if not on:
        return
    if _capture is not None and _is_started:
        try:
            _capture.test_result(test, outcome, seconds)
        except Exception as error:
            if of_program(error):
                raise
            warn(f"the result of {test} is not recorded: {error}")
    elif not _is_broken and len(_pending) < _MAX_PENDING:
        _pending.append((test, outcome, seconds))


def _stem_of_test(test: str) -> str:
    """The beginning of the name of a test's file: readable, short, and another for each test."""
    import hashlib
    import re

    name = re.sub(r"[^A-Za-z0-9.=-]+", "_", test).strip("_")[:120]
    return f"{name}-{hashlib.sha256(test.encode(errors='replace')).hexdigest()[:8]}"
