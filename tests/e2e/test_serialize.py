"""`opwright.serialize`: objects as JSON and back."""

import collections
import dataclasses
import enum
import json
import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import python_package
import support

PROGRAMS = Path(__file__).resolve().parent / "ttnn_programs"
sys.path.insert(0, str(python_package.SOURCES))
from opwright.serialize import from_jsonable, to_jsonable  # noqa: E402


class Colour(enum.Enum):
    RED = 1


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


Corner = collections.namedtuple("Corner", "x y")


@dataclasses.dataclass(frozen=True)
class Weight:
    path: Path
    mesh_shape: tuple[int, ...]
    memory_config: Any = None
    hidden: int = dataclasses.field(default=7, init=False)


@dataclasses.dataclass
class Layer:
    weight: Weight
    program_config: Any = None
    more: Any = None


def there_and_back(value: Any, **options: Any) -> Any:
    return from_jsonable(json.loads(json.dumps(to_jsonable(value), allow_nan=False)), **options)


@pytest.mark.parametrize(
    "value",
    [
        None, True, 3, -2.5, "text", [], {}, (), [1, [2, (3, ())]], {"a": {"b": (1, 2)}}, {1: "x", (2, 3): None},
        {1, 2, 3}, frozenset({"a"}), slice(1, None, 2), range(2, 9, 3), b"\x00\xff", 1 + 2j, Path("/a/b"), math.inf,
        Colour.RED, Rights.READ, Rights.READ | Rights.WRITE, Corner(1, (2, 3)),
        Layer(Weight(Path("w.bin"), (1, 8)), more=[Colour.RED, {"k": Rights.WRITE}]),
    ],
    ids=repr,
)  # fmt: skip
def test_a_value_comes_back_as_it_was(value: Any) -> None:
    problems: list[Any] = []
    made = there_and_back(value, problems=problems)
    assert made == value and type(made) is type(value) and problems == []


def test_nan_comes_back() -> None:
    assert math.isnan(there_and_back({"eps": math.nan})["eps"])


def test_the_existing_spelling_is_written() -> None:
    assert to_jsonable(Path("/x")) == {"__type__": "path", "value": "/x"}
    assert to_jsonable(Colour.RED) == {"__enum__": f"{__name__}.Colour", "name": "RED"}
    assert to_jsonable(Weight(Path("x"), ()))["__type__"] == f"{__name__}.Weight"
    assert set(to_jsonable(Weight(Path("x"), ()))["fields"]) == {"path", "mesh_shape", "memory_config", "hidden"}


def test_specs_without_the_library_stay_dicts() -> None:
    """As a program without ttnn writes them by hand."""
    memory = {"__type__": "ttnn.MemoryConfig", "memory_layout": "TILE", "buffer_type": "DRAM"}
    program = {"__type__": "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig", "in0_block_w": 4, "grid": {"x": 8}}
    layer = Layer(Weight(Path("w"), (1, 8), memory), program)
    made = there_and_back(layer)
    assert made == layer
    assert made.weight.memory_config == memory and made.program_config == program
    tensor = {"__type__": "ttnn.TensorRef", "shape": [1, 32], "dtype": "bfloat16"}
    problems: list[Any] = []
    assert there_and_back(tensor, problems=problems) == tensor
    assert problems == []  # nothing more was ever there


def test_a_device_is_the_readers() -> None:
    device = object()
    spec = {"__type__": "ttnn.MeshDevice", "mesh_shape": [1, 8]}
    problems: list[Any] = []
    assert from_jsonable([spec], mesh_device=device) == [device]
    assert from_jsonable([spec], problems=problems) == [spec]
    assert str(problems[0]) == "$[0]: a device; from_jsonable(…, mesh_device=…) gives one"


class MeshDevice:
    shape = (1, 8)


def test_a_stand_in_for_a_device_is_written_as_one() -> None:
    assert to_jsonable(MeshDevice()) == {"__type__": "ttnn.MeshDevice", "mesh_shape": [1, 8]}


def test_a_cycle_is_named() -> None:
    layers: list[Any] = [1]
    config = {"layers": layers}
    layers.append(config)
    written = to_jsonable(config)
    assert written == {"layers": [1, {"__type__": "cycle", "path": "$"}]}
    problems: list[Any] = []
    assert from_jsonable(written, problems=problems) == written
    assert [problem.path for problem in problems] == ["$.layers[1]"]
    shared = (1, 2)
    assert there_and_back([shared, shared]) == [shared, shared]  # twice is no cycle


def test_nesting_has_an_end() -> None:
    value: Any = 1
    for _ in range(1000):
        value = [value]
    with pytest.raises(ValueError, match="nested more than 200 deep"):
        to_jsonable(value)
    with pytest.raises(ValueError, match="nested more than"):
        from_jsonable(value)


class Opaque:
    pass


def test_what_has_no_form_is_said_to_have_none() -> None:
    written = to_jsonable({"a": Opaque()})
    assert written["a"]["__type__"] == "repr" and "0x" not in written["a"]["value"]
    problems: list[Any] = []
    assert from_jsonable(written, problems=problems) == written
    assert problems[0].path == "$.a" and "Opaque" in problems[0].reason


@pytest.mark.parametrize(
    "hostile",
    [
        {"__type__": "subprocess.Popen", "fields": {"args": ["touch", "planted"]}},
        {"__type__": "subprocess.Popen", "items": [["touch", "planted"]]},
        {"__type__": "os.system", "fields": {"command": "touch planted"}},
        {"__enum__": "os", "name": "system"},
        {"__enum__": "antigravity.X", "name": "Y"},
        {"__type__": "builtins.eval", "fields": {"source": "1"}},
        {"__type__": "", "fields": 1},  # no type: a dict as any other
        {"__type__": ["x"]},
        {"__type__": "tuple", "items": 3},
        {"__type__": "set", "items": [[]]},
        {"__type__": "dict", "items": [[1, 2, 3]]},
        {"__type__": "bytes", "value": "?"},
        {"__type__": "float", "value": "x"},
        {"__type__": "path"},
        {"__enum__": f"{__name__}.Colour", "name": "BLUE"},
        {"__type__": f"{__name__}.Weight", "fields": [1]},
        {"__type__": f"{__name__}.Weight", "fields": {"nobody": 1}},
    ],
    ids=lambda value: json.dumps(value)[:40],
)
def test_a_file_cannot_do_what_it_wants(hostile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    problems: list[Any] = []
    assert from_jsonable(hostile, problems=problems) == hostile
    assert "antigravity" not in sys.modules and list(tmp_path.iterdir()) == []
    assert len(problems) == (hostile.get("__type__") not in ("", ["x"]))


def test_importing_it_takes_neither_ttnn_nor_torch() -> None:
    code = "import sys, opwright.serialize; sys.exit(bool({'ttnn', 'torch', 'numpy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": str(python_package.SOURCES)}, timeout=60)
    assert done.returncode == 0


# ------------------------------------------------------------------------------------------------- on the real library

#: They hold tensors, which are never written.
HOLD_TENSORS = {
    "tensor.Tensor", "tensor.OverlappedTensor", "operations.complex.ComplexTensor", "operations.matmul.MatmulInputs",
    "operations.experimental.quasar.MatmulInputs", "operations.normalization.LayerNormInputs",
    "operations.data_movement.SliceInputs", "operations.experimental.quasar.SliceInputs",
}  # fmt: skip


def environment(opwright_program: Path) -> dict[str, str]:
    package = os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python"
    return {"PYTHONPATH": f"{PROGRAMS}:{package}"}


def test_every_class_of_the_library_comes_back(opwright, opwright_program, ttnn_python, tmp_path) -> None:
    out = tmp_path / "verdicts.json"
    program = [ttnn_python, PROGRAMS / "serialize_every_class.py", out]
    done = opwright("mock", "--board", "n300", "--", *program, env=environment(opwright_program))
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    verdicts = json.loads(out.read_text())
    assert len(verdicts) > 600
    differ = {name.removeprefix("ttnn._ttnn.").rstrip(":"): why for name, why in verdicts.items() if why}
    document = (support.REPO / "docs" / "formats" / "library-objects.md").read_text()
    documented = set(re.findall(r"`([\w.]+)`", document.partition("## Classes that cannot be made again")[2]))
    assert set(differ) - documented - HOLD_TENSORS == set(), differ
    assert HOLD_TENSORS <= set(differ)


@pytest.mark.slow
def test_arguments_of_all_real_traces_come_back(
    opwright, opwright_program, ttnn_python, tmp_path, real_data, capsys
) -> None:
    """Of every real master and trace, counted by class (docs/formats/serialized-objects.md has the counts)."""
    names = ("ttnn/era1", "ttnn/era2", "ttnn/per_op_traces/sample", "ttnn-0.81", "native", "capture/jsonl",
             "capture/op_trace_v2_deepseek_load")  # fmt: skip
    folders = [real_data / name for name in names]
    found = check_arguments(opwright, opwright_program, ttnn_python, tmp_path, folders, least=15_000)
    with capsys.disabled():
        print("\n" + "\n".join(f"{count:7}  {name}" for name, count in found.most_common()))


def test_arguments_of_a_real_trace_come_back(opwright, opwright_program, ttnn_python, tmp_path, real_data) -> None:
    check_arguments(opwright, opwright_program, ttnn_python, tmp_path, [real_data / "ttnn-0.81"], least=300)


def traces_in(folder: Path) -> list[Path]:
    is_per_op = any(folder.glob("[0-9]*_ttnn_*.json"))
    return [folder] if is_per_op else sorted(folder.glob("*/per_op")) or sorted(folder.glob("[!_]*.[jo]*"))


def check_arguments(
    opwright, opwright_program, ttnn_python, tmp_path, folders: list[Path], least: int
) -> collections.Counter[str]:
    """Every object in the arguments of recorded calls comes back equal; how many there are, by class."""
    traces = [trace for folder in folders for trace in traces_in(folder)]
    assert opwright("import", "--all-ops", "--no-calls", *traces).returncode == 0
    program = [ttnn_python, PROGRAMS / "serialize_arguments.py", tmp_path / "lines.jsonl"]
    device = shlex.join(map(str, [opwright_program, "mock", "--board", "n300", "--", *program]))
    opwright("run", "--quiet", "--jobs", "1", "--device", f"exec:{device}", env=environment(opwright_program))
    lines = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text().splitlines()]
    assert [line["differ"] for line in lines if line["differ"]] == []
    found: collections.Counter[str] = collections.Counter()
    for line in lines:
        found.update(line["objects"])
    lost = [line["unsupported"] for line in lines if "unsupported" in line]
    found.update({"(calls)": len(lines), "(calls of which the trace lost an argument)": len(lost)})
    assert sum(found.values()) > least
    return found
