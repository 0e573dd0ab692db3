"""`python -m opwright.ttnn_device` on the real library's mock boards, asked through the device protocol."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import support
from device_client import Client, Data, call, tensor

L1 = {"layout": "INTERLEAVED", "buffer": "L1"}


def sharded(layout: str, shape: list[int], x: int, y: int) -> dict:
    shard = {"grid": [[0, 0, x, y]], "shape": shape, "orientation": "ROW_MAJOR"}
    return {"layout": layout, "buffer": "L1", "shard": shard}


class Started:
    """Starts the program on a mock board, and ends what was started."""

    def __init__(self, program: Path, python: Path, folder: Path) -> None:
        self.program, self.python, self.folder = program, python, folder
        self.package = Path(os.environ.get("OPWRIGHT_PYTHON") or program.parent / "python")
        self.clients: list[Client] = []

    def __call__(self, board: str, *arguments: object) -> Client:
        env = support.command_env(self.folder, PYTHONPATH=self.package)
        command = [self.program, "mock", "--board", board, "--", self.python, "-m", "opwright.ttnn_device", *arguments]
        self.clients.append(Client(command, env, self.folder))
        return self.clients[-1]


@pytest.fixture(scope="module")
def start(opwright_program, ttnn_python, tmp_path_factory):
    started = Started(opwright_program, ttnn_python, tmp_path_factory.mktemp("ttnn-device"))
    yield started
    for client in started.clients:
        client.kill()


@pytest.fixture(scope="module")
def n150(start):
    device = start("n150")
    yield device
    assert device.end() == 0, device.errors()[-2000:]


def accepted(device: Client, made: dict, **fields: object) -> dict:
    answer = device.ask(call=made, **fields)
    assert answer is not None, device.errors()[-2000:]
    assert answer["outcome"] == "ok", answer
    return answer


def test_hello_says_what_it_is(n150) -> None:
    hello = n150.hello
    assert n150.first["protocol"] == 1
    assert (hello["name"], hello["numerics"]) == ("ttnn:mock:n150", "none")
    assert hello["board"] == {"name": "n150", "grid": [8, 8]}
    assert hello["capture"] is True and hello["memory"] is True and hello["mesh"] is False
    assert hello["versions"]["ttnn"]


def test_outputs_are_described(n150) -> None:
    memory = sharded("HEIGHT_SHARDED", [64, 96], 0, 3)
    made = call("ttnn.add", tensor(0, [1, 1, 250, 96]), 1.5, memory_config={"memory_config": memory})
    (output,) = accepted(n150, made)["outputs"]
    assert output == {
        "shape": [1, 1, 250, 96], "padded_shape": [1, 1, 256, 96], "dtype": "BFLOAT16", "layout": "TILE",
        "storage": "DEVICE", "memory": memory,
    }  # fmt: skip


MATMUL = {"in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1, "per_core_M": 2, "per_core_N": 1}
A, B = tensor(0, [1, 1, 64, 64]), tensor(1, [1, 1, 64, 64])
GELU = {"struct": {"type": "UnaryWithParam", "fields": {"op_type": {"enum": ["UnaryOpType", "GELU"]}, "params": [1.0]}}}
ND = {"layout": "ND_SHARDED", "buffer": "L1", "nd_shard": {
    "grid": [[0, 0, 1, 1]], "shape": [1, 1, 32, 32], "orientation": "ROW_MAJOR", "distribution": "ROUND_ROBIN_1D"}}  # fmt: skip

REBUILT = {
    "sharded input": call("ttnn.relu", tensor(0, [1, 1, 64, 64], memory=sharded("WIDTH_SHARDED", [64, 32], 1, 0))),
    "nd shards": call("ttnn.to_memory_config", A, {"memory_config": ND}),
    "small tile": call("ttnn.matmul", tensor(0, [1, 1, 16, 64], tile=[16, 32]), B),
    "dtype": call("ttnn.typecast", A, dtype={"dtype": "BFLOAT8_B"}),
    "layout": call("ttnn.to_layout", A, layout={"layout": "ROW_MAJOR"}),
    "infinity": call("ttnn.full_like", A, {"float": "-inf"}),
    "shape": call("ttnn.reshape", A, {"shape": [1, 1, 128, 32]}),
    "tuple": call("ttnn.permute", A, {"tuple": [0, 1, 3, 2]}),
    "device": call("ttnn.zeros", {"shape": [32, 32]}, device={"device": True}, layout={"layout": "TILE"}),
    "device by its struct": call("ttnn.zeros", [32, 32], device={"struct": {"type": "MeshDevice", "fields": {"shape": [1, 1]}}}),
    "core grid": call("ttnn.matmul", A, B, core_grid={"core_grid": {"x": 2, "y": 1}}),
    "activations by name": call("ttnn.add", A, B, activations=[{"enum": ["UnaryOpType", "RELU"]}]),
    "activations with parameters": call("ttnn.add", A, B, activations=[GELU]),
    "1D matmul, flags as numbers": call("ttnn.linear", A, B, program_config={"program_config": {
        "type": "MatmulMultiCoreReuseMultiCast1DProgramConfig", "compute_with_storage_grid_size": [2, 1], **MATMUL,
        "fuse_batch": 1, "fused_activation": GELU, "mcast_in0": 1, "hop_cores": []}}),
    "2D matmul as a plain struct": call("ttnn.linear", A, B, program_config={"struct": {
        "type": "MatmulMultiCoreReuseMultiCastProgramConfig", "fields": {"transpose_mcast": False,
        "compute_with_storage_grid_size": {"struct": {"type": "CoreCoord", "fields": {"x": 2, "y": 1}}},
        "fused_activation": None, **MATMUL}}}),
    "compute config": call("ttnn.matmul", A, B, compute_kernel_config={"compute_kernel_config": {
        "math_fidelity": {"enum": ["MathFidelity", "HiFi2"]}, "fp32_dest_acc_en": True,
        "throttle_level": {"enum": ["ThrottleLevel", "NO_THROTTLE"]}}}),
    "compute config, short": call("ttnn.matmul", A, B, compute_kernel_config={"compute_kernel_config": {"math_fidelity": "LoFi"}}),
    "norm config": call("ttnn.layer_norm", tensor(0, [1, 1, 64, 64], memory=sharded("BLOCK_SHARDED", [32, 32], 1, 1)),
        program_config={"program_config": {"type": "LayerNormShardedMultiCoreProgramConfig",
        "compute_with_storage_grid_size": [2, 2], "subblock_w": 1, "block_h": 1, "block_w": 1, "inplace": 0}}),
    "attention config": call("ttnn.transformer.scaled_dot_product_attention", *(tensor(i, [1, 2, 64, 64]) for i in range(3)),
        is_causal=True, program_config={"program_config": {"type": "SDPAProgramConfig",
        "compute_with_storage_grid_size": [8, 8], "q_chunk_size": 32, "k_chunk_size": 32, "sub_core_grids": None}}),
    "core range set": call("ttnn.add", A, B, sub_core_grids={"core_range_set": [[0, 0, 1, 1]]}),
    "core ranges with their ends first": call("ttnn.add", A, B, sub_core_grids={"struct": {
        "type": "CoreRangeSet", "fields": {"ranges": [{"struct": {"type": "CoreRange", "fields": {
            "end": {"struct": {"type": "CoreCoord", "fields": {"x": 3, "y": 2}}},
            "start": {"struct": {"type": "CoreCoord", "fields": {"x": 1, "y": 0}}}}}}]}}}),
    "core ranges as a list": call("ttnn.add", A, B, sub_core_grids=[
        {"struct": {"type": "CoreRange", "fields": {"end": [3, 2], "start": [1, 0]}}}]),
    "a grid of one kind or the other": call("ttnn.interleaved_to_sharded", A, [
        {"struct": {"type": "CoreRange", "fields": {"end": [2, 0], "start": [1, 0]}}}], [32, 64],
        {"enum": ["TensorMemoryLayout", "HEIGHT_SHARDED"]}, {"enum": ["ShardOrientation", "ROW_MAJOR"]}),
    "part of a tensor": call("ttnn.Tensor.__getitem__", A, {"tuple": [{"struct": {"type": "slice", "items": [None, None, None]}}, 0]}),
    "activation of an older version": call("ttnn.linear", A, B, program_config={"program_config": {
        "type": "MatmulMultiCoreReuseMultiCast1DProgramConfig", "compute_with_storage_grid_size": [2, 1], **MATMUL,
        "fuse_batch": 1, "mcast_in0": 1, "fused_activation": {"struct": {"type": "BasicUnaryWithParam<float>", "fields": {
            "op_type": {"enum": ["UnaryOpType", "RELU"]}, "params": []}}}}}),
    "a member that the library overrules": call("ttnn.layer_norm", A, program_config={"program_config": {
        "type": "LayerNormDefaultProgramConfig", "legacy_reduction": True, "legacy_rsqrt": True, "use_welford": False}}),
    "sub-device": call("ttnn.add", A, B, sub_device_id={"struct": {"type": "SubDeviceId", "items": [0]}}),
    "sub-device as text": call("ttnn.add", A, B, sub_device_id={"opaque": {"type": "SubDeviceId", "text": "SubDeviceId(0)"}}),
    "config without members": call("ttnn.softmax_in_place", A, program_config={"opaque": {
        "type": "SoftmaxDefaultProgramConfig", "text": "<ttnn._ttnn.operations.normalization.SoftmaxDefaultProgramConfig object>"}}),
}  # fmt: skip


@pytest.mark.parametrize("name", REBUILT)
def test_arguments_are_made_again(n150, name) -> None:
    accepted(n150, REBUILT[name])


def test_conv_config(n150) -> None:
    config = {"weights_dtype": {"dtype": "BFLOAT16"}, "activation": GELU, "shard_layout": None, "deallocate_activation": 0}
    numbers = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 8, "input_width": 8}
    made = call(
        "ttnn.conv2d", input_tensor=tensor(0, [1, 1, 64, 32], layout="ROW_MAJOR"), device={"device": True},
        weight_tensor=tensor(1, [32, 32, 3, 3], layout="ROW_MAJOR", storage="HOST", dtype="FLOAT32"),
        kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], conv_config={"conv_config": config}, **numbers,
    )  # fmt: skip
    accepted(n150, made)


@pytest.mark.parametrize("slices", [
    {"slice_type": {"enum": ["SliceType", "DRAM_HEIGHT"]}, "num_slices": 2},  # as C++ prints it
    {"slice_type": {"enum": ["SliceTypeEnum", "DRAMSliceWidth"]}, "num_slices": 2},
    {"slice_type": {"enum": ["SliceType", "L1_FULL"]}, "num_slices": 1},
])  # fmt: skip
def test_slices_of_a_convolution(n150, slices) -> None:
    numbers = {"in_channels": 32, "out_channels": 32, "batch_size": 1, "input_height": 32, "input_width": 64}
    made = call(
        "ttnn.conv2d", input_tensor=tensor(0, [1, 1, 2048, 32], layout="ROW_MAJOR"), device={"device": True},
        weight_tensor=tensor(1, [32, 32, 3, 3], layout="ROW_MAJOR", storage="HOST", dtype="FLOAT32"),
        kernel_size=[3, 3], stride=[1, 1], padding=[1, 1], **numbers,
        slice_config={"struct": {"type": "Op2DSliceConfig", "fields": slices}},
    )  # fmt: skip
    answer = accepted(n150, made)
    in_l1 = answer["outputs"][0]["memory"]["buffer"] == "L1"
    assert in_l1 == (slices["slice_type"]["enum"][1] == "L1_FULL")


UNSUPPORTED = {
    "an operation of another version": (call("ttnn.no_such_thing", A), "op", "ttnn.no_such_thing"),
    "a text": (call("ttnn.add", A, {"opaque": {"type": "Sampler", "text": "<at 0x7f>"}}), "arg1", "Sampler"),
    "a number of an enum": (call("ttnn.linear", A, B, program_config={"program_config": {
        "type": "MatmulMultiCoreReuseMultiCast1DProgramConfig", "compute_with_storage_grid_size": [2, 1], **MATMUL,
        "fuse_batch": 1, "mcast_in0": 1, "fused_activation": {"dict": {"op_type": 2, "param": [1.0]}}}}),
        "program_config", "number 2"),
    "a struct without type": (call("ttnn.linear", A, B, program_config={"dict": {"in0_block_w": 1}}), "program_config", "lost the type"),
    "a field of another version": (call("ttnn.linear", A, B, program_config={"program_config": {
        "type": "MatmulMultiCoreReuseProgramConfig", **MATMUL, "warp": 3}}), "program_config", "warp"),
    "a tensor of another library": (call("ttnn.add", A, {"tensor": {"type": "torch.Tensor", "shape": [2]}}), "arg1", "torch.Tensor"),
    "a tensor without dtype": (call("ttnn.add", A, {"tensor": {"slot": 1, "shape": [2]}}), "arg1", "dtype"),
    "more chips than there are": (call("ttnn.relu", tensor(0, [32, 32], placement={
        "dims": ["Replicate"], "distribution": [8], "mesh": [1, 8]})), "", "1x8"),
    "an unknown tag": (call("ttnn.relu", A, memory_config={"colour": 1}), "memory_config", "colour"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_what_cannot_be_made_is_named(n150, name) -> None:
    made, argument, words = UNSUPPORTED[name]
    answer = n150.ask(call=made)
    assert (answer["outcome"], answer["argument"]) == ("unsupported", argument), answer
    assert words in answer["error"]["message"]


def test_refusals_have_the_failed_condition(n150) -> None:
    answer = n150.ask(call=call("ttnn.matmul", A, tensor(1, [1, 1, 96, 64])))
    assert answer["outcome"] == "refused", answer
    error = answer["error"]
    assert error["stage"] == "call" and "width" in error["message"] and "backtrace" not in error["message"]
    assert error["file"].startswith("ttnn/cpp/") and error["file"].endswith(".cpp") and error["line"] > 0 and error["condition"]
    no_such_argument = n150.ask(call=call("ttnn.add", A, B, colour=3))
    assert (no_such_argument["outcome"], no_such_argument["error"]["type"]) == ("refused", "TypeError")


def test_a_refused_input_is_the_inputs_fault(n150) -> None:
    memory = sharded("HEIGHT_SHARDED", [33, 64], 0, 1)
    answer = n150.ask(call=call("ttnn.relu", tensor(0, [1, 1, 64, 64], memory=memory)))
    assert (answer["outcome"], answer["error"]["stage"]) == ("refused", "input"), answer


def test_out_of_memory_is_no_refusal(n150) -> None:
    big = tensor(0, [1, 1, 8192, 8192], memory=L1)
    answer = n150.ask(call=call("ttnn.relu", big))
    assert (answer["outcome"], answer["error"]["stage"]) == ("out_of_memory", "input"), answer
    buffers = {"type": "SDPAProgramConfig", "compute_with_storage_grid_size": [8, 8], "q_chunk_size": 1024, "k_chunk_size": 1024}
    heads = [tensor(i, [1, 1, 2048, 256]) for i in range(3)]
    answer = n150.ask(
        call=call("ttnn.transformer.scaled_dot_product_attention", *heads, program_config={"program_config": buffers})
    )
    assert (answer["outcome"], answer["error"]["stage"]) == ("out_of_memory", "call"), answer


def test_tensors_are_freed_after_each_case(n150) -> None:
    for dtype in ("BFLOAT16", "FLOAT32"):
        for _ in range(12):  # together more than the board has
            accepted(n150, call("ttnn.relu", tensor(0, [1, 1, 16384, 16384], dtype=dtype)))
    refused = call("ttnn.add", tensor(0, [1, 1, 16384, 16384]), tensor(1, [1, 1, 16384, 8192]))
    for _ in range(20):
        assert n150.ask(call=refused)["outcome"] == "refused"


def test_peak_memory_counts_inputs_outputs_and_buffers(n150) -> None:
    small = accepted(n150, call("ttnn.relu", A), memory=True)
    assert 0 < small["l1_per_core"] < 100_000 and small["dram"] == 2 * 64 * 64 * 2
    in_l1 = accepted(n150, call("ttnn.relu", tensor(0, [1, 1, 64, 64], memory=L1)), memory=True)
    assert in_l1["l1_per_core"] >= small["l1_per_core"] + 2 * 2048, "input and output lie on the cores now"
    assert in_l1["dram"] == 0
    again = accepted(n150, call("ttnn.relu", A), memory=True)
    assert again["l1_per_core"] == small["l1_per_core"], "a cached program has the same buffers"
    assert "l1_per_core" not in accepted(n150, call("ttnn.relu", A))
    matmul = accepted(n150, call("ttnn.matmul", A, B), memory=True)
    assert matmul["l1_per_core"] > 0, "dataflow buffers are counted, too"


def test_cold_and_warm_seconds(n150) -> None:
    made = call("ttnn.multiply", tensor(0, [1, 1, 96, 160]), tensor(1, [1, 1, 96, 160]))
    cold, *warm = accepted(n150, made, repeat=3)["seconds"]
    assert len(warm) == 2 and cold > max(warm) > 0
    freed = accepted(n150, call("ttnn.deallocate", A), repeat=3)
    assert len(freed["seconds"]) == 1, "the library dies of a freed input"


@pytest.mark.parametrize("dtype, kind", [("BFLOAT16", "f32"), ("FLOAT32", "f32"), ("BFLOAT8_B", "f32"), ("BFLOAT4_B", "f32"),
                                         ("INT32", "i32"), ("UINT32", "u32"), ("UINT16", "u16"), ("UINT8", "u8")])  # fmt: skip
def test_values_go_in_and_come_out_exactly(n150, tmp_path, dtype, kind) -> None:
    """On the host, where the mock device has numbers."""
    values = [float(i % 4) if kind == "f32" else i % 200 for i in range(40 * 50)]
    data = Data(tmp_path / "data", [(kind, values)], [(kind, [1, 1, 40, 50])])
    made = call("ttnn.to_layout", tensor(0, [1, 1, 40, 50], dtype=dtype, storage="HOST"), layout={"layout": "TILE"})
    answer = accepted(n150, made, **data.request())
    assert answer["written"] == 1 and data.output() == values and data.is_unharmed()


def test_values_on_the_device_are_none(n150, tmp_path) -> None:
    """The whole way to the mock device and back, which reads zeros; and an output of another size is not written."""
    values = [1.0] * (64 * 64)
    data = Data(tmp_path / "data", [("f32", values)], [("f32", [1, 1, 64, 64])])
    assert accepted(n150, call("ttnn.relu", A), **data.request())["written"] == 1
    assert data.output() == [0.0] * len(values)
    other = Data(tmp_path / "other", [("f32", values)], [("f32", [1, 1, 64, 65])])
    assert accepted(n150, call("ttnn.relu", A), **other.request())["written"] == 0
    assert other.is_unharmed() and other.path.read_bytes().count(b"\xcd") >= 64 * 65 * 4


def test_what_was_executed_is_recorded(n150, opwright) -> None:
    made = REBUILT["1D matmul, flags as numbers"]
    answer = accepted(n150, made, capture=True, repeat=2, memory=True)
    imported = opwright("--format", "json", "import", answer["trace"])
    os.remove(answer["trace"])
    assert imported.returncode == 0, imported.stderr
    assert json.loads(imported.stdout)["calls"] == 1, "only the call, and once"
    (row,) = [json.loads(line) for line in opwright("export", "--to", "jsonl").stdout.splitlines()]
    arguments = row["arguments"]
    assert row["operation"] == "ttnn.linear"
    assert [arguments[name]["tensor"]["shape"] for name in ("input_tensor_a", "input_tensor_b")] == [[1, 1, 64, 64]] * 2
    fields = arguments["program_config"]["fields"]
    assert {name: fields[name] for name in MATMUL} == MATMUL
    assert fields["fused_activation"]["fields"]["op_type"] == {"enum": "UnaryOpType.GELU"}
    assert fields["fused_activation"]["fields"]["params"] == [1]


def test_a_refused_call_is_recorded_too(n150, opwright) -> None:
    answer = n150.ask(call=call("ttnn.matmul", A, tensor(1, [1, 1, 96, 64])), capture=True)
    shown = opwright("--format", "jsonl", "dump", answer["trace"]).stdout
    os.remove(answer["trace"])
    (made,) = [json.loads(line)["call"] for line in shown.splitlines() if '"call":' in line[:9]]
    assert made["op"] == "ttnn.matmul" and made["err"] is not None


def test_golden_functions_are_a_second_reference(n150, ttnn_python, tmp_path) -> None:
    if subprocess.run([ttnn_python, "-c", "import torch"], capture_output=True).returncode:
        assert n150.hello["golden"] is False
        pytest.skip("torch is not there")
    assert n150.hello["golden"] is True
    values = [float(i % 7 - 3) for i in range(64 * 64)]
    data = Data(tmp_path / "data", [("f32", values)], [("f32", [1, 1, 64, 64])])
    answer = n150.ask("golden", call=call("ttnn.relu", A), **data.request())
    assert (answer["outcome"], answer["written"]) == ("ok", 1), answer
    assert data.output() == [max(0.0, value) for value in values]
    none = n150.ask("golden", call=call("ttnn.experimental.nlp_concat_heads", A), **data.request())
    assert none["outcome"] == "unsupported" and "golden" in none["error"]["message"]

    numbers = Data(tmp_path / "numbers", [("i32", [2**24 + 1, -7])], [("i32", [2])])
    answer = n150.ask("golden", call=call("ttnn.plus_one", tensor(0, [2], dtype="INT32")), **numbers.request())
    assert (answer["outcome"], answer["written"]) == ("ok", 1), answer
    assert numbers.output() == [2**24 + 2, -6]


@pytest.mark.parametrize(("groups", "lost"), [(1, 15), (32, 0)])
def test_golden_convolutions_get_weights_as_the_library_holds_them(n150, tmp_path, groups, lost) -> None:
    if not n150.hello["golden"]:
        pytest.skip("torch is not there")
    # 1/512 is nothing in a block of 16 with a 1; groups are in rows of their own.
    per_group = 32 // groups
    weights = [1.0 if out == 0 else 1 / 512 for out in range(32) for _ in range(per_group)]
    data = Data(tmp_path / "data", [("f32", [1.0] * (64 * 32)), ("f32", weights)], [("f32", [1, 1, 64, 32])])
    made = call(
        "ttnn.conv2d", input_tensor=tensor(0, [1, 1, 64, 32], layout="ROW_MAJOR"), device={"device": True},
        weight_tensor=tensor(1, [32, per_group, 1, 1], layout="ROW_MAJOR", storage="HOST"), groups=groups,
        in_channels=32, out_channels=32, batch_size=1, input_height=8, input_width=8, kernel_size=[1, 1],
        stride=[1, 1], padding=[0, 0], conv_config={"conv_config": {"weights_dtype": {"dtype": "BFLOAT8_B"}}},
    )  # fmt: skip
    answer = n150.ask("golden", call=made, **data.request())
    assert (answer["outcome"], answer["written"]) == ("ok", 1), answer
    assert data.output()[:32] == [float(per_group)] + [0.0] * lost + [per_group / 512] * (31 - lost)


def test_files_go_into_the_folder_of_the_request_alone(n150, tmp_path) -> None:
    place = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else Path("/tmp")
    folder = tmp_path / "files"
    folder.mkdir()
    answer = accepted(n150, call("ttnn.relu", A), capture=True, folder=str(folder))
    assert [str(path) for path in folder.iterdir()] == [answer["trace"]]
    assert not [path for path in place.glob("opwright*") if f"-{n150.process.pid}-" in path.name]
    assert "trace" not in accepted(n150, call("ttnn.relu", A), capture=True, folder="")


def test_semaphores_that_traces_leave_out_are_made_again(start) -> None:
    device = start("t3k")
    placement = {"dims": ["Replicate", "Shard(3)"], "distribution": [1, 8], "mesh": [1, 8]}
    program = {"struct": {"type": "MatmulMultiCoreReuseMultiCastProgramConfig", "fields": {
        "compute_with_storage_grid_size": [8, 6], "in0_block_w": 2, "out_subblock_h": 1, "out_subblock_w": 1,
        "per_core_M": 22, "per_core_N": 4, "transpose_mcast": False, "fuse_batch": False}}}  # fmt: skip
    common = {"dim": 3, "num_links": 1, "topology": {"enum": ["Topology", "Ring"]}, "program_config": program}
    gathered = accepted(device, call(
        "ttnn.experimental.all_gather_matmul_async", tensor(0, [1, 1, 4096, 320], placement=placement),
        tensor(1, [1, 1, 2560, 960], placement=placement), all_gather_core_grid_offset=[0, 6],
        persistent_output_buffer=tensor(2, [1, 1, 4096, 2560], placement=placement), **common,
    ))  # fmt: skip
    assert [output["shape"] for output in gathered["outputs"]] == [[1, 1, 4096, 2560], [1, 1, 4096, 960]]
    scattered = accepted(device, call(
        "ttnn.experimental.reduce_scatter_minimal_async", tensor(0, [1, 1, 32, 512], placement=placement), dim=3,
        num_links=1, topology={"enum": ["Topology", "Linear"]},
    ))  # fmt: skip
    assert scattered["outputs"][0]["shape"] == [1, 1, 32, 64]
    padded = accepted(device, call(
        "ttnn.experimental.neighbor_pad_async", tensor(0, [1, 8, 8, 32], layout="ROW_MAJOR", placement=placement), [1], [1],
        [1], "zeros", [1], [{"struct": {"type": "global_semaphore", "fields": {}}}], num_links=[1],
        topology={"enum": ["Topology", "Linear"]},
    ))  # fmt: skip
    assert padded["outputs"][0]["shape"] == [1, 10, 8, 32]


def test_rebuilt_arguments_let_go_of_the_device(start) -> None:
    """Python's search for cycles may come when the device is closed: to free it then ends the process."""
    code = """
import gc, weakref, ttnn
from opwright.ttnn_device import objects, tensors
gc.disable()
device = ttnn.open_mesh_device(ttnn.MeshShape(1, 1))
made = objects.Rebuilder(device, lambda spec: tensors.make_tensor(spec, device))
made.call({"op": "ttnn.zeros", "args": [[32, 32]], "kwargs": {"device": {"device": True}}})
gone = weakref.ref(made)
del made
assert gone() is None, gc.get_referrers(gone())
ttnn.close_mesh_device(device)
"""
    env = support.command_env(start.folder, PYTHONPATH=start.package)
    command = [start.program, "mock", "--board", "n150", "--", start.python, "-c", code]
    done = subprocess.run(list(map(str, command)), env=env, cwd=start.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


@pytest.mark.parametrize("members", ["items", "fields"])
def test_members_of_a_set_are_not_lost(start, members) -> None:
    """A printed set has its members without a name, a recorded one under `items`: an empty set would run as well."""
    place = {"struct": {"type": "MeshCoordinate", "items": [[0, 1]]}}
    inner = {"items": [[place]]} if members == "items" else {"fields": {"items": [place]}}
    code = f"""
import ttnn
from opwright.ttnn_device import objects
made, _ = objects.Rebuilder(None, None).call({{"op": "ttnn.relu", "args": [{{"struct": {{"type": "set", **{inner!r}}}}}]}})
assert made == [{{ttnn.MeshCoordinate(0, 1)}}], made
"""
    env = support.command_env(start.folder, PYTHONPATH=start.package)
    command = [start.program, "mock", "--board", "n150", "--", start.python, "-c", code]
    done = subprocess.run(list(map(str, command)), env=env, cwd=start.folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_mesh_is_opened_as_recorded(start, opwright) -> None:
    device = start("n300", "--board", "n300", "--l1-small", 32768)
    assert device.hello["mesh"] is True
    placement = {"dims": ["Replicate", "Shard(3)"], "distribution": [1, 2], "mesh": [1, 2]}
    part = tensor(0, [1, 1, 32, 64], placement=placement)
    gathered = accepted(
        device, call("ttnn.experimental.all_gather_async", part, dim=3, topology={"enum": ["Topology", "Linear"]}, num_links=1)
    )
    assert gathered["outputs"][0]["shape"] == [1, 1, 32, 128]
    single = accepted(device, call("ttnn.relu", A), memory=True)
    assert single["outputs"][0]["shape"] == [1, 1, 64, 64]
    again = accepted(device, call("ttnn.relu", input_tensor=part), capture=True)
    opwright("import", again["trace"])
    os.remove(again["trace"])
    (row,) = [json.loads(line) for line in opwright("export", "--to", "jsonl").stdout.splitlines()]
    assert row["arguments"]["input_tensor"]["tensor"]["placement"] == placement
    assert device.end() == 0, device.errors()[-2000:]


def test_ground_truth_is_made_by_the_same_code(start, opwright, ttnn_python) -> None:
    """`python -m opwright.oracle run`: calls in, records out; a crash costs one record, what cannot be made is counted."""
    calls = [
        call("ttnn.relu", A),
        call("ttnn.matmul", A, tensor(1, [1, 1, 96, 64])),
        call("ttnn.rms_norm", {"tensor": {**A["tensor"], "deallocated": True}}),
        call("ttnn.relu", {"opaque": {"type": "Sampler", "text": "?"}}),
        call("ttnn.neg", A),
    ]
    (opwright.folder / "calls.jsonl").write_text("".join(json.dumps({"call": made}) + "\n" for made in calls))
    command = [ttnn_python, "-m", "opwright.oracle", "run", "calls.jsonl", "-o", "oracle.jsonl"]
    done = opwright("mock", "--board", "n150", "--", *command, env={"PYTHONPATH": start.package})
    assert done.returncode == 0, done.stderr[-2000:]
    assert "2 accepted, 1 refused, 1 crashes" in done.stderr and "1 calls have arguments" in done.stderr
    records = [json.loads(line) for line in (opwright.folder / "oracle.jsonl").read_text().splitlines()]
    assert [record["outcome"] for record in records] == ["ok", "error", "crash", "ok"]
    report = json.loads(opwright("--format", "json", "device", "conform", "--oracle", "oracle.jsonl").stdout)
    assert report["outcome"] == {"agree": 4, "disagree": 0}
