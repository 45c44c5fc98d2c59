"""ImpactWhen: an impact where a gap closes, by a coefficient of restitution; the whole mechanism feels it.

With g the gap's width, h = dg_dot/du its direction in the mobilities and e the coefficient of restitution, an impulse of size
p along h changes the speeds at once, and reverses the rate of the gap:

    M du = h p - G^T r, G du = 0      g_dot+ = -e g_dot-
    du = d p,  d = M^-1 h - M^-1 G^T (G M^-1 G^T)^+ G M^-1 h      p = -(1 + e) g_dot- / (h d)

No friction. M is that of the free mobilities: what a lock or a motion prescribes keeps its speed. G are the constraints'
equations, whose impulses r pass the impact on.
Source: Glocker 2001, Set-Valued Force Laws, 7 (Newton's impact law in generalized coordinates).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..state.impulses import Impulse
from ..state.state import State
from ..value.checks import among, between, not_negative
from ..value.stage import Stage
from .when import When
from .witness import Witness

#: Bounces whose next flight takes less than this many localization windows are over.
_SHORTEST_FLIGHT = 8.0
#: What constraints leave of a gap's compliance, as a part of it, that is more than rounding.
_LEAST_GIVING = 1e-12
#: Impacts handled at one instant: a chain of bodies that touch passes one on in as many as it has gaps, some over and over.
_MOST_AT_ONCE = 10_000


class ImpactWhen(When):
    """An impact with restitution where a gap closes.

    Parameters
    ----------
    gap : Coordinate, PlaneDistance or Gap
        Positive where the bodies are free: a coordinate above its lower bound (or below its upper one), a point over a
        plane, two balls apart. A `Witness` of a user's own gives `calc_rate`, `calc_direction` and `calc_acceleration`, too.
    restitution : float
        Ratio of the rates of the gap after and before, from 0 to 1.
    at_rest : str
        What happens where bounces have accumulated, and the gap stays closed: ``"end"`` ends the simulation, ``"lock"`` locks
        the mobilizer that a `Coordinate` or `PlaneDistance` is of, until it is unlocked.
    resting_speed : float
        Rate after an impact below which it counts as rest, where the gap is being pressed together. Zero leaves that to the
        resolution: flights shorter than a few localization windows or than two fixed steps, lower than the gap is overrun, or,
        with `BDF`, lower than four times what a step may err by. `ExplicitEuler`, by which bodies that fly gain energy, needs
        longer and higher ones.
    **settings
        As `When`: ``window``, ``absolute_window``, ``name``.

    Raises
    ------
    ValueError
        If a number is out of its range, or *at_rest* is another word.
    TypeError
        If *gap* is a witness without the methods for impacts.

    Notes
    -----
    Where other `ImpactWhen` of the same system are closed at that instant, the impact is passed on, one gap at a time, until
    none is being closed any further: a row of balls that touch does what Newton's cradle does. In between impacts nothing holds
    the bodies: this is for bouncing, not for contact that lasts.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> gravity = mb.force.Gravity(forces, matter, (0, 0, -9.81))
    >>> system.add_event_handler(mb.event.ImpactWhen(mb.event.Coordinate(ball, 2), restitution=0.8))
    >>> state = system.realize_topology()
    >>> ball.set_q(state, (0, 0, 1.0))
    >>> motion = mb.simulate(system, state, 1.0)
    >>> bool(motion.q[:, 2].min() > -1e-3)
    True
    """

    def __init__(
        self, gap: Witness, restitution: float = 1.0, *, at_rest: str = "end", resting_speed: float = 0.0, **settings: Any
    ) -> None:
        for asked in ("calc_direction", "calc_acceleration", "calc_rate"):
            if not isinstance(gap, Witness) or getattr(type(gap), asked) is getattr(Witness, asked):
                raise TypeError(f"{gap!r} is no gap in which there can be an impact: it has no {asked}; use event.Coordinate, "
                                "event.PlaneDistance or event.Gap")  # fmt: skip
        e, rest = between("restitution", restitution, 0.0, 1.0), not_negative("resting_speed", resting_speed)
        among("at_rest", at_rest, ("end", "lock"))
        if at_rest == "lock" and not hasattr(gap, "mobod"):
            raise ValueError(f"at_rest='lock' needs a gap of one mobilizer, which {gap!r} is not; use 'end'")
        super().__init__(gap, rising=False, **settings)
        self._restitution, self.at_rest, self._resting_speed = e, at_rest, rest
        self._why = ""
        #: How short and how low a flight the integrator cannot resolve, and whether its flights gain energy; set by the time
        #: stepper.
        self.resolved = 0.0, 0.0, False

    def get_restitution(self) -> float:
        """The coefficient of restitution."""
        return self._restitution

    def handle_event(self, state: State, accuracy: float) -> bool:
        """Reverse the gap's rate, and pass the impact on to other gaps that are closed."""
        self._why = ""
        system, first = state.system, self.witness.calc_rate(state)
        if first >= 0.0:
            return False
        others = [one for one in system.event_handlers if isinstance(one, ImpactWhen) and one is not self]
        window = {one: one.info.calc_window(accuracy, system.get_default_time_scale()) for one in (self, *others)}
        struck, waiting, impacts = {self: self.witness.calc_value(state)}, [self], 0
        arrived = state.u.copy()
        while waiting:
            for one in waiting:
                one.strike(state)
                impacts += 1
                system.realize(state, Stage.VELOCITY)
            if impacts > _MOST_AT_ONCE:
                raise ConvergenceError(
                    f"{impacts} impacts at time {state.time:.9g} have not driven apart the gaps that are closed: "
                    f"{', '.join(repr(one.name) for one in struck)}; give the bodies room, or a smaller restitution"
                )
            waiting = []
            for one in (self, *others):
                rate = one.witness.calc_rate(state)
                if rate < -1e-10 * abs(first):
                    gap = one.witness.calc_value(state)
                    if gap <= window[one] * abs(first):
                        struck.setdefault(one, gap)
                        waiting.append(one)
        system.realize(state, Stage.ACCELERATION)
        resting = [one for one, gap in struck.items() if one.rests(state, gap, window[one], arrived)]
        for one in resting:
            self._why = f": the bounces of {one.name!r} have come to rest"
            if one.at_rest == "lock":
                one.witness.mobod.lock(state)  # type: ignore[attr-defined]
        return any(one.at_rest == "end" for one in resting)

    def strike(self, state: State) -> None:
        """One impact at this gap."""
        matter, nu = state.system.get_matter_subsystem(), state.tree.nu
        rate = self.witness.calc_rate(state)
        if rate >= 0.0:  # one before it has opened it
            return
        h = self.witness.calc_direction(state)
        change = matter.multiply_by_m_inv(state, h)
        alone = float(h @ change)
        if state.is_constrained:
            r = matter.solve_for_constraint_impulses(state, matter.multiply_by_g(state, change))
            change = change - matter.multiply_by_m_inv(state, matter.multiply_by_g_transpose(state, r))
        size = float(h @ change)
        if not size > _LEAST_GIVING * alone:
            held = "constraints hold it, or " if state.is_constrained else ""
            raise ModelError(
                f"{self.name!r}: nothing that can move takes part in the impact of {self.witness!r} at time {state.time:.9g}; "
                f"{held}all of it is locked or prescribed"
            )
        u, p = state.u.copy(), -(1.0 + self._restitution) * rate / size
        du = p * change
        if state.impulses is not None:
            energy = float((u[:nu] + 0.5 * du) @ matter.multiply_by_m(state, du))
            state.impulses.found.append(Impulse(state.time, self.name, "struck", np.array([p]), energy))
        u[:nu] += du
        state.u = u

    def rests(self, state: State, gap: float, window: float, arrived: Array) -> bool:
        """True if the flight that begins is too short or too low to be resolved; it came with the speeds *arrived*."""
        speed, pull = max(0.0, self.witness.calc_rate(state)), -self.witness.calc_acceleration(state)
        if pull <= 0.0:
            return False
        shortest, lowest, gains = self.resolved
        if gains and self._restitution < 1.0:  # flights shrink until they gain by the method what the impact takes
            lost = 1.0 - self._restitution**2
            shortest, lowest = shortest / lost, lowest / lost**2
        # distances are of positions, which are rounded; a gap overrun by less than that is not known to be closed
        rounding = 16.0 * np.finfo(float).eps * max(np.abs(state.q).max(), np.abs(state.record.p_GB).max())
        overrun = max(rounding, -gap)
        return (
            speed <= self._resting_speed
            or speed**2 <= 8.0 * pull * overrun  # it would rise to less than four times that
            or 2.0 * speed <= max(_SHORTEST_FLIGHT * window, shortest) * pull
            or speed**2 <= 2.0 * min(pull, self._pull_at(state, arrived)) * lowest
        )

    def _pull_at(self, state: State, u: Array) -> float:
        """Acceleration that closes the gap at speeds *u*; before an impact, stiff springs and dampers do not feel it yet."""
        now = state.u.copy()
        state.u = u
        state.system.realize(state, Stage.ACCELERATION)
        pull = -self.witness.calc_acceleration(state)
        state.u = now
        state.system.realize(state, Stage.ACCELERATION)
        return pull
