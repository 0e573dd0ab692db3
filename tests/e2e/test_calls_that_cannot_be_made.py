"""What cannot be made again, given to the verbs that make recorded calls again: a trace that is cut, operators that nobody
knows, classes that the installed library lacks, a later store. Each is told, with what is next; the rest goes on."""

from __future__ import annotations

import json
import os
import py_compile
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest
import support

TENSOR = {
    "type": "ttnn.Tensor", "original_shape": [32, 64], "original_dtype": "DataType.BFLOAT16", "layout": "Layout.TILE",
    "storage_type": "StorageType.DEVICE", "shape": [32, 64], "dtype": "DataType.BFLOAT16",
    "memory_config": {"memory_layout": "TensorMemoryLayout.INTERLEAVED", "buffer_type": "BufferType.DRAM", "shard_spec": None},
}  # fmt: skip


def call(name: str, **kwargs: Any) -> dict[str, Any]:
    args = [{"position": 0, "value": TENSOR}]
    return {"operation_id": 1, "operation_name": name, "args": args, "kwargs": kwargs}


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    """Four calls: one of an operator that nobody knows, one with a class of a later library, one whose value is lost, a good
    one; and half of a fifth."""
    folder = tmp_path / "calls"
    folder.mkdir()
    every = [
        call("ttnn.frobnicate"),
        call("ttnn.softmax", program_config={"type": "BrandNewProgramConfig", "value": "BrandNewProgramConfig(in0_block_w=1)"}),
        call("ttnn.gelu", memory_config={"type": "Mystery", "value": "<Mystery object at 0x7f4d386b3810>"}),
        call("ttnn.relu"),
    ]
    for i, one in enumerate(every, 1):
        (folder / f"{i}_{one['operation_name'].replace('.', '_')}_20260101_000000_00000{i}.json").write_text(json.dumps(one))
    (folder / "5_ttnn_abs_20260101_000000_000005.json").write_text(json.dumps(call("ttnn.abs"))[:200])
    return folder


def test_tests_are_generated_of_the_rest(opwright, calls: Path, tmp_path: Path) -> None:
    done = opwright("gentest", calls, "--all-ops", "-o", tmp_path / "tests", "--format", "json")
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert (made["configurations"], made["generated"]) == (4, 1) and sum(made["losses"].values()) == 1
    reasons = made["not_generated"]
    assert sum(reasons.values()) == 3, reasons
    assert "an operation that the tables of ttnn do not have" in reasons and "ttnn has no BrandNewProgramConfig" in reasons, reasons
    for file in (tmp_path / "tests").glob("*.py"):
        py_compile.compile(str(file), cfile=str(tmp_path / "compiled"), doraise=True)


def test_a_cut_trace_gives_what_is_whole(opwright, tmp_path: Path) -> None:
    whole = tmp_path / "whole.opwt"
    assert opwright("trim", support.FIXTURES / "native" / "decoder.opwt.zst", "--only", "*", "-o", whole).returncode == 0
    cut = tmp_path / "cut.opwt"
    cut.write_bytes(whole.read_bytes()[: whole.stat().st_size * 6 // 10])
    every = json.loads(opwright("gentest", whole, "-o", tmp_path / "all", "--format", "json").stdout)
    some = json.loads(opwright("gentest", cut, "-o", tmp_path / "some", "--format", "json").stdout)
    assert 0 < some["generated"] < every["generated"]
    assert some["losses"].keys() >= {"cut_input", "missing_calls"} and every["losses"] == {}
    told = opwright("gentest", cut, "-o", tmp_path / "told").stdout
    assert "LOST 1: cut_input" in told and "what came before it is read" in told


@pytest.mark.parametrize("verb", [["gentest", "-o", "tests"], ["gentest", "later.db", "-o", "tests"], ["replay", "0"], ["shrink"]], ids=" ".join)
def test_a_store_of_a_later_version(opwright, calls: Path, tmp_path: Path, verb: list[str]) -> None:
    store = tmp_path / "later.db"
    assert opwright("--store", store, "import", calls).returncode == 0
    with sqlite3.connect(store) as database:
        database.execute("PRAGMA user_version = 99")
    before = store.read_bytes()
    done = opwright("--store", store, *verb)
    assert done.returncode == 3 and "use a newer opwright (nothing was changed)" in done.stderr
    assert store.read_bytes() == before and not (tmp_path / "tests").exists()


API = """
import json, sys, ttnn, opwright
device = ttnn.open_device(device_id=0)
said = {}
for config in opwright.open(sys.argv[1]).configs():
    try:
        made = config.call(device)
        said[config.operation] = str(list(made.shape))
    except Exception as error:
        said[config.operation] = str(error)
ttnn.close_device(device)
print(json.dumps(said))
"""


def test_python_says_what_the_library_lacks(opwright, opwright_program: Path, ttnn_python: Path, calls: Path, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    assert opwright("--store", store, "import", "--all-ops", calls).returncode == 0
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {"PYTHONPATH": str(package), "OPWRIGHT_BIN": str(opwright_program), "LOGURU_LEVEL": "ERROR"}
    done = opwright("mock", "--board", "n150", "--", ttnn_python, "-c", API, store, env=env)
    said = json.loads(done.stdout.strip().splitlines()[-1]) if done.stdout.strip() else pytest.fail(done.stderr[-2000:])
    assert said["ttnn.relu"] == "[32, 64]"
    assert "has no operation ttnn.frobnicate" in said["ttnn.frobnicate"]
    assert "BrandNewProgramConfig" in said["ttnn.softmax"] and len(said) == 4, said


PLACEHOLDER = """
from opwright.serialize import from_jsonable
problems = []
later = {"__type__": "ttnn.BrandNewProgramConfig", "in0_block_w": 1}
made = from_jsonable({"config": later, "grid": (8, 8)}, problems=problems)
assert made == {"config": later, "grid": (8, 8)}, made
assert [problem.path for problem in problems] == ["$.config"] and "ttnn.BrandNewProgramConfig" in problems[0].reason
"""


def test_a_class_that_the_library_lacks_is_a_placeholder_and_counted(opwright_program: Path, ttnn_python: Path) -> None:
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {**os.environ, "PYTHONPATH": str(package), "LOGURU_LEVEL": "ERROR"}
    done = subprocess.run([ttnn_python, "-c", PLACEHOLDER], env=env, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
