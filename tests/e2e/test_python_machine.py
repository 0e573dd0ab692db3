"""What the Python package records of the machine and of the run: mock board, tt-smi, driver, tests, arguments.

The recorder is a fake; so is tt-smi, a program on PATH that answers, fails, hangs or floods.
"""

import json
import os
import time
from pathlib import Path

import pytest
import python_package
from python_package import Package, Ran

SUPPORTED = python_package.supported()
ANY = next(iter(SUPPORTED.values()), None)
PYTHONS = python_package.pythons_with("pytest")
WITH_XDIST = python_package.pythons_with("pytest", "xdist")
pytestmark = pytest.mark.skipif(ANY is None, reason="no Python from 3.10 to 3.13")
each_pytest = pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS.keys())
each_xdist = pytest.mark.parametrize(
    "python", list(WITH_XDIST.values()) or [pytest.param(None, marks=pytest.mark.skip(reason="no pytest-xdist here"))]
)

ADD = "import ttnn; ttnn.add(1, 2)\n"


def chip(board: str, **more: object) -> dict:
    return {"board_info": {"board_type": board}, "firmwares": {"fw_bundle_version": "18.12.1.0"}, **more}


def snapshot(*chips: dict) -> dict:
    return {
        "host_info": {"Driver": "TT-KMD 2.4.1"},
        "host_sw_vers": {"tt_smi": "4.0.0", "pyluwen": "0.7"},
        "device_info": list(chips),
    }


VERSIONS = {"tt_kmd": "TT-KMD 2.4.1", "tt_smi": "4.0.0", "tt_firmware": "18.12.1.0"}


class Machine:
    """The package, and a folder of PATH with a tt-smi that counts how often it is started."""

    def __init__(self, folder: Path) -> None:
        self.package = Package(folder)
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.started = folder / "started"

    def answers(self, text: str, *, status: int = 0, first: str = "", folder: Path | None = None) -> None:
        (self.package.folder / "snapshot").write_text(text)
        program = (folder or self.bin) / "tt-smi"
        program.write_text(
            f"#!/bin/sh\necho \"$*\" >> {self.started}\n{first}\ncat {self.package.folder}/snapshot\nexit {status}\n"
        )
        program.chmod(0o755)

    def env(self, path: str | None = None, **more: object) -> dict[str, object]:
        return {"PATH": path if path is not None else f"{self.bin}{os.pathsep}{os.environ['PATH']}", **more}

    def run(self, *arguments: object, path: str | None = None, **env: object) -> Ran:
        ran = self.package.run(ANY, *(arguments or ("-c", ADD)), env=self.env(path, **env))
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.records("call") == [["ttnn.add"]]
        return ran

    def starts(self) -> list[str]:
        return self.started.read_text().splitlines() if self.started.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


# -------------------------------------------------------------------------------------------------------------- machine


@pytest.mark.parametrize(
    ("chips", "expected"),
    [
        ([chip("n150 L")], {"device_series": "n150", "card_count": 1, "device_count": 1}),
        ([chip("n300 L"), chip("n300 R")], {"device_series": "n300", "card_count": 1, "device_count": 2}),
        ([chip("n300 L")] * 4 + [chip("n300 R")] * 4, {"device_series": "n300", "card_count": 4, "device_count": 8}),
        ([chip("tt-galaxy-wh L")] * 32, {"device_series": "tt-galaxy-wh", "card_count": 32, "device_count": 32}),
        ([chip("p300a"), chip("p300a")], {"device_series": "p300a", "card_count": 2, "device_count": 2}),
    ],
)
def test_tt_smi_tells_the_board(machine: Machine, chips: list[dict], expected: dict) -> None:
    machine.answers(json.dumps(snapshot(*chips)))
    ran = machine.run()
    assert {**ran.facts()["machine"], "tt_kmd": "TT-KMD 2.4.1"} == {**expected, **VERSIONS}
    assert ran.facts()["software_versions"] == VERSIONS
    assert machine.starts() == ["-s --snapshot_no_tty"]


def test_the_kind_of_chip(machine: Machine) -> None:
    machine.answers("a line of log\n" + json.dumps(snapshot(chip("n300 L", arch="wormhole_b0"))) + "\n")
    assert machine.run().facts()["machine"]["board_type"] == "Wormhole"


def test_what_tt_smi_does_not_know_is_not_there(machine: Machine) -> None:
    machine.answers(json.dumps({"device_info": [{"board_info": {"board_type": "N/A"}}, 7, {"board_info": []}]}))
    ran = machine.run()
    assert not {"device_series", "card_count", "device_count", "board_type"} & set(ran.facts().get("machine", {}))


def test_without_tt_smi_nothing_is_invented(machine: Machine) -> None:
    ran = machine.run(path="/nowhere")
    assert not {"device_series", "card_count", "device_count"} & set(ran.facts().get("machine", {}))


def test_tt_smi_of_the_current_folder_is_not_started(machine: Machine) -> None:
    """A relative or empty entry of PATH is the current folder of whoever runs us."""
    machine.answers(json.dumps(snapshot(chip("n150 L"))), folder=machine.package.folder)
    (machine.package.folder / "here").mkdir()
    machine.answers(json.dumps(snapshot(chip("n150 L"))), folder=machine.package.folder / "here")
    ran = machine.run(path=os.pathsep.join(["", ".", "here", "./here", "/nowhere"]))
    assert machine.starts() == []
    assert "device_series" not in ran.facts().get("machine", {})


def test_tt_smi_sees_neither_our_hook_nor_the_current_folder(machine: Machine) -> None:
    machine.answers(json.dumps(snapshot(chip("n150 L"))), first=f"(pwd; env) > {machine.package.folder}/seen")
    machine.run(PYTHONHOME="")
    seen = (machine.package.folder / "seen").read_text().splitlines()
    assert seen[0] == "/"
    assert [line for line in seen if line.startswith(("OPWRIGHT_", "PYTHONPATH=", "PYTHONHOME="))] == []


@pytest.mark.parametrize(
    ("first", "answer", "status", "why"),
    [
        ("", "no JSON", 0, "gave no JSON"),
        ("", "[1, 2]", 0, "gave no JSON"),
        ("", "{}", 3, "ended with status 3"),
        ("kill -9 $$", "", 0, "ended with status -9"),
    ],
)
def test_a_tt_smi_that_fails_costs_nothing_but_the_board(
    machine: Machine, first: str, answer: str, status: int, why: str
) -> None:
    machine.answers(answer, status=status, first=first)
    ran = machine.run()
    assert "device_series" not in ran.facts().get("machine", {})
    assert [text for kind, text in ran.records("note") if kind == "machine" and why in text]


@pytest.mark.parametrize("first", ["sleep 1000", "sleep 1000 & echo $! > pid; sleep 1000", "yes"])
def test_a_tt_smi_that_hangs_or_floods_is_ended(machine: Machine, first: str) -> None:
    machine.answers("{}", first=first.replace("pid", str(machine.package.folder / "pid")))
    code = "from opwright import _machine; _machine.TT_SMI_SECONDS = 0.5\n" + ADD
    before = time.monotonic()
    ran = machine.run("-c", code)
    assert time.monotonic() - before < 60
    assert [text for kind, text in ran.records("note") if kind == "machine"]
    pid = machine.package.folder / "pid"
    if pid.exists():  # what it started ends with it
        assert not is_alive(int(pid.read_text()))


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


def test_a_pipe_that_somebody_holds_is_not_waited_for(machine: Machine) -> None:
    machine.answers(json.dumps(snapshot(chip("n150 L"))), first="setsid sleep 5 &")
    assert machine.run().facts()["machine"]["device_series"] == "n150"


def test_children_do_not_ask_again(machine: Machine) -> None:
    machine.answers(json.dumps(snapshot(chip("n300 L"), chip("n300 R"))))
    code = f"import ttnn, subprocess, sys\nsubprocess.run([sys.executable, '-c', {ADD!r}], check=True)"
    ran = machine.run("-c", code)
    assert len(machine.starts()) == 1
    machines = [value for name, value in ran.records("fact") if name == "machine"]
    assert len(machines) == 2 and machines[0] == machines[1]


def test_a_mock_is_not_the_hardware_of_its_host(machine: Machine) -> None:
    machine.answers(json.dumps(snapshot(chip("n150 L"))))
    assert machine.run(OPWRIGHT_MOCK_BOARD="t3k").facts()["machine"] == {"mock_board": "t3k"}
    assert machine.starts() == []


def test_the_user_may_say_what_it_is(machine: Machine) -> None:
    own = {"board_type": "Wormhole", "device_series": "n300", "card_count": 1}
    assert machine.run(OPWRIGHT_MACHINE=json.dumps(own)).facts()["machine"] == own


def test_what_the_user_says_wrongly_is_not_used(machine: Machine) -> None:
    ran = machine.run(path="/nowhere", OPWRIGHT_MACHINE='{"device_series": ["n300"]}')
    assert "device_series" not in ran.facts().get("machine", {})
    assert [text for kind, text in ran.records("note") if kind == "machine" and "OPWRIGHT_MACHINE" in text]


def test_files_of_the_driver(machine: Machine) -> None:
    for name, text in {
        "module/tenstorrent/version": "2.8.0\n",
        "bus/pci/drivers/tenstorrent/0000:01:00.0/device": "0x401e\n",
        "bus/pci/drivers/tenstorrent/0000:02:00.0/device": "0x401e\n",
        "bus/pci/drivers/tenstorrent/bind": "",
    }.items():
        machine.package.write(f"sys/{name}", text)
    code = f"from opwright import _machine; _machine._sys = {str(machine.package.folder / 'sys')!r}\n" + ADD
    assert machine.run("-c", code, path="/nowhere").facts()["machine"] == {
        "board_type": "Wormhole",
        "tt_kmd": "TT-KMD 2.8.0",
    }


# ------------------------------------------------------------------------------------------------------ tests and models

TESTS = """
import pytest, ttnn
ttnn.add(0, 0)
@pytest.mark.parametrize("n", range(3))
def test_add(n): ttnn.add(n, n)
"""


@pytest.fixture
def project(machine: Machine) -> Machine:
    machine.package.write("pytest.ini", "[pytest]\n")
    machine.package.write(
        "conftest.py", "def pytest_addoption(parser): parser.addoption('--layers')\n"
    )
    machine.package.write("models/vit/test_vit.py", TESTS)
    machine.package.write("models/bert/test_bert.py", TESTS)
    return machine


def run_pytest(project: Machine, python: Path, *arguments: object, cwd: Path | None = None) -> Ran:
    ran = project.package.run(
        python, "-m", "pytest", "-p", "no:cacheprovider", "-q", *arguments, cwd=cwd, env=project.env("/usr/bin:/bin")
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran


def last(ran: Ran, name: str) -> set[object]:
    """The last word of each trace on a fact."""
    return {dict(record[1:] for record in trace if record[0] == "fact").get(name) for trace in ran.traces.values()}


@each_pytest
def test_the_source_is_the_test(project: Machine, python: Path) -> None:
    ran = run_pytest(project, python, "models/vit/test_vit.py::test_add", "--layers", "2", "-k", "1 or 2")
    assert last(ran, "test_source") == {"models/vit/test_vit.py::test_add"}
    assert last(ran, "pytest_args") == {"-p no:cacheprovider -q --layers 2 -k 1 or 2"}


@each_pytest
def test_a_value_of_an_option_is_no_test(project: Machine, python: Path) -> None:
    project.package.write("2", "")
    ran = run_pytest(project, python, "models/vit", "--layers", "2")
    assert last(ran, "test_source") == {"models/vit"}
    assert last(ran, "pytest_args") == {"-p no:cacheprovider -q --layers 2"}


@each_pytest
def test_several_files(project: Machine, python: Path) -> None:
    ran = run_pytest(project, python, "models/vit/test_vit.py", "models/bert/test_bert.py")
    assert last(ran, "test_source") == {"models/vit/test_vit.py models/bert/test_bert.py"}


@each_pytest
def test_paths_are_those_of_the_project(project: Machine, python: Path) -> None:
    folder = project.package.folder
    ran = run_pytest(project, python, folder / "models/vit/test_vit.py", cwd=folder / "models")
    assert last(ran, "test_source") == {"models/vit/test_vit.py"}


@each_pytest
def test_without_a_word_it_is_the_folder(project: Machine, python: Path) -> None:
    assert last(run_pytest(project, python), "test_source") == {project.package.folder.name}


@each_pytest
def test_calls_of_an_import_belong_to_the_file(project: Machine, python: Path) -> None:
    ran = run_pytest(project, python, "models/vit", "models/bert")
    (trace,) = ran.traces.values()
    test, seen = None, []
    for record in trace:
        if record[0] == "context" and record[1] == "test":
            test = record[2]
        elif record[0] == "call":
            seen.append(test)
    assert sorted(set(map(str, seen))) == [
        "models/bert/test_bert.py",
        *(f"models/bert/test_bert.py::test_add[{n}]" for n in range(3)),
        "models/vit/test_vit.py",
        *(f"models/vit/test_vit.py::test_add[{n}]" for n in range(3)),
    ]


@each_pytest
def test_one_file_a_test_has_none_for_imports(project: Machine, python: Path) -> None:
    ran = project.package.run(
        python, "-m", "pytest", "-p", "no:cacheprovider", "-q", "models/vit",
        env=project.env("/usr/bin:/bin", OPWRIGHT_TRACE_OPTIONS='{"per_test": "1"}'),
    )  # fmt: skip
    assert ran.returncode == 0
    named = [name for name in ran.traces if name.startswith("models_vit_test_vit.py_test_add")]
    assert len(named) == 3 and not [name for name in ran.traces if name.startswith("models_vit_test_vit.py-")]


@each_xdist
def test_workers_of_xdist_know_what_pytest_was_asked_for(project: Machine, python: Path) -> None:
    project.answers(json.dumps(snapshot(chip("n300 L"), chip("n300 R"))))
    ran = project.package.run(
        python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "xdist", "-n2", "-q", "models/vit/test_vit.py",
        "--layers", "2", env=project.env(),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert last(ran, "test_source") == {"models/vit/test_vit.py"}
    assert last(ran, "pytest_args") == {"-p no:cacheprovider -p xdist -n2 -q --layers 2"}
    assert len(project.starts()) == 1  # and not once a worker
    machines = [value["device_series"] for name, value in ran.records("fact") if name == "machine"]
    assert len(machines) == len(ran.traces) and set(machines) == {"n300"}


def test_our_own_options_are_no_arguments(project: Machine) -> None:
    python = next(iter(PYTHONS.values()), None)
    if python is None:
        pytest.skip("no pytest here")
    ran = project.package.run(
        python, "-m", "pytest", "-p", "no:cacheprovider", "-p", "opwright.pytest_plugin", "-q", "models/vit",
        "--opwright-trace", project.package.trace, "--opwright-per-test", "--results-csv=r.csv", "-x",
        tracing=False, env=project.env("/usr/bin:/bin"),
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert last(ran, "pytest_args") == {"-p no:cacheprovider -q -x"}


def test_a_script_and_its_arguments(machine: Machine) -> None:
    program = machine.package.write("models/run.py", ADD)
    facts = machine.run(program, "--layers", "2", path="/nowhere").facts()
    assert (facts["test_source"], facts["pytest_args"]) == ("models/run.py", "--layers 2")


def test_a_program_without_a_name_has_no_source(machine: Machine) -> None:
    assert "test_source" not in machine.run("-c", ADD, path="/nowhere").facts()
