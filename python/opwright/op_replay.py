"""Makes one recorded call again, alone, with the installed ttnn.

    python -m opwright.op_replay --jsonl op_calls.jsonl --index 3
    opwright mock --board n300 -- python -m opwright.op_replay --jsonl op_calls.jsonl

Arguments are made as the record says (opwright.serialize); tensors get seeded random numbers. What a record does not
say is never guessed in silence: op JSONL of the existing plugin has no layouts, so `--layout` says which, and what was
taken is printed. The result's spec is compared with the recorded one.

Exit status: 0 the call was made, 1 it raised or its result differs, 3 the file or the record cannot be used.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import sys
from collections.abc import Callable
from typing import Any

MAX_LINE = 64 << 20
_LAYOUTS = {"tile": "TILE", "row_major": "ROW_MAJOR"}


class BadRecord(Exception):
    """A file or a record that no call can be made of."""


def read_record(path: str, index: int) -> dict[str, Any]:
    """The record at `index` (from 0) of a file with one a line; empty lines do not count."""
    count = 0
    try:
        with open(path, encoding="utf-8") as lines:
            while line := lines.readline(MAX_LINE + 1):
                if len(line) > MAX_LINE:
                    raise BadRecord(f"{path}: record {count} is longer than {MAX_LINE >> 20} MiB")
                if not line.strip():
                    continue
                if count == index:
                    return _checked(path, index, line)
                count += 1
    except (OSError, UnicodeDecodeError) as error:
        raise BadRecord(f"{path}: {error}") from error
    raise BadRecord(f"{path} has {count} records, and none with index {index}")


def _checked(path: str, index: int, line: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadRecord(f"{path}: record {index} is no JSON: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("op_name"), str):
        raise BadRecord(f"{path}: record {index} has no op_name; is this op JSONL?")
    if not isinstance(record.get("inputs", []), list) or not isinstance(record.get("kwargs") or {}, dict):
        raise BadRecord(f"{path}: record {index}: inputs must be a list and kwargs an object")
    return record


def replay_op_record(
    record: dict[str, Any],
    mesh_device: Any,
    rng_seed: int = 0,
    *,
    layout: str | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> Any:
    """What the call returns. `layout` (TILE or ROW_MAJOR) is for tensors of which the record has none; `tell` is told
    what was taken where the record is silent."""
    from opwright.serialize import from_jsonable
    from opwright.ttnn_device import objects
    from opwright.ttnn_device.classes import Unsupported

    name = record["op_name"]
    if not name.startswith("ttnn."):
        raise BadRecord(f"{name} is no operation of ttnn")
    tensors = _Tensors(mesh_device, rng_seed, layout, tell)
    problems: list[Any] = []
    given = tensors.made([record.get("inputs") or [], record.get("kwargs") or {}])
    args, kwargs = from_jsonable(given, mesh_device, problems=problems)
    if problems:
        raise BadRecord("; ".join(f"argument {problem}" for problem in problems))
    try:
        function = objects.function_of(name)
    except Unsupported as error:
        raise BadRecord(f"{error}{_near(name)}") from error
    return function(*args, **kwargs)


def _near(name: str) -> str:
    """ "; did you mean ttnn.linear?", where the library has something like it."""
    import ttnn

    place, _, last = name.rpartition(".")
    found: Any = ttnn
    for part in place.split(".")[1:]:
        found = getattr(found, part, None)
    names = difflib.get_close_matches(last, [one for one in dir(found or ttnn) if not one.startswith("_")], n=2)
    return f"; did you mean {' or '.join(f'{place}.{one}' for one in names)}?" if names else ""


class _Tensors:
    """Makes the tensors of a record, each with numbers of its own."""

    def __init__(self, device: Any, seed: int, layout: str | None, tell: Callable[[str], None]) -> None:
        import numpy

        self._device = device
        self._random = numpy.random.default_rng(seed)
        self._layout = layout
        self._tell = tell
        self._count = 0

    def made(self, value: Any) -> Any:
        """The same value with tensors in the place of their specs."""
        if isinstance(value, list):
            return [self.made(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.get("__type__") == "ttnn.TensorRef":
            return self._tensor(value)
        return {name: self.made(item) for name, item in value.items()}

    def _tensor(self, ref: dict[str, Any]) -> Any:
        from opwright.serialize import _library
        from opwright.ttnn_device import tensors
        from opwright.ttnn_device.classes import Unsupported

        self._count += 1
        name = f"tensor {self._count}"
        shape, dtype = ref.get("shape"), str(ref.get("dtype", "")).rpartition(".")[2].upper()
        if not isinstance(shape, list) or not all(type(n) is int and n >= 0 for n in shape) or not dtype:
            raise BadRecord(f"{name} has no shape or no dtype")
        layout = ref.get("layout") or self._layout
        if layout is None:
            layout = "TILE"
            self._tell(f"{name}: the record has no layout; TILE is taken (--layout row_major takes the other)")
        memory = ref.get("memory_config")
        try:
            if memory is not None:
                memory = tensors.memory_record(_library.memory_config(memory))
            spec = {
                "shape": shape,
                "dtype": dtype,
                "layout": layout,
                "tile": ref.get("tile"),
                "storage": ref.get("storage_type") or "DEVICE",
                "memory": memory,
            }
            return tensors.make_tensor(spec, self._device, self._numbers(shape, dtype))
        except Unsupported as error:
            raise BadRecord(f"{name}: {error}") from error
        except ValueError as error:
            raise BadRecord(f"{name}: {error}; convert the trace again with opwright, which keeps it") from error

    def _numbers(self, shape: list[int], dtype: str) -> Any:
        from opwright.ttnn_device import tensors

        element = tensors.element_of(dtype)
        if re.match("U?INT", dtype):
            return self._random.integers(0, 64, shape).astype(element)
        return self._random.standard_normal(shape, dtype="float32")


def _shapes(result: Any) -> Any:
    from opwright.ttnn_device import tensors

    shapes = [list(tensor.shape) for tensor in tensors.tensors_in(result)]
    return shapes[0] if len(shapes) == 1 else shapes


def _differences(recorded: Any, result: Any) -> list[str]:
    """What a result says otherwise than the record does; what the record does not say is no difference."""
    from opwright.serialize import to_jsonable
    from opwright.ttnn_device import tensors

    made = [to_jsonable(tensor) for tensor in tensors.tensors_in(result)]
    wanted = _refs(recorded)
    if wanted and len(made) != len(wanted):
        return [f"{len(made)} tensors came back, {len(wanted)} are recorded"]
    return [
        f"{name} is {ours.get(name)}, recorded is {theirs[name]}"
        for ours, theirs in zip(made, wanted, strict=False)
        for name in ("shape", "dtype", "layout", "storage_type")
        if name in theirs and str(theirs[name]).rpartition(".")[2] != str(ours.get(name)).rpartition(".")[2]
    ]


def _refs(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, dict) and value.get("__type__") == "ttnn.TensorRef":
        return [value]
    items = value if isinstance(value, list) else value.get("items", []) if isinstance(value, dict) else []
    return [ref for item in items for ref in _refs(item)]


def _mesh_of(value: Any) -> list[int] | None:
    """The mesh that the record names: of a device among its arguments."""
    if isinstance(value, dict):
        if value.get("__type__") == "ttnn.MeshDevice" and isinstance(value.get("mesh_shape"), list):
            return list(value["mesh_shape"])
        value = list(value.values())
    if isinstance(value, list):
        return next((mesh for item in value if (mesh := _mesh_of(item))), None)
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="opwright.op_replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jsonl", required=True, metavar="FILE", help="op JSONL, one recorded call a line")
    parser.add_argument("--index", type=int, default=0, help="which record, from 0 (default: 0)")
    parser.add_argument("--seed", type=int, default=0, help="of the tensors' numbers (default: 0)")
    parser.add_argument("--layout", choices=sorted(_LAYOUTS), help="of tensors of which the record has none")
    options = parser.parse_args(arguments)

    def tell(text: str) -> None:
        print(f"opwright: {text}", file=sys.stderr)

    try:
        record = read_record(options.jsonl, options.index)
        return _replay(record, options, tell)
    except BadRecord as error:
        tell(str(error))
        return 3


def _replay(record: dict[str, Any], options: argparse.Namespace, tell: Callable[[str], None]) -> int:
    try:
        import ttnn  # noqa: F401
    except ImportError as error:
        raise BadRecord(f"ttnn is not installed in this Python ({error}); pip install ttnn") from error
    from opwright.ttnn_device import boards, tensors
    from opwright.ttnn_device.classes import Unsupported

    mesh = boards.OpenMesh(24576)
    try:
        device = mesh.device(_mesh_of([record.get("inputs"), record.get("kwargs")]))
        result = replay_op_record(record, device, options.seed, layout=_LAYOUTS.get(options.layout), tell=tell)
        shapes, differences = _shapes(result), _differences(record.get("output"), result)
        del result
    except Unsupported as error:
        raise BadRecord(str(error)) from error
    except BadRecord:
        raise
    except tensors.InputError as error:
        print(f"Replay failed. An input cannot be made: {error.__cause__}")
        return 1
    except Exception as error:
        was = record.get("error")
        print(f"Replay failed. {record['op_name']} raised {type(error).__name__}: {str(error).strip()[:2000]}")
        recorded = f"It raised when it was recorded, too: {json.dumps(was)[:500]}"
        print(recorded if was else "It did not when it was recorded.")
        return 1
    finally:
        mesh.close()
    print(f"Replay success. Output shape: {shapes}")
    for difference in differences:
        print(f"It differs from the recorded output: {difference}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
