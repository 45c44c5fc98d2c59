"""FunctionBased: six functions of one to six coordinates, three of them angles, three displacements; q_dot = u.

With the angles t_0, t_1, t_2 about the axes a_0, a_1, a_2 (each fixed in the frame that the angles before it have turned) and
the displacements t_3, t_4, t_5 along the axes a_3, a_4, a_5 of F:

    R_FM = R(a_0, t_0) R(a_1, t_1) R(a_2, t_2)     p_FM = t_3 a_3 + t_4 a_4 + t_5 a_5

The axes in F are e_0 = a_0, e_1 = R(a_0, t_0) a_1, e_2 = R(a_0, t_0) R(a_1, t_1) a_2, and e_i = a_i for the displacements. By
the chain rule, with t_i,j the derivative of t_i by q_j, column j of H_FM, and its rate, are the sums

    H_j = sum_i t_i,j e_i      HDot_j = sum_i (t_i,j)' e_i + t_i,j e_i'      (t_i,j)' = sum_k t_i,jk u_k

angular over i = 0, 1, 2 and linear over i = 3, 4, 5, where an axis moves with the angles before it alone:

    e_i' = w_i x e_i      w_0 = 0, w_(i+1) = w_i + t_i' e_i      t_i' = sum_k t_i,k u_k

Nothing is assumed about which functions share which coordinates. Source of the joint: Seth et al. 2010, "Minimal formulation
of joint motion for biomechanisms"; the rates are ours, as Simbody's are wrong for most ways to share coordinates.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra import mat33, rotation, vec3
from ..algebra.arrays import Array, ArrayLike
from ..algebra.memory import load3, store3
from ..algebra.scalar import load, sincos, zero
from ..body import Body
from ..compiling import generic, routine
from ..errors import ModelError
from ..function import Constant, Function, routines
from ..state.state import State
from ..value import Rotation, Transform, checks
from ..value.checks import shaped
from ..value.frames import frame
from ._function_motion import FunctionMotion
from ._pose_fit import fit_q, fit_translation
from .access import asks_positions, row_of, store_transform, vector3
from .base import Direction, Facts, MobilizedBody
from .routines import BY_ADDRESS, keep_bias, own_columns, own_columns_dot

#: An orientation that a fit may well have meant to reach.
ALMOST = 1e-6
#: Three axes that span less than this part of a cube are in one plane.
FLAT = 1e-6


@generic
def _turned(axis: Any, angle: Any) -> Any:
    """R(axis, angle), by Rodrigues' formula; *axis* is a unit vector."""
    s, c = sincos(angle)
    x, y, z = axis
    d = 1.0 - c
    # fmt: off
    return (c + d * x * x,      d * x * y - s * z,  d * x * z + s * y,
            d * x * y + s * z,  c + d * y * y,      d * y * z - s * x,
            d * x * z - s * y,  d * y * z + s * x,  c + d * z * z)
    # fmt: on


@generic
def _turn(axis: Any, s: Any, c: Any, v: Any) -> Any:
    """R(axis, angle) v, with the sine and the cosine of the angle."""
    along = vec3.scale((1.0 - c) * vec3.dot(axis, v), axis)
    return vec3.add(vec3.add_scaled(along, c, v), vec3.scale(s, vec3.cross(axis, v)))


@generic
def _clear(columns: Any, first: int, count: int, o: Any) -> None:
    for j in range(first, first + count):
        store3(columns, j, 0, (o, o, o))
        store3(columns, j, 3, (o, o, o))


@generic
def _add(columns: Any, j: int, part: int, s: Any, v: Any) -> None:
    """Add s v to the angular (0) or linear (3) part of column j."""
    store3(columns, j, part, vec3.add_scaled(load3(columns, j, part), s, v))


@generic
def _position(model: Any, b: int, row: int) -> None:
    """X_FM, and H_FM function by function."""
    n, at, first, columns = model.first_parameter[b], model.first_q[b], model.first_u[b], own_columns(model, b)
    begin = model.choices[model.first_choice[b]]
    o = zero(load(model.q, at, 0))
    _clear(columns, first, model.num_u[b], o)
    R, p = rotation.identity(o), (o, o, o)
    for f in range(6):
        value = routines.value(model, begin + f, model.q, at)
        axis = vector3(model.parameters, n + 3 * f)
        e = vec3.add((o, o, o), axis)
        if f == 1 or f == 2:
            e = mat33.mul_vec(R, axis)
        for k in range(routines.num_arguments(model, begin + f)):
            j = first + routines.place(model, begin + f, k)
            _add(columns, j, 3 * (f // 3), routines.gradient(model, begin + f, k), e)
        if f < 3:
            turned = _turned(axis, value)
            R = turned if f == 0 else mat33.mul(R, turned)
        else:
            p = vec3.add_scaled(p, value, axis)
    store_transform(model, row, (R, p))


@generic
def _velocity(model: Any, b: int) -> None:
    """HDot_FM, function by function, and HDot_FM u; the axes are computed again rather than kept."""
    n, at, first, columns = model.first_parameter[b], model.first_q[b], model.first_u[b], own_columns_dot(model, b)
    begin = model.choices[model.first_choice[b]]
    o = zero(load(model.q, at, 0))
    _clear(columns, first, model.num_u[b], o)
    w = axis_0 = axis_1 = (o, o, o)
    s_0 = c_0 = s_1 = c_1 = o
    for f in range(3):
        value = routines.value_with_rates(model, begin + f, model.q, at, model.u, first)
        axis = vec3.add((o, o, o), vector3(model.parameters, n + 3 * f))
        e = axis
        if f == 2:
            e = _turn(axis_1, s_1, c_1, e)
        if f > 0:
            e = _turn(axis_0, s_0, c_0, e)
        e_dot, rate, bends = vec3.cross(w, e), o, not routines.is_affine(model, begin + f)
        for k in range(routines.num_arguments(model, begin + f)):
            j = first + routines.place(model, begin + f, k)
            partial = routines.gradient(model, begin + f, k)
            rate = rate + partial * load(model.u, j, 0)
            _add(columns, j, 0, partial, e_dot)
            if bends:
                _add(columns, j, 0, routines.gradient_rate(model, begin + f, k), e)
        if f < 2:
            w = vec3.add_scaled(w, rate, e)
            axis_1, (s_1, c_1) = axis, sincos(value)
            if f == 0:
                axis_0, s_0, c_0 = axis_1, s_1, c_1
    for f in range(3, 6):  # along axes that stand still
        if not routines.is_affine(model, begin + f):
            routines.value_with_rates(model, begin + f, model.q, at, model.u, first)
            axis = vector3(model.parameters, n + 3 * f)
            e = vec3.add((o, o, o), axis)
            for k in range(routines.num_arguments(model, begin + f)):
                j = first + routines.place(model, begin + f, k)
                _add(columns, j, 3, routines.gradient_rate(model, begin + f, k), e)
    keep_bias(model, b)


@routine
def kinematics(model: Any, b: int, what: int) -> int:
    """X_FM and H_FM at positions, HDot_FM at velocities; see `routines`."""
    if asks_positions(what):
        _position(model, b, row_of(what))
    else:
        _velocity(model, b)
    return 0


@functools.cache
def _facts(n: int) -> Facts:
    """For n coordinates. The functions get a `FunctionMotion` where other kinds' get their parameters."""
    return Facts(
        BY_ADDRESS,
        num_q=n,
        num_u=n,
        transform=FunctionMotion.transform_at,
        hinge=FunctionMotion.hinge_at,
        constant_hinge=False,
        kinematics=kinematics,
    )


class FunctionBased(MobilizedBody):
    """Move as six functions of the coordinates say: a body-fixed sequence of three rotations, and a translation.

    Parameters
    ----------
    num_mobilities : int
        How many coordinates there are, 1 to 6. The speeds are their rates.
    functions : six Function
        The first three give angles: about axis 0 of F, about axis 1 as the first angle has turned it, and about axis 2 as both
        have. The last three give displacements along axes 3, 4 and 5, which are fixed in F. `mobod.function.Constant` for what
        does not move.
    coordinate_indices : six sequences of int
        Which coordinates each function takes as its arguments, from 0. Functions may share coordinates in any way.
    axes : (6, 3) array_like, optional
        Directions in F, as above; their length does not matter. x, y, z and again x, y, z unless given. The first three must
        not lie in one plane, nor the last three.

    Raises
    ------
    TypeError
        If one of the functions is no `Function`.
    ValueError
        If a count is wrong, or there is no such coordinate.
    ModelError
        If a function has no second derivatives, a coordinate moves nothing, or axes lie in one plane.

    Notes
    -----
    A function that only Python can evaluate costs its own calls; the rest of the model runs compiled.

    Where the angles make two rotation axes parallel (the second one at a quarter turn, with the usual axes), or where the
    functions' derivatives are all zero, some motion is impossible: the mass matrix is singular there.

    Examples
    --------
    A hinge whose axis moves forward by a centimeter as it flexes:

    >>> import mobod as mb
    >>> matter = mb.SimbodyMatterSubsystem(mb.MultibodySystem())
    >>> zero, angle = mb.function.Constant(0, 0), mb.function.Linear([1, 0])
    >>> forward = mb.function.Step(0, 0.01, 0, 2)
    >>> knee = mb.mobilizer.FunctionBased(
    ...     matter.ground,
    ...     mb.body.Rigid(),
    ...     num_mobilities=1,
    ...     functions=[zero, zero, angle, forward, zero, zero],
    ...     coordinate_indices=[[], [], [0], [0], [], []],
    ... )
    >>> knee.get_default_q()
    array([0.])
    """

    _always_arrays = True
    keeps_rates_of_columns = True

    def __init__(
        self,
        parent: MobilizedBody,
        body: Body,
        *,
        num_mobilities: int,
        functions: Sequence[Function],
        coordinate_indices: Sequence[Sequence[int]],
        axes: ArrayLike | None = None,
        X_PF: Transform | None = None,
        X_BM: Transform | None = None,
        direction: Direction = Direction.FORWARD,
        name: str | None = None,
    ) -> None:
        n = _count(num_mobilities)
        chosen = _functions(functions)
        self.motion = FunctionMotion(chosen, _indices(coordinate_indices, chosen, n), _axes(axes))
        self._num_mobilities = n
        self._given_axes = None if axes is None else np.array(axes, dtype=np.float64)
        super().__init__(parent, body, X_PF=X_PF, X_BM=X_BM, direction=direction, name=name)

    @property
    def facts(self) -> Facts:  # type: ignore[override]
        """The kind's facts, which depend on the number of coordinates."""
        return _facts(self._num_mobilities)

    def get_functions(self) -> tuple[Function, ...]:
        """The six functions: three angles, three displacements."""
        return self.motion.functions

    def get_coordinate_indices(self) -> tuple[tuple[int, ...], ...]:
        """The indices of the coordinates that each function takes."""
        return self.motion.indices

    def get_axes(self) -> Array:
        """The axes ``(6, 3)`` in F, of unit length: three to turn about, three to move along."""
        return self.motion.axes.copy()

    def _settings(self) -> dict[str, Any]:
        return {
            "num_mobilities": self._num_mobilities,
            "functions": self.motion.functions,
            "coordinate_indices": self.motion.indices,
            "axes": self._given_axes,
        }

    # ------------------------------------------------------------------------------------------ for the tree

    @property
    def used_functions(self) -> Sequence[routines.Use]:  # type: ignore[override]
        """The functions that the record keeps: the six."""
        return list(zip(self.motion.functions, self.motion.indices, strict=True))

    def pack_choices(self) -> Sequence[int]:
        return [self.first_function]

    def pack_parameters(self) -> Sequence[float]:
        return self.motion.axes.ravel().tolist()

    def not_finite(self, state: State) -> str | None:
        q = self.get_q_as_vector(state)
        for function, where in self.used_functions:
            at = q[list(where)]
            value = function.calc_value(at)
            if not math.isfinite(value):
                return f"{function!r} of {self.name!r} is {value} at {at.tolist()}; a coordinate has to be finite"
        return None

    # ------------------------------------------------------------------------------------------ fitting

    def own_pose(self, state: State) -> Callable[[Array], tuple[Array, Array]]:
        return self.motion.transform

    def _function_of_q(
        self, state: State, function: Callable[..., Any], euler: Callable[..., Any] | None, at: Array | None = None
    ) -> Any:
        return function(self.get_q_as_vector(state) if at is None else at, self.motion)

    def set_q_to_fit_transform(self, state: State, X_FM: Transform) -> None:
        """Set q so that the pose of M in F is as near to X_FM as can be found.

        Nearest in the sum of the squares of the angle between the orientations and of the distance between the origins, over
        their distance from F. Never an error for a request out of reach.
        """
        X = frame("X_FM", X_FM)
        R, p = np.asarray(X.R), np.asarray(X.p)
        self.set_q(state, fit_q(self, state, R, p))
        # beside a distance out of reach, the sum does not feel the last digits of an angle
        q, pose = self.get_q_as_vector(state), self.pose_in_f(state)
        turned = fit_q(self, state, R, None) if np.abs(pose(q)[0] - R).max() < ALMOST else q
        if np.linalg.norm(pose(turned)[1] - p) <= np.linalg.norm(pose(q)[1] - p) * (1.0 + 1e-12):
            self.set_q(state, turned)

    def set_q_to_fit_rotation(self, state: State, R_FM: Rotation) -> None:
        """Set q so that the orientation of M in F is as near to R_FM as can be found."""
        R = R_FM if isinstance(R_FM, Rotation) else Rotation(R_FM)
        self.set_q(state, fit_q(self, state, np.asarray(R), None))

    def set_q_to_fit_translation(self, state: State, p_FM: ArrayLike) -> None:
        """Set q so that the origin of M is in F as near to p_FM as can be found, without turning M if that can be."""
        self.set_q(state, fit_translation(self, state, shaped("p_FM", p_FM, (3,))))


def _count(num_mobilities: int) -> int:
    if not isinstance(num_mobilities, (int, np.integer)) or isinstance(num_mobilities, bool):
        raise TypeError(f"num_mobilities of a FunctionBased must be a whole number, not {num_mobilities!r}")
    if not 1 <= num_mobilities <= 6:
        raise ValueError(f"num_mobilities of a FunctionBased must be from 1 to 6; it is {num_mobilities}")
    return int(num_mobilities)


def _functions(functions: Sequence[Function]) -> tuple[Function, ...]:
    chosen = tuple(functions)
    if len(chosen) != 6:
        raise ValueError(
            f"a FunctionBased takes six functions, three angles and three displacements; {len(chosen)} were given. "
            "Constant(0, 0) stands for what does not move"
        )
    for f, function in enumerate(chosen):
        checks.instance(f"functions[{f}] of a FunctionBased", function, Function, "mobod.function.Custom makes of a callable")
        if function.get_max_derivative_order() < 2:
            raise ModelError(
                f"functions[{f}] of a FunctionBased needs second derivatives, {function!r} has them to order "
                f"{function.get_max_derivative_order()}; of a Spline, take degree 3 or more"
            )
    return chosen


def _indices(
    coordinate_indices: Sequence[Sequence[int]], functions: tuple[Function, ...], n: int
) -> tuple[tuple[int, ...], ...]:
    given = [list(places) if hasattr(places, "__iter__") else places for places in coordinate_indices]
    if len(given) != 6:
        raise ValueError(f"coordinate_indices of a FunctionBased are six lists, one a function; {len(given)} were given")
    for f, (places, function) in enumerate(zip(given, functions, strict=True)):
        if not isinstance(places, list):
            raise TypeError(f"coordinate_indices[{f}] must be a list of coordinates, such as [0], not {places!r}")
        if len(places) != function.get_argument_size():
            raise ValueError(
                f"coordinate_indices[{f}] is {places}, but functions[{f}] takes {function.get_argument_size()} argument(s): "
                "name one coordinate for each"
            )
        for j in places:
            if not isinstance(j, (int, np.integer)) or isinstance(j, bool):
                raise TypeError(f"coordinate_indices[{f}] must be whole numbers, not {j!r}")
            if not 0 <= j < n:
                raise ValueError(f"coordinate_indices[{f}] names coordinate {j}; there are {n}, counted from 0")
    used = {j for places, function in zip(given, functions, strict=True) if not isinstance(function, Constant) for j in places}
    if idle := sorted(set(range(n)) - used):
        raise ModelError(
            f"coordinate {idle[0]} of a FunctionBased moves nothing: no function takes it, or only a Constant does; name it in "
            "coordinate_indices, or lower num_mobilities"
        )
    return tuple(tuple(map(int, places)) for places in given)


def _axes(axes: ArrayLike | None) -> Array:
    if axes is None:
        return np.vstack([np.eye(3)] * 2)
    given = checks.array("axes of a FunctionBased", axes, (6, 3))
    units = np.array([checks.unit(f"axes[{i}] of a FunctionBased", axis) for i, axis in enumerate(given)])
    for first, what in ((0, "rotation"), (3, "translation")):
        if abs(np.linalg.det(units[first : first + 3])) < FLAT:
            raise ModelError(
                f"the three {what} axes of a FunctionBased, axes[{first}] to axes[{first + 2}], lie in one plane: "
                f"{given[first : first + 3].tolist()}; turn one of them out of it"
            )
    return units
