"""LocalEnergyMinimizer: a nearby minimum of the potential energy."""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array
from ..errors import ConvergenceError
from ..state.state import State
from ..system.system import MultibodySystem
from ..value.attributes import Sealed
from ..value.stage import Stage
from ._problem import Problem
from ._solve import Search
from ._variables import Variables
from .base import Assembler
from .condition import Condition


class _Energy(Condition):
    """The potential energy, whose gradient by u-like displacements is minus the generalized forces at rest."""

    def __init__(self, system: MultibodySystem, variables: Variables) -> None:
        super().__init__("potential energy")
        self._system, self._variables = system, variables
        self.is_exact = True

    def calc_goal(self, state: State) -> float:
        return self._system.calc_potential_energy(state)

    def calc_goal_gradient(self, state: State) -> Array | None:
        if not self.is_exact:
            return None
        matter, tree = self._system.get_matter_subsystem(), state.tree
        self._system.realize(state, Stage.DYNAMICS)
        f = self._system.get_mobility_forces(state)
        f = f + matter.multiply_by_system_jacobian_transpose(state, self._system.get_rigid_body_forces(state))
        out = np.zeros(state.q_values.size)
        out[: tree.nq] = matter.multiply_by_n_inv(state, True, -f)
        return out


class LocalEnergyMinimizer(Sealed):
    """Finds a local minimum of the potential energy near a given configuration.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> round(mb.LocalEnergyMinimizer.minimize_energy(system, state, 1e-6), 6)
    -29.43
    >>> bool(abs(state.q).max() < 1e-6)  # it hangs down
    True
    """

    @staticmethod
    def minimize_energy(system: MultibodySystem, state: State, tolerance: float) -> float:
        """Move q to a local minimum of the potential energy, with constraints, locks and prescribed motions kept.

        Parameters
        ----------
        system : MultibodySystem
        state : State
            Where to start; its q alone are changed.
        tolerance : float
            Largest component of the energy's gradient at the end, along directions that constraints leave free; energy by
            angle or by length.

        Returns
        -------
        float
            The energy there; mass*length^2/time^2.

        Raises
        ------
        ValueError
            If *tolerance* is not positive.
        ConvergenceError
            If the search does not get there: the energy may have no minimum, such as that of a body that falls. The state is
            then as it was.

        Notes
        -----
        The gradient is minus the generalized forces of the state at rest. Where some force has no energy of its own (a constant
        force, a user's force without an energy), differences of the energy are taken instead.
        """
        if not 0.0 < tolerance < np.inf:
            raise ValueError(f"the tolerance has to be positive and finite, got {tolerance}")
        assembler = Assembler(system)
        try:
            assembler.assemble(state.copy())
        except ConvergenceError as error:
            again = ConvergenceError(f"the energy cannot be minimized where constraints do not hold: {error}")
            again.diagnosis = error.diagnosis
            raise again from None
        problem, variables = assembler.problem, assembler.variables
        assert problem is not None and variables is not None
        work = problem.state
        work.u = np.zeros(work.u_values.size)
        energy = _Energy(system, variables)
        problem = Problem(system, work, variables, [(energy, 1.0)], problem.requirements)
        energy.is_exact = _agrees(problem, energy)
        search = Search(problem, 1e-9, assembler.get_error_tolerance_in_use() * 1e-3, tolerance, 2000)
        found = search.run()
        if not search.converged or not np.isfinite(found.f):
            raise ConvergenceError(
                f"no minimum of the potential energy was found: after {problem.counts.gradients} gradients it is "
                f"{found.f:.6g}, its gradient {np.abs(found.g).max(initial=0.0):.3g} at most; the energy may have no minimum "
                "near the start"
            )
        problem.move_to(found.q)
        assembler.update_from_internal_state(state)
        return found.f


def _agrees(problem: Problem, energy: _Energy) -> bool:
    """True if the forces are the gradient of the energy, along one direction at random."""
    variables, state = problem.variables, problem.state
    if not variables.n:
        return True
    gradient = problem.gradient(energy)
    x = np.random.default_rng(0).normal(size=variables.n)
    x *= 1e-5 / np.linalg.norm(x)
    q = state.q_values.copy()
    values = []
    for sign in (1.0, -1.0):
        problem.move_to(variables.displaced(state, sign * x))
        values.append(energy.calc_goal(state))
        problem.move_to(q)
    slope = (values[0] - values[1]) / 2e-5
    size = float(np.linalg.norm(gradient)) + abs(slope)
    return bool(abs(slope - float(gradient @ x) / 1e-5) <= 1e-4 * size + 1e-9 * (abs(values[0]) + 1.0))
