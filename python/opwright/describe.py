"""How to read the objects of the traced library.

The compiled recorder asks once per class (`plan`) and then reads the fields itself, so this module costs nothing per
call. Which fields a class has is in `_ttnn_tables`; one that is not listed there is read through the properties it shows,
and one that shows none is kept as its text and counted as opaque. Classes that are not the library's are never asked for
anything (python/src/plans.h).
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _capture
from ._errors import of_program
from ._ttnn_tables import CALL, CALL_LIST, FIELDS, HASHABLE, ITEMS, LIST, TENSOR_FIELDS, TENSOR_READERS, Field, attributes

Reader = Callable[[Any], Any]
#: (name, kind, hashable, has a __dict__, fields as (name, function of the object or None, as a list), tensor readers);
#: kinds: tensor, struct, record (a struct whose printed text nobody needs), vars, opaque
Plan = tuple[str, str, bool, bool, tuple[tuple[str, Reader | None, bool], ...], tuple[Reader | None, ...]]


_told: set[tuple[str, str]] = set()
#: A device was an argument, or a tensor was on one.
has_seen_device = False


def plan(cls: type) -> Plan | None:
    """How objects of a class are read; None for a class that only says that it is of the library."""
    global has_seen_device
    if not _is_of_library(cls):
        return None
    name = cls.__name__
    has_seen_device = has_seen_device or name == "MeshDevice"
    has_dict = hasattr(cls, "__dict__") and bool(getattr(cls, "__dictoffset__", 0))
    if any(base.__name__ == "Tensor" and _is_of_library(base) for base in cls.__mro__):
        readers = tuple(_reader(cls, attribute) for attribute in TENSOR_READERS)
        return "ttnn.Tensor", "tensor", False, has_dict, _readers(cls, TENSOR_FIELDS), readers
    if name in FIELDS:
        hashable = name in HASHABLE and cls.__hash__ is not object.__hash__
        return name, "struct", hashable, has_dict, _readers(cls, FIELDS[name]), ()
    if name == "global_semaphore":
        address = getattr(sys.modules["ttnn"], "get_global_semaphore_address", None)
        if address is not None:
            return name, "struct", False, has_dict, (("address", address, False),), ()
    fields = attributes(*_properties(cls))
    if not fields:
        # Classes of the library's Python part keep their state in the object.
        return name, "vars" if has_dict else "opaque", False, has_dict, (), ()
    is_matmul_config = "ProgramConfig" in name and "Matmul" in name
    if is_matmul_config and hasattr(cls, "to_json"):
        fields = (*fields, ("@json", "to_json", CALL))
    # The library's own tracer writes the fields of these, and of all other objects what they print.
    kind = "record" if is_matmul_config or "ComputeKernelConfig" in name else "struct"
    return name, kind, False, has_dict, _readers(cls, fields), ()


def _is_of_library(cls: type) -> bool:
    """A class of ttnn, and not one of the program that gives a module of ttnn as its own."""
    module = cls.__module__
    if not isinstance(module, str) or module.split(".")[0] != "ttnn":
        return False
    if type(cls).__name__ == "nb_type" and type(cls).__module__ == "nanobind":
        return True
    found: Any = sys.modules.get(module)
    for part in cls.__qualname__.split("."):
        found = vars(found).get(part) if found is not None and hasattr(found, "__dict__") else None
    return found is cls


def _properties(cls: type) -> list[str]:
    """The properties a class shows, in the order of their definition."""
    names: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if not name.startswith("_") and hasattr(value, "__get__") and not callable(value):
                names[name] = None
    return list(names)


def _reader(cls: type, attribute: str) -> Reader | None:
    """A function that reads an attribute of an object, or calls a method of it, as `cls` defines it: the object may be of
    a class of the program that is derived from `cls` and defines it otherwise."""
    for base in cls.__mro__:
        if attribute not in vars(base):
            continue
        value = vars(base)[attribute]
        if isinstance(value, property):
            return value.fget
        if callable(value):
            return value  # type: ignore[no-any-return]
        return value.__get__ if hasattr(value, "__get__") else None
    return None


def _readers(cls: type, fields: tuple[Field, ...]) -> tuple[tuple[str, Reader | None, bool], ...]:
    """Leaves out, and tells, what this version of the library does not have."""
    kept: list[tuple[str, Reader | None, bool]] = []
    for name, attribute, access in fields:
        reader = None if access == ITEMS else _reader(cls, attribute)
        if access == ITEMS or reader is not None:
            kept.append((name, reader, access in (LIST, CALL_LIST, ITEMS)))
        else:
            unreadable(cls.__name__, name)
    return tuple(kept)


def unreadable(cls: str, field: str) -> None:
    """A field that this version of the library does not let us read: noted in the trace, told once."""
    if (cls, field) in _told:
        return
    _told.add((cls, field))
    text = f"{cls}.{field} cannot be read in this version of the library; it is missing in the trace"
    _capture.note("unreadable", text)
    print(f"opwright: {text}", file=sys.stderr)


# ------------------------------------------------------------------------------------------------- contents of tensors

_INTEGERS = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool", "float32", "float64", "float16"}


def content(tensor: Any) -> tuple[str, list[int], int, int, Any] | None:
    """Elements of a tensor on the host: (element type, shape, address, count, what keeps the memory alive)."""
    try:
        array = _as_array(tensor)
    except Exception as error:  # a tensor that cannot be read must not fail the model
        if of_program(error):
            raise
        unreadable(type(tensor).__name__, f"content ({type(error).__name__})")
        return None
    if array is None:
        return None
    name = str(array.dtype)
    if name not in _INTEGERS:
        return None
    return name, [int(dim) for dim in array.shape], int(array.ctypes.data), int(array.size), array


def _as_array(tensor: Any) -> Any:
    import numpy

    ttnn = sys.modules["ttnn"]
    if tensor.storage_type() == ttnn.StorageType.DEVICE:
        if not tensor.is_allocated():
            return None
        tensor = tensor.cpu()
    if tensor.layout != ttnn.ROW_MAJOR_LAYOUT:
        tensor = ttnn.to_layout(
            ttnn.to_dtype(tensor, ttnn.float32) if _is_block(tensor) else tensor, ttnn.ROW_MAJOR_LAYOUT
        )
    if "float" in str(tensor.dtype).lower() and tensor.dtype != ttnn.float32:
        tensor = ttnn.to_dtype(tensor, ttnn.float32)
    return numpy.ascontiguousarray(tensor.to_numpy())


def _is_block(tensor: Any) -> bool:
    return str(tensor.dtype) in ("DataType.BFLOAT8_B", "DataType.BFLOAT4_B")


# --------------------------------------------------------------------------------------------------- device operations

_capturing_thread: int | None = None  # the library captures one graph a process: threads take turns


def device_begin() -> None:
    """Starts the library's graph capture below a call, unless another thread's call has it."""
    global _capturing_thread
    if _capturing_thread is not None:
        _capture.note("device", "calls of another thread at the same time have no device operations recorded")
        return
    graph = sys.modules["ttnn"]._ttnn.graph
    graph.begin_graph_capture(graph.RunMode.NORMAL)
    _capturing_thread = threading.get_ident()


def device_end() -> str | None:
    """Ends it: the graph as JSON text."""
    global _capturing_thread
    if _capturing_thread != threading.get_ident():
        return None
    _capturing_thread = None
    graph = sys.modules["ttnn"]._ttnn.graph.end_graph_capture()
    return json.dumps(graph, separators=(",", ":"), default=lambda value: f"<{type(value).__name__}>")
