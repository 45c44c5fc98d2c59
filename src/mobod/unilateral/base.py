"""UnilateralContact: what every kind of rigid contact shares.

A contact owns constraints that are off unless it is closed: one that holds the normal direction, and where there is friction
one that holds the tangential directions as well. With J_n, J_x, J_y the rows of these, turned so that J_n u > 0 opens the gap,

    gap >= 0,  gamma_n >= 0,  gap gamma_n = 0        |gamma_t| <= mu gamma_n, and gamma_t opposes the slip where there is any

A new kind is a file beside this one: a class whose constructor makes the constraints and passes them to `UnilateralContact`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..constraint.base import Constraint
from ..errors import ModelError
from ..tree.sliding import UNKNOWN_SLIP
from ..value import checks
from ..value.attributes import Sealed
from . import _rows

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem

#: Approach slower than this is no impact, unless a contact says otherwise; length/time or angle/time.
CAPTURE_SPEED = 0.01
#: Slip slower than this has the static coefficient of friction, unless a contact says otherwise; length/time.
TRANSITION_SPEED = 0.01


class UnilateralContact(Sealed):
    """A gap that cannot be negative, with restitution and Coulomb friction. Base class of the kinds in `mobod.contact`.

    Parameters
    ----------
    normal : Constraint
        Holds the gap at zero, in its first equation; switched off by default.
    rolling : Constraint, optional
        The same with two equations of velocities that forbid slip; where it is left out there is no friction.
    sign : int
        1 where the position error of *normal* is the gap, -1 where it is minus the gap.
    restitution : float
        From 0 to 1.
    static_friction, dynamic_friction, viscous_friction : float
        Coefficients; the dynamic one is the static one unless given, and not above it. The viscous one, times the speed of
        slip, is added to the dynamic one; time/length.
    name : str, optional

    Raises
    ------
    ModelError
        If a coefficient is out of its range.

    Notes
    -----
    Users make one of the kinds. A contact becomes part of the matter subsystem when it is made.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> floor = mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 0.1, 0.5)
    >>> isinstance(floor, mb.UnilateralContact)
    True
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 0.5))
    >>> system.realize(state, mb.Stage.POSITION)
    >>> floor.is_proximal(state, 0.01)
    False
    """

    INNER = frozenset(
        {"find_bound", "find_knot", "friction_at", "is_within", "may_be_beside", "normal", "numbers", "rolling", "rows_of"}
    )

    #: Whether `is_within` has to be asked.
    may_be_beside = False
    #: Of a gap by a table: a function of a state, at POSITION, that rises or falls by one from one knot to the next.
    find_knot: Callable[[State], float] | None = None
    #: Of such a gap: the integers and numbers of `open_gap.look_from_above`.
    find_bound: Callable[[State], tuple[list[int], list[float]]]

    def __init__(
        self,
        normal: Constraint,
        rolling: Constraint | None = None,
        *,
        sign: int = 1,
        restitution: float = 0.0,
        static_friction: float = 0.0,
        dynamic_friction: float | None = None,
        viscous_friction: float = 0.0,
        name: str | None = None,
    ) -> None:
        such_as = "mobod.constraint.PointInPlane(...)"
        checks.instance(f"normal of {type(self).__name__}", normal, Constraint, such_as)
        if rolling is not None:
            checks.instance(f"rolling of {type(self).__name__}", rolling, Constraint, such_as)
        self.matter: SimbodyMatterSubsystem = normal.matter
        self.normal, self.rolling, self._sign = normal, rolling, checks.integer("sign", sign, -1, 1)
        normal.slides_along = rolling
        if self._sign == 0:
            raise ValueError("sign has to be 1 or -1, got 0")
        #: Restitution, capture speed, three coefficients of friction, transition speed; kernels look at them where they are.
        self.numbers = np.zeros(6)
        self.set_restitution(restitution)
        self.numbers[2:5] = friction_coefficients(name or "a contact", static_friction, dynamic_friction, viscous_friction)
        self.numbers[[1, 5]] = CAPTURE_SPEED, TRANSITION_SPEED
        self._full_speed: float | None = None
        self._index, self._name = self.matter.adopt_unilateral_contact(self, name)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._name!r}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    def get_unilateral_contact_index(self) -> int:
        """Its place among the unilateral contacts."""
        return self._index

    def get_matter_subsystem(self) -> SimbodyMatterSubsystem:
        """The subsystem it is part of."""
        return self.matter

    def get_sign_convention(self) -> int:
        """1 where the position error is the gap, -1 where it is minus the gap."""
        return self._sign

    # ------------------------------------------------------------------------------------------ on and off

    def enable(self, state: State, *, impulse: bool = True) -> bool:
        """Close it in this state, without slip where it has friction; whether that changes anything. Needs MODEL.

        In a run speeds change by an impulse unless *impulse* is False, see `Constraint.enable`.
        """
        before = self._which_enabled(state)
        wanted = self.normal if self.rolling is None else self.rolling
        if before is wanted:
            return False
        if before is not None:
            before.disable(state)
        wanted.enable(state, impulse=impulse)
        self._slide(state, None)
        return True

    def enable_sliding(self, state: State, direction: Any, *, impulse: bool = True) -> bool:
        """Close it in this state, and let it slip along a *direction* ``(2,)`` of the contact plane, against friction.

        Friction then has its dynamic coefficient, opposes the slip, or where that is zero *direction*. Needs MODEL. In a run
        what slips closes by an impulse unless *impulse* is False.
        """
        if self.rolling is None:
            raise ModelError(f"enable_sliding: {self!r} has no friction; use enable")
        d = checks.array(f"direction of {self._name!r}", direction, (2,))
        size = float(np.hypot(*d))
        if size == 0.0:
            raise ModelError(f"direction of {self._name!r} cannot be zero, got {direction!r}")
        before = self._which_enabled(state)
        changed = before is not self.normal
        if changed and before is not None:
            before.disable(state)
        self.normal.enable(state, impulse=impulse)
        self._slide(state, d / size)
        return changed

    def disable(self, state: State) -> bool:
        """Open it in this state; whether that changes anything. Needs MODEL."""
        before = self._which_enabled(state)
        self._slide(state, None)
        if before is None:
            return False
        before.disable(state)
        return True

    def is_enabled(self, state: State) -> bool:
        """True if it is closed in this state. Needs MODEL."""
        return self._which_enabled(state) is not None

    def is_sliding(self, state: State) -> bool:
        """True if it is closed and slips, so that friction is that of slip. Needs MODEL."""
        return self.get_sliding_direction(state) is not None

    def get_sliding_direction(self, state: State) -> Array | None:
        """The direction ``(2,)`` given to `enable_sliding`; None where it does not slide. Needs MODEL."""
        if self.rolling is None or state.field("friction_rows")[self.normal.index] < 0 or not self.is_enabled(state):
            return None
        return state.record.slip_memory[self.normal.index, :2].copy()

    def _which_enabled(self, state: State) -> Constraint | None:
        for one in (self.rolling, self.normal):
            if one is not None and not one.is_disabled(state):
                return one
        return None

    def _slide(self, state: State, direction: Array | None) -> None:
        if direction is not None:
            self.matter.let_slide(state, self.normal, self.memory_of_slip(direction))
        elif state.field("friction_rows")[self.normal.index] >= 0:
            self.matter.let_slide(state, self.normal, None)

    def memory_of_slip(self, direction: Array, unknown: float = 0.0) -> tuple[float, ...]:
        """The row of `slip_memory` where it slides along a *direction* of length 1, as slip up to *unknown* always does."""
        _, dynamic, viscous = self.numbers[2:5].tolist()
        return (*direction.tolist(), dynamic, viscous, float(self._sign), 0.0, unknown)

    # ------------------------------------------------------------------------------------------ errors

    def rows_of(self) -> Constraint:
        """The constraint whose rows it has: that with friction, where it has any."""
        return self.normal if self.rolling is None else self.rolling

    def get_perr(self, state: State) -> float:
        """The position error, whether enabled or not: the gap times `get_sign_convention`. Needs POSITION."""
        state.need_positions(self.matter.ground, f"get_perr of {self._name!r}")
        return float(_rows.find_error(state.block, self.normal.index))

    def get_verr(self, state: State) -> float:
        """Its rate. Needs VELOCITY."""
        return float(self._rates(state, "get_verr")[0])

    def get_aerr(self, state: State) -> float:
        """Its second rate. Needs ACCELERATION."""
        return float(self._second_rates(state, "get_aerr")[0])

    def _rates(self, state: State, asked: str) -> Array:
        self.matter.velocities(state, f"{asked} of {self._name!r}")
        rates = np.zeros(3)
        _rows.find_rates(state.block, self.rows_of().index, rates)
        return rates

    def _second_rates(self, state: State, asked: str) -> Array:
        self.matter.accelerations(state, f"{asked} of {self._name!r}")
        rates, which = np.zeros(3), np.array([self.rows_of().index], np.int64)
        _rows.find_second_rates(state.block, which, np.zeros(1, np.int64), rates)
        return rates

    def calc_gap(self, state: State) -> float:
        """Signed distance, negative where it is violated, whether enabled or not; length or angle. Needs POSITION."""
        return self._sign * self.get_perr(state)

    def calc_gap_rate(self, state: State) -> float:
        """Its rate, negative where the gap closes. Needs VELOCITY."""
        return self._sign * self.get_verr(state)

    def calc_gap_acceleration(self, state: State) -> float:
        """Its second rate. Needs ACCELERATION."""
        return self._sign * self.get_aerr(state)

    def is_proximal(self, state: State, tolerance: float) -> bool:
        """True if the gap is at most *tolerance*, so that it counts as closed. Needs POSITION."""
        return self.calc_gap(state) <= tolerance and self.is_within(state)

    def is_within(self, state: State) -> bool:
        """True if what touches is within the extent of the bodies: always, unless a kind says otherwise."""
        return True

    # ------------------------------------------------------------------------------------------ forces

    def get_contact_multiplier_index(self, state: State) -> int:
        """The place of its normal multiplier among the state's; -1 where it is not enabled. Needs MODEL."""
        one = self._which_enabled(state)
        return -1 if one is None else one.get_index_of_multipliers_in_use(state)[0]

    def get_friction_multiplier_indices(self, state: State) -> tuple[int, int]:
        """The places of the multipliers that forbid slip; -1 where it is open, slides or has no friction. Needs MODEL."""
        if self.rolling is None or self.rolling.is_disabled(state):
            return -1, -1
        first = self.rolling.get_index_of_multipliers_in_use(state)[1]
        return first, first + 1

    def calc_normal_force(self, state: State) -> float:
        """The force that keeps the gap open; zero where it is not enabled. Needs ACCELERATION.

        `integrator.TimeStepping` enables none: its forces are impulses of steps, see its ``get_contact_impulses()``.
        """
        one = self._which_enabled(state)
        return 0.0 if one is None else -self._sign * float(one.get_multipliers_as_vector(state)[0])

    def calc_friction_force(self, state: State) -> Array:
        """Friction ``(2,)`` on the second body, along x and y of the contact frame. Needs ACCELERATION."""
        if self.rolling is None:
            return np.zeros(2)
        if not self.rolling.is_disabled(state):
            return 0.0 - self.rolling.get_multipliers_as_vector(state)[1:]
        if not self.is_sliding(state):
            return np.zeros(2)
        self.matter.accelerations(state, f"calc_friction_force of {self._name!r}")
        return state.record.slip_forces[self.normal.index].copy()

    def calc_slip_direction(self, state: State) -> Array | None:
        """The direction ``(2,)`` in which it slips; None where it does not slide. Needs VELOCITY."""
        direction = self.get_sliding_direction(state)
        if direction is None:
            return None
        x, y = slip = self.get_slip_velocity(state)
        size, unknown = float(np.hypot(x, y)), state.record.slip_memory[self.normal.index, UNKNOWN_SLIP]
        along = slip @ direction + abs(x * direction[1] - y * direction[0])  # as `tree.sliding` has it
        return slip / size if size > unknown and along > 0.0 else direction

    # ------------------------------------------------------------------------------------------ friction

    def has_friction(self, state: State | None = None) -> bool:
        """True if there is friction."""
        return self.rolling is not None

    def get_static_friction(self) -> float:
        """The coefficient below the transition speed."""
        return float(self.numbers[2])

    def get_dynamic_friction(self) -> float:
        """The coefficient above it."""
        return float(self.numbers[3])

    def get_viscous_friction(self) -> float:
        """The addition to it by speed of slip; time/length."""
        return float(self.numbers[4])

    def set_friction(self, static: float, dynamic: float | None = None, viscous: float = 0.0) -> None:
        """Change the coefficients. `ModelError` where it was made without friction and has no equations for it.

        In a state in which it slides they are as they were when that began.
        """
        found = friction_coefficients(self._name, static, dynamic, viscous)
        if self.rolling is None and any(found):
            raise ModelError(f"{self!r} was made without friction; make it with static_friction")
        self.numbers[2:5] = found

    def get_transition_speed(self) -> float:
        """Slip slower than this has the static coefficient in impacts and in `TimeStepping`; length/time."""
        return float(self.numbers[5])

    def set_transition_speed(self, speed: float) -> None:
        """Change it; zero or more."""
        self.numbers[5] = checks.not_negative(f"transition speed of {self._name!r}", speed)

    def calc_effective_cof(self, state: State, default_transition_speed: float, slip_speed: float) -> float:
        """The coefficient of friction at a speed of slip: the static one up to the transition speed, then dynamic and viscous.

        *default_transition_speed* counts, as in Simbody, unless the contact has one of its own; length/time.
        """
        static, dynamic, viscous = self.numbers[2:5].tolist()
        speed = checks.not_negative("slip_speed", slip_speed)
        limit = checks.not_negative("default_transition_speed", default_transition_speed)
        return static if speed <= limit else dynamic + viscous * speed

    def friction_at(self, speed: float) -> float:
        """The coefficient at a speed of slip, zero or more, with the contact's own transition speed."""
        static, dynamic, viscous, transition = self.numbers[2:].tolist()
        return static if speed <= transition else dynamic + viscous * speed

    def get_slip_velocity(self, state: State) -> Array:
        """Velocity ``(2,)`` of the second body's point relative to the first's, along x and y. Needs VELOCITY."""
        if self.rolling is None:
            raise ModelError(f"get_slip_velocity: {self!r} has no friction")
        return self._rates(state, "get_slip_velocity")[1:]

    # ------------------------------------------------------------------------------------------ restitution

    def get_restitution(self) -> float:
        """The coefficient of restitution of impacts that are fast enough."""
        return float(self.numbers[0])

    def set_restitution(self, restitution: float) -> None:
        """Change it; from 0 to 1."""
        self.numbers[0] = checks.between("restitution", restitution, 0.0, 1.0)

    def get_capture_speed(self) -> float:
        """Approach slower than this is no impact: what touches stays. Length/time or angle/time; 0.01 unless set."""
        return float(self.numbers[1])

    def set_capture_speed(self, speed: float) -> None:
        """Change it; zero or more."""
        self.numbers[1] = checks.not_negative(f"capture speed of {getattr(self, '_name', 'a contact')!r}", speed)

    def get_min_cor_speed(self) -> float:
        """The speed of impact from which the restitution is `get_restitution`: the capture speed unless set."""
        capture = self.get_capture_speed()
        return capture if self._full_speed is None else max(self._full_speed, capture)

    def set_min_cor_speed(self, speed: float | None) -> None:
        """Change it: between it and the capture speed the restitution rises linearly as impacts get slower, as in Simbody."""
        self._full_speed = None if speed is None else checks.not_negative(f"min_cor_speed of {self._name!r}", speed)

    def calc_effective_cor(
        self, state: State, default_capture_speed: float, default_min_cor_speed: float, impact_speed: float
    ) -> float:
        """The coefficient of restitution at a speed of impact.

        Zero up to the capture speed, `get_restitution` from *default_min_cor_speed* on, 1 - (1 - e) v / that speed between.
        """
        speed = checks.not_negative("impact_speed", impact_speed)
        capture = checks.not_negative("default_capture_speed", default_capture_speed)
        full = checks.not_negative("default_min_cor_speed", default_min_cor_speed)
        if speed <= capture:
            return 0.0
        e = self.get_restitution()
        return e if speed >= full else 1.0 - (1.0 - e) / full * speed

    # ------------------------------------------------------------------------------------------ where

    def where_to_display(self, state: State) -> Array:
        """A point in Ground ``(3,)`` where it is. Needs POSITION."""
        body = self.normal.constrained_bodies[-1] if self.normal.constrained_bodies else self.normal.constrained_mobilizers[0]
        return np.array(body.get_body_transform(state).p)


def friction_coefficients(
    name: str, static: float, dynamic: float | None = None, viscous: float = 0.0
) -> tuple[float, float, float]:
    """The three coefficients, checked."""
    mu_s = checks.not_negative(f"static_friction of {name!r}", static)
    mu_d = mu_s if dynamic is None else checks.not_negative(f"dynamic_friction of {name!r}", dynamic)
    if mu_d > mu_s:
        raise ModelError(f"dynamic_friction of {name!r} cannot exceed static_friction, got {dynamic!r} and {static!r}")
    return mu_s, mu_d, checks.not_negative(f"viscous_friction of {name!r}", viscous)
