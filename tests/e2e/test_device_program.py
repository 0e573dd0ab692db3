"""`opwright.device.serve`, and the example device that is made with it: examples/device_numpy.py."""

import json
import os
import signal
import struct
import subprocess
import sys
import time

import pytest
import support
from device_client import Client, Data, call, tensor

PACKAGE = support.REPO / "python"
EXAMPLE = support.REPO / "examples" / "device_numpy.py"

# A device that does what a test asks of it by the name of the operator.
ODD = """
import ctypes, os, subprocess, sys, time
from opwright.device import serve

class Odd:
    hello = {"name": "odd", "numerics": "exact-model", "board": "n150"}

    def __init__(self):
        print("printed while it was made")

    def do_run(self, request):
        word = request.call["op"]
        if word == "noise":
            print("a print")
            os.write(1, b"a line on descriptor 1\\n")
            subprocess.run(["echo", "a child's line"])
            return {"outcome": "ok", "read": sys.stdin.read()}
        if word == "raise":
            raise KeyError("nothing")
        if word == "memory":
            raise MemoryError("too much")
        if word == "slow":
            time.sleep(2.5)
        if word == "die":
            ctypes.string_at(0)
        if word == "double":
            for slot, output in enumerate(request.outputs):
                kind, values = request.input(slot)
                for i, value in enumerate(values):
                    output.values[i] = 2 * value
        if word == "beyond":
            request.input(7)
        return {"outcome": "ok", "repeat": request.repeat, "has_data": request.has_data}

    def close(self):
        print("closed")
        if os.environ.get("HANG"):
            time.sleep(1000)

serve(Odd)
"""


@pytest.fixture
def odd(tmp_path):
    (tmp_path / "odd.py").write_text(ODD)
    started = []

    def start(**env: object) -> Client:
        env = support.command_env(tmp_path, PYTHONPATH=PACKAGE, **env)
        started.append(Client([sys.executable, tmp_path / "odd.py"], env, tmp_path))
        return started[-1]

    yield start
    for client in started:
        client.kill()


def test_hello_comes_first_and_the_end_of_input_ends_it(odd) -> None:
    device = odd()
    assert device.first["protocol"] == 1 and device.hello["name"] == "odd"
    assert device.end() == 0
    assert device.errors().split("\n")[:2] == ["printed while it was made", "closed"]


def test_the_word_end_ends_it(odd) -> None:
    device = odd()
    device.send('{"id": 1, "do": "end"}')
    assert device.line() is None and device.process.wait(30) == 0


def test_nothing_that_is_printed_reaches_the_answers(odd) -> None:
    device = odd()
    assert device.ask(call=call("noise")) == {"id": 1, "outcome": "ok", "read": ""}
    assert device.ask(call=call("fine"))["outcome"] == "ok"
    assert device.end() == 0
    for text in ("a print", "a line on descriptor 1", "a child's line"):
        assert text in device.errors()


def test_what_is_raised_is_an_answer(odd) -> None:
    device = odd()
    raised = device.ask(call=call("raise"))
    assert raised["outcome"] == "error" and raised["error"]["type"] == "KeyError"
    assert device.ask(call=call("memory"))["outcome"] == "out_of_memory"
    assert device.ask(call=call("fine"))["outcome"] == "ok"


def test_an_unknown_word_is_unsupported_and_garbage_an_error(odd) -> None:
    device = odd()
    unknown = device.ask("dance")
    assert unknown["outcome"] == "unsupported" and "dance" in unknown["error"]["message"] and "run" in unknown["error"]["message"]
    device.send("this is no JSON")
    answer = device.line()
    assert answer["id"] is None and answer["outcome"] == "error"
    assert device.ask(call=call("fine"), repeat=3)["repeat"] == 3


def test_data_is_read_and_written_in_place(odd, tmp_path) -> None:
    device = odd()
    data = Data(tmp_path / "data", [("f32", [1.5, -2.0]), ("u16", [7, 8, 9])], [("f32", [2]), ("u16", [3])])
    assert device.ask(call=call("double"), **data.request())["has_data"] is True
    assert (data.output(0), data.output(1)) == ([3.0, -4.0], [14, 16, 18])
    assert data.is_unharmed()
    # Another file under the same name, and a larger one: the map is not that of the first.
    again = Data(tmp_path / "data", [("i32", [5] * 3000)], [("i32", [3000])])
    device.ask(call=call("double"), **again.request())
    assert again.output() == [10] * 3000
    assert device.ask(call=call("fine"), data="")["has_data"] is False


def test_a_place_outside_the_file_is_named(odd, tmp_path) -> None:
    device = odd()
    data = Data(tmp_path / "data", [("f32", [1.0])], [("f32", [1])])
    assert "slot 7" in device.ask(call=call("beyond"), **data.request())["error"]["message"]
    data.inputs[0]["bytes"] = 1 << 20
    assert "outside the data file" in device.ask(call=call("double"), **data.request())["error"]["message"]
    data.inputs[0].update(bytes=4, type="f16")
    assert "f16" in device.ask(call=call("double"), **data.request())["error"]["message"]
    assert "No such file" in device.ask(call=call("double"), data=str(tmp_path / "gone"))["error"]["message"]


def test_a_slow_request_beats(odd) -> None:
    device = odd()
    assert device.ask(call=call("slow"))["outcome"] == "ok"
    assert device.beats >= 1
    before = device.beats
    device.ask(call=call("fine"))
    assert device.beats == before


def test_a_crash_is_the_end_of_output(odd) -> None:
    device = odd()
    assert device.ask(call=call("die")) is None
    assert device.process.wait(30) == -signal.SIGSEGV


def test_interrupts_are_left_to_the_client(odd) -> None:
    device = odd()
    device.process.send_signal(signal.SIGINT)
    assert device.ask(call=call("fine"))["outcome"] == "ok"
    assert device.end() == 0


def test_a_client_that_is_gone_ends_it(odd) -> None:
    device = odd()
    device.process.stdout.close()
    device.send(json.dumps({"id": 1, "do": "run", "call": call("fine")}))
    assert device.process.wait(30) == 0


def test_an_end_that_hangs_is_cut(odd, tmp_path) -> None:
    text = (tmp_path / "odd.py").read_text()
    (tmp_path / "odd.py").write_text("import opwright.device._serve as s\ns.END_SECONDS = 1\n" + text)
    device = odd(HANG="1")
    device.process.stdin.close()
    start = time.monotonic()
    assert device.process.wait(30) == -signal.SIGALRM
    assert time.monotonic() - start < 15


# ------------------------------------------------------------------------------------------------- the example device


def python_with_numpy() -> str | None:
    for python in (sys.executable, os.environ.get("OPWRIGHT_TTNN_PYTHON")):
        if python and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return None


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    python = python_with_numpy()
    if python is None:
        pytest.skip("no Python with numpy here")
    folder = tmp_path_factory.mktemp("example")
    client = Client([python, EXAMPLE], support.command_env(folder, PYTHONPATH=PACKAGE), folder)
    yield client
    assert client.end() == 0
    client.kill()


def bfloat16(value: float) -> float:
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & 0xFFFF0000
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def test_the_example_computes(example, tmp_path) -> None:
    a, b = [bfloat16(0.37 * i - 3) for i in range(24)], [bfloat16(1.1 * i) for i in range(24)]
    data = Data(tmp_path / "data", [("f32", a), ("f32", b)], [("f32", [1, 1, 4, 6])])
    x, y = tensor(0, [1, 1, 4, 6]), tensor(1, [1, 1, 4, 6])
    for op, function in (("add", lambda p, q: p + q), ("multiply", lambda p, q: p * q)):
        answer = example.ask(call=call(f"ttnn.{op}", x, input_tensor_b=y, memory_config=None), **data.request())
        assert answer["outcome"] == "ok", answer
        assert data.output() == [bfloat16(function(p, q)) for p, q in zip(a, b)]
    assert data.is_unharmed()
    assert answer["outputs"][0]["padded_shape"] == [1, 1, 32, 32]
    relu = Data(tmp_path / "relu", [("f32", a)], [("f32", [1, 1, 4, 6])])
    example.ask(call=call("ttnn.relu", x), **relu.request())
    assert relu.output() == [max(0.0, value) for value in a]


def test_the_example_multiplies_matrices(example, tmp_path) -> None:
    a, b = [float(i % 5) for i in range(6)], [float(i % 3) for i in range(6)]
    data = Data(tmp_path / "data", [("f32", a), ("f32", b)], [("f32", [2, 2])])
    answer = example.ask(call=call("ttnn.matmul", tensor(0, [2, 3]), tensor(1, [3, 2])), **data.request())
    assert answer["outcome"] == "ok"
    assert data.output() == [sum(a[3 * i + k] * b[2 * k + j] for k in range(3)) for i in range(2) for j in range(2)]


def test_the_example_says_no(example, tmp_path) -> None:
    data = Data(tmp_path / "data", [("f32", [0.0] * 6), ("f32", [0.0] * 6)], [])
    refused = example.ask(call=call("ttnn.matmul", tensor(0, [2, 3]), tensor(1, [2, 3])), **data.request())
    assert refused["outcome"] == "refused" and "3 and 2" in refused["error"]["message"]
    assert example.ask(call=call("ttnn.conv2d"))["argument"] == "op"
    only_specs = example.ask(call=call("ttnn.matmul", tensor(0, [2, 3]), tensor(1, [3, 5])), data="")
    assert only_specs["outputs"][0]["shape"] == [2, 5]
    fused = example.ask(call=call("ttnn.add", tensor(0, [6]), tensor(1, [6]), activations=["relu"]), **data.request())
    assert (fused["outcome"], fused["argument"]) == ("unsupported", "activations")
