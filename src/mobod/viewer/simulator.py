"""Simulating while somebody watches: in small pieces of real time, with a spring from the mouse to a body."""

from __future__ import annotations

import time as _clock
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.stage import Stage

_FREQUENCY = 10.0  # of the spring with the mass that it feels; radians a second of the motion as it is watched


class Stepper(Protocol):
    """The stepper that advances a state: `TimeStepper`."""

    @property
    def state(self) -> State:
        """The state that it has reached."""
        ...

    def initialize(self, state: State) -> None:
        """Start from a state."""
        ...

    def step_to(self, time: float) -> Any:
        """Advance to a time."""
        ...


@dataclass
class Pull:
    """A spring from a station of a body to a point of Ground.

    Attributes
    ----------
    body : int
    station : (3,) array
        In the body's frame.
    target : (3,) array
        In Ground.
    """

    body: int
    station: Array
    target: Array


class Simulator:
    """Takes a state along.

    Parameters
    ----------
    system : MultibodySystem
    make_stepper : callable
        Makes what steps, when it is first needed: that compiles.
    """

    def __init__(self, system: MultibodySystem, make_stepper: Callable[[], Stepper]) -> None:
        self._system, self._make_stepper = system, make_stepper
        self._stepper: Stepper | None = None
        self._is_fresh = False
        self.pull: Pull | None = None
        #: Simulated time over the time that simulating took; NaN before the first piece.
        self.speed = np.nan

    def start(self, state: State) -> None:
        """Go on from another state."""
        if self._stepper is None:
            self._stepper = self._make_stepper()
        self._stepper.initialize(state)
        self._is_fresh = True

    def restart(self) -> None:
        """Forget where it was: somebody has moved the mechanism."""
        self._is_fresh = False

    def advance(self, state: State, duration: float) -> State:
        """Advance from *state*, as this has left it or somebody has changed it, by a duration; the state that is reached."""
        begin = _clock.perf_counter()
        if self.pull is not None:
            state = state.copy()
            apply_pull(self._system, state, self.pull, duration)
            self._is_fresh = False
        if not self._is_fresh or self._stepper is None:
            self.start(state)
        assert self._stepper is not None
        self._stepper.step_to(state.time + duration)
        took = _clock.perf_counter() - begin
        rate = duration / max(took, 1e-9)
        self.speed = rate if np.isnan(self.speed) else 0.9 * self.speed + 0.1 * rate
        return self._stepper.state


def apply_pull(system: MultibodySystem, state: State, pull: Pull, h: float) -> None:
    """Change u by the impulse of a critically damped spring over a time h; constraints keep theirs.

    The station's velocity v becomes what an implicit step of x'' = -w^2 x - 2 w x' gives, x from the target, had it no other
    forces: v+ = (v - h w^2 x) / (1 + h w)^2. The impulse for that, L = W^-1 (v+ - v), with W = J M^-1 ~J the station's inverse
    mass (Khatib 1987), goes to u by M^-1 ~J; where the body cannot move, W is singular, and there it gets none.
    """
    system.realize(state, Stage.VELOCITY)
    matter = system.get_matter_subsystem()
    body = matter.bodies[pull.body]
    place, velocity = body.find_station_location_and_velocity_in_ground(state, pull.station)
    w = _FREQUENCY
    wanted = (velocity - h * w**2 * (place - pull.target)) / (1.0 + h * w) ** 2
    system.realize(state, Stage.DYNAMICS)
    J = np.asarray(matter.calc_station_jacobian(state, body, pull.station)).reshape(3, -1)
    columns = np.column_stack([matter.multiply_by_m_inv(state, row) for row in J])
    impulse = np.linalg.pinv(J @ columns, rcond=1e-6) @ (wanted - velocity)
    state.u = state.u + columns @ impulse
    system.project_u(state)
