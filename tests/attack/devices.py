"""Device programs that misbehave: nothing hangs, nothing of theirs is left, no file outside is touched, and what is their
fault is not blamed on the operator."""

from __future__ import annotations

import json
import random
import sys

from damage import damaged
from world import FIXTURES, Finding, World

CASE = "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"
# A device that does, line by line, what its script says. It is written into the room of each attack.
PROGRAM = '''
import json, os, signal, subprocess, sys, time
steps = json.load(open(sys.argv[1]))
out = sys.stdout.buffer
def do(step):
    kind, value = step
    if kind == "say": out.write(value.encode("latin-1")); out.flush()
    elif kind == "sleep": time.sleep(value)
    elif kind == "exit": os._exit(value)
    elif kind == "kill": os.kill(os.getpid(), value)
    elif kind == "close": os.close(1)
    elif kind == "ignore": signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.signal(signal.SIGINT, signal.SIG_IGN)
    elif kind == "flood":
        for _ in range(value): out.write(b"x" * (1 << 20))
        out.flush()
    elif kind == "shout":
        for _ in range(value): sys.stderr.write("e" * (1 << 16))
    elif kind == "fork":
        if os.fork() == 0:
            if value: os.setsid()
            if os.fork() == 0:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                time.sleep(600)
            os._exit(0)
    elif kind == "read":
        line = sys.stdin.readline()
        if not line: os._exit(0)
        return json.loads(line).get("id")
last = None
for step in steps:
    got = do([step[0], step[1].replace("@ID@", str(last)) if step[0] == "say" else step[1]])
    last = got if step[0] == "read" else last
while True:  # the rest of its life
    line = sys.stdin.readline()
    if not line: break
'''


class Devices:
    """A hello, answers and an end, each of them right or wrong in some way."""

    def __init__(self, chosen) -> None:
        self.hello = json.dumps({"protocol": 1, "hello": {"name": "attack", "numerics": "none", "board": "n150", "capture": True}})

    def missing(self) -> str | None:
        return None

    def prepare(self, world: World) -> None:
        (world.scratch / "device.py").write_text(PROGRAM)

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        steps, says_hello = self._script(rng, world)
        (world.room / "steps.json").write_text(json.dumps(steps))
        device = f"exec:{sys.executable} {world.scratch / 'device.py'} {world.room / 'steps.json'}"
        if rng.random() < 0.5:
            ran = world.run("run", "--device", device, "--start-timeout", "2", "--timeout", "2", "--case", CASE, "--format", "json", seconds=45)
            world.lawful(ran)
        else:
            world.lawful(world.run("import", FIXTURES / "demo"), (0,))
            ran = world.run("run", "--device", device, "--start-timeout", "2", "--timeout", "1", "--no-attribute", "--jobs", "1", "--op", "add", "--quiet", seconds=60)
            world.lawful(ran, (0, 1, 2, 3))
            listed = world.lawful(world.run("results", "--list", "--format", "json"))
            if not says_hello and listed.status < 2 and b'"blame":"op"' in listed.out.replace(b": ", b":"):
                raise Finding(f"a device without a hello is blamed on the operator: {steps[:3]}")

    def _script(self, rng: random.Random, world: World) -> tuple[list, bool]:
        steps: list = []
        if rng.random() < 0.15:
            steps.append(["fork", rng.random() < 0.5])
        if rng.random() < 0.1:
            steps.append(["ignore", 0])
        says_hello = rng.random() < 0.8
        if says_hello and rng.random() < 0.7:
            steps.append(["say", self.hello + "\n"])
        elif says_hello:
            says_hello = False
            steps.append(["say", damaged(self.hello.encode(), rng).decode("latin-1")])
        for _ in range(rng.randrange(4)):
            steps.append(["read", 0])
            steps += self._answer(rng, world)
        steps.append(rng.choice([["exit", 0], ["exit", 3], ["kill", 9], ["kill", 11], ["kill", 19], ["sleep", 30], ["close", 0], ["read", 0]]))
        return steps, says_hello

    def _answer(self, rng: random.Random, world: World) -> list:
        path = str(world.outside / rng.choice(["private.txt", ".bashrc", "folder/kept.db", "model.bin"]))
        good = {"id": "@ID@", "outcome": "ok", "outputs": [{"shape": [1, 1, 32, 32], "dtype": "BFLOAT16", "layout": "TILE"}]}
        kind = rng.randrange(9)
        if kind == 0:
            good["trace"] = rng.choice([path, "../outside/private.txt", "/dev/zero", "/proc/self/mem", "", "x\u0000y", "/dev/stdin"])
        elif kind == 1:
            good["outputs"] = [{"shape": rng.choice([[-1], [2**62, 4], [0], [1] * 5000, "x", None]), "dtype": "BFLOAT16"}]
        elif kind == 2:
            return [["flood", rng.choice([1, 64, 300])]]
        elif kind == 3:
            return [["shout", 200]]
        elif kind == 4:
            good["outcome"] = rng.choice(["refused", "error", "unsupported", "out_of_memory", "beat", "", 7, None])
            good["error"] = {"message": rng.choice(["\x1b[2Jgone", "x" * 1_000_000, path, "\u202e", 5])}
        elif kind == 5:
            return [["say", ("[" * rng.choice([100, 1_000_000])) + "\n"]]
        elif kind == 6:
            return [["sleep", rng.choice([0.01, 5])]]
        text = json.dumps(good).replace('"@ID@"', rng.choice(["@ID@"] * 6 + ["0", "-1", "1e99", "null"]))
        if kind == 7:
            text = damaged(text.encode(), rng).decode("latin-1")
        return [["say", text + "\n"]] * rng.choice([1, 1, 1, 3])
