"""Rates of a state's variables, as they were computed."""

from __future__ import annotations

from ..algebra.arrays import Array
from ..value.stage import ACCELERATION, DYNAMICS, VELOCITY, Stage
from .storage import read_only
from .subsystem_parts import SubsystemParts


class Rates(SubsystemParts):
    """The part of `State` that hands out rates."""

    __slots__ = ()

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(nq,)``: N u. Needs VELOCITY."""
        if self.stage_number < VELOCITY:
            self.refuse("q_dot", Stage.VELOCITY)
        return self.q_dot_view

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(nu,)``. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("u_dot", Stage.ACCELERATION)
        return self.u_dot_view

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(nz,)``. Needs DYNAMICS."""
        if self.stage_number < DYNAMICS:
            self.refuse("z_dot", Stage.DYNAMICS)
        return self.z_dot_view

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(nq,)``: N udot + NDot u. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("q_dot_dot", Stage.ACCELERATION)
        return self.q_dot_dot_view

    @property
    def y_dot(self) -> Array:
        """Rates of y, in its order: of q, u, z, the particles' locations and velocities. Needs ACCELERATION."""
        if self.stage_number < ACCELERATION:
            self.refuse("y_dot", Stage.ACCELERATION)
        return read_only(self.record.y_dot[:, 0])
