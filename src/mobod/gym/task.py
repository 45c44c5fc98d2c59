"""What an environment is: a system, and functions of its states that are compiled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..errors import ModelError
from ..integrator import RungeKutta3

if TYPE_CHECKING:
    from ..integrator import Integrator
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..system.system import MultibodySystem


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Task:
    """An environment's system, and functions of its states, which Numba compiles.

    The functions get arrays of NumPy's of one state: ``q (nq,)``, ``u (nu,)``, ``points (k, 6)``, the location and the velocity
    of each of `points` in Ground, ``action`` and ``goal (num_goals,)``, numbers of an episode that `start` draws. They call
    what Numba compiles: `math`, NumPy, functions decorated with ``numba.njit``.

    Parameters
    ----------
    build : callable
        ``build() -> (system, state)`` or ``(system, state, points)``. Episodes begin at the state, but for what `start`
        changes; points are pairs of a body and a station.
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
    num_random, num_goals : int
    observation_low, observation_high : sequence of float, optional
        Bounds that observations keep; none unless given.

    Raises
    ------
    ValueError
        If bounds or intervals make no sense.
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
        repeats = self.interval / (self.control_interval or self.interval)
        if abs(repeats - round(repeats)) > 1e-9 or repeats < 0.5:
            raise ValueError(
                f"interval has to be a multiple of control_interval, got {self.interval} and {self.control_interval}"
            )
        for name in ("num_observations", "max_episode_steps"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} has to be 1 or more, got {getattr(self, name)}")
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
        """How often `act` is called in a step."""
        return round(self.interval / (self.control_interval or self.interval))

    def make(self) -> tuple[MultibodySystem, State, list[tuple[MobilizedBody, npt.NDArray[np.float64]]]]:
        """The system, the state that episodes begin at, and the points.

        Raises
        ------
        ModelError
            If `build` returns something else.
        """
        made = self.build()
        if not isinstance(made, tuple) or len(made) not in (2, 3):
            raise ModelError(f"build of a Task returns (system, state) or (system, state, points), got {made!r}")
        system, state, *rest = made
        points = [(body, np.asarray(station, float)) for body, station in (rest[0] if rest else ())]
        return system, state, points
