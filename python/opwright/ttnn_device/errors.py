"""What the library raised -> outcome and evidence: the failed condition, where it stands, what it says."""

from __future__ import annotations

import re
from typing import Any

#: `TT_FATAL @ /some/where/ttnn/cpp/x.cpp:42: condition`, then `info:` and the message, then a backtrace.
_FATAL = re.compile(r"(TT_FATAL|TT_THROW|TT_ASSERT) @ ([^:]+):(\d+): (.*)")
_IN_SOURCES = re.compile(r".*?/((?:ttnn|tt_metal)/.*)")  # without where it was built
_OUT_OF_MEMORY = re.compile(
    r"Out of Memory|[Nn]ot enough space|beyond max L1 size|clash with L1 buffers|circular buffers? in program|"
    r"bad_alloc|exceeds? (?:the )?(?:available|max(?:imum)?) L1"
)
#: Thrown like a refused argument, but about the machine: chips that do not answer, kernels that do not compile.
_MACHINE = re.compile(
    r"Timeout|[Tt]imed out|[Ww]atcher|hung|0xffffffff|build failed|Failed to (?:compile|generate binaries|initialize)|"
    r"sfpi not found|ARC|ethernet core"
)
_LONGEST = 4000


def record_of(error: BaseException, stage: str) -> dict[str, Any]:
    text = str(error).strip()
    record: dict[str, Any] = {"type": type(error).__name__, "stage": stage}
    found = _FATAL.search(text)
    if found:
        file = _IN_SOURCES.sub(r"\1", found[2])
        record.update(kind=found[1], file=file, line=int(found[3]), condition=found[4].strip())
        text = text.split("info:\n", 1)[-1].split("\nbacktrace:", 1)[0].strip()
    elif place := _python_place(error):
        record["file"], record["line"] = place
    record["message"] = text if len(text) <= _LONGEST else text[:_LONGEST] + "… (cut)"
    return record


def _python_place(error: BaseException) -> tuple[str, int] | None:
    """Where the library's Python part raised it. What comes from below shows as the line that calls down: no place."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    if frame is None:
        return None
    _, found, path = frame.tb_frame.f_code.co_filename.rpartition("/site-packages/")
    if not found or not path.startswith("ttnn/") or path == "ttnn/decorators.py":
        return None
    return path, frame.tb_lineno


def outcome_of(error: BaseException) -> str:
    text = str(error)
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(text):
        return "out_of_memory"
    if _FATAL.search(text):
        # The condition and the message, not the backtrace, which names everything.
        return "error" if _MACHINE.search(text.split("\nbacktrace:", 1)[0]) else "refused"
    # The bindings know no such signature; the library's Python part refuses with these.
    if isinstance(error, (TypeError, ValueError, AssertionError, NotImplementedError)):
        return "refused"
    return "error"


def answer(error: BaseException, stage: str) -> dict[str, Any]:
    return {"outcome": outcome_of(error), "error": record_of(error, stage)}
