"""Derivatives by differences: of systems with parts in Python, and of states in which rigid contacts slide."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array
from ..value.stage import Stage
from .equations import solve
from .parts_in_python import Moving

if TYPE_CHECKING:
    from ..state.state import State

#: The step of central differences of fourth order: truncation and rounding are both near 1e-11 of derivatives of order one.
STEP = 5e-4


def note(system: Any, state: State) -> None:
    """Warn the caller of a public method that its derivatives are differences, and why."""
    why, remedy = "has parts written in Python", "parts given as compiled= functions are differentiated exactly"
    if not system.calls_back:
        why = f"has rigid contacts that {'slide in this state' if state.slides else 'may slide'}"
        remedy = "friction that slides has no exact ones"
    warnings.warn(
        f"{system!r} {why}, so that its derivatives are differences, exact to about 1e-8; {remedy}", UserWarning, stacklevel=4
    )


def along(f: Callable[[float], Array], h: float = STEP) -> Array:
    """df/dh at 0."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def _columns(state: State, names: tuple[str, ...], value: Callable[[State], Array]) -> list[Array]:
    """The derivatives of a value of a state by q in its tangent, u, z, and time."""
    nu, other, found = state.tree.nu, state.copy(), []
    sizes = {"q": nu, "u": nu, "z": len(state.z_view), "time": 1}
    for name in names:
        moving, columns = Moving(state, name, np.arange(sizes[name])), []
        for unit in np.eye(sizes[name]):

            def moved(h: float, moving: Moving = moving, unit: Array = unit) -> Array:
                moving.put(other, h * unit)
                return value(other)

            columns.append(along(moved))
        moving.put(other, moving.none)
        found.append(np.array(columns).T.reshape(nu, len(columns)))
    return found


def of_inverse_dynamics(system: Any, state: State, u_dot: Array) -> list[Array]:
    """Derivatives of what is missing for *u_dot*, by q and u."""
    note(system, state)

    def missing(other: State) -> Array:
        system.realize(other, Stage.DYNAMICS)
        return np.array(system.calc_inverse_dynamics(other, u_dot))

    return _columns(state, ("q", "u"), missing)


def of_forward_dynamics(system: Any, state: State, forces: Any = None) -> tuple[Array, Array, Array, Array, Array]:
    """Derivatives of u_dot by q, u, z, mobility forces and time, with *forces* beside those of the elements."""
    note(system, state)

    def u_dot(other: State, push: Any = forces) -> Array:
        system.realize(other, mobility_forces=push)
        return np.array(other.u_dot_view[: state.tree.nu])

    by_q, by_u, by_z, by_time = _columns(state, ("q", "u", "z", "time"), u_dot)
    nu = state.tree.nu
    if state.slides:  # friction follows the normal force, which forces change: the matrix of constraints alone is not enough
        other, now = state.copy(), np.zeros(nu) if forces is None else np.asarray(forces, dtype=float)
        by_forces = np.array([along(lambda h, e=e: u_dot(other, now + h * e)) for e in np.eye(nu)]).T  # type: ignore[misc]
    else:
        by_forces = solve(state, -np.eye(nu), np.zeros((state.tree.counts["num_rows"], nu)))[0]
    return by_q, by_u, by_z, by_forces, by_time[:, 0]
