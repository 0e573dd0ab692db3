"""usage: serialize_every_class.py FILE

Writes one object of every class and every member of every enum of the library as JSON text and reads it back. FILE gets
{"class:member": what differs, "" for nothing}."""

from __future__ import annotations

import enum
import json
import sys
from pathlib import Path

import library_samples
import ttnn

from opwright.serialize import from_jsonable, to_jsonable
from opwright.ttnn_device import classes


def main() -> None:
    device = library_samples.open_device()
    verdicts: dict[str, str] = {}
    for cls in library_samples.bound_classes():
        name = classes.full_name(cls)
        for member in cls.__members__ if issubclass(cls, enum.Enum) else [""]:
            try:
                wanted = cls[member] if member else library_samples.sample_of(name)
            except library_samples.NoSample:
                continue
            problems: list[object] = []
            text = json.dumps(to_jsonable(wanted), allow_nan=False)
            made = from_jsonable(json.loads(text), device, problems=problems)
            verdict = "; ".join(map(str, problems)) or library_samples.difference(wanted, made)
            verdicts[f"{name}:{member}"] = f"{verdict} <- {text[:200]}" if verdict else ""
    ttnn.close_mesh_device(device)
    Path(sys.argv[1]).write_text(json.dumps(verdicts, indent=1))


if __name__ == "__main__":
    main()
