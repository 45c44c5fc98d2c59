"""Positions, base to tip: where every body and every hinge column is in Ground. Needs q; fills the position fields.

    X_GB = X_GP X_PF X_FM X_MB   H_PB_G = R_GF [w; v - w x p_BM_G] for each column (w; v) of H_FM

All is expressed in Ground, so that later sweeps shift and never rotate. Source: Featherstone 2008, section 4; Jain 2011, 3.3.
"""

from ..algebra import mat33, sym33, vec3
from ..algebra.mat33 import column as _axis
from ..algebra.memory import load3, load6, load9, store3, store6, store9
from ..algebra.scalar import load, zero
from ..compiling import generic
from ..mobilizer import dispatch
from ..state.fields import Record

#: Form of X_FM: any; a translation; a rotation about z, of a pin; the identity.
ANY, SLIDE, TURN, NONE = 0, 1, 2, 3


@generic
def step(model: Record, b: int, row: int) -> None:
    """Pose, hinge columns and mass properties of body b; X_FM into *row*. Its parent comes first."""
    dispatch.position(model, b, row)
    p = model.parent[b]
    R_GP = load9(model.R_GB, p, 0)
    R_GF = mat33.mul(R_GP, load9(model.R_PF, b, 0))
    R_GM, form = R_GF, model.form_of_X_FM[b]
    if form == TURN:
        R_GM = mat33.mul_about_z(R_GF, load(model.R_FM, row, 0), load(model.R_FM, row, 3))
    elif form == ANY:
        R_GM = mat33.mul(R_GF, load9(model.R_FM, row, 0))
    o = zero(R_GP[0])
    R_GB, p_BM_G = R_GM, (o, o, o)
    if model.plain_outboard[b] == 0:
        R_GB = mat33.mul_transpose(R_GM, load9(model.R_BM, b, 0))
        p_BM_G = mat33.mul_vec(R_GB, load3(model.p_BM, b, 0))
        store3(model.p_BM_G, b, 0, p_BM_G)
    p_PM_G = mat33.mul_vec(R_GP, load3(model.p_PF, b, 0))
    if form <= SLIDE:  # ANY or SLIDE
        p_PM_G = vec3.add(p_PM_G, mat33.mul_vec(R_GF, load3(model.p_FM, row, 0)))
    p_PB_G = vec3.sub(p_PM_G, p_BM_G)
    store9(model.R_GB, b, 0, R_GB)
    store3(model.p_PB_G, b, 0, p_PB_G)
    store3(model.p_GB, b, 0, vec3.add(load3(model.p_GB, p, 0), p_PB_G))
    for i in range(model.first_u[b], model.first_u[b] + model.num_u[b]):
        place = model.unit_column[i]
        if place < 0:
            w = mat33.mul_vec(R_GF, load3(model.H_FM, i, 0))
            v = mat33.mul_vec(R_GF, load3(model.H_FM, i, 3))
            store3(model.H, i, 0, w)
            store3(model.H, i, 3, vec3.sub(v, vec3.cross(w, p_BM_G)))
        elif place < 3:  # most columns are an axis of F: nothing to multiply; entries left out are zero from the beginning
            axis = _axis(R_GF, place)
            store3(model.H, i, 0, axis)
            if model.plain_outboard[b] == 0:
                store3(model.H, i, 3, vec3.cross(p_BM_G, axis))
        else:
            store3(model.H, i, 3, _axis(R_GF, place - 3))
    if model.massless[b] == 0:
        store3(model.com_G, b, 0, mat33.mul_vec(R_GB, load3(model.com, b, 0)))
        store6(model.inertia_G, b, 0, sym33.rotate(R_GB, load6(model.inertia, b, 0)))
