"""Recorded configurations: what models called operations with. `opwright.open(store).configs(…)` gives them."""

from __future__ import annotations

import functools
import math
import re
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from opwright import _ask
from opwright._values import EnumValue, MemoryConfig, Struct, TensorSpec, to_fields, value_of

if TYPE_CHECKING:
    from opwright.store import Store

__all__ = ["Config", "Configs"]

#: The smallest board with so many chips; inputs do not depend on it, but a call is only planned where it fits.
_BOARDS = {1: "n150", 2: "n300", 8: "t3k", 32: "galaxy"}


class Configs:
    """Configurations that a store finds when they are asked for: the first row is there at once, whatever the size of
    the store. Can be gone through again, and has a length.

    >>> configs = opwright.open("opwright.db").configs("ttnn.linear")
    >>> configs
    <2 configurations of ttnn.linear, in opwright.db>
    >>> len(configs)
    2
    >>> sorted(config.calls for config in configs)
    [1, 8]
    """

    def __init__(self, store: Store, op: str | None, where: str | None) -> None:
        self._store = store
        self._op = op
        self._where = where
        self._count: int | None = None

    def _asked(self) -> list[str]:
        return [*((self._op,) if self._op else ()), *(("--where", self._where) if self._where else ())]

    def __iter__(self) -> Iterator[Config]:
        """In the order in which the store got them."""
        for row in self._store._lines("show", "--unsorted", *self._asked()):
            yield Config(row)

    def sorted(self) -> list[Config]:
        """All of them as `opwright show` lists them: by operation, most calls first."""
        return [Config(row) for row in self._store._lines("show", *self._asked())]

    def __len__(self) -> int:
        """Asked once. Without a selector the configurations are not read for it."""
        if self._count is None:
            self._count = sum(row["configurations"] for row in self._store._lines("ops", *self._asked()))
        return self._count

    def __repr__(self) -> str:
        asked = " where ".join(word for word in (self._op or "all operations", self._where) if word)
        return f"<{_plural(len(self), 'configuration')} of {asked}, in {self._store.path}>"

    def to_pandas(self) -> Any:
        """A row a configuration; columns that can be grouped by (`Config.flat`).

        >>> table = opwright.open("opwright.db").configs().to_pandas()       # doctest: +SKIP
        >>> table.groupby(["operation", "in0.dtype"])["calls"].sum()        # doctest: +SKIP
        """
        import pandas

        return pandas.DataFrame([config.flat() for config in self])

    def to_parquet(self, path: str) -> int:
        """The same columns as a Parquet file, with pyarrow; how many rows it has."""
        from opwright.parquet import write

        return write(self, path)


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


class Config:
    """One distinct call of an operation, as models made it.

    >>> config = next(iter(opwright.open("opwright.db").configs("ttnn.linear", where="model=tiny-llm-96")))
    >>> config                                                              # doctest: +NORMALIZE_WHITESPACE
    <ttnn.linear(1x1x32x96 BFLOAT16 TILE DRAM INTERLEAVED, 96x384 BFLOAT8_B TILE DRAM INTERLEAVED)
    91205aa0139e, 8 calls>
    >>> config.arguments["activation"], config.arguments["input_tensor_b"].dtype
    ('gelu', 'BFLOAT8_B')
    >>> config.models
    ('tiny-llm-96',)
    """

    def __init__(self, row: dict[str, Any]) -> None:
        self._row = row
        self.operation: str = row["operation"]
        self.key: str = row["key"]
        self.convention: str = row["convention"]
        self.calls: int = row["calls"]
        self.models: tuple[str, ...] = tuple(row["models"])
        self.machines: tuple[str, ...] = tuple(row["machines"])
        self.sources: tuple[str, ...] = tuple(row["sources"])
        self.raised: int = row.get("raised", 0)
        self.error: str = row.get("error", "")

    @functools.cached_property
    def arguments(self) -> dict[str, Any]:
        """By name, in the order of the call: numbers, lists, `TensorSpec`, `MemoryConfig`, `EnumValue`, `Struct`."""
        return {name: value_of(value) for name, value in self._row["arguments"].items()}

    @property
    def tensor_specs(self) -> list[TensorSpec]:
        """Of all tensors among the arguments, in their order."""
        return list(_tensors_in(list(self.arguments.values())))

    @property
    def case_line(self) -> str:
        """What `opwright run --case` takes."""
        return re.sub(r"^\d+:\w+:", "", self._row["text"])

    def __repr__(self) -> str:
        tensors = ", ".join(map(str, self.tensor_specs)) or "no tensors"
        return f"<{self.operation}({tensors}) {self.key[:12]}, {_plural(self.calls, 'call')}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def flat(self) -> dict[str, Any]:
        """One level of names, for tables: `in0.shape`, `in0.dtype`, … of each tensor in its place, whatever its
        argument is called, then the other arguments by their names.

        >>> row = next(iter(opwright.open("opwright.db").configs("ttnn.linear", where="model=tiny-llm-96"))).flat()
        >>> row["in1.dtype"], row["in1.shape"], row["in1.elements"], row["activation"]
        ('BFLOAT8_B', '96x384', 36864, 'gelu')
        """
        row: dict[str, Any] = {
            "operation": self.operation,
            "key": self.key,
            "calls": self.calls,
            "raised": self.raised,
            "models": ",".join(self.models),
            "machines": ",".join(self.machines),
        }
        for i, tensor in enumerate(self.tensor_specs):
            row.update({f"in{i}.{name}": value for name, value in _flat_tensor(tensor).items()})
        for name, value in self.arguments.items():
            if not isinstance(value, TensorSpec) and not any(_tensors_in(value)):
                row[name] = value if isinstance(value, (bool, int, float, str, type(None))) else _text(value)
        row["case"] = self.case_line
        return row

    # Numbers.

    def inputs(self, seed: int = 1, *, data: str = "normal", to: str = "numpy") -> list[Any]:
        """The tensors' contents that `opwright run --seed SEED` takes, in the order of `tensor_specs`: arrays of numpy,
        or with `to="torch"` tensors of torch. Floats are rounded to the recorded dtype (bfloat8_b, …) and stored as
        float32; torch has bfloat16 itself.

        >>> config = next(iter(opwright.open("opwright.db").configs("ttnn.linear", where="model=tiny-llm-96")))
        >>> [array.shape for array in config.inputs(seed=7)]
        [(1, 1, 32, 96), (96, 384)]
        """
        if to not in ("numpy", "torch"):
            raise ValueError(f"to={to!r}: numpy or torch")
        import numpy

        with tempfile.TemporaryDirectory(prefix="opwright-") as folder:
            options = ("--seed", str(seed), "--data", data, "--board", self._board(), "--save-inputs", folder)
            answer = _ask.answer("reference", "--case", self.case_line, *options)
            if "inputs" not in answer:
                raise _ask.StoreError(f"no inputs of {self!r}: {answer.get('reason', answer.get('error'))}")
            found = [numpy.load(one["file"]) for one in answer["inputs"]]
            order = _order(self.arguments, [one["param"] for one in answer["inputs"]])
        arrays = [found[i] for i in order]
        return arrays if to == "numpy" else [_as_torch(a, s) for a, s in zip(arrays, self.tensor_specs, strict=True)]

    def _board(self) -> str:
        meshes = [tensor.placement.mesh for tensor in self.tensor_specs if tensor.placement and tensor.placement.mesh]
        chips = math.prod(meshes[0]) if meshes else 1
        return next((board for count, board in _BOARDS.items() if count >= chips), "galaxy")

    # With the real library.

    def tensors(self, device: Any, seed: int | None = None) -> list[Any]:
        """The tensors of the call on an open device of ttnn, with the recorded dtypes, layouts and memory configs. With
        a seed they hold `inputs(seed)`; else their contents are not set."""
        made: list[Any] = []
        self._made(device, made, seed)
        return made

    def call(self, device: Any, seed: int | None = None) -> Any:
        """Makes the call with the installed ttnn, on `tensors(device, seed)`, and returns what it returns."""
        from opwright.ttnn_device import objects

        args, kwargs = self._made(device, [], seed)
        return objects.function_of(self.operation)(*args, **kwargs)

    def _made(self, device: Any, made: list[Any], seed: int | None) -> tuple[list[Any], dict[str, Any]]:
        from opwright.ttnn_device import objects, tensors

        if self.convention != "python":
            raise _ask.StoreError(
                f"{self!r} was recorded by its C++ arguments; only calls of Python are made again here"
            )
        values = None if seed is None else self.inputs(seed)

        def make(spec: dict[str, Any]) -> Any:
            made.append(tensors.make_tensor(spec, device, None if values is None else values[len(made)]))
            return made[-1]

        given = to_fields(self._row["arguments"])
        positions = [name for name in given if re.fullmatch(r"arg\d+", name)]
        positions.sort(key=lambda name: int(name[3:]))
        kwargs = {name: value for name, value in given.items() if name not in positions}
        call = {"op": self.operation, "args": [given[name] for name in positions], "kwargs": kwargs}
        return objects.Rebuilder(device, make).call(call)


def _tensors_in(value: Any) -> Iterator[TensorSpec]:
    if isinstance(value, TensorSpec):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _tensors_in(item)
    elif isinstance(value, dict):
        yield from _tensors_in(list(value.values()))
    elif isinstance(value, Struct):
        yield from _tensors_in(value.fields)


def _order(arguments: dict[str, Any], params: list[str]) -> list[int]:
    """Where the tensors of each argument are among those that the program names by their parameters."""
    wanted = [name for name, value in arguments.items() for _ in _tensors_in(value)]
    if sorted(wanted) != sorted(params):  # by position: the program knows better names
        return list(range(len(params)))
    rest: dict[str, list[int]] = {}
    for i, param in enumerate(params):
        rest.setdefault(param, []).append(i)
    return [rest[name].pop(0) for name in wanted]


def _as_torch(array: Any, spec: TensorSpec) -> Any:
    import numpy
    import torch

    if spec.dtype == "BFLOAT16":
        return torch.from_numpy(array).to(torch.bfloat16)
    if array.dtype in (numpy.uint16, numpy.uint32):  # torch has none
        return torch.from_numpy(array.astype(numpy.int64))
    return torch.from_numpy(array)


def _flat_tensor(tensor: TensorSpec) -> dict[str, Any]:
    shape, memory = tensor.shape, tensor.memory
    shard = (memory.shard or memory.nd_shard) if memory else None
    row: dict[str, Any] = {
        "shape": None if shape is None else "x".join(map(str, shape)),
        "rank": None if shape is None else len(shape),
        "elements": None if shape is None else math.prod(shape),
        "dtype": tensor.dtype,
        "layout": tensor.layout,
        "storage": tensor.storage,
        "buffer": memory.buffer if memory else None,
        "memory_layout": memory.layout if memory else None,
        "shard_shape": "x".join(map(str, shard.shape)) if shard and shard.shape else None,
        "shard_cores": sum((x1 - x0 + 1) * (y1 - y0 + 1) for x0, y0, x1, y1 in shard.grid)
        if shard and shard.grid
        else None,
        "shard_orientation": shard.orientation if shard else None,
    }
    if tensor.placement and tensor.placement.mesh:
        row["mesh"] = "x".join(map(str, tensor.placement.mesh))
        row["placement"] = ",".join(tensor.placement.dims)
    return row


def _text(value: Any) -> str:
    """Of an argument in a table: short, and the same for the same value."""
    if isinstance(value, (EnumValue, MemoryConfig)):
        return str(value)
    if isinstance(value, Struct):
        return f"{value.type}({', '.join(f'{name}={_text(item)}' for name, item in value.fields.items())})"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_text(item)}' for name, item in value.items())}}}"
    return str(value)
