"""Answers the requests of the device protocol with the real library."""

from __future__ import annotations

import sys
import time
from contextlib import nullcontext
from typing import Any

import numpy as np
import ttnn

from opwright._facts import version_of
from opwright.device import Request
from opwright.ttnn_device import boards, errors, golden, memory, objects, recapture, tensors, timing
from opwright.ttnn_device.classes import Unsupported

#: Programs that are kept: a sweep makes a new one with each case, and calls a case a few times only.
MAX_PROGRAMS = 64


class TtnnDevice:
    def __init__(self, board: str | None, l1_small: int) -> None:
        # The library shows the arguments of a call that it refuses: without values of tensors, which takes seconds.
        ttnn.set_printoptions(profile="empty")
        self._mesh = boards.OpenMesh(l1_small)
        grid = self._mesh.device(None).compute_with_storage_grid_size()
        self._recorder = recapture.recorder()
        is_mock = boards.mock_board() is not None
        self._needs_data = not is_mock
        board = board or boards.board_name()
        versions = {name: version_of(name) for name in ("ttnn", "numpy", "torch")}
        versions["python"] = ".".join(map(str, sys.version_info[:3]))
        self.hello = {
            "name": f"ttnn:mock:{board}" if is_mock else "ttnn",
            "numerics": "none" if is_mock else "real",
            "board": {"name": board, "grid": [grid.x, grid.y]},
            "memory": True,
            "timing": False,  # seconds are those of the host
            "mesh": self._mesh.chips > 1,
            "capture": self._recorder is not None,
            "golden": golden.is_possible(),
            "perf": timing.ability(is_mock),
            "versions": {name: text for name, text in versions.items() if text},
        }

    def do_run(self, request: Request) -> dict[str, Any]:
        try:
            function, device = self._of_call(request)
        except Unsupported as error:
            return _unsupported(error)
        case = _Case(request, function, device, self._recorder)
        try:
            if self._needs_data and not request.has_data:
                return case.specs()
            return case.answer()
        finally:
            case.free()
            if device.num_program_cache_entries() > MAX_PROGRAMS:
                device.clear_program_cache()

    def _of_call(self, request: Request, trace_region: int = 0) -> tuple[Any, Any]:
        """What the call names, and the mesh that it was made on."""
        function = objects.function_of(request.call["op"])
        return function, self._mesh.device(objects.mesh_of(request.call), trace_region)

    def do_time(self, request: Request) -> dict[str, Any]:
        if "refused" in self.hello["perf"]:
            return {"outcome": "unsupported", "error": {"stage": "request", "message": self.hello["perf"]["refused"]}}
        try:
            function, device = self._of_call(request, timing.TRACE_REGION if request.timing.trace else 0)
        except Unsupported as error:
            return _unsupported(error)
        case = _Case(request, function, device, None)
        try:
            return case.times()
        finally:
            case.free()

    def do_golden(self, request: Request) -> dict[str, Any]:
        if not self.hello["golden"]:
            return {"outcome": "unsupported", "error": {"stage": "request", "message": "torch is not installed"}}
        try:
            device = self._mesh.device(objects.mesh_of(request.call))
        except Unsupported as error:
            return _unsupported(error)
        return golden.answer(request, device)

    def close(self) -> None:
        if self._recorder is not None:
            self._recorder.close()
        self._mesh.close()


def _unsupported(error: Unsupported) -> dict[str, Any]:
    record = errors.record_of(error, "rebuild")
    return {"outcome": "unsupported", "argument": error.argument, "error": record}


class _Case:
    """One run request: its arguments live here, and are freed with it."""

    def __init__(self, request: Request, function: Any, device: Any, recorder: recapture.Recorder | None) -> None:
        self._request = request
        self._function = function
        self._device = device
        self._recorder = recorder if request.wants_capture else None
        self._inputs: list[Any] = []
        self._args: list[Any] = []
        self._kwargs: dict[str, Any] = {}
        self._results: list[Any] = []

    def answer(self) -> dict[str, Any]:
        request = self._request
        made = memory.inputs() if request.wants_memory else None
        try:
            with made or nullcontext():
                self._args, self._kwargs = objects.Rebuilder(self._device, self._input).call(request.call)
        except Unsupported as error:
            return _unsupported(error)
        except tensors.InputError as error:
            return errors.answer(error.__cause__ or error, "input")
        except Exception as error:
            return errors.answer(error, "rebuild")

        recording = None
        answer: dict[str, Any] = {"outcome": "ok"}
        seconds: list[float] = []
        try:
            with self._recorder.recording(request.folder) if self._recorder else nullcontext() as recording:
                self._call(seconds)
            answer["outputs"] = tensors.output_records(self._results)
            if request.has_data:
                answer["written"] = self._write()
        except Exception as error:
            answer = errors.answer(error, "call")
        if answer["outcome"] == "ok":
            self._repeat(seconds)
            if made is not None and self._can_call_again():
                answer.update(memory.peak(made, lambda: self._function(*self._args, **self._kwargs)))
            answer["seconds"] = seconds
        if recording is not None:
            answer["trace"] = recording.path
        return answer

    def times(self) -> dict[str, Any]:
        """The call again and again on the same inputs; results of an iteration are freed before the next."""
        try:
            self._args, self._kwargs = objects.Rebuilder(self._device, self._input).call(self._request.call)
        except Unsupported as error:
            return _unsupported(error)
        except tensors.InputError as error:
            return errors.answer(error.__cause__ or error, "input")
        except Exception as error:
            return errors.answer(error, "rebuild")

        def call() -> Any:
            return self._function(*self._args, **self._kwargs)

        def free(result: Any) -> None:
            kept = {id(tensor) for tensor in self._inputs}
            for tensor in tensors.tensors_in(result):
                if id(tensor) not in kept and tensor.is_allocated() and not self._is_input(tensor):
                    ttnn.deallocate(tensor)

        try:
            times = timing.measure(self._request.timing, self._device, call, free, self._can_call_again)
            return {"outcome": "ok", **times}
        except Unsupported as error:
            return _unsupported(error)
        except Exception as error:
            return errors.answer(error, "call")

    def _is_input(self, tensor: Any) -> bool:
        """A result that lies where an input does: written in place."""
        return any(
            other.is_allocated() and other.buffer_address() == tensor.buffer_address()
            for other in self._inputs
            if other.storage_type() == ttnn.StorageType.DEVICE and tensor.storage_type() == ttnn.StorageType.DEVICE
        )

    def specs(self) -> dict[str, Any]:
        """Whether the library accepts the call and what would come out, without running it: chips that compute on
        whatever memory holds, ids and page tables too, may hang."""
        try:
            self._args, self._kwargs = objects.Rebuilder(self._device, self._input).call(self._request.call)
            with memory.without_dispatch():
                self._results = list(tensors.tensors_in(self._function(*self._args, **self._kwargs)))
                return {"outcome": "ok", "outputs": tensors.output_records(self._results)}
        except Unsupported as error:
            return _unsupported(error)
        except tensors.InputError as error:
            return errors.answer(error.__cause__ or error, "input")
        except Exception as error:
            return errors.answer(error, "call")

    def free(self) -> None:
        """Also what an exception still holds on to."""
        for tensor in tensors.tensors_in([self._results, self._inputs]):
            if tensor.storage_type() == ttnn.StorageType.DEVICE and tensor.is_allocated():
                ttnn.deallocate(tensor)

    def _input(self, spec: dict[str, Any]) -> Any:
        values = None
        if self._request.has_data:
            kind, view = self._request.input(spec["slot"])
            values = np.frombuffer(view, tensors.NUMPY[kind]).reshape(spec["shape"])
        tensor = tensors.make_tensor(spec, self._device, values)
        self._inputs.append(tensor)
        return tensor

    def _call(self, seconds: list[float]) -> None:
        start = time.perf_counter()
        result = self._function(*self._args, **self._kwargs)
        ttnn.synchronize_device(self._device)
        seconds.append(time.perf_counter() - start)
        self._results = list(tensors.tensors_in(result))

    def _can_call_again(self) -> bool:
        """Not after an operation that freed its input: the library would crash."""
        return all(tensor.is_allocated() for tensor in self._inputs)

    def _repeat(self, seconds: list[float]) -> None:
        """Warm times, after the outputs were read: an operation that writes into its input may be called again now."""
        for _ in range(self._request.repeat - 1):
            if not self._can_call_again():
                return
            try:
                self._call(seconds)
            except Exception:  # it worked once; what failed is not what was asked
                return

    def _write(self) -> int:
        """How many of the outputs that were asked for have got their values."""
        written = 0
        for tensor, output in zip(self._results, self._request.outputs, strict=False):
            values = tensors.read(tensor)
            if values.size != len(output.values):
                break  # another shape than asked for: the records say which
            np.frombuffer(output.values, tensors.NUMPY[output.type])[:] = values.reshape(-1)
            written += 1
        return written
