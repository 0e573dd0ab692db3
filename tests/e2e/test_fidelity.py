"""Our trace against that of the library's own tracer, over all examples.

Both tracers watch one process, so every value, address and hash is of the same objects. What the library's tracer records
must be in ours, byte for byte; what it loses and ours keeps is listed.
"""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
import support

PROGRAMS = Path(__file__).resolve().parent / "programs"
EXAMPLES = {"mlp": "n150", "encoder": "n150", "decoder": "n150", "mbconv": "n150", "tensor_parallel": "t3k"}
FILE = re.compile(r"(\d+)_(.+)_\d{8}_\d{6}_\d{6}\.json")


def per_op_files(folder: Path) -> dict[str, str]:
    """Text by name without the time stamp, in the order of their numbers."""
    found = {}
    for path in folder.rglob("*.json"):
        if match := FILE.fullmatch(path.name):
            found[int(match[1]), match[2]] = path.read_text()
    return {f"{number}_{op}": text for (number, op), text in sorted(found.items())}


def configurations(opwright, store: Path, *traces: object) -> set[tuple[str, str]]:
    """Operations and arguments as a master has them: all of a config_hash but the machine, which the library's tracer does
    not record."""
    done = opwright("--store", store, "import", *traces)
    assert done.returncode == 0, done.stderr
    master = store.with_suffix(".json")
    done = opwright("--store", store, "export", "--to", "master", "-o", master)
    assert done.returncode == 0, done.stderr
    operations = json.loads(master.read_text(), object_pairs_hook=without_our_text)["operations"]
    return {
        (op, json.dumps(config["arguments"], sort_keys=True))
        for op, of in operations.items()
        for config in of["configurations"]
    }


def without_our_text(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A fused activation has its printed text beside its number: ours alone, and no part of a hash."""
    return {name: value for name, value in pairs if name != "@text"}


def direct_functions(opwright, trace: object) -> set[str]:
    """Functions of the library that are no registered operation: its tracer does not see them."""
    done = opwright("dump", trace, "--format", "jsonl")
    assert done.returncode == 0, done.stderr
    calls = [json.loads(line).get("call") for line in done.stdout.splitlines()]
    return {call["op"] for call in calls if call and call.get("direct")}


@pytest.mark.parametrize("example", EXAMPLES)
def test_our_trace_has_all_that_the_librarys_tracer_has(opwright, ttnn_python, tmp_path, example, capsys):
    theirs_folder = tmp_path / "theirs"
    env = {
        "PYTHONPATH": PROGRAMS,
        "TTNN_CONFIG_OVERRIDES": '{"enable_fast_runtime_mode": false}',  # it records nothing in fast mode
        "TTNN_OPERATION_TRACE_DIR": theirs_folder,
    }
    test = support.REPO / "examples" / "ttnn" / f"test_{example}.py"
    done = opwright(
        "--format", "json", "trace", "--mock", EXAMPLES[example], "--output", tmp_path / "ours", "--all-ops", "--",
        ttnn_python, "-m", "pytest", "-q", "-p", "library_tracer", "-p", "no:cacheprovider", test, env=env,
    )  # fmt: skip
    if "No module named 'torch'" in done.stderr:
        pytest.skip("the library's own tracer needs torch")
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    trace = summary["trace"]

    ours_folder = tmp_path / "per_op"
    done = opwright("convert", trace, "--to", "per-op", "--like-existing", "-o", ours_folder)
    assert done.returncode == 0, done.stderr
    theirs, ours = per_op_files(theirs_folder), per_op_files(ours_folder)
    assert list(ours) == list(theirs), "the same calls in the same order under the same numbers"
    assert ours == theirs, "byte for byte"

    whole_folder = tmp_path / "whole"
    assert opwright("convert", trace, "--to", "per-op", "-o", whole_folder).returncode == 0
    assert len(per_op_files(whole_folder)) == summary["calls"] - summary["errors"]
    calls = summary["calls_by_operation"]
    lost = Counter(calls)
    lost.subtract(Counter(json.loads(text)["operation_name"] for text in theirs.values()))
    lost = +lost
    assert sum(lost.values()) == summary["calls"] - len(theirs)
    direct = {op for path in sorted(Path(trace).rglob("*.opwt*")) for op in direct_functions(opwright, path)}
    for op, count in lost.items():
        assert op.startswith("ttnn.Tensor.") or op in direct or summary["errors"] >= count, f"{op} is lost by theirs without a reason known"
    with capsys.disabled():
        kept = ", ".join(f"{op} {count}" for op, count in sorted(lost.items()))
        print(f"\n{example}: {len(theirs)} of {len(theirs)} files equal; ours has {sum(lost.values())} calls more: {kept}")

    theirs_set = configurations(opwright, tmp_path / "theirs.db", theirs_folder)
    ours_set = configurations(opwright, tmp_path / "ours.db", trace)
    assert theirs_set and ours_set == theirs_set, "the same configurations as a master writes them"


def test_fast_mode_records_what_slow_mode_does(opwright, ttnn_python, tmp_path):
    """The same program without the library's tracer and in fast mode: the same configurations."""
    test = support.REPO / "examples" / "ttnn" / "test_decoder.py"
    keys = {}
    for mode, override in (("fast", "{}"), ("slow", '{"enable_fast_runtime_mode": false}')):
        store = tmp_path / f"{mode}.db"
        done = opwright(
            "--store", store, "trace", "--mock", "n150", "--", ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
            test, env={"TTNN_CONFIG_OVERRIDES": override},
        )  # fmt: skip
        if "No module named 'torch'" in done.stdout + done.stderr:
            pytest.skip("slow runtime mode needs torch")
        assert done.returncode == 0, done.stdout + done.stderr
        exported = opwright("--store", store, "--format", "jsonl", "export", "--to", "jsonl").stdout
        keys[mode] = {json.loads(line)["key"]: json.loads(line)["calls"] for line in exported.splitlines()}
    assert keys["fast"] and keys["fast"] == keys["slow"]


def test_values_form_is_the_librarys(opwright, ttnn_python, tmp_path):
    """With tensor values: two runs of one program, one watched by the library's tracer, one by ours."""
    program = PROGRAMS / "values.py"
    env = {"TTNN_OPERATION_TRACE_DIR": tmp_path / "theirs", "TTNN_CONFIG_OVERRIDES": '{"enable_fast_runtime_mode": false}'}
    done = opwright("mock", "--board", "n150", "--", ttnn_python, program, "theirs", env=env)
    if "No module named 'torch'" in done.stderr:
        pytest.skip("the library's own tracer needs torch")
    assert done.returncode == 0, done.stderr
    done = opwright(
        "trace", "--mock", "n150", "--values", "full", "--per-op", tmp_path / "ours", "--", ttnn_python, program
    )
    assert done.returncode == 0, done.stderr
    theirs, ours = per_op_files(tmp_path / "theirs"), per_op_files(tmp_path / "ours")
    assert len(theirs) == 4 and all('"values"' in text for text in theirs.values())
    assert ours == theirs


def test_objects_that_print_their_address(opwright, ttnn_python, tmp_path):
    env = {"TTNN_OPERATION_TRACE_DIR": tmp_path / "theirs", "TTNN_CONFIG_OVERRIDES": '{"enable_fast_runtime_mode": false}'}
    done = opwright(
        "--format", "json", "trace", "--mock", "n150", "--all-ops", "--per-op", tmp_path / "ours", "--",
        ttnn_python, PROGRAMS / "mappers.py", env=env,
    )  # fmt: skip
    if "No module named 'torch'" in done.stderr:
        pytest.skip("the library's own tracer needs torch")
    assert done.returncode == 0, done.stderr
    theirs, ours = per_op_files(tmp_path / "theirs"), per_op_files(tmp_path / "ours")
    assert len(theirs) == 3 and all(" at 0x" in text for text in theirs.values())
    assert ours == theirs
    assert json.loads(done.stdout)["configurations"] == 1, "an address makes no configuration"
