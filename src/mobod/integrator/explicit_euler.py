"""ExplicitEuler: one stage, first order; the error is the difference from the trapezoidal rule, by the rate at the step's end.

     0  |
     1  |  1
        |  1    0         e = (-1/2, 1/2)

The second stage is the end of the step, so that its rate is the next step's first: one evaluation a step.

Source: Hairer, Norsett and Wanner 1993, II.1 (Euler, Heun).
"""

import numpy as np

from ..algebra.arrays import Array
from ..stepping import record as rk
from .base import Integrator


class ExplicitEuler(Integrator):
    """Euler's method, of first order, with an estimate of the error. For comparison, and for teaching.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.ExplicitEuler(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 1)
    """

    order = 1
    error_order = 2
    table = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, -0.5, 0.5]])

    #: The steps of a bouncing body add as much energy as an impact takes when flights are five steps long or six errors high.
    _FLIGHT_IN_STEPS, _FLIGHT_IN_ERRORS = 5.0, 6.0

    def flight_resolution(self, q: Array) -> tuple[float, float, bool]:
        """The resolution of flights between impacts; see `Integrator`."""
        step = float(self.control[rk.FIXED_STEP])
        return self._FLIGHT_IN_STEPS * step, 0.0 if step else self._lowest_flight(q, self._FLIGHT_IN_ERRORS), True
