"""The pytest plugin: tests in the trace, options beside those of others, results as CSV, calls as JSONL.

Runs pytest in a process of its own, in every Python found here that has it; the recorder is a fake.
"""

import csv
import json
import os
import re
from pathlib import Path

import pytest
import python_package
from python_package import Package, Ran

PYTHONS = python_package.pythons_with("pytest")
WITH_XDIST = python_package.pythons_with("pytest", "xdist")
each_pytest = pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS.keys())
each_xdist = pytest.mark.parametrize(
    "python", list(WITH_XDIST.values()) or [pytest.param(None, marks=pytest.mark.skip(reason="no pytest-xdist here"))]
)

TESTS = """
import pytest, ttnn

@pytest.fixture
def broken(): raise RuntimeError("setup")

@pytest.fixture
def breaks_later():
    ttnn.add(1, 1)
    yield
    raise RuntimeError("teardown")

@pytest.fixture
def skips(): pytest.skip("not here")

def test_passes(): ttnn.add(1, 2)
def test_fails(): assert ttnn.add(1, 2) == 4
def test_setup_fails(broken): pass
def test_teardown_fails(breaks_later): pass
def test_skips_in_setup(skips): pass
@pytest.mark.skip(reason="mark")
def test_skipped_by_mark(): pass
def test_skips_itself(): pytest.skip("inside")
@pytest.mark.xfail(reason="known")
def test_xfails(): assert False
@pytest.mark.xfail(strict=True)
def test_xpasses_strictly(): pass
@pytest.mark.xfail
def test_xpasses(): pass
@pytest.mark.parametrize("n", [1, "a b/c"])
def test_parameters(n): ttnn.add(n, n)
"""
OUTCOMES = {
    "test_it.py::test_passes": "passed",
    "test_it.py::test_fails": "failed",
    "test_it.py::test_setup_fails": "failed",
    "test_it.py::test_teardown_fails": "failed",
    "test_it.py::test_skips_in_setup": "skipped",
    "test_it.py::test_skipped_by_mark": "skipped",
    "test_it.py::test_skips_itself": "skipped",
    "test_it.py::test_xfails": "skipped",
    "test_it.py::test_xpasses_strictly": "failed",
    "test_it.py::test_xpasses": "passed",
    "test_it.py::test_parameters[1]": "passed",
    "test_it.py::test_parameters[a b/c]": "passed",
}


@pytest.fixture
def package(tmp_path: Path) -> Package:
    package = Package(tmp_path)
    package.write("pytest.ini", "[pytest]\n")
    return package


def run_pytest(package: Package, python: Path, *arguments: object, **keywords: object) -> Ran:
    return package.run(python, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments, **keywords)


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# ----------------------------------------------------------------------------------------------------- tests in the trace


@each_pytest
def test_tests_and_their_outcomes(package: Package, python: Path) -> None:
    package.write("test_it.py", TESTS)
    ran = run_pytest(package, python)
    assert ran.returncode == 1 and "2 failed, 4 passed, 3 skipped" in ran.stdout, ran.stdout
    assert {test: outcome for test, outcome, _ in ran.records("test")} == OUTCOMES
    assert all(seconds >= 0 for _, _, seconds in ran.records("test"))
    (trace,) = ran.traces.values()
    test, calls = None, []
    for record in trace:
        if record[0] == "context" and record[1] == "test":
            test = record[2]
        if record[0] == "call":
            calls.append(test)
    assert calls == [f"test_it.py::{name}" for name in
                     ("test_passes", "test_fails", "test_teardown_fails", "test_parameters[1]", "test_parameters[a b/c]")]  # fmt: skip
    assert test is None  # nothing runs under the name of the last test


@each_pytest
@pytest.mark.parametrize("how", ["environment", "option", "conftest", "twice"])
def test_however_it_is_loaded_it_is_loaded_once(package: Package, python: Path, how: str) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    arguments, env = [], {}
    if how in ("environment", "twice"):
        env["PYTEST_PLUGINS"] = "opwright.pytest_plugin"
    if how in ("option", "twice"):
        arguments = ["-p", "opwright.pytest_plugin"]
    if how in ("conftest", "twice"):
        package.write("conftest.py", "pytest_plugins = ['opwright.pytest_plugin']")
    ran = run_pytest(package, python, *arguments, env=env)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert [record[:2] for record in ran.records("test")] == [["test_it.py::test_a", "passed"]]
    assert ran.stderr == "" and "opwright" not in ran.stdout


@each_pytest
def test_installed_and_traced_it_is_loaded_once_without_a_warning(package: Package, python: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    information = package.library / "opwright-0.0.dist-info"
    package.write(information / "METADATA", "Metadata-Version: 2.1\nName: opwright\nVersion: 0.0\n")
    package.write(information / "entry_points.txt", "[pytest11]\nopwright.pytest_plugin = opwright.pytest_plugin\n")
    package.write(information / "RECORD", "opwright/__init__.py,,\nopwright/pytest_plugin.py,,\n")
    path = os.pathsep.join(map(str, [package.bootstrap, package.library, package.site]))
    env = {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": ""}
    ran = run_pytest(package, python, "-W", "error", env=env)
    assert ran.returncode == 0 and "warning" not in ran.stdout, ran.stdout + ran.stderr
    assert len(ran.records("test")) == 1


@each_pytest
def test_blocked_it_stays_away(package: Package, python: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    ran = run_pytest(package, python, "-p", "no:opwright.pytest_plugin")
    assert ran.returncode == 0 and len(ran.records("call")) == 1 and not ran.records("test")


@each_pytest
def test_an_isolated_python_is_not_harmed(package: Package, python: Path) -> None:
    package.write("test_it.py", "def test_a(): pass")
    ran = package.run(python, "-I", "-m", "pytest", "-p", "no:cacheprovider", "-q")
    assert ran.returncode == 0, ran.stdout + ran.stderr


@each_pytest
def test_results_before_ttnn_comes_are_kept(package: Package, python: Path) -> None:
    package.write("test_it.py", "def test_a(): pass\ndef test_b():\n    import ttnn\n    ttnn.add(1, 2)")
    ran = run_pytest(package, python)
    assert [record[:2] for record in ran.records("test")] == [
        ["test_it.py::test_a", "passed"],
        ["test_it.py::test_b", "passed"],
    ]
    assert ["test", "test_it.py::test_b"] in ran.records("context")


@each_pytest
def test_an_unusable_folder_does_not_harm_the_tests(package: Package, python: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)\ndef test_b(): pass")
    package.write("conftest.py", "import ttnn")
    ran = run_pytest(package, python, env={"OPWRIGHT_TRACE": "pytest.ini/no"})
    assert ran.returncode == 0 and "2 passed" in ran.stdout
    assert (ran.stdout + ran.stderr).count("opwright: nothing is traced") == 1


@each_pytest
def test_one_file_a_test(package: Package, python: Path) -> None:
    package.write("test_it.py", TESTS)
    ran = run_pytest(package, python, "-k", "passes or parameters", "--opwright-per-test")
    names = [re.sub(r"-[0-9a-f]{8}-\d+\.opwt", "", name) for name in ran.traces]
    assert names == ["test_it.py_test_parameters_1", "test_it.py_test_parameters_a_b_c", "test_it.py_test_passes",
                     "test_it.py_test_xpasses", "test_it.py_test_xpasses_strictly"]  # fmt: skip
    for trace in ran.traces.values():
        kinds = [record[0] for record in trace]
        assert kinds[0] == "start" and kinds[-1] == "stop" and kinds.count("test") == 1
        assert dict(record[1:] for record in trace if record[0] == "fact")["versions"]["ttnn"] == "0.0.1"
    again = run_pytest(package, python, "-k", "passes", env={"OPWRIGHT_TRACE_OPTIONS": '{"per_test": "1"}'})
    assert len(again.traces) == len(ran.traces) + 3


# ---------------------------------------------------------------------------------------------- traces by pytest's options


@each_pytest
@pytest.mark.parametrize("conftest", ["", "import ttnn"])
def test_a_trace_by_option(package: Package, python: Path, conftest: str) -> None:
    package.write("conftest.py", conftest)
    package.write(
        "test_it.py",
        "import subprocess, sys, ttnn\ndef test_a(): ttnn.add(1, 2)\n"
        "def test_child(): subprocess.run([sys.executable, '-c', 'import ttnn; ttnn.add(1, 2)'], check=True)\n",
    )
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", "--opwright-trace", "trace", tracing=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"opwright: the trace is in {package.trace}" in ran.stdout
    assert len(ran.traces) == 2 and len(ran.records("call")) == 2 and len(ran.records("test")) == 2
    assert len({uid for name, uid in ran.records("fact") if name == "uid"}) == 1
    assert ["early", "ttnn.decorators"] in ran.records("note")


@each_pytest
def test_nothing_asked_nothing_done(package: Package, python: Path) -> None:
    package.write(
        "test_it.py",
        "import ttnn, os\ndef test_a(): ttnn.add(1, 2)\ndef test_b(): assert 'OPWRIGHT_TRACE' not in os.environ",
    )
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", tracing=False)
    assert ran.returncode == 0 and "opwright" not in ran.stdout
    assert not list(package.folder.rglob("*.opwt"))


@each_pytest
@pytest.mark.parametrize(
    ("env", "config", "folder"),
    [
        ({"TTNN_OPERATION_TRACE_DIR": "mine"}, "", "mine"),
        ({}, "", "generated/ttnn/reports/operation_parameters"),
        ({}, "operation_parameter_log_dir = 'logs'; root_report_path = 'r'", "logs"),
        ({}, "operation_parameter_log_dir = None; root_report_path = 'r'", "r/operation_parameters"),
    ],
)
def test_trace_params_writes_where_the_existing_tracer_does(
    package: Package, python: Path, env: dict, config: str, folder: str
) -> None:
    (package.site / "ttnn").unlink()
    for name in ("decorators.py", "__init__.py"):
        package.write(f"site/ttnn/{name}", (python_package.FAKES / "ttnn" / name).read_text())
    if config:
        package.write(
            "site/ttnn/__init__.py", f"class CONFIG: {config}\n" + (package.site / "ttnn/__init__.py").read_text()
        )
    package.write(
        "test_it.py", "import sys, ttnn\ndef test_a():\n    ttnn.add(1, 2)\n    assert '--trace-params' not in sys.argv"
    )
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", "--trace-params", tracing=False, env=env)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (trace,) = package.read_traces(package.folder / folder).values()
    assert ["call", "ttnn.add"] in trace


@each_pytest
def test_trace_params_under_opwright_trace_is_accepted(package: Package, python: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    ran = run_pytest(package, python, "--trace-params")
    assert ran.returncode == 0 and len(ran.records("call")) == 1 and not (package.folder / "generated").exists()


CONFLICT = """
def pytest_addoption(parser):
    parser.addoption("--results-csv", action="store", default=None)
    parser.addoption("--trace-params", action="store_true", default=False)
    parser.addoption("--ops-jsonl", action="store", default=None)

def pytest_configure(config):
    print("theirs:", config.getoption("--results-csv"), config.getoption("--trace-params"), config.getoption("ops_jsonl"))
"""


@each_pytest
@pytest.mark.parametrize("where", ["conftest", "plugin before", "plugin after", "deeper conftest"])
@pytest.mark.parametrize("is_used", [True, False])
def test_options_of_others_stay_theirs(package: Package, python: Path, where: str, is_used: bool) -> None:
    package.write("tests/test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    arguments = ["-p", "opwright.pytest_plugin"]
    if where == "conftest":
        package.write("conftest.py", CONFLICT)
    elif where == "deeper conftest":
        package.write("tests/conftest.py", CONFLICT)
        arguments += ["tests"]
    else:
        package.write("site/their_plugin.py", CONFLICT)
        arguments = ["-p", "their_plugin", *arguments] if "before" in where else [*arguments, "-p", "their_plugin"]
    theirs = "None False None"
    if is_used:
        arguments += ["--results-csv=a.csv", "--trace-params", "--ops-jsonl", "b.jsonl"]
        theirs = "a.csv True b.jsonl"
    env = {"TT_TEST_RESULTS_CSV": "env.csv", "TT_OP_RESULTS_JSONL": "env.jsonl"}
    ran = run_pytest(package, python, "-s", *arguments, tracing=False, env=env)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"theirs: {theirs}" in ran.stdout and "opwright" not in ran.stdout
    assert not list(package.folder.rglob("*.csv")) and not list(package.folder.rglob("*.jsonl*"))


@each_pytest
def test_conftest_deep_in_the_tree_that_comes_late(package: Package, python: Path) -> None:
    """A conftest file that pytest reads only while it collects may define what it likes."""
    package.write("a/b/conftest.py", CONFLICT.split("def pytest_configure")[0])
    package.write("a/b/test_it.py", "def test_a(): pass")
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", tracing=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@each_pytest
def test_help_shows_the_options(package: Package, python: Path) -> None:
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", "--help", tracing=False)
    assert ran.returncode == 0, ran.stderr
    for option in ("--opwright-trace", "--opwright-per-test", "--trace-params", "--results-csv", "--ops-jsonl"):
        assert option in ran.stdout


@each_pytest
def test_the_value_of_an_option_is_no_folder_of_tests(package: Package, python: Path) -> None:
    """`--results-csv PATH` is read before the option exists; PATH must not decide which conftest files are read."""
    package.write("tests/test_it.py", "def test_a(): pass")
    package.write("out/conftest.py", "raise RuntimeError('not to be read')")
    package.write("out/r.csv", "")
    ran = run_pytest(
        package, python, "-p", "opwright.pytest_plugin", "tests", "--results-csv", "out/r.csv", tracing=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(read_csv(package.folder / "out/r.csv")) == 1


# ------------------------------------------------------------------------------------------------------------ results CSV

COLUMNS = (
    "test_nodeid,module,mode,seq_len,batch_size,hf_max_seq_len,mesh_shape,mesh_num_devices,weights_type,module_path,"
    "metrics_json,outcome,duration_sec,error,run_id,session_timestamp,hostname,git_commit,ttnn_version,start_timestamp,"
    "end_timestamp"
)
UTILITIES = """
def comp_pcc(golden, calculated, pcc=0.99):
    return calculated >= pcc, calculated
def comp_allclose(golden, calculated):
    return golden == calculated, f"Max ATOL Delta: {abs(golden - calculated)}"
def comp_ulp(golden, calculated, ulp_threshold=1):
    return True, "Max ULP Delta: 0"
def comp_allclose_and_pcc(golden, calculated):
    return comp_pcc(golden, calculated)[0] and comp_allclose(golden, calculated)[0]
"""
MODEL_TEST = """
import pytest
from models.common.utility_functions import comp_allclose, comp_pcc as check, comp_allclose_and_pcc
import models.common.utility_functions as utilities

class MLP: pass
class Mesh:
    shape = (4, 8)
    def get_num_devices(self): return 32
class Config: max_seq_len = 4096

@pytest.fixture
def mesh_device(): yield Mesh()
@pytest.fixture
def hf_config(): return Config()

@pytest.mark.parametrize("mode, seq_len", [("decode", 1), ("prefill", 128)])
@pytest.mark.parametrize("MLPClass", [MLP])
@pytest.mark.parametrize("batch_size, weights_type, module_path", [(32, "random", "model.layers.0.mlp")])
def test_mlp(mode, seq_len, MLPClass, batch_size, weights_type, module_path, hf_config, mesh_device):
    passed, _ = check(1, 0.9995)
    comp_allclose(1, 2)
    utilities.comp_ulp(1, 1)
    check(1, float("nan"))
    check(1, float("-inf"))
    comp_allclose_and_pcc(1, 1)
    assert passed and mode == "decode"
"""


@pytest.fixture
def model(package: Package) -> Package:
    package.write("models/__init__.py", "")
    package.write("models/common/__init__.py", "")
    package.write("models/common/utility_functions.py", UTILITIES)
    package.write("test_mlp.py", MODEL_TEST)
    return package


@each_pytest
def test_rows_of_the_results_csv(model: Package, python: Path) -> None:
    arguments = ["-p", "opwright.pytest_plugin", "--results-csv", "out/results.csv"]
    ran = run_pytest(model, python, *arguments, tracing=False, env={"TT_TEST_RESULTS_CSV": "env.csv"})
    assert ran.returncode == 1, ran.stdout
    path = model.folder / "out/results.csv"
    assert path.read_bytes().split(b"\n")[0].decode() == COLUMNS
    assert not (model.folder / "env.csv").exists()
    decode, prefill = read_csv(path)
    assert decode["test_nodeid"].startswith("test_mlp.py::test_mlp[") and decode["module"] == "MLP"
    expected = {"mode": "decode", "seq_len": "1", "batch_size": "32", "hf_max_seq_len": "4096", "mesh_shape": "(4, 8)",
                "mesh_num_devices": "32", "weights_type": "random", "module_path": "model.layers.0.mlp",
                "outcome": "passed", "error": "", "git_commit": "unknown"}  # fmt: skip
    assert {name: decode[name] for name in expected} == expected
    metrics = json.loads(decode["metrics_json"], parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert metrics == [
        {"type": "pcc", "value": 0.9995, "passed": True},
        {"type": "allclose", "message": "Max ATOL Delta: 1", "passed": False},
        {"type": "ulp", "message": "Max ULP Delta: 0", "passed": True},
        {"type": "pcc", "value": None, "passed": False, "note": "nan"},
        {"type": "pcc", "value": None, "passed": False, "note": "-inf"},
        {"type": "pcc", "value": 1.0, "passed": True},
        {"type": "allclose", "message": "Max ATOL Delta: 0", "passed": True},
    ]
    assert prefill["outcome"] == "failed" and "assert" in prefill["error"] and prefill["mode"] == "prefill"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", decode["start_timestamp"])
    assert decode["run_id"] == decode["session_timestamp"] == prefill["run_id"]
    assert float(decode["duration_sec"]) >= 0 and decode["hostname"] and decode["end_timestamp"]


@each_pytest
def test_metrics_of_a_module_imported_in_the_test(model: Package, python: Path) -> None:
    model.write(
        "test_mlp.py", "def test_a():\n    from models.common.utility_functions import comp_pcc\n    comp_pcc(1, 0.5)"
    )
    run_pytest(model, python, "-p", "opwright.pytest_plugin", tracing=False, env={"TT_TEST_RESULTS_CSV": "r.csv"})
    assert json.loads(read_csv(model.folder / "r.csv")[0]["metrics_json"]) == [
        {"type": "pcc", "value": 0.5, "passed": False}
    ]


@each_pytest
def test_outcomes_in_the_results_csv(package: Package, python: Path) -> None:
    package.write("test_it.py", TESTS)
    run_pytest(package, python, env={"TT_TEST_RESULTS_CSV": "r.csv"})
    rows = {row["test_nodeid"]: row for row in read_csv(package.folder / "r.csv")}
    assert {test: row["outcome"] for test, row in rows.items()} == OUTCOMES
    assert rows["test_it.py::test_skips_in_setup"]["error"] == "Skipped: not here"
    assert "RuntimeError: teardown" in rows["test_it.py::test_teardown_fails"]["error"]
    assert rows["test_it.py::test_xfails"]["error"] == "xfail: known"
    assert {row["ttnn_version"] for row in rows.values()} == {"0.0.1"}
    assert {row["run_id"] for row in rows.values()} == {"run-1"}


@each_pytest
def test_rows_are_appended_and_are_there_when_the_process_dies(package: Package, python: Path) -> None:
    package.write("test_a.py", "def test_a(): pass")
    package.write("test_b.py", "import os\ndef test_b(): pass\ndef test_dies(): os._exit(3)")
    arguments = ["-p", "opwright.pytest_plugin", "--results-csv=r.csv"]
    run_pytest(package, python, *arguments, "test_a.py", tracing=False)
    path = package.folder / "r.csv"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n") + b"cut off")  # as the existing plugin ends its lines
    ran = run_pytest(package, python, *arguments, "test_b.py", tracing=False)
    assert ran.returncode == 3
    lines = path.read_bytes().split(b"\r\n")
    assert lines[0].decode() == COLUMNS and lines[2] == b"cut off"
    assert lines[3].startswith(b"test_b.py::test_b,") and lines[4:] == [b""]


@each_pytest
def test_a_file_with_other_columns_is_left_alone(package: Package, python: Path) -> None:
    package.write("test_a.py", "def test_a(): pass")
    package.write("r.csv", "name,result\nx,1\n")
    package.write("r.2.csv", "precious")
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", "--results-csv=r.csv", tracing=False)
    assert ran.returncode == 0
    assert (package.folder / "r.csv").read_text() == "name,result\nx,1\n"
    assert (package.folder / "r.2.csv").read_text() == "precious"
    assert [row["test_nodeid"] for row in read_csv(package.folder / "r.3.csv")] == ["test_a.py::test_a"]
    assert "r.csv has other columns; results are in" in ran.stdout


@each_pytest
def test_an_unusable_results_file_does_not_harm_the_tests(package: Package, python: Path) -> None:
    package.write("test_a.py", "def test_a(): pass\ndef test_b(): pass")
    ran = run_pytest(package, python, "-p", "opwright.pytest_plugin", "--results-csv=pytest.ini/r.csv", tracing=False)
    assert ran.returncode == 0 and ran.stdout.count("opwright: results are not written") == 1


@each_xdist
def test_results_and_traces_of_several_processes(model: Package, python: Path) -> None:
    tests = "import pytest, time, ttnn\n@pytest.mark.parametrize('n', range(60))\ndef test_a(n): ttnn.add(n, n); assert n != 7\n"
    model.write("test_many.py", tests)
    arguments = [
        "-p",
        "xdist",
        "-p",
        "opwright.pytest_plugin",
        "-n",
        "3",
        "--results-csv",
        "r.csv",
        "--opwright-trace",
        "trace",
    ]
    ran = run_pytest(model, python, *arguments, "test_many.py", "test_mlp.py", tracing=False)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    rows = read_csv(model.folder / "r.csv")
    assert len(rows) == 62 and len({row["test_nodeid"] for row in rows}) == 62
    assert sum(row["outcome"] == "failed" for row in rows) == 2
    assert len({row["run_id"] for row in rows}) == 1 and all(
        len(row) == 21 and None not in row.values() for row in rows
    )
    assert sum(row["metrics_json"] != "[]" for row in rows) == 2
    assert len(ran.records("call")) == 60 and len(ran.records("test")) == 62 and len(ran.traces) >= 2
    assert ran.stdout.count("opwright:") == 1


@each_xdist
def test_a_worker_that_dies_has_a_row(package: Package, python: Path) -> None:
    package.write(
        "test_a.py", "import os\ndef test_a(): pass\ndef test_dies(): os.kill(os.getpid(), 9)\ndef test_z(): pass"
    )
    ran = run_pytest(
        package, python, "-p", "xdist", "-p", "opwright.pytest_plugin", "-n1", "--results-csv=r.csv", tracing=False
    )
    rows = {row["test_nodeid"]: row for row in read_csv(package.folder / "r.csv")}
    assert {test: row["outcome"] for test, row in rows.items()} == {
        "test_a.py::test_a": "passed", "test_a.py::test_dies": "failed", "test_a.py::test_z": "passed",
    }, ran.stdout  # fmt: skip
    assert "crashed while running" in rows["test_a.py::test_dies"]["error"]


# --------------------------------------------------------------------------------------------------------------- op JSONL

CONVERT = """#!/usr/bin/env python3
import json, sys
verb, source, to, form, o, target = sys.argv[1:]
assert (verb, to, form, o) == ("convert", "--to", "jsonl", "-o")
records = [json.loads(line) for line in open(source)]
with open(target, "w") as out:
    for record in records:
        if record[0] == "call": out.write(json.dumps({"op_name": record[1]}) + "\\n")
"""


@pytest.fixture
def converter(package: Package) -> Path:
    program = package.write("converter", CONVERT)
    program.chmod(0o755)
    return program


@each_pytest
def test_calls_as_jsonl(package: Package, python: Path, converter: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)\ndef test_b(): ttnn.add(1, 2)")
    package.write("out/ops.jsonl", '{"op_name": "before"}\n')
    env = {"OPWRIGHT_BIN": converter}
    ran = run_pytest(
        package, python, "-p", "opwright.pytest_plugin", "--ops-jsonl", "out/ops.jsonl", tracing=False, env=env
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    lines = [json.loads(line)["op_name"] for line in (package.folder / "out/ops.jsonl").read_text().splitlines()]
    assert lines == ["before", "ttnn.add", "ttnn.add"]
    assert "opwright: 2 calls appended to" in ran.stdout
    assert [path.name for path in (package.folder / "out").iterdir()] == ["ops.jsonl"]


@each_pytest
def test_calls_as_jsonl_under_opwright_trace(package: Package, python: Path, converter: Path) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    package.write("trace/older-1.opwt", '["call", "older"]\n')
    ran = run_pytest(package, python, env={"OPWRIGHT_BIN": converter, "TT_OP_RESULTS_JSONL": "ops.jsonl"})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (package.folder / "ops.jsonl").read_text() == '{"op_name": "ttnn.add"}\n'
    assert len(ran.traces) == 2


@each_xdist
def test_calls_as_jsonl_of_several_processes(package: Package, python: Path, converter: Path) -> None:
    package.write(
        "test_it.py", "import pytest, ttnn\n@pytest.mark.parametrize('n', range(8))\ndef test_a(n): ttnn.add(1, 2)"
    )
    arguments = ["-p", "xdist", "-p", "opwright.pytest_plugin", "-n2", "--ops-jsonl=ops.jsonl"]
    ran = run_pytest(package, python, *arguments, tracing=False, env={"OPWRIGHT_BIN": converter})
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert (package.folder / "ops.jsonl").read_text() == '{"op_name": "ttnn.add"}\n' * 8


@each_pytest
@pytest.mark.parametrize("program", ["/no/such/opwright", "/bin/false"])
def test_calls_that_cannot_be_converted_stay_in_the_trace(package: Package, python: Path, program: str) -> None:
    package.write("test_it.py", "import ttnn\ndef test_a(): ttnn.add(1, 2)")
    ran = run_pytest(
        package,
        python,
        "-p",
        "opwright.pytest_plugin",
        "--ops-jsonl=o.jsonl",
        tracing=False,
        env={"OPWRIGHT_BIN": program},
    )
    assert ran.returncode == 0
    (folder,) = package.folder.glob("o.jsonl.trace-*")
    assert f"opwright convert {folder} --to jsonl -o {package.folder / 'o.jsonl'}" in ran.stdout
    assert len(package.read_traces(folder)) == 1
