"""What the loaders of both eras share: where configurations come from, which are wanted, which could not be made."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from opwright.compat import _master

if TYPE_CHECKING:
    from typing_extensions import Self


class Skipped(NamedTuple):
    """A configuration that has no parameters, and why."""

    operation: str
    config_hash: str | None
    reason: str


#: What a master that is not as it should be leads to, in us or in the library: costs one configuration.
CANNOT_MAKE = (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError, RuntimeError)


class lead_models_filter:
    """Its name in the existing loader."""

    _lead_models_only = os.environ.get("TTNN_LEAD_MODELS_ONLY", "").lower() in ("1", "true", "yes")

    @classmethod
    def set_lead_models_filter(cls, enabled: bool) -> None:
        cls._lead_models_only = enabled
        os.environ["TTNN_LEAD_MODELS_ONLY"] = "1" if enabled else "0"

    @classmethod
    def get_lead_models_filter(cls) -> bool:
        return cls._lead_models_only


class Loader:
    """Configurations of a master JSON or of a store, read once."""

    _master_file_override: str | None = None
    _mesh_filter: tuple[int, ...] | None = None
    _use_database = False
    _lead_models: tuple[str, ...] | None = None
    _exported_as = "master"  #: how a store is read

    def __init__(self, master_file_path: str | None = None) -> None:
        self.master_file_path = master_file_path or self._master_file_override or _master.default_path()
        self.skipped: list[Skipped] = []
        self._operations: dict[str, Any] | None = None

    _latest: Self | None = None

    @classmethod
    def latest(cls, instance: Self | None = None) -> Self:
        """The loader of this class that was used last, or the one given."""
        if instance is not None or cls._latest is None:
            cls._latest = instance or cls()
        return cls._latest

    # Settings of the class, as the existing generator makes them before it imports modules.

    @classmethod
    def set_master_file_path(cls, path: str | None) -> None:
        cls._master_file_override = path

    @classmethod
    def get_master_file_path(cls) -> str | None:
        return cls._master_file_override

    @classmethod
    def set_lead_models_filter(cls, enabled: bool) -> None:
        lead_models_filter.set_lead_models_filter(enabled)

    @classmethod
    def get_lead_models_filter(cls) -> bool:
        return lead_models_filter.get_lead_models_filter()

    @classmethod
    def set_lead_models(cls, names: list[str]) -> None:
        """Parts of source paths that are lead models; else those of the existing framework, where it is there."""
        cls._lead_models = tuple(names)

    @classmethod
    def set_mesh_filter(cls, mesh_shape: tuple[int, ...] | None) -> None:
        """Only executions on this mesh; those that do not say theirs are kept."""
        cls._mesh_filter = tuple(mesh_shape) if mesh_shape is not None else None

    @classmethod
    def get_mesh_filter(cls) -> tuple[int, ...] | None:
        return cls._mesh_filter

    @classmethod
    def set_database_mode(cls, enabled: bool) -> None:
        """Accepted: a store is read when its path is given."""
        cls._use_database = enabled

    @classmethod
    def get_database_mode(cls) -> bool:
        return cls._use_database

    # What modules ask for.

    def executions_of(self, operation_name: str) -> list[_master.Traced]:
        operations = self._load()
        for name in _master.names_of(operation_name):
            if name in operations:
                entry = operations[name]
                found = entry.get("configurations") if isinstance(entry, dict) else None
                if not isinstance(found, list):
                    raise ValueError(f"{self.master_file_path}: no master JSON: {name} has no list of configurations")
                return [one for config in found for one in _master.executions(config) if self._is_wanted(one)]
        return []

    def skipped_by_reason(self) -> dict[str, int]:
        """How many configurations could not be made, by reason, most first."""
        return dict(Counter(one.reason for one in self.skipped).most_common())

    def skip(self, operation: str, which: str | None, error: Exception) -> None:
        text = str(error).partition("backtrace:")[0].strip()  # of the library
        self.skipped.append(Skipped(operation, which, text[:500] or type(error).__name__))

    def tell_skipped(self, operation: str, before: int) -> None:
        """In one warning; `before`: how many were known already."""
        if len(self.skipped) == before:
            return
        first = self.skipped[before]
        warnings.warn(
            f"{len(self.skipped) - before} configurations of {operation} cannot be made, e.g. "
            f"{first.config_hash}: {first.reason}; all of them are in loader.skipped",
            stacklevel=3,
        )

    def _load(self) -> dict[str, Any]:
        if self._operations is None:
            if self.master_file_path is None:
                text = "no master JSON: pass its path, or set TTNN_MASTER_JSON_PATH; no configuration is loaded"
                warnings.warn(text, stacklevel=4)
                self._operations = {}
            else:
                self._operations = _master.load(self.master_file_path, self._exported_as)
        return self._operations

    def _is_wanted(self, traced: _master.Traced) -> bool:
        if lead_models_filter.get_lead_models_filter():
            sources = traced.source if isinstance(traced.source, list) else [traced.source]
            names = [name.lower() for name in self._known_lead_models()]
            if not any(name in str(source).lower() for source in sources for name in names):
                return False
        mesh = _master.mesh_of(traced.machine_info)
        return self._mesh_filter is None or mesh is None or mesh == self._mesh_filter

    def _known_lead_models(self) -> tuple[str, ...]:
        if self._lead_models is None:
            try:
                from tests.sweep_framework.framework.constants import LEAD_MODELS  # type: ignore[import-not-found]
            except ImportError as error:
                raise ValueError(
                    "which models are lead models? Say so with MasterConfigLoader.set_lead_models([…])"
                ) from error
            type(self)._lead_models = tuple(LEAD_MODELS)
        return self._lead_models or ()


#: As the existing loaders have it: no vectors come of it.
NO_CONFIGURATIONS: dict[str, list[Any]] = {
    "input_shape": [[1, 32, 32]],
    **{name: [] for name in ("input_a_dtype", "input_a_layout", "input_a_memory_config", "output_memory_config")},
}
