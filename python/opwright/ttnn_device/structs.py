"""Structs and enums of a trace -> the library's, by name: the constructor's own signature says what its fields want."""

from __future__ import annotations

import enum
import functools
import re
from types import ModuleType
from typing import Any

import ttnn


class Unsupported(Exception):
    """A recorded value that cannot be made again. `argument` is filled in by whoever knows its name."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.argument = ""


@functools.cache
def library_types() -> dict[str, Any]:
    """Every class of the library by its short name; those that `ttnn` itself shows come first."""
    found: dict[str, Any] = {}
    seen: set[str] = set()

    def walk(module: ModuleType) -> None:
        if module.__name__ in seen:
            return
        seen.add(module.__name__)
        for name, value in vars(module).items():
            if isinstance(value, type):
                found.setdefault(name, value)
            elif isinstance(value, ModuleType) and value.__name__.startswith("ttnn._ttnn"):
                walk(value)

    for name, value in vars(ttnn).items():
        if isinstance(value, type):
            found[name] = value
    walk(ttnn._ttnn)
    return found


def class_named(name: str) -> Any:
    cls = library_types().get(name.rpartition(".")[2].rpartition("::")[2])
    if cls is None:
        raise Unsupported(f"ttnn {version()} has no {name}")
    return cls


def version() -> str:
    from opwright._facts import version_of

    return version_of("ttnn") or "of unknown version"


def enum_member(kind: str, name: str) -> Any:
    if not kind:
        return _member_of_any(name)
    cls = class_named(kind)
    try:
        return getattr(cls, name)
    except AttributeError:
        raise Unsupported(f"ttnn {version()} has no {kind}.{name}") from None


def _member_of_any(name: str) -> Any:
    """A member of which the trace does not say the enum, where only one enum has such a member."""
    enums = {cls for cls in library_types().values() if issubclass(cls, enum.Enum) and name in cls.__members__}
    if len(enums) != 1:
        raise Unsupported(
            f"{name}, of which the trace lost the enum; {len(enums)} enums of the library have such a member"
        )
    return enums.pop()[name]


@functools.cache
def _wanted(cls: Any) -> dict[str, str]:
    """Parameters of the constructor and their types, as its documentation writes them: `bool`, `CoreCoord | None`."""
    parameters: dict[str, str] = {}
    for signature in re.findall(r"^__init__\((.*)\) -> None", cls.__init__.__doc__ or "", re.M):
        depth, part, parts = 0, "", []
        for letter in signature:
            depth += (letter in "([{") - (letter in ")]}")
            if letter == "," and depth == 0:
                parts.append(part)
                part = ""
            else:
                part += letter
        for text in (*parts, part):
            name, colon, kind = text.strip().partition(":")
            if colon:
                parameters.setdefault(name, kind.split(" = ")[0].strip())
    return parameters


def core_coord(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return ttnn.CoreCoord(*value)
    return value


def core_range_set(ranges: Any) -> Any:
    """From corners [x0, y0, x1, y1], or from ranges that were made already. Their order is kept."""
    made = []
    for one in ranges:
        if isinstance(one, (list, tuple)) and len(one) == 4:
            one = ttnn.CoreRange(ttnn.CoreCoord(one[0], one[1]), ttnn.CoreCoord(one[2], one[3]))
        elif isinstance(one, (list, tuple)) and len(one) == 2:
            one = ttnn.CoreRange(core_coord(one[0]), core_coord(one[1]))
        made.append(one)
    return ttnn.CoreRangeSet(made)


def unary(op_type: Any, params: Any = ()) -> Any:
    """A fused function. A number as its type means another function in another version of the library."""
    if isinstance(op_type, str):
        op_type = enum_member("UnaryOpType", op_type.rpartition(".")[2].rpartition("::")[2].upper())
    if not isinstance(op_type, enum.Enum):
        raise Unsupported(f"a fused function of which the trace lost the name: it is number {op_type!r} of an enum")
    if not isinstance(params, (list, tuple)):
        params = [params]
    try:
        return ttnn.UnaryWithParam(op_type, *(float(param) for param in params))
    except TypeError as error:
        raise Unsupported(f"a fused function {op_type.name} with parameters {params!r}") from error


def _fitted(value: Any, wanted: str) -> Any:
    """A field as the constructor wants it. Traces write flags as 0 and 1, coordinates as pairs, functions as names."""
    if wanted.startswith("bool") and value in (0, 1):
        return bool(value)
    if "CoreCoord" in wanted:
        return core_coord(value)
    if "CoreRangeSet" in wanted and isinstance(value, list):
        return core_range_set(value)
    if "UnaryWithParam" in wanted and value is not None:
        if isinstance(value, dict):
            return unary(value.get("op_type"), value.get("param", value.get("params", ())))
        if isinstance(value, (str, enum.Enum)):
            return unary(value)
    if isinstance(value, str) and (kind := re.match(r"[\w.]*?(\w+)(?: \||$)", wanted)) and kind[1] != "str":
        cls = library_types().get(kind[1])
        if cls is not None and issubclass(cls, enum.Enum):
            return enum_member(kind[1], value.rpartition(".")[2].rpartition("::")[2])
    return value


def construct(kind: str, fields: dict[str, Any]) -> Any:
    """An object of the library from named fields. A field that this version does not know is not left out in silence,
    unless it is none: then nothing was asked for."""
    cls = class_named(kind)
    wanted = _wanted(cls)
    unknown = [name for name, value in fields.items() if name not in wanted and value is not None]
    if unknown:
        raise Unsupported(f"{kind} of ttnn {version()} cannot be made with {', '.join(unknown)}")
    made = {name: _fitted(value, wanted[name]) for name, value in fields.items() if name in wanted}
    # None for a parameter that cannot be none was printed for "not set".
    made = {name: value for name, value in made.items() if value is not None or "None" in wanted[name]}
    try:
        return cls(**made)
    except TypeError as error:
        raise Unsupported(f"a {kind} that ttnn {version()} does not take: {str(error).strip()[:500]}") from error
