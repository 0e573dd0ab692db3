"""Arguments of a recorded call -> the real library's objects. The one place that knows the encoding of values
(docs/formats/oracle.md); what cannot be made again is `Unsupported`, never dropped or replaced by a default."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ttnn

from opwright.ttnn_device import classes, signatures, structs
from opwright.ttnn_device.classes import Unsupported

__all__ = ["Rebuilder", "Unsupported", "function_of", "memory_config", "mesh_of"]

#: Makes a tensor of its record. Raises what the library raises.
TensorMaker = Callable[[dict[str, Any]], Any]

#: Handles of one run, which are no part of a configuration (model/op_config.h): keyword arguments that traces leave out.
_LEFT_OUT = ("multi_device_global_semaphore", "barrier_semaphore")


def _words_in(items: list[Any]) -> list[int]:
    """`FabricNodeId(M0, D3)` -> 0, 3"""
    names = [item["enum"][1] for item in items if isinstance(item, dict) and "enum" in item]
    numbers = [int(name[1:]) for name in names if name[:1] in ("M", "D") and name[1:].isdigit()]
    return numbers if len(numbers) == len(items) == 2 else []


def function_of(op: str) -> Any:
    found: Any = ttnn
    for part in op.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            error = Unsupported(f"ttnn {classes.version()} has no operation {op}")
            error.argument = "op"
            raise error
    return found


def memory_config(memory: dict[str, Any]) -> Any:
    if "layout" not in memory or "buffer" not in memory:
        raise Unsupported("a memory config of which the trace lost the layout or the buffer type")
    if memory.get("more"):
        raise Unsupported(f"a memory config with {', '.join(memory['more'])}")
    buffer = classes.enum_member("BufferType", memory["buffer"])
    shard, nd_shard = memory.get("shard"), memory.get("nd_shard")
    if nd_shard is not None and (shard is None or memory["layout"] == "ND_SHARDED"):
        return ttnn.MemoryConfig(buffer, _nd_shard_spec(nd_shard))
    layout = classes.enum_member("TensorMemoryLayout", memory["layout"])
    return ttnn.MemoryConfig(layout, buffer, None if shard is None else _shard_spec(shard))


def _shard_spec(shard: dict[str, Any]) -> Any:
    _check_shard(shard)
    orientation = classes.enum_member("ShardOrientation", shard["orientation"])
    return ttnn.ShardSpec(structs.core_range_set(shard["grid"]), shard["shape"], orientation)


def _nd_shard_spec(shard: dict[str, Any]) -> Any:
    _check_shard(shard)
    return ttnn.NdShardSpec(
        ttnn.Shape(shard["shape"]),
        structs.core_range_set(shard["grid"]),
        classes.enum_member("ShardOrientation", shard["orientation"]),
        classes.enum_member("ShardDistributionStrategy", shard.get("distribution") or "ROUND_ROBIN_1D"),
    )


def _check_shard(shard: dict[str, Any]) -> None:
    missing = [name for name in ("grid", "shape", "orientation") if name not in shard]
    if missing or shard.get("more"):
        raise Unsupported(
            f"a shard spec of which the trace lost the {', '.join(missing)}"
            if missing
            else f"a shard spec with {', '.join(shard['more'])}"
        )


def mesh_of(call: dict[str, Any]) -> list[int] | None:
    """The mesh that a call was made on: of its first tensor or device that says it."""
    return _mesh_in([*call.get("args", []), *call.get("kwargs", {}).values()])


def _mesh_in(value: Any) -> list[int] | None:
    if isinstance(value, list):
        return next((mesh for item in value if (mesh := _mesh_in(item))), None)
    if not isinstance(value, dict):
        return None
    if "tensor" in value:
        tensor = value["tensor"]
        own: list[int] | None = (tensor.get("placement") or {}).get("mesh") or tensor.get("mesh")
        return own
    inner = value.get("struct")
    if isinstance(inner, dict) and inner.get("type") == "MeshDevice":
        shape = inner.get("fields", {}).get("shape")
        return shape if isinstance(shape, list) else None
    return _mesh_in(list(value.values()))


def _semaphores(op: str, kwargs: dict[str, Any]) -> int:
    """How many an operation wants in a list: as many as in another list of its call; three where chips send partial sums
    back, else one a direction."""
    for value in kwargs.values():
        if isinstance(value, list) and value and type(value[0]).__name__ == "global_semaphore":
            return len(value)
    return 3 if "reduce_scatter" in op else 2


def semaphore(device: Any) -> Any:
    """One that every core of the device sees."""
    grid = device.compute_with_storage_grid_size()
    return ttnn.create_global_semaphore(device, structs.core_range_set([[0, 0, grid.x - 1, grid.y - 1]]), 0)


#: Objects that belong to one run.
_HANDLES = ("MeshDevice", "global_semaphore", "CppTensorToMesh")


class Rebuilder:
    """Makes the arguments of one call for an open device.

    It must go when it is no longer used, not when Python looks for cycles: the library dies when a device that was closed
    meanwhile is freed then."""

    def __init__(self, device: Any, make_tensor: TensorMaker) -> None:
        self._device = device
        self._tensor = make_tensor
        self._function: Any = None
        self._near = ""  # the module of the operation: its own classes come first

    def call(self, call: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments; Unsupported names the one that cannot be made."""
        self._function = function_of(call["op"])
        self._near = type(getattr(self._function, "function", None)).__module__
        given = call.get("args", []), call.get("kwargs", {})
        overloads = self._overloads(len(given[0]), given[1])
        args = []
        for i, value in enumerate(given[0]):
            args.append(self._argument(f"arg{i}", value, [way[i].kind for way in overloads]))
        kwargs = {}
        for name, value in given[1].items():
            kinds = [parameter.kind for way in overloads for parameter in way if parameter.name == name]
            kwargs[name] = self._argument(name, value, kinds)
        self._add_handles(call["op"], len(args), kwargs, overloads)
        return args, kwargs

    def _overloads(self, positions: int, kwargs: dict[str, Any]) -> list[signatures.Signature]:
        """Those that take so many positions and these names."""
        return [
            way
            for way in signatures.of_operation(self._function)
            if positions <= sum(parameter.by_position for parameter in way)
            and kwargs.keys() <= {parameter.name for parameter in way[positions:] if parameter.by_name}
        ]

    def _add_handles(
        self, op: str, positions: int, kwargs: dict[str, Any], overloads: list[signatures.Signature]
    ) -> None:
        """Makes the semaphores that the operation's signature asks for and the trace has left out."""
        for parameter in overloads[0][positions:] if overloads else ():
            if parameter.name in _LEFT_OUT and parameter.name not in kwargs:
                if "Sequence" in parameter.kind or "GlobalSemaphoreArg" in parameter.kind:
                    kwargs[parameter.name] = [semaphore(self._device) for _ in range(_semaphores(op, kwargs))]
                else:
                    kwargs[parameter.name] = semaphore(self._device)

    def _argument(self, name: str, value: Any, kinds: list[str]) -> Any:
        try:
            if isinstance(value, dict) and "dict" in value:
                members = self._make_dict(value["dict"])
                made = structs.fitted(members, kinds, self._near)
                if made is members:
                    raise Unsupported(f"a struct with {', '.join(value['dict'])}, of which the trace lost the type")
                return made
            return structs.fitted(self.value(value), kinds, self._near)
        except Unsupported as error:
            error.argument = error.argument or name
            raise
        except (TypeError, ValueError, AttributeError, KeyError, IndexError) as error:
            # Of the bindings, or of a record that is not what we take it for: not a rule of the library.
            unsupported = Unsupported(f"{type(error).__name__}: {str(error).strip()[:500]}")
            unsupported.argument = name
            raise unsupported from error

    def value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        if len(value) != 1:
            raise Unsupported(f"a value of {len(value)} tags: {', '.join(sorted(value))}")
        ((kind, inner),) = value.items()
        make = getattr(self, f"_make_{kind}", None)
        if make is None:
            raise Unsupported(f'a value {{"{kind}": …}}, of which nothing is known')
        return make(inner)

    def _fields(self, values: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(item) for name, item in values.items() if name != "type"}

    def _handle(self, kind: str, fields: dict[str, Any]) -> Any:
        """What stands in this run for an object that belonged to another."""
        if kind == "MeshDevice":
            return self._device
        if kind == "global_semaphore":
            return semaphore(self._device)
        config = fields.get("config")
        if not isinstance(config, ttnn.MeshMapperConfig):
            raise Unsupported("a mapper of tensors to the mesh of which the trace lost the configuration")
        return ttnn.create_mesh_mapper(self._device, config)

    # One method a tag of the encoding.

    def _make_tensor(self, spec: dict[str, Any]) -> Any:
        return self._tensor(spec)

    def _make_memory_config(self, memory: dict[str, Any]) -> Any:
        return memory_config(memory)

    def _make_dtype(self, name: str) -> Any:
        return classes.enum_member("DataType", name)

    def _make_layout(self, name: str) -> Any:
        return classes.enum_member("Layout", name)

    def _make_enum(self, names: list[str]) -> Any:
        return classes.enum_member(names[0], names[1], self._near)

    def _make_float(self, text: str) -> float:
        return float(text)

    def _make_tuple(self, items: list[Any]) -> tuple[Any, ...]:
        return tuple(self.value(item) for item in items)

    def _make_dict(self, entries: dict[str, Any]) -> dict[str, Any]:
        return {name: self.value(item) for name, item in entries.items()}

    def _make_shape(self, dims: list[int]) -> Any:
        return ttnn.Shape(dims)

    def _make_tile(self, dims: list[int]) -> Any:
        return ttnn.Tile(dims)

    def _make_core_grid(self, fields: dict[str, Any]) -> Any:
        return ttnn.CoreGrid(**self._fields(fields))

    def _make_core_range_set(self, ranges: list[Any]) -> Any:
        return structs.core_range_set(ranges)

    def _make_mesh_coords(self, places: list[list[int]]) -> Any:
        return {ttnn.MeshCoordinate(*place) for place in places}

    def _make_device(self, _: Any) -> Any:
        return self._device

    def _make_global_semaphore(self, _: Any) -> Any:
        return semaphore(self._device)

    def _make_compute_kernel_config(self, fields: dict[str, Any]) -> Any:
        return structs.construct("WormholeComputeKernelConfig", self._fields(fields), near=self._near)

    def _make_conv_config(self, fields: dict[str, Any]) -> Any:
        return structs.construct("Conv2dConfig", self._fields(fields), near=self._near)

    def _make_program_config(self, fields: dict[str, Any]) -> Any:
        if not fields.get("type"):
            raise Unsupported("a program config of which the trace lost the type")
        return structs.construct(fields["type"], self._fields(fields), near=self._near)

    def _make_struct(self, struct: dict[str, Any]) -> Any:
        kind = struct.get("type", "")
        if kind == "FabricNodeId" and (words := _words_in(struct.get("items", []))):
            return structs.construct(kind, {"mesh_id": words[0], "chip_id": words[1]}, near=self._near)
        fields = {name: self.value(item) for name, item in struct.get("fields", {}).items()}
        # Members without a name; an export numbers them.
        items = [self.value(item) for item in struct.get("items", [])]
        items += [fields.pop(name) for name in [name for name in fields if not name or name.isdigit()]]
        if kind in _HANDLES:
            return self._handle(kind, fields)
        if kind in ("set", "frozenset") and fields.keys() <= {"items"}:
            members = fields.get("items", items[0] if len(items) == 1 and isinstance(items[0], list) else items)
            return set(members)
        if kind in ("slice", "range") and not fields:  # Python's own: x[0:32]
            return slice(*items) if kind == "slice" else range(*items)
        if kind.endswith("ComputeKernelConfig"):  # architectures once had one each
            kind = "WormholeComputeKernelConfig"
        return structs.construct(kind, fields, items, self._near)

    def _make_opaque(self, opaque: dict[str, Any]) -> Any:
        kind, text = opaque.get("type", ""), opaque.get("text", "")
        if kind in _HANDLES:
            return self._handle(kind, {})
        if (found := re.fullmatch(rf"{re.escape(kind)}\((\d+)\)", text)) is not None:
            return structs.construct(kind, {}, [int(found[1])], self._near)
        if kind and structs.has_no_members(kind, self._near):
            return structs.construct(kind, {}, near=self._near)
        raise Unsupported(f"a {kind or 'value'} of which the trace has only the text {text[:200]!r}")
