"""A case of the suite: a call for `opwright reference`, and the same thing written down with PyTorch.

Formulas are written from the definition of the operator, not from our reference. They get the tensors of the call in its
order, in double precision, and give one tensor an output.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

try:
    import torch
except ImportError:  # digests need none
    torch = None

DRAM = "memory(DRAM INTERLEAVED)"
ANYTHING = 1.2345e300  # in what a formula gives: the operator promises nothing here
Formula = Callable[..., Any]


class Word(str):
    """Text that stands in a case line as it is: tensors, enums."""


@dataclass
class Case:
    op: str
    about: str  # the parameter, or the property of the data, that it is about
    line: str
    formula: Formula
    seed: int = 1
    given: dict[int, list[float]] = field(default_factory=dict)  # values instead of the seeded ones, by tensor
    tolerance: float = 1e-12

    def request(self) -> str:
        import struct

        message: dict[str, Any] = {"case": self.line, "seed": str(self.seed)}
        if self.given:
            message["inputs"] = {
                str(place): struct.pack(f"<{len(values)}d", *values).hex() for place, values in self.given.items()
            }
        return json.dumps(message)


def text(value: Any) -> str:
    if isinstance(value, Word):
        return str(value)
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(text(item) for item in value) + "]"
    if isinstance(value, str):
        return json.dumps(value)
    return repr(value)


def tensor(shape: list[int] | tuple[int, ...], dtype: str = "FLOAT32", layout: str = "TILE", memory: str = DRAM) -> Word:
    return Word(f"tensor([{','.join(map(str, shape))}] {dtype} {layout} DEVICE {memory})")


def host(shape: list[int], dtype: str = "FLOAT32") -> Word:
    return Word(f"tensor([{','.join(map(str, shape))}] {dtype} ROW_MAJOR HOST {DRAM})")


def call(op: str, *args: Any, **named: Any) -> str:
    parts = [text(arg) for arg in args] + [f"{name}={text(value)}" for name, value in named.items()]
    return f"{op}({', '.join(parts)})"


class Cases:
    """Collects them; seeds are counted, so that a case keeps its data when others are added behind it."""

    def __init__(self, name: str) -> None:
        self.random = random.Random(name)
        self.seed = 0
        self.list: list[Case] = []

    def add(self, op: str, about: str, line: str, formula: Formula, times: int = 1, **more: Any) -> None:
        for _ in range(times):
            self.seed += 1
            self.list.append(Case(op, about, line, formula, self.seed, **more))

    def __iter__(self) -> Iterator[Case]:
        return iter(self.list)


def volume(shape: list[int] | tuple[int, ...]) -> int:
    out = 1
    for n in shape:
        out *= n
    return out


# Shapes with ones, of odd sizes, of every rank.
SHAPES = [[1], [7], [33], [1, 1], [3, 5], [32, 32], [1, 31, 1], [2, 3, 17], [1, 1, 32, 64], [2, 1, 33, 5], [1, 2, 3, 1]]
