"""`perf diff`, `perf check` and `perf --to` on the real reports, and on files that are wrong."""

import json
import subprocess
from pathlib import Path

import pytest
import support

LONG_GELU = "gemma4_31b_long_gelu_B0_vs_F4.csv"


@pytest.fixture
def reports(real_data) -> Path:
    folder = real_data / "capture" / "perf_csv"
    if not folder.is_dir():
        pytest.skip("no real profiler reports")
    return folder


@pytest.fixture
def call(opwright_program: Path, tmp_path: Path):
    def run(*arguments: object) -> subprocess.CompletedProcess:
        words = [str(word) for word in (opwright_program, "perf", *arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=tmp_path)

    return run


def test_two_windows_of_one_file(call, reports: Path) -> None:
    file = reports / LONG_GELU
    result = call("diff", file, file, "--window-a", "LONG_GELU_B0", "--window-b", "LONG_GELU_F4", "--format", "json")
    assert result.returncode == 1, result.stderr
    diff = json.loads(result.stdout)
    # The figures that the file's own summary has.
    assert diff["total"]["kernel_ns"]["a"] == 11027877
    assert diff["total"]["kernel_ns"]["b"] == 18480290
    assert diff["total"]["kernel_ns"]["verdict"] == "cannot_tell"
    assert diff["alignment"] == {"same": 0, "changed": 1, "added": 0, "removed": 1, "shortest": True, "without_figure": 0}
    assert diff["positions"][0]["fields"][0] == {"field": "fidelity", "a": "HiFi2", "b": "LoFi"}


def test_incumbent_and_winner(call, reports: Path) -> None:
    pair = [reports / f"qwen36_27b_full_attention_{name}.csv.gz" for name in ("incumbent", "winner")]
    result = call("diff", *pair, "--format", "json")
    assert result.returncode == 1, result.stderr
    diff = json.loads(result.stdout)
    assert {name: diff["alignment"][name] for name in ("same", "changed", "added", "removed")} == {
        "same": 73,
        "changed": 1,
        "added": 1,
        "removed": 0,
    }
    changed, added = [one for one in diff["positions"] if one["change"] != "same"]
    assert (changed["op"], added["op"]) == ("BinaryNgDeviceOperation", "ReshardDeviceOperation")
    total = diff["total"]["kernel_ns"]
    assert sum(one["kernel_ns"] for one in diff["by_change"].values()) == pytest.approx(total["difference"])
    assert total["difference"] == pytest.approx(total["b"] - total["a"])


def test_every_report_is_like_itself(call, reports: Path) -> None:
    compared = 0
    for file in sorted(reports.glob("*.csv*")):
        window = ["--window", "LONG_GELU_F4"] if file.name == LONG_GELU else []
        diff = call("diff", file, file, *window, "--format", "json")
        assert diff.returncode == 0, (file.name, diff.stderr)
        alignment = json.loads(diff.stdout)["alignment"]
        assert alignment["changed"] == alignment["added"] == alignment["removed"] == 0, file.name
        configs = call("diff", file, file, *window, "--config-only", "--format", "json")
        assert configs.returncode == 0, (file.name, configs.stderr)
        assert json.loads(configs.stdout)["matches"] >= 1, file.name
        compared += 1
    assert compared >= 12


def test_what_is_written_is_kept_to(call, reports: Path, tmp_path: Path) -> None:
    file = reports / LONG_GELU
    for name in ("targets.yaml", "targets.json"):
        written = call("check", file, "--write-targets", name, "--format", "json")
        assert written.returncode == 0, written.stderr
        assert json.loads(written.stdout)["windows"] == ["LONG_GELU_B0", "LONG_GELU_F4"]
        before = (tmp_path / name).read_bytes()
        again = call("check", file, "--write-targets", name)
        assert again.returncode == 2 and "--replace" in again.stderr
        assert (tmp_path / name).read_bytes() == before
        checked = call("check", file, "--targets", name, "--format", "json")
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert json.loads(checked.stdout)["passed"] is True
    json.loads((tmp_path / "targets.json").read_text())
    other = call("check", reports / "llama31_8b_decode.csv", "--targets", "targets.json", "--window", "PERF_DECODE")
    assert other.returncode == 1 and "NO TARGET" in other.stdout


def test_targets_of_an_old_rule(call, reports: Path, tmp_path: Path) -> None:
    targets = tmp_path / "old.yaml"
    figures = "{like: deepseek, kernel_ns: %d, op_to_op_ns: unchecked}"
    targets.write_text("windows:\n  PERF_DECODE: " + figures % 383700)
    assert call("check", reports / "llama31_8b_decode.csv", "--targets", targets).returncode == 0
    targets.write_text("windows:\n  PERF_DECODE: " + figures % 300000)
    assert call("check", reports / "llama31_8b_decode.csv", "--targets", targets).returncode == 1


def test_exports_read_back(call, reports: Path, tmp_path: Path) -> None:
    file = reports / "gemma4_31b_mesh4_decode_traced.csv.gz"
    figures = json.loads(call(file, "--format", "json").stdout)
    assert call(file, "--to", "trace", "-o", "trace.json").returncode == 0
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert {event["tid"] for event in events if event["ph"] == "X"} == {0, 1, 2, 3}
    assert sum(event["ph"] in "Xi" for event in events) == figures["coverage"]["device_rows"]
    for device in range(4):
        track = [event for event in events if event["ph"] == "X" and event["tid"] == device]
        for one, after in zip(track, track[1:], strict=False):
            assert after["ts"] >= one["ts"] + one["dur"] - 1e-6
    records = json.loads(call(file, "--to", "benchmark").stdout)["measurements"]
    values = {record["name"]: record["value"] for record in records}
    assert values["total_kernel_duration_us"] == pytest.approx(figures["kernel_ns"] / 1000)


def test_wrong_files_and_wrong_words(call, tmp_path: Path) -> None:
    report = support.REPO / "tests" / "golden" / "perf_diff" / "before.csv"
    (tmp_path / "wrong.yaml").write_text("windows:\n  '*': {kernel_nss: 5}\n")
    wrong = call("check", report, "--targets", "wrong.yaml")
    assert wrong.returncode == 3 and "line 2" in wrong.stderr and "kernel_ns" in wrong.stderr
    assert call("check", report, "--targets", "gone.yaml").returncode in (2, 3)
    assert call("diff", report).returncode == 2
    assert call("diff", report, "gone.csv").returncode in (2, 3)
    assert call("diff", "gone.csv", report).returncode in (2, 3)
    assert call(report, "--to", "pdf").returncode == 2
    assert "perf diff" in call("diff", report, report, "--windw", "X").stderr
