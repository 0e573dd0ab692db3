"""One request: the call, and its tensors in the file that both sides map."""

from __future__ import annotations

import mmap
import os
from typing import Any

from opwright.device._timing import Timing

#: Element types of the protocol as `memoryview.cast` and `numpy.frombuffer` know them.
FORMATS = {"f32": "f", "i32": "i", "u32": "I", "u16": "H", "u8": "B"}


class Output:
    """An output that was asked for: what it shall be, and where its values go."""

    def __init__(self, place: dict[str, Any], values: memoryview) -> None:
        self.type: str = place["type"]
        self.shape: list[int] = place.get("shape", [])
        self.dtype: str = place.get("dtype", "")
        #: Row major, in the element type `type`.
        self.values = values


class Request:
    """A line of the client. `fields` is all of it; what the protocol names has an attribute."""

    def __init__(self, fields: dict[str, Any], mapped: mmap.mmap | None) -> None:
        self.fields = fields
        self.id = fields.get("id")
        self.call: dict[str, Any] = fields.get("call", {})
        self.repeat = max(1, int(fields.get("repeat", 1)))
        self.wants_memory = bool(fields.get("memory"))
        #: Where files for the client go (`trace`): it takes none from elsewhere. "" when it wants none.
        self.folder: str = fields.get("folder") or ""
        self.wants_capture = bool(fields.get("capture")) and self.folder != ""
        #: What a request `time` asks for.
        self.timing = Timing(fields.get("time") or {})
        self._mapped = mapped

    @property
    def has_data(self) -> bool:
        return self._mapped is not None

    def input(self, slot: int) -> tuple[str, memoryview]:
        """Element type and values of the tensor with this slot, row major."""
        places = self.fields.get("inputs", [])
        if not 0 <= slot < len(places):
            raise ValueError(f"a tensor has slot {slot}, but the request has {len(places)} inputs")
        place = places[slot]
        return place["type"], self._values(place)

    @property
    def outputs(self) -> list[Output]:
        return [Output(place, self._values(place)) for place in self.fields.get("outputs", [])]

    def _values(self, place: dict[str, Any]) -> memoryview:
        kind, offset, size = place["type"], int(place["offset"]), int(place["bytes"])
        if kind not in FORMATS:
            raise ValueError(f"element type {kind!r} is none of {', '.join(FORMATS)}")
        if self._mapped is None:
            raise ValueError("the request names tensors, but no data file")
        if offset < 0 or size < 0 or offset + size > len(self._mapped):
            have = len(self._mapped)
            raise ValueError(f"bytes {offset} to {offset + size} lie outside the data file, which has {have}")
        part: Any = memoryview(self._mapped)[offset : offset + size]
        values: memoryview = part.cast(FORMATS[kind])
        return values


class DataFile:
    """Maps the file of a request. The same file is usual for many requests: it is mapped once."""

    def __init__(self) -> None:
        self._known: tuple[str, int, int, int] | None = None
        self._mapped: mmap.mmap | None = None

    def map(self, path: str) -> mmap.mmap | None:
        if not path:
            return None
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            found = os.fstat(file)
            known = (path, found.st_dev, found.st_ino, found.st_size)
            if known != self._known:
                # Arrays of an earlier request may still look into the old map: it goes when they do.
                self._mapped = mmap.mmap(file, found.st_size) if found.st_size else None
                self._known = known
        finally:
            os.close(file)
        return self._mapped
