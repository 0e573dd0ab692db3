"""Limits are kept while reading: bombs, endless and special files, deep texts. Memory, locks and signals with them."""

import gzip
import json
import os
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from pathlib import Path

import pytest
import support
from traces import answer, check_no_crash, fixture, load_trace

MIB = 1 << 20
LINE = json.dumps({"op_name": "ttnn.relu", "inputs": [1], "kwargs": {}}) + "\n"


def zstd_bomb(start: bytes, blocks: int, fill: bytes = b" ") -> bytes:
    """A frame that begins with `start` and then repeats one byte: four bytes that mean 128 KiB."""
    head = struct.pack("<I", len(start) << 3)[:3]
    block = struct.pack("<I", 1 << 1 | (128 * 1024) << 3)[:3] + fill
    last = struct.pack("<I", 1 | 1 << 1 | 1 << 3)[:3] + fill
    return b"\x28\xb5\x2f\xfd\x00\x58" + head + start + block * blocks + last


class Measured:
    def __init__(self, returncode: int, stdout: str, stderr: str, peak: int):
        self.returncode, self.stdout, self.stderr, self.peak = returncode, stdout, stderr, peak


def measured(opwright, *arguments: object, stdin: object = subprocess.DEVNULL, timeout: float = 120) -> Measured:
    """Runs the program and takes the most memory that it had at any time, in bytes."""
    options = os.environ.get("ASAN_OPTIONS", "")
    env = support.command_env(opwright.folder, ASAN_OPTIONS=f"{options}:quarantine_size_mb=1:max_free_fill_size=0")
    program = subprocess.Popen(
        [str(opwright.program), *map(str, arguments)],
        cwd=opwright.folder, env=env, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
    )  # fmt: skip
    watchdog = threading.Timer(timeout, program.kill)
    watchdog.start()
    texts: dict[str, str] = {}
    readers = [
        threading.Thread(target=lambda name=name: texts.update({name: getattr(program, name).read()}))
        for name in ("stdout", "stderr")
    ]
    for reader in readers:
        reader.start()
    _, status, usage = os.wait4(program.pid, 0)
    watchdog.cancel()
    for reader in readers:
        reader.join()
    program.returncode = os.waitstatus_to_exitcode(status)
    return Measured(program.returncode, texts["stdout"], texts["stderr"], usage.ru_maxrss * 1024)


@pytest.fixture(scope="module")
def usual_memory(opwright_program, tmp_path_factory) -> int:
    """What the program takes for next to nothing: the sanitizers of the dev build take some."""
    from conftest import Opwright

    runner = Opwright(opwright_program, tmp_path_factory.mktemp("small"))
    return measured(runner, "import", "--dry-run", fixture("demo/tiny_llm.json")).peak


def refused(result, *words: str) -> None:
    check_no_crash(result)
    assert result.returncode == 3, f"exit status {result.returncode}: {result.stdout}{result.stderr}"
    for word in words:
        assert word in result.stderr, result.stderr


# -- bombs


def bombs() -> dict[str, bytes]:
    master, line = b'{"operations": {"ttnn.relu": ', LINE.encode() + b'{"op_name": "'
    return {
        "master.json.zst": zstd_bomb(master, 48_000),
        "master.json.gz": gzip.compress(master + b" " * (100 * MIB)),
        "ops.jsonl.zst": zstd_bomb(line, 48_000),
        "blank.jsonl.zst": zstd_bomb(LINE.encode(), 48_000, b"\n"),
        "blank.jsonl.gz": gzip.compress(LINE.encode()) + gzip.compress(b"\n" * (200 * MIB)) * 60,
        "trace.opwt.zst": zstd_bomb(b"OPWTRACE", 48_000, b"\0"),
        "graph.json": b"[" * (40 * MIB),
        "values.json": b"[" + b"1," * (15 * MIB) + b"1]",
        "long.jsonl": line + b"x" * (100 * MIB),
        "values.jsonl": b'{"op_name": "a", "inputs": [' + b"1," * (8 * MIB) + b"1]}\n",
    }


# What stops them. A line that cannot be parsed in the memory meant for it is a counted loss.
STOPPED_BY = {
    "master.json.zst": "--max-document", "master.json.gz": "--max-ratio", "ops.jsonl.zst": "--max-line",
    "blank.jsonl.zst": "--max-ratio", "blank.jsonl.gz": "--max-ratio", "trace.opwt.zst": "--max-document",
    "graph.json": "--max-document", "values.json": "--max-document", "long.jsonl": "--max-line", "values.jsonl": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def bomb_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bombs")
    for name, content in bombs().items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("verb", "name"),
    [("import", name) for name in STOPPED_BY] + [("verify", "master.json.zst"), ("diff", "values.json"), ("diff", "long.jsonl")],
)
def test_memory_stays_within_twice_the_limit(verb, name, opwright, bomb_folder, usual_memory, tmp_path) -> None:
    """With a limit of 64 MiB (the ratio begins there too) no bomb takes more than twice of it."""
    limit = 64 * MIB
    path = bomb_folder / name
    other = [fixture("demo/tiny_llm.json")] if verb == "diff" else []
    result = measured(opwright, verb, path, *other, "--max-document", "64M", "--max-line", "24M")
    assert result.peak - usual_memory <= 2 * limit + 48 * MIB, f"{(result.peak - usual_memory) / MIB:.0f} MiB"
    if STOPPED_BY[name]:
        refused(result, str(path), STOPPED_BY[name], "the limit is ")
        assert not (tmp_path / "opwright.db").exists()
    else:
        check_no_crash(result)
        assert "--max-document" in result.stdout + result.stderr


def test_limits_can_be_raised(opwright, tmp_path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"op_name": "ttnn.relu", "inputs": ["x" * 3_000_000], "kwargs": {}}) + "\n")
    refused(opwright("import", "x.jsonl", "--max-line", "2M"), "--max-line", "2 MiB", "x.jsonl", "byte 0")
    assert load_trace(opwright, "x.jsonl", options=("--max-line", "4M"))["calls"] == 1
    refused(opwright("import", fixture("demo/tiny_llm.json"), "--max-document", "100"), "--max-document", "100 bytes")
    for wrong in (("--max-line", "0"), ("--max-document", "lots"), ("--max-depth", "5000"), ("--max-files", "-1")):
        result = opwright("import", "x.jsonl", *wrong)
        assert result.returncode == 2 and wrong[0] in result.stderr


@pytest.mark.parametrize("verb", ["import", "verify", "diff", "vectors", "run", "results", "device", "dump", "trim", "convert", "trace"])
def test_verbs_that_read_name_their_limits(verb: str, opwright) -> None:
    help_text = opwright("help", verb).stdout
    for flag in ("document", "line", "total", "ratio", "files", "depth", "distinct"):
        assert f"--max-{flag} " in help_text


def test_blank_lines_cost_no_more_than_their_bytes(opwright, tmp_path) -> None:
    with open(tmp_path / "x.jsonl", "wb") as file:
        file.write(LINE.encode())
        for _ in range(30):
            file.write(b"\n" * (10 * MIB))
        file.write(LINE.encode())
    summary = load_trace(opwright, "x.jsonl")
    assert (summary["calls"], summary["losses"]) == (2, {})
    (tmp_path / "few.jsonl").write_text(LINE + "\n" * 10 + " \r\n\r\n" + LINE)
    assert load_trace(opwright, "few.jsonl")["calls"] == 2


# -- special files


def fill_with_special_files(folder: Path) -> None:
    folder.mkdir()
    (folder / "good.jsonl").write_text(LINE)
    os.mkfifo(folder / "fifo.json")
    os.mkfifo(folder / "1_fifo_x.json.opwt")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(".")
    (folder / "loop.json").symlink_to("loop.json")
    socket.socket(socket.AF_UNIX).bind(str(folder / "s"))


def test_a_folder_gives_its_regular_files(opwright, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    fill_with_special_files(Path("in"))
    summary = load_trace(opwright, "in")
    assert (summary["files"], summary["calls"], summary["losses"]) == (1, 1, {})
    expected = {"FIFOs": 2, "sockets": 1, "devices": 1, "links to folders": 1, "links that lead nowhere": 1}
    assert {kind: summary["left_out"].get(kind) for kind in expected} == expected
    for verb in (["verify", "in"], ["diff", "in", "in"], ["import", "--dry-run", "in"]):
        result = opwright(*verb)
        check_no_crash(result)
        assert result.returncode == 0, result.stderr
    refused(opwright("dump", "in"), "no native trace")
    for to in ("native", "per-op", "jsonl"):
        refused(opwright("convert", "in", "--to", to, "-o", "out"))


def test_a_link_to_an_endless_device(opwright, tmp_path, usual_memory) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    for arguments in (["import"], ["verify"], ["dump"], ["convert", "--to", "jsonl"], ["vectors", "--suites"], ["results", "--import"]):
        result = measured(opwright, *arguments, "zero.json", "--max-line", "16M", "--max-document", "16M")
        refused(result, "zero.json")
        assert result.peak - usual_memory < 100 * MIB


@pytest.mark.parametrize("start", ['{"operations": {"ttnn.relu": ', LINE + '{"op_name": "', LINE])
def test_an_endless_pipe_ends(start: str, opwright, usual_memory) -> None:
    fill = "\\n" if start == LINE else " "
    producer = subprocess.Popen(["bash", "-c", f"printf %s '{start}'; tr '\\0' '{fill}' < /dev/zero"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        result = measured(opwright, "import", "-", "--max-document", "8M", "--max-line", "8M", "--max-total", "12M", stdin=producer.stdout)
    finally:
        os.killpg(producer.pid, signal.SIGKILL)
        producer.wait()
    refused(result, "standard input", "--max-")
    assert result.peak - usual_memory < 64 * MIB
    assert not (opwright.folder / "opwright.db").exists()


def test_pipes_are_read(opwright, tmp_path) -> None:
    master = fixture("master/era2_g4.json")
    plain = load_trace(opwright, master, store="plain.db")
    command = f"'{opwright.program}' --format json"
    for way in (f"import - < '{master}'", f"import <(cat '{master}')", f"import /dev/stdin < '{master}'", f"import <(gzip -c '{master}')"):
        result = support.run_shell(f"{command} --store x.db {way}; rm x.db", tmp_path, support.command_env(tmp_path))
        assert answer(result)["configurations"] == plain["configurations"], way
    result = support.run_shell(f"cat '{master}' | {command} import -", tmp_path, support.command_env(tmp_path))
    assert answer(result)["added"] == plain["added"]


def test_nobody_waits_for_our_input(opwright, tmp_path) -> None:
    """An import that waits for its pipe leaves the store to others."""
    os.mkfifo(tmp_path / "pipe")
    env = support.command_env(tmp_path)
    waiting = subprocess.Popen(
        [str(opwright.program), "--format", "json", "import", fixture("demo/tiny_llm.json"), "pipe"],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        with open(tmp_path / "pipe", "w") as pipe:  # opens when the program does
            pipe.write(LINE)
            pipe.flush()
            time.sleep(0.5)
            assert waiting.poll() is None
            added = answer(opwright("--format", "json", "import", "--wait", "0", fixture("master/era2_g4.json")))
            assert added["added"] > 0
            pipe.write(LINE.replace("relu", "gelu"))
        out, err = waiting.communicate(timeout=60)
    finally:
        waiting.kill()
    assert waiting.returncode == 0, err
    assert json.loads(out)["files"] == 2
    names = {op["operation"] for op in answer(opwright("--format", "json", "ops"))}
    assert {"ttnn.relu", "ttnn.gelu"} <= names


# -- files that change


def test_a_file_that_shrinks_while_it_is_imported(opwright, tmp_path) -> None:
    """Whoever truncates or rewrites a file during the import gets an error or a consistent reading, no signal."""
    text = fixture("demo/tiny_llm.json").read_text()
    big = json.loads(text)
    op = next(iter(big["operations"].values()))
    op["configurations"] = op["configurations"] * (20 * MIB // len(json.dumps(op)))
    content = json.dumps(big)
    path = tmp_path / "x.json"
    for delay in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8):
        path.write_text(content)
        program = subprocess.Popen(
            [str(opwright.program), "import", "--dry-run", "x.json"],
            cwd=tmp_path, env=support.command_env(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        time.sleep(delay)
        os.truncate(path, 4096)
        out, err = program.communicate(timeout=120)
        check_no_crash(subprocess.CompletedProcess([], program.returncode, out, err))
        assert program.returncode in (0, 3), err


# -- signals


def test_a_limit_on_the_size_of_files_is_a_failed_write(opwright, tmp_path) -> None:
    def write(name: str, count: int) -> None:
        configurations = [{"arguments": {"arg0": n, "arg1": f"text {n * 7919}"}, "executions": []} for n in range(count)]
        (tmp_path / name).write_text(json.dumps({"operations": {"ttnn.relu": {"configurations": configurations}}}))

    write("small.json", 1000)
    write("big.json", 9000)
    load_trace(opwright, "small.json")
    env = support.command_env(tmp_path)
    program = f"ulimit -f 64; exec '{opwright.program}'"  # blocks of 1 KiB
    refused(support.run_shell(f"{program} export --to master -o out.json", tmp_path, env), "out.json", "File too large")
    assert not (tmp_path / "out.json").exists()
    refused(support.run_shell(f"{program} export --to master > out.json", tmp_path, env), "cannot write the output")
    refused(support.run_shell(f"{program} import big.json", tmp_path, env), "opwright.db")
    assert load_trace(opwright, "small.json")["added"] == 0


def test_the_users_program_has_its_own_signals(opwright, tmp_path) -> None:
    """What we do about signals is not handed on."""
    script = f"'{opwright.program}' trace -o t -- cat /proc/self/status"
    plain = support.run_shell("cat /proc/self/status", tmp_path, support.command_env(tmp_path)).stdout
    ours = support.run_shell(script, tmp_path, support.command_env(tmp_path)).stdout

    def ignored(text: str) -> int:
        return int(next(line.split()[1] for line in text.splitlines() if line.startswith("SigIgn")), 16)

    for number in (signal.SIGXFSZ, signal.SIGPIPE):
        assert ignored(ours) >> (number - 1) & 1 == ignored(plain) >> (number - 1) & 1


def test_output_that_nobody_reads_ends_quietly(opwright, tmp_path) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    program = subprocess.Popen(
        [str(opwright.program), "show", "--format", "json"],
        cwd=tmp_path, env=support.command_env(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
    )  # fmt: skip
    program.stdout.close()
    err = program.stderr.read()
    assert (program.wait(timeout=60), err) in ((-signal.SIGPIPE, b""), (0, b""))


# -- depth

DEEP = 1_000_000


def deep_texts() -> dict[str, str]:
    brackets = "[" * DEEP
    closed = brackets + "]" * DEEP
    objects = '{"a":' * DEEP + "1" + "}" * DEEP
    config = '{"operations": {"ttnn.relu": {"configurations": [%s]}}}'
    return {
        "open.json": brackets,
        "closed.json": closed,
        "objects.json": objects,
        "master.json": config % ('{"arguments": {"arg0": %s}, "executions": []}' % closed),
        "era1.json": config % closed,
        "executions.json": config % ('{"arguments": {"arg0": 1}, "executions": %s}' % closed),
        "metadata.json": '{"metadata": %s, "operations": {}}' % closed,
        "content.json": '{"content": [{"operation": "ttnn::add", "arguments": %s}]}' % closed,
        "reflection.json": '{"content": [{"operation": "ttnn::add", "arguments": [{"arg0": "%s"}]}]}' % ("(" * DEEP),
        "graph.json": '[{"node_type": "function_start", "counter": 1, "params": {"name": "a"}, "arguments": ["%s"]}]' % ("Tensor(" * DEEP),
        "graph_deep.json": '[{"node_type": "tensor", "counter": 1, "params": %s}]' % objects,
        "ops.jsonl": '{"op_name": "ttnn.relu", "inputs": %s, "kwargs": {}}\n' % closed,
        "record.json": '{"operation_name": "ttnn.relu", "args": [{"position": 0, "value": %s}], "kwargs": {}}' % closed,
        "vectors.jsonl": '{"vector": %s}\n' % closed,
        "suites.yaml": "suites: " + closed,
        "suites2.yaml": 'suites: {a: [{op: ttnn.add, parameters: {x: ["%s"]}}]}' % ("[" * 100_000),
        "results.jsonl": '{"opwright_results": 1, "run": %s}\n' % closed,
    }


@pytest.fixture(scope="module")
def deep_folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("deep")
    for name, text in deep_texts().items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("verb", "files"),
    [
        (["import", "--all-ops", "FILE"], "*.json*"),
        (["import", "--all-ops", "--max-depth", "1000", "FILE"], "*.json*"),
        (["verify", "FILE"], "*.json*"),
        (["diff", "FILE", "FILE"], "[emo]*.json*"),
        (["dump", "FILE"], "o*.json*"),
        (["convert", "FILE", "--to", "jsonl"], "[or]*.json*"),
        (["convert", "FILE", "--to", "native", "-o", "out.opwt"], "[or]*.json*"),
        (["vectors", "--suites", "FILE"], "*.yaml"),
        (["vectors", "--from", "FILE"], "[ov]*.json*"),
        (["run", "--vectors", "FILE", "--device", "null"], "v*.json*"),
        (["results", "--import", "FILE"], "[or]*.json*"),
        (["device", "conform", "--device", "null", "--oracle", "FILE"], "[or]*.json*"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_million_brackets(verb: list, files: str, opwright, deep_folder) -> None:
    for path in sorted(deep_folder.glob(files)):
        result = opwright(*[str(path) if word == "FILE" else word for word in verb])
        check_no_crash(result)
        assert result.returncode in (0, 1, 2, 3), result.stderr


def test_a_selector_of_a_million_brackets(opwright) -> None:
    load_trace(opwright, fixture("demo/tiny_llm.json"))
    for text in ("(" * 100_000, "not " * 25_000 + "op=add", "op in (" * 10_000, "arg0=" + "[" * 100_000):
        result = opwright("ops", "--where", text)
        check_no_crash(result)
        assert result.returncode == 2, result.stderr[:300]
    for text in ("ttnn.add(" + "[" * 100_000, "ttnn.add " + "tensor(" * 10_000):
        result = opwright("run", "--case", text, "--device", "null")
        check_no_crash(result)
        assert result.returncode in (2, 3), result.stderr[:300]


def test_depth_can_be_raised(opwright, tmp_path) -> None:
    nested = "[" * 600 + "]" * 600
    (tmp_path / "x.json").write_text('{"operations": {"ttnn.relu": {"configurations": [{"arguments": {"arg0": %s}, "executions": []}]}}}' % nested)
    assert sum(load_trace(opwright, "x.json")["losses"].values()) == 1
    assert load_trace(opwright, "x.json", options=("--max-depth", "700"))["added"] == 1
    for verb in (["ops"], ["show", "ttnn.relu"], ["stats"], ["export", "--to", "jsonl", "-o", "out.jsonl"], ["doctor", "--deep"]):
        done = opwright(*verb)
        assert done.returncode == 0, (verb, done.stderr)
    assert nested in opwright("--format", "json", "show", "ttnn.relu").stdout.replace(" ", "").replace("\n", "")


# -- aliases


def test_aliases_that_mean_more_than_they_say(opwright, tmp_path, usual_memory) -> None:
    lists = "\n".join(f"  l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12))
    texts = {
        "laughs.yaml": f"suites:\n  l0: &l0 [1, 2]\n{lists}\n",
        "values.yaml": "suites:\n  a:\n  - op: ttnn.add\n    parameters:\n      l0: &l0 [1, 2]\n"
        + "\n".join(f"      l{i}: &l{i} [{', '.join([f'*l{i - 1}'] * 10)}]" for i in range(1, 12)),
        "names.yaml": f"suites:\n  a:\n  - op: &op {'x' * 100_000}\n" + "  - op: *op\n" * 1000,
        "cases.yaml": "suites:\n  a: &a\n" + "  - op: ttnn.add\n" * 2000 + "".join(f"  s{i}: *a\n" for i in range(600)),
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
        result = measured(opwright, "vectors", "--suites", name)
        refused(result, name)
        assert result.peak - usual_memory < 256 * MIB, name
