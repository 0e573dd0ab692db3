"""Test vectors: `vectors`, its suites and files, `export --to vectors`."""

import csv
import json
import shutil
from pathlib import Path

import pytest
import support

MASTERS = support.FIXTURES / "master"
SUITES = support.FIXTURES / "vectors" / "suites.yaml"
FOREIGN = support.FIXTURES / "vectors" / "model_traced.interleaved_to_sharded_model_traced.mesh_1x2.json"
BOARD = {"board_type": "Wormhole", "device_series": "n300", "card_count": 1}


def tensor(*shape: int, dtype: str = "BFLOAT16", buffer: str = "DRAM") -> dict:
    memory = {
        "buffer_type": f"BufferType.{buffer}",
        "hash": 12345678901234567890,
        "interleaved": True,
        "is_sharded": False,
        "memory_layout": "TensorMemoryLayout.INTERLEAVED",
        "shard_spec": None,
    }
    return {
        "type": "ttnn.Tensor",
        "layout": "Layout.TILE",
        "memory_config": memory,
        "original_dtype": f"DataType.{dtype}",
        "original_shape": list(shape),
        "storage_type": "StorageType.DEVICE",
    }


def master(folder: Path, operations: dict[str, list[dict]], name: str = "master.json", **machine: object) -> Path:
    """An era-2 master; each configuration was seen once, on one machine."""
    number = 0
    out: dict = {"operations": {}, "metadata": {"models": ["models/demos/a.py"]}}
    for op, calls in operations.items():
        configurations = []
        for arguments in calls:
            number += 1
            execution = {"source": "models/demos/a.py", "machine_info": {**BOARD, **machine}, "count": 2, "trace_uid": name}
            configurations.append(
                {"config_id": number, "config_hash": f"{number:064x}", "arguments": arguments, "executions": [execution]}
            )
        out["operations"][op] = {"configurations": configurations}
    path = folder / name
    path.write_text(json.dumps(out))
    return path


ADDS = [
    {"arg0": tensor(1, 1, 32, 32), "arg1": tensor(1, 1, 32, 32)},
    {"arg0": tensor(1, 1, 64, 32), "arg1": tensor(1, 1, 1, 32, dtype="FLOAT32"), "dtype": {"type": "DataType", "repr": "DataType.FLOAT32"}},
    {"arg0": tensor(1, 1, 64, 32), "arg1": 2.0, "memory_config": tensor(1, buffer="L1")["memory_config"]},
]


@pytest.fixture
def store(opwright, tmp_path: Path) -> Path:
    path = master(tmp_path, {"ttnn.add": ADDS, "ttnn.relu": [{"arg0": tensor(32, n)} for n in (32, 64, 96, 128)]}, mesh_device_shape=[1, 2])
    result = opwright("import", path)
    assert result.returncode == 0, result.stderr
    return tmp_path


def vectors(opwright, *arguments: object) -> dict:
    result = opwright("--format", "json", "vectors", *arguments)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def lines(opwright, *arguments: object) -> list[dict]:
    result = opwright("--format", "jsonl", "vectors", *arguments)
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_model_traced_is_what_was_recorded(opwright, store) -> None:
    report = vectors(opwright)
    assert report["vectors"] == report["valid"] == 7 and report["invalid"] == {}
    assert [(one["operation"], one["vectors"]) for one in report["operations"]] == [("ttnn.add", 3), ("ttnn.relu", 4)]
    all_lines = lines(opwright)
    assert [(one["operation"], one["key"]) for one in all_lines] == sorted((one["operation"], one["key"]) for one in all_lines)
    assert all(one["calls"] == 2 and one["mesh"] == "1x2" and one["machine"] == "Wormhole n300 x1" for one in all_lines)
    assert len(lines(opwright, "--op", "relu")) == 4
    assert len(lines(opwright, "--where", "dtype=float32")) == 1


def test_order_is_the_same_and_shuffles_by_seed(opwright, store) -> None:
    ids = [[one["id"] for one in lines(opwright, "--randomize", seed)] for seed in (1, 1, 2)]
    assert ids[0] == ids[1] != ids[2]
    assert sorted(ids[0]) == sorted(one["id"] for one in lines(opwright))


def test_all_cases_says_its_size_and_has_a_limit(opwright, store) -> None:
    # shapes 2 x dtype of b 2 x dtype passed or not, one scalar call, and 4 shapes of relu
    result = opwright("--format", "json", "vectors", "--suite", "all_cases")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["vectors"] == 8 + 1 + 4
    assert "13 combinations of 2 operations" in result.stderr
    refused = opwright("vectors", "--suite", "all_cases", "--limit", "12")
    assert refused.returncode == 2
    assert "13 vectors of 2 operations, the limit is 12 (largest: ttnn.add 9" in refused.stderr
    assert refused.stdout == ""


def test_sample_is_spread_and_repeatable(opwright, store) -> None:
    one, again, other = (lines(opwright, "--suite", "sample", "--count", "3", "--seed", seed) for seed in (1, 1, 5))
    assert one == again
    assert len(one) == 3 and {line["operation"] for line in one} == {"ttnn.add", "ttnn.relu"}
    assert {line["seed"] for line in other} == {5}
    assert opwright("vectors", "--count", "3").returncode == 2


def test_user_suites(opwright) -> None:
    report = lines(opwright, "--suites", SUITES)
    assert [line["suite"] for line in report] == ["shapes"] * 4 + ["xfail_unequal"]
    assert report[0]["case"].startswith("ttnn.add(input_tensor_a=tensor([1,1,32,32]")
    assert (report[0]["data"], report[0]["pcc"]) == ("integers", 0.999)
    assert "dtype=DataType.FLOAT32" in report[1]["case"] and "memory_config=memory(L1" in report[1]["case"]
    assert len(lines(opwright, "--suites", SUITES, "--suite", "xfail_unequal")) == 1
    assert "did you mean 'shapes'" in opwright("vectors", "--suites", SUITES, "--suite", "shape").stderr
    assert opwright("vectors", "--suites", SUITES, "--where", "calls>1").returncode == 2


def test_user_suites_have_a_limit(opwright) -> None:
    result = opwright("vectors", "--suites", SUITES, "--limit", "4")
    assert result.returncode == 2 and "5 vectors" in result.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("suites:\n  s:\n    - op: ttnn.add\n      paramters: {}\n", "line 4, column 7: unknown key 'paramters'; did you mean 'parameters'?"),
        ("suites: [\n", "no YAML"),
        ("", "suites"),
    ],
)
def test_a_wrong_suite_file_is_named_with_its_line(opwright, tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    result = opwright("vectors", "--suites", path)
    assert result.returncode == 3 and result.stdout == ""
    assert "bad.yaml" in result.stderr and message in result.stderr


def test_export_has_the_form_of_the_existing_files(opwright, store) -> None:
    report = vectors(opwright, "--export", store / "out", "--tag", "nightly")["export"]
    assert report["vectors"] == 7 and report["written"] == 2 and report["as_case_lines"] == {}
    manifest = json.loads((store / "out" / "generation_manifest.json").read_text())
    assert manifest["vector_grouping_mode"] == "mesh"
    assert manifest["vector_files"] == ["model_traced.add_model_traced.mesh_1x2.json", "model_traced.relu_model_traced.mesh_1x2.json"]
    text = (store / "out" / manifest["vector_files"][0]).read_text()
    suites = json.loads(text)
    assert json.dumps(suites, indent=2) == text
    assert list(suites) == ["model_traced"]
    by_hash = suites["model_traced"]
    assert sorted(by_hash) == [f"{n:064x}" for n in (1, 2, 3)]
    assert len({tuple(vector) for vector in by_hash.values()}) == 1, "all vectors of a module have the same fields"
    first, third = by_hash[f"{1:064x}"], by_hash[f"{3:064x}"]
    assert first["input_a_shape"] == "(1, 1, 32, 32)" and first["input_b_dtype"] == "DataType.BFLOAT16"
    assert first["arg1"] == first["dtype"] == first["memory_config"] == "__ABSENT__"
    assert first["input_a_memory_config"] == {
        "type": "ttnn._ttnn.tensor.MemoryConfig",
        "data": {"buffer_type": "DRAM", "created_with_nd_shard_spec": False, "memory_layout": "INTERLEAVED", "per_core_allocation": False},
    }
    assert third["arg1"] == 2.0 and third["input_b_shape"] == "__ABSENT__"
    assert third["output_memory_config"] == third["memory_config"] != third["input_a_memory_config"]
    assert first["traced_source"] == ["models/demos/a.py"] and first["traced_machine_info"]["mesh_device_shape"] == [1, 2]
    assert (first["sweep_name"], first["tag"], first["validity"]) == ("model_traced.add_model_traced", "nightly", "VALID")
    assert list(first)[-3:] == ["timestamp", "input_hash", "tag"] and first["input_hash"] == first["config_hash"]


def test_results_of_a_run_have_the_hashes_of_its_vectors(opwright, store) -> None:
    for source in ((), ("--vectors", store / "out")):  # of the store, and of the exported files
        vectors(opwright, "--export", store / "out")
        assert opwright("run", *source, "--device", "null", "--quiet").returncode == 0
        assert opwright("results", "--export", f"sweep:{store / 'sweep'}", "--export", f"csv:{store / 'r.csv'}").returncode == 0
        (oprun,) = (json.loads(path.read_text()) for path in (store / "sweep").glob("oprun_*"))
        hashes = sorted(test["input_hash"] for test in oprun["tests"])
        assert hashes == [f"{n:064x}" for n in range(1, 8)]
        rows = list(csv.DictReader((store / "r.csv").open(newline="")))
        assert sorted(row["config_hash"] for row in rows) == hashes
        shutil.rmtree(store / "sweep")


def test_export_again_writes_nothing_and_keeps_other_suites(opwright, store) -> None:
    out = store / "out"
    vectors(opwright, "--export", out, "--tag", "t")
    before = {path.name: path.read_bytes() for path in out.glob("model_traced*")}
    assert vectors(opwright, "--export", out, "--tag", "t")["export"]["written"] == 0
    assert before == {path.name: path.read_bytes() for path in out.glob("model_traced*")}
    vectors(opwright, "--suite", "sample", "--count", "2", "--op", "relu", "--export", out, "--tag", "t")
    both = json.loads((out / "model_traced.relu_model_traced.mesh_1x2.json").read_text())
    assert list(both) == ["model_traced", "sample"] and len(both["model_traced"]) == 4


def test_export_never_replaces_a_damaged_file(opwright, store) -> None:
    out = store / "out"
    out.mkdir()
    damaged = out / "model_traced.relu_model_traced.mesh_1x2.json"
    damaged.write_text('{"model_traced": {')
    result = opwright("vectors", "--export", out)
    assert result.returncode == 3 and "not overwritten" in result.stderr and damaged.name in result.stderr
    assert damaged.read_text() == '{"model_traced": {'


def test_groups(opwright, store) -> None:
    assert opwright("import", master(store, {"ttnn.add": ADDS[:1]}, "second.json", mesh_device_shape=[4, 8])).returncode == 0
    assert vectors(opwright)["vectors"] == 7
    assert vectors(opwright, "--group-by", "mesh")["vectors"] == 8
    files = vectors(opwright, "--group-by", "hw", "--op", "add", "--export", store / "hw")["export"]["files"]
    assert files == [f"model_traced.add_model_traced.hw_wormhole_n300_1c.mesh_{mesh}.json" for mesh in ("1x2", "4x8")]
    files = vectors(opwright, "--group-by", "none", "--op", "add", "--export", store / "none")["export"]["files"]
    assert files == ["model_traced.add_model_traced.json"]


def keys(all_lines: list[dict]) -> list[str]:
    return sorted(line["key"] for line in all_lines)


@pytest.mark.parametrize("name", sorted(path.name for path in MASTERS.glob("era*.json")))
def test_what_is_exported_reads_back(opwright, tmp_path: Path, name: str) -> None:
    assert opwright("import", MASTERS / name).returncode == 0
    traced = lines(opwright, "--group-by", "mesh")
    report = vectors(opwright, "--export", tmp_path / "out")
    assert report["export"]["vectors"] == len(traced) > 0
    again = lines(opwright, "--from", tmp_path / "out")
    assert sorted(line["id"] for line in again) == sorted(line["id"] for line in traced)
    assert keys(again) == keys(traced)
    assert sorted(line["invalid"] for line in again) == sorted(line["invalid"] for line in traced)
    jsonl = tmp_path / "all.jsonl"
    jsonl.write_text("".join(json.dumps(line) + "\n" for line in traced))
    assert keys(lines(opwright, "--from", jsonl)) == keys(traced)


def test_real_masters_read_back(opwright, tmp_path: Path, real_data: Path) -> None:
    """Era 2 in the existing form but for what it cannot say; era 1 as case lines."""
    masters = [real_data / "ttnn" / "era2" / "ttnn_operations_master_2026-05-10_llama_n300.json"]
    masters.append(real_data / "ttnn" / "era2" / "ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json")
    assert opwright("import", *masters).returncode == 0
    report = vectors(opwright, "--export", tmp_path / "out", "--group-by", "none")
    assert report["vectors"] == report["export"]["vectors"]
    assert sum(report["export"]["as_case_lines"].values()) <= 0.01 * report["vectors"], report["export"]["as_case_lines"]
    assert keys(lines(opwright, "--from", tmp_path / "out")) == keys(lines(opwright))


def test_names_that_mean_something_else_too(opwright, tmp_path: Path) -> None:
    """A keyword called `input`, a memory config by position: both have twins among the fields of a vector."""
    calls = {
        "ttnn.scatter": [{"input": tensor(8, 8), "dim": 1, "index": tensor(8, 4, dtype="UINT16"), "src": tensor(8, 4)}],
        "ttnn.sharded_to_interleaved": [{"arg0": tensor(32, 32), "arg1": tensor(1, buffer="L1")["memory_config"]}],
        "ttnn.pad": [{"arg0": tensor(32, 32), "arg1": [[0, 0], [0, 32]], "value": "-inf"}],
    }
    assert opwright("import", master(tmp_path, calls)).returncode == 0
    assert vectors(opwright, "--export", tmp_path / "out")["export"]["as_case_lines"] == {}
    assert keys(lines(opwright, "--from", tmp_path / "out")) == keys(lines(opwright))


def test_foreign_files_are_read(opwright) -> None:
    (line,) = lines(opwright, "--from", FOREIGN)
    assert line["case"].startswith("ttnn.interleaved_to_sharded(input_tensor=tensor([1,1,32,2048] BFLOAT16 TILE DEVICE")
    assert (line["config_hash"][:8], line["mesh"], line["group"]) == ("59555cf6", "1x2", "mesh_1x2")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cut.json", FOREIGN.read_text()[:700], "line"),
        ("empty.json", "", "empty.json"),
        ("other.json", '{"operations": {"ttnn.add": {"configurations": []}}}', "suite 'operations', vector ttnn.add"),
        ("hash.json", FOREIGN.read_text().replace('"input_hash": "5', '"input_hash": "6'), "its input_hash is"),
        ("lines.jsonl", '{"id": "a", "suite": "s", "case": "ttnn.add()"}\n{"id": "a", "suite": "s"}\n', "line 2"),
    ],
)
def test_damaged_vectors_are_an_error_and_no_half_result(opwright, tmp_path: Path, name: str, content: str, message: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    result = opwright("--format", "jsonl", "vectors", "--from", path)
    assert result.returncode == 3 and result.stdout == ""
    assert name in result.stderr and message in result.stderr


def test_a_folder_without_a_manifest_is_refused(opwright, tmp_path: Path) -> None:
    result = opwright("vectors", "--from", tmp_path)
    assert result.returncode == 3 and "generation_manifest.json" in result.stderr


def test_dedupe_merges_what_both_eras_recorded(opwright, store) -> None:
    era1_tensor = {
        "Tensor": {
            "tensor_spec": {
                "logical_shape": [32, 32],
                "tensor_layout": {
                    "dtype": "DataType::BFLOAT16",
                    "memory_config": {
                        "memory_layout": "TensorMemoryLayout::INTERLEAVED",
                        "buffer_type": "BufferType::DRAM",
                        "shard_spec": "std::nullopt",
                    },
                },
            },
            "layout": "Layout::TILE",
            "storage_type": "StorageType::DEVICE",
        }
    }
    era1 = {"operations": {"ttnn::relu": {"configurations": [{"arguments": [{"arg0": era1_tensor}], "source": "models/b.py"}]}}}
    (store / "era1.json").write_text(json.dumps(era1))
    assert opwright("import", store / "era1.json").returncode == 0
    assert vectors(opwright, "--op", "relu")["vectors"] == 5
    report = vectors(opwright, "--op", "relu", "--dedupe")
    assert report["vectors"] == 4 and report["merged"] == 1
    merged = [line for line in lines(opwright, "--op", "relu", "--dedupe") if "models/b.py" in line["sources"]]
    assert len(merged) == 1 and merged[0]["calls"] == 3 and merged[0]["case"].startswith("ttnn.relu(")


def test_invalid_vectors_are_kept_and_counted(opwright, tmp_path: Path) -> None:
    host = tensor(32, 32) | {"storage_type": "StorageType.HOST"}
    odd = tensor(32, 32, dtype="FLOAT13")
    assert opwright("import", master(tmp_path, {"ttnn.relu": [{"arg0": tensor(32, 32)}, {"arg0": host}, {"arg0": odd}]})).returncode == 0
    report = vectors(opwright, "--export", tmp_path / "out")
    assert report["vectors"] == 3 and report["valid"] == 1
    assert report["invalid"] == {"host_tensor_only": 1, "unknown_dtype": 1}
    table = opwright("vectors").stdout
    assert "3 vectors, 2 invalid (host_tensor_only 1, unknown_dtype 1)" in table
    found = {line["invalid"].split(":")[0] for line in lines(opwright, "--from", tmp_path / "out")}
    assert found == {"", "host_tensor_only", "unknown_dtype"}


def test_export_to_vectors_is_the_same_writer(opwright, store) -> None:
    result = opwright("--format", "json", "export", "--to", "vectors", "-o", store / "a")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["vectors"] == 7
    assert vectors(opwright, "--export", store / "a")["export"]["written"] == 0
    assert opwright("export", "--to", "vectors").returncode == 2


@pytest.mark.parametrize("arguments", [["--suite", "modle_traced"], ["--group-by", "x"], ["--tag", "t"], ["--suites", SUITES, "--from", SUITES]])
def test_wrong_usage(opwright, store, arguments: list) -> None:
    result = opwright("vectors", *arguments)
    assert result.returncode == 2 and result.stdout == "" and "opwright: " in result.stderr
