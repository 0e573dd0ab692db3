"""Configurations of a store as a Parquet file: flat columns that a person can group by (`Config.flat`).

    opwright export --to parquet -o all.parquet
    python -m opwright.parquet --store opwright.db -o all.parquet --where 'op=linear'

Columns hold one type each: whole numbers, numbers, flags or texts; an argument that is of several types in different
configurations is text. `case` is the line that `opwright run --case` takes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from typing import Any

if __name__ == "__main__":  # by its path: its folder is no place to import from
    sys.path[:] = [path for path in sys.path if path != os.path.dirname(os.path.abspath(__file__))]

from opwright._ask import StoreError
from opwright.config import Config

#: Rows that are turned into columns at once.
_BATCH = 10_000


class NoArrow(ImportError):
    """pyarrow is missing; the text says what to type."""


def _arrow() -> Any:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        command = f"{sys.executable} -m pip install pyarrow"
        raise NoArrow(f"Parquet files are written with pyarrow, which this Python has not; {command}") from error
    return pyarrow


def write(configs: Iterable[Config], path: str) -> int:
    """Whole or not at all; how many rows there are."""
    arrow = _arrow()
    rows = [config.flat() for config in configs]
    kinds: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            kinds[name] = _joined(kinds.get(name), _kind(value))
    table = arrow.table({name: _column(arrow, rows, name, kind) for name, kind in kinds.items()})
    part = f"{path}.{os.getpid()}.part"
    try:
        arrow.parquet.write_table(table, part, row_group_size=_BATCH)
        os.replace(part, path)
    finally:
        if os.path.exists(part):
            os.remove(part)
    return len(rows)


def _kind(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if -(2**63) <= value < 2**63 else "text"
    return "float" if isinstance(value, float) else "text"


def _joined(known: str | None, kind: str) -> str:
    if known in (None, "none", kind):
        return kind
    if kind == "none":
        return str(known)
    return "float" if {known, kind} == {"int", "float"} else "text"


def _column(arrow: Any, rows: list[dict[str, Any]], name: str, kind: str) -> Any:
    types = {"bool": arrow.bool_(), "int": arrow.int64(), "float": arrow.float64()}
    values = [row.get(name) for row in rows]
    if kind == "float":
        values = [None if value is None else float(value) for value in values]
    elif kind not in types:
        values = [None if value is None else str(value) for value in values]
    return arrow.array(values, type=types.get(kind, arrow.string()))


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="opwright.parquet", description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--store", help="the store (default $OPWRIGHT_STORE, else ./opwright.db)")
    parser.add_argument("--where", metavar="SELECTOR", help="only configurations that match")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        from opwright.store import Store

        _arrow()  # before the store is read
        count = write(Store(options.store).configs(where=options.where), options.output)
    except (NoArrow, StoreError, OSError) as error:
        print(f"opwright: {error}", file=sys.stderr)
        return 3
    print(
        f"{options.output}: {count} configuration{'' if count == 1 else 's'}, {os.path.getsize(options.output)} bytes"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
