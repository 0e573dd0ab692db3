"""One call or more with every kind of argument that ttnn takes: what the hook must record as itself."""

import numpy as np
import ttnn

device = ttnn.open_device(device_id=0)


def tensor(shape, dtype=ttnn.bfloat16, memory=ttnn.DRAM_MEMORY_CONFIG):
    data = np.full(shape, 7431.2865, dtype=np.float32)  # planted.VALUE: contents must not get into the trace
    return ttnn.to_device(ttnn.Tensor(data, data_type=dtype, layout=ttnn.TILE_LAYOUT), device, memory_config=memory)


a = tensor([1, 1, 64, 64])
b = tensor([1, 1, 64, 64], ttnn.bfloat8_b)

# operators, indexing, methods
a + b
1 - (a - 1)
a @ a
a > b
a[:, :, :32, :]
a[0]
reshaped = a.reshape([1, 1, 32, 128])

# absent, None, numbers
ttnn.add(a, 3)
ttnn.add(a, 3.0)
ttnn.add(a, a, memory_config=None)
ttnn.full([1, 1, 32, 32], float("-inf"), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

# memory: interleaved, sharded, ND sharded
sharded = ttnn.create_sharded_memory_config((1, 1, 64, 64), ttnn.CoreGrid(x=2, y=2), ttnn.ShardStrategy.BLOCK)
ttnn.to_memory_config(a, sharded)
cores = ttnn.CoreRangeSet({ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(1, 1))})
ttnn.to_memory_config(a, ttnn.MemoryConfig(ttnn.BufferType.L1, ttnn.NdShardSpec([1, 1, 32, 32], cores)))

# configurations
ttnn.softmax(a, dim=-1, compute_kernel_config=ttnn.WormholeComputeKernelConfig(math_fidelity=ttnn.MathFidelity.HiFi4))
grid = ttnn.MatmulMultiCoreReuseMultiCastProgramConfig(
    compute_with_storage_grid_size=(2, 2),
    in0_block_w=1,
    out_subblock_h=1,
    out_subblock_w=1,
    per_core_M=1,
    per_core_N=1,
    transpose_mcast=False,
    fused_activation=ttnn.UnaryWithParam(ttnn.UnaryOpType.RELU),
)
ttnn.linear(a, a, program_config=grid)
grid.in0_block_w = 2  # configurations are mutable: the next call is another one
ttnn.linear(a, a, program_config=grid)
heads = tensor([1, 4, 64, 64])
ttnn.transformer.scaled_dot_product_attention(
    heads,
    heads,
    heads,
    is_causal=True,
    program_config=ttnn.SDPAProgramConfig(compute_with_storage_grid_size=(8, 8), q_chunk_size=32, k_chunk_size=32),
)
ttnn.concat([a, a], dim=3)

# into an argument, freed, raising
ttnn.relu(a, output_tensor=a)
ttnn.deallocate(reshaped)
for wrong in (lambda: ttnn.matmul(a, tensor([1, 1, 32, 128])), lambda: ttnn.add(a, "text")):
    try:
        wrong()
    except (RuntimeError, TypeError) as error:
        print(type(error).__name__)
print(a.shape, a.memory_config())
ttnn.close_device(device)
