"""Examples in docstrings of the package, and the notebook of `examples/`, say what they do: both are carried out."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import python_package
import support

#: Modules whose examples look at a store: opwright.db in the current folder.
MODULES = ["opwright.store", "opwright.config", "opwright.results", "opwright.serialize", "opwright.serialize._read",
           "opwright.serialize._write"]  # fmt: skip

RUN = """
import doctest, importlib.util, sys, opwright
has_numpy = importlib.util.find_spec("numpy") is not None
failed = tried = 0
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
for name in sys.argv[1:]:
    module = importlib.import_module(name)
    for test in doctest.DocTestFinder().find(module, extraglobs={"opwright": opwright}):
        if test.examples and (has_numpy or "inputs" not in test.name):
            runner.run(test)
print(runner.summarize())
"""


@pytest.fixture
def folder(opwright, tmp_path: Path) -> Path:
    """With a store that examples look at."""
    traces = [support.FIXTURES / "demo", support.FIXTURES / "master" / "era2_g3.json"]
    assert opwright("import", "--all-ops", *traces).returncode == 0
    assert opwright("run", "--quiet", "--op", "add").returncode in (0, 1)
    return tmp_path


def environment(opwright_program: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(python_package.SOURCES), "OPWRIGHT_BIN": str(opwright_program)}


def with_numpy() -> Path:
    """That of ttnn has it; without any, the examples that want numbers are left out."""
    named = os.environ.get("OPWRIGHT_TTNN_PYTHON")
    return Path(named) if named else next(iter(python_package.pythons_with("numpy").values()), Path(sys.executable))


def test_examples_of_docstrings(folder: Path, opwright_program: Path) -> None:
    command = [with_numpy(), "-c", RUN, *MODULES]
    done = subprocess.run(
        command, cwd=folder, env=environment(opwright_program), capture_output=True, text=True, timeout=240, check=False
    )
    assert "failed=0" in done.stdout, done.stdout[-4000:] + done.stderr[-2000:]
    assert int(done.stdout.rpartition("attempted=")[2].rstrip(")\n").partition(",")[0]) >= 15, done.stdout[-300:]


def cells_of(notebook: Path) -> list[str]:
    return [
        "".join(cell["source"]) for cell in json.loads(notebook.read_text())["cells"] if cell["cell_type"] == "code"
    ]


def test_the_notebook(folder: Path, opwright_program: Path) -> None:
    """Its code cells, one after the other, in one Python. jupyter is not needed for that."""
    notebook = support.REPO / "examples" / "store.ipynb"
    cells = cells_of(notebook)
    assert len(cells) >= 5
    done = subprocess.run(
        [with_numpy(), "-c", "\n\n".join(cells)], cwd=folder, env=environment(opwright_program), capture_output=True,
        text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert "BFLOAT8_B" in done.stdout and "passed" in done.stdout, done.stdout[-2000:]


def test_the_notebook_has_no_results_in_it() -> None:
    """They would be those of somebody's machine."""
    for cell in json.loads((support.REPO / "examples" / "store.ipynb").read_text())["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None
