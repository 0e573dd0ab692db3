"""Arguments of era-1 configurations: a list of `{"argN": value}`, of which some are only known as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from opwright.compat import _reflected
from opwright.compat._values import dict_to_memory_config, parse_dtype, parse_layout

_NOTHING = ("nullopt", "std::nullopt", "None", None)


class Tensor(NamedTuple):
    """What a configuration says of a tensor; None for what it does not."""

    shape: list[int]
    dtype: str | None
    layout: str | None
    memory: Any
    storage: str | None


class Made(NamedTuple):
    """The same in objects of ttnn."""

    shape: tuple[int, ...]
    dtype: Any
    layout: Any
    memory_config: Any


class Arguments:
    """The arguments of one configuration, by their names (`arg0`, …). ValueError where they are none."""

    def __init__(self, arguments: Any) -> None:
        if not isinstance(arguments, list):
            raise ValueError("the arguments of an era-1 configuration are a list")
        self.values: dict[str, Any] = {}
        for one in arguments:
            self.values.update(_parsed(one))
        self.tensors = {name: tensor for name, value in self.values.items() if (tensor := tensor_of(value))}

    def get(self, name: str) -> Any:
        """None where it was not passed, or passed as nothing. ValueError where the trace has only its type."""
        value = self.values.get(name)
        if isinstance(value, str) and "unsupported type" in value:
            raise ValueError(f"the trace has only the type of {name}")
        return None if not isinstance(value, (dict, list)) and value in _NOTHING else value

    def known(self, name: str) -> Any:
        """The same for what is none of the operation's parameters: None where the trace has only its type."""
        value = self.values.get(name)
        return None if isinstance(value, str) and "unsupported type" in value else self.get(name)

    def tensor(self, name: str) -> Tensor | None:
        """ValueError where there was one, and the trace has lost it."""
        value = self.values.get(name)
        if isinstance(value, dict) and "Tensor" in value and name not in self.tensors:
            raise ValueError(f"the trace lost the tensor of {name}")
        return self.tensors.get(name)

    def first(self, count: int) -> list[Tensor]:
        """The first `count` tensors, or as many as there are."""
        return list(self.tensors.values())[:count]

    @property
    def leading(self) -> int:
        """How many tensors come before anything else."""
        return next((i for i, name in enumerate(self.values) if name not in self.tensors), len(self.values))

    def memory_configs(self) -> Iterator[Any]:
        for value in self.values.values():
            if isinstance(value, dict) and isinstance(value.get("MemoryConfig"), dict):
                yield value["MemoryConfig"]

    def tensor_list(self, name: str) -> list[Tensor]:
        """Of a vector of tensors: text, or a list."""
        value = self.get(name)
        if isinstance(value, str) and "tensor_spec" in value:
            value = _reflected.literal(value)
        found = [tensor_of({"Tensor": one}) for one in value] if isinstance(value, list) else []
        if not found or None in found:
            raise ValueError(f"{name} is no list of tensors")
        return [tensor for tensor in found if tensor]

    def number(self, name: str) -> Any:
        """A number that may be written as text; None where there is none. ValueError for anything else."""
        value = self.get(name)
        if name in self.tensors:
            raise ValueError(f"{name} is a tensor, where the key of this operation has a number")
        if value is None or isinstance(value, (int, float)):
            return value
        try:
            return _reflected.literal(value) if isinstance(value, str) else _not_a("number", name, value)
        except ValueError:
            return _not_a("number", name, value)

    def flag(self, name: str) -> bool:
        return bool(self.number(name))

    def numbers(self, name: str) -> list[Any] | None:
        """A list of numbers, a shape, a small vector; also when it is written as text."""
        value = self.get(name)
        if isinstance(value, dict):
            value = value.get("Shape", value.get("SmallVector"))
        if isinstance(value, str):
            value = _reflected.literal(value)
        if value is not None and not isinstance(value, list):
            _not_a("list", name, value)
        numbers: list[Any] | None = value
        return numbers


def _not_a(kind: str, name: str, value: Any) -> Any:
    raise ValueError(f"{name} is no {kind}: {value!r}"[:300])


def _parsed(one: Any) -> dict[str, Any]:
    if not isinstance(one, dict):
        raise ValueError(f"{one!r} is no argument"[:200])
    if "UnparsedElement" not in one:
        return one
    element = one["UnparsedElement"]
    text = element.get("element_info") if isinstance(element, dict) else element
    try:
        found = _reflected.parse(text) if isinstance(text, str) else None
    except ValueError as error:
        raise ValueError(f"an argument that cannot be read ({error}): {text!r}"[:300]) from error
    if not isinstance(found, dict):
        raise ValueError(f"an argument that is only known as {text!r}"[:300])
    return found


def tensor_of(value: Any) -> Tensor | None:
    record = value.get("Tensor") if isinstance(value, dict) else None
    spec = record.get("tensor_spec") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(spec, dict):
        return None
    layout = spec.get("tensor_layout") or {}
    shape = spec.get("logical_shape")
    if not isinstance(shape, list) or not isinstance(layout, dict):
        return None
    memory = layout.get("memory_config")
    said = record.get("layout") or _layout_of(layout.get("alignment"), memory)
    return Tensor(shape, layout.get("dtype"), said, memory, record.get("storage_type"))


def _layout_of(alignment: Any, memory: Any) -> str | None:
    """Masters before November 2025, and half of those after, do not write a layout. Its alignment tells it: the library
    aligns rows of a row-major tensor to one number, and tiles to two. Where a tensor in shards has the shape of its
    shard there, it may be either."""
    if not isinstance(alignment, list) or not alignment:
        return None
    if len(alignment) == 1:
        return "ROW_MAJOR"
    shard = memory.get("shard_spec") if isinstance(memory, dict) else None
    is_sharded = isinstance(shard, dict)
    if alignment == [32, 32] or (not is_sharded and all(n % 32 == 0 for n in alignment[-2:])):
        return "TILE"
    return None


def made(tensor: Tensor) -> Made:
    """ValueError says what the trace has lost."""
    if tensor.layout is None:
        raise ValueError("the master does not say the layout of a tensor")
    memory = tensor.memory
    return Made(
        tuple(tensor.shape),
        parse_dtype(tensor.dtype),
        parse_layout(tensor.layout),
        dict_to_memory_config(memory) if memory else None,
    )


def as_era2(arguments: list[Any]) -> dict[str, Any]:
    """In the form of era-2 masters, for the loader of that era."""
    found = Arguments(arguments)
    for name, tensor in found.tensors.items():
        found.values[name] = {
            "type": "ttnn.Tensor",
            "original_shape": tensor.shape,
            "original_dtype": tensor.dtype,
            "layout": tensor.layout,
            "storage_type": tensor.storage,
            "memory_config": tensor.memory,
        }
    return {name: _plain(value) for name, value in found.values.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return value["MemoryConfig"] if isinstance(value.get("MemoryConfig"), dict) else value
    return None if not isinstance(value, list) and value in _NOTHING else value
