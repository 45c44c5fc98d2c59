"""Abstract: base of the classes that users derive their own parts from."""

from __future__ import annotations

import abc
import copyreg
from typing import Any, SupportsIndex

from .attributes import is_of_package


class Abstract(abc.ABC):  # noqa: B024  (what is abstract, its children say)
    """An abstract base class whose objects can be sent to other processes with classes of scripts and notebooks.

    Such a class goes by value, as cloudpickle does it. Where its methods refer to the model, and so to its own objects, these
    arrive before the methods do, while the class still is abstract, and Python refuses to make objects of it.
    """

    __slots__ = ()

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        found, kind = super().__reduce_ex__(protocol), type(self)
        if isinstance(found, str) or found[0] is not copyreg.__newobj__ or is_of_package(kind):  # type: ignore[attr-defined]
            return found
        return _unmade, found[1], *found[2:]


def _unmade(kind: Any, *arguments: Any) -> Any:
    """An object of a class that may still be abstract, to be given its attributes."""
    missing = getattr(kind, "__abstractmethods__", ())
    if not missing:
        return kind.__new__(kind, *arguments)
    whole = abc.ABCMeta("_Whole", (kind,), {"__slots__": (), **dict.fromkeys(missing)})
    make: Any = object.__new__  # not the class's own, which may check more
    one = make(whole)
    one.__class__ = kind
    return one
