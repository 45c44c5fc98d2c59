"""CableSpring: an elastic cable along a path, slack below a length.

x = l - slack length        T = k x max(0, 1 + c l') where x > 0, else 0        PE = k x^2 / 2

The law of Simbody's CableSpring, and of `TransmissionSpring`, whose range of rest it has from zero to the slack length.
"""

from __future__ import annotations

from ..state.state import State
from ..value import checks
from .subsystem import GeneralForceSubsystem
from .transmission.base import Transmission
from .transmission_spring import TransmissionSpring


class CableSpring(TransmissionSpring):
    """An elastic cable: pulls along a path where that is longer than the slack length.

    Parameters
    ----------
    path : CableSpan or another transmission
        Along which it pulls.
    stiffness : float
        k, zero or more; force by length.
    slack_length : float
        Zero or more; length.
    dissipation : float
        c, zero or more; one over a speed.

    Raises
    ------
    TypeError, ValueError
        If the path is no transmission, or a number not finite.
    ModelError
        If a number is below zero.
    TopologyError
        If the path is made of bodies of another system.

    Notes
    -----
    With x the stretch the tension is k x max(0, 1 + c v): it never pushes. Source: Simbody's CableSpring.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> ground, lower = system.matter.ground, system.matter.bodies["lower"]
    >>> rope = mb.force.transmission.Path(system.forces, [(ground, (0, 1, 0)), (lower, (0, 0, 0))])
    >>> spring = mb.force.CableSpring(system.forces, rope, stiffness=10.0, slack_length=0.5)
    >>> state = system.realize_topology()
    >>> system.realize(state)
    >>> bool(abs(spring.calc_tension(state) - 10.0 * (rope.calc_length(state) - 0.5)) < 1e-12)
    True
    """

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        path: Transmission,
        stiffness: float,
        slack_length: float,
        dissipation: float = 0.0,
        *,
        disabled_by_default: bool = False,
        name: str | None = None,
    ) -> None:
        whose = "a CableSpring" if name is None else repr(name)
        super().__init__(
            forces,
            path,
            stiffness=checks.not_negative(f"stiffness of {whose}", stiffness),
            dissipation=dissipation,
            rest_range=(0.0, checks.not_negative(f"slack_length of {whose}", slack_length)),
            disabled_by_default=disabled_by_default,
            name=name,
        )

    def calc_tension(self, state: State) -> float:
        """With which it pulls, zero or more. Needs VELOCITY."""
        return -self.calc_force(state)
