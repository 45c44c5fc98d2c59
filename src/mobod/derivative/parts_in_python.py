"""Derivatives of parts in Python by differences: of what they push, of errors and of given udot, as what they read moves.

Forces, constraints and motions are called of states at VELOCITY (motions at DYNAMICS), twice along a direction: differences are
central, of second order. Of a constraint these are the forces of the state's multipliers, and errors at the state's udot.
What a part does not say it reads is found by calls, too: many directions are tried together, along numbers that have
nothing to do with each other, and where that changes nothing to the last bit, the derivatives along all of them are zero.

Where few bodies are read, these move one by one, by six directions of their pose and six of their velocity, while nothing else
does and no state is realized; then coordinates and speeds move while the bodies are held. The sum is the derivative as long as
the part looks at bodies when it is called, and a constraint at what it ties. Calls along a direction of everything tell: where
they do not agree, as with what was computed of a state before, each coordinate and speed moves by itself. So it is in systems
of few speeds.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..state.stage_hooks import StageHooks
from ..state.state import State
from ..tree import inverse_dynamics, rates
from ..value.level import Level
from ..value.stage import Stage
from .coordinates import has_rates
from .equations import solve
from .motion_of_bodies import MotionOfBodies, displaced, turns

Numbers = npt.NDArray[np.int64]
#: The step of central differences of numbers of size one: truncation and rounding are near 2e-11 of derivatives of order one.
_STEP = 1e-5
#: As many directions are tried together, where some of all matter; of a body its turns, and its shifts.
_TOGETHER, _OF_BODY = 4, 3
#: Calls that a body takes where it is read, and that finding out which are takes at least.
_CALLS_OF_BODY, _CALLS_OF_SEARCH = 28, 16
#: How far sums over bodies may be from what moving all gives, of the sizes of their terms.
_AGREED = 1e-6
#: Hooks that what a part computes may depend on.
_HOOKS = ("realize_time", "realize_position", "realize_velocity")
#: Which rows of a body change as it turns, is shifted, turns faster and moves faster: of `_Moved._rows`.
_MOVED_BY = (0, 2), (1,), (3,), (3,)


class Parts(NamedTuple):
    """Parts of a system that Python computes.

    Attributes
    ----------
    forces, constraints, motions : sequence
    set_known_u_dot : callable
        ``set_known_u_dot(state)`` writes the udot that the motions prescribe into the state's record.
    """

    forces: Sequence[Any]
    constraints: Sequence[Any]
    motions: Sequence[Any]
    set_known_u_dot: Callable[[State], None]


class _Part(NamedTuple):
    """One part: what it adds to what is pushed of a moved state, and the bodies and mobilizers that it says it reads.

    What constraints read is measured in their *ancestor*, so that as this moves only the direction of its forces changes.
    """

    call: Callable[..., None]
    inputs: tuple[list[int], list[int]] | None
    stage: Stage = Stage.VELOCITY
    by_positions: bool = False
    constraint: Any = None
    ancestor: int = 0


class _Trial(NamedTuple):
    """The part, called of a state where all that is chosen has moved.

    Attributes
    ----------
    bodies, kept
        Those that may be held, and their rows as they were.
    ways : list of Moving
        What has moved.
    pushed : array
        What the part gave, of one that is checked.
    matters : bool
        Whether it gave anything else than before while these bodies were held.
    """

    bodies: list[int]
    kept: list[tuple[Array, Array]]
    ways: list[Moving]
    pushed: Array
    matters: bool


def of_parts(system: Any, state: State, parts: Parts, names: tuple[str, ...], whole: Any) -> dict[str, Array]:
    """Derivatives of what parts in Python give, with J held; by what does not move them they are zero.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        At VELOCITY or above, at ACCELERATION if there are constraints or motions.
    parts : Parts
    names : tuple of str
        Of "q", in its tangent, "u", "z" and "time"; q and u are among them.
    whole : derivative.analytic.Whole
        Which has just differentiated all else of the state.

    Returns
    -------
    dict of str to array
        By each name generalized forces, acceleration errors by the kernels' rows, and prescribed udot, one below the other.
    """
    tree, enabled = state.tree, state.field("force_enabled")
    acting: list[_Part] = []
    for force in parts.forces:
        if enabled[force.element]:
            one = force.implementation
            acting.append(_Part(one.calc_force, _inputs(system, force), by_positions=one.depends_only_on_positions()))
    for constraint in parts.constraints:
        if not constraint.is_disabled(state):
            inputs, ancestor = _of_constraint(constraint), constraint.get_ancestor_mobilized_body().index
            acting.append(_Part(constraint.interpreter.calc_equations, inputs, constraint=constraint, ancestor=ancestor))
    moving = [one for one in parts.motions if not (one.is_disabled(state) or one.mobod.is_locked(state))]
    if moving:
        acting.append(_Part(parts.set_known_u_dot, _of_motions(moving, state), Stage.DYNAMICS))
    moved = _Moved(system, state, whole)
    everything = {name: np.arange(moved.sizes[name]) for name in names}
    found: dict[str, Array] = {}
    for number, part in enumerate(acting):  # one by one: beside a stiff one, what another lacks would be too little to be seen
        moved.take(part, number)
        if part.inputs is None:
            more = moved.by_all(everything)
        else:
            bodies, mobilizers = part.inputs
            speeds = np.concatenate([np.zeros(0, np.int64), *(_speeds(tree, b) for b in mobilizers)])
            said = {name: speeds if name in ("q", "u") else everything[name] for name in names}
            more = moved.by(bodies, said) if part.constraint is None else moved.by_checked(bodies, said, everything)
        found = {name: found[name] + more[name] for name in names} if found else more
    moved.give_back(whole.moved)
    return found or {name: np.zeros((moved.size, moved.sizes[name])) for name in names}


def _inputs(system: Any, force: Any) -> tuple[list[int], list[int]] | None:
    """Indices of the bodies and mobilizers that are all that an element depends on; None where it does not say."""
    said = force.implementation.depends_only_on()
    if said is None or _hears(force.implementation):
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


def _of_constraint(constraint: Any) -> tuple[list[int], list[int]] | None:
    """The same of a constraint: what it ties, measured in its Ancestor."""
    mine = constraint.interpreter.implementation
    if _hears(mine):
        return None
    bodies = [*mine.declared_bodies, constraint.get_ancestor_mobilized_body()] if mine.declared_bodies else []
    return list(dict.fromkeys(b.index for b in bodies if b.index > 0)), [b.index for b in mine.declared_mobilizers]


def _of_motions(motions: Sequence[Any], state: State) -> tuple[list[int], list[int]] | None:
    """The same of motions: those of positions are functions of time and their own mobilizers' coordinates."""
    if any(one.rule(state)[0] is not Level.POSITION or _hears(one.implementation) for one in motions):
        return None
    return [], [one.mobod.index for one in motions]


def _hears(implementation: Any) -> bool:
    """True if it hears of stages, where it may keep what it reads then."""
    base, kind, own = vars(StageHooks), type(implementation), getattr(implementation, "__dict__", ())
    return any(name in own or getattr(kind, name) is not base[name] for name in _HOOKS)


def _speeds(tree: Any, b: int) -> npt.NDArray[np.int64]:
    return np.arange(tree.first_u[b], tree.first_u[b] + tree.num_u[b])


class _Moved:
    """A part in Python, called of states where little has moved.

    Attributes
    ----------
    size : int
        How many generalized forces, errors of accelerations and prescribed udot there are.
    sizes : dict of str to int
        How many numbers there are by which these may be differentiated, of each variable.
    """

    _part: _Part
    _number: int
    _here: Array

    def __init__(self, system: Any, state: State, whole: Any) -> None:
        tree = state.tree
        self._system, self.state, self._whole = system, state, whole
        self._is_plain = not (state.own_fields or state.resources is not None)
        other = None
        if self._is_plain:
            with contextlib.suppress(IndexError):  # there are none, or another thread has just taken the last
                other = whole.moved.pop()
        if other is None:
            other = state.copy()
        else:
            other.record.buffer[:] = state.record.buffer
            other.stage_number, other.valid = state.stage_number, state.valid
        self._other = other
        self._ways: dict[str, Moving] = {}
        self._split, num_rows = 6 * tree.nb, tree.counts["num_rows"]
        self.size = 2 * tree.nu + num_rows
        self.sizes = {"q": tree.nu, "u": tree.nu, "z": len(state.z_values), "time": 1}
        self._pushed, self._on_particles = np.zeros(self._split + self.size), np.zeros((tree.num_particles, 3))
        of_bodies, rest = self._pushed[: self._split].reshape(-1, 2, 3), self._pushed[self._split :]
        self._of_bodies, self._of_mobilities = of_bodies, rest[: tree.nu]
        self._errors, self._known = rest[tree.nu : tree.nu + num_rows], rest[tree.nu + num_rows :]
        self._u_dot = state.record.u_dot[: tree.nu, 0].copy()
        system.realize(self._other, Stage.VELOCITY)
        record = self._other.record
        #: How bodies move: turned, where, mass centers, velocities; and their accelerations.
        self._rows = record.R_GB, record.p_GB, record.com_G, record.V_GB
        self._A = state.record.A_GB[: tree.nb].copy()

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
    def _motion(self) -> MotionOfBodies:
        return self._whole.motion_of_bodies(self.state, self._u_dot, self._A)

    def take(self, part: _Part, number: int) -> None:
        """Let this be the one that is called, by its number among all."""
        self._part, self._number = part, number
        self._realize()
        self._here = self._apply().copy()

    def by(self, bodies: Sequence[int], chosen: dict[str, Numbers]) -> dict[str, Array]:
        """Derivatives by the motion of some bodies, and by what is *chosen* of each variable while they are held."""
        trial = self._tried(bodies, chosen, False)
        self._rest(trial.ways)
        return self._found(chosen, trial)

    def _tried(self, bodies: Sequence[int], chosen: dict[str, Numbers], is_checked: bool = True) -> _Trial:
        """The part, called as all that is *chosen* moves: where bodies are held, and with them, too, if it *is_checked*."""
        held, ways = list(bodies), self._moved_along(chosen)
        kept = [(row, row[held]) for row in (*self._rows, self._A)] if held else []
        self._move([(one, one.apart) for one in ways])
        pushed = self._apply().copy() if is_checked else self._here
        given = pushed if is_checked and not held else self._hold(held, kept)
        return _Trial(held, kept, ways, pushed, not np.array_equal(given, self._here))

    def _found(self, chosen: dict[str, Numbers], trial: _Trial) -> dict[str, Array]:
        """Derivatives by bodies, which are at rest, and by variables where these matter while they are held."""
        found = {name: np.zeros((self.size, self.sizes[name])) for name in chosen}
        for one in self._moved_along(chosen) if trial.matters else ():
            slopes = self._slopes(lambda x, one=one: self._at([(one, x)], trial), one.steps, _TOGETHER)  # type: ignore[misc]
            found[one.name][:, one.chosen] += slopes
            self._rest([one])
        for b in trial.bodies:
            if 0 < b == self._part.ancestor:
                self._add_turned(found, b)
            elif self._J[6 * b : 6 * b + 6].any():
                self._add_body(found, b)
        return found

    def _add_turned(self, found: dict[str, Array], ancestor: int) -> None:
        """Add derivatives by the motion of all of a constraint, whose forces turn with its Ancestor."""
        ways = self._whole.parts.plan.pattern.ways[ancestor]
        turns = self._J[6 * ancestor : 6 * ancestor + 3, ways].T
        pushed = np.zeros((len(self._here), len(ways)))
        pushed[: self._split] = np.cross(turns[:, None], self._here[: self._split].reshape(1, -1, 3)).reshape(len(ways), -1).T
        found["q"][:, ways] += self._generalized(pushed)

    def _add_body(self, found: dict[str, Array], b: int) -> None:
        """Add derivatives by the motion of one body, relative to the Ancestor where it is a constraint's."""
        relative = np.ones(self.state.tree.nu)
        relative[self._whole.parts.plan.pattern.ways[self._part.ancestor]] = 0.0
        of_body = relative * self._J[6 * b : 6 * b + 6]
        by_pose, by_velocity = self._with_body(b)
        found["q"] += by_pose @ of_body
        by_acceleration = self._by_acceleration(b)
        if by_velocity.any() or by_acceleration is not None:
            found["q"] += by_velocity @ (relative * self._motion.velocity(b))
            found["u"] += by_velocity @ of_body
            if by_acceleration is not None:
                nu = self.state.tree.nu
                rows = slice(nu, nu + len(by_acceleration))
                for name, still in zip("qu", self._motion.acceleration(b), strict=True):
                    found[name][rows] += by_acceleration @ (relative * still)

    def _by_acceleration(self, b: int) -> Array | None:
        """Derivatives of the errors of a constraint by a body's acceleration: its rows of G; None where it is no constraint."""
        if self._part.constraint is None:
            return None
        found, tree, c = np.zeros((len(self._errors), 6)), self.state.tree, self._part.constraint.index
        first, n = tree.fields["first_constrained_body"][c], tree.fields["num_constrained_bodies"][c]
        num_rows = sum(self._part.constraint.interpreter.implementation.declared_equations)
        row, at = tree.fields["first_row"][c], tree.fields["first_wrench"][c]
        wrenches = self.state.record.wrenches[at : at + n * num_rows].reshape(num_rows, n, 6)
        for i in np.flatnonzero(tree.fields["constrained_bodies"][first : first + n] == b):
            found[row : row + num_rows] += wrenches[:, i]
        return found

    def by_all(self, chosen: dict[str, Numbers]) -> dict[str, Array]:
        """Derivatives by everything, with as few calls as that takes."""
        calls = 4 * self.state.tree.nu - _CALLS_OF_SEARCH
        if calls <= _CALLS_OF_BODY:
            return self.by((), chosen)
        bodies, trial = self._pushed_bodies(), None  # most that is read is pushed
        if _CALLS_OF_BODY * len(bodies) < calls:
            trial = self._tried(bodies, chosen)
            if not (bodies or trial.matters):
                return self._found(chosen, trial)
        if trial is None or trial.matters:
            self._rest(trial.ways if trial else ())
            found = self._bodies_that_matter(bodies)
            trial, bodies = trial if found == bodies else None, found
        few = bodies and _CALLS_OF_BODY * len(bodies) < calls
        return self.by_checked(bodies, chosen, chosen, trial) if few else self.by((), chosen)

    def by_checked(
        self, bodies: Sequence[int], chosen: dict[str, Numbers], everything: dict[str, Numbers], trial: _Trial | None = None
    ) -> dict[str, Array]:
        """As `by`, unless a step along a direction of *everything*, and one back, say that more is read: then by that."""
        trial = trial or self._tried(bodies, everything)
        change = trial.pushed - self._at([(one, -one.apart) for one in trial.ways])
        self._rest(trial.ways)
        found = self._found(chosen, trial)
        is_, size = np.zeros(self.size), np.zeros(self.size)
        for one in trial.ways:
            is_ += found[one.name] @ one.apart
            size += np.abs(found[one.name]) @ one.apart
        agree = np.abs(self._generalized(0.5 * change) - is_).max() <= _AGREED * size.max()
        return found if agree else self.by((), everything)

    # ------------------------------------------------------------------------------------------ inside

    def _moved_along(self, chosen: dict[str, Numbers]) -> list[Moving]:
        """Variables that the part depends on, by what is chosen of each."""
        some = "u", "z"
        return [
            self._moving(name, which)
            for name, which in chosen.items()
            if len(which) and not (name in some and self._part.by_positions)
        ]

    def _hold(self, bodies: list[int], kept: Sequence[tuple[Array, Array]]) -> Array:
        """All that the part gives while rows of bodies are *kept*."""
        for row, values in kept:
            row[bodies] = values
        return self._apply()

    def _moving(self, name: str, which: Numbers) -> Moving:
        """The variable, made once while the same is chosen."""
        found = self._ways.get(name)
        if found is None or found.chosen is not which:
            found = self._ways[name] = Moving(self.state, name, which)
        return found

    def _apply(self, faster: bool = False) -> Array:
        """All that the part gives now, until the next call; as bodies move *faster*, not what that leaves as it is."""
        part, other = self._part, self._other
        if part.constraint is not None:
            pushing: Any = self.state.record.multiplier[:, 0], self._of_bodies, self._of_mobilities
            if faster and not part.constraint.interpreter.implementation.declared_equations[2]:
                pushing = None  # rows of position and velocity equations depend on q and time
                self._pushed[:] = self._here
            else:
                self._pushed.fill(0.0)
            part.call(other, self._A.reshape(-1, 2, 3), self._u_dot, self._errors, pushing)
            return self._pushed
        self._pushed.fill(0.0)
        if part.stage > Stage.VELOCITY:
            part.call(other)
            self._known[:] = other.record.known_u_dot[: len(self._known), 0]
        else:
            part.call(other, self._of_bodies, self._on_particles, self._of_mobilities)
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
        """Derivatives by n numbers, from what is pushed ``at(change)`` of them."""
        n = len(steps)
        sizes = () if n == 1 else (together,) if n <= 12 else (n, together)
        chosen, found = self._that_matter(at, steps, sizes), np.zeros((self.size, n))
        if len(chosen):
            pushed = np.array([at(_only(s * steps, k)).copy() for k in chosen for s in (1.0, -1.0)])
            found[:, chosen] = self._generalized((pushed[0::2] - pushed[1::2]).T / (2.0 * steps[chosen]))
        return found

    def _generalized(self, pushed: Array) -> Array:
        found = pushed[self._split :]
        if pushed[: self._split].any():
            found = found.copy()
            found[: self.state.tree.nu] += self._J.T @ pushed[: self._split]
        return found

    def _at(self, changes: Sequence[tuple[Moving, Array]], trial: _Trial | None = None) -> Array:
        """The same as variables change, while the bodies of a trial are held."""
        self._move(changes)
        return self._hold(trial.bodies, trial.kept) if trial else self._apply()

    def _move(self, changes: Iterable[tuple[Moving, Array]]) -> None:
        """Change variables, and what follows from them."""
        for one, change in changes:
            one.put(self._other, change)
        self._realize()

    def _realize(self) -> None:
        """As far as the part reads."""
        other = self._other
        self._system.realize(other, self._part.stage)
        if self._part.constraint is not None:
            inverse_dynamics.calc_body_acceleration_from_u_dot(other.block, self._u_dot, self._A)

    def _rest(self, moved: Sequence[Moving]) -> None:
        """Let variables that have moved be as they were."""
        self._move((one, one.none) for one in moved)

    def _pushed_bodies(self) -> list[int]:
        pushed = np.flatnonzero(self._here[: self._split].reshape(-1, 6).any(axis=1))
        return [b for b in pushed.tolist() if b > 0]

    def _bodies_that_matter(self, pushed: list[int]) -> list[int]:
        """Bodies whose motion is read: those that are *pushed* unless others are."""
        nb, start = self.state.tree.nb, [row.copy() for row in self._rows]
        steps, (changes, turn) = np.full(nb, _STEP), _apart_of(nb)
        moved = displaced(start, changes, turn)

        def all_but(held: Any) -> Array:
            for row, values, begin in zip(self._rows, moved, start, strict=True):
                row[:] = values
                row[held] = begin[held]
            return self._apply()

        found = pushed
        if not np.array_equal(all_but(pushed), self._here):
            found = self._that_matter(lambda change: all_but(np.flatnonzero(change == 0.0)), steps, (_TOGETHER, 1)).tolist()
        for row, values in zip(self._rows, start, strict=True):
            row[:] = values
        return [b for b in found if b > 0]

    def _with_body(self, b: int) -> tuple[Array, Array]:
        """Derivatives as a body turns about its origin and is shifted, and as its velocities change; nothing else moves."""
        rows = [row[b] for row in self._rows]
        start = [row.copy() for row in rows]
        steps = np.concatenate([np.full(3, _STEP), *(_STEP * np.cbrt(np.maximum(1.0, np.abs(start[i]))) for i in (1, 3))])
        n = 6 if self._part.by_positions else 12
        changes, turn = _directions(n)
        moved, before = displaced(start, changes * steps, turn), self._whole.mattered.setdefault((self._number, b), set())
        found = np.zeros((12, len(self._here)))
        for part in range(n // _OF_BODY):
            own = slice(_OF_BODY * part, _OF_BODY * (part + 1))
            mine = [(rows[i], moved[i], start[i]) for i in _MOVED_BY[part]]

            def at(i: int, mine: Any = mine, faster: bool = part > 1) -> Array:
                for row, values, _ in mine:
                    row[:] = values[i]
                return self._apply(faster)

            if part in before or not np.array_equal(at(2 * n + part), self._here):  # what has mattered once is not tried first
                for k in range(own.start, own.stop):
                    np.subtract(at(k).copy(), at(n + k), out=found[k])
                (before.add if found[own].any() else before.discard)(part)
            for row, _, values in mine:
                row[:] = values
        found /= 2.0 * steps[:, None]
        slopes = self._generalized(found.T)
        return slopes[:, :6], slopes[:, 6:]


@functools.lru_cache
def _directions(n: int) -> tuple[Array, Array]:
    """Steps of a body along *n* directions, back, and along several together; and their turns."""
    together = np.repeat(np.eye(n // _OF_BODY, 12 // _OF_BODY), _OF_BODY, axis=1) * _apart(12)
    changes = np.concatenate([np.eye(n, 12), -np.eye(n, 12), together])
    return changes, turns(_STEP * changes)


@functools.lru_cache(64)
def _apart_of(nb: int) -> tuple[Array, Array]:
    """Changes of bodies that are all tried together, and their turns."""
    changes = _STEP * _apart(nb)[:, None] * _apart(12)
    return changes, turns(changes)


class Moving:
    """Numbers of a variable, of q as speeds would move them.

    Attributes
    ----------
    name : str
    chosen : array of int
        Which numbers; of q, which speeds.
    steps, apart, none : array
        Steps for differences of each; a direction along all; and no change.
    """

    def __init__(self, state: State, name: str, chosen: Numbers) -> None:
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


@functools.lru_cache(64)
def _apart(n: int) -> Array:
    """n numbers of size one that have nothing to do with each other; nobody changes them."""
    return np.asarray(0.5 + np.modf(np.arange(1, n + 1) * np.sqrt(2.0))[0])


def _only(change: Array, which: Any) -> Array:
    """The same with zeros but for some."""
    found = np.zeros_like(change)
    found[which] = change[which]
    return found


def added(state: State, found: Any, more: dict[str, Array]) -> None:
    """Add to derivatives of udot, of all else, what parts in Python make of them: as of `of_parts`."""
    nu, num_rows = state.tree.nu, state.tree.counts["num_rows"]
    for name, array in more.items():
        part = getattr(found, name)
        if array[nu:].any():
            errors, known = array[nu : nu + num_rows], array[nu + num_rows :]
            part += solve(state, -array[:nu], errors, known)[0].reshape(part.shape)
        elif array.any():
            part += (found.mobility_forces @ array[:nu]).reshape(part.shape)
