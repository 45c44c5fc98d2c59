"""From a kernel's status to the exception that names the cause."""

from __future__ import annotations

import numpy as np

from ..errors import ModelError
from ..state.state import State
from ..tree import block_elimination, realize as _realize
from ..tree.prescribed_mobilities import FROM_MOTION, SOLVED
from ..unilateral.sliding import no_solution
from ..value.stage import Stage
from . import prescription
from .topology import HasTopology


class Explaining(HasTopology):
    """The part of `MultibodySystem` that explains why a state cannot be realized."""

    def explain(self, state: State, status: int) -> None:
        """Turn a kernel's status into the exception that names the cause."""
        matter = self.get_matter_subsystem()
        record = state.record
        if status == _realize.BAD_INPUT:
            if not np.isfinite(record.time[0, 0]):
                raise ModelError(f"time is {record.time[0, 0]}; it has to be finite")
            for name in ("location", "velocity"):
                bad = np.flatnonzero(~np.isfinite(getattr(record, f"particle_{name}")[:, 0]))
                if len(bad):
                    row = getattr(record, f"particle_{name}").reshape(-1, 3)[bad[0] // 3]
                    raise ModelError(f"the {name} of particle {bad[0] // 3} is {row}; it has to be finite")
            tree = state.tree
            name, values, first = "q", state.q_values[: tree.nq], tree.first_q
            if np.all(np.isfinite(values)):
                name, values, first = "u", state.u_values[: tree.nu], tree.first_u
            i = int(np.flatnonzero(~np.isfinite(values))[0])
            b = int(np.searchsorted(first, i, side="right")) - 1
            raise ModelError(
                f"{name}[{i}], number {i - first[b]} of {matter.body_list[b].name!r}, is {values[i]}; "
                f"every {name} has to be finite"
            )
        for body in matter.body_list:
            said = body.not_finite(state)
            if said:
                raise ModelError(said)
        for constraint in matter.constraints:
            said = constraint.not_finite(state)
            if said:
                raise ModelError(said)
        of_mobility = np.repeat(state.field("prescribed"), state.tree.num_u)
        driven = np.flatnonzero((of_mobility == FROM_MOTION) & ~np.isfinite(record.known_u_dot[:, 0]))
        if len(driven):
            prescription.check(self, state)
            b = int(np.searchsorted(state.tree.first_u, driven[0], side="right")) - 1
            raise ModelError(f"{matter.body_list[b].driver!r} prescribes no finite accelerations at time {record.time[0, 0]}")
        self._check_quaternions(state)
        loose = np.flatnonzero(~np.isfinite(record.d_inverse[:, 0]) & (of_mobility == SOLVED))
        if len(loose):
            b = int(np.searchsorted(state.tree.first_u, loose[-1], side="right")) - 1
            i = int(loose[loose >= state.tree.first_u[b]][0])  # eliminated first, and what follows is not finite for it
            raise ModelError(
                f"mobility {i - state.tree.first_u[b]} of {matter.body_list[b].name!r} has no inertia to move: the body "
                "and all that hangs on it is massless, or turns about a line without inertia. Give it mass or rotor inertia, "
                "or weld it"
            )
        for body in matter.body_list:
            k = state.tree.first_u[body.index]
            if body.facts.turns_in_every_way and (which := block_elimination.first_dependent(record.H[k : k + 3, :3])) >= 0:
                why = body.singularity(state) or "that is so at its present q; start elsewhere"
                raise ModelError(
                    f"mobility {which} of {body.name!r} moves nothing that its others do not, so that the mass matrix is "
                    f"singular: {why}"
                )
        for force in self.all_forces():
            applied = (np.zeros((state.tree.nb, 2, 3)), np.zeros((len(matter.particles[0]), 3)), np.zeros(state.tree.nu))
            if not force.is_disabled(state):
                force.add_force(state if force.implementation is None else self._with_speeds(state), *applied)
            if not all(np.isfinite(part).all() for part in applied):
                said = force.why_not_finite(state)
                if said:
                    raise ModelError(said)
                raise ModelError(f"accelerations are not finite: {force!r} gives a force that is infinite or not a number")
        if state.slides and np.isfinite(record.d_inverse).all():
            raise ModelError(no_solution(self._with_speeds(state)))
        raise ModelError(
            "accelerations are not finite: a force is infinite or not a number, or the mass properties differ by more "
            f"than double precision holds{''.join(f'. {text}' for text in matter.singularities(state).values())}"
        )

    def _with_speeds(self, state: State) -> State:
        """The state, or where its realization has ended before, another at VELOCITY: for what Python computes of it."""
        if state.stage_number >= Stage.VELOCITY:
            return state
        other = state.copy()
        state.system.realize(other, Stage.VELOCITY)
        return other

    def _check_quaternions(self, state: State) -> None:
        """Refuse quaternions of no length, or so little that its square is rounded to nothing."""
        for b in state.tree.quaternions:
            at = state.tree.first_q[b]
            quaternion = state.q_values[at : at + 4]
            if quaternion @ quaternion < 1e-290:
                raise ModelError(
                    f"the quaternion of {self.get_matter_subsystem().body_list[b].name!r}, q[{at}] to q[{at + 3}], is "
                    f"{quaternion.tolist() if quaternion.any() else 'zero'} and stands for no orientation; (1, 0, 0, 0) is the "
                    "identity's"
                )

    def owner_of(self, state: State, name: str, i: int) -> str:
        """Number *i* of the system's q, u or z, and which force element's, or subsystem's, it is."""
        for force in self.all_forces() if name == "z" else ():
            if force.first_z <= i < force.first_z + force.num_z:
                return f"z[{i}], number {i - force.first_z} of {force.name!r}"
        for subsystem, (start, n) in state.variable_places()[name].items():
            if start <= i < start + n:
                return f"{name}[{i}], number {i - start} of {self.subsystems[subsystem]!r}"
        return f"{name}[{i}]"
