"""Golden tests: whole-program behaviour as a folder of text files.

tests/golden/NAME/
  cmd      shell lines; `opwright` is the built program; the first line that fails ends it
  setup    optional; shell lines that run before, and must succeed
  stdout   expected standard output, masked (see support.mask)
  stderr   expected standard error, masked; no file: none is expected
  exit     expected exit status; no file: 0

The lines run in an empty folder ($TMP). $CASE is the folder of the case, $FIXTURES is tests/fixtures.
`./x test golden --update` rewrites the three expectations; read the diff before you commit it.
"""

import difflib
import os
from pathlib import Path

import pytest
import support

GOLDEN = support.REPO / "tests" / "golden"
CASES = sorted(file.parent for file in GOLDEN.rglob("cmd"))
UPDATE = os.environ.get("OPWRIGHT_GOLDEN_UPDATE") == "1"


def expected_text(case: Path, name: str, default: str) -> str:
    file = case / name
    return file.read_text(encoding="utf-8") if file.exists() else default


def write_expected(case: Path, name: str, text: str, default: str | None) -> None:
    if text == default:
        (case / name).unlink(missing_ok=True)
    else:
        (case / name).write_text(text, encoding="utf-8")


def difference(name: str, expected: str, actual: str) -> str:
    lines = difflib.unified_diff(
        expected.splitlines(keepends=True), actual.splitlines(keepends=True), f"{name} expected", f"{name} actual"
    )
    return "".join(line if line.endswith("\n") else line + "\n\\ no newline at the end\n" for line in lines)


@pytest.mark.parametrize("case", CASES, ids=[str(case.relative_to(GOLDEN)) for case in CASES])
def test_golden(case: Path, opwright_path: str, tmp_path: Path) -> None:
    env = support.command_env(tmp_path, PATH=opwright_path, TMP=tmp_path, CASE=case, FIXTURES=support.FIXTURES)
    if (case / "setup").exists():
        setup = support.run_shell((case / "setup").read_text(), tmp_path, env, merge_stderr=True)
        assert setup.returncode == 0, f"the setup of {case.name} failed ({setup.returncode}):\n{setup.stdout}"

    result = support.run_shell((case / "cmd").read_text(), tmp_path, env)
    folders = {"TMP": tmp_path, "CASE": case, "FIXTURES": support.FIXTURES}
    actual = {
        "stdout": support.mask(result.stdout, folders),
        "stderr": support.mask(result.stderr, folders),
        "exit": f"{result.returncode}\n",
    }
    if UPDATE:
        write_expected(case, "stdout", actual["stdout"], None)
        write_expected(case, "stderr", actual["stderr"], "")
        write_expected(case, "exit", actual["exit"], "0\n")
        return
    expected = {
        "stdout": expected_text(case, "stdout", ""),
        "stderr": expected_text(case, "stderr", ""),
        "exit": expected_text(case, "exit", "0").strip() + "\n",
    }
    report = "".join(difference(name, expected[name], actual[name]) for name in actual if actual[name] != expected[name])
    if report:
        pytest.fail(f"{report}\nIf the new output is right: ./x test golden --update", pytrace=False)
