"""Profiler reports: the real ones against figures computed elsewhere, and the fixtures through the whole program."""

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import Opwright

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"

#: name in expected_aggregates.json -> file and window
EXPECTED = {
    "gemma4_31b_long_gelu_B0": ("gemma4_31b_long_gelu_B0_vs_F4.csv", "LONG_GELU_B0"),
    "gemma4_31b_long_gelu_F4": ("gemma4_31b_long_gelu_B0_vs_F4.csv", "LONG_GELU_F4"),
    "gemma4_31b_multichip_full_decode": ("gemma4_31b_mesh4_decode_traced.csv.gz", "MC_full_attention_DECODE"),
    "gemma4_31b_multichip_full_prefill": ("gemma4_31b_mesh4_prefill.csv.gz", "MC_full_attention_PREFILL"),
    "gpt_oss_20b_fused_decode": ("gpt_oss_20b_fused_decode.csv.gz", "FUSED_DECODE"),
    "gpt_oss_20b_fused_prefill": ("gpt_oss_20b_fused_prefill.csv.gz", "FUSED_PREFILL"),
    "llama31_8b_decode": ("llama31_8b_decode.csv", "PERF_DECODE"),
    "llama31_8b_prefill": ("llama31_8b_prefill.csv", "PERF_PREFILL"),
    "north_mini_dense_decode_b1": ("north_mini_dense_decode_b1_traced.csv.gz", "PERF_DECODE"),
    "qwen36_27b_incumbent_full_attention_ops": ("qwen36_27b_full_attention_incumbent.csv.gz", "PERF_DECODE"),
    "qwen36_27b_winner_full_attention_ops": ("qwen36_27b_full_attention_winner.csv.gz", "PERF_DECODE"),
}
FIELDS = ("avg_kernel_duration_ns", "avg_op_to_op_latency_ns", "total_kernel_duration_ns", "total_op_to_op_latency_ns", "call_count")
OURS = dict(zip(FIELDS, ("avg_kernel_ns", "avg_op_to_op_ns", "total_kernel_ns", "total_op_to_op_ns", "count")))


@pytest.fixture
def reports(real_data) -> Path:
    folder = real_data / "capture" / "perf_csv"
    if not folder.is_dir():
        pytest.skip("no real profiler reports")
    return folder


def printed(opwright: Opwright, *arguments: object) -> str:
    done = opwright("perf", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def answer(opwright: Opwright, *arguments: object) -> dict:
    return json.loads(printed(opwright, *arguments, "--format", "json"))


def table(path: Path) -> list[dict[str, str]]:
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    return list(csv.DictReader(io.StringIO(text)))


def by_hand(rows: list[dict[str, str]], window: str) -> tuple[float, int]:
    """Sum over operations of the slowest device's time (of collectives the mean), and how many there are."""
    marks = [i for i, row in enumerate(rows) if row["OP TYPE"] == "signpost"]
    first = next(i for i in marks if rows[i]["OP CODE"] == window)
    last = next(i for i in marks if rows[i]["OP CODE"] == window + "_END")
    groups: dict[tuple, list] = {}
    for row in rows[first + 1 : last]:
        if row["OP TYPE"] == "tt_dnn_device":
            key = (int(row["GLOBAL CALL COUNT"]) >> 10, row["METAL TRACE REPLAY SESSION ID"])
            groups.setdefault(key, []).append(row)
    total = 0.0
    for group in groups.values():
        times = [float(row["DEVICE KERNEL DURATION [ns]"]) for row in group]
        collective = group[0]["OP CODE"] in ("AllGatherDeviceOperation", "ReduceScatterDeviceOperation")
        total += sum(times) / len(times) if collective else max(times)
    return total, len(groups)


@pytest.mark.parametrize("name", EXPECTED)
def test_existing_rules_are_reproduced_exactly(opwright: Opwright, reports: Path, name: str) -> None:
    file, window = EXPECTED[name]
    expected = json.loads((reports / "expected_aggregates.json").read_text())[name]
    for rule, prefix in (("gpt-oss", "gpt_oss"), ("deepseek", "deepseek")):
        found = answer(opwright, reports / file, "--window", window, "--like", rule)
        assert found["total_kernel_ns"] == pytest.approx(expected[f"{prefix}_total_kernel_ns"], rel=1e-12)
        assert found["total_op_to_op_ns"] == pytest.approx(expected[f"{prefix}_total_op_to_op_ns"], rel=1e-12)
        assert {op["op"] for op in found["ops"]} == set(expected[f"{prefix}_op_stats"])
        for op in found["ops"]:
            for field, value in expected[f"{prefix}_op_stats"][op["op"]].items():
                assert op[OURS[field]] == pytest.approx(value, rel=1e-12), (rule, op["op"], field)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_rule_on_real_reports(opwright: Opwright, reports: Path, name: str) -> None:
    file, window = EXPECTED[name]
    expected = json.loads((reports / "expected_aggregates.json").read_text())[name]
    found = answer(opwright, reports / file, "--window", window)
    kernel, operations = by_hand(table(reports / file), window)
    assert found["kernel_ns"] == pytest.approx(kernel, rel=1e-12)
    assert found["iterations"] == 1 and len(found["positions"]) == operations
    assert found["devices"] == len(expected["devices"])
    assert found["coverage"]["device_rows"] == expected["window_device_rows"]
    assert found["coverage"]["complete"] and found["coverage"]["unknown_ops"] == 0
    assert found["coverage"]["troubles"] == {} and found["coverage"]["unknown_columns"] == []
    assert list(found) == ["file", "window", "iterations", "devices", "kernel_ns", "op_to_op_ns", "first_op_gap_ns", "host_ns",
                           "positions", "coverage"]  # fmt: skip
    # the gap of the first operation of the window is apart
    gaps = (found["op_to_op_ns"] or 0) + found["first_op_gap_ns"]
    if found["devices"] == 1:
        assert gaps == pytest.approx(expected["gpt_oss_total_op_to_op_ns"], rel=1e-12)


def test_recordings_of_traces_are_not_runs(opwright: Opwright, reports: Path) -> None:
    found = answer(opwright, reports / "gemma4_31b_mesh4_decode_traced.csv.gz", "--window", "*")
    assert found["coverage"]["captured_rows"] == 200 and found["coverage"]["rows_without_time"] == 0
    assert found["coverage"]["replays"] == 2 and found["devices"] == 4


def test_reports_of_2024_and_of_quasar(opwright: Opwright, reports: Path) -> None:
    old = answer(opwright, reports / "distilbert_2024_old_header.csv.gz")
    assert old["window"] == "*" and old["coverage"]["device_rows"] == 404 and not old["coverage"]["joined"]
    assert old["coverage"]["generations"] == ["2024"]
    assert old["kernel_ns"] == sum(
        float(row["DEVICE KERNEL DURATION [ns]"]) for row in table(reports / "distilbert_2024_old_header.csv.gz") if row["DEVICE ID"])
    quasar = answer(opwright, reports / "fixture_quasar_transpose.csv")
    assert quasar["coverage"]["time_source"] == "processor_firmware"
    assert quasar["kernel_ns"] == 3000 + 500 + 1500 + 600 + 2000 + 520 + 1400 + 610


def test_a_window_is_never_guessed(opwright: Opwright) -> None:
    nested = FIXTURES / "perf" / "windows_nested.csv"
    done = opwright("perf", nested)
    assert done.returncode == 2 and "3 windows; choose one with --window NAME" in done.stderr
    found = answer(opwright, nested, "--windows")
    assert [(w["window"], w["depth"], w["device_rows"], w["host_rows"]) for w in found["windows"]] == [
        ("OUTER", 0, 12, 1), ("FIRST", 1, 4, 0), ("SECOND", 1, 8, 0)]  # fmt: skip
    assert found["unpaired"] == [{"signpost": "LONELY", "row": 21}]
    assert answer(opwright, nested, "--window", "SECOND")["iterations"] == 2
    same = FIXTURES / "perf" / "windows_same_name.csv"
    assert "2 windows are called 'STEP': say STEP#1 to STEP#2" in opwright("perf", same, "--window", "STEP").stderr
    assert answer(opwright, same, "--window", "STEP#2")["iterations"] == 2
    assert answer(opwright, FIXTURES / "perf" / "window_of_signposts_only.csv")["kernel_ns"] is None


def test_several_files_say_what_they_are(opwright: Opwright) -> None:
    hosts = [FIXTURES / "perf" / f"host_{host}.csv" for host in range(2)]
    assert opwright("perf", *hosts).returncode == 2
    assert answer(opwright, *hosts, "--hosts", "--devices", 4)["devices"] == 4
    assert opwright("perf", *hosts, "--hosts", "--devices", 6).returncode == 3
    found = answer(opwright, hosts[0], FIXTURES / "perf" / "run_with_dram_counter.csv", "--runs")
    assert found["positions"][1]["dram_percent"] == 42.5 and found["coverage"]["filled_figures"] == 16
    assert found["coverage"]["unknown_columns"] == ["SFPU COUNTER"]


def test_every_damaged_report_gives_an_answer_that_says_so(opwright: Opwright) -> None:
    for path in sorted((FIXTURES / "perf").glob("bad_*.csv")):
        found = answer(opwright, path, "--window", "*")
        if path.name == "bad_device_stops.csv":  # every row of it is sound
            assert found["coverage"]["missing_device_rows"] == 6
            continue
        assert found["coverage"]["troubles"], path.name
        for name, trouble in found["coverage"]["troubles"].items():
            assert trouble["count"] > 0 and trouble["row"] > 0, (path.name, name)
        assert "in the files:" in printed(opwright, path, "--window", "*"), path.name


def test_fixtures_are_those_of_their_generator(tmp_path: Path) -> None:
    subprocess.run([sys.executable, FIXTURES / "make_perf.py", tmp_path], check=True)
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.suffix == ".csv"}
    assert made == {path.name: path.read_bytes() for path in (FIXTURES / "perf").iterdir() if path.suffix == ".csv"}
