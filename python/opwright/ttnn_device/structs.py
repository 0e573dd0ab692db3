"""Structs of a trace -> the library's objects. Members go to the constructor's parameters by their names, never by their
order, and are read back: an object that does not show what was recorded is not passed off as it."""

from __future__ import annotations

import enum
import functools
import itertools
import re
from collections.abc import Callable, Iterable
from typing import Any

import ttnn

from opwright.ttnn_device import signatures
from opwright.ttnn_device.classes import Unsupported, class_named, enum_member, find_class, full_name, version
from opwright.ttnn_device.sameness import readable, same
from opwright.ttnn_device.signatures import Parameter, Signature

#: Members that a constructor takes under another name, where only that differs.
_ALIASES = {
    "CoreRangeSet": {"ranges": "core_ranges"},
    "MeshCoordinate": {"dims": "coords"},
    "MeshCoreCoord": {"device": "device_coord", "core": "core_coord"},
    "MeshShape": {"dims": "shape"},
    "Shape": {"dims": "shape"},
    "ShardSpec": {"shape": "shard_shape", "orientation": "shard_orientation"},
    "SDPAProgramConfig": {"compute_grid": "compute_with_storage_grid_size"},
    "Tile": {"shape": "tile_shape"},
}


def core_coord(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"x", "y"}:
        value = [value["x"], value["y"]]
    if isinstance(value, (list, tuple)) and len(value) == 2:
        return ttnn.CoreCoord(*value)
    return value


def core_range_set(ranges: Any) -> Any:
    """From corners [x0, y0, x1, y1], from pairs of corners, or from ranges that were made already. Their order is kept."""
    return ttnn.CoreRangeSet([_core_range(one) for one in ranges])


def _core_range(one: Any) -> Any:
    if isinstance(one, dict) and one.keys() == {"start", "end"}:
        one = [one["start"], one["end"]]
    if isinstance(one, (list, tuple)) and len(one) == 4:
        one = [one[:2], one[2:]]
    if isinstance(one, (list, tuple)) and len(one) == 2:
        return ttnn.CoreRange(core_coord(one[0]), core_coord(one[1]))
    return one


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


# --------------------------------------------------------------- classes whose constructors do not take what they show


def _only(cls: Any, fields: dict[str, Any], *known: str) -> None:
    unknown = [name for name, value in fields.items() if name not in known and value is not None]
    if unknown:
        raise Unsupported(f"{cls.__name__} of ttnn {version()} cannot be made with {', '.join(unknown)}")


def _range_set(cls: Any, fields: dict[str, Any], items: list[Any]) -> Any:
    _only(cls, fields, "ranges")
    ranges = fields.get("ranges", items)
    if len(ranges) == 1 and isinstance(ranges[0], list) and not all(isinstance(n, int) for n in ranges[0] or [[]]):
        ranges = ranges[0]  # written as one list
    return core_range_set(ranges)


def _unary(cls: Any, fields: dict[str, Any], items: list[Any]) -> Any:
    _only(cls, fields, "op_type", "params", "param")
    if cls.__name__ == "EltwiseUnaryWithParam" and not items and not fields.keys() & {"params", "param"}:
        raise Unsupported("a EltwiseUnaryWithParam: the library does not show its parameters")
    if items and "op_type" not in fields:
        fields["op_type"], items = items[0], items[1:]
    return unary(fields.get("op_type"), fields.get("params", fields.get("param")) or items)


def _complex_tensor(cls: Any, fields: dict[str, Any], _: list[Any]) -> Any:
    _only(cls, fields, "real", "imag")
    return cls((fields["real"], fields["imag"]))


def _tensor_spec(cls: Any, fields: dict[str, Any], _: list[Any]) -> Any:
    """It shows a memory config and takes its parts."""
    memory = fields.get("memory_config")
    if not isinstance(memory, ttnn.MemoryConfig):
        raise Unsupported("a TensorSpec without a memory config")
    shape = fields.get("shape")
    common = (shape if isinstance(shape, ttnn.Shape) else ttnn.Shape(shape), fields["dtype"], fields["layout"])
    more = {"buffer_type": memory.buffer_type, "tile": fields.get("tile")}
    if memory.shard_spec is None and memory.nd_shard_spec is not None:
        return cls(*common, nd_shard_spec=memory.nd_shard_spec, **more)
    return cls(*common, memory_layout=memory.memory_layout, shard_spec=memory.shard_spec, **more)


def _topology(cls: Any, fields: dict[str, Any], _: list[Any]) -> Any:
    """Traces do not have the coordinates: they are those of the whole mesh."""
    _only(cls, fields, "placements", "distribution_shape", "mesh_coords")
    shape = list(fields["distribution_shape"])
    coords = fields.get("mesh_coords") or itertools.product(*(range(n) for n in shape))
    made = [at if isinstance(at, ttnn.MeshCoordinate) else ttnn.MeshCoordinate(list(at)) for at in coords]
    return cls(ttnn.MeshShape(shape), fields["placements"], made)


def _coordinate_ranges(cls: Any, fields: dict[str, Any], items: list[Any]) -> Any:
    _only(cls, fields)
    made = cls()
    for one in items[0] if len(items) == 1 and isinstance(items[0], list) else items:
        made.merge(one)
    return made


_BUILDERS: dict[str, Callable[[Any, dict[str, Any], list[Any]], Any]] = {
    "ComplexTensor": _complex_tensor,
    "CoreRangeSet": _range_set,
    "EltwiseUnaryWithParam": _unary,
    "MeshCoordinateRangeSet": _coordinate_ranges,
    "TensorSpec": _tensor_spec,
    "TensorTopology": _topology,
    "UnaryWithParam": _unary,
}


# -------------------------------------------------------------------------------------------- members as they are wanted


def fitted(value: Any, kinds: Iterable[str], near: str) -> Any:
    """An argument as one of the overloads of an operation takes it: as it is where that is possible, and where no overload
    takes it, for the library to refuse."""
    kinds = list(kinds)
    if any(_accepts(kind, value, near) for kind in kinds):
        return value
    errors: list[Unsupported] = []
    for kind in kinds:
        try:
            made = _fitted(value, kind, near)
        except Unsupported as error:
            errors.append(error)
            continue
        if _accepts(kind, made, near):
            return made
    if errors and isinstance(value, dict):
        raise errors[0]
    return value


def _fitted(value: Any, wanted: str, near: str) -> Any:
    """A member as the constructor wants it. Traces write flags as 0 and 1, coordinates as pairs, functions as names, and
    some objects as the number or the list that they hold."""
    if value is None:
        return None
    if wanted.startswith("bool") and isinstance(value, int) and value in (0, 1):
        return bool(value)
    if isinstance(value, (list, tuple)) and (item := signatures.inner(wanted)):
        return [_fitted(member, item, near) for member in value]
    if "CoreCoord" in wanted and not isinstance(made := core_coord(value), (list, dict)):
        return made
    if "CoreRangeSet" in wanted and isinstance(value, (list, tuple)):
        return core_range_set(value)
    if "UnaryWithParam" in wanted and not (isinstance(value, str) and "str" in signatures.choices(wanted)):
        if isinstance(value, dict):
            return unary(value.get("op_type"), value.get("param", value.get("params", ())))
        if isinstance(value, (str, enum.Enum)):
            return unary(value)
    classes = [cls for choice in signatures.choices(wanted) if (cls := find_class(choice, near)) is not None]
    if len(classes) == 1 and isinstance(value, (str, int, float, list, tuple, dict)):
        return _as_object(value, classes[0], wanted, near)
    return value


def _as_object(value: Any, cls: Any, wanted: str, near: str) -> Any:
    if cls is ttnn.Tensor or (_accepts(wanted, value, near) and not isinstance(value, dict)):
        return value
    if issubclass(cls, enum.Enum):
        if isinstance(value, str):
            return enum_member(full_name(cls), value, near)
        is_number = isinstance(value, int) and issubclass(cls, int)  # recorded as the number that it is
        return cls(value) if is_number else value
    if isinstance(value, dict):  # a struct that was written without its type
        return construct(full_name(cls), value, near=near)
    return construct(full_name(cls), {}, [value], near) if isinstance(value, (int, list)) else value


_PLAIN = {"bool": (bool,), "int": (int,), "float": (int, float), "str": (str,), "None": (type(None),)}


def _accepts(kind: str, value: Any, near: str) -> bool:
    """Whether the bindings take a value for a parameter of that type. What is not known of a type is left to them."""
    return any(_is_a(choice, value, near) for choice in signatures.choices(kind))


def _is_a(kind: str, value: Any, near: str) -> bool:
    if kind in _PLAIN:
        return isinstance(value, _PLAIN[kind])
    if item := signatures.inner(kind):
        return isinstance(value, (list, tuple, set)) and all(_accepts(item, member, near) for member in value)
    if "UnaryWithParam" in kind:  # the bindings make one of the other
        return type(value).__name__.endswith(("UnaryWithParam", "UnaryOpType"))
    cls = find_class(kind, near)
    return cls is None or isinstance(value, cls)


# ---------------------------------------------------------------------------------------------------------- construction


def has_no_members(kind: str, near: str = "") -> bool:
    """Whether all objects of a class are the same: nothing can be passed and nothing be set."""
    cls = find_class(kind, near)
    if cls is None or issubclass(cls, enum.Enum) or readable(cls):
        return False
    ways = signatures.of_constructor(cls)
    return bool(ways) and not any(ways)


class _NotThisWay(Exception):
    """A constructor that does not take what was recorded."""


def construct(kind: str, fields: dict[str, Any], items: list[Any] | None = None, near: str = "") -> Any:
    """An object of the library from named members, and from `items` that have no name (`SubDeviceId(3)`). A member that
    this version does not know is not left out in silence, unless it is none: then nothing was asked for."""
    if "UnaryWithParam" in kind and find_class(kind, near) is None:  # BasicUnaryWithParam<float>
        kind = "UnaryWithParam"
    cls = class_named(kind, near)
    if cls.__name__ in _BUILDERS:
        return _BUILDERS[cls.__name__](cls, dict(fields), list(items or ()))
    aliases = _ALIASES.get(cls.__name__, {})
    taken = {parameter.name for signature in signatures.of_constructor(cls) for parameter in signature}
    members = {
        aliases[name] if name in aliases and name not in taken else name: value for name, value in fields.items()
    }
    unknown = [name for name, value in members.items() if value is not None and name not in taken]
    unknown = [name for name in unknown if not hasattr(cls, name)]
    if unknown:
        raise Unsupported(f"{kind} of ttnn {version()} cannot be made with {', '.join(unknown)}")
    reasons: list[str] = []
    own = [way for way in signatures.of_constructor(cls) if [p.kind for p in way] != [full_name(cls)]]  # no copies
    ways = sorted(own, key=lambda way: -_covered(way, members))
    for signature in ways:
        try:
            return _construct(cls, signature, dict(members), list(items or ()), near)
        except _NotThisWay as reason:
            reasons.append(str(reason))
    if not ways:
        raise Unsupported(f"a {kind}: ttnn {version()} has no constructor for it")
    raise Unsupported(f"a {kind} that ttnn {version()} does not take: {reasons[0]}")


def _covered(signature: Signature, members: dict[str, Any]) -> int:
    return sum(members.get(parameter.name) is not None for parameter in signature)


def _construct(cls: Any, signature: Signature, members: dict[str, Any], items: list[Any], near: str) -> Any:
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    passed: dict[str, Any] = {}  # of named members what the constructor was given by position
    unnamed = [name for name in readable(cls) if name in members]  # for parameters that have no name either
    for parameter in signature:
        name: str | None = None
        if parameter.by_name and parameter.name in members:
            name = parameter.name
            value = members.pop(name)
        elif parameter.by_position and items:
            value = _from_items(items, parameter)
        elif not parameter.by_name and unnamed:
            name = unnamed.pop(0)
            value = members.pop(name)
        elif parameter.is_required:
            raise _NotThisWay(f"{parameter.name} is missing")
        else:
            continue
        value = _fitted(value, parameter.kind, near)
        # None for a parameter that cannot be none was printed for "not set".
        if value is None and not parameter.may_be_none:
            if parameter.is_required:
                raise _NotThisWay(f"{parameter.name} is none")
            continue
        if parameter.by_name and not (parameter.by_position and name is None):
            kwargs[parameter.name] = value
        else:
            args.append(value)
        # What goes by its name cannot be swapped; what the library makes of it, the record of the call will show.
        if name is not None and not parameter.by_name:
            passed[name] = value
    if items:
        raise _NotThisWay(f"{len(items)} members without a name are left over")
    try:
        made = cls(*args, **kwargs)
    except TypeError as error:
        raise _NotThisWay(str(error).strip()[:500]) from error
    _complete(made, members, near)
    _check(made, passed)
    return made


def _from_items(items: list[Any], parameter: Parameter) -> Any:
    """The next member without a name. `Shape(1, 2)` and `Shape([1, 2])` are both ways to write one."""
    if signatures.inner(parameter.kind) is not None and not isinstance(items[0], (list, tuple)):
        value, items[:] = list(items), []
        return value
    return items.pop(0)


def _complete(made: Any, members: dict[str, Any], near: str) -> None:
    """What the constructor does not take is set, or is a consequence of what it took."""
    for name, value in members.items():
        if value is None:
            continue
        value = _fitted(value, kind_of(type(made), name), near)
        if same(_shown(made, name), value):
            continue
        try:
            setattr(made, name, value)
        except (TypeError, AttributeError) as error:
            raise _NotThisWay(f"it cannot be made with {name}") from error
        _check(made, {name: value})


def _shown(made: Any, name: str) -> Any:
    """A member as the object shows it: by a property, or by a method without arguments."""
    shown = getattr(made, name)
    return shown if name in readable(type(made)) or isinstance(shown, type) or not callable(shown) else shown()


@functools.cache
def kind_of(cls: Any, name: str) -> str:
    """What a property holds, as the bindings write it."""
    setter = getattr(getattr(cls, name, None), "fset", None)
    for one in getattr(setter, "__nb_signature__", None) or ():
        found = re.match(r"def \w*\((.*)\) ->", one[0], re.S)
        if found and (parameters := signatures.parse(found[1])):
            return parameters[-1].kind
    return ""


def _check(made: Any, passed: dict[str, Any]) -> None:
    """What was recorded must be what the object shows."""
    for name, value in passed.items():
        if value is not None and name in readable(type(made)) and not same(getattr(made, name), value):
            raise _NotThisWay(f"its {name} would be {getattr(made, name)!s}, recorded is {value!s}"[:500])
