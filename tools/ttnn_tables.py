#!/usr/bin/env python3
"""Prints what the installed ttnn offers to Python: the tables that generated tests are spelled with.

usage: ttnn_tables.py classes|golden_functions|semaphores [CHECKOUT]

Run it with a Python that has ttnn; the output is src/dialect/ttnn/data/NAME.tsv without its comment lines.
"""

from __future__ import annotations

import enum
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def short(kind: str) -> str:
    """`collections.abc.Sequence[ttnn._ttnn.tensor.CoreRange] | None` -> `Sequence[CoreRange]|None`"""
    kind = re.sub(r"collections\.abc\.(\w+)", r"\1", kind)
    return re.sub(r"ttnn(?:\._ttnn)?(?:\.\w+)*\.(\w+)", r"\1", kind).replace(" ", "")


def classes() -> Iterator[str]:
    import ttnn
    from opwright.ttnn_device import classes as library
    from opwright.ttnn_device import signatures

    def path(cls: Any) -> str:
        return f"ttnn.{cls.__name__}" if getattr(ttnn, cls.__name__, None) is cls else library.full_name(cls)

    for name, found in sorted(library.library_classes().items()):
        cls = found[0]
        if name.endswith("_t"):  # of operations
            continue
        if issubclass(cls, enum.Enum):
            yield "\t".join((name, path(cls), "enum", " ".join(cls.__members__)))
            continue
        for way in signatures.of_constructor(cls):
            if [short(parameter.kind) for parameter in way] == [name]:  # makes a copy
                continue
            parameters = (
                f"{'' if p.by_name else '/'}{'' if p.by_position else '*'}{p.name}:{short(p.kind)}{'' if p.is_required else '='}"
                for p in way
            )
            yield "\t".join((name, path(cls), "class", " ".join(parameters))).rstrip("\t")


def operations() -> dict[str, Any]:
    import ttnn

    found: dict[str, Any] = {}

    def walk(module: Any, depth: int) -> None:
        for name in dir(module):
            value = getattr(module, name, None)
            if type(value).__name__ in ("FastOperation", "Operation"):
                found[value.python_fully_qualified_name] = value
            elif type(value).__name__ == "module" and value.__name__.startswith("ttnn.") and depth < 4:
                if not value.__name__.startswith("ttnn._ttnn"):
                    walk(value, depth + 1)

    walk(ttnn, 0)
    return dict(sorted(found.items()))


def golden_functions() -> Iterator[str]:
    for name, operation in operations().items():
        if getattr(operation, "golden_function", None) is not None:
            yield name


def semaphores() -> Iterator[str]:
    """Of the first overload: parameters that traces leave out, with how many a list has (0: one alone)."""
    from opwright.ttnn_device import signatures

    for name, operation in operations().items():
        ways = signatures.of_operation(operation)
        wanted = []
        for parameter in ways[0] if ways else ():
            if parameter.name in ("multi_device_global_semaphore", "barrier_semaphore"):
                is_list = "Sequence" in parameter.kind or "GlobalSemaphoreArg" in parameter.kind
                wanted.append(f"{parameter.name}:{(3 if 'reduce_scatter' in name else 2) if is_list else 0}")
        if wanted:
            yield f"{name}\t{' '.join(wanted)}"


def main() -> None:
    tables = {"classes": classes, "golden_functions": golden_functions, "semaphores": semaphores}
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in tables:
        sys.exit(__doc__)
    checkout = Path(sys.argv[2]) if len(sys.argv) == 3 else Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(checkout / "python"))
    for line in tables[sys.argv[1]]():
        print(line)


if __name__ == "__main__":
    main()
