"""Watches the functions by which tests compare tensors: comp_pcc, comp_allclose, comp_ulp.

Tests hold them under their own names (`from … import comp_pcc`), so every module that is imported is looked through for
the function itself, not for its name in the module that defines it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from ._errors import of_handler
from ._import_hook import after_import

KINDS = {"comp_pcc": "pcc", "comp_allclose": "allclose", "comp_ulp": "ulp"}
#: Where they are defined: looked at as soon as they are imported, which may be in the middle of a test.
HOMES = ("models.common.utility_functions", "models.utility_functions", "tests.ttnn.utils_for_testing")


class MetricWatcher:
    """Calls `record(kind, result)` for each comparison, between `look` and `restore`."""

    def __init__(self, record: Callable[[str, object], None]) -> None:
        self._record = record
        self._wrappers: dict[int, FunctionType] = {}  # by the id of the original, which the wrapper keeps alive
        self._replaced: list[tuple[dict[str, Any], str, FunctionType]] = []
        self._looked: set[int] = set()
        self._count = 0
        self._inside: set[str] = set()  # comparisons that are running: one that calls another of its kind counts once
        self._is_watching = True
        for name in HOMES:
            after_import(name, lambda module: self.look())

    def look(self) -> None:
        """Looks through the modules that came since the last time."""
        modules = sys.modules
        if len(modules) == self._count or not self._is_watching:
            return
        fresh = [module for module in list(modules.values()) if id(module) not in self._looked]
        for module in fresh:  # first what defines the functions, then whoever has them
            self._find(module)
        for module in fresh if self._wrappers else []:
            self._replace(module)
        self._looked.update(id(module) for module in fresh)
        self._count = len(modules)

    def restore(self) -> None:
        self._is_watching = False
        for names, name, original in reversed(self._replaced):
            if getattr(names.get(name), "__wrapped__", None) is original:
                names[name] = original
        self._replaced.clear()

    def _find(self, module: ModuleType) -> None:
        names = getattr(module, "__dict__", None)
        if type(names) is not dict:
            return
        for name, kind in KINDS.items():
            function = names.get(name)
            if type(function) is not FunctionType or function.__name__ != name or hasattr(function, "__opwright__"):
                continue
            if id(function) not in self._wrappers:
                self._wrappers[id(function)] = self._wrap(function, kind)

    def _replace(self, module: ModuleType) -> None:
        names = getattr(module, "__dict__", None)
        if type(names) is not dict:
            return
        for name, value in list(names.items()):
            if type(value) is FunctionType and id(value) in self._wrappers:
                names[name] = self._wrappers[id(value)]
                self._replaced.append((names, name, value))

    def _wrap(self, function: FunctionType, kind: str) -> FunctionType:
        record, inside = self._record, self._inside

        @functools.wraps(function)
        def compare(*arguments: Any, **keywords: Any) -> Any:
            if kind in inside:
                return function(*arguments, **keywords)
            inside.add(kind)
            try:
                result = function(*arguments, **keywords)
            finally:
                inside.discard(kind)
            try:
                record(kind, result)
            except Exception as error:  # a test never fails because of its row
                if of_handler(error):
                    raise
            return result

        compare.__opwright__ = True  # type: ignore[attr-defined]
        assert isinstance(compare, FunctionType)
        return compare
