#!/usr/bin/python3
"""A store on a server of PostgreSQL: import of 27,000 configurations, questions to 100,000, results of eight clients.

`./x bench server [--program FOLDER] [--results N]` starts a server of its own on a socket, with its usual settings (it waits for the disk), and
prints a line a job with the goal beside it. Exit status 1 when a goal is missed.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import data
import run

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERVER = [sys.executable, str(ROOT / "tools/test_postgresql.py")]
AS_USUAL = ["fsync=on", "full_page_writes=on"]


def timed(*command: object) -> float:
    start = time.monotonic()
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def database(url: str, name: str) -> str:
    subprocess.run(["psql", "-X", "-q", "-c", f"CREATE DATABASE {name}", url], check=True)
    return url.replace("/postgres?", f"/{name}?")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", default=os.environ.get("OPWRIGHT_BIN", str(ROOT / "build/release/opwright")), help="the program; the other ones lie beside it")
    parser.add_argument("--results", type=int, default=2000, help="of each client")
    parser.add_argument("--small", action="store_true", help="a tenth of the configurations")
    options = parser.parse_args()
    program = pathlib.Path(options.program)
    scale = 10 if options.small else 1
    missed = []

    def tell(job: str, value: str, goal: str, holds: bool) -> None:
        print(f"{job:60} {value:>14}   {goal:16} {'yes' if holds else 'NO'}", flush=True)
        if not holds:
            missed.append(job)

    url = subprocess.run([*SERVER, "start", *AS_USUAL], check=True, capture_output=True, text=True).stdout.strip()
    try:
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json"
            count = data.replicate(data.era2_base(), trace, 27_000 // scale)
            store = database(url, "small")
            seconds = timed(program, "--store", store, "import", trace)
            tell(f"import of {count} configurations", f"{seconds:.2f} s", "<= 10 s", seconds <= 10)
            seconds = timed(program, "--store", store, "import", trace)
            tell("the same again", f"{seconds:.2f} s", "<= 10 s", seconds <= 10)
            store = database(url, "large")
            count = data.replicate(data.era2_base(), trace, 100_000 // scale)
            timed(program, "--store", store, "import", trace)
            asked = [*(where for _, where in run.INSIDE)]
            said = subprocess.run([program.parent / "query_bench", store, *asked], check=True, capture_output=True, text=True).stdout
            for where, line in zip(asked, said.splitlines(), strict=True):
                found = json.loads(line)
                tell(f"{where} ({found['rows']} of {count})", f"{found['median'] * 1e3:.1f} ms", "<= 20 ms", found["median"] <= 0.020)
            start = min(timed(program, "--version") for _ in range(5))
            seconds = min(timed(program, "--store", store, "ops") for _ in range(5)) - start
            tell("ops, the whole process without its start", f"{seconds * 1e3:.1f} ms", "<= 20 ms", seconds <= 0.020)
            said = subprocess.run([program.parent / "results_bench", store, "8", str(options.results)], check=True, capture_output=True, text=True).stdout
            rate = json.loads(said)["per_second"]
            tell("results of 8 clients", f"{rate:.0f} /s", ">= 2000 /s", rate >= 2000)
    finally:
        subprocess.run([*SERVER, "stop", url], check=False)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
