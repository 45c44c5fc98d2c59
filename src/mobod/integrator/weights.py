"""Error weights of y: the state's weights of u and z, and those of q that follow from them.

Where q_dot = N u, a change of u by 1 / w goes with one of q by N's column over w. Mobilizers with q_dot = u hand their weights
on; four numbers of a quaternion, or three angles, take the largest weight of the angular speeds; coordinates whose N is their
own the largest of the mobilizer's. Simbody's N W N^+ is a matrix, and says the same where these weights are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..algebra.arrays import Array
from ..mobilizer import q_rates
from ..state.state import State
from ..value.stage import Stage

if TYPE_CHECKING:
    from ..value.annotations import MultibodySystem

#: Of a system's time scale, the longest step where friction may hold loads that change with time.
_WHILE_LOADS_CHANGE = 0.1


def error_weights(state: State) -> Array:
    """Weights ``(ny,)``."""
    if state.resources is None or not state.resources.weights:  # all are 1, but those of z
        weights, first = np.ones(len(state.y_values)), len(state.q_values) + len(state.u_values)
        weights[first : first + len(state.z_values)] = state.z_weights
        return weights
    of_u = state.u_weights
    of_q, tree = np.ones(len(state.q)), state.tree
    for b in range(1, tree.nb):
        q, u, nq, nu = tree.first_q[b], tree.first_u[b], tree.num_q[b], tree.num_u[b]
        rates = int(tree.fields["rates"][b])
        together = {q_rates.SAME: 0, q_rates.QUATERNION: 4, q_rates.EULER: 3, q_rates.MATRIX: nq}[rates]
        if nu and together:
            of_q[q : q + together] = of_u[u : u + nu - (nq - together)].max()
        of_q[q + together : q + nq] = of_u[u + nu - (nq - together) : u + nu]
    places = state.variable_places()
    for subsystem, (start, n) in places["q"].items():
        first, count = places["u"][subsystem]
        if n == count and first >= tree.nu:  # a q for each u, as far as one can know
            of_q[start : start + n] = of_u[first : first + count]
    return np.concatenate([of_q, of_u, state.z_weights, np.ones(6 * tree.num_particles)])


def free_variables(state: State) -> Array:
    """1 for each number of y that is integrated, 0 for what locks and motions prescribe ``(ny,)``."""
    matter, tree = state.system.get_matter_subsystem(), state.tree
    free = np.ones(len(state.y_values))
    if state.has_known:
        first = len(state.q_values)
        if state.stage_number < Stage.INSTANCE:
            state = state.copy()
            state.system.realize(state, Stage.INSTANCE)
        free[: tree.nq] = free[first : first + tree.nu] = 0.0
        free[matter.get_free_q_index(state)] = 1.0
        free[first + matter.get_free_u_index(state)] = 1.0
    return free


def measured_variables(state: State) -> Array:
    """1 for each number of y whose error Runge-Kutta methods keep small: with rigid contacts what is prescribed, too ``(ny,)``.

    Where all that is free sticks, nothing else says how fast its load changes.
    """
    if state.system.get_matter_subsystem().unilateral_contacts:
        return np.ones(len(state.y_values))
    return free_variables(state)


def longest_step(system: MultibodySystem) -> float:
    """The longest step of a run by events, where forces are functions of time and contacts rub; infinite elsewhere.

    What sticks has no errors: steps would grow, and go past all that a load does meanwhile.
    """
    if not system.system_topology_has_been_realized():
        return float("inf")
    rubs = any(one.has_friction() for one in system.get_matter_subsystem().unilateral_contacts)
    changes = rubs and any(force.reads_time for force in system.all_forces())
    return _WHILE_LOADS_CHANGE * system.get_default_time_scale() if changes else float("inf")
