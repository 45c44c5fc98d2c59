"""Tree: topology and modelling choices as the arrays that kernels read; one tree serves any number of states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.record import LANES, TANGENTS, DualRows, aligned_zeros, in_each_lane, value_blocks
from ..compiling import Callback, Job, compile_ahead
from ..constraint.base import Constraint
from ..constraint.protocol import AS_Q, CONSTRAIN, EFFECTS_OF_BLOCK, SLIDE, SLIDE_AT, SOLVE_ROWS, THROUGH_COORDINATES
from ..force import gravity
from ..force.contact.fields import fields_of as fields_of_surfaces
from ..force.dispatch import all_runs
from ..force.layout import Entry, runs_of
from ..function.routines import fields_of, number_functions
from ..mobilizer import pin, q_rates, slider, translation
from ..mobilizer.base import MobilizedBody
from ..mobilizer.reversal import turn_round
from ..mobilizer.routines import BY_ADDRESS
from ..state.fields import PARAMETERS, Record
from ..state.state import State
from ..value.level import Level, Method, all_methods
from . import constraint_fields, measures, nominal, position, realize, sampling, sliding
from .block_elimination import BALL, FREE, GENERAL_BALL, GENERAL_FREE, NONE, ONE_BY_ONE
from .constraint_paths import as_q, effects_of_block
from .constraints import constrain, solve_rows, through_coordinates
from .prescribed_mobilities import FROM_LOCK, FROM_MOTION, SOLVED, ZERO


class _Fields(NamedTuple):
    """Fields of a record by one topic: indices, numbers with a column a state, and sizes."""

    integers: dict[str, list[int]] = {}
    numbers: dict[str, Any] = {}
    counts: dict[str, int] = {}


def _joined(*topics: _Fields) -> _Fields:
    joined = _Fields({}, {}, {})
    for topic in topics:
        for name in _Fields._fields:
            getattr(joined, name).update(getattr(topic, name))
    return joined


def _column(numbers: Iterable[float]) -> npt.NDArray[np.float64]:
    return np.array(list(numbers), np.float64).reshape(-1, 1)


class Tree:
    """The arrays of the tree, built from its mobilized bodies, Ground first, and its compiled force elements.

    Parameters
    ----------
    bodies : sequence of MobilizedBody
        Every body after its parent.
    forces : sequence of Entry
        The integers and numbers of each force element: gravities first, then elements of one routine after each other.
    use_euler_angles : bool
        Whether orientations are angles rather than quaternions.
    particles : (masses, locations, velocities)
        ``(np,)``, ``(np, 3)`` and ``(np, 3)``, of a default state.
    constraints : sequence of Constraint
    """

    def __init__(
        self,
        bodies: Sequence[MobilizedBody],
        forces: Sequence[Entry],
        use_euler_angles: bool,
        particles: Sequence[Any] = ((), (), ()),
        constraints: Sequence[Constraint] = (),
    ) -> None:
        self.nb = len(bodies)
        self.use_euler_angles = use_euler_angles
        self._blank: Record | None = None
        #: The subsystems that coordinates, speeds and z belong to, in the layout of y; `MultibodySystem` fills it.
        self.owners: dict[str, dict[int, int]] = {"q": {}, "u": {}, "z": {}}
        #: Where each one's begin, and how many there are, in a state where subsystems have allocated none; likewise.
        self.variable_places: dict[str, dict[int, tuple[int, int]]] = {}
        self.addresses: dict[tuple[bool, ...], dict[str, npt.NDArray[np.int64]]] = {}
        #: What `derivative.analytic` keeps for it.
        self.sweeps: dict[Any, Any] = {}
        #: What `unilateral.problem.contact_table` keeps for it.
        self.contacts: Any = None
        #: What `integrator.watch` has packed last for it.
        self.packed: tuple[Any, ...] | None = None
        #: The names of variables by these, as `simulation.names` has made them for places of subsystems' own.
        self.names: dict[str, tuple[Any, list[str]]] = {}
        #: The fields of groups for the last sets of constraints that states had enabled, and contacts that slid in them.
        self.known_groups: dict[bytes, dict[str, npt.NDArray[np.int64]]] = {}
        self._number_coordinates(bodies)
        functions = self._fields_of_functions(bodies, forces, constraints)  # which numbers them, before parts are packed
        mobilizers = self._fields_of_mobilizers(bodies)
        fields = _joined(
            mobilizers,
            self._fields_of_bodies(bodies),
            self._fields_of_order(bodies),
            functions,
            self._fields_of_forces(forces),
            self._fields_of_controllers(forces),
            self._fields_of_motions(bodies, mobilizers.integers["rotorless"]),
            self._fields_of_particles(particles),
        )
        groups = self._add_constraints(constraints, fields)
        #: The index and parameter fields.
        self.fields: dict[str, npt.NDArray[Any]] = {
            name: np.array(values, dtype=np.int64) for name, values in fields.integers.items()
        }
        self.fields |= groups
        for name, values in fields.numbers.items():
            self.fields[name] = np.ascontiguousarray(values, dtype=np.float64)
        self.counts = fields.counts
        self._begin_without_measures()
        #: Whether something is remembered from step to step.
        self.remembers = self.counts["bristle_rows"] > 0
        #: (nu, nu), made once: with `np.empty` by a name of its own, that halves the cost of a new matrix.
        self.shape_of_m = self.nu, self.nu
        #: The number of slots of an outward sweep of columns.
        self.num_slots = 1 + int(self.fields["slot"].max())
        #: Zero forces, for kernels that read them.
        self.no_mobility_forces, self.no_body_forces = np.zeros(self.nu), np.zeros((self.nb, 6))
        self._set_default_coordinates(bodies)

    def _number_coordinates(self, bodies: Sequence[MobilizedBody]) -> None:
        """Number the coordinates and speeds, those of a body in a row, bodies in their order."""
        self.num_q: list[int] = []
        self.num_u: list[int] = []
        self.first_q: list[int] = []
        self.first_u: list[int] = []
        self.nq = self.nu = 0
        for body in bodies:
            facts = body.facts
            self.first_q.append(self.nq)
            self.first_u.append(self.nu)
            self.num_q.append(facts.num_q - self._has_angles(body))
            self.num_u.append(facts.num_u)
            self.nq, self.nu = self.nq + self.num_q[-1], self.nu + facts.num_u
        self.q_slices = [slice(first, first + n) for first, n in zip(self.first_q, self.num_q, strict=True)]
        self.u_slices = [slice(first, first + n) for first, n in zip(self.first_u, self.num_u, strict=True)]
        #: Bodies whose first four coordinates are a quaternion, in order: the pool.
        self.quaternions = [b for b, body in enumerate(bodies) if body.facts.has_quaternion and not self.use_euler_angles]

    def _has_angles(self, body: MobilizedBody) -> bool:
        """True if a body has Euler angles where it could have a quaternion."""
        return self.use_euler_angles and body.facts.has_quaternion

    def _fields_of_mobilizers(self, bodies: Sequence[MobilizedBody]) -> _Fields:
        """Kinds, rates, parameters, columns, and how each mobility is eliminated."""
        kinds, rates = [], []
        for body in bodies:
            facts, euler = body.facts, self._has_angles(body)
            kinds.append(BY_ADDRESS if euler and facts.kinematics is not None else facts.kind)
            if facts.has_matrix_n:
                rates.append(q_rates.MATRIX)
            else:
                rates.append(q_rates.EULER if euler else q_rates.QUATERNION if facts.has_quaternion else q_rates.SAME)
        self.kinematics_routines = [(b, body.facts.kinematics) for b, body in enumerate(bodies) if kinds[b] == BY_ADDRESS]
        matrices = [nq * nu if r == q_rates.MATRIX else 0 for r, nq, nu in zip(rates, self.num_q, self.num_u, strict=True)]
        parameters, choices = [body.pack_parameters() for body in bodies], [body.pack_choices() for body in bodies]
        # whole vectors, so that each begins where a cache line does
        pins = [i for i, kind in zip(self.first_q, kinds, strict=True) if kind == pin.KIND]
        angle_runs = sorted({i // LANES * LANES for i in pins})
        unit_columns = [_unit_columns(body) for body in bodies]
        #: The field `elimination` of mobilizers without rotor inertia where no motion is prescribed.
        self.elimination_if_free = [_elimination(body, columns) for body, columns in zip(bodies, unit_columns, strict=True)]
        #: Whether some mobilizer has angles about M's origin, whose axes, and with them the mass matrix, can become singular.
        self.turns = any(e in (GENERAL_BALL, GENERAL_FREE) for e in self.elimination_if_free)
        rotors = [body.default_rotors for body in bodies]
        reverse = [body.direction.value for body in bodies]
        variable = [body.facts.has_hinge_dot for body in bodies]
        return _Fields(
            integers={
                "kind": kinds,
                "reversed": reverse,
                "angle_run": angle_runs,
                "form_of_X_FM": [_form_of_X_FM(kind, num_u) for kind, num_u in zip(kinds, self.num_u, strict=True)],
                "rates": rates,
                "kinematics": [0] * self.nb,
                "reversal": [0] * self.nb,
                "rare_rates": [0] * self.nb,
                "has_quaternion": [int(body.facts.has_quaternion and not self.use_euler_angles) for body in bodies],
                "first_n": _starts(matrices),
                "turning": [2 if body.facts.is_line else 3 for body in bodies],
                "first_parameter": _starts([len(run) for run in parameters]),
                "first_choice": _starts([len(run) for run in choices]),
                "choices": [i for run in choices for i in run],
                "first_q": self.first_q,
                "first_u": self.first_u,
                "num_q": self.num_q,
                "num_u": self.num_u,
                "has_hinge_dot": [int(n > 0 and (v or r)) for n, v, r in zip(self.num_u, variable, reverse, strict=True)],
                "slides": [int(body.facts.slides_in_every_way) for body in bodies],
                "unit_column": [place for columns in unit_columns for place in columns],
                "rotorless": [int(not own.any()) for own in rotors],
            },
            numbers={
                "rotor_inertia": np.concatenate(rotors).reshape(-1, 1),
                "parameters": _column(x for run in parameters for x in run),
                "lock_q": np.zeros((self.nq, 1)),
                "lock_u": np.zeros((self.nu, 1)),
            },
            counts={
                "nq": self.nq,
                "nu": self.nu,
                "whole_nq": self.nq,
                "whole_nu": self.nu,
                "parameters_size": sum(map(len, parameters)),
                "choices_size": sum(map(len, choices)),
                "n_size": sum(matrices),
                "num_angle_runs": len(angle_runs),
                "angles_size": angle_runs[-1] + LANES if angle_runs else 0,
            },
        )

    def _fields_of_bodies(self, bodies: Sequence[MobilizedBody]) -> _Fields:
        """Mass properties and frames."""
        #: Of each body as the tree was built; a `Body` can be changed afterwards, which the tree does not notice.
        self.mass_properties = [body.body.get_default_rigid_body_mass_properties() for body in bodies]
        inboard = [body.get_default_inboard_frame() for body in bodies]
        outboard = [body.get_default_outboard_frame() for body in bodies]
        return _Fields(
            # common in robots' files: links whose frame is the joint's, and links without mass
            integers={
                "plain_outboard": [int(np.array_equal(np.asarray(X), np.eye(4))) for X in outboard],
                "massless": [int(m.mass == 0.0) for m in self.mass_properties],
            },
            numbers={
                "R_PF": [np.asarray(X.R).ravel() for X in inboard],
                "p_PF": [np.asarray(X.p) for X in inboard],
                "R_BM": [np.asarray(X.R).ravel() for X in outboard],
                "p_BM": [np.asarray(X.p) for X in outboard],
                "mass": [[m.mass] for m in self.mass_properties],
                "com": [np.asarray(m.com) for m in self.mass_properties],
                "inertia": [_six(np.asarray(m.inertia)) for m in self.mass_properties],
            },
            counts={"nb": self.nb, "one": 1, "three": 3},
        )

    def _fields_of_order(self, bodies: Sequence[MobilizedBody]) -> _Fields:
        """The tree of bodies, and the sweeps that go over them."""
        parents = [0 if body.parent is None else body.parent.index for body in bodies]
        has_children, is_last_child = [0] * self.nb, [0] * self.nb
        for b in range(self.nb - 1, 0, -1):
            is_last_child[b] = 1 - has_children[parents[b]]
            has_children[parents[b]] = 1
        return _Fields(
            integers={
                "parent": parents,
                "is_last_child": is_last_child,
                "has_children": has_children,
                **depth_first_fields(parents, self.first_u, self.num_u),
                "kinematics_sweep": [0],
                "dynamics_sweep": [0],
            }
        )

    def _fields_of_functions(
        self, bodies: Sequence[MobilizedBody], forces: Sequence[Entry], constraints: Sequence[Constraint]
    ) -> _Fields:
        """Functions that forces, mobilizers and constraints use."""
        number_functions([*bodies, *constraints], sum(len(force.functions) for force in forces))
        uses = [use for force in forces for use in force.functions]
        uses += [use for body in bodies for use in body.used_functions]
        uses += [use for constraint in constraints for use in constraint.used_functions]
        integers, numbers, self._function_routines, most_arguments = fields_of(uses)
        return _Fields(
            integers=integers,
            numbers={"function_numbers": _column(numbers)},
            counts={
                "num_functions": len(uses),
                "function_places_size": len(integers["function_places"]),
                "function_integers_size": len(integers["function_integers"]),
                "function_numbers_size": len(numbers),
                "arguments_size": most_arguments,
            },
        )

    def _fields_of_forces(self, forces: Sequence[Entry]) -> _Fields:
        """Force elements, in runs of one routine; their z and surfaces of contact."""
        self.nz = sum(len(force.initial_z) for force in forces)
        #: How many q and u the mobilizers have, and how many z the forces.
        self.sizes = {"q": self.nq, "u": self.nu, "z": self.nz}
        self.default_z, self.default_z_weights = np.zeros(self.nz), np.ones(self.nz)
        for force in forces:
            self.default_z[force.first_z : force.first_z + len(force.initial_z)] = force.initial_z
            self.default_z_weights[force.first_z : force.first_z + len(force.z_weights)] = force.z_weights
        #: Whether some force is a function of z.
        self.forces_read_z = any(force.reads_z for force in forces)
        runs = runs_of(forces)
        of_surfaces, self._contact_routines, surface_counts = fields_of_surfaces(forces)
        self._force_routines = [(r, forces[first].routine) for r, (first, _) in enumerate(runs)]
        #: How many runs of forces there are before the one in Python, and whether there is that: it is given states.
        self.compiled_runs = sum(not isinstance(one, Callback) for _, one in self._force_routines)
        self.calls_with_states = self.compiled_runs < len(runs)
        constants = of_surfaces.pop("contact_constants")
        integers = [i for force in forces for i in force.integers]
        numbers = [x for force in forces for x in force.numbers]
        return _Fields(
            integers={
                "force_kind": [force.kind for force in forces],
                "force_enabled": [int(force.enabled) for force in forces],
                "force_first_integer": _starts([len(force.integers) for force in forces]),
                "force_first_number": _starts([len(force.numbers) for force in forces]),
                "force_first_z": [force.first_z for force in forces],
                "force_integers": integers,
                **of_surfaces,
                "run_first": [first for first, _ in runs],
                "run_end": [end for _, end in runs],
                "run_routine": [0] * len(runs),
                "all_runs": [0],
            },
            numbers={"force_numbers": _column(numbers), "contact_constants": np.reshape(constants, (-1, 1))},
            counts={
                "nz": self.nz,
                "forces_nz": self.nz,
                "nf": len(forces),
                "ng": sum(force.kind == gravity.KIND for force in forces),
                "nr": len(runs),
                "kept_runs": sum(forces[first].reads_positions_only for first, _ in runs),
                "force_integers_size": len(integers),
                "force_numbers_size": len(numbers),
                **surface_counts,
            },
        )

    def _fields_of_controllers(self, forces: Sequence[Entry]) -> _Fields:
        """Laws of feedback, sampled or not, and what they remember."""
        #: What controllers remember in a default state.
        self.default_memory = [x for force in forces for x in force.memory]
        controllers = [e for e, force in enumerate(forces) if force.memory]
        self._laws = [(c, law) for c, e in enumerate(controllers) if (law := forces[e].law) is not None]
        self._nominals = [force.nominal for force in forces if force.nominal is not None]
        #: Whether kernels call functions or laws in Python.
        self.calls_python = any(isinstance(one, Callback) for _, one in [*self._function_routines, *self._laws])
        return _Fields(
            integers={
                "sampler": [0, 0, *[0 for _ in self._nominals]],
                "controller": [0] * len(controllers),
                "controller_element": controllers,
            },
            counts={
                "num_controllers": len(controllers),
                "control_size": len(self.default_memory),
                "control_work_size": max((force.work for force in forces), default=0),
            },
        )

    def _fields_of_motions(self, bodies: Sequence[MobilizedBody], rotorless: Sequence[int]) -> _Fields:
        """Locks and prescribed motions of a default state."""
        motions = [body.driver for body in bodies]
        self.motion_routines = [(b, m.routine) for b, m in enumerate(motions) if m is not None and m.routine is not None]
        packed = [() if m is None else m.pack_numbers() for m in motions]
        numbers = _column(x for run in packed for x in run)
        #: Whether a default state has locks.
        self.has_default_locks = any(body.default_lock_level >= 0 for body in bodies)
        locks = [body.default_lock_level + 1 for body in bodies]
        enabled = [int(m is not None and not m.disabled_by_default) for m in motions]
        how = [
            self.how_prescribed(body, lock, bool(on), bool(plain), None)
            for body, lock, on, plain in zip(bodies, locks, enabled, rotorless, strict=True)
        ]
        return _Fields(
            integers={
                "lock_level": locks,
                "motion_enabled": enabled,
                **{name: [one[name] for one in how] for name in ("elimination", "prescribed", "prescribed_level")},
                "moved": [b for b, _ in self.motion_routines],
                "motion": [0] * self.nb,
                "first_motion_number": _starts([len(run) for run in packed]),
            },
            numbers={"motion_numbers": numbers},
            counts={"nm": len(self.motion_routines), "motion_numbers_size": len(numbers)},
        )

    def _fields_of_particles(self, particles: Sequence[Any]) -> _Fields:
        """Free particles, which no body carries."""
        self.num_particles = len(particles[0])
        #: Locations and velocities of the particles in a default state, as columns.
        self.default_particles = [np.array(v, np.float64).ravel() for v in particles[1:]]
        return _Fields(
            numbers={"particle_mass": _column(particles[0])},
            counts={
                "num_particles": self.num_particles,
                "particle_size": 3 * self.num_particles,
                "ny": self.nq + self.nu + self.nz + 6 * self.num_particles,
            },
        )

    def _add_constraints(self, constraints: Sequence[Constraint], fields: _Fields) -> dict[str, npt.NDArray[Any]]:
        """Add the fields of constraints to those of all else; return those that depend on which are enabled."""
        self._constraint_routines = [
            (c, one.routine) for c, one in enumerate(constraints) if one.routine is not None and one.interpreter is None
        ]
        #: Whether position or velocity equations depend on time.
        self.depends_on_time = any(one.depends_on_time for one in constraints)
        tied, counts = constraint_fields.topology(constraints, fields.integers["parent"], self.num_q, self.num_u)
        fields.numbers["constraint_numbers"] = _column(tied.pop("constraint_numbers"))
        fields.integers.update(tied)
        groups, sizes = constraint_fields.grouped(fields.integers, [1] * len(constraints), self.nb)
        if not all(fields.integers["constraint_enabled"]):
            groups, _ = constraint_fields.grouped(fields.integers, fields.integers["constraint_enabled"], self.nb)
        contacts = sum(one.slides_along is not None for one in constraints)
        sizes["slip_work_size"] = sliding.work_size(contacts, sizes["most_rows"])
        fields.counts.update(counts | sizes | {"constraint_routines": SLIDE_AT + 1})
        fields.integers.update({"constrain": [0] * (SLIDE_AT + 1), "constraint_routine": [0] * len(constraints)})
        for name, of_what in (
            ("position_weight", "num_rows"),
            ("velocity_weight", "num_rows"),
            ("speed_weight", "constrained_nu"),
        ):
            fields.numbers[name] = np.ones((fields.counts[of_what], 1))
        return groups

    def _begin_without_measures(self) -> None:
        """The operations of measures and witnesses; `take_measures` fills in the former, a run the latter."""
        self.fields |= {
            "measures": np.zeros(1, np.int64),
            "measure_runs": np.zeros(3, np.int64),
            "measure_calls": np.zeros(0, np.int64),
            "measure_code": np.zeros(0, np.int64),
            "measure_rings": np.zeros(0, np.int64),
            "measure_numbers": np.zeros((0, 1)),
            "witness_integers": np.zeros(0, np.int64),
            "witness_numbers": np.zeros((0, 1)),
        }
        of_measures = ("code", "numbers", "values", "memory", "history", "rings", "calls")
        self.counts |= dict.fromkeys((f"measure_{what}_size" for what in of_measures), 0)
        self.counts |= {"witness_integers_size": 0, "witness_numbers_size": 0}
        self.has_measures = False
        #: Which routines of measures records with tangents have, if others than those of rates.
        self.measures_with_tangents: frozenset[int] | None = None
        self._measure_routines: list[tuple[int, Any]] = []
        self._num_rate_routines = 0

    def _set_default_coordinates(self, bodies: Sequence[MobilizedBody]) -> None:
        """Coordinates of a default state, where locks hold them, and columns that are the same in all states."""
        self.default_q = np.zeros(self.nq)
        self.constant_columns: list[tuple[int, str, Any]] = []  # (body, field, columns) of the kinds that never change them
        for b, (body, part) in enumerate(zip(bodies, self.q_slices, strict=True)):
            self.default_q[part] = body.packed_default_q(self.use_euler_angles)
            if self.fields["lock_level"][b]:
                self.fields["lock_q"][part, 0] = self.default_q[part]
            if body.facts.constant_hinge and body.facts.num_u:
                columns = body.facts.hinge(tuple(body.default_q.tolist()))
                self.constant_columns.append((b, "H_MF" if body.direction.value else "H_FM", columns))

    def how_prescribed(self, body: Any, lock: int, motion_is_on: bool, rotorless: bool, state: State | None) -> dict[str, int]:
        """The fields `elimination`, `prescribed` and `prescribed_level` of a body, by its lock, its motion and its rotors.

        *lock* is the level of the lock plus 1, or 0. A custom motion, without a state, prescribes nothing.
        As no routine is to be called for it, its level is below 0: minus the number of levels that are not integrated.
        """
        prescribed, level, motion = SOLVED, 0, body.driver
        if body.facts.num_u > 0 and lock:
            at_acceleration = lock - 1 == Level.ACCELERATION
            prescribed, level = FROM_LOCK if at_acceleration else ZERO, lock
        elif body.facts.num_u > 0 and motion is not None and motion_is_on:
            motion_level, method = motion.rule(state)
            methods = all_methods(motion_level, method)
            level = motion_level + 1 if motion.routine is not None else methods.count(Method.FREE) - 3
            if methods[2] is Method.PRESCRIBED and not motion.is_steady:
                prescribed = FROM_MOTION
            elif methods[2] is not Method.FREE:
                prescribed = ZERO
        elimination = NONE if prescribed else self.elimination_if_free[body.index] if rotorless else ONE_BY_ONE
        return {"elimination": elimination, "prescribed": prescribed, "prescribed_level": level}

    def take_measures(
        self,
        code: Sequence[int],
        numbers: Sequence[float],
        runs: Sequence[int],
        values_size: int,
        memory_size: int,
        rings: Sequence[int],
        history_size: int,
        routines: Sequence[Any],
        num_rate_routines: int,
    ) -> None:
        """Take the operations of `measures`, before records are made; rates need the first of the routines only."""
        self.has_measures, self._blank = True, None
        self.forces_read_z = True  # what z are the rates of z may depend on
        self.fields["measure_code"] = np.array(code, np.int64)
        self.fields["measure_numbers"] = np.array(numbers, np.float64).reshape(-1, 1)
        self.fields["measure_runs"] = np.array(runs, np.int64)
        self.fields["measure_rings"] = np.array(rings, np.int64)
        self.fields["measure_calls"] = np.zeros(len(routines), np.int64)
        self._measure_routines, self._num_rate_routines = list(enumerate(routines)), num_rate_routines
        self.counts |= {
            "measure_code_size": len(code),
            "measure_numbers_size": len(numbers),
            "measure_values_size": values_size,
            "measure_memory_size": memory_size,
            "measure_history_size": history_size,
            "measure_rings_size": len(rings),
            "measure_calls_size": len(routines),
        }
        self.remembers = self.remembers or memory_size > 0
        self.addresses = {}

    def routines_by_field(self, numbers_only: bool, steps: bool) -> dict[str, list[tuple[int, Any]]]:
        """The routines that this tree needs, each with its row of a field of addresses, field by field.

        *numbers_only* says that the record holds one state without tangents; *steps* that it has no tangents, so that steps
        are taken with it, which are remembered.
        """
        fields = self.fields
        rare = np.flatnonzero(np.isin(fields["rates"], (q_rates.EULER, q_rates.MATRIX)))
        shared: list[tuple[int, Any]] = []
        if self.counts["nc"]:
            shared += [(CONSTRAIN, constrain), (SOLVE_ROWS, solve_rows)]
            if np.any(fields["num_mobilizers"]):
                shared.append((THROUGH_COORDINATES, through_coordinates))
            if any(e >= BALL for e in self.elimination_if_free):
                shared.append((EFFECTS_OF_BLOCK, effects_of_block))
            if np.any(fields["rates"] != q_rates.SAME):
                shared.append((AS_Q, as_q))
            if self.counts["num_slips"]:
                shared.append((SLIDE, sliding.slide))
                if not steps:
                    shared.append((SLIDE_AT, sliding.slide_at))
        return {
            "kinematics_sweep": [(0, realize.kinematics)],
            "dynamics_sweep": [(0, realize.dynamics)],
            "kinematics": self.kinematics_routines,
            "reversal": [(int(b), turn_round) for b in np.flatnonzero(fields["reversed"])],
            "rare_rates": [(int(b), q_rates.rare) for b in rare],
            "motion": self.motion_routines,
            "run_routine": self._force_routines,
            # controllers are sampled in records of one state
            "sampler": [(0, sampling.sampler)] if self._laws and numbers_only else [],
            "controller": self._laws if numbers_only else [],
            "contact_routines": list(enumerate(self._contact_routines)),
            "all_runs": [(0, all_runs)] if self._force_routines else [],
            "constraint_routine": self._constraint_routines,
            "function_routine": self._function_routines,
            "constrain": shared,
            "measures": [(0, measures.measures)] if self.has_measures else [],
            "measure_calls": self._measures_for(steps),
        }

    def _measures_for(self, steps: bool) -> list[tuple[int, Any]]:
        """The routines of measures' operations: all, those that are wanted with tangents, or those of rates."""
        if steps:
            return self._measure_routines
        wanted = self.measures_with_tangents
        return [one for one in self._measure_routines if (one[0] in wanted if wanted else one[0] < self._num_rate_routines)]

    def _addresses_for(self, *scalar: bool) -> dict[str, npt.NDArray[np.int64]]:
        """The fields of addresses for a record's scalar. Compiles or loads the routines that this tree needs."""
        if scalar not in self.addresses:
            found = {}
            routines = self.routines_by_field(not any(scalar), not (scalar[1] or scalar[3]))
            if scalar[1] and any(scalar[2:]):  # residuals only
                for_rows = [one for one in routines["constrain"] if one[0] not in (SOLVE_ROWS, EFFECTS_OF_BLOCK, SLIDE)]
                routines |= {"dynamics_sweep": [], "constrain": for_rows}
                if scalar[3] and self.measures_with_tangents is None:
                    routines |= {"measures": [], "measure_calls": []}
            needed = [routine for of_field in routines.values() for _, routine in of_field]
            compile_ahead(Job(routine, scalar) for routine in dict.fromkeys([*needed, realize.advance]))
            for name, of_field in routines.items():
                found[name] = np.zeros(len(self.fields[name]), np.int64)
                for i, routine in of_field:
                    found[name][i] = routine.address(*scalar)
            if self._nominals and not any(scalar) and self._laws:
                words, *kept = nominal.words_of(self, self._nominals)
                words[sampling.SAMPLE], found["sampler"] = found["sampler"][0], words
                self._kept_for_nominals = kept
            self.addresses[scalar] = found
        return self.addresses[scalar]

    def new_record(
        self,
        in_lanes: bool = False,
        with_tangents: bool = False,
        own_parameters: bool = False,
        more: tuple[int, int, int] = (0, 0, 0),
        *,
        twice: bool = False,
        fields: Mapping[str, npt.NDArray[Any]] | None = None,
    ) -> Record:
        """A record at the default coordinates, with the constant hinge columns in place, and zero tangents.

        It has room for *more* q, u and z of other subsystems after the matter's. Where parameters have tangents, and with Duals
        of Duals, it is for residuals alone: nothing of it factors inertias. *fields* are in place of the tree's.
        """
        scalar = in_lanes, with_tangents, own_parameters, twice
        plain = not any(scalar) and not any(more) and fields is None
        if plain and self._blank is not None:
            return self._blank.copy()
        shared = {**self.fields, **(fields or {}), **self._addresses_for(*scalar)}
        if own_parameters:
            spread_out = in_each_lane if in_lanes else with_room_for_tangents
            shared.update((name, spread_out(shared[name])) for name in PARAMETERS)
        counts = self.counts
        if any(more):
            whole_nq, whole_nu, nz = self.nq + more[0], self.nu + more[1], self.nz + more[2]
            counts = {
                **counts,
                "whole_nq": whole_nq,
                "whole_nu": whole_nu,
                "nz": nz,
                "ny": whole_nq + whole_nu + nz + 6 * self.num_particles,
            }
        record = Record(counts, shared, in_lanes, with_tangents, own_parameters, twice)

        def spread(values: Any) -> Any:
            array = np.asarray(values, dtype=np.float64)
            return array[..., None] if in_lanes else array

        identity = spread(np.eye(3).ravel())
        record.R_FM[:] = identity
        record.R_GB[0] = identity
        record.q[: self.nq, 0] = spread(self.default_q)
        record.z[: self.nz, 0] = spread(self.default_z)
        record.control_memory[:, 0] = spread(self.default_memory)
        record.particle_location[:, 0], record.particle_velocity[:, 0] = map(spread, self.default_particles)
        for b, field, columns in self.constant_columns:
            first = self.first_u[b]
            getattr(record, field)[first : first + self.num_u[b]] = spread(np.reshape(columns, (-1, 6)))
        if plain:  # copied from now on, which takes a tenth of the time
            self._blank = record.copy()
        return record


def with_room_for_tangents(array: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """A parameter field as `DualRows` has it, with zero tangents."""
    rows, columns = array.shape
    out = aligned_zeros(rows, 1, value_blocks(columns) + columns, TANGENTS)
    DualRows(out, columns).values[:] = array
    return out


def _form_of_X_FM(kind: int, num_u: int) -> int:
    """The form of X_FM of a kind."""
    if kind == pin.KIND:
        return position.TURN
    if kind in (slider.KIND, translation.KIND):
        return position.SLIDE
    return position.NONE if num_u == 0 else position.ANY


def _unit_columns(body: MobilizedBody) -> list[int]:
    """For each mobility the axis of F that it turns about (0 to 2) or slides along (3 to 5) at all q; -1 for any other."""
    facts = body.facts
    if not facts.constant_hinge or body.direction.value:
        return [-1] * facts.num_u
    columns = np.reshape(facts.hinge(tuple(body.default_q.tolist()) or (0.0,)), (-1, 6))
    return [int(np.argmax(h)) if np.array_equal(np.sort(h), [0, 0, 0, 0, 0, 1]) else -1 for h in columns]


def depth_first_fields(parents: Sequence[int], first_u: Sequence[int], num_u: Sequence[int]) -> dict[str, list[int]]:
    """The fields of the order in which `matrix_sweep` goes through bodies and mobilities."""
    nb = len(parents)
    children: list[list[int]] = [[] for _ in range(nb)]
    for b in range(1, nb):
        children[parents[b]].append(b)
    order: list[int] = []
    slot = [0] * nb
    waiting = [0]
    while waiting:
        b = waiting.pop()
        order.append(b)
        for child in children[b][:-1]:
            slot[child] = slot[b] + 1 if b else 0
        waiting += reversed(children[b])
        if children[b]:
            slot[children[b][-1]] = slot[b]
    first_place, end_place, end_of_base = [0] * nb, [0] * nb, [0] * nb
    mobility_at: list[int] = []
    for b in order:
        first_place[b] = len(mobility_at)
        mobility_at += range(first_u[b] + num_u[b] - 1, first_u[b] - 1, -1)
        end_place[b] = len(mobility_at)
    for b in range(nb - 1, 0, -1):  # the children's indices are larger
        end_place[parents[b]] = max(end_place[parents[b]], end_place[b])
    for b in order[1:]:
        end_of_base[b] = end_of_base[parents[b]] if parents[b] else end_place[b]
    in_order = [0] * nb
    for b in order[1:]:
        if parents[b]:
            in_order[b] = in_order[parents[b]]
            continue
        place = end_of_base[b]
        while place > first_place[b] and mobility_at[place - 1] == place - 1:
            place -= 1
        in_order[b] = place
    return {
        "depth_first": order,
        "first_place": first_place,
        "end_place": end_place,
        "end_of_base": end_of_base,
        "mobility_at": mobility_at,
        "in_order": in_order,
        "slot": slot,
    }


def _elimination(body: MobilizedBody, unit_columns: list[int]) -> int:
    """The way its mobilities are eliminated where no motion is prescribed."""
    if not body.facts.turns_in_every_way:
        return ONE_BY_ONE
    if unit_columns == [0, 1, 2, 3, 4, 5][: len(unit_columns)]:
        return BALL if len(unit_columns) == 3 else FREE
    return GENERAL_BALL if len(unit_columns) == 3 else GENERAL_FREE


def _starts(lengths: list[int]) -> list[int]:
    starts, at = [], 0
    for length in lengths:
        starts.append(at)
        at += length
    return starts


def _six(I: Any) -> list[float]:
    """xx yy zz xy xz yz."""
    return [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
