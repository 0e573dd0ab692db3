"""Results of runs: analysis, filters, differences, exports and imports. The runs are made here, no device is needed."""

import csv
import hashlib
import json
import random
import re
import sqlite3
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

LINE = "ttnn.{op}(input_tensor=tensor([1,1,32,{width}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"
SWEEP_FIELDS = """
    github_job_id full_test_name test_start_ts test_end_ts test_case_name filepath success skipped error_message
    error_hash config frontend model_name op_kind op_name framework_op_name inputs outputs op_params git_sha status
    card_type backend data_source input_hash message exception metrics op_params_set""".split()
OPRUN_FIELDS = """
    initiated_by host card_type run_type run_contents git_author git_branch_name git_sha github_pipeline_id run_start_ts
    run_end_ts status tests""".split()


def result(index: int, outcome: str = "passed", op: str = "sigmoid_accurate", **more: object) -> dict:
    line = LINE.format(op=op, width=32 * (index + 1))
    record = {
        "index": index,
        "vector": f"model_traced/{index:04x}",
        "key": hashlib.sha256(line.encode()).hexdigest(),
        "op": f"ttnn.{op}",
        "suite": "model_traced",
        "case": line,
        "repeat": f"opwright run --case '{line}' --device sim:n150 --seed 1",
        "dtype": "BFLOAT16",
        "layout": "TILE",
        "memory": "DRAM INTERLEAVED",
        "models": "efficientnetb0",
        "calls": 45,
        "elements": 64 * 32 * (index + 1),
        "seed": 1,
        "data": "normal",
        "outcome": outcome,
        "attempts": 1,
        "started": "2026-11-15T20:00:01.250Z",
        "wall_seconds": 0.010 + 0.001 * index,
        "device_seconds": 0.004,
        "reference_seconds": 0.002,
        "l1_per_core": 4096,
    }
    if outcome in ("passed", "failed"):
        record |= {"pcc": 0.9999 + 1e-6 * index, "ulp": 1.0, "bound_used": 0.25, "judged": 1024}
        record |= {"fields": 12, "fields_equal": 12}
    return record | more


def write_run(path: Path, uid: str, results: list[dict], **more: object) -> Path:
    run = {
        "uid": uid,
        "started": "2026-11-15T20:00:00Z",
        "ended": "2026-11-15T20:01:00Z",
        "host": "vm",
        "device": "sim:n150",
        "numerics": "exact-model",
        "command": "opwright run",
        "git_commit": "abc123",
        "version": "0.1",
        "suite": "model_traced",
        "against": "",
        "plan": "{}",
        "facts": "{}",
        "status": "complete",
        "seed": 1,
        "planned": len(results),
    } | more
    lines = [{"opwright_results": 1, "run": run}, *results]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def load(opwright, uid: str, results: list[dict], **more: object) -> None:
    answer = opwright("results", "--import", write_run(opwright.folder / f"{uid}.jsonl", uid, results, **more))
    assert answer.returncode == 0, answer.stderr


def ask(opwright, *arguments: object, code: int = 0) -> dict | list:
    answer = opwright("--format", "json", "results", *arguments)
    assert answer.returncode == code, answer.stderr
    return json.loads(answer.stdout)


MIXED = [
    result(0),
    result(1, "failed", "add", pcc=0.5, reason="PCC 0.5 is below 0.99", blame="op", evidence="4 of 4 times"),
    result(2, "failed", "add", pcc=0.7, reason="PCC 0.7 is below 0.999", models="bert"),
    result(3, "timed_out", "matmul", reason="no answer in 30 s"),
    result(4, "unsupported", "topk", reason="no reference for ttnn.topk"),
    result(5, "mistrusted", reason="all zero"),
    result(6, "crashed", "matmul", reason="signal 11 & <more> \u0007\"quoted\"", blame="flaky"),
]


def listed(records: list[dict]) -> list[dict]:
    """As --list shows them: with the case's short name, and the operation by the name that it has everywhere."""
    return [{"name": "@" + record["key"][:8], "operation": record["op"], **record} for record in records]


def test_the_thirty_sigmoids_read_well(opwright) -> None:
    load(opwright, "20261115T200000-0001", [result(i) for i in range(30)])
    answer = opwright("results")
    assert answer.returncode == 0, answer.stderr
    for line in (
        r"^total +30$",
        r"^passed +30 \(100 %\)$",
        r"^failed +0 \(0 %\)$",
        r"^duration +avg 24\.5 ms   median 24\.5 ms   p90 36\.1 ms   max 39\.0 ms   sum 735\.0 ms",
        r"^PCC +min 0\.9999000   max 0\.9999290   avg 0\.9999145 .*\(30 cases\)$",
        r"^calls +1,350 of 1,350 calls pass \(100 %\)$",
        r"executed == traced in 360 of 360 fields, 30 of 30 cases \(100 %\)",
        r"repeat: opwright run --case 'ttnn\.sigmoid_accurate",
    ):
        assert re.search(line, answer.stdout, re.MULTILINE), (line, answer.stdout)


def test_json_has_the_promised_names(opwright) -> None:
    load(opwright, "r1", MIXED, planned=9)
    report = ask(opwright, "r1", code=1)
    assert {"run", "total", "outcomes", "passed", "failed", "pcc", "seconds"} <= set(report)
    assert {"min", "max", "avg"} <= set(report["pcc"])
    assert (report["run"], report["total"], report["passed"], report["failed"]) == ("r1", 7, 1, 4)
    assert (report["no_verdict"], report["undecided"], report["unreached"]) == (1, 1, 2)
    assert report["outcomes"] == {
        "passed": 1, "mistrusted": 1, "failed": 2, "unsupported": 1, "crashed": 1, "timed_out": 1,
    }  # fmt: skip
    assert report["pcc"]["min"] == 0.5 and report["pcc"]["count"] == 3 and report["pcc"]["missing"] == 4
    assert report["calls"]["passed"] == 45 and report["calls"]["total"] == 7 * 45
    assert report["blame"] == {"flaky": 1, "op": 1, "not attributed": 2}
    largest = report["failures"][0]
    assert (largest["count"], largest["message"]) == (2, "PCC N is below N")
    assert largest["repeat"] == MIXED[1]["repeat"]
    assert report["unproven"][0]["message"] in ("no reference for ttnn.topk", "all zero")
    assert [one["value"] for one in report["worst"]["pcc"]] == [0.5, 0.7, 0.9999]


def test_filters_tables_and_lists(opwright) -> None:
    load(opwright, "r1", MIXED)
    assert ask(opwright, "--op", "add", code=1)["total"] == 2
    assert ask(opwright, "--op", "sigmoid_accurate")["failed"] == 0  # exit code 0: nothing of it failed
    assert ask(opwright, "--outcome", "failure", "--model", "bert", code=1)["total"] == 1
    rows = {row["op"]: row for row in ask(opwright, "--by", "op", code=1)}
    assert rows["ttnn.add"]["failed"] == 2 and rows["ttnn.add"]["pcc_min"] == 0.5
    assert rows["ttnn.topk"]["no_verdict"] == 1 and rows["ttnn.topk"]["pcc_min"] is None
    for by in ("dtype", "layout", "memory", "model", "suite", "outcome", "blame"):
        assert sum(row["cases"] for row in ask(opwright, "--by", by, code=1)) == len(MIXED)
    assert ask(opwright, "--list", code=1) == listed(MIXED)
    table = opwright("results", "--list", "--outcome", "crashed")
    assert table.returncode == 1 and len(table.stdout.splitlines()) == 1 and "\a" not in table.stdout
    worst = opwright("results", "--worst", "2")
    for title in ("least PCC", "most ULP", "error bound", "slowest"):
        assert title in worst.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--op", "ad"], 3, "did you mean 'ttnn.add'"),
        (["--outcome", "pased"], 2, "did you mean 'passed'"),
        (["--by", "colour"], 2, "op, dtype"),
        (["r2"], 3, "no run 'r2'; did you mean 'r1'?"),
        (["last~1"], 3, "only 1"),
        (["a", "b"], 2, "--diff"),
        (["--diff", "r1"], 2, "two runs"),
        (["--export", "junits:x"], 2, "did you mean 'junit'"),
        (["--export", "csv"], 2, "csv:FILE"),
        (["--export", "csv:no/such/folder/x.csv"], 3, "no/such/folder/x.csv"),
        (["--import", "missing.jsonl"], 3, "missing.jsonl"),
    ],
)
def test_errors_say_what_to_do(opwright, arguments: list[str], code: int, words: str) -> None:
    load(opwright, "r1", MIXED)
    answer = opwright("results", *arguments)
    assert answer.returncode == code and words in answer.stderr, (answer.returncode, answer.stderr)


def test_without_a_store_or_a_run(opwright) -> None:
    assert opwright("results").returncode == 3
    sqlite3.connect(opwright.folder / "opwright.db").close()
    empty = opwright("results")
    assert empty.returncode == 3 and "opwright.db" in empty.stderr


def test_runs_are_listed(opwright) -> None:
    load(opwright, "r1", MIXED)
    load(opwright, "r2", [result(0)], started="2026-11-16T00:00:00Z", status="interrupted")
    runs = ask(opwright, "--runs")
    assert [(run["run"], run["status"], run["results"], run["passed"], run["failed"]) for run in runs] == [
        ("r1", "complete", 7, 1, 4),
        ("r2", "interrupted", 1, 1, 0),
    ]
    assert ask(opwright)["run"] == "r2" and ask(opwright, "last~1", code=1)["run"] == "r1"


# ---- differences


def test_diff_names_what_changed(opwright) -> None:
    before = [result(i) for i in range(40)]
    before[3]["outcome"] = "failed"
    after = [dict(record) for record in before[:-1]]
    after[1] |= {"outcome": "failed", "reason": "PCC 0.1 is below 0.99", "pcc": 0.1}
    after[2] |= {"outcome": "unsupported"}
    after[3] |= {"outcome": "passed"}
    after[4] |= {"ulp": 40.0}
    after[5] |= {"l1_per_core": 8192}
    after.append(result(99, "crashed"))
    load(opwright, "a", before)
    load(opwright, "b", after)
    diff = ask(opwright, "--diff", "a", "b", code=1)
    counts = {name: len(value) for name, value in diff.items() if isinstance(value, list)}
    assert counts == {
        "new_failures": 1, "failing_new_cases": 1, "lost_verdicts": 1, "fixed": 1, "changed": 0, "only_a": 1,
        "only_b": 1, "accuracy_drops": 2, "accuracy_gains": 0, "memory_growth": 1, "slower": 0, "faster": 0,
        "slower_ops": 0, "faster_ops": 0, "cautions": 0,
    }  # fmt: skip
    assert diff["new_failures"][0]["repeat"] == after[1]["repeat"]
    assert diff["new_failures"][0]["reason"] == "PCC 0.1 is below 0.99"
    text = opwright("results", "--diff", "a", "b").stdout
    assert "new failures: 1" in text and after[1]["repeat"] in text
    same = ask(opwright, "--diff", "b", "b")
    assert same["same_outcome"] == 40 and not same["new_failures"]


def test_a_slow_case_is_a_suspicion_and_a_slow_machine_is_none(opwright) -> None:
    noise = random.Random(7)

    def timed(factor: float) -> list[dict]:
        return [result(i, device_seconds=0.02 * factor * noise.uniform(0.9, 1.1)) for i in range(100)]

    load(opwright, "a", timed(1.0))
    load(opwright, "b", timed(1.5))  # everything, by the same factor
    slow = timed(1.0)
    slow[17]["device_seconds"] = 0.2
    load(opwright, "c", slow)
    diff = ask(opwright, "--diff", "a", "b")
    assert diff["slower"] == [] and 1.4 < diff["times"]["median_ratio"] < 1.6
    diff = ask(opwright, "--diff", "a", "c")  # exit code 0: a suspicion is no failure
    assert [one["case"] for one in diff["slower"]] == [slow[17]["case"]]
    assert diff["slower"][0]["confirmed"] is False
    assert "suspected" in opwright("results", "--diff", "a", "c").stdout


# ---- exports


def test_sweep_files_have_the_fields_of_the_framework(opwright) -> None:
    load(opwright, "r1", MIXED)
    folder = opwright.folder / "sweep"
    answer = opwright("results", "--export", f"sweep:{folder}")
    assert answer.returncode == 0, answer.stderr
    assert "mistrusted" in answer.stderr  # what the format has no word for
    files = {path.name: json.loads(path.read_text()) for path in folder.iterdir()}
    module = "model_traced.add_model_traced"
    records = files[f"model_traced_{hashlib.sha256(module.encode()).hexdigest()[:12]}_20261115_200000.json"]
    assert [list(record) for record in records] == [SWEEP_FIELDS] * 2
    assert records[0]["status"] == "fail_assert_exception" and records[0]["success"] is False
    assert records[0]["error_hash"] == hashlib.sha256(b"PCC 0.5 is below 0.99").hexdigest()
    name = f"oprun_vm_{hashlib.sha256(b'model_traced, model_traced').hexdigest()[:12]}_20261115_200000.json"
    oprun = files[name]
    assert list(oprun) == OPRUN_FIELDS
    assert oprun["status"] == "fail" and len(oprun["tests"]) == len(MIXED)
    statuses = {test["status"] for test in oprun["tests"]}
    assert statuses == {"pass", "fail_assert_exception", "fail_crash_hang", "skipped"}
    passed = oprun["tests"][0]
    assert (passed["error_message"], passed["exception"], passed["message"]) == ("None", None, "0.9999")
    assert {metric["metric_name"] for metric in passed["metrics"]} == {"e2e_perf_ms", "peak_l1_memory_per_core_bytes"}
    names = {"param_name", "param_value_numeric", "param_value_text", "param_value_json"}
    assert names == set(passed["op_params_set"][0])


def test_the_input_hash_is_the_one_of_the_trace(opwright) -> None:
    load(opwright, "r1", [result(0, config_hash="5955" * 16), result(1)])
    folder = opwright.folder / "sweep"
    assert opwright("results", "--export", f"sweep:{folder}").returncode == 0
    (oprun,) = (json.loads(path.read_text()) for path in folder.glob("oprun_*"))
    assert [test["input_hash"] for test in oprun["tests"]] == ["5955" * 16, result(1)["key"]]


def test_figures_that_are_not_finite_are_not_lost(opwright) -> None:
    odd = [result(0, "failed", pcc="nan", ulp="inf", nrmse="-inf"), result(1, "failed", pcc=-0.5, ulp="inf")]
    load(opwright, "r1", odd)
    assert ask(opwright, "--list", code=1) == listed(odd)
    lines = opwright("--format", "jsonl", "results", "--list").stdout.splitlines()
    assert [json.loads(line) for line in lines] == listed(odd)
    first, second = opwright.folder / "1.jsonl", opwright.folder / "2.jsonl"
    assert opwright("results", "--export", f"jsonl:{first}").returncode == 0
    assert "null" not in first.read_text()
    other = opwright.folder / "other.db"
    assert opwright("--store", other, "results", "--import", first).returncode == 0
    assert opwright("--store", other, "results", "--export", f"jsonl:{second}").returncode == 0
    assert first.read_bytes() == second.read_bytes()
    report = ask(opwright, code=1)  # in no figure, but counted
    assert (report["pcc"]["count"], report["pcc"]["nonfinite"], report["ulp"]["nonfinite"]) == (1, 1, 2)


def test_what_never_ran_has_no_time(opwright) -> None:
    load(opwright, "r1", [result(0), result(1, "unsupported", wall_seconds=100.0), result(2, "failed", "add")])
    report = ask(opwright, code=1)
    for by in ("op", "dtype", "model"):
        rows = ask(opwright, "--by", by, code=1)
        assert sum(row["seconds"] for row in rows) == pytest.approx(report["seconds"]) == pytest.approx(0.022), by
        assert sum(row["seconds"] for row in report[f"by_{by}"]) == pytest.approx(report["seconds"]), by


def check_junit(root: ElementTree.Element) -> None:
    """What readers of JUnit files rely on: elements, attributes, and counts that are true."""
    assert root.tag == "testsuites"
    totals = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for suite in root:
        assert suite.tag == "testsuite" and {"name", "time", "hostname", "timestamp"} <= set(suite.attrib)
        assert [child.tag for child in suite][0] == "properties"
        cases = suite.findall("testcase")
        counts = {
            "tests": len(cases),
            "failures": len(suite.findall("testcase/failure")),
            "errors": len(suite.findall("testcase/error")),
            "skipped": len(suite.findall("testcase/skipped")),
        }
        assert counts == {name: int(suite.get(name)) for name in counts}
        for case in cases:
            assert {"classname", "name", "time"} == set(case.attrib) and float(case.get("time")) >= 0
            assert {child.tag for child in case} <= {"failure", "error", "skipped", "system-out"}
            assert len([child for child in case if child.tag != "system-out"]) <= 1
        for name in totals:
            totals[name] += counts[name]
    assert totals == {name: int(root.get(name)) for name in totals}


def test_junit_is_sound(opwright) -> None:
    load(opwright, "r1", MIXED)
    file = opwright.folder / "r.xml"
    assert opwright("results", "--export", f"junit:{file}").returncode == 0
    root = ElementTree.parse(file).getroot()
    check_junit(root)
    assert (root.get("failures"), root.get("errors"), root.get("skipped")) == ("2", "2", "2")
    failure = root.find("testsuite[@name='ttnn.add']/testcase/failure")
    assert failure.get("message") == "PCC 0.5 is below 0.99" and MIXED[1]["repeat"] in failure.text
    crash = root.find("testsuite[@name='ttnn.matmul']/testcase/error[@type='crashed']")
    assert crash.get("message") == 'signal 11 & <more> \\u0007"quoted"'
    names = [case.get("name") for case in root.iter("testcase")]
    assert len(set(names)) == len(names) and names[0] == f"{MIXED[1]['case']} [{MIXED[1]['vector']}]"


def test_csv_has_every_result(opwright) -> None:
    load(opwright, "r1", MIXED)
    file = opwright.folder / "r.csv"
    assert opwright("results", "--export", f"csv:{file}", "--outcome", "failed").returncode == 0
    rows = list(csv.DictReader(file.open(newline="", encoding="utf-8")))
    assert [row["pcc"] for row in rows] == ["0.5", "0.7"] and rows[0]["case"] == MIXED[1]["case"]


def test_jsonl_goes_out_and_comes_back(opwright) -> None:
    load(opwright, "r1", MIXED)
    first, second = opwright.folder / "1.jsonl", opwright.folder / "2.jsonl"
    assert opwright("results", "--export", f"jsonl:{first}").returncode == 0
    other = opwright.folder / "other.db"
    for added, known in ((7, 0), (0, 7)):  # again adds nothing
        answer = opwright("--store", other, "--format", "json", "results", "--import", first)
        assert answer.returncode == 0, answer.stderr
        row = json.loads(answer.stdout)[0]
        assert (row["run"], row["results"], row["added"], row["known"]) == ("r1", 7, added, known)
    assert opwright("--store", other, "results", "--export", f"jsonl:{second}").returncode == 0
    assert first.read_bytes() == second.read_bytes()


def test_a_damaged_import_changes_nothing(opwright) -> None:
    file = write_run(opwright.folder / "r.jsonl", "r1", MIXED)
    file.write_bytes(file.read_bytes()[:-30])
    answer = opwright("results", "--import", file)
    assert answer.returncode == 3 and "line 8" in answer.stderr
    assert not (opwright.folder / "opwright.db").exists()
    load(opwright, "r1", MIXED)
    other = write_run(opwright.folder / "x.jsonl", "r1", [result(50)], host="elsewhere")
    clash = opwright("results", "--import", other)
    assert clash.returncode == 2 and "another run called r1" in clash.stderr


def test_an_export_is_whole_or_not_there(opwright) -> None:
    load(opwright, "r1", MIXED)
    file = opwright.folder / "r.csv"
    file.write_text("old")
    assert opwright("results", "--op", "nothing", "--export", f"csv:{file}").returncode == 3
    assert file.read_text() == "old" and not list(opwright.folder.glob("*.tmp"))
