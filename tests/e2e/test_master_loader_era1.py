"""`opwright.compat.master_config_loader`: era-1 masters, as sweep modules of that era ask for them."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import python_package
import support

sys.path.insert(0, str(python_package.SOURCES))
from opwright.compat import _reflected  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "ttnn_programs"
DRAM = {
    "shard_spec": "std::nullopt",
    "buffer_type": "BufferType::DRAM",
    "memory_layout": "TensorMemoryLayout::INTERLEAVED",
    "nd_shard_spec": "std::nullopt",
    "created_with_nd_shard_spec": 0,
}
SHARDED = {
    **DRAM,
    "buffer_type": "BufferType::L1",
    "memory_layout": "TensorMemoryLayout::HEIGHT_SHARDED",
    "shard_spec": {
        "grid": [{"x": 0, "y": 0}, {"x": 1, "y": 0}],
        "shape": "{32, 64}",
        "orientation": "ShardOrientation::ROW_MAJOR",
    },
}


def tensor(*shape: int, dtype: str = "BFLOAT16", layout: str | None = "TILE", memory: Any = None, **more: Any) -> Any:
    page = {"dtype": f"DataType::{dtype}", "memory_config": memory or DRAM, **more}
    record: dict[str, Any] = {"storage": {}, "tensor_spec": {"logical_shape": list(shape), "tensor_layout": page}}
    if layout:
        record["layout"] = f"Layout::{layout}"
    return {"Tensor": {**record, "storage_type": "StorageType::DEVICE"}}


def arguments(*values: Any) -> list[Any]:
    return [{f"arg{i}": value} for i, value in enumerate(values)]


def master(path: Path, **operations: list[Any]) -> Path:
    entries = {
        f"ttnn::{name}": {"configurations": [{"arguments": one, "source": f"models/{name}.py"} for one in configs]}
        for name, configs in operations.items()
    }
    path.write_text(json.dumps({"operations": entries}))
    return path


def environment(opwright_program: Path) -> dict[str, str]:
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {**os.environ, "PYTHONPATH": str(package), "OPWRIGHT_BIN": str(opwright_program), "LOGURU_LEVEL": "ERROR"}
    env.pop("TTNN_MASTER_JSON_PATH", None)
    return env


@pytest.fixture
def load(opwright_program, ttnn_python, tmp_path):
    def run(*masters: Path) -> list[dict[str, Any]]:
        command = [ttnn_python, PROGRAMS / "load_era1.py", tmp_path / "loaded.json", *masters]
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment(opwright_program), timeout=240
        )
        assert done.returncode == 0, done.stderr[-3000:]
        loaded: list[dict[str, Any]] = json.loads((tmp_path / "loaded.json").read_text())
        return loaded

    return run


@pytest.fixture
def python_of_ttnn(opwright_program, ttnn_python, tmp_path):
    def run(*arguments: Any) -> Any:
        command = [ttnn_python, *map(str, arguments)]
        return subprocess.run(
            command, capture_output=True, text=True, cwd=tmp_path, env=environment(opwright_program), timeout=240
        )

    return run


def rows_of(loaded: dict[str, Any], operation: str) -> list[dict[str, Any]]:
    found = loaded["operations"][f"ttnn::{operation}"]
    return [dict(zip(found["names"], row, strict=True)) for row in found["rows"]]


# ------------------------------------------------------------------------------------------------ values as text of C++


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"arg2": {"MeshDevice":{ptr}}}', {"arg2": {"MeshDevice": "ptr"}}),
        ('{"arg9": "ttnn.{"x":8, "y":8}"}', {"arg9": 'ttnn.{"x":8, "y":8}'}),
        ('{"arg8": ""silu""}', {"arg8": "silu"}),
        ('{"g":[{"x":0,"y":0} - {"x":7,"y":7}]}', {"g": [{"x": 0, "y": 0}, {"x": 7, "y": 7}]}),
        ('{"g":{[{"x":0} - {"x":7}], [{"x":8} - {"x":9}]}}', {"g": [[{"x": 0}, {"x": 7}], [{"x": 8}, {"x": 9}]]}),
        ('{"c":8,8, "q":64}', {"c": [8, 8], "q": 64}),
        ('{"a":Unary<float>{"op":"GELU"},"b":1e-05}', {"a": {"Unary<float>": {"op": "GELU"}}, "b": 1e-05}),
        ('{"s":"{32, 32}","t":StorageType::DEVICE}', {"s": "{32, 32}", "t": "StorageType::DEVICE"}),
        ("{}", {}),
    ],
)
def test_texts_of_cpp(text: str, value: Any) -> None:
    assert _reflected.parse(text) == value


@pytest.mark.parametrize("text", ["", "{", '{"a"', '{"a":}', '{"a":1}}', "[" * 5000, '"x', '{"a":1 "b":2}'])
def test_texts_that_are_none(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        _reflected.parse(text)


# ------------------------------------------------------------------------------------------------------ keys and values


def test_keys_are_those_of_the_existing_loader(load, tmp_path) -> None:
    """Names, and their order, of docs/formats/master-loader.md."""
    one, two = tensor(1, 1, 32, 64), tensor(1, 1, 32, 64, dtype="BFLOAT8_B")
    path = master(
        tmp_path / "m.json",
        relu=[arguments(one, "nullopt")],
        add=[arguments(one, two, "nullopt", {"MemoryConfig": SHARDED}), arguments(one, "2.5")],
        where=[arguments(one, two, one)],
        transpose=[arguments(one, "-2", "3", "nullopt")],
        linear=[arguments(one, tensor(64, 96, dtype="BFLOAT4_B"), tensor(1, 96), "0", "1", {"MemoryConfig": DRAM})],
        embedding=[arguments(tensor(1, 32, dtype="UINT32", layout="ROW_MAJOR"), tensor(128, 64))],
        concat=[arguments(str([one["Tensor"], two["Tensor"]]), "3", "nullopt")],
    )
    (loaded,) = load(path)
    assert loaded["skipped"] == []
    names = {operation.rpartition(":")[2]: found["names"] for operation, found in loaded["operations"].items()}
    specs = ["input_a_dtype", "input_a_layout", "input_a_memory_config"]
    metadata = ["traced_source", "traced_machine_info", "config_id"]
    unary = ["input_shape", *specs, "output_memory_config", "storage_type", *metadata]
    assert names["relu"] == unary
    assert names["transpose"] == [*unary, "dim0", "dim1"]
    pairs = [f"input_{one}_{part}" for part in ("dtype", "layout", "memory_config") for one in "ab"]
    assert names["add"] == ["input_shape", *pairs, "output_memory_config", "scalar", *metadata]
    triples = [f"input_{one}_{part}" for one in "abc" for part in ("dtype", "layout", "memory_config")]
    assert names["where"] == ["input_shape", *triples, *metadata]
    shapes = ["input_shape", "weight_shape", "bias_shape"]
    flags = ["transpose_a", "transpose_b", "has_bias"]
    assert names["linear"] == [*shapes, *pairs, "output_memory_config", *flags, *metadata]
    assert names["embedding"][:4] == ["embedding_args", "input_dtype", "weight_dtype", "output_dtype"]
    assert names["embedding"][-2:] == metadata[:2]
    assert names["concat"][:2] == ["input_shape", "dim"] and names["concat"][-1] == "traced_source"

    add, scaled = rows_of(loaded, "add")
    assert [add[f"input_{one}_dtype"]["name"] for one in "ab"] == ["BFLOAT16", "BFLOAT8_B"]
    assert add["output_memory_config"]["shard_spec"]["grid"] == [[0, 0, 1, 0]]
    assert (scaled["scalar"], scaled["input_b_dtype"], scaled["input_shape"]["other"]) == (2.5, None, None)
    (linear,) = rows_of(loaded, "linear")
    assert linear["input_b_dtype"]["name"] == "BFLOAT4_B"
    assert (linear["has_bias"], linear["transpose_b"], linear["bias_shape"]["items"]) == (True, True, [1, 96])
    (embedding,) = rows_of(loaded, "embedding")
    assert embedding["embedding_args"]["items"] == [1, 32, 64, 128] and embedding["input_dtype"]["name"] == "UINT32"


def test_a_layout_is_read_from_the_alignment_where_it_is_not_said(load, tmp_path) -> None:
    cases = [
        tensor(1, 1, 64, 64, layout=None, alignment=[32, 32]),
        tensor(1, 1, 64, 64, layout=None, alignment=[64]),
        tensor(1, 1, 64, 64, layout=None, alignment=[32, 1280]),
        tensor(1, 1, 64, 64, layout=None, alignment=[32, 64], memory=SHARDED),
        tensor(1, 1, 64, 64, layout=None),
    ]
    (loaded,) = load(master(tmp_path / "m.json", relu=[arguments(one) for one in cases]))
    assert [row["input_a_layout"]["name"] for row in rows_of(loaded, "relu")] == ["TILE", "ROW_MAJOR", "TILE"]
    assert [which for _, which, _ in loaded["skipped"]] == ["config_3", "config_4"]


LOST: list[tuple[Any, str]] = [
    (arguments(tensor(1, 32, dtype="NEW_ONE")), "is no DataType"),
    (arguments(tensor(1, 32, memory={**SHARDED, "shard_spec": {"shape": "{1, 2}"}})), "lost the grid, orientation"),
    (arguments("nullopt", "2"), "no tensor"),
    ([{"UnparsedElement": {"element_info": "{"}}], "cannot be read"),
    (["text"], "is no argument"),
    ({"not": "a list"}, "are a list"),
    (arguments({"Tensor": None}), "no tensor"),
]


def test_what_cannot_be_made_is_named(load, tmp_path) -> None:
    (loaded,) = load(master(tmp_path / "m.json", relu=[arguments(tensor(1, 32)), *(one for one, _ in LOST)]))
    assert len(rows_of(loaded, "relu")) == 1
    reasons = {which: reason for _, which, reason in loaded["skipped"]}
    assert len(reasons) == len(LOST)
    for i, (_, reason) in enumerate(LOST, 1):
        assert reason in reasons[f"config_{i}"], reasons


# -------------------------------------------------------------------------------------------------------- sweep modules

FIRST_FORM = """
import sys, torch, ttnn
from opwright.compat.master_config_loader import MasterConfigLoader, unpack_binary_traced_config, unpack_traced_config
MasterConfigLoader.set_master_file_path(sys.argv[1])
loader = MasterConfigLoader()
unary = {"model_traced": loader.get_suite_parameters("relu", all_cases=False)}
binary = {"model_traced": loader.get_suite_parameters("add")}

def make(shape, dtype, layout, memory, device):
    return ttnn.from_torch(torch.rand(shape), dtype=dtype, layout=layout, device=device, memory_config=memory)

def run(input_shape=None, input_a_dtype=None, input_a_layout=None, input_a_memory_config=None,
        output_memory_config=None, traced_config_name=None, *, device):
    if traced_config_name:
        input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config = (
            unpack_traced_config(traced_config_name))
    tensor = make(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return ttnn.relu(tensor, memory_config=output_memory_config)

def run_binary(input_shape=None, input_a_dtype=None, input_b_dtype=None, input_a_layout=None, input_b_layout=None,
               input_a_memory_config=None, input_b_memory_config=None, traced_config_name=None, *, device):
    if traced_config_name:
        (input_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout, input_a_memory_config,
         input_b_memory_config) = unpack_binary_traced_config(traced_config_name)
    return ttnn.add(make(input_shape["self"], input_a_dtype, input_a_layout, input_a_memory_config, device),
                    make(input_shape["other"], input_b_dtype, input_b_layout, input_b_memory_config, device))

assert unpack_traced_config("relu_traced_99") == (None,) * 5
assert unpack_traced_config("add_traced_0") == (None,) * 5
assert unpack_traced_config("none_traced_0", use_defaults=True)[0] == [1, 32, 32]
assert unpack_binary_traced_config("relu_traced_0") == (None,) * 7
"""

LAST_FORM = """
import sys, torch, ttnn
from opwright.compat.master_config_loader import MasterConfigLoader
MasterConfigLoader.set_master_file_path(sys.argv[1])
loader = MasterConfigLoader()
unary = {"model_traced": loader.get_suite_parameters("relu", all_cases=False)}
binary = {"model_traced": loader.get_suite_parameters("add", all_cases=False)}
every = loader.get_suite_parameters("relu", all_cases=True)
assert len(every["input_shape"]) == 2 and "traced_source" not in every, every

def make(shape, dtype, layout, memory, device):
    return ttnn.from_torch(torch.rand(shape), dtype=dtype, layout=layout, device=device, memory_config=memory)

def run(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config,
        storage_type="StorageType::DEVICE", *, device, **kwargs):
    assert storage_type == "StorageType::DEVICE" and kwargs["traced_source"] == "models/relu.py"
    tensor = make(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return ttnn.relu(tensor, memory_config=output_memory_config)

def run_binary(input_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout, input_a_memory_config,
               input_b_memory_config, output_memory_config, scalar=None, *, device, **kwargs):
    first = make(input_shape["self"], input_a_dtype, input_a_layout, input_a_memory_config, device)
    other = scalar
    if input_shape["other"] is not None:
        other = make(input_shape["other"], input_b_dtype, input_b_layout, input_b_memory_config, device)
    return ttnn.add(first, other, memory_config=output_memory_config)
"""

RUN = """
def vectors(suite):
    # As the existing generator permutes: a key with commas is split, its tuples zipped.
    import itertools
    columns = [[dict(zip(names.split(","), row)) if "," in names else {names: row} for row in rows]
               for names, rows in suite.items()]
    for parts in itertools.product(*columns):
        yield {name: value for part in parts for name, value in part.items()}

device = ttnn.open_device(device_id=0)
for suite, function in ((unary, run), (binary, run_binary)):
    for vector in vectors(suite["model_traced"]):
        out = function(**vector, device=device)
        print("ran", function.__name__, list(out.shape), out.dtype.name, out.memory_config().memory_layout.name)
ttnn.close_device(device)
"""


@pytest.mark.parametrize("form", ["first", "last"])
def test_a_sweep_module_runs_over_it(opwright, opwright_program, ttnn_python, tmp_path, form: str) -> None:
    one = tensor(1, 1, 64, 64)
    path = master(
        tmp_path / "m.json",
        relu=[arguments(one, {"MemoryConfig": SHARDED}), arguments(tensor(1, 1, 32, 64, dtype="BFLOAT8_B"))],
        add=[arguments(one, one)] + ([arguments(one, "2")] if form == "last" else []),
    )
    (tmp_path / "module.py").write_text((FIRST_FORM if form == "first" else LAST_FORM) + RUN)
    program = [ttnn_python, tmp_path / "module.py", path]
    env = {"PYTHONPATH": environment(opwright_program)["PYTHONPATH"]}
    done = opwright("mock", "--board", "n150", "--", *program, env=env)
    ran = [line for line in done.stdout.splitlines() if line.startswith("ran")]
    assert ran[:2] == [
        "ran run [1, 1, 64, 64] BFLOAT16 HEIGHT_SHARDED",
        "ran run [1, 1, 32, 64] BFLOAT8_B INTERLEAVED",
    ], done.stdout + done.stderr[-3000:]
    assert set(ran[2:]) == {"ran run_binary [1, 1, 64, 64] BFLOAT16 INTERLEAVED"}
    assert len(ran) == (3 if form == "first" else 4)


# -------------------------------------------------------------------------------------------------------- real masters

#: Arguments that hold the tensors a, b, c, … of operations with a key of their own.
POSITIONS = {
    "embedding": (0, 1), "linear": (0, 1), "paged_scaled_dot_product_attention_decode": (0, 1, 2, 3, 6),
    "scaled_dot_product_attention_decode": (0, 1, 2, 6), "paged_update_cache": (0, 1, 3, 5), "update_cache": (0, 1),
    "scale_mask_softmax_in_place": (0, 2),
}  # fmt: skip


def recorded_tensors(configuration: Any) -> dict[str, Any]:
    """Tensors by argument, of those that the master's writer could parse."""
    found = {}
    for one in configuration["arguments"] if isinstance(configuration, dict) else configuration:
        for name, value in one.items():
            if isinstance(value, dict) and isinstance(value.get("Tensor"), dict):
                found[name] = value["Tensor"]
    return found


def expected(operation: str, tensors: dict[str, Any], count: int) -> list[Any]:
    if operation in POSITIONS:
        return [tensors.get(f"arg{i}") for i in POSITIONS[operation][:count]]
    return list(tensors.values())[:count]


def slots_of(row: dict[str, Any]) -> list[tuple[Any, Any, Any]]:
    """(dtype, layout, memory config) of each tensor of a row."""
    prefixes = [f"input_{one}" for one in "abcdefgh" if f"input_{one}_dtype" in row]
    prefixes = prefixes or [name for name in ("input", "weight") if f"{name}_dtype" in row]
    return [(row[f"{one}_dtype"], row[f"{one}_layout"], row[f"{one}_memory_config"]) for one in prefixes]


def check(slot: tuple[Any, Any, Any], recorded: dict[str, Any]) -> None:
    dtype, layout, memory = slot
    page = recorded["tensor_spec"]["tensor_layout"]
    assert page["dtype"] == f"DataType::{dtype['name']}"
    assert recorded.get("layout") in (None, f"Layout::{layout['name']}")
    said = page["memory_config"]
    assert said["memory_layout"] == f"TensorMemoryLayout::{memory['memory_layout']}"
    assert said["buffer_type"] == f"BufferType::{memory['buffer_type']}"
    if isinstance(said["shard_spec"], dict) and not said.get("created_with_nd_shard_spec"):
        shard = memory["shard_spec"]
        numbers = [int(n) for n in str(said["shard_spec"]["shape"]).strip("[]{}").split(",")]
        assert shard["shape"] == numbers
        grid = said["shard_spec"]["grid"]
        grid = [grid] if isinstance(grid[0], dict) and "x" in grid[0] else grid
        corners = [list(one.values()) if isinstance(one, dict) else one for one in grid]
        assert shard["grid"] == [[a["x"], a["y"], b["x"], b["y"]] for a, b in (sorted_ends(one) for one in corners)]


def sorted_ends(ends: list[dict[str, int]]) -> list[dict[str, int]]:
    return sorted(ends, key=lambda end: (end["x"], end["y"]))


def is_wrong_in_theirs(operation: str, names: list[str], dtype: str) -> bool:
    """By the rules of the existing loader (January 2026): operations with two tensors at the front parse a dtype that
    is parsed already, linear drops them, and BFLOAT4_B and UINT8 are not known: all become bfloat16."""
    binary = names[:3] == ["input_shape", "input_a_dtype", "input_b_dtype"]
    if binary or operation == "linear":
        return dtype != "BFLOAT16"
    return dtype in ("BFLOAT4_B", "UINT8")


def test_a_real_master(load, real_data, capsys) -> None:
    path = real_data / "ttnn" / "era1" / "ttnn_operations_master_2025-12-31_from_db.json"
    (loaded,) = load(path)
    slots, wrong, rows = 0, collections.Counter(), 0
    skipped = collections.defaultdict(set)
    for operation, which, _ in loaded["skipped"]:
        skipped[operation].add(int(which.removeprefix("config_")))
    for operation, entry in json.loads(path.read_text())["operations"].items():
        kept = [one for i, one in enumerate(entry["configurations"]) if i not in skipped[operation]]
        found = loaded["operations"][operation]
        assert len(found["rows"]) == len(kept), operation
        name = operation.rpartition(":")[2]
        for configuration, values in zip(kept, found["rows"], strict=True):
            rows += 1
            row = dict(zip(found["names"], values, strict=True))
            made = [slot for slot in slots_of(row) if slot[0] is not None]
            if name == "concat":
                continue
            recorded = [one for one in expected(name, recorded_tensors(configuration), 8) if one][: len(made)]
            if len(recorded) < len(made):
                continue  # a tensor that its writer could not parse
            for slot, one in zip(made, recorded, strict=True):
                check(slot, one)
                slots += 1
                wrong[name] += is_wrong_in_theirs(name, found["names"], slot[0]["name"])
    with capsys.disabled():
        print(f"\n{rows} rows, {slots} tensors as traced; {sum(wrong.values())} dtypes wrong in the existing loader")
    assert rows + len(loaded["skipped"]) == 5213 and rows > 5090
    # As measured with the existing loader itself; 78 of multiply there: of one it takes the output for an operand.
    assert [wrong[name] for name in ("add", "multiply", "matmul", "linear")] == [123, 77, 53, 590]
    assert (slots, sum(wrong.values())) == (8168, 879), wrong


def test_other_real_masters(load, real_data) -> None:
    names = ("2025-10-16", "2025-11-10", "2025-11-11", "2025-11-20", "2025-12-17_selftest")
    paths = [real_data / "ttnn" / "era1" / f"ttnn_operations_master_{name}.json" for name in names]
    for path, loaded in zip(paths, load(*paths), strict=True):
        count = sum(len(entry["configurations"]) for entry in json.loads(path.read_text())["operations"].values())
        rows = sum(len(found["rows"]) for found in loaded["operations"].values())
        assert rows + len(loaded["skipped"]) == count, path
        # Those of October have lost lists (their type is all that is left) and layouts.
        for _, _, why in loaded["skipped"]:
            assert any(text in why for text in ("only the type of", "layout", "padding [", "list of tensors")), why


def test_a_store_is_as_good_as_its_master(load, opwright, tmp_path) -> None:
    masters = [support.FIXTURES / "master" / f"era1_{variant}.json" for variant in ("1a", "1c", "1d")]
    stores = [tmp_path / f"{path.stem}.db" for path in masters]
    for path, store in zip(masters, stores, strict=True):
        assert opwright("--store", store, "import", "--all-ops", path).returncode == 0
    loaded = load(*masters, *stores)
    for of_master, of_store in zip(loaded[:3], loaded[3:], strict=True):
        assert of_store["operations"].keys() == of_master["operations"].keys()
        for operation in of_master["operations"]:
            name = operation.removeprefix("ttnn::")
            ours = {json.dumps(slots_of(row)) for row in rows_of(of_store, name)}
            assert ours == {json.dumps(slots_of(row)) for row in rows_of(of_master, name)}, operation


def test_the_other_era(python_of_ttnn, tmp_path) -> None:
    """Each loader takes masters of both eras, and then speaks as the loader of that era."""
    old = master(tmp_path / "old.json", relu=[arguments(tensor(1, 1, 32, 64), {"MemoryConfig": SHARDED})])
    new = support.FIXTURES / "master" / "era2_g5.json"
    code = """
import sys, ttnn
from opwright.compat import master_config_loader as v1, master_config_loader_v2 as v2
((names, rows),) = v2.MasterConfigLoader(sys.argv[1]).get_suite_parameters("relu").items()
row = dict(zip(names.split(","), rows[0]))
print(row["input_a_shape"], row["input_a_dtype"].name, row["output_memory_config"].memory_layout.name)
assert v1.MasterConfigLoader(sys.argv[2]).get_suite_parameters("add").keys() == (
    v2.MasterConfigLoader(sys.argv[2]).get_suite_parameters("add").keys())
"""
    done = python_of_ttnn("-c", code, old, new)
    assert "(1, 1, 32, 64) BFLOAT16 HEIGHT_SHARDED" in done.stdout, done.stderr[-2000:]


def test_damage_costs_what_is_damaged(python_of_ttnn, tmp_path) -> None:
    masters = [support.FIXTURES / "master" / f"{name}.json" for name in ("era1_1a", "era1_1c", "era1_1d", "era2_g5")]
    done = python_of_ttnn(PROGRAMS / "load_damaged.py", tmp_path, *masters)
    assert done.returncode == 0 and int(done.stdout.split()[-1]) > 1000, done.stdout[-500:] + done.stderr[-2000:]
