"""ConstantTorque: a torque on a body, constant in Ground.

F_B = [t; 0]   no potential energy
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from .._jit import generic
from ..algebra.memory import load3, store3
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
    """Numbers: the torque in Ground."""
    b, t = model.force_integers[integers], numbers3(model, numbers)
    before = load3(model.body_forces, b, 0)
    store3(model.body_forces, b, 0, (before[0] + t[0], before[1] + t[1], before[2] + t[2]))


run = by_address(add)


class ConstantTorque(Force):
    """A constant torque on a body.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        What it joins.
    body : MobilizedBody
        The body that it acts on.
    torque : (3,) array_like
        In Ground; force*length.
    disabled_by_default : bool
        Whether states start with it switched off.
    name : str, optional
        Unique among the forces; one is made where none is given.

    Raises
    ------
    TypeError, ValueError
        If the body is none, or the torque is not three finite numbers.
    TopologyError
        If the body belongs to another system.
    """

    routine = run
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        body: MobilizedBody,
        torque: npt.ArrayLike,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        b, numbers = body_index(forces, "body", body), vector("torque", torque)
        super().__init__(forces, disabled_by_default=disabled_by_default, name=name)
        self._keep([b], numbers)

    def get_default_torque(self) -> Array:
        """The torque, in Ground, force*length; in a default state."""
        return self._default_vector(0, 3)

    def set_default_torque(self, torque: npt.ArrayLike) -> Self:
        """Change it. A topological change. Returns the force."""
        return self._set_default(0, *vector("torque", torque))

    def get_torque(self, state: State) -> Array:
        """The torque, in Ground, force*length; in this state. Needs MODEL."""
        return self._vector(state, 0, 3)

    def set_torque(self, state: State, torque: npt.ArrayLike) -> None:
        """Change it in this state, which falls to MODEL at most."""
        self._set_numbers(state, 0, *vector("torque", torque))


__all__ = ["ConstantTorque"]
