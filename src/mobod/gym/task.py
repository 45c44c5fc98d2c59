"""Tasks: a system, and functions of its states that are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..integrator import Integrator, RungeKutta3
from ..mobilizer.base import MobilizedBody
from ..state.state import State
from ..system.system import MultibodySystem
from ..value import MassProperties
from ..value.checks import finite, integer
from ..value.rows import ten

Array = npt.NDArray[np.float64]
Points = list[tuple["MobilizedBody", Array]]


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """An environment's system, and functions of its states, which Numba compiles.

    The functions get arrays of NumPy's of one state: ``q (nq,)``, ``u (nu,)``, ``points (k, 6)``, the location and the velocity
    of each of `points` in Ground, ``action`` and ``goal (num_goals,)``, numbers of an episode that `start` draws. The names of
    their arguments say what they get, in any order: all may name ``parameters (p,)``, those of `vary` in this episode; `act`,
    `observe`, `reward` and `fails` ``time``; the last three ``contacts (c, 3)``, the force on each of the listed bodies by all
    compliant contact, in Ground, and ``sensors (s,)``, the listed measures end to end. They call what Numba compiles: `math`,
    NumPy, functions decorated with ``numba.njit``.

    Parameters
    ----------
    build : callable
        ``build() -> (system, state)`` or ``(system, state, points)`` or ``(system, state, points, more)``. Episodes begin at
        the state, but for what `start` changes; points are pairs of a body and a station; *more* is a dict, of
        ``"contacts"``, bodies, and ``"sensors"``, measures.
    low, high : sequence of float
        Bounds of each number of an action.
    act : callable
        ``act(action, q, u, goal, forces)`` fills the mobility forces ``(nu,)``, which are held for *control_interval*.
    start : callable
        ``start(random, q, u, goal)`` changes q, u and the goal at the beginning of an episode, by ``random``, `num_random`
        numbers between 0 and 1.
    observe : callable
        ``observe(q, u, points, goal, out)`` fills an observation.
    num_observations : int
        How many numbers it is.
    reward : callable
        ``reward(q, u, points, action, goal) -> float``, after a step.
    fails : callable, optional
        ``fails(q, u, points, goal) -> bool``: whether the episode has terminated. It never does unless given.
    interval : float
        Simulated time of a step of the environment.
    control_interval : float, optional
        How often *act* is called; the whole interval unless given.
    step_size : float
        Of the integrator.
    integrator : class of `mobod.integrator`
        One that runs in lanes is much faster, see `Ensemble.step`.
    max_episode_steps : int
        Steps after which an episode is truncated.
    vary : callable, optional
        ``vary(system) -> [(setter, low, high), ...]``: numbers that each episode draws its own of, uniformly, such as
        ``(spring.set_stiffness, 80.0, 120.0)``: setters that `Ensemble.set_each` takes. Of `set_body_mass_properties` the
        bounds are `MassProperties`: mass, first moments and inertia go along a line between these, as those of a mixture
        of both bodies do, and ``parameters`` has the mass. A function of one's own, ``f(state, number)``, is called for each
        environment where an episode of any begins: slow.
    action_delay : int or pair of int
        How many control intervals later an action acts; of a pair each episode draws its own, both included.
    observation_delay : int or pair of int
        How many steps old an observation is, likewise. Rewards and what ends an episode are not delayed.
    num_random, num_goals : int
    observation_low, observation_high : sequence of float, optional
        Bounds that observations keep; none unless given.

    Raises
    ------
    ValueError, TypeError
        If bounds or intervals make no sense, or the integrator is no class.
    """

    build: Callable[[], tuple[Any, ...]]
    low: Sequence[float]
    high: Sequence[float]
    act: Callable[..., None]
    start: Callable[..., None]
    observe: Callable[..., None]
    num_observations: int
    reward: Callable[..., float]
    fails: Callable[..., bool] | None = None
    interval: float
    control_interval: float | None = None
    step_size: float
    integrator: type[Integrator] = RungeKutta3
    max_episode_steps: int = 500
    vary: Callable[[Any], Sequence[tuple[Callable[..., Any], Any, Any]]] | None = None
    action_delay: int | tuple[int, int] = 0
    observation_delay: int | tuple[int, int] = 0
    num_random: int = 0
    num_goals: int = 0
    observation_low: Sequence[float] | None = None
    observation_high: Sequence[float] | None = None

    def __post_init__(self) -> None:
        low, high = np.asarray(self.low, float), np.asarray(self.high, float)
        if low.ndim != 1 or low.shape != high.shape or not (low <= high).all():
            raise ValueError(f"low and high are bounds of each number of an action, got {self.low} and {self.high}")
        for name in ("interval", "step_size", "control_interval"):
            value = getattr(self, name)
            if value is not None and not value > 0.0:
                raise ValueError(f"{name} has to be positive, got {value}")
        if not (isinstance(self.integrator, type) and issubclass(self.integrator, Integrator)):
            raise TypeError(f"integrator is a class of mobod.integrator, such as TimeStepping, not {self.integrator!r}")
        repeats = self.interval / (self.control_interval or self.interval)
        if abs(repeats - round(repeats)) > 1e-9 or repeats < 0.5:
            raise ValueError(
                f"interval has to be a multiple of control_interval, got {self.interval} and {self.control_interval}"
            )
        for name in ("num_observations", "max_episode_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} has to be 1 or more, got {getattr(self, name)}")
        for name in ("action_delay", "observation_delay"):
            self.delays(name)
        for name in ("observation_low", "observation_high"):
            bounds = getattr(self, name)
            if bounds is not None and len(bounds) != self.num_observations:
                raise ValueError(f"{name} has {self.num_observations} numbers, got {len(bounds)}")

    @property
    def num_actions(self) -> int:
        """Numbers of an action."""
        return len(self.low)

    @property
    def repeats(self) -> int:
        """Number of times that `act` is called in a step."""
        return round(self.interval / (self.control_interval or self.interval))

    def delays(self, name: str) -> tuple[int, int]:
        """The least and the largest ``action_delay`` or ``observation_delay``."""
        given = getattr(self, name)
        pair = given if isinstance(given, tuple | list) else (given, given)
        if len(pair) != 2:
            raise ValueError(f"{name} is an integer, or the least and the largest; got {given!r}")
        low, high = (integer(name, one, least=0) for one in pair)
        if low > high:
            raise ValueError(f"the least {name} is above the largest, {given!r}")
        return low, high

    def varied(self, system: MultibodySystem) -> list[tuple[Callable[..., Any], Array, Array]]:
        """The setters that `vary` names, each with the ends of what episodes draw: one number, or the ten of a body.

        The ten are mass, first moments and inertia. What lies between those of two bodies is a body, too: it would not always
        be with mass centers.

        Raises
        ------
        TypeError, ValueError
            If it returns something else, or bounds make no sense.
        """
        if self.vary is None:
            return []
        if not callable(self.vary):
            raise TypeError(f"vary of a Task is a function, vary(system) -> [(setter, low, high), ...], not {self.vary!r}")
        made = self.vary(system)
        found: list[tuple[Callable[..., Any], Array, Array]] = []
        for one in made if isinstance(made, list | tuple) else [made]:
            if not isinstance(one, list | tuple) or len(one) != 3 or not callable(one[0]):
                raise TypeError(f"vary of a Task returns a list of (setter, low, high), not {one!r}")
            low, high = (
                _moments(bound)
                if isinstance(bound, MassProperties)
                else np.array([finite("a bound of vary", bound)], np.float64)
                for bound in one[1:]
            )
            if low.shape != high.shape:
                raise TypeError(
                    f"vary of a Task gives {one[0]!r} the bounds {one[1]} and {one[2]}; both are numbers or MassProperties"
                )
            if low[0] > high[0]:
                raise ValueError(f"vary of a Task gives {one[0]!r} the bounds {one[1]} and {one[2]}; the lower one comes first")
            found.append((one[0], low, high))
        return found

    def make(self) -> tuple[MultibodySystem, State, Points, Mapping[str, Sequence[Any]]]:
        """The system, the state that episodes begin at, the points, and what more is to be seen.

        Raises
        ------
        ModelError
            If `build` returns something else.
        """
        made = self.build()
        if not isinstance(made, tuple) or len(made) not in (2, 3, 4):
            raise ModelError(f"build of a Task returns (system, state), with points and a dict of more behind it; got {made!r}")
        system, state, *rest = made
        points = [(body, np.asarray(station, float)) for body, station in (rest[0] if rest else ())]
        more = rest[1] if len(rest) == 2 else {}
        if not isinstance(more, Mapping) or set(more) - {"contacts", "sensors"}:
            raise ModelError(f"what build of a Task returns last is a dict of 'contacts' and 'sensors', got {more!r}")
        return system, state, points, more


def _moments(m: MassProperties) -> Array:
    """Mass, first moments, and inertia about the origin."""
    found = np.array(ten(m))
    found[1:4] *= m.mass
    return found


def of_moments(values: Array) -> Array:
    """Rows of mass, mass center and inertia, of those of mass, first moments and inertia."""
    found = values.copy()
    found[:, 1:4] /= np.where(values[:, :1] == 0.0, 1.0, values[:, :1])
    return found
