"""Secrets of command lines: masked wherever they are stored or shown, and asked for again where they are needed."""

import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import hostile
import pytest
import support
from traces import answer, fixture, load_trace

FAKE = Path(__file__).parent / "programs" / "fake_device.py"
SECRET = "hunter2hunter2"
TABLE = json.loads((support.FIXTURES / "secrets.json").read_text(encoding="utf-8"))


def device(secret: str = SECRET, *options: str) -> str:
    return f"exec:DEVICE_TOKEN={secret} " + shlex.join([sys.executable, "-I", str(FAKE), *options])


def check_nowhere(folder: Path, secret: str = SECRET) -> None:
    """Not in the store, its log, a report, an export: no file has it."""
    for file in folder.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file


def stored_texts(store: Path) -> str:
    db = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    try:
        tables = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return "\n".join(repr(row) for table in tables for row in db.execute(f"SELECT * FROM {table}"))
    finally:
        db.close()


def test_the_python_package_keeps_to_the_same_table() -> None:
    """The compiled module has the rule of the program, not one of its own."""
    package = support.find_opwright().parent / "python"
    code = "import json, sys; from opwright import _capture as c; t = json.load(sys.stdin); "
    code += "print(json.dumps({'texts': [c.masked(a) for a, b in t['texts']], 'words': [c.masked(a) for a, b in t['words']]}))"
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(TABLE), capture_output=True, text=True, timeout=60, env={**os.environ, "PYTHONPATH": str(package)}
    )
    assert done.returncode == 0, done.stderr
    got = json.loads(done.stdout)
    assert got["texts"] == [wanted for _, wanted in TABLE["texts"]]
    assert got["words"] == [wanted for _, wanted in TABLE["words"]]


def test_a_run_stores_no_secret(opwright, tmp_path: Path) -> None:
    load_trace(opwright, fixture("demo"))
    done = opwright("run", "--device", device(), "--reset-cmd", f"reset --password {SECRET} https://me:{SECRET}@host/", "--no-attribute")
    assert done.returncode in (0, 1), done.stderr
    for said in (done.stdout, done.stderr):
        assert SECRET not in said
    runs = answer(opwright("--format", "json", "results", "--runs"))
    assert "DEVICE_TOKEN=***" in runs[0]["device"] and "--password ***" in runs[0]["command"]
    opwright("report", "--html", "page")
    opwright("results", "--export", "csv:r.csv", "--export", "junit:r.xml", "--export", "jsonl:r.jsonl", "--export", "sweep:sweep")
    assert SECRET not in opwright("results", "--list", "--format", "json").stdout
    assert "DEVICE_TOKEN=***" in stored_texts(tmp_path / "opwright.db")
    check_nowhere(tmp_path)


def test_one_case_shows_no_secret_and_still_gets_it(opwright, tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "device.sh"
    program.write_text(f'#!/bin/sh\nprintf %s "$DEVICE_TOKEN" > {said}\nexec {sys.executable} -I {FAKE} --fault refused\n')
    program.chmod(0o755)
    line = "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"
    done = opwright("run", "--device", f"exec:DEVICE_TOKEN={SECRET} {program}", "--case", line)
    assert said.read_text() == SECRET, "the device gets what it was given"
    assert SECRET not in done.stdout + done.stderr
    broken = opwright("run", "--device", f"exec:DEVICE_TOKEN={SECRET} /no/such/program", "--case", line)
    assert broken.returncode == 3 and SECRET not in broken.stdout + broken.stderr, broken.stderr


def test_resuming_asks_for_the_secret_again(opwright, opwright_program: Path, tmp_path: Path) -> None:
    load_trace(opwright, fixture("demo"))
    command = [str(opwright_program), "run", "--jobs", "1", "--device", device(SECRET, "--fault", "hang")]
    process = subprocess.Popen(command, cwd=tmp_path, env=support.command_env(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not opwright("--format", "json", "results", "--runs").stdout.strip().startswith("[\n"):
        time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    process.wait()
    refused = opwright("run", "--resume")
    assert refused.returncode == 2 and "--device" in refused.stderr and "not stored" in refused.stderr, refused.stderr
    assert SECRET not in refused.stderr and "DEVICE_TOKEN=***" in refused.stderr
    other = opwright("run", "--resume", "--device", "null")
    assert other.returncode == 2 and "differs in more than its secret" in other.stderr, other.stderr
    taken = opwright("run", "--resume", "--device", device("another-secret", "--fault", "hang"), "--timeout", "1")
    assert taken.returncode == 2 and "--timeout cannot change them" in taken.stderr, taken.stderr
    check_nowhere(tmp_path)


@pytest.mark.parametrize("form", ["table", "json"])
def test_facts_of_older_traces_are_masked_when_they_are_read(opwright, tmp_path: Path, form: str) -> None:
    from maker.native import T, Trace, Ttnn

    t = Trace()
    t.fact("command", ["pytest", "--hf-token", SECRET, f"https://me:{SECRET}@host/x"])
    t.fact("pytest_args", f"--password={SECRET} -k add")
    t.fact("environment", {"HF_MODEL": "meta/llama", "API_KEY": SECRET})
    t.call(t.call_value("ttnn.add", T(Ttnn(t).spec([1, 1, 32, 32])), 1.0), [(1, 0)])
    (tmp_path / "old.opwt").write_bytes(t.bytes())
    load_trace(opwright, "old.opwt", options=("--include-failed",))
    texts = stored_texts(tmp_path / "opwright.db")
    assert SECRET not in texts and "--hf-token ***" in texts and "meta/llama" in texts
    assert SECRET not in opwright("--format", form, "show", "--sources").stdout
    if form == "table":
        assert SECRET not in opwright("dump", "old.opwt").stdout


def test_what_is_traced_is_shown_without_secrets(opwright) -> None:
    done = opwright("trace", "--", "true", "--token", SECRET, f"NAME_KEY={SECRET}")
    assert "--token ***" in done.stdout and SECRET not in done.stdout + done.stderr, done.stdout + done.stderr


assert hostile  # its import puts the maker of native traces on the path
