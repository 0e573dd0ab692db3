"""Tests of the tools around the code: the include rule, the tree rules, the closing line, the masks."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
import support

TOOLS = support.REPO / "tools"


def run_tool(*arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("tool", ["check_includes.py", "check_ops.py", "check_tree.py"])
def test_self_test_of_tool(tool: str) -> None:
    result = run_tool(TOOLS / tool, "--self-test")
    assert result.returncode == 0, result.stdout + result.stderr


def test_rooms_include_downwards_only() -> None:
    result = run_tool(TOOLS / "check_includes.py")
    assert result.returncode == 0, result.stdout + result.stderr


def test_operators_are_named_where_they_are_described_only() -> None:
    result = run_tool(TOOLS / "check_ops.py")
    assert result.returncode == 0, result.stdout + result.stderr


CASES = {
    "pass": '<testcase name="a" status="run"/>',
    "fail": '<testcase name="a" status="fail"><failure message=""/></testcase>',
    "error": '<testcase name="a"><error message="setup"/></testcase>',
    "skip": '<testcase name="a" status="notrun"><skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>',
    "disabled": '<testcase name="a" status="disabled"><system-out>Disabled</system-out></testcase>',
    "missing": '<testcase name="a" status="notrun"><skipped message="Unable to find executable"/></testcase>',
}


@pytest.mark.parametrize(
    ("stages", "line", "status"),
    [
        ([("ctest", 0, ["pass", "pass", "skip", "disabled"]), ("pytest", 0, ["pass"])], "3 passed, 0 failed, 2 skipped", 0),
        ([("ctest", 8, ["pass", "fail"]), ("pytest", 1, ["error", "pass"])], "2 passed, 2 failed, 0 skipped", 1),
        ([("ctest", 0, ["pass", "missing"])], "1 passed, 1 failed, 0 skipped", 1),
        ([("ctest", 139, ["pass"]), ("pytest", 0, ["pass"])], "2 passed, 1 failed, 0 skipped", 1),
        ([("ctest", 0, None), ("pytest", 0, ["pass"])], "1 passed, 1 failed, 0 skipped", 1),
        ([("ctest", 0, ["pass"]), ("pytest", 5, [])], "1 passed, 0 failed, 0 skipped", 0),
        ([("ctest", 0, ["skip"]), ("pytest", 5, [])], "0 passed, 0 failed, 1 skipped", 1),
    ],
)
def test_closing_line(stages: list, line: str, status: int, tmp_path: Path) -> None:
    arguments = []
    for name, exit_status, cases in stages:
        report = tmp_path / f"{name}.xml"
        if cases is not None:
            report.write_text(f"<testsuite>{''.join(CASES[case] for case in cases)}</testsuite>")
        arguments += [name, exit_status, report]
    result = run_tool(TOOLS / "closing_line.py", *arguments)
    assert result.stdout.splitlines()[-1] == line
    assert result.returncode == status, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("done in 0.21 s (707 MB/s)", "done in <time> (<rate>)"),
        ("a     12.5 ms", "a <time>"),
        ("1,200 records/s", "<rate>"),
        ('{"seconds": 1.5e-05, "calls": 3}', '{"seconds": <number>, "calls": 3}'),
        ("30 configurations in 2 sources", "30 configurations in 2 sources"),
        ("sha256s x1s", "sha256s x1s"),
        ("wrote /t/x/out.json", "wrote $TMP/out.json"),
    ],
)
def test_mask(text: str, masked: str) -> None:
    assert support.mask(text, {"TMP": Path("/t/x")}) == masked


def test_the_hook_has_its_tables_from_the_dialect(opwright_program: Path) -> None:
    """One place: the package holds the dialect's file, and defines none of its tables a second time."""
    table = support.REPO / "src" / "dialect" / "ttnn" / "hook_tables.py"
    package = support.REPO / "python" / "opwright"
    built = opwright_program.parent / "python" / "opwright" / "_ttnn_tables.py"
    assert built.read_bytes() == table.read_bytes(), "the package of this build is older: build it again"
    names = {target.id for node in ast.parse(table.read_text()).body for target in assigned(node)}
    assert {"TENSOR_METHODS", "DIRECT_FAMILIES", "FIELDS", "TENSOR_FIELDS", "TENSOR_READERS"} <= names
    for file in sorted(package.glob("*.py")):
        if file.name == "_ttnn_tables.py":
            continue
        twice = names & {target.id for node in ast.parse(file.read_text()).body for target in assigned(node)}
        assert not twice, f"{file.name} defines {twice}, which src/dialect/ttnn/hook_tables.py has"


def assigned(node: ast.AST) -> list[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [target for target in targets if isinstance(target, ast.Name)]
