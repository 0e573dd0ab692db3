"""The loader of era-2 masters: recorded configurations as parameters of sweep modules.

    from opwright.compat.master_config_loader_v2 import MasterConfigLoader

    loader = MasterConfigLoader()               # or MasterConfigLoader("master.json"), or of a store of opwright
    parameters = {"model_traced": loader.get_suite_parameters("add")}

Names and results are those of the existing loader, so that sweep modules run over it unchanged. Every dtype, layout,
memory config and shard spec is as it was traced: a configuration that cannot be made is left out and told, with the
reason, in `loader.skipped`, where the existing loader takes bfloat16, TILE or DRAM instead.
"""

from __future__ import annotations

import string
from typing import Any

from opwright.compat import _era1, _master
from opwright.compat._loader import CANNOT_MAKE, NO_CONFIGURATIONS, Loader, Skipped, lead_models_filter
from opwright.compat._values import (
    dict_to_compute_kernel_config,
    dict_to_core_grid,
    dict_to_memory_config,
    dict_to_program_config,
    enum_value,
    is_memory_config,
    parse_dtype,
    parse_layout,
    special_float,
)

__all__ = [
    "ABSENT",
    "MasterConfigLoader",
    "Skipped",
    "dict_to_compute_kernel_config",
    "dict_to_core_grid",
    "dict_to_memory_config",
    "dict_to_program_config",
    "get_global_loader",
    "lead_models_filter",
    "parameters_of",
    "parse_dtype",
    "parse_layout",
]

#: Of a parameter that a configuration does not pass; None is one that it passes as None.
ABSENT = "__ABSENT__"


class MasterConfigLoader(Loader):
    """Configurations of a master JSON or of a store, read once."""

    def get_operation_configs(self, operation_name: str) -> list[_master.Traced]:
        """(arguments, source, machine_info, config_hash) for each execution."""
        return self.executions_of(operation_name)

    def get_suite_parameters(
        self, operation_name: str, suite_name: str = "model_traced", all_cases: bool = False
    ) -> dict[str, list[Any]]:
        """One key, the names of all parameters joined by commas; a tuple for each execution."""
        self.latest(self)
        before = len(self.skipped)
        found = parameters_of(self, operation_name)
        self.tell_skipped(operation_name, before)
        return found

    def get_raw_configurations(self, operation_name: str, max_configs: int = 10) -> list[_master.Traced]:
        return self.get_operation_configs(operation_name)[:max_configs]


def parameters_of(loader: Loader, operation_name: str) -> dict[str, list[Any]]:
    rows = []
    for traced in loader.executions_of(operation_name):
        try:
            rows.append(_parameters(traced))
        except CANNOT_MAKE as error:
            loader.skip(operation_name, traced.config_hash, error)
    if not rows:
        return {name: list(values) for name, values in NO_CONFIGURATIONS.items()}
    names = list(dict.fromkeys(name for row in rows for name in row))
    return {",".join(names): [tuple(row.get(name, ABSENT) for name in names) for row in rows]}


def _parameters(traced: _master.Traced) -> dict[str, Any]:
    arguments = traced.arguments
    if isinstance(arguments, list):
        arguments = _era1.as_era2(arguments)
    found: dict[str, Any] = {}
    tensors: list[dict[str, Any]] = []
    output: Any = None
    position = 0
    while f"arg{position}" in arguments:
        value = arguments[f"arg{position}"]
        if _is_tensor(value):
            tensors.append(value)
        else:
            found[f"arg{position}"] = special_float(value)
            if output is None and is_memory_config(value):
                output = dict_to_memory_config(value)
        position += 1
    for name, value in arguments.items():
        if not (name.startswith("arg") and name[3:].isdigit()):
            found.update(_keyword(name, value))
    if len(tensors) > len(string.ascii_lowercase):
        raise ValueError(f"{len(tensors)} tensors by position")
    for letter, tensor in zip(string.ascii_lowercase, tensors, strict=False):
        found.update(_tensor(f"input_{letter}", tensor))
        if "HOST" in str(tensor.get("storage_type", "")):
            found[f"input_{letter}_storage_type"] = tensor["storage_type"]
    if tensors and "output_memory_config" not in found:
        # The one that the call names, by keyword or by position; else that of its first tensor.
        otherwise = output if output is not None else found["input_a_memory_config"]
        found["output_memory_config"] = found.get("memory_config", otherwise)
    found["traced_source"] = traced.source
    found["traced_machine_info"] = traced.machine_info
    found["config_hash"] = traced.config_hash
    return found


def _is_tensor(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") == "ttnn.Tensor"


def _keyword(name: str, value: Any) -> dict[str, Any]:
    if _is_tensor(value):
        return _tensor(name, value)
    if is_memory_config(value):
        return {name: dict_to_memory_config(value)}
    return {name: special_float(enum_value(value))}


def _tensor(name: str, tensor: dict[str, Any]) -> dict[str, Any]:
    shape = tensor.get("original_shape", tensor.get("shape"))
    if not isinstance(shape, list):
        raise ValueError(f"{name} has no shape")
    memory = tensor.get("memory_config")
    return {
        f"{name}_shape": tuple(shape),
        f"{name}_dtype": parse_dtype(tensor.get("original_dtype", tensor.get("dtype"))),
        f"{name}_layout": parse_layout(tensor.get("layout")),
        # A tensor on the host has none.
        f"{name}_memory_config": dict_to_memory_config(memory) if memory else None,
        f"{name}_tensor_placement": tensor.get("tensor_placement"),
    }


get_global_loader = MasterConfigLoader.latest
