"""A store, from Python.

    import opwright

    store = opwright.open("opwright.db")
    for config in store.configs("ttnn.linear", where="in1.dtype=bfloat8_b"):
        print(config.calls, config.arguments["input_tensor_a"].shape, config.case_line)

`where` is the language of `opwright show --where` (docs/formats/selector.md). What is asked for comes from the
`opwright` program, row by row as it finds them. Nothing here needs ttnn, torch, numpy or pandas, but for what gives
objects of those.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from opwright import _ask
from opwright._ask import StoreError
from opwright.config import Config, Configs
from opwright.results import Result, Results, Run, Trace

__all__ = ["Config", "Configs", "Operation", "Result", "Results", "Run", "Store", "StoreError", "Trace", "parametrize"]


@dataclass(frozen=True)
class Operation:
    name: str
    configurations: int
    calls: int


class Store:
    """What is in a store. `opwright.open(path)` makes one; nothing is held open between questions.

    >>> store = opwright.open("opwright.db")
    >>> store
    <store opwright.db: 15 configurations of 10 operations, 50 calls>
    >>> store.operations()[0]
    Operation(name='ttnn.add', configurations=4, calls=16)
    >>> store.configs("ttnn.lineer")
    Traceback (most recent call last):
    opwright._ask.StoreError: no operation 'ttnn.lineer' in the store; did you mean 'ttnn.linear'? ...
    """

    def __init__(self, path: str | os.PathLike[str] | None = None) -> None:
        self.path = os.fspath(path or os.environ.get("OPWRIGHT_STORE") or "opwright.db")
        if "://" not in self.path and not os.path.exists(self.path):
            raise StoreError(f"{self.path}: no store there; make one with 'opwright import TRACE'")

    @property
    def shown(self) -> str:
        """The path, or the URL of a server without its password."""
        return re.sub(
            r"(://[^/@?]*?):[^@]*@|([?&](?:ssl)?password=)[^&]*",
            lambda found: f"{found[1]}@" if found[1] else f"{found[2]}***",
            self.path,
        )

    def __repr__(self) -> str:
        operations = self.operations()
        return (
            f"<store {self.shown}: {sum(one.configurations for one in operations)} configurations of "
            f"{len(operations)} operations, {sum(one.calls for one in operations)} calls>"
        )

    def operations(self, where: str | None = None) -> list[Operation]:
        """Most configurations first."""
        rows = self._lines("ops", *(("--where", where) if where else ()))
        return [Operation(row["operation"], row["configurations"], row["calls"]) for row in rows]

    def configs(self, op: str | None = None, where: str | None = None) -> Configs:
        """Configurations of an operation (`add`, `ttnn.add`), or of all."""
        return Configs(self, op, where)

    def config(self, key: str) -> Config:
        """The configuration with this key, or with the only one that begins so."""
        found = list(self.configs(where=f"key={key}"))
        if len(found) != 1:
            raise StoreError(f"{len(found)} configurations have a key that begins with {key}")
        return found[0]

    def runs(self) -> list[Run]:
        """Newest first."""
        return [Run.of(row) for row in self._lines("results", "--runs")]

    def results(
        self, run: str = "last", where: str | None = None, *, op: str | None = None, outcome: str | None = None
    ) -> Results:
        """Results of a run. `where` selects configurations; `outcome="failure"`: all that failed."""
        return Results(self, run, op, outcome, where)

    def traces(self) -> list[Trace]:
        """Recorded sequences, newest first."""
        return [Trace(self, row) for row in self._lines("traces")]

    def calls(self, trace: str, where: str | None = None) -> Iterator[dict[str, Any]]:
        """The calls of a trace in their order, a dict each (docs/formats/json-output.md)."""
        asked = ("--where", where) if where else ()
        return (line["call"] for line in self._lines("calls", trace, *asked) if "call" in line)

    def _lines(self, *arguments: str, accepted: tuple[int, ...] = (0,)) -> Iterator[dict[str, Any]]:
        return _ask.lines("--format", "jsonl", *arguments, store=self.path, accepted=accepted)


def parametrize(op: str, where: str | None = None, store: str | os.PathLike[str] | None = None) -> Any:
    """For pytest: the test gets each recorded configuration of an operation as `config`.

        @opwright.parametrize("ttnn.add", where="in0.dtype=bfloat16")
        def test_add(config, device):
            config.call(device, seed=1)

    The tests' names end with the beginning of the configuration's key, and their order does not depend on the store.
    """
    import pytest

    configs = sorted(Store(store).configs(op, where), key=lambda config: (config.operation, config.key))
    names = [[config.operation.rpartition(".")[2], *map(_short, config.tensor_specs[:2])] for config in configs]
    ids = [f"{'-'.join(words)}-{config.key[:12]}" for words, config in zip(names, configs, strict=True)]
    return pytest.mark.parametrize("config", configs, ids=ids)


def _short(tensor: Any) -> str:
    return "x".join(map(str, tensor.shape or ())) + f"_{(tensor.dtype or '').lower()}"
