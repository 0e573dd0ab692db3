"""Text that others chose: no terminal escape, bidi mark or control character of a trace gets out raw, from any verb."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import hostile
import pytest
import support
from traces import check_no_crash, fixture

KEEP = ("node_type", "__type__", "type", "sources")  # without them it is no such file


def per_op_folder(folder: Path) -> Path:
    source = fixture("per_op/v3")
    for file in source.rglob("*.json"):
        target = folder / file.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(hostile.poisoned(json.loads(file.read_text()), KEEP)))
    return folder


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A trace of each format, in which every text is hostile; so are the names of the files."""
    folder = tmp_path_factory.mktemp("hostile")
    name = "a\x1b]2;owned\x07\u202e\n" + hostile.FORGED
    made: dict[str, Path] = {}

    def put(kind: str, content: str | bytes, ending: str) -> None:
        made[kind] = folder / f"{kind}{name}{ending}"
        made[kind].write_bytes(content if isinstance(content, bytes) else content.encode())

    put("native", hostile.native_trace(), ".opwt")
    master = json.loads(fixture("master/era2_g5.json").read_text())
    for kind in ("operations", "metadata"):
        for op in list(master.get(kind, {})):
            master[kind][op + hostile.TEXT] = master[kind][op]
    put("master", json.dumps(hostile.poisoned(master, KEEP)), ".json")
    era1 = json.loads(fixture("master/era1_1c.json").read_text())
    era1["operations"] |= {op + hostile.TEXT: value for op, value in era1["operations"].items()}
    put("era1", json.dumps(hostile.poisoned(era1, KEEP)), ".json")
    lines = fixture("jsonl/ops.jsonl").read_text().splitlines()
    put("jsonl", "\n".join(json.dumps(hostile.poisoned(json.loads(line), KEEP)) for line in lines), ".jsonl")
    graph = json.loads(fixture("graph/nodes.json").read_text())
    put("graph", json.dumps(hostile.poisoned(graph, KEEP)), ".json")
    made["per_op"] = per_op_folder(folder / ("per_op" + name))
    return made


class Program:
    """Runs the program through a pipe and on a terminal, and looks at each byte that comes out."""

    def __init__(self, program: Path, folder: Path) -> None:
        self.program = program
        self.folder = folder

    def __call__(self, *words: object, forms: tuple[str, ...] = hostile.FORMATS, live: bool = False, parse: bool = True) -> None:
        is_csv = "csv" in words  # whose cells may have lines, in quotes
        for form in forms:
            command = [str(self.program), "--format", form, *map(os.fsdecode, map(os.fsencode, map(str, words)))]
            what = (form, *words)
            env = support.command_env(self.folder)
            piped = subprocess.run(command, cwd=self.folder, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
            self.look(piped.stdout, "csv" if is_csv else form, what)
            self.look(piped.stderr, "table", what)
            if parse and piped.returncode in (0, 1):
                hostile.check_format(piped.stdout, form, what)
            check_no_crash(subprocess.CompletedProcess(command, piped.returncode, "", piped.stderr.decode()))
            if form == "table":
                _, shown = hostile.on_a_terminal(command, self.folder)
                hostile.check_harmless(shown, ("terminal", *what), own=live)
                if not live and not is_csv:
                    hostile.check_no_forged_line(shown, ("terminal", *what))

    @staticmethod
    def look(output: bytes, form: str, what: object) -> None:
        hostile.check_harmless(output, what)
        if form == "table":
            hostile.check_no_forged_line(output, what)


@pytest.fixture
def checked(opwright_program: Path, tmp_path: Path) -> Program:
    return Program(opwright_program, tmp_path)


@pytest.fixture(scope="module")
def store(opwright_program: Path, traces: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with all of them, and two runs."""
    folder = tmp_path_factory.mktemp("store")
    path = folder / ("s\x1b]2;owned\x07\u202e.db")
    command = [str(opwright_program), "--store", str(path)]
    for words in (["import", "--all-ops", "--include-failed", *map(str, traces.values())], *[["run", "--device", "null", "--quiet"]] * 2):
        done = subprocess.run([*command, *words], cwd=folder, env=support.command_env(folder), capture_output=True, timeout=300)
        assert done.returncode in (0, 1), done.stderr.decode(errors="replace")
    return path


def test_readers_of_every_format(checked: Program, traces: dict[str, Path], tmp_path: Path) -> None:
    for kind, trace in traces.items():
        checked("--store", tmp_path / f"{kind}.db", "import", "--all-ops", "--include-failed", trace, live=True)
        checked("--store", tmp_path / f"{kind}.db", "show", "--sources", forms=("table", "csv"))
    checked("diff", "--all-ops", traces["master"], traces["native"])
    checked("diff", "--all-ops", traces["era1"], traces["per_op"], forms=("table", "json"))
    checked("verify", traces["master"])
    checked("import", "--dry-run", "--strict", traces["jsonl"], forms=("table", "json"), live=True)


def test_verbs_of_a_store(checked: Program, store: Path, tmp_path: Path) -> None:
    at = ("--store", store)
    checked(*at, "ops")
    checked(*at, "stats")
    checked(*at, "traces")
    (trace, *_) = sqlite3.connect(f"file:{store}?mode=ro", uri=True).execute("SELECT hex(digest) FROM sequence").fetchone()
    checked(*at, "calls", trace.lower())
    checked(*at, "show")
    checked(*at, "show", "--sources", "--limit", "1", "add")
    checked(*at, "vectors")
    checked(*at, "vectors", "--suite", "all_cases", "--limit", "50", forms=("table", "jsonl"))
    for to in ("master", "master1", "jsonl", "csv"):
        checked(*at, "export", "--to", to, forms=("table",))
        checked(*at, "export", "--to", to, "-o", tmp_path / f"out\x1b]2;owned\x07.{to}", forms=("table", "json"))
    checked(*at, "vectors", "--export", tmp_path / "vec\x1b]2;owned\x07", forms=("table", "json"))
    checked(*at, "doctor")


def test_runs_and_results(checked: Program, store: Path, tmp_path: Path) -> None:
    at = ("--store", store)
    checked(*at, "run", "--dry-run", forms=("table", "json"))
    checked(*at, "run", "--device", "null", forms=("table",), live=True)
    for words in ([], ["--list"], ["--runs"], ["--by", "op"], ["--by", "model"], ["--by", "message"], ["--worst", "3", "--clusters"]):
        checked(*at, "results", *words)
    checked(*at, "results", "--coverage", forms=("table",))
    checked(*at, "results", "--diff", "last~1", "last")
    for target in ("csv", "junit", "jsonl", "sweep"):
        path = tmp_path / f"{target}\x1b]2;owned\x07"
        checked(*at, "results", "--export", f"{target}:{path}", forms=("table", "json"))
        for file in [path] if path.is_file() else path.iterdir():
            hostile.check_harmless(file.read_bytes(), (target, "file"))
    checked(*at, "report", "--html", tmp_path / "page\x1b]2;owned\x07", forms=("table", "json"))


def test_native_traces_are_shown_cut_and_converted(checked: Program, traces: dict[str, Path], tmp_path: Path) -> None:
    trace = traces["native"]
    checked("dump", trace)
    checked("trim", trace, "-o", tmp_path / "t\x1b]2;owned\x07.opwt", "--only", "add", forms=("table", "json"))
    checked("convert", trace, "--to", "jsonl", forms=("table",))
    checked("convert", trace, "--to", "per-op", "-o", tmp_path / "po\u202e1", forms=("table",))
    checked("convert", traces["per_op"], "--to", "native", "-o", tmp_path / "n\x1b]2;owned\x07", forms=("json",))
    for file in (tmp_path / "po\u202e1").rglob("*"):
        assert not any(map(hostile.is_hidden, file.name)), file.name


def test_messages_of_what_is_wrong(checked: Program, store: Path, traces: dict[str, Path], tmp_path: Path) -> None:
    bad = "\x1b]2;owned\x07\u202e\x9b6n\n" + hostile.FORGED
    some = tmp_path / ("no trace" + bad)
    some.write_text("what " + bad)
    quick = {"forms": ("table",), "parse": False}
    for words in (
        ["show", bad], ["show", "--where", f"op={bad}"], ["show", "--where", f'op="{bad}"'], ["ops", "--where", f"nofield{bad}=1"],
        [bad], ["ops", bad], ["ops", "--" + bad], ["import", bad], ["import", some], ["import", "/dev/null/" + bad],
        ["export", "--to", bad], ["export", "-o", f"/no/{bad}/x"], ["results", bad], ["results", "--op", bad], ["results", "--by", bad],
        ["run", "--device", bad], ["run", "--device", f"exec:{bad}"], ["run", "--case", bad], ["run", "--case", f"ttnn.add({bad})"],
        ["run", "--case", f"ttnn{bad}.add()"], ["run", "--suites", some], ["run", "--vectors", some], ["verify", some],
        ["dump", some], ["convert", some, "--to", "native", "-o", "x"], ["trim", some, "-o", "x"], ["diff", some, bad],
        ["mock", "--board", bad, "--", "true"], ["trace", "--", bad], ["trace", bad], ["trace", "--list", bad], ["help", bad],
        ["--store", tmp_path / bad, "ops"], ["--store", some, "ops"], ["ops", "--wait", bad], ["ops", "--format", bad],
        ["device", bad], ["device", "conform", "--device", bad], ["vectors", "--suite", bad], ["report", bad, "--html", "x"],
    ):  # fmt: skip
        checked(*(["--store", store] if "--store" not in words else []), *words, **quick, live=words[0] == "run")


DEVICE = r"""
import json, sys
bad = "\x1b]2;owned\x07\u202e\x9b6n\n" + "FORGED passed 100 %"
sys.stderr.write("stderr of the device: " + bad); sys.stderr.flush()
mode = sys.argv[1]
if mode == "hello":
    print(bad); sys.exit(3)
print(json.dumps({"hello": 1, "protocol": 1, "name": "d" + bad, "numerics": "none" + bad, "versions": {"v" + bad: bad}}), flush=True)
for line in sys.stdin:
    print(json.dumps({"error": bad, "outcome": bad, "message": bad, "reason": bad}), flush=True)
    if mode == "die":
        sys.exit(4)
"""


@pytest.mark.parametrize("mode", ["hello", "answer", "die"])
def test_what_a_device_says(checked: Program, store: Path, tmp_path: Path, mode: str) -> None:
    device = tmp_path / "device.py"
    device.write_text(DEVICE)
    spec = f"exec:{sys.executable} -I {device} {mode}"
    line = "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"
    checked("run", "--device", spec, "--case", line, forms=("table", "json"), live=True, parse=False)
    checked("--store", store, "run", "--device", spec, "--limit", "2", "--quiet", "--no-attribute", forms=("table",), live=True, parse=False)


def test_our_own_colours_reach_a_terminal(opwright_program: Path, tmp_path: Path) -> None:
    command = [str(opwright_program)]
    done, _ = hostile.on_a_terminal([*command, "import", str(fixture("demo"))], tmp_path)
    assert done == 0
    _, shown = hostile.on_a_terminal([*command, "run", "--device", "null"], tmp_path)
    assert b"\x1b[32m" in shown or b"\x1b[33m" in shown, shown
    assert b"\\u001b" not in shown, shown
