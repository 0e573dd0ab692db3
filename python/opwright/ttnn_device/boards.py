"""The board behind the library: its name, and the one mesh of chips that is open at a time."""

from __future__ import annotations

import os
from typing import Any

import ttnn

from opwright.ttnn_device.classes import Unsupported

#: The library's cluster types as the names of boards; one that is not here is named as the library names it.
_BOARDS = {
    "N150": "n150",
    "N300": "n300",
    "T3K": "t3k",
    "GALAXY": "galaxy",
    "TG": "galaxy",
    "P100": "p100a",
    "P150": "p150b",
    "P300": "p300a",
}


def mock_board() -> str | None:
    """The mock board that the environment selects; "" when it does not say which."""
    if os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"):
        return os.environ.get("OPWRIGHT_MOCK_BOARD", "")
    return None


def board_name() -> str:
    mock = mock_board()
    if mock and not mock.startswith("file:"):  # a descriptor of the user's own is what the library makes of it
        return mock
    try:
        kind: str = ttnn.cluster.get_cluster_type().name
    except Exception:  # a version that cannot tell
        return "unknown"
    return _BOARDS.get(kind, kind.lower())


class OpenMesh:
    """Opens the mesh that a call was made on. Another one needs the first to be closed: its programs are lost."""

    def __init__(self, l1_small: int) -> None:
        self._l1_small = l1_small
        self._shape: tuple[int, ...] = ()
        self._trace_region = 0
        self._device: Any = None
        self._has_fabric = False
        self.chips = ttnn.get_num_devices()

    def device(self, mesh: list[int] | None, trace_region: int = 0) -> Any:
        """`trace_region`: bytes of DRAM for traces. A mesh that is open with more serves too."""
        shape = tuple(mesh or (1, 1))
        if len(shape) == 1:
            shape = (1, *shape)
        if shape == self._shape and trace_region <= self._trace_region:
            return self._device
        chips = 1
        for n in shape:
            chips *= n
        if chips > self.chips:
            raise Unsupported(
                f"the call was made on a mesh of {'x'.join(map(str, shape))} chips, this board has {self.chips}"
            )
        self.close()
        self._set_fabric(chips > 1)
        sizes = {"l1_small_size": self._l1_small}
        if trace_region:
            sizes["trace_region_size"] = trace_region
        self._device = ttnn.open_mesh_device(ttnn.MeshShape(*shape), **sizes)
        self._shape, self._trace_region = shape, trace_region
        return self._device

    def close(self) -> None:
        if self._device is not None:
            device, self._device, self._shape = self._device, None, ()
            ttnn.close_mesh_device(device)
            self._set_fabric(False)

    # Collective operations need the fabric. It must be there before the mesh is, and it goes with the mesh.
    def _set_fabric(self, wanted: bool) -> None:
        if wanted != self._has_fabric:
            ttnn.set_fabric_config(ttnn.FabricConfig.FABRIC_1D if wanted else ttnn.FabricConfig.DISABLED)
            self._has_fabric = wanted
