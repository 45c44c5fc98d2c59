"""Called: what handlers and reporters share, a name and the check of what they are derived from."""

from __future__ import annotations

import functools
from typing import Any, Self

from ..value import checks
from ..value.abstract import Abstract
from ..value.attributes import Sealed


class Called(Sealed, Abstract):
    """Base of `EventHandler` and `EventReporter`, which say what `handle_event` is given."""

    #: Its part in names of classes: Handler or Reporter.
    _ROLE: str

    def __new__(cls, *args: Any, **settings: Any) -> Self:
        """Refuse a class that names its form after this one; a class may not refuse to be made, or `abc` loses track of it."""
        cls._check_form()
        return super().__new__(cls)

    @classmethod
    @functools.lru_cache(maxsize=512)
    def _check_form(cls) -> None:
        base, *others = cls.__mro__[next(i for i, one in enumerate(cls.__mro__) if Called in one.__bases__) :]
        for form in others:
            if vars(form).get("_comes_first"):  # its own __init__ would never be called
                raise TypeError(
                    f"{cls.__name__} has to name {form.__name__} before {base.__name__}: class {cls.__name__}("
                    f"{form.__name__}, {base.__name__}), or derive from {form.__name__}{cls._ROLE}"
                )

    def __init__(self, *, name: str | None = None) -> None:
        self._name = None if name is None else checks.name(self._ROLE.lower(), name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return getattr(self, "_name", None) or type(self).__name__
