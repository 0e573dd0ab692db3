"""The module results CSV: one row a test, on disk when the test ends. Grammar: docs/formats/results-csv.md.

Rows are appended under a lock, each with one write, so that several processes (pytest-xdist, parallel jobs) may share
the file and a crash costs the row of the test that crashed and no other.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
import math
import os
from typing import Any

from ._errors import of_handler

COLUMNS = (
    "test_nodeid",
    "module",
    "mode",
    "seq_len",
    "batch_size",
    "hf_max_seq_len",
    "mesh_shape",
    "mesh_num_devices",
    "weights_type",
    "module_path",
    "metrics_json",
    "outcome",
    "duration_sec",
    "error",
    "run_id",
    "session_timestamp",
    "hostname",
    "git_commit",
    "ttnn_version",
    "start_timestamp",
    "end_timestamp",
)

#: The module under test where no argument names it, by file; the names are those of the existing CSV files.
MODULE_OF_FILE = {
    "test_moe_gate.py": "MoEGate",
    "test_mla_1d.py": "MLA1D",
    "test_moe.py": "MoE",
    "test_model.py": "Model1D",
    "test_embedding_1d.py": "Embedding1D",
    "test_lm_head.py": "LMHead",
    "test_decoder_block.py": "DecoderBlock",
    "test_rms_norm.py": "RMSNorm",
}
_SAME_NAME = ("mode", "seq_len", "batch_size", "weights_type", "module_path")


def timestamp(seconds: float) -> str:
    """UTC, whole seconds: 2025-09-10T12:00:00Z."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def metric(kind: str, result: object) -> dict[str, Any] | None:
    """What one comparison found; `result` is what comp_pcc, comp_allclose or comp_ulp returned. None: not of that form.

    JSON has no NaN: such a value becomes null, and `note` says what it was.
    """
    if not isinstance(result, (tuple, list)) or len(result) < 2:
        return None
    passed, found = bool(result[0]), result[1]
    if kind != "pcc":
        return {"type": kind, "message": str(found), "passed": passed}
    try:
        value = float(found)
    except (TypeError, ValueError):
        return {"type": kind, "value": None, "passed": passed, "note": str(found)}
    if math.isfinite(value):
        return {"type": kind, "value": value, "passed": passed}
    return {"type": kind, "value": None, "passed": passed, "note": str(value)}


def arguments_of_test(nodeid: str, arguments: dict[str, Any]) -> dict[str, object]:
    """The columns that come from the test's arguments (fixtures and parameters). What is not there stays empty."""
    row: dict[str, object] = {name: arguments.get(name) for name in _SAME_NAME}
    row["module"] = _module(nodeid, arguments)
    row["hf_max_seq_len"] = getattr(arguments.get("hf_config", arguments.get("hf_config_short")), "max_seq_len", None)
    mesh = arguments.get("mesh_device")
    if mesh is not None:
        row["mesh_shape"] = _quietly(lambda: str(tuple(int(size) for size in mesh.shape)))
        row["mesh_num_devices"] = _quietly(lambda: int(mesh.get_num_devices()))
    return row


def _module(nodeid: str, arguments: dict[str, Any]) -> str | None:
    named = [arguments.get(name) for name in ("MLPClass", "RMSNormClass", "DecoderBlockClass")]
    named += [value for name, value in sorted(arguments.items()) if name.endswith("Class")]
    for value in named:
        if isinstance(value, type):
            return value.__name__
    return MODULE_OF_FILE.get(os.path.basename(nodeid.split("::", 1)[0]))


def _quietly(read: Any) -> object:
    """A fixture that cannot be read leaves an empty cell; the test is not to blame."""
    try:
        return read()
    except Exception as error:
        if of_handler(error):
            raise
        return None


class ResultsFile:
    """The file that rows are appended to."""

    def __init__(self, path: str) -> None:
        self.path = os.path.abspath(path)

    def append(self, row: dict[str, object]) -> None:
        """Appends one row; the header before it where the file is new. OSError where that is impossible."""
        folder = os.path.dirname(self.path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        while True:
            file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o666)
            try:
                _lock(file)
                end = _line_end(file)
                if end is not None:
                    _write(file, _text(row, end, file))
                    return
            finally:
                os.close(file)  # gives the lock back
            self._step_aside()

    def _step_aside(self) -> None:
        """The file has other columns, so it is not ours to append to: takes the next name."""
        stem, extension = os.path.splitext(self.path)
        base, dot, number = stem.rpartition(".")
        if dot and number.isdigit():
            self.path = f"{base}.{int(number) + 1}{extension}"
        else:
            self.path = f"{stem}.2{extension}"


def _lock(file: int) -> None:
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    except (ImportError, OSError):
        pass  # a file system without locks: each row is still one write at the end of the file


def _line_end(file: int) -> str | None:
    """How lines of the file end; None when it is no results CSV."""
    first = os.pread(file, 4096, 0)
    if not first:
        return "\n"
    header, _, _ = first.partition(b"\n")
    if header.rstrip(b"\r") != ",".join(COLUMNS).encode():
        return None
    return "\r\n" if header.endswith(b"\r") else "\n"


def _text(row: dict[str, object], end: str, file: int) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=end)
    size = os.fstat(file).st_size
    if size == 0:
        writer.writerow(COLUMNS)
    elif os.pread(file, 1, size - 1) != b"\n":  # somebody was cut off in the middle of a line
        text.write(end)
    writer.writerow([_cell(row.get(name)) for name in COLUMNS])
    return text.getvalue().encode("utf-8", errors="backslashreplace")


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (list, dict)):
        return json.dumps(value, allow_nan=False)
    text = str(value).replace("\0", "\\0")
    return f"'{text}" if not isinstance(value, (int, float)) and _begins_formula(text) else text


def _begins_formula(text: str) -> bool:
    """Would a spreadsheet compute it? An apostrophe in front keeps it a text (docs/formats/text.md)."""
    if text.startswith("'"):
        return True
    if not text.lstrip(" \t\r\n\"`").startswith(("=", "+", "-", "@")):
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def _write(file: int, text: bytes) -> None:
    while text:
        text = text[os.write(file, text) :]
