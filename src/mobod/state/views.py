"""The read-only arrays that a state returns; writing to one raises an error that names the call to use instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np


class View(np.ndarray[Any, np.dtype[np.float64]]):
    """A read-only view whose error on writing names the call to use; results computed from it are plain arrays.

    Made once a record. Reading costs as much as an array's, arithmetic 0.1 us more.
    """

    __slots__ = ()
    _remedy: ClassVar[str]

    if not TYPE_CHECKING:  # for type checkers it is a plain array
        __array_wrap__ = None  # results of arithmetic are no views

        def _check(self):
            if not self.flags.writeable:  # else it is an array made like a view: by np.zeros_like, say
                raise ValueError(f"what a state hands out is read-only; {self._remedy}")

        def __setitem__(self, key, value):
            self._check()
            super().__setitem__(key, value)

        def __iadd__(self, other):
            self._check()
            return super().__iadd__(other)

        def __isub__(self, other):
            self._check()
            return super().__isub__(other)

        def __imul__(self, other):
            self._check()
            return super().__imul__(other)

        def __itruediv__(self, other):
            self._check()
            return super().__itruediv__(other)

        def copy(self, order="C"):
            """A plain array."""
            return np.array(self, order=order)

        def __repr__(self):
            return repr(np.asarray(self))

        def __reduce__(self):
            return np.asarray(self).__reduce__()


class ViewOfQ(View):
    """Of q."""

    _remedy = "change state.upd_q() in place, or assign state.q = ..."


class ViewOfU(View):
    """Of u."""

    _remedy = "change state.upd_u() in place, or assign state.u = ..."


class ViewOfZ(View):
    """Of z."""

    _remedy = "change state.upd_z() in place, or assign state.z = ..."


class ViewOfY(View):
    """Of y."""

    _remedy = "change state.upd_q(), upd_u() or upd_z() in place, or assign state.y = ..."
