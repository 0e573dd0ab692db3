"""The hook for ttnn: every operation and tensor method of the library goes through the recorder.

Operations are objects of two classes whose `__call__` is wrapped, so operations registered later are seen too. The
runtime mode stays as the user set it.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

from . import _capture, _machine, describe
from ._ttnn_tables import DIRECT_FAMILIES, OPERATION_CLASSES, TENSOR_METHODS

_MARK = "__opwright_original__"
_wrapped: list[tuple[Any, str, Any]] = []


def install_early(decorators: ModuleType) -> None:
    """Wraps the operation classes, as soon as the module that defines them is there."""
    _capture.set_describe(describe)
    for name, is_slow in OPERATION_CLASSES:
        cls = getattr(decorators, name, None)
        if cls is None:
            if name == "FastOperation":
                _capture.note("hook", "ttnn.decorators.FastOperation is missing in this version of the library")
            continue
        original = cls.__call__
        if hasattr(original, _MARK):
            continue
        _replace(cls, "__call__", _operation_call(original, is_slow))


def install(ttnn: ModuleType) -> None:
    """Wraps what `install_early` cannot: methods of tensors, and operations outside the registry."""
    install_early(ttnn.decorators)
    tensor = getattr(ttnn, "Tensor", None)
    for name in TENSOR_METHODS:
        original = getattr(tensor, name, None)
        if original is None or hasattr(original, _MARK):
            continue
        _replace(tensor, name, _named_call(f"ttnn.Tensor.{name}", original))
    _install_direct(ttnn)


def remove() -> None:
    """Puts everything back and drops what the recorder holds of the library: at the end of the program."""
    if "ttnn" in sys.modules and describe.has_seen_device:
        _machine.ask_library(sys.modules["ttnn"])
    for owner, name, original in reversed(_wrapped):
        try:
            setattr(owner, name, original)
        except (AttributeError, TypeError):
            pass
    _wrapped.clear()
    _capture.release()


def _install_direct(ttnn: ModuleType) -> None:
    bound = getattr(ttnn, "_ttnn", None)
    functions: dict[int, tuple[str, Any]] = {}
    for family in DIRECT_FAMILIES:
        for owner in (bound, ttnn):
            for path, value in _members(getattr(owner, family, None), family):
                if isinstance(value, type) or hasattr(value, _MARK) or not callable(value):
                    continue
                if isinstance(getattr(value, "python_fully_qualified_name", None), str):
                    _install_on_class(value)
                elif type(value).__name__ == "nb_func" and _is_of_tensors(value):
                    functions.setdefault(id(value), (_public_name(ttnn, path, value), value))
    # A function is in several modules under the same or another name: all of them get the same stand-in.
    stand_ins = {key: (_direct_function(name, value), value) for key, (name, value) in functions.items()}
    for module in [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "ttnn"] + [
        module for _, module in _modules(bound, "_ttnn", set())
    ]:
        for name, value in list(getattr(module, "__dict__", {}).items()):
            if id(value) in stand_ins and stand_ins[id(value)][1] is value:
                _replace(module, name, stand_ins[id(value)][0])


def _modules(module: Any, path: str, seen: set[int]) -> Iterator[tuple[str, ModuleType]]:
    if not isinstance(module, ModuleType) or id(module) in seen or not module.__name__.startswith("ttnn"):
        return
    seen.add(id(module))
    yield path, module
    for name, value in list(vars(module).items()):
        if isinstance(value, ModuleType):
            yield from _modules(value, f"{path}.{name}", seen)


def _members(module: Any, path: str) -> Iterator[tuple[str, Any]]:
    for where, found in _modules(module, path, set()):
        for name, value in list(vars(found).items()):
            if not name.startswith("__"):
                yield f"{where}.{name}", value


def _is_of_tensors(function: Any) -> bool:
    """Takes or gives tensors, by its signature; others ask or set something on the host."""
    try:
        return any("tensor.Tensor" in str(overload[0]) for overload in function.__nb_signature__)
    except (AttributeError, TypeError, IndexError):
        return False


def _public_name(ttnn: ModuleType, path: str, value: Any) -> str:
    """ttnn.experimental.x of operations.experimental.x where the library shows it so, else ttnn.x, else ttnn.operations.…"""
    short = path.partition(".")[2]
    for name in (short, short.rpartition(".")[2]):
        found: Any = ttnn
        for part in name.split("."):
            found = getattr(found, part, None)
        if found is value:
            return f"ttnn.{name}"
    return f"ttnn.{path}"


def _install_on_class(operation: Any) -> None:
    """The bound object below a registered operation: one class each. Its own name is that of the operation."""
    cls = type(operation)
    original = vars(cls).get("__call__")
    if original is None or hasattr(original, _MARK):
        return
    record, name = _capture.call_direct, operation.python_fully_qualified_name

    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return record(name, original, args, kwargs, self)

    __call__.__doc__ = getattr(original, "__doc__", None)
    _replace(cls, "__call__", __call__)


def _direct_function(name: str, original: Any) -> Callable[..., Any]:
    record = _capture.call_direct

    def function(*args: Any, **kwargs: Any) -> Any:
        return record(name, original, args, kwargs, None)

    function.__name__ = name.rpartition(".")[2]
    function.__qualname__ = name
    function.__doc__ = getattr(original, "__doc__", None)
    function.__module__ = getattr(original, "__module__", None) or "ttnn"
    function.__nb_signature__ = original.__nb_signature__  # type: ignore[attr-defined]
    return function


def _replace(owner: Any, name: str, wrapper: Any) -> None:
    original = vars(owner).get(name) if isinstance(owner, type) else None
    if original is None:
        original = getattr(owner, name)
    setattr(wrapper, _MARK, original)
    try:
        setattr(owner, name, wrapper)
    except (AttributeError, TypeError) as error:
        _capture.note("hook", f"{getattr(owner, '__name__', '?')}.{name} cannot be hooked: {error}")
        return
    _wrapped.append((owner, name, original))


def _operation_call(original: Callable[..., Any], is_slow: bool) -> Callable[..., Any]:
    record = _capture.call_operation

    @functools.wraps(original)
    def __call__(self: Any, *args: Any, **kwargs: Any) -> Any:
        return record(self, original, args, kwargs, is_slow)

    return __call__


def _named_call(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    record = _capture.call_function

    def method(*args: Any, **kwargs: Any) -> Any:
        return record(name, original, args, kwargs)

    method.__name__ = name.rpartition(".")[2]
    method.__qualname__ = name
    method.__doc__ = getattr(original, "__doc__", None)
    return method

