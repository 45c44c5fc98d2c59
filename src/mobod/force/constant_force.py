"""ConstantForce: a force at a point of a body, constant in Ground.

F_B = [s x f; f], s the point from B's origin, in Ground   no potential energy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._jit import generic
from ..algebra import mat33, vec3
from ..algebra.memory import add_spatial, load9
from ._by_address import by_address
from ._checked import vector
from ._pools import numbers3
from .base import Force, body_index

if TYPE_CHECKING:
    from ..forces import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state import State

Array = npt.NDArray[np.float64]


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: the station in the body, then the force in Ground."""
    b, f = model.force_integers[integers], numbers3(model, numbers + 3)
    s = mat33.mul_vec(load9(model.R_GB, b, 0), numbers3(model, numbers))
    add_spatial(model.body_forces, b, vec3.cross(s, f), f)


run = by_address(add)


class ConstantForce(Force):
    """A constant force at a point of a body.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    body : MobilizedBody
        The body that it acts on.
    station : (3,) array_like
        The point, in the body; length.
    force : (3,) array_like
        In Ground.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If the body is none, or the point or the force are not three finite numbers.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    It has no potential energy here, as in Simbody: the work that it does appears in the energy of the system.
    """

    routine = run
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        station: npt.ArrayLike,
        force: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        b, numbers = body_index(forces, "body", body), [*vector("station", station), *vector("force", force)]
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._keep([b], numbers)

    def get_default_station(self) -> Array:
        """The point, in the body, length; in a default state."""
        return self._default_vector(0, 3)

    def set_default_station(self, station: npt.ArrayLike) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, *vector("station", station))

    def get_station(self, state: State) -> Array:
        """The point, in the body, length; in this state. Needs MODEL."""
        return self._vector(state, 0, 3)

    def set_station(self, state: State, station: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, *vector("station", station))

    def get_default_force(self) -> Array:
        """The force, in Ground; in a default state."""
        return self._default_vector(3, 3)

    def set_default_force(self, force: npt.ArrayLike) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(3, *vector("force", force))

    def get_force(self, state: State) -> Array:
        """The force, in Ground; in this state. Needs MODEL."""
        return self._vector(state, 3, 3)

    def set_force(self, state: State, force: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 3, *vector("force", force))


__all__ = ["ConstantForce"]
