"""Dynamics in PyTorch: functions of tensors on the CPU that autograd differentiates.

    import mobod.torch
    f = mobod.torch.forward_dynamics(system)
    u_dot = f(q, u, mobility_forces)  # (..., nu)

Leading axes are states of one `Ensemble`, eight realized at a time. Jacobians are exact; second derivatives are not there.
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


@functools.cache
def _function() -> Any:
    """The function of rows of states; Jacobians are computed with the values where something is to be differentiated."""
    import torch

    class Product(torch.autograd.Function):
        """Gradients times a Jacobian, which depends on what was given: that has no derivative here, and is not zero."""

        @staticmethod
        def forward(ctx: Any, gradients: Any, J: Any, *given: Any) -> Any:
            ctx.save_for_backward(J)
            return torch.einsum("ni,nij->nj", gradients.to(J.dtype), J)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if any(ctx.needs_input_grad[2:]):
                raise NotImplementedError(
                    "functions of mobod.torch have first derivatives, and no second ones; "
                    "system.calc_forward_dynamics_second_derivatives(state, ...) has these"
                )
            (J,) = ctx.saved_tensors
            return torch.einsum("nj,nij->ni", gradients[0].to(J.dtype), J), None, None, None, None

    class Dynamics(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, core: ArrayDynamics, *given: Any) -> Any:
            rows = [one.detach().cpu().numpy().astype(np.float64) for one in given]
            if any(ctx.needs_input_grad[1:]):
                found = core.jacobians(*rows)
                Js = (torch.as_tensor(part, dtype=one.dtype) for part, one in zip(found[1:], given, strict=True))
                ctx.save_for_backward(*Js, *given)
                return torch.as_tensor(found.value, dtype=given[0].dtype)
            return torch.as_tensor(core.value(*rows), dtype=given[0].dtype)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            Js, given = ctx.saved_tensors[:3], ctx.saved_tensors[3:]
            return None, *(Product.apply(gradients[0], J, *given) for J in Js)

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
        for name, one, size in zip(("q", "u", "the third argument"), given, (core.nq, core.nu, core.nu), strict=True):
            if one.ndim == 0 or one.shape[-1] != size:
                raise ValueError(f"{name} has to have the shape (..., {size}), got {tuple(one.shape)}")
        lead = torch.broadcast_shapes(*(one.shape[:-1] for one in given))
        rows = [one.expand(*lead, one.shape[-1]).reshape(-1, one.shape[-1]) for one in given]
        return apply(core, *rows).reshape(*lead, core.nu)

    return function


__all__ = ["forward_dynamics", "inverse_dynamics"]
