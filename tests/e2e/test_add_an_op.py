"""docs/how-to/add-an-op.md is carried out: its rows, files and example lines are added to a copy of the tree, built and run."""

import json
import os
import re
import shlex
import subprocess
import textwrap
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


BLOCKS = r"```cpp\n\s*// (new: )?(\S+)\n(.*?)```"


def rows() -> dict[str, list[str]]:
    """File -> the lines that the guide adds to it."""
    return {
        file: [line.strip() for line in text.splitlines() if line.strip()]
        for new, file, text in re.findall(BLOCKS, GUIDE.read_text(), re.S)
        if not new
    }


def files() -> dict[str, str]:
    """The files that the guide adds."""
    return {file: textwrap.dedent(text) for new, file, text in re.findall(BLOCKS, GUIDE.read_text(), re.S) if new}


def cases() -> list[str]:
    return [line.strip() for line in re.search(r"```text\n(.*?)```", GUIDE.read_text(), re.S)[1].splitlines() if line.strip()]


def with_lines(file: str, added: list[str]) -> str:
    """A row goes to the rows, a line of a list before the first line of its kind."""
    text = (support.REPO / file).read_text()
    for line in reversed(added):
        kind = "constexpr std::array kRows{\n" if "{" in line else re.match(r"&k?|\w+ const \w+ |const \w+& ", line)[0]
        at = re.search(r"^\s*" + re.escape(kind), text, re.M)
        assert at is not None, f"{file}: where does {line} belong?"
        where = at.end() if "{" in line else at.start()
        text = text[:where] + ("" if "{" in line else "\n") + line + "\n" + text[where:].lstrip("\n")
    return text


def test_the_guide_names_what_is_there() -> None:
    text = GUIDE.read_text()
    for path in files():
        assert not (support.REPO / path).exists(), f"{path} is there by now: the guide needs another operator to add"
    for path in set(re.findall(r"`(src/[\w/.]+|tests/[\w/.]+)`", text)):
        assert (support.REPO / path).exists(), f"{GUIDE.name}: {path} is not there"
    listed = (support.REPO / EXAMPLES).read_text()
    written = "\n".join([*(row for every in rows().values() for row in every), *files().values()])
    added = set(re.findall(r'"(ttnn\.\w+)"', written))
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
        source = tmp_path / file.replace("/", "_")
        source.write_text(with_lines(file, added))
        objects.append(compiled(file, source))
    for file, text in files().items():
        source = tmp_path / file.replace("/", "_")
        source.write_text(text)
        objects.append(compiled(next(at for at in rows() if Path(at).parent == Path(file).parent), source))
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
