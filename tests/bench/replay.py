#!/usr/bin/python3
"""What a replay costs beyond the device and the references: 10,000 calls of small layers on the simulated device.

    tests/bench/replay.py [--calls N] [--width N]

`$OPWRIGHT_BIN` is the program. Printed are the seconds in the device (Device::run), in references and judge, and the
rest, as a part of the device's own and of both; and the memory of the process beside what the trace's tensors take.
"""

import argparse
import json
import os
import pathlib
import resource
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


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=10_000)
    options.add_argument("--width", type=int, default=256)
    asked = options.parse_args()
    program = os.environ.get("OPWRIGHT_BIN") or ROOT / "build" / "release" / "opwright"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "bench.opwt")
        path.write_bytes(layers(asked.calls, asked.width))
        done = subprocess.run([program, "replay", path, "--format", "json"], capture_output=True, encoding="utf-8")
    if done.returncode != 0:
        print(done.stdout[-2000:] + done.stderr, file=sys.stderr)
        return 3
    report = json.loads(done.stdout)
    device, reference = report["device_seconds"], report["reference_seconds"]
    rest = report["seconds"] - device - reference
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    print(f"{report['replayed']:,} calls run, {report['outcomes']}")
    print(f"device {device:.2f} s, references and judge {reference:.2f} s, the rest {rest:.2f} s")
    print(f"the rest is {100 * rest / device:.1f} % of the device, {100 * rest / (device + reference):.1f} % of both")
    print(f"tensors at once {sum(report['peak_bytes'].values()) / 1e6:.1f} MB, the process {peak / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
