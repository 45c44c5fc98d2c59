"""DrawnAsBall: base of the kinds that are drawn as a ball."""

from __future__ import annotations

from ..value.checks import positive
from .base import MobilizedBody


class DrawnAsBall(MobilizedBody):
    """A kind with a radius for pictures, which has no effect on the dynamics."""

    default_radius = 0.1

    def get_default_radius(self) -> float:
        """The radius of the ball that pictures show in place of the mobilizer; length. For drawing only."""
        return self.default_radius

    def set_default_radius(self, r: float) -> DrawnAsBall:
        """Change the radius of the ball that pictures show; no change of the topology, as nothing moves differently.

        Raises
        ------
        TypeError
            If it is no real number.
        ModelError
            If it is not finite, or not above zero.
        """
        self.default_radius = positive(f"the radius that {self._name!r} is drawn with", r)
        return self

    def clone_for_new_parent(self, parent: MobilizedBody) -> MobilizedBody:
        """A new body of the same kind and settings on another parent, whose system it joins, under a name of its own."""
        other = super().clone_for_new_parent(parent)
        assert isinstance(other, DrawnAsBall)
        other.default_radius = self.default_radius
        return other
