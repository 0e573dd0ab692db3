"""What the hook for ttnn knows of the library: which of its functions compute, and how its objects are read.

Tables and nothing else: the package has this file as `opwright._ttnn_tables`, and the code that uses them is there.
"""

from __future__ import annotations

# ------------------------------------------------------------------------------------------------- what is hooked

# The classes of operations, and whether it is that of the slow runtime mode.
OPERATION_CLASSES = (("FastOperation", False), ("Operation", True))

# Methods of ttnn.Tensor that compute, move or free. Operators and indexing reach operations by themselves.
TENSOR_METHODS = (
    "reshape",
    "to",
    "cpu",
    "pad",
    "unpad",
    "pad_to_tile",
    "unpad_from_tile",
    "to_torch",
    "to_torch_with_padded_shape",
    "to_numpy",
    "to_list",
    "item",
    "extract_shard",
    "deallocate",
    "update_tensor_topology",
)

# What operations are made of: bound functions of C++. Programs may call them past the operations, or there is no operation
# for them (`ttnn.experimental.rgb_to_yuv`). They are recorded where no operation runs.
DIRECT_FAMILIES = ("operations", "prim")

# ----------------------------------------------------------------------------------------- how its objects are read

# Ways of access.
ATTRIBUTE, CALL, LIST, CALL_LIST, ITEMS = range(5)

Field = tuple[str, str, int]


def attributes(*names: str) -> tuple[Field, ...]:
    return tuple((name, name, ATTRIBUTE) for name in names)


# Classes whose fields are methods, sequences or need a name of ours; by class name, as the library may move them.
FIELDS: dict[str, tuple[Field, ...]] = {
    "MemoryConfig": (
        *attributes("memory_layout", "buffer_type", "shard_spec", "nd_shard_spec"),
        ("is_sharded", "is_sharded", CALL),
        ("interleaved", "interleaved", ATTRIBUTE),
        ("hash", "__hash__", CALL),  # hash() would fold its 64 bits
    ),
    "ShardSpec": (("grid", "grid", ATTRIBUTE), ("shape", "shape", LIST), ("orientation", "orientation", ATTRIBUTE)),
    "NdShardSpec": (
        ("shard_shape", "shard_shape", LIST),
        *attributes("grid", "orientation", "shard_distribution_strategy"),
    ),
    "CoreRangeSet": (("ranges", "ranges", CALL_LIST),),
    "CoreCoord": attributes("x", "y"),
    "CoreRange": attributes("start", "end"),
    "Shape": (("dims", "", ITEMS),),
    "MeshShape": (("dims", "", ITEMS),),
    "MeshCoordinate": (("dims", "", ITEMS),),
    "Tile": (
        ("tile_shape", "tile_shape", LIST),
        ("face_shape", "face_shape", LIST),
        ("num_faces", "num_faces", ATTRIBUTE),
    ),
    "TensorTopology": (
        ("placements", "placements", CALL_LIST),
        ("distribution_shape", "distribution_shape", CALL_LIST),
    ),
    "PlacementShard": attributes("dim"),
    "PlacementReplicate": (),
    "MeshDevice": (
        ("shape", "shape", LIST),
        ("device_ids", "get_device_ids", CALL_LIST),
        ("arch", "arch", CALL),
    ),
    "CppTensorToMesh": (("config", "config", CALL),),
    "CppMeshToTensor": (("config", "config", CALL),),
}
TENSOR_FIELDS: tuple[Field, ...] = (
    ("shape", "shape", LIST),
    ("padded_shape", "padded_shape", LIST),
    ("dtype", "dtype", ATTRIBUTE),
    ("layout", "layout", ATTRIBUTE),
    ("tile", "tile", ATTRIBUTE),
    ("storage_type", "storage_type", CALL),
    ("memory_config", "memory_config", CALL),
    ("topology", "tensor_topology", CALL),
    ("device", "device", CALL),
)
# What identifies a tensor, in the order of TensorReaders in python/src/plans.h.
TENSOR_READERS = (
    "tensor_id",
    "spec",
    "tensor_topology",
    "storage_type",
    "device",
    "is_allocated",
    "buffer_unique_id",
    "buffer_address",
)
# Immutable, with a hash and an equality by value: recognised by one look-up.
HASHABLE = {"MemoryConfig", "CoreCoord", "MeshCoordinate"}
