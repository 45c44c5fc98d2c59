"""RungeKutta3: three stages, third order: Kutta's method, with the midpoint rule for the estimate of the error.

     0  |
    1/2 | 1/2
     1  | -1    2
        | 1/6  2/3  1/6   e = 1/6 (1, -2, 1)

Source: Kutta 1901; Hairer, Norsett and Wanner 1993, II.1.
"""

import numpy as np

from .base import Integrator


class RungeKutta3(Integrator):
    """Kutta's method of third order, with the midpoint rule, of second, embedded.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.RungeKutta3(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 3)
    """

    order = 3
    error_order = 3
    # fmt: off
    table = np.array([
        [0.0, 0.0,      0.0,     0.0],
        [0.5, 0.5,      0.0,     0.0],
        [1.0, -1.0,     2.0,     0.0],
        [1.0, 1.0 / 6,  2.0 / 3, 1.0 / 6],
        [0.0, 1.0 / 6, -1.0 / 3, 1.0 / 6],
    ])
    # fmt: on
