"""Files of earlier versions stay readable: tests/compat/README.md. (An old store: test_raised.py.)"""

import json
from pathlib import Path

import pytest
import support

COMPAT = support.REPO / "tests" / "compat"
TRACES = sorted(COMPAT.glob("native/v*/*.opwt.zst"))


def says_less(today: object, then: object, where: str = "") -> str:
    """Where `today` lacks something of `then` or has another value; "" where it has all of it. New fields may come."""
    if isinstance(then, dict) and isinstance(today, dict):
        missing = [f"{where}.{name} is gone" for name in then if name not in today]
        return next(iter(missing), "") or next(filter(None, (says_less(today[k], then[k], f"{where}.{k}") for k in then)), "")
    if isinstance(then, list) and isinstance(today, list) and len(then) == len(today):
        return next(filter(None, (says_less(a, b, f"{where}[{i}]") for i, (a, b) in enumerate(zip(today, then)))), "")
    return "" if today == then and type(today) is type(then) else f"{where} was {then!r}, is {today!r}"


def test_there_are_traces_of_every_version() -> None:
    assert [path.name for path in sorted(COMPAT.glob("native/v*"))] == ["v1"]  # those of docs/formats/native-trace.md
    assert TRACES and all(path.with_suffix("").with_suffix(".jsonl").exists() for path in TRACES)


@pytest.mark.parametrize("path", TRACES, ids=[str(path.relative_to(COMPAT)) for path in TRACES])
def test_native_trace(path: Path, opwright) -> None:
    then = [json.loads(line) for line in path.with_suffix("").with_suffix(".jsonl").read_text(encoding="utf-8").splitlines()]
    result = opwright("dump", path.name, "--format", "jsonl", cwd=path.parent)
    assert (result.returncode, result.stderr) == (0, "")
    known = {kind for line in then for kind in line}
    today = [line for line in map(json.loads, result.stdout.splitlines()) if known & set(line)]  # new kinds may come
    assert len(today) == len(then)
    for number, (a, b) in enumerate(zip(today, then), 1):
        assert says_less(a, b, f"line {number}: ") == ""
    assert opwright("import", path, "--strict").returncode == 0
