"""Files that the program writes: names of any length, and links that somebody planted."""

import json
import os
import stat
from pathlib import Path

import hostile
import pytest
from traces import answer, era2_master, fixture, load_trace, tensor


def store_of(opwright, tmp_path: Path, names: list[str]) -> None:
    master = era2_master({name: [{"arg0": tensor([1, 1, 32, 32])}] for name in names})
    (tmp_path / "m.json").write_text(json.dumps(master))
    load_trace(opwright, "m.json", options=("--all-ops",))


LONG = ["ttnn." + "a" * 300, "ttnn." + "a" * 299 + "b", "ttnn." + "x.y" * 5000, "ttnn.add", "ttnn.Add", "ttnn.ADD", "ttnn.../../etc/passwd", "ttnn.con", "ttnn.a b", "ttnn.🙂" * 60]


def test_vectors_of_any_name_are_exported_and_read_again(opwright, tmp_path: Path) -> None:
    store_of(opwright, tmp_path, LONG)
    report = answer(opwright("--format", "json", "vectors", "--export", "out"))
    assert report["vectors"] == len(LONG)
    files = [file.name for file in (tmp_path / "out").iterdir()]
    assert len({name.lower() for name in files}) == len(files), "distinct where case does not count"
    assert all(len(name) <= 255 and name.isascii() and "/" not in name for name in files)
    held = [vector for file in (tmp_path / "out").glob("*.json") if file.name != "generation_manifest.json"
            for suite in json.loads(file.read_text()).values() for vector in suite]  # fmt: skip
    assert len(held) == len(LONG), "none took the place of another"
    again = answer(opwright("--format", "json", "vectors", "--from", "out"))
    assert {row["operation"] for row in again["operations"]} == set(LONG)


def test_results_of_any_name_are_exported(opwright, tmp_path: Path) -> None:
    store_of(opwright, tmp_path, LONG)
    opwright("run", "--device", "null", "--quiet")
    done = opwright("results", "--export", "sweep:sweep", "--export", "junit:j.xml", "--export", "csv:c.csv", "--export", "jsonl:l.jsonl")
    assert done.returncode == 0, done.stderr
    assert opwright("report", "--html", "page").returncode == 0


def test_per_op_files_of_any_name(opwright, tmp_path: Path) -> None:
    (tmp_path / "t.opwt").write_bytes(hostile.native_trace("n" * 600 + "/../x"))
    done = opwright("convert", "t.opwt", "--to", "per-op", "-o", "out")
    assert done.returncode == 0, done.stderr
    files = [file for file in (tmp_path / "out").rglob("*.json")]
    assert files and all(file.resolve().is_relative_to(tmp_path / "out") for file in files)
    assert any(json.loads(file.read_text()).get("operation_name", "").count("n") > 600 for file in files)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o700
    assert load_trace(opwright, "out", options=("--all-ops",))["calls"] > 0


@pytest.mark.parametrize("name", ["index.html"])
def test_a_link_in_the_folder_of_a_report_is_not_followed(opwright, tmp_path: Path, name: str) -> None:
    load_trace(opwright, fixture("demo"))
    opwright("run", "--device", "null", "--quiet")
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / "page").mkdir()
    (tmp_path / "page" / name).symlink_to(precious)
    assert opwright("report", "--html", "page").returncode == 0
    assert precious.read_text() == "mine"
    assert not (tmp_path / "page" / name).is_symlink()


def test_links_in_the_folder_of_an_export_are_not_followed(opwright, tmp_path: Path) -> None:
    load_trace(opwright, fixture("demo"))
    assert opwright("vectors", "--export", "first").returncode == 0
    precious = tmp_path / "precious.json"
    precious.write_text("{}")
    (tmp_path / "second").mkdir()
    for file in (tmp_path / "first").iterdir():
        (tmp_path / "second" / file.name).symlink_to(precious)
    done = opwright("vectors", "--export", "second")
    assert done.returncode == 3 and "a link" in done.stderr, done.stderr
    assert precious.read_text() == "{}"
    manifest = tmp_path / "first" / "generation_manifest.json"
    manifest.unlink()
    manifest.symlink_to(precious)
    assert opwright("vectors", "--export", "first").returncode == 0
    assert precious.read_text() == "{}" and not manifest.is_symlink()


def test_a_file_that_is_replaced_keeps_its_permissions(opwright, tmp_path: Path) -> None:
    load_trace(opwright, fixture("demo"))
    out = tmp_path / "out.json"
    out.write_text("old")
    out.chmod(0o640)
    link = tmp_path / "link.json"
    link.symlink_to(out)
    assert opwright("export", "-o", "link.json").returncode == 0
    assert link.is_symlink() and stat.S_IMODE(out.stat().st_mode) == 0o640 and out.read_text() != "old"


def test_traces_that_are_written_are_their_owners_alone(opwright, tmp_path: Path) -> None:
    trace = fixture("native/tiny_llm.opwt")
    assert opwright("trim", trace, "-o", "small.opwt", "--only", "add").returncode == 0
    assert opwright("convert", trace, "--to", "jsonl", "-o", "t.jsonl").returncode == 0
    for name in ("small.opwt", "t.jsonl"):
        assert stat.S_IMODE(os.stat(tmp_path / name).st_mode) == 0o600
    assert not list(tmp_path.glob("*.tmp")) and not list(tmp_path.glob(".*.tmp"))


def test_a_trace_is_not_renamed_over_a_pipe(opwright, tmp_path: Path) -> None:
    """Of a device or pipe the file itself is written; one of our own here, so that a failure harms no machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)  # what is written fits into the pipe
    try:
        done = opwright("convert", fixture("native/tiny_llm.opwt"), "--to", "jsonl", "-o", "pipe")
        assert done.returncode == 0, done.stderr
        assert pipe.is_fifo() and b'"op_name"' in os.read(reader, 1 << 16)
    finally:
        os.close(reader)
