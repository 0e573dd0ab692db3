"""Switches tracing on in a Python process that has $OPWRIGHT_TRACE set: runs at interpreter start, so it must be light.

Nothing is opened yet. A finder watches for `ttnn`; when that has been imported, the trace file is opened and
`ttnn_hook.install` wraps the library. It also watches for pytest, which gets our plugin, without a variable like
PYTEST_PLUGINS that would break a pytest that cannot import us (`python -I -m pytest`).
"""

from __future__ import annotations

import os
import sys

from . import _recorder
from ._errors import of_handler, of_program
from ._import_hook import after_import

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any

OLDEST, NEWEST = (3, 10), (3, 13)  # where the compiled recorder is tested
PYTEST_PLUGIN = "opwright.pytest_plugin"

_has_run = False
_is_prepared = False
_seen: set[str] = set()  # modules of ttnn that were handed to the hook


def run() -> None:
    """Reads the environment and arms the trace. Never raises; at most one line on standard error."""
    global _has_run
    if _has_run:
        return
    _has_run = True
    try:
        folder = os.environ.get("OPWRIGHT_TRACE")
        if not folder:
            return
        check_python()
        folder = os.environ["OPWRIGHT_TRACE"] = os.path.abspath(folder)  # for children in other folders
        _recorder.arm(folder, os.environ.get("OPWRIGHT_TRACE_OPTIONS", ""))
        os.environ.setdefault("OPWRIGHT_TRACE_UID", _recorder.uid or "")
        prepare()
        watch()
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"nothing is traced: {error}")


def check_python() -> None:
    """TraceError where the compiled recorder cannot work."""
    version = sys.version_info[:2]
    if not OLDEST <= version <= NEWEST:
        raise _recorder.TraceError(
            f"Python {version[0]}.{version[1]} is not supported; the recorder runs on "
            f"{OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]}"
        )


def bootstrap_folder() -> str | None:
    """The folder with our sitecustomize, which switches tracing on in children: in the package, or beside it."""
    package = os.path.dirname(os.path.abspath(__file__))
    for folder in (os.path.join(package, "bootstrap"), os.path.join(os.path.dirname(package), "bootstrap")):
        if os.path.isfile(os.path.join(folder, "sitecustomize.py")):
            return folder
    return None


def prepare() -> None:
    """What a trace needs before it starts: its facts, and its end in whatever way the process ends."""
    global _is_prepared
    if _is_prepared:
        return
    _is_prepared = True
    import atexit

    _recorder.on_start.append(_write_facts)
    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_recorder.after_fork_in_child)
    _patch_exits()


def watch() -> None:
    """Hooks ttnn now if it is here, else when it comes; and pytest, before it looks for plugins."""
    after_import("ttnn.decorators", _on_decorators)
    after_import("ttnn", _on_ttnn)
    after_import("_pytest.config", _on_pytest)


def catch_up() -> None:
    """Hooks a ttnn that came past us: by a finder before ours, or in the middle of its import."""
    module = sys.modules.get("ttnn")
    if module is not None and "ttnn" not in _seen:
        _on_ttnn(module)


def unhook() -> None:
    """Puts ttnn back as it was; the recorder lets go of its objects."""
    hook = sys.modules.get(f"{__package__}.ttnn_hook")
    if hook is not None:
        hook.remove()
    _seen.clear()


def _at_exit() -> None:
    try:
        _recorder.stop()
        unhook()
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"the trace is complete, but was not closed: {error}")


# ------------------------------------------------------------------------------------------------- what comes by import


def _on_ttnn(module: ModuleType) -> None:
    """`ttnn` has been imported."""
    if not _is_library(module) or not _recorder.try_start():
        return
    try:
        from . import ttnn_hook

        _seen.add("ttnn")
        ttnn_hook.install(module)
        _write_facts_of_ttnn()
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"calls of ttnn are not traced: {type(error).__name__}: {error}")


def _on_decorators(module: ModuleType) -> None:
    """`ttnn.decorators` has been imported, the rest of ttnn not yet."""
    if not _recorder.try_start():
        return
    try:
        from . import ttnn_hook

        ttnn_hook.install_early(module)
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"calls of ttnn are not traced: {type(error).__name__}: {error}")


def _is_library(module: ModuleType) -> bool:
    """A folder called `ttnn` in the working directory is a module, too, but not the library."""
    return getattr(module, "__file__", None) is not None


def _on_pytest(module: ModuleType) -> None:
    """pytest reads PYTEST_PLUGINS in `consider_env`: after that, it gets our plugin."""
    if getattr(module, "_opwright_is_here", False):
        return
    try:
        manager: Any = module.PytestPluginManager
        consider_env = manager.consider_env

        def consider_env_and_opwright(self: Any) -> None:
            consider_env(self)
            if _recorder.on:
                try:
                    self.import_plugin(PYTEST_PLUGIN)
                except Exception as error:  # of pytest
                    if of_handler(error):
                        raise
                    _recorder.warn(f"tests are not named in the trace: {error}")

        manager.consider_env = consider_env_and_opwright
        module._opwright_is_here = True  # type: ignore[attr-defined]
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"tests are not named in the trace: {error}")


def _write_facts() -> None:
    from . import _facts

    try:
        _facts.write()
        if "ttnn" in _seen:  # a further trace file of the same process
            _write_facts_of_ttnn()
    except Exception as error:
        if of_program(error):
            raise
        _recorder.warn(f"facts of the run are not recorded: {error}")


def _write_facts_of_ttnn() -> None:
    from . import _facts, _machine

    _facts.write_versions()
    _machine.write()


# ------------------------------------------------------------------------------------------------- ends without atexit


def _patch_exits() -> None:
    """Brings the trace up to date before the process ends or becomes another one. All of os.exec* ends in these two."""
    for name in ("_exit", "abort", "execv", "execve"):
        setattr(os, name, _flushed_first(getattr(os, name), name.startswith("exec")))


def _flushed_first(function: Callable[..., Any], is_exec: bool) -> Callable[..., Any]:
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            if not _recorder.is_forked:
                _recorder.flush()
            elif not is_exec:  # a child that is about to be another program has called nothing
                _recorder.stop()
        except Exception as error:  # the program wants to end
            if of_program(error):
                raise
        return function(*arguments, **keywords)

    return _named_like(call, function)


def _named_like(call: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    for name in ("__name__", "__qualname__", "__module__", "__doc__", "__text_signature__"):
        try:
            setattr(call, name, getattr(function, name))
        except (AttributeError, TypeError):
            pass
    call.__wrapped__ = function  # type: ignore[attr-defined]
    return call
