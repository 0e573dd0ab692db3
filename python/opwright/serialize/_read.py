"""JSON -> objects."""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
import sys
from pathlib import Path
from typing import Any, NamedTuple

from opwright.serialize import _library
from opwright.serialize._write import MAX_DEPTH


class Problem(NamedTuple):
    """A value that could not be made again and stays the dict that it is."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class _CannotMake(Exception):
    pass


class _TooDeep(ValueError):
    """Of the whole text, and not of the value that it was found in."""


#: Placeholders by design: of a tensor the spec is all that there is.
_REFERENCES = {"ttnn.TensorRef", "torch.TensorRef", "numpy.ArrayRef"}


def from_jsonable(
    obj: Any, mesh_device: Any = None, *, problems: list[Problem] | None = None, may_import: bool = False
) -> Any:
    """What `to_jsonable` was given, or the existing serializer.

    `mesh_device` takes the place of every device. What cannot be made (a class that the installed ttnn does not have, a
    shard spec without its grid) stays a dict, and is added to `problems`.

    Dataclasses and enums are looked for in modules that the program has imported. `may_import` lets the text name
    others: an import runs code, so say it only for files that you trust.

    >>> from_jsonable({"__type__": "tuple", "items": [1, 32]})
    (1, 32)
    """
    return _Reader(mesh_device, problems if problems is not None else [], may_import).read(obj, "$", 0)


class _Reader:
    def __init__(self, mesh_device: Any, problems: list[Problem], may_import: bool) -> None:
        self._device = mesh_device
        self._problems = problems
        self._may_import = may_import

    def read(self, obj: Any, path: str, depth: int) -> Any:
        if depth > 2 * MAX_DEPTH:
            raise _TooDeep(f"nested more than {2 * MAX_DEPTH} deep at {path[:200]}")
        if isinstance(obj, list):
            return [self.read(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(obj)]
        if not isinstance(obj, dict):
            return obj
        kind = obj.get("__enum__", obj.get("__type__"))
        if not isinstance(kind, str) or not kind:
            return self._entries(obj, path, depth)
        try:
            return self._typed(kind, obj, path, depth)
        except _CannotMake as reason:
            self._problems.append(Problem(path, str(reason)))
            return obj

    def _entries(self, obj: dict[str, Any], path: str, depth: int) -> dict[str, Any]:
        return {key: self.read(item, f"{path}.{key}", depth + 1) for key, item in obj.items()}

    def _typed(self, kind: str, obj: dict[str, Any], path: str, depth: int) -> Any:
        if "__enum__" in obj:
            return self._enum(kind, obj)
        if kind in _REFERENCES:
            return obj
        if kind == "ttnn.MeshDevice":
            if self._device is None:
                raise _CannotMake("a device; from_jsonable(…, mesh_device=…) gives one")
            return self._device
        if kind in _PLAIN:
            try:
                return _PLAIN[kind](self, obj, path, depth)
            except _TooDeep:
                raise
            except (KeyError, TypeError, ValueError) as error:
                raise _CannotMake(f"no {kind}: {type(error).__name__}: {error}") from error
        if kind == "cycle":
            raise _CannotMake(f"the value at {obj.get('path')!r} again, which contains this one"[:300])
        if kind == "repr":
            return self._from_text(str(obj.get("value", "")))
        if kind.partition(".")[0] == "ttnn" and "fields" not in obj:
            return self._library_object(kind, obj, path, depth)
        return self._dataclass(kind, obj, path, depth)

    def _items(self, obj: dict[str, Any], path: str, depth: int) -> list[Any]:
        if not isinstance(obj["items"], list):
            raise TypeError("items are no list")
        made: list[Any] = self.read(obj["items"], path, depth + 1)
        return made

    def _pairs(self, obj: dict[str, Any], path: str, depth: int) -> dict[Any, Any]:
        return {key: value for key, value in self._items(obj, path, depth)}

    # ------------------------------------------------------------------------------------------------- classes by name

    def _find(self, name: str) -> Any:
        """`module.Class` or `module.Class.Inner`."""
        module = name
        while (module := module.rpartition(".")[0]) != "":
            found = sys.modules.get(module)
            if found is None and self._may_import:
                try:
                    found = importlib.import_module(module)
                except ImportError:
                    continue
            if found is None:
                continue
            for part in name[len(module) + 1 :].split("."):
                found = getattr(found, part, None)
            if found is not None:
                return found
        hint = "" if self._may_import else "; import its module first, or pass may_import=True"
        raise _CannotMake(f"there is no {name} in this program{hint}")

    def _enum(self, kind: str, obj: dict[str, Any]) -> Any:
        if kind.partition(".")[0] == "ttnn":
            return self._of_library(lambda: _library_enum(kind, obj))
        cls = self._find(kind)
        if not (isinstance(cls, type) and issubclass(cls, enum.Enum)):
            raise _CannotMake(f"{kind} is no enum")
        try:
            return cls[obj["name"]] if "name" in obj else cls(obj["value"])
        except (KeyError, ValueError, TypeError) as error:
            raise _CannotMake(f"{kind} has no {obj.get('name', obj.get('value'))!r}") from error

    def _dataclass(self, kind: str, obj: dict[str, Any], path: str, depth: int) -> Any:
        cls = self._find(kind)
        # Any other class could do anything with what a file says.
        if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields") and "items" in obj:
            return cls._make(self._items(obj, path, depth))
        if isinstance(cls, type) and "ProgramConfig" in cls.__name__ and "fields" not in obj:
            return self._program_config(cls, obj, path, depth)
        if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
            raise _CannotMake(f"{kind} is no dataclass")
        given = obj.get("fields", {})
        if not isinstance(given, dict):
            raise _CannotMake(f"the fields of a {kind} are no object")
        values = self._entries(given, path, depth)
        later = {field.name for field in dataclasses.fields(cls) if not field.init}
        try:
            made = cls(**{name: value for name, value in values.items() if name not in later})
            for name in later & values.keys():
                object.__setattr__(made, name, values[name])
        except Exception as error:
            raise _CannotMake(f"a {kind} that cannot be made: {type(error).__name__}: {error}"[:500]) from error
        return made

    def _program_config(self, cls: type, obj: dict[str, Any], path: str, depth: int) -> Any:
        """Of a class of the program: made of its attributes, else they are set."""
        values = self._entries({name: item for name, item in obj.items() if name != "__type__"}, path, depth)
        try:
            return cls(**values)
        except Exception:  # noqa: BLE001 (whatever its constructor wants)
            try:
                made = object.__new__(cls)
                for name, value in values.items():
                    setattr(made, name, value)
            except (TypeError, AttributeError) as error:
                raise _CannotMake(f"a {cls.__name__} that cannot be made: {error}"[:500]) from error
            return made

    # ------------------------------------------------------------------------------------------- objects of the library

    def _library_object(self, kind: str, obj: dict[str, Any], path: str, depth: int) -> Any:
        if kind == "ttnn.MemoryConfig":
            return self._of_library(lambda: _library.memory_config(obj))
        before = len(self._problems)
        fields = self._entries({name: item for name, item in obj.items() if name != "__type__"}, path, depth)
        if len(self._problems) > before:
            raise _CannotMake("a part of it cannot be made")
        return self._of_library(lambda: _library.construct(kind, fields, self._device))

    def _from_text(self, text: str) -> Any:
        """Objects of the library often print what they are made of. Other texts stay texts."""
        if "ttnn" not in sys.modules and "ttnn" not in text:
            raise _CannotMake(f"only known as {text!r}"[:300])
        try:
            return self._of_library(lambda: _library.from_text(text))
        except _CannotMake as reason:
            raise _CannotMake(f"only known as {text!r}: {reason}"[:500]) from reason

    def _of_library(self, make: Any) -> Any:
        try:
            import ttnn  # noqa: F401
        except ImportError as error:
            raise _CannotMake("ttnn is not installed here") from error
        try:
            return make()
        except Exception as error:  # of the library, or of a text that is no object
            raise _CannotMake(f"{str(error).strip() or type(error).__name__}"[:500]) from error


def _library_enum(kind: str, obj: dict[str, Any]) -> Any:
    from opwright.ttnn_device import classes

    if "name" in obj:
        return classes.enum_member(kind, obj["name"], kind.rpartition(".")[0])
    return classes.class_named(kind)(obj["value"])


def _torch_dtype(obj: dict[str, Any]) -> Any:
    torch = sys.modules.get("torch") or importlib.import_module("torch")
    found = getattr(torch, str(obj["value"]).rpartition(".")[2], None)
    if not isinstance(found, torch.dtype):
        raise ValueError(f"torch has no {obj['value']}")
    return found


_PLAIN: dict[str, Any] = {
    "path": lambda reader, obj, path, depth: Path(obj["value"]),
    "tuple": lambda reader, obj, path, depth: tuple(reader._items(obj, path, depth)),
    "set": lambda reader, obj, path, depth: set(reader._items(obj, path, depth)),
    "frozenset": lambda reader, obj, path, depth: frozenset(reader._items(obj, path, depth)),
    "dict": lambda reader, obj, path, depth: reader._pairs(obj, path, depth),
    "slice": lambda reader, obj, path, depth: slice(*reader._items(obj, path, depth)),
    "range": lambda reader, obj, path, depth: range(*reader._items(obj, path, depth)),
    "float": lambda reader, obj, path, depth: float(obj["value"]),
    "complex": lambda reader, obj, path, depth: complex(obj["value"]),
    "bytes": lambda reader, obj, path, depth: base64.b64decode(obj["value"], validate=True),
    "torch.dtype": lambda reader, obj, path, depth: _torch_dtype(obj),
}
