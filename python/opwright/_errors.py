"""Whose exception is it? Python runs signal handlers between any two steps of Python code, so also in ours.

What a handler of the program raises there (a time-out, say) is the program's and must reach it, as Ctrl-C must. What
fails in our own code must not.
"""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_INSTALLED = (_STANDARD + "site-packages" + os.sep, _STANDARD + "dist-packages" + os.sep)


def of_program(error: BaseException) -> bool:
    """Did the program raise this while our code ran? Then a frame of the program is on the way to it: one that is neither
    ours nor of what our code calls, the traced library and the standard library."""
    if not isinstance(error, Exception):
        return True
    ours = (_HERE, "<frozen ")
    library = getattr(sys.modules.get("ttnn"), "__file__", None)
    if isinstance(library, str):
        ours += (os.path.dirname(os.path.abspath(library)) + os.sep,)
    step = error.__traceback__
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        is_standard = file.startswith(_STANDARD) and not file.startswith(_INSTALLED)
        if not is_standard and not file.startswith(ours):
            return True
        step = step.tb_next
    return False


def of_handler(error: BaseException) -> bool:
    """The same where our code calls code of the program or of pytest, whose frames say nothing: did a signal handler
    raise this?"""
    if not isinstance(error, Exception):
        return True
    import signal  # here and below: a program that never fails need not load them

    codes = [_code_of(signal.getsignal(number)) for number in signal.valid_signals()]
    step = error.__traceback__
    while step is not None:
        if any(code is step.tb_frame.f_code for code in codes):
            return True
        step = step.tb_next
    return False


def _code_of(handler: object) -> object:
    """Of what was handed to signal.signal; None where it is no Python code. Reads no attribute of the program's classes."""
    import functools
    from types import FunctionType, MethodType

    if type(handler) is functools.partial:
        handler = handler.func
    if type(handler) is MethodType:
        handler = handler.__func__
    if type(handler) is FunctionType:
        return handler.__code__
    for parent in type.__dict__["__mro__"].__get__(type(handler)):
        call = type.__dict__["__dict__"].__get__(parent).get("__call__")
        if call is not None:
            return call.__code__ if type(call) is FunctionType else None
    return None
