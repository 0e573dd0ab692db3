"""Configurations as `opwright export --to jsonl` writes them -> calls that can be made on the real library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_POSITION = re.compile(r"arg(\d+)$")


class Lost(Exception):
    """The configuration does not say all that is needed to repeat it."""


def _memory(memory: dict[str, Any]) -> dict[str, Any]:
    if "layout" not in memory or "buffer" not in memory:
        raise Lost("a memory config without layout or buffer")
    made = {"layout": memory["layout"], "buffer": memory["buffer"]}
    for kind, names in (("shard", ()), ("nd_shard", ("distribution",))):
        if kind in memory:
            shard = memory[kind]
            made[kind] = {name: shard[name] for name in ("grid", "shape", "orientation", *names) if name in shard}
    return made


def _tensor(tensor: dict[str, Any]) -> dict[str, Any]:
    missing = [name for name in ("shape", "dtype", "layout", "storage") if name not in tensor]
    if missing or "type" in tensor:
        raise Lost(f"a tensor without {', '.join(missing)}" if missing else f"a {tensor['type']}")
    kept = ("shape", "dtype", "layout", "storage", "tile", "placement")
    made: dict[str, Any] = {name: tensor[name] for name in kept if name in tensor}
    made["memory"] = _memory(tensor.get("memory", {"layout": "INTERLEAVED", "buffer": "DRAM"}))
    return made


def _struct(kind: str, fields: dict[str, Any]) -> dict[str, Any]:
    values = {name: value(item) for name, item in fields.items()}
    if kind.endswith("ComputeKernelConfig"):
        return {"compute_kernel_config": values}
    if kind == "CoreGrid":
        return {"core_grid": values}
    if kind.endswith("ProgramConfig"):
        return {"program_config": {"type": kind, **values}}
    if kind == "Conv2dConfig":
        return {"conv_config": {name: item for name, item in values.items() if item is not None}}
    items = [values.pop(name) for name in list(values) if name.isdigit()]  # members without a name
    return {"struct": {"type": kind, **({"items": items} if items else {}), **({"fields": values} if values else {})}}


def value(item: Any) -> Any:
    """A value of an export as a value of a call; Lost when it cannot be one."""
    if isinstance(item, list):
        return [value(member) for member in item]
    if not isinstance(item, dict):
        return item
    if "tensor" in item:
        return {"tensor": _tensor(item["tensor"])}
    if "memory" in item:
        return {"memory_config": _memory(item["memory"])}
    if "float" in item:
        return item
    if "enum" in item:
        kind, _, name = item["enum"].rpartition(".")
        if kind == "DataType":
            return {"dtype": name}
        if kind == "Layout":
            return {"layout": name}
        return {"enum": [kind, name]}
    if "struct" in item:
        return _struct(item["struct"], item["fields"])
    if "dict" in item:
        return {"dict": {name: value(member) for name, member in item["dict"].items()}}
    if "opaque" in item:
        return {"opaque": item["opaque"]}
    raise Lost("a value that the trace did not keep")


def calls(exported: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One record a configuration of Python's convention that says all that is needed; others are left out."""
    for config in exported:
        if config["convention"] != "python":
            continue
        try:
            arguments = {name: value(item) for name, item in config["arguments"].items()}
        except Lost:
            continue
        places = sorted((int(found[1]), name) for name in arguments if (found := _POSITION.match(name)))
        kwargs = {name: item for name, item in arguments.items() if not _POSITION.match(name)}
        if places and places[0][0] != 0:
            # Positions before the first unnamed one have got their names: they come first, in the order of the export.
            named = [name for name in arguments if not _POSITION.match(name)][: places[0][0]]
            args = [kwargs.pop(name) for name in named]
        else:
            args = []
        args += [arguments[name] for _, name in places]
        yield {"call": {"op": config["operation"], "args": args, "kwargs": kwargs}, "template": config["key"][:16]}
