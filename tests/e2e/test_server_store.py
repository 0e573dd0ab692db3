"""Stores on a server of PostgreSQL: the same verbs, many processes at once, and what goes wrong between here and there."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import support

DEMO = support.FIXTURES / "demo"
SECRET = "hunter2-very-secret"


def with_user(url: str, user: str, password: str = "") -> str:
    return url.replace("postgresql://opwright@", f"postgresql://{user}{':' + password if password else ''}@")


def rows(opwright, store: object, *verb: object) -> list[dict]:
    done = opwright("--store", store, "--format", "jsonl", *verb)
    assert done.returncode in (0, 1), done.stderr  # 1: a case of the run failed
    return [json.loads(line) for line in done.stdout.splitlines()]


def told(opwright, store: object) -> list[object]:
    """What a store says of itself, without numbers that mean nothing outside it."""
    answers = [rows(opwright, store, "ops"), rows(opwright, store, "show"), rows(opwright, store, "traces")]
    for kind in ("master", "native"):
        done = opwright("--store", store, "export", "--to", kind)
        answers.append((done.returncode, done.stdout if kind == "master" else ""))
    return answers


def test_a_file_and_a_server_hold_the_same_there_and_back(opwright, database, tmp_path):
    inputs = [DEMO, support.FIXTURES / "native", support.FIXTURES / "jsonl"]
    here = opwright("--store", "here.db", "import", *inputs)
    assert here.returncode == 0, here.stderr
    there = opwright("--store", database, "import", *inputs)
    assert there.returncode == 0, there.stderr
    assert told(opwright, database) == told(opwright, "here.db")
    again = opwright("--store", database, "--format", "json", "import", "here.db")
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout)["added"] == 0
    back = opwright("--store", "back.db", "--format", "json", "import", database)
    assert back.returncode == 0, back.stderr
    assert told(opwright, "back.db") == told(opwright, "here.db")
    same = opwright("diff", "here.db", database)
    assert same.returncode == 0 and " 0 changed, 0 removed, 0 added" in same.stdout, same.stdout
    deep = opwright("--store", "back.db", "doctor", "--deep")
    assert deep.returncode == 0, deep.stdout


@pytest.mark.parametrize(
    "where", ["op=ttnn.linear", "dim[-1]>=64", "model~llm", "dtype=bfloat16 and not op~add", "model~cnn or op~linear", "key=0"]
)
def test_questions_get_the_same_answers(opwright, database, where):
    for store in (database, "here.db"):
        assert opwright("--store", store, "import", DEMO).returncode == 0
    assert rows(opwright, database, "ops", "--where", where) == rows(opwright, "here.db", "ops", "--where", where)
    assert rows(opwright, database, "show", "--where", where) == rows(opwright, "here.db", "show", "--where", where)


def test_runs_and_their_results_lie_on_the_server(opwright, database):
    assert opwright("--store", database, "import", DEMO).returncode == 0
    run = opwright("--store", database, "run", "--jobs", "2")
    assert run.returncode in (0, 1), run.stderr
    assert database not in run.stdout
    listed = rows(opwright, database, "results", "--list")
    assert len(listed) == json.loads(opwright("--store", database, "--format", "json", "results").stdout)["total"] > 0
    assert opwright("--store", database, "report", "--html", "page.html").returncode in (0, 1)
    carried = opwright("--store", database, "results", "--export", "jsonl:run.jsonl")
    assert carried.returncode in (0, 1), carried.stderr
    assert opwright("--store", "here.db", "results", "--import", "run.jsonl").returncode == 0
    assert rows(opwright, "here.db", "results", "--list") == listed


def test_sixteen_import_and_run_at_once(opwright_program, database, tmp_path):
    """Whoever comes: everything is there once, nobody is turned away."""
    first = subprocess.run([opwright_program, "--store", database, "import", DEMO], capture_output=True, text=True, check=False)
    assert first.returncode == 0, first.stderr
    inputs = [DEMO / "tiny_llm.json", DEMO / "tiny_cnn", support.FIXTURES / "jsonl", support.FIXTURES / "native"]
    commands = [["import", inputs[i // 2 % 4]] if i % 2 == 0 else ["run", "--jobs", "1"] for i in range(16)]
    running = [
        subprocess.Popen(
            [opwright_program, "--store", database, *map(str, command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=support.command_env(tmp_path),
        )
        for command in commands
    ]
    for command, process in zip(commands, running, strict=True):
        _, said = process.communicate(timeout=280)
        assert process.returncode in ((0,) if command[0] == "import" else (0, 1)), (command, said)
    alone = [opwright_program, "--store", "alone.db", "import", DEMO, *map(str, inputs)]
    assert subprocess.run(alone, cwd=tmp_path, check=False).returncode == 0
    count = "SELECT count(*) FROM opwright."
    counts = {table: int(support.psql(database, count + table)) for table in ("configuration", "form", "occurrence", "run")}
    listed = subprocess.run([opwright_program, "--store", "alone.db", "--format", "json", "stats"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert counts["configuration"] == json.loads(listed.stdout)["configurations"], counts
    assert counts["run"] == 8
    per_run = support.psql(database, "SELECT string_agg(DISTINCT n::text, ',') FROM (SELECT count(*) n FROM opwright.result GROUP BY run_id) c")
    assert per_run.isdigit()  # the same number in each


# ---- what goes wrong


def failure(opwright, *arguments: object, env: dict | None = None) -> str:
    done = opwright(*arguments, env=env)
    assert done.returncode in (2, 3), (done.returncode, done.stdout, done.stderr)
    assert SECRET not in done.stdout + done.stderr
    return done.stderr


def test_a_wrong_password_and_a_database_that_is_not_there(opwright, database, server):
    support.psql(server, "DROP ROLE IF EXISTS somebody; CREATE ROLE somebody LOGIN PASSWORD 'right'")
    said = failure(opwright, "--store", with_user(database, "somebody", SECRET), "ops")
    assert "password authentication failed" in said and "somebody" in said
    said = failure(opwright, "--store", server.replace("/postgres?", "/nothing_here?"), "import", DEMO)
    assert '"nothing_here" does not exist' in said
    said = failure(opwright, "--store", f"postgresql://me:{SECRET}@/x?host=/nowhere", "ops")
    assert "/x?host=/nowhere" in said and "cannot connect" in said
    said = failure(opwright, "ops", env={"OPWRIGHT_STORE": f"postgresql://me:{SECRET}/@host/db"})
    assert "?user=USER" in said


def test_roles_read_write_and_admin(opwright, database, server):
    support.psql(server, *(f"DROP ROLE IF EXISTS {role}" for role in ("reader", "writer", "boss")))
    for role in ("opwright_read", "opwright_write", "opwright_admin"):
        support.psql(server, f"DO $$ BEGIN CREATE ROLE {role} NOLOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    support.psql_file(database, support.REPO / "examples/postgresql/roles.sql")
    for user, role in (("reader", "opwright_read"), ("writer", "opwright_write"), ("boss", "opwright_admin")):
        support.psql(server, f"CREATE ROLE {user} LOGIN PASSWORD '{SECRET}' IN ROLE {role}")
    urls = {user: with_user(database, user, SECRET) for user in ("reader", "writer", "boss")}
    said = failure(opwright, "--store", urls["writer"], "import", DEMO)  # tables are the admin's to make
    assert "may not" in said and "administrator" in said
    assert opwright("--store", urls["boss"], "import", DEMO / "tiny_cnn").returncode == 0
    assert opwright("--store", urls["writer"], "import", DEMO).returncode == 0
    assert opwright("--store", urls["writer"], "run", "--jobs", "1").returncode in (0, 1)
    assert rows(opwright, urls["reader"], "ops") == rows(opwright, urls["boss"], "ops")
    assert rows(opwright, urls["reader"], "results", "--list")
    said = failure(opwright, "--store", urls["reader"], "import", support.FIXTURES / "jsonl")
    assert "may not" in said and "share-a-store.md" in said


def test_later_and_foreign_schemas_are_refused_and_not_touched(opwright, database):
    support.psql(database, "CREATE SCHEMA opwright; CREATE TABLE opwright.mine (a int)")
    for verb in (["ops"], ["import", DEMO], ["results", "--runs"]):
        assert "is not a store" in failure(opwright, "--store", database, *verb)
    support.psql(database, "DROP SCHEMA opwright CASCADE")
    assert opwright("--store", database, "import", DEMO).returncode == 0
    support.psql(database, "UPDATE opwright.setting SET value = '99' WHERE name = 'schema'")
    for verb in (["ops"], ["import", DEMO], ["run"]):
        assert "newer opwright (schema 99" in failure(opwright, "--store", database, *verb)


def test_what_only_files_have_is_refused_with_a_reason(opwright, database):
    assert opwright("--store", database, "doctor").returncode == 0  # nothing there yet
    assert opwright("--store", database, "import", DEMO).returncode == 0
    sound = opwright("--store", database, "doctor")
    assert sound.returncode == 0 and "schema 1" in sound.stdout
    deep = opwright("--store", database, "doctor", "--deep")
    assert deep.returncode == 3 and "pg_amcheck" in deep.stdout
    assert "SQLite file" in failure(opwright, "--store", database, "doctor", "--repair", "-o", "new.db")


def test_python_opens_a_server(opwright_program, opwright, database):
    assert opwright("--store", database, "import", DEMO).returncode == 0
    program = "import opwright, sys; s = opwright.open(sys.argv[1]); print(s); print(len(list(s.configs())))"
    environment = {**os.environ, "OPWRIGHT_BIN": str(opwright_program), "PYTHONPATH": str(support.REPO / "python")}
    done = subprocess.run(
        [sys.executable, "-c", program, with_user(database, "opwright", SECRET)],
        env=environment, capture_output=True, text=True, check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "6 configurations" in done.stdout and SECRET not in done.stdout


# ---- the server goes away


def cut_connections(database: str) -> int:
    return int(
        support.psql(
            database,
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = current_database() AND "
            "application_name = 'opwright'",
        )
    )


def wait_until(ready, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while not ready():
        assert time.monotonic() < until, "it did not come to that"
        time.sleep(0.02)


def test_a_run_goes_on_when_its_connections_are_cut(opwright_program, opwright, database, tmp_path):
    assert opwright("--store", database, "import", DEMO).returncode == 0
    command = [opwright_program, "--store", database, "run", "--jobs", "1", "--suite", "all_cases"]
    process = subprocess.Popen(
        [str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=tmp_path, env=support.command_env(tmp_path),
    )
    begun = "SELECT CASE WHEN to_regclass('opwright.run') IS NULL THEN 0 ELSE (SELECT count(*) FROM opwright.run) END"
    wait_until(lambda: process.poll() is not None or support.psql(database, begun) != "0")
    cuts = 0
    while process.poll() is None and cuts < 5:
        cuts += cut_connections(database)
        time.sleep(0.05)
    _, said = process.communicate(timeout=120)
    assert process.returncode in (0, 1), said
    assert cuts > 0
    doubled = support.psql(database, "SELECT count(*) - count(DISTINCT (run_id, place)) FROM opwright.result")
    assert doubled == "0"
    assert support.psql(database, "SELECT status FROM opwright.run") == "complete"


def test_an_import_whose_server_goes_away_leaves_nothing_and_is_repeated(opwright_program, opwright, database, tmp_path):
    assert opwright("--store", database, "import", DEMO / "tiny_cnn").returncode == 0
    before = told(opwright, database)
    fifo = tmp_path / "slow.jsonl"
    os.mkfifo(fifo)
    lock = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    process = subprocess.Popen(
        [str(opwright_program), "--store", database, "import", str(DEMO / "tiny_llm.json"), str(fifo)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=support.command_env(tmp_path),
    )
    with fifo.open("w") as file:
        file.write((support.FIXTURES / "jsonl").glob("*.jsonl").__next__().read_text())
        file.flush()
        # A stream is read before the store is locked; the server goes away in between.
    if process.poll() is None:
        try:
            wait_until(lambda: process.poll() is not None or support.psql(database, lock) != "0", 10)
            cut_connections(database)
        except AssertionError:
            pass
    _, said = process.communicate(timeout=120)
    assert process.returncode in (0, 3), said
    if process.returncode == 3:
        assert "lost" in said, said
        assert told(opwright, database) == before
    assert opwright("--store", database, "import", DEMO).returncode == 0
    assert opwright("--store", "here.db", "import", DEMO).returncode == 0
    if process.returncode == 3:
        assert told(opwright, database) == told(opwright, "here.db")


FULL = (
    "CREATE FUNCTION opwright.full_disk() RETURNS trigger AS $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING "
    "ERRCODE = 'disk_full'; END $$ LANGUAGE plpgsql"
)


def test_a_full_disk_of_the_server_keeps_what_is_there(opwright, database):
    """The server says what it says when its disk is full."""
    assert opwright("--store", database, "import", DEMO / "tiny_cnn").returncode == 0
    before = told(opwright, database)
    support.psql(database, FULL, "CREATE TRIGGER full_disk BEFORE INSERT ON opwright.form EXECUTE FUNCTION opwright.full_disk()")
    said = failure(opwright, "--store", database, "import", DEMO)
    assert "no room" in said and "nothing was imported" in said
    assert told(opwright, database) == before
    support.psql(
        database, "DROP TRIGGER full_disk ON opwright.form",
        "CREATE TRIGGER full_disk BEFORE INSERT ON opwright.result FOR EACH ROW WHEN (NEW.place > 0) EXECUTE FUNCTION opwright.full_disk()",
    )
    assert opwright("--store", database, "import", DEMO).returncode == 0
    said = failure(opwright, "--store", database, "run", "--jobs", "1", "--plan-order")
    assert "no room" in said
    assert support.psql(database, "SELECT count(*) FROM opwright.result") == "1"
    support.psql(database, "DROP TRIGGER full_disk ON opwright.result")
    assert opwright("--store", database, "run", "--resume").returncode in (0, 1)
    assert support.psql(database, "SELECT count(*) = max(place) + 1 AND count(*) > 1 FROM opwright.result") == "t"


def test_a_killed_import_lets_go_of_the_lock(opwright_program, opwright, database, tmp_path):
    fifo = tmp_path / "never.jsonl"
    os.mkfifo(fifo)
    holder = subprocess.Popen(
        [sys.executable, "-c", "import sys, time; open(sys.argv[1], 'w'); time.sleep(60)", str(fifo)], start_new_session=True
    )
    process = subprocess.Popen(
        [str(opwright_program), "--store", database, "import", str(fifo)], cwd=tmp_path, env=support.command_env(tmp_path)
    )
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    holder.kill()
    holder.wait()
    done = opwright("--store", database, "import", DEMO, "--wait", "20")
    assert done.returncode == 0, done.stderr
