"""Arguments of a recorded call -> the real library's objects. The one place that knows the encoding of values
(docs/formats/oracle.md); what cannot be made again is `Unsupported`, never dropped or replaced by a default."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import ttnn

from opwright.ttnn_device import structs
from opwright.ttnn_device.structs import Unsupported

__all__ = ["Rebuilder", "Unsupported", "function_of", "memory_config", "mesh_of"]

#: Makes a tensor of its record. Raises what the library raises.
TensorMaker = Callable[[dict[str, Any]], Any]

#: Handles of one run, which are no part of a configuration: how many an operation wants under each name.
_SEMAPHORES = {
    "ttnn.experimental.all_gather_async": {"multi_device_global_semaphore": 2, "barrier_semaphore": 1},
    "ttnn.experimental.reduce_scatter_minimal_async": {"multi_device_global_semaphore": 3, "barrier_semaphore": 1},
}


def function_of(op: str) -> Any:
    found: Any = ttnn
    for part in op.split(".")[1:]:
        found = getattr(found, part, None)
        if found is None:
            error = Unsupported(f"ttnn {structs.version()} has no operation {op}")
            error.argument = "op"
            raise error
    return found


def memory_config(memory: dict[str, Any]) -> Any:
    if "layout" not in memory or "buffer" not in memory:
        raise Unsupported("a memory config of which the trace lost the layout or the buffer type")
    if memory.get("more"):
        raise Unsupported(f"a memory config with {', '.join(memory['more'])}")
    buffer = structs.enum_member("BufferType", memory["buffer"])
    shard, nd_shard = memory.get("shard"), memory.get("nd_shard")
    if nd_shard is not None and (shard is None or memory["layout"] == "ND_SHARDED"):
        return ttnn.MemoryConfig(buffer, _nd_shard_spec(nd_shard))
    layout = structs.enum_member("TensorMemoryLayout", memory["layout"])
    return ttnn.MemoryConfig(layout, buffer, None if shard is None else _shard_spec(shard))


def _shard_spec(shard: dict[str, Any]) -> Any:
    _check_shard(shard)
    orientation = structs.enum_member("ShardOrientation", shard["orientation"])
    return ttnn.ShardSpec(structs.core_range_set(shard["grid"]), shard["shape"], orientation)


def _nd_shard_spec(shard: dict[str, Any]) -> Any:
    _check_shard(shard)
    return ttnn.NdShardSpec(
        ttnn.Shape(shard["shape"]),
        structs.core_range_set(shard["grid"]),
        structs.enum_member("ShardOrientation", shard["orientation"]),
        structs.enum_member("ShardDistributionStrategy", shard.get("distribution") or "ROUND_ROBIN_1D"),
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


class Rebuilder:
    """Makes the arguments of one call for an open device."""

    def __init__(self, device: Any, make_tensor: TensorMaker) -> None:
        self._device = device
        self._tensor = make_tensor

    def call(self, call: dict[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Positional and named arguments; Unsupported names the one that cannot be made."""
        args = [self._argument(f"arg{i}", value) for i, value in enumerate(call.get("args", []))]
        kwargs = {name: self._argument(name, value) for name, value in call.get("kwargs", {}).items()}
        if len(args) + len(kwargs) and self._device.get_num_devices() > 1:
            for name, count in _SEMAPHORES.get(call["op"], {}).items():
                if name not in kwargs:
                    made = [self._semaphore() for _ in range(count)]
                    kwargs[name] = made if count > 1 else made[0]
        return args, kwargs

    def _argument(self, name: str, value: Any) -> Any:
        try:
            if isinstance(value, dict) and "dict" in value:  # no operation takes one
                raise Unsupported(f"a struct with {', '.join(value['dict'])}, of which the trace lost the type")
            return self.value(value)
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

    def _semaphore(self) -> Any:
        grid = self._device.compute_with_storage_grid_size()
        cores = structs.core_range_set([[0, 0, grid.x - 1, grid.y - 1]])
        return ttnn.create_global_semaphore(self._device, cores, 0)

    # One method a tag of the encoding.

    def _make_tensor(self, spec: dict[str, Any]) -> Any:
        return self._tensor(spec)

    def _make_memory_config(self, memory: dict[str, Any]) -> Any:
        return memory_config(memory)

    def _make_dtype(self, name: str) -> Any:
        return structs.enum_member("DataType", name)

    def _make_layout(self, name: str) -> Any:
        return structs.enum_member("Layout", name)

    def _make_enum(self, names: list[str]) -> Any:
        return structs.enum_member(names[0], names[1])

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
        return self._semaphore()

    def _make_compute_kernel_config(self, fields: dict[str, Any]) -> Any:
        return structs.construct("WormholeComputeKernelConfig", self._fields(fields))

    def _make_conv_config(self, fields: dict[str, Any]) -> Any:
        return structs.construct("Conv2dConfig", self._fields(fields))

    def _make_program_config(self, fields: dict[str, Any]) -> Any:
        if not fields.get("type"):
            raise Unsupported("a program config of which the trace lost the type")
        return structs.construct(fields["type"], self._fields(fields))

    def _make_struct(self, struct: dict[str, Any]) -> Any:
        kind, fields = struct.get("type", ""), self._fields(struct.get("fields", {}))
        # Members without a name; an export numbers them.
        items = [self.value(item) for item in struct.get("items", [])]
        items += [fields.pop(name) for name in [name for name in fields if not name or name.isdigit()]]
        if kind == "MeshDevice":
            return self._device
        if kind == "global_semaphore":
            return self._semaphore()
        if kind == "set":
            return set(items[0] if len(items) == 1 and isinstance(items[0], list) else items)
        if "Unary" in kind and "op_type" in fields:
            return structs.unary(fields["op_type"], fields.get("params", fields.get("param")) or ())
        if kind.endswith("ComputeKernelConfig"):
            return structs.construct("WormholeComputeKernelConfig", fields)
        if kind in _PLAIN:
            members = items + [fields.pop(name) for name in list(fields) if name in _PLAIN[kind]]
            if members and not fields:
                return _from_members(kind, members)
        if items:
            raise Unsupported(f"a {kind} with {len(items)} members without a name")
        return structs.construct(kind, fields)

    def _make_opaque(self, opaque: dict[str, Any]) -> Any:
        kind, text = opaque.get("type", ""), opaque.get("text", "")
        if kind == "MeshDevice":
            return self._device
        if kind == "global_semaphore":
            return self._semaphore()
        if kind == "SubDeviceId" and (found := re.fullmatch(r"\D*(\d+)\D*", text)):
            return ttnn.SubDeviceId(int(found[1]))
        raise Unsupported(f"a {kind or 'value'} of which the trace has only the text {text[:200]!r}")


#: Structs that are a list or a few numbers, and the names under which traces have them.
_PLAIN = {
    "CoreCoord": ("x", "y"),
    "CoreRange": ("start", "end"),
    "CoreRangeSet": ("ranges",),
    "Shape": ("dims", "shape"),
    "MeshShape": ("dims", "shape"),
    "MeshCoordinate": ("dims", "coords"),
    "Tile": ("tile_shape", "shape"),
}


def _from_members(kind: str, members: list[Any]) -> Any:
    if len(members) == 1 and isinstance(members[0], list):
        members = members[0]
    if kind == "CoreRangeSet":
        return structs.core_range_set(members)
    if kind in ("Shape", "Tile"):
        return getattr(ttnn, kind)(members)
    return getattr(ttnn, kind)(*members)
