"""Objects of the library from the text that they print: `MeshCoordinateRange(start=MeshCoordinate([0, 1]), …)`.

Some classes show nothing else, and the existing serializer keeps nothing else of most.
"""

from __future__ import annotations

import re
from typing import Any

_TOKENS = re.compile(
    r"\s*(?:(?P<pair>\d+-\d+)(?![\w.])|(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w.])"
    r"|(?P<name>[A-Za-z_][\w.]*(?:::[\w.]+)*)|(?P<text>'[^'\\]*'|\"[^\"\\]*\")|(?P<sign>[()\[\]{},:=<>-]))"
)
_CONSTANTS = {
    **dict.fromkeys(("None", "nullopt", "std::nullopt")),
    **dict.fromkeys(("True", "true"), True),
    **dict.fromkeys(("False", "false"), False),
}


class NotAnObject(ValueError):
    """A text that is none of an object of the library."""


def parse(text: str) -> Any:
    """The object; NotAnObject, or what its class says of it."""
    parser = _Parser(_tokens(text))
    made = parser.value(0)
    if parser.rest():
        raise NotAnObject("it goes on after its end")
    return made


def names(text: str) -> set[str]:
    """Of the members that an object prints: `CoreGrid(x=8, y=7)` -> x, y."""
    try:
        tokens = _tokens(text)
    except NotAnObject:
        return set()
    found: set[str] = set()
    depth = 0
    for (_, one), (_, following) in zip(tokens, tokens[1:], strict=False):
        depth += (one in "([{") - (one in ")]}")
        if depth == 1 and following in ("=", ":"):
            found.add(one)
    return found


def _tokens(text: str) -> list[tuple[str, str]]:
    if len(text) > 1 << 20:
        raise NotAnObject("it is too long")
    tokens: list[tuple[str, str]] = []
    at = 0
    while at < len(text.rstrip()):
        found = _TOKENS.match(text, at)
        if found is None:
            raise NotAnObject(f"{text[at : at + 20]!r} at {at}")
        tokens.append((str(found.lastgroup), str(found[found.lastgroup or 0])))
        at = found.end()
    return tokens


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    def rest(self) -> int:
        return len(self._tokens) - self._at

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][1] if at < len(self._tokens) else ""

    def _take(self, wanted: str = "") -> tuple[str, str]:
        if not self.rest() or (wanted and self._peek() != wanted):
            raise NotAnObject(f"{wanted or 'more'} is missing")
        self._at += 1
        return self._tokens[self._at - 1]

    def value(self, depth: int) -> Any:
        if depth > 50:
            raise NotAnObject("it is nested too deep")
        kind, text = self._take()
        if kind == "number":
            return float(text) if re.search(r"[.eE]", text) else int(text)
        if kind == "pair":  # a core: 8-7
            return [int(part) for part in text.split("-")]
        if kind == "text":
            return text[1:-1]
        if kind == "name":
            if text in _CONSTANTS:
                return _CONSTANTS[text]
            return self._object(text, depth) if self._peek() == "(" else _member(text)
        if text == "[":
            return self._list("]", depth)
        if text == "(" and self._peek(1) == "=":  # (x=8,y=7)
            return self._members(depth)[0]
        if text in "{(":
            return self._list("}" if text == "{" else ")", depth)
        if text == "<":  # <DataType.BFLOAT16: 0>
            member = _member(self._take()[1])
            self._take(":")
            self._take()
            self._take(">")
            return member
        raise NotAnObject(f"{text!r} is no value")

    def _list(self, end: str, depth: int) -> list[Any]:
        items: list[Any] = []
        while self._peek() != end:
            if items:
                self._take(",")
            items.append(self.value(depth + 1))
            if self._peek() == "-":  # a range of cores: [0-0 - 7-7]
                self._take()
                items = [*items.pop(), *self.value(depth + 1)]
                break
        self._take(end)
        return items

    def _object(self, name: str, depth: int) -> Any:
        from opwright.ttnn_device import structs

        self._take("(")
        fields, items = self._members(depth)
        return structs.construct(name, fields, items)

    def _members(self, depth: int) -> tuple[dict[str, Any], list[Any]]:
        """Up to the closing bracket: those with a name, and the others."""
        fields: dict[str, Any] = {}
        items: list[Any] = []
        while self._peek() != ")":
            if items or fields:
                self._take(",")
            if self._peek(1) in ("=", ":"):
                member = self._take()[1]
                self._take()
                fields[member] = self.value(depth + 1)
            else:
                items.append(self.value(depth + 1))
        self._take(")")
        return fields, items


def _member(name: str) -> Any:
    """`MathFidelity.HiFi2`"""
    from opwright.ttnn_device import classes

    kind, _, member = name.rpartition(".")
    if not kind:
        raise NotAnObject(f"{name} is no value")
    return classes.enum_member(kind, member)
