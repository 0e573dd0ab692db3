"""`fuse`: sequences of operators suggested, made into tests and proven, checked and listed."""

import json
import shutil
from pathlib import Path

import hostile
from traces import fixture

assert hostile  # its import puts the maker of native traces on the path
DECODER = fixture("native/decoder.opwt.zst")
MLP = fixture("native/mlp.opwt.zst")
PARALLEL = fixture("native/tensor_parallel.opwt.zst")
STAGES = ["baseline", "match", "boundary", "emit", "unit", "substitute", "config", "perf", "single_device", "negative"]
GATED = "linear*2,multiply,linear"


def layers(path: Path, count: int = 3, dtype: str = "BFLOAT16", phases: tuple[str, ...] = ("decode",), twisted: bool = False) -> Path:
    """Layers of x + down(gate(x) * up(x)), in phases. `twisted`: up before gate in every second one."""
    from maker.native import T, Trace, Ttnn

    trace = Trace()
    ttnn = Ttnn(trace, [1, 1])
    trace.lane(0, 100)
    trace.fact("uid", "layers")
    made = 100
    for number, phase in enumerate(phases):
        trace.context(phase=phase)
        rows = ttnn.spec([1, 1, 32 * (number + 1), 64])
        weight = ttnn.spec([1, 1, 64, 64], dtype=dtype)
        result = trace.value(T(rows))
        linear = trace.call_value("ttnn.linear", T(rows), T(weight))
        multiply = trace.call_value("ttnn.multiply", T(rows), T(rows))
        add = trace.call_value("ttnn.add", T(rows), T(rows))

        def step(call: int, *given: int) -> int:
            nonlocal made
            made += 1
            trace.call(call, [(each, 1) for each in given], result=result, returned=[(made, 1, made, 0, 0)])
            return made

        x = 10 + number
        for layer in range(count):
            first, second = 20 + 3 * layer, 21 + 3 * layer
            if twisted and layer % 2:
                up, gate = step(linear, x, second), 0
                gate = step(linear, x, first)
            else:
                gate = step(linear, x, first)
                up = step(linear, x, second)
            x = step(add, x, step(linear, step(multiply, gate, up), 22 + 3 * layer))
    path.write_bytes(trace.bytes())
    return path


def make(opwright, trace: Path, out: Path, *more: object, status: int = 0, ops: str = GATED, name: str = "gated") -> dict:
    result = opwright("fuse", "make", "--trace", trace, "--ops", ops, "--name", name, "--out", out, *more, "--format", "json")
    assert result.returncode == status, result.stdout[-3000:] + result.stderr
    return json.loads(result.stdout) if result.stdout else {"error": result.stderr}


def section(report: dict, name: str) -> dict:
    (found,) = [one for one in report["sections"] if one["id"] == name]
    return found


# -- make


def test_a_sequence_becomes_a_proven_test(opwright, tmp_path) -> None:
    out = tmp_path / "out"
    report = make(opwright, layers(tmp_path / "t.opwt", twisted=True), out)
    assert set(report) == {"name", "trace", "commit", "phase", "sections", "findings", "params"}
    assert [one["id"] for one in report["sections"]] == STAGES
    assert {one["id"]: one["status"] for one in report["sections"]} == dict.fromkeys(STAGES, "pass") | {"single_device": "skip"}
    assert report["phase"] == ["decode"]
    (row,) = report["params"]
    assert len(row["matches"]) == 3 and row["ccl"] is False
    assert row["internal_bytes"] == 3 * 32 * 64 * 2
    assert 0.99 <= row["pcc"] < 1
    substitute = section(report, "substitute")["metrics"]
    assert substitute["replaced"] == 3 and substitute["equal"] == substitute["compared"] > 0
    negative = section(report, "negative")["metrics"]
    assert negative["vacuous"] == 0 and negative["noticed"] >= 3
    assert [finding["code"] for finding in report["findings"]] == ["NO_PREFILL"]
    files = {str(file.relative_to(out)) for file in out.rglob("*") if file.is_file()}
    assert {"gated.params.json", "gated.cases", "test_gated.py", "README.md", "report.json", "report.md"} <= files
    assert json.loads((out / "report.json").read_text()) == report
    for line in (out / "gated.cases").read_text().splitlines():
        assert line.startswith(("#", "ttnn."))


def test_the_same_trace_gives_the_same_bytes_and_goes_on_where_it_was(opwright, tmp_path) -> None:
    trace = layers(tmp_path / "t.opwt")
    for name in ("a", "b"):
        make(opwright, trace, tmp_path / name)
    for file in ("gated.params.json", "gated.cases", "test_gated.py", "README.md"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes(), file
    text = (tmp_path / "a" / "report.json").read_text()
    again = opwright("fuse", "make", "--trace", trace, "--ops", GATED, "--name", "gated", "--out", tmp_path / "a")
    assert again.returncode == 0, again.stderr
    for stage in ("baseline", "unit", "substitute", "negative"):
        assert f"{stage:<14} pass (as before)" in again.stdout
    params = [json.loads(one)["params"] for one in (text, (tmp_path / "a" / "report.json").read_text())]
    assert params[0] == params[1]


def test_decode_and_prefill_are_two_sets_of_one_test(opwright, tmp_path) -> None:
    report = make(opwright, layers(tmp_path / "t.opwt", phases=("decode", "prefill")), tmp_path / "out")
    assert [row["id"] for row in report["params"]] == ["decode_1", "prefill_64"]
    assert report["findings"] == []
    only = make(opwright, tmp_path / "t.opwt", tmp_path / "only", "--phase", "prefill")
    assert [row["id"] for row in only["params"]] == ["prefill_64"]


def test_collectives_of_a_mesh(opwright, tmp_path) -> None:
    report = make(opwright, PARALLEL, tmp_path / "out", ops=f"{GATED},reduce_scatter", name="parallel_mlp")
    assert section(report, "single_device")["status"] == "skip"
    assert "exchanges parts between chips" in section(report, "single_device")["reason"]
    shifted = [one for one in section(report, "negative")["metrics"]["controls"] if one["control"] == "shard_shifted"]
    assert shifted and all(one["noticed"] and not one["skipped"] for one in shifted)
    assert all(row["ccl"] for row in report["params"])


# -- what is refused


def test_no_match_says_why(opwright, tmp_path) -> None:
    trace = layers(tmp_path / "t.opwt")
    for ops, word in (("linear,softmax", "no operation 'softmax'"), ("add*9", "no match: 'add*9'")):
        result = opwright("fuse", "make", "--trace", trace, "--ops", ops, "--name", "x", "--out", tmp_path / "out")
        assert result.returncode == 3 and word in result.stderr, result.stderr
    assert not (tmp_path / "out").exists()


def test_an_ambiguous_sequence_is_told_and_with_strict_refused(opwright, tmp_path) -> None:
    trace = layers(tmp_path / "t.opwt", count=4)
    report = make(opwright, trace, tmp_path / "out", ops="add,linear*2,multiply,linear,add")
    assert "AMBIGUOUS" in [finding["code"] for finding in report["findings"]]
    make(opwright, trace, tmp_path / "strict", "--strict", status=4, ops="add,linear*2,multiply,linear,add")
    assert not (tmp_path / "strict").exists()


def test_a_folder_of_others_is_left_alone(opwright, tmp_path) -> None:
    trace, out = layers(tmp_path / "t.opwt"), tmp_path / "out"
    out.mkdir()
    (out / "notes.txt").write_text("mine")
    assert "other files are in it" in make(opwright, trace, out, status=2)["error"]
    assert [file.name for file in out.iterdir()] == ["notes.txt"]
    shutil.rmtree(out)
    make(opwright, trace, out)
    changed = out / "gated.cases"
    changed.write_text("# mine\n")
    assert "was changed since it was made" in make(opwright, trace, out, status=2)["error"]
    assert changed.read_text() == "# mine\n"


def test_what_cannot_be_read_is_five(opwright, tmp_path) -> None:
    for wanted in (tmp_path / "none.opwt", fixture("native/damaged.opwt").parent / "newer_version.opwt"):
        result = opwright("fuse", "make", "--trace", wanted, "--ops", "linear", "--name", "x", "--out", tmp_path / "out")
        assert result.returncode == 5, (wanted, result.returncode, result.stderr)
    text = tmp_path / "x.params.json"
    text.write_text("{}")
    assert opwright("fuse", "check", text, "--trace", MLP).returncode == 5
    assert opwright("fuse", "list", tmp_path).returncode == 5


def test_real_weights_need_contents(opwright, tmp_path) -> None:
    report = make(opwright, layers(tmp_path / "t.opwt"), tmp_path / "out", "--weights", "real", status=1)
    assert section(report, "boundary")["status"] == "fail"
    assert "NO_WEIGHTS" in [finding["code"] for finding in report["findings"]]


# -- check, list


def test_drift_is_told_field_by_field(opwright, tmp_path) -> None:
    trace = layers(tmp_path / "t.opwt")
    make(opwright, trace, tmp_path / "out")
    params = tmp_path / "out" / "gated.params.json"
    same = opwright("fuse", "check", params, "--trace", trace, "--format", "json")
    assert same.returncode == 0, same.stdout + same.stderr
    assert json.loads(same.stdout)["equal"] == 3
    other = layers(tmp_path / "o.opwt", dtype="BFLOAT8_B")
    drifted = opwright("fuse", "check", params, "--trace", other, "--format", "json")
    assert drifted.returncode == 1, drifted.stderr
    answer = json.loads(drifted.stdout)
    assert answer["drifted"] and answer["equal"] == 0
    assert {(one["field"], one["test"], one["trace"]) for one in answer["drifts"]} >= {
        ("input_tensor_b.dtype", "BFLOAT16", "BFLOAT8_B")
    }


def test_list_is_the_status_table(opwright, tmp_path) -> None:
    make(opwright, layers(tmp_path / "t.opwt", phases=("decode", "prefill")), tmp_path / "all" / "gated")
    rows = json.loads(opwright("fuse", "list", tmp_path / "all", "--format", "json").stdout)
    assert [(row["test"], row["set"], row["unit"], row["negative"]) for row in rows] == [
        ("gated", "decode_1", "pass", "pass"),
        ("gated", "prefill_64", "pass", "pass"),
    ]
    markdown = opwright("fuse", "list", tmp_path / "all", "--markdown").stdout.splitlines()
    assert markdown[0].startswith("| test | set |") and len(markdown) == 4


# -- suggest


def suggested(opwright, *arguments: object) -> list[dict]:
    result = opwright("fuse", "suggest", *arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)["suggestions"]


def patterns(suggestions: list[dict]) -> list[list[str]]:
    """Of each group all its sequences."""
    return [[one["pattern"], *(variant["pattern"] for variant in one["variants"])] for one in suggestions]


def test_what_engineers_chose_is_among_the_first_ten(opwright) -> None:
    for trace, wanted in (
        (DECODER, "linear*2,multiply,linear"),
        (PARALLEL, "linear*2,multiply,linear"),
    ):
        groups = patterns(suggested(opwright, trace))
        assert len(groups) <= 10
        assert any(wanted in group for group in groups), (trace, groups)


def test_suggestions_over_traces_are_joined(opwright, tmp_path) -> None:
    first = layers(tmp_path / "a.opwt")
    second = layers(tmp_path / "b.opwt", count=2, twisted=True)
    found = suggested(opwright, first, second, "--variants", "9")
    every = [one for group in found for one in (group, *group["variants"])]
    (gated,) = [one for one in every if one["pattern"] == GATED]
    assert gated["matches"] == 5 and len(gated["traces"]) == 2 and gated["name"] == "gated_mlp"
