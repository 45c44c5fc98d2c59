"""Surfaces that start deep in each other: which they are, and a start near by at which they only touch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.state import State
from ..value import checks
from ..value.stage import Stage

#: Of the least half length of the smaller of two surfaces, the depth from which on they are said to be deep in each other.
DEEP = 0.2
#: The same, of the largest half length of all, of what is taken for touching unless it is said.
_TOUCHING = 1e-6
#: So many times bodies are moved.
_ROUNDS = 100
#: In a message, the most pairs that are named.
_NAMED = 5


def separate(state: State, *, max_depth: float | None = None) -> State:
    """Find a start near by at which surfaces that overlap only touch.

    Bodies are moved, the light ones more than the heavy, until no two surfaces overlap by more than *max_depth*: again and
    again by the smallest displacement, weighed by the mass matrix, that takes all points of contact apart as far as they are
    deep. Locked and prescribed coordinates stay, and constraints hold.

    Parameters
    ----------
    state : State
        Where surfaces overlap; left as it is.
    max_depth : float, optional
        What is still called touching, above zero; a millionth of the largest surface's half length unless given. Length.

    Returns
    -------
    State
        A copy with other q, realized to VELOCITY.

    Raises
    ------
    ModelError
        If there is no such start to be found, with the two that remain in each other; if the system has no contacts.

    Notes
    -----
    With A the rates of the distances by u, d the depths and P the constraints' matrix, the displacement v is the least of
    v^T M v with A v >= d and P v = 0. Its multipliers solve a problem of non-negative least squares (Lawson and Hanson 1974,
    chapter 23).

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> sphere = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    >>> ball = mb.mobilizer.Translation(matter.ground, sphere)
    >>> rubber = mb.contact.Material(1e6)
    >>> floor = matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    >>> skin = ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
    >>> contacts = mb.CompliantContactSubsystem(system)
    >>> state = system.realize_topology()
    >>> ball.set_translation(state, (0, 0, 0.05))
    >>> apart = mb.contact.separate(state)
    >>> ball.get_translation(apart).round(4)
    array([0. , 0. , 0.1])
    """
    if not hasattr(state, "record"):
        raise TypeError(f"separate takes a State, not {state!r}")
    system: Any = state.system
    contacts, matter = _contacts_of(system), system.get_matter_subsystem()
    if contacts is None:
        raise ModelError(f"separate needs a system with a CompliantContactSubsystem, and {system!r} has none")
    limit = _touching_depth(contacts) if max_depth is None else checks.positive("max_depth", max_depth)
    state = state.copy()
    if state.stage < Stage.MODEL:
        system.realize_model(state)
    system.prescribe(state)
    system.project_q(state)
    for _ in range(_ROUNDS):
        system.realize(state, Stage.VELOCITY)
        rows = contacts.get_contact_points(state)
        if not len(rows) or rows["depth"].max() <= limit:
            return state
        step = _smallest_step(state, matter, rows, limit)
        if not np.abs(step).max(initial=0.0) > 0.0:
            break
        q = state.q.copy()
        moved = matter.multiply_by_n(state, False, step)
        q[: len(moved)] += moved
        state.q = q
        system.project_q(state)
    system.realize(state, Stage.VELOCITY)
    worst = contacts.get_contacts(state)
    row = worst[np.argmax(worst["depth"])]
    one, other = (contacts.surfaces[row[name]].name for name in ("surface1", "surface2"))
    raise ModelError(
        f"no start is found at which all surfaces only touch: {one!r} and {other!r} remain {row['depth']:.3g} deep in each "
        "other; start elsewhere, free what is locked, or exclude the two bodies"
    )


def find_deep(state: State) -> list[tuple[str, str, float]]:
    """Names of surfaces that are deep in each other, and how deep, the deepest first; the state is realized to VELOCITY."""
    system: Any = state.system
    contacts = _contacts_of(system)
    if contacts is None:
        return []
    system.realize(state, Stage.VELOCITY)
    rows, found = contacts.get_contacts(state), []
    placed = contacts.surfaces if len(rows) else ()
    for row in rows:
        pair = [placed[row[name]] for name in ("surface1", "surface2")]
        if row["depth"] > DEEP * min(_half_lengths(one)[0] for one in pair):
            found.append((pair[0].name, pair[1].name, float(row["depth"])))
    return sorted(found, key=lambda one: -one[2])


def say_deep(deep: list[tuple[str, str, float]]) -> str:
    """A sentence on these."""
    told = "; ".join(f"{one!r} and {other!r} by {depth:.3g}" for one, other, depth in deep[:_NAMED])
    more = f"; and {len(deep) - _NAMED} pairs more" if len(deep) > _NAMED else ""
    return (
        f"surfaces start deep in each other: {told}{more}. They will be thrown apart; start elsewhere, exclude the bodies, or "
        "let mb.contact.separate(state) find a start at which they touch"
    )


def _contacts_of(system: Any) -> Any:
    """The subsystem of contacts, of a room above this one; None where there is none."""
    return next((one for one in system.subsystems if hasattr(type(one), "get_contacts")), None)


def _half_lengths(placed: Any) -> tuple[float, float]:
    """The least and the greatest half length of a surface; infinity and zero of one without end."""
    shape = placed.surface.geometry
    if shape.is_unbounded:
        return math.inf, 0.0
    sides = [float(x) for x in shape.bounds().half_lengths]
    return min(sides), max(sides)


def _touching_depth(contacts: Any) -> float:
    return _TOUCHING * max((_half_lengths(one)[1] for one in contacts.surfaces), default=1.0)


def _smallest_step(state: State, matter: Any, rows: Any, limit: float) -> Array:
    """The displacement (nu,) that takes all points apart, to first order."""
    from scipy.optimize import nnls

    rows = rows[rows["depth"] > 0.5 * limit]
    inverse = matter.calc_m_inv(state)
    A = np.zeros((len(rows), len(inverse)))
    for name, sign in (("body1", -1.0), ("body2", 1.0)):
        for i, row in enumerate(rows):
            body = matter.bodies[int(row[name])]
            if not body.is_ground():
                X_GB = body.get_body_transform(state)
                station = np.asarray(X_GB.R).T @ (row["point"] - X_GB.p)
                A[i] += sign * row["normal"] @ matter.calc_station_jacobian(state, body, station)
    P = matter.calc_p(state)
    if len(P):
        across = inverse @ P.T
        inverse = inverse - across @ np.linalg.pinv(P @ across, rcond=1e-10) @ across.T
    W = A @ inverse @ A.T
    size = float(np.trace(W))
    if not size > 0.0:
        return np.zeros(A.shape[1])
    # several points of one face say the same: a little is added, which leaves the rest to the next round
    L = np.linalg.cholesky(W + 1e-9 * size * np.eye(len(W)))
    depth = rows["depth"] - 0.25 * limit
    multipliers = nnls(L.T, np.linalg.solve(L, depth))[0]
    return np.asarray(inverse @ (A.T @ multipliers))
