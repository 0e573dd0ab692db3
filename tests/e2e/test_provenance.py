"""Where calls come from, as the existing system wants it: the database's own rules, and the hashes of hardware.

The rules of the database loader and of config_hash are written down here once more, from their specification and
without our code: what they refuse, the public loader refuses.
"""

import hashlib
import json
import re
import sqlite3
from collections import Counter
from pathlib import Path

import pytest
import traces
from traces import answer, fixture, load_trace

HARDWARE = "ttnn/era2/ttnn_operations_master_2026-05-10_llama_n300.json"
LLAMA = "native/llama-3.2-1b-n300.opwt.zst"
#: Meshes that follow from series and number of cards.
MESHES = {("tt-galaxy-wh", 32): [4, 8], ("n300", 1): [1, 2], ("p150b", 1): [1, 1]}


# ------------------------------------------------------------------------------------------------ rules of the database


def refusals(master: dict) -> list[str]:
    """Why the database does not take an execution; nothing where it takes all."""
    found = []
    for op, entry in configurations(master):
        for execution in entry["executions"]:
            machine = inferred(execution.get("machine_info") or {}, entry["arguments"])
            missing = [name for name in ("source", "trace_uid") if not execution.get(name)]
            missing += [name for name in ("board_type", "device_series", "card_count") if not machine.get(name)]
            missing += [name for name in ("mesh_device_shape", "device_count") if not machine.get(name)]
            if missing:
                found.append(f"{op} {entry['config_hash'][:8]}: no {', '.join(missing)}")
    return found


def inferred(machine: dict, arguments: dict) -> dict:
    """The machine with mesh and number of devices: said, else of the first tensor's placement, else of the series."""
    machine = dict(machine)
    placement = next(placements(list(arguments.values())), {})
    shape = whole_numbers(machine.get("mesh_device_shape"))
    spread = whole_numbers(placement.get("mesh_device_shape")) or whole_numbers(placement.get("distribution_shape"))
    ids = whole_numbers(machine.get("device_ids"))
    count = len(ids) if ids else machine.get("device_count")
    if len(shape) != 2:
        known = MESHES.get((str(machine.get("device_series")).lower(), machine.get("card_count")))
        if len(spread) == 2:
            shape = spread
        elif len(spread) == 1:
            shape = known if known and known[0] * known[1] == spread[0] else [1, spread[0]]
        else:
            shape = known or ([1, count] if count else [])
    machine["mesh_device_shape"] = shape
    machine["device_count"] = count or (shape[0] * shape[1] if shape else None)
    return machine


def placements(value: object):
    if isinstance(value, dict):
        if isinstance(value.get("tensor_placement"), dict):
            yield value["tensor_placement"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from placements(item)


def whole_numbers(value: object) -> list[int]:
    if isinstance(value, str):
        return [int(number) for number in re.findall(r"-?\d+", value)]
    return list(value) if isinstance(value, list) else []


def config_hash(op: str, arguments: dict, machine: dict | None, *, mesh: bool) -> str:
    """SHA-256 of the call on its hardware; with the mesh of the machine from G5 on."""
    machine = machine or {}
    hardware = None
    if machine.get("board_type"):
        series = machine.get("device_series")
        hardware = [machine["board_type"], series[0] if isinstance(series, list) else series, machine.get("card_count", 1)]
    on = None
    if mesh and whole_numbers(machine.get("mesh_device_shape")):
        on = {"mesh_shape": whole_numbers(machine["mesh_device_shape"]), "placement_type": None, "shard_dim": None}
    elif mesh and machine.get("device_count", 0) > 0:
        on = {"device_count": machine["device_count"], "mesh_shape": None, "placement_type": None, "shard_dim": None}
    whole = {"arguments": normal(arguments, mesh), "hardware": hardware, "mesh": on, "operation": op}
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def normal(value: object, newest: bool, in_object: bool = False) -> object:
    """Arguments as the hash takes them: G2, or with the rules of G3 and G4."""
    if isinstance(value, list):
        return [normal(item, newest) for item in value]
    if isinstance(value, str):
        return re.sub(r" at 0x[0-9a-fA-F]+", "", value)
    if not isinstance(value, dict):
        return value
    if newest and in_object and set(value) == {"type", "value"} and value["type"] == "Shape":
        if found := re.fullmatch(r"Shape\(\[([0-9,\s]+)\]\)", str(value["value"])):
            return whole_numbers(found[1])
    out = {}
    for key, item in value.items():
        if (key == "hash" and isinstance(item, int)) or key.startswith("@"):  # the latter are our own, no arguments
            continue
        if newest and key == "allowed_worker_cores" and item is None:
            continue
        out[key] = "None" if key == "shard_spec" and item is None else normal(item, newest, in_object=True)
    return out


# --------------------------------------------------------------------------------------------------------------- helpers


def configurations(master: dict) -> list[tuple[str, dict]]:
    return [(op, entry) for op, rest in master["operations"].items() for entry in rest["configurations"]]


def executions(master: dict) -> list[dict]:
    return [execution for _, entry in configurations(master) for execution in entry["executions"]]


def exported(opwright, *flags: object, store: object = "opwright.db") -> dict:
    done = opwright("--store", store, "export", "--to", "master", *flags)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def real(real_data: Path) -> Path:
    for name in (HARDWARE, LLAMA):
        if not (real_data / name).exists():
            pytest.skip("real data not present")
    return real_data


# ---------------------------------------------------------------------------------------------------------------- masters


@pytest.mark.parametrize("name", ["decoder", "encoder", "mbconv", "mlp", "tensor_parallel"])
def test_the_database_takes_what_was_recorded_on_a_mock(name: str, opwright) -> None:
    """Real traces of a recorder that wrote no more than the name of the mock board."""
    load_trace(opwright, fixture(f"native/{name}.opwt.zst"))
    master = exported(opwright)
    assert refusals(master) == []
    for execution in executions(master):
        assert execution["machine_info"]["mock_board"]  # nobody takes it for hardware
    for op, entry in configurations(master):
        machine = entry["executions"][0]["machine_info"]
        assert entry["config_hash"] == config_hash(op, entry["arguments"], machine, mesh=True)


def test_what_is_not_known_is_said_and_not_guessed(opwright) -> None:
    load_trace(opwright, fixture("native/tiny_llm.opwt"))
    master = json.loads(opwright("export", "--to", "master").stdout)
    told = [execution["machine_info"] for execution in executions(master)]
    done = opwright("--format", "json", "export", "--to", "master", "-o", "m.json")
    lacking = [machine for machine in told if not (machine and machine.get("device_series"))]
    assert answer(done)["without_board"] == len(lacking)
    assert (" is not known: " in done.stderr) == bool(lacking)


def test_a_trace_without_a_board_is_said(opwright, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    record = {"operation_id": 1, "operation_name": "ttnn.add", "args": [{"position": 0, "value": 1}], "kwargs": {}}
    (tmp_path / "t" / "1_ttnn_add_20260101_000000_000000.json").write_text(json.dumps(record))
    load_trace(opwright, "t")
    done = opwright("export", "--to", "master")
    assert "the board of 1 configuration is not known" in done.stderr
    (execution,) = executions(json.loads(done.stdout))
    assert execution["machine_info"] is None
    assert execution["trace_uid"].startswith("content:")  # the database wants one; ours is known again
    (tmp_path / "m.json").write_text(done.stdout)
    before = answer(opwright("--format", "json", "ops"))
    load_trace(opwright, "m.json")
    assert answer(opwright("--format", "json", "ops")) == before


@pytest.mark.parametrize("name", ["decoder", "tensor_parallel", "tiny_llm"])
def test_a_master_of_ours_is_the_trace_again(name: str, opwright, tmp_path: Path) -> None:
    """Machines in whole, tests by function: a store that holds the trace learns no call from its master."""
    file = next(fixture("native").glob(f"{name}.opwt*"))
    load_trace(opwright, file)
    (tmp_path / "m.json").write_text(opwright("export", "--to", "master").stdout)
    before = answer(opwright("--format", "json", "ops"))
    load_trace(opwright, "m.json")
    assert answer(opwright("--format", "json", "ops")) == before
    load_trace(opwright, "m.json", store="other.db")
    again = json.loads(opwright("--store", "other.db", "export", "--to", "master").stdout)
    first = json.loads((tmp_path / "m.json").read_text())
    assert again["operations"] == first["operations"]
    assert again["metadata"]["models"] == first["metadata"]["models"]


def test_the_store_has_machines_as_they_were_recorded(opwright, tmp_path: Path) -> None:
    """Stores of older versions have this text: the same trace imported again must not count twice."""
    load_trace(opwright, fixture("native/decoder.opwt.zst"))
    db = sqlite3.connect(tmp_path / "opwright.db")
    found = {text for (text,) in db.execute("SELECT text FROM machine WHERE id > 0")}
    db.close()
    assert found == {'{"device_count": 1, "device_ids": [0], "mesh_device_shape": [1, 1], "mock_board": "n150"}'}


def test_last_updated_is_when_it_was_traced(opwright) -> None:
    load_trace(opwright, fixture("native/decoder.opwt.zst"))
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", exported(opwright)["metadata"]["last_updated"])


# ------------------------------------------------------------------------------------------------------- tests and models


def parametrised(tmp_path: Path, count: int) -> Path:
    """A per-op folder as `opwright convert` writes it: a call in each of `count` parametrisations of a test."""
    folder = tmp_path / "trace"
    folder.mkdir()
    metadata = {"test_source": "tests/ttnn/unit_tests/test_eltwise.py", "sources": "test_nodeid", "trace_uid": "u-1",
                "machine_info": {"mock_board": "n150"}, "pytest_args": "-k add"}  # fmt: skip
    (folder / "_trace_metadata.json").write_text(json.dumps(metadata))
    for number in range(count):
        test = folder / f"{number:016x}"
        test.mkdir()
        nodeid = f"tests/ttnn/unit_tests/test_eltwise.py::test_add[{number}-a::b[0]]"
        (test / "_status.json").write_text(json.dumps({"test_nodeid": nodeid, "status": "passed"}))
        record = {"operation_id": number, "operation_name": "ttnn.add",
                  "args": [{"position": 0, "value": number % 3}], "kwargs": {}}  # fmt: skip
        (test / f"{number + 1}_ttnn_add_20260101_000000_{number:06}.json").write_text(json.dumps(record))
    return folder


def test_parametrisations_are_one_source(opwright, tmp_path: Path) -> None:
    load_trace(opwright, parametrised(tmp_path, 289))
    (row,) = answer(opwright("--format", "json", "ops"))
    assert (row["configurations"], row["calls"], row["sources"]) == (3, 289, 1)
    (row,) = answer(opwright("--format", "json", "ops", "--where", "op=add"))
    assert row["sources"] == 1
    stats = answer(opwright("--format", "json", "stats"))
    assert (stats["sources"], stats["models"]) == (1, {"eltwise": 3})
    assert "3 configurations   1 model" in opwright("show", "add").stdout
    with_sources = opwright("show", "add", "--sources").stdout
    assert "tests/ttnn/unit_tests/test_eltwise.py::test_add (97 tests) on n150 (mock)" in with_sources
    # and the tests themselves are there
    ids = {source for row in traces.shown(opwright, "add") for source in row["sources"]}
    assert len(ids) == 289 and "tests/ttnn/unit_tests/test_eltwise.py::test_add[7-a::b[0]]" in ids


def test_parametrisations_are_one_model_of_the_database(opwright, tmp_path: Path) -> None:
    load_trace(opwright, parametrised(tmp_path, 289))
    master = exported(opwright)
    function = "tests/ttnn/unit_tests/test_eltwise.py::test_add"
    assert master["metadata"]["models"] == [function]
    assert refusals(master) == []
    assert {(execution["source"], execution["pytest_args"]) for execution in executions(master)} == {(function, "-k add")}
    assert sorted(execution["count"] for execution in executions(master)) == [96, 96, 97]
    ids = Counter()
    for execution in executions(master):
        ids.update(execution["test_ids"])
    assert len(ids) == 289 and set(ids.values()) == {1}


def test_vectors_name_the_test_function(opwright, tmp_path: Path) -> None:
    load_trace(opwright, parametrised(tmp_path, 9))
    done = opwright("vectors", "--export", "out")
    assert done.returncode == 0, done.stderr
    vectors = [vector for file in (tmp_path / "out").glob("*.json") if "manifest" not in file.name
               for suite in json.loads(file.read_text()).values() for vector in suite.values()]  # fmt: skip
    assert vectors
    for vector in vectors:
        assert vector["traced_source"] == ["tests/ttnn/unit_tests/test_eltwise.py::test_add"]
        assert vector["traced_machine_info"]["device_series"] == "n150"


def test_sources_of_other_masters_stay_what_they_are(opwright, tmp_path: Path) -> None:
    """Who names a test with its parameters in a file of theirs gets it back so."""
    master = traces.era2_master({"ttnn.add": [{"arg0": 1}]})
    for _, entry in configurations(master):
        entry["config_hash"] = "0" * 64
        entry["executions"][0]["source"] = "models/x/test_x.py::test_x[a]"
    (tmp_path / "theirs.json").write_text(json.dumps(master))
    load_trace(opwright, "theirs.json")
    (execution,) = executions(exported(opwright))
    assert execution["source"] == "models/x/test_x.py::test_x[a]" and "test_ids" not in execution


# ------------------------------------------------------------------------------------------------------ the real library

TWO_CHIPS = """
import pytest, torch, ttnn

@pytest.fixture
def device():
    device = ttnn.open_mesh_device(ttnn.MeshShape(1, 2))
    yield device
    ttnn.close_mesh_device(device)

@pytest.mark.parametrize("width", [32, 64])
def test_add(device, width):
    a = ttnn.from_torch(torch.zeros(1, 1, 32, width), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    ttnn.add(a, a)
"""


@pytest.mark.parametrize("own_descriptor", [False, True])
def test_a_test_that_is_traced(own_descriptor: bool, opwright, ttnn_python, tmp_path: Path) -> None:
    """By `python -m pytest`, on a board of ours and on a descriptor of the user's own, which is called like another."""
    (tmp_path / "models" / "vit").mkdir(parents=True)
    (tmp_path / "models" / "vit" / "test_vit.py").write_text(TWO_CHIPS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    board = "n300"
    if own_descriptor:
        board = "./n150.yaml"
        copied = opwright("mock", "--board", "n300", "--", "sh", "-c", f"cp $TT_METAL_MOCK_CLUSTER_DESC_PATH {board}",
                          env={"PATH": f"{ttnn_python.parent}:/usr/bin:/bin"})  # fmt: skip
        assert copied.returncode == 0, copied.stderr
    done = opwright("trace", "--mock", board, "--", ttnn_python, "-m", "pytest", "-q", "-p", "no:cacheprovider",
                    "models/vit/test_vit.py", "-k", "32 or 64")  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    master = exported(opwright)
    assert refusals(master) == []
    assert master["metadata"]["models"] == ["models/vit/test_vit.py::test_add"]
    assert len(configurations(master)) == 2
    for op, entry in configurations(master):
        (execution,) = entry["executions"]
        machine = execution["machine_info"]
        assert (machine["board_type"], machine["device_series"], machine["card_count"]) == ("Wormhole", "n300", 1)
        assert (machine["device_ids"], machine["device_count"], machine["mesh_device_shape"]) == ([0, 1], 2, [1, 2])
        assert machine["mock_board"] == ("file:n150.yaml" if own_descriptor else "n300")
        assert execution["source"] == "models/vit/test_vit.py::test_add"
        assert execution["pytest_args"] == "-q -p no:cacheprovider -k 32 or 64"
        assert entry["config_hash"] == config_hash(op, entry["arguments"], machine, mesh=True)
    assert set(answer(opwright("--format", "json", "stats"))["models"]) == {"vit"}


# ------------------------------------------------------------------------------------------------------------- real data


def pairs(ours: dict, theirs: dict) -> list[tuple[dict, dict, str]]:
    """Configurations of both that are equal: same operation, same arguments."""
    known = {(op, json.dumps(normal(entry["arguments"], True), sort_keys=True)): entry for op, entry in configurations(theirs)}
    found = []
    for op, entry in configurations(ours):
        other = known.get((op, json.dumps(normal(entry["arguments"], True), sort_keys=True)))
        if other is not None:
            found.append((entry, other, op))
    return found


def test_llama_has_the_hashes_of_hardware(real: Path, opwright) -> None:
    """Recorded on a mock n300, and by the existing tracer on an n300."""
    hardware = json.loads((real / HARDWARE).read_text())
    load_trace(opwright, real / LLAMA, options=("--include-failed",))
    ours = exported(opwright, "--include-raised")
    assert refusals(ours) == []
    equal = pairs(ours, hardware)
    assert len(configurations(ours)) == 30
    assert len(equal) == 10  # the others differ in what the two versions of the library say of placements and configs
    for mine, theirs, op in equal:
        machine = theirs["executions"][0]["machine_info"]
        assert mine["config_hash"] == config_hash(op, theirs["arguments"], machine, mesh=True)
    # In the generation of the hardware's file: the very hashes that stand in it.
    for mine, theirs, op in pairs(exported(opwright, "--include-raised", "--hash-generation", "G2"), hardware):
        assert mine["config_hash"] == theirs["config_hash"], op


def test_llama_beside_the_hardware_is_one_record(real: Path, opwright) -> None:
    load_trace(opwright, real / LLAMA, options=("--include-failed",))
    alone = exported(opwright, "--include-raised")
    load_trace(opwright, real / HARDWARE)
    both = exported(opwright, "--include-raised")
    hardware = json.loads((real / HARDWARE).read_text())
    stored = {entry["config_hash"]: entry for _, entry in configurations(hardware)}
    shared = [entry for _, entry in configurations(both) if entry["config_hash"] in stored and len(entry["executions"]) > 1]
    assert len(shared) == len(pairs(alone, hardware))
    assert len(configurations(both)) == len(configurations(alone)) + len(stored) - len(shared)


def test_llama_is_named_by_its_model(real: Path, opwright) -> None:
    load_trace(opwright, real / HARDWARE)
    assert set(answer(opwright("--format", "json", "stats"))["models"]) == {"llama-3.2-1b"}
