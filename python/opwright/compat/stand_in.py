"""Puts modules of this package in the place of those of the existing tooling, for programs that import those.

    import opwright.compat.stand_in                       # before the first import of theirs
    python -m pytest -p opwright.compat.stand_in …        # for tests

Which: `NAMES`. Everything else of the existing packages stays theirs; where they are not there, empty packages take
the place of the folders around our modules, so that the imports work.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

#: Their modules, and ours.
NAMES = {
    "tests.sweep_framework.master_config_loader": "opwright.compat.master_config_loader",
    "tests.sweep_framework.master_config_loader_v2": "opwright.compat.master_config_loader_v2",
    "models.demos.deepseek_v3.utils.serialize_configs": "opwright.serialize",
    "models.demos.deepseek_v3.utils.op_replay": "opwright.op_replay",
}


class _Alias(Loader):
    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        sys.modules[name] = importlib.import_module(NAMES[name])


class _Ours(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Alias()) if name in NAMES else None


class _Folders(MetaPathFinder):
    """Asked last: only for packages that nobody else has."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if not any(ours.startswith(f"{name}.") for ours in NAMES):
            return None
        return ModuleSpec(name, None, is_package=True)


def install() -> None:
    """What importing this module does; again it does nothing."""
    if not any(isinstance(finder, _Ours) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Ours())
        sys.meta_path.append(_Folders())


install()
