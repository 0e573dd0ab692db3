#!/usr/bin/env python3
"""Checks that operators are named where they are described, and nowhere else.

usage: check_ops.py [CHECKOUT]     default: this checkout
       check_ops.py --self-test

A string of a source file that is the whole name of an operation ("ttnn.slice") is code that treats this operation in a
way of its own. That belongs into the operation's description (src/ops/), its kernel (src/device/sim/kernels/) or a data
table. Names inside longer texts are examples for people, and tests may name what they like. An operation is what
src/dialect/ttnn/data/signatures.tsv lists.
"""

import re
import sys
import tempfile
from pathlib import Path

ROOMS = ("src/ops/", "src/device/sim/kernels/")
#: Tables of facts, compared with the descriptions, or with the files that they read, by tests.
TABLES = (
    "src/dialect/ttnn/carrying_calls.h", "src/dialect/ttnn/collective_calls.h", "src/dialect/ttnn/transparent_calls.h",
    "src/dialect/ttnn/written_arguments.h",
    "src/exec/oracle_spellings.h",
)
FOLDERS = (("src", (".h", ".cpp")), ("python", (".py", ".cpp", ".h")))

#: File -> why it may name operations. Each is asked for: a file that names none any more leaves the list.
EXCEPTIONS: dict[str, str] = {}

LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'')
COMMENT = re.compile(r'^\s*(?://|#(?!\s*include)).*$|\s//\s.*$|"""(?:.|\n)*?"""', re.M)  # and what Python documents with


def operations(checkout: Path) -> set[str]:
    lines = (checkout / "src/dialect/ttnn/data/signatures.tsv").read_text(encoding="utf-8").splitlines()
    return {line.split("\t")[0] for line in lines if line and not line.startswith("#")}


def is_test(file: Path) -> bool:
    return file.stem.endswith("_test") or file.stem.startswith("test_") or "tests" in file.parts


def named_in(text: str, known: set[str]) -> list[tuple[int, str]]:
    """Line and name of each operation that is a string of its own."""
    text = COMMENT.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = []
    for match in LITERAL.finditer(text):
        name = (match[1] or match[2] or "").replace("::", ".")
        if name in known:
            found.append((text.count("\n", 0, match.start()) + 1, name))
    return found


def check(checkout: Path, exceptions: dict[str, str] = EXCEPTIONS) -> list[str]:
    known = operations(checkout)
    problems, used = [], set()
    for folder, suffixes in FOLDERS:
        for file in sorted((checkout / folder).rglob("*")):
            shown = file.relative_to(checkout).as_posix()
            if file.suffix not in suffixes or is_test(file.relative_to(checkout)) or shown.startswith(ROOMS + TABLES):
                continue
            for line, name in named_in(file.read_text(encoding="utf-8"), known):
                if shown in exceptions:
                    used.add(shown)
                else:
                    problems.append(
                        f"{shown}:{line}: names {name}; say in its description (src/ops/op.h) what is special about it, "
                        "and ask that"
                    )
    for name in exceptions:
        if (checkout / name).exists() and name not in used:
            problems.append(f"{name}: names no operation any more; take it from the exceptions in tools/check_ops.py")
    return problems


def self_test() -> None:
    with tempfile.TemporaryDirectory() as folder:
        checkout = Path(folder)
        files = {
            "src/dialect/ttnn/data/signatures.tsv": "# names\nttnn.slice\tinput_tensor\nttnn.add\ta b\n",
            "src/ops/slice.cpp": 'name = "ttnn.slice";\n',
            "src/device/sim/kernels/slice.cpp": 'op = "ttnn.slice";\n',
            "src/exec/plan_test.cpp": 'run("ttnn.slice");\n',
            "src/cli/run.cpp": 'help = "e.g. ttnn.slice";  // like "ttnn.add"\n// "ttnn.add"\nx = "ttnn.other";\n',
            "python/tests/test_a.py": 'run("ttnn.add")\n',
        }
        for name, text in files.items():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
        assert check(checkout) == [], check(checkout)
        for name, text, expected in (
            ("src/exec/a.cpp", 'int x;\nif (op == "ttnn.slice") return;\n', "src/exec/a.cpp:2: names ttnn.slice"),
            ("src/cli/b.h", 'f("ttnn::add");\n', "src/cli/b.h:1: names ttnn.add"),
            ("python/opwright/c.py", "if op == 'ttnn.add':\n", "python/opwright/c.py:1: names ttnn.add"),
            ("python/opwright/d.py", '"""Like "ttnn.add".\n\nMore."""\nx = "ttnn.add"\n', "python/opwright/d.py:4: names ttnn.add"),
            ("src/exec/old.cpp", "nothing\n", "src/exec/old.cpp: names no operation any more"),
        ):
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            (checkout / name).write_text(text)
            problems = check(checkout, {"src/exec/old.cpp": "for this test"})
            assert len(problems) == 1 and problems[0].startswith(expected), (name, problems)
            (checkout / name).unlink()
    print("check_ops: self-test passed")


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) > 1:
        print(__doc__, file=sys.stderr)
        return 2
    problems = check(Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
