"""Times of a call of the real library: eager or replayed from a trace, with or without its program cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import ttnn

from opwright.device import Timing
from opwright.ttnn_device.classes import Unsupported


#: Bytes of DRAM that traces may take; the mesh is opened anew for the first request that wants a trace.
TRACE_REGION = 32 << 20


def ability(is_mock: bool) -> dict[str, Any]:
    """For the hello: what can be timed here, or why nothing."""
    if is_mock:
        return {"refused": "a mock board has no chip: times of its calls are those of Python and the host alone"}
    has_trace = all(hasattr(ttnn, name) for name in ("begin_trace_capture", "end_trace_capture", "execute_trace"))
    # The chip's own times come from the library's profiler, which this device does not start.
    return {"eager": True, "trace": has_trace, "program_cache": True, "device_time": False}


def measure(
    timing: Timing, device: Any, call: Callable[[], Any], free: Callable[[Any], None], can_go_on: Callable[[], bool]
) -> dict[str, Any]:
    if timing.device_time:
        raise Unsupported("the chip's own times come from the profiler, which is not on")
    if timing.program_cache:
        return _replayed(timing, device, call, free) if timing.trace else _eager(timing, device, call, free, can_go_on)
    device.disable_and_clear_program_cache()
    try:
        return _eager(timing, device, call, free, can_go_on)
    finally:
        device.enable_program_cache()


def _eager(
    timing: Timing, device: Any, call: Callable[[], Any], free: Callable[[Any], None], can_go_on: Callable[[], bool]
) -> dict[str, Any]:
    seconds, host_seconds = [], []
    for number in range(timing.warm_up + timing.iterations):
        if not can_go_on():
            raise Unsupported("the call frees its inputs, so it cannot be made again")
        start = time.perf_counter()
        result = call()
        returned = time.perf_counter()
        ttnn.synchronize_device(device)
        end = time.perf_counter()
        free(result)  # not part of the call
        if number >= timing.warm_up:
            seconds.append(end - start)
            host_seconds.append(returned - start)
    return {"seconds": seconds, "host_seconds": host_seconds}


def _replayed(timing: Timing, device: Any, call: Callable[[], Any], free: Callable[[Any], None]) -> dict[str, Any]:
    free(call())  # programs are made outside of a trace
    ttnn.synchronize_device(device)
    trace = ttnn.begin_trace_capture(device, cq_id=0)
    try:
        result = call()
    finally:
        ttnn.end_trace_capture(device, trace, cq_id=0)
    seconds, host_seconds = [], []
    try:
        for number in range(timing.warm_up + timing.iterations):
            start = time.perf_counter()
            ttnn.execute_trace(device, trace, cq_id=0, blocking=False)
            returned = time.perf_counter()
            ttnn.synchronize_device(device)
            end = time.perf_counter()
            if number >= timing.warm_up:
                seconds.append(end - start)
                host_seconds.append(returned - start)
    finally:
        ttnn.release_trace(device, trace)
        free(result)
    return {"seconds": seconds, "host_seconds": host_seconds}
