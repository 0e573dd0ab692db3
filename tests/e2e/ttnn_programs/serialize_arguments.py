"""usage: serialize_arguments.py FILE

A device program that makes the arguments of each call, writes every object among them as JSON text and reads it back.
FILE gets one JSON object a call: {"op", "objects": how many of each class, "unsupported": what could not be made from
the trace, "differ": [what did not come back]}."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import library_samples
import ttnn

from opwright.device import Request, serve
from opwright.serialize import from_jsonable, to_jsonable
from opwright.ttnn_device import objects


def objects_in(value: Any) -> Iterator[Any]:
    """Those that JSON has no form for."""
    if isinstance(value, (list, tuple, set)):
        for item in value:
            yield from objects_in(item)
    elif isinstance(value, dict):
        yield from objects_in(list(value.values()))
    elif value is not None and not isinstance(value, (bool, int, float, str, ttnn.Tensor)):
        yield value


class Serialize:
    hello = {"name": "serialize", "numerics": "none", "board": "n300", "memory": False, "timing": False}

    def __init__(self) -> None:
        self._device = library_samples.open_device()
        self._tensor = ttnn.Tensor([1.0], [1, 1], ttnn.float32, ttnn.ROW_MAJOR_LAYOUT)
        self._out = open(sys.argv[1], "a")

    def do_run(self, request: Request) -> dict[str, Any]:
        memories: list[Any] = []
        line: dict[str, Any] = {"op": request.call["op"], "objects": Counter(), "differ": []}

        def make_tensor(spec: dict[str, Any]) -> Any:
            if spec.get("memory"):
                memories.append(objects.memory_config(spec["memory"]))
            return self._tensor

        try:
            args, kwargs = objects.Rebuilder(self._device, make_tensor).call(request.call)
        except Exception as error:
            line["unsupported"] = f"{type(error).__name__}: {error}"
            args, kwargs = [], {}
        for wanted in objects_in([args, kwargs, memories]):
            problems: list[object] = []
            text = json.dumps(to_jsonable(wanted), allow_nan=False)
            made = from_jsonable(json.loads(text), self._device, problems=problems)
            line["objects"][type(wanted).__name__] += 1
            if verdict := "; ".join(map(str, problems)) or library_samples.difference(wanted, made):
                line["differ"].append(f"{type(wanted).__name__}: {verdict}")
        self._out.write(json.dumps(line) + "\n")
        self._out.flush()
        return {"outcome": "ok", "outputs": []}

    def close(self) -> None:
        ttnn.close_mesh_device(self._device)


serve(Serialize)
