"""The Python package at work in a process: start, import hook, facts, phases, the ways a process ends.

The recorder is a fake (tests/fixtures/python/fake), so that every supported Python found here can be tried.
"""

import os
import re
import signal
from pathlib import Path

import pytest
import python_package
import support
from python_package import Package

SUPPORTED = python_package.supported()
each_python = pytest.mark.parametrize("python", SUPPORTED.values(), ids=SUPPORTED.keys())
ANY = next(iter(SUPPORTED.values()), None)
pytestmark = pytest.mark.skipif(ANY is None, reason="no Python from 3.10 to 3.13")

NO_OP = "import ttnn; assert ttnn.add(1, 2) == 3"


@pytest.fixture
def package(tmp_path: Path) -> Package:
    return Package(tmp_path)


def test_version_is_that_of_the_program() -> None:
    program = re.search(r"project\(opwright VERSION (\S+)", (support.REPO / "CMakeLists.txt").read_text())
    module = re.search(r'__version__ = "(.*)"', (python_package.SOURCES / "opwright" / "_version.py").read_text())
    assert program and module and program[1] == module[1]


# ------------------------------------------------------------------------------------------------------ start of a trace


@each_python
def test_a_program_is_traced_without_a_change(package: Package, python: Path) -> None:
    ran = package.run(python, "-c", NO_OP)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert len(ran.traces) == 1
    assert ran.records("call") == [["ttnn.add"]]
    kinds = [record[0] for record in next(iter(ran.traces.values()))]
    assert kinds[0] == "start" and kinds[-1] == "stop"
    assert ran.records("note")[0] == ["early", "ttnn.decorators"]
    assert ran.records("note")[1] == ["installed", "ttnn SourceFileLoader"]  # the module does not see our loader


def test_facts_of_a_run(package: Package) -> None:
    (package.folder / ".git" / "refs" / "heads").mkdir(parents=True)
    (package.folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (package.folder / ".git" / "refs" / "heads" / "main").write_text("0123456789abcdef\n")
    program = package.write("models/run.py", NO_OP)
    env = {
        "HF_MODEL": "meta/Llama-3.1-8B",
        "TT_METAL_HOME": "/opt/metal",
        "OPWRIGHT_MOCK_BOARD": "n300",
        "OPWRIGHT_TRACE_OPTIONS": '{"only": "ttnn.add", "first": "7"}',
    }
    ran = package.run(ANY, program, "--layers", "2", env=env)
    facts = ran.facts()
    assert facts["uid"] == "run-1"
    assert facts["command"] == [str(program), "--layers", "2"]
    assert facts["script"] == "models/run.py"
    assert facts["environment"] == {"HF_MODEL": "meta/Llama-3.1-8B", "TT_METAL_HOME": True}
    assert (facts["mock"], facts["board"]) == (True, "n300")
    assert facts["git_commit"] == "0123456789abcdef"
    assert facts["versions"]["ttnn"] == "0.0.1" and re.fullmatch(r"3\.1\d\.\d+", facts["versions"]["python"])
    assert facts["hostname"]
    assert ran.records("start") == [[{"only": "ttnn.add", "first": "7"}]]


def test_facts_do_not_say_where_python_is_installed(package: Package) -> None:
    code = """
import os, sys
from opwright._facts import without_installation
here, there = os.path.dirname(sys.executable), next(p for p in sys.path if p.endswith(("site-packages", "dist-packages")))
for word in (here + "/pytest", there + "/pytest/__main__.py", "/models/demo.py", "demo.py", "--layers", there):
    print(without_installation(word).replace(there, "THERE"))
"""
    ran = package.run(ANY, "-c", code)
    assert (ran.stderr, ran.stdout.split()) == (
        "",
        ["pytest", "pytest/__main__.py", "/models/demo.py", "demo.py", "--layers", "THERE"],
    )


def test_facts_of_a_work_tree_of_git(package: Package) -> None:
    main = package.folder / "main" / ".git"
    (main / "worktrees" / "w").mkdir(parents=True)
    (main / "packed-refs").write_text("# pack-refs with: peeled\nfedcba98 refs/heads/topic\n")
    (main / "worktrees" / "w" / "HEAD").write_text("ref: refs/heads/topic\n")
    (main / "worktrees" / "w" / "commondir").write_text("../..\n")
    package.write("w/.git", f"gitdir: {main}/worktrees/w\n")
    ran = package.run(ANY, "-c", NO_OP, cwd=package.folder / "w")
    assert ran.facts()["git_commit"] == "fedcba98"


@each_python
def test_a_program_without_ttnn_leaves_nothing(package: Package, python: Path) -> None:
    ran = package.run(python, "-c", "import sys; print(sorted(name for name in sys.modules if 'opwright' in name))")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not package.trace.exists()
    # light: nothing of the package that is not needed yet, neither json nor typing nor importlib.metadata
    assert eval(ran.stdout) == [
        "opwright",
        "opwright._errors",
        "opwright._import_hook",
        "opwright._recorder",
        "opwright._version",
        "opwright.startup",
    ]


@each_python
def test_the_start_imports_next_to_nothing(package: Package, python: Path) -> None:
    code = "import sys; print(*sys.modules)"
    off = set(package.run(python, "-c", code, tracing=False).stdout.split())
    on = set(package.run(python, "-c", code).stdout.split())
    ours = {name for name in on - off if not name.startswith("opwright")}
    assert ours <= {"sitecustomize", "atexit", "__future__"}


def test_off_costs_nothing(package: Package) -> None:
    """The bootstrap folder on the path, but no $OPWRIGHT_TRACE: nothing of ours is imported."""
    ran = package.run(ANY, "-c", "import sys; print('opwright' in sys.modules)", env={"OPWRIGHT_TRACE": ""})
    assert (ran.stdout, ran.stderr) == ("False\n", "")


@each_python
@pytest.mark.parametrize("how", ["module", "thread", "subprocess", "fork", "spawn", "forkserver"])
def test_wherever_ttnn_is_used(package: Package, python: Path, how: str) -> None:
    package.write("work.py", "def work(*_):\n    import ttnn\n    ttnn.add(1, 2)\n")
    program = {
        "module": "import work; work.work()",
        "thread": "import threading, work\nt = threading.Thread(target=work.work); t.start(); t.join()",
        "subprocess": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import work; work.work()'], check=True)",
    }.get(
        how,
        "import multiprocessing, work\n"
        "if __name__ == '__main__':\n"
        f"    with multiprocessing.get_context({how!r}).Pool(1) as pool: pool.map(work.work, [0])\n",
    )
    package.write("program.py", program)
    ran = package.run(python, "-m", "program")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.records("call") == [["ttnn.add"]]
    assert ran.facts()["uid"] == "run-1"


def test_a_folder_called_ttnn_is_not_the_library(package: Package) -> None:
    (package.folder / "ttnn" / "cpp").mkdir(parents=True)
    (package.site / "ttnn").unlink()
    ran = package.run(ANY, "-c", "import sys; sys.path.insert(0, ''); import ttnn; print(ttnn.__path__)")
    assert (ran.returncode, ran.stderr, ran.traces) == (0, "", {})


def test_an_import_that_fails_fails_as_without_us(package: Package) -> None:
    (package.site / "ttnn").unlink()
    package.write("site/ttnn/__init__.py", "raise ImportError('no device driver')")
    ran = package.run(ANY, "-c", "import ttnn")
    assert ran.returncode == 1
    assert ran.stderr.endswith("ImportError: no device driver\n") and "opwright:" not in ran.stderr


def test_a_hook_that_fails_is_one_warning(package: Package) -> None:
    (package.library / "opwright" / "ttnn_hook.py").unlink()
    package.write(
        "lib/opwright/ttnn_hook.py", "def install_early(module): raise KeyError('x')\ninstall = install_early\n"
    )
    ran = package.run(ANY, "-c", NO_OP)
    assert (ran.returncode, ran.stderr) == (0, "opwright: calls of ttnn are not traced: KeyError: 'x'\n")


def test_without_the_compiled_recorder_the_program_runs_on(tmp_path: Path) -> None:
    package = Package(tmp_path, with_recorder=False)
    ran = package.run(ANY, "-c", NO_OP + "; import opwright, ttnn.decorators; print(opwright.__version__)")
    assert ran.returncode == 0 and ran.stdout
    assert ran.stderr.count("\n") == 1
    assert ran.stderr.startswith(
        "opwright: nothing is traced: the compiled recorder opwright._capture cannot be loaded"
    )
    code = "import opwright\nwith opwright.phase('a'): pass\nopwright.trace('t').start()"
    ran = package.run(ANY, "-c", code, tracing=False)
    assert ran.returncode == 1 and "TraceError: the compiled recorder opwright._capture cannot be loaded" in ran.stderr


@pytest.mark.skipif(os.geteuid() == 0 and not Path("/proc/self").exists(), reason="root may write anywhere")
def test_an_unusable_folder_is_one_warning(package: Package) -> None:
    package.write("file", "")
    ran = package.run(ANY, "-c", NO_OP, env={"OPWRIGHT_TRACE": package.folder / "file" / "trace"})
    assert ran.returncode == 0
    assert re.fullmatch(r"opwright: nothing is traced: .*\n", ran.stderr)


def test_options_that_cannot_be_read_are_said(package: Package) -> None:
    ran = package.run(ANY, "-c", NO_OP, env={"OPWRIGHT_TRACE_OPTIONS": "{only"})
    assert ran.stderr.startswith("opwright: OPWRIGHT_TRACE_OPTIONS is not read") and ran.stderr.count("\n") == 1
    assert ran.records("call") == [["ttnn.add"]]


OTHERS = python_package.unsupported()


@pytest.mark.parametrize("python", OTHERS.values(), ids=OTHERS.keys())
def test_other_pythons_get_one_warning_and_their_own_sitecustomize(package: Package, python: Path) -> None:
    package.write("site/sitecustomize.py", "import sys; sys.stdout.write('mine ')")
    ran = package.run(python, "-c", "import sitecustomize, sys; sys.stdout.write(sitecustomize.__file__)")
    assert ran.returncode == 0
    assert re.fullmatch(r"opwright: nothing is traced: Python \d\.\d+ is not supported; .*\n", ran.stderr)
    assert ran.stdout.startswith("mine ") and "site/sitecustomize.py" in ran.stdout


# ---------------------------------------------------------------------------------------------------- sitecustomize chain


@each_python
def test_the_next_sitecustomize_runs_as_if_it_were_the_first(package: Package, python: Path) -> None:
    mine = package.write("site/sitecustomize.py", "import sys; print('mine', __name__, __file__)\nMARK = 1")
    ran = package.run(python, "-c", NO_OP + "; import sitecustomize; print(sitecustomize.MARK, sitecustomize.__file__)")
    assert ran.stdout == f"mine sitecustomize {mine}\n1 {mine}\n"
    assert ran.records("call") == [["ttnn.add"]]


def test_an_error_in_the_next_sitecustomize_is_its_own(package: Package) -> None:
    package.write("site/sitecustomize.py", "raise RuntimeError('broken')")
    ours = package.run(ANY, "-c", "pass")
    alone = package.run(ANY, "-c", "pass", env={"PYTHONPATH": package.site})
    assert (ours.returncode, ours.stderr) == (alone.returncode, alone.stderr)
    assert "broken" in ours.stderr


def test_twice_on_the_path_it_runs_once(package: Package) -> None:
    package.write("site/sitecustomize.py", "print('mine')")
    twice = os.pathsep.join(map(str, [package.bootstrap, package.bootstrap, package.library, package.site]))
    ran = package.run(ANY, "-c", NO_OP, env={"PYTHONPATH": twice})
    assert (ran.stdout, ran.stderr) == ("mine\n", "")
    assert ran.records("call") == [["ttnn.add"]]


def test_only_opwright_comes_into_the_environment(package: Package) -> None:
    """What lies beside an installed package (a whole site-packages) stays out."""
    package.write("lib/numpy.py", "raise SystemExit('the wrong numpy')")
    ran = package.run(
        ANY,
        "-c",
        "import importlib.util as u; print(u.find_spec('numpy') is None or 'lib/numpy' not in u.find_spec('numpy').origin)",
    )
    assert ran.stdout == "True\n"


def test_another_installed_opwright_does_not_come_first(package: Package) -> None:
    package.write("site/opwright/__init__.py", "raise SystemExit('an old opwright')")
    ran = package.run(ANY, "-c", NO_OP)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.records("call") == [["ttnn.add"]]


# ----------------------------------------------------------------------------------------------------- ends of a process


@each_python
@pytest.mark.parametrize(
    ("end", "status", "last"),
    [
        ("os._exit(7)", 7, "flush"),
        ("os.abort()", -signal.SIGABRT, "flush"),
        ("os.execv(sys.executable, ['python', '-S', '-c', 'raise SystemExit(8)'])", 8, "flush"),
        ("os.execlp('sh', 'sh', '-c', 'exit 9')", 9, "flush"),
        ("os.execvpe('sh', ['sh', '-c', 'exit $N'], {'N': '10', 'PATH': os.environ['PATH']})", 10, "flush"),
        ("sys.exit(11)", 11, "stop"),
        ("raise ValueError", 1, "stop"),
    ],
)
def test_ends_of_a_process(package: Package, python: Path, end: str, status: int, last: str) -> None:
    program = package.write(
        "program.py", f"import os, sys, resource, ttnn\nresource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n{end}\n"
    )
    ran = package.run(python, program)
    assert ran.returncode == status, ran.stderr
    assert [trace[-1][0] for trace in ran.traces.values()] == [last]


def test_exits_keep_their_manners(package: Package) -> None:
    program = """
import os, ttnn
for call in (lambda: os._exit('x'), lambda: os._exit(), lambda: os.execv('/no/such', ['x']), lambda: os.execv('a', []),
             lambda: os.execve('a', ['a'], 3), lambda: os._exit(status='x')):
    try:
        call()
    except BaseException as error:
        print(type(error).__name__, error)
print(os._exit.__name__, os.execv.__doc__ is not None)
"""
    package.write("program.py", program)
    assert package.run(ANY, "program.py").stdout == package.run(ANY, "program.py", tracing=False).stdout


def test_a_forked_child_that_calls_nothing_leaves_no_file_and_ends_as_it_wants(package: Package) -> None:
    program = "import os, ttnn\nttnn.add(1, 2)\npid = os.fork()\nif pid == 0: os.execvp('sh', ['sh', '-c', 'exit 5'])\nprint(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    package.write("program.py", program)
    ran = package.run(ANY, "program.py")
    assert ran.stdout == "5\n" and len(ran.traces) == 1


# ------------------------------------------------------------------------------------------------------- phases, labels


@each_python
def test_phases_and_labels(package: Package, python: Path) -> None:
    program = """
import opwright
with opwright.phase("before ttnn"):
    import ttnn
with opwright.phase("prefill"), opwright.label("layer 0"):
    with opwright.label("attention"), opwright.phase("inner"):
        ttnn.add(1, 2)
    try:
        with opwright.label("x"): raise KeyError
    except KeyError: pass
print(opwright.is_tracing())
"""
    package.write("program.py", program)
    ran = package.run(python, "program.py")
    assert (ran.stdout, ran.stderr) == ("True\n", "")
    assert ran.records("context") == [
        ["phase", "before ttnn"], ["phase", None],
        ["phase", "prefill"], ["label", "layer 0"],
        ["label", "layer 0/attention"], ["phase", "inner"], ["phase", "prefill"], ["label", "layer 0"],
        ["label", "layer 0/x"], ["label", "layer 0"],
        ["label", None], ["phase", None],
    ]  # fmt: skip


@each_python
def test_phases_while_nothing_is_traced(package: Package, python: Path) -> None:
    program = "import opwright\nwith opwright.phase('a') as a, opwright.label('b'): print(a, opwright.is_tracing(), opwright.phase('a') is opwright.label('b'))"
    package.write("program.py", program)
    ran = package.run(python, "program.py", tracing=False)
    assert (ran.stdout, ran.stderr) == ("None False True\n", "")


# ------------------------------------------------------------------------------------------------- traces from a program


@each_python
@pytest.mark.parametrize("order", ["ttnn first", "trace first"])
def test_a_trace_from_inside(package: Package, python: Path, order: str) -> None:
    program = f"""
import opwright, sys
if {order == "ttnn first"}: import ttnn
with opwright.trace("trace", only=["ttnn.add", "ttnn.*norm"], first=5, values="hash", max_overhead=0.05) as trace:
    import ttnn
    ttnn.add(1, 2)
    with opwright.phase("decode"): ttnn.add(1, 2)
print(trace.path == sys.argv[1] + "/" + trace.path.split("/")[-1], trace.counters["calls"], opwright.is_tracing())
assert ttnn.add.__module__ == "ttnn"  # unhooked: off costs nothing
with opwright.trace("trace"): ttnn.add(3, 4)
"""
    package.write("program.py", program)
    ran = package.run(python, "program.py", package.trace, tracing=False)
    assert (ran.stdout, ran.stderr) == ("True 2 False\n", "")
    first, second = sorted(ran.traces.values(), key=len, reverse=True)
    assert first[0] == [
        "start",
        {"only": "ttnn.add,ttnn.*norm", "first": "5", "values": "hash", "max_overhead": "0.05"},
    ]
    assert [record[0] for record in first].count("call") == 2 and first[-1] == ["stop"]
    assert [record[0] for record in second].count("call") == 1
    assert dict(record[1:] for record in second if record[0] == "fact")["versions"]["ttnn"] == "0.0.1"


def test_a_trace_inside_a_traced_program_is_part_of_it(package: Package) -> None:
    program = """
import opwright, ttnn
with opwright.trace("other") as trace: ttnn.add(1, 2)
print(trace.is_part_of_another, trace.counters, trace.path is not None)
ttnn.add(1, 2)
"""
    package.write("program.py", program)
    ran = package.run(ANY, "program.py")
    assert ran.stdout == "True {} True\n"
    assert len(ran.records("call")) == 2 and not (package.folder / "other").exists()


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("opwright.trace('t', values='all')", "ValueError: values='all' is none of off, sketch, hash, full"),
        ("opwright.trace('t', first=-1)", "ValueError: first=-1"),
        ("opwright.trace('t', max_overhead=5)", "ValueError: max_overhead=5: a share between 0 and 1"),
        ("opwright.trace('t', color=1)", "TypeError: trace() got an unexpected keyword argument 'color'"),
        ("opwright.trace('program.py/t').start()", "NotADirectoryError"),
        ("opwright.trace('t').start().start()", "TraceError: this trace has been started already"),
    ],
)
def test_wrong_use_is_said(package: Package, call: str, error: str) -> None:
    package.write("program.py", f"import opwright\n{call}")
    ran = package.run(ANY, "program.py", tracing=False)
    assert ran.returncode == 1 and error in ran.stderr


# ------------------------------------------------------------------------------------------------------------ the program


def test_python_m_opwright_is_the_program(package: Package, opwright_program: Path) -> None:
    ran = package.run(ANY, "-m", "opwright", "no-such-verb", tracing=False, env={"OPWRIGHT_BIN": opwright_program})
    assert ran.returncode == 2 and "no-such-verb" in ran.stderr


def test_the_program_is_found_in_the_package_and_never_a_script(package: Package) -> None:
    script = package.write("bin/opwright", "#!/bin/sh\nexit 99\n")
    script.chmod(0o755)
    env = {"PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}
    code = "from opwright import _binary; print(_binary.find())"
    assert str(script) not in package.run(ANY, "-c", code, tracing=False, env=env).stdout
    (package.library / "opwright" / "bin").mkdir()
    inside = package.library / "opwright" / "bin" / "opwright"
    inside.write_bytes(b"\x7fELF")
    inside.chmod(0o755)
    assert package.run(ANY, "-c", code, tracing=False, env=env).stdout == f"{inside}\n"


def test_no_program_is_said(package: Package) -> None:
    ran = package.run(ANY, "-m", "opwright", tracing=False, env={"OPWRIGHT_BIN": "/no/such/opwright"})
    assert ran.returncode == 3 and "set OPWRIGHT_BIN to the program" in ran.stderr
