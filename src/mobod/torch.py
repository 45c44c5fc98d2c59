"""Dynamics in PyTorch: functions of tensors on the CPU that autograd differentiates.

    import mobod.torch
    f = mobod.torch.forward_dynamics(system)
    u_dot = f(q, u, mobility_forces)  # (..., nu)

Leading axes are states of one `Ensemble`, eight realized at a time, as are those that `torch.vmap` adds. Jacobians are exact,
for `backward` and for `torch.func`; second derivatives, for Hessians and Hessian-vector products, are one call of all states,
too, see `mobod.casadi` for which are exact.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .ensemble.array_dynamics import ArrayDynamics, ForwardDynamics, InverseDynamics
from .state.state import State
from .system.system import MultibodySystem


def forward_dynamics(system: MultibodySystem, state: State | None = None) -> Callable[[Any, Any, Any], Any]:
    """u_dot as a function of q, u and mobility forces that autograd differentiates.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters it has; a copy is kept. The default state unless given.

    Returns
    -------
    callable
        Of tensors ``(..., nq)``, ``(..., nu)`` and ``(..., nu)``, the last forces beside those of the elements; gives
        ``(..., nu)``, of the type of q. Derivatives by q are by the numbers stored, quaternions' change of length left out.

    Raises
    ------
    TypeError, TopologyError, ModelError
        If *system* is none, *state* is of another, or there are particles.
    ImportError
        If PyTorch is not there.
    """
    return _differentiable(ForwardDynamics(system, state))


def inverse_dynamics(system: MultibodySystem, state: State | None = None) -> Callable[[Any, Any, Any], Any]:
    """The mobility forces missing for u_dot, as a function of q, u and u_dot; see `forward_dynamics`."""
    return _differentiable(InverseDynamics(system, state))


#: Sums over what has derivatives by the number of an order, and over changes of the arguments.
_BACK, _ALONG = ("...i,...ik->...k", "...ij,...ijk->...k"), ("...ik,...k->...i", "...ijk,...k->...ij")


@functools.cache
def _function() -> Any:
    """The function that is a core's derivatives of some order, of arrays of states, with what `torch.func` needs."""
    import torch

    def next_order(ctx: Any) -> Any:
        """Derivatives by all arguments, computed where something asks for them."""
        if ctx.order == len(_BACK):
            raise NotImplementedError("functions of mobod.torch have first and second derivatives, and no third ones")
        return Dynamics.apply(ctx.core, ctx.order + 1, *ctx.saved_tensors)

    class Dynamics(torch.autograd.Function):
        @staticmethod
        def forward(core: ArrayDynamics, order: int, *given: Any) -> Any:
            kind = functools.reduce(torch.promote_types, (one.dtype for one in given)) if order else given[0].dtype
            rows = (one.detach().cpu().numpy().astype(np.float64).reshape(-1, one.shape[-1]) for one in given)
            found = core.derivative(order, *rows)
            return torch.as_tensor(found, dtype=kind).reshape(*given[0].shape[:-1], *found.shape[1:])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.core, ctx.order, ctx.kind = inputs[0], inputs[1], output.dtype
            ctx.save_for_backward(*inputs[2:])
            ctx.save_for_forward(*inputs[2:])

        @staticmethod
        def vmap(info: Any, in_dims: Any, core: ArrayDynamics, order: int, *given: Any) -> Any:
            moved = [
                one.expand(info.batch_size, *one.shape) if place is None else one.movedim(place, 0)
                for one, place in zip(given, in_dims[2:], strict=True)
            ]
            return Dynamics.apply(core, order, *moved), 0

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            by, given = next_order(ctx), ctx.saved_tensors
            found = torch.einsum(_BACK[ctx.order], gradient.to(by.dtype), by)
            parts = torch.split(found, [one.shape[-1] for one in given], -1)
            return None, None, *(part.to(one.dtype) for part, one in zip(parts, given, strict=True))

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            by, pairs = next_order(ctx), zip(changes[2:], ctx.saved_tensors, strict=True)
            every = torch.cat([(torch.zeros_like(one) if change is None else change).to(by.dtype) for change, one in pairs], -1)
            return torch.einsum(_ALONG[ctx.order], by, every).to(ctx.kind)

    return Dynamics


def _differentiable(core: ArrayDynamics) -> Callable[[Any, Any, Any], Any]:
    try:
        import torch
    except ImportError:
        raise ImportError("mobod.torch needs PyTorch: pip install 'mobod[torch]'") from None
    apply = _function().apply

    def function(q: Any, u: Any, third: Any) -> Any:
        given = [torch.as_tensor(one) for one in (q, u, third)]
        given = [one if one.is_floating_point() else one.to(torch.get_default_dtype()) for one in given]
        core.check_shapes(*(one.shape for one in given))
        lead = torch.broadcast_shapes(*(one.shape[:-1] for one in given))
        return apply(core, 0, *(one.expand(*lead, one.shape[-1]) for one in given))

    return function


__all__ = ["forward_dynamics", "inverse_dynamics"]
