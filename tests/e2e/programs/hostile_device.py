#!/usr/bin/env python3
"""A device that misbehaves in the way its argument names. It knows relu, and the standard library alone.

usage: hostile_device.py KIND [FOLDER]     FOLDER: for kinds that remember something between two starts, or point at files

Each kind is a function below: `hello_prose` misbehaves instead of saying hello, `call_prose` instead of answering. What they
return is written as a line; None: nothing is. A kind without a function is well behaved.
"""

from __future__ import annotations

import json
import mmap
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FOLDER = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(".")
MEGABYTE = b"x" * (1 << 20)
HELLO: dict[str, Any] = {
    "name": "hostile", "numerics": "real", "board": "n150", "memory": True, "capture": True, "versions": {"hostile": "1"},
}  # fmt: skip


def hello(protocol: Any = 1, **changed: Any) -> bytes:
    said = {name: value for name, value in {**HELLO, **changed}.items() if value is not None}
    return json.dumps({"protocol": protocol, "hello": said}).encode()


def sleep() -> None:
    time.sleep(600)


def die(number: int) -> None:
    signal.signal(number, signal.SIG_DFL) if number != signal.SIGKILL else None
    os.kill(os.getpid(), number)
    sleep()


def flood(descriptor: int, times: int = 1 << 40) -> None:
    for _ in range(times):
        os.write(descriptor, MEGABYTE)


def close_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)


# ---------------------------------------------------------------- instead of a hello


def hello_silent() -> None:
    sleep()


def hello_deaf_and_silent() -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    sleep()


def hello_leaves() -> None:
    os._exit(0)


def hello_fails() -> None:
    sys.exit("this device will not start")


def hello_crashes() -> None:
    die(signal.SIGSEGV)


def hello_kills_itself() -> None:
    die(signal.SIGKILL)


def hello_stops_itself() -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def hello_closes_output() -> None:
    close_output()
    sleep()


def hello_prose() -> bytes:
    return b"Hello, World!"


def hello_not_utf8() -> bytes:
    return hello(name="PLACE").replace(b"PLACE", b"\xff\xfe\x80")


def hello_nul() -> bytes:
    return b"\0" * 100


def hello_escapes() -> bytes:
    return b"\x1b[2J\x1b]0;title\x07"


def hello_number() -> bytes:
    return b"1"


def hello_list() -> bytes:
    return b"[" + hello() + b"]"


def hello_cut() -> bytes:
    return hello()[:-9]


def hello_deep() -> bytes:
    return b'{"hello":' + b"[" * 100000 + b"]" * 100000 + b"}"


def hello_empty_line() -> bytes:
    return b""


def hello_endless_line() -> None:
    flood(1)


def hello_many_lines() -> None:
    os.write(1, b"loading\n" * 100000)
    sleep()


def hello_loud() -> None:
    flood(2)


def hello_newer() -> bytes:
    return hello(protocol=2)


def hello_version_text() -> bytes:
    return hello(protocol="1")


def hello_version_huge() -> bytes:
    return hello(protocol=10**400)


def hello_nameless() -> bytes:
    return hello(name=None)


def hello_no_numerics() -> bytes:
    return hello(numerics=None)


def hello_odd_numerics() -> bytes:
    return hello(numerics="some\x1b[31m")


def hello_no_board() -> bytes:
    return hello(board=None)


def hello_unknown_board() -> bytes:
    return hello(board="no_such_board")


def hello_huge_grid() -> bytes:
    return hello(board={"name": "mine", "grid": [2**62, 2**62]})


def hello_negative_grid() -> bytes:
    return hello(board={"name": "mine", "grid": [-1, 8]})


def hello_long_name() -> bytes:
    return hello(name="n" * 5_000_000, versions={str(n): "v" * 1000 for n in range(2000)})


# ---------------------------------------------------------------- instead of an answer


def line(request: dict[str, Any], **fields: Any) -> bytes:
    return json.dumps({"id": request["id"], "outcome": "ok", **fields}).encode()


def call_prose(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return b"TT_METAL: loading firmware"


def call_not_utf8(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return line(request, error={"message": "PLACE"}).replace(b"PLACE", b"\xff\xfe\x80")


def call_nul(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return b"\0\0\0"


def call_deep(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return line(request)[:-1] + b',"x":' + b"[" * 100000 + b"]" * 100000 + b"}"


def call_cut(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode()[:-5]


def call_endless_line(request: dict[str, Any], answer: dict[str, Any]) -> None:
    flood(1)


def call_gigabyte_line(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    flood(1, 1024)
    return b""


def call_wrong_id(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "id": request["id"] + 1}).encode()


def call_text_id(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "id": str(request["id"])}).encode()


def call_huge_id(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "id": 10**400}).encode()


def call_hello_again(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return hello()


def call_no_outcome(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({"id": request["id"]}).encode()


def call_odd_outcome(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return line(request, outcome="wonderful")


ONLY_RELU = ("call_answers_twice_once", "call_crashes_after_its_answer")  # the others say that they can do everything


def is_second(answer: dict[str, Any]) -> bool:
    """The case of 64 rows, whoever asks for it and whenever."""
    return answer["outputs"][0]["shape"][2] == 64


def call_answers_twice_once(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    said = json.dumps(answer).encode()
    return said + b"\n" + said if is_second(answer) else said


def call_crashes_after_its_answer(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    said = json.dumps(answer).encode()
    if is_second(answer):
        os.write(1, said + b"\n")
        die(signal.SIGSEGV)
    return said


def call_negative_memory(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "dram": -1}).encode()


def call_huge_memory(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps(answer).encode()[:-1] + b', "l1_per_core": 1e300}'


def call_huge_integer(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "dram": 10**400}).encode()


def call_nan_seconds(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "seconds": [float("nan")]}).encode()


def call_negative_seconds(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "seconds": [-5.0]}).encode()


def call_infinite_kernel(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "kernel_seconds": float("inf")}).encode()


def with_shape(answer: dict[str, Any], shape: Any) -> bytes:
    return json.dumps({**answer, "outputs": [{**answer["outputs"][0], "shape": shape, "padded_shape": shape}]}).encode()


def call_overflowing_shape(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return with_shape(answer, [2**40, 2**40, 2**40, 2**40])


def call_negative_shape(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return with_shape(answer, [1, 1, -32, 32])


def call_huge_shape_number(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return with_shape(answer, [1, 1, 10**30, 32])


def call_text_shape(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return with_shape(answer, "large")


def call_outputs_text(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "outputs": "many"}).encode()


def call_many_outputs(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "outputs": answer["outputs"] * 20000}).encode()


def call_negative_written(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return json.dumps({**answer, "written": -1}).encode()


def call_long_message(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return line(request, outcome="error", error={"type": "T" * 100000, "message": "m" * 20_000_000})


def call_closes_output(request: dict[str, Any], answer: dict[str, Any]) -> None:
    close_output()
    sleep()


def call_leaves(request: dict[str, Any], answer: dict[str, Any]) -> None:
    os._exit(0)


def call_crashes(request: dict[str, Any], answer: dict[str, Any]) -> None:
    die(signal.SIGSEGV)


def call_crashes_at_the_second(request: dict[str, Any], answer: dict[str, Any]) -> bytes | None:
    if request["id"] == 2:
        die(signal.SIGSEGV)
    return json.dumps(answer).encode()


def call_hangs(request: dict[str, Any], answer: dict[str, Any]) -> None:
    sleep()


def call_deaf(request: dict[str, Any], answer: dict[str, Any]) -> None:
    hello_deaf_and_silent()


def call_stops_itself(request: dict[str, Any], answer: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGSTOP)


def call_late(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    time.sleep(30)
    return json.dumps(answer).encode()


def call_beats_for_ever(request: dict[str, Any], answer: dict[str, Any]) -> None:
    beat = json.dumps({"beat": request["id"]}).encode() + b"\n"
    while True:
        os.write(1, beat * 1000)


def call_loud(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    flood(2, 50)
    return json.dumps(answer).encode()


def call_cuts_the_data(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    """A file that shrinks under a mapping is a SIGBUS for whoever reads it."""
    for size in (0, 1 << 40):
        try:
            os.truncate(request["data"], size)
        except OSError as error:
            print(error, file=sys.stderr)
    return json.dumps(answer).encode()


def once(name: str) -> bool:
    """Whether it is the first time, over all starts of this device."""
    try:
        (FOLDER / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def call_other_after_restart(request: dict[str, Any], answer: dict[str, Any]) -> bytes | None:
    if once("crashed"):
        die(signal.SIGSEGV)
    return json.dumps(answer).encode()


call_silent_after_restart = call_other_after_restart
call_prose_after_restart = call_other_after_restart


def trace_named(answer: dict[str, Any], name: Any) -> bytes:
    return json.dumps({**answer, "trace": name}).encode()


def call_trace_elsewhere(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, str(FOLDER / "victim"))


def call_trace_elsewhere_of_refusal(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return line(request, outcome="refused", error={"message": "no"}, trace=str(FOLDER / "victim"))


def call_trace_dotdot(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    up = "../" * request["folder"].count("/")
    return trace_named(answer, f"{request['folder']}/{up}{FOLDER / 'victim'}")


def call_trace_relative(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, os.path.relpath(FOLDER / "victim"))


def call_trace_link(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    os.symlink(FOLDER / "victim", f"{request['folder']}/link")
    return trace_named(answer, "link")


def call_trace_linked_folder(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    os.symlink(FOLDER, f"{request['folder']}/link")
    return trace_named(answer, f"{request['folder']}/link/victim")


def call_trace_hard_link(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    mine = Path(request["folder"], "mine")
    mine.write_text("two names")
    os.link(mine, Path(request["folder"], "other"))
    return trace_named(answer, "other")


def call_trace_pipe(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    os.mkfifo(f"{request['folder']}/pipe")
    return trace_named(answer, f"{request['folder']}/pipe")


def call_trace_folder(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    os.makedirs(f"{request['folder']}/a/b/c")
    os.symlink(FOLDER, f"{request['folder']}/a/b/c/out")
    return trace_named(answer, "a")


def call_trace_sparse(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    with open(f"{request['folder']}/sparse", "wb") as file:
        file.truncate(1 << 36)
    return trace_named(answer, "sparse")


def call_trace_missing(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, "nothing")


def call_trace_itself(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, request["folder"])


def call_trace_nul(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, "name\0" + str(FOLDER / "victim"))


def call_trace_long_name(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    return trace_named(answer, "n" * 100000)


def call_trace_garbage(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    Path(request["folder"], "trace").write_bytes(os.urandom(10000))
    return trace_named(answer, "trace")


# ---------------------------------------------------------------- forking


def daemon(name: str, env: dict[str, str] | None = None) -> None:
    """A process that left us as far as it could: own session, twice forked, another name, all descriptors closed."""
    script = (
        "import os,sys,time\n"
        "os.fork() and os._exit(0)\nos.setsid()\nos.fork() and os._exit(0)\n"
        "os.closerange(0, 256)\nos.chdir('/')\n"
        "open(sys.argv[1], 'w').write(str(os.getpid()))\n"
        "open('/proc/self/comm', 'w').write('kworker')\n"
        "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\n"
        "time.sleep(600)\n"
    )
    subprocess.run([sys.executable, "-I", "-S", "-c", script, str(FOLDER / name)], check=True, env=env)
    while not (FOLDER / name).exists() or not (FOLDER / name).read_text():
        time.sleep(0.01)


def fork_some() -> None:
    if not (FOLDER / "daemon").exists():
        daemon("daemon")
        daemon("daemon_without_environment", env={})
        child = os.fork()
        if child == 0:
            sleep()
        (FOLDER / "child").write_text(str(child))


def call_forks(request: dict[str, Any], answer: dict[str, Any]) -> bytes:
    fork_some()
    return json.dumps(answer).encode()


def call_forks_and_hangs(request: dict[str, Any], answer: dict[str, Any]) -> None:
    fork_some()
    (FOLDER / "hangs").touch()
    sleep()


def call_forks_and_crashes(request: dict[str, Any], answer: dict[str, Any]) -> None:
    fork_some()
    die(signal.SIGSEGV)


def call_forks_for_ever(request: dict[str, Any], answer: dict[str, Any]) -> None:
    """Each process makes the next and stays for a while."""
    for generation in range(200):
        if os.fork() == 0:
            (FOLDER / f"generation{generation}").write_text(str(os.getpid()))
            os.setsid()
            time.sleep(0.01)
        else:
            sleep()
    sleep()


def hello_forks_and_leaves() -> None:
    fork_some()
    os._exit(0)


# ---------------------------------------------------------------- what is well behaved


def relu(request: dict[str, Any]) -> dict[str, Any]:
    spec = next(
        value["tensor"] for value in [*request["call"]["args"], *request["call"]["kwargs"].values()] if "tensor" in value
    )
    out = {name: value for name, value in spec.items() if name != "slot"}
    out["padded_shape"] = out["shape"]
    if request["data"] and request["outputs"]:
        file = os.open(request["data"], os.O_RDWR)
        with mmap.mmap(file, 0) as mapped:
            os.close(file)
            place, to = request["inputs"][0], request["outputs"][0]
            values = struct.unpack_from(f"<{place['bytes'] // 4}f", mapped, place["offset"])
            struct.pack_into(f"<{len(values)}f", mapped, to["offset"], *(max(x, 0.0) for x in values))
    return {"id": request["id"], "outcome": "ok", "outputs": [out], "seconds": [0.001], "dram": 1, "l1_per_core": 1}


def say(text: bytes | None) -> None:
    if text is not None:
        text += b"\n"
        while text:
            text = text[os.write(1, text) :]


def main() -> None:
    kind = sys.argv[1]
    restarted = kind.endswith("_after_restart") and (FOLDER / "crashed").exists()
    greeting = globals().get(kind) if kind.startswith("hello_") else None
    if restarted:
        greeting = {
            "call_other_after_restart": lambda: hello(numerics="none"),
            "call_silent_after_restart": hello_silent,
            "call_prose_after_restart": hello_prose,
        }[kind]
    say(greeting() if greeting else hello())
    work = globals().get(kind) if kind.startswith("call_") else None
    for text in sys.stdin:
        request = json.loads(text)
        if kind in ONLY_RELU and request["call"]["op"] != "ttnn.relu":
            say(line(request, outcome="unsupported", error={"message": "it knows relu"}))
            continue
        answer = relu(request)
        say(work(request, answer) if work else json.dumps(answer).encode())


if __name__ == "__main__":
    main()
