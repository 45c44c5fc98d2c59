"""StateLimitedFriction: Coulomb friction limited by a normal force that is known from the state, not found with the motion.

    |f| <= mu N(state), and f opposes the slip where there is any

It owns a constraint of velocities that holds the slip at zero, which is off unless it sticks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..constraint.base import Constraint
from ..errors import ModelError
from ..value import checks
from ..value.attributes import Sealed
from .base import friction_coefficients

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem


class StateLimitedFriction(Sealed):
    """Friction of known normal force. Base class of the kinds in `mobod.contact`.

    Parameters
    ----------
    stick : Constraint
        Holds the slip at zero, by one or two equations of velocities; switched off by default.
    static_friction, dynamic_friction, viscous_friction : float
        Coefficients, as of a `UnilateralContact`.
    name : str, optional

    Raises
    ------
    ModelError
        If *stick* has more than two equations.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> part = mb.contact.JointFriction(system.matter.bodies["lower"], 0, 10.0, 0.1)
    >>> isinstance(part, mb.StateLimitedFriction)
    True
    """

    INNER = frozenset({"coefficients", "known_force", "stick"})

    #: The normal force where that depends on nothing, so that kernels know it.
    known_force: float | None = None

    def __init__(
        self,
        stick: Constraint,
        *,
        static_friction: float,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        name: str | None = None,
    ) -> None:
        equations = sum(stick.number_of_equations)
        if equations > 2:
            raise ModelError(
                f"friction has one or two directions; the constraint {stick.name!r}, which is to hold its slip, "
                f"has {equations} equations: give one of one or two, or several frictions"
            )
        self.matter: SimbodyMatterSubsystem = stick.matter
        self.stick = stick
        self.coefficients = friction_coefficients(name or "friction", static_friction, dynamic_friction, viscous_friction)
        self._index, self._name = self.matter.adopt_state_limited_friction(self, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def get_state_limited_friction_index(self) -> int:
        """Its place among the elements of this sort."""
        return self._index

    def enable(self, state: State, *, impulse: bool = True) -> bool:
        """Forbid slip in this state; whether that changes anything. Needs MODEL.

        In a run slip ends by an impulse unless *impulse* is False, see `Constraint.enable`.
        """
        if not self.stick.is_disabled(state):
            return False
        self.stick.enable(state, impulse=impulse)
        return True

    def disable(self, state: State) -> bool:
        """Make it slip in this state; True if that changes anything. Needs MODEL."""
        if self.stick.is_disabled(state):
            return False
        self.stick.disable(state)
        return True

    def is_enabled(self, state: State) -> bool:
        """True if slip is forbidden in this state. Needs MODEL."""
        return not self.stick.is_disabled(state)

    def get_normal_force_magnitude(self, state: State) -> float:
        """The normal force, zero or more."""
        raise NotImplementedError

    def calc_effective_cof(self, state: State, default_transition_speed: float, slip_speed: float) -> float:
        """The coefficient of friction at a speed of slip: static up to the transition speed, then dynamic and viscous."""
        static, dynamic, viscous = self.coefficients
        speed = checks.not_negative("slip_speed", slip_speed)
        limit = checks.not_negative("default_transition_speed", default_transition_speed)
        return static if speed <= limit else dynamic + viscous * speed

    def get_slip_speed(self, state: State) -> float:
        """The speed of slip, zero or more. Needs VELOCITY."""
        raise NotImplementedError
