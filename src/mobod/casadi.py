"""Dynamics in CasADi: callbacks with exact Jacobians and Hessians of Lagrangians, of all nodes at once.

    import mobod.casadi
    f = mobod.casadi.forward_dynamics(system, nodes=50)
    u_dot = f(q, u, mobility_forces)  # expressions, or numbers, a column a node

One call of the callback is one call of an `Ensemble`. Keep it as long as expressions refer to it. `mobod.collocate` makes and
solves whole problems.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .ensemble.array_dynamics import ArrayDynamics, ForwardDynamics, InverseDynamics
from .optimal.casadi_arrays import array_callback
from .state.state import State
from .system.system import MultibodySystem
from .value import checks


def forward_dynamics(
    system: MultibodySystem, state: State | None = None, *, nodes: int = 1, name: str = "forward_dynamics"
) -> Any:
    """u_dot as a callback of q, u and mobility forces, of nq, nu and nu numbers a column, a column a node.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters it has; a copy is kept. The default state unless given.
    nodes : int
        How many columns its arguments and its result have: as many states are computed in one call.
    name : str
        The callback's, in CasADi.

    Returns
    -------
    casadi.Callback
        The third argument are forces beside those of the elements. Derivatives by q are by the numbers stored, quaternions'
        change of length left out. Jacobians are exact, but for turns of lines about themselves, of `LineOrientation` and
        `FreeLine`, by differences to about 1e-10; and sparse: a node depends on its own column. Hessians of Lagrangians,
        which IPOPT asks for, come in one call, without what is zero in any case. They are exact where gravity and springs,
        dampers, stops and motors on single mobilities are all that acts, on bodies whose hinge columns do not depend on q:
        pins, sliders, cylinders, planar, translational, ball and free joints, unless they are reversed or have angles
        for quaternions. Elsewhere they are central differences of Jacobians, to about 1e-8 of the largest first or second
        derivative; beside a stiffness of 1e6 all have errors of up to 1e-4.

    Raises
    ------
    TypeError, TopologyError, ModelError
        If *system* is none, *state* is of another, or there are particles.
    ImportError
        If CasADi is not there.
    """
    return _dynamics(ForwardDynamics(system, state), checks.integer("nodes", nodes, 1), name)


def inverse_dynamics(
    system: MultibodySystem, state: State | None = None, *, nodes: int = 1, name: str = "inverse_dynamics"
) -> Any:
    """The mobility forces missing for u_dot, as a callback of q, u and u_dot; see `forward_dynamics`."""
    return _dynamics(InverseDynamics(system, state), checks.integer("nodes", nodes, 1), name)


def _dynamics(core: ArrayDynamics, n: int, name: str) -> Any:
    """A callback, with those of its derivatives."""
    kind = _callback()
    from casadi import Sparsity, kron

    nu = core.nu
    sizes = core.nq, nu, nu
    ends = np.cumsum([0, *sizes])
    given = [Sparsity.dense(size, n) for size in sizes]
    result = Sparsity.dense(nu, n)
    none = Sparsity(nu, n)  # values, which derivatives need not be given: CasADi then does not compute them for these

    def blocks(pattern: Any) -> Any:
        """Blocks of a pattern along the diagonal, one a node."""
        return kron(Sparsity.diag(n), pattern)

    def full(rows: int, columns: int) -> Any:
        return blocks(Sparsity.dense(rows, columns))

    def states(arguments: Sequence[Any]) -> list[Any]:
        return [one.reshape(n, -1) for one in arguments[:3]]  # CasADi's columns are rows here

    values, derivatives = _once(core.value), _once(core.derivatives)

    def value(*arguments: Any) -> list[Any]:
        return [values(*states(arguments))]

    def jacobian(*arguments: Any) -> list[Any]:
        return [np.swapaxes(part, 1, 2) for part in derivatives(*states(arguments))]

    def reverse(*arguments: Any) -> list[Any]:
        weights = arguments[4].reshape(n, -1)
        return [np.einsum("ni,nij->nj", weights, part) for part in derivatives(*states(arguments))]

    def bent() -> list[list[Any]]:
        """The patterns of second derivatives that may differ from zero, of two arguments."""
        pattern = core.pattern_of_second()
        return [[pattern[ends[a] : ends[a + 1], ends[b] : ends[b + 1]] for b in range(3)] for a in range(3)]

    def hessian(*arguments: Any) -> list[Any]:
        weights, found, none = arguments[4].reshape(n, -1), [], np.zeros(0)
        q, u, third = states(arguments)
        H = core.second(q, u, third, weights[:, None]).reshape(n, -1)
        J = derivatives(q, u, third)
        for a in range(3):
            found += [H.take(chosen, axis=1, mode="clip") if len(chosen) else none for chosen in places()[3 * a : 3 * a + 3]]
            found += [none, J[a]]  # by the value, on which nothing depends; by the weights: J^T, column by column
        return found

    @functools.cache
    def places() -> list[Any]:
        """Places in a state's matrix of the entries of blocks, column by column."""
        size, found = int(ends[-1]), []
        for a, rows in enumerate(bent()):
            for b, pattern in enumerate(rows):
                column, row = np.nonzero(pattern.T)
                found.append(size * (ends[a] + row) + ends[b] + column)
        return found

    def patterns_of_first() -> list[Any]:
        return [full(nu, size) for size in sizes]

    def patterns_of_second() -> list[Any]:
        gives = []
        for size, rows in zip(sizes, bent(), strict=True):
            gives += [blocks(Sparsity.triplet(*one.shape, *(at.tolist() for at in np.nonzero(one)))) for one in rows]
            gives += [Sparsity(size * n, nu * n), full(size, nu)]
        return gives

    def second() -> Any:
        gradients = [Sparsity(size, n) for size in sizes]
        return kind(f"jac_reverse_{name}", [*given, none, result, *gradients], patterns_of_second(), hessian)

    def backwards() -> Any:
        return kind(f"reverse_{name}", [*given, none, result], given, reverse, patterns_of_second, jacobian=second)

    def first() -> Any:
        return kind(f"jac_{name}", [*given, none], patterns_of_first(), jacobian)

    return kind(name, given, [result], value, patterns_of_first, jacobian=first, reverse=backwards)


def _once(compute: Callable[..., Any]) -> Callable[..., Any]:
    """The same, which keeps its last result: CasADi asks for it up to four times at a point."""
    last: Any = None

    def again(*given: Any) -> Any:
        nonlocal last
        key, found = [one.tobytes() for one in given], last  # which another thread may replace meanwhile
        if found is None or found[0] != key:
            last = found = key, compute(*given)
        return found[1]

    return again


@functools.cache
def _callback() -> Any:
    """The class of callbacks of arrays that know those of their derivatives."""
    base = array_callback()

    class Dynamics(base):  # type: ignore[misc, valid-type]
        """Names are CasADi's own for what it asks a derivative for; makers of these are called when it does."""

        def __init__(
            self,
            name: str,
            takes: Sequence[Any],
            gives: Sequence[Any],
            compute: Callable[..., Sequence[Any]],
            patterns: Callable[[], Sequence[Any]] | None = None,
            jacobian: Callable[[], Any] | None = None,
            reverse: Callable[[], Any] | None = None,
        ) -> None:
            base.__init__(self, takes, gives, compute)
            makers = {"jacobian": jacobian, "reverse": reverse, "patterns": patterns}
            self._makers: dict[str, Any] = {which: make and functools.cache(make) for which, make in makers.items()}
            self.construct(name, {})

        def has_jac_sparsity(self, o: int, i: int) -> bool:
            return self._makers["patterns"] is not None

        def get_jac_sparsity(self, o: int, i: int, symmetric: bool) -> Any:
            return self._makers["patterns"]()[o * len(self._takes) + i]

        def has_jacobian(self, *args: Any) -> bool:
            return self._makers["jacobian"] is not None

        def get_jacobian(self, name: str, inames: Any, onames: Any, options: Any) -> Any:
            return self._makers["jacobian"]()

        def has_reverse(self, count: int) -> bool:
            return count == 1 and self._makers["reverse"] is not None

        def get_reverse(self, count: int, name: str, inames: Any, onames: Any, options: Any) -> Any:
            return self._makers["reverse"]()

    return Dynamics


__all__ = ["forward_dynamics", "inverse_dynamics"]
