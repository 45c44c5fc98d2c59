"""MobilityTorsion: an energy that is periodic in one coordinate, as of a dihedral angle about a bond.

PE = A (1 + cos(n q - d))   f_q = A n sin(n q - d)
"""

from __future__ import annotations

from typing import Any

from ..algebra.scalar import sincos
from ..compiling import generic
from ..mobilizer.base import MobilizedBody
from ..state import parameters
from ..value.checks import finite
from .one_coordinate import OnCoordinate, coordinate, push
from .pools import number
from .routines import by_address
from .subsystem import GeneralForceSubsystem


@generic
def add(model: Any, integers: int, numbers: int) -> None:
    """Numbers: A, n, d."""
    n = number(model, numbers + 1)
    s, _ = sincos(n * coordinate(model, integers) - number(model, numbers + 2))
    push(model, integers, number(model, numbers) * n * s)


@generic
def energy(model: Any, integers: int, numbers: int) -> Any:
    """A (1 + cos(n q - d))."""
    _, c = sincos(number(model, numbers + 1) * coordinate(model, integers) - number(model, numbers + 2))
    return number(model, numbers) * (1.0 + c)


class MobilityTorsion(OnCoordinate):
    """A periodic energy A (1 + cos(n q - d)) of one coordinate: of a bond's dihedral angle, a detent, a cogging motor.

    Parameters
    ----------
    mobod : MobilizedBody
        Whose mobilizer it acts on.
    which_q : int
        The number of the coordinate among the mobilizer's, from 0.
    amplitude : float
        A, half the height of the barriers; energy.
    periodicity : float
        n, how many periods there are in an angle of 2 pi.
    phase : float
        d; the energy is largest where n q = d.

    Raises
    ------
    TypeError, ValueError
        If the body is none, the number of the coordinate no integer, or a number not finite.
    IndexError
        If the mobilizer has no such coordinate.
    TopologyError
        If the body belongs to another system.

    Notes
    -----
    The proper torsion of molecular force fields (Cornell and others 1995, equation 1).

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.force.MobilityTorsion(system.forces, system.matter.bodies["lower"], 0, 2.0, 3.0, 0.0)
    >>> state = system.realize_topology()
    >>> state.q = 0.3, 0.5
    >>> system.realize(state)
    >>> part.calc_force_contribution(state)[2].round(3)
    array([0.   , 5.985])
    """

    routine = by_address(add, energy)
    reads_positions_only = True

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        mobod: MobilizedBody,
        which_q: int,
        amplitude: float,
        periodicity: float,
        phase: float = 0.0,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        own = {"amplitude": amplitude, "periodicity": periodicity, "phase": phase}
        self._connect(forces, mobod, which_q, disabled_by_default, name, **own)

    get_default_amplitude, set_default_amplitude, get_amplitude, set_amplitude = parameters.scalar(
        "amplitude", "energy", finite, "half the height of the barriers"
    ).accessors()
    get_default_periodicity, set_default_periodicity, get_periodicity, set_periodicity = parameters.scalar(
        "periodicity", "1/angle", finite, "how many periods there are in an angle of 2 pi"
    ).accessors()
    get_default_phase, set_default_phase, get_phase, set_phase = parameters.scalar(
        "phase", "angle", finite, "the angle n q at which the energy is largest"
    ).accessors()
