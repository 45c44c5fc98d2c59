"""What the kinds share that are drawn as a ball."""

from __future__ import annotations

import numpy as np

from .base import MobilizedBody


class DrawnAsBall(MobilizedBody):
    """A kind with a radius for pictures, which no dynamics knows."""

    _default_radius = 0.1

    def get_default_radius(self) -> float:
        """The radius of the ball that pictures show in place of the mobilizer; length. For drawing only."""
        return self._default_radius

    def set_default_radius(self, r: float) -> DrawnAsBall:
        """Change the radius of the ball that pictures show; no change of the topology, as nothing moves differently.

        Raises
        ------
        ValueError
            If it is not positive and finite.
        """
        radius = float(r)
        if not 0.0 < radius < np.inf:
            raise ValueError(f"the radius that {self._name!r} is drawn with has to be positive and finite, got {r}")
        self._default_radius = radius
        return self

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent, whose system it joins, under a name of its own."""
        other = super().clone_for_new_parent(parent)
        assert isinstance(other, DrawnAsBall)
        other._default_radius = self._default_radius
        return other
