"""Tensors read from the raw text of a master JSON by rules of its own: what `show` must agree with.

A tensor is a tuple, absent parts are None:
(shape, dtype, layout, storage, memory layout, buffer, shard, nd shard, tile, alignment, placement), a shard is (shape, ranges of the grid, orientation).
"""

import json
import re
from collections import Counter, defaultdict
from pathlib import Path


def last_word(text: str | None) -> str | None:
    """`DataType::BFLOAT16`, `DataType.BFLOAT16` -> BFLOAT16."""
    return None if text is None else re.split(r"::|\.", text)[-1]


def integers(value: object) -> tuple[int, ...]:
    """The numbers of `[224, 32]`, `"{224, 32}"`, `"[224, 32]"`."""
    return tuple(int(word) for word in re.findall(r"-?\d+", value if isinstance(value, str) else json.dumps(value)))


def grid_ranges(value: object) -> tuple[tuple[int, ...], ...]:
    """Corners in the order of the text, x before y, two a range: however they are nested or joined."""
    text = value if isinstance(value, str) else json.dumps(value)
    corners = [(int(x), int(y)) for x, y in re.findall(r'\{"x": ?(\d+), ?"y": ?(\d+)\}', text)]
    if '"end": {' in text and text.index('"end"') < text.index('"start"'):  # sorted keys put the end first
        corners = [corner for first in range(0, len(corners), 2) for corner in (corners[first + 1], corners[first])]
    assert len(corners) % 2 == 0, text
    return tuple(corners[first] + corners[first + 1] for first in range(0, len(corners), 2))


def shard_of(spec: object, shape: str = "shape") -> tuple | None:
    if spec in (None, "None", "std::nullopt"):
        return None
    if isinstance(spec, str):  # ShardSpec{grid=[…], shape=[32, 32], orientation=ShardOrientation::ROW_MAJOR}
        found = re.fullmatch(r"ShardSpec\{grid=(.*), shape=(\[.*?\]), orientation=(\S+?)\}?", spec)
        return integers(found[2]), grid_ranges(found[1]), last_word(found[3])
    return integers(spec[shape]), grid_ranges(spec["grid"]), last_word(spec["orientation"])


def era1_tensor(tensor: dict) -> tuple:
    spec = tensor["tensor_spec"]
    layout, memory = spec["tensor_layout"], spec["tensor_layout"]["memory_config"]
    return (
        integers(spec["logical_shape"]),
        last_word(layout["dtype"]),
        last_word(tensor.get("layout")),
        last_word(tensor.get("storage_type")),
        last_word(memory["memory_layout"]),
        last_word(memory["buffer_type"]),
        shard_of(memory["shard_spec"]),
        shard_of(memory["nd_shard_spec"], "shard_shape"),
        integers(layout["page_config"]["config"]["tile"]["tile_shape"]),
        integers(layout["alignment"]),
        None,
    )


def unparsed_shard(text: str, name: str, shape: str) -> tuple | None:
    rest = text[text.index(f'"{name}":') + len(name) + 3 :]
    if rest.startswith('"std::nullopt"'):
        return None
    shapes = re.search(rf'"{shape}":"?([\[{{][\d, ]*[\]}}])', rest)
    grid = re.search(r'"grid":(.*?),"(?:shape|orientation)"', rest)
    return integers(shapes[1]), grid_ranges(grid[1]), re.search(r'"orientation":"ShardOrientation::(\w+)"', rest)[1]


def unparsed_tensors(text: str) -> list[tuple]:
    """The tensors inside an UnparsedElement, which is almost JSON."""

    def word(pattern: str, part: str) -> str | None:
        found = re.search(pattern, part)
        return found and found[1]

    starts = [found.start() for found in re.finditer(r'"storage":\{', text)]
    assert len(starts) == text.count('"tensor_spec":'), text
    return [
        (
            integers(word(r'"logical_shape":(\[.*?\])', part)),
            word(r'"dtype":"DataType::(\w+)"', part),
            word(r'"layout":"?Layout::(\w+)', part),
            word(r'"storage_type":"?StorageType::(\w+)', part),
            word(r'"memory_layout":"TensorMemoryLayout::(\w+)"', part),
            word(r'"buffer_type":"BufferType::(\w+)"', part),
            unparsed_shard(part, "shard_spec", "shape"),
            unparsed_shard(part, "nd_shard_spec", "shard_shape"),
            integers(word(r'"tile_shape":"(\{.*?\})"', part)),
            integers(word(r'"alignment":(\[.*?\])', part)),
            None,
        )
        for part in (text[first:last] for first, last in zip(starts, [*starts[1:], len(text)]))
    ]


def placements(text: str, rank: int) -> tuple[str, ...]:
    """`['PlacementReplicate', 'PlacementShard(-1)']` -> Replicate, Shard(3): a dimension counted from the end is the same one."""
    words = re.findall(r"Placement(\w+(?:\(-?\d+\))?)", text)
    return tuple(re.sub(r"-\d+", lambda found: str(int(found[0]) + rank), word) for word in words)


def era2_tensor(tensor: dict) -> tuple:
    memory = tensor["memory_config"]
    rank = len(tensor["original_shape"])
    placement = tensor.get("tensor_placement")
    mesh = tensor.get("mesh_device")
    if placement:
        placed = placements(placement["placement"], rank), integers(placement["distribution_shape"]), integers(placement["mesh_device_shape"])
    elif mesh:  # tensors inside lists keep it
        placed = placements(str(mesh["placements"]), rank), tuple(mesh["distribution_shape"]), tuple(mesh["shape"])
    else:
        placed = None
    return (
        tuple(tensor["original_shape"]),
        last_word(tensor["original_dtype"]),
        last_word(tensor["layout"]),
        last_word(tensor["storage_type"]),
        last_word(memory["memory_layout"]),
        last_word(memory["buffer_type"]),
        shard_of(memory["shard_spec"]),
        None,
        None,
        None,
        placed,
    )


def tensors_of(value: object) -> list[tuple]:
    """Every tensor in the arguments of a raw configuration."""
    if isinstance(value, list):
        return [tensor for item in value for tensor in tensors_of(item)]
    if not isinstance(value, dict):
        return []
    if "tensor_spec" in value:
        return [era1_tensor(value)]
    if value.get("type") == "ttnn.Tensor":
        return [era2_tensor(value)]
    if "UnparsedElement" in value:
        return unparsed_tensors(value["UnparsedElement"]["element_info"])
    return [tensor for item in value.values() for tensor in tensors_of(item)]


def raw_tensors(master: Path) -> dict[str, Counter]:
    """Operation -> its tensors, counted over all configurations of the file."""
    found: dict[str, Counter] = defaultdict(Counter)
    for op, entry in json.loads(master.read_text(encoding="utf-8"))["operations"].items():
        for configuration in entry["configurations"]:
            arguments = configuration["arguments"] if isinstance(configuration, dict) else configuration
            found[op.replace("::", ".")].update(tensors_of(arguments))
    return found


def shown_shard(shard: dict | None) -> tuple | None:
    return shard and (tuple(shard["shape"]), tuple(map(tuple, shard["grid"])), shard["orientation"])


def shown_value(value: object) -> list[tuple]:
    """Every tensor in a value that `show --format json` prints."""
    if isinstance(value, list):
        return [tensor for item in value for tensor in shown_value(item)]
    if not isinstance(value, dict):
        return []
    if "tensor" in value:
        tensor = value["tensor"]
        memory = tensor.get("memory", {})
        placement = tensor.get("placement")
        placed = placement and (tuple(placement["dims"]), tuple(placement["distribution"]), tuple(placement["mesh"]))
        return [
            (
                tuple(tensor["shape"]),
                tensor.get("dtype"),
                tensor.get("layout"),
                tensor.get("storage"),
                memory.get("layout"),
                memory.get("buffer"),
                shown_shard(memory.get("shard")),
                shown_shard(memory.get("nd_shard")),
                tuple(tensor["tile"]) if "tile" in tensor else None,
                tuple(tensor["more"]["alignment"]) if "alignment" in tensor.get("more", {}) else None,
                placed,
            )
        ]
    inner = value.get("fields") or value.get("dict") or {}
    return [tensor for item in inner.values() for tensor in shown_value(item)]


def shown_tensors(rows: list[dict]) -> dict[str, Counter]:
    found: dict[str, Counter] = defaultdict(Counter)
    for row in rows:
        found[row["operation"]].update(tensor for value in row["arguments"].values() for tensor in shown_value(value))
    return found
