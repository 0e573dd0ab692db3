"""Makes calls on the real library, one a line: a call comes on standard input, its record goes to a pipe.

It is a process of its own because the library may die of a call; the parent then writes "crash" and starts another.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import ttnn

from opwright.ttnn_device import errors, objects, tensors


def _make(call: dict[str, Any], device: Any) -> dict[str, Any]:
    try:
        function = objects.function_of(call["op"])
        args, kwargs = objects.Rebuilder(device, lambda spec: tensors.make_tensor(spec, device)).call(call)
    except tensors.InputError as error:
        return {"outcome": "error", "error": errors.record_of(error.__cause__ or error, "input")}
    except Exception as error:
        return {"outcome": "not made", "error": errors.record_of(error, "rebuild")}
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return {"outcome": "error", "error": errors.record_of(error, "call")}
    return {"outcome": "ok", "outputs": tensors.output_records(result)}


def main() -> None:
    answers = os.fdopen(int(sys.argv[1]), "w")
    l1_small = int(sys.argv[2])
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 1), l1_small_size=l1_small)
    grid = device.compute_with_storage_grid_size()
    for line in sys.stdin:
        record = _make(json.loads(line), device)
        record["grid"] = [grid.x, grid.y]
        answers.write(json.dumps(record) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
