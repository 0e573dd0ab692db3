"""`opwright gentest`: files that need nothing of opwright, written from recorded configurations."""

import json
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import support

NATIVE = support.FIXTURES / "native"
PROGRAMS = Path(__file__).resolve().parent / "programs"
TABLES = ("classes", "golden_functions", "semaphores")


def generate(opwright, folder: Path, *arguments: object, source: object = NATIVE / "mlp.opwt.zst") -> dict:
    done = opwright("--format", "json", "gentest", source, "-o", folder, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def contents(folder: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in sorted(folder.iterdir()) if file.is_file()}


def on_mock(opwright, ttnn_python: Path, *arguments: object, board: str = "n150") -> subprocess.CompletedProcess:
    pytest_command = [ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    return opwright("mock", "--board", board, "--", *pytest_command, *arguments)


def test_what_the_trace_did_not_give_is_counted(opwright, tmp_path):
    made = generate(opwright, tmp_path / "demo", source=support.FIXTURES / "demo")
    assert made["filtered"] == {"ttnn.deallocate": 1, "ttnn.from_torch": 1} and made["losses"] == {}
    folder = tmp_path / "calls"
    shutil.copytree(support.FIXTURES / "per_op" / "v2", folder)
    broken = next(folder.glob("*_ttnn_*.json"))
    broken.write_text(broken.read_text()[:100])
    damaged = opwright("--format", "json", "gentest", folder, "-o", tmp_path / "damaged")
    assert damaged.returncode == 0, damaged.stderr
    assert sum(json.loads(damaged.stdout)["losses"].values()) == 1
    shown = opwright("gentest", folder, "-o", tmp_path / "shown")
    assert "LOST 1: " in shown.stdout and broken.name in shown.stdout, shown.stdout


# -- the closed loop


def test_generated_tests_give_the_configurations_they_came_from(opwright, ttnn_python, tmp_path):
    source, tests, store = NATIVE / "mlp.opwt.zst", tmp_path / "tests", tmp_path / "again.db"
    made = generate(opwright, tests)
    assert (made["configurations"], made["generated"], made["expected_to_fail"]) == (25, 25, 2)
    done = opwright(
        "--store", store, "trace", "--include-failed", "--mock", "n150", "--output", tmp_path / "trace", "--", ttnn_python,
        "-m", "pytest", "-q", "-p", "no:cacheprovider", tests,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 xfailed, 23 accepted" in done.stdout
    assert "23 accepted, numbers not compared: the mock device computes none" in done.stdout
    compared = opwright("diff", source, store)
    assert compared.returncode == 0, compared.stdout
    assert compared.stdout.startswith("25 configurations against 25: 25 same, 0 changed, 0 removed, 0 added")


@pytest.mark.slow
def test_the_loop_closes_over_all_examples_and_real_masters(opwright_program, ttnn_python, tmp_path, capsys):
    env = {"OPWRIGHT_BIN": str(opwright_program), "OPWRIGHT_TTNN_PYTHON": str(ttnn_python), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    done = subprocess.run(["/usr/bin/python3", support.REPO / "tests/bench/gentest.py"], env=env, capture_output=True, text=True)
    with capsys.disabled():
        print("\n" + done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


def test_only_pytest_torch_and_ttnn_are_imported(opwright, tmp_path):
    made = generate(opwright, tmp_path / "tests")
    own = {"conftest", "op_data", "op_references", "op_testing"}
    allowed = own | {"pytest", "torch", "ttnn", "itertools", "math", "os", "re"}
    for name, text in contents(tmp_path / "tests").items():
        words = [line.split()[1] for line in text.splitlines() if line.startswith(("import ", "from "))]
        assert set(words) <= allowed, name
        compile(text, name, "exec")
    assert {"test_linear.py", "conftest.py"} <= set(made["written"])


def test_a_wrong_spec_fails_on_the_mock(opwright, ttnn_python, tmp_path):
    tests = tmp_path / "tests"
    generate(opwright, tests, "--op", "add")
    file = tests / "test_add.py"
    file.write_text(file.read_text().replace("Spec([1, ", "Spec([7, "))
    done = on_mock(opwright, ttnn_python, tests)
    assert done.returncode == 1
    assert "tensor 0 of the result: shape is [1, " in done.stdout


def test_numbers_are_judged(opwright, ttnn_python, tmp_path):
    """With a stand-in for the device: right results pass, results that are 10 % too large do not."""
    tests = tmp_path / "tests"
    generate(opwright, tests, "--op", "add", "--op", "linear", source=NATIVE / "encoder.opwt.zst")
    outcomes = {}
    for scale in ("1.0", "1.1"):
        done = opwright("mock", "--board", "n150", "--", ttnn_python, PROGRAMS / "judge_generated.py", tests, scale)
        assert done.returncode == 0, done.stderr[-2000:]
        outcomes[scale] = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if line.startswith("test_")]
    assert outcomes["1.0"] and set(outcomes["1.0"]) == {"passed"}
    assert all(text.startswith("FAILED") for text in outcomes["1.1"]), outcomes["1.1"]
    assert any("elements differ by more than" in text for text in outcomes["1.1"])
    assert any("the error is 0.1 of the result" in text for text in outcomes["1.1"]), "PCC alone would not see a factor"


def test_the_tables_say_what_the_library_says(ttnn_python, tmp_path):
    for name in TABLES:
        done = subprocess.run(
            [ttnn_python, support.REPO / "tools" / "ttnn_tables.py", name], capture_output=True, text=True,
            env=support.command_env(tmp_path, PYTHONDONTWRITEBYTECODE="1", TT_LOGGER_LEVEL="FATAL", LOGURU_LEVEL="ERROR"),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
        table = (support.REPO / "src/dialect/ttnn/data" / f"{name}.tsv").read_text().splitlines()
        rows = [line for line in table if not line.startswith("#")]
        said = [line for line in done.stdout.splitlines() if "\t" in line or line.startswith("ttnn.")]
        assert rows == said, name


# -- bytes, blocks, and what people add


def test_the_same_configurations_give_the_same_bytes(opwright, tmp_path):
    generate(opwright, tmp_path / "a")
    store = tmp_path / "both.db"
    for source in ("encoder", "mlp"):
        assert opwright("--store", store, "import", NATIVE / f"{source}.opwt.zst").returncode == 0
    done = opwright("--store", store, "gentest", "-o", tmp_path / "b", "--where", "model=mlp")
    assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "a") == contents(tmp_path / "b"), "of a store with more in it"
    generate(opwright, tmp_path / "c")
    assert contents(tmp_path / "a") == contents(tmp_path / "c")
    again = generate(opwright, tmp_path / "a")
    assert again["written"] == [] and "test_linear.py" in again["unchanged"]


def test_update_rewrites_its_own_blocks_only(opwright, tmp_path):
    tests = tmp_path / "tests"
    generate(opwright, tests, source=NATIVE / "mlp.opwt.zst")
    file = tests / "test_linear.py"
    mine = "\n\ndef test_mine():\n    assert True\n"
    file.write_text("# before\n" + file.read_text() + mine)
    refused = opwright("gentest", NATIVE / "encoder.opwt.zst", "-o", tests)
    assert refused.returncode == 2 and "--update rewrites our blocks in it and keeps the rest" in refused.stderr
    made = generate(opwright, tests, "--update", source=NATIVE / "encoder.opwt.zst")
    text = file.read_text()
    assert text.startswith("# before\n") and text.endswith(mine)
    assert made["blocks_removed"] > 0 and "test_linear.py" in made["written"]
    assert "test_sharded_to_interleaved.py" in made["left"], "nothing was generated for it now: it stays"
    assert generate(opwright, tests, "--update", source=NATIVE / "encoder.opwt.zst")["written"] == []


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text.replace("# <<< opwright gentest: header", "# header", 1), "whose end is missing"),
        (lambda text: text.replace("import pytest", "import pytest, os", 1), "was changed by hand"),
        (lambda text: text[: len(text) - 40], "a damaged mark"),
        (lambda text: "print('mine')\n", "not made by opwright gentest"),
    ],
)
def test_a_damaged_file_is_refused_and_nothing_is_written(opwright, tmp_path, damage, said):
    tests = tmp_path / "tests"
    generate(opwright, tests)
    file = tests / "test_linear.py"
    file.write_text(damage(file.read_text()))
    before = contents(tests)
    done = opwright("gentest", NATIVE / "encoder.opwt.zst", "-o", tests, "--update")
    assert done.returncode == 3, done.stdout
    assert said in done.stderr and "test_linear.py" in done.stderr
    assert contents(tests) == before


# -- what cannot be generated, and bad input


def test_what_cannot_be_generated_is_counted_and_stands_in_the_file(opwright, ttnn_python, tmp_path):
    line = {
        "op_name": "ttnn.relu", "op_index": 0, "test_nodeid": "t.py::t", "kwargs": {"sub_core_grids": {"__type__": "repr", "value": "<x at 0x1>"}},
        "inputs": [{"__type__": "ttnn.TensorRef", "shape": [1, 1, 32, 32], "dtype": "DataType.BFLOAT16"}],
    }  # fmt: skip
    source = tmp_path / "ops.jsonl"
    source.write_text(json.dumps(line) + "\n")
    made = generate(opwright, tmp_path / "tests", source=source)
    assert made["generated"] == 0 and sum(made["not_generated"].values()) == 1
    done = on_mock(opwright, ttnn_python, tmp_path / "tests", "-rs")
    assert done.returncode == 0 and "1 skipped" in done.stdout and "not generated: " in done.stdout


def test_only_what_failed_in_a_run(opwright, tmp_path):
    store = tmp_path / "store.db"
    assert opwright("--store", store, "import", NATIVE / "encoder.opwt.zst").returncode == 0
    done = opwright("--store", store, "run", "--device", "sim", "--op", "tanh", "--quiet")
    assert done.returncode == 0, done.stderr
    done = opwright("--store", store, "gentest", "--failed", "last", "-o", tmp_path / "tests")
    assert done.returncode == 3 and "nothing of that run that failed matches" in done.stderr
    assert not (tmp_path / "tests").exists()
    done = opwright("--store", store, "gentest", "--failed", "20200101", "-o", tmp_path / "tests")
    assert done.returncode == 3
    done = opwright("--store", store, "run", "--device", "sim", "--op", "tanh", "--op", "subtract", "--quiet", "--timeout", "0.0001")
    assert done.returncode == 1, "a time that nothing keeps"
    done = opwright("--store", store, "gentest", "--failed", "last", "-o", tmp_path / "tests")
    assert done.returncode == 0, done.stderr
    assert "test_tanh.py" in contents(tmp_path / "tests") and "test_linear.py" not in contents(tmp_path / "tests")


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ((), 2, "add -o DIR"),
        (("--to", "pytst", "-o", "x"), 2, "did you mean 'pytest'"),
        (("--op", "ttnn.linaer", "-o", "x"), 3, "did you mean 'ttnn.linear'"),
        (("--where", "op=sort", "-o", "x"), 3, "no configuration matches; no test was written"),
        (("--where", "op==", "-o", "x"), 2, ""),
        (("-o", "file/below"), 3, "file/below"),
        (("-o", "file"), 3, "file"),
        (("--failed", "last", "-o", "x"), 2, "a run is in a store"),
    ],
)
def test_bad_input(opwright, tmp_path, arguments, status, said):
    (tmp_path / "file").write_text("mine\n")
    done = opwright("gentest", NATIVE / "mlp.opwt.zst", *arguments)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert (tmp_path / "file").read_text() == "mine\n" and not (tmp_path / "x").exists()


def test_a_trace_that_is_none(opwright, tmp_path):
    (tmp_path / "bad").write_bytes(b"\x00\x01")
    done = opwright("gentest", tmp_path / "bad", "-o", tmp_path / "x")
    assert done.returncode == 3 and not (tmp_path / "x").exists()


def test_cases_run_through_the_library(opwright, opwright_program, tmp_path):
    made = opwright("--format", "json", "gentest", NATIVE / "mlp.opwt.zst", "--to", "cases", "-o", tmp_path / "cases", "--op", "add", "--op", "typecast")
    assert made.returncode == 0, made.stderr
    generated = json.loads(made.stdout)["generated"]
    assert set(contents(tmp_path / "cases")) == {"cases.txt", "run_cases.cpp", "CMakeLists.txt"}
    program = opwright_program.parent / "run_cases"
    if not program.exists():
        pytest.skip("run_cases is not built")
    env = support.command_env(tmp_path, OPWRIGHT_CASES=tmp_path / "cases" / "cases.txt")
    done = subprocess.run([program], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert f"[  PASSED  ] {generated} tests." in done.stdout
    none = subprocess.run([program], env=support.command_env(tmp_path, OPWRIGHT_CASES=tmp_path / "no"), capture_output=True, text=True)
    assert none.returncode == 3 and "cannot be read" in none.stderr


def test_the_cases_project_is_configured_and_compiles(opwright, tmp_path):
    """As its CMakeLists.txt says; the whole library is not built again for it: the compiler checks the program against it."""
    folder = tmp_path / "cases"
    made = opwright("gentest", NATIVE / "mlp.opwt.zst", "--to", "cases", "-o", folder, "--op", "add")
    assert made.returncode == 0, made.stderr
    command = ["cmake", "-S", folder, "-B", folder / "build", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    nobody = subprocess.run([*command, "-DOPWRIGHT_SOURCE=/nobody"], capture_output=True, text=True, timeout=240)
    assert nobody.returncode != 0 and "is no checkout of opwright" in nobody.stderr
    shutil.rmtree(folder / "build")
    done = subprocess.run([*command, f"-DOPWRIGHT_SOURCE={support.REPO}"], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    commands = json.loads((folder / "build" / "compile_commands.json").read_text())
    (entry,) = [one for one in commands if one["file"] == str(folder / "run_cases.cpp")]
    checked = subprocess.run([*shlex.split(entry["command"]), "-fsyntax-only"], cwd=entry["directory"], capture_output=True, text=True, timeout=240)
    assert checked.returncode == 0, checked.stderr
