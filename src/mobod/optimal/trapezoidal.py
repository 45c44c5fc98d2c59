"""The trapezoidal rule: x_1 - x_0 = h/2 (f_0 + f_1), controls linear in each interval. Source: Betts 2010, section 4.5."""

import numpy as np

from .scheme import Scheme

TRAPEZOIDAL = Scheme(
    "trapezoidal",
    order=2,
    points=np.array([0.0, 1.0]),
    L=np.array([[-1.0, 1.0]]),
    W=np.array([[0.5, 0.5]]),
    weights=np.array([0.5, 0.5]),
)
