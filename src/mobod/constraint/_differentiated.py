"""A constraint's rows from a function of poses and coordinates: unrolled for given numbers of each, and compiled.

With e(poses, q) the errors, of a body B moved by (w; v) and of coordinates moved by q_dot

    R' = S(w) R     p' = v     e' = sum_B F_B . (w; v) + sum_i e_i q_dot_i      S the skew matrix of a vector

F_B, a wrench at B's origin, and e_i are read from `Dual` numbers of six tangents a body, and of one a coordinate. The
acceleration offset is e'' of Duals of Duals along the present motion, with R'' = S(w) S(w) R, p'' = 0, q'' = 0, and t' = 1 of
errors that depend on time; their velocity offset is the derivative by t alone. Source of the method: Griewank and Walther 2008,
chapters 3 and 10.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra import vec3
from ..algebra.memory import load3, load9, load_spatial
from ..compiling import generic
from ..function.users.unrolled import listed, unrolled
from . import access

Function = Callable[..., Any]


def _constant(x: str, tangents: int) -> str:
    return f"Dual({x}, {listed(['o'] * tangents)})"


def _constant_pose(s: int, tangents: int) -> str:
    R = listed([_constant(f"R{s}[{k}]", tangents) for k in range(9)])
    return f"({R}, {listed([_constant(f'p{s}[{k}]', tangents) for k in range(3)])})"


def _moved_pose(s: int) -> str:
    """Pose s with tangents along turns about x, y, z, and along displacements."""
    turned = {0: ("o", "R[2{k}]", "-R[1{k}]"), 1: ("-R[2{k}]", "o", "R[0{k}]"), 2: ("R[1{k}]", "-R[0{k}]", "o")}
    R = []
    for row in range(3):
        for k in range(3):
            tangents = []
            for text in turned[row]:
                for other in range(3):
                    text = text.replace(f"R[{other}{{k}}]", f"R{s}[{3 * other + k}]")
                tangents.append(text)
            R.append(f"Dual(R{s}[{3 * row + k}], {listed([*tangents, 'o', 'o', 'o'])})")
    p = [f"Dual(p{s}[{k}], {listed(['o', 'o', 'o', *('i' if j == k else 'o' for j in range(3))])})" for k in range(3)]
    return f"({listed(R)}, {listed(p)})"


def _beginning(num_bodies: int, coordinates: list[tuple[int, int]], num_parameters: int) -> list[str]:
    """The common beginning of all functions: poses, coordinates, parameters, zero and one."""
    lines = ["t = load(model.time, 0, 0)", "o = zero(t)", "i = one(o)", "n = model.constraint_first_number[c]"]
    for s in range(num_bodies):
        lines += [f"b{s} = body(model, c, {s})", f"R{s}, p{s} = load9(model.R_GB, b{s}, 0), load3(model.p_GB, b{s}, 0)"]
    lines.append("q = " + listed([f"coordinate(model, c, {at}, {j})" for at, j in coordinates]))
    return [*lines, "parameters = " + listed([f"load(model.constraint_numbers, n + {k}, 0)" for k in range(num_parameters)])]


def _by_mobilizer(entries: list[str], coordinates: list[tuple[int, int]]) -> str:
    """The text of a tuple of tuples: an entry for each coordinate, those of a mobilizer together."""
    places = dict.fromkeys(at for at, _ in coordinates)
    return listed([listed([x for x, (at, _) in zip(entries, coordinates, strict=True) if at == place]) for place in places])


def rows_of(
    error: Function, num_equations: int, num_bodies: int, coordinates: list[tuple[int, int]], num_parameters: int, of_time: bool
) -> tuple[Function, Function]:
    """``positions(model, c)`` and ``velocities(model, c)``; coordinates as (mobilizer's place, which)."""
    names = {
        "error": error,
        "body": access.body,
        "coordinate": access.coordinate,
        "coordinate_rate": access.coordinate_rate,
        "put_error": access.put_position_error,
        "put_offset": access.put_acceleration_offset,
        "put_velocity_offset": access.put_velocity_offset,
        "put_wrench": access.put_wrench,
        "put_coefficient": access.put_coordinate_coefficient,
        "load3": load3,
        "load9": load9,
        "load_spatial": load_spatial,
        "turned": _turned,
    }
    beginning = _beginning(num_bodies, coordinates, num_parameters)
    nq, t = len(coordinates), "t, " if of_time else ""

    lines = list(beginning)
    for s in range(num_bodies):
        poses = listed([_moved_pose(s) if s == other else _constant_pose(other, 6) for other in range(num_bodies)])
        q = _by_mobilizer([_constant(f"q[{k}]", 6) for k in range(nq)], coordinates)
        lines.append(f"e{s} = error({t}{poses}, {q}, parameters)")
        for k in range(num_equations):
            T = f"t{s}_{k}"
            lines.append(f"{T} = (e{s}[{k}] + {_constant('o', 6)}).tangents")
            lines.append(f"put_wrench(model, c, {k}, {s}, ({T}[0], {T}[1], {T}[2]), ({T}[3], {T}[4], {T}[5]))")
    if nq:
        poses = listed([_constant_pose(other, nq) for other in range(num_bodies)])
        seeds = [f"Dual(q[{k}], {listed(['i' if j == k else 'o' for j in range(nq)])})" for k in range(nq)]
        lines.append(f"eq = error({t}{poses}, {_by_mobilizer(seeds, coordinates)}, parameters)")
        for k in range(num_equations):
            lines.append(f"tq_{k} = (eq[{k}] + {_constant('o', nq)}).tangents")
            for a, (at, j) in enumerate(coordinates):
                lines.append(f"put_coefficient(model, c, {k}, {at}, {j}, tq_{k}[{a}])")
    plain = listed([f"(R{s}, p{s})" for s in range(num_bodies)])
    here = _by_mobilizer([f"q[{k}]" for k in range(nq)], coordinates)
    lines.append(f"values = error({t}{plain}, {here}, parameters)")
    lines += [f"put_error(model, c, {k}, values[{k}] + o)" for k in range(num_equations)]
    if of_time:
        lines.append(f"et = error(Dual(t, (i,)), {plain}, {here}, parameters)")
        rates = [f"(et[{k}] + Dual(o, (o,))).tangents[0]" for k in range(num_equations)]
        lines += [f"put_velocity_offset(model, c, {k}, {rate})" for k, rate in enumerate(rates)]
    positions = unrolled("model, c", *lines, **names)

    def along(x: str, x_dot: str, x_dot_dot: str) -> str:
        return f"Dual(Dual({x}, ({x_dot},)), (Dual({x_dot}, ({x_dot_dot},)),))"

    lines = list(beginning)
    for s in range(num_bodies):
        lines.append(f"w{s}, v{s} = load_spatial(model.V_GB, b{s})")
        lines.append(f"R{s}_dot = turned(w{s}, R{s})")
        lines.append(f"R{s}_dot_dot = turned(w{s}, R{s}_dot)")
    t = f"{along('t', 'i', 'o')}, " if of_time else ""
    poses = listed(
        [
            f"({listed([along(f'R{s}[{k}]', f'R{s}_dot[{k}]', f'R{s}_dot_dot[{k}]') for k in range(9)])}, "
            f"{listed([along(f'p{s}[{k}]', f'v{s}[{k}]', 'o') for k in range(3)])})"
            for s in range(num_bodies)
        ]
    )
    rates = [along(f"q[{a}]", f"coordinate_rate(model, c, {at}, {j})", "o") for a, (at, j) in enumerate(coordinates)]
    lines.append(f"e = error({t}{poses}, {_by_mobilizer(rates, coordinates)}, parameters)")
    for k in range(num_equations):
        whole = f"(e[{k}] + {along('o', 'o', 'o')})"
        lines.append(f"put_offset(model, c, {k}, {whole}.tangents[0].tangents[0])")
    return positions, unrolled("model, c", *lines, **names)


@generic
def _turned(v: Any, R: Any) -> Any:
    """S(v) R: the rate of a matrix that turns with angular velocity v."""
    x = vec3.cross(v, (R[0], R[3], R[6]))
    y = vec3.cross(v, (R[1], R[4], R[7]))
    z = vec3.cross(v, (R[2], R[5], R[8]))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]
