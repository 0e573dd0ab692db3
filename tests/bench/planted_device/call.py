"""A recorded call with its tensors as PyTorch has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

SIGNATURES = Path(__file__).resolve().parents[3] / "src" / "dialect" / "ttnn" / "data" / "signatures.tsv"
NUMPY = {"f32": np.float32, "i32": np.int32, "u32": np.uint32, "u16": np.uint16, "u8": np.uint8}
#: Positions that the table leaves out because overloads name them differently.
MORE_POSITIONS = {
    "ttnn.slice": ["input_tensor", "starts", "ends", "steps"],
    "ttnn.pad": ["input_tensor", "padding", "value"],
    "ttnn.reshape": ["input_tensor", "shape", "padded_shape"],
    "ttnn.typecast": ["input_tensor", "dtype"],
    "ttnn.add": ["input_tensor_a", "input_tensor_b"],
    "ttnn.subtract": ["input_tensor_a", "input_tensor_b"],
    "ttnn.multiply": ["input_tensor_a", "input_tensor_b"],
    "ttnn.div": ["input_tensor_a", "input_tensor_b"],
    "ttnn.experimental.rotary_embedding": ["input_tensor", "cos_cache", "sin_cache", "token_index"],
}

#: Of all tensors of a call: the others take this device too long.
MOST_BYTES = 1 << 27


class Unsupported(Exception):
    """What this device does not compute."""


def positions() -> dict[str, list[str]]:
    out = {}
    for line in SIGNATURES.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            op, names = line.split("\t")
            out[op] = names.split()
    for op, names in MORE_POSITIONS.items():
        if len(out.get(op, [])) < len(names):
            out[op] = names
    return out


POSITIONS = positions()


def plain(value: Any) -> Any:
    """Numbers, texts, lists: without the tags of the protocol."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, dict) and len(value) == 1:
        (tag, inner), = value.items()
        if tag == "float":
            return float(inner)
        if tag == "enum":
            return inner[1]
        if tag in ("shape", "tuple", "dtype", "layout"):
            return plain(inner)
        if tag in ("struct", "dict", "compute_kernel_config", "conv_config", "program_config"):
            fields = inner.get("fields", inner) if isinstance(inner, dict) else {}
            out = {name: plain(field) for name, field in fields.items()}
            if isinstance(inner, dict) and inner.get("items"):
                out["items"] = plain(inner["items"])
            return out
    return value


class Call:
    def __init__(self, request: Any) -> None:
        self.op: str = request.call["op"].replace("::", ".")
        names = POSITIONS.get(self.op, [])
        args = request.call["args"]
        if len(args) > len(names):
            raise Unsupported(f"{self.op} with {len(args)} positions")
        self.given = dict(zip(names, args)) | request.call["kwargs"]
        self._request = request
        self.outputs = request.outputs
        if sum(place["bytes"] for place in request.fields["inputs"] + request.fields["outputs"]) > MOST_BYTES:
            raise Unsupported("too large for this device")

    def spec(self, name: str) -> dict[str, Any] | None:
        value = self.given.get(name)
        return value["tensor"] if isinstance(value, dict) and "tensor" in value else None

    def _tensor(self, spec: dict[str, Any]) -> torch.Tensor:
        kind, view = self._request.input(spec["slot"])
        values = np.frombuffer(view, NUMPY[kind]).reshape(spec["shape"])
        return torch.from_numpy(values.astype(np.float64 if kind == "f32" else np.int64))

    def t(self, *names: str) -> torch.Tensor | None:
        for name in names:
            spec = self.spec(name)
            if spec is not None:
                return self._tensor(spec)
        return None

    def need(self, *names: str) -> torch.Tensor:
        tensor = self.t(*names)
        if tensor is None:
            raise Unsupported(f"{self.op} without {names[0]}")
        return tensor

    def tensors(self, name: str) -> list[torch.Tensor]:
        value = self.given.get(name)
        if not isinstance(value, list):
            raise Unsupported(f"{name} is no list")
        return [self._tensor(item["tensor"]) for item in value]

    def v(self, name: str, otherwise: Any = None) -> Any:
        value = plain(self.given.get(name))
        if isinstance(value, dict) and "opaque" in value:  # the trace lost it: as if it was not passed
            return otherwise
        if isinstance(value, dict) and "tensor" in value:
            raise Unsupported(f"{name} is a tensor")
        return otherwise if value is None else value

    def flag(self, name: str, otherwise: bool) -> bool:
        return bool(self.v(name, otherwise))

    def asks_for_approximations(self) -> bool:
        """A kernel that approximates where it may is none with a bug. It may where nobody says otherwise."""
        config = self.v("compute_kernel_config", {})
        given = config.get("math_approx_mode") if isinstance(config, dict) else None
        return given is None or str(given).lower() in ("1", "true")

    @property
    def shape(self) -> list[int]:
        return self.outputs[0].shape
