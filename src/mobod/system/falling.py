"""Derivatives by one sweep, of systems where gravity and forces on single mobilities are all that acts.

Without other forces, constraints and motions of time, that is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..force._slopes import table_of
from ..state import validity
from ..tree import inverse_dynamics_derivatives as kernels
from ..tree import matrix_sweep
from ..tree.forward_dynamics_derivatives import own_blocks_of, runs_of
from ..tree.prescribed_mobilities import FROM_MOTION
from ..tree.realize import NOT_PLAIN
from ..value.stage import Stage
from . import tangents
from .derivatives_of_dynamics import ForwardDynamicsDerivatives

if TYPE_CHECKING:
    from ..state.state import State
    from ..tree.tree import Tree
    from .manifold import OnManifold

_zeros = np.zeros  # one lookup less
_kernel = kernels.calc_accelerations_derivatives
_ACCELERATION, _REALIZED = int(Stage.ACCELERATION), validity.WANTED[Stage.ACCELERATION]
#: Fields of a state's own that decide whether gravity is all that acts.
_DECIDING = ("force_enabled", "force_integers", "constraint_enabled", "prescribed", "mass")
#: The most sweeps of a tree that are kept, by what the state has of its own of these.
_KEPT = 64


def sweep_for(system: OnManifold, state: State) -> Sweep | None:
    """The sweep for a state's tree, or None where something else than gravity acts."""
    own, kept = state.own_fields, state.tree.sweeps
    # of a mass it matters only whether there is one: states that vary it share a sweep
    key = (
        ()
        if not own
        else tuple((name, (own[name] > 0.0 if name == "mass" else own[name]).tobytes()) for name in _DECIDING if name in own)
    )
    try:
        return kept[key]
    except KeyError:
        if len(kept) >= _KEPT:
            kept.clear()
        found = kept[key] = _made(system, state.tree, state.field)
        return found


def _made(system: Any, tree: Tree, field: Any) -> Sweep | None:
    """A sweep where that is possible."""
    enabled = field("force_enabled")
    slopes = table_of([force for force in system.all_forces() if enabled[force.element]], tree)
    return None if slopes is None or not _falls(field, tree) else Sweep(system, tree, slopes)


def _falls(field: Any, tree: Tree) -> bool:
    """Whether gravities pull on all bodies with mass, without constraints and motions of time."""
    enabled, pulled = field("force_enabled"), field("force_integers")
    heavy = np.flatnonzero(field("mass")[1:, 0] > 0.0) + 1
    for e in range(tree.counts["ng"]):
        if enabled[e] and not pulled[tree.fields["force_first_integer"][e] + heavy].all():
            return False
    return not field("constraint_enabled").any() and not (field("prescribed") == FROM_MOTION).any() and not tree.has_measures


class Sweep:
    """The kernel with its scratch, for the states of one tree."""

    def __init__(self, system: OnManifold, tree: Tree, slopes: npt.NDArray[np.int64]) -> None:
        bodies = system.get_matter_subsystem().body_list
        turned = tree.fields["reversed"]
        bent = [
            int(n > 0 and not (b.facts.constant_hinge and not r)) for b, n, r in zip(bodies, tree.num_u, turned, strict=True)
        ]
        #: 1 for bodies whose columns depend on their coordinates.
        self.bent: npt.NDArray[np.int64] = np.array(bent, np.int64)
        #: The elements of forces on single mobilities, see `force._slopes`.
        self.slopes = slopes
        self._of_tree = self.bent, slopes
        #: For derivatives of many states, see `forward_dynamics_derivatives`.
        self.runs = runs_of(tree)
        self.own_blocks = own_blocks_of(tree, slopes, self.runs)
        self._bends = any(bent)
        self._no_bends = np.zeros((1, kernels.NUMBERS_OF_BENDS))
        self._nu = nu = tree.nu
        #: Whether it takes more than one call: columns have to be differentiated first, or there is nothing to do.
        self._odd = self._bends or nu == 0
        self._counts = tree.nb, nu
        self._pool: list[tuple[Array, ...]] = []
        self._no_z, self._no_forces = np.zeros((nu, 0)), np.zeros(0)  # without numbers that anybody could change

    def _work(self) -> tuple[Array, ...]:
        """Scratch of the kernel that is not in use, else new."""
        try:
            return self._pool.pop()
        except IndexError:
            return kernels.make_work(*self._counts)

    def residual(self, state: State, u_dot: Array, A: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics by q and u, at *u_dot* and the accelerations of the bodies."""
        nu = self._nu
        if nu == 0:
            return np.zeros((0, 0)), np.zeros((0, 0))
        bends = tangents.bends(state) if self._bends else self._no_bends
        work, out = self._work(), np.empty((2, nu, nu))
        given = state.block, A.reshape(-1, 6), u_dot, bends, self.bent, self.slopes, *work, out
        kernels.calc_derivatives(*given)
        self._pool.append(work)
        return out[0], out[1]

    def accelerations_at(
        self, system: OnManifold, state: State, q: Any, u: Any, forces: Any = None
    ) -> ForwardDynamicsDerivatives:
        """`accelerations` at *q* and *u*, where the state is realized with *forces* beside the elements'.

        It is written for its own time, which is a sixth of a small robot's: no name twice, no tuple taken apart.
        """
        if self._odd:
            system.realize(state, q=q, u=u, mobility_forces=forces)
            return self.accelerations(system, state)
        pool = self._pool
        try:  # as `_work`
            work = pool.pop()
        except IndexError:
            work = kernels.make_work(*self._counts)
        found: Any = (_kernel.code or _kernel.load())(
            state.block,
            system.plain_routine,
            0,
            state.q_values,
            state.u_values,
            q,
            u,
            self._no_forces if forces is None else forces,
            self._no_bends,
            self._of_tree,
            work,
            state.scratch or matrix_sweep.make_scratch(state),
            ForwardDynamicsDerivatives,
            self._no_z,
        )
        pool.append(work)
        if type(found) is int:
            if found != NOT_PLAIN:
                state.invalidate_q()
                system.explain(state, found)
            system.realize(state, q=q, u=u, mobility_forces=forces)
            return self.accelerations(system, state)
        state.valid = _REALIZED
        state.stage_number = _ACCELERATION
        return self._with_z(state, found) if len(state.z_values) else found

    def accelerations(self, system: OnManifold, state: State) -> ForwardDynamicsDerivatives:
        """Derivatives of the state's u_dot by q, u, z, mobility forces and time, where it is realized unless it is."""
        q, u = state.q_values, state.u_values
        if self._nu == 0:
            none = _zeros((0, 0))
            return self._with_z(state, ForwardDynamicsDerivatives(none, none, self._no_z, none, _zeros(0)))
        work = self._work()
        found: Any = (_kernel.code or _kernel.load())(
            state.block,
            system.plain_routine,
            state.valid,
            q,
            u,
            q,
            u,
            self._no_forces,
            tangents.bends(state) if self._bends else self._no_bends,
            self._of_tree,
            work,
            state.scratch or matrix_sweep.make_scratch(state),
            ForwardDynamicsDerivatives,
            self._no_z,
        )
        self._pool.append(work)
        if type(found) is int:
            system.explain(state, found)
        state.valid |= _REALIZED
        return self._with_z(state, found) if len(state.z_values) else found

    def _with_z(self, state: State, found: ForwardDynamicsDerivatives) -> ForwardDynamicsDerivatives:
        """The same with zeros by the state's z, of which u_dot does not depend here."""
        return found._replace(z=_zeros((self._nu, len(state.z_values))))
