"""Hermite and Simpson, separated: states cubic, controls quadratic in each interval, by its ends and its middle.

    x_m = (x_0 + x_1)/2 + h/8 (f_0 - f_1)        x_1 - x_0 = h/6 (f_0 + 4 f_m + f_1)

Source: Betts 2010, section 4.5; Kelly 2017.
"""

import numpy as np

from .scheme import Scheme

# fmt: off
HERMITE_SIMPSON = Scheme(
    "hermite-simpson",
    order=4,
    points=np.array([0.0, 0.5, 1.0]),
    L=np.array([[-0.5, 1.0, -0.5],
                [-1.0, 0.0,  1.0]]),
    W=np.array([[1 / 8, 0.0,  -1 / 8],
                [1 / 6, 4 / 6, 1 / 6]]),
    weights=np.array([1.0, 4.0, 1.0]) / 6.0,
)
# fmt: on
