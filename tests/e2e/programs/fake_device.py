#!/usr/bin/env python3
"""A device for tests: speaks docs/formats/device-protocol.md with the standard library alone, and fails as it is told.

usage: fake_device.py [--seconds N] [--numerics real|exact-model|none] [--fault NAME] [--once FILE] [--adds TIMES] [--golden TIMES]

It adds, and knows relu; with --adds it adds the second tensor so many times, and with --golden its golden function does.
With --seconds each request takes so long. With --fault every call fails in that way; with --once only until FILE exists, which the first
failing call makes. The faults are the names in `Fake.fault` and `main`.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import signal
import struct
import sys
import time
from typing import Any

DRAM = 12 * 1072693184
L1_BANK, CORES = 1393312, 64
BYTES = {"BFLOAT16": 2, "FLOAT32": 4, "BFLOAT8_B": 1, "INT32": 4, "UINT32": 4, "UINT16": 2}
FORMATS = {"f32": "f", "i32": "i", "u32": "I", "u16": "H", "u8": "B"}


class Answer(Exception):
    def __init__(self, outcome: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.record = {"outcome": outcome, "error": {"type": "RuntimeError", "stage": "call", "message": message}, **more}


def volume(shape: list[int]) -> int:
    product = 1
    for n in shape:
        product *= n
    return product


def tile_up(n: int) -> int:
    return (n + 31) // 32 * 32


def padded(spec: dict[str, Any]) -> list[int]:
    shape = list(spec["shape"])
    if spec["layout"] == "TILE" and len(shape) >= 2:
        shape[-2:] = [tile_up(shape[-2]), tile_up(shape[-1])]
    return shape


def bfloat16(value: float) -> float:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value != value or abs(value) == float("inf"):
        return value
    bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def check(spec: dict[str, Any]) -> None:
    if spec["dtype"] not in BYTES:
        raise Answer("unsupported", f"dtype {spec['dtype']}", argument="dtype")
    if spec["dtype"] == "BFLOAT8_B" and spec["layout"] != "TILE":
        raise Answer("refused", "BFLOAT8_B needs TILE layout", argument="input_tensor_a")
    shard = spec["memory"].get("shard")
    if shard and any(corner > 7 for grid in shard["grid"] for corner in grid):
        raise Answer("refused", "the shard grid lies outside the 8x8 cores")


class Fake:
    def __init__(self, numerics: str, adds: float, golden: float) -> None:
        self.numerics = numerics
        self.adds, self.golden = adds, golden

    def memory(self, specs: list[dict[str, Any]]) -> dict[str, int]:
        dram, l1 = 0, 0
        for spec in specs:
            size = volume(padded(spec)) * BYTES[spec["dtype"]]
            if spec["memory"]["buffer"] == "DRAM":
                dram += size
            else:
                tile = 1024 * BYTES[spec["dtype"]]
                l1 += -(-size // tile // CORES) * tile
        if dram > DRAM or l1 > L1_BANK:
            raise Answer("out_of_memory", f"no room for {dram} bytes of DRAM and {l1} bytes of L1 a core")
        return {"dram": dram, "l1_per_core": l1}

    def run(self, request: dict[str, Any]) -> dict[str, Any]:
        call = request["call"]
        if call["op"] not in ("ttnn.add", "ttnn.add_", "ttnn.relu"):
            raise Answer("unsupported", f"this device has no {call['op']}", argument="op")
        values = [*call["args"], *call["kwargs"].values()]
        tensors = [value["tensor"] for value in values if isinstance(value, dict) and "tensor" in value]
        for spec in tensors:
            check(spec)
        given = call["kwargs"].get("output_tensor")
        out = dict(given["tensor"] if given else tensors[0])
        out.pop("slot", None)
        made = [] if given or call["op"] == "ttnn.add_" else [out]
        answer = {"outcome": "ok", "outputs": [{**out, "padded_shape": padded(out)}], **self.memory(tensors + made)}
        if request["data"] and self.numerics != "none":
            self.compute(request, call["op"], self.golden if request["do"] == "golden" else self.adds)
        answer["seconds"] = [0.5, 0.25][: request["repeat"]]
        answer["kernel_seconds"] = 0.125
        return answer

    def compute(self, request: dict[str, Any], op: str, times: float) -> None:
        file = os.open(request["data"], os.O_RDWR)
        with mmap.mmap(file, 0) as mapped:
            os.close(file)

            def values(place: dict[str, Any]) -> tuple[Any, ...]:
                count = place["bytes"] // struct.calcsize(FORMATS[place["type"]])
                return struct.unpack_from(f"<{count}{FORMATS[place['type']]}", mapped, place["offset"])

            inputs = [values(place) for place in request["inputs"]]
            if op == "ttnn.relu":
                result = [max(x, 0) for x in inputs[0]]
            else:
                result = [a + times * b for a, b in zip(inputs[0], inputs[1], strict=True)]
            for place in request["outputs"]:
                if place["dtype"] == "BFLOAT16":
                    result = [bfloat16(x) for x in result]
                struct.pack_into(f"<{len(result)}{FORMATS[place['type']]}", mapped, place["offset"], *result)

    def fault(self, name: str, request: dict[str, Any], answer: dict[str, Any]) -> str:
        """The line to answer with instead, if the process still lives."""
        place = (request["outputs"] or [None])[0]
        print(f"fault: {name}", file=sys.stderr, flush=True)
        if name == "segfault":
            signal.signal(signal.SIGSEGV, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGSEGV)
        if name == "exit":
            os._exit(3)
        if name == "leave":
            os._exit(0)
        if name == "hang":
            time.sleep(3600)
        if name == "garbage":
            return "TT_METAL: loading firmware"
        if name == "wrong_id":
            return json.dumps({**answer, "id": request["id"] + 1})
        if name == "no_outcome":
            return json.dumps({"id": request["id"]})
        if name in ("refused", "out_of_memory", "unsupported", "error"):
            error = {"type": "RuntimeError", "stage": "call", "message": f"{name} as told", "condition": "a == b"}
            return json.dumps({"id": request["id"], "outcome": name, "argument": "memory_config", "error": error})
        if name == "beats":
            for _ in range(3):
                print(json.dumps({"beat": request["id"]}), flush=True)
        if name == "other_shape":
            answer["outputs"][0]["shape"] = [1, 1, 1, 1]
        if name == "other_memory":
            answer["outputs"][0]["memory"] = {"layout": "INTERLEAVED", "buffer": "L1"}
        if name == "other_layout":
            answer["outputs"][0]["layout"] = "ROW_MAJOR"
        if name.startswith("unsaid_"):
            answer["outputs"][0].pop(name.removeprefix("unsaid_"), None)
        if name == "other_storage":
            answer["outputs"][0]["storage"] = "HOST"
        if name == "other_padding":
            answer["outputs"][0]["padded_shape"] = [1, 1, 64, 64]
        if name == "no_specs":
            answer["outputs"] = []
        if name == "loud":
            print("x" * 300000, file=sys.stderr, flush=True)
        if name in ("beside", "before", "unwritten", "partly", "wrong_value", "overwrites", "unrounded") and place is not None:
            file = os.open(request["data"], os.O_RDWR)
            with mmap.mmap(file, 0) as mapped:
                begin, end = place["offset"], place["offset"] + place["bytes"]
                if name == "beside":
                    mapped[end : end + 4] = b"oops"
                if name == "before":
                    mapped[begin - 4 : begin] = b"oops"
                if name == "unwritten":
                    mapped[begin:end] = self.poison
                if name == "partly":
                    mapped[end - 8 : end] = self.poison[-8:]
                if name == "overwrites":
                    first = request["inputs"][0]["offset"]
                    mapped[first : first + 4] = b"oops"
                if name == "unrounded":  # a quarter of a unit off, which no tolerance minds
                    for at in range(begin, end, 4):
                        (bits,) = struct.unpack_from("<I", mapped, at)
                        struct.pack_into("<I", mapped, at, bits | 0x4000)
                if name == "wrong_value":
                    mapped[begin + 40 : begin + 44] = struct.pack("<f", 1000.0)
        return json.dumps(answer)

    def remember(self, request: dict[str, Any]) -> None:
        """What the outputs held before: a device that writes nothing leaves it so."""
        self.poison = b""
        if request["data"] and request["outputs"]:
            place = request["outputs"][0]
            with open(request["data"], "rb") as file:
                file.seek(place["offset"])
                self.poison = file.read(place["bytes"])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--numerics", default="real")
    parser.add_argument("--fault", default="")
    parser.add_argument("--once", default="")
    parser.add_argument("--adds", type=float, default=1)
    parser.add_argument("--golden", type=float)
    parser.add_argument("--seconds", type=float, default=0)
    options = parser.parse_args()
    if options.fault == "no_hello":
        sys.exit("this device will not start")
    if options.fault == "slow_hello":
        time.sleep(3600)
    if options.fault == "no_device":
        print("Hello, World!", flush=True)
    hello = {
        "name": "fake",
        "numerics": options.numerics,
        "board": "n150",
        "memory": True,
        "timing": True,
        "mesh": False,
        "capture": False,
        "golden": options.golden is not None,
        "versions": {"fake": "1.2"},
    }
    if options.fault == "custom_board":
        hello["board"] = {"name": "mine", "grid": [4, 2]}
    if options.fault == "odd_board":
        hello["board"] = "no_such_board"
    print(json.dumps({"protocol": 2 if options.fault == "new_protocol" else 1, "hello": hello}), flush=True)
    device = Fake(options.numerics, options.adds, options.golden)
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "end":
            break
        time.sleep(options.seconds)
        if options.fault:
            device.remember(request)
        try:
            answer = {"id": request["id"], **device.run(request)}
        except Answer as refusal:
            answer = {"id": request["id"], **refusal.record}
        if options.fault and not (options.once and os.path.exists(options.once)):
            if options.once:
                open(options.once, "w").close()
            print(device.fault(options.fault, request, answer), flush=True)
        else:
            print(json.dumps(answer), flush=True)
    if options.fault == "no_end":
        time.sleep(3600)


if __name__ == "__main__":
    main()
