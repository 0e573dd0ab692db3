"""`python …/opwright/ttnn_device/__main__.py [--board NAME] [--l1-small BYTES]`: see the package.

`opwright run` starts it by its path, not with -m: so nothing of the current folder is imported.
"""

from __future__ import annotations

import sys


def _bring_package() -> None:
    """Started by its path: Python has put this folder on the path, where nobody shall find our modules by chance.

    The package is loaded from where it lies, alone, without the packages beside it.
    """
    import os

    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    if "opwright" in sys.modules:
        return
    from importlib.util import module_from_spec, spec_from_file_location

    package = os.path.dirname(here)
    file = os.path.join(package, "__init__.py")
    spec = spec_from_file_location("opwright", file, submodule_search_locations=[package])
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["opwright"] = module
    spec.loader.exec_module(module)


if not __package__:
    _bring_package()

import argparse  # noqa: E402
import os  # noqa: E402

from opwright.device import serve  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(prog="opwright.ttnn_device", description=__doc__)
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
