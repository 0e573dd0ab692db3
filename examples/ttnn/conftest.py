"""Devices for the example models: one chip, or a mesh of 2x4."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import ttnn

MESH_SHAPE = (2, 4)
# What convolutions and pools with a window keep in L1 besides their tensors.
L1_SMALL_SIZE = 32768


@pytest.fixture
def device() -> Iterator[Any]:
    """Device 0."""
    opened = ttnn.open_device(device_id=0, l1_small_size=L1_SMALL_SIZE)
    try:
        yield opened
    finally:
        ttnn.close_device(opened)


@pytest.fixture
def mesh_device() -> Iterator[Any]:
    """Eight chips as 2 rows of 4, joined in lines."""
    needed, there = MESH_SHAPE[0] * MESH_SHAPE[1], ttnn.get_num_devices()
    if there < needed:
        pytest.skip(f"a mesh of {MESH_SHAPE[0]}x{MESH_SHAPE[1]} needs {needed} chips, the board has {there}")
    ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D)
    try:
        opened = ttnn.open_mesh_device(ttnn.MeshShape(*MESH_SHAPE))
        try:
            yield opened
        finally:
            ttnn.close_mesh_device(opened)
    finally:
        ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)
