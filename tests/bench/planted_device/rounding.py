"""Numbers as the output's dtype holds them."""

from __future__ import annotations

import torch


def block_float(values: torch.Tensor, bits: int) -> torch.Tensor:
    """16 neighbours of a row share the exponent of the largest; `bits` of magnitude each."""
    width = values.shape[-1] if values.dim() else 1
    rows = values.reshape(-1, width).to(torch.float32).to(torch.float64)
    room = (-width) % 16
    groups = torch.nn.functional.pad(rows, (0, room)).reshape(rows.shape[0], -1, 16)
    largest = groups.abs().amax(-1, keepdim=True)
    _, exponent = torch.frexp(torch.where(largest > 0, largest, torch.ones_like(largest)))
    step = torch.ldexp(torch.ones_like(largest), exponent - bits)
    held = torch.clamp(torch.round(groups / step), -(2**bits - 1), 2**bits - 1) * step
    return held.reshape(rows.shape[0], -1)[:, :width].reshape(values.shape)


def rounded(values: torch.Tensor, dtype: str) -> torch.Tensor:
    if dtype == "BFLOAT16":
        return values.to(torch.float32).to(torch.bfloat16).to(torch.float64)
    if dtype == "BFLOAT8_B":
        return block_float(values, 7)
    if dtype == "BFLOAT4_B":
        return block_float(values, 3)
    if dtype == "FLOAT32":
        return values.to(torch.float32).to(torch.float64)
    return torch.trunc(values) if values.is_floating_point() else values


def bf16(values: torch.Tensor) -> torch.Tensor:
    return values.to(torch.float32).to(torch.bfloat16).to(torch.float64)
