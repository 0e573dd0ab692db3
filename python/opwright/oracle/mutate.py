"""New calls from accepted ones: each has one thing changed that a model could get wrong."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

_DTYPES = ("BFLOAT16", "FLOAT32", "BFLOAT8_B", "BFLOAT4_B", "INT32", "UINT32", "UINT16", "UINT8")
_SIZES = (1, 7, 16, 31, 32, 33, 48, 64, 96, 128, 160, 224, 256)
_INTERLEAVED = ({"layout": "INTERLEAVED", "buffer": "DRAM"}, {"layout": "INTERLEAVED", "buffer": "L1"})


def _tensors(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        for item in value:
            yield from _tensors(item)
    elif isinstance(value, dict):
        if "tensor" in value:
            yield value["tensor"]
        else:
            for item in value.values():
                yield from _tensors(item)


def _sharded(shape: list[int], pick: random.Random) -> dict[str, Any]:
    """A shard spec that may or may not fit."""
    layout = pick.choice(("HEIGHT_SHARDED", "WIDTH_SHARDED", "BLOCK_SHARDED"))
    height = 1
    for n in shape[:-1]:
        height *= n
    width = shape[-1] if shape else 1
    x, y = pick.choice(((0, 0), (1, 0), (3, 0), (7, 0), (0, 3), (1, 1), (3, 3), (7, 7), (7, 3)))
    cores = (x + 1) * (y + 1)

    def part(size: int, pieces: int) -> int:
        return max(32, -(-size // pieces // 32) * 32) if pick.random() < 0.9 else pick.choice(_SIZES)

    pieces = {"HEIGHT_SHARDED": (cores, 1), "WIDTH_SHARDED": (1, cores), "BLOCK_SHARDED": (y + 1, x + 1)}[layout]
    shard = {
        "grid": [[0, 0, x, y]],
        "shape": [part(height, pieces[0]), part(width, pieces[1])],
        "orientation": "ROW_MAJOR" if pick.random() < 0.85 else "COL_MAJOR",
    }
    return {"layout": layout, "buffer": "L1", "shard": shard}


def _change_tensor(tensor: dict[str, Any], pick: random.Random) -> tuple[str, str]:
    kind = pick.choice(("dtype", "layout", "memory", "memory", "shape", "shape", "rank", "storage", "zero"))
    if kind == "dtype":
        tensor["dtype"] = pick.choice(_DTYPES)
        return kind, tensor["dtype"]
    if kind == "layout":
        tensor["layout"] = "ROW_MAJOR" if tensor["layout"] == "TILE" else "TILE"
        return kind, tensor["layout"]
    if kind == "memory":
        tensor["memory"] = copy.deepcopy(
            pick.choice(_INTERLEAVED) if pick.random() < 0.3 else _sharded(tensor["shape"], pick)
        )
        return kind, str(tensor["memory"]["layout"])
    if kind in ("shape", "zero") and tensor["shape"]:
        at = pick.randrange(len(tensor["shape"]))
        tensor["shape"][at] = 0 if kind == "zero" else pick.choice(_SIZES)
        return kind, f"shape[{at}]={tensor['shape'][at]}"
    if kind == "storage":
        if pick.random() < 0.5:
            tensor["storage"] = "HOST"
            return kind, "HOST"
        tensor["deallocated"] = True
        return kind, "deallocated"
    if len(tensor["shape"]) > 1 and pick.random() < 0.5:
        tensor["shape"] = tensor["shape"][1:]
        return "rank", "one less"
    tensor["shape"] = [1, *tensor["shape"]]
    return "rank", "one more"


def _change_argument(call: dict[str, Any], pick: random.Random) -> tuple[str, str] | None:
    names = sorted(call["kwargs"])
    if not names:
        return None
    name = pick.choice(names)
    value = call["kwargs"][name]
    if isinstance(value, dict) and "memory_config" in value:
        shapes = [tensor["shape"] for tensor in _tensors(call["args"] + list(call["kwargs"].values()))]
        shape = shapes[0] if shapes else [32, 32]
        new = copy.deepcopy(pick.choice(_INTERLEAVED) if pick.random() < 0.4 else _sharded(shape, pick))
        if "shard" in new and pick.random() < 0.3:
            del new["shard"]
        call["kwargs"][name] = {"memory_config": new}
        return "out_mem", f"{name}={new['layout']}"
    if isinstance(value, dict) and "dtype" in value:
        call["kwargs"][name] = {"dtype": pick.choice(_DTYPES)}
        return "out_dtype", name
    if isinstance(value, bool):
        call["kwargs"][name] = not value
        return "bool", name
    if isinstance(value, int):
        call["kwargs"][name] = value + pick.choice((-2, -1, 1, 2, 7))
        return "int", name
    if pick.random() < 0.5:
        del call["kwargs"][name]
        return "drop", name
    call["kwargs"][name] = None
    return "none", name


def mutations(records: list[dict[str, Any]], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """`count` calls, each made from one of `records` by one change; the same for the same seed."""
    pick = random.Random(seed)
    by_op: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        by_op.setdefault(record["call"]["op"], []).append(record)
    names = sorted(by_op)
    for i in range(count if names else 0):
        record = pick.choice(by_op[names[i % len(names)]])
        call = copy.deepcopy(record["call"])
        tensors = list(_tensors(call["args"] + list(call["kwargs"].values())))
        changed = _change_argument(call, pick) if not tensors or pick.random() < 0.3 else None
        if changed is None:
            if not tensors:
                continue
            at = pick.randrange(len(tensors))
            kind, text = _change_tensor(tensors[at], pick)
            changed = kind, f"tensor {at}: {text}"
        yield {"call": call, "template": record.get("id", ""), "kind": changed[0], "mutation": changed[1]}
