"""check_custom: whether a user's mobilizer is consistent, by finite differences at random configurations."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..body import Rigid
from ..errors import ModelError
from ..value import MassProperties, Rotation, Transform, UnitInertia
from ..value.attributes import named_arguments
from ..value.checks import integer
from ..value.stage import Stage
from ._custom_compiled import CompiledFunctions
from .base import Direction, MobilizedBody
from .consistency import TRIES, Comparison, Findings, derivative, short
from .custom import Custom
from .custom_implementation import CustomImplementation

if TYPE_CHECKING:
    from ..state.state import State
    from ..value.annotations import SimbodyMatterSubsystem

#: Names of the functions in each form.
_OF_METHODS = {
    "transform": "calc_mobilizer_transform_from_q",
    "hinge": "multiply_by_h_matrix",
    "hinge_dot": "multiply_by_h_dot_matrix",
    "n": "multiply_by_n",
    "n_inv": "multiply_by_n_inv",
    "n_dot": "multiply_by_n_dot",
}


@dataclasses.dataclass(frozen=True)
class CustomReport(Findings):
    """Result of `check_custom`.

    Attributes
    ----------
    name : str
        The mobilizer.
    places : (n, nq) array
        The coordinates at which it was looked at.
    errors : dict of str to float
        Each check and its largest error, relative to what it compares where that is above 1.
    findings : tuple of str
        What is wrong, a sentence each, with the function and the column; empty where all is well.

    Examples
    --------
    >>> import mobod as mb
    >>> from mobod.algebra import cos, rotation, sin
    >>> def cycloid(q, parameters):
    ...     (a,), (radius,) = q, parameters
    ...     return rotation.about_z(a / 2), (radius * (a + sin(a)), radius * (1 - cos(a)), 0)
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> bead = mb.mobilizer.Custom(matter.ground, mb.body.Particle(1.0), transform=cycloid, num_q=1, parameters=(0.5,))
    >>> report = mb.mobilizer.check_custom(bead)
    >>> report.findings
    ()
    """

    places: Array


@named_arguments
def check_custom(
    custom: MobilizedBody | CustomImplementation | CompiledFunctions,
    *,
    q: ArrayLike | None = None,
    parameters: Sequence[float] = (),
    state: State | None = None,
    trials: int = 4,
    tolerance: float = 1e-6,
    seed: int = 0,
    raise_error: bool = True,
) -> CustomReport:
    """Compare a user's mobilizer with finite differences, at random coordinates and speeds.

    The hinge columns have to be the derivative of the transform along q_dot = N u, their rates the derivative of the columns,
    N^-1 N the identity, NDot the derivative of N; and an implementation's products have to be linear, their transposed forms
    the transposes. A quaternion's N has to keep its length, and the transform must not depend on that. With a quaternion,
    everything is checked with angles in its place too.

    Parameters
    ----------
    custom : MobilizedBody, CustomImplementation or CompiledFunctions
        A `Custom` (other kinds can be checked too), or what one would be made of.
    q : (n, nq) or (nq,) array_like, optional
        The configuration to check; random unless given. A quaternion is normalized.
    parameters : sequence of float
        Of functions that are no mobilizer's yet.
    state : State, optional
        Whose parameters and other mobilizers' coordinates to use; the system's default state unless given. Left as it is.
    trials : int
        How many random configurations, where q is not given.
    tolerance : float
        Largest error that is attributed to the differences, relative where the values compared exceed 1.
    seed : int
        Of the random numbers.
    raise_error : bool
        Whether something wrong is an error. Else look at the report.

    Returns
    -------
    CustomReport

    Raises
    ------
    ModelError
        If something is wrong: it names the function and the column. If a function fails, or gives what is not finite.

    Examples
    --------
    >>> import mobod as mb
    >>> from mobod.algebra import rotation
    >>> slot = mb.mobilizer.CompiledFunctions(
    ...     num_q=1, num_u=1,
    ...     transform=lambda q, p: (rotation.identity(q[0]), (q[0], q[0] ** 3, 0.0)),
    ...     hinge=lambda q, p: (((0.0, 0.0, 0.0), (1.0, 2.0 * q[0] ** 2, 0.0)),),
    ... )
    >>> report = mb.mobilizer.check_custom(slot, q=[0.5], raise_error=False)
    >>> report.ok, len(report.findings)
    (False, 1)
    >>> print(report.findings[0])  # doctest: +ELLIPSIS
    column 0 of hinge, of u[0], is [[0, 0, 0], [1, 0.5, 0]] at q = [0.5], where the transform moves with ...[1, 0.75, 0]]
    """
    body = _as_body(custom, parameters)
    check = _Check(body, _template(body, state), tolerance)
    rng = np.random.default_rng(seed)
    for place in _places(check, q, trials, rng):
        check.look_at(place, rng)
    report = CustomReport(body.title, np.array(check.places), check.errors, tuple(check.findings.values()))
    if raise_error and not report.ok:
        raise ModelError(f"{body.title} does not belong together: " + "; ".join(report.findings))
    return report


def new_matter() -> SimbodyMatterSubsystem:
    """The matter of a new system: `mobod.system`, which is above this room, puts its function here."""
    raise AssertionError("import mobod.system first")


def _as_body(custom: Any, parameters: Sequence[float]) -> MobilizedBody:
    """The mobilized body to check; an implementation without one gets a body in a system of its own."""
    if isinstance(custom, MobilizedBody):
        return custom
    if isinstance(custom, CustomImplementation) and custom.bound_mobod is not None:
        return custom.bound_mobod
    if not isinstance(custom, (CustomImplementation, CompiledFunctions)):
        raise TypeError(f"a Custom, a CustomImplementation or CompiledFunctions can be checked, not {custom!r}")

    matter = new_matter()
    link = Rigid(MassProperties(1.0, (0, 0, 0), UnitInertia.sphere(1.0)))
    if isinstance(custom, CompiledFunctions):
        return Custom(matter.ground, link, compiled=custom, parameters=parameters, name="functions")
    implementation = copy.copy(custom)
    implementation.declared_matter = matter
    return Custom(matter.ground, link, implementation, parameters=parameters, name=type(custom).__name__)


def _template(body: MobilizedBody, state: State | None) -> State:
    system = body.get_matter_subsystem().get_system()
    if state is None:
        return system.get_default_state() if system.system_topology_has_been_realized() else system.realize_topology()
    state.tree_of(body, "check_custom")
    return state.copy()


def _places(check: _Check, q: ArrayLike | None, trials: int, rng: np.random.Generator) -> list[Array]:
    n, has_quaternion = check.body.facts.num_q, check.body.facts.has_quaternion

    def unit(x: Array) -> Array:
        if has_quaternion:
            x[:4] /= np.linalg.norm(x[:4])
        return x

    if q is not None:
        given = np.atleast_2d(np.array(q, dtype=np.float64))
        if given.shape[1:] != (n,) or not np.isfinite(given).all():
            raise ValueError(f"q has to be places of {n} finite numbers each, got shape {np.shape(q)}")
        return [unit(x) for x in given]
    integer("trials", trials, least=1)
    places: list[Array] = []
    reason: Exception | None = None
    for _ in range(trials * TRIES):
        x = rng.uniform(-1.3, 1.3, n)
        if has_quaternion:
            x[:4] = rng.normal(size=4)
        try:
            check.at(unit(x), np.zeros(check.body.facts.num_u), Stage.VELOCITY, False)
        except (ArithmeticError, ValueError) as error:  # ModelError too: a place where the mobilizer cannot be
            reason = error
            continue
        places.append(x)
        if len(places) == trials:
            return places
    if places:
        return places
    raise ModelError(f"{check.body.title} fails wherever it was tried: {reason}") from reason


class _Seen:
    """The body's kinematics in a realized state as its kind defines them, also where the mobilizer is reversed."""

    def __init__(self, body: MobilizedBody, state: State, velocities: bool) -> None:
        record, b, part = state.record, body.index, body.u_slice(state)
        matter, reverse = body.get_matter_subsystem(), body.direction is Direction.REVERSE
        X = Transform.trusted(record.R_FM[b].reshape(3, 3).copy(), record.p_FM[b].copy())
        X = ~X if reverse else X
        self.R, self.p = np.asarray(X.R), np.asarray(X.p)
        self.H = (record.H_MF if reverse else record.H_FM)[part].copy()
        q_part, nq, nu = body.q_slice(state), state.tree.nq, state.tree.nu

        def product(method: Callable[..., Array], rows: slice, n: int, columns: slice) -> Array:
            return np.array([method(state, False, np.eye(n)[k])[rows] for k in range(columns.start, columns.stop)]).T

        self.N = product(matter.multiply_by_n, q_part, nu, part)
        self.N_inv = product(matter.multiply_by_n_inv, part, nq, q_part)
        if velocities:
            self.HDot = (record.HDot_MF if reverse else record.HDot_FM)[part].copy()  # zero where a kind finds HDot u alone
            self.bias = (record.bias_MF if reverse else record.bias_FM)[b].copy()
            self.N_dot = product(matter.multiply_by_n_dot, q_part, nu, part)
            self.q_dot = state.q_dot[q_part].copy()


class _Check(Comparison):
    def __init__(self, body: MobilizedBody, template: State, tolerance: float) -> None:
        super().__init__(tolerance)
        self.body = body
        self.places: list[Array] = []
        self.implementation = body.implementation if isinstance(body, Custom) else None
        self.names = _OF_METHODS if self.implementation is not None else {name: name for name in _OF_METHODS}
        matter = body.get_matter_subsystem()
        self.templates = {False: matter.convert_to_quaternions(template)}
        if body.facts.has_quaternion:
            self.templates[True] = matter.convert_to_euler_angles(template)

    def at(self, q: Array, u: Array, stage: Stage, euler: bool) -> State:
        """A state with the body's own q and u."""
        state = self.templates[euler].copy()
        self.body.set_q_from_vector(state, q)
        self.body.set_u_from_vector(state, u)
        self.body.get_matter_subsystem().get_system().realize(state, stage)
        return state

    def look_at(self, q: Array, rng: np.random.Generator) -> None:
        """All checks at one configuration."""
        self.places.append(q)
        u = rng.uniform(-1.0, 1.0, self.body.facts.num_u)
        for euler in self.templates:
            x = np.concatenate([Rotation.from_quaternion(q[:4]).to_body_fixed_xyz(), q[4:]]) if euler else q
            self._compare_with_differences(x, u, euler)
            if self.implementation is not None:
                self._compare_products(x, u, euler, rng)

    # ------------------------------------------------------------------------------------------ with differences

    def _compare_with_differences(self, q: Array, u: Array, euler: bool) -> None:
        names, where = self.names, f"at q = {short(q)}"
        now = _Seen(self.body, self.at(q, u, Stage.VELOCITY, euler), True)
        R, nu = now.R, len(u)
        text = f"R of {names['transform']} is no rotation {where}: {short(R)}"
        self.note("R is a rotation", [*(R.T @ R).ravel(), np.linalg.det(R)], [*np.eye(3).ravel(), 1.0], text)
        if self.body.facts.has_quaternion and not euler:
            longer = np.concatenate([1.5 * q[:4], q[4:]])
            R_longer = _Seen(self.body, self.at(longer, u, Stage.POSITION, euler), False).R
            text = f"{names['transform']} depends on the length of the quaternion {where}: it has to be that of its direction"
            self.note("the length of the quaternion does not matter", R_longer, R, text)
            text = f"{names['n']} changes the length of the quaternion {where}: q . q_dot has to be zero"
            self.note("N keeps the quaternion's length", q[:4] @ now.N[:4], np.zeros(nu), text)
        for k in range(nu):
            self._compare_column(k, now, self._along(q, u, euler, now.N[:, k]), where)
        along = self._along(q, u, euler, now.q_dot)
        H_dot, where_and_u = derivative(lambda h: along(h).H), f"{where}, u = {short(u)}"
        given, expected = now.bias.reshape(2, 3), (u @ H_dot).reshape(2, 3)
        text = f"{names['hinge_dot']} times u is {short(given)} {where_and_u}, where {names['hinge']} says {short(expected)}"
        if not self.body.keeps_rates_of_columns:
            self.note("HDot is the derivative of H", given, expected, text)
        for k in range(nu if self.body.keeps_rates_of_columns else 0):
            given, expected = now.HDot[k].reshape(2, 3), H_dot[k].reshape(2, 3)
            text = (
                f"column {k} of {names['hinge_dot']}, of u[{k}], is {short(given)} {where_and_u}, where {names['hinge']} "
                f"changes with {short(expected)}"
            )
            self.note("HDot is the derivative of H", given, expected, text, k)
        if not (self.body.facts.has_matrix_n or self.body.facts.is_line):
            return
        unity = now.N_inv @ now.N
        text = f"{names['n_inv']} is not the inverse of {names['n']} {where}: their product is {short(unity)}"
        self.note("N^-1 N is the identity", unity, np.eye(nu), text)
        N_dot = derivative(lambda h: along(h).N)
        for k in range(nu):
            text = (
                f"column {k} of {names['n_dot']}, of u[{k}], is {short(now.N_dot[:, k])} {where_and_u}, where {names['n']} "
                f"changes with {short(N_dot[:, k])}"
            )
            self.note("NDot is the derivative of N", now.N_dot[:, k], N_dot[:, k], text, k)

    def _along(self, q: Array, u: Array, euler: bool, q_dot: Array) -> Callable[[float], _Seen]:
        """The mobilizer as a function of a time h, at a rate of q."""
        return lambda h: _Seen(self.body, self.at(q + h * q_dot, u, Stage.POSITION, euler), False)

    def _compare_column(self, k: int, now: _Seen, along: Callable[[float], _Seen], where: str) -> None:
        """Compare hinge column k with the derivative of the transform along column k of N."""
        spin, given = derivative(lambda h: along(h).R) @ now.R.T, now.H[k].reshape(2, 3)
        moved = np.array([[spin[2, 1], spin[0, 2], spin[1, 0]], derivative(lambda h: along(h).p)])
        text = self._about_hinge(k, given, moved, now.R, where)
        self.note("H is the derivative of the transform", given, moved, text, k)

    def _about_hinge(self, k: int, given: Array, moved: Array, R: Array, where: str) -> str:
        hint = ""
        if np.allclose(R @ given[0], moved[0], atol=1e-6) and not np.allclose(given[0], moved[0], atol=1e-6):
            hint = "; its angular part is expressed in M, and has to be in F"
        elif np.allclose(given, -moved, atol=1e-6):
            hint = "; it has the wrong sign"
        elif self.body.facts.has_matrix_n:
            hint = f"; or {self.names['n']} is wrong"
        return (
            f"column {k} of {self.names['hinge']}, of u[{k}], is {short(given)} {where}, where the transform moves with "
            f"{short(moved)}{hint}"
        )

    # ------------------------------------------------------------------------------------------ of an implementation

    def _compare_products(self, q: Array, u: Array, euler: bool, rng: np.random.Generator) -> None:
        """Compare products with any vector, and transposed products, with the columns that the engine stored."""
        mine, where = self.implementation, f"at q = {short(q)}"
        assert mine is not None
        state = self.at(q, u, Stage.VELOCITY, euler)
        before = state.y_values.copy()
        now = _Seen(self.body, state, True)
        v, F = rng.uniform(-1.0, 1.0, len(u)), rng.uniform(-1.0, 1.0, (2, 3))
        for name, rows in (("multiply_by_h", now.H), ("multiply_by_h_dot", now.HDot)):
            text = f"{name}_matrix is not linear {where}: of a sum it is not the sum of what it is of the parts"
            given = np.asarray(getattr(mine, f"{name}_matrix")(state, v), dtype=np.float64).ravel()
            self.note(f"{name}_matrix is linear", given, v @ rows, text)
            given = np.asarray(getattr(mine, f"{name}_transpose")(state, F), dtype=np.float64)
            expected = rows @ F.ravel()
            if given.shape != expected.shape:
                raise ModelError(f"{name}_transpose has to return {len(u)} numbers, it returned {given.tolist()}")
            wrong = np.flatnonzero(np.abs(given - expected) > self.tolerance * max(1.0, np.abs(expected).max()))
            text = (
                f"{name}_transpose is not the transpose of {name}_matrix {where}: of {short(F)} it is {short(given)}, not "
                f"{short(expected)}, which differs in number{'s' if len(wrong) > 1 else ''} {', '.join(map(str, wrong))}"
            )
            self.note(f"{name}_transpose is its transpose", given, expected, text)
        for name, matrix in (("multiply_by_n", now.N), ("multiply_by_n_inv", now.N_inv), ("multiply_by_n_dot", now.N_dot)):
            for transpose in (False, True):
                M = matrix.T if transpose else matrix
                x, what = rng.uniform(-1.0, 1.0, M.shape[1]), f"{name} with transpose_matrix = {transpose}"
                given = np.asarray(getattr(mine, name)(state, transpose, x), dtype=np.float64)
                if given.shape != (M.shape[0],):
                    raise ModelError(f"{what} has to return {M.shape[0]} numbers, it returned {given.tolist()}")
                rest = "is not the transpose of the other" if transpose else "is not linear"
                text = f"{what} {rest} {where}: of {short(x)} it is {short(given)}, not {short(M @ x)}"
                self.note(f"{name} is {'its transpose' if transpose else 'linear'}", given, M @ x, text)
        if mine.overrides("set_q_to_fit_transform"):
            fitted = np.asarray(mine.set_q_to_fit_transform(state, Transform.trusted(now.R.copy(), now.p.copy())))
            R, p = self.body.own_pose(state)(fitted)
            text = f"set_q_to_fit_transform does not find q = {short(q)} from its own transform, but {short(fitted)}"
            self.note("set_q_to_fit_transform finds q", [*R.ravel(), *p], [*now.R.ravel(), *now.p], text)
        if mine.overrides("set_u_to_fit_velocity"):
            V = (v @ now.H).reshape(2, 3)
            text = f"set_u_to_fit_velocity does not find u = {short(v)} from its own velocity {where}"
            found = np.asarray(mine.set_u_to_fit_velocity(state, V)) @ now.H
            self.note("set_u_to_fit_velocity finds u", found, V.ravel(), text)
        if not np.array_equal(state.y_values, before):
            self.findings["state", 0] = "one of its methods changes the q or the u of the state that it is given"
