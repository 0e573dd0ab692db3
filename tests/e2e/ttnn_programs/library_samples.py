"""One object of every class of the installed library, with members that differ from each other and from their defaults,
so that a swapped, lost or defaulted one is noticed. What cannot be made without a device or from nothing has a reason."""

from __future__ import annotations

import enum
import itertools
import re
from collections.abc import Iterator
from typing import Any

import ttnn

from opwright.ttnn_device import classes, sameness, signatures, structs

#: Members that cannot be just any number.
SPECIAL = {
    "usable_l1_end_address": lambda: 1_400_000,
    "core_type": lambda: ttnn._ttnn.types.CoreType.WORKER,
    "tile_shape": lambda: [16, 32],
    "shard_shape": lambda: [64, 32],
    "CoreRange": lambda: next(_ranges),
    "MeshDevice": lambda: _device,
    "global_semaphore": lambda: ttnn.create_global_semaphore(_device, _set(), 0),
    "CppTensorToMesh": lambda: ttnn.create_mesh_mapper(_device, SPECIAL["MeshMapperConfig"]()),
    "CppMeshToTensor": lambda: ttnn.create_mesh_composer(_device, ttnn.MeshComposerConfig([0, 3])),
    "MeshMapperConfig": lambda: ttnn.MeshMapperConfig([ttnn.PlacementReplicate(), ttnn.PlacementShard(3)]),
    "MeshShape": lambda: ttnn.MeshShape(2, 4),
    "MeshCoordinate": lambda: ttnn.MeshCoordinate(*next(_places)),
    "MeshCoordinateRange": lambda: ttnn.MeshCoordinateRange(ttnn.MeshCoordinate(0, 1), ttnn.MeshCoordinate(1, 3)),
    "Shape": lambda: ttnn.Shape([2, 3, 64, 96]),
    "ShardSpec": lambda: ttnn.ShardSpec(_set(), [64, 32], ttnn.ShardOrientation.COL_MAJOR),
    "NdShardSpec": lambda: ttnn.NdShardSpec(ttnn.Shape([1, 3, 32, 64]), _set(), ttnn.ShardOrientation.COL_MAJOR),
    "Tile": lambda: ttnn.Tile([16, 32]),
    "TensorSpec": lambda: ttnn.TensorSpec(ttnn.Shape([2, 3, 64, 96]), ttnn.float32, ttnn.TILE_LAYOUT, ttnn.BufferType.L1),
    "Tensor": lambda: ttnn.Tensor([1.0, 2.0], [1, 2], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT),
    "VectorUInt32": lambda: ttnn._ttnn.program_descriptor.VectorUInt32([next(_numbers), next(_numbers)]),
    "MemoryConfig": lambda: ttnn.MemoryConfig(
        ttnn.TensorMemoryLayout.BLOCK_SHARDED, ttnn.BufferType.L1, SPECIAL["ShardSpec"]()
    ),
    "TensorTopology": lambda: ttnn.TensorTopology(
        ttnn.MeshShape(1, 2),
        [ttnn.PlacementReplicate(), ttnn.PlacementShard(2)],
        [ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)],
    ),
    "UnaryWithParam": lambda: ttnn.UnaryWithParam(ttnn.UnaryOpType.HARDTANH, 1.5, 2.5),
}

_RANGES = [
    ttnn.CoreRange(ttnn.CoreCoord(1, 2), ttnn.CoreCoord(3, 5)),
    ttnn.CoreRange(ttnn.CoreCoord(4, 0), ttnn.CoreCoord(6, 1)),
]


def _restart() -> None:
    """The same class gets the same members in every process."""
    global _numbers, _halves, _ranges, _coords, _places
    _numbers = itertools.count(3)
    _halves = (n + 0.5 for n in itertools.count(3))
    _ranges = itertools.cycle(_RANGES)
    _coords = itertools.cycle([(1, 2), (3, 5), (6, 7)])
    _places = itertools.cycle([(0, 1), (1, 3), (1, 2)])


def class_of(name: str) -> Any:
    return classes.find_class(name)


def sample_of(name: str) -> Any:
    """Of the class with that full name."""
    _restart()
    return sample(class_of(name))


_device: Any = None


def open_device() -> Any:
    """Two chips: what belongs to a device is made on it."""
    global _device
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    _device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), l1_small_size=24576)
    return _device


class NoSample(Exception):
    """Why there is none."""


def _set() -> Any:
    return ttnn.CoreRangeSet([next(_ranges), next(_ranges)])


def _value(kind: str, name: str, default: Any, depth: int) -> Any:
    """Something that a parameter of that type takes, other than its default."""
    kind = next((choice for choice in signatures.choices(kind) if choice != "None"), "None")
    if name in SPECIAL:
        return SPECIAL[name]()
    if "MeshDevice" in kind:
        raise NoSample("it belongs to an open device")
    if name.endswith("shm_name"):
        raise NoSample("it belongs to shared memory")
    if "PathLike" in kind:
        raise NoSample("it names files")
    if kind == "bool":
        return not default if isinstance(default, bool) else True
    if kind == "int":
        return next(_numbers) % 97 + 1
    if kind == "float":
        return next(_halves) % 50
    if kind == "str" or kind.startswith("str |"):
        return f"text{next(_numbers)}"
    if item := signatures.inner(kind):
        return [_value(item, "", None, depth), _value(item, "", None, depth)]
    if match := re.fullmatch(r"tuple\[(.*)\]", kind):
        return tuple(_value(item, "", None, depth) for item in match[1].split(", "))
    cls = classes.find_class(kind)
    if cls is None or classes.full_name(cls) != kind:
        raise NoSample(f"nothing is known of {kind}")
    return sample(cls, default, depth)


def sample(cls: Any, default: Any = None, depth: int = 0) -> Any:
    """An object of the class, made by its widest constructor that takes what we have; then its other members are set."""
    if issubclass(cls, enum.Enum):
        valid = [member for member in cls if member.name.lower() != "invalid" and member != default]
        return valid[-1] if valid else default
    if cls.__name__ == "CoreCoord":
        return ttnn.CoreCoord(*next(_coords))
    if cls.__name__ == "CoreRangeSet":
        return _set()
    if cls.__name__ in SPECIAL:
        return SPECIAL[cls.__name__]()
    if cls.__name__ == "Config" and cls.__module__ == "ttnn._ttnn.core":
        raise NoSample("it is the library's own state")
    if depth > 4:
        raise NoSample("nested too deep")
    reasons = ["no constructor"]
    for signature in sorted(signatures.of_constructor(cls), key=len, reverse=True):
        if [parameter.name for parameter in signature] in (["arg"], ["other"]) and cls.__name__ in signature[0].kind:
            continue  # makes a copy
        try:
            made = _construct(cls, signature, depth)
        except NoSample as reason:
            reasons.append(str(reason))
            continue
        except Exception as error:
            reasons.append(f"{type(error).__name__}: {str(error).splitlines()[0][:200]}")
            continue
        _set_members(made, {parameter.name for parameter in signature}, depth)
        return made
    raise NoSample(reasons[-1])


def _construct(cls: Any, signature: signatures.Signature, depth: int) -> Any:
    args, kwargs = [], {}
    for parameter in signature:
        default = None
        if not parameter.is_required:
            try:
                default = getattr(cls(), parameter.name)
            except Exception:
                default = None
        value = _value(parameter.kind, parameter.name, default, depth + 1)
        if parameter.by_name:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return cls(*args, **kwargs)


def _set_members(made: Any, done: set[str], depth: int) -> None:
    for name in sameness.readable(type(made)):
        kind = structs.kind_of(type(made), name)
        if name in done or not kind:
            continue
        try:
            setattr(made, name, _value(kind, name, getattr(made, name), depth + 1))
        except (NoSample, TypeError, AttributeError, RuntimeError):
            continue  # it keeps its default


def is_operation(cls: Any) -> bool:
    """Types of the operations themselves: `add_t`."""
    return cls.__name__.endswith("_t") and "__call__" in vars(cls)


def bound_classes() -> Iterator[Any]:
    """Every class and enum that the compiled part of the library shows, but for those of its operations."""
    for found in classes.library_classes().values():
        for cls in found:
            if cls.__module__.startswith("ttnn._ttnn") and not is_operation(cls):
                yield cls


#: Made anew in each run: there is nothing that could be the same.
HANDLES = ("MeshDevice", "global_semaphore")


def plain_text(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def difference(wanted: Any, made: Any) -> str:
    """What tells an object from the one that it shall be; "" where nothing does."""
    if type(made) is not type(wanted):
        return f"it is a {type(made).__name__}"
    if type(wanted).__name__ in HANDLES:
        return ""
    if isinstance(wanted, ttnn.Tensor):  # what it holds is no part of a configuration
        return "" if (made.spec, made.tensor_topology()) == (wanted.spec, wanted.tensor_topology()) else "another spec"
    if hasattr(wanted, "config"):
        return "" if str(made.config()) == str(wanted.config()) else f"it has {made.config()}"
    if isinstance(wanted, enum.Enum):
        return "" if made is wanted else f"it is {made}"
    if type(wanted).__eq__ is object.__eq__ and not sameness.readable(type(wanted)) and " at 0x" in str(wanted):
        return "" if structs.has_no_members(type(wanted).__name__) else "nothing tells two of them apart"
    if "ttnn.Tensor" not in plain_text(wanted) and plain_text(made) != plain_text(wanted):
        return f"it is {plain_text(made)}, not {plain_text(wanted)}"
    if sameness.readable(type(wanted)) and not sameness.same(made, wanted):
        return "its members differ"
    return ""
