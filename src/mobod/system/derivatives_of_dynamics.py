"""What derivatives of forward and inverse dynamics are returned as."""

from __future__ import annotations

from typing import NamedTuple

from ..algebra.arrays import Array


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of ``u_dot``: by q in its tangent, u, z, generalized forces on the mobilities, and time."""

    q: Array
    u: Array
    z: Array
    mobility_forces: Array
    time: Array


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of `MultibodySystem.calc_inverse_dynamics`: by q in its tangent, u, and u_dot, which is M."""

    q: Array
    u: Array
    u_dot: Array
