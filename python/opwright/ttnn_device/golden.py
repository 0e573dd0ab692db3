"""The library's own golden functions, a second reference: they compute a call in torch, on the host."""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
import ttnn

from opwright.device import Request
from opwright.ttnn_device import errors, objects, tensors
from opwright.ttnn_device.classes import Unsupported


def is_possible() -> bool:
    return importlib.util.find_spec("torch") is not None


def _torch() -> Any:
    import torch

    # Golden functions ask whether a tensor is one of these; no tensor of an older torch is.
    for name in ("uint16", "uint32"):
        if not hasattr(torch, name):
            setattr(torch, name, name)
    return torch


def _as_torch(request: Request, spec: dict[str, Any]) -> Any:
    kind, values = request.input(spec["slot"])
    array = np.frombuffer(values, tensors.NUMPY[kind]).reshape(spec["shape"])
    return _torch().from_numpy(array.astype(np.int64 if kind in ("u16", "u32") else array.dtype))


def _rounded(tensor: Any, dtype: Any) -> Any:
    """As the library holds it in `dtype`; block floats share exponents along rows."""
    return ttnn.to_torch(ttnn.from_torch(tensor, dtype=dtype, layout=ttnn.TILE_LAYOUT)).to(tensor.dtype)


def _prepare_weights(kwargs: dict[str, Any]) -> None:
    """A convolution converts weights and bias to what its configuration says; its golden function does not."""
    dtype = getattr(kwargs.get("conv_config"), "weights_dtype", None)
    weight, bias = kwargs.get("weight_tensor"), kwargs.get("bias_tensor")
    if dtype is None:
        return
    if weight is None or weight.dim() != 4:
        raise Unsupported(f"weights that are not four-dimensional and named cannot be rounded to {dtype}")
    torch, groups = _torch(), kwargs.get("groups") or 1
    # The matrix that the library makes: rows of all output channels, with zeros where groups do not meet.
    parts = [part.permute(1, 2, 3, 0) for part in weight.chunk(groups)]
    rows = [_rounded(torch.nn.functional.pad(part, _beside(parts, i)), dtype) for i, part in enumerate(parts)]
    columns = torch.arange(weight.shape[0]).chunk(groups)
    kept = [row[..., column].permute(3, 0, 1, 2) for row, column in zip(rows, columns, strict=True)]
    kwargs["weight_tensor"] = torch.cat(kept)
    if bias is not None:
        kwargs["bias_tensor"] = _rounded(bias, dtype)


def _beside(parts: list[Any], index: int) -> tuple[int, int]:
    widths = [part.shape[-1] for part in parts]
    return sum(widths[:index]), sum(widths[index + 1 :])


def _results(value: Any) -> list[Any]:
    if isinstance(value, _torch().Tensor):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _results(item)]
    return []


def answer(request: Request, device: Any) -> dict[str, Any]:
    call = request.call
    try:
        function = objects.function_of(call["op"])
        try:
            golden = ttnn.get_golden_function(function)
        except (RuntimeError, AttributeError):  # it has none, or is no operation
            raise Unsupported(f"the library has no golden function for {call['op']}") from None
        args, kwargs = objects.Rebuilder(device, lambda spec: _as_torch(request, spec)).call(call)
        if call["op"] == "ttnn.conv2d":
            _prepare_weights(kwargs)
    except Unsupported as error:
        return {"outcome": "unsupported", "argument": error.argument, "error": errors.record_of(error, "rebuild")}
    try:
        results = _results(golden(*args, **kwargs))
    except Exception as error:
        return {"outcome": "error", "error": errors.record_of(error, "call")}
    written = 0
    for result, output in zip(results, request.outputs, strict=False):
        if result.numel() != len(output.values):
            break
        target = np.frombuffer(output.values, tensors.NUMPY[output.type])
        exact = _torch().float32 if output.type == "f32" else _torch().int64
        target[:] = result.detach().to(exact).numpy().reshape(-1)
        written += 1
    return {"outcome": "ok", "outputs": [{"shape": list(result.shape)} for result in results], "written": written}
