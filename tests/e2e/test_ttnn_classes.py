"""Every class and enum of the installed library: recorded, imported, made again from what was recorded, and compared with
what was passed. docs/formats/library-objects.md has the list of those that cannot be made; it must be the measured one."""

import json
import os
import re
import shlex
from pathlib import Path

import pytest
import support

PROGRAMS = Path(__file__).resolve().parent / "ttnn_programs"
DOCUMENT = support.REPO / "docs" / "formats" / "library-objects.md"
LIBRARY = "ttnn._ttnn."

#: What is measured of a class, and how the rows of the document begin that say so.
CAUSES = {
    "no constructor": "no constructor",
    "it belongs to an open device": "belongs to a device",
    "it belongs to shared memory": "belongs to shared memory",
    "it is the library's own state": "the library's own state",
    "Unsupported": "members that the library does not show",
    "RuntimeError": "needs a tensor on a device",
}


def documented() -> dict[str, str]:
    """Class -> why, of the table's rows `| why | `class`, `class` |`."""
    found = {}
    for why, names in re.findall(r"^\| ([^|`]+) \| (`[^|]+) \|$", DOCUMENT.read_text(), re.M):
        for name in re.findall(r"`([^`]+)`", names):
            assert name not in found, f"{name} stands twice in {DOCUMENT.name}"
            found[name] = why
    return found


@pytest.fixture(scope="module")
def measured(opwright_program, ttnn_python, tmp_path_factory):
    """Verdicts of all samples by their names ("" where what was made is what was passed), and why others have none."""
    from conftest import Opwright

    folder = tmp_path_factory.mktemp("classes")
    opwright = Opwright(opwright_program, folder)
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    env = {"PYTHONPATH": f"{PROGRAMS}:{package}"}
    program = [ttnn_python, PROGRAMS / "pass_every_class.py", folder / "none.json"]
    done = opwright("trace", "--mock", "n300", "--all-ops", "--", *program, env=env)
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    rebuild = [ttnn_python, PROGRAMS / "rebuild_every_class.py", folder / "verdicts.jsonl"]
    device = shlex.join(map(str, [opwright_program, "mock", "--board", "n300", "--", *rebuild]))
    done = opwright("run", "--quiet", "--jobs", "1", "--device", f"exec:{device}", env=env)
    assert "accepted" in done.stdout, done.stdout + done.stderr[-2000:]
    lines = map(json.loads, (folder / "verdicts.jsonl").read_text().splitlines())
    return {line["sample"]: line["verdict"] for line in lines}, json.loads((folder / "none.json").read_text())


def test_every_member_of_every_enum_is_made_again(measured) -> None:
    members = {sample: verdict for sample, verdict in measured[0].items() if not sample.endswith(":")}
    assert len(members) > 400
    assert {sample: verdict for sample, verdict in members.items() if verdict} == {}


def test_the_documented_classes_are_those_that_cannot_be_made(measured) -> None:
    verdicts, none = measured
    found = {name: reason for name, reason in none.items()}
    for sample, verdict in verdicts.items():
        if verdict and sample.endswith(":"):
            found[sample[:-1]] = verdict
    reality = {name.removeprefix(LIBRARY): reason for name, reason in found.items()}
    known = documented()
    assert set(known) == set(reality), {
        name: reality.get(name, "it can be made") for name in set(known) ^ set(reality)
    }
    for name, why in known.items():
        cause = next((words for start, words in CAUSES.items() if reality[name].startswith(start)), "")
        assert cause and why.startswith(cause), f"{name} is documented as {why!r}, measured: {reality[name]}"


@pytest.mark.parametrize(
    "name",
    [
        "tensor.CoreRange", "tensor.CoreRangeSet", "tensor.ShardSpec", "tensor.NdShardSpec", "tensor.TensorSpec",
        "device.SubDeviceId", "operations.sliding_window.Op2DSliceConfig", "operations.conv.Conv2dConfig",
        "operations.matmul.MatmulMultiCoreReuseMultiCast1DProgramConfig", "operations.transformer.SDPAProgramConfig",
        "operations.normalization.LayerNormShardedMultiCoreProgramConfig", "activation.UnaryWithParam",
        "operations.normalization.SoftmaxShardedMultiCoreProgramConfig", "multi_device.MeshCoordinateRange",
        "operations.core.WormholeComputeKernelConfig", "multi_device.MeshMapperConfig", "multi_device.CppTensorToMesh",
        "operations.experimental.MinimalMatmulConfig", "fabric.FabricNodeId", "multi_device.TensorTopology",
    ],
)  # fmt: skip
def test_classes_that_operations_take_are_made_again(measured, name) -> None:
    assert measured[0][f"{LIBRARY}{name}:"] == ""


def test_what_ran_is_accepted_again(opwright, ttnn_python) -> None:
    """Operators that nobody here knows among them: the whole way from a program to `run` and what it executed."""
    done = opwright("trace", "--mock", "n300", "--", ttnn_python, PROGRAMS / "many_operators.py")
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    done = opwright("run", "--quiet", "--jobs", "2", "--device", "ttnn:mock:n300", "--python", ttnn_python)
    opwright("results", "--export", f"jsonl:{opwright.folder / 'results.jsonl'}")
    lines = [json.loads(line) for line in (opwright.folder / "results.jsonl").read_text().splitlines()]
    cases = [line for line in lines if "outcome" in line]
    assert len({case["op"] for case in cases}) > 20
    assert [(case["case"], case["outcome"], case["reason"]) for case in cases if case["outcome"] != "accepted"] == []
    assert done.returncode == 0, done.stderr
    assert re.search(r"executed == traced in ([\d,]+) of \1 fields", done.stdout), done.stdout
