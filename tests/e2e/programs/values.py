"""Calls with tensors of known contents; with an argument, the library's own tracer records them, values included."""

import sys

import numpy as np
import ttnn

if len(sys.argv) > 1:
    import ttnn.operation_tracer

    ttnn.operation_tracer.enable_tracing(True)
    ttnn.operation_tracer.enable_tensor_value_serialization(True)

device = ttnn.open_device(device_id=0)
data = (np.arange(32 * 32, dtype=np.float32) / 7).reshape(1, 1, 32, 32)
host = ttnn.Tensor(data, data_type=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)
on_device = ttnn.to_device(host, device, memory_config=ttnn.DRAM_MEMORY_CONFIG)
ttnn.to_dtype(host, ttnn.bfloat8_b)
ttnn.to_device(ttnn.Tensor(np.arange(64, dtype=np.int32).reshape(1, 64)), device)
ttnn.add(on_device, on_device)
ttnn.close_device(device)
