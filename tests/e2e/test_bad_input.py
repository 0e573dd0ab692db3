"""Bad input and bad stores: a clear message, the right exit status, and a store that is exactly what it was."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pytest
import support
import traces
from conftest import Opwright
from traces import EXPECTED, answer, check_no_crash, fixture, load_trace

NOBODY = 65534
POSITION = re.compile(r"byte (\d+) \(line (\d+), column (\d+)\)")
READERS = (("import", "--format", "json"), ("import", "--dry-run"), ("verify",))


@pytest.fixture(scope="module")
def good_store(opwright_program, tmp_path_factory) -> Path:
    runner = Opwright(opwright_program, tmp_path_factory.mktemp("good"))
    load_trace(runner, fixture("demo/tiny_llm.json"))
    return runner.folder / "opwright.db"


@pytest.fixture
def store(good_store: Path, tmp_path: Path) -> Path:
    """A store with something in it, which no failure may change."""
    return Path(shutil.copy(good_store, tmp_path))


def fails(opwright, store: Path, *arguments: object, status: int = 3) -> str:
    """Runs a command that must fail, and gives its message: one line, in our own words, with the store untouched."""
    before = traces.table_dump(store)
    result = opwright(*arguments)
    check_no_crash(result)
    assert result.returncode == status, f"exit status {result.returncode}: {result.stdout}{result.stderr}"
    assert result.stdout == ""
    assert result.stderr.startswith("opwright: ") and result.stderr.endswith("\n")
    assert traces.table_dump(store) == before
    return result.stderr.removeprefix("opwright: ").rstrip("\n")


# -- files that are no traces


@pytest.mark.parametrize("name", ["bad/empty.json", "bad/not_a_trace.json", "bad/cut.json", "bad/wrong.json", "bad/nul.json"])
@pytest.mark.parametrize("verb", READERS, ids=" ".join)
def test_unreadable_file(name: str, verb: tuple, opwright, store) -> None:
    message = fails(opwright, store, *verb, fixture(name))
    assert message.startswith(f"{fixture(name)}: ")


def test_empty_file_is_called_empty(opwright, store) -> None:
    assert "empty" in fails(opwright, store, "import", fixture("bad/empty.json"))


def test_foreign_json_is_told_what_we_read(opwright, store) -> None:
    message = fails(opwright, store, "import", fixture("bad/not_a_trace.json"))
    assert "not a trace" in message and "master JSON" in message


def test_wrong_json_names_the_position(opwright, store) -> None:
    """The position is checked against Python's own parser."""
    found = POSITION.search(fails(opwright, store, "import", fixture("bad/wrong.json")))
    assert found
    with pytest.raises(json.JSONDecodeError) as error:
        json.loads(fixture("bad/wrong.json").read_text())
    facts = EXPECTED["bad/wrong.json"]
    assert (int(found[1]), int(found[2])) == (facts["offset"], facts["line"]) == (error.value.pos, error.value.lineno)
    assert int(found[3]) == error.value.colno


@pytest.mark.parametrize("share", [0.0003, 0.1, 0.5, 0.9, 0.9999])
@pytest.mark.parametrize("name", ["master/era1_1b.json", "master/era1_1d.json", "master/era2_g4.json", "graph/nodes.json"])
def test_cut_file(name: str, share: float, opwright, store, tmp_path) -> None:
    """Wherever a file is cut, it says so, and nothing of it comes in."""
    data = fixture(name).read_bytes().rstrip()
    (tmp_path / "cut.json").write_bytes(data[: max(1, int(len(data) * share))])
    fails(opwright, store, "import", "cut.json")


@pytest.mark.parametrize("name", ["compressed/era2_g4.json.gz", "compressed/era2_g4.json.zst", "compressed/ops.jsonl.gz"])
def test_cut_compressed_file(name: str, opwright, store, tmp_path) -> None:
    data = fixture(name).read_bytes()
    cut = tmp_path / Path(name).name
    cut.write_bytes(data[: len(data) // 2])
    result = opwright("import", cut, "--format", "json", "--strict")
    check_no_crash(result)
    assert result.returncode == 3


def test_garbage(opwright, store, tmp_path) -> None:
    for number, data in enumerate([b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\x00" * 5000, b"hello\n", b"[", b"{}", b"[]", b"null", b"\xef\xbb\xbf"]):
        (tmp_path / f"garbage{number}").write_bytes(data)
        fails(opwright, store, "import", f"garbage{number}")


def test_missing_path(opwright, store) -> None:
    assert "nothing_here.json" in fails(opwright, store, "import", "nothing_here.json")
    assert "nothing_here.json" in fails(opwright, store, "verify", "nothing_here.json")
    assert "nothing_here.json" in fails(opwright, store, "diff", "nothing_here.json", fixture("demo/tiny_llm.json"))


def test_empty_standard_input(opwright, store) -> None:
    fails(opwright, store, "import", "-")


def test_one_bad_path_keeps_the_good_one_out(opwright, store) -> None:
    fails(opwright, store, "import", fixture("master/era2_g4.json"), fixture("bad/wrong.json"))


def test_deep_nesting_is_a_counted_loss(opwright, store) -> None:
    summary = load_trace(opwright, fixture("bad/deep.json"))
    assert summary["added"] == 0
    assert sum(summary["losses"].values()) == 1
    assert "deep" in str(summary["loss_examples"])


# -- records that are not understood


def test_unknown_shape_is_a_counted_loss(opwright, store) -> None:
    """Each lost record is counted, one example of a kind has path and byte; the rest is imported."""
    facts = EXPECTED["bad/unknown_shape.json"]
    summary = load_trace(opwright, fixture("bad/unknown_shape.json"))
    assert (summary["records"], summary["calls"], summary["operations"]) == (facts["forms"], facts["calls"], facts["ops"])
    assert summary["losses"]["unknown_shape"] == facts["losses"]
    example = summary["loss_examples"]["unknown_shape"]
    assert example.startswith(str(fixture("bad/unknown_shape.json")))
    offset = int(re.search(r"byte (\d+)", example)[1])
    assert fixture("bad/unknown_shape.json").read_bytes()[offset : offset + 2] == b"42"


def test_folder_with_half_written_files(opwright, store) -> None:
    facts = EXPECTED["per_op/damaged"]
    summary = load_trace(opwright, fixture("per_op/damaged"))
    assert summary["calls"] == facts["calls"]
    assert summary["losses"] == {"unknown_shape": 2, "unreadable_file": 3}  # the fifth is the empty _trace_metadata.json
    for example in summary["loss_examples"].values():
        assert "/per_op/damaged/" in example and "byte " in example


def test_damaged_lines_of_jsonl(opwright, store) -> None:
    facts = EXPECTED["jsonl/damaged.jsonl"]
    summary = load_trace(opwright, fixture("jsonl/damaged.jsonl"))
    assert sum(summary["losses"].values()) == len(facts["losses"])
    data = fixture("jsonl/damaged.jsonl").read_bytes()
    for example in summary["loss_examples"].values():
        line = data[: int(re.search(r"byte (\d+)", example)[1])].count(b"\n") + 1
        assert str(line) in facts["losses"]


@pytest.mark.parametrize("name", ["bad/unknown_shape.json", "bad/deep.json", "per_op/damaged", "jsonl/damaged.jsonl"])
def test_strict_turns_losses_into_a_failure(name: str, opwright, store) -> None:
    before = traces.table_dump(store)
    result = opwright("import", "--strict", fixture(name))
    check_no_crash(result)
    assert result.returncode == 3
    assert "strict" in result.stderr and "opwright: " in result.stderr
    assert traces.table_dump(store) == before


def test_strict_creates_no_store(opwright, tmp_path) -> None:
    result = opwright("--store", "new.db", "import", "--strict", fixture("bad/unknown_shape.json"))
    assert result.returncode == 3
    assert not (tmp_path / "new.db").exists() or traces.logical_dump(tmp_path / "new.db")["forms"] == []


def test_strict_is_content_with_a_good_trace(opwright) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"), fixture("demo/tiny_cnn"), options=("--strict",))


# -- stores


@pytest.mark.parametrize("verb", [("import", "TRACE"), ("ops",), ("stats",), ("show",), ("export", "--to", "jsonl")], ids=" ".join)
@pytest.mark.parametrize("kind", ["text", "foreign", "newer", "cut"])
def test_store_that_is_not_ours(kind: str, verb: tuple, opwright, store, tmp_path) -> None:
    bad = tmp_path / "bad.db"
    if kind == "text":
        bad.write_text("dear diary, " * 1000)
    elif kind == "foreign":
        db = sqlite3.connect(bad)
        db.executescript("CREATE TABLE friends (name TEXT); INSERT INTO friends VALUES ('Ada');")
        db.close()
    elif kind == "newer":
        shutil.copy(store, bad)
        db = sqlite3.connect(bad)
        db.execute("PRAGMA user_version = 99")
        db.close()
    else:
        bad.write_bytes(store.read_bytes()[:6000])
    data = bad.read_bytes()
    arguments = [fixture("master/era2_g4.json") if word == "TRACE" else word for word in verb]
    message = fails(opwright, store, "--store", bad, *arguments)
    assert "bad.db" in message
    assert ("99" in message) == (kind == "newer")
    assert bad.read_bytes() == data, "the file was changed"


def test_doctor_names_a_broken_store(opwright, store, tmp_path) -> None:
    (tmp_path / "bad.db").write_text("dear diary, " * 1000)
    result = opwright("--store", "bad.db", "doctor")
    check_no_crash(result)
    assert result.returncode != 0
    assert "bad.db" in result.stdout + result.stderr


@pytest.mark.parametrize("verb", [("ops",), ("stats",), ("show",), ("show", "add"), ("export", "--to", "master")], ids=" ".join)
def test_no_store_yet(verb: tuple, opwright, tmp_path) -> None:
    result = opwright("--store", "none.db", *verb)
    assert result.returncode == 3
    assert "none.db" in result.stderr and "import" in result.stderr
    assert not (tmp_path / "none.db").exists()


def test_folder_of_store_does_not_exist(opwright) -> None:
    result = opwright("--store", "no/such/folder/x.db", "import", fixture("demo/tiny_llm.json"))
    check_no_crash(result)
    assert result.returncode == 3
    assert "no/such/folder/x.db" in result.stderr


def test_store_where_nobody_may_write(opwright) -> None:
    result = opwright("--store", "/proc/x.db", "import", fixture("demo/tiny_llm.json"))
    check_no_crash(result)
    assert result.returncode == 3
    assert "/proc/x.db" in result.stderr


@pytest.mark.parametrize("what", ["file", "folder"])
def test_read_only_store(what: str, opwright, store) -> None:
    """Runs as nobody where the tests run as root, since root may write everywhere."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "folder"
        folder.mkdir()
        program, trace = shutil.copy(opwright.program, place), shutil.copy(fixture("master/era2_g4.json"), place)
        held = Path(shutil.copy(store, folder))
        held.chmod(0o444 if what == "file" else 0o644)
        folder.chmod(0o755 if what == "file" else 0o555)
        Path(place).chmod(0o755)
        if os.geteuid() == 0 and what == "file":
            os.chown(folder, NOBODY, NOBODY)

        def run(*arguments: object) -> subprocess.CompletedProcess:
            return subprocess.run(
                [program, "--store", str(held), *map(str, arguments)],
                capture_output=True,
                text=True,
                timeout=support.COMMAND_TIMEOUT_S,
                cwd=place,
                env=support.command_env(Path(place)),
                user=NOBODY if os.geteuid() == 0 else None,
            )

        try:
            before = held.read_bytes()
            result = run("import", trace)
            check_no_crash(result)
            assert result.returncode == 3, result.stdout + result.stderr
            assert str(held) in result.stderr and "read-only" in result.stderr
            assert held.read_bytes() == before
            assert answer(run("ops", "--format", "json")) == answer(opwright("ops", "--format", "json"))
        finally:
            folder.chmod(0o755)


def test_store_locked_by_another_process(opwright, store) -> None:
    db = sqlite3.connect(store, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    try:
        result = opwright("import", "--wait", "0.2", fixture("master/era2_g4.json"))
        check_no_crash(result)
        assert result.returncode == 3
        assert "opwright.db" in result.stderr and "--wait" in result.stderr
        # Readers do not wait for a writer.
        assert answer(opwright("ops", "--wait", "0", "--format", "json"))
    finally:
        db.execute("ROLLBACK")
        db.close()
    assert load_trace(opwright, fixture("master/era2_g4.json"))["added"] == EXPECTED["master/era2_g4.json"]["distinct"]


# -- disks


def test_full_disk_while_importing(opwright, store, tmp_path) -> None:
    """A limit on the size of files stands for a disk that fills up in the middle."""
    tensors = [{"arg0": traces.tensor([1, 1, 32, 32 * number]), "arg1": f"text {number * 7919}"} for number in range(1, 3000)]
    (tmp_path / "big.json").write_text(json.dumps(traces.era2_master({"ttnn.relu": tensors})))
    before = traces.table_dump(store)
    blocks = store.stat().st_size // 1024 + 8
    script = f"trap '' XFSZ; ulimit -f {blocks}; exec '{opwright.program}' import big.json"
    result = support.run_shell(script, tmp_path, support.command_env(tmp_path))
    check_no_crash(result)
    assert result.returncode == 3, result.stdout + result.stderr
    assert result.stderr.startswith("opwright: ") and "opwright.db" in result.stderr
    assert traces.table_dump(store) == before
    assert load_trace(opwright, "big.json")["added"] == 2999


@pytest.mark.parametrize("to", ["master", "master1", "jsonl", "csv"])
def test_full_disk_while_exporting(to: str, opwright, store, tmp_path) -> None:
    message = fails(opwright, store, "export", "--to", to, "-o", "/dev/full")
    assert "/dev/full" in message and "No space left" in message
    result = support.run_shell(
        f"'{opwright.program}' export --to {to} > /dev/full", tmp_path, support.command_env(tmp_path)
    )
    check_no_crash(result)
    assert result.returncode == 3 and "cannot write the output" in result.stderr


def test_failed_export_keeps_the_old_file(opwright, store, tmp_path) -> None:
    (tmp_path / "old.json").write_text("the old one")
    script = f"trap '' XFSZ; ulimit -f 1; exec '{opwright.program}' export --to master -o old.json"
    result = support.run_shell(script, tmp_path, support.command_env(tmp_path))
    check_no_crash(result)
    assert result.returncode == 3, result.stdout + result.stderr
    assert (tmp_path / "old.json").read_text() == "the old one"
    assert sorted(file.name for file in tmp_path.iterdir() if "old" in file.name) == ["old.json"]


@pytest.mark.parametrize("verb", [("ops",), ("stats",), ("show",), ("doctor",), ("help",)], ids=" ".join)
def test_output_that_cannot_be_written(verb: tuple, opwright, store, tmp_path) -> None:
    command = " ".join([f"'{opwright.program}'", *verb, "> /dev/full"])
    result = support.run_shell(command, tmp_path, support.command_env(tmp_path))
    check_no_crash(result)
    assert result.returncode == 3, result.stderr


# -- wrong usage


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["imprt"], "import"),
        (["import"], "PATH"),
        (["import", "--bogus", "x"], "--bogus"),
        (["ops", "one", "two"], "two"),
        (["ops", "--format", "xml"], "xml"),
        (["ops", "--where", "dtyp=1"], "did you mean 'dtype'"),
        (["ops", "--where", "rank=="], "column"),
        (["show", "--limit", "x"], "--limit"),
        (["export", "--to", "xml"], "master1"),
        (["verify"], "FILE"),
        (["diff", "only_one"], "A B"),
        (["help", "nonsense"], "nonsense"),
        (["import", "--wait", "soon", "x"], "--wait"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_usage(arguments: list, words: str, opwright, store) -> None:
    assert words in fails(opwright, store, *arguments, status=2)
