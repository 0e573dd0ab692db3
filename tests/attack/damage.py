"""Ways to damage bytes, all drawn from a seeded source: the same seed, the same damage."""

from __future__ import annotations

import gzip
import random
import re

HOSTILE_LETTERS = [
    "\x1b[2J\x1b[31m", "\x1b]0;title\x07", "\x07", "\x08" * 8, "\x7f", "\x00", "\x9b31m", "\u202eevil\u202c", "\u2066x\u2069",
    "\u200f", "\u061c", "\u2028", "\u2029", "\r", "\n", "\t", "\ufeff", "\U000e0041", "\u00e9\u0301\u0301", "\U0001f600",
]  # fmt: skip
HOSTILE_WORDS = [
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "</script><script>alert(1)</script>", "<img src=x onerror=alert(1)>",
    "../../outside/private.txt", "/etc/passwd", "..", ".", "", "CON", "a/b", "a\\b", "%s%n%x", "${HOME}", "$(touch pwned)", "`touch pwned`",
    "'; DROP TABLE configuration; --", "ttnn.add", "{}", "[" * 50, "null", "NaN", "-0", "1e999",
]  # fmt: skip
HUGE_NUMBERS = ["9" * 400, "-1", "1e400", "18446744073709551616", "-9223372036854775809", "2147483648", "0.1e-400", "00", "1."]


def hostile_text(rng: random.Random) -> str:
    """A name nobody would give."""
    kind = rng.randrange(4)
    if kind == 0:
        return "".join(rng.choice(HOSTILE_LETTERS) for _ in range(rng.randrange(1, 6)))
    if kind == 1:
        return rng.choice(HOSTILE_WORDS)
    if kind == 2:
        return rng.choice("ax=\u00e9") * rng.choice([255, 256, 300, 4096, 100_000])
    return rng.choice(HOSTILE_WORDS) + rng.choice(HOSTILE_LETTERS) + "x" * rng.randrange(300)


def damaged(data: bytes, rng: random.Random, other: bytes = b"") -> bytes:
    """One to three kinds of damage."""
    for _ in range(rng.randrange(1, 4)):
        data = rng.choice(_WAYS)(data, rng, other)
    return data


def _flip(data: bytes, rng: random.Random, _: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 4, 64])):
        if changed:
            changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def _cut(data: bytes, rng: random.Random, _: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _drop(data: bytes, rng: random.Random, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randrange(1, 4096) :]


def _again(data: bytes, rng: random.Random, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    piece = data[at : at + rng.randrange(1, 4096)]
    return data[:at] + piece * rng.choice([2, 3, 50]) + data[at:]


def _splice(data: bytes, rng: random.Random, other: bytes) -> bytes:
    at, there = rng.randrange(len(data) + 1), rng.randrange(len(other) + 1)
    return data[:at] + other[there : there + rng.randrange(1, 2048)] + data[at:]


def _zero(data: bytes, rng: random.Random, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    count = min(rng.choice([1, 16, 512, 4096]), len(data) - at)
    return data[:at] + rng.choice([b"\0", b"\xff"]) * count + data[at + count :]


def _number(data: bytes, rng: random.Random, _: bytes) -> bytes:
    found = list(re.finditer(rb"-?\d+(?:\.\d+)?", data[:200_000]))
    if not found:
        return _flip(data, rng, b"")
    one = rng.choice(found)
    return data[: one.start()] + rng.choice(HUGE_NUMBERS).encode() + data[one.end() :]


def _string(data: bytes, rng: random.Random, _: bytes) -> bytes:
    found = list(re.finditer(rb'"[^"\\]*"', data[:200_000]))
    if not found:
        return _zero(data, rng, b"")
    one = rng.choice(found)
    text = (hostile_text(rng) + rng.choice(["", "\ud800"])).encode("utf-8", "surrogatepass").replace(b"\\", b"\\\\").replace(b'"', b'\\"')
    return data[: one.start()] + b'"' + text + b'"' + data[one.end() :]


def _nest(data: bytes, rng: random.Random, _: bytes) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.choice([b"[", b'{"a":', b"(", b"<", b"std::vector{"]) * rng.choice([50, 2_000, 200_000]) + data[at:]


def _pack(data: bytes, rng: random.Random, _: bytes) -> bytes:
    packed = gzip.compress(data, 1)
    return _flip(packed, rng, b"") if rng.random() < 0.5 else packed


_WAYS = [_flip, _flip, _cut, _drop, _again, _splice, _zero, _number, _number, _string, _string, _nest, _pack]
