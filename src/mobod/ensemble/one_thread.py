"""Checks that one thread at a time uses an ensemble, and none goes on after another has changed it."""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar

from ..value.attributes import keywords_of, refuse_keyword

T = TypeVar("T", bound=type)


class Users:
    """Checks that one thread at a time uses an ensemble, and that none goes on after another has changed it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        #: The thread that assigned last, and the threads that have since replaced what another had assigned, if any have.
        self._last: weakref.ref[threading.Thread] | None = None
        self._replaced: weakref.WeakKeyDictionary[threading.Thread, weakref.ref[threading.Thread]] = weakref.WeakKeyDictionary()
        self._any_replaced = False

    def begin(self, changes: bool) -> None:
        """The present thread begins a call, one that changes the states or not; at its end it calls `end`."""
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"another thread is at work with this ensemble; {_ONE_EACH}")
        if self._any_replaced:  # asking the dictionary takes a microsecond
            by = self._replaced.pop(threading.current_thread(), None)
            self._any_replaced = len(self._replaced) > 0
            other = None if by is None else by()
            if other is not None and other.is_alive():  # a thread that has ended cannot go on with its values
                self._lock.release()
                raise RuntimeError(f"another thread has changed this ensemble since this one did; {_ONE_EACH}")
        if changes:
            me, last = threading.current_thread(), None if self._last is None else self._last()
            if last is not me:
                self._last = weakref.ref(me)
                if last is not None:
                    self._replaced[last], self._any_replaced = self._last, True

    def end(self) -> None:
        """A call is over."""
        self._lock.release()


_ONE_EACH = "give each its own: ensemble.copy()"
#: What changes the states' variables: assignments, beside these methods.
_CHANGE = frozenset("assemble project reset set_each simulate step upd_q upd_u upd_z".split())


def _by_one_thread(method: Callable[..., Any], changes: bool) -> Callable[..., Any]:
    """A method of an ensemble, for one thread at a time."""
    known = keywords_of(method)

    @functools.wraps(method)
    def by_one_thread(self: Any, *args: Any, **keywords: Any) -> Any:
        if keywords and not known.issuperset(keywords):
            refuse_keyword(f"Ensemble.{method.__name__}", keywords, known - {"self"})
        users = self.threads_at_work
        users.begin(changes)
        try:
            return method(self, *args, **keywords)
        finally:
            users.end()

    return by_one_thread


def by_one_thread(kind: T) -> T:
    """Let one thread at a time call the public methods of a class, and of the parts that it is made of."""
    for part in kind.__mro__:
        if part.__module__.rpartition(".")[0] != __name__.rpartition(".")[0]:
            continue
        for name, member in list(vars(part).items()):
            if name in vars(kind) and part is not kind:
                continue
            if isinstance(member, property) and not name.startswith("_"):
                get = None if member.fget is None else _by_one_thread(member.fget, False)
                put = None if member.fset is None else _by_one_thread(member.fset, True)
                setattr(kind, name, property(get, put, doc=member.__doc__))
            elif callable(member) and (not name.startswith("_") or name in ("__copy__", "__deepcopy__")):
                setattr(kind, name, _by_one_thread(member, name in _CHANGE))
    return kind
