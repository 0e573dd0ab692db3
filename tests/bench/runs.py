#!/usr/bin/python3
"""What runs cost: isolated cases a second, vectors, the real library on its mock device.

    ./x bench run [--million | --order]   the ttnn part needs ./x setup --with-ttnn

--order runs all real masters of both eras once ($OPWRIGHT_REAL_DATA, else ../shared/data; else our fixtures) and says how early what was
seen, and how the total compares with the best order's. Exit status 1 where an operation was first seen after 60 s, or the total is more than
10 % over.

Medians of three. Cases a second are whole runs: start, workers, data, device, reference, judge, store.
"""

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import data  # noqa: E402

DATA = HERE.parents[1] / "build" / "bench-data"
REPEAT = 3
UNARY = ("relu", "gelu", "silu", "sigmoid", "exp", "abs", "neg", "square", "sqrt", "sin")


def tensor(*shape: int) -> str:
    return f"tensor([{','.join(map(str, shape))}] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"


def small_suite(path: Path) -> None:
    """2,000 different small cases: 1,500 unary ones of up to 15 x 10 tiles, 500 matmuls of up to 5 x 10 x 10 tiles."""
    lines = ["suites:", "  small:"]
    for i in range(1500):
        shape = tensor(1, 1 + i // 10 % 15, 32, 32 * (1 + i // 150))
        lines += [f"    - op: ttnn.{UNARY[i % 10]}", f"      parameters: {{input_tensor: ['{shape}']}}"]
    for i in range(500):
        m, k, n = 32 * (1 + i % 5), 32 * (1 + i // 5 % 10), 32 * (1 + i // 50)
        lines.append("    - op: ttnn.matmul")
        lines.append(
            f"      parameters: {{input_tensor_a: ['{tensor(1, 1, m, k)}'], input_tensor_b: ['{tensor(1, 1, k, n)}']}}"
        )
    path.write_text("\n".join(lines) + "\n")


def million_suite(path: Path) -> None:
    a = ", ".join(f"'{tensor(1, 1, 32 * (1 + i % 100), 32 * (1 + i // 100))}'" for i in range(1000))
    b = ", ".join(str(0.5 + i / 8) for i in range(1000))
    path.write_text(
        f"suites:\n  million:\n    - op: ttnn.add\n      parameters:\n        input_tensor_a: [{a}]\n        input_tensor_b: [{b}]\n"
    )


def run(*arguments: object) -> tuple[float, float, str]:
    """Seconds, peak MB of the parent, and what it printed."""
    before = time.monotonic()
    done = subprocess.run(
        ["/usr/bin/time", "-f", "%M kB", os.environ["OPWRIGHT_BIN"], *map(str, arguments)], capture_output=True, text=True
    )
    seconds = time.monotonic() - before
    if done.returncode not in (0, 1):
        sys.exit(f"{arguments}: exit status {done.returncode}\n{done.stderr}")
    peak = re.search(r"(\d+) kB\s*$", done.stderr)
    return seconds, int(peak[1]) / 1e3 if peak else 0.0, done.stdout + done.stderr


def rate(text: str) -> float:
    found = re.search(r"cases in [^(]*\(([\d.,]+)/s\)", text)
    return float(found[1].replace(",", "")) if found else 0.0


def isolated_cases(folder: Path) -> None:
    suite = folder / "small.yaml"
    small_suite(suite)
    for device in ("sim:n150", "null"):
        rates = []
        for i in range(REPEAT):
            text = run("--store", folder / f"{device[:4]}{i}.db", "run", "--suites", suite, "--device", device, "--quiet")[2]
            rates.append(rate(text))
        print(f"isolated small cases on {device}: {statistics.median(rates):.0f}/s of {sorted(map(round, rates))}")


def vectors(folder: Path) -> None:
    subprocess.run([sys.executable, str(HERE / "data.py"), str(DATA), "era2_21mb.json"], check=True)
    master = DATA / "era2_21mb.json"
    store = folder / "vectors.db"
    run("--store", store, "import", master)
    for extra in ((), ("--export", folder / "export")):
        figures = [run("--store", store, "vectors", *extra)[:2] for _ in range(REPEAT)]
        seconds = statistics.median(figure[0] for figure in figures)
        print(f"vectors of 7,308 configurations {' '.join(map(str, extra[:1]))}: {seconds:.2f} s, {figures[0][1]:.0f} MB")


def real_library(folder: Path) -> None:
    if not os.environ.get("OPWRIGHT_TTNN_PYTHON"):
        print("ttnn:mock: left out, $OPWRIGHT_TTNN_PYTHON is not set")
        return
    store = folder / "mock.db"
    for trace in sorted((Path(__file__).parents[1] / "fixtures" / "native").glob("*.opwt.zst")):
        run("--store", store, "import", trace)
    cpu = resource.getrusage(resource.RUSAGE_CHILDREN)
    text = run("--store", store, "--format", "json", "run", "--device", "ttnn:mock:n150", "--jobs", 1, "--quiet")[2]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    total = json.loads(text[text.index("{") : text.rindex("}") + 1])["total"]
    print(f"ttnn:mock:n150, one worker: {total} cases, {seconds:.1f} CPU s, start included: {total / seconds:.1f} a CPU second")


EVERY_OPERATION_S, OVER_BEST = 60.0, 0.10


def order(folder: Path) -> bool:
    """The lines that a run prints of its own order, held against the goals."""
    store = folder / "order.db"
    run("--store", store, "import", *data.masters())
    program = Path(os.environ["OPWRIGHT_BIN"]).parent / "order_bench"
    if program.exists():
        vectors = subprocess.run([os.environ["OPWRIGHT_BIN"], "--store", store, "vectors", "--format", "jsonl"], check=True, stdout=subprocess.PIPE).stdout
        told = subprocess.run([program, "2"], input=vectors, check=True, stdout=subprocess.PIPE).stdout.decode()
        print("in virtual time, on two workers:\n" + told + "measured:")
    text = run("--store", store, "run", "--quiet")[2]
    print("\n".join(line for line in text.splitlines() if line.startswith(("first result", "seen after", "all in"))))
    seen = re.search(r"every operation seen after ([\d.]+) s", text)
    over = re.search(r"takes [\d.]+ s \(([+-][\d.]+) %\)", text)
    if not seen or not over:
        print("the run was too short to say, or did not see every operation")
        return not over
    holds = float(seen[1]) <= EVERY_OPERATION_S and float(over[1]) <= 100 * OVER_BEST
    print(f"every operation seen within {EVERY_OPERATION_S:.0f} s, total within {OVER_BEST:.0%} of the best order: {'yes' if holds else 'NO'}")
    return holds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--million", action="store_true", help="also a million cases on the null device (minutes)")
    parser.add_argument("--order", action="store_true", help="instead: how early a run of all real masters has seen what (ten minutes)")
    options = parser.parse_args()
    if options.order:
        with tempfile.TemporaryDirectory() as name:
            sys.exit(0 if order(Path(name)) else 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        isolated_cases(folder)
        vectors(folder)
        real_library(folder)
        if options.million:
            suite = folder / "million.yaml"
            million_suite(suite)
            seconds, peak, text = run(
                "--store", folder / "m.db", "run", "--suites", suite, "--limit", 1000000, "--device", "null", "--quiet"
            )
            print(f"a million cases on null: {seconds:.0f} s, {rate(text):.0f}/s, parent at most {peak:.0f} MB")


if __name__ == "__main__":
    main()
