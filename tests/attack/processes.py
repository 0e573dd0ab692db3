"""Programs killed, interrupted and stopped at any moment: what was acknowledged is there, nothing is half, nobody is left."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

from world import FIXTURES, Finding, World

# A device that starts children of its own, of every kind, and then waits.
FORKING = '''
import os, sys, time
for kind in range(3):
    if os.fork() == 0:
        if kind: os.setsid()
        if kind == 2 and os.fork(): os._exit(0)
        time.sleep(600)
        os._exit(0)
print('{"protocol": 1, "hello": {"name": "forking", "numerics": "none", "board": "n150"}}', flush=True)
for line in sys.stdin: time.sleep(600)
'''


class Processes:
    """One verb at work, one signal, one moment."""

    def __init__(self, chosen) -> None:
        self.whole = b""

    def missing(self) -> str | None:
        return None

    def prepare(self, world: World) -> None:
        (world.scratch / "forking.py").write_text(FORKING)
        world.lawful(world.run("import", FIXTURES / "native" / "mbconv.opwt.zst"), (0,))
        self.whole = world.run("export", "--to", "jsonl").out

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        [self.killed_import, self.killed_run, self.killed_device][number % 3](rng, world)

    def killed_import(self, rng: random.Random, world: World) -> None:
        """All of the trace is in the store, or nothing of it; importing again completes it."""
        self._interrupt(world.start("import", FIXTURES / "native" / "mbconv.opwt.zst"), rng, 0.15, world)
        if (world.room / "opwright.db").exists():
            world.lawful(world.run("ops"), (0, 3))
            self._sound(world)
        world.lawful(world.run("import", FIXTURES / "native" / "mbconv.opwt.zst"), (0,))
        if world.run("export", "--to", "jsonl").out != self.whole:
            raise Finding("after a killed import and another one the store is not that of one import")

    def killed_run(self, rng: random.Random, world: World) -> None:
        """A run goes on where it was killed, and is not called running when nobody runs it."""
        world.lawful(world.run("import", FIXTURES / "native" / "mbconv.opwt.zst"), (0,))
        self._interrupt(world.start("run", "--check", "--quiet"), rng, 0.6, world)
        world.nobody_left(10)
        self._sound(world)
        listed = world.lawful(world.run("results", "--runs", "--format", "json"), (0, 1, 3))
        runs = json.loads(listed.out) if listed.status < 2 else []
        if any(run.get("state") == "running" or run.get("status") == "running" for run in runs):
            raise Finding(f"a run whose parent is gone is listed as running: {runs}")
        if runs:
            world.lawful(world.run("run", "--resume", "--quiet"), (0, 1, 2, 3))

    def killed_device(self, rng: random.Random, world: World) -> None:
        """What a device program started ends with it, on time-out and with its parent."""
        world.lawful(world.run("import", FIXTURES / "demo"), (0,))
        device = f"exec:{sys.executable} {world.scratch / 'forking.py'}"
        running = world.start("run", "--device", device, "--op", "add", "--timeout", "1", "--no-attribute", "--jobs", "1", "--quiet")
        if rng.random() < 0.5:
            running.communicate(timeout=120)
        else:
            self._interrupt(running, rng, 1.5, world)
        world.nobody_left(10)

    @staticmethod
    def _interrupt(process: subprocess.Popen, rng: random.Random, within_s: float, world: World) -> None:
        time.sleep(rng.random() * within_s)
        how = rng.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
        try:
            os.kill(process.pid, how)
        except ProcessLookupError:
            pass
        try:
            process.communicate(timeout=world.limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Finding(f"{how.name} does not end it within {world.limit_s:.0f} s") from None

    @staticmethod
    def _sound(world: World) -> None:
        """SQLite itself finds no fault, and neither do we."""
        store = world.room / "opwright.db"
        if not store.exists():
            return
        with sqlite3.connect(store) as db:
            if (found := db.execute("PRAGMA integrity_check").fetchone()[0]) != "ok":
                raise Finding(f"a killed program left a damaged store: {found}")
        db.close()
        checked = world.lawful(world.run("doctor", "--deep"))
        if checked.status != 0:
            raise Finding(f"doctor --deep after a kill: {checked.out[-500:]!r} {checked.err[-300:]!r}")
