"""Results of runs, and recorded sequences, of a store. `opwright.open(store).results(…)` and `.traces()` give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from opwright.store import Store

__all__ = ["Result", "Results", "Run", "Trace"]


@dataclass(frozen=True)
class Run:
    """One run of cases on a device."""

    run: str
    started: str
    status: str
    device: str
    planned: int
    results: int
    passed: int
    failed: int
    command: str

    @classmethod
    def of(cls, row: dict[str, Any]) -> Run:
        return cls(**{name: row.get(name, 0 if kind == "int" else "") for name, kind in cls.__annotations__.items()})


class Result:
    """How one case ended. Every field of docs/formats/results.md is an attribute, None where this result has it not.

    >>> result = next(iter(opwright.open("opwright.db").results(outcome="passed")))
    >>> result.op, result.outcome, result.pcc > 0.999
    ('ttnn.add', 'passed', True)
    """

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row
        self.op: str = row["op"]
        self.outcome: str = row["outcome"]
        self.key: str = row["key"]
        self.case: str = row["case"]
        #: The command that repeats it.
        self.repeat: str = row["repeat"]
        self.pcc: float | None = row.get("pcc")
        self.reason: str = row.get("reason") or row.get("message") or ""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._row.get(name)

    def to_dict(self) -> dict[str, Any]:
        return dict(self._row)

    def __repr__(self) -> str:
        pcc = "" if self.pcc is None else f", PCC {self.pcc:.6f}"
        return f"<{self.outcome}: {self.op} {self.key[:12]}{pcc}>"


class Results:
    """Results of a run as they are asked for; can be gone through again.

    >>> results = opwright.open("opwright.db").results()
    >>> len(results), results.outcomes()
    (4, {'passed': 2, 'refused': 2})
    """

    def __init__(self, store: Store, run: str, op: str | None, outcome: str | None, where: str | None) -> None:
        self._store = store
        self._run = run
        self._options = [*(("--op", op) if op else ()), *(("--outcome", outcome) if outcome else ())]
        self._where = where

    def __iter__(self) -> Iterator[Result]:
        keys = {config.key for config in self._store.configs(where=self._where)} if self._where else None
        for row in self._store._lines("results", self._run, "--list", *self._options, accepted=(0, 1)):
            if keys is None or row["key"] in keys:
                yield Result(row)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def outcomes(self) -> dict[str, int]:
        """How many ended how, most first."""
        counts = Counter(result.outcome for result in self)
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {outcome}" for outcome, count in self.outcomes().items()) or "none"
        return f"<results of run {self._run}, in {self._store.shown}: {counts}>"

    def to_pandas(self) -> Any:
        """A row a result, a column a field."""
        import pandas

        return pandas.DataFrame([result.to_dict() for result in self])


class Trace:
    """A recorded sequence of calls.

    >>> (trace,) = opwright.open("opwright.db").traces()
    >>> trace
    <trace 697af20601c1 of models/tiny_cnn/tests/test_cnn.py: 4 calls of 4 operations on Wormhole n150 x1>
    >>> [call["op"] for call in trace.calls()]
    ['ttnn.from_torch', 'ttnn.sigmoid_accurate', 'ttnn.add', 'ttnn.deallocate']
    """

    def __init__(self, store: Store, row: dict[str, Any]) -> None:
        self._store = store
        self._row = row
        self.trace: str = row["trace"]
        self.name: str = row["name"]
        self.machine: str = row["machine"]
        self.started: str = row["started"]
        self.operations: int = row["operations"]

    def __len__(self) -> int:
        count: int = self._row["calls"]
        return count

    def calls(self, where: str | None = None) -> Iterator[dict[str, Any]]:
        """In their order, a dict each (docs/formats/json-output.md)."""
        return self._store.calls(self.trace, where)

    def to_dict(self) -> dict[str, Any]:
        return dict(self._row)

    def __repr__(self) -> str:
        of, on = f" of {self.name}" if self.name else "", f" on {self.machine}" if self.machine else ""
        return f"<trace {self.trace[:12]}{of}: {len(self)} calls of {self.operations} operations{on}>"
