"""The library's classes and enums, found by the names that traces have."""

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


def version() -> str:
    from opwright._facts import version_of

    return version_of("ttnn") or "of unknown version"


@functools.cache
def library_classes() -> dict[str, tuple[Any, ...]]:
    """Every class of the library by its short name, also those inside of other classes. Of several with one name those
    that `ttnn` itself shows come first."""
    found: dict[str, dict[Any, None]] = {}
    seen: set[str] = set()

    def add(cls: Any) -> None:
        if (cls.__module__ or "").partition(".")[0] != "ttnn" or cls in found.setdefault(cls.__name__, {}):
            return
        found[cls.__name__][cls] = None
        for value in vars(cls).values():
            if isinstance(value, type):
                add(value)

    def walk(module: ModuleType) -> None:
        if module.__name__ in seen:
            return
        seen.add(module.__name__)
        for value in list(vars(module).values()):
            if isinstance(value, type):
                add(value)
            elif isinstance(value, ModuleType) and value.__name__.startswith("ttnn._ttnn"):
                walk(value)

    for value in list(vars(ttnn).values()):
        if isinstance(value, type):
            add(value)
    walk(ttnn._ttnn)
    return {name: tuple(classes) for name, classes in found.items() if classes}


def _last(name: str) -> str:
    return name.rpartition(".")[2].rpartition("::")[2]


def full_name(cls: Any) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def find_class(name: str, near: str = "") -> Any:
    """The class of that name (`CoreCoord`, `ttnn._ttnn.tensor.CoreCoord`), or None. Of several the one with that full
    name, else the one of the module `near`: experimental families have classes of their own under common names."""
    candidates = library_classes().get(_last(name), ())
    for cls in candidates:
        if full_name(cls) == name:
            return cls
    for cls in candidates:
        if near and cls.__module__ == near:
            return cls
    return candidates[0] if candidates else None


def class_named(name: str, near: str = "") -> Any:
    cls = find_class(name, near)
    if cls is None:
        raise Unsupported(f"ttnn {version()} has no {name}")
    return cls


# --------------------------------------------------------------------------------------------------------------- enums


def _words(name: str) -> list[str]:
    """`DRAM_HEIGHT` and `DRAMHeight` -> dram, height"""
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def _is_spread_in(words: list[str], others: list[str]) -> bool:
    rest = iter(others)
    return all(word in rest for word in words)


def _find_enum(kind: str, near: str) -> Any:
    """C++ and Python may call an enum otherwise: `SliceType` is `Op2DSliceConfig.SliceTypeEnum`."""
    kind = _last(kind)
    for name in (kind, f"{kind}Enum", kind.removesuffix("Enum")):
        cls = find_class(name, near)
        if cls is not None and issubclass(cls, enum.Enum):
            return cls
    return None


def _find_member(cls: Any, name: str) -> Any:
    """The member of that name; else the only one that has its words: `L1_FULL` is `L1Full`, `DRAM_HEIGHT` is
    `DRAMSliceHeight`."""
    members = cls.__members__
    if name in members:
        return members[name]
    for is_it in (
        lambda other: "".join(_words(other)) == "".join(_words(name)),
        lambda other: _is_spread_in(_words(name), _words(other)),
    ):
        found = {member for other, member in members.items() if is_it(other)}
        if len(found) == 1:
            return found.pop()
    return None


def enum_member(kind: str, name: str, near: str = "") -> Any:
    if not kind:
        return _member_of_any(name)
    cls = _find_enum(kind, near)
    if cls is None:
        raise Unsupported(f"ttnn {version()} has no {kind}")
    member = _find_member(cls, _last(name))
    if member is None:
        raise Unsupported(f"ttnn {version()} has no {kind}.{name}")
    return member


def _member_of_any(name: str) -> Any:
    """A member of which the trace does not say the enum, where only one enum has such a member."""
    shown = [classes[0] for classes in library_classes().values()]
    enums = {cls for cls in shown if issubclass(cls, enum.Enum) and name in cls.__members__}
    if len(enums) != 1:
        raise Unsupported(
            f"{name}, of which the trace lost the enum; {len(enums)} enums of the library have such a member"
        )
    return enums.pop()[name]
