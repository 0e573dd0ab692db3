"""Runs functions right after a module was imported, whoever imports it and whichever finder finds it."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

_callbacks: dict[str, list[Callable[[ModuleType], None]]] = {}


def after_import(name: str, callback: Callable[[ModuleType], None]) -> None:
    """Calls `callback(module)` after each execution of the module, and at once where it is there. It must not raise."""
    if not _callbacks:
        sys.meta_path.insert(0, _Finder())
    callbacks = _callbacks.setdefault(name, [])
    if callback not in callbacks:
        callbacks.append(callback)
    module = sys.modules.get(name)
    if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
        callback(module)


class _Finder:
    """Finds nothing itself: lets the other finders find, and adds a step after the module has been executed."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        callbacks = _callbacks.get(name)
        if callbacks is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.has_location and hasattr(spec.loader, "exec_module"):  # else: a mere folder of that name
                    spec.loader = _Loader(spec.loader, callbacks)  # type: ignore[assignment]
                return spec
        return None


class _Loader:
    """A loader with a step behind it. The module gets to see the loader that it would have had without us."""

    def __init__(self, loader: Any, callbacks: list[Callable[[ModuleType], None]]) -> None:
        self._loader = loader
        self._callbacks = callbacks

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        module: ModuleType | None = self._loader.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        module.__loader__ = self._loader
        self._loader.exec_module(module)
        for callback in self._callbacks:
            callback(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)
