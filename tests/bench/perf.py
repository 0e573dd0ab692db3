#!/usr/bin/python3
"""How fast a profiler report is read: a report of 4 MB with 3,044 device rows, and a long one by its bytes a second.

    tests/bench/perf.py [--mb N]     how long the long one is; default 256

`$OPWRIGHT_BIN` is the program. The reports are made here (tests/fixtures/make_perf.py) and padded with the columns that
real ones have. Times are medians of five runs of the whole process, with its processor time beside them; memory is the
largest resident set, of the long report and of a quarter of it: the difference is what grows with the length.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

import make_perf  # noqa: E402

#: what a real row has beside the cells of the fixtures: 44 more columns, lists of kernel sources
MORE = [f"TENSIX DM {i} MAX KERNEL SIZE [B]" for i in range(40)] + ["COMPUTE KERNEL HASH", "DATA MOVEMENT KERNEL SOURCE"]
SOURCES = "['" + "'; '".join(f"ttnn/cpp/ttnn/operations/kernels/dataflow/reader_{i}.cpp" for i in range(15)) + "']"


def block(iterations: int, first_call: int) -> bytes:
    columns = make_perf.header("v2.1") + MORE
    rows = ({**row, "DATA MOVEMENT KERNEL SOURCE": SOURCES, "COMPUTE KERNEL HASH": "a/1"} for row in
            make_perf.rows("v2.1", iterations, first_call=first_call, clock=first_call * 100000))  # fmt: skip
    return make_perf.text(columns, rows).encode()


def write(path: pathlib.Path, rows: int) -> None:
    """That many device rows, 1,000 iterations at a time."""
    with path.open("wb") as file:
        for first in range(0, rows, 4000):
            data = block(min(4000, rows - first) // 4, first + 1)
            file.write(data if first == 0 else data.split(b"\n", 1)[1])


def measure(program: str, path: pathlib.Path, runs: int) -> tuple[float, float, int]:
    """Median seconds of the process, of its processor time, and its memory in KiB."""
    walls, cpus, memory = [], [], 0
    for _ in range(runs):
        begin = time.perf_counter()
        child = subprocess.Popen([program, "perf", str(path), "--format", "json"], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        walls.append(time.perf_counter() - begin)
        cpus.append(usage.ru_utime + usage.ru_stime)
        memory = max(memory, usage.ru_maxrss)
        if status != 0:
            sys.exit(f"{path}: the program ended with {status}")
    return statistics.median(walls), statistics.median(cpus), memory


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mb", type=int, default=256)
    options = parser.parse_args()
    program = os.environ["OPWRIGHT_BIN"]
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder) / "small.csv"
        write(small, 3044)
        wall, cpu, memory = measure(program, small, 5)
        print(f"{small.stat().st_size / 1e6:.1f} MB, 3,044 device rows: {wall * 1e3:.1f} ms, processor {cpu * 1e3:.1f} ms, "
              f"{memory / 1024:.0f} MiB")  # fmt: skip
        row = small.stat().st_size / 3044
        figures = []
        for megabytes in (options.mb // 4, options.mb):
            path = pathlib.Path(folder) / f"{megabytes}.csv"
            write(path, int(megabytes * 1e6 / row) // 4 * 4)
            wall, cpu, memory = measure(program, path, 3)
            size = path.stat().st_size
            figures.append((size, memory))
            print(f"{size / 1e6:.0f} MB: {size / 1e6 / wall:.0f} MB/s, {size / 1e6 / cpu:.0f} MB a second of processor, {memory / 1024:.0f} MiB")
            path.unlink()
        (short, less), (long, more) = figures
        print(f"memory grows by {1024 * (more - less) / ((long - short) / row):.0f} bytes a device row, "
              f"{100 * 1024 * (more - less) / (long - short):.1f} % of the length")  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
