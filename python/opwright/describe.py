"""How to read the objects that operator calls carry.

The compiled recorder asks once per class (`plan`) and then reads the fields itself, so this module costs nothing per
call. A class that is not listed here is read through the properties it shows; one that shows none is kept as its text
and counted as opaque.
"""

from __future__ import annotations

import enum
import json
import sys
import threading
from typing import Any

from . import _capture

# Kinds and ways of access, as numbers that the compiled module shares (python/src/plans.h).
ENUM, STRUCT, OPAQUE, TENSOR, FOREIGN = range(5)
ATTRIBUTE, CALL, LIST, CALL_LIST, ITEMS = range(5)

Field = tuple[str, str, int]
Plan = tuple[str, int, bool, bool, tuple[Field, ...]]


def _attributes(*names: str) -> tuple[Field, ...]:
    return tuple((name, name, ATTRIBUTE) for name in names)


# Classes whose fields are methods, sequences or need a name of ours; by class name, as the library may move them.
FIELDS: dict[str, tuple[Field, ...]] = {
    "MemoryConfig": (
        *_attributes("memory_layout", "buffer_type", "shard_spec", "nd_shard_spec"),
        ("is_sharded", "is_sharded", CALL),
        ("interleaved", "interleaved", ATTRIBUTE),
        ("hash", "__hash__", CALL),  # hash() would fold its 64 bits
    ),
    "ShardSpec": (("grid", "grid", ATTRIBUTE), ("shape", "shape", LIST), ("orientation", "orientation", ATTRIBUTE)),
    "NdShardSpec": (
        ("shard_shape", "shard_shape", LIST),
        *_attributes("grid", "orientation", "shard_distribution_strategy"),
    ),
    "CoreRangeSet": (("ranges", "ranges", CALL_LIST),),
    "CoreCoord": _attributes("x", "y"),
    "CoreRange": _attributes("start", "end"),
    "Shape": (("dims", "", ITEMS),),
    "MeshShape": (("dims", "", ITEMS),),
    "MeshCoordinate": (("dims", "", ITEMS),),
    "Tile": (
        ("tile_shape", "tile_shape", LIST),
        ("face_shape", "face_shape", LIST),
        ("num_faces", "num_faces", ATTRIBUTE),
    ),
    "TensorTopology": (
        ("placements", "placements", CALL_LIST),
        ("distribution_shape", "distribution_shape", CALL_LIST),
    ),
    "PlacementShard": _attributes("dim"),
    "PlacementReplicate": (),
    "MeshDevice": (
        ("shape", "shape", LIST),
        ("device_ids", "get_device_ids", CALL_LIST),
        ("arch", "arch", CALL),
    ),
    "CppTensorToMesh": (("config", "config", CALL),),
    "CppMeshToTensor": (("config", "config", CALL),),
}
TENSOR_FIELDS: tuple[Field, ...] = (
    ("shape", "shape", LIST),
    ("padded_shape", "padded_shape", LIST),
    ("dtype", "dtype", ATTRIBUTE),
    ("layout", "layout", ATTRIBUTE),
    ("tile", "tile", ATTRIBUTE),
    ("storage_type", "storage_type", CALL),
    ("memory_config", "memory_config", CALL),
    ("topology", "tensor_topology", CALL),
    ("device", "device", CALL),
)
# Immutable, with a hash and an equality by value: recognised by one look-up.
HASHABLE = {"MemoryConfig", "CoreCoord", "MeshCoordinate"}

_told: set[tuple[str, str]] = set()
#: A device was an argument, or a tensor was on one.
has_seen_device = False


def _readable_properties(cls: type) -> tuple[Field, ...]:
    """The properties a class shows, in the order of their definition."""
    fields: dict[str, None] = {}
    for base in reversed(cls.__mro__):
        for name, value in vars(base).items():
            if not name.startswith("_") and hasattr(value, "__get__") and not callable(value):
                fields[name] = None
    return _attributes(*fields)


def plan(cls: type) -> Plan:
    """How objects of a class are read: (name, kind, hashable, has a __dict__, fields)."""
    global has_seen_device
    name = cls.__name__
    has_seen_device = has_seen_device or name == "MeshDevice"
    has_dict = hasattr(cls, "__dict__") and bool(getattr(cls, "__dictoffset__", 0))
    if issubclass(cls, enum.Enum):
        return name, ENUM, False, True, ()
    module = cls.__module__ or ""
    if module.split(".")[0] == "ttnn" and name == "Tensor":
        return "ttnn.Tensor", TENSOR, False, has_dict, _present(cls, TENSOR_FIELDS)
    if (module.split(".")[0], name) in (("torch", "Tensor"), ("torch", "Parameter"), ("numpy", "ndarray")):
        return f"{module.split('.')[0]}.{'ndarray' if name == 'ndarray' else 'Tensor'}", FOREIGN, False, has_dict, ()
    if name in FIELDS:
        return (
            name,
            STRUCT,
            name in HASHABLE and cls.__hash__ is not object.__hash__,
            has_dict,
            _present(cls, FIELDS[name]),
        )
    fields = _readable_properties(cls)
    if not fields:
        # A semaphore tells its address through a function; classes of the library's Python part keep state in vars.
        is_readable = name == "global_semaphore" or (module.split(".")[0] == "ttnn" and has_dict)
        return name, FOREIGN if is_readable else OPAQUE, False, has_dict, ()
    if "ProgramConfig" in name and "Matmul" in name and hasattr(cls, "to_json"):
        fields = (*fields, ("@json", "to_json", CALL))
    return name, STRUCT, False, has_dict, fields


def _present(cls: type, fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Leaves out, and tells, what this version of the library does not have."""
    kept = []
    for name, attribute, access in fields:
        if access == ITEMS or hasattr(cls, attribute):
            kept.append((name, attribute, access))
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


def foreign(value: Any) -> dict[str, Any]:
    """Objects that are read by a function: tensors of other libraries (what they are, not what they hold), semaphores,
    and objects of the library's Python part."""
    if type(value).__name__ == "global_semaphore":
        return {"address": sys.modules["ttnn"].get_global_semaphore_address(value)}
    if (type(value).__module__ or "").split(".")[0] == "ttnn":
        return {str(name): field for name, field in vars(value).items()}
    return {"shape": [int(dim) for dim in value.shape], "dtype": str(value.dtype)}


# ------------------------------------------------------------------------------------------------- contents of tensors

_INTEGERS = {"int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "bool", "float32", "float64", "float16"}


def content(tensor: Any) -> tuple[str, list[int], int, int, Any] | None:
    """Elements of a tensor on the host: (element type, shape, address, count, what keeps the memory alive)."""
    try:
        array = _as_array(tensor)
    except Exception as error:  # a tensor that cannot be read must not fail the model
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

    if isinstance(tensor, numpy.ndarray):
        return numpy.ascontiguousarray(tensor)
    if type(tensor).__module__.split(".")[0] == "torch":
        plain = tensor.detach().cpu().contiguous()
        return (plain.float() if str(plain.dtype) == "torch.bfloat16" else plain).numpy()
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
    return json.dumps(graph, separators=(",", ":"), default=str)
