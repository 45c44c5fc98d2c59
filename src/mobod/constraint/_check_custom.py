"""check_custom: whether a user's constraint is consistent, by finite differences at random configurations."""

from __future__ import annotations

import dataclasses

import numpy as np

from ..algebra.arrays import Array
from ..errors import MobodError, ModelError
from ..mobilizer.consistency import STEP, TRIES, Comparison, Findings, derivative, short
from ..state.state import State
from ..value.attributes import named_arguments
from ..value.checks import integer
from ..value.stage import Stage
from ._custom_python import ByImplementation, accelerations_in_ancestor, velocities_in_ancestor
from .custom import Custom
from .custom_implementation import CustomImplementation


@dataclasses.dataclass(frozen=True)
class ConstraintReport(Findings):
    """Result of `check_custom`.

    Attributes
    ----------
    name : str
        The constraint.
    places : int
        At how many places it was looked at.
    errors : dict of str to float
        Each check and its largest error, relative to what it compares where that is above 1.
    findings : tuple of str
        What is wrong, a sentence each, with the method and the equation; empty where all is well.
    """

    places: int


@named_arguments
def check_custom(
    custom: Custom | CustomImplementation,
    *,
    state: State | None = None,
    trials: int = 4,
    assembled: bool = False,
    tolerance: float = 1e-6,
    seed: int = 0,
    raise_error: bool = True,
) -> ConstraintReport:
    """Compare a user's constraint with finite differences, at random coordinates and speeds of its system.

    Velocity errors have to be the rates of position errors, acceleration errors the rates of these; and the forces of
    multipliers have to be the transpose of the errors' dependence on the speeds of the whole system, so that a missing reaction
    shows.

    Parameters
    ----------
    custom : Custom or CustomImplementation
        Part of a system whose bodies can move.
    state : State, optional
        Whose time, parameters and modelling choices to use; the system's default state unless given. Left as it is. Other
        constraints, locks or motions have no effect.
    trials : int
        How many random places.
    assembled : bool
        Whether to look only where the constraint holds, its state projected. Errors that are rates of each other there and
        nowhere else (those of a `Ball` are such) serve as well.
    tolerance : float
        Largest error that is taken for one of the differences, relative where what is compared exceeds 1.
    seed : int
        Of the random numbers.
    raise_error : bool
        Whether something wrong is an error. Else look at the report.

    Returns
    -------
    ConstraintReport

    Raises
    ------
    ModelError
        If an error is found: it names the method and the equation. If the constraint fails wherever it is tried.

    Examples
    --------
    >>> import mobod as mb
    >>> def paraboloid(X, q, parameters):
    ...     ((R, p),) = X
    ...     return (p[2] - parameters[0] * (p[0] * p[0] + p[1] * p[1]),)
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> ball = mb.mobilizer.Translation(matter.ground, mb.body.Particle(1.0))
    >>> functions = mb.constraint.CompiledFunctions(paraboloid, bodies=[ball], parameters=[1.0])
    >>> bowl = mb.constraint.Custom(compiled=functions, name="bowl")
    >>> report = mb.constraint.check_custom(bowl)
    >>> report.findings
    ()
    """
    constraint = custom.get_constraint() if isinstance(custom, CustomImplementation) else custom
    if not isinstance(constraint, Custom):
        raise TypeError(f"a constraint.Custom or a CustomImplementation can be checked, not {custom!r}")
    integer("trials", trials, least=1)
    matter = constraint.get_matter_subsystem()
    system = matter.get_system()
    if state is None:
        state = system.get_default_state() if system.system_topology_has_been_realized() else system.realize_topology()
    constraint.model(state, "check_custom")
    check = _Check(constraint, state.copy(), tolerance, assembled)
    rng, places, reason = np.random.default_rng(seed), 0, None
    for _ in range(trials * TRIES):
        try:
            place = check.place(rng)
        except (ArithmeticError, ValueError, MobodError) as error:  # a place where the constraint cannot be
            reason = error
            continue
        check.look_at(place, rng)
        places += 1
        if places == trials:
            break
    if places == 0:
        raise ModelError(f"{constraint!r} fails wherever it was tried: {reason}") from reason
    report = ConstraintReport(constraint.name, places, check.errors, tuple(check.findings.values()))
    if raise_error and not report.ok:
        raise ModelError(f"{constraint!r} does not belong together: " + "; ".join(report.findings))
    return report


class _Check(Comparison):
    """Compares, and collects the errors found."""

    def __init__(self, constraint: Custom, template: State, tolerance: float, assembled: bool) -> None:
        super().__init__(tolerance)
        self.constraint, self.template, self.assembled = constraint, template, assembled
        self.matter = constraint.get_matter_subsystem()
        self.system = self.matter.get_system()
        for other in self.matter.constraints:  # what others say must not matter, nor whether they can be evaluated here
            if other is not constraint:
                other.disable(template)
        constraint.enable(template)
        self.mine = constraint.interpreter if isinstance(constraint.interpreter, ByImplementation) else None

    def at(self, time: float, q: Array, u: Array) -> State:
        """A state at VELOCITY."""
        state = self.template.copy()
        state.time = time
        nq, nu = state.tree.nq, state.tree.nu
        state.upd_q()[:nq], state.upd_u()[:nu] = q, u
        self.system.realize(state, Stage.VELOCITY)
        return state

    def place(self, rng: np.random.Generator) -> State:
        """A random one."""
        tree = self.template.tree
        q = rng.uniform(-1.3, 1.3, tree.nq)
        for b in tree.quaternions:
            quaternion = rng.normal(size=4)
            q[tree.first_q[b] : tree.first_q[b] + 4] = quaternion / np.linalg.norm(quaternion)
        state = self.at(self.template.time, q, rng.uniform(-1.0, 1.0, tree.nu))
        if self.assembled:
            self.system.project(state, 1e-12)
        return state

    # ------------------------------------------------------------------------------------------ what there is to compare

    def of_positions(self, state: State) -> Array:
        """Position errors."""
        return self.constraint.get_position_errors_as_vector(state)

    def of_velocities(self, state: State) -> Array:
        """Errors of position and velocity equations at the level of velocities, by the user's methods."""
        if self.mine is None:
            return self.constraint.get_velocity_errors_as_vector(state)
        implementation = self.constraint.get_implementation()
        ancestor = self.constraint.get_ancestor_mobilized_body()
        V_AB = velocities_in_ancestor(state, ancestor, implementation.declared_bodies)
        return self._said_of_velocities(state, V_AB, state.record.q_dot[:, 0], state.u_values)

    def _said_of_velocities(self, state: State, V_AB: Array, q_dot: Array, u: Array) -> Array:
        assert self.mine is not None
        p, v, _ = self.constraint.number_of_equations
        found = [np.zeros(0)]
        if p:
            found.append(self.mine.position_dot_errors(state, V_AB, self.mine.q_like(state, q_dot).copy()))
        if v:
            found.append(self.mine.velocity_errors(state, V_AB, self.mine.u_like(state, u).copy()))
        return np.concatenate(found)

    def of_accelerations(self, state: State, udot: Array) -> Array:
        """Errors of all equations at accelerations *udot*, by the user's methods."""
        if self.mine is None:
            errors = self.matter.calc_constraint_acceleration_errors(state, udot)
            return errors[: len(self.constraint.own_rows(state))]
        A_GB = self.matter.calc_body_acceleration_from_u_dot(state, udot)
        ancestor = self.constraint.get_ancestor_mobilized_body()
        A_AB = accelerations_in_ancestor(state, ancestor, self.constraint.get_implementation().declared_bodies, A_GB)
        q_dot_dot = self.matter.calc_q_dot_dot(state, udot)
        return self.mine.acceleration_errors(state, A_AB, self.mine.q_like(state, q_dot_dot), self.mine.u_like(state, udot))

    # ------------------------------------------------------------------------------------------ the checks

    def look_at(self, state: State, rng: np.random.Generator) -> None:
        """All checks at one place."""
        p, v, _ = self.constraint.number_of_equations
        names = _Names(self.mine is not None)
        tree, where = (
            state.tree,
            f"at q = {short(state.q_values[: state.tree.nq])}, u = {short(state.u_values[: state.tree.nu])}",
        )
        udot = rng.uniform(-1.0, 1.0, tree.nu)
        q, u, q_dot = state.q_values[: tree.nq].copy(), state.u_values[: tree.nu].copy(), state.q_dot[: tree.nq].copy()
        q_dot_dot = self.matter.calc_q_dot_dot(state, udot)[: tree.nq]

        def after(h: float) -> State:
            return self.at(state.time + h, q + h * (q_dot + 0.5 * h * q_dot_dot), u + h * udot)

        later = {h: after(h) for h in (-2.0 * STEP, -STEP, STEP, 2.0 * STEP)}
        said = self.of_velocities(state)
        rate = derivative(lambda h: self.of_positions(later[h])[:p])
        for k in range(p):
            text = (
                f"equation {k} of {names.position_dot} is {said[k]:.6g} {where}, where {names.position} changes with "
                f"{rate[k]:.6g}"
            )
            self.note("velocity errors are the rates of position errors", said[k], rate[k], text, k)
        rate = derivative(lambda h: self.of_velocities(later[h]))
        given = self.of_accelerations(state, udot)
        for k in range(p + v):
            one, other, number = names.levels(k, p)
            text = (
                f"equation {number} of {one} is {given[k]:.6g} {where}, udot = {short(udot)}, where {other} changes with "
                f"{rate[k]:.6g}"
            )
            self.note("acceleration errors are the rates of velocity errors", given[k], rate[k], text, k)
        if self.mine is not None:
            self._compare_forces(state, rng, where)
            if not np.array_equal(state.q_values[: tree.nq], q) or not np.array_equal(state.u_values[: tree.nu], u):
                self.findings["state", 0] = "one of its methods changes the q or the u of the state that it is given"

    def _compare_forces(self, state: State, rng: np.random.Generator, where: str) -> None:
        """Compare rows of G, which are made of forces, with the change of errors with velocities and with accelerations."""
        assert self.mine is not None
        numbers, tree = self.constraint.number_of_equations, state.tree
        p, v, _ = numbers
        G = self.matter.calc_g(state)
        moving, q = rng.uniform(-1.0, 1.0, tree.nu), state.q_values[: tree.nq]
        at_rest, there = self.at(state.time, q, np.zeros(tree.nu)), self.at(state.time, q, moving)
        G_v = self.matter.calc_g(there)[p : p + v]  # of velocity equations they may depend on u
        expected = np.zeros(sum(numbers))
        if p:
            expected[:p] = (self.of_velocities(there) - self.of_velocities(at_rest))[:p]
        rest = self.of_accelerations(state, np.zeros(tree.nu))
        expected[p:] = (self.of_accelerations(state, moving) - rest)[p:]
        found = G @ moving
        names = (
            "add_in_position_constraint_forces",
            "add_in_velocity_constraint_forces",
            "add_in_acceleration_constraint_forces",
        )
        what = ("calc_position_dot_errors", "calc_velocity_dot_errors", "calc_acceleration_errors")
        for k in range(sum(numbers)):
            level, number = _level(k, numbers)
            hint = "; it has the wrong sign" if np.isclose(found[k], -expected[k], rtol=1e-6, atol=1e-9) else ""
            text = (
                f"a unit multiplier of equation {number} of {names[level]} has the power {found[k]:.6g} on {short(moving)} in "
                f"place of u, {where}, where {what[level]} changes by {expected[k]:.6g}: they have to be the same{hint}"
            )
            self.note("forces are the transpose of errors", found[k], expected[k], text, k)
        if v:  # linear at least near u: verr(u) changes with G as u does
            slope = derivative(lambda h: self.of_velocities(self.at(state.time, q, moving * (1.0 + h)))[p:])
            for k in range(v):
                power = float(G_v[k] @ moving)
                text = (
                    f"a unit multiplier of equation {k} of {names[1]} has the power {power:.6g} on {short(moving)} in place "
                    f"of u, {where}, where calc_velocity_errors changes by {slope[k]:.6g}: they have to be the same"
                )
                self.note("forces are the transpose of errors", power, slope[k], text, p + k)
        for level in range(3):
            if numbers[level]:
                self._compare_sum_of_forces(level, state, rng, where, names[level])

    def _compare_sum_of_forces(self, level: int, state: State, rng: np.random.Generator, where: str, name: str) -> None:
        """Forces have to be linear in the multipliers."""
        assert self.mine is not None
        n = self.constraint.number_of_equations[level]
        multipliers = rng.uniform(-1.0, 1.0, n)
        F, f = self.mine.forces(level, state, multipliers)
        parts = [self.mine.forces(level, state, one) for one in np.eye(n)]
        expected = sum(x * np.append(one.ravel(), other) for x, (one, other) in zip(multipliers, parts, strict=True))
        text = f"{name} is not linear {where}: of multipliers {short(multipliers)} it is not the sum of what it is of each"
        self.note("forces are linear in multipliers", np.append(F.ravel(), f), expected, text, level)


class _Names:
    """The user's names of the things compared."""

    def __init__(self, of_methods: bool) -> None:
        self.of_methods = of_methods
        self.position = "calc_position_errors" if of_methods else "position_error"
        self.position_dot = "calc_position_dot_errors" if of_methods else "the derivative of position_error"

    def levels(self, k: int, p: int) -> tuple[str, str, int]:
        """Of equation k the two names, and its number among its kind."""
        if not self.of_methods:
            return "the second derivative of position_error", self.position_dot, k
        if k < p:
            return "calc_position_dot_dot_errors", self.position_dot, k
        return "calc_velocity_dot_errors", "calc_velocity_errors", k - p


def _level(k: int, numbers: tuple[int, int, int]) -> tuple[int, int]:
    for level, n in enumerate(numbers):
        if k < n:
            return level, k
        k -= n
    raise IndexError(k)
