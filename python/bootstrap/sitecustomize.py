"""Runs at the start of every Python under `opwright trace` and `mock`, which put this folder in front of PYTHONPATH.

Python runs only the first `sitecustomize` that it finds, so the next one on the path (the user's own, or the system's)
is run here afterwards, as if this one were not there. Any Python may meet this file: no syntax newer than Python 2.7.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _start_opwright():
    is_traced = bool(os.environ.get("OPWRIGHT_TRACE"))
    if not is_traced and not os.environ.get("OPWRIGHT_MOCK_FOLDER"):
        return
    if not (3, 10) <= sys.version_info[:2] <= (3, 13):
        if is_traced:
            sys.stderr.write(
                "opwright: nothing is traced: Python %d.%d is not supported; the recorder runs on 3.10 to 3.13\n"
                % sys.version_info[:2]
            )
        return  # on a mock board nothing is missing: ttnn has no wheels for such a Python
    package = _find_package()
    if package is not None:
        sys.meta_path.insert(0, _OpwrightFinder(package))
    import opwright  # noqa: F401  it reads the environment itself


def _find_package():
    """The package that this file belongs to: beside this folder, or around it.

    A source tree has no compiled recorder in it; then the entry behind ours on the path may be a build of it.
    """
    parent = os.path.dirname(_FOLDER)
    candidates = [os.path.join(parent, "opwright")]
    if os.path.basename(parent) == "opwright":
        candidates.append(parent)
    candidates += [os.path.join(entry, "opwright") for entry in _path_behind_ours()[:1]]
    packages = [folder for folder in candidates if os.path.isfile(os.path.join(folder, "__init__.py"))]
    for folder in packages:
        if any(name.startswith("_capture.") and not name.endswith(".pyi") for name in os.listdir(folder)):
            return folder
    return packages[0] if packages else None


class _OpwrightFinder(object):  # noqa: UP004
    """Finds `opwright`, and nothing else: what lies beside an installed package stays out of other environments."""

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, name, path=None, target=None):
        if name != "opwright":
            return None
        # importlib itself, as it is inside every Python 3: importlib.util would take as long as the rest of this file
        from _frozen_importlib_external import spec_from_file_location

        file = os.path.join(self._folder, "__init__.py")
        return spec_from_file_location(name, file, submodule_search_locations=[self._folder])


def _path_behind_ours():
    here = [index for index, entry in enumerate(sys.path) if entry and os.path.abspath(entry) == _FOLDER]
    return sys.path[here[-1] + 1 :] if here else list(sys.path)


def _run_next_sitecustomize():
    """Imports the module that Python would have found without this folder. Its errors are its own."""
    rest = _path_behind_ours()
    name = "sitecustomize"
    if sys.version_info[0] < 3:
        import imp

        try:
            found = imp.find_module(name, rest)
        except ImportError:
            return
        ours = sys.modules.pop(name, None)  # kept: Python 2 empties a module that nobody holds
        try:
            imp.load_module(name, *found)
        finally:
            if found[0]:
                found[0].close()
            del ours
        return
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    spec = PathFinder.find_spec(name, rest)
    if spec is None or spec.loader is None:
        return
    module = module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)


try:
    _start_opwright()
except Exception as error:
    sys.stderr.write(
        "opwright: %s: %s\n"
        % ("nothing is traced" if os.environ.get("OPWRIGHT_TRACE") else "the mock device is not set up", error)
    )

_run_next_sitecustomize()
