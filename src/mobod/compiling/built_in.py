"""Compiled code that Python calls as it calls its own functions in C.

A dispatcher's code takes its arguments as a tuple, and turns each into a number or an array: 0.01 us for each, and 0.04 more,
which is half of what the dynamics of one body takes. A built-in function gets the objects one by one, as they are.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from . import engine
from .disk_cache import DiskCache

#: Python's number for functions that are called with the objects' addresses, and how many these are.
_METH_FASTCALL = 0x80
#: Compiled code that functions point at.
_kept: list[Any] = []


class _MethodDefinition(ctypes.Structure):
    """`PyMethodDef` of Python's interface in C."""

    _fields_ = (
        ("ml_name", ctypes.c_char_p),
        ("ml_meth", ctypes.c_void_p),
        ("ml_flags", ctypes.c_int),
        ("ml_doc", ctypes.c_char_p),
    )


def address_of(entry: Callable[..., Any], function: Callable[..., Any]) -> int:
    """The address of the code of *entry*, compiled or loaded, by the name of *function*.

    It is called with three integers: the address of nothing, that of the addresses of the arguments, and how many these are.
    It returns the address of an object, which becomes its caller's.
    """
    from numba.core import types
    from numba.core.ccallback import CFunc

    entry.__qualname__, entry.__module__ = f"{function.__qualname__}.built_in", function.__module__
    options = {**engine.OPTIONS, "nopython": True}
    callback: Any = CFunc(entry, ((types.int64,) * 3, types.int64), locals={}, options=options)
    DiskCache(entry).serve(callback)
    callback.compile()
    _kept.append(callback)
    return int(callback.address)


def built_in(address: int, name: str, module: str) -> Callable[..., Any]:
    """Code at an *address* as a built-in function, which keeps Python's lock."""
    definition = _MethodDefinition(name.encode(), address, _METH_FASTCALL, None)
    # never freed: a function reads it still when Python, as it ends, has cleared this module
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(definition))
    make: Any = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)
    found: Callable[..., Any] = make(("PyCFunction_NewEx", ctypes.pythonapi))(ctypes.addressof(definition), None, module)
    return found
