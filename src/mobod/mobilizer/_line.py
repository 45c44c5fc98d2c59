"""Lines: any orientation of M in F, and no spin about M's z axis. LineOrientation and FreeLine share this.

The speeds are the x and y components of w_FM, expressed in M. With x, y, z the axes of M, expressed in F (columns of R_FM):

    w_FM = u0 x + u1 y    H_FM = [x y]    HDot_FM = w_FM x [x y] = [-u1 z, u0 z]    so that HDot_FM u = 0

N = N_F [x y] with N_F that of a Ball, quaternion or angles; `_rates` multiplies by it. N^-1 = [x y]^T N_F^-1 leaves out
the spin about z that a q_dot may have. NDot = N_F' [x y] + N_F HDot_FM. Of a quaternion N is 1/2 [q i, q j], products of
quaternions; of angles (a, b, c), R_FM = Rx(a) Ry(b) Rz(c),

    N = [cos c / cos b, -sin c / cos b; sin c, cos c; -sin b cos c / cos b, sin b sin c / cos b]

N has rank 2 wherever it is finite: angles are singular where cos b = 0. That w_FM.z = 0 is not integrable: two speeds lead to
every orientation, hence as many coordinates as a Ball has. q and u of a reversed mobilizer are those of F in M, with the same
N. Source: Diebel 2006, sections 5 and 6, for N_F; the products derived here.
"""

from __future__ import annotations

from typing import Any

from ..compiling import generic


@generic
def axes(R: Any) -> Any:
    """The x and y axes of M, expressed in F: the angular part of H_FM."""
    return (R[0], R[3], R[6]), (R[1], R[4], R[7])
