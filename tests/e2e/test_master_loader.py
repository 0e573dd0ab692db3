"""`opwright.compat.master_config_loader_v2`: what a master says, and nothing else, as parameters of sweep modules."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import support

PROGRAMS = Path(__file__).resolve().parent / "ttnn_programs"
MASTERS = support.FIXTURES / "master"


@pytest.fixture
def python(opwright_program, ttnn_python, tmp_path) -> Callable[..., Any]:
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {**os.environ, "PYTHONPATH": str(package), "OPWRIGHT_BIN": str(opwright_program), "LOGURU_LEVEL": "ERROR"}
    env["PATH"] = f"{opwright_program.parent}:{env['PATH']}"
    for name in ("TTNN_MASTER_JSON_PATH", "TTNN_LEAD_MODELS_ONLY", "TT_METAL_HOME"):
        env.pop(name, None)

    def run(*arguments: Any, **more: str) -> Any:
        command = [ttnn_python, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env={**env, **more}, timeout=240)

    return run


@pytest.fixture
def load(python, tmp_path) -> Callable[[Path], dict[str, Any]]:
    def run(master: Path) -> dict[str, Any]:
        done = python(PROGRAMS / "load_master.py", master, tmp_path / "loaded.json")
        assert done.returncode == 0, done.stderr[-3000:]
        loaded: dict[str, Any] = json.loads((tmp_path / "loaded.json").read_text())
        return loaded

    return run


def tensors_of(arguments: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Tensors of a configuration by the names that the loader gives them, without the loader's help."""
    named = {name: one for name, one in arguments.items() if isinstance(one, dict) and one.get("type") == "ttnn.Tensor"}
    positions = [name for name in named if name.startswith("arg") and name[3:].isdigit()]
    positions.sort(key=lambda name: int(name[3:]))
    letters = dict(zip(positions, "abcdefghijklmnop", strict=False))
    return {f"input_{letters[name]}" if name in letters else name: value for name, value in named.items()}


def check_against_master(master: Path, loaded: dict[str, Any]) -> int:
    """Every slot of every tensor; how many there were."""
    slots = 0
    for operation, entry in json.loads(master.read_text())["operations"].items():
        expected = [config for config in entry["configurations"] for _ in config["executions"]]
        columns = loaded["parameters"][operation]
        assert len(columns["config_hash"]) == len(expected)
        for i, config in enumerate(expected):
            assert columns["config_hash"][i] == config.get("config_hash")
            for name, tensor in tensors_of(config["arguments"]).items():
                slots += check_tensor({key: values[i] for key, values in columns.items()}, name, tensor)
    return slots


def check_tensor(row: dict[str, Any], name: str, tensor: dict[str, Any]) -> int:
    assert row[f"{name}_shape"] == {"__type__": "tuple", "items": tensor["original_shape"]}
    assert row[f"{name}_dtype"]["name"] == tensor["original_dtype"].rpartition(".")[2]
    assert row[f"{name}_layout"]["name"] == tensor["layout"].rpartition(".")[2]
    assert row[f"{name}_tensor_placement"] == tensor.get("tensor_placement")
    memory, made = tensor.get("memory_config"), row[f"{name}_memory_config"]
    if memory is None:
        assert made is None
        return 4
    assert made["memory_layout"] == memory["memory_layout"].rpartition(".")[2]
    assert made["buffer_type"] == memory["buffer_type"].rpartition(".")[2]
    if (shard := memory.get("shard_spec")) is not None:
        grid = [[one["start"]["x"], one["start"]["y"], one["end"]["x"], one["end"]["y"]] for one in shard["grid"]]
        assert made["shard_spec"] == {"shape": shard["shape"], "grid": grid, "orientation": shard["orientation"]}
    return 5


@pytest.mark.parametrize("name", ["master/era2_g3.json", "master/era2_g5.json", "demo/tiny_llm.json"])
def test_parameters_are_what_the_master_says(load, name: str) -> None:
    loaded = load(support.FIXTURES / name)
    assert check_against_master(support.FIXTURES / name, loaded) >= 5
    assert loaded["skipped"] == []


def test_a_real_master(load, real_data) -> None:
    master = real_data / "ttnn" / "era2" / "ttnn_operations_master_2026-05-10_llama_n300.json"
    loaded = load(master)
    assert check_against_master(master, loaded) > 5000
    assert loaded["skipped"] == [] and loaded["configs"] == {"made": 136, "lost": []}


def test_a_store_is_as_good_as_its_master(load, opwright, tmp_path) -> None:
    master = MASTERS / "era2_g5.json"
    assert opwright("--store", tmp_path / "s.db", "import", "--all-ops", master).returncode == 0
    of_store, of_master = load(tmp_path / "s.db"), load(master)
    assert of_store["parameters"].keys() == of_master["parameters"].keys()
    for operation, columns in of_master["parameters"].items():
        others = of_store["parameters"][operation]
        shapes = [name for name in columns if name.endswith(("_shape", "_dtype", "_layout", "_memory_config"))]
        for name in shapes:
            assert sorted(map(json.dumps, others[name])) == sorted(map(json.dumps, columns[name])), name


def write_master(path: Path, **tensor: Any) -> Path:
    memory = {"buffer_type": "BufferType.DRAM", "memory_layout": "TensorMemoryLayout.INTERLEAVED", "shard_spec": None}
    good = {
        "type": "ttnn.Tensor",
        "original_shape": [1, 1, 32, 32],
        "original_dtype": "DataType.BFLOAT16",
        "layout": "Layout.TILE",
        "storage_type": "StorageType.DEVICE",
        "memory_config": memory,
    }

    def config(arg0: Any, number: int, mesh: list[int]) -> dict[str, Any]:
        runs = [{"source": f"models/m{number}.py", "machine_info": {"mesh_device_shape": mesh}, "count": 1}]
        return {"arguments": {"arg0": arg0, "dim": number or None}, "config_hash": f"h{number}", "executions": runs}

    configs = [config(good, 0, [1, 1]), config({**good, **tensor}, 1, [1, 2])]
    del configs[0]["arguments"]["dim"]
    path.write_text(json.dumps({"operations": {"ttnn.softmax": {"configurations": configs}}}))
    return path


@pytest.mark.parametrize(
    ("lost", "reason"),
    [
        ({"original_dtype": "DataType.NEW_ONE"}, "'DATATYPE.NEW_ONE' is no DataType"),
        ({"layout": "Layout.SPIRAL"}, "is no Layout"),
        ({"layout": None}, "None is no Layout"),
        ({"original_shape": None}, "input_a has no shape"),
        ({"memory_config": {"buffer_type": "BufferType.TAPE", "memory_layout": "x"}}, "is no"),
        (
            {"memory_config": {"buffer_type": "L1", "memory_layout": "BLOCK_SHARDED", "shard_spec": {"shape": [1, 2]}}},
            "a shard spec of which the trace lost the grid, orientation",
        ),
    ],
    ids=str,
)
def test_what_cannot_be_made_is_named_not_replaced(load, tmp_path, lost, reason) -> None:
    loaded = load(write_master(tmp_path / "master.json", **lost))
    assert loaded["parameters"]["ttnn.softmax"]["config_hash"] == ["h0"]
    ((operation, which, why),) = loaded["skipped"]
    assert (operation, which) == ("ttnn.softmax", "h1") and reason in why


MODULE = """
import sys, ttnn
from opwright.compat.master_config_loader_v2 import MasterConfigLoader, lead_models_filter
MasterConfigLoader.set_master_file_path(sys.argv[1])
{settings}
loader = MasterConfigLoader()
for asked in ("softmax", "ttnn.softmax", "ttnn::softmax"):
    parameters = loader.get_suite_parameters(asked, all_cases=False)
    ((names, rows),) = list(parameters.items())[:1]
    print(names, [row[names.split(",").index("config_hash")] if "config_hash" in names else row for row in rows])
print([row[names.split(",").index("dim")] for row in rows] if "dim" in names.split(",") else "absent")
"""


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("", "['h0', 'h1']"),
        ("MasterConfigLoader.set_mesh_filter((1, 2))", "['h1']"),
        ("MasterConfigLoader.set_lead_models(['M0']); MasterConfigLoader.set_lead_models_filter(True)", "['h0']"),
    ],
)
def test_a_module_asks(python, tmp_path, settings: str, expected: str) -> None:
    write_master(tmp_path / "master.json")
    done = python("-c", MODULE.format(settings=settings), tmp_path / "master.json")
    assert done.returncode == 0, done.stderr[-2000:]
    *lines, first = done.stdout.strip().splitlines()
    assert len(lines) == 3 and all(line.endswith(expected) for line in lines), done.stdout
    assert lines[0].startswith("input_a_shape,input_a_dtype,") or lines[0].startswith("dim,input_a_shape,")
    assert first == {"['h0', 'h1']": "['__ABSENT__', 1]", "['h1']": "[1]"}.get(expected, "absent"), done.stdout


@pytest.mark.parametrize("text", ["", "{", "[]", '{"operations": []}', "\xff\xfe", "[" * 100_000])
def test_a_damaged_master_is_no_empty_one(python, tmp_path, text: str) -> None:
    master = tmp_path / "master.json"
    master.write_text(text, encoding="latin-1")
    done = python("-c", MODULE.format(settings=""), master)
    assert done.returncode != 0 and "no master JSON" in done.stderr


def test_no_master_is_told(python, tmp_path) -> None:
    code = MODULE.format(settings="MasterConfigLoader.set_master_file_path(None)")
    done = python("-c", code, "none")
    assert "no master JSON: pass its path" in done.stderr


RUN = """
import sys, torch, ttnn
from opwright.compat.master_config_loader_v2 import MasterConfigLoader
parameters = {"model_traced": MasterConfigLoader(sys.argv[1]).get_suite_parameters("softmax")}

def run(input_a_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, dim=None, *, device,
        **kwargs):
    tensor = ttnn.from_torch(torch.rand(input_a_shape), dtype=input_a_dtype, layout=input_a_layout, device=device,
                             memory_config=input_a_memory_config)
    dim = -1 if dim in (None, "__ABSENT__") else dim
    return list(ttnn.softmax(tensor, dim=dim, memory_config=output_memory_config).shape)

device = ttnn.open_device(device_id=0)
for names, rows in parameters["model_traced"].items():
    for row in rows:
        print("ran", run(**dict(zip(names.split(","), row)), device=device))
ttnn.close_device(device)
"""


def test_a_sweep_module_runs_over_it(opwright, opwright_program, ttnn_python, tmp_path) -> None:
    write_master(tmp_path / "master.json")
    (tmp_path / "module.py").write_text(RUN)
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    program = [ttnn_python, tmp_path / "module.py", tmp_path / "master.json"]
    done = opwright("mock", "--board", "n150", "--", *program, env={"PYTHONPATH": str(package)})
    assert done.stdout.count("ran [1, 1, 32, 32]") == 2, done.stdout + done.stderr[-2000:]


@pytest.mark.slow
def test_modules_run_over_a_real_master(opwright, opwright_program, ttnn_python, real_data) -> None:
    """Every configuration of a Llama model, by modules that import the existing loader's names."""
    master = real_data / "ttnn" / "era2" / "ttnn_operations_master_2026-05-10_llama_n300.json"
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    program = [ttnn_python, PROGRAMS / "sweep_real_master.py", master]
    done = opwright("mock", "--board", "n300", "--", *program, env={"PYTHONPATH": str(package)})
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert {name: ran for name, (ran, _, _) in report.items()} == {name: rows for name, (_, rows, _) in report.items()}
    assert report["linear"][:2] == [40, 40] and report["add"][:2] == [39, 39], done.stderr[-2000:]


def test_modules_share_what_was_read(python, tmp_path) -> None:
    """A hundred modules have a loader each; a master that changed is read again."""
    master = write_master(tmp_path / "master.json")
    code = """
import os, sys, ttnn
from opwright.compat.master_config_loader_v2 import MasterConfigLoader
first, second = MasterConfigLoader(sys.argv[1]), MasterConfigLoader(sys.argv[1])
print(first._load() is second._load())
os.utime(sys.argv[1], ns=(1, 1))
print(MasterConfigLoader(sys.argv[1])._load() is first._load())
"""
    assert python("-c", code, master).stdout.split() == ["True", "False"]
