"""What a device program needs to speak the device protocol (docs/formats/device-protocol.md).

    from opwright.device import Request, serve

    class Mine:
        hello = {"name": "mine", "numerics": "exact-model", "board": "n150"}

        def do_run(self, request: Request) -> dict: ...

    serve(Mine)

Only the standard library. `examples/device_numpy.py` is a whole device.
"""

from opwright.device._request import Output, Request
from opwright.device._serve import PROTOCOL, serve

__all__ = ["PROTOCOL", "Output", "Request", "serve"]
