"""Commands that ask: the same answer in every format, selectors against answers computed here, near names, exit codes."""

import csv
import io
import json
import shutil
from pathlib import Path

import pytest
import raw_tensors
import support
import traces
from conftest import Opwright
from traces import EXPECTED, answer, check_no_crash, fixture, load_trace, tensor

MIXED = ("master/era1_1c.json", "master/era2_g4.json", "per_op/v2", "demo/tiny_llm.json", "demo/tiny_cnn")


@pytest.fixture(scope="module")
def mixed_store(opwright_program, tmp_path_factory) -> Path:
    """A store with configurations of both conventions."""
    runner = Opwright(opwright_program, tmp_path_factory.mktemp("mixed"))
    load_trace(runner, *map(fixture, MIXED))
    return runner.folder / "opwright.db"


@pytest.fixture
def store(mixed_store: Path, tmp_path: Path) -> None:
    shutil.copy(mixed_store, tmp_path)


def rows_of(opwright, *arguments: object) -> dict[str, list[dict]]:
    """The same command in json, jsonl and csv, each as a list of objects."""
    texts = {name: opwright(*arguments, "--format", name).stdout for name in ("json", "jsonl", "csv")}
    whole = json.loads(texts["json"])
    return {
        "json": whole if isinstance(whole, list) else [whole],
        "jsonl": [json.loads(line) for line in texts["jsonl"].splitlines()],
        "csv": list(csv.DictReader(io.StringIO(texts["csv"], newline=""))),
    }


# -- formats


@pytest.mark.parametrize("verb", [("ops",), ("show",), ("show", "add"), ("stats",), ("doctor",)], ids=" ".join)
def test_formats_agree(verb: tuple, opwright, store) -> None:
    rows = rows_of(opwright, *verb)
    assert rows["jsonl"] == rows["json"]
    assert len(rows["csv"]) == len(rows["json"]) > 0
    for as_csv, as_json in zip(rows["csv"], rows["json"]):
        plain = {name: value for name, value in as_json.items() if isinstance(value, (int, str)) and name in as_csv}
        assert plain == {name: type(value)(as_csv[name]) for name, value in plain.items()}
        assert set(as_csv) <= set(as_json)


def test_formats_of_verify_and_diff_agree(opwright) -> None:
    master, other = fixture("master/era2_mixed_wrong_hash.json"), fixture("master/era2_g4.json")
    for arguments in (("verify", master), ("diff", master, other)):
        rows = rows_of(opwright, *arguments)
        assert rows["jsonl"] == rows["json"]
        for name, value in rows["csv"][0].items():
            whole = rows["json"][0][name]
            assert value == str(len(whole) if isinstance(whole, list) else whole)


def test_formats_of_import_agree(opwright) -> None:
    rows = rows_of(opwright, "import", "--dry-run", fixture("per_op/v2"))
    for row in (rows["json"][0], rows["jsonl"][0]):
        row.pop("seconds")
    assert rows["jsonl"] == rows["json"]
    assert {int(rows["csv"][0][name]) - rows["json"][0][name] for name in ("files", "calls", "configurations", "added")} == {0}


def test_tables_are_for_people(opwright, store) -> None:
    lines = opwright("ops").stdout.splitlines()
    assert lines[0].split() == ["operation", "configurations", "calls", "sources"]
    assert len(lines) == 2 + len(answer(opwright("ops", "--format", "json")))
    assert lines[-1].startswith("≥: ")  # an era-1 trace does not count calls
    lines = opwright("show", "add").stdout.splitlines()
    assert lines[0].startswith("ttnn.add   ")
    assert any("[1,1,96,96] BFLOAT16 TILE  L1 WIDTH_SHARDED  shard [32,32] on (0,0)-(2,0) ROW_MAJOR" in line for line in lines)


def test_names_that_scripts_depend_on(opwright, store) -> None:
    """The field names that the design fixes."""
    summary = answer(opwright("import", "--dry-run", fixture("per_op/damaged"), "--format", "json"))
    assert set(summary) >= {
        *("files", "calls", "operations", "configurations", "added", "known", "filtered", "losses", "unparsed_left", "bytes", "seconds")
    }
    assert isinstance(summary["filtered"], dict) and isinstance(summary["losses"], dict)
    assert set(answer(opwright("ops", "--format", "json"))[0]) >= {"operation", "configurations", "calls", "sources"}
    verified = answer(opwright("verify", fixture("demo/tiny_llm.json"), "--format", "json"))
    assert set(verified) >= {"configurations", "matched", "generation", "mismatched"}
    assert isinstance(verified["mismatched"], list)


# -- operations by name


def test_every_spelling_of_a_name(opwright, store) -> None:
    rows = traces.shown(opwright, "ttnn.add")
    assert {row["operation"] for row in rows} == {"ttnn.add"}
    for name in ("add", "ttnn::add"):
        assert traces.shown(opwright, name) == rows
    for name in ("transformer.scaled_dot_product_attention", "ttnn::transformer::scaled_dot_product_attention"):
        assert traces.shown(opwright, name) == traces.shown(opwright, "scaled_dot_product_attention") != []


@pytest.mark.parametrize(("typed", "meant"), [("softmx", "ttnn.softmax"), ("sigmoid", "ttnn.sigmoid_accurate"), ("ttnn::linaer", "ttnn.linear")])
def test_near_names_are_suggested(typed: str, meant: str, opwright, store) -> None:
    result = opwright("show", typed)
    assert result.returncode == 3
    assert result.stdout == ""
    assert typed in result.stderr and meant in result.stderr


def test_limit_counts_what_it_leaves_out(opwright, store) -> None:
    total = len(traces.shown(opwright, "add"))
    shown = opwright("show", "add", "--limit", "1").stdout
    assert str(total - 1) in shown.splitlines()[-1]


def test_sources_are_listed(opwright, store) -> None:
    text = opwright("show", "layer_norm", "--sources").stdout
    assert "models/tiny_llm/demo/demo.py" in text and "n300" in text


def test_stats_are_sums_over_the_rest(opwright, store) -> None:
    stats = answer(opwright("stats", "--format", "json"))
    ops = answer(opwright("ops", "--format", "json"))
    rows = traces.shown(opwright)
    assert stats["operations"] == len(ops)
    assert stats["configurations"] == len(rows) == sum(row["configurations"] for row in ops)
    assert stats["calls"] == sum(row["calls"] for row in ops) == sum(row["calls"] for row in rows)
    assert stats["per_operation"] == {row["operation"]: row["configurations"] for row in ops}
    tensors = [one for counts in raw_tensors.shown_tensors(rows).values() for one in counts.elements()]
    assert stats["tensors"] == len(tensors)
    for name, place in {"dtypes": 1, "layouts": 2}.items():
        words = [one[place] or "absent" for one in tensors]
        assert stats[name] == {word: words.count(word) for word in words}


# -- selectors


def all_memories(row: dict) -> list[tuple]:
    """(memory layout, buffer, shard shape) of tensors and of arguments that are memory configs."""
    found = [(one[4], one[5], one[6] and one[6][0]) for one in all_tensors(row)]
    for value in row["arguments"].values():
        if isinstance(value, dict) and "memory" in value:
            memory = value["memory"]
            found.append((memory.get("layout"), memory.get("buffer"), tuple(memory.get("shard", {}).get("shape", ())) or None))
    return found


def all_tensors(row: dict) -> list[tuple]:
    return [one for value in row["arguments"].values() for one in raw_tensors.shown_value(value)]


def members(value: object) -> dict:
    """The fields of a struct or the entries of a dict."""
    return (value.get("fields") or value.get("dict") or {}) if isinstance(value, dict) else {}


def volume(shape: tuple) -> int:
    product = 1
    for dim in shape:
        product *= dim
    return product


SELECTORS = {
    "op=add": lambda row: row["operation"] == "ttnn.add",
    "op~soft or op~rotary": lambda row: "soft" in row["operation"] or "rotary" in row["operation"],
    "op in (linear, ttnn::matmul)": lambda row: row["operation"] in ("ttnn.linear", "ttnn.matmul"),
    "dtype=bfloat8_b": lambda row: any(one[1] == "BFLOAT8_B" for one in all_tensors(row)),
    "dtype!=BFLOAT16": lambda row: all(one[1] != "BFLOAT16" for one in all_tensors(row)),
    "in0.dtype=DataType::BFLOAT16": lambda row: all_tensors(row)[:1] and all_tensors(row)[0][1] == "BFLOAT16",
    "layout=ROW_MAJOR": lambda row: any(one[2] == "ROW_MAJOR" for one in all_tensors(row)),
    "storage=HOST": lambda row: any(one[3] == "HOST" for one in all_tensors(row)),
    "memory=HEIGHT_SHARDED": lambda row: any(one[0] == "HEIGHT_SHARDED" for one in all_memories(row)),
    "buffer=L1 and not sharded": lambda row: any(one[1] == "L1" for one in all_memories(row))
    and not any(one[0] not in (None, "INTERLEAVED") for one in all_memories(row)),
    "shard=[*,32]": lambda row: any(one[2] and len(one[2]) == 2 and one[2][1] == 32 for one in all_memories(row)),
    "rank=2": lambda row: any(len(one[0]) == 2 for one in all_tensors(row)),
    "shape=[1,1,96,*]": lambda row: any(one[0][:3] == (1, 1, 96) and len(one[0]) == 4 for one in all_tensors(row)),
    "shape=[...,96]": lambda row: any(one[0][-1:] == (96,) for one in all_tensors(row)),
    "dim[-1]>=384": lambda row: any(one[0] and one[0][-1] >= 384 for one in all_tensors(row)),
    "volume>10000": lambda row: any(volume(one[0]) > 10000 for one in all_tensors(row)),
    "tensors=2": lambda row: len(all_tensors(row)) == 2,
    "tensors=0 or convention=cpp": lambda row: not all_tensors(row) or row["convention"] == "cpp",
    "model~cnn": lambda row: any("cnn" in name for name in [*row["models"], *row["sources"]]),
    "model=tiny-llm-96": lambda row: "tiny-llm-96" in row["models"],
    "machine~n300": lambda row: any("n300" in name for name in row["machines"]),
    "calls>3": lambda row: row["calls"] > 3,
    "arg.dim=-1": lambda row: row["arguments"].get("dim") == -1,
    "arg.program_config.in0_block_w>=2": lambda row: members(row["arguments"].get("program_config")).get("in0_block_w", 0) >= 2,
    "arg.memory_config": lambda row: row["arguments"].get("memory_config") is not None,
    "(op=add or op=linear) and not (rank=4 and dtype=BFLOAT16)": lambda row: row["operation"] in ("ttnn.add", "ttnn.linear")
    and not (any(len(one[0]) == 4 for one in all_tensors(row)) and any(one[1] == "BFLOAT16" for one in all_tensors(row))),
}


@pytest.mark.parametrize("selector", SELECTORS)
def test_selector(selector: str, opwright, store) -> None:
    """Every verb with --where gives what filtering the whole answer here gives."""
    rows = traces.shown(opwright)
    wanted = [row for row in rows if SELECTORS[selector](row)]
    assert traces.shown(opwright, "--where", selector) == wanted
    exported = opwright("export", "--to", "jsonl", "--where", selector).stdout.splitlines()
    assert [json.loads(line)["key"] for line in exported] == [row["key"] for row in wanted]
    stats = answer(opwright("stats", "--where", selector, "--format", "json"))
    assert (stats["configurations"], stats["calls"]) == (len(wanted), sum(row["calls"] for row in wanted))
    ops = answer(opwright("ops", "--where", selector, "--format", "json"))
    assert {row["operation"]: row["configurations"] for row in ops} == stats["per_operation"]


def test_selectors_are_no_test_of_nothing(opwright, store) -> None:
    rows = traces.shown(opwright)
    empty = [text for text, holds in SELECTORS.items() if not any(map(holds, rows))]
    full = [text for text, holds in SELECTORS.items() if all(map(holds, rows))]
    assert (empty, full) == ([], [])


def test_selector_in_diff(opwright) -> None:
    a, b = fixture("master/era2_g4.json"), fixture("master/era2_g3.json")
    assert opwright("diff", a, b).returncode == 1
    assert opwright("diff", a, b, "--where", "op=add").returncode == 0
    found = answer(opwright("diff", a, b, "--where", "op=relu", "--format", "json"), 1)
    assert {row["operation"] for row in found["added"] + found["removed"]} == {"ttnn.relu"}


def test_nothing_matches(opwright, store) -> None:
    assert answer(opwright("ops", "--where", "dim[0]=12345", "--format", "json")) == []
    assert answer(opwright("show", "--where", "dim[0]=12345", "--format", "json")) == []
    assert answer(opwright("stats", "--where", "dim[0]=12345", "--format", "json"))["configurations"] == 0


# -- diff


def write(path, configurations: dict) -> str:
    path.write_text(json.dumps(traces.era2_master(configurations)))
    return str(path)


def test_diff_names_the_fields_that_changed(opwright, tmp_path) -> None:
    same = {"arg0": tensor([32, 32]), "arg1": tensor([32, 32])}
    old = write(
        tmp_path / "old.json",
        {
            "ttnn.add": [same, {"arg0": tensor([1, 64]), "arg1": tensor([1, 64])}],
            "ttnn.softmax": [{"arg0": tensor([96, 96]), "dim": -1}],
            "ttnn.relu": [{"arg0": tensor([7, 7])}],
        },
    )
    new = write(
        tmp_path / "new.json",
        {
            "ttnn.add": [{"arg0": tensor([1, 64]), "arg1": tensor([1, 64], "BFLOAT8_B")}, same],
            "ttnn.softmax": [{"arg0": tensor([96, 128]), "arg1": -1}],
            "ttnn.silu": [{"arg0": tensor([7, 7])}],
        },
    )
    found = answer(opwright("diff", old, new, "--format", "json"), 1)
    assert (found["equal"], found["same"]) == (False, 1)
    assert [row["operation"] for row in found["added"]] == ["ttnn.silu"]
    assert [row["operation"] for row in found["removed"]] == ["ttnn.relu"]
    changed = {row["operation"]: row for row in found["changed"]}
    assert set(changed) == {"ttnn.add", "ttnn.softmax"}
    assert "dtype" in json.dumps(changed["ttnn.add"]) and "BFLOAT8_B" in json.dumps(changed["ttnn.add"])
    text = opwright("diff", old, new).stdout
    assert "input_tensor_b.dtype: BFLOAT16 -> BFLOAT8_B" in text
    assert "input_tensor.shape: [96,96] -> [96,128]" in text


def test_diff_pairs_nearest_configurations(opwright, tmp_path) -> None:
    """Many configurations, each changed in one field: each meets its own."""
    shapes = [[1, 1, 32 * n, 64 * n] for n in range(1, 21)]
    old = write(tmp_path / "old.json", {"ttnn.relu": [{"arg0": tensor(shape)} for shape in shapes]})
    new = write(tmp_path / "new.json", {"ttnn.relu": [{"arg0": tensor(shape, layout="ROW_MAJOR")} for shape in shapes[::-1]]})
    found = answer(opwright("diff", old, new, "--format", "json"), 1)
    assert (len(found["changed"]), found["added"], found["removed"]) == (20, [], [])
    assert opwright("diff", old, new, "--limit", "100").stdout.count("layout: TILE -> ROW_MAJOR") == 20


@pytest.mark.parametrize("name", [name for name, facts in EXPECTED.items() if facts.get("format") in ("master", "per_op", "jsonl", "graph")])
def test_a_trace_does_not_differ_from_itself(name: str, opwright) -> None:
    assert answer(opwright("diff", fixture(name), fixture(name), "--format", "json"))["equal"] is True


def test_diff_of_traces_and_stores(opwright) -> None:
    load_trace(opwright, fixture("master/era2_g4.json"), store="a.db")
    assert opwright("diff", "a.db", fixture("master/era2_g4.json")).returncode == 0
    assert opwright("diff", fixture("compressed/era2_g4.json.zst"), "a.db").returncode == 0
    assert opwright("diff", "a.db", fixture("master/era2_g3.json")).returncode == 1
    assert opwright("diff", fixture("per_op/v3"), fixture("per_op/expected_master_v3.json")).returncode == 0


# -- verify


VERIFIED = [name for name, facts in EXPECTED.items() if "hashes" in facts]


@pytest.mark.parametrize("name", VERIFIED)
def test_verify(name: str, opwright) -> None:
    """Every hash that some generation explains is reproduced; the others are listed, with exit status 1."""
    facts = EXPECTED[name]
    explained = [entry for entry in facts["hashes"] if entry["matches"]]
    unexplained = [entry for entry in facts["hashes"] if not entry["matches"] and entry["config_hash"]]
    found = answer(opwright("verify", fixture(name), "--format", "json"), 1 if unexplained else 0)
    assert found["configurations"] == len(facts["hashes"])
    assert found["matched"] == len(explained)
    assert sorted(row["config_hash"] for row in found["mismatched"]) == sorted(entry["config_hash"] for entry in unexplained)
    if facts.get("generations"):
        assert found["generation"] == "/".join(facts["generations"])
    for generation, count in found["per_generation"].items():
        assert count == sum(generation in [name.rstrip("*") for name in entry["matches"]] for entry in facts["hashes"])


def test_verify_of_a_file_without_hashes(opwright) -> None:
    found = answer(opwright("verify", fixture("master/era1_1c.json"), "--format", "json"))
    assert (found["matched"], found["mismatched"]) == (0, [])
    assert found["without_hash"] == found["configurations"] == EXPECTED["master/era1_1c.json"]["forms"]


# -- help


def test_every_verb_has_help(opwright) -> None:
    overview = opwright("help").stdout
    verbs = [line.split()[0] for line in overview.split("Verbs:\n")[1].split("\n\n")[0].splitlines()]
    assert {"import", "ops", "stats", "show", "export", "verify", "diff", "doctor", "help"} <= set(verbs)
    for verb in set(verbs) - {"help"}:
        by_word, by_flag = opwright("help", verb), opwright(verb, "--help")
        assert by_word.returncode == by_flag.returncode == 0
        assert by_word.stdout == by_flag.stdout != ""


def test_options_may_stand_before_or_after_the_verb(opwright, store) -> None:
    assert opwright("--format", "json", "ops").stdout == opwright("ops", "--format", "json").stdout
    assert opwright("ops", "--store", "opwright.db").stdout == opwright("--store", "opwright.db", "ops").stdout


def test_closed_pipe_is_no_crash(opwright, store, tmp_path) -> None:
    script = f"'{opwright.program}' show --format json | head -c 1 > /dev/null; exit 0"
    result = support.run_shell(script, tmp_path, support.command_env(tmp_path))
    check_no_crash(result)
