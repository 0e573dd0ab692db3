"""Every fixture trace against tests/fixtures/expected.json, which an independent program computed."""

import json
import shutil

import pytest
import traces
from traces import EXPECTED, answer, dotted, fixture, load_trace

MASTERS = [name for name, facts in EXPECTED.items() if facts.get("format") == "master"]
PER_OP = [name for name, facts in EXPECTED.items() if facts.get("format") == "per_op"]
JSONL = [name for name, facts in EXPECTED.items() if facts.get("format") == "jsonl"]
GRAPHS = [name for name, facts in EXPECTED.items() if facts.get("format") == "graph"]
COMPRESSED = [name for name, facts in EXPECTED.items() if "same_as_file" in facts]

# What an import prints about its input, the time and the place aside.
READ = ("calls", "uncounted", "raised", "operations", "configurations", "records", "forms", "filtered", "losses", "unparsed_left")


def read_part(summary: dict) -> dict:
    return {name: summary[name] for name in READ}


def calls_by_op(opwright) -> dict[str, int]:
    return {row["operation"]: row["calls"] for row in answer(opwright("ops", "--format", "json"))}


def configurations_by_op(opwright) -> dict[str, int]:
    return {row["operation"]: row["configurations"] for row in answer(opwright("ops", "--format", "json"))}


def repeats(facts: dict) -> dict[str, int]:
    """How many forms of an operation repeat another in other words: "ttnn.softmax 2 = 1" -> 1."""
    names = [text.split()[0].replace("::", ".") for text in facts.get("same_as", [])]
    return {name: names.count(name) for name in names}


def expected_configurations(facts: dict) -> dict[str, int]:
    repeated = repeats(facts)
    return {op: row["forms"] - repeated.get(op, 0) for op, row in dotted(facts["per_op"]).items()}


@pytest.mark.parametrize("name", MASTERS)
def test_master(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert summary["operations"] == facts["ops"]
    assert summary["forms"] == facts["forms"]
    assert summary["configurations"] == facts["distinct"] == summary["added"]
    assert summary["filtered"] == dotted(facts["filtered"])
    assert configurations_by_op(opwright) == expected_configurations(facts)
    # The oldest format lists a call as often as it was made; the others list a configuration once.
    assert summary["records"] == (facts["calls"] if facts["variant"] == "content" else facts["forms"])


@pytest.mark.parametrize("name", MASTERS)
def test_nothing_of_a_master_is_lost(name: str, opwright) -> None:
    assert load_trace(opwright, fixture(name), options=("--dry-run",))["losses"] == {}


@pytest.mark.parametrize("name", [name for name in MASTERS if EXPECTED[name]["variant"] in ("2", "content")])
def test_calls_of_master_with_counts(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert (summary["calls"], summary["uncounted"]) == (facts["calls"], 0)
    assert calls_by_op(opwright) == {op: row["calls"] for op, row in dotted(facts["per_op"]).items()}


@pytest.mark.parametrize("name", [name for name in MASTERS if EXPECTED[name]["variant"] in ("1a", "1b", "1c", "1d")])
def test_calls_of_master_without_counts(name: str, opwright) -> None:
    """Each record stands for one call, and is said to be uncounted."""
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert summary["uncounted"] == summary["calls"] == facts["calls"]
    assert calls_by_op(opwright) == {op: row["calls"] for op, row in dotted(facts["per_op"]).items()}


@pytest.mark.parametrize("name", [name for name in MASTERS if EXPECTED[name]["sources"]])
def test_sources_of_master(name: str, opwright) -> None:
    load_trace(opwright, fixture(name))
    seen = {source for row in traces.shown(opwright) for source in row["sources"]}
    assert seen >= set(EXPECTED[name]["sources"]) - {"unknown"}
    assert seen <= set(EXPECTED[name]["sources"]) | {"unknown"}


@pytest.mark.parametrize("name", PER_OP)
def test_per_op_folder(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert summary["operations"] == facts["ops"]
    assert summary["calls"] == summary["records"] == facts["calls"]
    assert summary["configurations"] == facts["distinct"] == summary["added"]
    assert summary["filtered"] == facts["filtered"]
    assert calls_by_op(opwright) == {op: row["calls"] for op, row in facts["per_op"].items()}
    assert configurations_by_op(opwright) == expected_configurations(facts)
    lost = len(facts.get("losses", {})) + facts.get("empty_metadata", False)
    assert sum(summary["losses"].values()) == lost


@pytest.mark.parametrize("name", PER_OP)
def test_like_existing_drops_what_the_existing_list_lacks(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name), options=("--like-existing", "--dry-run"))
    assert summary["filtered"] == facts["filtered_like_existing"]


@pytest.mark.parametrize("name", PER_OP)
def test_all_ops_keeps_everything(name: str, opwright) -> None:
    summary = load_trace(opwright, fixture(name), options=("--all-ops", "--dry-run"))
    assert (summary["calls"], summary["filtered"]) == (EXPECTED[name]["total_calls"], {})


def test_order_of_per_op_files_does_not_matter(opwright, tmp_path) -> None:
    """The same calls under names whose order is turned round."""
    original = fixture("per_op/v2")
    turned = tmp_path / "turned"
    turned.mkdir()
    names = sorted(file.name for file in original.glob("[0-9]*.json"))
    for old, new in zip(names, reversed(names)):
        number, rest = new.split("_")[0], old.split("_", 1)[1]
        shutil.copy(original / old, turned / f"{number}_{rest}")
    shutil.copy(original / "_trace_metadata.json", turned)
    load_trace(opwright, original, store="original.db")
    load_trace(opwright, turned, store="turned.db")
    assert traces.shown(opwright, store="original.db") == traces.shown(opwright, store="turned.db")


def test_tests_that_did_not_pass_are_left_out_and_counted(opwright) -> None:
    facts = EXPECTED["per_op/per_test"]
    summary = load_trace(opwright, fixture("per_op/per_test"))
    assert summary["calls"] == facts["calls"]
    assert summary["left_out"]["calls of tests that did not pass"] == facts["calls_of_failed_tests"]
    assert summary["left_out"]["tests that failed"] == facts["tests"]["failed"]
    assert summary["left_out"]["tests that were skipped"] == facts["tests"]["skipped"]


def test_include_failed_takes_them(opwright) -> None:
    facts = EXPECTED["per_op/per_test"]
    summary = load_trace(opwright, fixture("per_op/per_test"), options=("--include-failed",))
    assert summary["calls"] == facts["calls"] + facts["calls_of_failed_tests"]
    assert "calls of tests that did not pass" not in summary["left_out"]


@pytest.mark.parametrize("name", JSONL)
def test_jsonl(name: str, opwright) -> None:
    """Calls that raised are calls, and marked."""
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert (summary["calls"], summary["raised"]) == (facts["calls"], facts["errors"])
    assert (summary["operations"], summary["configurations"]) == (facts["ops"], facts["distinct"])
    assert summary["filtered"] == facts["filtered"]
    assert sum(summary["losses"].values()) == len(facts["losses"])
    assert calls_by_op(opwright) == {op: row["calls"] for op, row in facts["per_op"].items()}


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_counts_every_call_that_carries_arguments(name: str, opwright) -> None:
    """Old nodes have no argument texts, but their tensor edges: those calls come in with tensors only."""
    facts = EXPECTED[name]
    view = facts["with_arguments" if facts["node_format"] == "current" else "every_function"]
    load_trace(opwright, fixture(name))
    assert calls_by_op(opwright) == dotted(view["kept"])


def test_graph_says_what_it_left_out(opwright) -> None:
    summary = load_trace(opwright, fixture("graph/report.json"))
    assert summary["filtered"] == EXPECTED["graph/report.json"]["with_arguments"]["filtered"]
    without = [count for what, count in summary["left_out"].items() if "no arguments" in what]
    assert without == [3]  # ttnn.layer_norm, ttnn.linear, Tensor::deallocate


def test_graph_says_more_than_its_serialized_form(opwright) -> None:
    """The serialized form has the argument texts only; the graph has tensor nodes, which name layout and storage."""

    def arguments(store: str, *dropped: str) -> list:
        rows = traces.shown(opwright, store=store)
        for row in rows:
            for value in row["arguments"].values():
                for name in dropped if isinstance(value, dict) else ():
                    value.get("tensor", {}).pop(name, None)
        return [(row["operation"], row["arguments"]) for row in rows]

    graph = load_trace(opwright, fixture("graph/nodes.json"), store="graph.db")
    serialized = load_trace(opwright, fixture("graph/serialized.json"), store="serialized.db")
    assert graph["filtered"] == serialized["filtered"]
    assert arguments("graph.db", "layout", "storage") == arguments("serialized.db")
    assert arguments("graph.db") != arguments("serialized.db")


def test_python_record_of_graph_report(opwright) -> None:
    facts = EXPECTED["graph/report.python_io.json"]
    summary = load_trace(opwright, fixture("graph/report.python_io.json"))
    assert (summary["calls"], summary["filtered"]) == (facts["calls"], facts["filtered"])
    assert calls_by_op(opwright) == facts["per_op"]


@pytest.mark.parametrize("name", COMPRESSED)
def test_compressed_equals_plain(name: str, opwright) -> None:
    plain = load_trace(opwright, fixture(EXPECTED[name]["same_as_file"]), store="plain.db")
    packed = load_trace(opwright, fixture(name), store="packed.db")
    assert read_part(packed) == read_part(plain)
    assert packed["bytes"] == EXPECTED[name]["bytes_unpacked"]
    assert traces.shown(opwright, store="packed.db") == traces.shown(opwright, store="plain.db")
    again = load_trace(opwright, fixture(name), store="plain.db")
    assert again["added"] == 0
    assert traces.shown(opwright, store="plain.db") == traces.shown(opwright, store="packed.db")


@pytest.mark.parametrize("name", ["master/era1_1b.json", "master/era2_g4.json", "jsonl/ops.jsonl", "graph/nodes.json"])
def test_standard_input_equals_file(name: str, opwright) -> None:
    plain = load_trace(opwright, fixture(name), store="plain.db")
    piped = answer(
        opwright("--store", "piped.db", "import", "-", "--format", "json", input=fixture(name).read_text(encoding="utf-8"))
    )
    assert read_part(piped) == read_part(plain)
    assert traces.shown(opwright, store="piped.db") == traces.shown(opwright, store="plain.db")


def test_content_decides_not_the_name(opwright, tmp_path) -> None:
    shutil.copy(fixture("compressed/era2_g4.json.zst"), tmp_path / "trace.txt")
    shutil.copy(fixture("jsonl/ops.jsonl"), tmp_path / "ops.json")
    assert load_trace(opwright, tmp_path / "trace.txt")["records"] == EXPECTED["master/era2_g4.json"]["forms"]
    assert load_trace(opwright, tmp_path / "ops.json")["calls"] == load_trace(opwright, fixture("jsonl/ops.jsonl"))["calls"]


def test_folder_of_everything(opwright, tmp_path) -> None:
    """One folder with a trace of every format equals its parts imported one by one."""
    parts = ["master/era1_1c.json", "master/era2_g4.json", "per_op/v2", "per_op/v3", "jsonl/ops.jsonl", "graph/nodes.json"]
    folder = tmp_path / "everything"
    for part in parts:
        target = folder / part
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if fixture(part).is_dir() else shutil.copy)(fixture(part), target)
    whole = load_trace(opwright, folder, store="whole.db")
    for part in parts:
        load_trace(opwright, folder / part, store="parts.db")
    assert whole["losses"] == {}
    assert traces.shown(opwright, store="whole.db") == traces.shown(opwright, store="parts.db")


@pytest.mark.parametrize("name", ["master/era1_1c.json", "master/era2_g4.json", "per_op/v2"])
def test_other_words_for_the_same_call_are_one_configuration(name: str, opwright) -> None:
    facts = EXPECTED[name]
    summary = load_trace(opwright, fixture(name))
    assert summary["forms"] - summary["configurations"] == len(facts["same_as"])


def test_positional_and_keyword_spelling_are_the_same(opwright, tmp_path) -> None:
    tensor = traces.tensor([96, 96])
    master = traces.era2_master(
        {
            "ttnn.softmax": [
                {"arg0": tensor, "arg1": -1},
                {"arg0": tensor, "dim": -1},
                {"input_tensor": tensor, "dim": -1},
                {"dim": -1, "input_tensor": tensor},
                {"arg0": tensor, "dim": 1},
            ]
        }
    )
    (tmp_path / "m.json").write_text(json.dumps(master))
    summary = load_trace(opwright, "m.json")
    assert (summary["records"], summary["configurations"]) == (5, 2)


def test_ops_list_and_exclude(opwright, tmp_path) -> None:
    (tmp_path / "ops.txt").write_text("ttnn.add\nttnn::softmax\n")
    name = fixture("master/era2_g4.json")
    summary = load_trace(opwright, name, options=("--ops-list", "ops.txt", "--dry-run"))
    assert summary["filtered"] == {"ttnn.linear": 2, "ttnn.relu": 2, "ttnn.reshape": 1, "ttnn.typecast": 2}
    summary = load_trace(opwright, name, options=("--exclude", "add", "--exclude", "ttnn::linear", "--dry-run"))
    assert summary["filtered"] == {"ttnn.add": 3, "ttnn.linear": 2}
