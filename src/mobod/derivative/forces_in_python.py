"""Derivatives of forces in Python by differences: of what they push, as what they read moves.

A force is called of states at VELOCITY, twice along a direction: differences are central, of second order. Most forces read
little of a state, and what they read is found by calls, too: many directions are tried together, along numbers that have
nothing to do with each other, and where that changes nothing to the last bit, the derivatives along all of them are zero.

Where few bodies are read, these move one by one, by six directions of their pose and six of their velocity, while nothing else
does and no state is realized; then coordinates and speeds move while the bodies are held. The sum is the derivative as long as
the force looks at bodies when it is called. A call along a direction of everything tells: where it does not agree, as with what
was computed of a state before, each coordinate and speed moves by itself. So it is in systems of few speeds.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..tree import rates
from ..value.stage import Stage
from .coordinates import displacements, has_rates
from .jvp import jvp, kinematics

if TYPE_CHECKING:
    from ..state.state import State

Numbers = npt.NDArray[np.int64]
#: The step of central differences of numbers of size one: truncation and rounding are near 2e-11 of derivatives of order one.
_STEP = 1e-5
#: As many directions are tried together, where some of all matter; of a body its turns, and its shifts.
_TOGETHER, _OF_BODY = 4, 3
#: Calls that a body takes where it is read, and that finding out which are takes at least.
_CALLS_OF_BODY, _CALLS_OF_SEARCH = 28, 16
_ONE = np.eye(3)
#: How far sums over bodies may be from what moving all gives, of the sizes of their terms.
_AGREED = 1e-6


def of_forces(system: Any, state: State, forces: Sequence[Any], names: tuple[str, ...], pool: list[State]) -> dict[str, Array]:
    """Derivatives of the generalized forces of elements in Python, with J held; by what does not move them they are zero.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At VELOCITY or above.
    forces : sequence of Force
    names : tuple of str
        Of "q", in its tangent, "u", "z" and "time"; q and u are among them.
    pool : list of State
        States to be moved, which nobody uses now; one is added.
    """
    tree, enabled = state.tree, state.field("force_enabled")
    acting = [force for force in forces if enabled[force.element]]
    sizes = {"q": tree.nu, "u": tree.nu, "z": len(state.z_values), "time": 1}
    found = {name: np.zeros((tree.nu, sizes[name])) for name in names}
    told = [(inputs, [force]) for force in acting if (inputs := _inputs(system, force)) is not None]
    others = [force for force in acting if all(force not in group for _, group in told)]
    moved = _Moved(system, state, pool)
    for (bodies, mobilizers), group in told:
        moved.take(group)
        speeds = np.concatenate([np.zeros(0, np.int64), *(_speeds(tree, b) for b in mobilizers)])
        moved.add(found, bodies, {name: speeds if name in ("q", "u") else np.arange(sizes[name]) for name in names})
    for force in others:  # one by one: beside a stiff one, what another lacks would be too little to be seen
        moved.take([force])
        moved.add_all(found, {name: np.arange(sizes[name]) for name in names})
    moved.give_back(pool)
    return found


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


class _Moved:
    """Elements in Python, called of states where little has moved."""

    by_positions: bool
    _held: list[int]

    def __init__(self, system: Any, state: State, pool: list[State]) -> None:
        tree = state.tree
        self._system, self.state = system, state
        self._is_plain = not (state.own_fields or state.discrete or state.resources is not None)
        other = None
        if self._is_plain:
            with contextlib.suppress(IndexError):  # there are none, or another thread has just taken the last
                other = pool.pop()
        if other is None:
            other = state.copy()
        else:
            other.record.buffer[:] = state.record.buffer
            other.stage_number, other.valid = state.stage_number, state.valid
        self._other = other
        self._calls: list[Callable[..., None]] = []
        self._pushed, self._on_particles = np.zeros(6 * tree.nb + tree.nu), np.zeros((tree.num_particles, 3))
        self._split = split = 6 * tree.nb
        self._of_bodies, self._of_mobilities = self._pushed[:split].reshape(-1, 2, 3), self._pushed[split:]
        system.realize(self._other, Stage.VELOCITY)
        record = self._other.record
        #: How bodies move: turned, where, mass centers, velocities.
        self._rows = record.R_GB, record.p_GB, record.com_G, record.V_GB

    def give_back(self, pool: list[State]) -> None:
        """Let others use the state in which all was moved."""
        if self._is_plain:
            pool.append(self._other)

    @functools.cached_property
    def _J(self) -> Array:
        """Velocities of bodies, six numbers each, by speeds."""
        J = self._system.get_matter_subsystem().calc_system_jacobian(self.state)
        return np.asarray(J).reshape(self._split, -1)

    @functools.cached_property
    def _velocities_by_q(self) -> Array:
        """Derivatives of all bodies' velocities along displacements ``(nb, 6, nu)``."""
        return jvp(self.state, {"q": displacements(self.state)}, kinematics, {"V_GB": self.state.tree.nb})["V_GB"]

    def take(self, forces: Sequence[Any]) -> None:
        """Let these elements be the ones that are called."""
        parts = [force.implementation for force in forces]
        self._calls = [part.calc_force for part in parts]
        self.by_positions = all(part.depends_only_on_positions() for part in parts)
        self._here = self._apply().copy()

    def add(self, found: dict[str, Array], bodies: Sequence[int], chosen: dict[str, Numbers]) -> None:
        """Add derivatives by the motion of some bodies, and by what is *chosen* of each variable while they are held."""
        moving = [
            _Moving(self, name, which)
            for name, which in chosen.items()
            if len(which) and not (name in ("u", "z") and self.by_positions)
        ]
        self._held = list(bodies)
        kept = [(row, row[self._held]) for row in self._rows] if self._held else []
        matters = not np.array_equal(self._at([(one, one.apart) for one in moving], kept), self._here)
        self._rest(moving)
        for one in moving if matters else ():
            slopes = self._slopes(lambda x, one=one: self._at([(one, x)], kept), one.steps, _TOGETHER)  # type: ignore[misc]
            found[one.name][:, one.chosen] += slopes
            self._rest([one])
        for b in bodies:
            of_body = self._J[6 * b : 6 * b + 6]
            if of_body.any():
                by_pose, by_velocity = self._with_body(b)
                found["q"] += by_pose @ of_body
                if by_velocity.any():
                    found["q"] += by_velocity @ self._velocities_by_q[b]
                    found["u"] += by_velocity @ of_body

    def add_all(self, found: dict[str, Array], chosen: dict[str, Numbers]) -> None:
        """Add derivatives by everything, with as few calls as that takes."""
        nu = self.state.tree.nu
        calls = 4 * nu - _CALLS_OF_SEARCH
        bodies = self._bodies_that_matter() if calls > _CALLS_OF_BODY else []
        if bodies and _CALLS_OF_BODY * len(bodies) < calls:
            trial = {name: np.zeros_like(array) for name, array in found.items()}
            self.add(trial, bodies, chosen)
            ways = [_Moving(self, name, chosen[name]) for name in ("q", "u")]
            is_, size = np.zeros(nu), np.zeros(nu)
            for one in ways:
                is_ += trial[one.name] @ one.apart
                size += np.abs(trial[one.name]) @ one.apart
            up, down = (self._at([(one, s * one.apart) for one in ways], []).copy() for s in (1.0, -1.0))
            self._rest(ways)
            if np.abs(self._generalized(0.5 * (up - down)) - is_).max() <= _AGREED * size.max():
                for name, array in trial.items():
                    found[name] += array
                return
        self.add(found, (), chosen)

    # ------------------------------------------------------------------------------------------ inside

    def _apply(self) -> Array:
        """Forces that are applied now, which the next call overwrites."""
        self._pushed.fill(0.0)
        for call in self._calls:
            call(self._other, self._of_bodies, self._on_particles, self._of_mobilities)
        return self._pushed

    def _that_matter(self, at: Callable[[Array], Array], steps: Array, sizes: Sequence[int]) -> Numbers:
        """Those of n numbers that change what is pushed, ``at(change)`` of them, tried together by these *sizes*."""
        chosen, steps = np.arange(len(steps)), steps * _apart(len(steps))
        for size in sizes:
            found = []
            for first in range(0, len(chosen), size):
                part = chosen[first : first + size]
                if not np.array_equal(at(_only(steps, part)), self._here):
                    found.append(part)
            chosen = np.concatenate(found) if found else chosen[:0]
        return chosen

    def _slopes(self, at: Callable[[Array], Array], steps: Array, together: int) -> Array:
        """Derivatives of generalized forces ``(nu, n)`` by n numbers, from what is pushed ``at(change)`` of them."""
        n = len(steps)
        sizes = () if n == 1 else (together,) if n <= 12 else (n, together)
        chosen, found = self._that_matter(at, steps, sizes), np.zeros((self.state.tree.nu, n))
        if len(chosen):
            pushed = np.array([at(_only(s * steps, k)).copy() for k in chosen for s in (1.0, -1.0)])
            found[:, chosen] = self._generalized((pushed[0::2] - pushed[1::2]).T / (2.0 * steps[chosen]))
        return found

    def _generalized(self, pushed: Array) -> Array:
        found = pushed[self._split :]
        if pushed[: self._split].any():
            found = found + self._J.T @ pushed[: self._split]
        return found

    def _at(self, changes: Sequence[tuple[_Moving, Array]], kept: Sequence[tuple[Array, Array]]) -> Array:
        """Forces that are applied as variables change while rows of bodies are *kept*."""
        for one, change in changes:
            one.put(self._other, change)
        self._system.realize(self._other, Stage.VELOCITY)
        for row, values in kept:
            row[self._held] = values
        return self._apply()

    def _rest(self, moved: Sequence[_Moving]) -> None:
        """Let variables that have moved be as they were."""
        for one in moved:
            one.put(self._other, one.none)
        self._system.realize(self._other, Stage.VELOCITY)

    def _bodies_that_matter(self) -> list[int]:
        """Bodies whose motion is read."""
        nb = self.state.tree.nb
        start, along = [row.copy() for row in self._rows], _apart(12)

        def at(change: Array) -> Array:
            for row, values in zip(self._rows, _displaced(start, change[:, None] * along), strict=True):
                row[:] = values
            return self._apply()

        pushed, steps = self._here[: self._split].reshape(nb, 6).any(axis=1), np.full(nb, _STEP)
        found = np.flatnonzero(pushed)  # most that is read is pushed
        if not np.array_equal(at(np.where(pushed, 0.0, steps * _apart(nb))), self._here):
            found = self._that_matter(at, steps, (_TOGETHER, 1))
        for row, values in zip(self._rows, start, strict=True):
            row[:] = values
        return [int(b) for b in found]

    def _with_body(self, b: int) -> tuple[Array, Array]:
        """As a body turns about its origin and is shifted ``(nu, 6)``, and as its velocities change; nothing else moves."""
        rows = [row[b] for row in self._rows]
        start = [row.copy() for row in rows]
        steps = np.concatenate([np.full(3, _STEP), *(_STEP * np.cbrt(np.maximum(1.0, np.abs(start[i]))) for i in (1, 3))])
        n = 6 if self.by_positions else 12
        together = np.repeat(np.eye(n // _OF_BODY, 12 // _OF_BODY), _OF_BODY, axis=1) * _apart(12)
        moved = _displaced(start, np.concatenate([np.eye(n, 12), -np.eye(n, 12), together]) * steps)

        def at(i: int) -> Array:
            for row, values in zip(rows, moved, strict=True):
                row[:] = values[i]
            return self._apply()

        found = np.zeros((len(self._here), 12))
        for part in range(len(together)):
            if not np.array_equal(at(2 * n + part), self._here):
                for k in range(_OF_BODY * part, _OF_BODY * (part + 1)):
                    found[:, k] = at(k)
                    found[:, k] = (found[:, k] - at(n + k)) / (2.0 * steps[k])
        for row, values in zip(rows, start, strict=True):
            row[:] = values
        slopes = self._generalized(found)
        return slopes[:, :6], slopes[:, 6:]


class _Moving:
    """Numbers of a variable, of q as speeds would move them.

    Attributes
    ----------
    name : str
    chosen : array of int
        Which numbers; of q, which speeds.
    steps, apart, none : array
        Steps for differences of each; a direction along all; and no change.
    """

    def __init__(self, moved: Any, name: str, chosen: Numbers) -> None:
        state = moved.state
        self.name, self.chosen, self.none = name, chosen, np.zeros(len(chosen))
        self._start = np.array([state.time]) if name == "time" else getattr(state, f"{name}_values").copy()
        self._block, self._num_u = state.block, len(state.u_values)
        self._turns = name == "q" and has_rates(state)
        size = np.abs(self._start)
        if self._turns:  # of quaternions nothing is long
            size = np.zeros(self._num_u)
            rates.multiply_by_n(self._block, True, self._start, size)
        self.steps = _STEP * np.cbrt(np.maximum(1.0, np.abs(size)))[chosen]
        self.apart = self.steps * _apart(len(chosen))

    def put(self, state: State, change: Array) -> None:
        """Let them be changed in a state, which has to be realized anew."""
        values = self._start.copy()
        if self._turns:
            speeds, moves = np.zeros(self._num_u), np.zeros(len(values))
            speeds[self.chosen] = change
            rates.multiply_by_n(self._block, False, speeds, moves)
            values += moves
        else:
            values[self.chosen] += change
        if self.name == "time":
            state.time = float(values[0])
        else:
            setattr(state, self.name, values)


def _apart(n: int) -> Array:
    """n numbers of size one that have nothing to do with each other."""
    return np.asarray(0.5 + np.modf(np.arange(1, n + 1) * np.sqrt(2.0))[0])


def _only(change: Array, which: Any) -> Array:
    """The same with zeros but for some."""
    found = np.zeros_like(change)
    found[which] = change[which]
    return found


def _displaced(start: Sequence[Array], changes: Array) -> tuple[Array, Array, Array, Array]:
    """Rows of bodies, or of one, turned about its origin, shifted, and with other velocities, by twelve numbers a row."""
    R, p, com, V = start
    half = 0.5 * changes[:, :3]
    a = np.zeros((len(half), 3, 3))  # the matrix of a cross product
    a[:, 2, 1], a[:, 0, 2], a[:, 1, 0] = half.T
    a -= np.swapaxes(a, 1, 2)
    turn = _ONE + 2.0 / (1.0 + (half * half).sum(axis=1)[:, None, None]) * (a + a @ a)  # up to the third power of the angle
    turned, centers = turn @ R.reshape(-1, 3, 3), turn @ com.reshape(-1, 3, 1)
    return turned.reshape(-1, 9), p + changes[:, 3:6], centers[:, :, 0], V + changes[:, 6:]
