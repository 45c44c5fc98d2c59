"""The methods that advance a state in time, one a file. `mobod.TimeStepper` drives them."""

from ..value.attributes import explain_names
from .base import Integrator
from .bdf import BDF
from .explicit_euler import ExplicitEuler
from .runge_kutta2 import RungeKutta2
from .runge_kutta3 import RungeKutta3
from .runge_kutta_feldberg import RungeKuttaFeldberg
from .runge_kutta_merson import RungeKuttaMerson
from .semi_explicit_euler import SemiExplicitEuler
from .semi_explicit_euler2 import SemiExplicitEuler2
from .time_stepping import TimeStepping
from .verlet import Verlet

__all__ = [
    "BDF",
    "ExplicitEuler",
    "Integrator",
    "RungeKutta2",
    "RungeKutta3",
    "RungeKuttaFeldberg",
    "RungeKuttaMerson",
    "SemiExplicitEuler",
    "SemiExplicitEuler2",
    "TimeStepping",
    "Verlet",
]

explain_names(__name__)
