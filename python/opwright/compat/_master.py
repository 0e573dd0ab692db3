"""Master JSON and stores as the existing loader looks at them: executions of the configurations of an operation."""

from __future__ import annotations

import json
import os
import subprocess
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from opwright import _binary


class Traced(NamedTuple):
    """One execution of a configuration."""

    arguments: Any
    source: Any
    machine_info: Any
    config_hash: str | None


def load(path: str, exported_as: str = "master") -> dict[str, Any]:
    """The operations of a master, or of a store as a master of that era. What cannot be read is an error, never
    an empty master."""
    if "://" in path:
        return _load(path, True, exported_as)
    with open(path, "rb") as file:
        is_store = file.read(16).startswith(b"SQLite format 3")
    if is_store:
        return _load(path, True, exported_as)  # others may write beside its file
    here = os.stat(path)
    known = (os.path.abspath(path), here.st_mtime_ns, here.st_size)
    if known not in _loaded:
        _loaded.clear()
        _loaded[known] = _load(path, False, exported_as)
    return _loaded[known]


#: The master that was read last: a generator imports a hundred modules, each with its own loader. Not to be changed.
_loaded: dict[tuple[str, int, int], dict[str, Any]] = {}


def _load(path: str, is_store: bool, exported_as: str) -> dict[str, Any]:
    try:
        if is_store:
            master = json.loads(_exported(path, exported_as))
        else:
            with open(path, encoding="utf-8") as text:
                master = json.load(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: no master JSON: {error}") from error
    operations = master.get("operations") if isinstance(master, dict) else None
    if not isinstance(operations, dict):
        raise ValueError(f"{path}: no master JSON: it has no operations")
    return operations


def _exported(store: str, era: str) -> bytes:
    program = _binary.find()
    if program is None:
        raise OSError(f"{store} is a store of opwright; {_binary.missing_text()}")
    command = [program, "--store", store, "export", "--to", era]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise OSError(done.stderr.decode(errors="replace").strip() or f"{program} could not read {store}")
    for line in done.stderr.decode(errors="replace").splitlines():
        warnings.warn(line.removeprefix("opwright: "), stacklevel=6)  # configurations that an era has no form for
    return done.stdout


def names_of(operation: str) -> Iterator[str]:
    """The names under which a master may have an operation: `add` as `ttnn.add`, `ttnn::add`, and in its families."""
    parts = operation.replace("::", ".").split(".")
    if parts[0] == "ttnn":
        parts = parts[1:]
    yield operation
    for dot in (".", "::"):
        yield dot.join(["ttnn", *parts])
    for family in ("experimental", "transformer"):
        for dot in (".", "::"):
            if parts[0] != family:
                yield dot.join(["ttnn", family, *parts])
    yield ".".join(parts)
    yield "::".join(parts)


def executions(configuration: Any) -> Iterator[Traced]:
    """Of one configuration, in every form that masters have had."""
    if not isinstance(configuration, dict) or "arguments" not in configuration:
        yield Traced(configuration, "unknown", None, None)
        return
    arguments, known = configuration["arguments"], configuration.get("config_hash")
    for name in ("executions", "contexts"):
        if name not in configuration:
            continue
        listed = configuration[name]
        for one in listed if isinstance(listed, list) else [{}]:
            one = one if isinstance(one, dict) else {}  # where it ran is lost, what it is is not
            source = one.get("source") or "unknown"
            if name == "contexts" and isinstance(source, list):
                source = source[0] if source else "unknown"
            yield Traced(arguments, source, one.get("machine_info"), known)
        return
    yield Traced(arguments, configuration.get("source", "unknown"), configuration.get("machine_info"), known)


def mesh_of(machine_info: Any) -> tuple[int, ...] | None:
    """The mesh that an execution was made on: of its machine, or of the placement of its tensors; None: not said."""
    for one in machine_info if isinstance(machine_info, list) else [machine_info]:
        if not isinstance(one, dict):
            continue
        try:
            placements = one.get("tensor_placements") or [{}]
            shape = one.get("mesh_device_shape") or placements[0].get("mesh_device_shape")
            shape = json.loads(shape) if isinstance(shape, str) else shape
            if shape:
                return tuple(int(n) for n in shape)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            continue  # it does not say
    return None


def default_path() -> str | None:
    """`$TTNN_MASTER_JSON_PATH`, else where the existing tooling keeps its master."""
    given = os.environ.get("TTNN_MASTER_JSON_PATH")
    if given:
        return given
    name = os.path.join("model_tracer", "traced_operations", "ttnn_operations_master.json")
    for folder in (os.environ.get("TT_METAL_HOME", ""), os.getcwd()):
        if folder and os.path.exists(os.path.join(folder, name)):
            return os.path.join(folder, name)
    return None
