#!/usr/bin/python3
"""What the fuse verbs cost: matching in a million calls, suggestions over 100,000, a test of 12 operators made and proven.

    tests/bench/fuse.py [--calls N] [--suggest N]

`$OPWRIGHT_BIN` is the program (default build/release/opwright). Traces are layers of a gated perceptron with a norm and a
residual, made once in build/bench-data. `check` reads the trace, builds its graph, finds the sequence everywhere and
compares each place with the test; `make` is the whole command on the simulated device.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "build" / "bench-data"
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

from maker import native  # noqa: E402

GOALS = {"check": 2.0, "suggest": 10.0, "make": 60.0}


def fast_crc() -> None:
    """The maker's checksum with a table: a million calls are 60 MB."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)

    def crc32c(data: bytes) -> int:
        crc = 0xFFFFFFFF
        for byte in data:
            crc = crc >> 8 ^ table[(crc ^ byte) & 255]
        return crc ^ 0xFFFFFFFF

    native.crc32c = crc32c


def layers(calls: int, width: int = 64) -> bytes:
    """rms_norm, linear, linear, multiply, linear, add: six calls a layer, four different weights."""
    trace = native.Trace()
    ttnn = native.Ttnn(trace, [1, 1])
    trace.lane(0, 100)
    trace.fact("uid", f"fuse bench {calls}")
    row, weight, gain = ttnn.spec([1, 1, 32, width]), ttnn.spec([1, 1, width, width]), ttnn.spec([1, 1, 1, width])
    result = trace.value(native.T(row))
    linear = trace.call_value("ttnn.linear", native.T(row), native.T(weight))
    multiply = trace.call_value("ttnn.multiply", native.T(row), native.T(row))
    add = trace.call_value("ttnn.add", native.T(row), native.T(row))
    norm = trace.call_value("ttnn.rms_norm", native.T(row), weight=native.T(gain))
    x, made = 100, 100
    for number in range(calls // 6):
        first = made + 1
        steps = [
            (norm, [x, 10]),
            (linear, [first, 1]),
            (linear, [first, 2]),
            (multiply, [first + 1, first + 2]),
            (linear, [first + 3, 3]),
            (add, [x, first + 4]),
        ]
        if number % 80 == 79:
            trace.lane(0, 100)
        for call, given in steps:
            made += 1
            trace.call(call, [(each, 0) for each in given], result=result, returned=[(made, 0, made, 0, 0)])
        x = made
    return trace.bytes()


def twelve() -> bytes:
    """A block of 12 operators of one chip, in three layers."""
    trace = native.Trace()
    ttnn = native.Ttnn(trace, [1, 1])
    trace.lane(0, 100)
    trace.fact("uid", "fuse bench twelve")
    row, weight, gain = ttnn.spec([1, 1, 128, 512]), ttnn.spec([1, 1, 512, 512]), ttnn.spec([1, 1, 1, 512])
    result = trace.value(native.T(row))
    linear = trace.call_value("ttnn.linear", native.T(row), native.T(weight))
    pair = {op: trace.call_value(f"ttnn.{op}", native.T(row), native.T(row)) for op in ("multiply", "add")}
    one = {op: trace.call_value(f"ttnn.{op}", native.T(row)) for op in ("silu", "gelu", "relu", "tanh", "sigmoid")}
    norm = trace.call_value("ttnn.rms_norm", native.T(row), weight=native.T(gain))
    made, x = 100, 50

    def step(call: int, *given: int) -> int:
        nonlocal made
        made += 1
        trace.call(call, [(each, 0) for each in given], result=result, returned=[(made, 0, made, 0, 0)])
        return made

    for layer in range(3):
        w = 1 + 5 * layer
        h = step(norm, x, w)
        gate = step(one["silu"], step(linear, h, w + 1))
        up = step(one["tanh"], step(linear, h, w + 2))
        hidden = step(one["relu"], step(pair["multiply"], gate, up))
        down = step(one["gelu"], step(linear, hidden, w + 3))
        x = step(pair["add"], x, step(one["sigmoid"], down))
    return trace.bytes()


def made(name: str, content) -> pathlib.Path:
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / name
    if not path.exists():
        path.write_bytes(content())
    return path


def timed(program: pathlib.Path, *arguments: object, status: tuple[int, ...] = (0,)) -> tuple[float, float]:
    """Seconds and most memory (MB) of a command."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([program, *map(str, arguments)], stdout=out, stderr=out)
        _, ended, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(ended)
        if child.returncode not in status:
            out.seek(0)
            sys.exit(f"{' '.join(map(str, arguments))}: {child.returncode}\n{out.read().decode()[-2000:]}")
    return time.monotonic() - start, used.ru_maxrss / 1024


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=1_000_000)
    options.add_argument("--suggest", type=int, default=100_000)
    asked = options.parse_args()
    program = pathlib.Path(os.environ.get("OPWRIGHT_BIN") or ROOT / "build" / "release" / "opwright")
    fast_crc()
    small = made("fuse_600.opwt", lambda: layers(600))
    large = made(f"fuse_{asked.calls}.opwt", lambda: layers(asked.calls))
    some = made(f"fuse_{asked.suggest}.opwt", lambda: layers(asked.suggest))
    block = made("fuse_twelve.opwt", twelve)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "gated")
        timed(program, "fuse", "make", "--trace", small, "--ops", "linear*2,multiply,linear", "--name", "gated", "--out", out,
              status=(0, 1))
        rows.append(("check", asked.calls, *timed(program, "fuse", "check", out / "gated.params.json", "--trace", large)))
        rows.append(("suggest", asked.suggest, *timed(program, "fuse", "suggest", some)))
        rows.append(("make", 12, *timed(program, "fuse", "make", "--trace", block, "--range", "1:12", "--name", "block",
                                        "--out", pathlib.Path(folder, "block"), status=(0, 1))))
    print(f"{'verb':<8} {'calls':>9} {'seconds':>8} {'goal':>6} {'MB':>7}")
    for verb, calls, seconds, memory in rows:
        print(f"{verb:<8} {calls:>9,} {seconds:>8.2f} {GOALS[verb]:>6.0f} {memory:>7.0f}")
    return 0 if all(seconds <= GOALS[verb] for verb, _, seconds, _ in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
