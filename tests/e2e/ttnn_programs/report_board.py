"""Opens all chips of a board as one mesh, runs a few operations, and prints what the library says of it as JSON.

usage: report_board.py ROWS COLUMNS
"""

import json
import sys

import numpy
import ttnn

rows, columns = map(int, sys.argv[1:])
if rows * columns > 1:
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
mesh = ttnn.open_mesh_device(ttnn.MeshShape(rows, columns))
grid, dram = mesh.compute_with_storage_grid_size(), mesh.dram_grid_size()

ones = numpy.ones((1, 1, 64, 64 * rows * columns), dtype=numpy.float32)
a = ttnn.Tensor(ones, ttnn.bfloat16).to(ttnn.TILE_LAYOUT).to(mesh)
shapes = {
    "add": ttnn.add(a, a),
    "matmul": ttnn.matmul(a, ttnn.transpose(a, -2, -1)),
    "softmax": ttnn.softmax(a, dim=-1),
    "rms_norm": ttnn.rms_norm(a),
    "sum": ttnn.sum(a, dim=-1),
}
if rows * columns > 1:
    shapes["all_gather"] = ttnn.all_gather(a, 3, cluster_axis=1)
report = {
    "arch": str(mesh.arch()),
    "chips": mesh.get_num_devices(),
    "all_chips": ttnn.get_num_devices(),
    "mesh": list(mesh.shape),
    "grid": [grid.x, grid.y],
    "dram_banks": dram.x * dram.y,
    "shapes": {name: list(tensor.shape) for name, tensor in shapes.items()},
}
ttnn.close_mesh_device(mesh)
print(json.dumps(report))
