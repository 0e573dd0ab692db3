"""planted_device --bug NAME|none|any|operands [--seed N] [--log FILE] [--board NAME]

Started by `opwright run --device 'exec:opwright mock --board n150 -- PYTHON …/planted_device'` with a Python that has
ttnn and torch. With `any` each call gets a bug of its family that changes its result, chosen by the seed; with `operands` one
that follows from its operands and parameters (operands.py). A line of the
log says which, and by how much; its number comes back as the call's `kernel_seconds`, so that results can be told apart.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from opwright.device import Request, serve  # noqa: E402


class Specs:
    """The request as a device without numbers would get it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self.has_data = False
        self.repeat = 1
        self.wants_memory = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._request, name)


class PlantedDevice:
    def __init__(self, options: argparse.Namespace) -> None:
        import torch
        from opwright.ttnn_device.device import TtnnDevice
        from planted_device.families import FAMILIES
        from planted_device.rounding import rounded

        torch.set_num_threads(1)
        self._families, self._rounded = FAMILIES, rounded
        self._library = TtnnDevice(options.board, 24576)
        self._options = options
        self._log = open(options.log, "a", encoding="utf-8") if options.log else None
        self._lines = 0
        self.hello = {
            **self._library.hello,
            "name": "planted", "numerics": "real", "timing": True, "memory": False, "golden": False,
        }  # fmt: skip

    def do_run(self, request: Request) -> dict[str, Any]:
        from planted_device.call import Call, Unsupported

        answer = self._library.do_run(Specs(request))
        if answer["outcome"] != "ok" or not request.has_data:
            return answer
        try:
            call = Call(request)
            family, kernel, bugs = self._families[call.op]
            right = self._delivered(call, kernel(call, ""))
            bug, outputs, change = self._with_a_bug(call, kernel, bugs, right)
        except KeyError:
            return unsupported(f"{request.call['op']} is not computed here")
        except Unsupported as error:
            return unsupported(str(error))
        self._write(request, outputs)
        self._lines += 1
        if self._log is not None:
            line = {"line": self._lines, "op": call.op, "family": family, "bug": bug, "change": change}
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()
        return {**answer, "kernel_seconds": float(self._lines)}

    def _with_a_bug(self, call: Any, kernel: Any, bugs: list[str], right: list[Any]) -> tuple[str, list[Any], float]:
        from planted_device.call import Unsupported
        from planted_device.launch import LAUNCH_BUGS, launched
        from planted_device.operands import WrongCall, operand_bugs

        wanted = self._options.bug
        if wanted == "none":
            return "", right, 0.0
        of_operands = operand_bugs(call)
        possible = {"any": [*bugs, *LAUNCH_BUGS], "operands": of_operands}
        every = [*bugs, *LAUNCH_BUGS, *of_operands]
        order = possible[wanted] if wanted in possible else [wanted] if wanted in every else []
        random.Random(f"{self._options.seed} {call.op} {[o.shape for o in call.outputs]} {self._lines}").shuffle(order)
        for bug in order:
            try:
                if bug in LAUNCH_BUGS:
                    wrong = self._delivered(call, [launched(output, bug) for output in kernel(call, "")])
                elif bug in of_operands:
                    wrong = self._delivered(call, kernel(WrongCall(call, bug), ""))
                else:
                    wrong = self._delivered(call, kernel(call, bug))
            except (IndexError, RuntimeError, ValueError, TypeError, ZeroDivisionError, AssertionError, Unsupported):  # shapes that have no room for it
                continue
            change = changed(right, wrong)
            if change > 0:
                return bug, wrong, change
        return "", right, 0.0

    def _delivered(self, call: Any, outputs: list[Any]) -> list[Any]:
        from planted_device.call import Unsupported

        if len(outputs) != len(call.outputs) or any(
            list(got.shape) != list(asked.shape) for got, asked in zip(outputs, call.outputs)
        ):
            raise Unsupported("other outputs than asked for")
        return [self._rounded(got, asked.dtype) for got, asked in zip(outputs, call.outputs)]

    @staticmethod
    def _write(request: Request, outputs: list[Any]) -> None:
        import numpy as np
        from planted_device.call import NUMPY

        for got, asked in zip(outputs, request.outputs):
            kind = NUMPY[asked.type]
            np.frombuffer(asked.values, kind)[:] = got.contiguous().numpy().reshape(-1).astype(kind)

    def close(self) -> None:
        self._library.close()


def changed(right: list[Any], wrong: list[Any]) -> float:
    """The largest of all outputs: root of the mean square difference against that of the right values."""
    import torch

    most = 0.0
    for a, b in zip(right, wrong):
        a, b = a.to(torch.float64), b.to(torch.float64)
        same = (a == b) | (torch.isnan(a) & torch.isnan(b))
        if bool(same.all()):
            continue
        fits = torch.isfinite(a) & torch.isfinite(b)
        if not bool((fits | same).all()):
            return 1e9
        size = float(a[fits].square().sum())
        most = max(most, math.sqrt(float((a - b)[fits].square().sum()) / size) if size > 0 else 1e9)
    return most


def unsupported(message: str) -> dict[str, Any]:
    return {"outcome": "unsupported", "argument": "", "error": {"stage": "rebuild", "message": message}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bug", default="none")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--log")
    parser.add_argument("--board", default=os.environ.get("OPWRIGHT_MOCK_BOARD"))
    options = parser.parse_args()
    os.environ.setdefault("TT_LOGGER_LEVEL", "FATAL")
    os.environ.setdefault("LOGURU_LEVEL", "ERROR")
    serve(lambda: PlantedDevice(options))


if __name__ == "__main__":
    main()
