"""`opwright.serialize` in the place of the existing serializer: what the public tests of that one need, each with a
test of our own; without ttnn, with a stand-in for it, and with the real one."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import python_package

DATACLASSES = """
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class DeviceStub:
    mesh_shape: tuple[int, ...]


@dataclass
class OfWeights:
    mesh_device: Any


@dataclass
class Saved:
    path: Path
    memory_config: Any = None


@dataclass
class Linear:
    input_tensor_b: Any
    memory_config: Any = None
    compute_kernel_config: Any = None
    program_config: Any = None


@dataclass(kw_only=True, slots=True)
class Mapped:
    memory_config: Any = None
    activations: list[Any] | None = None

    def keys(self):
        return ["memory_config", "activations"]

    def __getitem__(self, name):
        return getattr(self, name)


@dataclass
class Norm:
    epsilon: float
    weight: Any = None
    memory_config: Any = None
"""

TESTS = """
import enum
from pathlib import Path

import pytest
from models.demos.deepseek_v3.utils.config_dataclass import DeviceStub, Linear, Mapped, Norm, OfWeights, Saved
from models.demos.deepseek_v3.utils.serialize_configs import from_jsonable, to_jsonable

MEMORY = {"__type__": "ttnn.MemoryConfig", "memory_layout": "TILE", "buffer_type": "DRAM"}
PROGRAM = {
    "__type__": "ttnn.MatmulMultiCoreReuseMultiCastProgramConfig",
    "compute_with_storage_grid_size": {"x": 8, "y": 8},
    "in0_block_w": 4,
    "per_core_M": 1,
}


class Kind(enum.Enum):
    ONE = 1


class Device:
    def __init__(self, shape):
        self.shape = tuple(shape)


def there_and_back(value):
    return from_jsonable(to_jsonable(value))


def test_a_stub_of_a_device_and_what_holds_it():
    assert there_and_back(DeviceStub((1, 8))) == DeviceStub((1, 8))
    assert there_and_back(OfWeights(DeviceStub((1, 8)))) == OfWeights(DeviceStub((1, 8)))


def test_a_path_in_a_dataclass():
    assert there_and_back(Saved(Path("/tmp/w.bin"))) == Saved(Path("/tmp/w.bin"))


def test_specs_of_configs_survive_as_dicts():
    memory = {**MEMORY, "shard_spec": {"shape": [1, 8], "dims": [0, -1]}}
    config = Linear(OfWeights(DeviceStub((1, 8))), memory, None, PROGRAM)
    made = there_and_back(config)
    assert isinstance(made, Linear) and made == config
    assert made.memory_config == memory and made.program_config == PROGRAM


@pytest.mark.parametrize("memory", [MEMORY, {**MEMORY, "memory_layout": "L1_SHARDED", "buffer_type": "L1"}, None])
def test_a_memory_spec_in_any_dataclass(memory):
    for config in (Saved(Path("w"), memory), Norm(1e-6, None, memory), Mapped(memory_config=memory, activations=["SILU"])):
        assert there_and_back(config) == config


def test_numbers_and_nothing():
    assert there_and_back(Norm(1e-6)) == Norm(1e-6)


def test_enums_paths_and_references_to_tensors():
    assert there_and_back(Kind.ONE) is Kind.ONE
    assert there_and_back(Path("a/b.txt")) == Path("a/b.txt")
    tensor = {"__type__": "ttnn.TensorRef", "shape": [1, 1, 32, 4096], "dtype": "bfloat16"}
    assert there_and_back(tensor) == tensor


class OwnProgramConfig:
    def __init__(self, block=1):
        self.block = block
        self._hidden = 2


class MadeOtherwiseProgramConfig:
    def __init__(self, path):
        self.rows, self.grid = len(path), (8, 4)


def test_program_configs_of_any_class():
    spec = to_jsonable(OwnProgramConfig(4))
    assert spec == {"__type__": f"{__name__}.OwnProgramConfig", "block": 4}
    assert from_jsonable(spec).block == 4
    made = there_and_back(MadeOtherwiseProgramConfig("abc"))
    assert isinstance(made, MadeOtherwiseProgramConfig) and (made.rows, made.grid) == (3, (8, 4))
    unknown = {"__type__": f"{__name__}.NoProgramConfig", "block": 4}
    assert from_jsonable(unknown) == unknown


def test_a_device_is_put_in_its_place():
    spec = {"__type__": "ttnn.MeshDevice", "mesh_shape": [1, 8]}
    device = Device((1, 8))
    assert from_jsonable(spec, mesh_device=device) is device
    assert from_jsonable(spec) == spec
"""

#: A ttnn with two classes, which have less than the real ones, and no program configs.
STUB = """
class MemoryConfig:
    memory_layout, buffer_type = "INTERLEAVED", "DRAM"


class Tensor:
    shape, dtype, memory_config = (1, 32), "bfloat16", MemoryConfig()


class FancyProgramConfig:
    def __init__(self):
        self.in0_block_w = 4
"""

STUB_TESTS = """
import ttnn
from opwright.serialize import from_jsonable, to_jsonable

MEMORY = {"__type__": "ttnn.MemoryConfig", "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"}


def test_objects_of_a_stand_in():
    tensor = {"__type__": "ttnn.TensorRef", "shape": [1, 32], "dtype": "bfloat16", "memory_config": MEMORY}
    assert to_jsonable(ttnn.MemoryConfig()) == MEMORY
    assert to_jsonable(ttnn.Tensor()) == tensor
    written = to_jsonable(ttnn.FancyProgramConfig())
    assert written == {"__type__": "ttnn.FancyProgramConfig", "in0_block_w": 4}
    problems = []
    assert from_jsonable([written, tensor], problems=problems) == [written, tensor]
    assert [problem.path for problem in problems] == ["$[0]"]
"""


@pytest.fixture
def run(tmp_path: Path):
    folder = tmp_path / "models" / "demos" / "deepseek_v3" / "utils"
    folder.mkdir(parents=True)
    (folder / "config_dataclass.py").write_text(DATACLASSES)
    (folder / "serialize_configs.py").write_text("raise RuntimeError('the existing one was taken')\n")
    (tmp_path / "test_configs.py").write_text(TESTS)

    def run(python: Any, package: Path, *tests: str) -> str:
        command = [
            str(python),
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-p",
            "opwright.compat.stand_in",
            *tests,
        ]
        env = {**os.environ, "PYTHONPATH": f"{package}:{tmp_path}", "LOGURU_LEVEL": "ERROR"}
        done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
        return done.stdout

    return run


def test_without_ttnn(run) -> None:
    assert "10 passed" in run(sys.executable, python_package.SOURCES, "test_configs.py")


def test_with_a_stand_in_for_ttnn(run, tmp_path: Path) -> None:
    (tmp_path / "ttnn.py").write_text(STUB)
    (tmp_path / "test_stub.py").write_text("import ttnn\n" + STUB_TESTS)
    (tmp_path / "test_configs.py").write_text("import ttnn\n" + TESTS)
    assert "11 passed" in run(sys.executable, python_package.SOURCES, "test_configs.py", "test_stub.py")


def test_with_the_real_ttnn(run, opwright_program, ttnn_python, tmp_path: Path) -> None:
    (tmp_path / "test_configs.py").write_text("import ttnn\n" + TESTS)
    package = Path(os.environ.get("OPWRIGHT_PYTHON") or opwright_program.parent / "python")
    assert "10 passed" in run(ttnn_python, package, "test_configs.py")


def test_modules_of_theirs_are_ours() -> None:
    code = """
import opwright.compat.stand_in as stand_in
import sys
from models.demos.deepseek_v3.utils import serialize_configs
import opwright.serialize
assert serialize_configs is opwright.serialize and opwright.serialize.__name__ == "opwright.serialize"
assert opwright.serialize.__spec__.name == "opwright.serialize"
stand_in.install()
assert sum(type(finder).__name__ == "_Ours" for finder in sys.meta_path) == 1
try:
    import models.demos.nobody
except ImportError:
    print("as before")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(python_package.SOURCES)}, capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout == "as before\n", done.stderr
