"""What the example models share: tensors in and out, one check for results, labels for Opwright.

Inputs come from numpy with a fixed seed, so each run makes the same calls with the same data. No torch is needed.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
import ttnn
from numpy.typing import NDArray

try:  # The examples run without Opwright, too: then the labels do nothing.
    from opwright import label as label
    from opwright import phase as phase
except ImportError:

    def phase(_name: str) -> AbstractContextManager[None]:
        """Names what the calls inside belong to: `prefill`, `decode`."""
        return nullcontext()

    def label(_name: str) -> AbstractContextManager[None]:
        """Names the part of the model that makes the calls inside: `layer0/attention`."""
        return nullcontext()


Array = NDArray[np.float32]

TILE = 32
HIFI2 = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi2, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
)
HIFI4 = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False, fp32_dest_acc_en=True, packer_l1_acc=True
)


def has_numbers() -> bool:
    """Whether the device computes. The mock device checks every call, but reads back zeros."""
    return not (os.environ.get("OPWRIGHT_MOCK_BOARD") or os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"))


class Numbers:
    """Random arrays, the same in each run."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def normal(self, *shape: int, scale: float = 1.0) -> Array:
        return (scale * self._generator.standard_normal(shape)).astype(np.float32)

    def weight(self, *shape: int) -> Array:
        """A matrix that keeps the variance of what it multiplies: [in, out]."""
        return self.normal(*shape, scale=shape[-2] ** -0.5)

    def integers(self, high: int, *shape: int) -> NDArray[np.uint32]:
        return self._generator.integers(0, high, shape).astype(np.uint32)


def on_device(
    array: NDArray[Any],
    device: Any,
    dtype: Any = ttnn.bfloat16,
    layout: Any = ttnn.TILE_LAYOUT,
    memory_config: Any = ttnn.DRAM_MEMORY_CONFIG,
) -> ttnn.Tensor:
    """The array as a tensor on the device."""
    host = ttnn.Tensor(np.ascontiguousarray(array), data_type=dtype, layout=layout)
    return ttnn.to_device(host, device, memory_config=memory_config)


def to_array(tensor: ttnn.Tensor) -> Array:
    """The values of a tensor (on the device or not), as float32."""
    host = ttnn.to_dtype(tensor.cpu(), ttnn.float32)
    return np.asarray(host.to(ttnn.ROW_MAJOR_LAYOUT).to_numpy(), dtype=np.float32)


def correlation(actual: NDArray[Any], expected: NDArray[Any]) -> float:
    """Pearson's coefficient of two arrays of any one shape."""
    a, b = actual.astype(np.float64).ravel(), expected.astype(np.float64).ravel()
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / norm if norm else 0.0


def check(
    tensor: ttnn.Tensor,
    shape: Sequence[int],
    dtype: Any = ttnn.bfloat16,
    memory_layout: Any = ttnn.TensorMemoryLayout.INTERLEAVED,
    expected: Array | None = None,
    pcc: float = 0.99,
) -> None:
    """Checks what every device knows of a result, and its values where the device computes any."""
    assert tuple(tensor.shape) == tuple(shape)
    assert tensor.dtype == dtype
    assert tensor.memory_config().memory_layout == memory_layout
    if expected is not None:
        check_values(to_array(tensor), expected.reshape(shape), pcc)


def check_values(actual: NDArray[Any], expected: NDArray[Any], pcc: float = 0.99) -> None:
    """Checks the shape, and the values where the device computes any."""
    assert actual.shape == expected.shape
    if has_numbers():
        reached = correlation(actual, expected)
        assert reached >= pcc, f"PCC {reached:.5f} is below {pcc}"
