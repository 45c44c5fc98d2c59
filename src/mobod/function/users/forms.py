"""The two forms of a user's own part: an object of a class of Python, or functions that are compiled."""

from __future__ import annotations

from typing import Any


def check_form(implementation: Any, compiled: Any, of_python: type, of_functions: type) -> None:
    """Refuse all but one: an instance of a room's class *of_python*, or its functions, of class *of_functions*."""
    room = of_python.__module__.split(".")[1]
    if implementation is not None and compiled is not None:
        raise TypeError(f"a {room} is an implementation or compiled functions, not both")
    if compiled is not None and not isinstance(compiled, of_functions):
        raise TypeError(f"compiled has to be a mobod.{room}.{of_functions.__name__}(...), not {compiled!r}")
    if compiled is None and not isinstance(implementation, of_python):
        raise TypeError(
            f"implementation has to be an instance of a class derived from mobod.{room}.{of_python.__name__}, "
            f"not {implementation!r}; or give compiled=mobod.{room}.{of_functions.__name__}(...)"
        )
