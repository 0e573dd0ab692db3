"""Damaged and hostile files, given to every verb that reads one."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import socket
import time
from pathlib import Path

from damage import damaged
from world import FIXTURES, Finding, World

TRACE_VERBS = [
    ("import",), ("import", "--all-ops"), ("import", "--dry-run", "--format", "json"), ("verify",), ("verify", "--format", "json"),
    ("dump",), ("dump", "--format", "json"), ("dump", "--format", "jsonl"), ("dump", "--format", "csv"),
    ("trim", "-o", "out.opwt"), ("convert", "--to", "native", "-o", "out.opwt"), ("convert", "--to", "per-op", "-o", "out"),
    ("convert", "--to", "jsonl"), ("vectors", "--from"), ("vectors", "--suites"), ("results", "--import"),
    ("device", "conform", "--oracle"), ("run", "--dry-run", "--vectors"), ("run", "--dry-run", "--suites"),
]  # fmt: skip
STORE_VERBS = [
    ("ops",), ("show", "--sources"), ("stats", "--format", "json"), ("export", "--to", "master"), ("export", "--to", "csv"),
    ("vectors", "--export", "vectors"), ("run", "--dry-run"), ("doctor",),
]  # fmt: skip
SPECIAL_EVERY = 12  # one in so many attacks is no damaged file but a special one


class Inputs:
    """Bytes that no reader expects. Failing is right; crashing, hanging, growing and half-writing are not."""

    def __init__(self, chosen) -> None:
        self.files: list[Path] = []

    def missing(self) -> str | None:
        return None

    def prepare(self, world: World) -> None:
        self.files = sorted(path for path in FIXTURES.rglob("*") if path.is_file() and path.suffix not in (".py", ".md", ".pyc"))
        world.lawful(world.run("--store", world.scratch / "good.db", "import", FIXTURES / "demo"), (0,))

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        if number % SPECIAL_EVERY == SPECIAL_EVERY - 1:
            special = SPECIALS[number // SPECIAL_EVERY % len(SPECIALS)]
            special(rng, world)
            return
        chosen, other = rng.choice(self.files), rng.choice(self.files)
        bad = damaged(chosen.read_bytes(), rng, other.read_bytes())
        path = world.room / ("x" + "".join(chosen.suffixes))
        path.write_bytes(bad)
        self.read_by_all(path, rng, world)

    def read_by_all(self, path: Path, rng: random.Random, world: World) -> None:
        """A few of the verbs; a failed import leaves the store byte for byte what it was in content."""
        store = shutil.copy(world.scratch / "good.db", world.room / "opwright.db")
        before = world.run("--store", store, "export", "--to", "jsonl").out
        for verb in rng.sample(TRACE_VERBS, 4):
            ran = world.lawful(world.run(*verb, path.name))
            if ran.status == 3 and verb[0] == "import" and world.run("export", "--to", "jsonl").out != before:
                raise Finding(f"an import that failed changed the store: {verb}")
        if world.run("import", "--all-ops", path.name).status == 0:
            for verb in rng.sample(STORE_VERBS, 2):
                world.lawful(world.run(*verb))


# ------------------------------------------------------------------------------------------------------- special files


def _refused(world: World, *words: object) -> None:
    ran = world.lawful(world.run(*words), (2, 3))
    if b"x" not in ran.err and b"folder" not in ran.err:
        raise Finding(f"the message does not name the file: {ran.err[:300]!r}")


def bomb(rng: random.Random, world: World) -> None:
    """A small file that unpacks to gigabytes."""
    letter = rng.choice([b"[", b"\n", b"\0", b"{", b'"a'])
    with gzip.open(world.room / "x.gz", "wb", 6) as file:
        for _ in range(3 << 10):
            file.write(letter * ((1 << 20) // len(letter)))
    _refused(world, rng.choice(["import", "verify", "dump"]), "x.gz")


def endless(rng: random.Random, world: World) -> None:
    """A link to a device that never ends."""
    (world.room / "x").symlink_to("/dev/zero")
    _refused(world, rng.choice(["import", "verify", "dump"]), "x")


def long_line(rng: random.Random, world: World) -> None:
    """A sparse file of one line and 8 GiB."""
    with open(world.room / "x.jsonl", "wb") as file:
        file.write(b'{"op_name": "')
        file.truncate(8 << 30)
    _refused(world, "import", "x.jsonl")


def things_in_a_folder(rng: random.Random, world: World) -> None:
    """A FIFO, a socket, a device and a loop of links beside a good trace: the trace is read, nothing is waited for."""
    folder = world.room / "folder"
    folder.mkdir()
    os.mkfifo(folder / "fifo.json")
    (folder / "zero.json").symlink_to("/dev/zero")
    (folder / "loop").symlink_to(".")
    (folder / "nowhere.json").symlink_to("gone")
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(folder)  # the name of a socket must be short
        try:
            listening.bind("sock.json")
        finally:
            os.chdir("/")
        shutil.copy(FIXTURES / "demo" / "tiny_llm.json", folder)
        world.lawful(world.run("import", "folder"), (0,))


def shrinks(rng: random.Random, world: World) -> None:
    """A file that gets shorter while it is read."""
    text = (FIXTURES / "demo" / "tiny_llm.json").read_bytes()
    path = world.room / "x.json"
    one = text[text.index(b'"configurations"') :]
    path.write_bytes(text + b" " * (1 << 20) + one * 2000)
    importing = world.start("import", "x.json")
    time.sleep(rng.random() * 0.05)
    os.truncate(path, rng.randrange(path.stat().st_size))
    importing.communicate(timeout=world.limit_s)
    if importing.returncode < 0 or importing.returncode > 3:
        raise Finding(f"a file that shrank ended import with {importing.returncode}")


def small_disk(rng: random.Random, world: World) -> None:
    """No file may grow: every write fails."""
    limit = f"ulimit -f {rng.randrange(0, 64)}; exec \"$@\""
    world.lawful(world.run("/bin/bash", "-c", limit, "-", world.program, "import", FIXTURES / "demo"), (0, 3))


SPECIALS = [bomb, endless, long_line, things_in_a_folder, shrinks, small_disk]
