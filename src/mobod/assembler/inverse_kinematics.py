"""InverseKinematics: coordinates that bring hands to poses, within limits, from one seed or many."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array, ArrayLike
from ..errors import ConvergenceError, ModelError
from ..force import MobilityLinearStop
from ..force.base import listed_mobilities
from ..mobilizer.base import MobilizedBody
from ..motion import protocol
from ..state.state import State
from ..system.system import MultibodySystem
from ..tree.realize import advance
from ..value import Rotation, Transform
from ..value.checks import among, instance, integer, numbers, positive, vector
from ..value.rotation import NOT_A_ROTATION
from ..value.stage import Stage
from . import _reaching

POSE, POSITION, ORIENTATION = "pose", "position", "orientation"
#: What of a goal is asked for: its place, its orientation.
_ASKS = {POSE: (1, 1), POSITION: (1, 0), ORIENTATION: (0, 1)}
#: How much of the way to where the coordinates would rest a step goes; the longest step; when steps are small enough.
_GAIN, _FARTHEST, _STILL = 0.5, 0.6, 1e-5


@dataclasses.dataclass(frozen=True)
class Reached:
    """Result of `InverseKinematics.solve`, of one seed or of n.

    Attributes
    ----------
    q : (nq,) or (n, nq) array
    reached : bool or (n,) array of bool
        Whether all goals are met to the tolerance.
    error : float or (n,) array
        The length of all errors, weighted.
    iterations : int or (n,) array of int

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> solver = mb.InverseKinematics(system, state, ("lower", (0, 0, 0), "position"))
    >>> found = solver.solve((0.5, -0.5, 0.0), (0.1, 0.2))
    >>> found.reached, found.q.shape
    (True, (2,))
    """

    q: Array
    reached: Any
    error: Any
    iterations: Any

    def __repr__(self) -> str:
        if self.q.ndim == 1:
            return f"<Reached: {bool(self.reached)}, error {self.error:.3g}, {self.iterations} iterations>"
        return f"<Reached: {int(self.reached.sum())} of {len(self.q)} seeds, least error {self.error.min():.3g}>"

    @property
    def best(self) -> Array:
        """The coordinates ``(nq,)`` with the least error."""
        return self.q if self.q.ndim == 1 else np.asarray(self.q[int(np.argmin(self.error))])


class InverseKinematics:
    """Coordinates that bring frames on bodies, such as a robot's hands, to poses: compiled, within limits of the joints.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Whose locks, motions and parameters hold: coordinates that they give are those of the state, whatever seeds say; what
        they give the speed of stays where seeds are.
    hands : MobilizedBody, tuple, or list of hands
        Each a body, by object or name, or a tuple ``(body, frame)`` or ``(body, frame, what)``: *frame* is a `Transform` on the
        body, or a station ``(3,)``; *what* is ``"pose"`` unless given, ``"position"`` or ``"orientation"``.
    mobilities : iterable of (MobilizedBody, int), MobilizedBody or str, optional
        Those that may move, or bodies that have one alone, or names, of bodies, of joints; all unless given.
    limits : mapping, optional
        ``{(body, which): (low, high)}``, or ``{"elbow": (low, high)}``, of coordinates whose q_dot is u, in place of those of
        `force.MobilityLinearStop` elements, which files' joint limits become; others keep these. ``(-np.inf, np.inf)`` is none.
    rest : (nq,) array_like, optional
        What the null space is used for: of all coordinates that bring the hands there, those close to these.
    weights : pair of float
        Of errors of places, 1/length, and of orientations, 1/angle.
    tolerance : float
        To which the length of all errors, weighted, is to be brought.

    Raises
    ------
    TypeError, TopologyError, ModelError
        If a hand, a mobility or a limit is none of the system's; if constraints are enabled: `Assembler` fulfils these.

    See Also
    --------
    inverse_kinematics : of markers that were recorded.

    Notes
    -----
    Levenberg's and Marquardt's method with a damping by the error (Sugihara 2011), which comes to rest close to what is out of
    reach. It finds one solution of several, near the seed: of unlucky seeds none, where a limit is in the way; so try many.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> model = mb.load(files("mobod") / "examples" / "panda.urdf")
    >>> hand, state = model.bodies["panda_hand_tcp"], model.default_state()
    >>> solver = mb.InverseKinematics(model.system, state, hand)
    >>> target = mb.Transform(mb.Rotation.about_axis(3.14, "x"), (0.4, 0.2, 0.3))
    >>> found = solver.solve(target, solver.random_seeds(20, seed=1))
    >>> bool(found.reached.any())
    True
    """

    def __init__(
        self,
        system: MultibodySystem,
        state: State,
        hands: Any,
        *,
        mobilities: Iterable[Any] | None = None,
        limits: Mapping[Any, tuple[float, float]] | None = None,
        rest: ArrayLike | None = None,
        weights: tuple[float, float] = (1.0, 1.0),
        tolerance: float = 1e-8,
    ) -> None:
        instance("the first argument of InverseKinematics", system, MultibodySystem, "mobod.MultibodySystem()")
        self._matter = system.get_matter_subsystem()
        self._state = instance("state of InverseKinematics", state, State, "system.realize_topology()").copy()
        system.prescribe(self._state, Stage.POSITION)
        system.realize(self._state, Stage.POSITION)
        if sum(self._matter.num_equations(self._state)):
            raise ModelError(
                "the state has constraints that are enabled, which InverseKinematics does not fulfil: take an Assembler, with "
                "goals of mobod.assembler.Markers, or disable them in the state"
            )
        if any(body.interpreter is not None for body in self._matter.body_list):
            raise ModelError(
                "a mobilizer is computed by Python, which the compiled search cannot call; give it compiled functions"
            )
        self.system, self.tolerance = system, positive("tolerance", tolerance)
        listed = hands if isinstance(hands, list) else [hands]
        self._hands = [self._hand(one) for one in listed]
        if not self._hands:
            raise ModelError("InverseKinematics takes one hand or more")
        if numbers("weights", weights).shape != (2,):
            raise ValueError(f"weights are two numbers, of errors of places and of orientations, not {weights!r}")
        place, turn = (positive(f"weights[{i}]", w) for i, w in enumerate(weights))
        k, tree = len(self._hands), self._state.tree
        self._goals = np.array([(body.index, *_ASKS[what]) for body, _, what in self._hands], np.int64)
        self._stations = np.array([X.p for _, X, _ in self._hands], np.float64)
        self._turns = np.array([np.asarray(X.R).T for _, X, _ in self._hands])
        self._weights = np.tile([place, turn], (k, 1)).astype(float)
        self._places = np.full(tree.nu, -1, np.int64)
        for body in self._matter.body_list:
            if not tree.fields["rates"][body.index]:
                first, n = tree.first_u[body.index], tree.num_u[body.index]
                self._places[first : first + n] = tree.first_q[body.index] + np.arange(n)
        self._rates_are_speeds = np.array_equal(self._places, np.arange(tree.nq))
        self._num_errors = int(3 * self._goals[:, 1:].sum())
        self._used = self._mobilities(mobilities)
        at_position = np.abs(self._state.field("prescribed_level")) == protocol.POSITION
        #: Of each coordinate whether a lock or a motion says what it is, whatever a seed says.
        self._given = np.repeat(at_position, tree.num_q)
        self._limits = self._bounds(limits)
        #: States and work space of searches that are not running: one for each thread.
        self._idle: list[Any] = []
        self._rest, self._gains = np.zeros(tree.nu), np.zeros(tree.nu)
        if rest is not None:
            q = vector_of("rest", rest, tree.nq)
            there = self._places >= 0
            self._rest[there], self._gains[there] = q[self._places[there]], _GAIN

    def __repr__(self) -> str:
        hands = ", ".join(f"{what} of {body.name!r}" for body, _, what in self._hands)
        return f"<InverseKinematics: {hands}; {int(self._used.sum())} mobilities>"

    # ------------------------------------------------------------------------------------------ what users call

    @property
    def limits(self) -> Array:
        """The least and the largest coordinate of each mobility ``(nu, 2)``, infinite where there is no limit."""
        return self._limits.copy()

    def random_seeds(self, n: int, seed: int = 0) -> Array:
        """N seeds ``(n, nq)``, at random: coordinates within their limits, or within 3.14 of the state's."""
        rng = np.random.default_rng(integer("seed", seed))
        q = np.tile(self._state.q_values[: self._state.tree.nq], (integer("n", n, least=1), 1))
        for j, at in enumerate(self._places):
            if at >= 0 and self._used[j]:
                low, high = self._limits[j]
                low = q[0, at] - np.pi if not np.isfinite(low) else low
                high = q[0, at] + np.pi if not np.isfinite(high) else high
                q[:, at] = rng.uniform(low, high, n)
        return q

    def solve(self, targets: Any, seeds: ArrayLike | None = None, *, max_iterations: int = 200, threads: int = 1) -> Reached:
        """Bring the hands to their targets.

        Parameters
        ----------
        targets : Transform, (3,) array_like, Rotation or ``(4, 4)`` array; or a list of these, one a hand
            In Ground: poses, places, orientations, as the hands say. Arrays with one more axis in front have one a seed.
        seeds : (nq,) or (n, nq) array_like, optional
            Where to begin, and where what may not move stays; the state's own coordinates unless given.
        max_iterations : int
        threads : int
            That share the seeds.

        Returns
        -------
        Reached
            One row a seed, if these are rows.

        Raises
        ------
        ValueError, TypeError
            If targets or seeds have the wrong shape.
        """
        tree = self._state.tree
        start = self._state.q_values[: tree.nq] if seeds is None else numbers("seeds", seeds)
        if start.ndim not in (1, 2) or start.shape[-1] != tree.nq or len(start) == 0:
            raise ValueError(f"seeds are coordinates ({tree.nq},), or rows of them; their shape is {start.shape}")
        if not np.isfinite(start).all():
            raise ModelError("seeds have to be finite")
        q = np.array(np.atleast_2d(start), np.float64)
        q[:, self._given] = self._state.q_values[: tree.nq][self._given]
        rows = self._rows(targets, len(q))
        ways = np.full(tree.nu, _FARTHEST)
        out = self._run(q, rows, ways, integer("max_iterations", max_iterations, least=1), integer("threads", threads, least=1))
        reached, iterations = out[:, _reaching.REACHED] == 1.0, out[:, _reaching.ITERATIONS].astype(int)
        if start.ndim == 1:
            return Reached(q[0], bool(reached[0]), float(out[0, _reaching.ERROR]), int(iterations[0]))
        return Reached(q, reached, out[:, _reaching.ERROR].copy(), iterations)

    def calc_speeds(self, targets: Any, q: ArrayLike, interval: float, max_speed: ArrayLike) -> Array:
        """The speeds ``(nu,)`` that bring the hands closest to their targets within one period of a controller.

        Parameters
        ----------
        targets
            As `solve` takes them, for one seed.
        q : (nq,) array_like
            Where the robot is.
        interval : float
            The period.
        max_speed : float or (nu,) array_like
            Of the mobilities; limits of coordinates are kept, too.

        Returns
        -------
        (nu,) array
            Held for the interval, they are one damped step towards the targets, as much of it as the limits of speed allow.

        Raises
        ------
        ValueError
            If a shape is wrong.
        """
        tree, h = self._state.tree, positive("interval", interval)
        here = vector_of("q", q, tree.nq)
        fastest = numbers("max_speed", max_speed)
        if fastest.shape not in ((), (tree.nu,)) or not (fastest > 0.0).all():
            raise ValueError(f"max_speed is a number above zero, or {tree.nu} of them, one a mobility; got {max_speed!r}")
        ways = np.full(tree.nu, h * fastest)
        moved = here[None].copy()
        self._run(moved, self._rows(targets, 1), ways, 1, 1)
        if self._rates_are_speeds:
            return np.asarray((moved[0] - here) / h)
        between = self._state.copy()
        between.q = [*(0.5 * (moved[0] + here)), *between.q[tree.nq :]]
        self.system.realize(between, Stage.POSITION)
        return self._matter.multiply_by_n_inv(between, False, (moved[0] - here) / h)

    # ------------------------------------------------------------------------------------------ inside

    def _run(self, q: Array, targets: Array, ways: Array, most: int, threads: int) -> Array:
        tree, n, m = self._state.tree, len(q), self._num_errors
        outcomes = np.zeros((n, 3))
        settings = np.array([self.tolerance, float(most), _STILL])
        address, limits = advance.address(), self._limits

        def part(begin: int, end: int) -> int:
            try:
                idle = self._idle.pop()
            except IndexError:
                idle = (
                    self._state.copy(),
                    (
                        *(np.zeros((m, tree.nu)), np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros(tree.nu)),
                        *(np.zeros(tree.nu), np.zeros((tree.nu, 2)), np.zeros(tree.nu), np.zeros(tree.nq)),
                    ),
                )
            model = self._goals, self._stations, targets, self._weights, self._places, limits, self._used
            wishes = self._rest, self._gains, settings, ways
            row = int(_reaching.reach(idle[0].block, address, *model, *wishes, q, outcomes, *idle[1], begin, end))
            self._idle.append(idle)
            return row

        shares = min(threads, n)
        ends = [round(n * k / shares) for k in range(shares + 1)]
        if shares == 1:
            stopped = [part(0, n)]
        else:
            with ThreadPoolExecutor(shares) as pool:
                stopped = list(pool.map(part, ends[:-1], ends[1:]))
        for where, end in zip(stopped, ends[1:], strict=True):
            if where != end:
                raise ConvergenceError(f"the mechanism cannot be realized at seed {where}: {q[where]}")
        return outcomes

    def _hand(self, given: Any) -> tuple[MobilizedBody, Transform, str]:
        parts = given if isinstance(given, tuple) else (given,)
        if len(parts) > 3:
            raise TypeError(f"a hand is a body, (body, frame) or (body, frame, what), not {given!r}")
        body = self._matter.find_body(parts[0])
        frame = parts[1] if len(parts) > 1 else Transform()
        if not isinstance(frame, Transform):
            frame = Transform(vector("the station of a hand", frame))
        what = parts[2] if len(parts) > 2 else POSE
        among("what is asked of a hand", what, _ASKS, ModelError)
        return body, frame, what

    def _mobilities(self, given: Iterable[Any] | None) -> Array:
        tree = self._state.tree
        used = np.zeros(tree.nu)
        if given is None:
            used[:] = 1.0
        else:
            for pair in listed_mobilities(given):
                used[self._number(pair, "an entry of mobilities")] = 1.0
        for body in self._matter.body_list:  # what is locked or prescribed stays
            if self._state.field("prescribed_level")[body.index]:
                used[tree.u_slices[body.index]] = 0.0
        return used

    def _number(self, pair: Any, what: str) -> int:
        body, which = self._matter.find_mobility(pair, what)
        return int(self._state.tree.first_u[body.index]) + which

    def _bounds(self, given: Mapping[Any, tuple[float, float]] | None) -> Array:
        bounds = np.tile([-np.inf, np.inf], (self._state.tree.nu, 1))
        for force in self.system.all_forces():
            if isinstance(force, MobilityLinearStop) and not force.is_disabled(self._state):
                at = self._places == self._state.tree.first_q[force.default_integers[0]] + force.default_integers[1]
                low, high = force.get_lower_bound(self._state), force.get_upper_bound(self._state)
                bounds[at] = np.maximum(bounds[at, 0], low)[0], np.minimum(bounds[at, 1], high)[0]
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"limits are a mapping, {{(body, 0): (low, high)}}, not {given!r}")
        for pair, bound in (given or {}).items():
            j = self._number(pair, "a key of limits")
            if numbers("limits", bound).shape != (2,):
                raise ValueError(f"limits of {pair!r} are two numbers, the lower one first, not {bound!r}")
            low, high = bound
            if self._places[j] < 0:
                raise ModelError(f"limits are of coordinates whose q_dot is u, which {pair!r} is not")
            if not low <= high:
                raise ModelError(f"the lower limit of {pair!r} has to be at most the upper one; they are {low} and {high}")
            bounds[j] = low, high
        return bounds

    def _rows(self, targets: Any, n: int) -> Array:
        """Targets of the bodies themselves (n, k, 12): a rotation, then the place of the station."""
        of_hands = isinstance(targets, list) and (len(self._hands) > 1 or isinstance(targets[0], Transform | Rotation))
        listed: Sequence[Any] = targets if of_hands and (len(self._hands) > 1 or len(targets) == 1) else [targets]
        if len(listed) != len(self._hands):
            raise ValueError(f"there are {len(self._hands)} hands, and {len(listed)} targets; give a list of one each")
        found = np.zeros((n, len(listed), 12))
        for k, (one, (_, _, what)) in enumerate(zip(listed, self._hands, strict=True)):
            R, p = _target(one, what)
            if (R.ndim == 3 and len(R) not in (1, n)) or (p.ndim == 2 and len(p) not in (1, n)):
                raise ValueError(f"target {k} has {max(len(R), len(p))} rows, and there are {n} seeds")
            found[:, k, :9] = (R @ self._turns[k]).reshape(*R.shape[:-2], 9)
            found[:, k, 9:] = p
        if not np.isfinite(found).all():
            raise ModelError("targets have to be finite")
        return found


def _target(one: Any, what: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Rotations (..., 3, 3) and places (..., 3)."""
    if isinstance(one, Transform):
        return np.asarray(one.R), np.asarray(one.p)
    if isinstance(one, Rotation):
        return np.asarray(one), np.zeros(3)
    array = numbers("a target", one)
    if array.shape[-2:] == (4, 4):
        return _checked(array[..., :3, :3]), array[..., :3, 3]
    if what == POSITION and array.shape[-1:] == (3,) and array.ndim <= 2:
        return np.eye(3), array
    if what == ORIENTATION and array.shape[-2:] == (3, 3):
        return _checked(array), np.zeros(3)
    raise ValueError(
        f"the target of a hand's {what} is a Transform, a (4, 4) array"
        + {POSE: "", POSITION: ", or a place (3,)", ORIENTATION: ", a Rotation or a (3, 3) array"}[what]
        + f", or rows of these; its shape is {array.shape}"
    )


def _checked(R: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Arrays (..., 3, 3), if they are rotations."""
    if not np.isfinite(R).all():
        raise ModelError("targets have to be finite")
    error = np.abs(R.swapaxes(-1, -2) @ R - np.eye(3)).max(initial=0.0)
    if error > NOT_A_ROTATION or (np.linalg.det(R) < 0.0).any():
        raise ModelError(
            "the orientation of a target has to be a right-handed orthonormal matrix; the products of the columns of one "
            f"differ from 0 and 1 by {error:.3g}, or it is a reflection"
        )
    return R


def vector_of(name: str, value: ArrayLike, n: int) -> Array:
    """n finite numbers."""
    row = numbers(name, value)
    if row.shape != (n,) or not np.isfinite(row).all():
        raise ValueError(f"{name} is {n} finite numbers; its shape is {row.shape}")
    return row
