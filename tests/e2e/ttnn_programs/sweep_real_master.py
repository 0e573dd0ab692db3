"""usage: sweep_real_master.py MASTER

Sweep modules in one file: parameters of a real era-2 master, asked for as modules of the existing framework do, and a
run() for each operation that uses every one of them. Prints {"OP": [ran, rows, first error]}."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import opwright.compat.stand_in  # noqa: F401 (before theirs)
import torch
import ttnn
from tests.sweep_framework.master_config_loader_v2 import (  # type: ignore[import-not-found]
    MasterConfigLoader,
    dict_to_compute_kernel_config,
    dict_to_core_grid,
    dict_to_program_config,
    parse_dtype,
)

MasterConfigLoader.set_master_file_path(sys.argv[1])
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))


def tensor(vector: dict[str, Any], name: str) -> Any:
    shape, dtype = vector[f"{name}_shape"], vector[f"{name}_dtype"]
    data = torch.zeros(shape, dtype=torch.int32) if "INT" in dtype.name else torch.rand(shape)
    return ttnn.from_torch(
        data,
        dtype=dtype,
        layout=vector[f"{name}_layout"],
        device=device,
        memory_config=vector[f"{name}_memory_config"],
        mesh_mapper=ttnn.ReplicateTensorToMesh(device),
    )


def operands(vector: dict[str, Any]) -> list[Any]:
    names = [name for name in ("input_a", "input_b", "input_tensor_b") if vector.get(f"{name}_shape") is not None]
    return [tensor(vector, name) for name in names]


def eltwise(operation: Any) -> Callable[..., Any]:
    def run(**vector: Any) -> Any:
        made = operands(vector)
        return operation(*made, *([vector["arg1"]] if len(made) == 1 else []))

    return run


def run_linear(**vector: Any) -> Any:
    makers = {
        "program_config": dict_to_program_config,
        "compute_kernel_config": dict_to_compute_kernel_config,
        "core_grid": dict_to_core_grid,
    }
    options = {name: make(vector[name]) for name, make in makers.items() if vector.get(name) is not None}
    options.update({name: vector[name] for name in ("memory_config", "dtype") if vector.get(name) is not None})
    return ttnn.linear(*operands(vector), **options)


def run_typecast(**vector: Any) -> Any:
    return ttnn.typecast(*operands(vector), vector.get("dtype") or parse_dtype(vector["arg1"]))


def run_interleaved_to_sharded(**vector: Any) -> Any:
    return ttnn.interleaved_to_sharded(*operands(vector), vector["output_memory_config"])


MODULES = {
    "add": eltwise(ttnn.add),
    "multiply": eltwise(ttnn.multiply),
    "linear": run_linear,
    "typecast": run_typecast,
    "interleaved_to_sharded": run_interleaved_to_sharded,
}
report = {}
for operation, run in MODULES.items():
    parameters = {"model_traced": MasterConfigLoader().get_suite_parameters(operation)}
    ((names, rows),) = parameters["model_traced"].items()
    ran, error = 0, ""
    for row in rows:
        # As the existing runner hands a vector over: what is absent is None.
        given = {name: None if isinstance(part, str) and part == "__ABSENT__" else part
                 for name, part in zip(names.split(","), row, strict=True)}  # fmt: skip
        try:
            ttnn.deallocate(run(**given))
            ran += 1
        except (RuntimeError, TypeError, ValueError) as why:
            error = error or str(why)[:500]
    report[operation] = [ran, len(rows), error]
ttnn.close_mesh_device(device)
print(json.dumps(report))
