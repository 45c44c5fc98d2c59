"""Products with N, N^-1 and NDot of all mobilizers, and with their transposes. Need positions; NDot velocities."""

from typing import Any

from ..algebra.record import attach
from ..compiling import compiled
from ..mobilizer import q_rates


@compiled
def multiply_by_n(block: Any, transpose: bool, v: Any, out: Any) -> None:
    """out = N v, or N^T v."""
    model = attach(block)
    for b in range(1, model.nb):
        q, u = model.first_q[b], model.first_u[b]
        if transpose:
            q_rates.n_transpose_times(model, b, v, q, out, u)
        else:
            q_rates.n_times(model, b, v, u, out, q)


@compiled
def multiply_by_n_inv(block: Any, transpose: bool, v: Any, out: Any) -> None:
    """out = N^-1 v, or its transpose times v."""
    model = attach(block)
    for b in range(1, model.nb):
        q, u = model.first_q[b], model.first_u[b]
        if transpose:
            q_rates.n_inv_transpose_times(model, b, v, u, out, q)
        else:
            q_rates.n_inv_times(model, b, v, q, out, u)


@compiled
def multiply_by_n_dot(block: Any, transpose: bool, v: Any, out: Any) -> None:
    """out = NDot v, or NDot^T v."""
    model = attach(block)
    for b in range(1, model.nb):
        q, u = model.first_q[b], model.first_u[b]
        if transpose:
            q_rates.n_dot_transpose_times(model, b, v, q, out, u)
        else:
            q_rates.n_dot_times(model, b, v, u, out, q)


@compiled
def normalize_quaternions(block: Any) -> None:
    """Scale every quaternion of q to length 1."""
    model = attach(block)
    for b in range(1, model.nb):
        q_rates.normalize(model, b)
