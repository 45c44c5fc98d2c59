"""Equality constraints: hard, where MuJoCo's give way.

| MuJoCo's | becomes |
| --- | --- |
| connect, by bodies or sites | `constraint.Ball` |
| weld, by bodies or sites | `constraint.Weld`, `constraint.Ball` where its torquescale is zero |
| joint | `constraint.CoordinateCoupler` of a polynomial, or `constraint.ConstantCoordinate` |
| tendon, of fixed tendons | `constraint.CoordinateCoupler` |
| tendon, one of two sites alone | `constraint.Rod` |

Other tendons', and those of flexes, are reported.

PolynomialEquality: one argument less a polynomial of another, what MuJoCo's joint equality keeps at zero.

f(y, x) = y - P(x)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ... import constraint
from ...algebra.arrays import Array, ArrayLike
from ...algebra.scalar import load, one, zero
from ...compiling import generic
from ...constraint.base import Constraint
from ...function import Expression, Linear
from ...function.base import FunctionKind
from ...function.expression import MOST_VARIABLES
from ...function.routines import of_arguments
from ...value import Transform
from ..model import Model
from .bodies import BALL, FREE, Tree
from .sites import Placed
from .source import Source, listed, plural, rotation_of


@generic
def jet(integers: Any, i: int, numbers: Any, n: int, x: Any, rates: Any) -> Any:
    """Value, gradient and its rate, by Horner's scheme. Integers: how many coefficients; numbers: the highest power first."""
    y, at = x
    f, slope, half_bend = zero(at), zero(at), zero(at)
    for j in range(integers[i]):
        half_bend = half_bend * at + slope
        slope = slope * at + f
        f = f * at + load(numbers, n + j, 0)
    return y - f, (one(at), -slope), (zero(at), -2.0 * half_bend * rates[1])


class PolynomialEquality(FunctionKind):
    """The first argument less a polynomial of the second.

    Parameters
    ----------
    coefficients : array_like
        Of the polynomial, that of the highest power first.
    """

    routine = of_arguments(2, jet)
    _names = ("coefficients",)
    _coefficients: Array

    def __init__(self, coefficients: ArrayLike) -> None:
        self._keep(coefficients=np.array(coefficients, np.float64))

    def get_argument_size(self) -> int:
        """Two."""
        return 2

    def _derivative(self, components: tuple[int, ...], x: tuple[Any, ...]) -> Any:
        if 0 in components:
            return np.ones_like(x[0]) if len(components) == 1 else np.zeros_like(x[0])
        c = np.polyder(self._coefficients, len(components)) if components else self._coefficients
        return (0.0 if components else x[0]) - np.polyval(c, x[1])

    def pack(self) -> tuple[Sequence[int], Sequence[float]]:
        """The number of coefficients, and these."""
        return [len(self._coefficients)], self._coefficients.tolist()


def add_constraints(source: Source, tree: Tree, sites: list[Placed], model: Model) -> None:
    """A constraint each; those that the file switches off are, and so are all where it disables equality."""
    m = source.m
    maker = _Maker(source, tree, sites, model)
    made, off = [], []
    for e, name in enumerate(source.equalities):
        disabled = not m.eq_active0[e] or source.disabled("EQUALITY")
        found = maker.make(e, name, disabled)
        if isinstance(found, str):
            line = f"equality {name!r} is left out: {found}"
            if found is _RIGID:  # which moves nothing in MuJoCo either
                source.note(line)
            else:
                source.lose(line, "equality constraints, which do not hold")
            continue
        model.constraints[name] = found
        made.append(name)
        if disabled:
            off.append(name)
    if made:
        source.depart(
            f"{plural(len(made), 'equality', 'equalities')} {listed(made)}: hard constraints, where MuJoCo's are soft"
        )
    if off:
        source.note(f"{plural(len(off), 'equality', 'equalities')} {listed(off)}: switched off, as the file says")


_RIGID = "it ties bodies that cannot move against each other"


class _Maker:
    def __init__(self, source: Source, tree: Tree, sites: list[Placed], model: Model) -> None:
        self.source, self.tree, self.sites, self.model = source, tree, sites, model

    def make(self, e: int, name: str, disabled: bool) -> Constraint | str:
        """The constraint; or why there is none."""
        m, kinds = self.source.m, self.source.mujoco.mjtEq
        kind, data = int(m.eq_type[e]), np.array(m.eq_data[e])
        if kind in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD) and self.are_rigid(*self.tied(e)):
            return _RIGID
        options: dict[str, Any] = {"disabled_by_default": disabled, "name": name}
        if kind == kinds.mjEQ_CONNECT:
            (one, X), (other, Y) = self.ends(e, data[:3], data[3:6])
            return constraint.Ball(one, X.p, other, Y.p, **options)
        if kind == kinds.mjEQ_WELD:
            (one, X), (other, Y) = self.ends(e, data[3:6], data[:3], data[6:10])
            if data[10] == 0.0:  # torquescale, by which MuJoCo multiplies the error of the orientation
                return constraint.Ball(one, X.p, other, Y.p, **options)
            return constraint.Weld(one, X, other, Y, **options)
        if kind == kinds.mjEQ_JOINT:
            return self.of_joints(e, data, options)
        if kind == kinds.mjEQ_TENDON:
            return self.of_tendons(e, data, options)
        return f"its kind, {str(kinds(kind)).rpartition('_')[2].lower()}, has no counterpart"

    def tied(self, e: int) -> list[int]:
        """The two bodies of one by bodies or sites."""
        m = self.source.m
        ends = [int(m.eq_obj1id[e]), int(m.eq_obj2id[e])]
        if m.eq_objtype[e] == self.source.mujoco.mjtObj.mjOBJ_SITE:
            ends = [int(m.site_bodyid[site]) for site in ends]
        return ends

    def are_rigid(self, one: int, other: int) -> bool:
        """True if both bodies are parts of one that no joint divides."""
        return self.moving(one) == self.moving(other)

    def moving(self, body: int) -> int:
        """The nearest body with a joint, 0 for the world; a mocap body is of the world."""
        m = self.source.m
        while body and not m.body_jntnum[body]:
            body = int(m.body_parentid[body])
        return body

    def ends(self, e: int, p: Any, q: Any, relative: Any = None) -> tuple[Placed, Placed]:
        """Two frames that coincide where the constraint holds."""
        m = self.source.m
        one, other = int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        if m.eq_objtype[e] == self.source.mujoco.mjtObj.mjOBJ_SITE:
            return self.sites[one], self.sites[other]
        R = np.eye(3) if relative is None else rotation_of(relative / np.linalg.norm(relative))
        bodies = self.tree.bodies
        return (bodies[one], Transform.trusted(R, p)), (bodies[other], Transform.trusted(np.eye(3), q))

    def of_joints(self, e: int, data: Any, options: dict[str, Any]) -> Constraint | str:
        m = self.source.m
        joints = [self.tree.joints[k] for k in (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])) if k >= 0]
        if any(joint.kind in (FREE, BALL) for joint in joints):
            return "it is of a joint of several coordinates"
        references = [float(m.qpos0[joint.qpos]) for joint in joints]
        first = joints[0].mobod
        if len(joints) == 1:
            return constraint.ConstantCoordinate(first, 0, references[0] + float(data[0]), **options)
        # in powers of the second coordinate itself
        shifted = np.poly1d([1.0, -references[1]])
        c = np.atleast_1d((np.poly1d(data[4::-1])(shifted) + references[0]).coeffs)
        pair = [first, joints[1].mobod]
        function = Linear([1.0, *(-c[::-1][1:2]), -c[-1]]) if len(c) == 2 else PolynomialEquality(c)
        if len(c) == 1:
            return constraint.ConstantCoordinate(first, 0, float(c[0]), **options)
        return constraint.CoordinateCoupler(self.model.matter, function, pair, [0, 0], **options)

    def of_tendons(self, e: int, data: Any, options: dict[str, Any]) -> Constraint | str:
        """Of the sums of joints: l1 - l1_0 = P(l2 - l2_0)."""
        m, kinds = self.source.m, self.source.mujoco.mjtWrap
        tendons = [k for k in (int(m.eq_obj1id[e]), int(m.eq_obj2id[e])) if k >= 0]
        rest = [float(m.tendon_length0[t]) for t in tendons]
        paths = [range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t])) for t in tendons]
        if any(m.wrap_type[path[0]] != kinds.mjWRAP_JOINT for path in paths):
            only = paths[0]
            if len(tendons) == 1 and len(only) == 2 and all(m.wrap_type[k] == kinds.mjWRAP_SITE for k in only):
                if self.are_rigid(*(int(m.site_bodyid[m.wrap_objid[k]]) for k in only)):
                    return _RIGID
                (one, X), (other, Y) = (self.sites[m.wrap_objid[k]] for k in only)
                length = rest[0] + float(data[0])
                return (
                    constraint.Rod(one, X.p, other, Y.p, length, **options) if length > 0.0 else "its length is not above zero"
                )
            return "it is of a path's length"
        coefficients: dict[tuple[int, int], float] = {}
        for which, path in enumerate(paths):
            for k in path:
                key = which, int(m.wrap_objid[k])
                coefficients[key] = coefficients.get(key, 0.0) + float(m.wrap_prm[k])
        mobods = [self.tree.joints[j].mobod for _, j in coefficients]
        c = data[:5] if len(tendons) == 2 else np.array([data[0], 0.0, 0.0, 0.0, 0.0])
        function: Any
        if not c[2:].any():
            constant = -rest[0] - c[0] + (c[1] * rest[1] if len(tendons) == 2 else 0.0)
            function = Linear([*(k if which == 0 else -c[1] * k for (which, _), k in coefficients.items()), constant])
        elif len(mobods) > MOST_VARIABLES:
            return f"a polynomial of more than {MOST_VARIABLES} joints"
        else:
            names = [f"q{k}" for k in range(len(mobods))]
            of = [
                " + ".join(
                    f"{k!r} * {name}" for name, ((own, _), k) in zip(names, coefficients.items(), strict=True) if own == which
                )
                for which in (0, 1)
            ]
            powers = " + ".join(f"{float(k)!r} * x^{n}" for n, k in enumerate(c.tolist()) if n > 0)
            text = f"y - ({float(c[0])!r} + {powers}); y = {of[0]} - ({rest[0]!r}); x = {of[1]} - ({rest[1]!r})"
            function = Expression(text, names)
        return constraint.CoordinateCoupler(self.model.matter, function, mobods, [0] * len(mobods), **options)
