#!/usr/bin/python3
"""The jobs of DESIGN §7 that importing and asking are judged by, measured and printed as one table.

    ./x bench                  all jobs
    ./x bench --quick          the small ones
    ./x bench --only query     those whose names contain a word

`$OPWRIGHT_BIN` is the program; `parse_only`, built beside it, says what the JSON parser alone needs for the same bytes.
A time is the median of five runs of the whole program, from its start to its end. `fsync` is what of one more run the
disk's flushing took (with strace). Inputs are made once, in build/bench-data (see data.py).
"""

import argparse
import json
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
DATA = ROOT / "build" / "bench-data"
RUNS = 5

# Python's share of the same work: reading the file and one SHA-256 a configuration.
PEER = """
import hashlib, json, sys
with open(sys.argv[1]) as file:
    master = json.load(file)
for name, operation in master["operations"].items():
    for config in operation["configurations"]:
        hashlib.sha256((name + json.dumps(config["arguments"], sort_keys=True)).encode()).hexdigest()
"""


class Failed(Exception):
    pass


def run(arguments):
    """Seconds, processor seconds and peak memory in bytes of one process; its output is left out.

    No peak is below that of this process, which the system counts in: so inputs are made by another one.
    """
    with tempfile.TemporaryFile() as errors:
        begin = time.perf_counter()
        process = os.posix_spawn(
            arguments[0],
            [str(argument) for argument in arguments],
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, errors.fileno(), 2),
            ],
        )
        _, status, usage = os.wait4(process, 0)
        seconds = time.perf_counter() - begin
        if status != 0:
            errors.seek(0)
            raise Failed(f"{' '.join(map(str, arguments))}: exit {os.waitstatus_to_exitcode(status)}\n{errors.read().decode()}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


class Sample:
    def __init__(self, results):
        self.seconds = statistics.median(seconds for seconds, _, _ in results)
        self.low = min(seconds for seconds, _, _ in results)
        self.high = max(seconds for seconds, _, _ in results)
        self.processor = statistics.median(processor for _, processor, _ in results)
        self.memory = max(memory for _, _, memory in results)


def size_of(path):
    if path.is_dir():
        return sum(file.stat().st_size for file in path.iterdir())
    return path.stat().st_size


class Bench:
    def __init__(self, program, only):
        self.program = program
        self.only = only
        self.parser = pathlib.Path(program).parent / "parse_only"
        self.rows = []
        self.notes = []
        self.parsed = {}
        self.samples = {}
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="run-", dir=DATA))

    def input(self, name):
        subprocess.run([sys.executable, str(HERE / "data.py"), str(DATA), name], check=True)
        return DATA / name

    def wanted(self, job):
        return self.only is None or self.only in job

    def store(self, name="store"):
        """The path of a store that is not there."""
        for file in self.folder.glob(name + ".db*"):
            file.unlink()
        return self.folder / (name + ".db")

    def import_command(self, store, *paths):
        return [self.program, "--store", store, "import", *paths]

    def import_runs(self, path, known):
        """Imports into an empty store, or into one that knows everything."""
        results = []
        if known:
            store = self.store()
            run(self.import_command(store, path))
            run(self.import_command(store, path))
        for _ in range(RUNS):
            if not known:
                store = self.store()
            results.append(run(self.import_command(store, path)))
        return Sample(results)

    def flush_seconds(self, path, known):
        """Seconds inside fsync and fdatasync of one import, or None without strace."""
        strace = shutil.which("strace")
        if strace is None:
            return None
        store = self.store()
        if known:
            run(self.import_command(store, path))
        log = self.folder / "strace"
        try:
            run([strace, "-f", "-T", "-e", "trace=fsync,fdatasync", "-o", log, *self.import_command(store, path)])
        except Failed:
            return None  # where tracing is not allowed
        return sum(float(taken) for taken in re.findall(r"<([0-9.]+)>$", log.read_text(), re.MULTILINE))

    def parser_seconds(self, path, hashed=False, processor=False):
        """What the parser alone needs, or parser and SHA-256, on one thread; None without parse_only."""
        if path not in self.parsed:
            self.parsed[path] = None
            if self.parser.exists():
                done = subprocess.run([str(self.parser), str(path)], capture_output=True, text=True)
                if done.returncode == 0:
                    told = done.stdout.split()
                    self.parsed[path] = float(told[0]), float(told[3]), float(told[4])
        return self.parsed[path] and self.parsed[path][2 if processor else hashed]

    # `goal` takes a Sample and the size, and says whether it holds.
    def import_job(self, job, name, known, goal_text, goal):
        if not self.wanted(job):
            return
        path = self.input(name)
        size = size_of(path)
        sample = self.samples[name, known] = self.import_runs(path, known)
        self.row(job, size, sample, goal_text, goal(sample, size), self.parser_seconds(path), self.flush_seconds(path, known))

    def row(self, job, size, sample, goal_text, holds, parser=None, flush=None):
        rate = size / sample.seconds / 1e6 if size else None
        cells = [
            job,
            f"{size / 1e6:.1f} MB" if size else "-",
            f"{sample.seconds * 1e3:.1f} ms",
            f"{sample.low * 1e3:.1f}-{sample.high * 1e3:.1f}",
            f"{sample.processor * 1e3:.0f} ms",
            f"{rate:.0f} MB/s" if rate else "-",
            f"{sample.memory / 1e6:.0f} MB",
            f"{parser * 1e3:.1f} ms" if parser is not None else "-",
            f"{flush * 1e3:.1f} ms" if flush is not None else "-",
            goal_text,
            "-" if holds is None else "yes" if holds else "NO",
        ]
        self.rows.append((cells, holds))
        print(f"  {job}: {cells[2]}, {cells[6]}", file=sys.stderr)

    def print_table(self):
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        self.notes.append(f"A peak memory of {own / 1e6:.0f} MB means: at most that (it is this script's own).")
        head = ["job", "input", "time", "min-max ms", "CPU", "rate", "peak memory", "parser alone", "fsync", "goal", "reached"]
        table = [head] + [cells for cells, _ in self.rows]
        widths = [max(len(line[column]) for line in table) for column in range(len(head))]
        table.insert(1, ["-" * width for width in widths])
        for line in table:
            print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |")
        for note in self.notes:
            print(note)


def within(seconds, memory=None):
    return lambda sample, _: sample.seconds <= seconds and (memory is None or sample.memory <= memory)


def at_least(rate):
    return lambda sample, size: size / sample.seconds >= rate and sample.memory <= 2 * size


def small_jobs(bench):
    bench.import_job("merge 5,213 era-1 configurations, empty store", "era1.json", False, "<= 250 ms, <= 120 MB", within(0.25, 120e6))
    bench.import_job("import 7,308 era-2 configurations, empty store", "era2_21mb.json", False, "<= 250 ms", within(0.25))
    bench.import_job("import 7,308 era-2 configurations, again", "era2_21mb.json", True, "<= 250 ms", within(0.25))
    bench.import_job("import 20,040 per-op files, empty store", "per_op_20040", False, "<= 500 ms", within(0.5))
    bench.import_job("import 20,040 per-op files, again", "per_op_20040", True, "<= 500 ms", within(0.5))


def peer_job(bench):
    job = "Python: json.load and SHA-256 of the 7,308"
    if not bench.wanted(job):
        return
    path = bench.input("era2_21mb.json")
    python = Sample([run([sys.executable, "-c", PEER, path]) for _ in range(RUNS)])
    bench.row(job, size_of(path), python, "(peer)", None)
    ours = bench.samples.get(("era2_21mb.json", False)) or bench.import_runs(path, False)
    bench.notes.append(
        f"Python needs {python.seconds / ours.seconds:.1f} times as long only to read and hash the 7,308 configurations "
        f"as opwright to import them ({python.seconds:.2f} s, {ours.seconds:.3f} s)."
    )


def throughput_jobs(bench):
    goal = "MB/s, <= 2x the file"
    bench.import_job("throughput, 37,689 configurations, empty store", "era2_100mb.json", False, f">= 100 {goal}", at_least(100e6))
    bench.import_job("throughput, 37,689 configurations, known", "era2_100mb.json", True, f">= 300 {goal}", at_least(300e6))

    path = DATA / "era2_100mb.json"
    for known, goal in ((False, 0.3), (True, 0.6)):
        sample = bench.samples.get(("era2_100mb.json", known))
        floor = sample and bench.parser_seconds(path, hashed=True)
        if floor:  # a ratio of two times of one run: it says the same on any machine
            ratio = floor / sample.seconds
            job = f"speed of that import{', known' if known else ''} beside parsing and hashing on one thread"
            told = f"{sample.seconds * 1e3:.0f} ms to {floor * 1e3:.0f}"
            processor = bench.parser_seconds(path, hashed=True, processor=True)
            bench.notes.append(f"{job}: {processor / sample.processor:.0%} in processor time of all threads ({sample.processor * 1e3:.0f} ms to {processor * 1e3:.0f}), "
                               "which others on the machine do not change.")
            bench.rows.append(([job, "-", f"{ratio:.0%}", told, *["-"] * 5, f">= {goal:.0%}", "yes" if ratio >= goal else "NO"], ratio >= goal))


def calls_jobs(bench):
    """A native trace of repeated calls with its calls kept in their order: calls a second, and bytes a call in the store."""
    calls = 4_001_000  # capture_bench makes 1,000 to warm up
    for job, known in (("import 4 million repeated calls, kept", False), ("import 4 million repeated calls, again", True)):
        if not bench.wanted(job):
            continue
        path = bench.input("calls_4m.opwt")
        sample = bench.import_runs(path, known)
        stored = (bench.folder / "store.db").stat().st_size / calls
        rate = calls / sample.seconds
        bench.row(job, size_of(path), sample, ">= 2 million calls/s, <= 40 bytes a call", rate >= 2e6 and stored <= 40)
        bench.notes.append(f"{job}: {rate / 1e6:.2f} million calls/s, {stored:.1f} bytes a call in the store, "
                           f"{size_of(path) / calls:.1f} in the trace.")


def length_jobs(bench):
    """Memory must not grow with the length of what is streamed."""
    for what, short, long in (("op JSONL", "jsonl_10mb.jsonl", "jsonl_100mb.jsonl"), ("per-op files", "per_op_2004", "per_op_20040")):
        memories = []

        def goal(sample, _size, memories=memories):
            memories.append(sample.memory)
            return memories[-1] <= memories[0] + 4e6

        bench.import_job(f"streaming {what}", short, False, "-", lambda sample, size, goal=goal: goal(sample, size) and None)
        bench.import_job(f"streaming {what}, 10x as long", long, False, "same memory", goal)


def first_configuration(bench, store):
    """A configuration to ask for, as `show` gives it: of linear where the input has it."""
    for operation in (["linear", "--where", "dtype=bfloat8_b"], []):
        command = [bench.program, "--store", store, "show", *operation, "--limit", "1", "--format", "json"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0 and (shown := json.loads(done.stdout)):
            return shown[0]
    raise Failed(f"show: {done.stderr}")


def find(value, wanted):
    """The first text or list that `wanted` accepts, anywhere in a JSON value."""
    if wanted(value):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in items:
        if (found := find(item, wanted)) is not None:
            return found
    return None


def query_jobs(bench):
    if not bench.wanted("query"):
        return
    inputs = [bench.input(name) for name in ("era2_100mb.json", "era2_more_1.json", "era2_more_2.json")]
    store = bench.store("query")
    run(bench.import_command(store, *inputs))
    size = store.stat().st_size
    one = first_configuration(bench, store)
    key = find(one, lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{12,64}", value))
    shape = find(one, lambda value: isinstance(value, list) and len(value) == 4 and all(isinstance(item, int) for item in value))
    shape = "[" + ",".join(map(str, shape or [1, 1, 32, 2048])) + "]"
    name = one["operation"]
    dtype = find(one, lambda value: value in ("BFLOAT8_B", "BFLOAT16", "FLOAT32")) or "BFLOAT16"
    asked = [
        ("one operation, dtype and shape", [name, "--where", f"dtype={dtype} and shape={shape}"]),
        ("the same as one selector", ["--where", f"op={name} and dtype={dtype} and shape={shape}"]),
        ("in0.shape alone", ["--where", f"in0.shape={shape}"]),
        ("key prefix", ["--where", f"key={(key or '00000000')[:10]}"]),
        ("argument value", ["--where", "op=linear and arg.program_config.per_core_M=4 and dim[0]=2001"]),
        ("dimension range", ["--where", "op=softmax or (op=topk and dim[0]>260000)"]),
    ]
    for what, arguments in asked:
        command = [bench.program, "--store", store, "show", *arguments, "--format", "json"]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        count = len(re.findall(r'"key": ?"', found))
        results_and_starts = [(run(command), run([bench.program, "--version"])) for _ in range(4 * RUNS)]
        sample = Sample([asked_for for asked_for, _ in results_and_starts])
        start = Sample([started for _, started in results_and_starts])
        inside = sample.seconds - start.seconds
        bench.row(f"query: {what} ({count} found)", 0, sample, "< 5 ms inside", inside < 0.005)
        bench.notes.append(f"query over 100,000 configurations ({size / 1e6:.0f} MB store), {what}: {inside * 1e3:.1f} ms inside, "
                           f"{start.seconds * 1e3:.1f} ms start-up (--version): {' '.join(arguments)}")

    asked_inside(bench, store)


# Questions that terms do not answer, timed inside the program (query_bench) and as a whole process. A match that is handed
# out has operation, convention, key, calls, and names of models, machines and sources (`ops` needs no more); "with
# arguments" it has the whole configuration; the process prints all of it (`show --format jsonl`).
INSIDE = [
    ("one dimension", "dim[0]=2001"),
    ("a range of it, many", "dim[-1]>=8192"),
    ("one dimension, many", "dim[-1]=32"),
    ("part of a name", "op~norm"),
    ("part of an argument's text", "arg.memory_config~width"),
    ("part of a dtype", "dtype~bfloat4"),
    ("model and dimension", "model~llama and dim[0]=3001"),
    ("machine and dimension", "machine~n300 and dim[0]=3001"),
    ("a model that is not there", "model=foo"),
    ("an argument's value", "op=linear and arg.program_config.per_core_M=4 and dim[0]=2001"),
    ("a range of an argument", "arg.dim>1 and rank=2"),
]


def asked_inside(bench, store):
    program = pathlib.Path(bench.program).parent / "query_bench"
    if not program.exists():
        bench.notes.append("query: not measured inside, no query_bench beside the program")
        return
    answers = subprocess.run([program, store, *(where for _, where in INSIDE)], capture_output=True, text=True, check=True).stdout
    for (what, where), line in zip(INSIDE, answers.splitlines(), strict=True):
        told = json.loads(line)
        for part, name, goal in (("first", "to the first", 0.005), ("last", "to the last", 0.020), ("arguments", "to the last, with arguments", 0.020)):
            middle = {"last": f"median {told['median'] * 1e3:.1f}", "arguments": f"median {told['arguments_median'] * 1e3:.1f}"}.get(part, "-")
            cells = [f"query: {what} ({told['rows']} found), {name}", "-", f"{told[part] * 1e3:.1f} ms", middle, *["-"] * 5, f"<= {goal * 1e3:.0f} ms inside"]
            # What finds nothing by accident, in made-up inputs, proves nothing.
            holds = None if told["rows"] == 0 and "not there" not in what else told[part] <= goal
            bench.rows.append(([*cells, "-" if holds is None else "yes" if holds else "NO"], holds))
        bench.notes.append(f"query inside the program, {what}: {where}")
        shown = Sample([run([bench.program, "--store", store, "show", "--where", where, "--format", "jsonl"]) for _ in range(RUNS)])
        bench.row(f"query: {what} ({told['rows']} found), shown as JSON by a process", 0, shown, "-", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the small jobs only")
    parser.add_argument("--only", metavar="WORD", help="jobs whose names contain WORD")
    options = parser.parse_args()
    program = os.environ.get("OPWRIGHT_BIN") or str(ROOT / "build" / "release" / "opwright")
    if not os.access(program, os.X_OK):
        sys.exit(f"bench: no program at {program}; run ./x bench, or set OPWRIGHT_BIN")
    DATA.mkdir(parents=True, exist_ok=True)
    bench = Bench(program, options.only)
    try:
        small_jobs(bench)
        peer_job(bench)
        if not options.quick:
            throughput_jobs(bench)
            calls_jobs(bench)
            length_jobs(bench)
            query_jobs(bench)
    except Failed as problem:
        sys.exit(f"bench: {problem}")
    finally:
        shutil.rmtree(bench.folder)
    bench.print_table()
    missed = [cells[0] for cells, holds in bench.rows if holds is False]
    if missed:
        print(f"missed: {'; '.join(missed)}")


if __name__ == "__main__":
    main()
