"""Makes calls on the real library, one a line: a call comes on standard input, its record goes to a pipe.

It is a process of its own because the library may die of a call; the parent then writes "crash" and starts another.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import Any

import ttnn

from opwright.oracle import rebuild

_FATAL = re.compile(r"(TT_FATAL|TT_THROW) @ (?:.*?/)?((?:ttnn|tt_metal)/[^:]+|[^:]+):(\d+): (.*)")


def _error(error: BaseException, stage: str) -> dict[str, Any]:
    text = str(error)
    record: dict[str, Any] = {"type": type(error).__name__, "stage": stage}
    found = _FATAL.search(text)
    if found:
        record.update(kind=found[1], file=found[2], line=int(found[3]), condition=found[4])
        text = text.split("info:\n", 1)[-1].split("\nbacktrace:", 1)[0]
    record["message"] = text[:700]
    return record


def _make(call: dict[str, Any], device: Any) -> dict[str, Any]:
    try:
        function = rebuild.function_of(call["op"])
        args = [rebuild.rebuild(value, device) for value in call["args"]]
        kwargs = {name: rebuild.rebuild(value, device) for name, value in call["kwargs"].items()}
    except rebuild.InputError as error:
        return {"outcome": "error", "error": _error(error.__cause__ or error, "input")}
    except Exception as error:
        return {"outcome": "not made", "error": _error(error, "rebuild")}
    try:
        result = function(*args, **kwargs)
    except Exception as error:
        return {"outcome": "error", "error": _error(error, "call")}
    return {"outcome": "ok", "outputs": rebuild.output_records(result)}


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
