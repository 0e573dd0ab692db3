"""Calls that raised: counted as calls, marked, found by `raised` and `error`, left out of masters; stores of schema 1."""

import csv
import io
import itertools
import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import traces
from traces import answer, fixture, load_trace, op_jsonl

# What tests/fixtures/stores/v1.db was made of, when calls that raised were left out.
V1_TRACES = ["demo", "per_op/v3", "per_op/expected_master_v3.json", "jsonl/ops.jsonl", "graph/nodes.json", "master/era1_1c.json"]

SOMETIMES = [(64, None), (64, "no room"), (64, None)]  # three calls of one configuration, one raised
ALWAYS = [(96, "wrong width\n96 != 64"), (96, "no room")]
NEVER = [(32, None), (32, None)]


@pytest.fixture
def store(opwright, tmp_path) -> Path:
    load_trace(opwright, op_jsonl(tmp_path / "ops.jsonl", SOMETIMES + ALWAYS + NEVER))
    return tmp_path / "opwright.db"


def by_width(rows: list[dict]) -> dict[int, dict]:
    return {row["arguments"]["input_tensor_a"]["tensor"]["shape"][-1]: row for row in rows}


def widths(opwright, where: str) -> set[int]:
    return set(by_width(traces.shown(opwright, "--where", where)))


def numbers(opwright, store: object) -> dict[int, tuple]:
    """Width -> calls, how many raised, the example."""
    rows = by_width(traces.shown(opwright, store=store))
    return {width: (row["calls"], row["raised"], row["error"]) for width, row in rows.items()}


# -- what is kept


def test_calls_that_raised_are_calls(opwright, tmp_path) -> None:
    summary = load_trace(opwright, op_jsonl(tmp_path / "ops.jsonl", SOMETIMES + ALWAYS + NEVER))
    assert (summary["calls"], summary["raised"], summary["configurations"]) == (7, 3, 3)
    assert (summary["left_out"], summary["losses"]) == ({}, {})
    assert numbers(opwright, "opwright.db") == {
        64: (3, 1, "RuntimeError: no room"),
        96: (2, 2, "RuntimeError: wrong width\n96 != 64"),  # the larger of two texts, whoever came first
        32: (2, 0, ""),
    }


def test_long_error_is_cut_and_counted(opwright, tmp_path) -> None:
    text = "é" * 5000
    summary = load_trace(opwright, op_jsonl(tmp_path / "ops.jsonl", [(64, text), (64, text), (32, "\n\tshort \x1b[1m")]))
    assert summary["left_out"] == {"ends of long error texts": 2}
    kept = by_width(traces.shown(opwright))[64]["error"]
    assert kept.startswith("RuntimeError: ééé") and kept.endswith("é… (10014 bytes)")
    assert 2040 <= len(kept.encode()) <= 2048
    lines = [line for line in opwright("show").stdout.splitlines() if "raised: " in line]
    assert lines[0].endswith("éé…") and len(lines[0]) == 100  # the width of a terminal
    assert lines[1] == "    raised: RuntimeError: short [1m"  # in one line, and nothing that a terminal obeys
    merged = load_trace(opwright, "opwright.db", store="merged.db")
    assert merged["left_out"] == {}
    assert traces.shown(opwright, store="merged.db") == traces.shown(opwright)


# -- union


def test_importing_again_changes_nothing(opwright, store, tmp_path) -> None:
    before = traces.table_dump(store)
    assert load_trace(opwright, tmp_path / "ops.jsonl")["added"] == 0
    shutil.copy(store, tmp_path / "copy.db")
    assert load_trace(opwright, "copy.db")["raised"] == 3
    assert traces.table_dump(store) == before


def test_union_of_files_that_tell_of_one_run(opwright, tmp_path) -> None:
    """A longer and a shorter file of one run, one with another text, and another run: in every order, at once, merged."""
    files = [
        op_jsonl(tmp_path / "short.jsonl", SOMETIMES),
        op_jsonl(tmp_path / "long.jsonl", SOMETIMES + SOMETIMES + ALWAYS),
        op_jsonl(tmp_path / "other_text.jsonl", [(64, "a"), (64, "z"), (32, None)]),
        op_jsonl(tmp_path / "other_run.jsonl", SOMETIMES, run="run-2"),
        op_jsonl(tmp_path / "no_run.jsonl", SOMETIMES + NEVER, run=None),
    ]
    load_trace(opwright, *files, store="wanted.db")
    wanted = traces.logical_dump(tmp_path / "wanted.db")
    assert numbers(opwright, "wanted.db") == {
        64: (6 + 3 + 3, 2 + 1 + 1, "RuntimeError: z"),
        96: (2, 2, "RuntimeError: wrong width\n96 != 64"),
        32: (1 + 2, 0, ""),
    }
    for number, order in enumerate(itertools.permutations(files, 5)):
        if number % 7:  # some of the 120
            continue
        for file in order:
            load_trace(opwright, file, store=f"{number}.db")
        assert traces.logical_dump(tmp_path / f"{number}.db") == wanted, order
    stores = []
    for file in files:
        load_trace(opwright, file, store=f"{file.stem}.db")
        stores.append(tmp_path / f"{file.stem}.db")
    load_trace(opwright, *reversed(stores), store="merged.db")
    for one in stores:
        load_trace(opwright, one, store="one_by_one.db")
    load_trace(opwright, "one_by_one.db", *stores, store="again.db")
    for name in ("merged.db", "one_by_one.db", "again.db"):
        assert traces.logical_dump(tmp_path / name) == wanted, name


# -- what is shown


def test_verbs_say_what_raised(opwright, store) -> None:
    assert [row["raised"] for row in answer(opwright("ops", "--format", "json"))] == [3]
    stats = answer(opwright("stats", "--format", "json"))
    assert (stats["raised"], stats["raised_configurations"], stats["only_raised"]) == (3, 2, 1)
    assert "raised: 3 calls of 2 configurations; 1 raised every time\n" in opwright("stats").stdout
    shown = opwright("show", "--sources").stdout
    assert shown.count(" raised  x\n") == 2  # the tails of the first lines
    assert "    raised: RuntimeError: wrong width 96 != 64\n" in shown
    assert "trace run_id:run-1, 2 raised\n" in shown
    assert "(3 raised)" in opwright("import", "ops.jsonl").stdout


def test_nothing_is_said_where_nothing_raised(opwright) -> None:
    load_trace(opwright, fixture("demo"))
    for verb in ("ops", "stats", "show", "import"):
        assert "raised" not in opwright(verb, *([fixture("demo")] if verb == "import" else [])).stdout


SELECTORS = {
    "raised=0": {32},
    "raised>0": {64, 96},
    "raised!=0": {64, 96},
    "raised in (2, 3)": {96},
    "error~'no room'": {64},
    "error~WRONG": {96},
    "error='runtimeerror: no room'": {64},
    "not error~room": {32, 96},
    "op=add and raised=1 and calls=3": {64},
    "raised=0 or error~wrong": {32, 96},
}


@pytest.mark.parametrize("where", SELECTORS)
def test_selectors(where: str, opwright, store, tmp_path) -> None:
    wanted = SELECTORS[where]
    assert widths(opwright, where) == wanted
    assert answer(opwright("ops", "--where", where, "--format", "json"))[0]["configurations"] == len(wanted)
    assert answer(opwright("stats", "--where", where, "--format", "json"))["configurations"] == len(wanted)
    lines = opwright("export", "--to", "jsonl", "--where", where).stdout.splitlines()
    assert set(by_width(map(json.loads, lines))) == wanted
    for a, b in itertools.product([store, tmp_path / "ops.jsonl"], repeat=2):
        assert answer(opwright("diff", a, b, "--where", where, "--format", "json"))["same"] == len(wanted)


# -- exports


def exported_widths(master: dict) -> set[int]:
    entries = [entry for op in master["operations"].values() for entry in op["configurations"]]
    return {entry["arguments"]["input_tensor_a"]["original_shape"][-1] for entry in entries}


def test_master_leaves_out_what_always_raised(opwright, store) -> None:
    report = answer(opwright("export", "-o", "m.json", "--format", "json"))
    assert (report["configurations"], report["left_out"]) == (2, {"configurations all of whose calls raised": 1})
    result = opwright("export")
    assert exported_widths(json.loads(result.stdout)) == {32, 64}
    said = [line for line in result.stderr.splitlines() if " is not known: " not in line]  # of the board: test_provenance
    assert said == ["opwright: 1 configuration not written: every call raised (--include-raised writes it)"]
    counts = [e["executions"][0]["count"] for e in json.loads(result.stdout)["operations"]["ttnn.add"]["configurations"]]
    assert sorted(counts) == [2, 3]  # a call that raised is a call


def test_master_takes_them_when_asked(opwright, store) -> None:
    result = opwright("export", "--include-raised")
    assert (exported_widths(json.loads(result.stdout)), "not written" in result.stderr) == ({32, 64, 96}, False)
    report = answer(opwright("export", "-o", "m.json", "--include-raised", "--format", "json"))
    assert (report["configurations"], report["left_out"]) == (3, {})
    before = traces.shown(opwright)
    load_trace(opwright, "m.json")  # the file does not tell what raised, and nothing is forgotten
    for width, row in by_width(traces.shown(opwright)).items():
        assert (row["raised"], row["error"]) == (by_width(before)[width]["raised"], by_width(before)[width]["error"])


def test_master1_leaves_them_out_too(opwright, tmp_path) -> None:
    # No reader of C++ calls tells what raised yet: it is changed by hand, in a store of a schema without checksums.
    shutil.copy(fixture("stores/v4.db"), tmp_path / "opwright.db")
    whole = opwright("export", "--to", "master1").stdout
    db = sqlite3.connect(tmp_path / "opwright.db")
    (configuration,) = db.execute(
        "SELECT f.configuration_id FROM form f JOIN occurrence o ON o.form_id = f.id WHERE f.kind = 1"
        " GROUP BY 1 HAVING count(*) = 1 LIMIT 1"
    ).fetchone()
    db.execute("UPDATE occurrence SET raised = 1, count = 1 WHERE form_id IN (SELECT id FROM form WHERE configuration_id = ?)", (configuration,))
    db.commit()
    db.close()
    result = opwright("export", "--to", "master1")
    assert "2 configurations not written: every call raised" in result.stderr  # one was there before
    total = json.loads(whole)["metadata"]["total_configurations"]
    assert json.loads(result.stdout)["metadata"]["total_configurations"] == total - 1
    assert opwright("export", "--to", "master1", "--include-raised").stdout == whole


def test_other_exports_have_all_and_say_what_raised(opwright, store) -> None:
    rows = [json.loads(line) for line in opwright("export", "--to", "jsonl").stdout.splitlines()]
    assert {row["raised"]: row["error"] for row in rows} == {
        0: "",
        1: "RuntimeError: no room",
        2: "RuntimeError: wrong width\n96 != 64",
    }
    table = list(csv.DictReader(io.StringIO(opwright("export", "--to", "csv").stdout)))
    assert [(row["raised"], row["error"]) for row in table] == [(str(row["raised"]), row["error"]) for row in rows]


# -- stores of schema 1


@pytest.fixture
def old_store(tmp_path) -> Path:
    return Path(shutil.copy(fixture("stores/v1.db"), tmp_path / "old.db"))


def version(store: Path) -> int:
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        return db.execute("PRAGMA user_version").fetchone()[0]
    finally:
        db.close()


def test_old_store_is_read_as_it_lies(opwright, old_store) -> None:
    bytes_before = old_store.read_bytes()
    rows = traces.shown(opwright, store=old_store)
    assert len(rows) == 44 and all((row["raised"], row["error"]) == (0, "") for row in rows)
    assert answer(opwright("--store", old_store, "stats", "--format", "json"))["schema"] == 1
    assert traces.shown(opwright, "--where", "raised>0", store=old_store) == []
    assert len(traces.shown(opwright, "--where", "raised=0 and op=add", store=old_store)) == 8
    assert opwright("--store", old_store, "doctor").returncode == 0
    assert load_trace(opwright, fixture("demo"), store=old_store, options=("--dry-run",))["known"] == 6
    assert old_store.read_bytes() == bytes_before


def test_old_store_is_migrated_and_its_rows_unchanged(opwright, old_store) -> None:
    before, answers = traces.table_dump(old_store), traces.shown(opwright, store=old_store)
    assert load_trace(opwright, fixture("demo"), store=old_store)["added"] == 0  # known: only the schema is new
    assert version(old_store) == 9
    after = traces.table_dump(old_store)
    assert after.pop("run") == after.pop("result") == []
    assert len(after.pop("sequence")) <= len(after.pop("piece"))
    assert after.pop("fact") == after.pop("word") == []  # configurations that were there have none
    assert len(after.pop("card")) == len(after.pop("record")) == 1  # of 44
    assert after.pop("tally") and len(after.pop("setting")) == len(before.pop("setting")) + 2
    assert set(after) == set(before)
    after = {table: sorted(row.rpartition(", ")[0] + ")" for row in rows) for table, rows in after.items()}  # without the checksum
    for table, added in {"form": ", None)", "occurrence": ", 0)"}.items():
        before[table] = sorted(row[:-1] + added for row in before[table])
    assert after == before
    assert traces.shown(opwright, store=old_store) == answers
    assert opwright("--store", old_store, "doctor").returncode == 0


def test_old_store_and_its_traces_again_is_a_new_store(opwright, old_store, tmp_path) -> None:
    load_trace(opwright, old_store, store="merged.db")  # merging an old one does not change it
    assert version(old_store) == 1
    for name in V1_TRACES:
        load_trace(opwright, fixture(name), store="new.db")
        load_trace(opwright, fixture(name), store=old_store)
        load_trace(opwright, fixture(name), store="merged.db")
    wanted = traces.logical_dump(tmp_path / "new.db")
    assert traces.logical_dump(old_store) == wanted
    assert traces.logical_dump(tmp_path / "merged.db") == wanted
    assert len(traces.shown(opwright, "--where", "raised=1", store=old_store)) == 1


def test_newer_store_is_refused_and_not_touched(opwright, store) -> None:
    db = sqlite3.connect(store)
    db.execute("PRAGMA user_version = 10")
    db.close()
    before = traces.table_dump(store)
    for command in (("ops",), ("import", fixture("demo")), ("import", "--dry-run", fixture("demo"))):
        result = opwright(*command)
        assert result.returncode == 3 and "store schema 10, this build knows up to 9; use a newer opwright" in result.stderr
    result = opwright("--store", "other.db", "import", store)
    assert result.returncode == 3 and "use a newer opwright" in result.stderr
    assert (traces.table_dump(store), version(store)) == (before, 10)
