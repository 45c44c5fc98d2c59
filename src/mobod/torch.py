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


def _rows_of(given: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    """The leading shape, and rows of states."""
    lead = given[0].shape[:-1]
    return lead, [one.detach().cpu().numpy().astype(np.float64).reshape(-1, one.shape[-1]) for one in given]


def _in_front(info: Any, places: tuple[Any, ...], given: tuple[Any, ...]) -> list[Any]:
    """Arguments of `torch.vmap`, those that do not vary repeated, with its axis in front."""
    pairs = zip(given, places, strict=True)
    return [one.expand(info.batch_size, *one.shape) if place is None else one.movedim(place, 0) for one, place in pairs]


def _no_third(ctx: Any, *gradients: Any) -> Any:
    raise NotImplementedError("functions of mobod.torch have first and second derivatives, and no third ones")


def _keep(ctx: Any, inputs: Any, output: Any) -> None:
    """Keep the core and the arrays for derivatives."""
    ctx.core = inputs[0]
    ctx.save_for_backward(*inputs[1:])
    ctx.save_for_forward(*inputs[1:])


@functools.cache
def _seconds() -> Any:
    """The function of arrays of states that is the Jacobians' derivatives by all three arguments side by side."""
    import torch

    class Seconds(torch.autograd.Function):
        @staticmethod
        def forward(core: ArrayDynamics, *given: Any) -> Any:
            lead, rows = _rows_of(given)
            found = core.second(*rows)
            return torch.as_tensor(found, dtype=given[0].dtype).reshape(*lead, *found.shape[1:])

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            pass

        @staticmethod
        def vmap(info: Any, in_dims: Any, core: ArrayDynamics, *given: Any) -> Any:
            return Seconds.apply(core, *_in_front(info, in_dims[1:], given)), 0

        backward = jvp = staticmethod(_no_third)

    return Seconds


@functools.cache
def _jacobians() -> Any:
    """The function that is the derivatives by the three arguments, computed where something asks for them."""
    import torch

    class Jacobians(torch.autograd.Function):
        setup_context = staticmethod(_keep)

        @staticmethod
        def forward(core: ArrayDynamics, *given: Any) -> Any:
            lead, rows = _rows_of(given)
            parts = core.jacobians(*rows)[1:]
            return tuple(
                torch.as_tensor(part, dtype=one.dtype).reshape(*lead, *part.shape[1:])
                for part, one in zip(parts, given, strict=True)
            )

        @staticmethod
        def vmap(info: Any, in_dims: Any, core: ArrayDynamics, *given: Any) -> Any:
            return Jacobians.apply(core, *_in_front(info, in_dims[1:], given)), (0, 0, 0)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            H, given = _seconds().apply(ctx.core, *ctx.saved_tensors), ctx.saved_tensors
            weights = torch.cat([one.to(H.dtype) for one in gradients], -1)
            found = torch.einsum("...ij,...ijk->...k", weights, H)
            parts = torch.split(found, [one.shape[-1] for one in given], -1)
            return None, *(part.to(one.dtype) for part, one in zip(parts, given, strict=True))

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            H, given = _seconds().apply(ctx.core, *ctx.saved_tensors), ctx.saved_tensors
            each = [torch.zeros_like(one) if by is None else by for by, one in zip(changes[1:], given, strict=True)]
            found = torch.einsum("...ijk,...k->...ij", H, torch.cat([one.to(H.dtype) for one in each], -1))
            return torch.split(found, [one.shape[-1] for one in given], -1)

    return Jacobians


@functools.cache
def _function() -> Any:
    """The function of arrays of states, with what `torch.func` needs."""
    import torch

    class Dynamics(torch.autograd.Function):
        setup_context = staticmethod(_keep)

        @staticmethod
        def forward(core: ArrayDynamics, *given: Any) -> Any:
            lead, rows = _rows_of(given)
            return torch.as_tensor(core.value(*rows), dtype=given[0].dtype).reshape(*lead, core.nu)

        @staticmethod
        def vmap(info: Any, in_dims: Any, core: ArrayDynamics, *given: Any) -> Any:
            return Dynamics.apply(core, *_in_front(info, in_dims[1:], given)), 0

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            Js = _jacobians().apply(ctx.core, *ctx.saved_tensors)
            return None, *(torch.einsum("...i,...ij->...j", gradients[0].to(J.dtype), J) for J in Js)

        @staticmethod
        def jvp(ctx: Any, *changes: Any) -> Any:
            Js, given = _jacobians().apply(ctx.core, *ctx.saved_tensors), ctx.saved_tensors
            parts = [
                torch.einsum("...ij,...j->...i", J, change)
                for J, change in zip(Js, changes[1:], strict=True)
                if change is not None
            ]
            return sum(parts).to(given[0].dtype)

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
        return apply(core, *(one.expand(*lead, one.shape[-1]) for one in given))

    return function


__all__ = ["forward_dynamics", "inverse_dynamics"]
