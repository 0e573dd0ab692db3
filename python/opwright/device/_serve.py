"""The plumbing of a device program: its own pipes, hello, one answer a request, beats, an end that cannot hang."""

from __future__ import annotations

import functools
import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

from opwright.device._request import DataFile, Request

PROTOCOL = 1
BEAT_SECONDS = 1.0
#: After the last answer the process has this long to give its device back.
END_SECONDS = 20

Answer = dict[str, Any]


class _Pipes:
    """Requests and answers on descriptors that no library knows: what it prints goes to standard error, and a child
    that reads standard input finds it empty."""

    def __init__(self) -> None:
        self.requests: IO[str] = os.fdopen(os.dup(0), encoding="utf-8")
        self._answers: IO[str] = os.fdopen(os.dup(1), "w", encoding="utf-8")
        self._lock = threading.Lock()
        sys.stdout.flush()
        os.dup2(2, 1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)

    def write(self, record: Answer, still: Callable[[], bool] = lambda: True) -> None:
        """`still` is asked when no other line can come between."""
        line = json.dumps(record, separators=(",", ":")) + "\n"
        with self._lock:
            if still():
                self._answers.write(line)
                self._answers.flush()


class _Beats:
    """Says once a second that a request is still at work; not while a library holds Python's lock."""

    def __init__(self, pipes: _Pipes) -> None:
        self._pipes = pipes
        self._request: object = None
        self._changed = threading.Event()
        threading.Thread(target=self._run, daemon=True, name="opwright-beats").start()

    def begin(self, request: object) -> None:
        self._request = request
        self._changed.set()

    def end(self) -> None:
        self._request = None

    def _is_at(self, request: object) -> bool:
        return self._request == request

    def _run(self) -> None:
        while True:
            self._changed.wait()
            self._changed.clear()
            request = self._request
            while request is not None and request == self._request and not self._changed.wait(BEAT_SECONDS):
                try:
                    self._pipes.write({"beat": request}, still=functools.partial(self._is_at, request))
                except OSError:
                    return


def failure(error: BaseException, stage: str) -> Answer:
    """The answer for what was raised and nobody understood better."""
    outcome = "out_of_memory" if isinstance(error, MemoryError) else "error"
    return {"outcome": outcome, "error": {"type": type(error).__name__, "stage": stage, "message": str(error)[:4000]}}


def _answer(device: Any, line: str, data: DataFile, beats: _Beats) -> Answer | None:
    """None: leave."""
    try:
        fields = json.loads(line)
        if not isinstance(fields, dict):
            raise ValueError("no object")
    except ValueError as error:
        return {"id": None, **failure(error, "request")}
    word = fields.get("do")
    if word == "end":
        return None
    work: Callable[[Request], Answer] | None = getattr(device, f"do_{word}", None)
    if work is None:
        known = sorted(name[3:] for name in dir(device) if name.startswith("do_"))
        message = f"{word!r} is no request that this device knows; it knows {', '.join(known)}"
        return {"id": fields.get("id"), "outcome": "unsupported", "error": {"stage": "request", "message": message}}
    beats.begin(fields.get("id"))
    try:
        answer = work(Request(fields, data.map(fields.get("data") or "")))
    except Exception as error:
        answer = failure(error, "call")
    finally:
        beats.end()
    return {"id": fields.get("id"), **answer}


def serve(make: Callable[[], Any]) -> None:
    """Makes the device, says hello and answers requests until the end of input.

    The device has `hello` (a dict) and a method `do_WORD(request)` for each word it knows, `do_run` at least; `close()`
    where it has something to give back. It is made here, when whatever a library prints is no longer an answer.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the client, which lets running cases end
    pipes = _Pipes()
    device = make()
    try:
        pipes.write({"protocol": PROTOCOL, "hello": device.hello})
        data, beats = DataFile(), _Beats(pipes)
        for line in pipes.requests:
            if not line.strip():
                continue
            answer = _answer(device, line, data, beats)
            if answer is None:
                break
            pipes.write(answer)
    except BrokenPipeError:
        pass  # the client is gone: so are we
    finally:
        # Whatever hangs from here on, in a library's C++ or its destructors, the kernel ends it.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(END_SECONDS)
        close = getattr(device, "close", None)
        if close is not None:
            close()
