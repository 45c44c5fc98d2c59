"""RungeKuttaMerson: five stages, fourth order, with Merson's estimate of the error. The workhorse for non-stiff systems.

     0  |
    1/3 | 1/3
    1/3 | 1/6  1/6
    1/2 | 1/8   0   3/8
     1  | 1/2   0  -3/2   2
        | 1/6   0    0   2/3  1/6         e = 1/30 (2, 0, -9, 8, -1)

Source: Merson 1957; Hairer, Norsett and Wanner 1993, II.4, table 4.1.
"""

import numpy as np

from .base import Integrator


class RungeKuttaMerson(Integrator):
    """Merson's embedded Runge-Kutta method of fourth order.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-8))
    >>> stepper.initialize(state)
    >>> stepper.step_to(1.0)
    <StepStatus.REACHED_REPORT_TIME: 1>
    """

    order = 4
    error_order = 4
    # fmt: off
    table = np.array([
        [0.0,     0.0,     0.0,      0.0,     0.0,     0.0],
        [1.0 / 3, 1.0 / 3, 0.0,      0.0,     0.0,     0.0],
        [1.0 / 3, 1.0 / 6, 1.0 / 6,  0.0,     0.0,     0.0],
        [0.5,     0.125,   0.0,      0.375,   0.0,     0.0],
        [1.0,     0.5,     0.0,     -1.5,     2.0,     0.0],
        [1.0,     1.0 / 6, 0.0,      0.0,     2.0 / 3, 1.0 / 6],
        [0.0,     2.0 / 30, 0.0,    -9.0 / 30, 8.0 / 30, -1.0 / 30],
    ])
    # fmt: on
