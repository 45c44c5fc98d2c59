"""Spatial vectors (angular; linear) moved from point to point, and rigid-body spatial inertias.

r is the vector from the old point to the new one, or from parent to child. Motion: the child's linear part gains w x r.
Force: the parent's torque gains r x f. Source: Featherstone 2008, section 2; Jain 2011, section 1.4.
"""

from typing import Any

from ..compiling import generic
from . import sym33, vec3


@generic
def shift_motion(w: Any, v: Any, r: Any) -> Any:
    """Velocity (or acceleration at rest) of a point at r from the one of which it is given."""
    return w, vec3.add(v, vec3.cross(w, r))


@generic
def shift_force(torque: Any, force: Any, r: Any) -> Any:
    """A force acting at r, taken about the origin of r."""
    return vec3.add(torque, vec3.cross(r, force)), force


@generic
def mul_inertia(m: Any, mc: Any, inertia: Any, w: Any, v: Any) -> Any:
    """Spatial inertia of a rigid body (mass, first moment, inertia about the origin) times (w; v)."""
    return (
        vec3.add(sym33.mul_vec(inertia, w), vec3.cross(mc, v)),
        vec3.add(vec3.scale(m, v), vec3.cross(w, mc)),
    )


@generic
def shift_inertia(m: Any, mc: Any, inertia: Any, r: Any) -> Any:
    """First moment and inertia about a point from which their own lies at r (m is unchanged).

    mc' = mc + m r, I' = I + [2 (r.mc) 1 - r mc^T - mc r^T] + m (r.r 1 - r r^T), for any offset of the mass center.
    """
    mr = vec3.scale(m, r)
    k = vec3.add(vec3.add(mc, mc), mr)  # 2 mc + m r
    rk = vec3.dot(r, k)
    moved = (
        inertia[0] + rk - r[0] * k[0],
        inertia[1] + rk - r[1] * k[1],
        inertia[2] + rk - r[2] * k[2],
        inertia[3] - (r[0] * mc[1] + mc[0] * r[1] + mr[0] * r[1]),
        inertia[4] - (r[0] * mc[2] + mc[0] * r[2] + mr[0] * r[2]),
        inertia[5] - (r[1] * mc[2] + mc[1] * r[2] + mr[1] * r[2]),
    )
    return vec3.add(mc, mr), moved
