"""A damaged store gives an error, never another answer; `doctor` finds the damage and saves the rest. Names of stores."""

import json
import os
import shutil
import sqlite3
import stat
from pathlib import Path

import pytest
import support
from traces import check_no_crash, fixture, load_trace

NEW_TRACE = "master/era2_g4.json"
QUESTIONS = {
    "ops": ("ops", "--format", "json"),
    "stats": ("stats", "--format", "json"),
    "show": ("show", "--format", "json"),
    "show some": ("show", "add", "--where", "dtype=BFLOAT16 and rank=4", "--format", "json"),
    "export": ("export", "--to", "master"),
    "runs": ("results", "--runs", "--format", "json"),
    "results": ("results", "--list", "--format", "json"),
    "plan": ("run", "--dry-run", "--format", "json"),
    "import": ("import", "--dry-run", "--format", "json", "TRACE"),
    "diff": ("diff", "STORE", "SOUND", "--format", "json"),
    "numbers": ("show", "--where", "dim[-1]>=16 or arg.arg1~bfloat", "--format", "json"),
}


@pytest.fixture(scope="module")
def sound(tmp_path_factory, opwright_program) -> Path:
    """A store with configurations of several traces and the results of a run; made by an older program, brought up to date."""
    from conftest import Opwright

    folder = tmp_path_factory.mktemp("sound")
    store = folder / "sound.db"
    shutil.copy(fixture("stores/v4.db"), store)
    load_trace(Opwright(opwright_program, folder), fixture(NEW_TRACE), store=store)
    db = sqlite3.connect(store)
    assert db.execute("PRAGMA user_version").fetchone()[0] >= 5
    db.close()
    return store


def asked(opwright, store: Path, sound: Path, question: str):
    words = {"TRACE": fixture("per_op/v3"), "STORE": store, "SOUND": sound}
    result = opwright("--store", store, *(words.get(word, word) for word in QUESTIONS[question]))
    check_no_crash(result)
    return result.returncode, support.mask(result.stdout, {"STORE": store}), result.stderr


@pytest.fixture(scope="module")
def answers(opwright_program, tmp_path_factory, sound) -> dict:
    from conftest import Opwright

    opwright = Opwright(opwright_program, tmp_path_factory.mktemp("answers"))
    found = {question: asked(opwright, sound, sound, question) for question in QUESTIONS}
    assert all(code == 0 for code, _, _ in found.values()), found
    return found


def edit(store: Path, sql: str) -> None:
    db = sqlite3.connect(store)
    db.executescript("PRAGMA foreign_keys = OFF; " + sql)
    db.close()


def change_bytes(store: Path, at: int, content: bytes) -> None:
    data = bytearray(store.read_bytes())
    data[at : at + len(content)] = content
    store.write_bytes(data)


def page_of(store: Path, table: str) -> tuple[int, int]:
    """Where the first page of a table that holds rows begins, and how large a page is."""
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    (root,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = db.execute("PRAGMA page_size").fetchone()
    db.close()
    data, at = store.read_bytes(), (root - 1) * size
    while data[at] in (2, 5):  # a page that only leads to others: to the first of them
        cell = at + int.from_bytes(data[at + 12 : at + 14], "big")
        at = (int.from_bytes(data[cell : cell + 4], "big") - 1) * size
    return at, size


# What SQLite itself finds nothing wrong with, or finds only when it looks for it.
EDITS = {
    "count of calls": "UPDATE occurrence SET count = count + 1 WHERE form_id = 5",
    "calls that raised": "UPDATE occurrence SET raised = 1 WHERE form_id = (SELECT min(form_id) FROM occurrence)",
    "operation": "UPDATE configuration SET operation_id = operation_id % 3 + 1 WHERE id = 4",
    "name of an operation": "UPDATE operation SET name = 'ttnn.sub' WHERE name = 'ttnn.add'",
    "model": "UPDATE source SET model = 'llama' WHERE id = 1",
    "machine": "UPDATE machine SET label = 'Wormhole n300 x1' WHERE id = 1",
    "facts of a trace": "UPDATE trace SET facts = '{}'",
    "form gone": "DELETE FROM occurrence WHERE form_id = 9; DELETE FROM form WHERE id = 9",
    "configuration gone": "DELETE FROM configuration WHERE id = (SELECT max(id) FROM configuration)",
    "occurrence gone": "DELETE FROM occurrence WHERE form_id = 3",
    "texts swapped": "UPDATE form SET slot = 1 - slot WHERE slot < 2 AND pack_id = 1",
    "index entry gone": "DELETE FROM posting WHERE first < 5",
    "number of the index": "UPDATE fact SET value = value + 1 WHERE kind > 2",
    "numbers of the index gone": "DELETE FROM fact",
    "word of the index": "UPDATE word SET text = text || 'x'",
    "card": "UPDATE card SET data = substr(data, 1, 40) || x'00' || substr(data, 42)",
    "card gone": "DELETE FROM card",
    "record": "UPDATE record SET data = substr(data, 1, 40) || x'00' || substr(data, 42)",
    "record gone": "DELETE FROM record WHERE id = 0",
    "outcome": "UPDATE result SET outcome = 'failed'",
    "pcc": "UPDATE result SET pcc = 0.5",
    "result gone": "DELETE FROM result",
    "run gone": "DELETE FROM result; DELETE FROM run",
    "host of a run": "UPDATE run SET host = 'elsewhere'",
    "checksum": "UPDATE form SET sum = sum + 1 WHERE id = 2",
    "counts of rows": "DELETE FROM tally WHERE part = 3",
    "schema number": "PRAGMA user_version = 4",
}


def expect_sound_or_error(opwright, store: Path, sound: Path, answers: dict, questions) -> int:
    failed = 0
    before = store.read_bytes()
    for question in questions:
        code, out, err = asked(opwright, store, sound, question)
        if code == 0:
            assert (code, out) == answers[question][:2], f"another answer to {question}"
            continue
        failed += 1
        assert code == 3, (question, code, out, err)
        assert store.name in err and ("doctor" in err or "not an opwright store" in err), err
    assert store.read_bytes() == before, "the damaged file was changed"
    return failed


@pytest.mark.parametrize("what", EDITS)
def test_a_changed_row_is_an_error_or_not_asked_for(what: str, opwright, tmp_path, sound, answers) -> None:
    store = Path(shutil.copy(sound, tmp_path / "damaged.db"))
    edit(store, EDITS[what])
    results = what in ("outcome", "pcc", "result gone", "run gone", "host of a run")
    questions = ("runs", "results", "ops") if results else ("ops", "stats", "show some", "export", "import", "numbers", "diff" if what.endswith("gone") else "plan")
    failed = expect_sound_or_error(opwright, store, sound, answers, questions)
    assert failed > 0, "no question noticed it"
    assert opwright("--store", store, "doctor").returncode == 3
    deep = opwright("--store", store, "doctor", "--deep")
    assert deep.returncode == 3 and "bad" in deep.stdout and "--repair" in deep.stdout, deep.stdout


@pytest.mark.parametrize("table", ["configuration", "form", "occurrence", "pack", "posting", "fact", "card", "record", "result", "source", "tally", "sqlite_autoindex_form_1"])
def test_damaged_pages(table: str, opwright, tmp_path, sound, answers) -> None:
    at, size = page_of(sound, table)
    store = tmp_path / "damaged.db"
    failed = 0
    for offset, content in ((14, b"\x01\x02"), (size - 30, b"\xff" * 16), (size - size // 4, b"\x01\x02")):
        shutil.copy(sound, store)
        change_bytes(store, at + offset, content)
        if store.read_bytes() == sound.read_bytes():
            continue
        questions = ("runs", "results") if table == "result" else ("ops", "show some", "export", "import")
        noticed = expect_sound_or_error(opwright, store, sound, answers, questions)
        checked = opwright("--store", store, "doctor", "--deep").returncode
        assert checked == 3 or not noticed
        failed += checked == 3  # what was asked may need nothing of that page; --deep looks at all of it
    assert failed > 0


def test_doctor_says_what_it_checked(opwright, tmp_path, sound) -> None:
    shallow = opwright("--store", sound, "doctor", "--format", "json")
    assert shallow.returncode == 0
    (row,) = [row for row in json.loads(shallow.stdout) if row["what"] == "store"]
    assert "checksums checked" in row["detail"] and "not checked" in row["detail"] and "intact" not in row["detail"]
    deep = opwright("--store", sound, "doctor", "--deep", "--format", "json")
    assert deep.returncode == 0
    (row,) = [row for row in json.loads(deep.stdout) if row["what"] == "store"]
    assert "all of it checked" in row["detail"] and "made again" in row["detail"]
    old = opwright("--store", shutil.copy(fixture("stores/v3.db"), tmp_path / "old.db"), "doctor", "--deep")
    assert old.returncode == 0 and "without checksums" in old.stdout


# -- repair


def shown(opwright, store: Path) -> set:
    result = opwright("--store", store, "show", "--format", "json")
    assert result.returncode == 0, result.stderr
    return {row["key"] for row in json.loads(result.stdout)}


def test_repair_of_a_sound_store_is_a_copy(opwright, tmp_path, sound) -> None:
    result = opwright("--store", sound, "doctor", "--repair", "-o", "new.db")
    assert result.returncode == 0, result.stdout + result.stderr
    for question in (("ops",), ("show", "--format", "json"), ("results", "--list", "--format", "json"), ("export", "--to", "master")):
        assert opwright("--store", "new.db", *question).stdout == opwright("--store", sound, *question).stdout, question
    assert opwright("--store", "new.db", "doctor", "--deep").returncode == 0


@pytest.mark.parametrize("damage", ["row", "pack", "page", "result"])
def test_repair_saves_what_is_sound(damage: str, opwright, tmp_path, sound) -> None:
    store = Path(shutil.copy(sound, tmp_path / "damaged.db"))
    everything = shown(opwright, sound)
    if damage == "row":
        edit(store, "UPDATE form SET op = 'ttnn::nothing' WHERE id = 7")
    elif damage == "pack":
        edit(store, "UPDATE pack SET data = substr(data, 1, 50) WHERE id = 1")
    elif damage == "result":
        edit(store, "UPDATE result SET outcome = 'failed'")
    else:
        at, size = page_of(store, "occurrence")
        change_bytes(store, at, b"\0" * size)
    before = store.read_bytes()
    result = opwright("--store", store, "doctor", "--repair", "-o", "new.db")
    check_no_crash(result)
    assert result.returncode == 1, result.stdout + result.stderr
    assert "damage" in result.stdout and {"row": "id 7", "pack": "pack", "page": "occurrence", "result": "result"}[damage] in result.stdout
    assert store.read_bytes() == before
    saved = shown(opwright, tmp_path / "new.db")
    assert saved <= everything
    assert len(everything) - len(saved) == {"row": 1, "page": 0, "result": 0}.get(damage, len(everything) - len(saved))
    assert len(saved) > 0
    assert opwright("--store", "new.db", "doctor", "--deep").returncode == 0
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == 0o600


def test_repair_overwrites_nothing(opwright, tmp_path, sound) -> None:
    (tmp_path / "there.db").write_text("mine")
    for words in (("-o", "there.db"), ("-o", sound), ()):
        result = opwright("--store", sound, "doctor", "--repair", *words)
        assert result.returncode == 2, result.stdout
    assert (tmp_path / "there.db").read_text() == "mine"
    assert opwright("--store", "none.db", "doctor", "--repair", "-o", "new.db").returncode == 3
    assert not (tmp_path / "new.db").exists()


# -- names of stores


@pytest.mark.parametrize("name", [":memory:", "file:x.db", "file::memory:?cache=shared", "file:x?mode=memory"])
@pytest.mark.parametrize("verb", [("import", "TRACE"), ("ops",), ("results", "--runs"), ("run", "--dry-run"), ("doctor",)], ids=" ".join)
def test_names_that_sqlite_takes_for_something_else(verb: tuple, name: str, opwright, tmp_path) -> None:
    before = sorted(tmp_path.iterdir())
    result = opwright("--store", name, *(fixture("demo/tiny_llm.json") if word == "TRACE" else word for word in verb))
    check_no_crash(result)
    assert result.returncode in (2, 3)
    assert "name a file" in result.stdout + result.stderr
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a device"])
@pytest.mark.parametrize("verb", [("import", "TRACE"), ("ops",), ("results", "--runs"), ("doctor",)], ids=" ".join)
def test_names_of_what_is_no_file(verb: tuple, kind: str, opwright, tmp_path) -> None:
    name = tmp_path / "odd"
    if kind == "folder":
        name.mkdir()
    elif kind == "pipe":
        os.mkfifo(name)
    elif kind == "device":
        name = Path("/dev/null")
    else:
        name.symlink_to("/dev/null")
    result = opwright("--store", name, *(fixture("demo/tiny_llm.json") if word == "TRACE" else word for word in verb))
    check_no_crash(result)
    assert result.returncode == 3
    assert kind.split()[-1] in result.stdout + result.stderr


# -- who may read a store


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_store_is_its_owners(opwright, tmp_path) -> None:
    store = tmp_path / "opwright.db"
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    assert mode(store) == 0o600
    db = sqlite3.connect(store)  # while somebody has it open, its side files lie there
    db.execute("BEGIN")
    db.execute("SELECT count(*) FROM form").fetchone()
    load_trace(opwright, fixture(NEW_TRACE))
    assert mode(tmp_path / "opwright.db-wal") == 0o600 and mode(tmp_path / "opwright.db-shm") == 0o600
    db.close()
    results = tmp_path / "results.db"
    exported = tmp_path / "results.jsonl"
    old = shutil.copy(fixture("stores/v4.db"), tmp_path / "old.db")
    assert opwright("--store", old, "results", "--export", f"jsonl:{exported}").returncode == 0
    assert opwright("--store", results, "results", "--import", exported).returncode == 0
    assert mode(results) == 0o600


def test_a_shared_store_stays_shared(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    (tmp_path / "opwright.db").chmod(0o664)
    load_trace(opwright, fixture(NEW_TRACE))
    assert mode(tmp_path / "opwright.db") == 0o664


def test_durable_imports_the_same(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"), options=("--durable",))
    assert opwright("doctor", "--deep").returncode == 0
