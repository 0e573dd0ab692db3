"""The hook for ttnn: every operation and tensor method of the library goes through the recorder.

Operations are objects of two classes whose `__call__` is wrapped, so operations registered later are seen too. The
runtime mode stays as the user set it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from . import _capture, describe

# Methods of ttnn.Tensor that compute, move or free. Operators and indexing reach operations by themselves.
TENSOR_METHODS = (
    "reshape",
    "to",
    "cpu",
    "pad",
    "unpad",
    "pad_to_tile",
    "unpad_from_tile",
    "to_torch",
    "to_torch_with_padded_shape",
    "to_numpy",
    "to_list",
    "item",
    "extract_shard",
    "deallocate",
    "update_tensor_topology",
)

_MARK = "__opwright_original__"
_wrapped: list[tuple[Any, str, Any]] = []


def install_early(decorators: ModuleType) -> None:
    """Wraps the operation classes, as soon as the module that defines them is there."""
    _capture.set_describe(describe)
    for name, is_slow in (("FastOperation", False), ("Operation", True)):
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
    for family in ("prim",):
        _wrap_functions(getattr(ttnn, family, None), f"ttnn.{family}")
        _wrap_functions(getattr(getattr(ttnn, "_ttnn", None), family, None), f"ttnn.{family}")


def record_facts(ttnn: ModuleType) -> None:
    """What is known of the machine without asking it anything: a question may start the driver."""
    board = os.environ.get("OPWRIGHT_MOCK_BOARD")
    if board:
        _capture.fact("machine", {"mock_board": board})


def record_last_facts(ttnn: ModuleType) -> None:
    """What may be asked once the program has opened a device."""
    if os.environ.get("OPWRIGHT_MOCK_BOARD") or not describe.has_seen_device:
        return
    try:
        _capture.fact("cluster_type", str(ttnn.cluster.get_cluster_type()))
        _capture.fact("arch", str(ttnn.get_arch_name()))
    except Exception as error:  # the driver may be gone by now
        _capture.note("machine", f"the type of the board could not be asked: {error}")


def remove() -> None:
    """Puts everything back and drops what the recorder holds of the library: at the end of the program."""
    if "ttnn" in sys.modules:
        record_last_facts(sys.modules["ttnn"])
    for owner, name, original in reversed(_wrapped):
        try:
            setattr(owner, name, original)
        except (AttributeError, TypeError):
            pass
    _wrapped.clear()
    _capture.release()


def _replace(owner: Any, name: str, wrapper: Any) -> None:
    original = getattr(owner, name)
    setattr(wrapper, _MARK, original)
    try:
        setattr(owner, name, wrapper)
    except (AttributeError, TypeError) as error:
        _capture.note("hook", f"{owner!r}.{name} cannot be hooked: {error}")
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


def _wrap_functions(module: Any, prefix: str) -> None:
    """Plain functions of a module of primitives, where the library has one."""
    if module is None:
        return
    for name in dir(module):
        value = getattr(module, name)
        if name.startswith("_") or not callable(value) or isinstance(value, type) or hasattr(value, _MARK):
            continue
        if hasattr(value, "python_fully_qualified_name"):
            continue
        _replace(module, name, _named_call(f"{prefix}.{name}", value))
