"""Peak memory of a call from the library's graph report: one pass without dispatch, after the real one.

Without dispatch the library takes no program from its cache, so that circular and dataflow buffers are in the report as
well as tensors; with dispatch a cached program shows neither. Inputs are counted from a report around their making.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ttnn

_graph = ttnn._ttnn.graph


class Report:
    """Collects the graph of what is done inside `with`. The capture is always ended: an open one crashes at exit."""

    def __init__(self, mode: Any) -> None:
        self._mode = mode
        self.nodes: list[dict[str, Any]] = []

    def __enter__(self) -> Report:
        _graph.begin_graph_capture(self._mode)
        return self

    def __exit__(self, *_: object) -> None:
        self.nodes = _graph.end_graph_capture()


def inputs() -> Report:
    return Report(_graph.RunMode.NORMAL)


def without_dispatch() -> Report:
    return Report(_graph.RunMode.NO_DISPATCH)


def _peaks(nodes: list[dict[str, Any]]) -> tuple[int, int]:
    """Most bytes of L1 on a core and of DRAM that buffers took at one time."""
    now, peak = {"L1": 0, "DRAM": 0}, {"L1": 0, "DRAM": 0}
    for node in nodes:
        kind, params = node["node_type"], node["params"]
        if kind not in ("buffer_allocate", "buffer_deallocate"):
            continue
        place = "L1" if params.get("type") == "L1" else "DRAM" if params.get("type") == "DRAM" else None
        if place is None:
            continue
        size = int(params.get("max_size_per_bank" if place == "L1" else "size", 0))
        now[place] += size if kind == "buffer_allocate" else -size
        peak[place] = max(peak[place], now[place])
    return peak["L1"], peak["DRAM"]


def peak(made: Report, call: Callable[[], Any]) -> dict[str, int]:
    """`l1_per_core` and `dram` of a call whose inputs were made under `made`. {} when the library cannot tell."""
    try:
        with without_dispatch() as run:
            call()
        usage = _graph.extract_resource_usage_per_core(run.nodes)
    except Exception:  # some operations read from the device, which is not there now
        return {}
    l1, dram = _peaks(made.nodes)
    return {"l1_per_core": l1 + int(usage.peak_total), "dram": dram + _peaks(run.nodes)[1]}
