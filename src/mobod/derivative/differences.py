"""Derivatives by differences, for systems with parts that users have written in Python."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..value.rotation import Rotation
from ..value.stage import Stage
from .coordinates import displacements
from .equations import solve
from .jvp import jvp, kinematics

if TYPE_CHECKING:
    from ..state.state import State

#: The step of central differences of fourth order: truncation and rounding are both near 1e-11 of derivatives of order one.
STEP = 5e-4
#: Where a function is called for that, and what its values count.
_STEPS, _WEIGHTS = STEP * np.array([1.0, -1.0, 2.0, -2.0]), np.array([8.0, -8.0, -1.0, 1.0]) / (12.0 * STEP)
#: Turns by these about the three axes ``(3, 4, 3, 3)``.
_TURNS = np.array([[Rotation.about_axis(h, axis) for h in _STEPS] for axis in "xyz"])


def note(system: Any) -> None:
    """Warn the caller of a public method that its derivatives are differences."""
    warnings.warn(
        f"{system!r} has parts written in Python, so that its derivatives are differences, exact to about 1e-8; parts given as "
        "compiled= functions are differentiated exactly",
        UserWarning,
        stacklevel=4,
    )


def along(f: Callable[[float], Array], h: float = STEP) -> Array:
    """df/dh at 0."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def _columns(state: State, names: tuple[str, ...], value: Callable[[State], Array]) -> list[Array]:
    """The derivatives of a value of a state by q in its tangent, u, z, and time."""
    tree, N, found = state.tree, displacements(state), []
    directions = {"q": N.T, "u": np.eye(tree.nu), "z": np.eye(len(state.z_view)), "time": np.ones((1, 1))}
    for name in names:
        columns = []
        for direction in directions[name]:

            def moved(h: float, name: str = name, direction: Array = direction) -> Array:
                other = state.copy()
                if name == "time":
                    other.time = state.time + h
                else:
                    values = getattr(other, f"{name}_values").copy()
                    values[: len(direction)] += h * direction
                    setattr(other, name, values)
                return value(other)

            columns.append(along(moved))
        found.append(np.array(columns).T.reshape(tree.nu, len(columns)))
    return found


def of_forces(system: Any, state: State, forces: Sequence[Any], names: tuple[str, ...]) -> list[Array]:
    """Derivatives of the generalized forces of elements in Python, with J held; by what does not move them they are zero.

    The elements alone are called, of states at VELOCITY. What an element depends on alone is moved, where it says that:
    see `CustomImplementation.depends_only_on`.
    """
    tree, enabled = state.tree, state.field("force_enabled")
    N, acting = displacements(state).T, [force for force in forces if enabled[force.element]]
    J = system.get_matter_subsystem().calc_system_jacobian(state).reshape(-1, tree.nu)
    units = {"q": N, "u": np.eye(tree.nu), "z": np.eye(len(state.z_values)), "time": np.ones((1, 1))}
    found = {name: np.zeros((tree.nu, len(units[name]))) for name in names}
    of_velocities: list[Array] = []

    def generalized(pushed: Array) -> Array:
        return np.asarray(J.T @ pushed[: len(J)] + pushed[len(J) :])

    groups = [(inputs, [force]) for force in acting if (inputs := _inputs(system, force)) is not None]
    others = [force for force in acting if all(force not in group for _, group in groups)]
    for inputs, group in [*groups, *([(None, others)] if others else [])]:
        moved = _Moved(system, state, group)
        for name in names:
            if name in ("u", "z") and moved.by_positions:
                continue
            chosen = np.arange(len(units[name]))
            if inputs is not None and name in ("q", "u"):
                chosen = np.concatenate([np.zeros(0, np.int64), *(_speeds(tree, b) for b in inputs[1])])
            held = () if inputs is None else inputs[0]
            pushed = [moved.along(name, units[name][k], held) for k in chosen]
            if pushed:
                found[name][:, chosen] += generalized(np.array(pushed).T)
        if inputs is None or not {"q", "u"}.intersection(names):
            continue
        for b in inputs[0]:
            of_body = J[6 * b : 6 * b + 6]
            if of_body.any():
                by_pose, by_velocity = moved.with_body(b)
                found["q"] += generalized(by_pose) @ of_body
                if not moved.by_positions:
                    of_velocities = of_velocities or [_velocities_by_q(state, N)]
                    by_velocity = generalized(by_velocity)
                    found["q"] += by_velocity @ of_velocities[0][b]
                    found["u"] += by_velocity @ of_body
    return [found[name] for name in names]


def _inputs(system: Any, force: Any) -> tuple[list[int], list[int]] | None:
    """Indices of the bodies and mobilizers that are all that an element depends on; None where it does not say."""
    said = force.implementation.depends_only_on()
    if said is None:
        return None
    bodies = system.get_matter_subsystem().body_list
    try:
        read = [tuple(parts) for parts in said]  # once: they may be iterators
    except TypeError:  # a body where a sequence of them has to be
        read = []
    if len(read) != 2 or any(part not in bodies for parts in read for part in parts):
        raise ModelError(
            f"depends_only_on() of {force.name!r} has to return two sequences, of bodies and of mobilizers of its own system, "
            f"or None; got {said!r}"
        )
    return tuple(list(dict.fromkeys(part.index for part in parts)) for parts in read)  # type: ignore[return-value]


def _speeds(tree: Any, b: int) -> npt.NDArray[np.int64]:
    return np.arange(tree.first_u[b], tree.first_u[b] + tree.num_u[b])


def _velocities_by_q(state: State, N: Array) -> Array:
    """Derivatives of all bodies' velocities along displacements ``(nb, 6, nu)``."""
    return jvp(state, {"q": N.T}, kinematics, {"V_GB": state.tree.nb})["V_GB"]


class _Moved:
    """Elements in Python, called of states where little has moved."""

    def __init__(self, system: Any, state: State, forces: Sequence[Any]) -> None:
        tree, parts = state.tree, [force.implementation for force in forces]
        self._system, self._other = system, state.copy()
        self._calls = [part.calc_force for part in parts]
        self.by_positions = all(part.depends_only_on_positions() for part in parts)
        self._pushed, self._on_particles = np.zeros(6 * tree.nb + tree.nu), np.zeros((tree.num_particles, 3))
        split = 6 * tree.nb
        self._of_bodies, self._of_mobilities = self._pushed[:split].reshape(-1, 2, 3), self._pushed[split:]
        system.realize(self._other, Stage.VELOCITY)
        record = self._other.record
        #: How each body moves.
        self._rows = [*zip(record.R_GB, record.p_GB, record.com_G, record.V_GB, strict=True)]

    def _apply(self) -> None:
        self._pushed.fill(0.0)
        for call in self._calls:
            call(self._other, self._of_bodies, self._on_particles, self._of_mobilities)

    def along(self, name: str, direction: Array, held: Sequence[int]) -> Array:
        """As a variable changes, without the motion of the bodies that are *held*."""
        other = self._other
        start = np.array([other.time]) if name == "time" else getattr(other, f"{name}_values").copy()
        step = np.zeros(len(start))
        step[: len(direction)] = direction
        motions = [[row.copy() for row in self._rows[b]] for b in held]

        def at(h: float) -> Array:
            self._set(name, start + h * step)
            for b, kept in zip(held, motions, strict=True):
                for row, values in zip(self._rows[b], kept, strict=True):
                    row[:] = values
            self._apply()
            return self._pushed.copy()

        found = along(at)
        self._set(name, start)
        return found

    def _set(self, name: str, values: Array) -> None:
        if name == "time":
            self._other.time = float(values[0])
        else:
            setattr(self._other, name, values)
        self._system.realize(self._other, Stage.VELOCITY)

    def with_body(self, b: int) -> tuple[Array, Array]:
        """As a body turns about its origin and is shifted ``(n, 6)``, and as its velocities change; nothing else moves."""
        here, directions = [row.copy() for row in self._rows[b]], 6 if self.by_positions else 12
        R, p, com, V = (np.tile(row, (directions, len(_STEPS), 1)) for row in here)
        R[:3] = (_TURNS @ here[0].reshape(3, 3)).reshape(3, -1, 9)
        com[:3] = _TURNS @ here[2]
        p[3:6] += _STEPS[:, None] * np.eye(3)[:, None]
        V[6:] += (_STEPS[:, None] * np.eye(6)[:, None])[: directions - 6]
        moved = [rows.reshape(directions * len(_STEPS), -1) for rows in (R, p, com, V)]
        found = np.zeros((2, 6, len(_STEPS), len(self._pushed)))
        flat = found.reshape(-1, len(self._pushed))
        for i, one in enumerate(zip(*moved, strict=True)):
            for row, values in zip(self._rows[b], one, strict=True):
                row[:] = values
            self._apply()
            flat[i] = self._pushed
        for row, values in zip(self._rows[b], here, strict=True):
            row[:] = values
        by_pose, by_velocity = _WEIGHTS @ found
        return by_pose.T, by_velocity.T


def of_inverse_dynamics(system: Any, state: State, u_dot: Array) -> list[Array]:
    """Derivatives of what is missing for *u_dot*, by q and u."""
    note(system)

    def missing(other: State) -> Array:
        system.realize(other, Stage.DYNAMICS)
        return np.array(system.calc_inverse_dynamics(other, u_dot))

    return _columns(state, ("q", "u"), missing)


def of_forward_dynamics(system: Any, state: State, forces: Any = None) -> tuple[Array, Array, Array, Array, Array]:
    """Derivatives of u_dot by q, u, z, mobility forces and time, with *forces* beside those of the elements."""
    note(system)

    def u_dot(other: State) -> Array:
        system.realize(other, mobility_forces=forces)
        return np.array(other.u_dot_view[: state.tree.nu])

    by_q, by_u, by_z, by_time = _columns(state, ("q", "u", "z", "time"), u_dot)
    nu = state.tree.nu
    by_forces = solve(state, -np.eye(nu), np.zeros((state.tree.counts["num_rows"], nu)))[0]
    return by_q, by_u, by_z, by_forces, by_time[:, 0]
