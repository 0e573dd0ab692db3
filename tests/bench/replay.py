#!/usr/bin/python3
"""What a replay costs beyond the device and the references: 10,000 calls of small layers on the simulated device.

    tests/bench/replay.py [--calls N] [--width N] [--no-chain] [--trace FILE]

`$OPWRIGHT_BIN` is the program. Printed are the seconds in the device (Device::run), in references and judge, in comparing with the chain and keeping it,
and the rest, as parts of the device's own; and the memory of the process, beyond that of one that computes nothing,
beside what the trace's tensors take. `--trace FILE` measures a trace of yours, `--no-chain` without the chain.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))

from maker.native import T, Trace, Ttnn  # noqa: E402


def layers(calls: int, width: int) -> bytes:
    """linear, gelu, add, rms_norm, in turn; a few weights, every result used by the next call and the residual sum."""
    trace = Trace()
    ttnn = Ttnn(trace)
    trace.lane(0, 100)
    trace.fact("uid", "replay bench")
    row, weight, gain = ttnn.spec([1, 1, 32, width]), ttnn.spec([1, 1, width, width]), ttnn.spec([1, 1, 1, width])
    result = trace.value(T(row))
    linear = trace.call_value("ttnn.linear", T(row), T(weight))
    gelu = trace.call_value("ttnn.gelu", T(row))
    add = trace.call_value("ttnn.add", T(row), T(row))
    norm = trace.call_value("ttnn.rms_norm", T(row), weight=T(gain))
    state = tensor = 100
    for number in range(calls):
        step = number % 4
        before, tensor = tensor, tensor + 1
        if step == 0:
            state = before
        given = [(linear, [before, 1 + number // 4 % 4]), (gelu, [before]), (add, [before, state]), (norm, [before, 10])]
        call, ids = given[step]
        # A file of many calls has many chunks: one has room for some thousand records.
        if number % 500 == 499:
            trace.lane(0, 100)
        trace.call(call, [(each, 0) for each in ids], result=result, returned=[(tensor, 0, tensor, 0, 0)])
    return trace.bytes()


def measured(program: pathlib.Path, path: pathlib.Path, *flags: str) -> tuple[dict, int]:
    """The report of a replay, and the most bytes that its process had in memory."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([program, "replay", path, *flags, "--format", "json"], stdout=out)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if child.returncode not in (0, 1):
        sys.exit(f"replay {path} ended with {child.returncode}")
    return json.loads(text), used.ru_maxrss * 1024


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=10_000)
    options.add_argument("--width", type=int, default=256)
    options.add_argument("--trace", type=pathlib.Path)
    options.add_argument("--no-chain", action="store_true")
    asked = options.parse_args()
    program = pathlib.Path(os.environ.get("OPWRIGHT_BIN") or ROOT / "build" / "release" / "opwright")
    flags = ["--no-chain"] if asked.no_chain else []
    with tempfile.TemporaryDirectory() as folder:
        path = asked.trace
        if path is None:
            path = pathlib.Path(folder, "bench.opwt")
            path.write_bytes(layers(asked.calls, asked.width))
        _, start = measured(program, path, "--device", "null")  # reads and understands the same, and computes nothing
        report, peak = measured(program, path, *flags)
    device, chain = report["device_seconds"], report["chain_seconds"]
    judge = report["reference_seconds"] - chain
    rest = report["seconds"] - device - judge - chain
    print(f"{report['replayed']:,} calls run, {report['outcomes']}")
    print(f"device {device:.2f} s, references and judge {judge:.2f} s, chain {chain:.2f} s, the rest {rest:.2f} s")
    print(f"the rest is {100 * rest / device:.1f} % of the device, {100 * rest / (device + judge):.1f} % with its judge")
    both = rest + chain
    print(f"with the chain {100 * both / device:.1f} % of the device, {100 * both / (device + judge):.1f} % with its judge")
    tensors, held = sum(report["peak_bytes"].values()), report["held_bytes"]
    print(f"tensors at once {tensors / 1e6:.2f} MB")
    print(f"held {held['values'] / 1e6:.2f} MB, with the chain {held['with_chain'] / 1e6:.2f} MB")
    print(f"the process {(peak - start) / 1e6:.2f} MB beyond one that computes nothing ({start / 1e6:.2f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
