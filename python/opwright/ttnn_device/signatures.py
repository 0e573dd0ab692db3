"""What the library's constructors and operations take: their signatures, as the bindings document them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

_OPENING, _CLOSING = "([{<", ")]}>"
#: `__init__(self, x: int) -> None`, as older bindings write it into the documentation.
_DOCUMENTED = re.compile(r"^(?:\d+\. )?\w+\((.*)\) ->", re.M)
_WRITTEN = re.compile(r"^def \w+\((.*)\) ->", re.S)


@dataclass(frozen=True)
class Parameter:
    name: str
    kind: str  # its type, as the bindings write it: `bool`, `ttnn._ttnn.tensor.CoreCoord | None`
    is_required: bool
    by_position: bool = True
    by_name: bool = True

    @property
    def may_be_none(self) -> bool:
        return re.search(r"\bNone\b", self.kind) is not None


Signature = tuple[Parameter, ...]


def _parts(text: str, separator: str = ",") -> Iterator[str]:
    """Splits where no bracket is open: `a: tuple[int, int], b: int`. An arrow closes no bracket."""
    depth, start = 0, 0
    for at, letter in enumerate(text):
        if letter in _OPENING:
            depth += 1
        elif letter in _CLOSING and not (letter == ">" and text[at - 1] == "-"):
            depth -= 1
        elif letter == separator and depth == 0:
            yield text[start:at].strip()
            start = at + 1
    if text[start:].strip():
        yield text[start:].strip()


def parse(parameters: str) -> Signature:
    """`self, *, x: int, y: int | None = None` -> its parameters without self."""
    found: list[Parameter] = []
    by_position = True
    for part in _parts(parameters):
        if part == "*":
            by_position = False
        elif part == "/":
            found = [Parameter(p.name, p.kind, p.is_required, by_name=False) for p in found]
        elif part.startswith("*"):  # *args and **kwargs: nothing is known of what they take
            by_position = False
        else:
            name, _, rest = part.partition(":")
            kind, equals, _ = rest.partition(" = ")
            if name.strip() != "self":
                found.append(Parameter(name.strip(), kind.strip(), not equals, by_position))
    return tuple(found)


@functools.cache
def of_constructor(cls: Any) -> tuple[Signature, ...]:
    return _of(cls.__init__)


def of_operation(operation: Any) -> tuple[Signature, ...]:
    """Of an operation as `ttnn` shows it; () where it does not say (operations written in Python)."""
    function = getattr(operation, "function", operation)
    return _of_type(type(function))


@functools.cache
def _of_type(cls: Any) -> tuple[Signature, ...]:
    return _of(cls.__call__)


def _of(function: Any) -> tuple[Signature, ...]:
    written = getattr(function, "__nb_signature__", None)
    if written:
        texts = [match[1] for one in written if (match := _WRITTEN.match(one[0]))]
    else:
        texts = _DOCUMENTED.findall(function.__doc__ or "")
    return tuple(parse(text) for text in dict.fromkeys(texts))


def inner(kind: str) -> str | None:
    """What a sequence or set holds: `collections.abc.Sequence[int] | None` -> `int`."""
    for choice in choices(kind):
        if match := re.fullmatch(r"[\w.]*(?:Sequence|Iterable|Set|List|list|set)\[(.*)\]", choice, re.S):
            return match[1]
    return None


def choices(kind: str) -> list[str]:
    """`A | None` -> A, None."""
    return list(_parts(kind, "|"))
