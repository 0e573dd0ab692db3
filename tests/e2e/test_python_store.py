"""`opwright.open`: a store from Python."""

import json
import math
import os
import shlex
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import python_package
import support

sys.path.insert(0, str(python_package.SOURCES))
import opwright as package  # noqa: E402
from opwright import _values, parquet  # noqa: E402
from opwright.store import Store, StoreError  # noqa: E402


@pytest.fixture
def store(opwright, opwright_program, tmp_path, monkeypatch) -> Store:
    monkeypatch.setenv("OPWRIGHT_BIN", str(opwright_program))
    path = tmp_path / "s.db"
    traces = [support.FIXTURES / "demo", support.FIXTURES / "master" / "era2_g3.json"]
    assert opwright("--store", path, "import", "--all-ops", *traces).returncode == 0
    return package.open(path)


def test_what_a_store_says_of_itself(store) -> None:
    operations = {one.name: one for one in store.operations()}
    assert operations["ttnn.linear"].configurations == len(store.configs("linear"))
    assert repr(store).startswith(f"<store {store.path}: {len(store.configs())} configurations of {len(operations)}")
    assert repr(store.configs("ttnn.add")).startswith(f"<{len(store.configs('add'))} configurations of ttnn.add, in")


def test_rows_are_those_of_show(store, opwright) -> None:
    lines = opwright("--store", store.path, "show", "--format", "jsonl").stdout.splitlines()
    shown = [json.loads(line) for line in lines]
    configs = store.configs().sorted()
    assert [config.key for config in configs] == [row["key"] for row in shown]
    assert {config.key for config in store.configs()} == {row["key"] for row in shown}
    assert len(configs) == len(store.configs()) and len(set(configs)) == len(configs)
    for config, row in zip(configs, shown, strict=True):
        assert list(config.arguments) == list(row["arguments"])
        assert (config.calls, config.convention) == (row["calls"], row["convention"])


def test_arguments_are_objects(store) -> None:
    (config,) = store.configs("ttnn.add", where="sharded and rank=4 and op=add and model=tiny_cnn")
    tensor = config.tensor_specs[0]
    assert (tensor.shape, tensor.dtype, tensor.layout) == ((1, 1, 576, 24), "BFLOAT8_B", "TILE")
    assert tensor.memory.is_sharded and tensor.memory.shard.grid == ((0, 0, 3, 2),)
    assert str(tensor) == "1x1x576x24 BFLOAT8_B TILE L1 HEIGHT_SHARDED"
    assert repr(config) == f"<ttnn.add({tensor}) {config.key[:12]}, 1 call>"
    row = config.flat()
    assert (row["in0.dtype"], row["in0.memory_layout"], row["in0.shard_shape"]) == (
        "BFLOAT8_B",
        "HEIGHT_SHARDED",
        "48x24",
    )
    assert (row["in0.shard_cores"], row["in0.elements"], row["input_tensor_b"]) == (12, 576 * 24, 0.5)
    assert row["case"] == config.case_line
    assert store.config(config.key[:16]) == config


def test_a_case_line_is_what_run_takes(store, opwright) -> None:
    config = next(iter(store.configs("ttnn.linear", where="model=tiny-llm-96")))
    done = opwright("run", "--case", config.case_line, "--format", "json")
    assert '"outcome": "passed"' in done.stdout, done.stdout + done.stderr


def test_traces_and_calls(store, opwright) -> None:
    (trace,) = [trace for trace in store.traces() if len(trace) == 4]
    calls = list(trace.calls())
    assert len(calls) == 4 and all("op" in call for call in calls)
    assert calls == list(store.calls(trace.trace)) and len(list(trace.calls(where="op=add"))) == 1
    assert repr(trace).startswith(f"<trace {trace.trace[:12]} of models/tiny_cnn/tests/test_cnn.py: 4 calls")


def test_results(store, opwright) -> None:
    assert opwright("--store", store.path, "run", "--quiet", "--op", "add").returncode in (0, 1)
    results = list(store.results())
    assert results and {result.op for result in results} == {"ttnn.add"}
    passed = [one.key for one in store.results(outcome="passed")]
    assert passed == [one.key for one in results if one.outcome == "passed"]
    assert len(store.results()) == len(results) and "2 passed" in repr(store.results())
    sharded = store.results("last", where="sharded")
    assert {one.key for one in sharded} == {one.key for one in store.configs("add", where="sharded")}
    assert results[0].vector and results[0].nobody is None and results[0].repeat.startswith("opwright run --case")
    (run,) = store.runs()
    assert (run.results, run.passed, run.device) == (4, 2, "sim")


def test_what_is_wrong_is_said(store, tmp_path) -> None:
    with pytest.raises(StoreError, match="no store there"):
        package.open(tmp_path / "none.db")
    with pytest.raises(StoreError, match="column 8: expected a value"):
        list(store.configs(where="dtype=="))
    with pytest.raises(StoreError, match="no runs yet"):
        list(store.results())
    (tmp_path / "bad.db").write_text("no store")
    with pytest.raises(StoreError):
        list(package.open(tmp_path / "bad.db").configs())
    with pytest.raises(StoreError, match="0 configurations have a key"):
        store.config("ffff" * 16)
    for ask in (len, list, repr):
        with pytest.raises(StoreError, match=r"no operation 'lineer' in the store; did you mean 'ttnn\.linear'"):
            ask(store.configs("lineer"))


def test_a_store_of_a_later_version(store, tmp_path) -> None:
    database = sqlite3.connect(store.path)
    database.execute("pragma user_version = 999")
    database.commit()
    database.close()
    with pytest.raises(StoreError, match="999"):
        list(store.configs("add"))
    with pytest.raises(StoreError, match="999"):
        repr(store)


def test_the_program_ends_when_nobody_reads_on(store) -> None:
    rows = store._lines("show", "--unsorted")
    next(rows)
    rows.close()  # raises nothing, waits for nothing


def test_values() -> None:
    assert math.isnan(_values.value_of({"float": "nan"}))
    assert str(_values.value_of({"enum": "MathFidelity.LoFi"})) == "MathFidelity.LoFi"
    assert _values.value_of({"dict": {"a": [{"opaque": "T", "text": "x"}]}}) == {"a": [_values.Opaque("T", "x")]}
    with pytest.raises(ValueError, match="a value of a later version: hologram"):
        _values.value_of({"hologram": 1})


def test_every_value_of_the_fixtures_is_understood(opwright, opwright_program, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPWRIGHT_BIN", str(opwright_program))
    masters = sorted((support.FIXTURES / "master").glob("era*.json"))
    opwright("--store", tmp_path / "all.db", "import", "--all-ops", "--include-failed", *masters)
    configs = list(package.open(tmp_path / "all.db").configs())
    assert len(configs) > 40
    for config in configs:
        assert len(config.arguments) == len(config._row["arguments"]) and repr(config)


CALL = """
import sys, ttnn, opwright
device = ttnn.open_device(device_id=0)
for config in opwright.open(sys.argv[1]).configs("ttnn.linear", where="model=tiny-llm-96"):
    tensors = config.tensors(device)
    print("tensors", [str(t.dtype) for t in tensors], [list(t.shape) for t in tensors])
    print("called", list(config.call(device).shape), list(config.call(device, seed=7).shape))
    held = config.tensors(device, seed=7)
    print("memory", [t.memory_config().buffer_type.name for t in held], [t.layout.name for t in held])
    print("torch", [str(t.dtype) for t in config.inputs(7, to="torch")])
ttnn.close_device(device)
"""


def test_a_configuration_is_called(store, opwright, opwright_program, ttnn_python, tmp_path) -> None:
    python = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {"PYTHONPATH": str(python), "OPWRIGHT_BIN": str(opwright_program)}
    done = opwright("mock", "--board", "n150", "--", ttnn_python, "-c", CALL, store.path, env=env)
    assert "tensors ['DataType.BFLOAT16', 'DataType.BFLOAT8_B'] [[1, 1, 32, 96], [96, 384]]" in done.stdout, done.stderr
    assert "called [1, 1, 32, 384] [1, 1, 32, 384]" in done.stdout
    assert "memory ['DRAM', 'DRAM'] ['TILE', 'TILE']" in done.stdout
    assert "torch ['torch.bfloat16', 'torch.float32']" in done.stdout


TAKE_INPUTS = """
import sys
from opwright.device import serve
class Take:
    hello = {"name": "take", "numerics": "exact-model", "board": "n150", "memory": False, "timing": False}
    def do_run(self, request):
        import numpy
        for i in range(2):
            kind, values = request.input(i)
            assert kind == "f32", kind
            numpy.save(f"{sys.argv[1]}/{i}.npy", numpy.frombuffer(values, "<f4"))
        return {"outcome": "ok", "outputs": []}
    def close(self): pass
serve(Take)
"""
SAME_INPUTS = """
import sys, numpy, opwright
config = next(iter(opwright.open(sys.argv[1]).configs("ttnn.linear", where="model=tiny-llm-96")))
ours = config.inputs(seed=7)
theirs = [numpy.load(f"{sys.argv[2]}/{i}.npy") for i in range(len(ours))]
same = all((a == b.reshape(a.shape)).all() for a, b in zip(ours, theirs))
print("same", same, (config.inputs(8)[0] != ours[0]).any())
"""


def test_inputs_are_those_of_run(store, opwright, opwright_program, ttnn_python, tmp_path) -> None:
    """What a device gets for a seed is what `inputs(seed)` gives."""
    python = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    config = next(iter(store.configs("ttnn.linear", where="model=tiny-llm-96")))
    (tmp_path / "take.py").write_text(TAKE_INPUTS)
    device = "exec:" + shlex.join(map(str, [ttnn_python, tmp_path / "take.py", tmp_path]))
    opwright("run", "--case", config.case_line, "--seed", 7, "--device", device)
    env = {**os.environ, "PYTHONPATH": str(python), "OPWRIGHT_BIN": str(opwright_program)}
    command = [ttnn_python, "-c", SAME_INPUTS, store.path, tmp_path]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "same True True\n", done.stderr[-2000:]


def test_pytest_gets_each_configuration(store, tmp_path) -> None:
    mark = package.parametrize("ttnn.add", store=store.path)
    assert mark.name == "parametrize" and mark.args[0] == "config"
    assert [config.key for config in mark.args[1]] == sorted(config.key for config in store.configs("ttnn.add"))
    assert all(name.startswith("add-") for name in mark.kwargs["ids"])
    assert len(set(mark.kwargs["ids"])) == len(mark.args[1])


TEST_FILE = """
import opwright, pytest, ttnn

@pytest.fixture(scope="module")
def device():
    device = ttnn.open_device(device_id=0)
    yield device
    ttnn.close_device(device)

@opwright.parametrize("ttnn.linear", where="model=tiny-llm-96", store="s.db")
def test_linear(config, device):
    assert list(config.call(device, seed=1).shape) == [1, 1, 32, 384]
"""


def test_a_test_of_pytest_calls_each_configuration(store, opwright, opwright_program, ttnn_python, tmp_path) -> None:
    (tmp_path / "test_ops.py").write_text(TEST_FILE)
    python = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {"PYTHONPATH": str(python), "OPWRIGHT_BIN": str(opwright_program)}
    command = [ttnn_python, "-m", "pytest", "-v", "-p", "no:cacheprovider", "test_ops.py"]
    done = opwright("mock", "--board", "n150", "--", *command, env=env)
    assert "test_linear[linear-1x1x32x96_bfloat16-96x384_bfloat8_b-91205aa0139e] PASSED" in done.stdout, done.stdout[
        -2000:
    ]


TABLE = """
import sys, opwright
store = opwright.open(sys.argv[1])
table = store.configs().to_pandas()
assert len(table) == len(store.configs()), len(table)
print(table.groupby(["operation", "in0.dtype"])["calls"].sum().loc["ttnn.linear"].to_dict())
"""


def test_a_table_for_pandas(store, opwright_program, ttnn_python) -> None:
    env = {**os.environ, "PYTHONPATH": str(python_package.SOURCES), "OPWRIGHT_BIN": str(opwright_program)}
    if not python_package.has_module(ttnn_python, "pandas"):
        pytest.skip("no pandas")
    command = [ttnn_python, "-c", TABLE, store.path]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout == "{'BFLOAT16': 9}\n", done.stderr[-2000:]


def test_columns_have_one_type() -> None:
    kinds = [
        (1, 2.5, "float"),
        (1, None, "int"),
        (None, True, "bool"),
        (True, 1, "text"),
        ("x", 1, "text"),
        (2**70, 1, "text"),
    ]
    for one, other, kind in kinds:
        assert parquet._joined(parquet._kind(one), parquet._kind(other)) == kind, (one, other)


READ_PARQUET = """
import sys, pyarrow.parquet
table = pyarrow.parquet.read_table(sys.argv[1])
print(table.num_rows, str(table.schema.field("calls").type), str(table.schema.field("in0.elements").type))
print(table.group_by(["operation"]).aggregate([("calls", "sum")]).filter(
    pyarrow.compute.field("operation") == "ttnn.linear").to_pylist())
"""


def test_parquet(store, opwright, tmp_path) -> None:
    """Needs a Python with pyarrow: ./x test installs it beside ttnn; OPWRIGHT_TEST_PYTHONS names another."""
    python = next(iter(python_package.pythons_with("pyarrow").values()), None)
    if python is None:
        pytest.skip("no Python with pyarrow; OPWRIGHT_TEST_PYTHONS may name one")
    out = tmp_path / "all.parquet"
    done = opwright("--store", store.path, "export", "--to", "parquet", "-o", out, "--python", python)
    assert done.returncode == 0 and f"{len(store.configs())} configurations" in done.stdout, done.stderr
    read = subprocess.run([python, "-c", READ_PARQUET, out], capture_output=True, text=True, timeout=120, check=False)
    assert read.stdout == f"{len(store.configs())} int64 int64\n[{{'operation': 'ttnn.linear', 'calls_sum': 9}}]\n"
    few = opwright(
        "--store", store.path, "export", "--to", "parquet", "-o", out, "--python", python, "--where", "op=add"
    )
    assert "4 configurations" in few.stdout and not list(tmp_path.glob("*.part")), few.stderr


def test_parquet_without_pyarrow(store, opwright, tmp_path) -> None:
    python = Path("/usr/bin/python3")
    if not python.exists() or python_package.has_module(python, "pyarrow"):
        pytest.skip("no Python without pyarrow")
    asked = ("--store", store.path, "export", "--to", "parquet")
    done = opwright(*asked, "-o", tmp_path / "x.parquet", "--python", python)
    assert done.returncode == 3 and f"{python} -m pip install pyarrow" in done.stderr, done.stderr
    assert opwright(*asked).returncode == 2
    assert opwright(*asked, "-o", "x", "--python", "/nobody/python").returncode == 3
    assert opwright("--store", tmp_path / "none.db", *asked[2:], "-o", "x").returncode == 3
    assert opwright(*asked, "-o", "x", "--where", "dtype==").returncode == 2


@pytest.mark.parametrize(
    "module",
    ["store", "config", "results", "parquet", "serialize", "op_replay", "compat.master_config_loader",
     "compat.master_config_loader_v2", "compat.stand_in"],
)  # fmt: skip
def test_it_imports_nothing_of_others(module: str) -> None:
    others = {"ttnn", "torch", "numpy", "pandas", "pyarrow"}
    code = f"import sys, opwright.{module}; sys.exit(bool({others} & set(sys.modules)))"
    env = {"PYTHONPATH": str(Path(python_package.SOURCES))}
    assert subprocess.run([sys.executable, "-c", code], env=env, timeout=60, check=False).returncode == 0
