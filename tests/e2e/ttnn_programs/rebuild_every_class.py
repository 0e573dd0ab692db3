"""usage: rebuild_every_class.py FILE

A device program that makes the arguments of each call of pass_every_class.py again, from what arrives, and writes for each
into FILE whether it is what was passed: one JSON object a line, {"sample", "verdict"}. An empty verdict means it is."""

from __future__ import annotations

import json
import sys
from typing import Any

import library_samples
import pass_every_class
import ttnn

from opwright.device import Request, serve
from opwright.ttnn_device import classes, objects, tensors


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
        return library_samples.difference(cls[member] if member else library_samples.sample_of(name), args[0])

    def close(self) -> None:
        ttnn.close_mesh_device(self._device)


serve(Rebuild)
