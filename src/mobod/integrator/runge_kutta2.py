"""RungeKutta2: two stages, second order: Heun's method, with Euler's for the estimate of the error.

     0  |
     1  |  1
        | 1/2  1/2        e = (-1/2, 1/2)

Source: Hairer, Norsett and Wanner 1993, II.1 (the explicit trapezoidal rule).
"""

import numpy as np

from .base import Integrator


class RungeKutta2(Integrator):
    """Heun's method, of second order, with Euler's embedded.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.RungeKutta2(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 2)
    """

    order = 2
    error_order = 2
    table = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.5, 0.5], [0.0, -0.5, 0.5]])
