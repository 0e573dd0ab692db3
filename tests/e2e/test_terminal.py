"""What a person meets at a terminal: widths, names of cases, colours, one rule for what is unknown."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import support

MASTER = support.REPO / "tests" / "fixtures" / "master" / "era2_g1.json"
TRACE = support.REPO / "tests" / "fixtures" / "native" / "mbconv.opwt.zst"


@pytest.fixture
def store(opwright):
    assert opwright("import", TRACE).returncode == 0
    return opwright


def on_a_terminal(opwright, columns: int, *arguments: str) -> list[str]:
    """The lines that a terminal of so many columns gets."""
    leader, follower = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(
        [str(opwright.program), *arguments], cwd=opwright.folder, env=support.command_env(opwright.folder), stdout=follower, stderr=subprocess.DEVNULL
    )
    os.close(follower)
    text = b""
    while True:
        try:
            piece = os.read(leader, 65536)
        except OSError:
            break
        if not piece:
            break
        text += piece
    os.close(leader)
    assert process.wait(timeout=support.COMMAND_TIMEOUT_S) in (0, 1)
    return text.decode().replace("\r\n", "\n").splitlines()


def test_tables_fit_the_terminal_and_say_most_at_their_ends(store) -> None:
    whole = on_a_terminal(store, 300, "ops", "--known")
    narrow = on_a_terminal(store, 70, "ops", "--known")
    assert len(whole) == len(narrow)
    assert all(len(line) <= 70 for line in narrow), max(narrow, key=len)
    cut = [(long, short) for long, short in zip(whole, narrow, strict=True) if "…" in short]
    assert cut, "something had to give way"
    name = next(short.split()[0] for _, short in cut if "…" in short.split()[0])
    front, back = name.split("…")
    assert front and back and any(line.startswith(front) and back in line.split()[0] for line in whole), name
    wide = on_a_terminal(store, 70, "ops", "--known", "--wide")
    assert wide == store("ops", "--known").stdout.splitlines() and any(len(line) > 70 for line in wide)


def test_a_case_goes_by_its_name_wherever_its_line_does(store) -> None:
    assert store("run", "--where", "op=ttnn.relu or op=ttnn.silu", "--device", "planted:wrong if ttnn.silu", "--attribute", "none").returncode == 1
    listed = json.loads(store("results", "--list", "--format", "json").stdout)
    record = next(record for record in listed if record["outcome"] == "failed")
    name = record["name"]
    assert name == "@" + record["key"][:8]
    assert name in store("results", "--list").stdout and name in store("results").stdout
    single = json.loads(store("run", "--case", name, "--format", "json").stdout)
    assert single["case"] == record["case"] and single["outcome"] == "passed"
    after = store("run", "--case", name, "--after", name, "--format", "json")
    assert json.loads(after.stdout)["repeat"].endswith("--after '" + record["case"].replace("'", "'\\''") + "'")
    reference = json.loads(store("reference", "--case", name).stdout)
    assert reference["operation"] == reference["op"] == "ttnn.silu"
    assert store("results", "--history", name).stdout.splitlines()[0] == record["case"]
    shrunk = store("shrink", "--case", name, "--device", "planted:wrong if ttnn.silu", "--trials", "5", "--format", "json")
    assert json.loads(shrunk.stdout)["failures"][0]["operation"] == "ttnn.silu"
    unknown = store("run", "--case", "@0123456789")
    assert unknown.returncode == 3 and "has no case @0123456789" in unknown.stderr
    wrong = store("run", "--case", "@xyz")
    assert wrong.returncode == 2 and "@054f8d1b" in wrong.stderr


def test_colours_are_asked_for(store) -> None:
    plain = store("run", "--op", "silu").stderr
    assert "\x1b[" not in plain
    coloured = store("run", "--op", "silu", "--color", "always", "--device", "planted:wrong if ttnn.silu", "--attribute", "none").stderr
    assert "\x1b[31mfailed" in coloured
    fake = Path(__file__).parent / "programs" / "fake_device.py"
    unsupported = store("run", "--device", f"exec:python3 -I {fake}", "--op", "silu", "--color", "always")
    assert "\x1b[90munsupported" in unsupported.stderr and "\x1b[31m" not in unsupported.stderr, unsupported.stderr
    wrong = store("ops", "--color", "pink")
    assert wrong.returncode == 2 and "always, never or auto" in wrong.stderr


def test_an_unknown_operation_is_the_same_in_every_verb(store) -> None:
    assert store("run", "--op", "silu", "--quiet").returncode == 0
    said = set()
    for command in (("ops", "silo"), ("show", "silo"), ("run", "--op", "silo"), ("vectors", "--op", "silo"), ("gentest", "--op", "silo", "-o", "t")):
        done = store(*command)
        assert done.returncode == 3, (command, done)
        said.add(done.stderr)
    assert len(said) == 1 and "no operation 'silo' in the store" in said.pop()
    of_results = store("results", "--op", "silo")
    assert of_results.returncode == 3 and "did you mean 'ttnn.silu'" in of_results.stderr


def test_where_narrows_results_and_the_page(store) -> None:
    assert store("run", "--check", "--quiet").returncode in (0, 1)
    everything = json.loads(store("results", "--format", "json").stdout)
    some = json.loads(store("results", "--where", "op=ttnn.silu", "--format", "json").stdout)
    assert 0 < some["total"] < everything["total"]
    assert {row["operation"] for row in json.loads(store("results", "--list", "--where", "op=ttnn.silu", "--format", "json").stdout)} == {"ttnn.silu"}
    page = json.loads(store("report", "--html", "page", "--where", "op=ttnn.silu", "--format", "json").stdout)
    assert page["results"] == some["total"]
    wrong = store("results", "--where", "opp=1")
    assert wrong.returncode == 2
    assert store("results", "--where", "rank=17").returncode == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--memory", "8"], "write 8G or 512M"),
        (["--memory", "1M"], "less than a worker needs"),
        (["--device", "n150"], "did you mean 'sim:n150'"),
        (["--device", "sim:n15"], "n150"),
        (["--against", "n300"], "did you mean 'sim:n300'"),
        (["--device", "ttnn:mock:n15"], "n150"),
        (["--max-failed", "few"], "whole number"),
        (["--strict-verdicts", "--max-unproven", "1"], "leave out --max-unproven"),
    ],
)
def test_sizes_and_devices_are_looked_at_before_anything_runs(store, arguments: list[str], words: str) -> None:
    done = store("run", *arguments)
    assert done.returncode in (2, 3) and words in done.stderr, done
    assert json.loads(store("results", "--runs", "--format", "json").stdout) == []


def test_a_side_file_among_traces_is_counted(opwright, tmp_path: Path) -> None:
    side = tmp_path / "_test_results.json"
    side.write_text('{"passed": 3}')
    alone = opwright("import", side)
    assert alone.returncode == 3 and "not a trace" in alone.stderr
    both = opwright("import", MASTER, side, "--format", "json")
    assert both.returncode == 0, both.stderr
    assert json.loads(both.stdout)["left_out"] == {"files that are no traces": 1}
    text = tmp_path / "notes.txt"
    text.write_text("these are notes")
    assert opwright("import", MASTER, text).returncode == 3, "what is named and is no trace at all is no side file"


def test_a_green_test_is_one_that_passed(opwright) -> None:
    from test_results import load, result

    load(opwright, "r1", [result(0), result(1, "unproven", reason="ran in DRAM, not in L1"), result(2, "mistrusted", reason="all zero")])

    def suites(*more: str) -> ElementTree.Element:
        assert opwright("results", "--export", "junit:r.xml", *more).returncode == 0
        return ElementTree.parse(opwright.folder / "r.xml").getroot()

    plain = suites()
    assert (plain.get("tests"), plain.get("skipped"), plain.get("failures")) == ("3", "2", "0")
    assert [one.get("message") for one in plain.iter("skipped")] == ["unproven: ran in DRAM, not in L1", "mistrusted: all zero"]
    strict = suites("--strict-verdicts")
    assert (strict.get("skipped"), strict.get("failures")) == ("0", "2")
    for arguments, code in (([], 0), (["--strict-verdicts"], 1), (["--max-unproven", "1"], 1), (["--max-unproven", "2"], 0)):
        done = opwright("results", *arguments)
        assert done.returncode == code, (arguments, done.stderr)
    assert "2 cases not proven, 1 allowed" in opwright("results", "--max-unproven", "1").stderr
    load(opwright, "r2", [result(0), result(1, "failed", reason="wrong")])
    assert opwright("results", "last").returncode == 1
    assert opwright("results", "last", "--max-failed", "1").returncode == 0
