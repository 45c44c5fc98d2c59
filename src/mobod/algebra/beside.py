"""Numbers of one state side by side as lanes, so that one vector does at once what is alike; and each taken out again.

Kernels that are in the cache know these functions by name: one that is to do something else takes another name.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def three_beside(a: Any, b: Any, c: Any) -> Any:
    """Three float64 as lanes, the last ones also where there is nothing else to do; of lanes *a*, for which nobody asks."""
    return np.array([a, b, c])


def taken(x: Any, k: int, like: Any) -> Any:
    """The number in lane *k*; of the scalar of *like*, so that kernels in lanes, which do not come here, can be typed."""
    return float(x[k])
