"""Hostile names in every place of a trace that holds text, shown by every verb in every format."""

from __future__ import annotations

import csv
import io
import json
import random

from damage import HOSTILE_LETTERS, hostile_text
from world import FIXTURES, Finding, World

VERBS = [
    ("ops",), ("show", "--sources"), ("stats",), ("export", "--to", "master"), ("export", "--to", "master1"), ("export", "--to", "jsonl"),
    ("export", "--to", "csv"), ("vectors",), ("vectors", "--export", "exported"), ("run", "--check", "--quiet"), ("run", "--dry-run"),
    ("results", "--list"), ("results", "--clusters"), ("results", "--runs"), ("results", "--export", "csv:r.csv", "--export", "junit:r.xml"),
    ("report", "--html", "page"), ("doctor",),
]  # fmt: skip
SOURCES = ["master/era2_g5.json", "master/era1_1b.json", "jsonl/ops.jsonl", "graph/nodes.json", "demo/tiny_llm.json"]


csv.field_size_limit(1 << 30)  # names have any length


class Names:
    """Every string of a fixture may become a hostile one; the trace stays well-formed."""

    def __init__(self, chosen) -> None:
        pass

    def missing(self) -> str | None:
        return None

    def prepare(self, world: World) -> None:
        pass

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        source = FIXTURES / SOURCES[number % len(SOURCES)]
        text = source.read_text(encoding="utf-8")
        lines = text.splitlines() if source.suffix == ".jsonl" else [text]
        share = rng.choice([0.02, 0.1, 0.5])
        changed = [json.dumps(_renamed(json.loads(line), rng, share), ensure_ascii=True) for line in lines if line.strip()]
        name = "x" + rng.choice(["", *HOSTILE_LETTERS[:5], "\u202e", "\n"]).replace("\0", "")[:50] + source.suffix
        (world.room / name).write_text("\n".join(changed), encoding="utf-8")
        world.lawful(world.run("import", "--all-ops", name))
        for verb in rng.sample(VERBS, 5):
            wanted = rng.choice(["table", "json", "jsonl", "csv"])
            ran = world.lawful(world.run(*verb, "--format", wanted))
            if ran.status < 2 and wanted == "csv":
                _check_csv(ran.out, verb)
        for path in world.room.rglob("*"):
            if not path.resolve().is_relative_to(world.room.resolve()):
                raise Finding(f"an export left the folder: {path}")
        for path in [*world.room.glob("*.csv"), *world.room.glob("exported/*.csv")]:
            _check_csv(path.read_bytes(), ("exported",))
        world.lawful(world.run("ops", "--where", hostile_text(rng).replace("\0", "").encode("utf-8", "ignore").decode()[:1000]))


def _renamed(value, rng: random.Random, share: float):
    if isinstance(value, dict):
        return {(key if rng.random() > share / 4 else hostile_text(rng)): _renamed(one, rng, share) for key, one in value.items()}
    if isinstance(value, list):
        return [_renamed(one, rng, share) for one in value]
    if isinstance(value, str) and rng.random() < share:
        return value + hostile_text(rng) if rng.random() < 0.5 else hostile_text(rng)
    return value


def _check_csv(data: bytes, verb: tuple) -> None:
    for row in csv.reader(io.StringIO(data.decode("utf-8", "replace"), newline="")):
        for cell in row:
            bare = cell.lstrip(" ")
            if bare[:1] in ("=", "+", "-", "@", "\t", "\r") and not _is_number(bare):
                raise Finding(f"{' '.join(verb)}: a cell begins a formula: {cell[:60]!r}")


def _is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False
