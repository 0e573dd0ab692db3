"""From rows of a profiler report to the configurations of a store: what they cost, in `perf`, `show`, `results` and `run`."""

import csv
import io
import json
import re
from pathlib import Path

import pytest
import support
from conftest import Opwright


@pytest.fixture
def report(opwright: Opwright, tmp_path: Path) -> Path:
    """A store with the demo's traces, and the modelled report of a run of it: each row is of one configuration."""
    assert opwright("import", support.FIXTURES / "demo").returncode == 0
    opwright("run", "--device", "sim:n150", "--check", "--no-attribute", "--quiet", "--profile-csv", "run.csv")
    return tmp_path / "run.csv"


def answer(opwright: Opwright, *arguments: object, status: int = 0) -> dict:
    done = opwright(*arguments, "--format", "json")
    assert done.returncode == status, done.stderr
    return json.loads(done.stdout)


def changed(path: Path, change) -> Path:
    """The report with `change(row)` made to each device row, in a file beside it."""
    rows = list(csv.DictReader(io.StringIO(path.read_text())))
    for row in rows:
        if row["OP TYPE"] == "tt_dnn_device":
            change(row)
    out = io.StringIO()
    columns = list(dict.fromkeys(name for row in rows for name in row))
    writer = csv.DictWriter(out, columns, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    other = path.with_name("changed.csv")
    other.write_text(out.getvalue())
    return other


def is_linear(row: dict[str, str]) -> bool:
    return row["OP CODE"] == "MatmulDeviceOperation"


def test_every_row_of_a_run_finds_its_configuration(opwright: Opwright, report: Path) -> None:
    found = answer(opwright, "perf", report, "--configs")
    assert found["positions"] == found["matched"] == 4 and found["unmatched"] == []
    assert found["shared"] == found["without_memory"] == 0
    assert found["matched_kernel_ns"] == found["kernel_ns"] == answer(opwright, "perf", report)["kernel_ns"]
    kernels = {row["OP CODE"]: float(row["DEVICE KERNEL DURATION [ns]"]) for row in csv.DictReader(report.open())
               if row["OP TYPE"] == "tt_dnn_device"}  # fmt: skip
    costs = {config["operation"]: config["kernel_ns"] for config in found["configs"]}
    assert costs["ttnn.linear"] == kernels["MatmulDeviceOperation"]
    assert costs["ttnn.layer_norm"] == kernels["LayerNormDeviceOperation"]
    assert sum(config["kernel_ns"] for config in found["configs"]) == pytest.approx(found["kernel_ns"])


@pytest.mark.parametrize(
    ("change", "why", "what"),
    [
        ({"INPUT_1_DATATYPE": "BFLOAT4_B"}, "other_tensors", "ttnn.linear: input 1: BFLOAT4_B, the nearest BFLOAT8_B"),
        ({"INPUT_0_Y_PAD[LOGICAL]": "64[64]"}, "other_tensors", "input 0: 1x1x64x96, the nearest 1x1x32x96"),
        ({"OP CODE": "MadeUpDeviceOperation"}, "unknown_class", "not in the table of device operations"),
        ({"OP CODE": "ArgMaxDeviceOperation"}, "no_operation", "no operation that launches it is in the store"),
    ],
)
def test_a_row_without_a_configuration_says_why(opwright: Opwright, report: Path, change: dict, why: str, what: str) -> None:
    other = changed(report, lambda row: row.update(change) if is_linear(row) else None)
    found = answer(opwright, "perf", other, "--configs")
    assert found["matched"] == 3
    [one] = found["unmatched"]
    assert one["why"] == why and what in one["what"]
    assert found["kernel_ns"] - found["matched_kernel_ns"] == pytest.approx(one["kernel_ns"])
    assert what in opwright("perf", other, "--unmatched").stdout


def test_memory_elsewhere_is_counted(opwright: Opwright, report: Path) -> None:
    other = changed(report, lambda row: row.update({"INPUT_0_MEMORY": "DEV_3_L1_WIDTH_SHARDED"}) if is_linear(row) else None)
    found = answer(opwright, "perf", other, "--configs")
    assert found["matched"] == 4 and found["without_memory"] == 1


def test_a_tensor_that_takes_the_output_is_no_input(opwright: Opwright, report: Path) -> None:
    def take_output(row: dict[str, str]) -> None:
        if row["OP CODE"].startswith("Binary") and row["INPUT_1_MEMORY"]:
            for name in [name for name in row if name.startswith("OUTPUT_0_")]:
                row[name.replace("OUTPUT_0", "INPUT_2")] = row[name]

    assert answer(opwright, "perf", changed(report, take_output), "--configs")["matched"] == 4


def test_a_position_that_several_configurations_fit_is_shared(opwright: Opwright, report: Path) -> None:
    # The same call with another argument that is no tensor: a report does not say which of the two ran.
    line = next(row for row in answer(opwright, "show", "linear") if row["operation"] == "ttnn.linear")
    trace = report.with_name("more.jsonl")
    tensors = [{"type": "ttnn.Tensor", "original_shape": shape, "original_dtype": f"DataType.{dtype}", "layout": "Layout.TILE",
                "storage_type": "StorageType.DEVICE", "memory_config": {"memory_layout": "TensorMemoryLayout.INTERLEAVED",
                "buffer_type": "BufferType.DRAM", "shard_spec": "None"}}
               for shape, dtype in (([1, 1, 32, 96], "BFLOAT16"), ([96, 384], "BFLOAT8_B"))]  # fmt: skip
    folder = report.with_name("per_op")
    folder.mkdir()
    record = {"operation_id": 1, "operation_name": "ttnn.linear", "args": [{"position": i, "value": t} for i, t in enumerate(tensors)],
              "kwargs": {"transpose_b": False, "activation": "silu"}}  # fmt: skip
    (folder / "1_ttnn_linear_20260101_000000_000000.json").write_text(json.dumps(record))
    assert opwright("import", folder).returncode == 0, trace
    found = answer(opwright, "perf", report, "--configs")
    linear = [config for config in found["configs"] if config["operation"] == "ttnn.linear"]
    assert found["shared"] == 1 and len(linear) == 2 and all(config["shared"] for config in linear)
    assert linear[0]["kernel_ns"] == linear[1]["kernel_ns"]
    assert sum(config["kernel_ns"] for config in found["configs"]) == pytest.approx(found["kernel_ns"])
    only = answer(opwright, "perf", report, "--configs", "--where", f'key="{line["key"]}"')
    assert only["matched"] == 1 and only["shared"] == 0


def test_show_says_what_each_configuration_costs(opwright: Opwright, report: Path) -> None:
    rows = answer(opwright, "show", "--profile", report)
    assert sum(row["profiled_percent"] for row in rows) == pytest.approx(100, abs=0.1)
    linear = next(row for row in rows if row["operation"] == "ttnn.linear")
    assert linear["profiled_positions"] == 1
    shown = opwright("show", "linear", "--profile", report).stdout
    assert f"{linear['profiled_kernel_ns'] / 1000:.1f} us, {linear['profiled_percent']:.1f} % of the kernel time of start, 1 position" in shown
    assert "profiled" not in opwright("show", "--format", "json").stdout


def test_results_say_how_much_of_the_time_their_cases_stand_for(opwright: Opwright, report: Path) -> None:
    opwright("run", "--device", "sim:n150", "--op", "ttnn.linear", "--op", "ttnn.layer_norm", "--perf", "--quiet")
    found = answer(opwright, "results", "--profile", report)
    share = {one["outcome"]: one for one in found["by_outcome"]}
    assert share["passed"]["configurations"] == 2 and share["no_case"]["configurations"] == 2
    assert share["passed"]["kernel_ns"] + share["no_case"]["kernel_ns"] == pytest.approx(found["kernel_ns"])
    # the report is modelled by the same clock, so what the cases take alone is what they took there
    assert found["test_ns"] == pytest.approx(found["timed_kernel_ns"], rel=1e-3) and found["test_ns"] > 0
    assert "cases with a device time" in opwright("results", "--profile", report).stdout


def test_a_budget_goes_to_what_costs_most(opwright: Opwright, report: Path) -> None:
    done = opwright("run", "--device", "null", "--budget", "60s", "--profile", report)
    assert "100.0 % of the nanoseconds" in done.stderr, done.stderr
    wrong = opwright("run", "--device", "null", "--profile", report)
    assert wrong.returncode == 2 and "weighs the cases of a --budget" in wrong.stderr
    other = changed(report, lambda row: row.update({"INPUT_0_DATATYPE": "UINT8"}))
    none = opwright("run", "--device", "null", "--budget", "60s", "--profile", other)
    assert none.returncode == 3 and "none of its 4 positions fits" in none.stderr


def test_the_weights_of_a_budget_are_times_and_not_calls(opwright: Opwright, report: Path) -> None:
    # Two additions: the one with fewer calls takes a hundred times as long.
    other = changed(report, lambda row: row.update({"DEVICE KERNEL DURATION [ns]": "900000"})
                    if row["OP CODE"].startswith("Binary") and not row["INPUT_1_MEMORY"] else None)  # fmt: skip
    slow, fast = sorted((row for row in answer(opwright, "show", "add", "--profile", other) if row["profiled_positions"]),
                        key=lambda row: -row["profiled_kernel_ns"])  # fmt: skip
    assert slow["profiled_kernel_ns"] == 900000 and slow["calls"] < fast["calls"]
    words = ("run", "--device", "null", "--op", "ttnn.add", "--where", "model~llm", "--budget", "0.0001s", "--dry-run")
    by_calls, by_time = (opwright(*words, *more) for more in ((), ("--profile", other)))
    assert "1 of 2 cases" in by_calls.stderr and f"ttnn.add  1 case, {slow['calls']} calls" in by_calls.stderr
    left = re.search(r"ttnn.add  1 case, ([\d,]+) nanoseconds", by_time.stderr)
    assert "1 of 2 cases" in by_time.stderr and left and int(left[1].replace(",", "")) < 10_000, by_time.stderr
    assert re.search(rf"ttnn.add +1 +{slow['calls']} ", by_time.stdout + by_time.stderr)  # and calls stay calls


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("show", "--profile-window", "A"), "--profile-window goes with --profile"),
        (("perf", "{report}", "--where", "op=ttnn.add"), "--where belongs to --configs"),
        (("show", "--profile", "{report}", "--profile-window", "NOWHERE"), "NOWHERE"),
    ],
)
def test_wrong_usage(opwright: Opwright, report: Path, words: tuple, says: str) -> None:
    done = opwright(*(word.format(report=report) for word in words))
    assert done.returncode in (2, 3) and says in done.stderr
