#!/usr/bin/python3
"""Makes the inputs of the benchmarks, once, in a cache folder: `data.py FOLDER NAME…`.

They are real traces, replicated with changed shapes (so that every copy is another configuration), where real traces are
there: `$OPWRIGHT_REAL_DATA`, else `../shared/data` beside the repository. Where there are none, our own fixtures are
replicated to the same numbers of configurations.

This is a process of its own, since a child's peak memory counts what its parent had: run.py must stay small.
"""

import hashlib
import itertools
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "tests" / "fixtures"
REAL = pathlib.Path(os.environ.get("OPWRIGHT_REAL_DATA") or ROOT.parent / "shared" / "data")

LLAMA = REAL / "ttnn" / "era2" / "ttnn_operations_master_2026-05-10_llama_n300.json"
DEEPSEEK = REAL / "ttnn" / "era2" / "ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json"
DECEMBER = REAL / "ttnn" / "era1" / "ttnn_operations_master_2025-12-31_from_db.json"

HOLE = "@hole@"
STEP = 1000  # added to the first dimension of every tensor of a copy; larger than any real one


def masters() -> list[pathlib.Path]:
    """All real masters of both eras; our fixtures where there are none."""
    found = [path for era in ("era1", "era2") for path in sorted((REAL / "ttnn" / era).glob("[a-z]*.json"))]
    return found or [FIXTURES / "master"]


def write_table(path: str, title: str, about: str, columns: list[str], rows: list[list[str | int | float]]) -> None:
    """A table as `opwright report --table FILE` shows it."""
    pathlib.Path(path).write_text(json.dumps({"title": title, "about": about, "columns": columns, "rows": rows}, indent=1) + "\n")


def tensors_of(value):
    """Every list that is the shape of a tensor, in either era."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key in ("original_shape", "logical_shape") and isinstance(item, list) and item:
                yield item
            else:
                yield from tensors_of(item)
    elif isinstance(value, list):
        for item in value:
            yield from tensors_of(item)


class Copies:
    """One configuration and its text with holes where a copy differs: the first dimensions, and the hash."""

    def __init__(self, operation, config, indent):
        self.operation = operation
        config = json.loads(json.dumps(config))
        self.first = [shape[0] for shape in tensors_of(config["arguments"])]
        for shape in tensors_of(config["arguments"]):
            shape[0] = HOLE
        self.hashed = "config_hash" in config
        if self.hashed:
            config["config_hash"] = HOLE
        text = json.dumps(config, indent=2).replace("\n", "\n" + " " * indent)
        self.parts = text.split(f'"{HOLE}"')

    def text(self, copy):
        """Copy 0 is the original."""
        values = [str(first + STEP * copy) for first in self.first]
        if self.hashed:  # any distinct one: importing keeps it as it is
            digest = hashlib.sha256(f"{self.operation} {copy} {self.parts[0]} {self.parts[-1]} {values}".encode()).hexdigest()
            position = next(i for i, part in enumerate(self.parts) if part.rstrip().endswith('"config_hash":'))
            values.insert(position, f'"{digest}"')
        return "".join(itertools.chain.from_iterable(itertools.zip_longest(self.parts, values, fillvalue="")))


def replicate(base, path, count, first_copy=0):
    """A master like `base` with `count` configurations; `first_copy` > 0 gives others than 0."""
    master = json.loads(base.read_text())
    operations = {
        name: [Copies(name, config, 8) for config in operation["configurations"] if list(tensors_of(config["arguments"]))]
        for name, operation in master["operations"].items()
    }
    size = sum(len(configs) for configs in operations.values())
    with open(path, "w", encoding="utf-8") as out:
        out.write('{\n  "metadata": ' + json.dumps(master["metadata"], indent=2).replace("\n", "\n  ") + ',\n  "operations": {')
        done = start = 0
        for name, configs in operations.items():
            out.write(("," if done else "") + f'\n    {json.dumps(name)}: {{\n      "configurations": [')
            number = 0
            for index, config in enumerate(configs):
                # The first copy of every configuration of the base comes before the second of any.
                for copy in range(count // size + (1 if start + index < count % size else 0)):
                    out.write(("," if number else "") + "\n        " + config.text(first_copy + copy))
                    number += 1
            done += number
            start += len(configs)
            out.write("\n      ]\n    }")
        out.write("\n  }\n}\n")
    return done


def make_era1(path):
    if DECEMBER.exists():
        os.symlink(DECEMBER, path)
    else:
        replicate(FIXTURES / "master" / "era1_1c.json", path, 5213)


def era2_base():
    return LLAMA if LLAMA.exists() else FIXTURES / "master" / "era2_g4.json"


# ------------------------------------------------------------------------------------------------------------- per op


def as_record(value):
    """An argument of a master as per-op files of version v3 write it."""
    if isinstance(value, list):
        return [as_record(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("type") == "ttnn.Tensor" and "original_shape" in value:
        record = {"type": value["type"], "original_shape": value["original_shape"], "original_dtype": value.get("original_dtype")}
        placement = value.get("tensor_placement")
        if placement:
            shape = json.loads(placement["mesh_device_shape"])
            record["mesh_device"] = {
                "placements": [part.strip(" '\"") for part in placement["placement"].strip("[]").split("', '")],
                "distribution_shape": json.loads(placement["distribution_shape"]),
                "shape": shape,
            }
        record["shape"] = value["original_shape"]
        record["dtype"] = value.get("original_dtype")
        for key in ("layout", "storage_type"):
            if key in value:
                record[key] = value[key]
        if "memory_config" in value:
            record["memory_config"] = as_record(value["memory_config"])
        return record
    if "memory_layout" in value and isinstance(value.get("shard_spec"), dict):
        spec = value["shard_spec"]
        grid = ", ".join(json.dumps(part, separators=(",", ":"))[:-1] for part in spec["grid"])
        text = f"ShardSpec{{grid=[{grid}], shape={spec['shape']}, orientation=ShardOrientation::{spec['orientation']}}}"
        return {**value, "shard_spec": text}
    if "memory_layout" in value and "shard_spec" in value:
        return {**value, "shard_spec": "None"}
    return {key: as_record(item) for key, item in value.items()}


def make_per_op(folder, files):
    """`files` calls of the configurations of one model, each as often as the model made it, in a shuffled order."""
    base = DEEPSEEK if DEEPSEEK.exists() else FIXTURES / "master" / "era2_g4.json"
    calls = []
    for operation, entry in json.loads(base.read_text())["operations"].items():
        for config in entry["configurations"]:
            arguments = config["arguments"]
            record = {
                "operation_id": 0,
                "operation_name": operation,
                "args": [
                    {"position": int(name[3:]), "value": as_record(value)}
                    for name, value in arguments.items()
                    if name.startswith("arg") and name[3:].isdigit()
                ],
                "kwargs": {
                    name: as_record(value)
                    for name, value in arguments.items()
                    if not (name.startswith("arg") and name[3:].isdigit())
                },
            }
            calls.append((record, sum(execution.get("count", 1) for execution in config["executions"])))
    total = sum(count for _, count in calls)
    repeats = [max(1, round(count * files / total)) for _, count in calls]
    order = [index for index, repeat in enumerate(repeats) for _ in range(repeat)]
    order = (order * (files // len(order) + 1))[:files]
    order = [order[(i * 7919) % files] for i in range(files)]  # 7919 is prime: every file once
    templates = [json.dumps(record, indent=2).split('"operation_id": 0', 1) for record, _ in calls]
    os.makedirs(folder)
    (folder / "_trace_metadata.json").write_text((FIXTURES / "per_op" / "v3" / "_trace_metadata.json").read_text())
    for number, index in enumerate(order, 1):
        name = calls[index][0]["operation_name"].replace(".", "_")
        before, after = templates[index]
        (folder / f"{number}_{name}_20260301_{number // 3600 % 24:02}{number // 60 % 60:02}{number % 60:02}_{number:06}.json").write_text(
            f'{before}"operation_id": {number}{after}'
        )


# -------------------------------------------------------------------------------------------------------------- jsonl


def make_jsonl(path, size):
    """Lines of our fixture, with the number of the call and its time changed, up to `size` bytes."""
    records = [json.loads(line) for line in (FIXTURES / "jsonl" / "ops.jsonl").read_text().splitlines() if line.strip()]
    with open(path, "w", encoding="utf-8") as out:
        written = number = 0
        while written < size:
            record = {**records[number % len(records)], "op_index": number, "duration_ms": number % 977 / 64}
            written += out.write(json.dumps(record) + "\n")
            number += 1


# ------------------------------------------------------------------------------------------------------------- native


def make_native(path, calls):
    """A trace of one call made again and again: two tensors, three keyword arguments, a result."""
    folder = path.with_suffix(".making")
    folder.mkdir(exist_ok=True)
    program = pathlib.Path(os.environ.get("OPWRIGHT_BIN") or ROOT / "build" / "release" / "opwright").parent / "capture_bench"
    subprocess.run([program, "keep", str(calls), folder], check=True, stdout=subprocess.DEVNULL)
    (trace,) = folder.glob("*.opwt")
    trace.rename(path)
    folder.rmdir()


MAKERS = {
    "era1.json": make_era1,
    "era2_21mb.json": lambda path: replicate(era2_base(), path, 7308),
    "era2_100mb.json": lambda path: replicate(era2_base(), path, 37689),
    "era2_more_1.json": lambda path: replicate(era2_base(), path, 31311, first_copy=100),
    "era2_more_2.json": lambda path: replicate(era2_base(), path, 31000, first_copy=200),
    "per_op_2004": lambda path: make_per_op(path, 2004),
    "per_op_20040": lambda path: make_per_op(path, 20040),
    "jsonl_10mb.jsonl": lambda path: make_jsonl(path, 10_000_000),
    "jsonl_100mb.jsonl": lambda path: make_jsonl(path, 100_000_000),
    "jsonl_400mb.jsonl": lambda path: make_jsonl(path, 400_000_000),
    "calls_4m.opwt": lambda path: make_native(path, 4_000_000),
}


def main(folder, names):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Real and made-up inputs do not share a cache, and what this file changes makes them anew.
    stamp = f"{LLAMA.exists()} {DECEMBER.exists()} {hashlib.sha256(pathlib.Path(__file__).read_bytes()).hexdigest()}\n"
    for name in names:
        path = folder / name
        mark = folder / (name + ".made")
        if mark.exists() and mark.read_text() == stamp:
            continue
        if path.is_dir() and not path.is_symlink():
            for file in path.iterdir():
                file.unlink()
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        MAKERS[name](path)
        mark.write_text(stamp)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
