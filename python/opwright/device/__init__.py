"""What a device program needs to speak the device protocol (docs/formats/device-protocol.md).

    from opwright.device import Request, serve

    class Mine:
        hello = {"name": "mine", "numerics": "exact-model", "board": "n150"}

        def do_run(self, request: Request) -> dict: ...
        def do_time(self, request: Request) -> dict: ...  # where `hello` has `perf`

    serve(Mine)

Only the standard library. `examples/device_numpy.py` is a whole device.
"""

from opwright.device._request import Output, Request
from opwright.device._serve import PROTOCOL, serve
from opwright.device._timing import EAGER, Timing, times_of

__all__ = ["EAGER", "PROTOCOL", "Output", "Request", "Timing", "serve", "times_of"]
