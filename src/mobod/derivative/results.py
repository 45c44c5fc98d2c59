"""Results of derivatives of forward and inverse dynamics."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..algebra.arrays import Array
from ..value.checks import writable


class ForwardDynamicsDerivatives(NamedTuple):
    """Derivatives of ``u_dot``: by q in its tangent, u, z, generalized forces on the mobilities, and time."""

    q: Array
    u: Array
    z: Array
    mobility_forces: Array
    time: Array


class InverseDynamicsDerivatives(NamedTuple):
    """Derivatives of `MultibodySystem.calc_inverse_dynamics`: by q in its tangent, u, and u_dot, which is M."""

    q: Array
    u: Array
    u_dot: Array


def targets(out: Any, kind: Any, shapes: Sequence[tuple[int, ...]]) -> Any:
    """The caller's arrays as a named tuple of that *kind*, or None."""
    if out is None:
        return None
    if not isinstance(out, (tuple, list)) or len(out) != len(shapes):
        raise TypeError(
            f"out has to be what an earlier call gave, {kind.__name__}, or {len(shapes)} arrays; got {reprlib.repr(out)}"
        )
    for name, array, shape in zip(kind._fields, out, shapes, strict=True):
        writable(f"{name} of out", array, shape)
    return out if isinstance(out, kind) else kind(*out)


def put(parts: Sequence[Array], into: Any) -> Any:
    """Parts of a result into the caller's arrays, which are returned."""
    for target, part in zip(into, parts, strict=True):
        target[...] = part
    return into
