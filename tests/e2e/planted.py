"""A number that test programs put into tensors, and the search for it in traces: contents get there only when asked for."""

import re
import struct
from pathlib import Path

#: What programs of the tests fill tensors with. No text, time or address looks like it.
VALUE = 7431.2865

_HALF_OF_FLOAT = struct.pack("<f", VALUE)[2:]
_FORMS = {
    "text": re.compile(rb"7431\.2\d|7\.4312?\d*e\+?0?3"),
    "float32": re.compile(re.escape(struct.pack("<f", VALUE))),
    "float64": re.compile(re.escape(struct.pack("<d", VALUE)) + b"|" + re.escape(struct.pack("<d", struct.unpack("<f", struct.pack("<f", VALUE))[0]))),
    "bfloat16": re.compile(re.escape(_HALF_OF_FLOAT * 3)),
    "float16": re.compile(re.escape(struct.pack("<e", VALUE) * 3)),
}  # fmt: skip
_ASKED_FOR = re.compile(rb"values\W{0,6}(sketch|hash|full)")


def forms_in(content: bytes) -> list[str]:
    """The forms in which the planted number is there."""
    return [name for name, form in _FORMS.items() if form.search(content)]


def check_traces(folder: Path) -> int:
    """No trace below a folder holds it, but where contents were asked for; the number of traces that were searched."""
    searched = 0
    for trace in folder.rglob("*.opwt"):
        if not trace.is_file():  # a test that puts a FIFO there: nobody will ever write to it
            continue
        try:
            content = trace.read_bytes()
        except OSError:  # a test that takes rights away
            continue
        if _ASKED_FOR.search(content):
            continue
        searched += 1
        assert not forms_in(content), f"contents of a tensor are in {trace} as {forms_in(content)}"
    return searched
