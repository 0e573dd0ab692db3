"""`opwright trace` on the real ttnn library, on its mock device: what is recorded is what was called."""

import json
import sys
from collections import Counter
from pathlib import Path

import planted
import pytest
import support

PROGRAMS = Path(__file__).resolve().parent / "programs"


def _resolved(value, values: dict[int, object]):
    """With every {"$c": id} replaced by the value it stands for."""
    if isinstance(value, dict):
        return values[value["$c"]] if set(value) == {"$c"} else {key: _resolved(item, values) for key, item in value.items()}
    return [_resolved(item, values) for item in value] if isinstance(value, list) else value


class Trace:
    """A program traced once: its output, the summary, and its calls as `dump --format jsonl` shows them."""

    def __init__(self, opwright, python, program: Path, *flags: str, board: str = "n150", env=None, arguments=()):
        self.opwright = opwright
        self.folder = opwright.folder / f"trace-{program.stem}-{len(list(opwright.folder.iterdir()))}"
        self.done = opwright(
            "--format", "json", "trace", "--mock", board, "--output", self.folder, *flags,
            "--", python, program, *arguments, env=env,
        )  # fmt: skip
        self.summary = json.loads(self.done.stdout) if self.done.stdout else {}
        planted.check_traces(self.folder)
        self._calls = None

    @property
    def calls(self) -> list[dict]:
        if self._calls is None:
            shown = self.opwright("--format", "jsonl", "dump", self.summary["trace"])
            assert shown.returncode == 0, shown.stderr
            lines = [json.loads(line) for line in shown.stdout.splitlines()]
            values = {line["config"]["id"]: line["config"]["value"] for line in lines if "config" in line}
            self._calls = [_resolved(line["call"], values) for line in lines if "call" in line]
        return self._calls

    def names(self) -> list[str]:
        return [call["op"] for call in self.calls]

    def of(self, op: str) -> list[dict]:
        return [call for call in self.calls if call["op"] == op]


@pytest.fixture(scope="module")
def arguments(opwright_program, ttnn_python, tmp_path_factory):
    from conftest import Opwright

    opwright = Opwright(opwright_program, tmp_path_factory.mktemp("arguments"))
    trace = Trace(opwright, ttnn_python, PROGRAMS / "arguments.py", "--all-ops")
    assert trace.done.returncode == 0, trace.done.stderr
    return trace


def test_every_call_is_recorded(arguments):
    counts = Counter(arguments.names())
    assert counts["ttnn.add"] == 5, counts
    assert counts["ttnn.subtract"] == 2
    assert counts["ttnn.Tensor.__getitem__"] == 2
    assert counts["ttnn.slice"] == 2
    assert counts["ttnn.squeeze"] == 1
    assert counts["ttnn.Tensor.reshape"] == 1
    assert counts["ttnn.matmul"] == 2
    assert arguments.summary["calls"] == len(arguments.calls)
    assert arguments.summary["errors"] == 2
    assert arguments.summary["opaque"] == 0, "everything this program passes can be read"


def test_nested_calls_know_their_parent(arguments):
    outer = arguments.of("ttnn.Tensor.__getitem__")
    inner = arguments.of("ttnn.slice")
    assert [call["parent"] for call in inner] == [call["seq"] for call in outer]


def test_calls_that_raise_keep_their_error(arguments):
    raised = [call for call in arguments.calls if call.get("err")]
    assert [call["op"] for call in raised] == ["ttnn.matmul", "ttnn.add"]
    assert "width=64 height=32" in json.dumps(raised[0]["err"])
    shown = arguments.opwright("--format", "json", "ops", "--where", "raised>0", env={"OPWRIGHT_STORE": "opwright.db"})
    assert {row["operation"] for row in json.loads(shown.stdout)} == {"ttnn.matmul", "ttnn.add"}


def test_arguments_are_recorded_as_themselves(arguments):
    text = {call["seq"]: json.dumps(call) for call in arguments.calls}
    numbers = [call for call in arguments.of("ttnn.add") if len(call["args"]) == 2 and isinstance(call["args"][1], (int, float))]
    assert [type(call["args"][1]) for call in numbers] == [int, float], "3 and 3.0 stay apart"
    none = [call for call in arguments.of("ttnn.add") if "memory_config" in call["kw"]]
    assert len(none) == 1 and none[0]["kw"]["memory_config"] is None, "None is not absent"
    memory = arguments.of("ttnn.to_memory_config")
    assert "BLOCK_SHARDED" in text[memory[0]["seq"]]
    assert "NdShardSpec" in text[memory[1]["seq"]]
    blocks = [json.dumps(call["kw"]["program_config"]) for call in arguments.of("ttnn.linear")]
    assert '"in0_block_w": 1' in blocks[0] and '"in0_block_w": 2' in blocks[1], blocks
    assert "q_chunk_size" in text[arguments.of("ttnn.transformer.scaled_dot_product_attention")[0]["seq"]]
    assert "HiFi4" in text[arguments.of("ttnn.softmax")[0]["seq"]]


def test_a_tensor_that_no_call_made_tells_its_storage(opwright, arguments):
    shown = opwright("--format", "json", "dump", arguments.summary["trace"])
    calls = json.loads(shown.stdout)["calls"]
    moved = next(call for call in calls if call["op"] == "ttnn.to_device")
    assert "storage" in moved["args"][0], "a host tensor made by the constructor"
    added = next(call for call in calls if call["op"] == "ttnn.add")
    assert moved["ret"]["storage"] > 0 and added["args"][0]["id"] == moved["ret"]["id"]


def test_writes_and_frees_are_seen(arguments):
    relu = arguments.of("ttnn.relu")[0]
    assert relu["writes"], relu
    assert arguments.of("ttnn.deallocate")[0]["frees"]


def test_what_a_call_writes_into_is_what_the_library_changes(opwright, ttnn_python):
    trace = Trace(opwright, ttnn_python, PROGRAMS / "writes.py", "--all-ops")
    assert trace.done.returncode == 0, trace.done.stderr

    def places(call: dict) -> list[int]:
        given = [value["$t"] for value in [*call["args"], *call["kw"].values()] if isinstance(value, dict) and "$t" in value]
        return [given.index(write["$t"]) for write in call.get("writes", [])]

    written = [(call["op"].removeprefix("ttnn."), places(call)) for call in trace.calls if call["op"] != "ttnn.to_device"]
    assert written == [
        ("copy", [1]),
        ("copy", [0]),  # by keyword, and given first
        ("softmax_in_place", [0]),
        ("scale_mask_softmax_in_place", [0]),
        ("add_", [0]),
        ("experimental.paged_fused_update_cache", [0, 2]),
        ("layer_norm", []),
        ("layer_norm", [0]),
    ]


def test_the_program_does_not_notice(arguments, opwright, ttnn_python):
    plain = opwright("mock", "--board", "n150", "--", ttnn_python, PROGRAMS / "arguments.py")
    assert plain.returncode == 0, plain.stderr
    # without the log lines of the library, which begin with the time
    traced = [line for line in arguments.done.stderr.splitlines() if " critical " not in line]
    untraced = [line for line in plain.stdout.splitlines() + plain.stderr.splitlines() if " critical " not in line]
    assert sorted(traced) == sorted(untraced)


def test_slow_mode_gives_the_same_calls(arguments, opwright, ttnn_python):
    override = {"TTNN_CONFIG_OVERRIDES": '{"enable_fast_runtime_mode": false}'}
    slow = Trace(opwright, ttnn_python, PROGRAMS / "arguments.py", "--all-ops", env=override)
    if "No module named 'torch'" in slow.done.stderr:
        pytest.skip("slow runtime mode needs torch")
    assert slow.done.returncode == 0, slow.done.stderr
    assert slow.names() == arguments.names()


def test_threads_lose_no_call(opwright, ttnn_python):
    trace = Trace(opwright, ttnn_python, PROGRAMS / "threads.py")
    assert trace.done.returncode == 0, trace.done.stderr
    adds = trace.of("ttnn.add")
    assert len(adds) == 2000
    assert Counter(Counter(call["tid"] for call in adds).values()) == {500: 4}
    assert [call["seq"] for call in trace.calls] == sorted({call["seq"] for call in trace.calls})


def test_filters_count_what_they_leave_out(opwright, ttnn_python):
    trace = Trace(opwright, ttnn_python, PROGRAMS / "arguments.py", "--only", "add", "--only", "ttnn.transformer.*")
    assert set(trace.names()) == {"ttnn.add", "ttnn.transformer.scaled_dot_product_attention"}
    assert trace.summary["filtered"] > 20
    first = Trace(opwright, ttnn_python, PROGRAMS / "threads.py", "--first", "100")
    assert len(first.calls) == 100
    assert first.summary["filtered"] == 1901


def test_contents_and_device_operations(opwright, ttnn_python):
    trace = Trace(opwright, ttnn_python, PROGRAMS / "arguments.py", "--values", "full", "--device-ops")
    assert trace.done.returncode == 0, trace.done.stderr
    text = json.dumps(trace.of("ttnn.add")[0])
    assert "BinaryNgDeviceOperation" in text
    assert "sketch" in text or "quantiles" in text


def test_a_library_that_lost_an_attribute(opwright, ttnn_python, tmp_path):
    program = tmp_path / "changed.py"
    program.write_text(
        "import ttnn\n"
        "del ttnn.Tensor.padded_shape\n"
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "ttnn.add(a, a)\n"
        "ttnn.add(a, a)\n"
        "ttnn.close_device(device)\n"
    )
    trace = Trace(opwright, ttnn_python, program)
    assert trace.done.returncode == 0, trace.done.stderr
    assert trace.done.stderr.count("padded_shape") == 1, "one warning"
    assert any("padded_shape" in note for note in trace.summary["notes"])
    assert trace.names().count("ttnn.add") == 2


ENDS = {
    "_exit": ("os._exit(7)", 7),
    "crash": ("ctypes.string_at(0)", 139),
    "kill": ("os.kill(os.getpid(), 9)", 137),
    "exec": ("os.execv(sys.executable, [sys.executable, '-c', 'print(1)'])", 0),
    "abort": ("os.abort()", 134),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_program_that_ends_hard_loses_no_call(opwright, ttnn_python, tmp_path, end):
    statement, status = ENDS[end]
    program = tmp_path / "ends.py"
    program.write_text(
        "import ctypes, os, sys\nimport ttnn\n"
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "for _ in range(100): ttnn.add(a, a)\n"
        f"{statement}\n"
    )
    trace = Trace(opwright, ttnn_python, program, "--include-failed")
    assert trace.done.returncode == status, trace.done.stderr
    assert trace.names().count("ttnn.add") == 100
    assert trace.summary["calls"] == 101


def test_a_crash_inside_a_call_names_it(opwright, ttnn_python, tmp_path):
    program = tmp_path / "crash.py"
    program.write_text(
        "import numpy as np, ttnn\n"
        "device = ttnn.open_device(device_id=0)\n"
        "host = ttnn.Tensor(np.zeros((1, 1, 32, 32), dtype=np.float32), data_type=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)\n"
        "ttnn.relu(host)\n"
    )
    trace = Trace(opwright, ttnn_python, program, "--include-failed")
    assert trace.done.returncode == 139, "the library crashes on a host tensor here; when it no longer does, find another call"
    assert trace.summary["unfinished"] == 1
    shown = opwright("trace", "--mock", "n150", "--", ttnn_python, program)
    assert "UNFINISHED: the process ended during a call of ttnn.relu" in shown.stdout


def test_a_forking_program_has_a_trace_for_each_process(opwright, ttnn_python, tmp_path):
    program = tmp_path / "forks.py"
    program.write_text(
        "import os, ttnn\n"
        "def work(n):\n"
        "    a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)\n"
        "    for _ in range(n): ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT)\n"
        "work(1)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    work(2)\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "work(3)\n"
    )
    trace = Trace(opwright, ttnn_python, program)
    assert trace.done.returncode == 0, trace.done.stderr
    assert len(list(Path(trace.summary["trace"]).glob("*.opwt"))) == 2
    assert trace.summary["calls_by_operation"]["ttnn.to_layout"] == 6


def test_functions_of_the_device_that_are_no_operation(opwright, ttnn_python, tmp_path):
    """Bound functions without a registered operation, and the bound objects below operations, called by the program."""
    program = tmp_path / "direct.py"
    program.write_text(
        "import pathlib, ttnn\n"
        "device = ttnn.open_device(device_id=0)\n"
        "a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)\n"
        "add = ttnn._ttnn.operations.binary.add\n"
        "add(a, a)\n"
        "ttnn.add.function(a, a)\n"
        "ttnn.add(a, a)\n"
        "for call in (ttnn.experimental.rgb_to_yuv, ttnn.rgb_to_yuv, ttnn._ttnn.operations.experimental.rgb_to_yuv):\n"
        "    try: call(a, wide_rows=True)\n"
        "    except RuntimeError: pass\n"
        "ttnn.dump_tensor(pathlib.Path('a.tensorbin'), a.cpu())\n"
        "ttnn.load_tensor(pathlib.Path('a.tensorbin'))\n"
        "ttnn.close_device(device)\n"
    )
    trace = Trace(opwright, ttnn_python, program, "--all-ops")
    assert trace.done.returncode == 0, trace.done.stderr
    counts = Counter(trace.names())
    assert counts["ttnn.add"] == 3 and counts["ttnn.experimental.rgb_to_yuv"] == 3, counts
    adds = trace.of("ttnn.add")
    outermost = trace.of("ttnn.full")[0]["parent"]
    assert all(len(call["args"]) == 2 and call["parent"] == outermost for call in adds), adds
    assert trace.of("ttnn.experimental.rgb_to_yuv")[0]["kw"]["wide_rows"] is True
    (load,) = trace.of("ttnn.load_tensor")
    assert "a.tensorbin" in json.dumps(load["args"]) and "PosixPath" in json.dumps(load["args"])
    assert trace.summary["opaque"] == 0
    filtered = Trace(opwright, ttnn_python, program, "--only", "ttnn.full")
    assert filtered.summary["filtered"] == len(trace.calls) - 1, "nothing is counted twice"


def test_subprocesses_modules_and_notebooks_are_traced_by_the_environment(opwright, ttnn_python, tmp_path):
    (tmp_path / "mod.py").write_text(
        "import ttnn\n"
        "a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT)\n"
        "ttnn.to_layout(a, ttnn.ROW_MAJOR_LAYOUT)\n"
    )
    program = tmp_path / "starts.py"
    program.write_text(
        "import subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'mod'], check=True)\n"
        "subprocess.run([sys.executable, '-c', 'import mod'], check=True)\n"
        "subprocess.run(['/bin/sh', '-c', sys.executable + ' mod.py'], check=True)\n"
    )
    trace = Trace(opwright, ttnn_python, program)
    assert trace.done.returncode == 0, trace.done.stderr
    assert trace.summary["calls_by_operation"]["ttnn.to_layout"] == 3


def test_a_program_without_the_library(opwright, ttnn_python, tmp_path):
    done = opwright("trace", "--", sys.executable, "-c", "print('hello')")
    assert done.returncode == 0
    assert done.stdout.startswith("hello\n")
    assert "none recorded" in done.stdout
    assert not (opwright.folder / "opwright-traces").exists()


def test_what_is_wrong_is_told_before_the_program_runs(opwright):
    for flags in (("--wait", "soon"), ("--values", "some"), ("--mock", "n15"), ("--max-overhead", "-1")):
        done = opwright("trace", *flags, "--", sys.executable, "-c", "print('it ran')")
        assert done.returncode in (2, 3) and "it ran" not in done.stdout, flags
    assert not (opwright.folder / "opwright-traces").exists()


def test_the_exit_status_is_the_programs(opwright):
    assert opwright("trace", "--", sys.executable, "-c", "raise SystemExit(5)").returncode == 5
    assert opwright("trace", "--", "/no/such/program").returncode == 3


def test_a_batch_goes_on_after_a_failure(opwright, tmp_path):
    listing = tmp_path / "list.txt"
    listing.write_text(f"# commands\n{sys.executable} -c 'raise SystemExit(4)'\n\n{sys.executable} -c 'print(42)'\n")
    done = opwright("trace", "--list", listing)
    assert done.returncode == 4
    assert "42" in done.stdout
    assert "2 commands, 1 failed" in done.stdout


def test_a_trace_folder_that_cannot_be_written(opwright, tmp_path):
    file = tmp_path / "file"
    file.write_text("")
    done = opwright("trace", "--output", file / "below", "--", sys.executable, "-c", "print(1)")
    assert done.returncode == 3
    assert "--output" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "example,board", [("mlp", "n150"), ("tensor_parallel", "t3k"), ("router_experts", "n150"), ("mla_moe", "t3k")]
)
def test_examples_trace_by_test(opwright, ttnn_python, example, board):
    test = support.REPO / "examples" / "ttnn" / f"test_{example}.py"
    done = opwright(
        "--format", "json", "trace", "--mock", board, "--keep", "--",
        ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", test,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["tests"].get("failed", 0) == 0 and summary["tests"]["passed"] > 0
    shown = json.loads(opwright("--format", "json", "show", "ttnn.linear").stdout)
    assert all(f"test_{example}.py::" in source for row in shown for source in row["sources"])


def test_existing_formats_are_written_too(opwright, ttnn_python, tmp_path):
    done = opwright(
        "trace", "--mock", "n150", "--per-op", tmp_path / "per_op", "--ops-jsonl", tmp_path / "ops.jsonl", "--",
        ttnn_python, PROGRAMS / "arguments.py",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "no place for" in done.stdout
    records = [json.loads(line) for line in (tmp_path / "ops.jsonl").read_text().splitlines()]
    assert sum("error" in record and record["error"] is not None for record in records) == 2
    assert len(list((tmp_path / "per_op").glob("[0-9]*.json"))) == len(records) - 2, "per-op files have no place for errors"


def test_the_existing_flag_writes_per_op_files(opwright, opwright_program, ttnn_python, tmp_path):
    env = {"TTNN_OPERATION_TRACE_DIR": tmp_path / "per_op", "PYTHONPATH": opwright_program.parent / "python"}
    test = support.REPO / "examples" / "ttnn" / "test_mlp.py"
    done = opwright(
        "mock", "--board", "n150", "--",
        ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "opwright.pytest_plugin", "--trace-params", test,
        env={**env, "OPWRIGHT_BIN": opwright_program},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    files = [path for path in (tmp_path / "per_op").rglob("*.json") if path.name[0].isdigit()]
    assert f"{len(files)} per-op files in" in done.stdout and len(files) > 50
    assert not list((tmp_path / "per_op").rglob("*.opwt"))


def test_two_programs_write_into_one_folder(opwright, ttnn_python, tmp_path):
    program = tmp_path / "twice.py"
    program.write_text(
        "import subprocess, sys\n"
        "code = 'import ttnn; a = ttnn.full([1, 1, 32, 32], 1.0); [ttnn.to_layout(a, ttnn.TILE_LAYOUT) for _ in range(50)]'\n"
        "started = [subprocess.Popen([sys.executable, '-c', code]) for _ in range(2)]\n"
        "sys.exit(max(process.wait() for process in started))\n"
    )
    trace = Trace(opwright, ttnn_python, program)
    assert trace.done.returncode == 0, trace.done.stderr
    assert len(list(Path(trace.summary["trace"]).glob("*.opwt"))) == 2
    assert trace.summary["calls_by_operation"]["ttnn.to_layout"] == 100


def test_a_trace_that_costs_too_much_records_less_and_says_so(opwright, ttnn_python):
    trace = Trace(opwright, ttnn_python, PROGRAMS / "arguments.py", "--values", "full", "--max-overhead", "0.01")
    assert trace.done.returncode == 0, trace.done.stderr
    assert any(note.startswith("throttle:") for note in trace.summary["notes"]), trace.summary["notes"]


def test_names_that_scripts_depend_on(opwright):
    done = opwright("--format", "json", "trace", "--", sys.executable, "-c", "print('not in the JSON')")
    assert done.returncode == 0 and "not in the JSON" in done.stderr
    names = ["exit", "tests", "calls", "errors", "operations", "configurations", "added", "ns_per_call", "trace"]
    assert [name for name in json.loads(done.stdout) if name in names] == names
