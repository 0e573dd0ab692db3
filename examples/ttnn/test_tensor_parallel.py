"""A tensor-parallel SwiGLU perceptron on a mesh of 2x4 chips.

    y = x + (silu(x @ gate) * (x @ up)) @ down        512 features, 2,048 hidden features

The batch is split over the 2 rows of the mesh (data parallel), the weights over its 4 columns (tensor parallel):
`gate` and `up` by columns, `down` by rows, so each chip holds a partial sum of y. Two ways to add these up:

- `scatter`: x is spread over its features, [1, 1, 64, 128] a chip; all_gather before the first matrix, reduce_scatter
  after the last: the activations between layers stay split;
- `replicate`: x is whole on each chip, [1, 1, 64, 512]; reduce_scatter and all_gather after the last matrix (an
  all-reduce in two steps), in L1.

Two layers, weights bfloat8_b (`gate`, `up`) and bfloat16 (`down`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn

from helpers import HIFI2, Array, Numbers, check_values, label, to_array

ROWS, COLUMNS = 2, 4
BATCH, FEATURES, HIDDEN, LAYERS = 128, 512, 2048, 2


def on_mesh(array: Array, mesh: Any, dims: tuple[int | None, int | None], dtype: Any = ttnn.bfloat16) -> ttnn.Tensor:
    """The array on the mesh: split along `dims[0]` over the rows and `dims[1]` over the columns, None replicates."""
    placements = [ttnn.PlacementReplicate() if dim is None else ttnn.PlacementShard(dim) for dim in dims]
    mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(placements))
    host = ttnn.Tensor(array, data_type=dtype, layout=ttnn.TILE_LAYOUT)
    return ttnn.to_device(ttnn.distribute_tensor(host, mapper), mesh, memory_config=ttnn.DRAM_MEMORY_CONFIG)


class Layer:
    """One perceptron, spread over the mesh."""

    def __init__(self, numbers: Numbers, mesh: Any) -> None:
        self.arrays = (
            numbers.weight(FEATURES, HIDDEN),
            numbers.weight(FEATURES, HIDDEN),
            numbers.weight(HIDDEN, FEATURES),
        )
        gate, up, down = (array[None, None] for array in self.arrays)
        self._gate, self._up = (on_mesh(array, mesh, (None, 3), ttnn.bfloat8_b) for array in (gate, up))
        self._down = on_mesh(down, mesh, (None, 2))

    def __call__(self, x: ttnn.Tensor, split: bool) -> ttnn.Tensor:
        memory = ttnn.DRAM_MEMORY_CONFIG if split else ttnn.L1_MEMORY_CONFIG
        whole = x
        if split:
            whole = ttnn.all_gather(x, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear, memory_config=memory)
        gate = ttnn.linear(whole, self._gate, activation="silu", memory_config=memory, compute_kernel_config=HIFI2)
        up = ttnn.linear(whole, self._up, memory_config=memory, compute_kernel_config=HIFI2)
        h = gate * up
        ttnn.deallocate(gate)
        ttnn.deallocate(up)
        partial = ttnn.linear(h, self._down, dtype=ttnn.bfloat16, memory_config=memory, compute_kernel_config=HIFI2)
        y = ttnn.reduce_scatter(partial, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear, memory_config=memory)
        partial.deallocate()
        if not split:
            y = ttnn.all_gather(y, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear, memory_config=memory)
        return x + y

    def reference(self, x: Array) -> Array:
        gate, up, down = self.arrays
        h = x @ gate
        return np.asarray(x + (h / (1.0 + np.exp(-h)) * (x @ up)) @ down)


@pytest.mark.parametrize("way", ["scatter", "replicate"])
def test_tensor_parallel(mesh_device: Any, way: str) -> None:
    split = way == "scatter"
    numbers = Numbers(41)
    array = numbers.normal(1, 1, BATCH, FEATURES)
    x = on_mesh(array, mesh_device, (2, 3 if split else None))
    layers = [Layer(numbers, mesh_device) for _ in range(LAYERS)]
    for i, layer in enumerate(layers):
        with label(f"layer{i}"):
            x = layer(x, split)
        array = layer.reference(array)

    assert tuple(x.shape) == (1, 1, BATCH // ROWS, FEATURES // COLUMNS if split else FEATURES)
    assert x.dtype == ttnn.bfloat16
    assert len(ttnn.get_device_tensors(x)) == ROWS * COLUMNS
    # Parts are joined along the batch (2) and the features (3), the four copies of a row along dimension 1.
    composer = ttnn.create_mesh_composer(mesh_device, ttnn.MeshComposerConfig([2, 3 if split else 1]))
    joined = ttnn.aggregate_tensor(x.cpu(), composer)
    check_values(to_array(joined), array if split else np.repeat(array, COLUMNS, axis=1))
