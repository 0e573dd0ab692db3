"""What era-2 sweep modules make of their vectors: arguments by position and by name, as objects of the library."""

import re
from typing import Any

import ttnn
from tests.sweep_framework.master_config_loader_v2 import (
    dict_to_compute_kernel_config,
    dict_to_core_grid,
    dict_to_memory_config,
    dict_to_program_config,
    parse_dtype,
    parse_layout,
)
from tests.sweep_framework.sweep_utils.traced import tensor

SPEC = ("shape", "dtype", "layout", "memory_config", "tensor_placement", "storage_type")
METADATA = ("traced_source", "traced_machine_info", "config_hash", "output_memory_config")


def tensor_of(vector: dict[str, Any], name: str, device: Any) -> Any:
    """On every chip the same, as modules do for tensors without a placement."""
    parts = [vector[f"{name}_{part}"] for part in SPEC[:4]]
    return tensor(*parts, device, vector.get(f"{name}_storage_type"))


def names_of_tensors(vector: dict[str, Any]) -> list[str]:
    return [name[: -len("_shape")] for name in vector if name.endswith("_shape") and f"{name[:-6]}_dtype" in vector
            and vector[name] is not None]  # fmt: skip


def parse_dict_value(name: str, value: Any, vector: dict[str, Any]) -> Any:
    if isinstance(value, dict) and value.get("type") == "Shape":
        return [int(number) for number in re.findall(r"-?\d+", str(value["value"]))]
    if isinstance(value, dict) and ("memory_layout" in value or "MemoryConfig" in str(value.get("type"))):
        return dict_to_memory_config(value)
    if name == "compute_kernel_config":
        return dict_to_compute_kernel_config(value)
    if name == "program_config":
        names = names_of_tensors(vector)
        second = next((vector[f"{one}_memory_config"] for one in names if one.endswith("_b")), None)
        return dict_to_program_config(value, second, vector.get(f"{names[0]}_memory_config"))
    if name == "core_grid":
        return dict_to_core_grid(value)
    if isinstance(value, dict) and value.get("type") == "DataType":
        return parse_dtype(value)
    if isinstance(value, dict) and value.get("type") == "Layout":
        return parse_layout(value)
    return value


def build_op_kwargs(vector: dict[str, Any], exclude: tuple[str, ...] = ()) -> dict[str, Any]:
    """Arguments by name that are no tensors; those that the call does not pass are left out."""
    tensors = names_of_tensors(vector)
    specs = {f"{name}_{part}" for name in tensors for part in SPEC}
    absent = vector.get("__absent_keys__", ())
    return {
        name: parse_dict_value(name, value, vector)
        for name, value in vector.items()
        if name not in specs and name not in METADATA and name not in exclude and name not in absent
        and not (name.startswith("arg") and name[3:].isdigit()) and name != "__absent_keys__" and value is not None
    }  # fmt: skip


def positional_args(vector: dict[str, Any], device: Any) -> list[Any]:
    """Tensors by position in their order among other arguments by position."""
    letters = [name for name in names_of_tensors(vector) if name.startswith("input_") and len(name) == len("input_a")]
    others = {int(name[3:]): parse_dict_value(name, value, vector) for name, value in vector.items()
              if name.startswith("arg") and name[3:].isdigit() and name not in vector.get("__absent_keys__", ())}  # fmt: skip
    made = [tensor_of(vector, name, device) for name in letters]
    out = []
    while made or others:
        at = len(out)
        if at in others:
            out.append(others.pop(at))
        elif made:
            out.append(made.pop(0))
        else:
            break
    return [device if isinstance(value, dict) and value.get("type") == "MeshDevice" else value for value in out]


def tensor_kwargs(vector: dict[str, Any], device: Any) -> dict[str, Any]:
    names = [name for name in names_of_tensors(vector) if not (name.startswith("input_") and len(name) == len("input_a"))]
    return {name: tensor_of(vector, name, device) for name in names}


def shape_of_output(output: Any) -> list[int]:
    first = output[0] if isinstance(output, (list, tuple)) else output
    return list(first.shape) if isinstance(first, ttnn.Tensor) else []
