"""Weld: no motion. F and M are one. 0 coordinates, 0 speeds.

R_FM = 1   p_FM = 0
"""

from __future__ import annotations

from typing import Any

from .base import Facts, MobilizedBody

KIND = 10


def transform(q: Any) -> Any:  # X_FM: the initial value in every record, so that `_dispatch` needs no branch for it
    return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0), (0.0, 0.0, 0.0)


def hinge(q: Any) -> Any:  # no columns
    return ()


class Weld(MobilizedBody):
    """No motion: the frame M of the body stays on the frame F of its parent."""

    facts = Facts(KIND, num_q=0, num_u=0, transform=transform, hinge=hinge)
