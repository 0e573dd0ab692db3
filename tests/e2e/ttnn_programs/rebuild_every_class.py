"""usage: rebuild_every_class.py FILE

A device program that makes the arguments of each call of pass_every_class.py again, from what arrives, and writes for each
into FILE whether it is what was passed: one JSON object a line, {"sample", "verdict"}. An empty verdict means it is."""

from __future__ import annotations

import enum
import json
import re
import sys
from typing import Any

import library_samples
import pass_every_class
import ttnn

from opwright.device import Request, serve
from opwright.ttnn_device import classes, objects, sameness, structs, tensors


#: Made anew in each run: there is nothing that could be the same.
HANDLES = ("MeshDevice", "global_semaphore")


def plain_text(value: Any) -> str:
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def difference(wanted: Any, made: Any) -> str:
    if type(made) is not type(wanted):
        return f"it is a {type(made).__name__}"
    if type(wanted).__name__ in HANDLES:
        return ""
    if isinstance(wanted, ttnn.Tensor):  # what it holds is no part of a configuration
        return "" if (made.spec, made.tensor_topology()) == (wanted.spec, wanted.tensor_topology()) else "another spec"
    if hasattr(wanted, "config"):
        return "" if str(made.config()) == str(wanted.config()) else f"it has {made.config()}"
    if isinstance(wanted, enum.Enum):
        return "" if made is wanted else f"it is {made}"
    if type(wanted).__eq__ is object.__eq__ and not sameness.readable(type(wanted)) and " at 0x" in str(wanted):
        return "" if structs.has_no_members(type(wanted).__name__) else "nothing tells two of them apart"
    if "ttnn.Tensor" not in plain_text(wanted) and plain_text(made) != plain_text(wanted):
        return f"it is {plain_text(made)}, not {plain_text(wanted)}"
    if sameness.readable(type(wanted)) and not sameness.same(made, wanted):
        return "its members differ"
    return ""


class Rebuild:
    hello = {"name": "rebuild", "numerics": "none", "board": "n300", "memory": False, "timing": False}

    def __init__(self) -> None:
        self._device = library_samples.open_device()
        for cls in library_samples.bound_classes():
            pass_every_class.operation_of(classes.full_name(cls))
        self._out = open(sys.argv[1], "a")

    def do_run(self, request: Request) -> dict[str, Any]:
        which = request.call["kwargs"]["sample"]
        try:
            verdict = self._verdict(request.call, *which.split(":"))
        except Exception as error:
            verdict = f"{type(error).__name__}: {error}"
        self._out.write(json.dumps({"sample": which, "verdict": verdict}) + "\n")
        self._out.flush()
        return {"outcome": "ok", "outputs": []}

    def _verdict(self, call: dict[str, Any], name: str, member: str) -> str:
        make_tensor = lambda spec: tensors.make_tensor(spec, self._device)  # noqa: E731
        args, _ = objects.Rebuilder(self._device, make_tensor).call(call)
        cls = library_samples.class_of(name)
        return difference(cls[member] if member else library_samples.sample_of(name), args[0])

    def close(self) -> None:
        ttnn.close_mesh_device(self._device)


serve(Rebuild)
