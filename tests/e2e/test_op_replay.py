"""`python -m opwright.op_replay`: one record of op JSONL again, with the real library on its mock device."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import python_package

sys.path.insert(0, str(python_package.SOURCES))
from opwright import op_replay  # noqa: E402

DRAM = {"__type__": "ttnn.MemoryConfig", "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"}


def tensor(*shape: int, dtype: str = "DataType.BFLOAT16", **more: Any) -> dict[str, Any]:
    return {"__type__": "ttnn.TensorRef", "shape": list(shape), "dtype": dtype, "memory_config": DRAM, **more}


def record(op: str, *inputs: Any, output: Any = None, **kwargs: Any) -> dict[str, Any]:
    return {"op_name": op, "inputs": list(inputs), "kwargs": kwargs, "output": output}


SHARDED = {
    **DRAM,
    "memory_layout": "HEIGHT_SHARDED",
    "buffer_type": "L1",
    "shard_spec": {"shape": [32, 64], "grid": [[0, 0, 1, 0]], "orientation": "ROW_MAJOR"},
}
TILED = {"layout": "TILE", "storage_type": "DEVICE"}
CASES: dict[str, tuple[dict[str, Any], list[str], int, list[str]]] = {
    "as it was": (
        record("ttnn.add", tensor(1, 1, 64, 64, **TILED), 2.5, output=tensor(1, 1, 64, 64, layout="TILE")),
        [], 0, ["Replay success. Output shape: [1, 1, 64, 64]"],
    ),
    "a layout that is not recorded": (
        record("ttnn.add", tensor(1, 1, 64, 64), 2.5), [], 0, ["tensor 1: the record has no layout; TILE is taken"],
    ),
    "a layout that is said": (
        record("ttnn.to_layout", tensor(1, 64), {"__enum__": "ttnn._ttnn.types.Layout", "name": "TILE"},
               output=tensor(1, 64, layout="TILE")),
        ["--layout", "row_major"], 0, ["Replay success"],
    ),
    "configs are objects": (
        record("ttnn.to_memory_config", tensor(1, 1, 64, 64, **TILED), SHARDED), [], 0, ["Replay success"],
    ),
    "integers": (
        record("ttnn.add", tensor(1, 1, 32, 32, dtype="DataType.UINT32", **TILED),
               tensor(1, 1, 32, 32, dtype="DataType.UINT32", **TILED),
               output=tensor(1, 1, 32, 32, dtype="DataType.UINT32")),
        [], 0, ["Replay success"],
    ),
    "another result": (
        record("ttnn.add", tensor(1, 1, 64, 64, **TILED), 1, output=tensor(1, 1, 64, 96)),
        [], 1, ["Replay success", "shape is [1, 1, 64, 64], recorded is [1, 1, 64, 96]"],
    ),
    "it raises": (
        record("ttnn.matmul", tensor(1, 1, 64, 64, **TILED), tensor(1, 1, 32, 64, **TILED)),
        [], 1, ["Replay failed. ttnn.matmul raised RuntimeError", "It did not when it was recorded."],
    ),
    "it raised": (
        {**record("ttnn.matmul", tensor(1, 1, 64, 64, **TILED), tensor(1, 1, 32, 64, **TILED)), "error": {"type": "X"}},
        [], 1, ['It raised when it was recorded, too: {"type": "X"}'],
    ),
    "a shard spec without its cores": (
        record("ttnn.to_memory_config", tensor(1, 1, 64, 64, **TILED), {**SHARDED, "shard_spec": {"shape": [32, 64]}}),
        [], 3, ["argument $[0][1]: a shard spec of which the trace lost the grid, orientation"],
    ),
    "an operation that is not there": (record("ttnn.nobody"), [], 3, ["has no operation ttnn.nobody"]),
    "an operation with a slip in its name": (record("ttnn.lineer"), [], 3, ["did you mean ttnn.linear"]),
    "no operation of the library": (record("os.system", "true"), [], 3, ["os.system is no operation of ttnn"]),
    "an argument that only its text is known of": (
        record("ttnn.add", tensor(1, 32, **TILED), {"__type__": "repr", "value": "<object>"}),
        [], 3, ["argument $[0][1]: only"],
    ),
}  # fmt: skip


@pytest.fixture
def replay(opwright, opwright_program, ttnn_python, tmp_path):
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"

    def run(*arguments: Any) -> Any:
        program = [ttnn_python, "-m", "opwright.op_replay", *map(str, arguments)]
        return opwright("mock", "--board", "n150", "--", *program, env={"PYTHONPATH": str(package)})

    return run


@pytest.mark.parametrize("name", CASES)
def test_a_record_is_replayed(replay, tmp_path: Path, name: str) -> None:
    case, options, status, texts = CASES[name]
    path = tmp_path / "ops.jsonl"
    path.write_text("\n" + json.dumps(record("ttnn.relu")) + "\n" + json.dumps(case) + "\n")
    done = replay("--jsonl", path, "--index", 1, *options)
    assert done.returncode == status, done.stdout + done.stderr[-2000:]
    for text in texts:
        assert text in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("text", "index", "message"),
    [
        ("", 0, "has 0 records, and none with index 0"),
        ('{"op_name": "ttnn.add", "inputs": []}\n', 1, "has 1 records, and none with index 1"),
        ('{"op_name": "ttnn.add"', 0, "record 0 is no JSON"),
        ("[1]\n", 0, "record 0 has no op_name"),
        ('{"op_name": "ttnn.add", "inputs": {}}', 0, "inputs must be a list"),
        ("[" * 100_000, 0, "record 0 is no JSON"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str], text, index, message) -> None:
    path = tmp_path / "ops.jsonl"
    path.write_text(text)
    assert op_replay.main(["--jsonl", str(path), "--index", str(index)]) == 3
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert op_replay.main(["--jsonl", str(tmp_path / "none")]) == 3
    assert "No such file" in capsys.readouterr().err
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    assert op_replay.main(["--jsonl", str(tmp_path / "bytes")]) == 3
