"""Derivatives of the dynamics of many states."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES
from ..derivative import second_sweep, sweep as sweeps
from ..derivative.analytic import Whole, is_swept, sweep_for, whole_for
from ..derivative.couplings import NUMBERS_OF_WRENCHES
from ..derivative.local import NUMBERS_OF_BLOCK
from ..derivative.parameters import by_inertia, is_weighed
from ..derivative.pattern import all_of
from ..derivative.results import begins_of, put, results, targets
from ..derivative.routines import calc_residual
from ..derivative.seeded_record import SeededRecord, side_by_side
from ..derivative.settings import Setting, find_each
from ..derivative.stiffness import NUMBERS_OF_STIFFNESS
from ..state.state import State
from ..system.derivatives import ForwardDynamicsDerivatives, InverseDynamicsDerivatives
from ..tree import realize as _realize
from ..value.stage import Stage
from . import batch_derivatives, batch_element_derivatives, batch_second_derivatives
from .lane_runs import own_of_each
from .of_parts import OfParts


class Derivatives(OfParts):
    """The part of `Ensemble` that has derivatives."""

    __slots__ = ()

    def calc_forward_dynamics_derivatives(
        self,
        *,
        q: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        mobility_forces: npt.ArrayLike | None = None,
        out: ForwardDynamicsDerivatives | None = None,
    ) -> ForwardDynamicsDerivatives:
        """Derivatives of every state's u_dot, each with a leading axis n. Needs ACCELERATION, unless some argument is given.

        See `MultibodySystem.calc_forward_dynamics_derivatives`. Eight states are differentiated at a time, on as many threads
        as `realize` uses: by one sweep where gravity and forces on single mobilities are all that acts, and hinge columns do
        not depend on q; otherwise by dual numbers, through constraints, locks, motions and forces of every compiled kind. They
        are taken one by one in systems with parts in Python, and after event handlers have changed more of a state than its
        variables. Results of states that are not finite are not finite either.

        Parameters
        ----------
        q : (n, nq) array_like, optional
            Assigned first. The derivatives are found without the results of `realize`, which then need not be called: the
            stage is that of an ensemble whose variables have been assigned.
        u : (n, nu) array_like, optional
        mobility_forces : (n, nu) array_like, optional
            Generalized forces of this call alone, beside those of the elements, or ``(nu,)`` for all states.
        out : ForwardDynamicsDerivatives, optional
            What an earlier call gave: its arrays are written anew, and it is returned. It saves new memory, which takes most
            of the time where results are large. Five other arrays of these shapes will do, but results are copied into them.

        Raises
        ------
        StageError
            If the ensemble is below ACCELERATION, and none of *q*, *u* and *mobility_forces* is given.
        ValueError, TypeError
            If *q*, *u* or *mobility_forces* has another shape, or holds no numbers, or *out* is not five arrays of float64 of
            the results' shapes that can be written; nothing is then assigned.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_forward_dynamics_derivatives().q.shape
        (10, 2, 2)
        """
        nu, nz = self._template.tree.nu, len(self._template.z_view)
        asked, realized = "calc_forward_dynamics_derivatives", q is None and u is None and mobility_forces is None
        kind, shapes = ForwardDynamicsDerivatives, ((nu, nu), (nu, nu), (nu, nz), (nu, nu), (nu,))
        into = self._targets(out, kind, shapes)
        self._take(q, u, mobility_forces)
        if not (self._sweeps() or self._has_kernels()):
            alone = self._system.calc_forward_dynamics_derivatives
            parts = self._one_by_one(asked, Stage.ACCELERATION, shapes, lambda s, _: alone(s), realized=realized, into=into)
            return into or kind(*parts)
        block, found = results(self._groups * LANES, self._n, kind, shapes, into)
        if not self._sweeps():
            self._through_parts(asked, realized, block, nz)
            found.z[..., self._template.tree.nz :] = 0.0  # what measures integrate, after the forces' own
            return put(found, into)
        sweep, bodies = self._sweep(), (self._template.tree.nb, sweeps.NUMBERS_A_BODY)
        self._operate(
            asked,
            Stage.ACCELERATION,
            batch_derivatives.calc_forward_dynamics_derivatives,
            {},
            (3 * nu, nu),
            before=(self._wanted(Stage.ACCELERATION), begins_of(shapes)[3], sweep.slopes, sweep.own_blocks, sweep.runs),
            scratch=(bodies, self._column_scratch(), *sweep.scratch, (nu, nu)),
            alone=_never,
            realized=realized,
            found=block,
            reduced=True,
        )
        found.z[...] = found.time[...] = 0.0
        return put(found, into)

    def calc_inverse_dynamics_derivatives(
        self,
        u_dot: npt.ArrayLike,
        *,
        q: npt.ArrayLike | None = None,
        u: npt.ArrayLike | None = None,
        out: InverseDynamicsDerivatives | None = None,
    ) -> InverseDynamicsDerivatives:
        """Derivatives of every state's `calc_inverse_dynamics`, each with a leading axis n. Needs VELOCITY, or *q* or *u*.

        See `calc_forward_dynamics_derivatives`, and `MultibodySystem.calc_inverse_dynamics_derivatives`.

        Parameters
        ----------
        u_dot : (n, nu) array_like
            Of every state, or ``(nu,)`` for all.
        q : (n, nq) array_like, optional
            Assigned first; `realize` then need not be called.
        u : (n, nu) array_like, optional
        out : InverseDynamicsDerivatives, optional
            What an earlier call gave, or three other arrays, as of `calc_forward_dynamics_derivatives`.

        Raises
        ------
        StageError
            If the ensemble is below VELOCITY, and neither *q* nor *u* is given.
        ValueError, TypeError
            If *u_dot*, *q* or *u* has another shape, or *out* is not three arrays of float64 of the results' shapes that can
            be written.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_inverse_dynamics_derivatives(np.zeros(2)).q.shape
        (10, 2, 2)
        """
        nu, asked = self._template.tree.nu, "calc_inverse_dynamics_derivatives"
        given, into = self._rows("u_dot", u_dot, (nu,)), self._targets(out, InverseDynamicsDerivatives, [(nu, nu)] * 3)
        if into is not None:
            given = np.array(given)  # it may be among what is written
        realized = q is None and u is None
        if not realized:
            self._take(q, u)
        if not (self._sweeps() or self._has_kernels()):
            parts = self._one_by_one(
                asked,
                Stage.VELOCITY,
                [(nu, nu)] * 3,
                lambda state, i: self._system.calc_inverse_dynamics_derivatives(state, given[i]),
                realized=realized,
                into=into,
            )
            return into or InverseDynamicsDerivatives(*parts)
        block, found = results(self._groups * LANES, self._n, InverseDynamicsDerivatives, ((nu, nu),) * 3, into)
        if not self._sweeps():
            self._through_parts(asked, realized, block, 0, given)
            return put(found, into)
        self._operate(
            asked,
            Stage.VELOCITY,
            batch_derivatives.calc_inverse_dynamics_derivatives,
            {"udot": given},
            (3 * nu, nu),
            before=(self._sweep().slopes, self._sweep().bent),
            scratch=((self._template.tree.nb, 6), *self._scratch_of_sweep(), self._column_scratch()),
            alone=_never,
            realized=realized,
            found=block,
        )
        return put(found, into)

    def second_derivatives(
        self, weights: Array, q: Array, u: Array, mobility_forces: Array | None = None, u_dot: Array | None = None
    ) -> Array | None:
        """Second derivatives ``(n, k, 3 nu, 3 nu)`` of k *weights* times u_dot by q, u and mobility forces, or None.

        With *u_dot* those of `calc_inverse_dynamics` by q, u and u_dot. Derivatives by q are along displacements, of
        derivatives along displacements: row after column. They are exact where one sweep finds the first ones and no
        orientation spring acts; None elsewhere. *weights* are ``(n, k, nu)``.
        """
        if not (self._sweeps() and self._sweep().has_second):
            return None
        self._take(q, u, mobility_forces)
        tree, sweep, (n, k, nu) = self._template.tree, self._sweep(), weights.shape
        given = {"weights": weights.reshape(n, k * nu), "u_dot": np.zeros((n, nu)) if u_dot is None else u_dot}
        stage = Stage.ACCELERATION if u_dot is None else Stage.VELOCITY
        return self._operate(
            "second_derivatives",
            stage,
            batch_second_derivatives.calc_second_derivatives,
            given,
            (k, 3 * nu, 3 * nu),
            before=(self._wanted(stage), u_dot is None, sweep.slopes, sweep.bent),
            scratch=(
                *((tree.nb, 6), *self._scratch_of_sweep()),
                *((tree.nb, second_sweep.NUMBERS_A_BODY), (nu, second_sweep.NUMBERS_A_MOBILITY), self._column_scratch()),
                *((nu, nu), (k, nu), (2 * nu, nu), (nu, 3 * nu), (2 * nu * k, 3 * nu), (k, 9 * nu * nu)),
            ),
            alone=_never,
            realized=False,
            reduced=True,
        )

    def calc_parameter_derivatives(self, parameters: Sequence[Any]) -> Array:
        """Derivatives of every state's u_dot by parameters ``(n, nu, m)``. Needs ACCELERATION.

        See `MultibodySystem.calc_parameter_derivatives`. Eight states at a time, on as many threads as `realize` uses, by dual
        numbers of each; one by one where `calc_forward_dynamics_derivatives` is.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_parameter_derivatives(["lower.mass"]).shape
        (10, 2, 1)
        """
        settings, asked = find_each(self._system, parameters), "calc_parameter_derivatives"
        nu, m = self._template.tree.nu, sum(setting.size for setting in settings)
        if not m or self._remembers() or not self._has_kernels():
            return self._one_by_one(
                asked,
                Stage.ACCELERATION,
                [(nu, m)],
                lambda state, _: [self._system.calc_parameter_derivatives(state, settings)],
            )[0]
        others = sum(setting.size for setting in settings if setting.inertial is None)
        # the regressor, and M^-1, take as long as a pass of eight columns by dual numbers and a half
        saved = -(-m // LANES) - -(-others // LANES)
        if saved > 1 or (saved and not others):
            if not is_weighed(self._system, self._template):
                return self._by_inertia(settings)
        whole = self._whole()
        rows, driven = whole.parts.rows, whole.parts.driven
        me, moved = max(len(rows), 1), nu if len(driven) else 0
        contradicting = np.zeros((self._groups * LANES, 1))
        records = [SeededRecord(self._template) for _ in range(min(self._threads, self._groups))]
        of_one = self._seeded(records, settings, max(nu, me))
        found = self._operate(
            asked,
            Stage.ACCELERATION,
            lambda block, at, share, *others: batch_element_derivatives.calc_parameter_derivatives(
                block, at, share, others[0], of_one[share[0]], *others[1:]
            ),
            {},
            (nu, m),
            before=(own_of_each(self._own), all_of(nu, m), whole.parts.row_of, rows, driven, contradicting),
            scratch=(
                *((nu, m), (me, m), (moved, m), (moved, nu), (me, nu), (me, nu), (2 * me, nu), (nu, me)),
                *(self._column_scratch(), (nu, nu)),
            ),
            alone=_never,
        )
        self._find_alone(contradicting, [found], lambda state: [self._system.calc_parameter_derivatives(state, settings)])
        return found

    def _by_inertia(self, settings: list[Setting]) -> Array:
        """Those of which some are by inertial parameters: these by the regressor, whose columns are forces that are missing."""
        nu, ends = self._template.tree.nu, np.cumsum([0, *(setting.size for setting in settings)])
        others = [setting for setting in settings if setting.inertial is None]
        residual = np.zeros((self._n, nu, int(ends[-1])))
        by_forces, u_dot = self.calc_forward_dynamics_derivatives().mobility_forces, np.array(self.u_dot)[:, :nu]
        Y = self.calc_inertial_parameter_regressor(u_dot)

        def of_body(name: str, b: int) -> Array:
            lanes, own = self._own.get(name), self._template.field(name)[b]
            if lanes is None:
                return np.broadcast_to(own, (self._n, len(own)))
            return lanes[:, b].swapaxes(1, 2).reshape(-1, len(own))[: self._n]

        for k, setting in enumerate(settings):
            if setting.inertial is not None:
                residual[..., ends[k] : ends[k + 1]] = by_inertia(self._template.tree, setting.inertial, Y, u_dot, of_body)
        found: Array = -by_forces @ residual
        if others:
            is_other = np.repeat([setting.inertial is None for setting in settings], np.diff(ends))
            found[..., is_other] = self.calc_parameter_derivatives(others)
        return found

    def _seeded(self, each: list[SeededRecord], settings: list[Setting], most: int) -> list[tuple[Any, ...]]:
        """Of each thread's record the block and its numbers, where the states' own ones are, and seeds of one or of each.

        With scratch of *most* integers.
        """
        # numbers that states have of their own may change with settings otherwise
        others = [one for one in settings if not one.is_plain]
        reads_own = any(seed.field in self._own for one in others for seeds in one.seeds(self._template) for seed in seeds)
        states = map(self._state, range(self._n)) if reads_own else [self._template]
        seeds = side_by_side([each[0].seeds_of(state, settings) for state in states])
        own = [each[0].places_of(name) for name in self._own]
        places = np.concatenate([np.zeros(0, np.int64), *own])
        kind = {"with_tangents": True, "own_parameters": True}
        addresses = np.array([_realize.advance.address(**kind), calc_residual.address(**kind)])
        return [(one.record.block, addresses, one.numbers, places, np.zeros(most, np.int64), *seeds) for one in each]

    def calc_inertial_parameter_regressor(self, u_dot: npt.ArrayLike) -> Array:
        """Every state's regressor ``(n, nu, 10 (nb - 1))`` at *u_dot*, ``(n, nu)`` or ``(nu,)`` for all. Needs VELOCITY.

        Eight states at a time; see `SimbodyMatterSubsystem.calc_inertial_parameter_regressor`.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_inertial_parameter_regressor(np.zeros(2)).shape
        (10, 2, 20)
        """
        tree, matter = self._template.tree, self._system.get_matter_subsystem()
        return self._operate(
            "calc_inertial_parameter_regressor",
            Stage.VELOCITY,
            batch_element_derivatives.calc_regressor,
            {"udot": self._rows("u_dot", u_dot, (tree.nu,))},
            (tree.nu, 10 * (tree.nb - 1)),
            scratch=((tree.nb, 6),),
            alone=lambda state, given: matter.calc_inertial_parameter_regressor(state, given[0]),
        )

    def calc_station_jacobian_derivatives(
        self, on_body_b: Any, station_p_in_b: npt.ArrayLike, *, u: npt.ArrayLike | None = None
    ) -> Array:
        """Every state's ``(n, 3*nt, nu, nu)``, or with speeds *u* ``(n, nu)`` those of J u, ``(n, 3*nt, nu)``. Needs POSITION.

        State by state; see `SimbodyMatterSubsystem.calc_station_jacobian_derivatives`.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.realize()
        >>> ensemble.calc_station_jacobian_derivatives(system.matter.bodies["lower"], (0, 0, 0)).shape
        (10, 3, 2, 2)
        """
        tree, matter = self._template.tree, self._system.get_matter_subsystem()
        rows = 3 * len(self.tasks(on_body_b, station_p_in_b)[0])
        given = None if u is None else self._rows("u", u, (tree.nu,))
        shape = (rows, tree.nu, tree.nu) if u is None else (rows, tree.nu)
        return self._one_by_one(
            "calc_station_jacobian_derivatives",
            Stage.POSITION,
            [shape],
            lambda state, i: [
                matter.calc_station_jacobian_derivatives(
                    state, on_body_b, station_p_in_b, u=None if given is None else given[i]
                )
            ],
        )[0]

    def _sweep(self) -> Any:
        return sweep_for(self._system, self._template)

    def _sweeps(self) -> bool:
        """True if eight states can be swept at a time."""
        return not self._overrides and is_swept(self._system, self._template)

    def _has_kernels(self) -> bool:
        """True if a kernel can differentiate all that acts, of states that differ in variables and parameters alone."""
        alike = not (self._system.calls_python or self._overrides or self._template.slides)
        return alike and self._template.tree.nu > 0

    def _remembers(self) -> bool:
        """True if measures take part in steps, or friction sticks."""
        counts = self._template.tree.counts
        return self._system.compiles_measures or bool(counts["measure_memory_size"] or counts["bristle_rows"])

    def _through_parts(self, asked: str, realized: bool, block: Array, num_z: int, u_dot: Array | None = None) -> None:
        """Those of `batch_element_derivatives.calc_derivatives`: of inverse dynamics at *u_dot*, else of forward dynamics.

        Rows of derivatives by z have *num_z* numbers in the *block*.
        """
        whole, inverse, padded = self._whole(), u_dot is not None, self._groups * LANES
        given = np.zeros((padded if inverse else 0, self._template.tree.nu))
        if u_dot is not None:
            given[: self._n] = u_dot
        try:
            before, plan, scratch = whole.of_lanes[inverse, bool(self._own)]
        except KeyError:  # made once: it takes as long as a few states do
            found = self._arguments(whole, inverse)
            before, plan, scratch = whole.of_lanes[inverse, bool(self._own)] = found
        own = own_of_each(self._own)
        with whole.work_of_lanes(self._template, min(self._threads, self._groups), self._own) as of_each:

            def kernel(block: Any, address: int, share: Any, states: Any, *others: Any) -> None:
                calc = batch_element_derivatives.calc_derivatives
                calc(block, address, share, states, *of_each[share[0]], own, num_z, *others)

            self._operate(
                asked,
                Stage.VELOCITY if inverse else Stage.ACCELERATION,
                kernel,
                {},
                (2 * self._template.tree.nu, self._template.tree.nu),
                before=(*before, plan, given),
                scratch=scratch,
                alone=_never,
                realized=realized,
                found=block,
                whose=whole,
            )

    def _arguments(self, whole: Whole, inverse: bool) -> tuple[Any, Any, tuple[tuple[int, int], ...]]:
        """Arguments of kernels that are of a tree: first ones, the plan, and the shapes of scratch."""
        tree, none = self._template.tree, np.zeros(0, np.int64)
        nu, num_rows, pattern = tree.nu, max(tree.counts["num_rows"], 1), whole.parts.plan.pattern
        rows, driven = (none, none) if inverse else (whole.parts.rows, whole.parts.driven)
        of_rest, m, moved = 0 if inverse else tree.nz + 1, max(len(rows), 1), nu if len(driven) else 0
        of_mass = nu if inverse or len(driven) or len(whole.parts.plan.thermostats) else 0
        wide = 2 * nu + of_rest
        groups = pattern.at_once, whole.groups_of_lanes, all_of(nu, of_rest)
        beyond = pattern.beyond_tree(whole.parts.plan.couples_by_u)
        before = beyond, *groups, whole.carried, whole.of_parts, rows, driven
        scratch = (
            *((nu, 1), (tree.nb, 6), (nu, 1), (tree.nb, 6), *self._scratch_of_parts(whole)),
            *((nu, of_rest), (0 if inverse else m, wide), (moved, wide), (of_mass, nu)),
            *((num_rows, 1), (m, nu), (m, nu), (2 * m, nu), (nu, m), self._column_scratch()),
            *((nu, nu), (nu, of_rest)),
        )
        return before, whole.plan_of_lanes(inverse, bool(self._own)), scratch

    def _find_alone(self, which: Array, found: Sequence[Array], calculate: Callable[[State], Sequence[Array]]) -> None:
        """Results of states that are not zero in *which*, of each alone."""
        for i in np.flatnonzero(which[: self._n]).tolist():
            state = self._state(i)
            self._realize_alone(state, i, Stage.ACCELERATION)
            for array, part in zip(found, calculate(state), strict=True):
                array[i] = part

    def _whole(self) -> Whole:
        return whole_for(self._system, self._template)

    def _scratch_of_parts(self, whole: Whole) -> tuple[tuple[int, int], ...]:
        """Of kernels in `batch_element_derivatives`: what the rigid sweep, and what it is given, takes of eight states."""
        tree = self._template.tree
        bends = tree.nu if whole.bent.any() else 0
        before = (tree.nu + tree.nq, 1), (tree.nq, 6), (bends, sweeps.NUMBERS_OF_BENDS), (tree.nb, 6)
        blocks = (tree.nu, NUMBERS_OF_STIFFNESS), (whole.num_blocks, NUMBERS_OF_BLOCK)
        between = (tree.nb, NUMBERS_OF_WRENCHES), (1, whole.parts.plan.num_scratch)
        return *before, *self._scratch_of_sweep(), *blocks, *between, (2 * tree.nu, tree.nu)

    def _scratch_of_sweep(self) -> tuple[tuple[int, int], ...]:
        nb, nu = self._template.tree.nb, self._template.tree.nu
        return (nb, sweeps.NUMBERS_A_BODY), (nu, sweeps.NUMBERS_A_MOBILITY), (nu, sweeps.NUMBERS_OF_COLUMNS)

    def _targets(self, out: Any, kind: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
        """The caller's arrays as a named tuple of that *kind*, or None."""
        return targets(out, kind, [(self._n, *shape) for shape in shapes])

    def _one_by_one(
        self,
        asked: str,
        stage: Stage,
        shapes: Sequence[tuple[int, ...]],
        calculate: Callable[[State, int], Any],
        *,
        realized: bool = True,
        into: Sequence[Array] | None = None,
    ) -> Sequence[Array]:
        """Several results of each state, realized alone; not a number where it cannot be. *realized* as of `_operate`."""
        if realized:
            self._need(asked, stage)
        self._template.check_owner(self._system, asked)
        found = into or [np.empty((self._n, *shape)) for shape in shapes]
        for array in found:
            array.fill(np.nan)
        for i, state in self._each_alone(range(self._n), stage):
            if state is not None:
                for array, part in zip(found, calculate(state, i), strict=True):
                    array[i] = part
        return found


def _never(state: State, given: list[Array]) -> Any:
    raise AssertionError("states of systems with parts in Python are differentiated one by one")
