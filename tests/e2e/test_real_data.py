"""Real traces, where they are there: counts of their tables, every hash, every tensor, round trips."""

import json
from collections import Counter
from pathlib import Path

import pytest
import raw_tensors
import traces
from conftest import Opwright
from traces import answer, load_trace

# file: (operations, configurations as the table of its README counts them, distinct ones, unparsed left)
ERA1 = {
    "ttnn/era1/ttnn_operations_master_2025-10-16.json": (16, 386, 386, 0),
    "ttnn/era1/ttnn_operations_master_2025-11-10.json": (26, 78, 78, 0),
    "ttnn/era1/ttnn_operations_master_2025-11-11.json": (26, 78, 78, 0),
    "ttnn/era1/ttnn_operations_master_2025-11-20.json": (35, 1079, 1079, 0),
    "ttnn/era1/ttnn_operations_master_2025-12-17_selftest.json": (1, 3, 3, 0),
    "ttnn/era1/ttnn_operations_master_2025-12-31_from_db.json": (81, 5213, 5209, 97),
}
ERA2 = {
    "ttnn/era2/ttnn_operations_master_2026-03-01.json": (1, 1, 1, 0),
    "ttnn/era2/ttnn_operations_master_2026-03-08_add_sweep.json": (22, 77, 56, 0),
    "ttnn/era2/ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json": (35, 338, 323, 0),
    "ttnn/era2/sweep_trace_gpt_oss_2026-04-30.json": (37, 132, 132, 0),
    "ttnn/era2/ttnn_operations_master_2026-05-10_llama_n300.json": (32, 609, 609, 0),
    "ttnn-0.81/mlp/ttnn_operations_master.json": (4, 24, 24, 0),
    "ttnn-0.81/block/ttnn_operations_master.json": (13, 16, 16, 0),
    "ttnn-0.81/cnn/ttnn_operations_master.json": (8, 10, 10, 0),
}
MASTERS = ERA1 | ERA2
GENERATIONS = {
    "ttnn/era2/ttnn_operations_master_2026-03-01.json": "G0",
    "ttnn/era2/ttnn_operations_master_2026-03-08_add_sweep.json": "G0",
    "ttnn/era2/ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json": "G0",
    "ttnn/era2/sweep_trace_gpt_oss_2026-04-30.json": "G1/G2/G3/G4",
    "ttnn/era2/ttnn_operations_master_2026-05-10_llama_n300.json": "G1/G2",
    "ttnn-0.81/mlp/ttnn_operations_master.json": "G5",
    "ttnn-0.81/block/ttnn_operations_master.json": "G5",
    "ttnn-0.81/cnn/ttnn_operations_master.json": "G5",
}
CALLS = {
    "ttnn/era2/ttnn_operations_master_2026-03-01.json": 61,
    "ttnn/era2/ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json": 195_806,
    "ttnn/era2/ttnn_operations_master_2026-05-10_llama_n300.json": 231_326,
    "ttnn-0.81/mlp/ttnn_operations_master.json": 72,
    "ttnn-0.81/block/ttnn_operations_master.json": 51,
    "ttnn-0.81/cnn/ttnn_operations_master.json": 10,
}


@pytest.fixture(scope="module")
def loaded(real_data, opwright_program, tmp_path_factory):
    """Imports a real file into a store of its own, once for all tests: gives (runner, store, summary)."""
    runner = Opwright(opwright_program, tmp_path_factory.mktemp("real"))
    known: dict[str, tuple] = {}

    def get(name: str) -> tuple:
        if name not in known:
            store = f"{len(known)}.db"
            known[name] = runner, store, load_trace(runner, real_data / name, store=store)
        return known[name]

    return get


@pytest.mark.parametrize("name", MASTERS)
def test_counts_are_those_of_the_tables(name: str, loaded) -> None:
    """`records` is what the tables count: configurations as the file lists them. `configurations`: distinct calls."""
    _, _, summary = loaded(name)
    assert (summary["operations"], summary["records"], summary["configurations"], summary["unparsed_left"]) == MASTERS[name]
    assert summary["added"] == summary["configurations"]
    assert (summary["filtered"], summary["losses"]) == ({}, {})


@pytest.mark.parametrize("name", CALLS)
def test_calls(name: str, loaded) -> None:
    runner, store, summary = loaded(name)
    assert (summary["calls"], summary["uncounted"]) == (CALLS[name], 0)
    assert sum(row["calls"] for row in answer(runner("--store", store, "ops", "--format", "json"))) == CALLS[name]


@pytest.mark.parametrize("name", MASTERS)
def test_importing_again_adds_nothing(name: str, loaded, real_data) -> None:
    runner, store, summary = loaded(name)
    before = traces.logical_dump(runner.folder / store)
    again = load_trace(runner, real_data / name, store=store)
    assert (again["added"], again["known"]) == (0, summary["configurations"])
    after = traces.logical_dump(runner.folder / store)
    for part in ("configurations", "forms", "occurrences", "sources", "machines"):
        assert after[part] == before[part]


@pytest.mark.parametrize("name", ERA2)
def test_every_hash_is_reproduced(name: str, real_data, opwright) -> None:
    found = answer(opwright("verify", real_data / name, "--format", "json"))
    assert (found["matched"], found["mismatched"], found["generation"]) == (ERA2[name][1], [], GENERATIONS[name])


@pytest.mark.parametrize("name", MASTERS)
def test_no_tensor_is_a_default(name: str, loaded, real_data) -> None:
    """Every tensor of the raw text, UnparsedElements included, is shown as it was written, and no other is.

    Where forms of a configuration were merged, how often a tensor occurs cannot be compared, only that it does.
    """
    runner, store, summary = loaded(name)
    raw = raw_tensors.raw_tensors(real_data / name)
    shown = raw_tensors.shown_tensors(traces.shown(runner, store=store))
    assert set(raw) == {row["operation"] for row in traces.shown(runner, store=store)}
    merged = summary["records"] != summary["configurations"]
    for op in raw:
        a, b = (set(raw[op]), set(shown[op])) if merged else (raw[op], shown[op])
        assert a == b, f"{op}: only in the file {list(a - b)[:2]}, only in the store {list(b - a)[:2]}"


def test_the_walk_sees_all_tensors(real_data) -> None:
    """A walk that finds nothing would prove nothing: these are the numbers of tensors in the files."""
    counts = {name: sum(counts.total() for counts in raw_tensors.raw_tensors(real_data / name).values()) for name in MASTERS}
    for name, count in counts.items():
        text = (real_data / name).read_text(encoding="utf-8")
        assert count == text.count('tensor_spec\\":') + text.count('"tensor_spec":') + text.count('"ttnn.Tensor"'), name
    assert sum(counts.values()) == 14_307


@pytest.mark.parametrize("name", MASTERS)
def test_export_round_trip(name: str, loaded, real_data) -> None:
    runner, store, _ = loaded(name)
    to = "master1" if name in ERA1 else "master"
    result = runner("--store", store, "export", "--to", to, "-o", f"{store}.json")
    assert (result.returncode, result.stderr) == (0, "")
    text = (runner.folder / f"{store}.json").read_text(encoding="utf-8")
    after, before = json.loads(text), json.loads((real_data / name).read_text(encoding="utf-8"))
    assert text == json.dumps(after, indent=2, sort_keys=to == "master")

    def forms(master: dict) -> set[str]:
        """Arguments and hash, with the order of keys for era 1, as its signature depends on it."""
        return {
            json.dumps([op, entry.get("config_hash"), entry["arguments"]] if isinstance(entry, dict) else [op, None, entry], sort_keys=to == "master")
            for op, rest in master["operations"].items()
            for entry in rest["configurations"]
        }

    assert forms(after) == forms(before)
    assert answer(runner("diff", real_data / name, f"{store}.json", "--format", "json"))["equal"] is True


@pytest.mark.parametrize("program", ["mlp", "block", "cnn"])
def test_per_op_folder_becomes_the_master_of_the_existing_tool(program: str, real_data, opwright) -> None:
    load_trace(opwright, real_data / "ttnn-0.81" / program / "per_op")
    ours = json.loads(opwright("export", "--to", "master").stdout)
    theirs = json.loads((real_data / "ttnn-0.81" / program / "ttnn_operations_master.json").read_text(encoding="utf-8"))

    def facts(master: dict) -> Counter:
        return Counter(
            json.dumps([op, entry["config_hash"], entry["arguments"], entry["executions"]], sort_keys=True)
            for op, rest in master["operations"].items()
            for entry in rest["configurations"]
        )

    assert facts(ours) == facts(theirs)


def test_graph_and_its_serialized_form(real_data, opwright) -> None:
    """The device operations below a graph call are no operations of the library: counted by name, kept with --all-ops."""
    for mode in ("NORMAL", "NO_DISPATCH"):
        for program in ("mlp", "block", "cnn"):
            stem = real_data / "ttnn-0.81" / "graph" / f"{program}_{mode}_fast"
            graph = load_trace(opwright, f"{stem}.json", options=("--all-ops", "--dry-run"))
            serialized = load_trace(opwright, f"{stem}.era1.json", options=("--all-ops", "--dry-run"))
            assert graph["calls"] == serialized["calls"] > 0
            assert graph["losses"] == serialized["losses"] == {}


def test_killed_run(real_data, opwright) -> None:
    """51 files of a run that was killed: the last one and the metadata are empty, the rest are excluded operations."""
    summary = load_trace(opwright, real_data / "ttnn" / "per_op_traces" / "sample")
    assert sum(summary["filtered"].values()) == 50
    assert summary["losses"] == {"unreadable_file": 2}


def test_folder_of_everything(real_data, opwright) -> None:
    """Both masters folders at once: as many configurations as their union has."""
    names = [str(Path(name)) for name in MASTERS if name.startswith("ttnn/")]
    together = load_trace(opwright, *(real_data / name for name in names))
    assert together["records"] == sum(MASTERS[name][1] for name in names)
    assert load_trace(opwright, *(real_data / name for name in reversed(names)))["added"] == 0
