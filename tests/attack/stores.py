"""Damaged stores: an answer is the right one, or an error. Another answer with exit status 0 is a finding."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

from damage import HOSTILE_LETTERS
from world import FIXTURES, Finding, World

QUESTIONS = [
    ("ops", "--format", "json"), ("show", "--format", "json"), ("show", "--where", "dtype=bfloat16", "--format", "json"),
    ("stats", "--format", "json"), ("export", "--to", "jsonl"), ("export", "--to", "master1"), ("vectors", "--format", "jsonl"),
    ("results", "--format", "json"), ("results", "--list", "--format", "json"), ("results", "--runs", "--format", "json"),
]  # fmt: skip


class Stores:
    """Bits turned, pages lost, rows edited, rows gone."""

    def __init__(self, chosen) -> None:
        self.good = Path()
        self.answers: dict[tuple, bytes] = {}

    def missing(self) -> str | None:
        return None

    def prepare(self, world: World) -> None:
        self.good = world.scratch / "stores.db"
        world.lawful(world.run("--store", self.good, "import", FIXTURES / "demo", FIXTURES / "native" / "mbconv.opwt.zst"), (0,))
        world.lawful(world.run("--store", self.good, "run", "--quiet", "--check", "--op", "silu", "--op", "add"), (0, 1))
        sqlite3.connect(self.good).execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        self.answers = {question: self._ask(self.good, question, world).out for question in QUESTIONS}

    @staticmethod
    def _ask(store: Path, question: tuple, world: World):
        return world.run("--store", store, *question)

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        store = Path(shutil.copy(self.good, world.room / "opwright.db"))
        how = rng.choice([_bits, _bits, _page, _swap, _cut, _row, _row, _row, _gone])(store, rng)
        for question in rng.sample(QUESTIONS, 4):
            ran = world.lawful(self._ask(store, question, world))
            if ran.status < 2 and ran.out != self.answers[question]:
                raise Finding(f"{how}: {' '.join(question)} gives another answer with exit status {ran.status}")
        checked = world.lawful(world.run("--store", store, "doctor", "--deep", "--format", "json"), (0, 1, 3))
        if checked.status == 0:  # called sound: then every answer is the right one
            for question in QUESTIONS:
                if (ran := self._ask(store, question, world)).out != self.answers[question]:
                    raise Finding(f"{how}: doctor --deep calls it sound; {' '.join(question)} differs ({ran.status})")
        elif rng.random() < 0.2:
            world.lawful(world.run("--store", store, "doctor", "--repair", "-o", "mended.db"), (0, 1, 3))


def _bits(store: Path, rng: random.Random) -> str:
    data = bytearray(store.read_bytes())
    places = [rng.randrange(len(data)) for _ in range(rng.choice([1, 1, 8]))]
    for place in places:
        data[place] ^= 1 << rng.randrange(8)
    store.write_bytes(data)
    return f"bits turned at {places}"


def _page_size(data: bytes) -> int:
    size = int.from_bytes(data[16:18], "big")
    return 65536 if size == 1 else size


def _page(store: Path, rng: random.Random) -> str:
    data = bytearray(store.read_bytes())
    size = _page_size(data)
    page = rng.randrange(1, len(data) // size)
    data[page * size : (page + 1) * size] = rng.choice([bytes(size), rng.randbytes(size)])
    store.write_bytes(data)
    return f"page {page + 1} overwritten"


def _swap(store: Path, rng: random.Random) -> str:
    data = bytearray(store.read_bytes())
    size = _page_size(data)
    a, b = (rng.randrange(1, len(data) // size) * size for _ in range(2))
    data[a : a + size], data[b : b + size] = data[b : b + size], data[a : a + size]
    store.write_bytes(data)
    return f"pages {a // size + 1} and {b // size + 1} swapped"


def _cut(store: Path, rng: random.Random) -> str:
    data = store.read_bytes()
    left = rng.randrange(len(data))
    store.write_bytes(data[:left])
    return f"cut to {left} bytes"


def _tables(db: sqlite3.Connection) -> list[str]:
    rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    return [name for (name,) in rows if db.execute(f"SELECT count(*) FROM {name}").fetchone()[0]]


def _row(store: Path, rng: random.Random) -> str:
    """One value of one row, edited as with the sqlite3 shell."""
    with sqlite3.connect(store) as db:
        table = rng.choice(_tables(db))
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        row = rng.randrange(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
        key = "rowid" if _has_rowid(db, table) else columns[0]
        ((which, old),) = db.execute(f"SELECT {key}, {column} FROM {table} LIMIT 1 OFFSET {row}")
        new = _other(old, rng)
        try:
            db.execute(f"UPDATE {table} SET {column} = ? WHERE {key} = ?", (new, which))
        except sqlite3.Error as error:
            return f"nothing changed ({error})"
    db.close()
    return f"{table}.{column} of row {row}: {str(old)[:40]!r} became {str(new)[:40]!r}"


def _other(old: object, rng: random.Random) -> object:
    if isinstance(old, int):
        return rng.choice([old + 1, 0, -1, 2**40, old ^ 1])
    if isinstance(old, float):
        return rng.choice([old + 1.0, 0.0, -old])
    if isinstance(old, bytes) and old:
        at = rng.randrange(len(old))
        return old[:at] + bytes([old[at] ^ 1]) + old[at + 1 :]
    if isinstance(old, str) and old:
        return rng.choice([old[:-1], old + "x", old + rng.choice(HOSTILE_LETTERS[:18]), ""])
    return rng.choice([None, 1, "x"])


def _has_rowid(db: sqlite3.Connection, table: str) -> bool:
    (sql,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    return "WITHOUT ROWID" not in sql.upper()


def _gone(store: Path, rng: random.Random) -> str:
    """A row that is not there any more, or all of a table."""
    with sqlite3.connect(store) as db:
        table = rng.choice(_tables(db))
        key = "rowid" if _has_rowid(db, table) else [row[1] for row in db.execute(f"PRAGMA table_info({table})")][0]
        if rng.random() < 0.3:
            db.execute(f"DELETE FROM {table}")
            what = f"all rows of {table} are gone"
        else:
            row = rng.randrange(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
            db.execute(f"DELETE FROM {table} WHERE {key} = (SELECT {key} FROM {table} LIMIT 1 OFFSET {row})")
            what = f"row {row} of {table} is gone"
    db.close()
    return what
