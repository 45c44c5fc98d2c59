"""Dynamics in JAX: functions that JAX differentiates, batches and compiles around.

    import mobod.jax
    f = mobod.jax.forward_dynamics(system)
    u_dot = f(q, u, mobility_forces)  # (..., nu)

The numbers come from callbacks to the CPU, with exact Jacobians, so that `jax.jvp`, `jax.grad`, `jax.jacobian` and `jax.jit`
work, in loops such as `jax.lax.scan` too; `jax.vmap` hands all states over as one `Ensemble`. Second derivatives, for
`jax.hessian` and Hessian-vector products, are one call of all states, too, see `mobod.casadi` for which are exact. JAX computes
in single precision unless told otherwise: ``jax.config.update("jax_enable_x64", True)``.
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


#: Sums over the changes of all arguments, of what has derivatives by the number of an order.
_ALONG = "...ik,...k->...i", "...ijk,...k->...ij"


@functools.cache
def _primitive() -> Any:
    """The operation of JAX that is a function's derivatives of some order, of a core and arrays of states.

    A primitive keeps its rules wherever JAX moves it; functions with `jax.custom_jvp` lose theirs within `jax.lax.scan`.
    """
    import jax
    import jax.numpy as jnp
    from jax.extend.core import Primitive
    from jax.interpreters import ad, batching, mlir

    primitive = Primitive("mobod_dynamics")

    def result(q: Any, core: ArrayDynamics, order: int) -> Any:
        shape = *q.shape[:-1], core.nu, *[core.nq + 2 * core.nu] * order
        return jax.ShapeDtypeStruct(shape, q.dtype)

    def compute(*given: Any, core: ArrayDynamics, order: int) -> Any:
        def call(*arguments: Any) -> Any:
            rows = [np.asarray(one, np.float64).reshape(-1, one.shape[-1]) for one in arguments]
            found = core.derivative(order, *rows)
            return np.asarray(found.reshape(*arguments[0].shape[:-1], *found.shape[1:]), arguments[0].dtype)

        return jax.pure_callback(call, result(given[0], core, order), *given)

    def batch(given: Any, places: Any, **kind: Any) -> Any:
        size = next(one.shape[place] for one, place in zip(given, places, strict=True) if place is not None)
        moved = [
            jnp.broadcast_to(one, (size, *one.shape)) if place is None else jnp.moveaxis(one, place, 0)
            for one, place in zip(given, places, strict=True)
        ]
        return primitive.bind(*moved, **kind), 0

    def jvp(primals: Any, tangents: Any, *, core: ArrayDynamics, order: int) -> Any:
        if order == len(_ALONG):
            raise NotImplementedError("functions of mobod.jax have first and second derivatives, and no third ones")
        changes = jnp.concatenate([ad.instantiate_zeros(one) for one in tangents], axis=-1)
        value, by = (primitive.bind(*primals, core=core, order=order + k) for k in range(2))
        return value, jnp.einsum(_ALONG[order], by, changes)

    primitive.def_impl(compute)
    primitive.def_abstract_eval(lambda *given, **kind: given[0].update(shape=result(given[0], **kind).shape))
    mlir.register_lowering(primitive, mlir.lower_fun(compute, multiple_results=False))
    batching.primitive_batchers[primitive], ad.primitive_jvps[primitive] = batch, jvp
    return primitive


def _differentiable(core: ArrayDynamics) -> Callable[[Any, Any, Any], Any]:
    try:
        import jax.numpy as jnp
    except ImportError:
        raise ImportError("mobod.jax needs JAX: pip install 'mobod[jax]'") from None
    primitive = _primitive()

    def function(q: Any, u: Any, third: Any) -> Any:
        given = [jnp.asarray(one) for one in (q, u, third)]
        dtype = jnp.result_type(*given, jnp.float32)
        core.check_shapes(*(one.shape for one in given))
        lead = jnp.broadcast_shapes(*(one.shape[:-1] for one in given))
        wide = (jnp.broadcast_to(one.astype(dtype), (*lead, one.shape[-1])) for one in given)
        return primitive.bind(*wide, core=core, order=0)

    return function


__all__ = ["forward_dynamics", "inverse_dynamics"]
