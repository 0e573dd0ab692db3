"""Sweep modules as the existing framework has them (sweep_modules/, sweep_module_texts.py), run unchanged over our loaders: their parameters become
vectors, vectors become JSON and come back, and each goes to `run` on the mock device."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
import support
from sweep_module_texts import write_modules

HERE = Path(__file__).resolve().parent
ERA_1 = ("2025-11-20", "2025-12-31_from_db")
ERA_2 = {
    "ttnn_operations_master_2026-05-10_llama_n300": (1, 2),
    "sweep_trace_gpt_oss_2026-04-30": (4, 8),
    "ttnn_operations_master_2026-03-11_deepseek_galaxy_B9": (4, 8),
}
BOARDS = {(1, 1): "n150", (1, 2): "n300", (4, 8): "galaxy"}


@pytest.fixture
def run_modules(opwright, opwright_program, ttnn_python, tmp_path):
    def run(era: str, master: Path, each: int, mesh: tuple[int, int] = (1, 1)) -> dict[str, dict[str, Any]]:
        package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
        env = {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1", "LOGURU_LEVEL": "ERROR"}
        write_modules(era, tmp_path / "modules")
        program = [ttnn_python, HERE / "ttnn_programs" / "run_sweep_modules.py", tmp_path / "modules" / era, master, "--each", each,
                   "--mesh", *mesh]  # fmt: skip
        done = opwright("mock", "--board", BOARDS[mesh], "--", *program, env=env)
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        report: dict[str, dict[str, Any]] = json.loads(done.stdout.strip().splitlines()[-1])
        return report

    return run


def check(report: dict[str, dict[str, Any]], capsys: Any, title: str) -> None:
    """Loader and modules fit: whatever is not run was refused by the library itself, or is too large for a test."""
    tried = sum(one["tried"] for one in report.values())
    ran = sum(one["ran"] for one in report.values())
    refused = sum(sum(one["refused"].values()) for one in report.values())
    lost = sum(one["lost"] for one in report.values())
    with capsys.disabled():
        print(f"\n{title}: {len(report)} modules, {sum(one['vectors'] for one in report.values())} vectors, {tried} tried, "
              f"{ran} ran, {refused} refused by the library, {lost} lost by the trace, {sum(one['large'] for one in report.values())} too large")  # fmt: skip
    broken = {name: one["broken"] for name, one in report.items() if one["broken"]}
    assert not broken, json.dumps(broken, indent=1)[:6000]
    assert tried == ran + refused + lost and lost <= 0.02 * tried
    assert ran >= 0.7 * tried, {name: one["refused"] for name, one in report.items() if one["refused"]}


@pytest.mark.parametrize(("era", "count"), [("era1", 50), ("era2", 27)])
def test_there_are_modules_of_every_form(tmp_path, era: str, count: int) -> None:
    assert write_modules(era, tmp_path / "modules") == count
    for file in (tmp_path / "modules" / era).glob("*.py"):
        compile(file.read_text(), file.name, "exec")


def test_modules_of_era_2_over_a_small_master(run_modules, capsys) -> None:
    report = run_modules("era2", support.FIXTURES / "demo" / "tiny_llm.json", 0)
    assert sum(one["ran"] for one in report.values()) >= 3
    check(report, capsys, "tiny_llm")


@pytest.mark.slow
@pytest.mark.parametrize("date", ERA_1)
def test_modules_of_era_1(run_modules, real_data, capsys, date: str) -> None:
    master = real_data / "ttnn" / "era1" / f"ttnn_operations_master_{date}.json"
    report = run_modules("era1", master, 12)
    check(report, capsys, date)


@pytest.mark.slow
@pytest.mark.parametrize("name", ERA_2)
def test_modules_of_era_2(run_modules, real_data, capsys, name: str) -> None:
    report = run_modules("era2", real_data / "ttnn" / "era2" / f"{name}.json", 12, ERA_2[name])
    check(report, capsys, name)
