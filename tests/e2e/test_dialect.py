"""A second dialect: calls of PyTorch's operators, recorded through the C API, under every verb that does not run them."""

import csv
import io
import json
import subprocess

import pytest
import support

TRACE = support.FIXTURES / "aten" / "decoder.opwt"  # examples/capture/aten_program wrote it
SHARED = {"ttnn": support.FIXTURES / "demo"}


def ask(opwright, *arguments):
    done = opwright("--format", "json", *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def lines(opwright, *arguments):
    done = opwright("--format", "jsonl", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def store(opwright):
    summary = ask(opwright, "import", TRACE)
    assert (summary["calls"], summary["raised"], summary["losses"], summary["filtered"]) == (35, 1, {}, {})
    assert summary["unknown_names"] == 0  # torch.half is a name that the dialect knows
    return opwright


def record(opwright, folder, *words):
    program = opwright.program.parent / "examples" / "aten_program"
    env = support.command_env(opwright.folder, OPWRIGHT_TRACE=folder)
    subprocess.run([program, *words], cwd=opwright.folder, env=env, check=True)
    return folder


def test_what_the_program_records_is_the_fixture(opwright):
    """The trace in the tree is what the program of the examples writes today."""
    record(opwright, "trace")
    done = opwright("--format", "json", "diff", TRACE, "trace")
    assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_written_without_a_folder(opwright):
    program = opwright.program.parent / "examples" / "aten_program"
    done = subprocess.run([program], cwd=opwright.folder, env=support.command_env(opwright.folder), capture_output=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert list(opwright.folder.iterdir()) == []


def test_operations_have_their_own_names(store):
    rows = {row["operation"]: (row["configurations"], row["calls"]) for row in ask(store, "ops")}
    assert rows["aten.add.Tensor"] == (2, 3)  # one on the CPU, one on the GPU, which was called twice
    assert rows["aten.clamp"] == (2, 4)  # by position, by name, as `clamp.default`, with torch.half: one configuration
    assert rows["aten.fft_fft"] == (2, 3)  # in no table
    assert len(rows) == 12 and all(name.startswith("aten.") for name in rows)


def test_show_is_readable(store):
    shown = store("show", "aten.addmm").stdout
    assert "torch.Tensor [64,64] FLOAT16  strides=[1,64]" in shown.replace('  device="cpu"', "")
    assert 'device="cuda:0"' in shown and "alpha=0.125" in shown
    shown = store("show", "aten.view").stdout
    assert "strides" not in shown  # contiguous ones follow from the shape
    assert "[2,8] INT64" in store("show", "embedding").stdout


def test_show_finds_every_overload(store):
    both = store("show", "aten.add").stdout
    assert "aten.add.Tensor   2 configurations" in both and "aten.add.Scalar   2 configurations" in both
    assert "aten.add.Scalar" not in store("show", "aten::add.Tensor").stdout
    assert store("show", "aten.ad").returncode != 0


def test_arguments_are_named_and_typed(store):
    (copy,) = lines(store, "show", "aten._to_copy", "--where", "device=cpu")
    text = copy["arguments"]
    assert text["dtype"] == {"enum": "dtype.FLOAT32"}
    assert text["memory_format"] == {"enum": "memory_format.contiguous_format"}
    assert text["device"] == "cpu"
    (clamp,) = lines(store, "show", "aten.clamp", "--where", "device=cpu")
    assert list(clamp["arguments"]) == ["self", "min", "max"] and clamp["arguments"]["min"] is None
    (cat,) = lines(store, "show", "aten.cat", "--where", "device=cpu")
    assert len(cat["arguments"]["tensors"]) == 3


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ("dtype=int64", 4),
        ("dtype=torch.int64 and op=embedding", 2),
        ("dtype=bool", 2),
        ("dtype=complex64", 0),  # results are no part of a configuration
        ("in0.dim[1]>64", 0),
        ("in1.dim[1]>64", 1),
        ("device=cuda:0", 12),
        ("device~cuda and strides=[1,*]", 2),
        ("strides=[1,64]", 4),
        ("arg.dtype=float32", 2),
        ("arg.memory_format=contiguous_format", 2),
        ("op~aten.", 23),
        ("op=add.Tensor and arg.alpha=2", 2),
        ("raised>0", 1),
    ],
)
def test_select(store, where, count):
    assert len(lines(store, "show", "--where", where)) == count


def test_diff_says_what_changed(opwright):
    record(opwright, "other", "cuda:1")
    done = opwright("--format", "json", "diff", TRACE, "other")
    assert done.returncode == 1
    assert '"cuda:0"' in json.dumps(json.loads(done.stdout)).replace('\\"', '"')
    text = opwright("diff", TRACE, "other").stdout
    assert "aten.addmm" in text and "cuda:1" in text


def test_calls_keep_their_order(store):
    (trace,) = ask(store, "traces")
    assert (trace["calls"], trace["operations"]) == (35, 13)  # as the trace spells them: `clamp.default` too
    text = store("calls", trace["trace"]).stdout
    assert "aten::addmm(" in text
    assert "torch.Tensor [64,64] torch.float16 strides [1,64] cpu" in text
    assert "torch.Tensor [16,64] torch.float16 cpu" in text


def test_export_for_data_tools(store):
    rows = list(csv.DictReader(io.StringIO(store("export", "--to", "csv").stdout)))
    assert len(rows) == 23 and all(row["operation"].startswith("aten.") for row in rows)
    texts = {row["configuration"] for row in rows}
    assert (
        '1:python:aten.add.Scalar(self=tensor(torch.Tensor [2,8] dtype=INT64 {device="cpu"}),other=1)' in texts
    )
    assert len([json.loads(line) for line in store("export", "--to", "jsonl").stdout.splitlines()]) == 23


@pytest.mark.parametrize("to", ["master", "master1"])
def test_a_master_has_no_place_for_it(store, to):
    assert store("import", SHARED["ttnn"]).returncode == 0
    done = store("export", "--to", to, "-o", "out.json")
    assert done.returncode == 0
    assert "configurations not written: of the dialect aten; a master has no place for it" in done.stderr
    assert "aten" not in (store.folder / "out.json").read_text()


def test_the_key_does_not_depend_on_the_order_of_imports(opwright):
    assert opwright("import", TRACE, SHARED["ttnn"]).returncode == 0
    again = ask(opwright, "import", TRACE)
    assert (again["added"], again["known"]) == (0, 23)


def test_vectors_count_it(store):
    assert ask(store, "vectors")["invalid"] == {"dialect": 23}


FAKE = support.REPO / "tests" / "e2e" / "programs" / "fake_device.py"


@pytest.mark.parametrize("device", ["sim:n150", "null", f"exec:/usr/bin/python3 {FAKE}"])
def test_no_device_runs_it(store, device):
    done = store("run", "--device", device, "--jobs", "1", "--where", "op=add.Tensor")
    assert "2 unsupported" in done.stdout and "the dialect aten is recorded, not run" in done.stdout, done.stderr
    done = store("run", "--device", device, "--case", "aten.relu(self=tensor(torch.Tensor [2,3] FLOAT32))")
    assert done.stdout.startswith("unsupported: the dialect aten is recorded, not run"), done.stdout


def test_vectors_are_written_under_its_own_name(store):
    done = store("vectors", "--export", "out")
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (store.folder / "out").glob("*.json"))
    assert "case_lines.aten_addmm.json" in names
    assert not any("model_traced" in name for name in names)
    again = ask(store, "vectors", "--from", "out")
    assert (again["vectors"], again["invalid"]) == (23, {"dialect": 23})


def test_conversion_tells_what_is_lost(store):
    done = store("convert", TRACE, "--to", "per-op", "-o", "folder")
    assert done.returncode == 0, done.stderr
    assert "strides and devices of torch tensors" in done.stdout + done.stderr
