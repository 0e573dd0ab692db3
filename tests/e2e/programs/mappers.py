"""Objects that print their address, each another one: the library's tracer writes what they print."""

import torch
import ttnn
import ttnn.operation_tracer

ttnn.operation_tracer.enable_tracing(True)
device = ttnn.open_device(device_id=0)
for _ in range(3):
    ttnn.from_torch(torch.zeros(1, 1, 32, 32), mesh_mapper=ttnn.ReplicateTensorToMesh(device), dtype=ttnn.bfloat16)
ttnn.close_device(device)
