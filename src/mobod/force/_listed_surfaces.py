"""Contact forces of a list of surfaces: `HuntCrossley` and `ElasticFoundation`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, TypeAlias

import numpy.typing as npt

from ..compiling import Routine
from ..contact.surface import Surface
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value import Transform, checks, frames
from .base import body_index
from .contact.element import ContactElement
from .contact.fields import Placed
from .contact.resistance import RATE
from .subsystem import GeneralForceSubsystem

#: After the transition velocity: no time of bristles, and the transition rate.
_REST = (0.0, RATE)
#: What a user gives for a surface.
OnBody: TypeAlias = "tuple[MobilizedBody, Surface] | tuple[MobilizedBody, Surface, Transform | npt.ArrayLike]"


class ListedSurfaces(ContactElement):
    """Forces of contact among the surfaces of a list; the base of its kinds, which say which law and which shapes."""

    law: ClassVar[Routine]
    #: The shapes that the law is for, and for which others there is one.
    shapes: ClassVar[frozenset[int]]
    remedy: ClassVar[str]

    INNER = frozenset({"law", "remedy", "shapes"})

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        surfaces: Iterable[OnBody],
        transition_velocity: float = 0.01,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        kind = type(self).__name__
        self._listed = [self._placed(forces, kind, i, one) for i, one in enumerate(_list(kind, surfaces))]
        numbers = self.declared(name, transition_velocity=transition_velocity)
        super().__init__(
            forces, self.law, [*numbers, *_REST], self._all, self._touch, disabled_by_default=disabled_by_default, name=name
        )

    get_default_transition_velocity, set_default_transition_velocity, get_transition_velocity, set_transition_velocity = (
        parameters.scalar(
            "transition_velocity", "velocity", checks.positive, "the slip speed from which on friction is that of sliding"
        ).accessors()
    )

    def _placed(self, forces: GeneralForceSubsystem, kind: str, i: int, one: Any) -> Placed:
        if not isinstance(one, Sequence) or not 2 <= len(one) <= 3:
            raise TypeError(f"surfaces of a {kind} are (body, surface, X_BS) each, number {i} is {one!r}")
        body, surface = body_index(forces, f"the body of surface {i} of a {kind}", one[0]), one[1]
        checks.instance(f"surface {i} of a {kind}", surface, Surface, "mobod.contact.Surface(geometry, material)")
        if surface.geometry.KIND not in self.shapes:
            raise ModelError(f"a {kind} has no law for a {type(surface.geometry).__name__}, of surface {i}; {self.remedy}")
        X_BS = frames.frame(f"X_BS of surface {i} of a {kind}", one[2]) if len(one) == 3 else Transform()
        return Placed(body, X_BS, surface, surface.name or f"surface {i}")

    def _all(self) -> Sequence[Placed]:
        return self._listed

    def _touch(self, a: Placed, b: Placed) -> bool:
        return a.body != b.body and not a.surface.cliques & b.surface.cliques


def _list(kind: str, surfaces: Any) -> list[Any]:
    try:
        return list(surfaces)
    except TypeError:
        raise TypeError(f"surfaces of a {kind} are a list of (body, surface, X_BS), not {surfaces!r}") from None
