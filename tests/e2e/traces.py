"""What the tests of traces and stores share: reading the program's output, the logical content of a store."""

import json
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path

import support

EXPECTED = json.loads((support.FIXTURES / "expected.json").read_text(encoding="utf-8"))
NOT_TEXT = ("ERROR: AddressSanitizer", "runtime error:", "ThreadSanitizer", "terminate called", "LeakSanitizer")


def fixture(name: str) -> Path:
    return support.FIXTURES / name


def check_no_crash(result: subprocess.CompletedProcess) -> None:
    assert result.returncode >= 0, f"ended by signal {-result.returncode}: {result.stderr}"
    assert not any(word in result.stderr for word in NOT_TEXT), result.stderr


def answer(result: subprocess.CompletedProcess, status: int = 0):
    """The JSON that a command printed with `--format json`; the command must have ended as expected."""
    check_no_crash(result)
    assert result.returncode == status, f"exit status {result.returncode}: {result.stderr}"
    return json.loads(result.stdout)


def load_trace(opwright, *paths: object, store: object = "opwright.db", options: tuple = ()) -> dict:
    """Imports `paths` and gives the summary."""
    return answer(opwright("--store", store, "--format", "json", "import", *options, *paths))


def dotted(counts: dict[str, int]) -> dict[str, int]:
    """Names of operations as the program prints them: ttnn::add is ttnn.add."""
    return dict(Counter({name.replace("::", "."): count for name, count in counts.items()}))


def logical_dump(store: Path) -> dict[str, list]:
    """The content of a store without row ids and index: what must be the same whatever the order of imports."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        queries = {
            "operations": "SELECT name FROM operation",
            "configurations": "SELECT o.name, c.convention, hex(c.key) FROM configuration c JOIN operation o ON o.id = c.operation_id",
            "forms": "SELECT hex(f.fingerprint), hex(c.key), f.kind, f.op, f.unparsed, f.unknown_names, f.duplicate_keys, f.error"
            " FROM form f JOIN configuration c ON c.id = f.configuration_id",
            "sources": "SELECT text, path, hf_model, model FROM source",
            "machines": "SELECT text, label FROM machine",
            "traces": "SELECT uid, format, facts FROM trace",
            "occurrences": "SELECT hex(f.fingerprint), s.text, m.text, t.uid, o.sweep_source_hash, o.config_hash, o.count, o.extra, o.raised FROM occurrence o"
            " JOIN form f ON f.id = o.form_id JOIN source s ON s.id = o.source_id"
            " JOIN machine m ON m.id = o.machine_id JOIN trace t ON t.id = o.trace_id",
        }
        if db.execute("SELECT 1 FROM sqlite_master WHERE name = 'sequence'").fetchone():  # since schema 6
            queries["sequences"] = "SELECT uid, hex(digest), name, command, machine, started, format, flow, calls, operations, content, size FROM sequence"
            queries["pieces"] = "SELECT s.uid, p.place, hex(p.data) FROM piece p JOIN sequence s ON s.id = p.sequence_id"
        return {name: sorted(map(repr, db.execute(query))) for name, query in queries.items()}
    finally:
        db.close()


def table_dump(store: Path) -> dict[str, list]:
    """Every row of every table, row ids included: what must not change at all."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {table: sorted(map(repr, db.execute(f"SELECT * FROM {table}"))) for table in tables}
    finally:
        db.close()


def shown(opwright, *arguments: object, store: object = "opwright.db") -> list[dict]:
    """What `show` knows: one object a configuration."""
    return answer(opwright("--store", store, "--format", "json", "show", *arguments))


def era2_master(configurations: dict[str, list[dict]]) -> dict:
    """A small era-2 master: operation -> argument objects. Each is called once by one test."""
    execution = {"source": "models/x/test_x.py", "machine_info": None, "count": 1, "trace_uid": "uid-of-x"}
    return {
        "metadata": {},
        "operations": {
            op: {
                "configurations": [
                    {"config_id": number, "arguments": arguments, "executions": [execution]}
                    for number, arguments in enumerate(several, 1)
                ]
            }
            for op, several in configurations.items()
        },
    }


def tensor(shape: list[int], dtype: str = "BFLOAT16", layout: str = "TILE", **memory: object) -> dict:
    """A tensor as era-2 traces write it."""
    return {
        "type": "ttnn.Tensor",
        "original_shape": shape,
        "original_dtype": f"DataType.{dtype}",
        "layout": f"Layout.{layout}",
        "storage_type": "StorageType.DEVICE",
        "memory_config": {
            "memory_layout": "TensorMemoryLayout.INTERLEAVED",
            "buffer_type": "BufferType.DRAM",
            "shard_spec": None,
        }
        | memory,
    }


def op_jsonl(path: Path, calls: list[tuple], run: str | None = "run-1", test: str = "models/x/test_x.py::test_x") -> Path:
    """An op JSONL of calls of ttnn.add: (width of the tensor, what it raised or None)."""
    lines = []
    for width, error in calls:
        tensor = {"__type__": "ttnn.TensorRef", "shape": [1, 1, 32, width], "dtype": "DataType.BFLOAT16"}
        record = {"test_nodeid": test, "op_name": "ttnn.add", "inputs": [tensor, tensor], "kwargs": {}, "output": None}
        if run is not None:
            record["run_id"] = run
        if error is not None:
            record["error"] = {"type": "RuntimeError", "message": error}
        lines.append(json.dumps(record) + "\n")
    path.write_text("".join(lines))
    return path
