"""`python -m opwright.ttnn_device [--board NAME] [--l1-small BYTES]`: see the package."""

from __future__ import annotations

import argparse
import os
import sys

from opwright.device import serve


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m opwright.ttnn_device", description=__doc__)
    parser.add_argument("--board", help="the board's name in results; default: what the library or the mock board says")
    parser.add_argument("--l1-small", type=int, default=24576, help="bytes of L1 for small buffers; default: 24576")
    args = parser.parse_args()
    # The library's own log is not what a reader of standard error looks for.
    os.environ.setdefault("TT_LOGGER_LEVEL", "FATAL")
    os.environ.setdefault("LOGURU_LEVEL", "ERROR")

    def make() -> object:
        # ttnn imports torch where it is installed, which takes three times as long as itself; functions that need it
        # import it then, and find it.
        sys.modules["torch"] = None  # type: ignore[assignment]
        import ttnn  # noqa: F401

        del sys.modules["torch"]
        from opwright.ttnn_device.device import TtnnDevice

        return TtnnDevice(args.board, args.l1_small)

    serve(make)


if __name__ == "__main__":
    main()
