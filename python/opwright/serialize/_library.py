"""Objects of the ttnn library: what they are made of, in the names under which they can be made again.

Only asked for objects of the library, and for texts that name it: nothing here is imported before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from opwright.serialize import _text

#: Objects of an open device, which are made anew on the reader's.
_HANDLES = {"CppTensorToMesh", "CppMeshToTensor", "global_semaphore"}


def is_object(value: Any) -> bool:
    """Whether it is an object of the library: no class of a program that is derived from one."""
    module = type(value).__module__
    return isinstance(module, str) and module.partition(".")[0] == "ttnn"


def full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def members(value: Any) -> dict[str, Any] | None:
    """The members of an object by their names; None where this version of the library does not show them all: what is
    made of a part of them would be another object."""
    try:
        return _members(value)
    except (AttributeError, TypeError, RuntimeError):
        return None


def _members(value: Any) -> dict[str, Any] | None:
    if not hasattr(sys.modules.get("ttnn"), "_ttnn"):  # a stand-in, whose objects are Python's own
        return {name: item for name, item in vars(value).items() if not name.startswith("_")}
    from opwright._ttnn_tables import CALL, CALL_LIST, FIELDS, ITEMS, LIST
    from opwright.ttnn_device import structs
    from opwright.ttnn_device.sameness import readable

    cls = type(value)
    if cls.__name__ in FIELDS:
        found: dict[str, Any] = {}
        for name, attribute, access in FIELDS[cls.__name__]:
            shown = value if access == ITEMS else getattr(value, attribute)
            shown = shown() if access in (CALL, CALL_LIST) else shown
            found[name] = list(shown) if access in (LIST, CALL_LIST, ITEMS) else shown
        return found
    if cls.__name__ == "global_semaphore":
        return {}
    names = readable(cls)
    if names:
        # A class may print more than it shows (MeshMapperConfig its override of the mesh): then the text is what it is.
        return None if len(_text.names(repr(value))) > len(names) else {name: getattr(value, name) for name in names}
    if getattr(value, "__dict__", None):
        return dict(vars(value))
    if structs.has_no_members(full_name(cls)):
        return {}
    if hasattr(cls, "append") and hasattr(cls, "__iter__"):
        return {"items": [list(value)]}  # a vector of C++
    return None


def tensor_record(tensor: Any, write: Callable[[Any], Any]) -> dict[str, Any]:
    """What a tensor is, without what it holds. The first three fields are those of the existing spelling. A stand-in
    for the library may show less than its tensors do."""
    memory, layout, storage = (_shown(tensor, name) for name in ("memory_config", "layout", "storage_type"))
    record = {
        "__type__": "ttnn.TensorRef",
        "shape": list(tensor.shape),
        "dtype": str(tensor.dtype),
        "memory_config": None if memory is None else memory_record(memory),
    }
    record.update(
        {name: _name(one) for name, one in (("layout", layout), ("storage_type", storage)) if one is not None}
    )
    if (
        record.get("layout") == "TILE"
        and hasattr(tensor, "tile")
        and (tile := list(tensor.tile.tile_shape)) != [32, 32]
    ):
        record["tile"] = tile
    topology = _shown(tensor, "tensor_topology")
    if topology is not None and any(n != 1 for n in topology.distribution_shape()):
        record["topology"] = write(topology)
    return record


def _shown(obj: Any, name: str) -> Any:
    """An attribute, or what a method of that name returns; None where there is none."""
    found = getattr(obj, name, None)
    return found() if callable(found) else found


def _name(member: Any) -> str:
    return str(getattr(member, "name", member))


def memory_record(config: Any) -> dict[str, Any]:
    record: dict[str, Any] = {
        "__type__": "ttnn.MemoryConfig",
        "memory_layout": _name(config.memory_layout),
        "buffer_type": _name(config.buffer_type),
    }
    shard, nd_shard = getattr(config, "shard_spec", None), getattr(config, "nd_shard_spec", None)
    if shard is not None:
        record["shard_spec"] = {"shape": list(shard.shape), **_cores(shard)}
    elif nd_shard is not None:
        record["nd_shard_spec"] = {
            "shape": list(nd_shard.shard_shape),
            **_cores(nd_shard),
            "distribution": nd_shard.shard_distribution_strategy.name,
        }
    return record


def _cores(shard: Any) -> dict[str, Any]:
    if not hasattr(shard, "grid"):  # of a stand-in
        return {}
    ranges = [[one.start.x, one.start.y, one.end.x, one.end.y] for one in shard.grid.ranges()]
    return {"grid": ranges, "orientation": shard.orientation.name}


def from_text(text: str) -> Any:
    """The object that prints this; raises what says why there is none."""
    if text.endswith(" object>"):
        raise ValueError("the library does not show what it is made of")
    return _text.parse(text)


def memory_config(record: dict[str, Any]) -> Any:
    """Raises what says why it cannot be made: the existing writer leaves out a shard's grid and orientation."""
    from opwright.ttnn_device import objects

    fields = {"layout": record.get("memory_layout"), "buffer": record.get("buffer_type")}
    for name, ours in (("shard_spec", "shard"), ("nd_shard_spec", "nd_shard")):
        if record.get(name) is not None:
            given = record[name]
            unknown = given.keys() - {"shape", "grid", "orientation", "distribution", "dims"}
            if unknown or given.get("dims") is not None:
                unknown = unknown or {"dims"}
                raise ValueError(f"a shard spec with {', '.join(sorted(unknown))}")
            fields[ours] = {key: item for key, item in given.items() if key != "dims"}
    unknown = record.keys() - {"__type__", "memory_layout", "buffer_type", "shard_spec", "nd_shard_spec"}
    if unknown:
        raise ValueError(f"a memory config with {', '.join(sorted(unknown))}")
    return objects.memory_config({name: item for name, item in fields.items() if item is not None})


def construct(name: str, fields: dict[str, Any], mesh_device: Any) -> Any:
    """The object of that class; raises what says why there is none."""
    import ttnn
    from opwright.ttnn_device import objects, structs

    short = name.rpartition(".")[2]
    if short in _HANDLES:
        if mesh_device is None:
            raise ValueError(f"a {short} needs a mesh_device")
        if short == "global_semaphore":
            return objects.semaphore(mesh_device)
        if short == "CppTensorToMesh":
            return ttnn.create_mesh_mapper(mesh_device, fields["config"])
        return ttnn.create_mesh_composer(mesh_device, fields["config"])
    return structs.construct(name, {key: item for key, item in fields.items() if key != "items"}, fields.get("items"))
