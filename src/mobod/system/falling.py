"""Derivatives by one sweep, of systems where gravity and forces on single mobilities are all that acts.

Without other forces, constraints and motions of time, that is.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..algebra.record import LANES, aligned_zeros
from ..force._slopes import table_of
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

_empty = np.empty  # one lookup less
#: Fields of a state's own that decide whether gravity is all that acts.
_DECIDING = ("force_enabled", "force_integers", "constraint_enabled", "prescribed", "mass")
#: By tree, and by what the state has of its own of these.
_SWEEPS: weakref.WeakKeyDictionary[Tree, dict[Any, Sweep | None]] = weakref.WeakKeyDictionary()
#: The most of a tree.
_KEPT = 64


def sweep_for(system: OnManifold, state: State) -> Sweep | None:
    """The sweep for a state's tree, or None where something else than gravity acts."""
    own, tree = state.own_fields, state.tree
    # of a mass it matters only whether there is one: states that vary it share a sweep
    key = (
        ()
        if not own
        else tuple((name, (own[name] > 0.0 if name == "mass" else own[name]).tobytes()) for name in _DECIDING if name in own)
    )
    try:
        return _SWEEPS[tree][key]
    except KeyError:
        of_tree = _SWEEPS.setdefault(tree, {})
        if len(of_tree) >= _KEPT:
            of_tree.clear()
        found = of_tree[key] = _made(system, tree, state.field)
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
        self._bends, self._slopes = any(bent), slopes
        self._no_bends = np.zeros((1, kernels.NUMBERS_OF_BENDS))
        #: What the kernels take: no bends, which bodies have them, and forces on single mobilities.
        self.constants = self._no_bends, self.bent, slopes
        self._nu, self._blocks = tree.nu, -(-tree.nu // LANES)
        self._nb, self._pool = tree.nb, []  # type: tuple[int, list[Any]]

    def _scratch(self) -> Any:
        """Arrays of the kernel that are not in use, else new ones."""
        if self._pool:
            return self._pool.pop()
        nu, columns = self._nu, LANES * self._blocks
        return (
            np.zeros((self._nb, kernels.NUMBERS_A_BODY)),
            np.zeros((nu, kernels.NUMBERS_A_MOBILITY)),
            aligned_zeros(kernels.NUM_ROWS, columns),
            aligned_zeros(2, nu, columns),
            aligned_zeros(2, nu, columns),
        )

    def residual(self, state: State, u_dot: Array, A: Array) -> tuple[Array, Array]:
        """Derivatives of inverse dynamics by q and u, at *u_dot* and the accelerations of the bodies."""
        nu = self._nu
        if nu == 0:
            return np.zeros((0, 0)), np.zeros((0, 0))
        bends = tangents.bends(state) if self._bends else self._no_bends
        scratch = self._scratch()
        kernels.calc_derivatives(state.block, A.reshape(-1, 6), u_dot, bends, self.bent, self._slopes, *scratch)
        by_q, by_u = scratch[3][:, :, :nu].copy()
        self._pool.append(scratch)
        return by_q, by_u

    def accelerations(self, state: State) -> tuple[Array, Array, Array]:
        """Derivatives of the state's u_dot by q and u, and M^-1."""
        nu = self._nu
        if nu == 0:
            return np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))
        bends = tangents.bends(state) if self._bends else self._no_bends
        scratch = self._scratch()
        flat = (state.scratch or matrix_sweep.make_scratch(state))[0]
        out = _empty((3, nu, nu))
        valid = state.valid
        address = 0 if valid & validity.ARTICULATED else _realize.advance.address()
        kernel = kernels.calc_accelerations_derivatives
        given = state.block, address, valid, bends, self.bent, self._slopes, *scratch, flat, out
        (kernel.code or kernel.code_for(*given))(*given)
        self._pool.append(scratch)
        return out[0], out[1], out[2]
