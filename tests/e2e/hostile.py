"""Hostile texts: what a trace, a file name or a device may say, and how to see whether it reached a terminal raw."""

import csv
import io
import json
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
import unicodedata
from pathlib import Path

import support

sys.path.append(str(support.FIXTURES))  # for the maker of native traces

#: A sequence that sets the title, one that asks the terminal to answer, one in C1 form: none of them is ever ours.
ESCAPES = "\x1b]2;owned\x07\x1b[5n\x9b6n\x1bc"
CONTROLS = "".join(map(chr, [*range(1, 9), 11, 12, *range(14, 32), *range(0x7F, 0xA0)])) + "\t\r"
MARKS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u200b\u200c\u200d\u2060\ufeff\u2028\u2029\U000e0041\U000e007f"
#: A line that would look like one of ours.
FORGED = "FORGED passed 100 %"
TEXT = f"x{ESCAPES}{CONTROLS}{MARKS}\n{FORGED}\n=1+1"
FORMATS = ("table", "json", "jsonl", "csv")

#: What the program itself writes to a terminal: colours, the block of progress that it draws again, its cursor.
OURS = re.compile(rb"\x1b\[(?:0|2|31|32|33|90)m|\x1b\[\d*A|\x1b\[[JK]|\x1b\[\?25[lh]|\r")


def is_hidden(c: str) -> bool:
    return c != "\n" and (unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") or c == "\ufeff")


def check_harmless(output: bytes, what: object, own: bool = False) -> None:
    """Nothing that a terminal obeys or a reader does not see; `own`: but for what the program draws itself."""
    if own:
        output = OURS.sub(b"", output)
    text = output.decode("utf-8")  # raises where a byte is none
    found = sorted({f"U+{ord(c):04X}" for c in text if is_hidden(c)})
    assert not found, f"{what}: {found} in {text[:3000]!r}"


def check_no_forged_line(output: bytes, what: object) -> None:
    lines = [line for line in output.decode("utf-8").split("\n") if line.startswith(FORGED)]
    assert not lines, f"{what}: a line of a trace stands as one of ours: {output.decode()[:3000]!r}"


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def check_format(output: bytes, kind: str, what: object) -> None:
    """JSON is JSON, a line of JSONL one record, no cell of CSV a formula."""
    text = output.decode("utf-8")
    if kind == "json":
        json.loads(text)
    elif kind == "jsonl":
        for line in text.splitlines():
            json.loads(line)
    elif kind == "csv":
        for row in csv.reader(io.StringIO(text, newline="")):
            for cell in row:
                assert not cell.lstrip(" \n\"").startswith(("=", "+", "-", "@", "\t", "\r")) or is_number(cell), f"{what}: {cell!r}"


def poisoned(value: object, keep: tuple[str, ...] = (), text: str = TEXT, key: str = "") -> object:
    """Every string of a JSON value with hostile text behind it, but those of the keys `keep`."""
    if isinstance(value, str):
        return value if key in keep else value + text
    if isinstance(value, list):
        return [poisoned(each, keep, text, key) for each in value]
    if isinstance(value, dict):
        return {name: poisoned(each, keep, text, name) for name, each in value.items()}
    return value


def native_trace(text: str = TEXT) -> bytes:
    """A native trace whose every text is hostile."""
    from maker.native import S, T, Trace, Ttnn
    from maker.native import text as encoded

    t = Trace()
    ttnn = Ttnn(t)
    t.fact("uid", "uid-" + text)
    t.fact("script", "models/tiny/" + text)
    t.fact("command", ["python", text])
    t.fact("machine", {"board_type": "Wormhole" + text, "device_series": "n300" + text, "card_count": 1, text: text})
    t.fact("versions", {"ttnn": "0.81.1" + text, text: text})
    t.fact("fact" + text, text)
    x = ttnn.spec([1, 1, 32, 96])
    for op in ("ttnn.add", "ttnn." + text, text):
        call = t.call_value(op, T(x), text, **{"name": text, "k" + text: 1})
        t.context(test="models/a.py::t[" + text, phase="p" + text, label="l" + text)
        t.call(call, [(1, 0)], result=t.value(T(x)), returned=[(10, 0, 100, 4096, 0)])
        t.call(call, [(1, 0)], error=t.value(S("error", type="E" + text, message="m" + text)))
    t.test("models/a.py::t[" + text, "passed")
    t.test("models/b.py" + text, "odd" + text)
    t.record(11, encoded("kind" + text) + encoded("note" + text))
    t.begin(call, [(1, 0)])
    return t.bytes()


def on_a_terminal(command: list[str], cwd: Path, seconds: float = 120, **extra: str) -> tuple[int, bytes]:
    """Runs a command with a terminal as both outputs, as a person would; its status and what the terminal got."""
    ours, theirs = pty.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.OPOST  # newlines as they were written
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    env = support.command_env(cwd, **extra)
    env.pop("NO_COLOR", None)
    env["TERM"] = "xterm-256color"
    process = subprocess.Popen(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    output = b""
    deadline = time.monotonic() + seconds
    try:
        while True:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([ours], [], [], left)[0]:
                process.kill()
                raise TimeoutError(f"{command}: no end within {seconds} s")
            try:
                chunk = os.read(ours, 1 << 16)
            except OSError:  # the other side is closed
                break
            if not chunk:
                break
            output += chunk
    finally:
        os.close(ours)
        status = process.wait()
    return status, output
