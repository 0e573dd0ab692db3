"""usage: load_era1.py OUT MASTER…

Writes into OUT what the era-1 loader makes of each master: [{"operations": {name: {"names": […], "rows": [[…], …]}},
"skipped": [[operation, which, reason]], "seconds"}, …]."""

from __future__ import annotations

import json
import sys
import time
import warnings
from typing import Any

import ttnn  # noqa: F401 (its import is not what is measured)

from opwright.compat.master_config_loader import MasterConfigLoader
from opwright.serialize import to_jsonable


def load(master: str) -> dict[str, Any]:
    loader = MasterConfigLoader(master)
    start = time.process_time()
    found = {operation: loader.get_suite_parameters(operation) for operation in list(loader._load())}
    seconds = time.process_time() - start
    operations = {}
    for operation, parameters in found.items():
        ((names, rows),) = list(parameters.items())[:1]
        values = [[to_jsonable(part) for part in row] for row in rows] if "," in names else []
        operations[operation] = {"names": names.split(","), "rows": values}
    return {"operations": operations, "skipped": loader.skipped, "seconds": seconds}


warnings.simplefilter("ignore")
with open(sys.argv[1], "w") as out:
    json.dump([load(master) for master in sys.argv[2:]], out)
