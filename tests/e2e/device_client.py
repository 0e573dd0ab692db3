"""A small client of the device protocol, for tests of device programs."""

from __future__ import annotations

import json
import math
import struct
import subprocess
import tempfile
from pathlib import Path
from typing import Any

FORMATS = {"f32": "f", "i32": "i", "u32": "I", "u16": "H", "u8": "B"}
ROOM, GUARD, POISON = 64, b"\xab", b"\xcd"


class Data:
    """The data file of a request: inputs and outputs with guarded room around each."""

    def __init__(self, path: Path, inputs: list[tuple[str, list[float]]], outputs: list[tuple[str, list[int]]]) -> None:
        self.path = path
        content = bytearray(GUARD * ROOM)
        self.inputs: list[dict[str, Any]] = []
        self.outputs: list[dict[str, Any]] = []
        for kind, values in inputs:
            raw = struct.pack(f"<{len(values)}{FORMATS[kind]}", *values)
            self.inputs.append({"offset": len(content), "bytes": len(raw), "type": kind})
            content += raw + GUARD * ROOM
        for kind, shape in outputs:
            size = math.prod(shape) * struct.calcsize(FORMATS[kind])
            self.outputs.append({"offset": len(content), "bytes": size, "type": kind, "shape": shape, "dtype": ""})
            content += POISON * size + GUARD * ROOM
        path.write_bytes(content)
        self._before = bytes(content)

    def request(self) -> dict[str, Any]:
        return {"data": str(self.path), "inputs": self.inputs, "outputs": self.outputs}

    def output(self, index: int = 0) -> list[float]:
        place = self.outputs[index]
        raw = self.path.read_bytes()[place["offset"] : place["offset"] + place["bytes"]]
        kind = FORMATS[place["type"]]
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw))

    def is_unharmed(self) -> bool:
        """Nothing but the outputs was written."""
        now = self.path.read_bytes()
        places = [(place["offset"], place["bytes"]) for place in self.outputs]
        kept = bytearray(now)
        for offset, size in places:
            kept[offset : offset + size] = self._before[offset : offset + size]
        return bytes(kept) == self._before


class Client:
    """Starts a device program and asks it. `answer` is None when the program has ended."""

    def __init__(self, command: list[object], env: dict[str, str], cwd: Path) -> None:
        self._errors = (cwd / "stderr.txt").open("w+")
        self.process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=env, cwd=cwd,
        )  # fmt: skip
        self.beats = 0
        self._folder = tempfile.mkdtemp(dir=cwd)
        self._next = 0
        first = self.line()
        assert first is not None, f"no hello: {self.errors()}"
        self.first = first
        self.hello = first["hello"]

    def line(self) -> dict[str, Any] | None:
        text = self.process.stdout.readline()
        return json.loads(text) if text else None

    def send(self, text: str) -> None:
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def ask(self, do: str = "run", **fields: Any) -> dict[str, Any] | None:
        self._next += 1
        if fields.get("capture"):
            fields.setdefault("folder", self._folder)
        self.send(json.dumps({"id": self._next, "do": do, **fields}))
        while (answer := self.line()) is not None and "beat" in answer:
            assert answer["beat"] == self._next
            self.beats += 1
        assert answer is None or answer["id"] == self._next, answer
        return answer

    def end(self, timeout: float = 60) -> int:
        self.process.stdin.close()
        assert self.process.stdout.read() == ""
        return self.process.wait(timeout)

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read()

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self._errors.close()


def tensor(slot: int, shape: list[int], **more: Any) -> dict[str, Any]:
    """A tensor as an argument: BFLOAT16, tiled, interleaved in DRAM, unless it is said otherwise."""
    spec = {
        "slot": slot, "shape": shape, "dtype": "BFLOAT16", "layout": "TILE", "storage": "DEVICE",
        "memory": {"layout": "INTERLEAVED", "buffer": "DRAM"},
    }  # fmt: skip
    return {"tensor": {**spec, **more}}


def call(op: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"op": op, "args": list(args), "kwargs": kwargs}
