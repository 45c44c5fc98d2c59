"""Constraints of many states: errors, multipliers, and projection."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES
from ..assembler import Assembler
from ..errors import ConvergenceError, ModelError
from ..state.fields import Record
from ..state.state import State
from ..state.storage import read_only
from ..system import prescription
from ..system.projection import share_weights
from ..tree import prescribe, project as _project, realize as _realize
from ..tree.constraint_fields import order_of_rows
from ..value.checks import positive
from ..value.stage import Stage
from . import batch_constraints
from .results import Results

#: Constraints' errors and multipliers: where they are among the results, beside those of `batch`, and what each needs.
_ERRORS = {
    "q_err": (-2, Stage.POSITION, batch_constraints.POSITION_ERRORS),
    "u_err": (-3, Stage.VELOCITY, batch_constraints.VELOCITY_ERRORS),
    "multipliers": (-4, Stage.ACCELERATION, batch_constraints.MULTIPLIERS),
}


class OnManifold(Results):
    """The part of `Ensemble` that deals with constraints."""

    __slots__ = ()

    @property
    def q_err(self) -> Array:
        """Position errors of the constraints, then norm - 1 of each quaternion ``(n, ...)``. Needs POSITION.

        Here and in the two below, subsystems' own follow as in `State.q_err`, with NaN in states that have failed.
        """
        if self._has_subsystems:
            return self._errors_of_subsystems("q_err")
        quaternions = [self._template.tree.first_q[b] for b in self._template.tree.quaternions]
        norms = [np.linalg.norm(self._q[: self._n, q : q + 4], axis=1) - 1.0 for q in quaternions]
        return np.concatenate([self._errors("q_err"), np.reshape(norms, (len(norms), self._n)).T], axis=1)

    @property
    def u_err(self) -> Array:
        """Velocity errors of the constraints ``(n, mp + mv)``. Needs VELOCITY."""
        return self._errors_of_subsystems("u_err") if self._has_subsystems else self._errors("u_err")

    @property
    def multipliers(self) -> Array:
        """Multipliers of the constraints ``(n, m)``, in the order of `State.multipliers`. Needs ACCELERATION."""
        return self._errors_of_subsystems("multipliers") if self._has_subsystems else self._errors("multipliers")

    @property
    def _has_subsystems(self) -> bool:
        """True if subsystems of users' own may have errors beside those of constraints."""
        return self._system.is_interpreted and self._template.resources is not None

    def _errors_of_subsystems(self, name: str) -> Array:
        """Errors or multipliers of constraints and subsystems, each state's for itself."""
        place, stage, _ = _ERRORS[name]
        self._need(name, stage)
        found = self._results.get(place)
        if found is None:
            rows = {}
            for i in np.flatnonzero(~self.failed):
                state = self._state(int(i))
                self._system.realize(state, stage)
                rows[i] = getattr(state, name)
            lengths = {len(row) for row in rows.values()} or {0}
            if len(lengths) > 1:
                raise ModelError(f"states of an ensemble have {name} of one length, not of {sorted(lengths)}")
            found = np.full((self._groups * LANES, lengths.pop()), np.nan)
            for i, row in rows.items():
                found[i] = row
            self._results[place] = found
        return read_only(found[: self._n])

    def _errors(self, name: str) -> Array:
        """Errors or multipliers of constraints, computed when they are first asked for."""
        place, stage, what = _ERRORS[name]
        self._need(name, stage)
        template = self._template
        tree, enabled = template.tree, template.field("constraint_enabled")
        p, v, a = (int(tree.fields[kind][enabled == 1].sum()) for kind in ("num_p", "num_v", "num_a"))
        rows = order_of_rows(tree, enabled)[: {"q_err": p, "u_err": p + v, "multipliers": p + v + a}[name]]
        found = self._results.get(place)
        if found is None:
            self._check_enabled(name)

            def alone(state: State) -> Array:
                row = np.zeros(tree.counts["num_rows"])
                row[rows] = state.matters_own(name)[: len(rows)]
                return row

            found = np.zeros((self._n, tree.counts["num_rows"]))
            if len(rows):
                found = self._collect(("errors", what), stage, found.shape[1], batch_constraints.collect, (what,), alone)
            self._results[place] = found
        return read_only(found[: self._n][:, rows])

    def _check_enabled(self, name: str) -> None:
        """Refuse what has no common shape, as handlers have left the constraints."""
        shared = self._template.field("constraint_enabled")
        for i, overrides in self._overrides.items():
            enabled = overrides.own.get("constraint_enabled", self._template.tree.fields["constraint_enabled"])
            if not np.array_equal(enabled, shared):
                raise ModelError(
                    f"{name} of this ensemble is no array: an event handler has changed which constraints of state {i} are "
                    f"enabled; ask for a list, ensemble.get_each(lambda state: state.{name})"
                )

    def project(self, accuracy: float = 1e-8) -> npt.NDArray[np.bool_]:
        """Set prescribed q and u of every state, and project q and u onto the manifolds of constraints and quaternions.

        Each state gets the result of `MultibodySystem.project`, eight at a time on each thread. The ensemble is then at
        INSTANCE at most.

        Parameters
        ----------
        accuracy : float
            The largest error of positions and of velocities left; quaternions are normalized to rounding.

        Returns
        -------
        (n,) bool array
            Which states were projected. The others keep their q and u.

        Raises
        ------
        ValueError
            If *accuracy* is not positive.
        TopologyError
            If the system was changed after the ensemble was made.
        ModelError
            If a motion cannot be followed.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 10, state=state)
        >>> ensemble.q = np.linspace(0.0, 1.0, 20).reshape(10, 2)
        >>> ensemble.realize()
        >>> bool(ensemble.project().all())
        True
        """
        self._template.check_owner(self._system, "Ensemble.project")
        accuracy = positive("accuracy", accuracy, ValueError)
        q, u, failed = self._q.copy(), self._u.copy(), np.zeros((self._groups * LANES, 1))
        if not self._system.calls_with_states:
            self._project_in_lanes(accuracy, q, u, failed)
        for i in self._alone():
            state = self._state(i)
            failed[i] = 0.0
            try:
                self._system.project(state, accuracy)
            except (ModelError, ConvergenceError):
                failed[i] = 1.0
            q[i], u[i] = state.q, state.u
        reached: npt.NDArray[np.bool_] = failed[:, 0] == 0.0
        self._q[reached], self._u[reached] = q[reached], u[reached]
        self._changed(Stage.INSTANCE)
        return reached[: self._n].copy()

    def assemble(self, assembler: Assembler | None = None) -> Array:
        """Change q of every state so that all requirements hold and goals are small, wherever it starts; `project` for u.

        Parameters
        ----------
        assembler : Assembler, optional
            Of the same system, with its locks, ranges, conditions and tolerances; one with the system's constraints alone
            unless given. Where its conditions are observed, all states see the same.

        Returns
        -------
        (n,) array
            The goal that each state has reached, zero where there are none; NaN where the requirements cannot be met: such
            states keep their q.

        Raises
        ------
        ValueError
            If the assembler is of another system.
        TypeError
            If it is none.

        Notes
        -----
        Each state gets what `Assembler.assemble` gives to it alone, one after the other: one or two milliseconds each.
        States that are near the manifold already are projected a thousand times as fast by `project`. The ensemble is then at
        TIME at most.

        Examples
        --------
        >>> import mobod as mb, numpy as np
        >>> system, state = mb.examples.four_bar.build()
        >>> ensemble = mb.Ensemble(system, 8, state=state)
        >>> ensemble.upd_q()[:, 0] += np.linspace(-0.5, 0.5, 8)
        >>> goals = ensemble.assemble()
        >>> ensemble.realize(mb.Stage.POSITION)
        >>> bool(np.abs(ensemble.q_err).max() < 1e-4)
        True
        """
        self._template.check_owner(self._system, "Ensemble.assemble")
        if assembler is None:
            assembler = Assembler(self._system)
        elif not isinstance(assembler, Assembler):
            raise TypeError(f"assembler has to be an Assembler, not {assembler!r}")
        elif assembler.get_multibody_system() is not self._system:
            raise ValueError("the assembler is of another system than the ensemble; make it of the same")
        goals, q = np.full(self._n, np.nan), self._q.copy()
        for i in range(self._n):
            state = self._state(i)
            try:
                goals[i] = assembler.assemble(state)
            except (ConvergenceError, ModelError):
                continue
            q[i] = state.q_values
        self._q[...] = q
        self._changed(Stage.TIME)
        return goals

    def _project_in_lanes(self, accuracy: float, q: Array, u: Array, failed: Array) -> None:
        template, lanes = self._template, {"in_lanes": True, "own_parameters": bool(self._own)}
        if template.resources is not None and template.resources.weights:
            share_weights(template)
            self._whole_workers = []
        if template.has_known:
            prescription.check(self._system, template)
        address = _realize.advance.address(**lanes)
        prescriber = prescribe.prescribe.address(**lanes) if template.has_known else 0
        projector = _project.project.address(**lanes) if template.num_matter_errors("u_err") else 0
        tolerances, data = np.full((self._groups * LANES, 1), accuracy), self._given_states

        def work(record: Record, share: tuple[Any, ...]) -> None:
            addresses = address, prescriber, projector
            batch_constraints.project(record, *addresses, share, data, tolerances, q, u, failed)

        self._share_out("project", work)
