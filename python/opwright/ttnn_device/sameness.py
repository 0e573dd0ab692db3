"""Whether two objects of the library say the same: most of its classes cannot be compared."""

from __future__ import annotations

import enum
import functools
import math
from typing import Any

import ttnn


@functools.cache
def readable(cls: Any) -> tuple[str, ...]:
    """The properties that a class shows, in the order of their definition."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if not name.startswith("_") and hasattr(value, "__get__") and not callable(value):
                names[name] = None
    return tuple(names)


def same(a: Any, b: Any) -> bool:
    """Whether two values say the same. Objects of the library that cannot be compared are compared by their members."""
    if isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return a is b or (isinstance(a, int) and isinstance(b, int) and a == b)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        # The library holds floats of 32 bits.
        return a == b or math.isclose(a, b, rel_tol=1e-6) or (math.isnan(a) and math.isnan(b))
    if isinstance(a, (str, enum.Enum)) or isinstance(b, (str, enum.Enum)):
        return bool(a == b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, ttnn.Tensor) or isinstance(b, ttnn.Tensor):  # to compare them would be an operation
        return isinstance(a, ttnn.Tensor) and isinstance(b, ttnn.Tensor) and bool(a.spec == b.spec)
    listed = _members(a), _members(b)
    if listed[0] is not None and listed[1] is not None:
        return len(listed[0]) == len(listed[1]) and all(same(x, y) for x, y in zip(*listed, strict=True))
    if type(a) is not type(b):
        return False
    if type(a).__eq__ is not object.__eq__:
        return bool(a == b)
    names = readable(type(a))
    return bool(names) and all(same(getattr(a, name), getattr(b, name)) for name in names)


def _members(value: Any) -> list[Any] | None:
    """Of a list, or of an object of the library that is one (Shape, MeshCoordinate). Not of one that has an index alone:
    the library may read beyond its end."""
    is_list = hasattr(type(value), "__iter__") and not isinstance(value, (str, bytes, dict))
    return list(value) if is_list else None
