"""The device with planted kernel bugs (tests/bench/planted_device): right without a bug, noticed with one."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

DEVICE = Path(__file__).resolve().parents[1] / "bench" / "planted_device"


def tensor(*shape: int, dtype: str = "BFLOAT16") -> str:
    return f"tensor([{','.join(map(str, shape))}] {dtype} TILE DEVICE memory(DRAM INTERLEAVED))"


#: Operation -> its parameters.
CASES = {
    "ttnn.add": {"input_tensor_a": tensor(1, 1, 64, 64), "input_tensor_b": tensor(1, 1, 1, 64)},
    "ttnn.gelu": {"input_tensor": tensor(1, 1, 64, 64, dtype="BFLOAT8_B")},
    "ttnn.linear": {"input_tensor_a": tensor(1, 1, 64, 96), "input_tensor_b": tensor(1, 1, 96, 64), "bias": tensor(1, 1, 1, 64)},
    "ttnn.layer_norm": {"input_tensor": tensor(1, 1, 64, 96), "weight": tensor(1, 1, 1, 96), "bias": tensor(1, 1, 1, 96)},
    "ttnn.softmax": {"input_tensor": tensor(1, 1, 64, 96), "dim": "-1"},
    "ttnn.transpose": {"input_tensor": tensor(1, 2, 64, 32), "dim1": "1", "dim2": "2"},
    "ttnn.transformer.scaled_dot_product_attention": {
        "input_tensor_q": tensor(1, 4, 64, 64), "input_tensor_k": tensor(1, 2, 64, 64), "input_tensor_v": tensor(1, 2, 64, 64),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def python(ttnn_python: Path) -> Path:
    if subprocess.run([ttnn_python, "-c", "import torch"], capture_output=True).returncode:
        pytest.skip("torch is not installed beside ttnn")
    return ttnn_python


def run(opwright, program: Path, python: Path, folder: Path, bug: str) -> list[tuple[dict, dict]]:
    """Results, each with what the device says that it planted."""
    lines = ""
    for op, parameters in CASES.items():
        given = ", ".join(f"{name}: ['{value}']" if "(" in value else f"{name}: [{value}]" for name, value in parameters.items())
        lines += f"    - op: {op}\n      parameters: {{{given}}}\n"
    (folder / "suites.yaml").write_text(f"suites:\n  planted:\n{lines}")
    log, out = folder / f"{bug}.log", folder / f"{bug}.jsonl"
    device = [program, "mock", "--board", "n150", "--", python, DEVICE, "--bug", bug, "--log", log]
    store = folder / f"{bug}.db"
    done = opwright("--store", store, "run", "--suites", folder / "suites.yaml", "--jobs", "1", "--no-attribute", "--quiet",
                    "--device", "exec:" + shlex.join(map(str, device)))  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    opwright("--store", store, "results", "--export", f"jsonl:{out}")
    planted = [json.loads(line) for line in log.read_text().splitlines()]
    results = [json.loads(line) for line in out.read_text().splitlines()]
    return [(r, planted[round(r["kernel_seconds"]) - 1]) for r in results if r.get("kernel_seconds")]


def test_a_right_device_is_never_blamed_and_a_wrong_one_is(opwright, opwright_program, python, tmp_path: Path) -> None:
    right = run(opwright, opwright_program, python, tmp_path, "none")
    assert {record["op"] for record, _ in right} == set(CASES)
    assert [(record["op"], record["outcome"], record.get("reason")) for record, _ in right if record["outcome"] != "passed"] == []
    wrong = run(opwright, opwright_program, python, tmp_path, "any")
    assert len(wrong) == len(CASES) and all(planted["bug"] for _, planted in wrong)
    noticed = [record["op"] for record, planted in wrong if record["outcome"] == "failed"]
    assert len(noticed) >= 5, [(planted, record["outcome"]) for record, planted in wrong]


def test_every_bug_of_the_table_is_planted_somewhere() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in DEVICE.glob("*.py"))
    lists = re.findall(r"_BUGS = \[(.*?)\]", sources, re.S)
    names = [name for part in lists for name in re.findall(r'"([^"]+)"', part)]
    assert len(names) >= 150
    assert [name for name in names if sources.count(f'"{name}"') < 2] == []
