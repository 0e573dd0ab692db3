"""What `fuse make` writes for people: a test file that needs nothing of ours, the same bytes each time, and the proof on
the real library that it makes the calls of the module."""

import ast
import json
import re
import shlex
from pathlib import Path

import pytest
import support
from traces import fixture

FUSED = support.REPO / "examples" / "fused"
COMMANDS = re.findall(r"^opwright (fuse make .*)$", (FUSED / "README.md").read_text(), re.MULTILINE)
NAMES = [re.search(r"--name (\w+)", command)[1] for command in COMMANDS]
BOARDS = {"tensor_parallel_mlp": "t3k"}
ALLOWED = {
    "csv", "functools", "itertools", "math", "os", "re", "subprocess", "sys", "time", "pathlib", "types", "typing",
    "pytest", "torch", "ttnn", "loguru", "tracy",
}  # fmt: skip


def make(opwright, name: str, out: Path, *options: object):
    """Runs the command of the README on the trace of the example."""
    words = shlex.split(COMMANDS[NAMES.index(name)])
    at = words.index("--trace") + 1
    words[at] = str(fixture("native/" + Path(words[at]).name))
    return opwright(*words, "--out", out, *options)


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_are_what_the_command_writes(opwright, tmp_path: Path, name: str) -> None:
    done = make(opwright, name, tmp_path / name)
    assert done.returncode == 0, done.stdout + done.stderr
    kept = sorted(path.name for path in (FUSED / name).iterdir())
    assert kept == sorted(["README.md", f"test_{name}.py", f"{name}.params.json", f"{name}.cases"])
    for file in kept:
        assert (tmp_path / name / file).read_bytes() == (FUSED / name / file).read_bytes(), file


@pytest.mark.parametrize("name", NAMES)
def test_an_emitted_file_needs_nothing_of_ours(name: str) -> None:
    text = (FUSED / name / f"test_{name}.py").read_text()
    tree = ast.parse(text)
    imported = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {"pytest", "torch", "ttnn"} <= imported <= ALLOWED
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    defined |= {node.targets[0].id for node in tree.body if isinstance(node, ast.Assign)}
    tests = (f"test_{name}", f"test_{name}_single_device", f"test_{name}_device_perf", f"test_{name}_single_device_device_perf")
    assert {*tests, f"{name}_reference", f"{name}_ttnn"} <= defined
    # Everything that is defined is used, and nothing is used that is not defined.
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = {one for one in defined - set(tests) if one not in names and one not in ("device", "mesh_device")}
    assert not unused
    assert max(map(len, text.splitlines())) <= 140
    assert text.count("\n") <= 330
    for line in ("=== TEST RUN CONFIGURATION ===", "Device perf totals: kernel=", 'signpost("start")', 'signpost("stop")'):
        assert line in text


@pytest.mark.parametrize("name", NAMES)
def test_on_the_mock_board_the_test_makes_the_calls_of_the_module(opwright, ttnn_python, tmp_path: Path, name: str) -> None:
    """Collected and run as it is; every call accepted; what was recorded meanwhile equals the module's, field by field."""
    board = BOARDS.get(name, "n150")
    done = make(opwright, name, tmp_path / name, "--device", f"ttnn:mock:{board}", "--python", ttnn_python)
    report = json.loads((tmp_path / name / "report.json").read_text())
    (mock,) = [section for section in report["sections"] if section["id"] == "mock"]
    log = (tmp_path / name / mock["log"]).read_text()
    assert (mock["status"], done.returncode) == ("pass", 0), done.stdout + done.stderr + log
    metrics = mock["metrics"]
    assert metrics["passed"] > 0 and metrics["failed"] == 0
    assert metrics["equal"] == metrics["matches"] == metrics["passed"], log
    assert (tmp_path / name / f"test_{name}.py").read_bytes() == (FUSED / name / f"test_{name}.py").read_bytes()


def test_a_test_that_calls_something_else_is_noticed(opwright, ttnn_python, tmp_path: Path) -> None:
    """The control of the proof: one memory config of an emitted file changed, and `fuse check` says which."""
    text = (FUSED / "gated_mlp" / "test_gated_mlp.py").read_text()
    assert text.count("memory_config=ttnn.L1_MEMORY_CONFIG,\n") == 1
    changed = tmp_path / "test_gated_mlp.py"
    changed.write_text(text.replace("memory_config=ttnn.L1_MEMORY_CONFIG,\n", "memory_config=ttnn.DRAM_MEMORY_CONFIG,\n"))
    done = opwright(
        "trace", "--mock", "n150", "--keep", "--output", tmp_path / "trace", "--",
        ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_gated_mlp and not single_device", changed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    check = opwright("fuse", "check", FUSED / "gated_mlp" / "gated_mlp.params.json", "--trace", tmp_path / "trace")
    assert check.returncode == 1, check.stdout + check.stderr
    assert "memory_config" in check.stdout
