"""What goes wrong around any kernel: cores that do not run, tiles that land elsewhere, results of an earlier call."""

from __future__ import annotations

import torch
from planted_device.rounding import block_float

LAUNCH_BUGS = [
    "launch last core idle", "launch middle core idle", "launch tile written twice", "launch rows of two tiles swapped",
    "launch row of the previous call", "launch result of the previous call", "launch mantissa of 3 bits", "launch last column stale",
    "launch columns of a face swapped", "launch every second tile stale",
]  # fmt: skip


def earlier(out: torch.Tensor) -> torch.Tensor:
    """Numbers of the same kind in other places: what an earlier call may have left."""
    order = torch.randperm(out.numel(), generator=torch.Generator().manual_seed(out.numel()))
    return out.reshape(-1)[order].reshape(out.shape)


def launched(out: torch.Tensor, bug: str) -> torch.Tensor:
    if out.dim() < 2 or not out.numel():
        return out
    if bug == "launch mantissa of 3 bits":
        return block_float(out, 3) if out.is_floating_point() else out
    if bug == "launch result of the previous call":
        return earlier(out)
    flat = out.reshape(-1, out.shape[-1]).clone()
    stale = earlier(flat)
    rows, width = flat.shape
    tiles = (rows + 31) // 32
    if bug == "launch last core idle":
        flat[(tiles - 1) * 32 :] = stale[(tiles - 1) * 32 :]
    elif bug == "launch middle core idle":
        flat[tiles // 2 * 32 : tiles // 2 * 32 + 32] = stale[tiles // 2 * 32 : tiles // 2 * 32 + 32]
    elif bug == "launch every second tile stale":
        at = torch.arange(rows) // 32 % 2 == 1
        flat[at] = stale[at]
    elif bug == "launch tile written twice" and width >= 64:
        flat[:32, 32:64] = flat[:32, :32].clone()
    elif bug == "launch rows of two tiles swapped" and rows >= 64:
        flat[:64] = torch.cat([flat[32:64], flat[:32]])
    elif bug == "launch row of the previous call":
        flat[rows // 2] = stale[rows // 2]
    elif bug == "launch last column stale":
        flat[:, -1] = stale[:, -1]
    elif bug == "launch columns of a face swapped" and width >= 16:
        flat[:, :16] = flat[:, :16].flip(-1)
    return flat.reshape(out.shape)
