"""The methods that advance a state in time, one a file. `mobod.TimeStepper` drives them."""

from ..value.attributes import explain_names
from .base import Integrator as Integrator
from .bdf import BDF as BDF
from .explicit_euler import ExplicitEuler as ExplicitEuler
from .runge_kutta2 import RungeKutta2 as RungeKutta2
from .runge_kutta3 import RungeKutta3 as RungeKutta3
from .runge_kutta_feldberg import RungeKuttaFeldberg as RungeKuttaFeldberg
from .runge_kutta_merson import RungeKuttaMerson as RungeKuttaMerson
from .semi_explicit_euler import SemiExplicitEuler as SemiExplicitEuler
from .semi_explicit_euler2 import SemiExplicitEuler2 as SemiExplicitEuler2
from .time_stepping import TimeStepping as TimeStepping
from .verlet import Verlet as Verlet

explain_names(__name__)
