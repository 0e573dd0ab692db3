#!/usr/bin/env python3
"""Checks who includes whom: a room of src/ includes itself and the rooms that the table below allows.

usage: check_includes.py [SOURCE_FOLDER]     default: src/ of this checkout
       check_includes.py --self-test

The table is the include rule of ARCHITECTURE.md. Rooms of one row never include each other; the exceptions are written
out. A new room gets a line here and in ARCHITECTURE.md in the same commit.
"""

import re
import sys
import tempfile
from pathlib import Path

SUFFIXES = {".h", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

BASE = {"base"}
MODEL = BASE | {"model"}
LIBRARY = MODEL | {"library"}
PARTS = LIBRARY | {"format", "ops", "compare", "device"}
DATA = PARTS | {"capture", "normalize", "store", "select"}
VECTORS = DATA | {"vectors"}
WORK = VECTORS | {"exec", "launch", "fuse"}
ANSWERS = WORK | {"replay", "report"}
APPLICATION = ANSWERS | {"app"}

MAY_INCLUDE: dict[str, set[str]] = {
    "base": set(),
    "model": BASE,
    "library": MODEL,
    "format": LIBRARY,
    "ops": LIBRARY,
    "compare": MODEL,  # the judge knows no library
    "device": LIBRARY,
    "capture": set(),  # goes into the user's model program: carries nothing else of ours
    "normalize": PARTS,
    "store": PARTS,
    "select": PARTS | {"store", "normalize"},  # exception: a selector is a question to the store about normal forms
    "vectors": DATA,
    "exec": VECTORS,
    "launch": VECTORS,
    "fuse": VECTORS,
    "replay": WORK,
    "report": WORK,
    "app": ANSWERS,
    "web": APPLICATION,
    "cli": APPLICATION,
}

# Single headers that a room may include beside the rooms above.
MAY_INCLUDE_FILES: dict[str, set[str]] = {
    # exception: how a native trace lies on disk is written down once, for the recorder and for the reader
    "format": {"capture/layout.h", "capture/crc32c.h", "capture/encoder.h"},
}


def include_problem(room: str, bracket: str, path: str) -> str | None:
    """Says what is wrong with one include line of a file of `room`, or nothing."""
    other = path.split("/")[0]
    if "/" not in path:
        if bracket == "<":
            return None
        return f'"{path}" names no room; write the whole path: #include "{room}/{path}"'
    if other not in MAY_INCLUDE:
        return None
    if bracket == "<":
        return f'<{path}> is ours; write it with quotes: #include "{path}"'
    if other == room or other in MAY_INCLUDE[room] or path in MAY_INCLUDE_FILES.get(room, set()):
        return None
    allowed = ", ".join(sorted(MAY_INCLUDE[room])) or "no other room"
    if room in MAY_INCLUDE[other]:
        hint = f"{other} lies above {room}: move what you need down, or hand it in as a parameter"
    else:
        hint = f"{room} and {other} are strangers: move what both need below them, or join them in a room above"
    return f"{room} may not include {other} (it may include: {allowed}); {hint}"


def check(source: Path) -> list[str]:
    problems = []
    for file in sorted(source.rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        parts = file.relative_to(source).parts
        shown = Path(source.name, *parts)
        room = parts[0]
        if len(parts) == 1 or room not in MAY_INCLUDE:
            problems.append(f"{shown}:1: lies in no known room; move it, or add its room to tools/check_includes.py")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            found = INCLUDE.match(line)
            problem = include_problem(room, found[1], found[2]) if found else None
            if problem:
                problems.append(f"{shown}:{number}: {problem}")
    return problems


def self_test() -> None:
    rows = [
        ["base"], ["model"], ["library"], ["format", "ops", "compare", "device"],
        ["capture", "normalize", "store", "select"], ["vectors"], ["exec", "launch", "fuse"], ["replay", "report"], ["app"],
        ["cli", "web"],
    ]
    assert sorted(sum(rows, [])) == sorted(MAY_INCLUDE), "the table and the rows of the house name the same rooms"
    height = {room: level for level, row in enumerate(rows) for room in row}
    exceptions = {("select", "store"), ("select", "normalize")}
    for room, others in MAY_INCLUDE.items():
        for other in others:
            assert height[other] < height[room] or (room, other) in exceptions, f"{room} -> {other} goes up or sideways"

    good = '#include <vector>\n#include "base/result.h"\n#include "gtest/gtest.h"\n  #  include "model/dtype.h"\n'
    bad = {
        "store/a.h": ('#include "select/where.h"\n', "store/a.h:1: store may not include select"),
        "format/master/b.cpp": ('\n#include "ops/ops.h"\n', "format/master/b.cpp:2: format may not include ops"),
        "format/native/c.cpp": ('#include "capture/recorder.h"\n', "format/native/c.cpp:1: format may not include capture"),
        "base/c.h": ('#include "model/dtype.h"\n', "base/c.h:1: base may not include model"),
        "app/d.cpp": ('#include "cli/command.h"\n', "app/d.cpp:1: app may not include cli"),
        "model/d.cpp": ('#include "d.h"\n', 'write the whole path: #include "model/d.h"'),
        "cli/e.cpp": ("#include <base/result.h>\n", "write it with quotes"),
        "cellar/f.h": ("", "cellar/f.h:1: lies in no known room"),
        "g.cpp": ("", "g.cpp:1: lies in no known room"),
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "src")
        for name in ("format/master/good.cpp", "store/good.h", "cli/good.cpp"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(good)
        (source / "format/native").mkdir()
        (source / "format/native/good.cpp").write_text('#include "capture/layout.h"\n#include "capture/crc32c.h"\n')
        (source / "select").mkdir()
        (source / "select/good.h").write_text('#include "store/store.h"\n#include "normalize/key.h"\n')
        assert check(source) == [], check(source)
        for name, (text, expected) in bad.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
            problems = check(source)
            assert len(problems) == 1 and expected in problems[0], (name, problems)
            (source / name).unlink()
    print("check_includes: self-test passed")


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if len(arguments) > 1 or any(argument.startswith("-") for argument in arguments):
        print(__doc__, file=sys.stderr)
        return 2
    source = Path(arguments[0]) if arguments else Path(__file__).resolve().parent.parent / "src"
    if not source.is_dir():
        print(f"check_includes: {source} is not a folder", file=sys.stderr)
        return 2
    problems = check(source)
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
