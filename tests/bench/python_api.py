"""What the Python package costs: the first row of a large store, its length, and the loaders of sweep modules.

usage: python_api.py [--count N]      OPWRIGHT_BIN names the program, OPWRIGHT_TTNN_PYTHON a Python with ttnn (loaders)

Goals: the first of 100,000 configurations in 20 ms, of which the start of the program is shown apart; 609 Llama
configurations loaded in 0.2 s.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import data

REPO = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "python"))
import opwright.store  # noqa: E402

LOAD = """
import sys, time, warnings
warnings.simplefilter("ignore")
import ttnn
from opwright.compat.master_config_loader import MasterConfigLoader as Era1
from opwright.compat.master_config_loader_v2 import MasterConfigLoader as Era2
for Loader, master in ((Era2, sys.argv[1]), (Era1, sys.argv[2])):
    start, processor = time.perf_counter(), time.process_time()
    loader = Loader(master)
    rows = sum(len(next(iter(loader.get_suite_parameters(name).values()))) for name in list(loader._load()))
    print(f"{rows} rows of {master.rpartition('/')[2]}: {time.perf_counter() - start:.3f} s, "
          f"{time.process_time() - processor:.3f} s of the processor")
"""


def median_ms(times: int, do: Callable[[], object]) -> float:
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        do()
        taken.append((time.perf_counter() - start) * 1e3)
    return statistics.median(taken)


def first_row(store: opwright.store.Store, **asked: str) -> None:
    rows = iter(store.configs("ttnn.linear", **asked))
    next(rows)
    rows.close()


def of_store(program: str, count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        master, path = Path(folder) / "linear.json", Path(folder) / "linear.db"
        base = json.loads(data.era2_base().read_text())
        base["operations"] = {"ttnn.linear": base["operations"]["ttnn.linear"]}
        (Path(folder) / "base.json").write_text(json.dumps(base))
        data.replicate(Path(folder) / "base.json", master, count)
        subprocess.run([program, "--store", path, "import", "--all-ops", master], check=True, stdout=subprocess.DEVNULL)
        store = opwright.open(path)
        first_row(store)  # the store is in memory then
        start = median_ms(15, lambda: subprocess.run([program, "help"], stdout=subprocess.DEVNULL, check=True))
        print(f"{len(store.configs('ttnn.linear'))} configurations of ttnn.linear; the program starts in {start:.1f} ms")
        print(f"first row: {median_ms(15, lambda: first_row(store)):.1f} ms")
        selected = median_ms(15, lambda: first_row(store, where="in1.dtype=bfloat8_b"))
        print(f"first row that a selector leaves: {selected:.1f} ms")
        print(f"length: {median_ms(5, lambda: len(store.configs('ttnn.linear'))):.1f} ms")


def of_loaders(python: str, program: str) -> None:
    package = os.environ.get("OPWRIGHT_PYTHON") or str(Path(program).parent / "python")
    if not data.LLAMA.exists():
        print("loaders: the real masters are not here")
        return
    env = {**os.environ, "PYTHONPATH": package, "LOGURU_LEVEL": "ERROR"}
    subprocess.run([python, "-c", LOAD, str(data.LLAMA), str(data.DECEMBER)], env=env, check=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=100_000, help="configurations in the store")
    options = parser.parse_args()
    program = os.environ["OPWRIGHT_BIN"]
    of_store(program, options.count)
    if python := os.environ.get("OPWRIGHT_TTNN_PYTHON"):
        of_loaders(python, program)
    else:
        print("loaders: OPWRIGHT_TTNN_PYTHON names no Python with ttnn")
    return 0


if __name__ == "__main__":
    sys.exit(main())
