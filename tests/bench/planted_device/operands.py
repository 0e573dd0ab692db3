"""Bugs that any kernel may have: an operand that is read wrongly, a parameter that is taken wrongly.

They are made from the call alone, so there are as many for an operator as it has operands and parameters.
"""

from __future__ import annotations

import copy
from typing import Any, Callable

import torch
from planted_device.call import Call
from planted_device.rounding import block_float

TILE = 32


def _last(x: torch.Tensor) -> int:
    return (x.shape[-1] - 1) // TILE * TILE


def _columns(change: Callable[[torch.Tensor], torch.Tensor], least: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: change(x.clone()) if x.dim() and x.shape[-1] >= least else x


def _rows(change: Callable[[torch.Tensor], torch.Tensor], least: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: change(x.clone()) if x.dim() > 1 and x.shape[-2] >= least else x


def _put(x: torch.Tensor, at: Any, values: Any) -> torch.Tensor:
    x[at] = values.clone() if isinstance(values, torch.Tensor) else values
    return x


def _floats(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: change(x) if x.is_floating_point() else x


def _batches(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: change(x.clone()) if x.dim() > 2 and x.shape[-3] > 1 else x


#: What is wrong -> the operand as the kernel sees it.
WRONG_READS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "last tile zero": _columns(lambda x: _put(x, (..., slice(_last(x), None)), 0), TILE + 1),
    "second tile of the first": _columns(lambda x: _put(x, (..., slice(TILE, 2 * TILE)), x[..., :TILE]), 2 * TILE),
    "halves of a row swapped": _columns(lambda x: x.roll(x.shape[-1] // 2, -1), 2),
    "row mirrored": _columns(lambda x: x.flip(-1), 2),
    "columns of odd tiles shifted": _columns(lambda x: _put(x, (..., slice(TILE, 2 * TILE)), x[..., TILE : 2 * TILE].roll(1, -1)), 2 * TILE),
    "faces of the first tile exchanged": _columns(lambda x: _put(x, (..., slice(0, 32)), x[..., :32].roll(16, -1)), 32),
    "odd elements of the even": _columns(lambda x: x[..., torch.arange(x.shape[-1]) // 2 * 2], 2),
    "last element zero": _columns(lambda x: _put(x, (..., -1), 0), 2),
    "rows of the tile above": _rows(lambda x: x.roll(TILE, -2), TILE + 1),
    "last row of the first": _rows(lambda x: _put(x, (..., -1, slice(None)), x[..., 0, :]), 2),
    "odd rows of the even": _rows(lambda x: x[..., torch.arange(x.shape[-2]) // 2 * 2, :], 2),
    "last tile row zero": _rows(lambda x: _put(x, (..., slice((x.shape[-2] - 1) // TILE * TILE, None), slice(None)), 0), TILE + 1),
    "rows mirrored": _rows(lambda x: x.flip(-2), 2),
    "lower faces of the upper": _rows(lambda x: _put(x, (..., slice(16, 32), slice(None)), x[..., :16, :]), 32),
    "batches mirrored": _batches(lambda x: x.flip(-3)),
    "last batch of the first": _batches(lambda x: _put(x, (..., -1, slice(None), slice(None)), x[..., 0, :, :])),
    "magnitude": _floats(torch.abs),
    "4 bits": _floats(lambda x: block_float(x, 4)),
    "negatives zero": _floats(lambda x: x.clamp(min=0)),
    "saturates at 1": _floats(lambda x: torch.where(torch.isinf(x), x, x.clamp(-1, 1))),
    "flushed below 1/8": _floats(lambda x: torch.where(x.abs() < 0.125, torch.zeros_like(x), x)),
    "of an earlier call": _floats(lambda x: x.reshape(-1)[torch.randperm(x.numel(), generator=torch.Generator().manual_seed(7))].reshape(x.shape)),
}
#: What is wrong -> a number as the kernel takes it; nothing: as if it was not given.
WRONG_NUMBERS: dict[str, Callable[[float], Any]] = {
    "twice": lambda v: 2 * v, "half": lambda v: v / 2, "+1": lambda v: v + 1, "-1": lambda v: v - 1, "negative": lambda v: -v, "ignored": lambda v: None,
    "as whole": lambda v: float(int(v)),
}  # fmt: skip
#: They change no number, or the shape.
NOT_ASKED = ("memory_config", "dtype", "program_config", "compute_kernel_config", "conv_config", "output", "device", "core", "batch_size", "channels",
             "input_height", "input_width", "input_h", "input_w", "keepdim", "queue", "sub_", "num_heads", "num_kv_heads", "slice_config")  # fmt: skip


class WrongCall(Call):
    """The same call with one operand or parameter taken wrongly."""

    def __init__(self, call: Call, bug: str) -> None:
        self.__dict__.update(call.__dict__)
        self.given = copy.copy(call.given)
        self._slot, self._change = -1, None
        kind, name, wrong = bug.split(": ")
        if kind == "operand":
            name, _, item = name.partition("#")
            value = self.given[name]
            spec = value[int(item)]["tensor"] if item else value["tensor"]
            self._slot, self._change = spec["slot"], WRONG_READS[wrong]
        elif wrong == "flipped":
            self.given[name] = not self.given[name]
        else:
            self.given[name] = changed_number(self.given[name], WRONG_NUMBERS[wrong])

    def _tensor(self, spec: dict[str, Any]) -> torch.Tensor:
        tensor = super()._tensor(spec)
        return self._change(tensor) if spec["slot"] == self._slot and self._change is not None else tensor


def number(value: Any) -> float | None:
    if isinstance(value, dict) and set(value) == {"float"}:
        return float(value["float"])
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def changed_number(value: Any, change: Callable[[float], Any]) -> Any:
    if isinstance(value, list):
        return [changed_number(item, change) for item in value]
    was = number(value)
    now = None if was is None else change(was)
    return int(now) if isinstance(value, int) and now is not None else now


def operand_bugs(call: Call) -> list[str]:
    out = []
    for name, value in call.given.items():
        if isinstance(value, dict) and "tensor" in value:
            out += [f"operand: {name}: {wrong}" for wrong in WRONG_READS]
        elif isinstance(value, list) and value and isinstance(value[0], dict) and "tensor" in value[0]:
            out += [f"operand: {name}#{i}: {wrong}" for i in range(len(value)) for wrong in WRONG_READS]
        elif any(part in name for part in NOT_ASKED):
            continue
        elif isinstance(value, bool):
            out.append(f"parameter: {name}: flipped")
        elif number(value) is not None or (isinstance(value, list) and value and number(value[0]) is not None):
            out += [f"parameter: {name}: {wrong}" for wrong in WRONG_NUMBERS]
    return out
