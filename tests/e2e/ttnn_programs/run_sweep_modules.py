"""usage: run_sweep_modules.py MODULES MASTER [--each N] [--mesh R C] [--elements N]

Runs sweep modules as the existing generator and runner do: a suite's parameters become vectors (a key with commas is
split, its tuples zipped, the rest multiplied), vectors become JSON and are read again, and each is handed to the module's
`run`. Prints {"MODULE": {"vectors", "tried", "ran", "refused": {message: count}, "broken": [...], "skipped"}} as the last line.

refused: the library says no, in words of its own. lost: our values say what the master has lost of an object. broken: anything else, so a module and the loader do not fit.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import math
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import opwright.compat.stand_in  # noqa: F401 (before theirs)
import ttnn

METADATA = ("suite_name", "validity", "invalid_reason", "status", "sweep_name")
NO_LITERALS = ("sum", "mean", "max", "min", "std", "var")


def vectors_of(suite: dict[str, list[Any]]) -> Iterator[dict[str, Any]]:
    columns = [
        [dict(zip(names.split(","), row, strict=True)) if "," in names else {names: row} for row in rows]
        for names, rows in suite.items()
    ]
    for parts in itertools.product(*columns):
        yield {name: value for part in parts for name, value in part.items()}


def serialized(value: Any) -> Any:
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if isinstance(value, tuple):
        return str(value)
    if isinstance(value, list):
        return [serialized(item) for item in value]
    if isinstance(value, dict):
        return {str(name): serialized(item) for name, item in value.items()}
    if hasattr(value, "to_json"):
        return {"type": f"ttnn._ttnn.tensor.{type(value).__name__}", "data": json.loads(value.to_json())}
    return str(value)


def deserialized(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"type", "data"}:
        return getattr(ttnn, value["type"].rpartition(".")[2]).from_json(json.dumps(value["data"]))
    if isinstance(value, dict):
        return {name: deserialized(item) for name, item in value.items()}
    if isinstance(value, list):
        return [deserialized(item) for item in value]
    if not isinstance(value, str) or value in NO_LITERALS:
        return value
    kind, _, member = value.rpartition(".")
    if re.fullmatch(r"\w+\.\w+", value) and hasattr(ttnn, kind) and hasattr(getattr(ttnn, kind), member):
        return getattr(getattr(ttnn, kind), member)
    try:
        import ast

        return ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value


def given_to_run(vector: dict[str, Any]) -> dict[str, Any]:
    absent = [name for name, value in vector.items() if isinstance(value, str) and value == "__ABSENT__"]
    given = {name: None if name in absent else value for name, value in vector.items() if name not in METADATA}
    return {**given, "__absent_keys__": absent} if absent else given


def elements_of(value: Any) -> int:
    """Of the largest shape in a vector."""
    if isinstance(value, dict):
        return max(map(elements_of, value.values()), default=0)
    is_shape = isinstance(value, (tuple, list)) and value and all(type(item) is int for item in value)
    return math.prod(value) if is_shape else 0


def run_module(module: Any, device: Any, options: argparse.Namespace) -> dict[str, Any]:
    report: dict[str, Any] = {"vectors": 0, "tried": 0, "ran": 0, "lost": 0, "large": 0, "refused": {}, "broken": []}
    vectors = list(vectors_of(module.parameters.get("model_traced", {})))
    report["vectors"] = len(vectors)
    loader = module.loader
    report["skipped"] = len(loader.skipped)
    step = max(1, len(vectors) // options.each) if options.each else 1
    for vector in vectors[::step]:
        text = json.dumps({name: serialized(value) for name, value in vector.items()}, sort_keys=True)
        given = given_to_run({name: deserialized(value) for name, value in json.loads(text).items()})
        if elements_of(given) > options.elements:
            report["large"] += 1
            continue
        report["tried"] += 1
        try:
            answer = module.run(**given, device=device)
            assert answer[0][0] is True, answer
            report["ran"] += 1
        except RuntimeError as error:
            words = str(error).partition("backtrace:")[0]
            found = re.search(r"info:\s*(.*)", words)
            message = re.sub(r"\d+", "N", (found[1] if found else words.strip().splitlines()[0]))[:160]
            report["refused"][message] = report["refused"].get(message, 0) + 1
        except ValueError as error:
            if "of which the trace lost" not in str(error):
                report["broken"].append(f"ValueError: {str(error)[:300]}")
            report["lost"] += "of which the trace lost" in str(error)
        except Exception as error:  # noqa: BLE001 (whatever it is, it is told)
            where = traceback.extract_tb(error.__traceback__)[-1]
            report["broken"].append(f"{type(error).__name__}: {str(error)[:300]} ({Path(where.filename).name}:{where.lineno})")
    return report


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("modules", type=Path)
    parser.add_argument("master")
    parser.add_argument("--each", type=int, default=0, help="at most about so many vectors of a module")
    parser.add_argument("--elements", type=int, default=1 << 22, help="no tensors of more")
    parser.add_argument("--mesh", type=int, nargs=2, default=(1, 1))
    options = parser.parse_args()
    sys.path[:0] = [str(options.modules.parent / "their"), str(options.modules)]
    warnings.simplefilter("ignore")  # what is skipped is counted
    from tests.sweep_framework import master_config_loader, master_config_loader_v2  # type: ignore[import-not-found]

    for loader in (master_config_loader, master_config_loader_v2):
        loader.MasterConfigLoader.set_master_file_path(options.master)
    device = ttnn.open_mesh_device(ttnn.MeshShape(*options.mesh), l1_small_size=32768)
    report = {}
    for file in sorted(options.modules.glob("*_model_traced.py")):
        report[file.stem.removesuffix("_model_traced")] = run_module(importlib.import_module(file.stem), device, options)
    ttnn.close_mesh_device(device)
    print(json.dumps(report))


if __name__ == "__main__":
    main()
