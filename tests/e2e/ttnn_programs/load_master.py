"""usage: load_master.py MASTER FILE

Loads every operation of a master with the compatible loader. FILE gets what it gave: {"parameters": {operation: {name:
[value, …]}}, "skipped": […], "configs": {"made": n, "lost": [why, …]}, "seconds": processor time}."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from opwright.compat import master_config_loader_v2 as compat
from opwright.serialize import to_jsonable

MAKERS = {
    "program_config": compat.dict_to_program_config,
    "compute_kernel_config": compat.dict_to_compute_kernel_config,
    "core_grid": compat.dict_to_core_grid,
}


def columns(parameters: dict[str, list[Any]]) -> dict[str, list[Any]]:
    ((names, rows),) = parameters.items()
    return {name: [to_jsonable(row[i]) for row in rows] for i, name in enumerate(names.split(","))}


def main() -> None:
    warnings.simplefilter("ignore")
    start = time.process_time()
    loader = compat.MasterConfigLoader(sys.argv[1])
    operations = list(loader._load())
    found = {operation: loader.get_suite_parameters(operation) for operation in operations}
    seconds = time.process_time() - start
    made, lost = 0, []
    for operation in operations:
        for traced in loader.get_operation_configs(operation):
            for name, make in MAKERS.items():
                if isinstance(traced.arguments, dict) and traced.arguments.get(name) is not None:
                    try:
                        made += type(make(traced.arguments[name])).__module__.startswith("ttnn")
                    except ValueError as error:
                        lost.append(str(error))
    Path(sys.argv[2]).write_text(
        json.dumps(
            {
                "parameters": {name: columns(one) for name, one in found.items() if len(one) == 1},
                "skipped": [list(one) for one in loader.skipped],
                "configs": {"made": made, "lost": lost},
                "seconds": seconds,
            }
        )
    )


if __name__ == "__main__":
    main()
