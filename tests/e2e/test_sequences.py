"""The calls of a trace in their order, kept in the store: `traces`, `calls`, `forget`; union, damage, secrets."""

import gzip
import hashlib
import json
import shutil
import sqlite3
from pathlib import Path

import hostile
import pytest
from traces import answer, check_no_crash, fixture, load_trace, logical_dump

assert hostile  # its import puts the maker of native traces on the path
NATIVE = fixture("native/tiny_llm.opwt")
RECORDED = ["mlp", "encoder", "mbconv"]  # traces of real programs, small


def kept(opwright, store: object = "opwright.db") -> list[dict]:
    return answer(opwright("--store", store, "traces", "--format", "json"))


def calls(opwright, trace: str, *options: object, store: object = "opwright.db") -> list[dict]:
    result = opwright("--store", store, "calls", trace, *options, "--format", "jsonl")
    assert result.returncode == 0, result.stderr
    return [line["call"] for line in map(json.loads, result.stdout.splitlines()) if "call" in line]


def changed(store: Path, *statements: str) -> None:
    db = sqlite3.connect(store)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def made_trace(path: Path, pid: int = 4711, facts: dict | None = None, count: int = 3) -> Path:
    from maker.native import T, Trace, Ttnn

    trace = Trace(pid=pid)
    ttnn = Ttnn(trace)
    trace.lane(0, 100)
    for name, value in {"uid": "made", **(facts or {})}.items():
        trace.fact(name, value)
    spec = ttnn.spec([1, 1, 32, 64])
    call = trace.call_value("ttnn.relu", T(spec))
    for number in range(count):
        trace.call(call, [(number + 1, 0)])
    path.write_bytes(trace.bytes())
    return path


# -- what is there


def test_a_native_trace_is_kept_as_it_is(opwright) -> None:
    load_trace(opwright, NATIVE)
    (trace,) = kept(opwright)
    assert {key: trace[key] for key in ("name", "machine", "started", "calls", "operations", "format", "flow")} == {
        "name": "models/tiny_llm/demo/demo.py",
        "machine": "Wormhole n300 x1",
        "started": "2026-05-28T20:26:40.123456Z",
        "calls": 11,
        "operations": 6,
        "format": "native",
        "flow": "recorded",
    }
    assert trace["trace"] == hashlib.sha256(NATIVE.read_bytes()).hexdigest()
    assert set(trace) >= {"trace", "name", "command", "machine", "started", "calls", "operations", "bytes"}
    dumped = opwright("dump", NATIVE, "--format", "jsonl").stdout.splitlines()
    assert opwright("calls", trace["trace"], "--format", "jsonl").stdout.splitlines()[1:] == dumped[1:]


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_traces_come_back_call_by_call(opwright, name: str) -> None:
    path = fixture(f"native/{name}.opwt.zst")
    load_trace(opwright, path)
    (trace,) = kept(opwright)
    for form in ("jsonl", "json", "csv"):
        skipped = 1 if form == "jsonl" else 0
        dumped = opwright("dump", path, "--format", form).stdout.replace(json.dumps(str(path)), '"trace"').splitlines()
        shown = opwright("calls", trace["trace"], "--format", form).stdout.replace(f'"trace {trace["trace"][:12]}"', '"trace"').splitlines()
        assert shown[skipped:] == dumped[skipped:]
    assert trace["calls"] == len(calls(opwright, trace["trace"]))
    assert trace["operations"] == len({call["op"] for call in calls(opwright, trace["trace"])})


def test_calls_of_failed_tests_are_in_the_sequence_and_in_no_configuration(opwright) -> None:
    load_trace(opwright, NATIVE)
    of_failed = [call for call in calls(opwright, NATIVE_NAME) if call.get("test", "").endswith("[prefill]")]
    assert [call["seq"] for call in of_failed] == [8, 9]
    names = {row["operation"] for row in answer(opwright("ops", "--format", "json"))}
    assert "ttnn.to_memory_config" not in names
    assert "test_mlp[prefill]: failed" in opwright("calls", NATIVE_NAME).stdout


NATIVE_NAME = "models/tiny_llm/demo/demo.py"


def test_where_asks_each_call_for_its_configuration(opwright) -> None:
    load_trace(opwright, NATIVE, options=("--all-ops", "--include-failed"))
    everything = calls(opwright, NATIVE_NAME)
    for where, wanted in {
        "op=add": {5, 8, 10},
        "raised>0": {8},
        "not op=add": {1, 2, 3, 4, 6, 7, 9, 11} & {call["seq"] for call in everything},
        "in0.rank=4 and op=softmax": {4},
        "model~tiny_llm": {call["seq"] for call in everything},
        "machine=n300": {call["seq"] for call in everything},
        "machine=n150": set(),
    }.items():
        assert {call["seq"] for call in calls(opwright, NATIVE_NAME, "--where", where)} == wanted, where
    assert [call["seq"] for call in calls(opwright, NATIVE_NAME, "--where", "op=add", "--phase", "decode", "--limit", "1")] == [5]
    assert [call["seq"] for call in calls(opwright, NATIVE_NAME, "--where", "op=add", "--range", "6:9")] == [8]


def test_no_calls_leaves_them_out(opwright) -> None:
    load_trace(opwright, NATIVE, options=("--no-calls",))
    assert kept(opwright) == []
    refused = opwright("calls", "anything")
    assert refused.returncode == 3 and "without --no-calls" in refused.stderr
    load_trace(opwright, NATIVE)
    assert len(kept(opwright)) == 1
    load_trace(opwright, NATIVE, options=("--no-calls",))  # what is there stays
    assert len(kept(opwright)) == 1


@pytest.mark.parametrize("path", ["native/tiny_llm.opwt", "per_op/v3", "jsonl/ops.jsonl", "demo"])
def test_an_import_says_what_it_keeps_in_order(opwright, path: str) -> None:
    """With the results of calls, which then are not left out."""
    without = answer(opwright("--store", "none.db", "import", "--no-calls", fixture(path), "--format", "json"))
    assert (without["traces_kept"], without["calls_kept"]) == (0, 0)
    tried = answer(opwright("import", "--dry-run", fixture(path), "--format", "json"))
    report = answer(opwright("import", fixture(path), "--format", "json"))
    assert report["traces_kept"] == len(kept(opwright)) > 0
    assert report["calls_kept"] == sum(trace["calls"] for trace in kept(opwright))
    totals = answer(opwright("stats", "--format", "json"))
    assert [totals[key] for key in ("traces_kept", "calls_kept")] == [report[key] for key in ("traces_kept", "calls_kept")]
    assert totals["bytes_kept"] == sum(trace["bytes"] for trace in kept(opwright))
    assert without["left_out"].pop("return values") > 0
    assert tried["left_out"] == report["left_out"] == without["left_out"]
    assert (tried["traces_kept"], tried["calls_kept"]) == (report["traces_kept"], report["calls_kept"])
    results = [call for trace in kept(opwright) for call in calls(opwright, trace["trace"]) if call["ret"] is not None]
    assert results


def test_a_dry_run_and_a_refused_import_keep_nothing(opwright, tmp_path: Path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    load_trace(opwright, NATIVE, options=("--dry-run",))
    assert opwright("import", "--strict", fixture("native/damaged.opwt")).returncode == 3
    assert kept(opwright) == []


def test_masters_have_no_order(opwright) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    assert kept(opwright) == []


@pytest.mark.parametrize("name", ["cut", "killed", "damaged"])
def test_what_is_lost_of_a_trace_is_told_again(opwright, name: str) -> None:
    path = fixture(f"native/{name}.opwt")
    load_trace(opwright, path)
    (trace,) = kept(opwright)
    lost = [line for line in opwright("dump", path).stdout.splitlines() if line.startswith("LOST")]
    shown = opwright("calls", trace["trace"]).stdout
    assert [line for line in shown.splitlines() if line.startswith("LOST")] == lost


# -- other formats


@pytest.mark.parametrize(("name", "form"), [("per_op/v3", "per-op"), ("jsonl/ops.jsonl", "op-jsonl"), ("demo/tiny_cnn", "per-op")])
def test_formats_with_an_order_are_kept_as_convert_makes_them(opwright, name: str, form: str) -> None:
    load_trace(opwright, fixture(name))
    (trace,) = kept(opwright)
    assert trace["format"] == form
    marked = {call.get("flow") for call in calls(opwright, trace["trace"])}
    assert trace["flow"] in ("inferred", "none") and marked == {"inferred" if trace["flow"] == "inferred" else None}
    assert opwright("convert", fixture(name), "--to", "native", "-o", "converted.opwt").returncode == 0
    dumped = opwright("dump", "converted.opwt", "--format", "jsonl").stdout.splitlines()
    assert opwright("calls", trace["trace"], "--format", "jsonl").stdout.splitlines()[1:] == dumped[1:]
    load_trace(opwright, "converted.opwt")  # the same calls under another name
    assert [other["trace"] for other in kept(opwright)] == [trace["trace"]]


def test_inferred_edges_are_marked_and_ambiguous_ones_are_counted(opwright, tmp_path: Path) -> None:
    def tensor(width: int) -> dict:
        return {"__type__": "ttnn.TensorRef", "shape": [width], "dtype": "DataType.BFLOAT16"}

    chain = [(1, 2), (2, 3), (3, 4), (1, 4), (4, 5)]  # the last could use either of two
    lines = [{"run_id": "r", "op_name": "ttnn.relu", "inputs": [tensor(a)], "kwargs": {}, "output": tensor(b)} for a, b in chain]
    (tmp_path / "chain.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    load_trace(opwright, "chain.jsonl")
    (trace,) = kept(opwright)
    assert trace["flow"] == "inferred"
    assert [call["args"][0]["$t"] for call in calls(opwright, trace["trace"])] == [0, 1, 2, 0, 0]
    shown = opwright("calls", trace["trace"]).stdout
    assert "ttnn.relu(~1 [2]" in shown and "ttnn.relu(#? [4]" in shown
    assert '"inferred": 2' in shown and '"ambiguous": 1' in shown


def makers(listed: list[dict]) -> list[list[tuple[int, int] | None]]:
    """For every tensor that a call takes: the call and the place of its result that gave it; None: from outside."""
    made: dict[int, tuple[int, int]] = {}
    taken = []
    for number, call in enumerate(listed):
        taken.append([made.get(tensor) for tensor in tensors_of([call["args"], call["kw"]])])
        for place, tensor in enumerate(tensors_of(call["ret"])):
            made.setdefault(tensor, (number, place))
    return taken


def tensors_of(value: object) -> list[int]:
    if isinstance(value, dict):
        return [value["id"]] if {"id", "spec"} <= set(value) else [tensor for item in value.values() for tensor in tensors_of(item)]
    return [tensor for item in value for tensor in tensors_of(item)] if isinstance(value, list) else []


@pytest.mark.parametrize(("name", "drawn"), [("mlp", 68), ("decoder", 68), ("encoder", 31), ("mbconv", 69), ("tensor_parallel", 11)])
def test_an_inferred_edge_is_the_recorded_one(opwright, name: str, drawn: int) -> None:
    """Per-op files name no tensors; the native trace that they were made of does."""
    path = fixture(f"native/{name}.opwt.zst")
    assert opwright("convert", path, "--to", "per-op", "-o", "per_op").returncode == 0
    load_trace(opwright, "per_op", store="inferred.db", options=("--include-failed",))
    load_trace(opwright, path, store="recorded.db", options=("--include-failed",))
    listed = {}
    for store in ("inferred.db", "recorded.db"):
        (trace,) = answer(opwright("--store", store, "traces", "--format", "json"))
        shown = opwright("--store", store, "calls", trace["trace"], "--format", "json")
        listed[store] = [call for call in answer(shown)["calls"] if not call["err"]]
    recorded = listed["recorded.db"]
    if [call["op"] for call in recorded] != [call["op"] for call in listed["inferred.db"]]:
        recorded.sort(key=lambda call: call["t1_ns"])  # per-op files are numbered as calls end
    assert [call["op"] for call in recorded] == [call["op"] for call in listed["inferred.db"]]
    edges = [
        (maker, truth)
        for inferred, true in zip(makers(listed["inferred.db"]), makers(recorded), strict=True)
        for maker, truth in zip(inferred, true, strict=True)
        if maker is not None
    ]
    assert [edge for edge in edges if edge[0] != edge[1]] == []
    assert len(edges) == drawn


def test_a_python_record_is_kept_with_its_tensors(opwright) -> None:
    load_trace(opwright, fixture("graph/report.python_io.json"))
    (trace,) = kept(opwright)
    assert (trace["name"], trace["format"], trace["flow"], trace["calls"]) == ("report.python_io.json", "graph-python-io", "recorded", 6)
    shown = calls(opwright, trace["trace"])
    records = json.loads(fixture("graph/report.python_io.json").read_text())
    assert [call["op"] for call in shown] == [record["name"] for record in records]
    ids = [{tensor["$t"] for value in [*call["args"], *call["kw"].values()] for tensor in (value if isinstance(value, list) else [value]) if isinstance(tensor, dict) and "$t" in tensor} for call in shown]
    assert ids == [set(record["input_tensor_ids"]) for record in records]
    assert [call["ret"] for call in shown if call["ret"] is None] == [None]  # one of them has no result


def test_lines_from_a_pipe_are_kept_too(opwright, tmp_path: Path) -> None:
    load_trace(opwright, fixture("jsonl/ops.jsonl"))
    piped = opwright("--store", "piped.db", "import", "-", input=fixture("jsonl/ops.jsonl").read_text(encoding="utf-8"))
    assert piped.returncode == 0, piped.stderr
    assert [trace["trace"] for trace in kept(opwright, "piped.db")] == [trace["trace"] for trace in kept(opwright)]


def test_without_room_for_the_calls_the_import_says_what_to_do(opwright, tmp_path: Path) -> None:
    refused = opwright("import", fixture("jsonl/ops.jsonl"), env={"TMPDIR": str(tmp_path / "absent")})
    assert refused.returncode == 3 and "--no-calls" in refused.stderr and not (tmp_path / "opwright.db").exists()
    assert opwright("import", "--no-calls", fixture("jsonl/ops.jsonl"), env={"TMPDIR": str(tmp_path / "absent")}).returncode == 0


# -- laws


def test_one_trace_is_there_once_wherever_it_comes_from(opwright, tmp_path: Path) -> None:
    (tmp_path / "copy.opwt.gz").write_bytes(gzip.compress(NATIVE.read_bytes()))
    load_trace(opwright, NATIVE)
    before = logical_dump(tmp_path / "opwright.db")
    for path in (NATIVE, tmp_path / "copy.opwt.gz"):
        load_trace(opwright, path)
        assert logical_dump(tmp_path / "opwright.db") == before
    load_trace(opwright, NATIVE, tmp_path / "copy.opwt.gz", store="other.db")
    load_trace(opwright, "other.db")
    assert logical_dump(tmp_path / "opwright.db") == before == logical_dump(tmp_path / "other.db")


def test_union_in_any_order(opwright, tmp_path: Path) -> None:
    traces = [NATIVE, *(fixture(f"native/{name}.opwt.zst") for name in RECORDED), fixture("demo"), fixture("per_op/v3"), fixture("jsonl/ops.jsonl")]
    load_trace(opwright, *traces, store="all.db")
    for trace in reversed(traces):
        load_trace(opwright, trace, store="one_by_one.db")
    load_trace(opwright, *traces[:3], store="a.db")
    load_trace(opwright, *traces[2:], store="b.db")
    load_trace(opwright, "b.db", "a.db", store="merged.db")
    load_trace(opwright, "b.db", store="a.db")
    wanted = logical_dump(tmp_path / "all.db")
    assert len(wanted["sequences"]) >= 4
    for name in ("one_by_one.db", "merged.db", "a.db"):
        assert logical_dump(tmp_path / name) == wanted, name
        assert opwright("--store", name, "doctor", "--deep").returncode == 0


def test_a_trace_that_has_grown_replaces_its_shorter_self(opwright, tmp_path: Path) -> None:
    short, long = made_trace(tmp_path / "short.opwt", count=3), made_trace(tmp_path / "long.opwt", count=30)
    for order in ((short, long), (long, short)):
        store = f"{order[0].stem}.db"
        for path in order:
            load_trace(opwright, path, store=store)
        (trace,) = kept(opwright, store)
        assert trace["calls"] == 30
        assert opwright("--store", store, "doctor", "--deep").returncode == 0
    load_trace(opwright, short, long, store="together.db")
    assert [trace["calls"] for trace in kept(opwright, "together.db")] == [30]


def test_processes_of_one_run_and_parts_of_one_trace_stand_side_by_side(opwright, tmp_path: Path) -> None:
    load_trace(opwright, made_trace(tmp_path / "a.opwt", pid=1), made_trace(tmp_path / "b.opwt", pid=2))
    assert len(kept(opwright)) == 2
    for part in ("1:4", "5:8"):
        name = f"part{part[0]}.opwt"
        assert opwright("trim", NATIVE, "--range", part, "-o", name).returncode == 0
        load_trace(opwright, name, store="parts.db")
    load_trace(opwright, NATIVE, store="parts.db")
    assert sorted(trace["calls"] for trace in kept(opwright, "parts.db"))[-1] == 11
    assert len(kept(opwright, "parts.db")) == 3


# -- names


def test_a_trace_is_named_by_the_beginning_of_its_id_or_its_name(opwright, tmp_path: Path) -> None:
    load_trace(opwright, NATIVE, made_trace(tmp_path / "a.opwt", pid=1, facts={"script": "same.py"}), made_trace(tmp_path / "b.opwt", pid=2, facts={"script": "same.py"}))
    several = opwright("calls", "same.py")
    assert several.returncode == 3 and "2 of them" in several.stderr and "by its id" in several.stderr
    unknown = opwright("calls", "demo")
    assert unknown.returncode == 3 and f"did you mean '{NATIVE_NAME}'" in unknown.stderr
    for verb in ("calls", "forget"):
        assert opwright(verb, "").returncode == 3
        assert opwright(verb).returncode == 2
    for trace in kept(opwright):
        assert opwright("calls", trace["trace"][:8]).returncode == 0


def test_forgetting_leaves_configurations(opwright, tmp_path: Path) -> None:
    load_trace(opwright, NATIVE, fixture("demo"))
    before = {name: rows for name, rows in logical_dump(tmp_path / "opwright.db").items() if name not in ("sequences", "pieces")}
    told = answer(opwright("forget", NATIVE_NAME, "--format", "json"))
    assert (told["name"], told["calls"]) == (NATIVE_NAME, 11)
    after = logical_dump(tmp_path / "opwright.db")
    assert {name: after[name] for name in before} == before
    assert NATIVE_NAME not in {trace["name"] for trace in kept(opwright)}
    assert opwright("forget", NATIVE_NAME).returncode == 3
    assert opwright("doctor", "--deep").returncode == 0


# -- damage


def test_damage_is_told_and_the_rest_is_saved(opwright, tmp_path: Path) -> None:
    load_trace(opwright, NATIVE, fixture("native/mlp.opwt.zst"))
    store = tmp_path / "opwright.db"
    sound = {trace["name"]: trace["trace"] for trace in kept(opwright)}
    (identity,) = sqlite3.connect(store).execute("SELECT id FROM sequence WHERE name = ?", (NATIVE_NAME,)).fetchone()
    changed(store, f"UPDATE piece SET data = zeroblob(40) WHERE sequence_id = {identity}")
    refused = opwright("calls", NATIVE_NAME)
    check_no_crash(refused)
    assert refused.returncode == 3 and "damaged" in refused.stderr and "--repair" in refused.stderr
    assert opwright("forget", NATIVE_NAME).returncode == 3
    (other,) = set(sound) - {NATIVE_NAME}
    assert opwright("calls", other).returncode == 0  # what is not asked for is not in the way
    for deep in ((), ("--deep",)):
        assert opwright("doctor", *deep).returncode == 3
    saved = opwright("doctor", "--repair", "-o", "new.db")
    assert saved.returncode == 1 and "piece" in saved.stdout
    assert {trace["name"]: trace["trace"] for trace in kept(opwright, "new.db")} == {other: sound[other]}
    assert opwright("--store", "new.db", "doctor", "--deep").returncode == 0


def test_a_piece_with_a_bomb_is_refused_within_the_memory_of_a_piece(opwright, tmp_path: Path) -> None:
    """A frame that says it is small and unpacks to more, and one that says it is enormous."""
    load_trace(opwright, NATIVE)
    bombs = [
        bytes.fromhex("28b52ffd") + bytes.fromhex("e0") + (1 << 40).to_bytes(8, "little") + bytes.fromhex("0b0000") + b"\0",
        bytes.fromhex("28b52ffd20ff") + bytes.fromhex("03ff7f00") + b"\0",
        b"",
        b"\x28\xb5\x2f\xfd",
    ]
    for bomb in bombs:
        shutil.copy(tmp_path / "opwright.db", tmp_path / "bomb.db")
        changed(tmp_path / "bomb.db", f"UPDATE piece SET data = x'{bomb.hex()}'")
        for verb in (("calls", NATIVE_NAME), ("doctor", "--deep"), ("doctor", "--repair", "-o", f"new{len(bomb)}.db")):
            result = opwright("--store", "bomb.db", *verb)
            check_no_crash(result)
            assert result.returncode in (1, 3), result.stdout


# -- what must not be there, and what must not get out


def test_no_secret_of_an_older_recorder_is_kept(opwright, tmp_path: Path) -> None:
    secret = "hunter2hunter2"
    path = made_trace(
        tmp_path / "secret.opwt",
        facts={
            "command": ["python3", "demo.py", "--token", secret, f"https://me:{secret}@host/"],
            "environment": {"HF_TOKEN": secret, "HF_MODEL": "org/model"},
            "pytest_args": f"--password {secret} -k x",
            "nested": {"inner": [f"API_KEY={secret}"]},
        },
    )
    assert secret.encode() in path.read_bytes()
    load_trace(opwright, path)
    (trace,) = kept(opwright)
    assert secret not in json.dumps(trace) and "--token ***" in trace["command"]
    for form in ("table", "json", "jsonl", "csv"):
        shown = opwright("calls", trace["trace"], "--format", form).stdout
        assert secret not in shown and "LOST" not in shown
    assert "org/model" in opwright("calls", trace["trace"], "--format", "json").stdout
    assert len(calls(opwright, trace["trace"])) == 3
    before = logical_dump(tmp_path / "opwright.db")
    load_trace(opwright, path)
    assert logical_dump(tmp_path / "opwright.db") == before


def test_hostile_texts_reach_no_terminal(opwright, tmp_path: Path) -> None:
    (tmp_path / "hostile.opwt").write_bytes(hostile.native_trace())
    load_trace(opwright, tmp_path / "hostile.opwt", options=("--all-ops",))
    (trace,) = kept(opwright)
    for command in (("traces",), ("calls", trace["trace"]), ("calls", "\x1b]2;owned\x07"), ("forget", trace["trace"])):
        result = opwright(*command)
        check_no_crash(result)
        assert "\x1b" not in result.stdout + result.stderr and "\x07" not in result.stdout + result.stderr


def test_contents_of_tensors_are_there_only_where_they_were_recorded(opwright, tmp_path: Path) -> None:
    load_trace(opwright, *(fixture(f"native/{name}.opwt.zst") for name in RECORDED))
    for trace in kept(opwright):
        for call in calls(opwright, trace["trace"]):
            assert "reads_hash" not in call and "writes_hash" not in call


def test_a_repeated_call_takes_forty_bytes_at_most(opwright, tmp_path: Path) -> None:
    """`./x bench` measures it on millions."""
    few, many = (made_trace(tmp_path / f"{count}.opwt", pid=count, count=count) for count in (100, 1700))
    load_trace(opwright, few, many)
    by_calls = {trace["calls"]: trace["bytes"] for trace in kept(opwright)}
    assert by_calls[1700] - by_calls[100] <= 40 * 1600
