"""RungeKuttaFeldberg: six stages, fifth order, with one of fourth embedded: Fehlberg's 4(5) pair, gone on with the better one.

      0   |
     1/4  |    1/4
     3/8  |    3/32        9/32
    12/13 | 1932/2197  -7200/2197   7296/2197
      1   |  439/216       -8       3680/513    -845/4104
     1/2  |   -8/27         2      -3544/2565   1859/4104  -11/40
          |   16/135        0       6656/12825 28561/56430  -9/50   2/55
    e     |    1/360        0       -128/4275  -2197/75240   1/50   2/55

Source: Fehlberg 1969; Hairer, Norsett and Wanner 1993, II.4, table 4.5 (the name is spelled as Simbody spells it).
"""

import numpy as np

from .base import Integrator


class RungeKuttaFeldberg(Integrator):
    """Fehlberg's embedded Runge-Kutta pair of orders 5 and 4. For smooth, non-stiff systems at tight accuracy.

    Parameters are those of `Integrator`.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> method = mb.integrator.RungeKuttaFeldberg(system, accuracy=1e-3)
    >>> motion = mb.simulate(system, state, 0.1, integrator=method)
    >>> float(motion.time[-1]), method.get_method_max_order()
    (0.1, 5)
    """

    order = 5
    error_order = 5
    # fmt: off
    table = np.array([
        [0.0,     0.0,         0.0,          0.0,          0.0,           0.0,       0.0],
        [0.25,    0.25,        0.0,          0.0,          0.0,           0.0,       0.0],
        [0.375,   3 / 32,      9 / 32,       0.0,          0.0,           0.0,       0.0],
        [12 / 13, 1932 / 2197, -7200 / 2197, 7296 / 2197,  0.0,           0.0,       0.0],
        [1.0,     439 / 216,   -8.0,         3680 / 513,   -845 / 4104,   0.0,       0.0],
        [0.5,     -8 / 27,     2.0,          -3544 / 2565, 1859 / 4104,   -11 / 40,  0.0],
        [1.0,     16 / 135,    0.0,          6656 / 12825, 28561 / 56430, -9 / 50,   2 / 55],
        [0.0,     1 / 360,     0.0,          -128 / 4275,  -2197 / 75240, 1 / 50,    2 / 55],
    ])
    # fmt: on
