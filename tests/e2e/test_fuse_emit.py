"""What `fuse make` writes for people: a test file that needs nothing of ours, the same bytes each time, and the proof on
the real library that it makes the calls of the module."""

import ast
import json
import re
import shlex
import subprocess
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
    assigned = [node.targets[0] for node in tree.body if isinstance(node, ast.Assign)]
    defined |= {name.id for target in assigned for name in ast.walk(target) if isinstance(name, ast.Name)}
    tests = (f"test_{name}", f"test_{name}_single_device", f"test_{name}_device_perf", f"test_{name}_single_device_device_perf")
    assert {*tests, f"{name}_reference", f"{name}_ttnn"} <= defined
    # Everything that is defined is used, and nothing is used that is not defined.
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    unused = {one for one in defined - set(tests) if one not in names and one not in ("device", "mesh_device")}
    assert not unused
    assert max(map(len, text.splitlines())) <= 120
    assert text.count("\n") <= 400
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
    assert "memory_config=ttnn.L1_MEMORY_CONFIG,\n" in text
    changed = tmp_path / "test_gated_mlp.py"
    changed.write_text(text.replace("memory_config=ttnn.L1_MEMORY_CONFIG,\n", "memory_config=ttnn.DRAM_MEMORY_CONFIG,\n"))
    done = opwright(
        "trace", "--mock", "n150", "--keep", "--output", tmp_path / "trace", "--",
        ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "test_gated_mlp and not single_device", changed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    [recorded] = (tmp_path / "trace").iterdir()  # the folder of this run
    check = opwright("fuse", "check", FUSED / "gated_mlp" / "gated_mlp.params.json", "--trace", recorded)
    assert check.returncode == 1, check.stdout + check.stderr
    assert "memory_config" in check.stdout


REFERENCES = """
import math, sys
from pathlib import Path
from typing import Callable, NamedTuple
import torch, ttnn
from torch.nn import functional

text = Path(sys.argv[1]).read_text()
MESH, MOCK = (2, 4), True
exec(text)
for name in ("uint16", "uint32"):
    if not hasattr(torch, name):
        setattr(torch, name, name)
generator = torch.Generator().manual_seed(1)
def some(*shape):
    return torch.randn(shape, generator=generator, dtype=torch.float64)
x, y, w = some(2, 3, 32, 64), some(2, 3, 32, 64), some(64, 32)
for ours, op, args, more in [
    (ref_linear, ttnn.linear, (x, w), {}), (ref_linear, ttnn.linear, (x, w), {"bias": some(1, 32)}),
    (ref_linear, ttnn.linear, (x, w), {"activation": "silu"}), (ref_matmul, ttnn.matmul, (x, w), {}),
    (ref_matmul, ttnn.matmul, (x, y), {"transpose_b": True}), (ref_add, ttnn.add, (x, y), {}),
    (ref_subtract, ttnn.subtract, (x, y), {}), (ref_multiply, ttnn.multiply, (x, 3.0), {}), (ref_divide, ttnn.divide, (x, y), {}),
    (ref_silu, ttnn.silu, (x,), {}), (ref_gelu, ttnn.gelu, (x,), {}), (ref_relu, ttnn.relu, (x,), {}),
    (ref_sigmoid, ttnn.sigmoid, (x,), {}), (ref_exp, ttnn.exp, (x,), {}), (ref_tanh, ttnn.tanh, (x,), {}),
    (ref_softmax, ttnn.softmax, (x, -1), {}), (ref_permute, ttnn.permute, (x, (0, 2, 1, 3)), {}),
    (ref_transpose, ttnn.transpose, (x, 1, 2), {}), (ref_concat, ttnn.concat, ([x, y],), {"dim": 2}),
    (ref_sum, ttnn.sum, (x,), {"dim": 3, "keepdim": True}), (ref_mean, ttnn.mean, (x,), {"dim": 2, "keepdim": True}),
    (ref_topk, ttnn.topk, (x, 4, -1, True, True), {}), (ref_repeat, ttnn.repeat, (x, (1, 2, 1, 1)), {}),
    (ref_rms_norm, ttnn.rms_norm, (x,), {"weight": some(64), "epsilon": 1e-5}),
    (ref_layer_norm, ttnn.layer_norm, (x,), {"weight": some(64), "bias": some(64), "epsilon": 1e-5}),
]:
    found = ours(*args, **more)
    try:
        golden = ttnn.get_golden_function(op)(*args, **more)
    except Exception as error:
        print("golden refuses", op.python_fully_qualified_name, error)
        continue
    for a, b in zip(found if isinstance(found, tuple) else (found,), golden if isinstance(golden, (list, tuple)) else (golden,)):
        assert a.shape == b.shape and torch.allclose(a.double(), b.double(), rtol=1e-4, atol=1e-5), (op, a.shape, b.shape)
    print("same", op.python_fully_qualified_name)
# A norm over the features of four chips, and sums over them, are those of the whole.
chips = Chips(some(1, 1, 32, 64) for _ in range(8))
whole = ref_all_gather(chips, 3, 1)
stats = ref_all_gather(on_each_chip(ref_rms_norm_pre_all_gather, chips), 3, 1)
normed = ref_all_gather(on_each_chip(ref_rms_norm_post_all_gather, chips, stats, epsilon=1e-5), 3, 1)
assert torch.allclose(normed[5], ref_rms_norm(whole[5], epsilon=1e-5))
assert torch.allclose(whole[0], torch.cat(chips[:4], 3)) and torch.allclose(whole[7], torch.cat(chips[4:], 3))
parts = ref_reduce_scatter(chips, 3, 1)
assert torch.allclose(ref_all_gather(parts, 3, 1)[2], sum(chips[:4])) and torch.allclose(ref_all_reduce(chips, 0)[1], chips[1] + chips[5])
assert torch.allclose(ref_mesh_partition(ref_all_reduce(chips, 1), 3, 1)[6], parts[6])
print("meshes")
"""


def test_exact_results_are_those_of_the_library(ttnn_python, tmp_path: Path) -> None:
    """Of what an emitted file compares with: the functions of its template against the library's golden functions."""
    program = tmp_path / "compare.py"
    program.write_text(REFERENCES)
    template = support.REPO / "src" / "fuse" / "templates" / "fused_test_references.py"
    done = subprocess.run([ttnn_python, program, template], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert "meshes" in lines
    refused = [line for line in lines if line.startswith("golden refuses")]
    assert not refused and sum(line.startswith("same") for line in lines) == 25
