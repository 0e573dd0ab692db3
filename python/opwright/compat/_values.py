"""Values of master JSON -> objects of ttnn. Exactly what was traced, or ValueError: never a default."""

from __future__ import annotations

import enum
import functools
import json
import re
from typing import Any

from opwright.compat import _reflected
from opwright.serialize import _text

#: Classes of program configs by what only they have, for masters that have lost the type.
_BY_FIELDS = (
    ("transpose_mcast", "MatmulMultiCoreReuseMultiCastProgramConfig"),
    ("mcast_in0", "MatmulMultiCoreReuseMultiCast1DProgramConfig"),
)


def is_object(value: Any) -> bool:
    """Made already."""
    return (type(value).__module__ or "").partition(".")[0] == "ttnn"


def _member(kind: str, value: Any) -> Any:
    if isinstance(value, enum.Enum) or is_object(value):
        return value
    if type(value) is int:  # as vector files have some
        return _numbered(kind, value)
    if isinstance(value, dict):  # {"type": "DataType", "repr": "DataType.BFLOAT16"}
        # A runner that reads vectors may have made an object of the name inside already.
        return _member(kind, value.get("repr", value.get("value")))
    if not isinstance(value, str) or not value:
        raise ValueError(f"{value!r} is no {kind}")
    return _named(kind, value)


@functools.lru_cache(maxsize=1024)
def _named(kind: str, name: str) -> Any:
    from opwright.ttnn_device import classes

    try:
        return classes.enum_member(kind, _last(name))
    except classes.Unsupported as error:
        raise ValueError(f"{name!r} is no {kind}: {error}") from error


def _numbered(kind: str, number: int) -> Any:
    from opwright.ttnn_device import classes

    try:
        return classes.class_named(kind)(number)
    except ValueError as error:
        raise ValueError(f"{number} is no {kind}") from error


def _last(name: str) -> str:
    return re.split(r"\.|::", name)[-1]


def parse_dtype(value: Any) -> Any:
    """`DataType.BFLOAT16`, `DataType::BFLOAT16`, `ttnn.bfloat16`."""
    return _member("DataType", value.upper() if isinstance(value, str) else value)


def parse_layout(value: Any) -> Any:
    """`Layout.TILE`, `TILE`, `ttnn.TILE_LAYOUT`."""
    return _member("Layout", value.upper().removesuffix("_LAYOUT") if isinstance(value, str) else value)


def enum_value(value: Any) -> Any:
    """A member of an enum that the master names with its type; anything else as it is."""
    kinds = ("DataType", "Layout", "Topology", "SigmoidMode", "TensorMemoryLayout", "ShardOrientation")
    if isinstance(value, dict) and value.get("type") in kinds:
        return _member(value["type"], value)
    return value


def special_float(value: Any) -> Any:
    if isinstance(value, str) and value.lower() in ("inf", "-inf", "infinity", "-infinity", "nan"):
        return float(value)
    return value


def is_memory_config(value: Any) -> bool:
    return isinstance(value, dict) and "memory_layout" in value and "buffer_type" in value


_SHARD = {"grid", "shape", "shard_shape", "orientation", "shard_distribution_strategy", "mode", "physical_shard_shape"}


def dict_to_memory_config(value: Any) -> Any:
    """As master JSON has it, or as vector files do: {"type": "…MemoryConfig", "data": {…}}."""
    if value is None or is_object(value):
        return value
    if isinstance(value, dict) and isinstance(value.get("data"), dict):
        value = value["data"]
    if not is_memory_config(value):
        raise ValueError(f"{value!r} is no memory config"[:300])
    return _memory_config(json.dumps(value, default=_written))


def _written(value: Any) -> str:
    """Of a member of an enum that somebody made already: its name."""
    if not is_object(value):
        raise ValueError(f"{value!r} in a memory config"[:200])
    return str(value)


@functools.lru_cache(maxsize=4096)
def _memory_config(text: str) -> Any:
    """Masters have few, and each many times."""
    from opwright.ttnn_device import classes, objects

    value = json.loads(text)
    record: dict[str, Any] = {
        "layout": _member("TensorMemoryLayout", value["memory_layout"]).name,
        "buffer": _member("BufferType", value["buffer_type"]).name,
    }
    for name, ours in (("shard_spec", "shard"), ("nd_shard_spec", "nd_shard")):
        if (spec := _absent_as_none(value.get(name))) is not None:
            record[ours] = _shard(spec)
    try:
        return objects.memory_config(record)
    except classes.Unsupported as error:
        raise ValueError(str(error)) from error


def _absent_as_none(value: Any) -> Any:
    return None if value in ("None", "nullopt", "std::nullopt", "") else value


def _shard(spec: Any) -> dict[str, Any]:
    if not isinstance(spec, dict) or spec.keys() - _SHARD:
        raise ValueError(f"{spec!r} is no shard spec"[:300])
    missing = [name for name in ("grid", "orientation") if name not in spec]
    shape = spec.get("shape", spec.get("shard_shape"))
    if missing or shape is None:
        raise ValueError(f"a shard spec of which the trace lost the {', '.join(missing or ['shape'])}")
    orientation = spec["orientation"]
    if orientation in (0, 1, "0", "1"):
        orientation = ("ROW_MAJOR", "COL_MAJOR")[int(orientation)]
    grid = _reflected.literal(spec["grid"]) if isinstance(spec["grid"], str) else spec["grid"]
    if isinstance(shape, str):  # "{224, 32}"
        shape = [int(number) for number in re.findall(r"\d+", shape)]
    if not isinstance(grid, list):
        raise ValueError(f"{grid!r} is no set of cores"[:200])
    if len(grid) == 2 and all(isinstance(one, dict) and one.keys() == {"x", "y"} for one in grid):
        grid = [grid]  # one range
    out = {
        "grid": [_corners(one) for one in grid],
        "shape": list(shape),
        "orientation": _member("ShardOrientation", orientation).name,
    }
    if "shard_distribution_strategy" in spec:
        out["distribution"] = _member("ShardDistributionStrategy", spec["shard_distribution_strategy"]).name
    return out


def _corners(one: Any) -> list[int]:
    """Of one range of cores. Their order is kept: matmuls with weights in DRAM depend on it."""
    if isinstance(one, dict) and one.keys() == {"start", "end"}:
        one = [one["start"], one["end"]]
    try:
        return [int(corner[axis]) for corner in one for axis in ("x", "y")]
    except (TypeError, KeyError, ValueError) as error:
        raise ValueError(f"{one!r} is no range of cores"[:200]) from error


def _flag(value: Any) -> bool:
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    if isinstance(value, str) and value.lower() in ("true", "false", "0", "1"):
        return value.lower() in ("true", "1")
    raise ValueError(f"{value!r} is no flag")


def dict_to_compute_kernel_config(value: Any) -> Any:
    if value is None or is_object(value) or not isinstance(value, dict):
        return value
    fields = {
        name: item
        if item is None
        else _member("MathFidelity", item)
        if name == "math_fidelity"
        else _member("ThrottleLevel", item)
        if name == "throttle_level"
        else _flag(item)
        for name, item in value.items()
        if name != "type"
    }
    return _construct("WormholeComputeKernelConfig", fields)


def dict_to_core_grid(value: Any) -> Any:
    """{"type": "CoreGrid", "value": "ttnn.CoreGrid(x=8, y=7)"}, or that text."""
    if value is None or is_object(value):
        return value
    text = value.get("value", value.get("repr")) if isinstance(value, dict) else value
    found = re.search(r"x\s*=\s*(\d+).*y\s*=\s*(\d+)", str(text))
    if found is None:
        raise ValueError(f"{value!r} is no grid of cores"[:200])
    return _construct("CoreGrid", {"x": int(found[1]), "y": int(found[2])})


def dict_to_program_config(value: Any, input_b_memory_config: Any = None, input_a_memory_config: Any = None) -> Any:
    """By its type; where the master has lost it, by what only one class has."""
    if value is None or not isinstance(value, dict):
        return value
    if isinstance(value.get("value"), str):
        return _from_text(value["value"])
    fields = {name: item for name, item in value.items() if name not in ("type", "__class__")}
    if _absent_as_none(fields.get("fused_activation")) is None:
        fields.pop("fused_activation", None)
    kind = value.get("type") or next((kind for name, kind in _BY_FIELDS if name in fields), "")
    if not kind and fields.keys() <= {"in0_block_w", "per_core_M", "per_core_N"}:  # noqa: SIM102
        if _is_sharded(input_a_memory_config) and _is_sharded(input_b_memory_config, "DRAM"):
            kind = "MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig"
    if not kind:
        raise ValueError(f"a program config of which the trace lost the type: {value!r}"[:300])
    return _construct(_last(kind), fields)


def _is_sharded(memory: Any, buffer: str = "") -> bool:
    memory = dict_to_memory_config(memory)
    return memory is not None and memory.is_sharded() and (not buffer or memory.buffer_type.name == buffer)


def _from_text(text: str) -> Any:
    from opwright.ttnn_device.classes import Unsupported

    try:
        return _text.parse(text)
    except (Unsupported, _text.NotAnObject) as error:
        raise ValueError(f"{text!r} is no object of ttnn: {error}"[:500]) from error


def _construct(kind: str, fields: dict[str, Any]) -> Any:
    from opwright.ttnn_device import structs
    from opwright.ttnn_device.classes import Unsupported

    try:
        return structs.construct(kind, fields)
    except Unsupported as error:
        raise ValueError(str(error)) from error
