"""Values of recorded calls as Python objects, from what `opwright show` writes (docs/formats/json-output.md)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class EnumValue:
    """`MathFidelity.LoFi`"""

    type: str
    name: str

    def __str__(self) -> str:
        return f"{self.type}.{self.name}" if self.type else self.name


@dataclass(frozen=True)
class ShardSpec:
    shape: tuple[int, ...] | None = None
    grid: tuple[tuple[int, ...], ...] | None = None  #: corners (x0, y0, x1, y1)
    orientation: str | None = None
    distribution: str | None = None  #: of shards in many dimensions
    more: tuple[str, ...] = ()  #: members that nobody knows


@dataclass(frozen=True)
class MemoryConfig:
    """None where the trace does not say it."""

    layout: str | None = None
    buffer: str | None = None
    shard: ShardSpec | None = None
    nd_shard: ShardSpec | None = None
    more: tuple[str, ...] = ()

    @property
    def is_sharded(self) -> bool:
        return self.layout is not None and "SHARDED" in self.layout

    def __str__(self) -> str:
        return " ".join(word for word in (self.buffer, self.layout) if word) or "unknown"


@dataclass(frozen=True)
class Placement:
    """How a tensor lies on a mesh of chips."""

    dims: tuple[str, ...] = ()  #: "Shard(2)", "Replicate"
    distribution: tuple[int, ...] = ()
    mesh: tuple[int, ...] = ()


@dataclass(frozen=True)
class TensorSpec:
    """A tensor of a call: what the trace says of it, and None for the rest."""

    shape: tuple[int, ...] | None = None
    dtype: str | None = None
    layout: str | None = None
    storage: str | None = None
    memory: MemoryConfig | None = None
    tile: tuple[int, ...] | None = None
    device_shape: tuple[int, ...] | None = None
    placement: Placement | None = None
    type: str | None = None  #: of a tensor of another library
    more: tuple[str, ...] = ()

    def __str__(self) -> str:
        shape = "x".join(map(str, self.shape)) if self.shape is not None else "?"
        return " ".join(str(word) for word in (shape, self.dtype, self.layout, self.memory) if word is not None)


@dataclass(frozen=True)
class Struct:
    """An object of the library: its class and its members."""

    type: str
    fields: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Opaque:
    """What the trace has only the text of."""

    type: str
    text: str


def value_of(value: Any) -> Any:
    """Of JSON."""
    if isinstance(value, list):
        return [value_of(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "tensor" in value:
        return _tensor(value["tensor"])
    if "memory" in value:
        return _memory(value["memory"])
    if "enum" in value:
        kind, _, name = value["enum"].rpartition(".")
        return EnumValue(kind, name)
    if "struct" in value:
        return Struct(value["struct"], {name: value_of(item) for name, item in value.get("fields", {}).items()})
    if "dict" in value:
        return {name: value_of(item) for name, item in value["dict"].items()}
    if "float" in value:
        return float(value["float"])
    if "opaque" in value:
        return Opaque(value["opaque"], value.get("text", ""))
    raise ValueError(f"a value of a later version: {', '.join(value)}")


def _tuples(values: dict[str, Any]) -> dict[str, Any]:
    """Lists cannot be changed, and can be compared, as tuples."""
    return {name: _tuple(item) for name, item in values.items()}


def _tuple(value: Any) -> Any:
    return tuple(_tuple(item) for item in value) if isinstance(value, list) else value


def _memory(record: dict[str, Any]) -> MemoryConfig:
    shards = {name: ShardSpec(**_tuples(record[name])) for name in ("shard", "nd_shard") if record.get(name)}
    return MemoryConfig(**{**_tuples(record), **shards})


def _tensor(record: dict[str, Any]) -> TensorSpec:
    parts: dict[str, Any] = _tuples(record)
    if record.get("memory"):
        parts["memory"] = _memory(record["memory"])
    if record.get("placement"):
        parts["placement"] = Placement(**_tuples(record["placement"]))
    return TensorSpec(**parts)


# ----------------------------------------------------------------------- as a device program gets it (formats/oracle.md)


def to_request(value: Any) -> Any:
    """The same value of JSON, as requests to device programs have it."""
    if isinstance(value, list):
        return [to_request(item) for item in value]
    if not isinstance(value, dict) or "tensor" in value or "float" in value:
        return value
    if "memory" in value:
        return {"memory_config": value["memory"]}
    if "enum" in value:
        kind, _, name = value["enum"].rpartition(".")
        return {"enum": [kind, name]}
    if "struct" in value:
        return {"struct": {"type": value["struct"], "fields": to_fields(value.get("fields", {}))}}
    if "dict" in value:
        return {"dict": to_fields(value["dict"])}
    return {"opaque": {"type": value.get("opaque", ""), "text": value.get("text", "")}}


def to_fields(values: dict[str, Any]) -> dict[str, Any]:
    return {name: to_request(item) for name, item in values.items()}
