"""Arguments of an oracle's call -> the real library's objects, and its tensors -> the record of an output."""

from __future__ import annotations

from typing import Any

import ttnn


class InputError(Exception):
    """An input tensor could not be made: the error is its cause."""


def _core_range_set(ranges: list[list[int]]) -> Any:
    return ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(a, b), ttnn.CoreCoord(c, d)) for a, b, c, d in ranges})


def memory_config(memory: dict[str, Any]) -> Any:
    layout = getattr(ttnn.TensorMemoryLayout, memory["layout"])
    buffer = getattr(ttnn.BufferType, memory["buffer"])
    shard = memory.get("shard")
    if shard is None:
        return ttnn.MemoryConfig(layout, buffer)
    orientation = getattr(ttnn.ShardOrientation, shard["orientation"])
    return ttnn.MemoryConfig(
        layout, buffer, ttnn.ShardSpec(_core_range_set(shard["grid"]), shard["shape"], orientation)
    )


def _tensor(spec: dict[str, Any], device: Any) -> Any:
    try:
        make = ttnn.allocate_tensor_on_host if spec["storage"] == "HOST" else ttnn.allocate_tensor_on_device
        tensor = make(
            ttnn.Shape(spec["shape"]),
            getattr(ttnn.DataType, spec["dtype"]),
            getattr(ttnn.Layout, spec["layout"]),
            device,
            memory_config(spec["memory"]),
        )
        if spec.get("deallocated"):
            ttnn.deallocate(tensor)
        return tensor
    except Exception as error:
        raise InputError from error


def _fields(values: dict[str, Any], device: Any) -> dict[str, Any]:
    fields = {}
    for name, item in values.items():
        if name == "type":
            continue
        value = rebuild(item, device)
        if name.endswith("grid_size") and isinstance(value, list):
            value = ttnn.CoreCoord(*value)
        fields[name] = value
    return fields


def _compute_kernel_config(values: dict[str, Any], device: Any) -> Any:
    fields = _fields(values, device)
    if isinstance(fields.get("math_fidelity"), str):
        fields["math_fidelity"] = getattr(ttnn.MathFidelity, fields["math_fidelity"])
    return ttnn.WormholeComputeKernelConfig(**fields)


def _conv_config(values: dict[str, Any], device: Any) -> Any:
    fields = _fields(values, device)
    if isinstance(fields.get("activation"), str):
        fields["activation"] = ttnn.UnaryWithParam(getattr(ttnn.UnaryOpType, fields["activation"]))
    usual = ttnn.Conv2dConfig()
    flags = {name: bool(value) for name, value in fields.items() if isinstance(getattr(usual, name, None), bool)}
    return ttnn.Conv2dConfig(**{**fields, **flags})


#: Fields that are flags: traces write them as 0 and 1, the constructors want a bool.
_FLAGS = frozenset(
    "inplace fuse_batch transpose_mcast mcast_in0 gather_in0 untilize_out legacy_reduction legacy_rsqrt use_welford "
    "exp_approx_mode".split()
)


def _program_config(make: Any, fields: dict[str, Any]) -> Any:
    return make(**{name: bool(value) if name in _FLAGS else value for name, value in fields.items()})


def rebuild(value: Any, device: Any) -> Any:
    """The library's object for a value; a value of an unknown kind is a ValueError that names it."""
    if isinstance(value, list):
        return [rebuild(item, device) for item in value]
    if not isinstance(value, dict):
        return value
    if len(value) != 1:
        raise ValueError(f"a value of {len(value)} tags: {sorted(value)}")
    ((kind, inner),) = value.items()
    if kind == "tensor":
        return _tensor(inner, device)
    if kind == "memory_config":
        return memory_config(inner)
    if kind == "dtype":
        return getattr(ttnn.DataType, inner)
    if kind == "layout":
        return getattr(ttnn.Layout, inner)
    if kind == "shape":
        return ttnn.Shape(inner)
    if kind == "float":
        return float(inner)
    if kind == "tuple":
        return tuple(rebuild(item, device) for item in inner)
    if kind == "device":
        return device
    if kind == "tile":
        return ttnn.Tile(inner)
    if kind == "core_grid":
        return ttnn.CoreGrid(**inner)
    if kind == "core_range_set":
        return _core_range_set(inner)
    if kind == "enum":
        return getattr(getattr(ttnn, inner[0]), inner[1])
    if kind == "compute_kernel_config":
        return _compute_kernel_config(inner, device)
    if kind == "conv_config":
        return _conv_config(inner, device)
    if kind == "program_config":
        return _program_config(getattr(ttnn, inner["type"]), _fields(inner, device))
    if kind == "mesh_coords":
        return {ttnn.MeshCoordinate(*place) for place in inner}
    raise ValueError(f"nothing is known of a value {{{kind!r}: …}}")


def function_of(op: str) -> Any:
    found: Any = ttnn
    for part in op.split(".")[1:]:
        found = getattr(found, part)
    return found


def _memory_record(config: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"layout": config.memory_layout.name, "buffer": config.buffer_type.name}
    shard = config.shard_spec
    if shard is not None:
        grid = [[r.start.x, r.start.y, r.end.x, r.end.y] for r in shard.grid.ranges()]
        record["shard"] = {"grid": grid, "shape": list(shard.shape), "orientation": shard.orientation.name}
    return record


def output_records(result: Any) -> list[dict[str, Any]]:
    """A record for every tensor of a result, in order."""
    if isinstance(result, (list, tuple)):
        return [record for item in result for record in output_records(item)]
    if not isinstance(result, ttnn.Tensor):
        return []
    return [
        {
            "shape": list(result.shape),
            "padded_shape": list(result.padded_shape),
            "dtype": result.dtype.name,
            "layout": result.layout.name,
            "storage": result.storage_type().name,
            "memory": _memory_record(result.memory_config()),
        }
    ]
