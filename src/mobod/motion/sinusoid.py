"""Sinusoid: every coordinate, speed or acceleration of a mobilizer is the same sinusoidal function of time.

m(t) = a sin(w t + p)      q = m, or u = m, or udot = m, by level

At level POSITION q_dot = m', hence u = N^-1 m' and udot = N^-1 (m'' - NDot u).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..algebra.scalar import load, sincos, store
from ..compiling import routine
from ..mobilizer import q_rates
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..value.checks import finite
from ..value.level import Level, level_of
from .base import Motion
from .protocol import ACCELERATION, POSITION, SET_Q, SET_U, VELOCITY

NAN = float("nan")


@routine
def move(model: Any, b: int, what: int) -> int:
    """The routine for body b, see `protocol`."""
    x, level = model.first_motion_number[b], model.prescribed_level[b]
    i, k, nq, nu = model.first_q[b], model.first_u[b], model.num_q[b], model.num_u[b]
    a, w, p = load(model.motion_numbers, x, 0), load(model.motion_numbers, x + 1, 0), load(model.motion_numbers, x + 2, 0)
    s, c = sincos(w * load(model.time, 0, 0) + p)
    m, m_dot, m_dot_dot = a * s, a * w * c, -a * w * w * s
    if what == SET_Q:
        for j in range(nq):
            store(model.q, i + j, 0, m)
    elif model.rates[b] == q_rates.SAME:  # no N to go through
        if level == POSITION:
            m, m_dot = m_dot, m_dot_dot
        if what == SET_U:
            for j in range(nu):
                store(model.u, k + j, 0, m)
        else:
            if level != ACCELERATION:
                m = m_dot
            for j in range(nu):
                store(model.known_u_dot, k + j, 0, m)
    elif what == SET_U:
        if level == POSITION:
            for j in range(nq):
                store(model.q_dot, i + j, 0, m_dot)
            q_rates.n_inv_times(model, b, model.q_dot, i, model.u, k)
        else:
            for j in range(nu):
                store(model.u, k + j, 0, m)
    elif level == POSITION:
        q_rates.n_times(model, b, model.u, k, model.q_dot, i)
        q_rates.n_dot_times(model, b, model.u, k, model.work_q, i)
        for j in range(nq):
            store(model.work_q, i + j, 0, m_dot_dot - load(model.work_q, i + j, 0))
        q_rates.n_inv_times(model, b, model.work_q, i, model.known_u_dot, k)
        if nq != nu:  # equal numbers are no quaternion, nor the angles of a line: realization raises
            store(model.known_u_dot, k, 0, NAN)
    else:
        if level == VELOCITY:
            m = m_dot
        for j in range(nu):
            store(model.known_u_dot, k + j, 0, m)
    return 0


class Sinusoid(Motion):
    """Prescribe a sinusoidal function of time, amplitude sin(rate t + phase), for all coordinates (or speeds) alike.

    Parameters
    ----------
    mobod : MobilizedBody
        The body whose mobilizer it governs.
    level : Motion.Level or str
        Whether q, u or udot is that function: ``"position"``, ``"velocity"`` or ``"acceleration"``. A position is not for
        mobilizers with more q than u, such as an orientation by a quaternion, whose four numbers cannot be equal: choose
        angles (`SimbodyMatterSubsystem.set_use_euler_angles`) or another level. States in which it cannot be followed are
        refused by `MultibodySystem.prescribe` and when realized.
    amplitude : float
        Its largest value; angle or length, by time or time^2 at the other levels.
    rate : float
        Angular frequency, angle/time.
    phase : float
        Angle at time 0.

    Raises
    ------
    TypeError, ValueError
        If *level* is none of the three, or a number not finite.
    ModelError
        If the body has a motion already, or no mobilities.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> upper = system.matter.bodies[1]
    >>> motion = mb.motion.Sinusoid(upper, "position", 0.5, 2.0, 0.0)
    >>> state = system.realize_topology()
    >>> state.time = 0.4
    >>> system.prescribe(state)
    True
    >>> round(upper.get_q(state), 6)  # 0.5 sin(0.8)
    0.358678
    """

    routine = move
    names_of_numbers = ("amplitude", "rate", "phase")

    def __init__(self, mobod: MobilizedBody, level: Level | str, amplitude: float, rate: float, phase: float) -> None:
        self._level = level_of("a Sinusoid", level)
        given = {"amplitude": amplitude, "rate": rate, "phase": phase}
        self._numbers = tuple(finite(f"the {what} of a Sinusoid", value) for what, value in given.items())
        super().__init__(mobod)

    def pack_numbers(self) -> Sequence[float]:
        return self._numbers

    def objection(self, state: State) -> str | None:
        body = self.mobod
        q, u = body.get_num_q(state), body.get_num_u(state)
        if self._level is not Level.POSITION or q == u:
            return None
        remedy = "prescribe the velocity"
        if body.index in state.tree.quaternions and q - 1 == u:
            remedy = f"choose angles with matter.set_use_euler_angles(state, True), or {remedy}"
        return f"{self!r} would set all {q} coordinates to the same value, of which only {u} are independent; {remedy}"
