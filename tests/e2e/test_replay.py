"""`replay`: recorded calls again, one or a sequence, on devices with and without numbers."""

import contextlib
import json
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import hostile
import pytest
import support
from traces import answer, check_no_crash, fixture, load_trace

assert hostile  # its import puts the maker of native traces on the path
DECODER = fixture("native/decoder.opwt.zst")
MLP = fixture("native/mlp.opwt.zst")
PARALLEL = fixture("native/tensor_parallel.opwt.zst")
FIELDS = {"trace", "calls", "replayed", "outcomes", "edges", "inputs", "first_beyond", "seconds", "peak_bytes", "sequence"}
FIELDS |= {"recorded_results", "held_bytes", "ends_early"}


def replayed(opwright, *arguments: object, status: int = 0, **more: object) -> dict:
    result = opwright("replay", *arguments, "--format", "json", **more)
    assert result.returncode == status, result.stdout[-2000:] + result.stderr
    return json.loads(result.stdout)


def made_trace(path: Path, calls: list[tuple], **facts: object) -> Path:
    """Calls of (operation, ids of its tensors, id of its result), all tensors [1,1,32,64]."""
    from maker.native import T, Trace, Ttnn

    trace = Trace()
    ttnn = Ttnn(trace)
    trace.lane(0, 100)
    for name, value in {"uid": "made", **facts}.items():
        trace.fact(name, value)
    spec = ttnn.spec([1, 1, 32, 64])
    result = trace.value(T(spec))
    for op, given, made in calls:
        call = trace.call_value(op, *[T(spec) for _ in given])
        trace.call(call, [(tensor, 1) for tensor in given], result=result, returned=[(made, 1, made, 0, 0)])
    path.write_bytes(trace.bytes())
    return path


# -- a whole trace


def test_a_decoder_with_its_caches(opwright) -> None:
    report = replayed(opwright, DECODER)
    assert FIELDS <= set(report)
    assert report["outcomes"] == {"carried": 75, "freed": 7, "inside": 3, "passed": 87, "read": 11}
    assert report["calls"] == sum(report["outcomes"].values()) == len(report["sequence"])
    assert report["edges"] == {"recorded": 100, "inferred": 0, "ambiguous": 0, "broken": 0}
    assert report["first_beyond"] is None
    steps = {step["call"]: step for step in report["sequence"]}
    # A cache that was written is what the attention after it reads.
    written = steps[85]
    assert written["op"] == "ttnn.experimental.paged_update_cache"
    (cache,) = [each for each in written["inputs"] if each["param"] == "cache_tensor"]
    (read,) = [each for each in steps[87]["inputs"] if each["tensor"] == cache["tensor"]]
    assert read["values"] == "computed"
    # Errors of the chain grow, those of single calls do not.
    assert steps[102]["global"]["rel_rms"] > 3 * steps[102]["local"]["rel_rms"]


def test_collectives_are_judged(opwright) -> None:
    report = replayed(opwright, PARALLEL)
    assert report["outcomes"] == {"carried": 22, "freed": 12, "passed": 28, "read": 2}
    steps = [step for step in report["sequence"] if step["op"] in ("ttnn.reduce_scatter", "ttnn.all_gather")]
    assert len(steps) == 8
    for step in steps:
        assert any("chips" in note for note in step["notes"]), step
        assert step["local"]["elements"] > 0
    assert any("stand in for chip k" in note for step in steps for note in step["notes"])


def test_every_call_has_a_reason_or_an_outcome(opwright) -> None:
    for trace in (DECODER, MLP, PARALLEL):
        for step in replayed(opwright, trace)["sequence"]:
            assert step["outcome"] == "passed" or step["reason"], step


def test_tensors_are_held_as_the_device_stores_them(opwright) -> None:
    # Behind call 102 the test reads caches back: on the host, as float32, they are not the device's memory.
    for trace, until in ((DECODER, 102), (MLP, 50), (PARALLEL, 64)):
        report = replayed(opwright, trace, "--until", until)
        taken = sum(report["peak_bytes"].values())
        assert 0 < report["held_bytes"]["values"] <= 1.1 * taken
        alone = replayed(opwright, trace, "--until", until, "--no-chain")
        assert alone["held_bytes"]["with_chain"] == alone["held_bytes"]["values"] <= 1.1 * taken
        assert alone["outcomes"] == report["outcomes"]
        assert not any(step["global"] for step in alone["sequence"])
        locals_of = [[step["local"] for step in one["sequence"]] for one in (report, alone)]
        assert locals_of[0] == locals_of[1]


def test_two_replays_give_the_same_bytes(opwright, tmp_path) -> None:
    for folder in ("first", "second"):
        replayed(opwright, MLP, "--range", "1:9", "--save", tmp_path / folder)
    first = {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()}
    second = {path.name: path.read_bytes() for path in (tmp_path / "second").iterdir()}
    assert first == second
    assert "000009-out0.npy" in first
    spec = json.loads(first["000009-out0.json"])
    assert spec["op"] == "ttnn.add"
    numbers = first["000009-out0.npy"]
    assert numbers.startswith(b"\x93NUMPY\x01\x00")
    (length,) = struct.unpack("<H", numbers[8:10])
    assert b"'descr': '<f4'" in numbers[10 : 10 + length]
    refused = opwright("replay", MLP, "--range", "1:9", "--save", tmp_path / "first")
    assert refused.returncode == 2
    assert "has files in it already" in refused.stderr


# -- which calls


def test_one_call_alone_of_a_file_and_of_the_store(opwright) -> None:
    alone = replayed(opwright, MLP, 7)
    assert alone["calls"] == alone["replayed"] == 1
    assert alone["inputs"]["recipe"] == 3
    load_trace(opwright, MLP, options=("--include-failed",))
    (kept,) = answer(opwright("traces", "--format", "json"))
    same = replayed(opwright, "@" + kept["trace"][:10], 7)
    assert same["sequence"][0]["local"] == alone["sequence"][0]["local"]
    assert replayed(opwright, kept["name"], 7)["sequence"][0]["local"] == alone["sequence"][0]["local"]


def test_stretches(opwright) -> None:
    assert [step["call"] for step in replayed(opwright, MLP, "--range", "6:9")["sequence"]] == [6, 7, 8, 9]
    assert replayed(opwright, MLP, "--until", "9")["sequence"][-1]["call"] == 9
    chosen = replayed(opwright, MLP, "--range", "1:50", "--where", "op=add")
    assert {step["op"] for step in chosen["sequence"]} == {"ttnn.add"}
    tiny = fixture("native/tiny_llm.opwt")
    decode = replayed(opwright, tiny, "--phase", "decode", "--only", "add")
    assert decode["calls"] > 0
    assert {step["phase"] for step in decode["sequence"]} == {"decode"}
    labels = {step["label"] for step in replayed(opwright, tiny, "--label", "layer0*", "--only", "add")["sequence"]}
    assert labels == {"layer0/mlp"}
    assert {step["op"] for step in replayed(opwright, MLP, "--only", "add", "--range", "1:50")["sequence"]} == {"ttnn.add"}


def test_op_jsonl_has_no_layout_and_needs_one_assumed(opwright) -> None:
    lines = fixture("jsonl/ops.jsonl")
    lost = replayed(opwright, "--jsonl", lines, "--index", 2, status=3)
    assert lost["outcomes"] == {"lost": 1}
    assert "layout" in lost["sequence"][0]["reason"]
    taken = replayed(opwright, "--jsonl", lines, "--index", 2, "--assume-layout", "tile")
    assert taken["outcomes"] == {"passed": 1}
    assert taken["sequence"][0]["notes"] == ["a layout is assumed (--assume-layout)"]


def test_ambiguous_tensors(opwright, tmp_path) -> None:
    tensor = {"__type__": "ttnn.TensorRef", "shape": [1, 1, 32, 64], "dtype": "DataType.BFLOAT16"}
    tensor["memory_config"] = {"__type__": "ttnn.MemoryConfig", "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"}
    lines = [
        {"test_nodeid": "t.py::t", "op_index": i, "op_name": "ttnn.relu", "inputs": [tensor], "kwargs": {}, "output": tensor}
        for i in range(3)
    ]
    path = tmp_path / "ops.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = replayed(opwright, path, "--assume-layout", "tile")
    # The second use is inferred: there was one result. The third could be two.
    assert (report["edges"]["inferred"], report["edges"]["ambiguous"]) == (1, 1)
    assert report["outcomes"] == {"passed": 2, "lost": 1}
    assumed = replayed(opwright, path, "--assume-layout", "tile", "--assume-recent")
    assert assumed["outcomes"] == {"passed": 3}
    assert assumed["edges"]["inferred"] == 2


def test_a_per_op_file(opwright) -> None:
    (path,) = fixture("per_op/v3").glob("101_ttnn_concat_*.json")
    report = replayed(opwright, path, status=1 if "refused" in opwright("replay", path).stdout else 0)
    assert report["calls"] == 1
    assert report["sequence"][0]["op"] == "ttnn.concat"


# -- what is told


def test_a_failure_names_the_commands_that_repeat_it(opwright, tmp_path) -> None:
    path = made_trace(tmp_path / "t.opwt", [("ttnn.matmul", [1, 2], 3), ("ttnn.relu", [3], 4)])
    table = opwright("replay", path)
    assert table.returncode == 1
    assert f"repeat: opwright replay {path} 1\n" in table.stdout
    assert "case: opwright run --case 'ttnn.matmul(" in table.stdout
    assert "first call beyond its bound: 1 (local)" in table.stdout
    report = replayed(opwright, path, status=1)
    assert report["first_beyond"] == 1
    assert report["outcomes"] == {"passed": 1, "refused": 1}


def test_rows_for_programs(opwright, tmp_path) -> None:
    path = made_trace(tmp_path / "t.opwt", [("ttnn.relu", [1], 2), ("ttnn.add", [2, 1], 3)])
    lines = opwright("replay", path, "--format", "jsonl").stdout.splitlines()
    assert [json.loads(line)["call"] for line in lines] == [1, 2]
    header, *rows = opwright("replay", path, "--format", "csv").stdout.splitlines()
    assert header == "call,op,outcome,local_pcc,local_err,global_pcc,global_err,dram,l1,beyond,recorded,reason"
    assert len(rows) == 2


# -- other devices


def test_a_device_without_numbers(opwright) -> None:
    report = replayed(opwright, DECODER, "--device", "null")
    assert report["outcomes"]["accepted"] == 87
    assert report["edges"]["recorded"] == 100
    assert report["sequence"][0]["local"] is None


# relu, add and multiply without any library; results as bfloat16 holds them, ties to even.
DEVICE = """
import struct
from opwright.device import serve

def rounded(value):
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    return struct.unpack("<f", struct.pack("<I", (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000))[0]

class Three:
    hello = {"name": "three", "numerics": "exact-model", "board": "n150"}

    def do_run(self, request):
        made = {"ttnn.relu": lambda a: max(a, 0), "ttnn.add": lambda a, b: a + b, "ttnn.multiply": lambda a, b: a * b}
        specs = [value["tensor"] for value in [*request.call["args"], *request.call["kwargs"].values()]]
        given = [request.input(spec["slot"])[1] for spec in specs]
        for i, values in enumerate(zip(*given)):
            request.outputs[0].values[i] = rounded(made[request.call["op"]](*values))
        like = specs[0]
        memory = {"layout": "INTERLEAVED", "buffer": "DRAM"}
        spec = {"shape": like["shape"], "padded_shape": like["shape"], "dtype": "BFLOAT16", "layout": "TILE"}
        return {"outcome": "ok", "outputs": [{**spec, "storage": "DEVICE", "memory": memory}], "seconds": [0.001]}

serve(Three)
"""


def test_a_device_that_is_a_program_gets_the_values_of_the_sequence(opwright, tmp_path) -> None:
    path = made_trace(tmp_path / "t.opwt", [("ttnn.relu", [1], 2), ("ttnn.add", [2, 1], 3), ("ttnn.multiply", [3, 2], 4)])
    (tmp_path / "three.py").write_text(DEVICE)
    device = f"exec:{sys.executable} {tmp_path}/three.py"
    report = replayed(opwright, path, "--device", device, env={"PYTHONPATH": support.REPO / "python"})
    assert report["replayed"] == 3
    assert report["edges"]["recorded"] == 3
    assert report["outcomes"] == {"unproven": 3}  # it does not tell what it executed
    assert report["failed"] == 0
    assert 0 < report["sequence"][2]["global"]["rel_rms"] < 0.01


def test_the_real_library_on_a_mock_board(opwright, ttnn_python) -> None:
    env = {"OPWRIGHT_TTNN_PYTHON": ttnn_python}
    report = replayed(opwright, DECODER, "--device", "ttnn:mock:n150", "--until", 60, env=env)
    assert set(report["outcomes"]) <= {"accepted", "carried", "freed", "inside", "read"}
    assert report["outcomes"]["accepted"] > 20


def test_collectives_on_several_meshes_of_one_trace(opwright, ttnn_python, tmp_path) -> None:
    from maker.native import T, Trace, Ttnn

    trace = Trace()
    trace.lane(0, 100)
    trace.fact("uid", "three meshes")
    for number, mesh in enumerate(((1, 2), (2, 1), (1, 1), (1, 2)), start=1):
        ttnn = Ttnn(trace, mesh=mesh)
        chips = mesh[0] * mesh[1]
        part, whole = ttnn.spec([1, 1, 32, 64]), ttnn.spec([1, 1, 32, 64 * chips])
        gather = trace.call_value("ttnn.all_gather", T(part), dim=3)
        call = gather if chips > 1 else trace.call_value("ttnn.relu", T(part))
        trace.call(call, [(10 * number, 1)], result=trace.value(T(whole)), returned=[(10 * number + 1, 1, number, 0, 0)])
    path = tmp_path / "meshes.opwt"
    path.write_bytes(trace.bytes())
    report = replayed(opwright, path, "--device", "ttnn:mock:n300", env={"OPWRIGHT_TTNN_PYTHON": ttnn_python})
    assert report["outcomes"] == {"accepted": 4}, [step["reason"] for step in report["sequence"]]


MESHES = """
import sys
from unittest.mock import MagicMock
library = sys.modules["ttnn"] = MagicMock()
library.get_num_devices.return_value = 8
did = []
library.set_fabric_config.side_effect = lambda config: did.append("fabric" if config is library.FabricConfig.FABRIC_1D else "none")
library.MeshShape.side_effect = lambda *shape: shape
library.open_mesh_device.side_effect = lambda shape, **_: (did.append(shape), object())[1]
library.close_mesh_device.side_effect = lambda device: did.append("closed")
from opwright.ttnn_device.boards import OpenMesh
mesh = OpenMesh(0)
for shape in ([1, 8], [2, 4], [1, 1], [1, 8]):
    mesh.device(shape)
mesh.close()
print(did)
"""


def test_a_mesh_that_is_closed_takes_its_fabric_and_the_next_one_gets_another() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MESHES], capture_output=True, encoding="utf-8", env={"PYTHONPATH": str(support.REPO / "python")}
    )
    assert done.stdout.strip() == str(
        ["fabric", (1, 8), "closed", "none", "fabric", (2, 4), "closed", "none", (1, 1), "closed"]
        + ["fabric", (1, 8), "closed", "none"]
    ), done.stdout + done.stderr


# -- real traces


def test_a_llama_on_two_chips(opwright, real_data) -> None:
    trace = real_data / "native" / "llama-3.2-1b-n300.opwt.zst"
    if not trace.exists():
        pytest.skip("real data not present")
    report = replayed(opwright, trace, "--until", 132, "--max-work", "3e7")
    assert report["device"] == "sim:n300"
    assert report["outcomes"].get("failed", 0) == 0
    assert report["outcomes"]["passed"] > 30
    assert report["outcomes"]["skipped"] > 0
    assert report["edges"]["broken"] == 0


# -- bad input


def test_a_trace_that_is_cut(opwright, tmp_path) -> None:
    path = made_trace(tmp_path / "t.opwt", [("ttnn.relu", [i], i + 1) for i in range(1, 40)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 300])
    report = replayed(opwright, path)
    assert 0 < report["outcomes"]["passed"] < 39
    assert report["losses"]


def test_a_stretch_that_the_trace_does_not_reach(opwright, tmp_path) -> None:
    path = made_trace(tmp_path / "t.opwt", [("ttnn.relu", [i], i + 1) for i in range(1, 40)])
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 300])
    result = opwright("replay", path, "--range", "5:39")
    assert result.returncode == 0, result.stderr
    assert "the trace ends at call " in result.stdout
    report = replayed(opwright, path, "--range", "5:39")
    assert 5 < report["ends_early"] < 39
    assert report["sequence"][-1]["call"] == report["ends_early"]
    assert replayed(opwright, path, "--range", "5:6")["ends_early"] is None


def test_a_store_from_a_later_version(opwright) -> None:
    load_trace(opwright, MLP, options=("--include-failed",))
    (kept,) = answer(opwright("traces", "--format", "json"))
    with contextlib.closing(sqlite3.connect(Path(opwright.folder) / "opwright.db")) as store:
        store.execute("PRAGMA user_version = 9999")
    result = opwright("replay", "@" + kept["trace"][:10])
    check_no_crash(result)
    assert result.returncode == 3
    assert "newer" in result.stderr


def strange_trace(path: Path) -> Path:
    """Classes and operators that nobody has, each feeding the next call, and a last one that is sound."""
    from maker.native import S, T, Trace, Ttnn

    trace = Trace()
    ttnn = Ttnn(trace, mesh=(1, 1))
    trace.lane(0, 100)
    trace.fact("uid", "strange")
    row, square = ttnn.spec([1, 1, 32, 64]), ttnn.spec([1, 1, 64, 64])
    program, memory = (trace.value(S(name, x=1)) for name in ("MatmulHologramProgramConfig", "HologramConfig"))
    calls = [
        (trace.call_value("ttnn.linear", T(row), T(square), program_config=program), [1, 2]),
        (trace.call_value("ttnn.relu", T(row), memory_config=memory), [101]),
        (trace.call_value("ttnn.nothing_like_it", T(row)), [102]),
        (trace.call_value("ttnn.relu", T(row)), [103]),
    ]
    for number, (call, given) in enumerate(calls, start=101):
        trace.call(call, [(i, 1) for i in given], result=trace.value(T(row)), returned=[(number, 1, number, 0, 0)])
    path.write_bytes(trace.bytes())
    return path


def test_what_nobody_knows_is_named_and_the_rest_goes_on(opwright, tmp_path) -> None:
    report = replayed(opwright, strange_trace(tmp_path / "t.opwt"), status=1)
    assert [step["outcome"] for step in report["sequence"]] == ["passed", "refused", "unsupported", "passed"]
    assert "memory_config cannot be HologramConfig" in report["sequence"][1]["reason"]
    assert "ttnn.nothing_like_it" in report["sequence"][2]["reason"]
    assert report["sequence"][3]["inputs"][0]["values"] == "recipe"


def test_what_the_installed_library_lacks_is_named_and_the_rest_goes_on(opwright, ttnn_python, tmp_path) -> None:
    path = strange_trace(tmp_path / "t.opwt")
    report = replayed(opwright, path, "--device", "ttnn:mock:n150", env={"OPWRIGHT_TTNN_PYTHON": ttnn_python})
    assert [step["outcome"] for step in report["sequence"]] == ["unsupported", "unsupported", "unsupported", "accepted"]
    for step, name in zip(report["sequence"], ("MatmulHologramProgramConfig", "HologramConfig", "nothing_like_it"), strict=False):
        assert name in step["reason"]


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        ([], 2, "replay needs a TRACE"),
        (["nothing.opwt"], 3, "no such file"),
        (["@nothing"], 3, ""),
        ([MLP, "seven"], 2, "no number of a call"),
        ([MLP, "99999"], 3, "no call 99999"),
        ([MLP, "--range", "9:1"], 2, "--range"),
        ([MLP, "--index", "1"], 2, "--index needs --jsonl"),
        ([MLP, "--jsonl", "x"], 2, "not both"),
        ([MLP, "--device", "simm"], 3, "no device 'simm'"),
        ([MLP, "--pcc", "2"], 2, "--pcc 2"),
        ([MLP, "--data", "odd"], 2, "--data odd"),
        ([MLP, "--assume-layout", "round"], 2, "--assume-layout round"),
        ([fixture("native/newer_version.opwt")], 3, "read it with a newer opwright"),
        ([fixture("master")], 3, ""),
    ],
)
def test_wrong_usage(opwright, arguments, status, words) -> None:
    result = opwright("replay", *arguments)
    assert result.returncode == status, result.stdout + result.stderr
    assert words in result.stderr


@pytest.mark.parametrize("name", ["cut.opwt", "damaged.opwt", "killed.opwt"])
def test_damaged_traces_give_what_is_there(opwright, name) -> None:
    result = opwright("replay", fixture("native") / name)
    check_no_crash(result)
    assert result.returncode in (0, 1)
    if name != "killed.opwt":
        assert "LOST" in result.stdout
