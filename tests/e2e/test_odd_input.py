"""Odd but possible input: positions of errors, folders without traces, links, duplicate keys, read-only places."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from traces import EXPECTED, answer, fixture, load_trace


@pytest.mark.parametrize("name", ["bad/cut.json", "bad/nul.json", "bad/bad_utf8.json"])
def test_position_is_named(name: str, opwright) -> None:
    message = opwright("import", fixture(name)).stderr
    found = re.search(r"byte (\d+) \(line (\d+), column (\d+)\)", message)
    assert found, message
    if name != "bad/cut.json":
        assert int(found[1]) == EXPECTED[name].get("offset", EXPECTED[name]["bytes"])


@pytest.mark.parametrize("more", ["trailing", "{}", '"x"'])
def test_text_after_the_end_has_the_right_position(more: str, opwright, tmp_path) -> None:
    text = fixture("demo/tiny_llm.json").read_text()
    (tmp_path / "x.json").write_text(f"{text}\n{more}\n")
    assert f"byte {len(text) + 1} " in opwright("import", "x.json").stderr


@pytest.mark.parametrize("content", [None, "README.md"])
def test_folder_without_any_trace(content: str | None, opwright, tmp_path) -> None:
    (tmp_path / "folder").mkdir()
    if content:
        (tmp_path / "folder" / content).write_text("hello")
    assert opwright("import", "folder").returncode == 3
    assert not (tmp_path / "opwright.db").exists()


def test_contradicting_options(opwright) -> None:
    assert opwright("import", "--all-ops", "--like-existing", fixture("demo/tiny_llm.json")).returncode == 2


def test_symbolic_link_to_a_parent(opwright, tmp_path) -> None:
    (tmp_path / "f" / "a").mkdir(parents=True)
    (tmp_path / "f" / "a" / "up").symlink_to("../..")
    shutil.copy(fixture("demo/tiny_llm.json"), tmp_path / "f" / "a")
    assert load_trace(opwright, "f")["files"] == 1


def test_duplicate_key_is_not_silent(opwright, tmp_path) -> None:
    record = '{"arguments":{"arg0":1,"arg0":2,"cfg":{"a":1,"a":2}},"executions":[]}'
    (tmp_path / "x.json").write_text('{"operations":{"ttnn.relu":{"configurations":[' + record + "]}}}")
    for _ in range(2):  # the second time the form is known
        assert load_trace(opwright, "x.json")["losses"] == {"duplicate_key": 2}


def test_byte_order_mark(opwright, tmp_path) -> None:
    (tmp_path / "x.json").write_bytes(b"\xef\xbb\xbf" + fixture("demo/tiny_llm.json").read_bytes())
    assert load_trace(opwright, "x.json")["configurations"] > 0


def test_store_in_a_read_only_folder_can_be_read(opwright) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "folder")
        folder.mkdir()
        Path(shutil.copy(opwright.folder / "opwright.db", folder)).chmod(0o644)  # a store is its owner's unless shared
        program = shutil.copy(opwright.program, place)
        folder.chmod(0o555)
        Path(place).chmod(0o755)
        user = 65534 if os.geteuid() == 0 else None
        command = [program, "--store", str(folder / "opwright.db"), "ops", "--format", "json"]
        try:
            assert answer(subprocess.run(command, capture_output=True, text=True, user=user))
        finally:
            folder.chmod(0o755)
