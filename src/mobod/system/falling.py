"""Derivatives by one sweep, of systems where gravity is all that acts: no other force, no constraint, no motion of time."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros
from ..state import validity
from ..tree import inverse_dynamics_derivatives as kernels
from ..tree import matrix_sweep
from ..tree import realize as _realize
from ..tree.prescribed_mobilities import FROM_MOTION
from . import tangents

if TYPE_CHECKING:
    from ..state.state import State
    from ..tree.tree import Tree
    from .manifold import OnManifold

#: Fields of a state's own that decide whether gravity is all that acts.
_DECIDING = ("force_enabled", "force_integers", "constraint_enabled", "prescribed", "mass")
_SWEEPS: weakref.WeakKeyDictionary[Tree, Sweep | None] = weakref.WeakKeyDictionary()


def sweep_for(system: OnManifold, state: State) -> Sweep | None:
    """The sweep for a state's tree, or None where something else than gravity acts."""
    own, tree = state.own_fields, state.tree
    for name in _DECIDING:
        if name in own:
            return Sweep(system, tree) if _falls(state.field, tree) else None
    try:
        return _SWEEPS[tree]
    except KeyError:
        found = Sweep(system, tree) if _falls(tree.fields.__getitem__, tree) else None
        _SWEEPS[tree] = found
        return found


def _falls(field: Any, tree: Tree) -> bool:
    """Whether gravities that pull on all bodies with mass are the only forces, without constraints and motions of time."""
    enabled, pulled = field("force_enabled"), field("force_integers")
    heavy = np.flatnonzero(field("mass")[1:, 0] > 0.0) + 1
    for e in range(len(enabled)):
        if enabled[e]:
            first = tree.fields["force_first_integer"][e]
            if e >= tree.counts["ng"] or not pulled[first + heavy].all():
                return False
    return not field("constraint_enabled").any() and not (field("prescribed") == FROM_MOTION).any() and not tree.has_measures


class Sweep:
    """The kernel with its scratch, for the states of one tree."""

    def __init__(self, system: OnManifold, tree: Tree) -> None:
        bodies = system.get_matter_subsystem().body_list
        turned = tree.fields["reversed"]
        bent = [
            int(n > 0 and not (b.facts.constant_hinge and not r)) for b, n, r in zip(bodies, tree.num_u, turned, strict=True)
        ]
        #: 1 for bodies whose columns depend on their coordinates.
        self.bent: npt.NDArray[np.int64] = np.array(bent, np.int64)
        self._bends = any(bent)
        self._no_bends = np.zeros((1, kernels.NUMBERS_OF_BENDS))
        self._nu, self._blocks = tree.nu, -(-tree.nu // LANES)
        self._nb, self._pool = tree.nb, []  # type: tuple[int, list[Any]]

    def _scratch(self) -> Any:
        """Arrays of the kernel that are not in use, else new ones."""
        if self._pool:
            return self._pool.pop()
        nu, columns = self._nu, LANES * self._blocks
        flat = aligned_zeros(kernels.NUM_ROWS, columns)
        return (
            np.zeros((self._nb, kernels.NUMBERS_A_BODY)),
            np.zeros((nu, kernels.NUMBERS_A_MOBILITY)),
            flat,
            flat.reshape(-1, self._blocks, LANES),
            aligned_zeros(nu, columns),
            aligned_zeros(nu, columns),
        )

    def residual(self, state: State, u_dot: Array, A: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics by q and u, at *u_dot* and the accelerations of the bodies."""
        nu = self._nu
        if nu == 0:
            return np.zeros((0, 0)), np.zeros((0, 0))
        bends = tangents.bends(state) if self._bends else self._no_bends
        scratch = self._scratch()
        bodies, speeds, flat, wide, Dq, Du = scratch
        kernels.calc_derivatives(state.block, A.reshape(-1, 6), u_dot, bends, self.bent, bodies, speeds, flat, wide, Dq, Du)
        by_q, by_u = Dq[:, :nu].copy(), Du[:, :nu].copy()
        self._pool.append(scratch)
        return by_q, by_u

    def accelerations(self, state: State) -> tuple[Array, Array, Array]:
        """Derivatives of the state's u_dot by q and u, and M^-1."""
        nu = self._nu
        if nu == 0:
            return np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))
        bends = tangents.bends(state) if self._bends else self._no_bends
        scratch = self._scratch()
        flat, wide = state.scratch or matrix_sweep.make_scratch(state)
        found = aligned_zeros(2, nu, LANES * self._blocks)
        M_inv = np.empty((nu, nu))
        address = 0 if state.valid & validity.ARTICULATED else _realize.advance.address()
        kernel = kernels.calc_accelerations_derivatives
        given = (
            state.block,
            address,
            state.valid,
            bends,
            self.bent,
            *scratch,
            flat,
            wide,
            M_inv,
            found.reshape(2, nu, -1, LANES),
        )
        (kernel.code or kernel.code_for(*given))(*given)
        self._pool.append(scratch)
        return found[0, :, :nu], found[1, :, :nu], M_inv
