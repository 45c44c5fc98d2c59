"""Tree: what topology and modelling choices fix, as the arrays that kernels read; one serves any number of states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.record import LANES, Record, aligned_zeros
from ..constraint._what import AS_Q, CONSTRAIN, EFFECTS_OF_BLOCK, SOLVE_ROWS, THROUGH_COORDINATES
from ..force import gravity
from ..force._entry import Entry, runs_of
from ..force._switch import all_runs
from ..level import Level, Method, all_methods
from ..mobilizer import _rates, pin, slider, translation
from ..mobilizer._by_address import BY_ADDRESS
from ..mobilizer._reversal import turn_round
from . import blocks, constraint_fields, known, measures, position, records
from .constraint_paths import as_q, effects_of_block
from .constraints import constrain, solve_rows, through_coordinates

if TYPE_CHECKING:
    from ..constraint.base import Constraint
    from ..mobilizer.base import MobilizedBody
    from ..mobilizer.coordinates import Coordinates
    from ..state import State

#: Fields of numbers that a state may own a copy of, and each lane of an Ensemble a value of its own.
PARAMETERS = tuple(field.name for field in records.FIELDS if field.what == "parameter")
#: What tells kernels of work that they can leave out: zero is always right.
SHORTCUTS = ("plain_outboard", "massless")
#: Fields of the tree that a state may own a copy of: what an Instance-stage change touches.
INSTANCE_FIELDS = (
    *PARAMETERS,
    *("force_enabled", "force_integers", "together", "lock_level", "known_level", "motion_enabled"),
    *("constraint_enabled", "constraint_integers", *constraint_fields.GROUPED),
    *SHORTCUTS,
)
#: Fields of routines' addresses, which are one for each scalar.
ADDRESSES = (
    *("kinematics", "reversal", "rare_rates", "motion", "run_routine", "all_runs"),
    *("constraint_routine", "constrain"),
    *("measures", "remember", "measure_calls"),
)
#: Rows that kernels leave at zero where `massless` holds.
OF_MASS = ("com_G", "inertia_G", "centrifugal")
#: Continuous variables of a state that modelling choices do not touch.
OUTSIDE_MATTER = ("time", "particle_location", "particle_velocity")
#: What measures remember, likewise.
REMEMBERED = ("measure_memory", "measure_next")


class Tree:
    """The arrays of the tree, built from its mobilized bodies, Ground first, and its compiled force elements.

    Parameters
    ----------
    bodies : sequence of MobilizedBody
        Every body after its parent.
    forces : sequence of Entry
        What each force element keeps: gravities first, then elements with one routine after each other.
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
        self.num_q: list[int] = []
        self.num_u: list[int] = []
        self.first_q: list[int] = []
        self.first_u: list[int] = []
        kinds, rates = [], []
        nq = nu = 0
        for body in bodies:
            facts = body.facts
            euler = use_euler_angles and facts.has_quaternion
            self.first_q.append(nq)
            self.first_u.append(nu)
            self.num_q.append(facts.num_q - euler)
            self.num_u.append(facts.num_u)
            nq, nu = nq + self.num_q[-1], nu + facts.num_u
            kinds.append(BY_ADDRESS if euler and facts.kinematics is not None else facts.kind)
            if facts.has_matrix_n:
                rates.append(_rates.MATRIX)
            else:
                rates.append(_rates.EULER if euler else _rates.QUATERNION if facts.has_quaternion else _rates.SAME)
        self.nq, self.nu = nq, nu
        self.nz = sum(len(force.initial_z) for force in forces)
        #: How many q and u the mobilizers have, and how many z the forces.
        self.sizes = {"q": nq, "u": nu, "z": self.nz}
        #: Which subsystems these belong to, for the layout of y; `MultibodySystem` says it.
        self.owners: dict[str, dict[int, int]] = {"q": {}, "u": {}, "z": {}}
        self.default_z = np.zeros(self.nz)
        for force in forces:
            self.default_z[force.first_z : force.first_z + len(force.initial_z)] = force.initial_z
        #: Whether some force is a function of z.
        self.forces_read_z = any(force.reads_z for force in forces)
        runs = runs_of(forces)
        self._force_routines = [(r, forces[first].routine) for r, (first, _) in enumerate(runs)]
        kept_runs = sum(forces[first].reads_positions_only for first, _ in runs)
        self.q_slices = [slice(first, first + n) for first, n in zip(self.first_q, self.num_q, strict=True)]
        self.u_slices = [slice(first, first + n) for first, n in zip(self.first_u, self.num_u, strict=True)]
        self.num_particles = len(particles[0])
        parents = [0 if body._parent is None else body._parent._index for body in bodies]
        reverse = [body.direction.value for body in bodies]
        variable = [body.facts.has_hinge_dot for body in bodies]
        has_children, is_last_child = [0] * self.nb, [0] * self.nb
        for b in range(self.nb - 1, 0, -1):
            is_last_child[b] = 1 - has_children[parents[b]]
            has_children[parents[b]] = 1
        #: Bodies whose first four coordinates are a quaternion, in order: the pool.
        self.quaternions = [b for b, body in enumerate(bodies) if body.facts.has_quaternion and not use_euler_angles]
        matrices = [nq * nu if r == _rates.MATRIX else 0 for r, nq, nu in zip(rates, self.num_q, self.num_u, strict=True)]
        parameters, choices = [body._parameters() for body in bodies], [body._choices() for body in bodies]
        self._routines = [(b, body.facts.kinematics) for b, body in enumerate(bodies) if kinds[b] == BY_ADDRESS]
        self._addresses: dict[tuple[bool, ...], dict[str, npt.NDArray[np.int64]]] = {}

        motions = [body._driver for body in bodies]
        self._motion_routines = [(b, m.routine) for b, m in enumerate(motions) if m is not None and m.routine is not None]
        motion_numbers = [() if m is None else m._numbers() for m in motions]

        # whole vectors, so that each begins where a cache line does
        pins = [i for i, kind in zip(self.first_q, kinds, strict=True) if kind == pin.KIND]
        angle_runs = sorted({i // LANES * LANES for i in pins})

        unit_columns = [_unit_columns(body) for body in bodies]
        #: The field `together` of mobilizers that are free.
        self.together_if_free = [_block(body, columns) for body, columns in zip(bodies, unit_columns, strict=True)]
        #: Whether there are angles about M's origin: the mass matrix is singular where two of their axes are one.
        self.turns = any(t in (blocks.TURNING, blocks.MOVING) for t in self.together_if_free)
        #: Whether a default state has locks.
        self.has_default_locks = any(body._default_lock_level >= 0 for body in bodies)
        integers: dict[str, list[int]] = {
            "parent": parents,
            "kind": kinds,
            "reversed": reverse,
            "angle_run": angle_runs,
            "passage": [_passage(kind, num_u) for kind, num_u in zip(kinds, self.num_u, strict=True)],
            "rates": rates,
            "kinematics": [0] * self.nb,
            "reversal": [0] * self.nb,
            "rare_rates": [0] * self.nb,
            "has_quaternion": [int(body.facts.has_quaternion and not use_euler_angles) for body in bodies],
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
            "together": [],
            "is_last_child": is_last_child,
            "has_children": has_children,
            **depth_first_fields(parents, self.first_u, self.num_u),
            "force_kind": [force.kind for force in forces],
            "force_enabled": [int(force.enabled) for force in forces],
            "force_first_integer": _starts([len(force.integers) for force in forces]),
            "force_first_number": _starts([len(force.numbers) for force in forces]),
            "force_first_z": [force.first_z for force in forces],
            "force_integers": [i for force in forces for i in force.integers],
            "run_first": [first for first, _ in runs],
            "run_end": [end for _, end in runs],
            "run_routine": [0] * len(runs),
            "all_runs": [0],
            "lock_level": [body._default_lock_level + 1 for body in bodies],
            "known_level": [],
            "motion_enabled": [int(m is not None and not m._disabled_by_default) for m in motions],
            "moved": [b for b, _ in self._motion_routines],
            "motion": [0] * self.nb,
            "first_motion_number": _starts([len(run) for run in motion_numbers]),
        }
        for b, body in enumerate(bodies):
            lock, on = integers["lock_level"][b], bool(integers["motion_enabled"][b])
            together, level = how_known(body, self.together_if_free[b], lock, on, None)
            integers["together"].append(together)
            integers["known_level"].append(level)
        #: Of each body as the tree was built: a `Body` can be changed afterwards, without anybody hearing of it.
        self.mass_properties = [body._body.get_default_rigid_body_mass_properties() for body in bodies]
        inboard = [body.get_default_inboard_frame() for body in bodies]
        outboard = [body.get_default_outboard_frame() for body in bodies]
        numbers: dict[str, Any] = {
            "R_PF": [np.asarray(X.R).ravel() for X in inboard],
            "p_PF": [np.asarray(X.p) for X in inboard],
            "R_BM": [np.asarray(X.R).ravel() for X in outboard],
            "p_BM": [np.asarray(X.p) for X in outboard],
            "mass": [[m.mass] for m in self.mass_properties],
            "com": [np.asarray(m.com) for m in self.mass_properties],
            "inertia": [_six(np.asarray(m.inertia)) for m in self.mass_properties],
            "parameters": np.array([x for run in parameters for x in run], np.float64).reshape(-1, 1),
            "force_numbers": np.array([x for force in forces for x in force.numbers], np.float64).reshape(-1, 1),
            "particle_mass": np.array(particles[0], np.float64).reshape(-1, 1),
            "motion_numbers": np.array([x for run in motion_numbers for x in run], np.float64).reshape(-1, 1),
            "lock_q": np.zeros((nq, 1)),
            "lock_u": np.zeros((nu, 1)),
        }
        # two shortcuts that robots' files make worthwhile: links whose frame is the joint's, and links without mass
        integers["plain_outboard"] = [int(np.array_equal(np.asarray(X), np.eye(4))) for X in outboard]
        integers["massless"] = [int(m.mass == 0.0) for m in self.mass_properties]
        self._constraint_routines = [
            (c, one.routine) for c, one in enumerate(constraints) if one.routine is not None and one._interpreter is None
        ]
        #: Whether positions, as far as constraints know them, depend on time too.
        self.depends_on_time = any(one._depends_on_time for one in constraints)
        tied, constraint_counts = constraint_fields.topology(constraints, parents, self.num_q, self.num_u)
        numbers["constraint_numbers"] = np.array(tied.pop("constraint_numbers"), np.float64).reshape(-1, 1)
        integers |= tied
        groups, sizes = constraint_fields.grouped(integers, [1] * len(constraints), self.nb)
        if not all(integers["constraint_enabled"]):
            groups, _ = constraint_fields.grouped(integers, integers["constraint_enabled"], self.nb)
        constraint_counts |= sizes
        integers |= {"constrain": [0] * 5, "constraint_routine": [0] * len(constraints)}
        for name, of_what in (
            ("position_weight", "num_rows"),
            ("velocity_weight", "num_rows"),
            ("speed_weight", "constrained_nu"),
        ):
            numbers[name] = np.ones((constraint_counts[of_what], 1))
        #: The index and parameter fields.
        self.fields: dict[str, npt.NDArray[Any]] = {name: np.array(values, dtype=np.int64) for name, values in integers.items()}
        self.fields |= groups
        for name, values in numbers.items():
            self.fields[name] = np.ascontiguousarray(values, dtype=np.float64)
        self.counts = {
            "nb": self.nb,
            "nq": nq,
            "nu": nu,
            "whole_nq": nq,
            "whole_nu": nu,
            "nz": self.nz,
            "ny": nq + nu + self.nz + 6 * self.num_particles,
            "nf": len(forces),
            "ng": sum(force.kind == gravity.KIND for force in forces),
            "nr": len(runs),
            "kept_runs": kept_runs,
            "forces_nz": self.nz,
            "nm": len(self._motion_routines),
            "one": 1,
            "constraint_routines": 5,
            "parameters_size": len(self.fields["parameters"]),
            "choices_size": len(integers["choices"]),
            "n_size": sum(matrices),
            "num_angle_runs": len(angle_runs),
            "angles_size": angle_runs[-1] + LANES if angle_runs else 0,
            "force_integers_size": len(integers["force_integers"]),
            "force_numbers_size": len(self.fields["force_numbers"]),
            "num_particles": self.num_particles,
            "particle_size": 3 * self.num_particles,
            "motion_numbers_size": len(self.fields["motion_numbers"]),
            **constraint_counts,
        }
        #: What measures compute and remember in each step; `take_measures` gives it.
        self.fields |= {
            "measures": np.zeros(1, np.int64),
            "remember": np.zeros(1, np.int64),
            "measure_runs": np.zeros(4, np.int64),
            "measure_calls": np.zeros(0, np.int64),
            "measure_code": np.zeros(0, np.int64),
            "measure_numbers": np.zeros((0, 1)),
        }
        of_measures = ("code", "numbers", "values", "memory", "calls")
        self.counts |= dict.fromkeys((f"measure_{what}_size" for what in of_measures), 0)
        self.has_measures = False
        self._measure_routines: list[tuple[int, Any]] = []
        #: (nu, nu): a tuple at hand, and `np.empty` by a name of its own, halve what a new matrix costs.
        self.shape_of_m = nu, nu
        #: How many scratches an outward sweep of columns takes.
        self.num_slots = 1 + int(self.fields["slot"].max())
        #: What stands for no forces, for kernels that read these.
        self.no_mobility_forces, self.no_body_forces = np.zeros(nu), np.zeros((self.nb, 6))
        #: Locations and velocities of the particles in a default state, as columns.
        self.default_particles = [np.array(v, np.float64).ravel() for v in particles[1:]]
        self.default_q = np.zeros(nq)
        self._columns: list[tuple[int, str, Any]] = []  # (body, field, columns) of the kinds that never change them
        for b, body in enumerate(bodies):
            self.default_q[self.first_q[b] : self.first_q[b] + self.num_q[b]] = body._packed_default_q(use_euler_angles)
            if integers["lock_level"][b]:
                part = slice(self.first_q[b], self.first_q[b] + self.num_q[b])
                self.fields["lock_q"][part, 0] = self.default_q[part]
            if body.facts.constant_hinge and body.facts.num_u:
                columns = body.facts.hinge(tuple(body._default_q.tolist()))
                self._columns.append((b, "H_MF" if reverse[b] else "H_FM", columns))

    def take_measures(
        self,
        code: Sequence[int],
        numbers: Sequence[float],
        runs: Sequence[int],
        values_size: int,
        memory_size: int,
        routines: Sequence[Any],
    ) -> None:
        """Take the list of operations of `measures`, before records are made."""
        self.has_measures = True
        self.forces_read_z = True  # what z are the rates of z may depend on
        self.fields["measure_code"] = np.array(code, np.int64)
        self.fields["measure_numbers"] = np.array(numbers, np.float64).reshape(-1, 1)
        self.fields["measure_runs"] = np.array(runs, np.int64)
        self.fields["measure_calls"] = np.zeros(len(routines), np.int64)
        self._measure_routines = list(enumerate(routines))
        self.counts |= {
            "measure_code_size": len(code),
            "measure_numbers_size": len(numbers),
            "measure_values_size": values_size,
            "measure_memory_size": memory_size,
            "measure_calls_size": len(routines),
        }
        self._addresses = {}

    def _addresses_for(self, *scalar: bool) -> dict[str, npt.NDArray[np.int64]]:
        """The fields of routines' addresses for a record's scalar: what this tree needs is compiled or loaded now."""
        if scalar not in self._addresses:
            fields, found = self.fields, {}
            rare = np.flatnonzero(np.isin(fields["rates"], (_rates.EULER, _rates.MATRIX)))
            shared: list[tuple[int, Any]] = []
            if self.counts["nc"]:
                shared += [(CONSTRAIN, constrain), (SOLVE_ROWS, solve_rows)]
                if np.any(fields["num_mobilizers"]):
                    shared.append((THROUGH_COORDINATES, through_coordinates))
                if any(value > 0 for value in self.together_if_free):
                    shared.append((EFFECTS_OF_BLOCK, effects_of_block))
                if np.any(fields["rates"] != _rates.SAME):
                    shared.append((AS_Q, as_q))
            routines: dict[str, Iterable[tuple[int, Any]]] = {
                "kinematics": self._routines,
                "reversal": [(int(b), turn_round) for b in np.flatnonzero(fields["reversed"])],
                "rare_rates": [(int(b), _rates.rare) for b in rare],
                "motion": self._motion_routines,
                "run_routine": self._force_routines,
                "all_runs": [(0, all_runs)] if self._force_routines else [],
                "constraint_routine": self._constraint_routines,
                "constrain": shared,
                "measures": [(0, measures.measures)] if self.has_measures else [],
                "measure_calls": self._measure_routines,
                # steps are taken of numbers only
                "remember": [(0, measures.remember)] if self.counts["measure_memory_size"] and not any(scalar) else [],
            }
            for name, of_field in routines.items():
                found[name] = np.zeros(len(fields[name]), np.int64)
                for i, routine in of_field:
                    found[name][i] = routine.address(*scalar)
            self._addresses[scalar] = found
        return self._addresses[scalar]

    def new_record(
        self,
        in_lanes: bool = False,
        with_tangents: bool = False,
        own_parameters: bool = False,
        more: tuple[int, int, int] = (0, 0, 0),
    ) -> Record:
        """A record at the default coordinates, with what kernels never write already in place, and no tangents set.

        It has room for *more* q, u and z of other subsystems after the matter's.
        """
        scalar = in_lanes, with_tangents, own_parameters
        shared = {**self.fields, **self._addresses_for(*scalar)}
        if own_parameters:
            shared.update((name, in_each_lane(shared[name])) for name in PARAMETERS)
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
        record = Record(counts, shared, in_lanes, with_tangents, own_parameters)

        def spread(values: Any) -> Any:
            array = np.asarray(values, dtype=np.float64)
            return array[..., None] if in_lanes else array

        identity = spread(np.eye(3).ravel())
        record.R_FM[:] = identity
        record.R_GB[0] = identity
        record.q[: self.nq, 0] = spread(self.default_q)
        record.z[: self.nz, 0] = spread(self.default_z)
        record.particle_location[:, 0], record.particle_velocity[:, 0] = map(spread, self.default_particles)
        for b, field, columns in self._columns:
            first = self.first_u[b]
            getattr(record, field)[first : first + self.num_u[b]] = spread(np.reshape(columns, (-1, 6)))
        return record


def in_each_lane(array: npt.NDArray[Any], *groups: int) -> npt.NDArray[np.float64]:
    """The numbers of a parameter field once a lane, and once a group of lanes."""
    out = aligned_zeros(*groups, *array.shape, LANES)
    out[...] = array[..., None]
    return out


def how_known(body: Coordinates, free: int, lock: int, motion_is_on: bool, state: State | None) -> tuple[int, int]:
    """The fields `together`, which is *free* where motion is, and `known_level` of a body.

    *lock* is the level of its lock and 1, or 0. A motion in Python is asked with the state, and is free without one; its level,
    below 0 as no routine is to be called for it, says what it leaves to be integrated, and a projection to change.
    """
    if body.facts.num_u == 0:
        return free, 0
    if lock:
        return (known.GIVEN if lock - 1 == Level.ACCELERATION else known.LOCKED), lock
    motion = body._driver
    if motion is None or not motion_is_on:
        return free, 0
    level, method = motion._rule(state)
    methods = all_methods(level, method)
    together = free
    if methods[2] is not Method.FREE:
        together = known.LOCKED if motion._is_steady or methods[2] is not Method.PRESCRIBED else known.DRIVEN
    return together, level + 1 if motion.routine is not None else methods.count(Method.FREE) - 3


def _passage(kind: int, num_u: int) -> int:
    """What a kind's X_FM is made of."""
    if kind == pin.KIND:
        return position.TURN
    if kind in (slider.KIND, translation.KIND):
        return position.SLIDE
    return position.NONE if num_u == 0 else position.ANY


def _unit_columns(body: MobilizedBody) -> list[int]:
    """For each mobility, which axis of F it turns about (0 to 2) or slides along (3 to 5) whatever q; -1 for any other."""
    facts = body.facts
    if not facts.constant_hinge or body.direction.value:
        return [-1] * facts.num_u
    columns = np.reshape(facts.hinge(tuple(body._default_q.tolist()) or (0.0,)), (-1, 6))
    return [int(np.argmax(h)) if np.array_equal(np.sort(h), [0, 0, 0, 0, 0, 1]) else -1 for h in columns]


def depth_first_fields(parents: Sequence[int], first_u: Sequence[int], num_u: Sequence[int]) -> dict[str, list[int]]:
    """The fields that say in which order `columns` meets bodies and mobilities."""
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


def _block(body: MobilizedBody, unit_columns: list[int]) -> int:
    """Whether and how its mobilities are met together."""
    if not body.facts.turns_in_every_way:
        return 0
    if unit_columns == [0, 1, 2, 3, 4, 5][: len(unit_columns)]:
        return blocks.ROTATIONS if len(unit_columns) == 3 else blocks.FREE
    return blocks.TURNING if len(unit_columns) == 3 else blocks.MOVING


def _starts(lengths: list[int]) -> list[int]:
    starts, at = [], 0
    for length in lengths:
        starts.append(at)
        at += length
    return starts


def _six(I: Any) -> list[float]:
    """xx yy zz xy xz yz."""
    return [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
