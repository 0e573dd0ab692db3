"""Runs the examples of README.md and docs/: every fenced block tagged `console`.

  $ opwright ops          a command, run by bash; it must succeed
  > --where 'rank=4'      its next line
  add   12                what it prints (standard output and error), masked like the golden tests
  ...                     any number of lines

All blocks of a document run in order in one folder, which starts with links to tests/ and examples/ of the repository,
so that a reader can type the same commands at its root. $FIXTURES is tests/fixtures.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import support

FENCE = re.compile(r"^(\s*)(`{3,}|~{3,})\s*(\S*)\s*$")


@dataclass
class Example:
    line: int
    command: str
    output: list[str] = field(default_factory=list)


def parse_examples(text: str) -> list[Example]:
    """Finds the commands of all `console` blocks, in order."""
    examples: list[Example] = []
    fence = None  # the indentation and the marks that opened the block we are in
    is_console = False
    for number, line in enumerate(text.splitlines(), 1):
        found = FENCE.match(line)
        if fence is None:
            if found:
                fence = (found[1], found[2])
                is_console = found[3] == "console"
                is_first = True
        elif found and not found[3] and found[2].startswith(fence[1]):
            fence = None
        elif is_console:
            line = line.removeprefix(fence[0])
            if line.startswith("$ "):
                examples.append(Example(number, line[2:]))
            elif is_first:
                raise ValueError(f"line {number}: a console block starts with a command: $ ...")
            elif line.startswith("> ") and not examples[-1].output:
                examples[-1].command += "\n" + line[2:]
            else:
                examples[-1].output.append(line)
            is_first = False
    return examples


def output_matches(expected: list[str], actual: list[str]) -> bool:
    """Compares lines, blanks at their ends aside; `...` on a line of its own stands for any number of lines."""
    pattern = "".join(r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"\n" for line in expected)
    return re.fullmatch(pattern, "".join(line.rstrip() + "\n" for line in actual)) is not None


def documents() -> list[str]:
    files = [support.REPO / "README.md", *sorted((support.REPO / "docs").rglob("*.md"))]
    with_examples = (file for file in files if file.exists() and "```console" in file.read_text(encoding="utf-8"))
    return [str(file.relative_to(support.REPO)) for file in with_examples]


@pytest.mark.parametrize("document", documents())
def test_examples_of_document(document: str, opwright_path: str, tmp_path: Path) -> None:
    for name in ("tests", "examples"):
        if (support.REPO / name).exists():
            (tmp_path / name).symlink_to(support.REPO / name)
    env = support.command_env(tmp_path, PATH=opwright_path, FIXTURES=support.FIXTURES)
    folders = {"TMP": tmp_path, "FIXTURES": support.FIXTURES}
    for example in parse_examples((support.REPO / document).read_text(encoding="utf-8")):
        result = support.run_shell(example.command, tmp_path, env, merge_stderr=True)
        where = f"{document}:{example.line}: $ {example.command}"
        if result.returncode != 0:
            pytest.fail(f"{where}\nexit status {result.returncode}:\n{result.stdout}", pytrace=False)
        expected = support.mask("\n".join(example.output)).splitlines()
        if not output_matches(expected, support.mask(result.stdout, folders).splitlines()):
            wanted = "\n".join(example.output)
            pytest.fail(f"{where}\nthe document says:\n{wanted}\nit printed:\n{result.stdout}", pytrace=False)


def test_parser_finds_commands_and_outputs() -> None:
    text = "# T\n```console\n$ a \\\n> b\none\n...\n\n$ c\n```\n```sh\n$ not run\n```\n  ```console\n  $ d\n  x\n  ```\n"
    assert parse_examples(text) == [
        Example(3, "a \\\nb", ["one", "...", ""]),
        Example(8, "c"),
        Example(14, "d", ["x"]),
    ]


@pytest.mark.parametrize(
    ("expected", "actual", "matches"),
    [
        ([], [], True),
        ([], ["a"], False),
        (["a"], ["a  "], True),
        (["..."], [], True),
        (["a", "...", "z"], ["a", "b", "c", "z"], True),
        (["a", "...", "z"], ["a", "b", "c"], False),
        (["a.c"], ["abc"], False),
    ],
)
def test_output_matching(expected: list[str], actual: list[str], matches: bool) -> None:
    assert output_matches(expected, actual) is matches
