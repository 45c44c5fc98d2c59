"""Derivatives by differences: of systems with parts in Python."""

from __future__ import annotations

import functools
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


def note(system: Any) -> None:
    """Warn the caller of a public method that its derivatives are differences, and why."""
    warnings.warn(
        f"{system!r} has parts written in Python, so that its derivatives are differences, exact to about 1e-8; parts given as "
        "compiled= functions are differentiated exactly",
        UserWarning,
        stacklevel=4,
    )


def along(f: Callable[[float], Array], h: float = STEP) -> Array:
    """df/dh at 0."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def columns(f: Callable[[int, float], Array], n: int, size: int) -> Array:
    """The derivatives ``(size, n)`` at h = 0 of f(k, h), ``(size,)``, a column each k."""
    return np.array([along(functools.partial(f, k)) for k in range(n)]).reshape(n, size).T


def _by_variables(state: State, names: tuple[str, ...], value: Callable[[State], Array]) -> list[Array]:
    """The derivatives of a value of a state by q in its tangent, u, z, and time."""
    nu, other, found = state.tree.nu, state.copy(), []
    sizes = {"q": nu, "u": nu, "z": len(state.z_view), "time": 1}
    for name in names:
        moving = Moving(state, name, np.arange(sizes[name]))

        def moved(k: int, h: float, moving: Moving = moving) -> Array:
            moving.put(other, h * np.eye(len(moving.none))[k])
            return value(other)

        found.append(columns(moved, sizes[name], nu))
        moving.put(other, moving.none)
    return found


def of_inverse_dynamics(system: Any, state: State, u_dot: Array) -> list[Array]:
    """Derivatives of what is missing for *u_dot*, by q and u."""
    note(system)

    def missing(other: State) -> Array:
        system.realize(other, Stage.DYNAMICS)
        return np.array(system.calc_inverse_dynamics(other, u_dot))

    return _by_variables(state, ("q", "u"), missing)


def of_forward_dynamics(system: Any, state: State, forces: Any = None) -> tuple[Array, Array, Array, Array, Array]:
    """Derivatives of u_dot by q, u, z, mobility forces and time, with *forces* beside those of the elements."""
    note(system)

    def u_dot(other: State, push: Any = forces) -> Array:
        system.realize(other, mobility_forces=push)
        return np.array(other.u_dot_view[: state.tree.nu])

    by_q, by_u, by_z, by_time = _by_variables(state, ("q", "u", "z", "time"), u_dot)
    nu = state.tree.nu
    if state.slides:  # friction follows the normal force, which forces change: the matrix of constraints alone is not enough
        other, now = state.copy(), np.zeros(nu) if forces is None else np.asarray(forces, dtype=float)
        by_forces = columns(lambda k, h: u_dot(other, now + h * np.eye(nu)[k]), nu, nu)
    else:
        by_forces = solve(state, -np.eye(nu), np.zeros((state.tree.counts["num_rows"], nu)))[0]
    return by_q, by_u, by_z, by_forces, by_time[:, 0]
