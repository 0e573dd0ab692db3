"""The same call has the same key, whichever format carried it: every trace in every format that it can be written in.

A format that has no place for something cannot carry it. What that is, is a closed list for each of them, `WITHOUT`: calls
that have none of it keep their key, and calls that have it are the same in all the rest.
"""

import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
import traces
from traces import answer, fixture, load_trace

NATIVE = [f"native/{name}" for name in (
    "tiny_llm.opwt", "cut.opwt", "killed.opwt", "decoder.opwt.zst", "encoder.opwt.zst", "mbconv.opwt.zst", "mlp.opwt.zst",
    "tensor_parallel.opwt.zst", "../../compat/native/v1/decoder_paged.opwt.zst", "../../compat/native/v1/one_of_everything.opwt.zst",
)]  # fmt: skip
PER_OP = ["demo/tiny_cnn", "per_op/per_test", "per_op/preop", "per_op/v0", "per_op/v1", "per_op/v2", "per_op/v3"]
JSONL = ["jsonl/ops.jsonl"]
REAL = [
    "native/llama-3.2-1b-n300.opwt.zst", "native/functional-unet-n150.opwt.zst",
    "ttnn-0.81/block/per_op", "ttnn-0.81/mlp/per_op", "ttnn-0.81/cnn/per_op", "ttnn-0.81/llama-3.2-1b-n300/per_op",
    "capture/op_trace_v2_deepseek_load", "capture/jsonl/op_capture_plugin_on_stub.jsonl",
]  # fmt: skip

OF_VERSION_1 = ("native/llama-3.2-1b-n300.opwt.zst", "native/functional-unet-n150.opwt.zst")


# -- what a format has no place for: a value as `show` prints it -> the same without it


def is_memory(value: dict) -> bool:
    """A memory config, or a tensor that has one: {"memory": {"layout": …}}."""
    return isinstance(value.get("memory"), dict) and ("buffer" in value["memory"] or "layout" in value["memory"])


def no_nd_shards(value: dict) -> dict:
    """The library's per-op files have the shard spec of a memory config only, not its ND one."""
    return value | {"memory": {k: v for k, v in value["memory"].items() if k != "nd_shard"}} if is_memory(value) else value


def no_members_of_silent_objects(value: dict) -> dict:
    """Per-op files and op JSONL have what an object prints; of some of the library that is an address and nothing else."""
    kinds = ("CppTensorToMesh", "ReplicateTensorToMeshWrapper", "ShardTensor2dMesh", "ShardTensorToMeshWrapper", "CppMeshToTensor")
    return {"opaque": "mapper"} if {value.get("struct"), value.get("opaque")} & set(kinds) else value


def no_names_in_program_configs(value: dict) -> dict:
    """The own JSON of a program config, which per-op files have, has numbers for fused functions and other enums."""
    if "ProgramConfig" not in value.get("struct", ""):
        return value
    unnamed = {k: v for k, v in value["fields"].items() if k != "fused_activation" and not (isinstance(v, (dict, int)) and "order" in k)}
    return value | {"fields": unnamed}


def tensor_refs(value: dict) -> dict:
    """A TensorRef of op JSONL has shape, dtype and memory config: no layout, storage, tile, placement, type."""
    is_tensor = isinstance(value.get("tensor"), dict) and ("shape" in value["tensor"] or "dtype" in value["tensor"])
    return {"tensor": {k: v for k, v in value["tensor"].items() if k in ("shape", "dtype", "memory")}} if is_tensor else value


def device_shapes(value: dict) -> dict:
    """Op JSONL calls the shape of a device `mesh_shape`, and has nothing else of it."""
    if value.get("struct") != "MeshDevice":
        return value
    return {"struct": "MeshDevice", "mesh": value["fields"].get("shape", value["fields"].get("mesh_shape"))}


def path_words(value: dict) -> dict:
    """A path of any class is `path` in op JSONL."""
    return value | {"struct": "path"} if value.get("struct") in ("PosixPath", "path") else value


def no_classes_of_printed_objects(value: dict) -> dict:
    """Op JSONL has the text that an object prints, not its class."""
    return {"opaque": "", "text": value["text"]} if {"opaque", "text"} <= set(value) else value


def no_compute_configs(value: dict) -> dict:
    """A compute config prints its address and nothing else; one of a per-op file has a class of its own as text."""
    is_config = value.get("struct", "").endswith("ComputeKernelConfig") or "ComputeKernelConfig object" in value.get("text", "")
    return {"struct": "compute config"} if is_config else value


def no_printed_mappers(value: dict) -> dict:
    """As no_members_of_silent_objects, of which op JSONL has the text alone."""
    kinds = ("CppTensorToMesh", "ReplicateTensorToMeshWrapper", "ShardTensor2dMesh", "ShardTensorToMeshWrapper", "CppMeshToTensor")
    named = {value.get("struct"), value.get("opaque")} & set(kinds)
    return {"opaque": "mapper"} if named or any(f"{kind} object" in value.get("text", "") for kind in kinds) else value


def printed_program_configs(value: dict) -> dict:
    """Op JSONL has the members of a program config: true for 1, and those that the config does not print."""
    if value.get("struct") != "LayerNormShardedMultiCoreProgramConfig":
        return value
    fields = {k: int(v) if isinstance(v, bool) else v for k, v in value["fields"].items() if k != "legacy_rsqrt"}
    return value | {"fields": fields}


def torch_tensors_as_text(value: dict) -> dict:
    """The first recorder printed torch tensors (OF_VERSION_1), and op JSONL takes the text where there is one."""
    tensor = value.get("tensor")
    is_tensor = isinstance(tensor, dict) and tensor.get("type") == "torch.Tensor"
    is_text = value.get("struct") == "tensor" or value.get("text", "").startswith(("tensor(", "Parameter containing:\ntensor("))
    return {"tensor": "of torch"} if is_tensor or is_text else value


def no_queue(value: dict) -> dict:
    """The library takes the queue of an outermost call away before it looks at the arguments; op JSONL has it, and no nesting."""
    return {name: item for name, item in value.items() if name not in ("queue_id", "cq_id")}


WITHOUT: dict[str, list[Callable[[dict], dict]]] = {
    "native": [],
    "master": [],
    "per-op": [no_nd_shards, no_members_of_silent_objects, no_names_in_program_configs],
    "jsonl": [
        no_nd_shards, tensor_refs, device_shapes, path_words, no_compute_configs, no_printed_mappers, no_classes_of_printed_objects,
        printed_program_configs, no_queue,
    ],
}  # fmt: skip


def reduced(value: object, rules: list[Callable[[dict], dict]]) -> object:
    if isinstance(value, list):
        return [reduced(item, rules) for item in value]
    if not isinstance(value, dict):
        return value
    for rule in rules:
        value = rule(value)
    return {name: reduced(item, rules) for name, item in value.items()}


# -- the law


def configurations(opwright, path: object, store: str) -> dict[str, dict]:
    """key -> what `show` says, of a trace in a store of its own."""
    load_trace(opwright, path, store=store, options=("--all-ops", "--include-failed"))
    return {row["key"]: row for row in traces.shown(opwright, store=store)}


def compare(to: str, wanted: dict[str, dict], got: dict[str, dict], rules: list[Callable[[dict], dict]]) -> None:
    def without(row: dict) -> str:
        return json.dumps([row["operation"], reduced(row["arguments"], rules)], sort_keys=True)

    def whole(row: dict) -> str:
        return json.dumps([row["operation"], row["arguments"]], sort_keys=True)

    if to == "per-op":  # the library writes no file of a call that raised
        wanted = {key: row for key, row in wanted.items() if row["raised"] < row["calls"]}
    for key, row in wanted.items():
        if without(row) == whole(row):
            assert key in got, f"another key in {to}: {whole(row)}"
    assert {without(row) for row in got.values()} == {without(row) for row in wanted.values()}, to


def rules_for(name: str, to: str) -> list[Callable[[dict], dict]]:
    return [torch_tensors_as_text, *WITHOUT[to]] if name in OF_VERSION_1 and to == "jsonl" else WITHOUT[to]


def carried(opwright, path: Path, to: str, folder: Path) -> dict[str, dict]:
    """The configurations of what `path`, which is in wanted.db, becomes in another format."""
    out = folder / f"as_{to}"
    if to == "master":
        done = opwright("--store", "wanted.db", "export", "--to", to, "--include-raised", "-o", out)
    else:
        done = opwright("convert", path, "--to", to, "-o", out)
    assert done.returncode == 0, done.stderr
    return configurations(opwright, out, f"{to}.db")


def check(opwright, name: str, path: Path, folder: Path) -> None:
    wanted = configurations(opwright, path, "wanted.db")
    assert wanted
    for to in WITHOUT:
        compare(to, wanted, carried(opwright, path, to, folder), rules_for(name, to))


@pytest.mark.parametrize("name", [*NATIVE, *PER_OP, *JSONL])
def test_fixtures(opwright, tmp_path: Path, name: str) -> None:
    check(opwright, name, fixture(name), tmp_path)


@pytest.mark.parametrize("name", REAL)
def test_real_traces(opwright, tmp_path: Path, real_data: Path, name: str) -> None:
    if not (real_data / name).exists():
        pytest.skip("real data not present")
    check(opwright, name, real_data / name, tmp_path)


# -- era 1: C++ arguments by position, which no format of Python calls carries, nor the other way round

OF_CPP = [*(f"master/era1_1{letter}.json" for letter in "abcd"), "graph/nodes.json", "graph/old_nodes.json", "graph/report.json", "graph/serialized.json"]
REAL_OF_CPP = [
    *(f"ttnn/era1/ttnn_operations_master_{day}.json" for day in ("2025-10-16", "2025-11-10", "2025-11-20", "2025-12-17_selftest", "2025-12-31_from_db")),
    "capture/graph/ttnn_add_broadcast.graph.json", "ttnn-0.81/graph/block_NORMAL_fast.json", "ttnn-0.81/graph/cnn_NORMAL_fast.json",
    "ttnn-0.81/graph/mlp_NO_DISPATCH_fast.json", "ttnn-0.81/graph/block_NORMAL_fast.era1.json",
]  # fmt: skip


def check_era1(opwright, path: Path) -> None:
    wanted = configurations(opwright, path, "wanted.db")
    assert wanted
    assert {row["convention"] for row in wanted.values()} == {"cpp"}
    done = opwright("--store", "wanted.db", "export", "--to", "master1", "--include-raised", "-o", "as_master1.json")
    assert done.returncode == 0, done.stderr
    got = configurations(opwright, "as_master1.json", "master1.db")
    assert {key: (row["operation"], row["arguments"]) for key, row in got.items()} == {
        key: (row["operation"], row["arguments"]) for key, row in wanted.items()
    }
    # A master of era 2 holds Python calls: none of these is one, and that is said.
    done = opwright("--store", "wanted.db", "export", "--to", "master", "--include-raised", "-o", "as_master.json")
    assert "recorded at the C++ level" in done.stderr, done.stderr


@pytest.mark.parametrize("name", OF_CPP)
def test_calls_of_cpp(opwright, name: str) -> None:
    check_era1(opwright, fixture(name))


@pytest.mark.parametrize("name", REAL_OF_CPP)
def test_real_calls_of_cpp(opwright, real_data: Path, name: str) -> None:
    if not (real_data / name).exists():
        pytest.skip("real data not present")
    check_era1(opwright, real_data / name)


def test_era1_has_no_place_for_python_calls(opwright) -> None:
    load_trace(opwright, fixture("native/tiny_llm.opwt"), store="python.db")
    done = opwright("--store", "python.db", "export", "--to", "master1", "-o", "as_master1.json")
    assert "recorded at the Python level; an era-1 master holds C++ arguments" in done.stderr, done.stderr


# A trace that needs the exception: without it, the law above would fail there.
NEEDED = [
    (no_nd_shards, "native/tiny_llm.opwt", "per-op"),
    (no_names_in_program_configs, "native/mlp.opwt.zst", "per-op"),
    (no_nd_shards, "native/tiny_llm.opwt", "jsonl"),
    (tensor_refs, "native/tiny_llm.opwt", "jsonl"),
    (no_queue, "native/tiny_llm.opwt", "jsonl"),
    (device_shapes, "native/mlp.opwt.zst", "jsonl"),
    (no_compute_configs, "native/mlp.opwt.zst", "jsonl"),
    (printed_program_configs, "native/decoder.opwt.zst", "jsonl"),
]
OF_REAL_DATA = [
    (path_words, "capture/op_trace_v2_deepseek_load", "jsonl"),
    (no_printed_mappers, "native/llama-3.2-1b-n300.opwt.zst", "jsonl"),
    (no_classes_of_printed_objects, "native/llama-3.2-1b-n300.opwt.zst", "jsonl"),
    (no_members_of_silent_objects, "native/llama-3.2-1b-n300.opwt.zst", "per-op"),
    (torch_tensors_as_text, "native/functional-unet-n150.opwt.zst", "jsonl"),
]


@pytest.mark.parametrize(("rule", "name", "to"), [*NEEDED, *OF_REAL_DATA])
def test_no_exception_is_idle(opwright, tmp_path: Path, request, rule: Callable[[dict], dict], name: str, to: str) -> None:
    """One that nothing needs would hide a difference to come."""
    real = (rule, name, to) in OF_REAL_DATA
    path = (request.getfixturevalue("real_data") / name) if real else fixture(name)
    if not path.exists():
        pytest.skip("real data not present")
    wanted = configurations(opwright, path, "wanted.db")
    got = carried(opwright, path, to, tmp_path)
    rules = rules_for(name, to)
    assert rule in rules
    with pytest.raises(AssertionError):
        compare(to, wanted, got, [other for other in rules if other is not rule])


def test_every_exception_has_a_trace_that_needs_it() -> None:
    listed = {(rule, to) for to, rules in WITHOUT.items() for rule in rules}
    assert listed | {(torch_tensors_as_text, "jsonl")} == {(rule, to) for rule, _, to in [*NEEDED, *OF_REAL_DATA]}


# -- one form, whichever trace had it first


def kinds(store: Path) -> list[int]:
    db = sqlite3.connect(store)
    try:
        return [kind for (kind,) in db.execute("SELECT kind FROM form")]
    finally:
        db.close()


def test_a_native_trace_in_a_store_of_an_older_program(opwright, tmp_path: Path) -> None:
    """Older programs made era-2 forms of native calls, with the same texts: importing the trace again adds nothing."""
    store = Path(shutil.copy(fixture("stores/native_era2.db"), tmp_path / "old.db"))
    before = traces.logical_dump(store)
    assert kinds(store) == [2] * len(before["forms"])
    again = load_trace(opwright, fixture("native/tiny_llm.opwt"), fixture("native/mlp.opwt.zst"), store=store)
    assert again["added"] == 0
    # The older program called a run of tests by pytest's own file: the name is the better one now, and nothing else changed.
    before["sequences"] = [row.replace("'pytest/__main__.py'", "'examples/ttnn/test_mlp.py'") for row in before["sequences"]]
    assert traces.logical_dump(store) == before
    load_trace(opwright, fixture("native/tiny_llm.opwt"), fixture("native/mlp.opwt.zst"), store="new.db")
    assert kinds(tmp_path / "new.db") == [6] * len(before["forms"])
    old, new = traces.logical_dump(store), traces.logical_dump(tmp_path / "new.db")
    assert [row.replace(", 6, 'ttnn", ", 2, 'ttnn") for row in new.pop("forms")] == old.pop("forms")
    assert new == old
    exports = [opwright("--store", name, "export", "--to", "master").stdout for name in (store, "new.db")]
    assert exports[0] == exports[1]


def test_the_order_of_a_native_trace_and_its_master_does_not_matter(opwright, tmp_path: Path) -> None:
    trace = fixture("native/tiny_llm.opwt")
    load_trace(opwright, trace, store="a.db")
    export = opwright("--store", "a.db", "export", "--to", "master", "--include-raised", "-o", "m.json")
    assert export.returncode == 0, export.stderr
    alone = answer(opwright("--store", "a.db", "ops", "--format", "json"))
    load_trace(opwright, tmp_path / "m.json", store="a.db")
    load_trace(opwright, tmp_path / "m.json", store="b.db")
    load_trace(opwright, trace, store="b.db")
    load_trace(opwright, tmp_path / "m.json", trace, store="c.db")
    wanted = traces.logical_dump(tmp_path / "a.db")
    for store in ("b.db", "c.db"):
        got = traces.logical_dump(tmp_path / store)
        for table in wanted:
            assert got[table] == wanted[table], f"{table} of {store}"
    assert answer(opwright("--store", "a.db", "ops", "--format", "json")) == alone
    doctor = opwright("--store", "a.db", "doctor", "--deep")
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
