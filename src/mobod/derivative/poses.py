"""Derivatives of what acts along the pose of a frame in another, in closed form, of all lanes at once: spans of `lines`.

S and R are on bodies that move relative to the last one that moves both, C; with P, p = P_S - P_R, g_r and g_t, all in Ground,
as of `force.transmission.relative_pose`, the tension T exerts

    on S  f = -T g_r at P_S, m = -T g_t        on R  -f at P_R, -m        on C  -p x f

Along a column that carries S, R, or the body that g_t is fixed in (k = 1, 0), which turns by t and shifts by s, with y of each
point, velocities v of points, and h the gradient of the rotation vector's weighted sum by the turn of S from R,

    dl = g_r . (y_S - y_R) - k_R g_r . (t x p) + (k_S - k_R) h . t
    dl' = k_R (t x g_r) . (v_S - v_R - w_C x p) + g_r . (dv_S - dv_R - w_C x (y_S - y_R)) + k_t (t x g_t) . (w_S - w_R)
          + g_t . (dw_S - dw_R)
    dl' by u = g_r . (y_S - y_R) + (k_S - k_R) g_t . t

and beyond being carried with their own bodies f changes by (k_R - k_S) t x f on S, m by (k_t - k_S) t x m on S and by
(k_R - k_t) t x m on R, and the couple on C by -(y_S - y_R) x f - k_R p x (t x f).
"""

from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load_spatial, store3
from ..algebra.scalar import atan2, one, sqrt, store, where
from ..compiling import generic
from ..force.pools import numbers3
from ..force.transmission.relative_pose import ROTATION, TRANSLATION, frame, rotation_vector
from ..force.transmission.wrapped_path import rate as velocity_of
from ..state.fields import Record

#: What tells a pose among spans: where g_t is fixed.
IN_R, IN_S = -1, -2
#: Numbers: l and l'; P_S and P_R from their bases' origins; p; g_r, g_t and h; v_S, v_R, w_S, w_R, w_C.
LENGTH, RATE, _PS, _PR, _P, _GR, _GT, _H, _VS, _VR, _WS, _WR, _WC, NUMBERS = 0, 1, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35


@generic
def _gradient(R: Any, g: Any) -> Any:
    """h: g times the derivative of the rotation vector of R as that turns further, in R's frame."""
    s = (0.5 * (R[7] - R[5]), 0.5 * (R[2] - R[6]), 0.5 * (R[3] - R[1]))
    ss, c = vec3.dot(s, s), 0.5 * (R[0] + R[4] + R[8] - 1.0)
    turned = ss > 1e-30
    size = sqrt(where(turned, ss, one(ss)))
    per = where(turned, atan2(size, c) / size, one(ss))
    bent = where(turned, (1.0 - per * c) / where(turned, ss, one(ss)), 0.0 * ss)
    h = vec3.scale(0.5 * per, vec3.sub(vec3.scale(1.0 + 2.0 * c, g), mat33.transpose_mul_vec(R, g)))
    return vec3.add_scaled(h, bent * vec3.dot(g, s), s)


@generic
def measure(model: Record, which: int, bodies: Any, base: Any, x: int, L: Any, at: int) -> None:
    """Numbers of the pose of three *bodies* whose frames begin at x; *base* is where bodies are from their bases' origins."""
    S, R, C = bodies
    R_GS, s, p_S = frame(model, S, x)
    R_GR, r, p_R = frame(model, R, x + 12)
    p, weights, turning = vec3.sub(p_S, p_R), numbers3(model, x + TRANSLATION), numbers3(model, x + ROTATION)
    R_RS, g_r, g_t = mat33.mul(mat33.transpose(R_GR), R_GS), mat33.mul_vec(R_GR, weights), mat33.mul_vec(R_GR, turning)
    if which == IN_S:
        g_t = mat33.mul_vec(R_GS, turning)
    v_S, v_R = velocity_of(model, S, s), velocity_of(model, R, r)
    w_S, w_R, w_C = load3(model.V_GB, S, 0), load3(model.V_GB, R, 0), load_spatial(model.V_GB, C)[0]
    speed = vec3.dot(g_r, vec3.sub(vec3.sub(v_S, v_R), vec3.cross(w_C, p))) + vec3.dot(g_t, vec3.sub(w_S, w_R))
    along = vec3.dot(weights, mat33.transpose_mul_vec(R_GR, p)) + vec3.dot(turning, rotation_vector(R_RS))
    store(L, 0, at + LENGTH, along)
    store(L, 0, at + RATE, speed)
    store3(L, 0, at + _PS, vec3.add(s, load3(base, S, 0)))
    store3(L, 0, at + _PR, vec3.add(r, load3(base, R, 0)))
    store3(L, 0, at + _P, p)
    store3(L, 0, at + _GR, g_r)
    store3(L, 0, at + _GT, g_t)
    store3(L, 0, at + _H, mat33.mul_vec(R_GR, _gradient(R_RS, turning)))
    store3(L, 0, at + _VS, v_S)
    store3(L, 0, at + _VR, v_R)
    store3(L, 0, at + _WS, w_S)
    store3(L, 0, at + _WR, w_R)
    store3(L, 0, at + _WC, w_C)


@generic
def unit(L: Any, at: int) -> Any:
    """The wrenches of a unit tension on S and on R, about their bases' origins, and the couple on C."""
    f, m = vec3.neg(load3(L, 0, at + _GR)), vec3.neg(load3(L, 0, at + _GT))
    on_S = vec3.add(vec3.cross(load3(L, 0, at + _PS), f), m)
    on_R = vec3.neg(vec3.add(vec3.cross(load3(L, 0, at + _PR), f), m))
    return (on_S, f), (on_R, vec3.neg(f)), vec3.neg(vec3.cross(load3(L, 0, at + _P), f))


@generic
def change(L: Any, at: int, which: int, tension: Any, ks: Any, S: Any, j: int) -> Any:
    """Changes along column j of l, of it by u, and of l'; at unchanged tension of the wrench on S, of the others' couples."""
    k_S, k_R = ks
    k_t = k_S if which == IN_S else k_R
    t, s, faster, quicker = load3(S, j, 0), load3(S, j, 3), load3(S, j, 6), load3(S, j, 9)
    P_S, P_R, p = load3(L, 0, at + _PS), load3(L, 0, at + _PR), load3(L, 0, at + _P)
    g_r, g_t = load3(L, 0, at + _GR), load3(L, 0, at + _GT)
    v_S, v_R, w_C = load3(L, 0, at + _VS), load3(L, 0, at + _VR), load3(L, 0, at + _WC)
    w_S, w_R = load3(L, 0, at + _WS), load3(L, 0, at + _WR)
    apart, r = k_S - k_R, vec3.sub(vec3.scale(k_S, P_S), vec3.scale(k_R, P_R))
    y = vec3.add(vec3.scale(apart, s), vec3.cross(t, r))
    along, turn_r, turn_t = vec3.dot(g_r, y), vec3.cross(t, g_r), vec3.cross(t, g_t)
    longer = along - k_R * vec3.dot(g_r, vec3.cross(t, p)) + apart * vec3.dot(load3(L, 0, at + _H), t)
    dv = vec3.add(vec3.scale(apart, quicker), vec3.cross(faster, r))
    dv = vec3.add(dv, vec3.cross(t, vec3.sub(vec3.scale(k_S, v_S), vec3.scale(k_R, v_R))))
    dw = vec3.add(vec3.scale(apart, faster), vec3.cross(t, vec3.sub(vec3.scale(k_S, w_S), vec3.scale(k_R, w_R))))
    rate = k_R * vec3.dot(turn_r, vec3.sub(vec3.sub(v_S, v_R), vec3.cross(w_C, p)))
    rate = rate + vec3.dot(g_r, vec3.sub(dv, vec3.cross(w_C, y)))
    rate = rate + k_t * vec3.dot(turn_t, vec3.sub(w_S, w_R)) + vec3.dot(g_t, dw)
    f, df, dm = vec3.scale(-tension, g_r), vec3.scale(-tension, turn_r), vec3.scale(-tension, turn_t)
    push = vec3.scale(-apart, df)
    on_S = vec3.add(vec3.cross(P_S, push), vec3.scale(k_t - k_S, dm))
    couple = vec3.neg(vec3.add(vec3.cross(y, f), vec3.cross(p, vec3.scale(k_R, df))))
    moved = longer, along + apart * vec3.dot(g_t, t), rate
    return moved, (on_S, push), vec3.scale(k_R - k_t, dm), couple
