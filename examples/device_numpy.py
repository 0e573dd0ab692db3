"""A whole device: a handful of operators in numpy, behind the device protocol (docs/formats/device-protocol.md).

    opwright run --device "exec:python3 examples/device_numpy.py" --where 'op = ttnn.add'

It needs numpy and the package `opwright` (on PYTHONPATH, or installed). Copy it to bring a device of your own: say what
it is (`hello`), make tensors of what a request carries, compute, write the values back, describe what came out.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from opwright.device import Request, serve


class Refused(Exception):
    """The device has a rule against this call."""


def same_or_broadcast(a: np.ndarray, b: np.ndarray) -> None:
    try:
        np.broadcast_shapes(a.shape, b.shape)
    except ValueError as error:
        raise Refused(f"shapes {a.shape} and {b.shape} do not fit together") from error


def binary(function: Any) -> Any:
    def compute(a: np.ndarray, b: Any) -> np.ndarray:
        same_or_broadcast(a, np.asarray(b))
        return function(a, b)

    return compute


def matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    if a.shape[-1] != b.shape[-2]:
        raise Refused(f"inner sizes differ: {a.shape[-1]} and {b.shape[-2]}")
    return (a.astype(np.float64) @ b.astype(np.float64)).astype(np.float32)


#: Operator -> names of its parameters, what it computes.
OPERATORS = {
    "ttnn.add": (("input_tensor_a", "input_tensor_b"), binary(np.add)),
    "ttnn.subtract": (("input_tensor_a", "input_tensor_b"), binary(np.subtract)),
    "ttnn.multiply": (("input_tensor_a", "input_tensor_b"), binary(np.multiply)),
    "ttnn.matmul": (("input_tensor_a", "input_tensor_b"), matmul),
    "ttnn.relu": (("input_tensor",), lambda x: np.maximum(x, 0)),
    "ttnn.neg": (("input_tensor",), np.negative),
    "ttnn.exp": (("input_tensor",), np.exp),
}


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Values that the dtype can hold; bfloat16 to nearest even, which are the upper 16 bits of a float32."""
    values = np.ascontiguousarray(values, np.float32)
    if dtype == "FLOAT32":
        return values
    bits = values.view(np.uint32)
    nearest = ((bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000).view(np.float32)
    return np.where(np.isfinite(values), nearest, values)


class NumpyDevice:
    def __init__(self) -> None:
        versions = {"numpy": np.__version__}
        self.hello = {"name": "numpy", "numerics": "exact-model", "board": "n150", "versions": versions}

    def do_run(self, request: Request) -> dict[str, Any]:
        op = request.call["op"]
        if op not in OPERATORS:
            return unsupported("op", f"{op} is none of {', '.join(OPERATORS)}")
        names, compute = OPERATORS[op]
        given = dict(zip(names, request.call["args"], strict=False)) | request.call["kwargs"]
        inputs, specs = [], []
        for name, value in given.items():
            if name not in names:
                if value is not None:
                    return unsupported(name, "this argument is not understood")
            elif isinstance(value, dict) and "tensor" in value:
                spec = value["tensor"]
                if spec["dtype"] not in ("BFLOAT16", "FLOAT32") or spec["memory"]["layout"] != "INTERLEAVED":
                    return unsupported(name, "only interleaved tensors of BFLOAT16 or FLOAT32 are understood")
                if request.has_data:
                    _, values = request.input(spec["slot"])
                    inputs.append(np.frombuffer(values, np.float32).reshape(spec["shape"]))
                else:  # only specs are asked for
                    inputs.append(np.broadcast_to(np.float32(0), spec["shape"]))
                specs.append(spec)
            elif isinstance(value, (int, float)):
                inputs.append(value)
            else:
                return unsupported(name, f"{value!r} is neither a tensor nor a number")
        start = time.perf_counter()
        try:
            result = rounded(compute(*inputs), specs[0]["dtype"])
        except Refused as error:
            return {"outcome": "refused", "error": {"type": "Refused", "stage": "call", "message": str(error)}}
        seconds = time.perf_counter() - start
        for output in request.outputs[:1]:
            np.frombuffer(output.values, np.float32)[:] = result.reshape(-1)
        return {"outcome": "ok", "outputs": [spec_of(result, specs[0])], "seconds": [seconds]}


def spec_of(result: np.ndarray, like: dict[str, Any]) -> dict[str, Any]:
    """The output as the library would describe it: layout, dtype and buffer type of the first input."""
    shape = list(result.shape)
    padded = shape
    if like["layout"] == "TILE":
        padded = [*shape[:-2], *(-(-n // 32) * 32 for n in shape[-2:])]
    memory = {"layout": "INTERLEAVED", "buffer": like["memory"]["buffer"]}
    return {
        "shape": shape, "padded_shape": padded, "dtype": like["dtype"], "layout": like["layout"],
        "storage": "DEVICE", "memory": memory,
    }  # fmt: skip


def unsupported(argument: str, message: str) -> dict[str, Any]:
    error = {"stage": "rebuild", "message": f"{argument}: {message}"}
    return {"outcome": "unsupported", "argument": argument, "error": error}


if __name__ == "__main__":
    serve(NumpyDevice)
