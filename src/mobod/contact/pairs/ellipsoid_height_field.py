"""Ellipsoid and HeightField: where the lowest point along the surface's normal is deepest, in a hollow at several places.

With n the surface's normal at p, the ellipsoid's point farthest along -n is q = c - M n / h, h^2 = n.M n, M = R diag(r^2)
R^T. Where q - p is along n the two have a common normal, and depth is n.(p - q). Newton's method solves t_i.(q - p) = 0 for x
and y, t_i the surface's tangents; its matrix, t_i.t_j + t_i.S dN_j / w - (q - p)_z z_ij with S = (M - M n n^T M / h^2) / h, N
= (-z_x, -z_y, 1) and w = |N|, is positive definite where the overlap is deepest and not least. The ellipsoid's curvature is h
t_i.M^-1 t_j.
"""

from typing import Any

from ...algebra import mat33, vec3
from ...algebra.scalar import bare, sqrt
from ...compiling import generic
from ..access import DIMENSIONS, HERTZ, Pair, narrow_phase, three_of
from ..height_surface import eigenvalues, highest, is_over, limits, normal, surface
from ._core import bare3
from ._height_field import is_new, pose_in_field, put, start_near

_MOST_STEPS = 60
_AWAY = 0.6


@generic
def _support(M: Any, n: Any) -> Any:
    """M n and h."""
    m = mat33.mul_vec(M, n)
    return m, sqrt(vec3.dot(n, m))


@generic
def _equations(at: Any, x: Any, y: Any, c: Any, M: Any) -> Any:
    """Both sides' mismatch, the matrix, q - p, n, w and h."""
    z, z_x, z_y, z_xx, z_xy, z_yy = at
    n, w = normal(z_x, z_y)
    m, h = _support(M, n)
    r = vec3.sub(vec3.add_scaled(c, -1.0 / h, m), (x, y, z))
    mismatch = r[0] + r[2] * z_x, r[1] + r[2] * z_y
    # t_i.S t'_j of the tangents and of dN_j = -(z_xj, z_yj, 0)
    t1 = M[0] + M[6] * z_x, M[1] + M[7] * z_x, M[2] + M[8] * z_x
    t2 = M[3] + M[6] * z_y, M[4] + M[7] * z_y, M[5] + M[8] * z_y
    a, b = vec3.dot(t1, n), vec3.dot(t2, n)
    k, g = 1.0 / (h * w), 1.0 / (h * h)
    s11, s12 = t1[0] - a * m[0] * g, t1[1] - a * m[1] * g
    s21, s22 = t2[0] - b * m[0] * g, t2[1] - b * m[1] * g
    k11 = -k * (s11 * z_xx + s12 * z_xy) - r[2] * z_xx
    k12 = -k * (s11 * z_xy + s12 * z_yy) - r[2] * z_xy
    k21 = -k * (s21 * z_xx + s22 * z_xy) - r[2] * z_xy
    k22 = -k * (s21 * z_xy + s22 * z_yy) - r[2] * z_yy
    metric = 1.0 + z_x * z_x, z_x * z_y, 1.0 + z_y * z_y
    return mismatch, metric, (k11, k12, k21, k22), r, n, w, h


@generic
def _step(metric: Any, k: Any, damping: float, g: Any) -> Any:
    """The solution, and the determinant, of the matrix with the metric times 1 + damping."""
    a, b = (1.0 + damping) * metric[0] + k[0], (1.0 + damping) * metric[1] + k[1]
    c, d = (1.0 + damping) * metric[1] + k[2], (1.0 + damping) * metric[2] + k[3]
    det = a * d - b * c
    r = 1.0 / det
    return r * (d * g[0] - b * g[1]), r * (a * g[1] - c * g[0]), det, a + d


@generic
def _search(model: Any, f: int, c: Any, M: Any, start: Any) -> Any:
    """x, y, and whether they are where an overlap is locally deepest; values only.

    Steps are damped, as if the surface were pressed flat, until the mismatch falls.
    """
    x0, x1, y0, y1 = limits(model, f)
    x, y = min(max(start[0], x0), x1), min(max(start[1], y0), y1)
    g, metric, k, _, _, _, h = _equations(surface(model, f, x, y), x, y, c, M)
    damping, small, found = 0.0, 1e-10 * h, False
    for _ in range(_MOST_STEPS):
        dx, dy, det, trace = _step(metric, k, damping, g)
        convex = det > 0.0 and trace > 0.0
        if convex:
            if damping < 1e-3 and abs(dx) + abs(dy) <= small:
                found = True
                x, y = x + dx, y + dy
                break
            x_new, y_new = min(max(x + dx, x0), x1), min(max(y + dy, y0), y1)
            g_new, metric_new, k_new, _, _, _, h = _equations(surface(model, f, x_new, y_new), x_new, y_new, c, M)
            if g_new[0] * g_new[0] + g_new[1] * g_new[1] < g[0] * g[0] + g[1] * g[1]:
                x, y, g, metric, k = x_new, y_new, g_new, metric_new, k_new
                damping = 0.1 * damping if damping > 1e-3 else 0.0
                continue
        damping = 0.1 if damping == 0.0 else 4.0 * damping
    return x, y, found and is_over(model, f, x, y)


@narrow_phase
def ellipsoid_height_field(model: Any, pair: Pair) -> int:
    """A row each place."""
    s, f, lane = pair
    radii = three_of(model, s, DIMENSIONS, lane)
    R, c = pose_in_field(model, pair, s)
    i, j, k = radii[0] * radii[0], radii[1] * radii[1], radii[2] * radii[2]
    scaled = R[0] * i, R[1] * j, R[2] * k, R[3] * i, R[4] * j, R[5] * k, R[6] * i, R[7] * j, R[8] * k
    M = mat33.mul_transpose(scaled, R)
    i, j, k = 1.0 / i, 1.0 / j, 1.0 / k
    inverse = mat33.mul_transpose((R[0] * i, R[1] * j, R[2] * k, R[3] * i, R[4] * j, R[5] * k, R[6] * i, R[7] * j, R[8] * k), R)
    x, wide = bare3(c), bare3((sqrt(M[0]), sqrt(M[4]), sqrt(M[8])))
    height, bent = highest(model, f, x[0], x[1], wide[0], wide[1])
    if x[2] - wide[2] > height:
        return 0
    M0, M1, M2, M3, M4, M5, M6, M7, M8 = M
    M_bare = bare(M0), bare(M1), bare(M2), bare(M3), bare(M4), bare(M5), bare(M6), bare(M7), bare(M8)
    a, b = min(bare(radii[0]), bare(radii[1]), bare(radii[2])), max(bare(radii[0]), bare(radii[1]), bare(radii[2]))
    searches = 1 if 2.0 * b * b / a * bent < 1.0 else 9
    count = 0
    for search in range(searches):
        u_bare, v_bare, found = _search(model, f, x, M_bare, start_near(search, x[0], x[1], _AWAY * wide[0], _AWAY * wide[1]))
        if not found:
            continue
        g, metric_bare, k_bare, _, _, _, _ = _equations(surface(model, f, u_bare, v_bare), u_bare, v_bare, c, M)
        values = bare(k_bare[0]), bare(k_bare[1]), bare(k_bare[2]), bare(k_bare[3])
        du, dv, _, _ = _step(metric_bare, values, 0.0, g)
        u, v = u_bare + du, v_bare + dv
        # from values alone, a step gives first derivatives, and the next one second ones
        g, _, _, _, _, _, _ = _equations(surface(model, f, u, v), u, v, c, M)
        du, dv, _, _ = _step(metric_bare, values, 0.0, g)
        u, v = u + du, v + dv
        at = surface(model, f, u, v)
        _, metric, _, r, n, w, h = _equations(at, u, v, c, M)
        depth = -vec3.dot(n, r)
        if depth <= 0.0 or depth >= 2.0 * h or (search > 0 and depth >= h):
            continue
        p = vec3.add_scaled((u, v, at[0]), -0.5 * depth, n)
        if not is_new(model, pair, 0, count, bare(p[0]), bare(p[1]), bare(p[2]), 1e-6 * a):
            continue
        o = 0.0 * u
        t1, t2 = (o + 1.0, o, at[1]), (o, o + 1.0, at[2])
        q1, q2 = mat33.mul_vec(inverse, t1), mat33.mul_vec(inverse, t2)
        own = h * vec3.dot(t1, q1), h * vec3.dot(t1, q2), h * vec3.dot(t2, q2)
        det = metric[0] * metric[2] - metric[1] * metric[1]
        body = 0.5 * (metric[2] * own[0] + metric[0] * own[2] - 2.0 * metric[1] * own[1]) / det
        form = own[0] - at[3] / w, own[1] - at[4] / w, own[2] - at[5] / w
        greater, smaller = eigenvalues(metric, form, body)
        put(model, pair, count, p, n, depth, HERTZ, greater, smaller, search)
        count = count + 1
    return count
