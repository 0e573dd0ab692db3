"""One trace in several files: what is said about it is united, and its calls count once, whatever the order."""

import json
import sqlite3
from pathlib import Path

import pytest
import traces
from test_store import TRACES
from traces import answer, fixture, load_trace, tensor


def trace_rows(store: Path) -> list:
    db = sqlite3.connect(store)
    try:
        return sorted(db.execute("SELECT uid, format, facts FROM trace"))
    finally:
        db.close()


@pytest.mark.parametrize("name", ["demo/tiny_cnn", "master/era1_1a.json", "master/era2_g0.json", "per_op/v2", "per_op/v3"])
def test_importing_again_changes_no_facts(name: str, opwright, tmp_path) -> None:
    load_trace(opwright, fixture(name))
    before = trace_rows(tmp_path / "opwright.db")
    load_trace(opwright, fixture(name))
    assert trace_rows(tmp_path / "opwright.db") == before


@pytest.mark.parametrize("pair", [("per_op/v3", "per_op/expected_master_v3.json"), ("per_op/per_test", "demo/tiny_cnn")])
def test_order_of_paths_does_not_matter(pair: tuple, opwright, tmp_path) -> None:
    a, b = map(fixture, pair)
    load_trace(opwright, a, b, store="ab.db")
    load_trace(opwright, b, a, store="ba.db")
    load_trace(opwright, a, store="one.db")
    load_trace(opwright, b, store="one.db")
    assert trace_rows(tmp_path / "ab.db") == trace_rows(tmp_path / "ba.db") == trace_rows(tmp_path / "one.db")


def test_store_into_itself(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("master/era1_1c.json"))
    before = trace_rows(tmp_path / "opwright.db")
    (tmp_path / "copy.db").write_bytes((tmp_path / "opwright.db").read_bytes())
    load_trace(opwright, "copy.db")
    assert trace_rows(tmp_path / "opwright.db") == before


def test_one_trace_in_two_formats_counts_once(opwright) -> None:
    """per_op/v3 and the master the existing tool makes of it: same trace_uid, source, machine, configurations."""
    load_trace(opwright, fixture("per_op/v3"))
    alone = answer(opwright("ops", "--format", "json"))
    load_trace(opwright, fixture("per_op/expected_master_v3.json"))
    assert answer(opwright("ops", "--format", "json")) == alone


def test_the_same_path_twice_counts_once(opwright) -> None:
    alone = load_trace(opwright, fixture("per_op/v3"), options=("--dry-run",))
    twice = load_trace(opwright, fixture("per_op/v3"), fixture("per_op/v3"), options=("--dry-run",))
    assert twice["calls"] == alone["calls"]


def test_exports_do_not_depend_on_the_order(opwright) -> None:
    paths = [fixture(name) for name in TRACES]
    load_trace(opwright, *paths, store="a.db")
    load_trace(opwright, *reversed(paths), store="b.db")
    a, b = (opwright("--store", store, "export", "--to", "master").stdout for store in ("a.db", "b.db"))
    assert a == b


def test_calls_of_an_era1_record_are_a_lower_bound(opwright, tmp_path) -> None:
    """Two sources and two machines, pairing not said: two calls explain it, not four."""
    machines = [{"board_type": "Wormhole", "device_series": series, "card_count": 1} for series in ("n150", "n300")]
    record = {"arguments": [{"arg0": "1"}], "source": ["a.py", "b.py"], "machine_info": machines}
    (tmp_path / "m.json").write_text(json.dumps({"operations": {"ttnn::relu": {"configurations": [record]}}, "metadata": {}}))
    assert load_trace(opwright, "m.json")["calls"] <= 2


def test_mesh_shape_of_a_raw_mesh_device(opwright, tmp_path) -> None:
    """Tensors inside lists keep a raw mesh_device in the masters of March 2026: it says what tensor_placement says."""
    raw = {"placements": ["PlacementShard(2)", "PlacementShard(1)"], "distribution_shape": [4, 8], "shape": [4, 8], "device_ids": [0, 1]}
    placed = {"placement": "['PlacementShard(2)', 'PlacementShard(1)']", "distribution_shape": "[4, 8]", "mesh_device_shape": "[4, 8]"}
    one, two = tensor([1, 16, 32, 64]) | {"mesh_device": raw}, tensor([1, 16, 32, 64]) | {"tensor_placement": placed}
    master = traces.era2_master({"ttnn.concat": [{"arg0": [one], "dim": 1}, {"arg0": [two], "dim": 1}]})
    (tmp_path / "m.json").write_text(json.dumps(master))
    assert load_trace(opwright, "m.json")["configurations"] == 1
    assert traces.shown(opwright)[0]["arguments"]["tensors"][0]["tensor"]["placement"]["mesh"] == [4, 8]
