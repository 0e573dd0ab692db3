#!/usr/bin/python3
"""What recording costs: the recorder in a C++ program, the hook on the real ttnn library beside the library's own tracer.

    ./x bench capture          all of it; the ttnn part needs ./x setup --with-ttnn

Times are processor time of the calling thread (C++) or of the process (Python): the machine may be busy. Every ttnn
figure comes from one process that switches the tracers on and off in turns, so ratios are fair.
"""

import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUNS = 5

LOOP = r"""
import json, os, statistics, sys, time
sys.path.insert(0, sys.argv[1])
import ttnn
from opwright import _capture, ttnn_hook

device = ttnn.open_device(device_id=0)
a = ttnn.full([1, 1, 64, 64], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
b = ttnn.full([1, 1, 64, 64], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)

def loop(n):
    begin = time.process_time()
    for _ in range(n):
        ttnn.add(a, b)
    return (time.process_time() - begin) / n * 1e6

def ours(n):
    _capture.start(sys.argv[2], {})
    ttnn_hook.install(ttnn)
    loop(50)
    taken = loop(n)
    ttnn_hook.remove()
    counters = _capture.stop()
    return taken, counters["recorder_ns"] / counters["calls"]

def theirs(n):
    import ttnn.operation_tracer as tracer
    ttnn.CONFIG.enable_fast_runtime_mode = False
    try:
        loop(50)
        slow = loop(n)
        tracer.enable_tracing(True)
        loop(50)
        return slow, loop(n)
    finally:
        tracer.enable_tracing(False)
        ttnn.CONFIG.enable_fast_runtime_mode = True

loop(200)
rows = {"untraced": [], "ours": [], "recorder": [], "slow": [], "theirs": []}
for _ in range(5):
    rows["untraced"].append(loop(3000))
    taken, recorder = ours(3000)
    rows["ours"].append(taken)
    rows["recorder"].append(recorder / 1e3)
    try:
        slow, traced = theirs(200)
        rows["slow"].append(slow)
        rows["theirs"].append(traced)
    except ImportError as error:
        rows["error"] = str(error)
print(json.dumps({name: statistics.median(value) if isinstance(value, list) and value else value for name, value in rows.items()}))
ttnn.close_device(device)
"""


def native(build: pathlib.Path, folder: str) -> list[tuple[str, str, str, bool | None]]:
    def measure(mode: str, calls: int) -> dict:
        runs = [
            json.loads(subprocess.run([build / "capture_bench", mode, str(calls), folder], check=True, capture_output=True).stdout)
            for _ in range(RUNS if calls < 10_000_000 or mode == "off" else 1)
        ]
        best = dict(runs[0])
        best["ns_per_call"] = statistics.median(run["ns_per_call"] for run in runs)
        return best

    rows = []
    off = measure("off", 100_000_000)
    rows.append(("C++, switched off", f"{off['ns_per_call']:.2f} ns a call (loop and function call included)", "<= 2 ns", off["ns_per_call"] <= 2))
    if shutil.which("valgrind"):
        counts = []
        for calls in (100_000, 200_000):
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", build / "capture_bench", "off", str(calls), folder],
                capture_output=True, text=True,
            )  # fmt: skip
            counts.append(int(re.search(r"Collected : (\d+)", done.stderr)[1]))
        rows.append(("C++, switched off", f"{(counts[1] - counts[0]) / 100_000:.1f} instructions a call, loop included", "", None))
    repeat = measure("repeat", 2_000_000)
    rows.append(("C++, repeated configuration", f"{repeat['ns_per_call']:.0f} ns, {repeat['bytes_per_call']:.0f} bytes a call", "<= 200 ns, <= 100 bytes", repeat["ns_per_call"] <= 200 and repeat["bytes_per_call"] <= 100))
    first = measure("first", 300_000)
    rows.append(("C++, first sighting", f"{first['ns_per_call']:.0f} ns, {first['bytes_per_call']:.0f} bytes a call", "<= 5,000 ns", first["ns_per_call"] <= 5000))
    many = measure("many", 10_000_000)
    rows.append(("C++, 10 million calls", f"{many['ns_per_call']:.0f} ns a call, memory grew by {many['grown_kib']} KiB", "constant memory", many["grown_kib"] < 4096))
    return rows


def on_ttnn(build: pathlib.Path, python: str, folder: str) -> list[tuple[str, str, str, bool | None]]:
    script = pathlib.Path(folder) / "loop.py"
    script.write_text(LOOP)
    env = dict(os.environ, TTNN_OPERATION_TRACE_DIR=str(pathlib.Path(folder) / "theirs"))
    done = subprocess.run(
        [build / "opwright", "mock", "--board", "n150", "--", python, script, build / "python", folder],
        env=env, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode != 0:
        return [("ttnn.add on the mock device", f"failed: {done.stderr[-400:]}", "", False)]
    figures = json.loads(done.stdout.splitlines()[-1])
    added = figures["ours"] - figures["untraced"]
    rows = [
        ("ttnn.add, untraced", f"{figures['untraced']:.1f} us", "", None),
        ("ttnn.add, traced by opwright", f"{figures['ours']:.1f} us: {added:.1f} us added (the recorder itself says {figures['recorder']:.1f})", "<= 10 us added", added <= 10),
    ]
    if figures["theirs"]:
        theirs = figures["theirs"] - figures["untraced"]
        rows.append(("ttnn.add, slow mode / the library's tracer", f"{figures['slow']:.0f} us / {figures['theirs']:.0f} us: {theirs / added:.0f} times our overhead", ">= 100 times", theirs / added >= 100))
        rows += per_op_files(build, python, folder, figures)
    else:
        rows.append(("the library's tracer", f"not measured: {figures.get('error')}", "", None))
    return rows


def per_op_files(build: pathlib.Path, python: str, folder: str, figures: dict) -> list[tuple[str, str, str, bool | None]]:
    """Our writer of per-op files against the library's, per file."""
    trace = max(pathlib.Path(folder).glob("*.opwt"), key=lambda path: path.stat().st_size)
    out = pathlib.Path(folder) / "per_op"
    times = []
    for _ in range(3):
        shutil.rmtree(out, ignore_errors=True)
        before = os.times()
        subprocess.run([build / "opwright", "convert", trace, "--to", "per-op", "-o", out], check=True, capture_output=True)
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
    files = sum(1 for path in out.rglob("*.json") if path.name[0].isdigit())
    ours = statistics.median(times) / files * 1e6
    theirs = figures["theirs"] - figures["slow"]
    return [("per-op JSON files", f"{ours:.0f} us a file ({files} files), the library's writer {theirs:.0f} us: {theirs / ours:.0f} times", ">= 10 times", theirs / ours >= 10)]


def main() -> int:
    build = pathlib.Path(os.environ["OPWRIGHT_BIN"]).resolve().parent
    python = os.environ.get("OPWRIGHT_TTNN_PYTHON") or str(ROOT / "build" / "ttnn-env" / "bin" / "python")
    with tempfile.TemporaryDirectory(dir=ROOT / "build") as folder:
        rows = native(build, folder)
        if pathlib.Path(python).exists():
            rows += on_ttnn(build, python, folder)
        else:
            print("the ttnn part is left out: ./x setup --with-ttnn makes its Python", file=sys.stderr)
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for what, figure, goal, holds in rows:
        reached = "" if holds is None else "yes" if holds else "NO"
        print(f"| {what:<{widths[0]}} | {figure:<{widths[1]}} | {goal:<{widths[2]}} | {reached:<3} |")
    return 1 if any(holds is False for *_, holds in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
