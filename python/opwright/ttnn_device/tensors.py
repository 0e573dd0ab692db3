"""Tensors of a call: inputs made as the trace says, records and values of what came back."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import ttnn

from opwright.ttnn_device import classes, objects
from opwright.ttnn_device.classes import Unsupported

#: Element types of the protocol.
NUMPY = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8}
_PLACEMENT = re.compile(r"Shard\((-?\d+)\)|Replicate")


class InputError(Exception):
    """An input tensor could not be made: the error is its cause."""


def make_tensor(spec: dict[str, Any], device: Any, values: np.ndarray | None = None) -> Any:
    """The tensor that a record describes: with `values` (logical shape, row major), or with whatever memory holds."""
    _check(spec)
    dtype = classes.enum_member("DataType", spec["dtype"])
    layout = classes.enum_member("Layout", spec["layout"])
    tile = spec.get("tile")
    shape = spec.get("device_shape") or spec["shape"]  # of one chip, where the record has that of all
    if values is not None and shape != spec["shape"]:
        raise Unsupported("values of a tensor that is spread over several chips")
    try:
        memory = objects.memory_config(spec.get("memory") or {"layout": "INTERLEAVED", "buffer": "DRAM"})
        if values is None and tile in (None, [32, 32]):
            make = ttnn.allocate_tensor_on_host if spec["storage"] == "HOST" else ttnn.allocate_tensor_on_device
            tensor = make(ttnn.Shape(shape), dtype, layout, device, memory)
        else:
            # The library's allocator takes no tile: a tensor with one and without data is one of zeros.
            array = np.zeros(shape, element_of(spec["dtype"])) if values is None else values
            extra = {} if tile is None else {"tile": ttnn.Tile(tile)}
            tensor = ttnn.Tensor(array, data_type=dtype, layout=layout, **extra)
            if spec["storage"] != "HOST":
                tensor = tensor.to(device, memory)
    except RuntimeError as error:
        raise InputError from error
    _place(tensor, spec.get("placement"))
    if spec.get("deallocated"):
        ttnn.deallocate(tensor)
    return tensor


def element_of(dtype: str) -> Any:
    names = {"INT32": "i32", "UINT32": "u32", "UINT16": "u16", "UINT8": "u8"}
    return NUMPY[names.get(dtype, "f32")]


def _check(spec: dict[str, Any]) -> None:
    if spec.get("type"):
        raise Unsupported(f"a {spec['type']}: only tensors of ttnn are made")
    missing = [name for name in ("shape", "dtype", "layout", "storage") if spec.get(name) is None]
    if missing:
        raise Unsupported(f"a tensor of which the trace lost the {', '.join(missing)}")
    if spec["storage"] not in ("HOST", "DEVICE"):
        raise Unsupported(f"a tensor in storage {spec['storage']}")
    if spec.get("more"):
        raise Unsupported(f"a tensor with {', '.join(spec['more'])}")


def _place(tensor: Any, placement: dict[str, Any] | None) -> None:
    """How the tensor says that it lies on the mesh. On a single chip it says so anyway."""
    dims = (placement or {}).get("dims") or []
    if placement is None or not dims or all(n == 1 for n in placement["mesh"]):
        return
    placements = []
    for dim in dims:
        found = _PLACEMENT.fullmatch(dim)
        if found is None:
            raise Unsupported(f"a tensor placed on the mesh as {dim!r}")
        placements.append(ttnn.PlacementReplicate() if found[1] is None else ttnn.PlacementShard(int(found[1])))
    mesh = placement["mesh"]
    coordinates = [ttnn.MeshCoordinate(at) for at in itertools.product(*(range(n) for n in mesh))]
    shape = ttnn.MeshShape(placement.get("distribution") or mesh)
    tensor.update_tensor_topology(ttnn.TensorTopology(shape, placements, coordinates))


# ------------------------------------------------------------------------------------------------------------- outputs


def tensors_in(value: Any) -> Iterator[Any]:
    """Every tensor of a result or an argument, in order."""
    if isinstance(value, ttnn.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from tensors_in(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from tensors_in(item)


def _shard_record(grid: Any, shape: Any, orientation: Any) -> dict[str, Any]:
    ranges = [[one.start.x, one.start.y, one.end.x, one.end.y] for one in grid.ranges()]
    return {"grid": ranges, "shape": list(shape), "orientation": orientation.name}


def memory_record(config: Any) -> dict[str, Any]:
    record: dict[str, Any] = {"layout": config.memory_layout.name, "buffer": config.buffer_type.name}
    shard, nd_shard = config.shard_spec, getattr(config, "nd_shard_spec", None)
    if shard is not None:
        record["shard"] = _shard_record(shard.grid, shard.shape, shard.orientation)
    elif nd_shard is not None:
        record["nd_shard"] = _shard_record(nd_shard.grid, nd_shard.shard_shape, nd_shard.orientation)
        record["nd_shard"]["distribution"] = nd_shard.shard_distribution_strategy.name
    return record


def record_of(tensor: Any) -> dict[str, Any]:
    record = {
        "shape": list(tensor.shape),
        "padded_shape": list(tensor.padded_shape),
        "dtype": tensor.dtype.name,
        "layout": tensor.layout.name,
        "storage": tensor.storage_type().name,
        "memory": memory_record(tensor.memory_config()),
    }
    if record["layout"] == "TILE" and (tile := list(tensor.tile.tile_shape)) != [32, 32]:
        record["tile"] = tile
    return record


def output_records(result: Any) -> list[dict[str, Any]]:
    return [record_of(tensor) for tensor in tensors_in(result)]


def read(tensor: Any) -> np.ndarray:
    """Its values exactly, in their logical shape: floats of every dtype as float32. Of a mesh: of the first."""
    if tensor.storage_type() == ttnn.StorageType.DEVICE:
        parts = ttnn.get_device_tensors(tensor)
        tensor = (parts[0] if parts else tensor).cpu()
    if tensor.dtype in (ttnn.bfloat16, ttnn.bfloat8_b, ttnn.bfloat4_b):
        tensor = ttnn.to_dtype(tensor, ttnn.float32)
    if tensor.layout != ttnn.ROW_MAJOR_LAYOUT:
        tensor = ttnn.to_layout(tensor, ttnn.ROW_MAJOR_LAYOUT)
    return np.ascontiguousarray(tensor.to_numpy()).reshape(list(tensor.shape))
