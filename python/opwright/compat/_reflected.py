"""What C++ prints of a value, where it is nearly JSON: elements of era-1 masters that their writer could not parse.

    {"arg0": {"Tensor":{"shard_spec":{"grid":[{"x":0,"y":0} - {"x":7,"y":7}], …}}}}
    {"arg2": {"MeshDevice":{ptr}}}
    {"arg9": "ttnn.{"x":8, "y":8}"}

A range becomes a list of its two ends, a set in braces a list, a word without quotes a text. Numbers stay numbers.
"""

from __future__ import annotations

import ast
import re
from typing import Any

_WORD = re.compile(r"[^,{}\[\]\"]+")
_OBJECT = re.compile(r'\{\s*(\}|("[^"]*"|\w+)\s*:(?!:))')
_DOUBLED = re.compile(r'""([^"]+)""')
_NAME = re.compile(r"\w+")
_DEEPEST = 60


def parse(text: str) -> Any:
    """ValueError where it is no such text."""
    reader = _Reader(text)
    value = reader.value(0)
    reader.blanks()
    if reader.at != len(text):
        raise ValueError(f"it goes on after its end, at {reader.at}")
    return value


def literal(text: str) -> Any:
    """A list that is written as text, of Python or of C++: `[{'tensor_spec': …}]`, `[0, 2, 3, 1]`, `{32, 32}`."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return parse(text)


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def blanks(self) -> None:
        while self.at < len(self._text) and self._text[self.at].isspace():
            self.at += 1

    def _next(self) -> str:
        self.blanks()
        return self._text[self.at] if self.at < len(self._text) else ""

    def value(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise ValueError("it is nested too deep")
        first = self._next()
        if first == '"':
            return self._string()
        if first == "[":
            return self._items("]", depth)
        if first == "{":
            return self._braces(depth)
        found = _WORD.match(self._text, self.at)
        if found is None:
            raise ValueError(f"no value at {self.at}")
        self.at = found.end()
        if self._next() == "{":  # BasicUnaryWithParam<float>{"op_type": …}
            return {found[0].strip(): self.value(depth + 1)}
        return _number_or_text(found[0].strip())

    def _string(self) -> str:
        """Quotes inside of braces belong to the text: "ttnn.{"x":8, "y":8}"; so do doubled ones: ""silu""."""
        if (doubled := _DOUBLED.match(self._text, self.at)) is not None:
            self.at = doubled.end()
            return str(doubled[1])
        open_braces = 0
        for end in range(self.at + 1, len(self._text)):
            char = self._text[end]
            open_braces += (char == "{") - (char == "}")
            if char == '"' and open_braces <= 0:
                text = self._text[self.at + 1 : end]
                self.at = end + 1
                return text
        raise ValueError("a text without an end")

    def _items(self, end: str, depth: int) -> list[Any]:
        self.at += 1
        items: list[Any] = []
        while self._next() != end:
            if items:
                self._take(",")
            items.append(self.value(depth + 1))
            if self._next() == "-":  # a range of cores
                self.at += 1
                items.append(self.value(depth + 1))
        self._take(end)
        return items

    def _braces(self, depth: int) -> Any:
        if not _OBJECT.match(self._text, self.at):
            items = self._items("}", depth)
            return items[0] if len(items) == 1 and isinstance(items[0], str) else items  # {ptr}
        self.at += 1
        fields: dict[str, Any] = {}
        name = ""
        while self._next() != "}":
            if fields:
                self._take(",")
                if self._next().isdigit():  # "compute_grid":8,8
                    fields[name] = [fields[name], self.value(depth + 1)]
                    continue
            name = self._string() if self._next() == '"' else self._name()
            self._take(":")
            fields[name] = self.value(depth + 1)
        self._take("}")
        return fields

    def _name(self) -> str:
        found = _NAME.match(self._text, self.at)
        if found is None:
            raise ValueError(f"no name at {self.at}")
        self.at = found.end()
        return found[0]

    def _take(self, wanted: str) -> None:
        if self._next() != wanted:
            raise ValueError(f"{wanted} is missing at {self.at}")
        self.at += 1


def _number_or_text(word: str) -> Any:
    if re.fullmatch(r"-?\d+", word):
        return int(word)
    if re.fullmatch(r"-?\d+\.\d*(e[-+]?\d+)?|-?\d+e[-+]?\d+", word):
        return float(word)
    return word
