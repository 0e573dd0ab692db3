#!/usr/bin/env python3
"""Checks who includes whom: a room of src/ includes itself and the rooms that the table below allows.

usage: check_includes.py [SOURCE_FOLDER]     default: src/ of this checkout
       check_includes.py --self-test

The table is the include rule of ARCHITECTURE.md. Rooms of one row never include each other; the exceptions are written
out. A new room gets a line here and in ARCHITECTURE.md in the same commit. What references and kernels both stand on is
a closed list, so that no arithmetic is shared between the judge and what it judges.
"""

import re
import sys
import tempfile
from pathlib import Path

SUFFIXES = {".h", ".cpp"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')

BASE = {"base"}
MODEL = BASE | {"model"}
DIALECT = MODEL | {"dialect"}
PARTS = DIALECT | {"format", "ops", "compare", "device"}
DATA = PARTS | {"capture", "normalize", "store", "select"}
VECTORS = DATA | {"vectors"}
WORK = VECTORS | {"exec", "launch", "perf"}
ANSWERS = WORK | {"replay", "report", "gentest", "shrink", "fuse"}
APPLICATION = ANSWERS | {"jobs"}

MAY_INCLUDE: dict[str, set[str]] = {
    "base": set(),
    "model": BASE,
    "dialect": MODEL,
    "format": DIALECT,
    "ops": DIALECT,
    "compare": MODEL,  # the judge knows no library
    "device": DIALECT,
    "capture": set(),  # goes into the user's model program: carries nothing else of ours
    "normalize": PARTS,
    "store": PARTS,
    "select": PARTS | {"store", "normalize"},  # exception: a selector is a question to the store about normal forms
    "vectors": DATA,
    "exec": VECTORS,
    "launch": VECTORS,
    "perf": DIALECT | {"ops"},  # reports of a profiler are files: no store, no device
    "replay": WORK,
    "report": WORK,
    "shrink": WORK | {"report"},  # exception: which failures are one cause is what the report says
    "gentest": WORK,
    "fuse": WORK | {"replay", "gentest"},  # exception: a fused test is a replayed stretch, spelled as generated tests are
    "jobs": ANSWERS,
    "web": APPLICATION,
    "cli": APPLICATION,
}

# Single headers that a room may include beside the rooms above.
MAY_INCLUDE_FILES: dict[str, set[str]] = {
    # exception: how a native trace lies on disk is written down once, for the recorder and for the reader
    "format": {"capture/layout.h", "capture/crc32c.h", "capture/encoder.h"},
}

# What references (ops) and kernels (device/sim) both stand on: nouns of a call and facts of the library. Arithmetic and
# index arithmetic of an operator are not among them. They exist twice, once on each side, because a wrong index in a
# file that both include is wrong in judge and judged alike, and passes. A header that is new here is looked at first.
JUDGE = "ops"
JUDGED = "device/sim"
COMMON: set[str] = {
    "model/bound_call.h", "model/dtype.h", "model/error_budget.h", "model/host_tensor.h", "model/op_config.h", "model/outcome.h",
    "model/output_spec.h", "model/refusal.h", "model/spelled.h", "model/tensor_facts.h", "model/tensor_spec.h",
    "model/value.h",
    "dialect/ttnn/activation.h", "dialect/ttnn/attention_program.h", "dialect/ttnn/board.h", "dialect/ttnn/collective_calls.h",
    "dialect/ttnn/compute_config.h",
    "dialect/ttnn/conv_config.h", "dialect/ttnn/conv_shards.h", "dialect/ttnn/matmul_program.h", "dialect/ttnn/tensor_layout.h",
}

# Folders that only they themselves include, with the library that nobody else includes, and the header that everybody
# else asks. All SQL lies in them.
PRIVATE_FOLDERS = {
    "store/sqlite/": ("sqlite3.h", "store/sqlite_door.h"),
    "store/postgresql/": ("libpq-fe.h", "store/postgresql_door.h"),
}
# Words that begin a statement of SQL in a text of the program.
SQL = re.compile(r'"\s*(SELECT|INSERT INTO|INSERT OR|UPDATE \w+ SET|DELETE FROM|CREATE TABLE|CREATE INDEX|CREATE TEMP|ALTER TABLE|PRAGMA)\s')

# Headers that few files may reach, by whatever way, and which those are.
ONLY_FOR: dict[str, tuple[str, ...]] = {
    # operands as the library's rules see them: who computes a product finds its elements without it
    "dialect/ttnn/matmul_operands.h": (
        "dialect/ttnn/", "ops/shared/matmul_rules", "ops/shared/matmul_program_rules", "ops/matmul.cpp", "ops/linear.cpp",
        "ops/conv2d.cpp",
    ),
}

# Folders of a room that know each other in one direction only: folder -> folders that it never includes. Every call goes
# through the native trace, so the other formats know it (they are converted to it and from it) and it knows none of them.
NEVER: dict[str, tuple[str, ...]] = {
    "format/native/": ("format/per_op/", "format/jsonl/", "format/graph/", "format/master/"),
    "format/per_op/": ("format/jsonl/", "format/graph/", "format/master/"),
    "format/graph/": ("format/per_op/", "format/jsonl/", "format/master/"),
    "format/master/": ("format/native/", "format/per_op/", "format/jsonl/", "format/graph/"),
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


def direction_problem(file: str, path: str) -> str | None:
    """Says that a folder includes another of its room that is not for it, or nothing."""
    for folder, others in NEVER.items():
        if file.startswith(folder) and path.startswith(others):
            return f"{folder} never includes {path.rsplit('/', 1)[0]}/: what both need belongs beside them, in format/"
    return None


def reached(graph: dict[str, list[str]], start: str) -> set[str]:
    """All of our headers that a file includes, itself or through others."""
    seen: set[str] = set()
    ways = [start]
    while ways:
        for path in graph.get(ways.pop(), []):
            if path not in seen:
                seen.add(path)
                ways.append(path)
    return seen


def sharing_problems(graph: dict[str, list[str]], shown: str) -> list[str]:
    """Headers that judge and judged share and should not, and headers that are not for everybody."""
    problems = []
    sides: dict[str, dict[str, str]] = {JUDGE: {}, JUDGED: {}}  # header -> the first file that reaches it
    for file in sorted(graph):
        if file.endswith("_test.cpp"):  # a test may compare the two
            continue
        found = reached(graph, file)
        for side, headers in sides.items():
            if file.startswith(side + "/"):
                for path in found:
                    headers.setdefault(path, file)
        for path, allowed in ONLY_FOR.items():
            if path in found and not file.startswith(allowed):
                problems.append(f"{shown}/{file}:1: reaches {path}, which is for {', '.join(allowed)} only")
    for path in sorted(set(sides[JUDGE]) & set(sides[JUDGED])):
        if path.split("/")[0] in ("model", "dialect") and path not in COMMON:
            problems.append(
                f"{shown}/{path}:1: {sides[JUDGE][path]} and {sides[JUDGED][path]} both reach it: arithmetic of an "
                f"operator exists twice, in {JUDGE} and in {JUDGED}; a noun or a fact gets a line in COMMON"
            )
    return problems


def check(source: Path) -> list[str]:
    problems = []
    graph: dict[str, list[str]] = {}
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
            if found and problem is None and not file.name.endswith("_test.cpp"):  # a test may compare two formats
                problem = direction_problem("/".join(parts), found[2])
            if found and found[1] == '"':
                graph.setdefault("/".join(parts), []).append(found[2])
            if problem:
                problems.append(f"{shown}:{number}: {problem}")
            here = "/".join(parts)
            for folder, (library, door) in PRIVATE_FOLDERS.items():
                if found and not here.startswith(folder) and (found[2].startswith(folder) or found[2] == library):
                    problems.append(
                        f"{shown}:{number}: {found[2]} is for {folder} only; ask store/store.h, or {door} for what only "
                        "it has"
                    )
            if not here.startswith(tuple(PRIVATE_FOLDERS)) and not problem and SQL.search(line):
                problems.append(f"{shown}:{number}: SQL; all of it lies in {', '.join(PRIVATE_FOLDERS)}")
    return problems + sharing_problems(graph, source.name)


def self_test() -> None:
    rows = [
        ["base"], ["model"], ["dialect"], ["format", "ops", "compare", "device"],
        ["capture", "normalize", "store", "select"], ["vectors"], ["exec", "launch", "perf"], ["replay", "report", "gentest"],
        ["shrink", "fuse"], ["jobs"], ["cli", "web"],
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
        "format/native/d.cpp": ('#include "format/per_op/writer.h"\n', "format/native/ never includes format/per_op/"),
        "base/c.h": ('#include "model/dtype.h"\n', "base/c.h:1: base may not include model"),
        "jobs/d.cpp": ('#include "cli/command.h"\n', "jobs/d.cpp:1: jobs may not include cli"),
        "model/d.cpp": ('#include "d.h"\n', 'write the whole path: #include "model/d.h"'),
        "cli/e.cpp": ("#include <base/result.h>\n", "write it with quotes"),
        "jobs/h.cpp": ('#include "store/sqlite/reader.h"\n', "jobs/h.cpp:1: store/sqlite/reader.h is for store/sqlite/ only"),
        "store/i.cpp": ("#include <sqlite3.h>\n", "store/i.cpp:1: sqlite3.h is for store/sqlite/ only"),
        "report/j.cpp": ('\nconst char* k = "SELECT id FROM run";\n', "report/j.cpp:2: SQL; all of it lies in store/sqlite/"),
        "cellar/f.h": ("", "cellar/f.h:1: lies in no known room"),
        "g.cpp": ("", "g.cpp:1: lies in no known room"),
    }
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "src")
        for name in ("format/master/good.cpp", "store/good.h", "cli/good.cpp"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(good)
        (source / "format/native").mkdir()
        (source / "format/per_op").mkdir()
        (source / "format/per_op/good.cpp").write_text('#include "format/native/native_trace.h"\n')
        (source / "format/native/good_test.cpp").write_text('#include "format/per_op/writer.h"\n')
        (source / "format/native/good.cpp").write_text('#include "capture/layout.h"\n#include "capture/crc32c.h"\n')
        (source / "store/sqlite").mkdir(parents=True)
        (source / "store/sqlite/good.cpp").write_text('#include <sqlite3.h>\n#include "store/sqlite/sql.h"\n"SELECT 1";\n')
        (source / "select").mkdir()
        (source / "select/good.h").write_text('#include "store/store.h"\n#include "normalize/key.h"\n')
        assert check(source) == [], check(source)
        for name, (text, expected) in bad.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
            problems = check(source)
            assert len(problems) == 1 and expected in problems[0], (name, problems)
            (source / name).unlink()

        # Both sides reach a header that is neither noun nor fact, one of them through another header.
        for name, text in {
            "model/places.h": "",
            "device/sim/kernel.h": '#include "model/places.h"\n',
            "device/sim/kernel.cpp": '#include "device/sim/kernel.h"\n',
            "device/external/free.cpp": '#include "model/places.h"\n',
        }.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
        assert check(source) == [], check(source)
        (source / "ops").mkdir()
        (source / "ops/exact_test.cpp").write_text('#include "model/places.h"\n')
        assert check(source) == [], check(source)
        (source / "ops/exact.cpp").write_text('#include "model/places.h"\n#include "model/value.h"\n')
        problems = check(source)
        assert len(problems) == 1 and "ops/exact.cpp and device/sim/kernel.cpp both reach it" in problems[0], problems
        (source / "ops/exact.cpp").write_text('#include "dialect/ttnn/matmul_operands.h"\n')
        problems = check(source)
        assert len(problems) == 1 and "ops/exact.cpp:1: reaches dialect/ttnn/matmul_operands.h" in problems[0], problems
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
