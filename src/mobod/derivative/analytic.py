"""Analytic derivatives of both dynamics: by one sweep, with the contributions of elements and constraints.

The sweep alone is for systems where gravity, forces on single mobilities and held ones are all that acts.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros, layout
from ..force.slopes import KIND, ORIENTATION, row_of
from ..mobilizer import q_rates
from ..state import validity
from ..state.fields import INSTANCE_FIELDS, SHORTCUTS
from ..tree import matrix_sweep
from ..tree.prescribed_mobilities import FROM_MOTION
from ..tree.realize import NOT_PLAIN
from ..value.stage import Stage
from . import along, columns, contacts, couplings, local, mobilizers_in_python, of_state, sweep as kernels
from .motion_of_bodies import MotionOfBodies
from .pattern import all_of
from .plan import Enabled, Plan, make_plan
from .products import own_blocks_of, runs_of, scratch_of
from .results import ForwardDynamicsDerivatives
from .stiffness import NUMBERS_OF_STIFFNESS

if TYPE_CHECKING:
    from ..state.state import State
    from ..tree.tree import Tree

_zeros = np.zeros  # one lookup less
_kernel, _whole_kernel = kernels.calc_derivatives, of_state.calc_derivatives
_ACCELERATION, _REALIZED = int(Stage.ACCELERATION), validity.WANTED[Stage.ACCELERATION]
#: Fields of a state's own that decide whether gravity is all that acts.
_DECIDING = frozenset({"force_enabled", "force_integers", "constraint_enabled", "prescribed", "mass"})
#: The most sweeps of a tree that are kept, by what the state has of its own of these.
_KEPT = 64


def sweep_for(system: Any, state: State) -> Sweep:
    """The sweep for a state's tree, and for what is enabled in the state."""
    return _kept_for(system, state, _key_of(state), _made)


def whole_for(system: Any, state: State) -> Whole:
    """The same, also where the bare sweep is enough."""
    found = sweep_for(system, state)
    if not isinstance(found, Whole):
        found = _kept_for(system, state, ("whole", *_key_of(state)), _whole)
    return found


def is_swept(system: Any, state: State) -> bool:
    """True if one sweep differentiates all that acts, of eight states at a time."""
    if system.needs_states or not state.tree.nu:
        return False
    sweep = sweep_for(system, state)
    return type(sweep) is Sweep and not sweep.is_bent


def _key_of(state: State) -> tuple[Any, ...]:
    """The state's own parameters that decide on the plan; of a mass it matters only whether there is one."""
    own = state.own_fields
    if _DECIDING.isdisjoint(own):  # efforts that are set in each call are among the others
        return ()
    decide = sorted(_DECIDING.intersection(own))
    return tuple((name, (own[name] > 0.0 if name == "mass" else own[name]).tobytes()) for name in decide)


def _kept_for(system: Any, state: State, key: tuple[Any, ...], make: Callable[[Any, Tree, Any], Any]) -> Any:
    kept = state.tree.sweeps
    try:
        return kept[key]
    except KeyError:
        if len(kept) >= _KEPT:
            kept.clear()
        found = kept[key] = make(system, state.tree, state.field)
        return found


def _made(system: Any, tree: Tree, field: Any) -> Sweep:
    """The bare sweep where that is enough."""
    parts, bare = Parts(system, tree, field), None
    if parts.are_bare or tree.nu == 0:
        bare = Sweep(system, tree, parts)
    return bare if bare is not None and not bare.bent.any() else _whole(system, tree, field, parts)


def _whole(system: Any, tree: Tree, field: Any, parts: Parts | None = None) -> Whole:
    parts = parts or Parts(system, tree, field)
    differ = len(parts.rows) + len(parts.driven) > 0
    return Whole(system, tree, parts, Parts(system, tree, field, False) if differ else parts)


def _pulls_on_all(field: Any, tree: Tree) -> bool:
    """True if gravities pull on all bodies with mass."""
    enabled, pulled = field("force_enabled"), field("force_integers")
    heavy = np.flatnonzero(field("mass")[1:, 0] > 0.0) + 1
    first = tree.fields["force_first_integer"]
    return all(pulled[first[e] + heavy].all() for e in range(tree.counts["ng"]) if enabled[e])


class Parts:
    """Terms beside the rigid sweep's, of the elements that are enabled.

    Attributes
    ----------
    slopes : array
        The elements of forces on single mobilities, see `force.slopes`.
    plan : derivative.plan.Plan
        What is differentiated where.
    rows : array of int
        The constraints' equations, by the kernels' rows; and of driven mobilities
    driven : array of int
        the numbers.
    row_of : array of int
        Of each equation its place among the rows, or -1.
    """

    def __init__(self, system: Any, tree: Tree, field: Any, constrained: bool = True) -> None:
        enabled, fields, none = field("force_enabled"), tree.fields, np.zeros(0, np.int64)
        forces = {force.element: force for force in system.all_forces()}
        firsts = zip(fields["run_first"], fields["run_end"], strict=True)
        runs = [[forces[e] for e in range(first, end) if enabled[e]] for first, end in firsts]
        slopes = {force.element: row_of(force, tree) for run in runs for force in run}
        simple = [force.element for run in runs if all(slopes[one.element] is not None for one in run) for force in run]
        rows = [row for e in simple for row in slopes[e] or []]
        self.slopes: npt.NDArray[np.int64] = np.array(rows, np.int64).reshape(-1, 5)
        self.row_of = np.full(max(tree.counts["num_rows"], 1), -1)
        if constrained and tree.counts["nc"]:
            self.row_of[: tree.counts["num_rows"]] = field("row_place")
        self.rows = np.flatnonzero(self.row_of >= 0)
        constraints = system.get_matter_subsystem().constraints if len(self.rows) else []
        acting = [one for one in constraints if field("constraint_enabled")[one.index]]
        moved = np.flatnonzero(field("prescribed") == FROM_MOTION) if constrained else none
        self.driven = np.flatnonzero(np.repeat(field("prescribed") == FROM_MOTION, tree.num_u)) if constrained else none
        self.plan = make_plan(
            tree,
            Enabled(
                runs,
                set(simple),
                [one for one in acting if one.interpreter is None],
                {b: routine.address(with_tangents=True) for b, routine in tree.motion_routines if b in moved},
                _pulls_on_all(field, tree),
                any(force.implementation is not None and enabled[e] for e, force in forces.items())
                or any(one.interpreter is not None for one in acting),
                len(self.rows) > 0,
                {b.index for b in system.get_matter_subsystem().body_list if b.interpreter is not None},
            ),
        )
        #: Whether the rigid sweep, with slopes, is all.
        self.are_bare = not (self.plan.acts or len(self.driven))


class Sweep:
    """The kernel with its scratch, for the states of one tree, no hinge column of which depends on q."""

    def __init__(self, system: Any, tree: Tree, parts: Parts) -> None:
        slopes = parts.slopes
        bodies = system.get_matter_subsystem().body_list
        turned = tree.fields["reversed"]
        bent = [
            int(n > 0 and not (b.facts.constant_hinge and not r)) for b, n, r in zip(bodies, tree.num_u, turned, strict=True)
        ]
        for b in bodies:
            if b.interpreter is not None:
                bent[b.index] = 2 * (b.facts.num_u > 0)
        #: 1 for bodies whose columns depend on their coordinates; 2 where Python knows how.
        self.bent: npt.NDArray[np.int64] = np.array(bent, np.int64)
        self.is_bent = any(bent)
        #: The elements of forces on single mobilities, see `force.slopes`; and whether their second derivatives are known.
        self.slopes, self.has_second = slopes, bool((slopes[:, KIND] != ORIENTATION).all())
        #: Of each body the next one inboard that has mobilities, or the body itself.
        self.carrier = np.zeros(tree.nb, np.int64)
        for b in range(1, tree.nb):
            self.carrier[b] = b if tree.num_u[b] else self.carrier[tree.fields["parent"][b]]
        #: For derivatives of many states, see `forward_dynamics_derivatives`.
        self.runs = runs_of(tree)
        self.own_blocks, self.scratch = own_blocks_of(tree, slopes, self.runs), scratch_of(tree, self.runs)
        #: What products of one state do not pass over, see `pattern`.
        self._groups_of_one = parts.plan.pattern.of_eights()
        #: Of each mobility its body.
        self.body_of = np.repeat(np.arange(tree.nb), tree.num_u)
        self._tree, self._nu = tree, tree.nu
        self._pool: list[tuple[Any, ...]] = []
        # without numbers that anybody could change
        self._no_z, self._none = np.zeros((tree.nu, 0)), np.zeros(0)

    def _made_work(self) -> tuple[Any, ...]:
        """All that the kernel takes beside a state: scratch, and what is the tree's."""
        tree, nu, no_bends = self._tree, self._nu, np.zeros((1, kernels.NUMBERS_OF_BENDS))
        accelerations = np.zeros((nu, 1)), np.zeros((tree.nb, 6))
        of_products = *self._groups_of_one, np.zeros(nu, np.int64), *_both(2 * nu, nu)
        scratch = *kernels.make_work(tree.nb, nu), *_scratch_of_inverse(tree), *accelerations
        return *scratch, no_bends, self.bent, self.slopes, *of_products

    def _call(self, state: State, routine: Any, valid: int, q: Any, u: Any, forces: Any, u_dot: Any) -> Any:
        """The kernel's result, or its status.

        It is written for its own time, which is a sixth of a small robot's: no name twice, no tuple taken apart.
        """
        pool, num_z = self._pool, len(state.z_values)
        try:
            work = pool.pop()
        except IndexError:
            work = self._made_work()
        # fmt: off
        found: Any = (_kernel.code or _kernel.load())(
            state.block, routine, valid, state.q_values, state.u_values, q, u, forces, u_dot, work,
            ForwardDynamicsDerivatives, _zeros((self._nu, num_z)) if num_z else self._no_z,
        )
        # fmt: on
        pool.append(work)
        return found

    def residual(self, state: State, u_dot: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics by q and u, at *u_dot*."""
        if self._nu == 0:
            return _zeros((0, 0)), _zeros((0, 0))
        found = self._call(state, 0, _REALIZED, state.q_values, state.u_values, self._none, u_dot)
        return found.q, found.u

    def accelerations_at(self, system: Any, state: State, q: Any, u: Any, forces: Any = None) -> ForwardDynamicsDerivatives:
        """`accelerations` at *q* and *u*, where the state is realized with *forces* beside the elements'."""
        found: Any = NOT_PLAIN
        if self._nu:
            none = self._none
            found = self._call(state, system.plain_routine, 0, q, u, none if forces is None else forces, none)
        if type(found) is int:
            if found != NOT_PLAIN:
                state.invalidate_q()
                system.explain(state, found)
            system.realize(state, q=q, u=u, mobility_forces=forces)
            return self.accelerations(system, state)
        state.valid = _REALIZED
        state.stage_number = _ACCELERATION
        return found

    def accelerations(self, system: Any, state: State) -> ForwardDynamicsDerivatives:
        """Derivatives of the state's u_dot by q, u, z, mobility forces and time, where it is realized unless it is."""
        none = self._none
        if self._nu == 0:
            square = _zeros((0, 0))
            return ForwardDynamicsDerivatives(square, square, _zeros((0, len(state.z_values))), square, none)
        if validity.EVERYTHING & ~state.valid:
            system.compute(state, _REALIZED)
        found: ForwardDynamicsDerivatives = self._call(state, 0, state.valid, state.q_values, state.u_values, none, none)
        return found


#: Where the block has what a state may have of its own; of short cuts a record of Duals takes none.
_PLACES = np.array([layout.places[name] for name in INSTANCE_FIELDS if name not in SHORTCUTS])


class Whole(Sweep):
    """The same with elements, constraints and motions: their derivatives by a record of Duals."""

    def __init__(self, system: Any, tree: Tree, parts: Parts, of_inverse: Parts) -> None:
        super().__init__(system, tree, parts)
        self.parts, self._in_python = parts, np.flatnonzero(self.bent == 2).tolist()
        #: Whether a record of Duals of a state without own parameters has nothing to be told beside what kernels copy.
        self._is_plain = not self._in_python
        #: Whether mobilizers in Python are read by Duals of the whole tree, which know nothing of them.
        self.is_too_wide = bool(self._in_python) and any(
            max(one.plan.by_columns, 0) & columns.SWEPT or (max(one.plan.by_rest, 0) & columns.SWEPT)
            for one in (parts, of_inverse)
        )
        carried = self.carrier, self.body_of, parts.row_of
        self.of_parts = parts.slopes, self.bent, *carried
        plan, other = parts.plan, of_inverse.plan
        self._of_inverse, self._pool_of_inverse = other, list[Any]()
        #: What products of many states do not pass over, see `pattern`.
        self.groups_of_lanes = plan.pattern.of_lanes()
        #: What ensembles give to kernels of forward and inverse dynamics, by which, and whether states have own parameters.
        self.of_lanes: dict[tuple[bool, bool], Any] = {}
        #: Which columns carry which bodies, of lanes.
        self.carried = self.carried_by(plan)
        #: How many blocks of derivatives there are, with two to spare.
        self.num_blocks = plan.num_blocks + 2
        #: Records of Duals that have had other than the tree's parameters.
        self._departed: set[int] = set()
        #: Of parts in Python, by number and body, the directions of the body that have mattered, see `parts_in_python`.
        self.mattered: dict[tuple[int, int], set[int]] = {}
        #: States for differences, which nobody uses now.
        self.moved: list[State] = []
        rates = tree.fields["rates"]
        addresses = (
            columns.contribute.address(with_tangents=True) if max(plan.by_columns, plan.by_rest, other.by_columns) >= 0 else 0,
            columns.find_hinge.address(with_tangents=True) if self.bent.any() or (rates == q_rates.MATRIX).any() else 0,
            contacts.contribute_pair.address(with_tangents=True) if plan.searches else 0,
        )
        self._addresses = np.array(addresses, np.int64)

    def plan_of_lanes(self, inverse: bool, own: bool) -> Any:
        """Tables of the plan for kernels of many states, which may have parameters of their *own*."""
        return (self._of_inverse if inverse else self.parts.plan).for_kernels(in_lanes=True, own_parameters=own)

    def _work(self) -> tuple[Any, ...]:
        """Scratch that is not in use, else new."""
        try:
            return self._pool.pop()
        except IndexError:
            return self._made_work()

    def _made_work(self, plan: Plan | None = None) -> tuple[Any, ...]:
        """A record of Duals, and what kernels take beside a state, see `derivative.of_state`."""
        tree, parts, nu, plan = self._tree, self.parts, self._nu, plan or self.parts.plan
        duals: Any = tree.new_record(False, True)
        for name in SHORTCUTS:  # zero is always right
            duals.share(name, np.zeros_like(tree.fields[name]))
        duals.share("run_routine", parts.plan.routines)
        ends, m, num_rows = 2 * nu + tree.nz + 1, max(len(parts.rows), 1), max(tree.counts["num_rows"], 1)
        eights = LANES * -(-nu // LANES)
        wide = 2 * eights + tree.nz + 1 if len(parts.rows) else 0
        tables, used, touching, asked, acted, (crossings, *between), of_many = plan.for_kernels()
        of_plan = (
            duals.block,
            self._addresses,
            *tables,
            crossings,
            used,
            touching,
            *acted,
            np.array(asked, np.int64),
            *between,
            *of_many,
        )
        of_tree = *self.of_parts, parts.driven, duals
        of_parts = (
            *(np.zeros((tree.nq, 6)), np.zeros((nu if self.bent.any() else 1, kernels.NUMBERS_OF_BENDS))),
            *(np.zeros((nu + tree.nq, 1)), np.zeros((tree.nb, 6)), np.zeros((nu, columns.NUMBERS_OF_COLUMN))),
            *(np.zeros((self.num_blocks, local.NUMBERS_OF_BLOCK)), *_both(-(-nu // LANES), LANES * NUMBERS_OF_STIFFNESS)),
        )
        units, seeding, pushing, acting, sums = self._scratch_of_one(plan)
        of_one = *units, *seeding, *pushing, *acting, sums, np.zeros((nu, tree.nz + 1))
        solving = (
            *(
                np.zeros((nu if len(parts.driven) or len(plan.thermostats) else 0, nu)),
                np.zeros((nu if len(parts.driven) else 0, ends)),
                *_both(2 * nu, eights),
                *_both(m, wide),
            ),
            *(np.zeros((num_rows, 1)), np.zeros((m, nu)), *_both(m, nu), *_both(2 * m, nu), np.zeros((nu, m)), *_both(nu, nu)),
            *_scratch_of_inverse(tree),
            *(*self._groups_of_one, np.zeros(max(nu, m), np.int64)),
        )
        accelerations = (np.zeros(shape) for shape in 2 * ((nu, 1), (tree.nb, 6)))
        of_lines, of_time = np.zeros((1, plan.num_scratch)), np.zeros((nu if len(parts.rows) else 0, tree.nz + 1))
        of_many = *self._scratch_of_many(plan), *accelerations, of_lines, of_time
        of_rest = *_both(nu, tree.nz + 1), *_both(nu, tree.nz + 1), *all_of(nu, -(-(tree.nz + 1) // LANES))
        return *of_plan, *of_tree, *kernels.make_work(tree.nb, nu), *of_parts, *of_one, *solving, *of_many, *of_rest

    def _scratch_of_many(self, plan: Plan) -> tuple[Any, ...]:
        """Numbers of columns that carry bodies, and scratch, see `couplings`; nothing where no bodies are coupled."""
        needed = len(plan.coupled) > 0
        bodies, blocks = (self._tree.nb, -(-self._nu // LANES)) if needed else (0, 0)
        keep, wide_keep = _both(bodies, self._nu)
        keep[:, : self._nu] = self.carried_by(plan)[1][:bodies]
        S, W = _both(blocks, LANES * couplings.NUMBERS_OF_MOTION), _both(bodies, LANES * couplings.NUMBERS_OF_WRENCHES)
        return wide_keep.sum(axis=2).astype(np.int64), wide_keep, *S, W[1]

    def carried_by(self, plan: Plan) -> tuple[Any, Array]:
        """1 where a mobility's column carries a body ``(nb, nu)``, twice."""
        keep = np.zeros((self._tree.nb, self._nu))
        for b, way in enumerate(plan.pattern.ways):
            keep[b, way] = 1.0
        return keep.astype(np.int64), keep

    def _scratch_of_one(self, plan: Plan) -> tuple[Any, ...]:
        """Directions of a body, seeds, wrenches, forces along paths and sums of one state's Duals."""
        rows = columns.NUMBERS_OF_EIGHT
        units = [aligned_zeros(rows, LANES) for _ in range(2)]
        for fast, unit in enumerate(units):
            unit[6 * fast : 6 * fast + 6, :6] = np.eye(6)
        seeds, pushed = aligned_zeros(rows, LANES), aligned_zeros(1, 6 * LANES)
        acts = len(plan.groups) > 0
        acting = aligned_zeros(acts * (along.TABLES * self._nu + along.OF_BODY * self._tree.nb), LANES)
        return (
            tuple(unit.reshape(rows, 1, LANES) for unit in units),
            (seeds, seeds.reshape(rows, 1, LANES)),
            (pushed, pushed.reshape(1, 6, LANES)),
            (acting, acting.reshape(-1, 1, LANES)),
            aligned_zeros(self._tree.nb, 6 * LANES).reshape(self._tree.nb, 6, LANES),
        )

    def motion_of_bodies(self, state: State, u_dot: Array, A: Array) -> MotionOfBodies:
        """Derivatives of the motion of bodies, which at *u_dot* have accelerations *A*."""
        work = self._work()
        self._put(state, work)
        self._run(state, work, 0, _REALIZED, state.q_values, state.u_values, self._none, u_dot)
        found = MotionOfBodies(state, A, work[of_state.RIGID], work[of_state.PARTS + 4], self.parts.plan.pattern.ways)
        self._pool.append(work)
        return found

    def _put(self, state: State, work: tuple[Any, ...]) -> None:
        """Copy the state's parameters to the record of Duals, and what Python knows of columns."""
        duals = work[_DUALS]
        if self._in_python:
            mobilizers_in_python.put_bends(state, self._in_python, work[of_state.PARTS + 1])
        if state.own_fields or id(duals) in self._departed:
            duals.block.reshape(-1)[_PLACES] = state.block[_PLACES]
            self._departed.add(id(duals))

    @contextlib.contextmanager
    def work_of_lanes(self, state: State, threads: int, own: Mapping[str, Array]) -> Iterator[list[tuple[Any, ...]]]:
        """Of each thread what kernels of many states take for one after the other.

        That is a record of Duals with a state's parameters, scratch, where the record has those that are each state's *own*
        ``(groups, rows, columns, 8)``, and mobilities.
        """
        works, found = [self._work() for _ in range(threads)], []
        for work in works:
            duals = work[_DUALS]
            self._put(state, work)
            numbers, at = np.zeros(sum(array[0, ..., 0].size for array in own.values())), 0
            for name, array in own.items():
                end = at + array[0, ..., 0].size
                duals.share(name, numbers[at:end].reshape(array.shape[1:3]))
                at = end
            found.append((((duals.block, self._addresses), _of_one(work)), numbers, work[_PICKED]))
        yield found
        for work in works:
            if own:
                self._departed.add(id(work[_DUALS]))
            self._pool.append(work)

    def residual(self, state: State, u_dot: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics by q and u, at *u_dot*."""
        if self._nu == 0:
            return _zeros((0, 0)), _zeros((0, 0))
        pool = self._pool if self._of_inverse is self.parts.plan else self._pool_of_inverse
        work = pool.pop() if pool else self._made_work(self._of_inverse)
        self._put(state, work)
        found = self._run(state, work, 0, _REALIZED, state.q_values, state.u_values, self._none, u_dot)
        pool.append(work)
        return found.q, found.u

    def _call(self, state: State, routine: Any, valid: int, q: Any, u: Any, forces: Any, u_dot: Any) -> Any:
        work = self._work()
        if state.own_fields or self._departed or not self._is_plain:
            self._put(state, work)
        found = self._run(state, work, routine, valid, q, u, forces, u_dot)
        self._pool.append(work)
        return found

    def _run(self, state: State, work: Any, routine: Any, valid: int, q: Any, u: Any, forces: Any, u_dot: Any) -> Any:
        """The kernel's result, or its status."""
        num_z = len(state.z_values)
        # fmt: off
        return (_whole_kernel.code or _whole_kernel.load())(
            state.block, routine, valid, state.q_values, state.u_values, q, u, forces, u_dot, work,
            ForwardDynamicsDerivatives, _zeros((self._nu, num_z)) if num_z else self._no_z,
        )
        # fmt: on


#: Where a record of Duals is among what kernels take.
_DUALS = of_state.TREE + 6
#: Where scratch for mobilities is.
_PICKED = of_state.GROUPS + 2


def _of_one(work: tuple[Any, ...]) -> tuple[Any, ...]:
    """Scratch of one state's Duals."""
    first, second, flat, seeds, pushed, wide, acting, of_acting, sums = work[of_state.OF_ONE : of_state.OF_ONE + 9]
    return (first, second), (flat, seeds), (pushed, wide), (acting, of_acting), sums


def _both(rows: int, columns: int) -> tuple[Array, Array]:
    """Scratch by two names: a column at a time, and eight."""
    flat = aligned_zeros(rows, LANES * -(-columns // LANES))
    return flat, flat.reshape(rows, flat.shape[1] // LANES, LANES)


def _scratch_of_inverse(tree: Tree) -> tuple[Array, Array]:
    """Of `inverse_mass_matrix.calc_m_inv`."""
    flat, wide = _both(matrix_sweep.scratch_rows(tree.nu, tree.num_slots), tree.nu)
    flat[matrix_sweep.PLACES] = np.arange(flat.shape[1])
    return flat, wide
