"""A two-layer perceptron with a residual, in the four ways a model on this hardware writes it.

    y = x + act(x @ w1 + b1) @ w2 + b2

| variant      | x                 | where                       | program configuration                          |
| ------------ | ----------------- | --------------------------- | ---------------------------------------------- |
| interleaved  | [1, 1, 128, 256]  | DRAM, hidden in L1          | chosen by the library, core grid 8x4           |
| width        | [1, 1, 32, 512]   | L1, width sharded, 8 cores  | 1D multicast, activation fused                 |
| block        | [1, 1, 256, 512]  | L1, block sharded, 8x4      | 2D multicast, activation fused                 |
| dram_sharded | [1, 1, 32, 1024]  | weights sharded over DRAM   | DRAM sharded (weights stream from their banks) |

Weights are bfloat16 and bfloat8_b. The last test makes calls that must raise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn

from helpers import HIFI2, HIFI4, TILE, Array, Numbers, check, on_device

GELU = ttnn.UnaryWithParam(ttnn.UnaryOpType.GELU, 1.0)  # 1.0: the fast approximation
SILU = ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)
WIDTH = ttnn.TensorMemoryLayout.WIDTH_SHARDED
BLOCK = ttnn.TensorMemoryLayout.BLOCK_SHARDED


class Weights:
    """The arrays of one perceptron, and what it computes."""

    def __init__(self, seed: int, features: int, hidden: int) -> None:
        numbers = Numbers(seed)
        self.w1, self.b1 = numbers.weight(features, hidden), numbers.normal(1, hidden, scale=0.1)
        self.w2, self.b2 = numbers.weight(hidden, features), numbers.normal(1, features, scale=0.1)

    def reference(self, x: Array, activation: str) -> Array:
        hidden = x @ self.w1 + self.b1
        if activation == "silu":
            hidden = hidden / (1.0 + np.exp(-hidden))
        else:
            hidden = 0.5 * hidden * (1.0 + np.tanh(0.7978846 * (hidden + 0.044715 * hidden**3)))
        return np.asarray(x + hidden @ self.w2 + self.b2, dtype=np.float32)


@pytest.mark.parametrize("activation", ["gelu", "silu"])
@pytest.mark.parametrize("weight_dtype", [ttnn.bfloat16, ttnn.bfloat8_b], ids=["bf16", "bf8"])
def test_interleaved(device: Any, weight_dtype: Any, activation: str) -> None:
    rows, features, hidden = 128, 256, 1024
    weights, array = Weights(1, features, hidden), Numbers(2).normal(1, 1, rows, features)
    x = on_device(array, device)
    w1, w2 = on_device(weights.w1, device, weight_dtype), on_device(weights.w2, device, weight_dtype)
    b1, b2 = on_device(weights.b1, device), on_device(weights.b2, device)

    h = ttnn.linear(
        x,
        w1,
        bias=b1,
        activation=activation,
        memory_config=ttnn.L1_MEMORY_CONFIG,
        core_grid=ttnn.CoreGrid(y=4, x=8),
        compute_kernel_config=HIFI2,
    )
    assert h.memory_config().buffer_type == ttnn.BufferType.L1
    y = ttnn.linear(h, w2, bias=b2, dtype=ttnn.bfloat16, compute_kernel_config=HIFI4)
    ttnn.deallocate(h)
    y = x + y
    check(y, (1, 1, rows, features), expected=weights.reference(array, activation))


def test_width_sharded(device: Any) -> None:
    rows, features, hidden, cores = 32, 512, 2048, 8
    weights, array = Weights(3, features, hidden), Numbers(4).normal(1, 1, rows, features)
    w1, w2 = on_device(weights.w1, device, ttnn.bfloat8_b), on_device(weights.w2, device, ttnn.bfloat8_b)
    b1, b2 = on_device(weights.b1, device), on_device(weights.b2, device)

    def program(inner: int, outer: int, activation: Any) -> Any:
        return ttnn.MatmulMultiCoreReuseMultiCast1DProgramConfig(
            compute_with_storage_grid_size=(cores, 1),
            in0_block_w=inner // cores // TILE,
            out_subblock_h=1,
            out_subblock_w=2,
            per_core_M=rows // TILE,
            per_core_N=outer // cores // TILE,
            fuse_batch=True,
            fused_activation=activation,
            mcast_in0=True,
        )

    sharded = ttnn.create_sharded_memory_config(
        (1, 1, rows, features), core_grid=ttnn.CoreGrid(y=1, x=cores), strategy=ttnn.ShardStrategy.WIDTH
    )
    x = ttnn.to_memory_config(on_device(array, device), sharded)
    h = ttnn.linear(
        x,
        w1,
        bias=b1,
        program_config=program(features, hidden, GELU),
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        compute_kernel_config=HIFI2,
    )
    check(h, (1, 1, rows, hidden), memory_layout=WIDTH)
    y = ttnn.linear(
        h,
        w2,
        bias=b2,
        program_config=program(hidden, features, None),
        memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
        compute_kernel_config=HIFI2,
    )
    h.deallocate()
    y = ttnn.add(x, y, memory_config=x.memory_config())
    check(y, (1, 1, rows, features), memory_layout=WIDTH)
    y = ttnn.sharded_to_interleaved(y, ttnn.L1_MEMORY_CONFIG)
    check(y, (1, 1, rows, features), expected=weights.reference(array, "gelu"))


def test_block_sharded(device: Any) -> None:
    rows, features, hidden, grid = 256, 512, 1024, ttnn.CoreGrid(y=4, x=8)
    weights, array = Weights(5, features, hidden), Numbers(6).normal(1, 1, rows, features)
    w1, w2 = on_device(weights.w1, device), on_device(weights.w2, device, ttnn.bfloat8_b)

    def program(inner: int, outer: int, activation: Any) -> Any:
        return ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
            compute_with_storage_grid_size=(grid.x, grid.y),
            in0_block_w=inner // grid.x // TILE,
            out_subblock_h=1,
            out_subblock_w=2,
            per_core_M=rows // grid.y // TILE,
            per_core_N=outer // grid.x // TILE,
            transpose_mcast=False,
            fused_activation=activation,
        )

    sharded = ttnn.create_sharded_memory_config(
        (1, 1, rows, features), core_grid=grid, strategy=ttnn.ShardStrategy.BLOCK
    )
    x = ttnn.interleaved_to_sharded(on_device(array, device), sharded)
    h = ttnn.linear(
        x,
        w1,
        bias=on_device(weights.b1, device),
        program_config=program(features, hidden, SILU),
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat8_b,
        compute_kernel_config=HIFI2,
    )
    check(h, (1, 1, rows, hidden), ttnn.bfloat8_b, BLOCK)
    y = ttnn.linear(
        h,
        w2,
        bias=on_device(weights.b2, device),
        program_config=program(hidden, features, None),
        memory_config=ttnn.L1_BLOCK_SHARDED_MEMORY_CONFIG,
        dtype=ttnn.bfloat16,
        compute_kernel_config=HIFI2,
    )
    y = ttnn.add_(y, x)  # in place: the result is y
    check(y, (1, 1, rows, features), memory_layout=BLOCK)
    y = ttnn.to_memory_config(y, ttnn.DRAM_MEMORY_CONFIG)
    y = ttnn.typecast(y, ttnn.float32)
    check(y, (1, 1, rows, features), ttnn.float32, expected=weights.reference(array, "silu"))


def test_dram_sharded(device: Any) -> None:
    """The way of a decode step: few rows, and each DRAM bank streams its part of the weights."""
    rows, features, hidden, grid = 32, 1024, 2048, ttnn.CoreGrid(y=2, x=8)
    weights, array = Weights(7, features, hidden), Numbers(8).normal(1, 1, rows, features)

    def bank_sharded(inner: int, outer: int) -> Any:
        banks = device.dram_grid_size()
        width = -(-outer // (TILE * banks.x)) * TILE
        cores = ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (banks.x - 1, banks.y - 1))])
        spec = ttnn.ShardSpec(cores, (inner, width), ttnn.ShardOrientation.ROW_MAJOR)
        return ttnn.MemoryConfig(WIDTH, ttnn.BufferType.DRAM, spec)

    def linear(x: ttnn.Tensor, array: Array, activation: Any) -> ttnn.Tensor:
        inner, outer = array.shape
        w = on_device(array, device, ttnn.bfloat8_b, memory_config=bank_sharded(inner, outer))
        program = ttnn.MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(
            in0_block_w=inner // grid.num_cores // TILE,
            per_core_M=rows // TILE,
            per_core_N=outer // grid.num_cores // TILE,
            fused_activation=activation,
        )
        return ttnn.linear(
            x,
            w,
            program_config=program,
            memory_config=ttnn.L1_WIDTH_SHARDED_MEMORY_CONFIG,
            compute_kernel_config=HIFI2,
        )

    sharded = ttnn.create_sharded_memory_config(
        (1, 1, rows, features), core_grid=grid, strategy=ttnn.ShardStrategy.WIDTH
    )
    x = on_device(array, device, memory_config=sharded)
    h = linear(x, weights.w1, SILU)
    check(h, (1, 1, rows, hidden), memory_layout=WIDTH)
    y = x + linear(h, weights.w2, None)
    weights.b1[:], weights.b2[:] = 0.0, 0.0  # this program has no bias
    y = ttnn.to_memory_config(y, ttnn.L1_MEMORY_CONFIG)
    y = y.reshape((rows, 1, features))
    check(y, (rows, 1, features), expected=weights.reference(array, "silu"))


def test_refused(device: Any) -> None:
    """What the library refuses raises, and the device stays usable."""
    x = ttnn.full((1, 1, 32, 64), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    w = ttnn.full((96, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    with pytest.raises(RuntimeError, match="width of the first tensor must be equal"):
        ttnn.matmul(x, w)
    with pytest.raises(TypeError):
        ttnn.linear(x, w, bias="none")
    ttnn.deallocate(w)
    w = ttnn.full((64, 32), 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    check(x @ w, (1, 1, 32, 32))
