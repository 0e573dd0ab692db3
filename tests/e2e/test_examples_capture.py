"""examples/capture: a BLAS library recorded without touching it or the program that uses it."""

import json
import subprocess

import pytest
import support


@pytest.fixture
def examples(opwright_program):
    folder = opwright_program.parent / "examples"
    if not (folder / "gemm_program").exists():
        pytest.skip("no BLAS library here, so the example was not built")
    return folder


def run(examples, tmp_path, **env):
    return subprocess.run(
        [examples / "gemm_program"], cwd=tmp_path, env=support.command_env(tmp_path, **env), capture_output=True, text=True
    )


def test_every_product_is_recorded(opwright, examples, tmp_path):
    plain = run(examples, tmp_path)
    hook = examples / "libcblas_hook.so"
    traced = run(examples, tmp_path, LD_PRELOAD=hook, OPWRIGHT_TRACE="trace")
    assert (traced.returncode, traced.stdout) == (0, plain.stdout), "the program does not notice"
    lines = [json.loads(line) for line in opwright("--format", "jsonl", "dump", "trace").stdout.splitlines()]
    calls = [line["call"] for line in lines if "call" in line]
    assert [call["op"] for call in calls] == ["cblas.sgemm"] * 3
    assert [call["kw"]["transpose_b"] for call in calls] == [False, False, True]
    assert all(call["writes"] for call in calls)
    done = opwright("--format", "json", "import", "--all-ops", "trace")
    assert json.loads(done.stdout)["configurations"] == 2


def test_nothing_happens_without_a_folder(examples, tmp_path):
    assert run(examples, tmp_path, LD_PRELOAD=examples / "libcblas_hook.so").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_told(examples, tmp_path):
    (tmp_path / "file").write_text("")
    done = run(examples, tmp_path, LD_PRELOAD=examples / "libcblas_hook.so", OPWRIGHT_TRACE="file/below")
    assert done.returncode == 0
    assert "file/below" in done.stderr and "choose a trace folder" in done.stderr
