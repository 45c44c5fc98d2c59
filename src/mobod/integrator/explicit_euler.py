"""ExplicitEuler: one stage, first order; the error is the difference from the trapezoidal rule, by the rate at the step's end.

     0  |
     1  |  1
        |  1    0         e = (-1/2, 1/2)

The second stage is the end of the step, so that its rate is the next step's first: one evaluation a step.

Source: Hairer, Norsett and Wanner 1993, II.1 (Euler, Heun).
"""

import numpy as np

from .base import Integrator


class ExplicitEuler(Integrator):
    """Euler's method, of first order, with an estimate of the error. For comparison, and for teaching.

    Parameters are those of `Integrator`.
    """

    order = 1
    error_order = 2
    table = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, -0.5, 0.5]])
