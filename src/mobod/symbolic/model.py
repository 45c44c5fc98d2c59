"""A recorded model: a state's record whose variables, and parameters that are asked for, are inputs of a tape.

The sweeps of `tree` run on it as they are, in plain Python. What they leave in its fields are the formulas of the dynamics.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..algebra import mat33, spatial, vec3
from ..algebra.memory import load3, load6, load9, load_spatial
from ..algebra.record import call_routine, layout
from ..algebra.scalar import load, store
from ..errors import FormulaError
from ..force import dispatch as forces
from ..force.routines import FORCES as ADD
from ..state.fields import PARAMETERS
from ..state.validity import EVERYTHING, FORCES, KINEMATICS, POSITIONS, UNCHECKED
from ..tree import composite_inertia, constraints, inverse_dynamics, jacobian_sweeps, realize
from .parameters import Parameters
from .recording import Recorded, Tape

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem, State

#: Arrays that are inputs, by the field of the record.
VARIABLES = {"time": "t", "q": "q", "u": "u", "z": "z"}


class Loop(NamedTuple):
    """The constraints of a system: G, the acceleration errors at udot = 0, and the position and velocity errors."""

    G: list[list[Recorded]]
    bias: list[Recorded]
    position_errors: list[Recorded]
    velocity_errors: list[Recorded]


class RecordedModel:
    """The record of a state on a tape.

    Parameters
    ----------
    system : MultibodySystem
    state : State
        Whose parameters, locks and switches count.
    parameters : Parameters, optional
        Numbers of the record that are inputs in place of constants.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The counts and fields of a `Record`."""

    def __init__(self, system: MultibodySystem, state: State, parameters: Parameters | None = None) -> None:
        check(system)
        self.tape, self.system, self.state_of = Tape(), system, state
        some = parameters is not None and bool(parameters.numbers)
        #: Itself, as kernels take it, whose annotations say `Record`.
        self.as_record: Any = self
        record = state.record
        vars(self).update(record.counts)
        number = np.frompyfunc(self.tape.number, 1, 1)
        for name, field in layout.fields.items():
            if field.spans:
                continue
            if field.what == "state":
                value = getattr(record, name)
                fresh = value if name in ("H_FM", "H_MF", "R_FM") else np.zeros_like(value)
                setattr(self, name, number(fresh).astype(object))
            elif name in PARAMETERS:
                setattr(self, name, getattr(record, name).astype(object) if some else getattr(record, name))
            else:
                setattr(self, name, getattr(record, name))
        self.R_GB[0] = number(np.eye(3).ravel())
        for name, given in VARIABLES.items():
            rows = getattr(self, name)
            for i in range(len(rows)):
                rows[i, 0] = self.tape.input(given, i)
        if parameters is not None:
            parameters.write(self)

    # ------------------------------------------------------------------------------------------ the sweeps

    def realize_positions(self) -> None:
        """Positions alone."""
        realize.advance.python(self, 0, POSITIONS | UNCHECKED)

    def realize_velocities(self) -> None:
        """Positions and velocities."""
        realize.advance.python(self, 0, KINEMATICS | UNCHECKED)

    def realize_forces(self) -> None:
        """Positions, velocities and applied forces."""
        realize.advance.python(self, 0, KINEMATICS | FORCES | UNCHECKED)

    def forward(self) -> None:
        """Accelerations, by articulated inertias, with the inputs ``f`` on the mobilities beside the elements' forces."""
        self.realize_forces()
        self._add_given_forces()
        realize.advance.python(self, KINEMATICS | FORCES, EVERYTHING | UNCHECKED)

    def _add_given_forces(self) -> None:
        for i in range(self.nu):
            store(self.mobility_forces, i, 0, load(self.mobility_forces, i, 0) + self.tape.input("f", i))

    def inverse(self, u_dot: Sequence[Any]) -> list[Recorded]:
        """The forces on the mobilities, beside the elements', that accelerations take, after `realize_forces`."""
        rates, residual = self._column(u_dot), self._column([0.0] * self.nu)
        inverse_dynamics.find_missing_force(self.as_record, rates, residual)
        return list(residual[:, 0])

    def mass_matrix(self) -> list[list[Recorded]]:
        """M, by composite inertias (Featherstone 2008, section 6.2), after positions."""
        composite_inertia.sweep(self.as_record)
        o = self.tape.number(0.0)
        M = [[o] * self.nu for _ in range(self.nu)]
        for b in range(1, self.nb):
            inertia = load(self.composite, b, 0), load3(self.composite, b, 1), load6(self.composite, b, 4)
            for j in range(self.first_u[b], self.first_u[b] + self.num_u[b]):
                torque, force = spatial.mul_inertia(*inertia, *load_spatial(self.H, j))
                at = b
                while at > 0:
                    for i in range(self.first_u[at], self.first_u[at] + self.num_u[at]):
                        M[i][j] = vec3.dot(load3(self.H, i, 0), torque) + vec3.dot(load3(self.H, i, 3), force)
                        M[j][i] = M[i][j]
                    torque, force = spatial.shift_force(torque, force, load3(self.p_PB_G, at, 0))
                    at = self.parent[at]
                M[j][j] = M[j][j] + load(self.rotor_inertia, j, 0)
        return M

    def kinematic_matrix(self) -> list[list[Recorded]]:
        """N ``(nq, nu)``, q_dot = N u: N is linear in u, so that a unit speed gives a column."""
        from ..mobilizer import q_rates

        N = []
        for j in range(self.nu):
            unit, out = self._column([float(i == j) for i in range(self.nu)]), self._column([0.0] * self.nq)
            for b in range(1, self.nb):
                q_rates.n_times(self, b, unit, self.first_u[b], out, self.first_q[b])
            N.append(list(out[:, 0]))
        return [[column[i] for column in N] for i in range(self.nq)]

    def station(self, b: int, p: Sequence[Any]) -> tuple[list[Recorded], list[Recorded], list[list[Recorded]]]:
        """The position and velocity of a station of body b in Ground, and its Jacobian ``(3, nu)``, after velocities."""
        r = mat33.mul_vec(load9(self.R_GB, b, 0), tuple(map(self.tape.number, p)))
        where = vec3.add(load3(self.p_GB, b, 0), r)
        w, v = load_spatial(self.V_GB, b)
        _, velocity = spatial.shift_motion(w, v, r)
        J = [[self.tape.number(0.0)] * self.nu for _ in range(3)]
        for j in range(self.nu):
            motions = self._motions(j)
            w, v = load_spatial(motions, b)
            _, column = spatial.shift_motion(w, v, r)
            for k in range(3):
                J[k][j] = column[k]
        return list(where), list(velocity), J

    def body_jacobian(self, b: int) -> list[list[Recorded]]:
        """The angular half of body b's Jacobian ``(3, nu)``, after positions."""
        columns = [load3(self._motions(j), b, 0) for j in range(self.nu)]
        return [[column[k] for column in columns] for k in range(3)]

    def _motions(self, j: int) -> Any:
        motions = np.full((self.nb, 6), self.tape.number(0.0), object)
        jacobian_sweeps.outward(self.as_record, self._column([float(i == j) for i in range(self.nu)]), motions)
        return motions

    def loop(self) -> Loop:
        """The constraints' equations, after velocities, in the order of multipliers."""
        rows = self.system.get_matter_subsystem().rows_in_use(self.state_of)
        columns = []
        for j in range(self.nu):
            unit = self._column([float(i == j) for i in range(self.nu)])
            columns.append(self._rows(self._motions(j), unit))
        still = self._column([0.0] * self.nu)
        return Loop(
            [[column[r] for column in columns] for r in rows],
            [a + load(self.acceleration_offset, int(r), 0) for r in rows for a in [self._rows(self.coriolis, still)[r]]],
            [load(self.position_error, int(r), 0) for r in rows],
            [self._rows(self.V_GB, self.u)[r] + load(self.velocity_offset, int(r), 0) for r in rows],
        )

    def _rows(self, motions: Any, speeds: Any) -> dict[int, Recorded]:
        found = {}
        for c in range(self.nc):
            if self.constraint_enabled[c]:
                for k in range(constraints.num_rows(self.as_record, c)):
                    found[int(self.first_row[c] + k)] = constraints.row_times(self.as_record, c, k, motions, speeds)
        return found

    def kinetic_energy(self) -> Recorded:
        """1/2 u.M u, body by body, after velocities."""
        total = self.tape.number(0.0)
        for b in range(1, self.nb):
            w, v = load_spatial(self.V_GB, b)
            torque, force = jacobian_sweeps.inertia_times(self.as_record, b, w, v)
            total = total + vec3.dot(w, torque) + vec3.dot(v, force)
        for i in range(self.nu):
            total = total + load(self.rotor_inertia, i, 0) * load(self.u, i, 0) * load(self.u, i, 0)
        return 0.5 * total

    def potential_energy(self) -> Recorded:
        """The potential energy of all enabled elements, after positions."""
        return self.tape.number(forces.total_potential_energy(self))

    def _column(self, values: Iterable[Any]) -> Any:
        numbers = [self.tape.number(x) for x in values]
        column = np.empty((len(numbers), 1), object)
        for i, x in enumerate(numbers):
            column[i, 0] = x
        return column


def recorded(system: MultibodySystem, state: State, parameters: Parameters | None, then: str = "forward") -> RecordedModel:
    """A model after one of its sweeps; what cannot be recorded is named.

    Raises
    ------
    FormulaError
        If the course of a computation depends on computed numbers.
    """
    model = RecordedModel(system, state, parameters)
    try:
        getattr(model, then)()
    except FormulaError as error:
        raise FormulaError(f"{_culprit(system, state, parameters)} cannot be written as formulas: {error}") from None
    return model


def check(system: MultibodySystem) -> None:
    """Refuse what is not computed by kernels, or is no function of the state.

    Raises
    ------
    FormulaError
    """
    matter = system.get_matter_subsystem()
    of_python: dict[str, list[Any]] = {
        "a mobilizer": [body for body in matter.body_list if body.interpreter is not None],
        "a constraint": [one for one in matter.constraints if one.interpreter is not None],
        "a force": [force for force in system.all_forces() if force.implementation is not None],
        "a motion": [motion.mobod for motion in system.custom_motions],
    }
    for what, parts in of_python.items():
        for part in parts:
            raise FormulaError(f"{part.name!r} is {what} that Python computes; give functions with compiled= instead")
    unilateral: list[Any] = [*matter.unilateral_contacts, *matter.state_limited_frictions]
    if unilateral:
        raise FormulaError(f"{unilateral[0].name!r} is a unilateral contact or friction, which acts by events")
    if matter.get_num_particles():
        raise FormulaError("particles are no part of the formulas; make them bodies on mobilizer.Translation")
    if system.calls_python:
        raise FormulaError("a function or a law of the system is computed by Python; give one that is compiled instead")


def _culprit(system: MultibodySystem, state: State, parameters: Parameters | None) -> str:
    """The part that cannot be recorded."""
    model = RecordedModel(system, state, parameters)
    try:
        realize.advance.python(model, 0, POSITIONS | UNCHECKED)
    except FormulaError:
        return "the positions of the system"
    try:
        realize.advance.python(model, POSITIONS, KINEMATICS | UNCHECKED)
    except FormulaError:
        return "the velocities of the system"
    for force in system.all_forces():
        e = force.element
        run = next((r for r in range(model.nr) if model.run_first[r] <= e < model.run_end[r]), None)
        if run is None or not model.force_enabled[e]:
            continue
        try:
            call_routine(model.run_routine[run], model, e, e + 1, ADD)
        except FormulaError:
            return f"the force {force.name!r}, a {type(force).__name__},"
    return "the accelerations of the system"
