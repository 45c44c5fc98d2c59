"""Gradients of a number that each of many motions ends in, by the adjoint: the stages of steps are differentiated in lanes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..derivative.coordinates import has_rates
from ..errors import ConvergenceError, ModelError
from ..integrator import Integrator
from ..simulation.gradient import Gradient, Stages, Wanted, differentiate
from ..simulation.variational import TapedStep, Variational
from ..state.state import State
from .linear_models import LinearModels


class GradientOfEach(NamedTuple):
    """Losses ``(n,)``, their gradients ``(n, m)``, and what each of the m entries is by."""

    value: Array
    gradient: Array
    names: list[str]


class Gradients(LinearModels):
    """The part of `Ensemble` that has gradients of motions."""

    __slots__ = ()

    def calc_gradient(
        self,
        time: float,
        loss: Callable[[State], float],
        parameters: Sequence[Any],
        *,
        times: npt.ArrayLike | None = None,
        integrator: Integrator | type[Integrator] | None = None,
        accuracy: float | None = None,
    ) -> GradientOfEach:
        """Simulate from every state for as long as *time*, and differentiate a number that depends on where the motion comes.

        As `mobod.calc_gradient` of each state, which is left as it is; see there for the arguments. Motions are followed one
        by one. Going back, the stages of all steps of a motion are differentiated eight at a time, where q_dot is u and
        nothing is prescribed, sampled, integrated or done at an event; else one by one as well.

        Returns
        -------
        named tuple ``(value, gradient, names)``
            ``(n,)``, ``(n, m)``, and what the m entries are by. Of states whose motion cannot be followed, not a number.

        Raises
        ------
        ValueError, TypeError
            If an argument makes no sense, or the integrator is `TimeStepping`.

        Examples
        --------
        >>> import numpy as np
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> ensemble = mb.Ensemble(system, 3, state=state)
        >>> ensemble.q = np.linspace(0.0, 1.0, 6).reshape(3, 2)
        >>> found = ensemble.calc_gradient(0.5, lambda end: float(end.q[0]), ["u", "gravity_0.magnitude"])
        >>> found.gradient.shape
        (3, 3)
        """
        self._template.check_owner(self._system, "calc_gradient")
        wanted = Wanted(self._system, self._template, time, loss, parameters, times, integrator, accuracy)
        found: list[Gradient | None] = []
        for i in range(self._n):
            try:
                found.append(differentiate(wanted, self._state(i), self._stages))
            except (ModelError, ConvergenceError):
                found.append(None)
        names = next((one.names for one in found if one is not None), [])
        nothing = Gradient(np.nan, np.full(len(names), np.nan), names)
        each = [one or nothing for one in found]
        return GradientOfEach(np.array([one.value for one in each]), np.array([one.gradient for one in each]), names)

    def _stages(self, run: Variational, steps: list[TapedStep]) -> list[Stages]:
        """Those of all steps of a run; none where they are to be found one by one."""
        of, table = run.variations, run.table
        if not steps or len(run.tape or ()) > len(steps) or not self._are_in_lanes(of, steps[0].template):
            return []
        ensemble = type(self)(self._system, len(steps), state=steps[0].template, threads=self._threads)
        y, h, times = np.array([s.y for s in steps]), np.array([s.h for s in steps]), np.array([s.time for s in steps])
        nq, stages, settings = of.nq, table.shape[1] - 1, of.directions.settings
        rates, by_y, by_settings = np.zeros((stages, *y.shape)), [], []
        for s in range(stages):
            here = y + h[:, None] * np.tensordot(table[s, 1 : 1 + s], rates[:s], 1)
            ensemble.time = times + table[s, 0] * h
            ensemble.realize(q=here[:, :nq], u=here[:, nq:])
            rates[s] = np.hstack([ensemble.q_dot, ensemble.u_dot])
            by = ensemble.calc_forward_dynamics_derivatives()
            J, B = np.zeros((len(steps), of.ny, of.ny)), np.zeros((len(steps), of.ny, len(of.directions)))
            J[:, :nq, nq:], J[:, nq:, :nq], J[:, nq:, nq:] = np.eye(nq), by.q, by.u
            if settings:
                B[:, nq:, of.directions.of_settings] = ensemble.calc_parameter_derivatives(settings)
            by_y.append(J)
            by_settings.append(B)
        nothing: Any = [None] * stages
        return [([J[k] for J in by_y], [B[k] for B in by_settings], nothing) for k in range(len(steps))]

    def _are_in_lanes(self, of: Any, state: State) -> bool:
        """True if y is q and u alone, q_dot is u, and nothing is prescribed."""
        plain = not (has_rates(state) or state.has_known or of.ny > of.nq + of.nu)
        return plain and not self._system.calls_python and not self._remembers() and self._has_kernels()
