"""Our references against PyTorch where it is installed, against recorded digests elsewhere (tests/reference)."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import support

SUITE = support.REPO / "tests" / "reference" / "suite.py"


def run(program: Path, python: str, *options: str) -> subprocess.CompletedProcess:
    environment = os.environ | {"OPWRIGHT_BIN": str(program), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([python, str(SUITE), *options], env=environment, capture_output=True, text=True, timeout=support.COMMAND_TIMEOUT_S)


def test_exact_results_are_those_that_were_recorded(opwright_program: Path) -> None:
    done = run(opwright_program, sys.executable, "--digests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ from their digests" in done.stdout


def test_every_operator_has_cases(opwright) -> None:
    known = json.loads(opwright("ops", "--known", "--format", "json").stdout)
    sys.path.insert(0, str(SUITE.parent))
    import suite

    cases = {case.op for case in suite.all_cases()}
    assert [op["operation"] for op in known if op["operation"] not in cases] == []
    assert len(suite.all_cases()) >= 3000


def test_references_agree_with_pytorch(opwright_program: Path, ttnn_python: Path) -> None:
    """A sixth of the suite; ./x bench reference is the whole of it."""
    if subprocess.run([ttnn_python, "-c", "import torch"], capture_output=True).returncode != 0:
        pytest.skip("no torch beside ttnn")
    done = run(opwright_program, str(ttnn_python), "--part", "2/6")
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 differ from PyTorch" in done.stdout


def test_a_request_that_makes_no_sense_costs_its_own_line(opwright) -> None:
    good = '{"case": "ttnn.relu(tensor([1,2] FLOAT32 TILE DEVICE memory(DRAM INTERLEAVED)))", "inputs": {"0": "%s"}}'
    values = "000000000000f03f" + "000000000000f0bf"  # 1, -1
    lines = [good % values, "nonsense", good % "00", '{"case": "ttnn.no_such()"}', good.replace('"0"', '"7"') % values]
    done = opwright("reference", input="\n".join(lines) + "\n")
    answers = done.stdout.splitlines()
    assert done.returncode == 0 and len(answers) == 5, done.stderr
    assert '"values": "000000000000f03f0000000000000000"' in answers[0]
    assert all('"error"' in answers[i] for i in (1, 2, 4)) and '"unsupported"' in answers[3]
