"""Calls of many operators with objects of many classes, on two chips. What runs here must be accepted when it is run again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import ttnn

ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
DEVICE = ttnn.open_mesh_device(ttnn.MeshShape(1, 2), l1_small_size=32768)
TILE, ROWS = ttnn.TILE_LAYOUT, ttnn.ROW_MAJOR_LAYOUT
HEIGHT, WIDTH = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.WIDTH_SHARDED
ROW_WISE, LINEAR = ttnn.ShardOrientation.ROW_MAJOR, ttnn.Topology.Linear


def cores(x0: int, y0: int, x1: int, y1: int) -> Any:
    return ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(x0, y0), ttnn.CoreCoord(x1, y1))])


def tensor(*shape: int, dtype: Any = ttnn.bfloat16, layout: Any = TILE, memory: Any = ttnn.DRAM_MEMORY_CONFIG) -> Any:
    return ttnn.allocate_tensor_on_device(ttnn.Shape(shape), dtype, layout, DEVICE, memory)


def spread(*shape: int) -> Any:
    """Over the two chips, by its last dimension."""
    made = tensor(*shape)
    places = [ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1)]
    how = [ttnn.PlacementReplicate(), ttnn.PlacementShard(3)]
    made.update_tensor_topology(ttnn.TensorTopology(ttnn.MeshShape(1, 2), how, places))
    return made


def shards(layout: Any, grid: Any, shape: list[int]) -> Any:
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, ttnn.ShardSpec(grid, shape, ROW_WISE))


def semaphores(count: int) -> list[Any]:
    return [ttnn.create_global_semaphore(DEVICE, cores(0, 0, 7, 6), 0) for _ in range(count)]


def conv(**more: Any) -> Any:
    weight = ttnn.Tensor(np.zeros([64, 32, 3, 3], np.float32), data_type=ttnn.float32, layout=ROWS)
    sizes = {"in_channels": 32, "out_channels": 64, "batch_size": 1, "input_height": 32, "input_width": 64}
    window = {"kernel_size": (3, 3), "stride": (1, 1), "padding": (1, 1)}
    image = tensor(1, 1, 2048, 32, layout=ROWS)
    return ttnn.conv2d(input_tensor=image, weight_tensor=weight, device=DEVICE, **sizes, **window, **more)


def x(**more: Any) -> Any:
    return tensor(1, 1, 256, 64, **more)


RELU, SQUARE = ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU), ttnn.UnaryWithParam(ttnn.UnaryOpType.POWER, 2.0)
OBLONG = cores(1, 0, 4, 1)
GRID_2D = {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 2, "per_core_N": 1}
PRODUCT = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
    compute_with_storage_grid_size=(8, 4), **GRID_2D, transpose_mcast=False, fused_activation=ttnn.UnaryOpType.RELU
)

CALLS: list[Callable[[], Any]] = [
    lambda: ttnn.add(x(), x(), activations=[RELU]),
    lambda: ttnn.add(x(), x(), activations=[ttnn.UnaryOpType.GELU], sub_core_grids=cores(2, 1, 5, 3)),
    lambda: ttnn.add(x(), x(), sub_device_id=ttnn.SubDeviceId(0)),
    lambda: ttnn.multiply_(x(), x()),
    lambda: ttnn.multiply_(input_a=x(), input_b=2.0),
    lambda: ttnn.maximum(x(), input_b=1.5),
    lambda: ttnn.unary_chain(x(), [RELU, SQUARE]),
    lambda: ttnn.pad(x(), [(0, 0), (0, 0), (0, 32), (0, 32)], 0.0),
    lambda: ttnn.pad(x(), [1, 1, 288, 96], [0, 0, 0, 0], 0.0, use_multicore=True),
    lambda: ttnn.pad(x(layout=ROWS), [1, 1, 288, 96], [0, 0, 0, 0], value=0.0, use_multicore=True),
    lambda: ttnn.relu(x(memory=shards(HEIGHT, OBLONG, [32, 64]))),
    lambda: ttnn.interleaved_to_sharded(x(), OBLONG, [32, 64], HEIGHT, ROW_WISE),
    lambda: ttnn.interleaved_to_sharded(x(), ttnn.CoreCoord(8, 1), [32, 64], HEIGHT, ROW_WISE),
    lambda: ttnn.reshard(x(memory=shards(HEIGHT, OBLONG, [32, 64])), shards(WIDTH, cores(0, 3, 1, 3), [256, 32])),
    lambda: ttnn.matmul(x(), tensor(1, 1, 64, 128), core_grid=ttnn.CoreGrid(y=2, x=3), activation="relu"),
    lambda: ttnn.matmul(
        tensor(1, 1, 256, 256), tensor(1, 1, 256, 256), program_config=PRODUCT,
        compute_kernel_config=ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.LoFi, packer_l1_acc=True),
    ),
    lambda: ttnn.softmax_in_place(x(), program_config=ttnn.SoftmaxDefaultProgramConfig()),
    lambda: ttnn.layer_norm(x(), program_config=ttnn.LayerNormDefaultProgramConfig(legacy_reduction=True)),
    lambda: ttnn.transformer.scaled_dot_product_attention(
        tensor(1, 2, 64, 64), tensor(1, 2, 64, 64), tensor(1, 2, 64, 64), is_causal=True,
        program_config=ttnn.SDPAProgramConfig(
            compute_with_storage_grid_size=ttnn.CoreCoord(8, 4), q_chunk_size=32, k_chunk_size=64, exp_approx_mode=False
        ),
    ),
    lambda: conv(slice_config=ttnn.Conv2dL1FullSliceConfig, conv_config=ttnn.Conv2dConfig(activation=RELU, shard_layout=HEIGHT)),
    lambda: conv(slice_config=ttnn.Conv2dSliceConfig(slice_type=ttnn.Conv2dDRAMSliceHeight, num_slices=2)),
    lambda: ttnn.experimental.minimal_matmul(
        tensor(1, 1, 256, 256), tensor(1, 1, 256, 256),
        config=ttnn.MinimalMatmulConfig(
            M_block_size=2, K_block_size=4, N_block_size=1, compute_with_storage_grid_size=ttnn.CoreCoord(4, 3)
        ),
    ),
    lambda: ttnn.repeat(x(), ttnn.Shape([1, 2, 1, 1])),
    lambda: x()[:, :, 32:64, :],
    lambda: ttnn.typecast(x(), ttnn.bfloat16, ttnn.float32),
    lambda: ttnn.bcast(x(), tensor(1, 1, 1, 64), ttnn.BcastOpMath.MUL, ttnn.BcastOpDim.H),
    lambda: ttnn.full(ttnn.Shape([1, 1, 32, 32]), 3.5, device=DEVICE, layout=TILE),
    lambda: ttnn.l1_loss(x(), x(), reduction=ttnn.LossReductionMode.MEAN),
    lambda: ttnn.all_gather(spread(1, 1, 32, 64), dim=3, num_links=1, topology=LINEAR, subdevice_id=ttnn.SubDeviceId(0)),
    lambda: ttnn.experimental.all_gather_async(
        spread(1, 1, 32, 64), dim=3, multi_device_global_semaphore=semaphores(2), barrier_semaphore=semaphores(1)[0],
        num_links=1, topology=LINEAR,
    ),
    lambda: ttnn.experimental.all_gather_async(spread(1, 1, 32, 64), 3, semaphores(2), num_links=1, topology=LINEAR),
    lambda: ttnn.experimental.matmul_reduce_scatter_async(
        spread(1, 1, 256, 128), tensor(1, 1, 128, 256), spread(1, 1, 256, 256), spread(1, 1, 256, 128), dim=3,
        multi_device_global_semaphore=semaphores(3), reduce_scatter_core_grid_offset=ttnn.CoreCoord(0, 4),
        barrier_semaphore=semaphores(1)[0], num_links=1, topology=ttnn.Topology.Ring, program_config=PRODUCT,
    ),
    lambda: ttnn.point_to_point(
        spread(1, 1, 32, 64), ttnn.MeshCoordinate(0, 0), ttnn.MeshCoordinate(0, 1), topology=LINEAR
    ),
    lambda: ttnn.experimental.paged_fill_cache(
        tensor(8, 1, 32, 64), tensor(1, 1, 32, 64), tensor(1, 8, dtype=ttnn.int32, layout=ROWS), batch_idx=0,
        mesh_coords={ttnn.MeshCoordinate(0, 1)},
    ),
]  # fmt: skip

for call in CALLS:
    call()
ttnn.close_mesh_device(DEVICE)
