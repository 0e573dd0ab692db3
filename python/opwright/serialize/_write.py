"""Objects -> JSON."""

from __future__ import annotations

import base64
import dataclasses
import enum
import json
import math
import re
import sys
from pathlib import PurePath
from typing import Any

from opwright.serialize import _library

#: Deeper nesting is no configuration, and would not be read back.
MAX_DEPTH = 200


def to_jsonable(obj: Any) -> Any:
    """What `json.dumps` takes, and `from_jsonable` makes the object of again.

    A value that contains itself is written once, and named where it comes again:
    `{"__type__": "cycle", "path": "$.a"}`.

    >>> to_jsonable({"shape": (1, 32), "layers": [0, 1]})
    {'shape': {'__type__': 'tuple', 'items': [1, 32]}, 'layers': [0, 1]}
    """
    return _Writer().write(obj, "$")


class _Writer:
    def __init__(self) -> None:
        self._open: dict[int, str] = {}  # objects that are being written, and where

    def write(self, obj: Any, path: str) -> Any:
        if obj is None or type(obj) in (bool, int, str):
            return obj
        if type(obj) is float:
            return obj if math.isfinite(obj) else {"__type__": "float", "value": repr(obj)}
        if id(obj) in self._open:
            return {"__type__": "cycle", "path": self._open[id(obj)]}
        if len(self._open) >= MAX_DEPTH:
            raise ValueError(f"nested more than {MAX_DEPTH} deep at {path}")
        self._open[id(obj)] = path
        try:
            return self._compound(obj, path)
        finally:
            del self._open[id(obj)]

    def _compound(self, obj: Any, path: str) -> Any:
        if isinstance(obj, enum.Enum):
            return _enum(obj)
        if isinstance(obj, PurePath):
            return {"__type__": "path", "value": str(obj)}
        if dataclasses.is_dataclass(obj) and not isinstance(obj, type):
            return {"__type__": _library.full_name(type(obj)), "fields": self._fields(obj, path)}
        if _library.is_object(obj):
            return self._library_object(obj, path)
        if type(obj).__name__ in ("Device", "MeshDevice"):  # of a program that stands in for the library
            return _device(obj)
        if isinstance(obj, dict):
            return self._dict(obj, path)
        if isinstance(obj, list):
            return self._items(obj, path)
        if isinstance(obj, tuple):
            kind = _library.full_name(type(obj)) if hasattr(obj, "_fields") else "tuple"
            return {"__type__": kind, "items": self._items(obj, path)}
        if isinstance(obj, (set, frozenset)):
            items = sorted(self._items(obj, path), key=lambda item: json.dumps(item, sort_keys=True))
            return {"__type__": "frozenset" if isinstance(obj, frozenset) else "set", "items": items}
        if "ProgramConfig" in type(obj).__name__ and hasattr(obj, "__dict__"):  # of a program that stands in for it
            shown = {name: value for name, value in vars(obj).items() if not name.startswith("_") and not callable(value)}
            return {"__type__": _library.full_name(type(obj)), **self._dict(shown, path)}
        return self._other(obj, path)

    def _fields(self, obj: Any, path: str) -> dict[str, Any]:
        found = {}
        for field in dataclasses.fields(obj):
            if hasattr(obj, field.name):
                found[field.name] = self.write(getattr(obj, field.name), f"{path}.{field.name}")
        return found

    def _items(self, items: Any, path: str) -> list[Any]:
        return [self.write(item, f"{path}[{i}]") for i, item in enumerate(items)]

    def _dict(self, entries: dict[Any, Any], path: str) -> dict[str, Any]:
        if all(type(key) is str for key in entries):
            return {key: self.write(value, f"{path}.{key}") for key, value in entries.items()}
        pairs = [
            [self.write(key, f"{path}[{i}]"), self.write(value, f"{path}[{key!r}]")]
            for i, (key, value) in enumerate(entries.items())
        ]
        return {"__type__": "dict", "items": pairs}

    def _other(self, obj: Any, path: str) -> Any:
        """Values of Python and of numerical libraries that JSON has no form for. Contents of arrays are not written."""
        if isinstance(obj, (bytes, bytearray)):
            return {"__type__": "bytes", "value": base64.b64encode(bytes(obj)).decode("ascii")}
        if isinstance(obj, complex):
            return {"__type__": "complex", "value": repr(obj)}
        if isinstance(obj, (slice, range)):
            return {"__type__": type(obj).__name__, "items": self._items((obj.start, obj.stop, obj.step), path)}
        torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
        if torch is not None and isinstance(obj, torch.dtype):
            return {"__type__": "torch.dtype", "value": str(obj)}
        if numpy is not None and isinstance(obj, numpy.generic):
            return self.write(obj.item(), path)
        arrays = {"torch.TensorRef": getattr(torch, "Tensor", ()), "numpy.ArrayRef": getattr(numpy, "ndarray", ())}
        for kind, cls in arrays.items():
            if isinstance(obj, cls):
                return {"__type__": kind, "shape": [int(n) for n in obj.shape], "dtype": str(obj.dtype)}
        return _text(obj)

    def _library_object(self, obj: Any, path: str) -> Any:
        ttnn = sys.modules.get("ttnn")
        # A stand-in for the library need not have all of it.
        if isinstance(obj, getattr(ttnn, "Tensor", ())):
            return _library.tensor_record(obj, lambda part: self.write(part, path))
        if isinstance(obj, getattr(ttnn, "MemoryConfig", ())):
            return _library.memory_record(obj)
        if type(obj).__name__ == "MeshDevice":
            return _device(obj)
        members = _library.members(obj)
        if members is None:
            return _text(obj)
        written = {name: self.write(value, f"{path}.{name}") for name, value in members.items()}
        return {"__type__": _library.full_name(type(obj)), **written}


def _enum(member: enum.Enum) -> dict[str, Any]:
    kind = _library.full_name(type(member))
    name = getattr(member, "_name_", None)
    # A sum of flags has no name, or one that is no member's.
    is_member = name in type(member).__members__
    return {"__enum__": kind, "name": name} if is_member else {"__enum__": kind, "value": member.value}


def _device(device: Any) -> dict[str, Any]:
    shape = getattr(device, "shape", None)
    return {"__type__": "ttnn.MeshDevice", "mesh_shape": None if shape is None else [int(n) for n in shape]}


def _text(obj: Any) -> dict[str, Any]:
    """What has no other form. An address in it would make two files of one configuration differ."""
    return {"__type__": "repr", "value": re.sub(r" at 0x[0-9a-fA-F]+", "", repr(obj))}
