"""docs/how-to/add-an-op.md is carried out: its rows and example lines are added to a copy of the tree, built and run."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import support

GUIDE = support.REPO / "docs" / "how-to" / "add-an-op.md"
EXAMPLES = "src/exec/data/example_cases.txt"

MAIN = """
#include <cstdio>
#include <fstream>
#include <string>

#include "exec/case_line.h"
#include "exec/run_case.h"

int main(int, char** arguments) {
  auto device = opwright::open_device("sim:n150");
  std::ifstream lines(arguments[1]);
  int failed = device.has_value() ? 0 : 1;
  for (std::string line; std::getline(lines, line);) {
    const auto config = opwright::parse_case(line);
    const auto result = opwright::run_case(*config, **device, {});
    const bool passed = result.outcome == opwright::Outcome::kPassed;
    std::printf("%s %s %s\\n", passed ? "passed" : "FAILED", config->op.c_str(), result.reason.c_str());
    failed += passed ? 0 : 1;
  }
  return failed;
}
"""


def rows() -> dict[str, list[str]]:
    """File -> the rows that the guide adds to it."""
    blocks = re.findall(r"```cpp\n\s*// (\S+)\n(.*?)```", GUIDE.read_text(), re.S)
    return {file: [line.strip() for line in text.splitlines() if line.strip()] for file, text in blocks}


def cases() -> list[str]:
    return [line.strip() for line in re.search(r"```text\n(.*?)```", GUIDE.read_text(), re.S)[1].splitlines() if line.strip()]


def with_rows(file: str, added: list[str]) -> str:
    text = (support.REPO / file).read_text()
    assert text.count("constexpr std::array kRows{\n") == 1, f"{file}: where are the rows?"
    return text.replace("constexpr std::array kRows{\n", "constexpr std::array kRows{\n" + "\n".join(added) + "\n")


def test_the_guide_names_what_is_there() -> None:
    text = GUIDE.read_text()
    for path in set(re.findall(r"`(src/[\w/.]+|tests/[\w/.]+)`", text)):
        assert (support.REPO / path).exists(), f"{GUIDE.name}: {path} is not there"
    listed = (support.REPO / EXAMPLES).read_text()
    added = [re.search(r'"(ttnn\.\w+)"', row)[1] for every in rows().values() for row in every]
    assert sorted(added) == sorted(line.split("(")[0] for line in cases()), "one row and one example line each"
    for name in added:
        assert f"{name}(" not in listed, f"{name} is known by now: the guide needs another one to add"


def test_the_guide_adds_operators(tmp_path: Path) -> None:
    build = Path(os.environ["OPWRIGHT_BIN"]).parent
    if not (build / "compile_commands.json").exists():
        pytest.skip(f"{build} is no build folder")
    commands = {entry["file"]: entry for entry in json.loads((build / "compile_commands.json").read_text())}

    def compiled(like: str, source: Path) -> Path:
        entry = commands[str(support.REPO / like)]
        words = shlex.split(entry["command"])
        out = source.with_suffix(".o")
        words = [str(out) if word.endswith(".cpp.o") else str(source) if word.endswith(".cpp") else word for word in words]
        done = subprocess.run(words, cwd=entry["directory"], capture_output=True, text=True, timeout=280)
        assert done.returncode == 0, done.stderr[-3000:]
        return out

    objects = []
    for file, added in rows().items():
        source = tmp_path / Path(file).name
        source.write_text(with_rows(file, added))
        objects.append(compiled(file, source))
    main = tmp_path / "main.cpp"
    main.write_text(MAIN)
    objects.append(compiled("src/exec/run_case.cpp", main))
    lines = tmp_path / "cases.txt"
    lines.write_text("\n".join(cases()) + "\n")

    # The libraries as the program is linked with them; our objects come first, so that theirs are left out.
    query = subprocess.run(["ninja", "-C", build, "-t", "commands", "opwright"], capture_output=True, text=True, timeout=60)
    link = shlex.split(query.stdout.splitlines()[-1].replace("&&", " ").replace(": ", " ", 1))
    program = tmp_path / "added"
    words = [str(program) if link[at - 1] == "-o" else word for at, word in enumerate(link)]
    at = next(i for i, word in enumerate(words) if word.endswith("main.cpp.o"))
    words[at : at + 1] = map(str, objects)
    words = [word for word in words if word != ":"]
    done = subprocess.run(words, cwd=build, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-3000:]
    ran = subprocess.run([program, lines], capture_output=True, text=True, timeout=120)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stdout.count("passed") == len(cases())
