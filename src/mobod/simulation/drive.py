"""drive: what a given motion of some joints takes, and what all joints bear, also of closed loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ConvergenceError, ModelError
from ..function.base import Function
from ..mobilizer.base import MobilizedBody
from ..motion.base import Motion
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import checks
from ..value.stage import Stage
from .names import coordinate_names, speed_names
from .quantities import NAMED
from .trajectory import Trajectory

#: What is recorded of each time.
_QUANTITIES = "motion_forces", "motion_power", "u_dot", "reactions", "constraint_forces"
#: Into how many parts the way from one time to the next is halved, at most, where a loop does not close: 2 to this power.
_HALVINGS = 8
_LEVEL = Motion.Level


def drive(
    system: MultibodySystem,
    state: State,
    motions: Mapping[MobilizedBody | str, Any],
    times: npt.ArrayLike,
    *,
    accuracy: float = 1e-9,
) -> Trajectory:
    """Calculate the forces that a given motion of some joints takes, and the loads of all joints: inverse dynamics, loops too.

    At each time the driven coordinates have the values, rates and second rates of their functions; all others follow by the
    constraints; what drives have to exert, and what joints bear, follows from the accelerations and all forces of the system.
    Nothing is integrated.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Roughly where the motion begins: which of the ways to close a loop is meant. It is left as it is.
    motions : mapping
        By the driven body, its name or that of its joint: of each of its coordinates a `Function` of time, or its values at
        *times*, between which a spline of order five is laid; one of these, or a sequence where it has several coordinates.
    times : array_like (n,)
        Rising; of values given as numbers at least 6.
    accuracy : float
        Of constraints, as of `MultibodySystem.project_q`.

    Returns
    -------
    Trajectory
        Of *times*, with the quantities ``motion_forces`` ``(n, nu)``, what the drives exert at each speed, and zero where it is
        free; ``motion_power`` ``(n,)``; ``u_dot`` ``(n, nu)``; ``reactions`` ``(n, nb, 2, 3)``, torque and force that each
        joint exerts on its body, at its frame M, in Ground; ``constraint_forces`` ``(n, nc, 2, 3)``, what each constraint
        exerts on its second body, at that body's origin, in Ground: the load of the joint that closes a loop.

    Raises
    ------
    TypeError, ValueError
        If a body, a function or the times are none.
    ModelError
        If the rates of a driven body's coordinates are not its speeds (balls, free bodies), if it is driven already, or if the
        motions leave something free.
    ConvergenceError
        If a loop does not close at a time, which is named with the coordinates that it could not follow.

    Examples
    --------
    >>> import mobod as mb
    >>> import numpy as np
    >>> system, state = mb.examples.four_bar.build()
    >>> turn = mb.function.Linear([4.0, 1.0])  # 4 rad/s, from 1 rad
    >>> found = mb.drive(system, state, {"crank": turn}, np.linspace(0.0, 1.5, 101))
    >>> torque = found.quantities["motion_forces"][:, 0]
    >>> bool(torque.max() > 0.0 > torque.min())
    True
    """
    at = checks.numbers("times", times)
    if at.ndim != 1 or not len(at) or not np.all(np.isfinite(at)) or not np.all(np.diff(at) > 0.0):
        raise ValueError(f"times have to be finite and rising, one after the other, got {times!r}")
    if not isinstance(motions, Mapping) or not motions:
        raise TypeError(f"motions are functions of time by the body that they drive, {{crank: f}}, not {motions!r}")
    driven = [_Driven(system, body, given, at) for body, given in motions.items()]
    names = [one.body.name for one in driven]
    if len(set(names)) < len(names):
        raise ValueError(f"a body is driven twice: {names}")
    own = state.copy()
    system.realize_model(own)
    for one in driven:
        one.check(own)
    return _Run(system, own, driven, at, checks.positive("accuracy", accuracy, ValueError)).go()


class _Driven:
    """A body whose motion is given."""

    def __init__(self, system: MultibodySystem, body: Any, given: Any, times: Array) -> None:
        matter = system.get_matter_subsystem()
        named = matter.mobilities_by_name() if isinstance(body, str) else {}
        self.body: MobilizedBody = named[body][0] if body in named else matter.find_body(body)
        several = isinstance(given, Sequence) and not isinstance(given, str) and len(given) and not np.isscalar(given[0])
        self._of = [_rates_of(self.body.name, one, times) for one in (given if several else [given])]

    def check(self, state: State) -> None:
        """Refuse what cannot be driven."""
        name, n = self.body.name, len(self._of)
        q, u = self.body.q_slice(state), self.body.u_slice(state)
        if q.stop - q.start != u.stop - u.start or u.stop == u.start:
            raise ModelError(f"the rates of {name!r}'s coordinates are not its speeds: drive cannot move it")
        if n != u.stop - u.start:
            raise ValueError(f"{name!r} has {u.stop - u.start} coordinates, and {n} functions are given")
        if self.body.is_locked(state) or self.body.has_motion():
            raise ModelError(f"{name!r} is locked, or has a motion of its own; unlock it, or drive another body")

    def at(self, time: float) -> Array:
        """Values, rates and second rates, ``(3, n)``."""
        return np.array([one(time) for one in self._of]).T


def _rates_of(name: str, given: Any, times: Array) -> Any:
    """The function that gives value and two derivatives at a time."""
    if isinstance(given, Function):
        if given.get_argument_size() != 1 or given.get_max_derivative_order() < 2:
            raise ValueError(f"the function of {name!r} has to be of one argument, time, with two derivatives: {given!r}")
        return lambda t: (
            given.calc_value(np.array([t])),
            given.calc_derivative([0], np.array([t])),
            given.calc_derivative([0, 0], np.array([t])),
        )
    if callable(given):
        raise TypeError(f"the motion of {name!r} is {given!r}; give a mobod.function, such as function.Custom, or its values")
    values = checks.numbers(f"the values of {name!r}", given)
    if not values.ndim:
        raise ValueError(
            f"the motion of {name!r} is a mobod.function, function.Constant({given}) where it rests, not {given!r}"
        )
    if values.shape != times.shape or len(times) < 6:
        raise ValueError(
            f"values of {name!r} are one a time, at 6 times or more; got shape {values.shape} at {len(times)} times"
        )
    from scipy.interpolate import make_interp_spline

    spline = make_interp_spline(times, values, k=5)
    return lambda t: (spline(t), spline(t, 1), spline(t, 2))


class _Run:
    """The way along the times."""

    def __init__(self, system: MultibodySystem, state: State, driven: Sequence[_Driven], times: Array, accuracy: float) -> None:
        self._system, self._state, self._driven, self._times, self._accuracy = system, state, driven, times, accuracy

    def go(self) -> Trajectory:
        """All rows."""
        system, state, n = self._system, self._state, len(self._times)
        y: dict[str, list[Any]] = {name: [] for name in ("q", "u", "z", "energy", *_QUANTITIES)}
        for k, time in enumerate(self._times.tolist()):
            self._move_to(time)
            if k == 0:
                self._refuse_free()
            system.realize(state, Stage.ACCELERATION)
            for name, value in (("q", state.q), ("u", state.u), ("z", state.z), ("energy", system.calc_energy(state))):
                y[name].append(np.array(value))
            for name in _QUANTITIES:
                y[name].append(np.array(NAMED[name](system, state)))
        columns = {name: np.array(rows).reshape(n, *np.shape(rows[0])) for name, rows in y.items()}
        return Trajectory(
            system=system,
            time=self._times,
            q=columns["q"],
            u=columns["u"],
            z=columns["z"],
            energy=columns["energy"],
            coordinate_names=coordinate_names(system, state),
            speed_names=speed_names(system, state),
            quantities={name: columns[name] for name in _QUANTITIES},
            state=self._unlocked(),
        )

    def _unlocked(self) -> State:
        state = self._state.copy()
        for one in self._driven:
            one.body.unlock(state, impulse=False)
        return state

    def _move_to(self, time: float) -> None:
        """Positions, speeds and accelerations of a time; where a loop does not close at once, by halves of the way."""
        state, begin = self._state, {id(one): np.array(one.body.get_q_as_vector(self._state)) for one in self._driven}
        target = {id(one): one.at(time) for one in self._driven}
        start, before = state.time, state.q.copy()
        for halvings in range(_HALVINGS + 1):
            parts = 2**halvings
            try:
                for part in range(1, parts + 1):
                    share = part / parts
                    self._close(start + share * (time - start), begin, target, share)
                break
            except ConvergenceError as error:
                for one in self._driven:
                    one.body.unlock(state, impulse=False)
                state.q = before
                if halvings == _HALVINGS:
                    values = ", ".join(f"{one.body.name} = {target[id(one)][0].tolist()}" for one in self._driven)
                    raise ConvergenceError(
                        f"at time {time:.9g} the constraints cannot be fulfilled with {values}: the mechanism does not reach "
                        f"so far, or *state* is too far from where the motion begins ({error})"
                    ) from None
        for level in (_LEVEL.VELOCITY, _LEVEL.ACCELERATION):
            for one in self._driven:
                one.body.lock_at(state, target[id(one)][1 if level is _LEVEL.VELOCITY else 2], level, impulse=False)
            if level is _LEVEL.VELOCITY:
                self._system.project_u(state, self._accuracy)

    def _close(self, time: float, begin: Mapping[int, Array], target: Mapping[int, Array], share: float) -> None:
        """Driven coordinates at a part of their way, and all others where the constraints have them."""
        state = self._state
        state.time = time
        for one in self._driven:
            first, last = begin[id(one)], target[id(one)][0]
            one.body.lock_at(state, first + share * (last - first), _LEVEL.POSITION, impulse=False)
        self._system.prescribe(state)
        self._system.project_q(state, self._accuracy)

    def _refuse_free(self) -> None:
        free = self._system.diagnose_constraints(self._state).free_motions
        if free:
            bodies = sorted({name for one in free for name in one.bodies})
            raise ModelError(
                f"the given motions leave {len(free)} motions free, of {', '.join(map(repr, bodies))}: give those too, or lock "
                "what is to stand"
            )
