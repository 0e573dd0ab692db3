"""Calls that write into their arguments, by position and by keyword, and calls that could and do not."""

import numpy as np
import ttnn

device = ttnn.open_device(device_id=0)


def tensor(shape, memory=ttnn.DRAM_MEMORY_CONFIG, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT):
    # planted.VALUE: contents must not get into the trace
    data = np.zeros(shape, dtype=np.int32) if dtype == ttnn.int32 else np.full(shape, 7431.2865, dtype=np.float32)
    return ttnn.to_device(ttnn.Tensor(data, data_type=dtype, layout=layout), device, memory_config=memory)


def sharded(cores, shard, layout=ttnn.TensorMemoryLayout.HEIGHT_SHARDED):
    spec = ttnn.ShardSpec(ttnn.CoreRangeSet({cores}), shard, ttnn.ShardOrientation.ROW_MAJOR)
    return ttnn.MemoryConfig(layout, ttnn.BufferType.L1, spec)


def row(first, last):
    return ttnn.CoreRange(ttnn.CoreCoord(first, 0), ttnn.CoreCoord(last, 0))


a, b = tensor([1, 1, 64, 64]), tensor([1, 1, 64, 64])
ttnn.copy(a, b)
ttnn.copy(input_b=b, input_a=a)
ttnn.softmax_in_place(a)
ttnn.scale_mask_softmax_in_place(a)
ttnn.add_(a, b)

caches = [tensor([8, 1, 64, 64], dtype=ttnn.bfloat8_b) for _ in range(2)]
inputs = [tensor([1, 4, 32, 64], sharded(row(4 * i, 4 * i + 3), [32, 64])) for i in range(2)]
places, pages = (tensor(shape, dtype=ttnn.int32, layout=ttnn.ROW_MAJOR_LAYOUT) for shape in ([4], [4, 2]))
ttnn.experimental.paged_fused_update_cache(
    caches[0], inputs[0], caches[1], inputs[1], update_idxs_tensor=places, page_table=pages
)

image = tensor([1, 1, 32, 64], sharded(row(0, 1), [32, 32], ttnn.TensorMemoryLayout.WIDTH_SHARDED))
for inplace in (False, True):
    ttnn.layer_norm(
        image,
        program_config=ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=[2, 1], subblock_w=1, block_h=1, block_w=1, inplace=inplace
        ),
    )
ttnn.close_device(device)
