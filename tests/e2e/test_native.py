"""Native traces: import, dump, trim, and conversion to and from per-op files and op JSONL."""

import gzip
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from support import FIXTURES
from traces import EXPECTED, answer, check_no_crash, fixture, load_trace, logical_dump

sys.path.append(str(FIXTURES))  # for the maker of native traces

TRACE = "native/tiny_llm.opwt"
REAL_PER_OP = ["ttnn-0.81/block/per_op", "ttnn-0.81/cnn/per_op", "ttnn-0.81/mlp/per_op", "ttnn-0.81/llama-3.2-1b-n300/per_op"]


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}


def convert(opwright, source: object, to: str, output: object) -> dict:
    return answer(opwright("--format", "json", "convert", source, "--to", to, "-o", output))


def test_import_counts_what_the_trace_holds(opwright) -> None:
    summary = load_trace(opwright, fixture(TRACE))
    expected = EXPECTED[TRACE]
    assert summary["calls"] == expected["calls"]
    ops = {row["operation"]: row["calls"] for row in answer(opwright("--format", "json", "ops"))}
    assert ops == {op: entry["calls"] for op, entry in expected["per_op"].items()}
    assert summary["losses"] == {}
    assert summary["left_out"]["tests that failed"] == 1
    assert summary["left_out"]["calls of tests that did not pass"] == 2
    assert summary["left_out"]["ends of calls that never ended"] == 1
    assert summary["left_out"]["calls that the recorder was told to leave out"] == 7
    assert summary["filtered"] == {"ttnn.deallocate": 1}


def test_calls_that_raised_count_as_such(opwright) -> None:
    load_trace(opwright, fixture(TRACE), options=("--include-failed",))
    shown = answer(opwright("--format", "json", "show", "add"))
    assert sum(row["raised"] for row in shown) == 1
    assert [row["error"] for row in shown if row["raised"]] == ["RuntimeError: TT_FATAL: out of memory"]


def test_nd_shards_stay_distinct(opwright) -> None:
    load_trace(opwright, fixture(TRACE), options=("--include-failed", "--all-ops"))
    shown = opwright("show", "to_memory_config").stdout
    assert "nd_shard" in shown.lower() or "ND_SHARDED" in shown, shown


def test_importing_again_or_packed_adds_nothing(opwright, tmp_path: Path) -> None:
    whole = fixture(TRACE).read_bytes()
    (tmp_path / "t.opwt.gz").write_bytes(gzip.compress(whole))
    first = load_trace(opwright, fixture(TRACE))
    again = load_trace(opwright, tmp_path / "t.opwt.gz")
    assert (again["added"], again["known"]) == (0, first["configurations"])
    assert answer(opwright("--format", "json", "stats"))["calls"] == first["calls"]


def test_processes_of_a_run_add_up(opwright, tmp_path: Path) -> None:
    """Two processes with the uid of one run: their calls add up, once each."""
    from maker.native import tiny_llm

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "trace-4711.opwt").write_bytes(fixture(TRACE).read_bytes())
    other = tiny_llm()
    other.pid = 4712
    (tmp_path / "run" / "trace-4712.opwt").write_bytes(other.bytes())
    for _ in range(2):
        load_trace(opwright, tmp_path / "run")
        assert answer(opwright("--format", "json", "stats"))["calls"] == 2 * EXPECTED[TRACE]["calls"]


@pytest.mark.parametrize(
    ("name", "losses"),
    [
        ("damaged", {"damaged_record": 1, "missing_calls": 2}),
        ("cut", {"cut_input": 1, "missing_calls": 2}),
        ("killed", {}),
    ],
)
def test_damage_is_told_and_the_rest_is_read(opwright, name: str, losses: dict[str, int]) -> None:
    summary = load_trace(opwright, fixture(f"native/{name}.opwt"))
    assert summary["losses"] == losses
    assert summary["calls"] > 0


def test_a_later_version_is_refused_by_name(opwright) -> None:
    result = opwright("import", fixture("native/newer_version.opwt"))
    assert result.returncode == 3
    assert "version 99" in result.stderr and "reads up to 1" in result.stderr


def test_cut_anywhere_it_neither_crashes_nor_invents(opwright, tmp_path: Path) -> None:
    whole = fixture(TRACE).read_bytes()
    calls = 0
    for size in [*range(0, 4200, 997), *range(4160, 9000, 331), 69632, 69700, len(whole) - 1]:
        (tmp_path / "cut.opwt").write_bytes(whole[:size])
        result = opwright("--format", "jsonl", "dump", tmp_path / "cut.opwt")
        check_no_crash(result)
        if result.returncode == 0:
            shown = sum('"call"' in line[:10] for line in result.stdout.splitlines())
            assert shown >= calls
            calls = shown
    assert calls >= 9


class TestDump:
    def lines(self, opwright, *options: str) -> list[dict]:
        result = opwright("--format", "jsonl", "dump", fixture(TRACE), *options)
        assert result.returncode == 0, result.stderr
        return [json.loads(line) for line in result.stdout.splitlines()]

    def test_lines_name_what_they_refer_to_before(self, opwright) -> None:
        tensors, configs, calls = set(), set(), []
        for line in self.lines(opwright):
            (kind,) = line
            if kind == "tensor":
                tensors.add(line[kind]["id"])
            elif kind == "config":
                configs.add(line[kind]["id"])
            elif kind == "call":
                calls.append(line[kind])
                text = json.dumps(line[kind])
                for mark, known in (("$t", tensors), ("$c", configs)):
                    assert all(int(part.split("}")[0]) in known for part in text.split(f'"{mark}": ')[1:])
        assert [call["seq"] for call in calls] == list(range(1, 12))
        assert calls[4]["parent"] == 4 and calls[3]["parent"] == -1
        assert calls[5]["writes"] and calls[6]["frees"] == [10]
        assert calls[7]["err"]["type"] == "RuntimeError" and calls[10]["t1_ns"] is None

    def test_choice_of_calls(self, opwright) -> None:
        def numbers(*options: str) -> list[int]:
            return [line["call"]["seq"] for line in self.lines(opwright, *options) if "call" in line]

        assert numbers("--only", "linear") == [1, 2, 3, 11]
        assert numbers("--only", "ttnn.soft*", "--only", "add") == [4, 5, 8, 10]
        assert numbers("--phase", "prefill") == [8, 9]
        assert numbers("--label", "layer0*", "--range", "3:5") == [3, 4, 5]
        assert numbers("--range", "10:") == [10, 11]
        assert numbers("--limit", "2") == [1, 2]

    def test_json_is_one_document(self, opwright) -> None:
        document = answer(opwright("--format", "json", "dump", fixture(TRACE)))
        assert list(document) == ["trace", "facts", "tests", "notes", "unrecorded", "calls", "losses"]
        assert len(document["calls"]) == 11 and document["trace"][0]["calls"] == 11

    def test_csv_has_a_row_a_call(self, opwright) -> None:
        assert len(opwright("--format", "csv", "dump", fixture(TRACE)).stdout.splitlines()) == 12

    @pytest.mark.parametrize("text", ["3-5", "5:3", "x", ":"])
    def test_a_wrong_range(self, opwright, text: str) -> None:
        result = opwright("dump", fixture(TRACE), "--range", text)
        assert (result.returncode, "--range" in result.stderr) == (2, True)


class TestTrim:
    def test_a_part_of_it(self, opwright, tmp_path: Path) -> None:
        done = answer(opwright("--format", "json", "trim", fixture(TRACE), "-o", "small.opwt", "--only", "add", "--only", "linear"))
        assert done["calls"] == 7
        assert done["dropped"] == {"ttnn.softmax": 1, "ttnn.update_cache": 1, "ttnn.deallocate": 1, "ttnn.to_memory_config": 1}
        assert done["parents_dropped"] == 1
        document = answer(opwright("--format", "json", "dump", tmp_path / "small.opwt"))
        assert [call["seq"] for call in document["calls"]] == [1, 2, 3, 5, 8, 10, 11]
        assert document["losses"] == []
        whole = load_trace(opwright, fixture(TRACE), store="whole.db")
        part = load_trace(opwright, tmp_path / "small.opwt", store="whole.db")
        assert part["added"] == 0 and whole["configurations"] > part["configurations"] > 0
        # It is the same trace: what both have is counted once.
        assert answer(opwright("--store", "whole.db", "--format", "json", "stats"))["calls"] == whole["calls"]

    def test_it_is_there_whole_or_not_at_all(self, opwright, tmp_path: Path) -> None:
        assert opwright("trim", fixture(TRACE)).returncode == 2
        assert opwright("trim", fixture(TRACE), "-o", "x.opwt").returncode == 2
        copy = tmp_path / "t.opwt"
        copy.write_bytes(fixture(TRACE).read_bytes())
        assert opwright("trim", copy, "-o", copy, "--only", "add").returncode == 2
        assert opwright("trim", copy, "-o", "no/folder/x.opwt", "--only", "add").returncode == 3
        assert copy.read_bytes() == fixture(TRACE).read_bytes()
        assert [file.name for file in tmp_path.iterdir()] == ["t.opwt"]


class TestConvert:
    def test_to_per_op_and_what_it_has_no_place_for(self, opwright, tmp_path: Path) -> None:
        done = convert(opwright, fixture(TRACE), "per-op", "files")
        assert done["calls"] == 9
        assert {"calls that raised": 1, "calls that never ended": 1, "nesting": 1, "nd_shard_spec": 1}.items() <= done["dropped"].items()
        names = Counter(file.name.split("_")[0] for file in (tmp_path / "files").rglob("[0-9]*.json"))
        assert names == {str(n): 1 for n in range(1, 10)}
        status = sorted(json.loads(file.read_text())["status"] for file in (tmp_path / "files").rglob("_status.json"))
        assert status == ["failed", "passed"]
        metadata = json.loads((tmp_path / "files" / "_trace_metadata.json").read_text())
        assert metadata["machine_info"] == {"board_type": "Wormhole", "device_series": "n300", "card_count": 1}
        for file in (tmp_path / "files").rglob("[0-9]*.json"):  # laid out as Python does
            assert json.dumps(json.loads(file.read_text()), indent=2) == file.read_text()

    def test_the_import_of_both_has_the_same_hashes(self, opwright, tmp_path: Path) -> None:
        convert(opwright, fixture(TRACE), "per-op", "files")
        options = ("--all-ops", "--exclude", "ttnn.to_memory_config")  # its ND shard spec is in one of them only
        load_trace(opwright, fixture(TRACE), store="a.db", options=options)
        load_trace(opwright, tmp_path / "files", store="b.db", options=options)
        hashes = []
        for store in ("a.db", "b.db"):
            master = json.loads(opwright("--store", store, "export", "--to", "master").stdout)
            hashes.append({op: sorted(c["config_hash"] for c in entry["configurations"]) for op, entry in master["operations"].items()})
        assert hashes[0] == hashes[1]

    def test_through_jsonl(self, opwright, tmp_path: Path) -> None:
        done = convert(opwright, fixture(TRACE), "jsonl", "ops.jsonl")
        assert done["calls"] == 10 and done["dropped"]["layout"] == 10
        lines = [json.loads(line) for line in (tmp_path / "ops.jsonl").read_text().splitlines()]
        assert sum("error" in line for line in lines) == 1
        assert load_trace(opwright, tmp_path / "ops.jsonl")["calls"] > 0
        back = convert(opwright, tmp_path / "ops.jsonl", "native", "back.opwt")
        assert back["calls"] == 10
        again = convert(opwright, tmp_path / "back.opwt", "jsonl", "again.jsonl")
        assert again["calls"] == 10
        assert convert(opwright, tmp_path / "ops.jsonl", "per-op", "files")["calls"] == 9

    def test_to_standard_output(self, opwright) -> None:
        result = opwright("convert", fixture(TRACE), "--to", "jsonl")
        assert result.returncode == 0
        assert len(result.stdout.splitlines()) == 10
        assert "no place for" in result.stderr

    def test_wrong_usage(self, opwright, tmp_path: Path) -> None:
        for arguments in (("--to", "nativ", "-o", "x"), ("--to", "per-op"), ()):
            assert opwright("convert", fixture(TRACE), *arguments).returncode == 2
        assert opwright("convert", FIXTURES / "master" / "era2_g4.json", "--to", "native", "-o", "x").returncode == 3
        (tmp_path / "full").mkdir()
        (tmp_path / "full" / "mine").write_text("mine")
        assert opwright("convert", fixture(TRACE), "--to", "per-op", "-o", "full").returncode == 2
        assert sorted(file.name for file in tmp_path.rglob("*")) == ["full", "mine"]

    @pytest.mark.parametrize("name", ["v2", "v3", "preop", "per_test"])
    def test_per_op_folders_come_back_as_they_were(self, opwright, tmp_path: Path, name: str) -> None:
        convert(opwright, fixture(f"per_op/{name}"), "native", "t.opwt")
        convert(opwright, tmp_path / "t.opwt", "per-op", "back")
        assert files_of(tmp_path / "back") == files_of(fixture(f"per_op/{name}"))


@pytest.mark.parametrize("name", REAL_PER_OP)
def test_real_per_op_folders_come_back_as_they_were(opwright, real_data: Path, tmp_path: Path, name: str) -> None:
    if not (real_data / name).is_dir():
        pytest.skip("real data not present")
    done = convert(opwright, real_data / name, "native", "t.opwt")
    assert (done["dropped"], done["losses"]) == ({}, {})
    convert(opwright, tmp_path / "t.opwt", "per-op", "back")
    assert files_of(tmp_path / "back") == files_of(real_data / name)
    load_trace(opwright, real_data / name, store="a.db", options=("--all-ops",))
    load_trace(opwright, tmp_path / "t.opwt", store="b.db", options=("--all-ops",))
    stores = [logical_dump(tmp_path / store) for store in ("a.db", "b.db")]
    stores[1]["forms"] = [row.replace(", 6, 'ttnn", ", 2, 'ttnn") for row in stores[1]["forms"]]  # the same texts, of another kind
    for part in ("operations", "configurations", "forms", "sources", "machines", "occurrences"):
        assert stores[0][part] == stores[1][part], part


def test_a_trace_on_standard_input(opwright_program: Path, tmp_path: Path) -> None:
    result = subprocess.run(
        [opwright_program, "--format", "json", "import", "-"], input=fixture(TRACE).read_bytes(), capture_output=True, cwd=tmp_path
    )
    assert json.loads(result.stdout)["calls"] == EXPECTED[TRACE]["calls"], result.stderr
