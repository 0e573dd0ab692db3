"""Exports: files that the existing tools take, in their own text style, with the same configurations and hashes."""

import csv
import hashlib
import io
import json
from collections import Counter

import pytest
import traces
from traces import EXPECTED, answer, fixture, load_trace

ERA1 = [name for name, facts in EXPECTED.items() if facts.get("variant") in ("1a", "1b", "1c", "1d")]
ERA2 = [name for name, facts in EXPECTED.items() if facts.get("variant") == "2"]


def exported(opwright, to: str, store: str = "opwright.db") -> str:
    result = opwright("--store", store, "export", "--to", to)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def configurations(master: dict) -> list[tuple[str, object]]:
    return [(op, entry) for op, rest in master["operations"].items() for entry in rest["configurations"]]


def era1_signature(op: str, entry: object) -> tuple[str, str]:
    """What the era-1 tool tells configurations apart by: MD5 of Python's text of the arguments."""
    arguments = entry["arguments"] if isinstance(entry, dict) else entry
    return op, hashlib.md5(str(arguments).encode()).hexdigest()


@pytest.mark.parametrize("name", ERA2)
def test_era2_text_style(name: str, opwright) -> None:
    load_trace(opwright, fixture(name))
    text = exported(opwright, "master")
    assert text == json.dumps(json.loads(text), indent=2, sort_keys=True)


@pytest.mark.parametrize("name", ERA1)
def test_era1_text_style(name: str, opwright) -> None:
    load_trace(opwright, fixture(name))
    text = exported(opwright, "master1")
    assert text == json.dumps(json.loads(text), indent=2)


@pytest.mark.parametrize("name", [name for name in ERA2 if name != "master/era2_hybrid.json"])
def test_era2_has_the_same_configurations(name: str, opwright) -> None:
    """Operation, arguments and hash of every form; only a hash that the file lacks is filled in."""
    load_trace(opwright, fixture(name))
    before = json.loads(fixture(name).read_text(encoding="utf-8"))
    after = json.loads(exported(opwright, "master"))

    def key(op: str, entry: dict) -> tuple:
        return op, json.dumps(entry["arguments"], sort_keys=True)

    hashes = {key(op, entry): entry["config_hash"] for op, entry in configurations(after)}
    assert Counter(key(*pair) for pair in configurations(after)) == Counter(key(*pair) for pair in configurations(before))
    for op, entry in configurations(before):
        assert entry.get("config_hash") in (hashes[key(op, entry)], None)
    assert [entry["config_id"] for _, entry in configurations(after)] == list(range(1, len(hashes) + 1))


@pytest.mark.parametrize("name", [name for name in ERA2 if name != "master/era2_hybrid.json"])
def test_era2_has_the_same_executions(name: str, opwright) -> None:
    """Source, machine, count and the other facts of each execution; null stands for what an execution does not say."""

    def facts(master: dict) -> Counter:
        return Counter(
            (op, json.dumps({key: value for key, value in execution.items() if value is not None}, sort_keys=True))
            for op, entry in configurations(master)
            for execution in entry["executions"]
        )

    load_trace(opwright, fixture(name))
    before = json.loads(fixture(name).read_text(encoding="utf-8"))
    assert facts(json.loads(exported(opwright, "master"))) == facts(before)


@pytest.mark.parametrize("name", ERA1)
def test_era1_has_the_same_configurations(name: str, opwright) -> None:
    load_trace(opwright, fixture(name))
    before = json.loads(fixture(name).read_text(encoding="utf-8"))
    after = json.loads(exported(opwright, "master1"))
    assert sorted(era1_signature(*pair) for pair in configurations(after)) == sorted(
        era1_signature(*pair) for pair in configurations(before)
    )
    assert after["metadata"]["total_configurations"] == EXPECTED[name]["forms"]
    assert after["metadata"]["unique_operations"] == EXPECTED[name]["ops"]


@pytest.mark.parametrize("name", [*ERA1, *ERA2])
def test_round_trip(name: str, opwright, tmp_path) -> None:
    """Our own diff between the file and its export is clean, and importing the export adds nothing."""
    to = "master1" if name in ERA1 else "master"
    load_trace(opwright, fixture(name))
    result = opwright("export", "--to", to, "-o", "out.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "out.json").read_text(encoding="utf-8") == exported(opwright, to)
    assert answer(opwright("diff", fixture(name), "out.json", "--format", "json"))["equal"] is True
    assert load_trace(opwright, "out.json")["added"] == 0


def test_per_op_folder_becomes_the_master_of_the_existing_tool(opwright) -> None:
    load_trace(opwright, fixture("per_op/v3"))
    ours = json.loads(exported(opwright, "master"))
    theirs = json.loads(fixture("per_op/expected_master_v3.json").read_text(encoding="utf-8"))
    assert ours["metadata"]["operations_summary"] == theirs["metadata"]["operations_summary"]
    by_hash = {entry["config_hash"]: (op, entry) for op, entry in configurations(ours)}
    assert len(by_hash) == len(configurations(ours)) == len(configurations(theirs))
    for op, wanted in configurations(theirs):
        got_op, got = by_hash[wanted["config_hash"]]
        assert (got_op, got["arguments"]) == (op, wanted["arguments"])
        assert got["executions"] == wanted["executions"]


def test_only_what_was_asked_for(opwright) -> None:
    load_trace(opwright, fixture("master/era2_g4.json"))
    master = json.loads(opwright("export", "--to", "master", "--where", "op=relu").stdout)
    assert list(master["operations"]) == ["ttnn.relu"]
    assert master["metadata"]["total_configurations"] == 2


@pytest.mark.parametrize(("to", "lost"), [("master", "C++"), ("master1", "Python")])
def test_what_a_format_cannot_hold_is_counted(to: str, lost: str, opwright) -> None:
    """An era-1 master holds C++ arguments, an era-2 master Python ones."""
    load_trace(opwright, fixture("master/era1_1b.json"), fixture("demo/tiny_llm.json"))
    result = opwright("export", "--to", to)
    assert result.returncode == 0
    kept, dropped = ("demo/tiny_llm.json", "master/era1_1b.json") if to == "master" else ("master/era1_1b.json", "demo/tiny_llm.json")
    assert len(configurations(json.loads(result.stdout))) == EXPECTED[kept]["forms"]
    assert f"{EXPECTED[dropped]['distinct']} configurations not written" in result.stderr
    assert lost in result.stderr


@pytest.mark.parametrize("to", ["jsonl", "csv"])
def test_for_data_tools(to: str, opwright) -> None:
    load_trace(opwright, fixture("master/era1_1c.json"), fixture("master/era2_g4.json"), fixture("jsonl/ops.jsonl"))
    rows = traces.shown(opwright)
    text = exported(opwright, to)
    if to == "jsonl":
        got = [json.loads(line) for line in text.splitlines()]
        assert [row["arguments"] for row in got] == [row["arguments"] for row in rows]
    else:
        got = list(csv.DictReader(io.StringIO(text, newline="")))
    assert [(row["operation"], row["key"], int(row["calls"])) for row in got] == [
        (row["operation"], row["key"], row["calls"]) for row in rows
    ]


def test_export_replaces_a_file_as_a_whole(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    (tmp_path / "out.json").write_text("x" * 1_000_000)
    assert opwright("export", "-o", "out.json").returncode == 0
    assert json.loads((tmp_path / "out.json").read_text())
    assert sorted(path.name for path in tmp_path.iterdir() if "out" in path.name) == ["out.json"]
