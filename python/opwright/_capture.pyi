"""The compiled recorder. One trace a process; see docs/formats/native-trace.md for what it writes."""

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, Literal, overload

Fact = str | int | float | bool | None | list["Fact"] | tuple["Fact", ...] | dict[str, "Fact"]

def start(folder: str, options: dict[str, str]) -> str:
    """Opens the trace file of this process in `folder` and returns its path; OSError says what is wrong."""

def active() -> bool: ...
def path() -> str | None: ...
def stop() -> dict[str, int]:
    """Closes the trace; the counters of the run: calls, errors, calls_filtered, calls_lost, …"""

def counters() -> dict[str, int]:
    """The counters as they are now."""

def trouble() -> str | None:
    """Why recording could not go on after the trace file was lost; None when it could."""

def flush() -> None: ...
def set_context(kind: Literal["test", "phase", "label"], text: str | None) -> None:
    """`test` holds for the process, `phase` and `label` for the thread."""

def fact(name: str, value: Fact) -> None: ...
@overload
def masked(value: str) -> str: ...
@overload
def masked(value: Sequence[str]) -> list[str]:
    """A text, or a command line as words, with its secrets masked (docs/formats/text.md)."""

def test_result(id: str, outcome: str, seconds: float) -> None: ...
def note(kind: str, text: str) -> None: ...

# For the hook of a library:

def set_describe(module: ModuleType) -> None:
    """The module that tells how to read objects of the library."""

def call_operation(
    operation: Any, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None, is_slow: bool
) -> Any: ...
def call_function(
    name: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any: ...
def call_direct(
    name: str, original: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None, self: Any
) -> Any:
    """Like call_function, unless a call of the library runs: then it is part of that one. `self` is passed, not recorded."""

def release() -> None:
    """Drops every Python object that the module holds."""
