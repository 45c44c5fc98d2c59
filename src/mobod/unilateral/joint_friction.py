"""JointFriction: dry friction of a mobility, of a given normal force times a radius or factor."""

from __future__ import annotations

from collections.abc import Callable

from ..constraint import ConstantSpeed
from ..errors import ModelError
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value import checks
from .state_limited_friction import StateLimitedFriction


class JointFriction(StateLimitedFriction):
    """Dry friction of a joint, which its normal force limits.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it is.
    which_u : int
        Which of its speeds, from 0.
    normal_force : float or callable
        Zero or more; or a function of the state at VELOCITY. Of an angle it is a force times the radius of the bearing.
    static_friction : float
    dynamic_friction, viscous_friction : float, optional
        As of a `UnilateralContact`.
    name : str, optional

    Notes
    -----
    `integrator.TimeStepping` takes it into account; other integrators leave it out, unless `enable` makes it stick.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.contact.JointFriction(system.matter.bodies["lower"], 0, 10.0, 0.1)
    >>> state = system.realize_topology()
    >>> motion = mb.simulate(system, state, 0.1, integrator=mb.integrator.TimeStepping(system, fixed_step_size=0.01))
    >>> float(motion.time[-1])
    0.1
    """

    stick: ConstantSpeed

    def __init__(
        self,
        mobod: MobilizedBody,
        which_u: int,
        normal_force: float | Callable[[State], float],
        static_friction: float,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        *,
        name: str | None = None,
    ) -> None:
        self._normal_force = (
            normal_force if callable(normal_force) else checks.not_negative("normal_force of a JointFriction", normal_force)
        )
        if type(self) is JointFriction and not callable(self._normal_force):
            self.known_force = self._normal_force
        own = mobod.get_matter_subsystem().name_of_contact("JointFriction", name)
        stick = ConstantSpeed(mobod, which_u, 0.0, disabled_by_default=True, name=f"{own}: stick")
        super().__init__(
            stick,
            static_friction=static_friction,
            dynamic_friction=dynamic_friction,
            viscous_friction=viscous_friction,
            name=own,
        )

    def get_normal_force_magnitude(self, state: State) -> float:
        if not callable(self._normal_force):
            return self._normal_force
        force = checks.number(f"normal_force of {self.name!r}", self._normal_force(state))
        if not 0.0 <= force < float("inf"):
            raise ModelError(f"normal_force of {self.name!r} has to be zero or more and finite, got {force!r}")
        return force

    def get_slip_speed(self, state: State) -> float:
        mobod = self.stick.constrained_mobilizers[0]
        return abs(float(mobod.get_u_as_vector(state)[self.stick.which_coordinate]))
