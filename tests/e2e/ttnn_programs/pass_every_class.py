"""usage: pass_every_class.py FILE

Passes one object of every class and every member of every enum of the library to operations that take anything, so
that a recorder sees them. One operation a class, in the class's own module. FILE gets the classes of which there is none,
and why: {class: reason}."""

from __future__ import annotations

import enum
import json
import sys
from pathlib import Path
from typing import Any

import library_samples
import ttnn


def operation_of(name: str) -> Any:
    """`ttnn.take_…`, registered at its first use. It says what it takes, as those of the library do."""
    short = "take_" + name.replace(".", "_")
    if not hasattr(ttnn, short):

        def call(self: Any, *args: Any, **kwargs: Any) -> None:
            return None

        call.__doc__ = f"__call__(self, made: {name}, *, sample: str) -> None"
        taker = type("Taker", (), {"__module__": name.rpartition(".")[0], "__name__": short, "__call__": call})()
        setattr(ttnn, short, ttnn.register_python_operation(name=f"ttnn.{short}")(taker))
    return getattr(ttnn, short)


def main() -> None:
    device = library_samples.open_device()
    reasons: dict[str, str] = {}
    for cls in library_samples.bound_classes():
        name = library_samples.classes.full_name(cls)
        values = list(cls.__members__.items()) if issubclass(cls, enum.Enum) else [("", None)]
        for member, value in values:
            try:
                made = library_samples.sample_of(name) if value is None else value
            except library_samples.NoSample as reason:
                reasons[name] = str(reason)
                continue
            operation_of(name)(made, sample=f"{name}:{member}")
    ttnn.close_mesh_device(device)
    Path(sys.argv[1]).write_text(json.dumps(reasons))


if __name__ == "__main__":
    main()
