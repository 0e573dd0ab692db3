"""The loader of era-1 masters: recorded configurations as parameters of sweep modules.

    from opwright.compat.master_config_loader import MasterConfigLoader

    loader = MasterConfigLoader()               # or MasterConfigLoader("master.json"), or of a store of opwright
    model_traced_params = loader.get_suite_parameters("sigmoid_accurate", all_cases=False)

Names, keys and their order are those of the existing loader in its last form (January 2026). A module of its first form
(October 2025) imports `unpack_traced_config`; it gets `traced_config_name` as it expects. Given a master of era 2, the
parameters are those of `master_config_loader_v2`.

Every dtype, layout, memory config and shard spec is as it was traced. A configuration that cannot be made is left out,
and `loader.skipped` says why; the existing loader takes bfloat16, TILE or DRAM instead (docs/formats/master-loader.md).
"""

from __future__ import annotations

import sys
from typing import Any

from opwright.compat import _era1, _master, _values, master_config_loader_v2
from opwright.compat._era1_rows import METADATA, METADATA_FIRST, Row, row_of, short_name
from opwright.compat._loader import CANNOT_MAKE, NO_CONFIGURATIONS, Loader, Skipped
from opwright.compat.master_config_loader_v2 import ABSENT

__all__ = [
    "ABSENT",
    "MasterConfigLoader",
    "Skipped",
    "get_global_loader",
    "get_master_configs_raw",
    "get_traced_config",
    "unpack_binary_traced_config",
    "unpack_traced_config",
]

#: Names that only modules of the first form import.
_FIRST_FORM = ("unpack_traced_config", "unpack_binary_traced_config")


class MasterConfigLoader(Loader):
    """Configurations of a master JSON or of a store, read once."""

    _exported_as = "master1"

    def __init__(self, master_file_path: str | None = None) -> None:
        super().__init__(master_file_path)
        #: What `unpack_traced_config` looks names up in.
        self.traced_configs_cache: dict[str, list[Row]] = {}

    def get_operation_configs(self, operation_name: str) -> list[tuple[Any, Any, Any]]:
        """(arguments, source, machine_info) for each configuration."""
        return [(one.arguments, one.source, one.machine_info) for one in self.executions_of(operation_name)]

    def get_suite_parameters(
        self, operation_name: str, suite_name: str = "model_traced", all_cases: bool = False
    ) -> dict[str, list[Any]]:
        """One key, the names of all parameters joined by commas, and a tuple for each configuration. `all_cases`: a
        list of distinct values for each parameter, for all combinations of them."""
        self.latest(self)
        module = sys._getframe(1).f_globals
        wants_names = any(name in module for name in _FIRST_FORM)
        before = len(self.skipped)
        traced = self.executions_of(operation_name)
        if traced and isinstance(traced[0].arguments, dict):
            found = master_config_loader_v2.parameters_of(self, operation_name)
        else:
            rows = self._rows(operation_name, traced)
            self.traced_configs_cache[operation_name] = [_as_traced_config(row) for row in rows]
            if all_cases:
                found = _all_cases(rows)
            elif wants_names and all("input_shape" in row for row in rows):
                found = {"traced_config_name": [f"{operation_name}_traced_{i}" for i in range(len(rows))]}
            else:
                found = _exact(rows)
        self.tell_skipped(operation_name, before)
        return found

    def get_traced_config(self, traced_config_name: str | None) -> Row | None:
        """`sigmoid_accurate_traced_0`: the first row that get_suite_parameters gave for that operation."""
        operation, _, index = (traced_config_name or "").rpartition("_traced_")
        configs = self.traced_configs_cache.get(operation, [])
        return configs[int(index)] if index.isdecimal() and int(index) < len(configs) else None

    def get_raw_configurations(self, operation_name: str, max_configs: int = 10) -> list[tuple[Any, Any, Any]]:
        return self.get_operation_configs(operation_name)[:max_configs]

    parse_dtype = staticmethod(_values.parse_dtype)
    parse_layout = staticmethod(_values.parse_layout)

    @staticmethod
    def parse_memory_config(memory_config: dict[str, Any], tensor_shape: Any = None) -> Any:
        return _values.dict_to_memory_config(memory_config)

    def _rows(self, operation: str, traced: list[_master.Traced]) -> list[Row]:
        parsed: list[tuple[int, _master.Traced, _era1.Arguments]] = []
        for index, one in enumerate(traced):
            try:
                parsed.append((index, one, _era1.Arguments(one.arguments)))
            except CANNOT_MAKE as error:
                self.skip(operation, f"config_{index}", error)
        leading = _most_common([arguments.leading for _, _, arguments in parsed])
        rows = []
        for index, one, arguments in parsed:
            try:
                row = row_of(operation, arguments, leading)
            except CANNOT_MAKE as error:
                self.skip(operation, f"config_{index}", error)
                continue
            rows.append(_with_metadata(operation, row, one, index))
        names = list(dict.fromkeys(name for row in rows for name in row))
        return [{name: row.get(name) for name in names} for row in rows]


def _most_common(counts: list[int]) -> int:
    """Which key an operation has is decided by what most of its configurations look like, whatever their order."""
    return max(set(counts), key=lambda count: (counts.count(count), count), default=0)


def _with_metadata(operation: str, row: Row, traced: _master.Traced, index: int) -> Row:
    metadata = {
        "traced_source": traced.source,
        "traced_machine_info": traced.machine_info,
        "config_id": f"config_{index}",
    }
    shown = dict(list(metadata.items())[: METADATA.get(short_name(operation), len(metadata))])
    out: Row = {}
    for name, value in row.items():
        out[name] = value
        if name in METADATA_FIRST:
            out.update(shown)
    return {**out, **shown}


def _exact(rows: list[Row]) -> dict[str, list[Any]]:
    if not rows:
        return {name: list(values) for name, values in NO_CONFIGURATIONS.items()}
    return {",".join(rows[0]): [tuple(row.values()) for row in rows]}


def _all_cases(rows: list[Row]) -> dict[str, list[Any]]:
    """Without what belongs to one configuration. Values that nothing was passed for are none."""
    names = [
        name for name in (rows[0] if rows else {}) if name not in ("traced_source", "traced_machine_info", "config_id")
    ]
    lists: dict[str, list[Any]] = {}
    for name in names:
        distinct: dict[str, Any] = {str(row[name]): row[name] for row in rows}
        values = [value for value in distinct.values() if value is not None]
        if values:
            lists[name] = values
    return lists or _exact([])


def _as_traced_config(row: Row) -> Row:
    """As `get_traced_config` gives it: of one tensor `shape`, `dtype`, …; of two `shape_a`, `shape_b`, …"""
    shape = row.get("input_shape")
    if not isinstance(shape, dict):
        named = {"shape": None if shape is None else list(shape), "is_binary": False}
        for part in ("dtype", "layout", "memory_config"):
            named[part] = row.get(f"input_a_{part}")
        return {**row, **named}
    out: Row = {**row, "is_binary": "other" in shape}
    letters = {"self": "a", "other": "b"}
    for name, one in shape.items():
        letter = letters.get(name, name.rpartition("_")[2])
        out[f"shape_{letter}"] = None if one is None else list(one)
        for part in ("dtype", "layout", "memory_config"):
            out[f"{part}_{letter}"] = row.get(f"input_{letter}_{part}")
    return out


get_global_loader = MasterConfigLoader.latest


def get_traced_config(traced_config_name: str | None) -> Row | None:
    return get_global_loader().get_traced_config(traced_config_name)


def get_master_configs_raw(operation_name: str, max_configs: int = 10) -> list[tuple[Any, Any, Any]]:
    return MasterConfigLoader().get_raw_configurations(operation_name, max_configs)


def unpack_traced_config(traced_config_name: str | None, use_defaults: bool = False) -> tuple[Any, ...]:
    """(shape, dtype, layout, memory_config, output_memory_config) of an operation with one tensor."""
    config = get_traced_config(traced_config_name)
    if config is not None and not config["is_binary"]:
        return tuple(config[name] for name in ("shape", "dtype", "layout", "memory_config", "output_memory_config"))
    if config is None and use_defaults:
        import ttnn

        memory = ttnn.DRAM_MEMORY_CONFIG
        return ([1, 32, 32], ttnn.bfloat16, ttnn.TILE_LAYOUT, memory, memory)
    return (None,) * 5


def unpack_binary_traced_config(traced_config_name: str | None, use_defaults: bool = False) -> tuple[Any, ...]:
    """({"self": shape, "other": shape}, dtype_a, dtype_b, layout_a, layout_b, memory_config_a, memory_config_b)."""
    config = get_traced_config(traced_config_name)
    if config is not None and config["is_binary"]:
        parts = [config[f"{part}_{one}"] for part in ("dtype", "layout", "memory_config") for one in "ab"]
        return ({"self": config["shape_a"], "other": config["shape_b"]}, *parts)
    if config is None and use_defaults:
        import ttnn

        shape, memory = [1, 32, 32], ttnn.DRAM_MEMORY_CONFIG
        pairs = [one for one in (ttnn.bfloat16, ttnn.TILE_LAYOUT, memory) for _ in "ab"]
        return ({"self": shape, "other": shape}, *pairs)
    return (None,) * 7
