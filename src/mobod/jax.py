"""Dynamics in JAX: functions that JAX differentiates, batches and compiles around.

    import mobod.jax
    f = mobod.jax.forward_dynamics(system)
    u_dot = f(q, u, mobility_forces)  # (..., nu)

The numbers come from callbacks to the CPU, with exact Jacobians, so that `jax.jvp`, `jax.grad`, `jax.jacobian` and `jax.jit`
work; `jax.vmap` hands all states over as one `Ensemble`. Second derivatives, for `jax.hessian` and Hessian-vector products, are
central differences of the Jacobians, to about 1e-8, of all states in one call. JAX computes in single precision unless told
otherwise: ``jax.config.update("jax_enable_x64", True)``; its second derivatives are the less exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .ensemble.array_dynamics import ArrayDynamics, ForwardDynamics, InverseDynamics
from .state.state import State
from .system.system import MultibodySystem


def forward_dynamics(system: MultibodySystem, state: State | None = None) -> Callable[[Any, Any, Any], Any]:
    """u_dot as a function of q, u and mobility forces that JAX differentiates.

    Parameters
    ----------
    system : MultibodySystem
    state : State, optional
        Whose time, z, modelling choices and parameters it has; a copy is kept. The default state unless given.

    Returns
    -------
    callable
        Of arrays ``(..., nq)``, ``(..., nu)`` and ``(..., nu)``, the last forces beside those of the elements; gives
        ``(..., nu)``. Derivatives by q are by the numbers stored, quaternions' change of length left out.

    Raises
    ------
    TypeError, TopologyError, ModelError
        If *system* is none, *state* is of another, or there are particles.
    ImportError
        If JAX is not there.
    """
    return _differentiable(ForwardDynamics(system, state))


def inverse_dynamics(system: MultibodySystem, state: State | None = None) -> Callable[[Any, Any, Any], Any]:
    """The mobility forces missing for u_dot, as a function of q, u and u_dot; see `forward_dynamics`."""
    return _differentiable(InverseDynamics(system, state))


def _differentiable(core: ArrayDynamics) -> Callable[[Any, Any, Any], Any]:
    try:
        import jax
        import jax.numpy as jnp
    except ImportError:
        raise ImportError("mobod.jax needs JAX: pip install 'mobod[jax]'") from None
    nq, nu = core.nq, core.nu

    def rows(arguments: tuple[Any, ...]) -> tuple[tuple[int, ...], list[Any]]:
        arrays = [np.asarray(one, np.float64) for one in arguments]
        return arrays[0].shape[:-1], [one.reshape(-1, one.shape[-1]) for one in arrays]

    def value(*arguments: Any) -> Any:
        lead, given = rows(arguments)
        return core.value(*given).reshape(*lead, nu).astype(arguments[0].dtype)

    def jacobians(*arguments: Any) -> Any:
        lead, given = rows(arguments)
        return tuple(part.reshape(*lead, *part.shape[1:]).astype(arguments[0].dtype) for part in core.jacobians(*given))

    def second(*arguments: Any) -> Any:
        lead, given = rows(arguments)
        found = core.second(*given)
        return found.reshape(*lead, *found.shape[1:]).astype(arguments[0].dtype)

    def shapes(q: Any, *trailing: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(jax.ShapeDtypeStruct((*q.shape[:-1], *one), q.dtype) for one in trailing)

    @jax.custom_jvp
    def compute(q: Any, u: Any, third: Any) -> Any:
        return jax.pure_callback(value, *shapes(q, (nu,)), q, u, third, vmap_method="broadcast_all")

    @jax.custom_jvp
    def differentiate(q: Any, u: Any, third: Any) -> Any:
        shape = shapes(q, (nu,), (nu, nq), (nu, nu), (nu, nu))
        return jax.pure_callback(jacobians, shape, q, u, third, vmap_method="broadcast_all")

    @jax.custom_jvp
    def differentiate_twice(q: Any, u: Any, third: Any) -> Any:
        size = nq + 2 * nu
        return jax.pure_callback(second, *shapes(q, (nu, size, size)), q, u, third, vmap_method="broadcast_all")

    @differentiate_twice.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        raise NotImplementedError("functions of mobod.jax have first and second derivatives, and no third ones")

    @differentiate.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        found, change = differentiate(*primals), jnp.concatenate(tangents, axis=-1)
        by = jnp.einsum("...ijk,...k->...ij", differentiate_twice(*primals), change)
        of_value = jnp.einsum("...ij,...j->...i", jnp.concatenate(found[1:], axis=-1), change)
        return found, (of_value, by[..., :nq], by[..., nq : nq + nu], by[..., nq + nu :])

    @compute.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        found, *by = differentiate(*primals)
        return found, sum(jnp.einsum("...ij,...j->...i", J, change) for J, change in zip(by, tangents, strict=True))

    def function(q: Any, u: Any, third: Any) -> Any:
        given = [jnp.asarray(one) for one in (q, u, third)]
        dtype = jnp.result_type(*given, jnp.float32)
        for name, one, size in zip(("q", "u", "the third argument"), given, (nq, nu, nu), strict=True):
            if one.ndim == 0 or one.shape[-1] != size:
                raise ValueError(f"{name} has to have the shape (..., {size}), got {one.shape}")
        lead = jnp.broadcast_shapes(*(one.shape[:-1] for one in given))
        return compute(*(jnp.broadcast_to(one.astype(dtype), (*lead, one.shape[-1])) for one in given))

    return function


__all__ = ["forward_dynamics", "inverse_dynamics"]
