"""The methods that advance a state in time, one a file. `mobod.TimeStepper` drives them."""

from .base import Integrator
from .runge_kutta_merson import RungeKuttaMerson

__all__ = ["Integrator", "RungeKuttaMerson"]
