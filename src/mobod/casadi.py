"""Dynamics in CasADi: callbacks with exact Jacobians, for transcriptions of optimal control that CasADi hands to IPOPT.

    import mobod.casadi
    f = mobod.casadi.forward_dynamics(system)
    u_dot = f(q, u, mobility_forces)  # expressions, or numbers

Keep the callback as long as expressions refer to it. There are no second derivatives: give IPOPT
``{"ipopt.hessian_approximation": "limited-memory"}``.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .ensemble.array_dynamics import ArrayDynamics, ForwardDynamics, InverseDynamics
from .state.state import State
from .system.system import MultibodySystem


def forward_dynamics(system: MultibodySystem, state: State | None = None, *, name: str = "forward_dynamics") -> Any:
    """u_dot as a callback of q, u and mobility forces, columns of nq, nu and nu numbers.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters it has; a copy is kept. The default state unless given.
    name : str
        The callback's, in CasADi.

    Returns
    -------
    casadi.Callback
        The third argument are forces beside those of the elements. Derivatives by q are by the numbers stored, quaternions'
        change of length left out.

    Raises
    ------
    TypeError, TopologyError, ModelError
        If *system* is none, *state* is of another, or there are particles.
    ImportError
        If CasADi is not there.
    """
    return _callback()(ForwardDynamics(system, state), name)


def inverse_dynamics(system: MultibodySystem, state: State | None = None, *, name: str = "inverse_dynamics") -> Any:
    """The mobility forces missing for u_dot, as a callback of q, u and u_dot; see `forward_dynamics`."""
    return _callback()(InverseDynamics(system, state), name)


def _rows(arguments: Sequence[Any]) -> list[Any]:
    """One row of each of the three arguments."""
    return [np.asarray(one, np.float64).reshape(1, -1) for one in arguments[:3]]


@functools.cache
def _callback() -> Any:
    """The class of callbacks of q, u and a third."""
    try:
        import casadi
    except ImportError:
        raise ImportError("mobod.casadi needs CasADi: pip install 'mobod[casadi]'") from None

    class Dynamics(casadi.Callback):
        """A vector of q, u and a third."""

        def __init__(self, core: ArrayDynamics, name: str) -> None:
            casadi.Callback.__init__(self)
            self._core, self._sizes = core, (core.nq, core.nu, core.nu)
            self._jacobian: Any = None
            self.construct(name, {})

        def get_n_in(self) -> int:
            return 3

        def get_n_out(self) -> int:
            return 1

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense(self._sizes[i], 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(self._core.nu, 1)

        def eval(self, arguments: Sequence[Any]) -> list[Any]:
            return [self._core.value(*_rows(arguments))[0]]

        def has_jacobian(self, *args: Any) -> bool:
            return True

        def get_jacobian(self, name: str, inames: Any, onames: Any, options: Any) -> Any:
            self._jacobian = Jacobian(self._core, name, self._sizes, options)
            return self._jacobian

    class Jacobian(casadi.Callback):
        """Its Jacobian: a block an argument."""

        def __init__(self, core: ArrayDynamics, name: str, sizes: tuple[int, int, int], options: Any) -> None:
            casadi.Callback.__init__(self)
            self._core, self._sizes = core, sizes
            self.construct(name, options)

        def get_n_in(self) -> int:
            return 4  # the value, too, which it does not need

        def get_n_out(self) -> int:
            return 3

        def get_sparsity_in(self, i: int) -> Any:
            return casadi.Sparsity.dense((*self._sizes, self._core.nu)[i], 1)

        def get_sparsity_out(self, i: int) -> Any:
            return casadi.Sparsity.dense(self._core.nu, self._sizes[i])

        def eval(self, arguments: Sequence[Any]) -> list[Any]:
            return [part[0] for part in self._core.jacobians(*_rows(arguments))[1:]]

    return Dynamics


__all__ = ["forward_dynamics", "inverse_dynamics"]
