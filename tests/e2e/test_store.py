"""The store: importing again changes nothing, order does not matter, two may write at once, a kill leaves it whole."""

import itertools
import json
import shutil
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest
import support
import traces
from traces import EXPECTED, check_no_crash, fixture, load_trace

TRACES = [name for name, facts in EXPECTED.items() if facts.get("format", "bad") != "bad"]
PAIRS = [
    ("master/era1_1b.json", "master/era2_g4.json"),
    ("master/era2_g4.json", "master/era2_g5.json"),
    ("master/era1_1c.json", "master/era1_1d.json"),
    ("per_op/v3", "per_op/expected_master_v3.json"),
    ("per_op/v2", "jsonl/ops.jsonl"),
    ("per_op/per_test", "demo/tiny_cnn"),
    ("graph/nodes.json", "graph/serialized.json"),
]


@pytest.mark.parametrize("name", TRACES)
def test_importing_again_changes_nothing(name: str, opwright, tmp_path) -> None:
    first = load_trace(opwright, fixture(name))
    before = traces.table_dump(tmp_path / "opwright.db")
    again = load_trace(opwright, fixture(name))
    assert (again["added"], again["known"]) == (0, first["added"])
    assert traces.table_dump(tmp_path / "opwright.db") == before


@pytest.mark.parametrize("pair", PAIRS, ids=" + ".join)
def test_order_does_not_matter(pair: tuple[str, str], opwright, tmp_path) -> None:
    a, b = map(fixture, pair)
    for store, order in {"ab.db": [a, b], "ba.db": [b, a]}.items():
        for path in order:
            load_trace(opwright, path, store=store)
    load_trace(opwright, a, b, store="together.db")
    load_trace(opwright, a, store="a.db")
    load_trace(opwright, b, store="b.db")
    shutil.copy(tmp_path / "a.db", tmp_path / "merged.db")
    load_trace(opwright, tmp_path / "b.db", store="merged.db")
    load_trace(opwright, tmp_path / "b.db", tmp_path / "a.db", store="from_stores.db")
    wanted = traces.logical_dump(tmp_path / "ab.db")
    for store in ("ba.db", "together.db", "merged.db", "from_stores.db"):
        got = traces.logical_dump(tmp_path / store)
        for table in wanted:
            assert got[table] == wanted[table], f"{table} of {store}"


def test_everything_in_three_orders(opwright, tmp_path) -> None:
    """Every fixture at once, in one process each; and what `show` says of them is the same."""
    paths = [fixture(name) for name in TRACES]
    for store, order in {"a.db": paths, "b.db": paths[::-1], "c.db": paths[7:] + paths[:7]}.items():
        load_trace(opwright, *order, store=store)
    wanted = traces.logical_dump(tmp_path / "a.db")
    for store in ("b.db", "c.db"):
        assert traces.logical_dump(tmp_path / store) == wanted
        for where in ("", "dtype=BFLOAT8_B", "op=add and rank=4", "sharded or model~cnn"):
            assert traces.shown(opwright, "--where", where, store=store) == traces.shown(opwright, "--where", where, store="a.db")


def test_store_into_itself_changes_nothing(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("master/era2_g4.json"), fixture("master/era1_1c.json"))
    before = traces.table_dump(tmp_path / "opwright.db")
    shutil.copy(tmp_path / "opwright.db", tmp_path / "copy.db")
    assert load_trace(opwright, "copy.db")["added"] == 0
    assert traces.table_dump(tmp_path / "opwright.db") == before


def test_dry_run_writes_nothing(opwright, tmp_path) -> None:
    summary = load_trace(opwright, fixture("demo/tiny_llm.json"), options=("--dry-run",))
    assert (summary["added"], summary["written"]) == (EXPECTED["demo/tiny_llm.json"]["distinct"], False)
    assert not (tmp_path / "opwright.db").exists()
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    before = traces.table_dump(tmp_path / "opwright.db")
    load_trace(opwright, fixture("master/era2_g4.json"), options=("--dry-run",))
    assert traces.table_dump(tmp_path / "opwright.db") == before


def test_store_is_a_sound_database(opwright, tmp_path) -> None:
    load_trace(opwright, *map(fixture, TRACES))
    db = sqlite3.connect(tmp_path / "opwright.db")
    assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert db.execute("PRAGMA user_version").fetchone()[0] >= 1
    db.close()
    assert opwright("doctor").returncode == 0


def test_environment_names_the_store(opwright, tmp_path) -> None:
    result = opwright("import", fixture("demo/tiny_llm.json"), env={"OPWRIGHT_STORE": tmp_path / "other.db"})
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "other.db").exists() and not (tmp_path / "opwright.db").exists()


# -- several processes


def write_big_master(path: Path, op: str, count: int, first: int = 1) -> Path:
    several = [{"arg0": traces.tensor([1, 1, 32, 32 * n]), "arg1": n * 7919, "arg2": f"{n}" * 8} for n in range(first, first + count)]
    path.write_text(json.dumps(traces.era2_master({op: several})))
    return path


def start(opwright, *arguments: object) -> subprocess.Popen:
    return subprocess.Popen(
        [str(opwright.program), *map(str, arguments)],
        cwd=opwright.folder,
        env=support.command_env(opwright.folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen) -> None:
    output, errors = process.communicate(timeout=support.COMMAND_TIMEOUT_S)
    check_no_crash(subprocess.CompletedProcess(process.args, process.returncode, output, errors))
    assert process.returncode == 0, errors


def test_several_processes_import_at_the_same_time(opwright, tmp_path) -> None:
    """Four of them, with overlapping content, into a store that does not exist yet."""
    files = [
        write_big_master(tmp_path / "a.json", "ttnn.relu", 600),
        write_big_master(tmp_path / "b.json", "ttnn.relu", 600, first=300),
        fixture("master/era1_1c.json"),
        fixture("per_op/v2"),
    ]
    for process in [start(opwright, "--store", "shared.db", "import", "--wait", "120", file) for file in files]:
        finish(process)
    for file in files:
        load_trace(opwright, file, store="one_by_one.db")
    assert traces.logical_dump(tmp_path / "shared.db") == traces.logical_dump(tmp_path / "one_by_one.db")


def test_readers_while_another_writes(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    process = start(opwright, "import", write_big_master(tmp_path / "a.json", "ttnn.relu", 2000))
    seen = set()
    for _ in itertools.count():
        ended = process.poll() is not None
        rows = traces.answer(opwright("ops", "--format", "json"))
        seen.add(next((row["configurations"] for row in rows if row["operation"] == "ttnn.relu"), 0))
        if ended:
            break
    finish(process)
    assert seen <= {0, 2000}, "a reader saw half an import"
    assert 2000 in seen


@pytest.mark.parametrize("moment", [0.3, 0.6, 0.9])
def test_kill_leaves_the_store_whole(moment: float, opwright, tmp_path) -> None:
    """kill -9 somewhere in an import: the store is as before, or has all of it; then the import works."""
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    store = tmp_path / "opwright.db"
    before = traces.logical_dump(store)
    big = write_big_master(tmp_path / "big.json", "ttnn.relu", 3000)
    started = time.monotonic()
    load_trace(opwright, big, store="whole.db")
    duration = time.monotonic() - started

    process = start(opwright, "import", big)
    time.sleep(duration * moment)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert opwright("doctor").returncode == 0
    rows = {row["operation"]: row["configurations"] for row in traces.answer(opwright("ops", "--format", "json"))}
    assert rows.get("ttnn.relu", 0) in (0, 3000)
    if "ttnn.relu" not in rows:
        assert traces.logical_dump(store) == before
    load_trace(opwright, big)
    load_trace(opwright, fixture("demo/tiny_llm.json"), store="whole.db")
    assert traces.logical_dump(store) == traces.logical_dump(tmp_path / "whole.db")
