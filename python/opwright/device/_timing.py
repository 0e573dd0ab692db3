"""Times of a request `time`: warm-up and measured iterations of one call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

#: What `do_time` of a device that times call by call can do; for `hello["perf"]`.
EAGER = {"eager": True}


class Timing:
    """What a request asks for: its field `time`."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self.warm_up = max(0, int(fields.get("warm_up", 10)))
        self.iterations = max(1, int(fields.get("iterations", 10)))
        #: The chip's own times, instead of those from the call to its end.
        self.device_time = bool(fields.get("device_time", False))
        self.trace = bool(fields.get("trace", False))
        self.program_cache = bool(fields.get("program_cache", True))


def times_of(timing: Timing, call: Callable[[], Any], synchronize: Callable[[], Any] | None = None) -> dict[str, Any]:
    """The answer's lists: seconds from each call to its end, and those until the call came back.

    Every iteration is synchronised: what is queued for the next one would be its time too.
    """
    seconds, host_seconds = [], []
    for number in range(timing.warm_up + timing.iterations):
        start = time.perf_counter()
        call()
        returned = time.perf_counter()
        if synchronize is not None:
            synchronize()
        end = time.perf_counter()
        if number >= timing.warm_up:
            seconds.append(end - start)
            host_seconds.append(returned - start)
    answer: dict[str, Any] = {"seconds": seconds}
    if synchronize is not None:
        answer["host_seconds"] = host_seconds
    return answer
