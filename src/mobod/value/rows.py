"""Checks of many values at once, a row a value: the array form of `checks`, `frames` and `MassProperties`.

Each function takes an array ``(n, ...)`` and returns what the check of a single value returns for each, or None where one of
them has to be looked at alone: because it is refused, with a message that names it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from . import checks
from .frames import frame, rotation
from .inertia import ROUNDING, SMALLEST
from .mass_properties import MassProperties
from .rotation import NOT_A_ROTATION, ROUNDING as ORTHONORMAL
from .transform import LAST_ROW, Transform

Rows = Callable[[Array], Array | None]
#: The array form of each check; what is not here is checked value by value.
IN_ROWS: dict[Any, Rows] = {}


def in_rows(check: Any) -> Callable[[Rows], Rows]:
    """Declare the array form of a check."""

    def declare(rows: Rows) -> Rows:
        IN_ROWS[check] = rows
        return rows

    return declare


def as_array(values: Any) -> Array | None:
    """Real numbers as float64, or None: of integers or floats, whatever holds them."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # rows of several lengths, say
        return None
    return array.astype(np.float64, copy=False) if array.dtype.kind in "iuf" else None


# ---------------------------------------------------------------------------------------------- numbers and vectors


@in_rows(checks.number)
def _any(values: Array) -> Array | None:
    return values


@in_rows(checks.vector)
@in_rows(checks.finite)
def finite(values: Array) -> Array | None:
    """Finite numbers."""
    return values if np.isfinite(values).all() else None


@in_rows(checks.not_negative)
def not_negative(values: Array) -> Array | None:
    """Finite numbers, zero or more."""
    return values if ((values >= 0.0) & (values < np.inf)).all() else None


@in_rows(checks.positive_vector)
@in_rows(checks.positive)
def positive(values: Array) -> Array | None:
    """Finite numbers above zero."""
    return values if ((values > 0.0) & (values < np.inf)).all() else None


@in_rows(checks.one_or_more)
def _one_or_more(values: Array) -> Array | None:
    return values if ((values >= 1.0) & (values < np.inf)).all() else None


#: The least that numbers may be which these let pass: what is finite and no less need not be asked.
LEAST: dict[Any, float] = {finite: -checks.MOST, not_negative: 0.0, positive: 5e-324, _one_or_more: 1.0}


@in_rows(checks.unit)
def unit(values: Array) -> Array | None:
    """Directions, of length 1."""
    largest = np.abs(values).max(axis=1, initial=0.0)
    if not ((largest > 0.0) & (largest < np.inf)).all() or np.isnan(values).any():
        return None
    v = np.ldexp(values, -np.frexp(largest)[1][:, None])
    return np.asarray(v / np.sqrt((v * v).sum(axis=1))[:, None])


# ---------------------------------------------------------------------------------------------- frames


@in_rows(rotation)
def rotations(values: Array) -> Array | None:
    """Rotation matrices ``(n, 3, 3)``, as nine numbers each."""
    nine = np.ascontiguousarray(values.reshape(-1, 9).T)
    columns = x, y, z = nine[0::3], nine[1::3], nine[2::3]
    with np.errstate(over="ignore", invalid="ignore"):
        off, error = np.empty((3, 3, len(values))), np.zeros(len(values))  # R^T R - 1
        for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            a, b = columns[i], columns[j]
            off[i, j] = off[j, i] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] - float(i == j)
            np.maximum(error, np.abs(off[i, j]), out=error)
        upright = x[0] * (y[1] * z[2] - y[2] * z[1]) + x[1] * (y[2] * z[0] - y[0] * z[2]) + x[2] * (y[0] * z[1] - y[1] * z[0])
    if not (error <= NOT_A_ROTATION).all() or (upright < 0.0).any():  # NaN too
        return None
    rounded = error > ORTHONORMAL
    if not rounded.any():
        return values.reshape(-1, 9)
    # the nearest rotation R (1 + E)^(-1/2), whose next term is of E^3 < 1e-17
    some = slice(None) if rounded.all() else rounded
    R, E = nine[:, some].reshape(3, 3, -1), off[:, :, some]
    root = np.empty_like(E)
    for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
        square = E[i, 0] * E[0, j] + E[i, 1] * E[1, j] + E[i, 2] * E[2, j]
        root[i, j] = root[j, i] = 0.375 * square - 0.5 * E[i, j] + float(i == j)
    found = values.reshape(-1, 9).copy()
    for i, r in enumerate(R):
        for j in range(3):
            found[some, 3 * i + j] = r[0] * root[0, j] + r[1] * root[1, j] + r[2] * root[2, j]
    return found


@in_rows(frame)
def frames(values: Array) -> Array | None:
    """Homogeneous matrices ``(n, 4, 4)``, rotations ``(n, 3, 3)`` or locations ``(n, 3)``, as twelve numbers each."""
    n = len(values)
    turned: Array | None = np.tile(np.eye(3).ravel(), (n, 1))
    shifted: Array | None = np.zeros((n, 3))
    if values.shape == (n, 3):
        shifted = finite(values)
    elif values.shape == (n, 3, 3):
        turned = rotations(values)
    elif values.shape == (n, 4, 4) and (np.abs(values[:, 3] - (0.0, 0.0, 0.0, 1.0)) <= LAST_ROW).all():
        turned, shifted = rotations(values[:, :3, :3]), finite(values[:, :3, 3])
    else:
        return None
    return None if turned is None or shifted is None else np.concatenate([turned, shifted], axis=1)


def array_of_frames(values: Sequence[Any] | Array) -> Any:
    """Transforms as an array of matrices; what is something else comes back as it is."""
    if not isinstance(values, np.ndarray) and all(type(one) is Transform for one in values):
        return np.array([np.asarray(one) for one in values])
    return values


# ---------------------------------------------------------------------------------------------- mass properties


def ten(m: MassProperties) -> list[float]:
    """Mass, mass center, and inertia about the origin: xx, yy, zz, xy, xz, yz."""
    I = np.asarray(m.inertia)
    return [m.mass, *m.com.tolist(), *I[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist()]


def of_ten(numbers: Array) -> MassProperties:
    """The `MassProperties` of these, checked."""
    xx, yy, zz, xy, xz, yz = numbers[4:].tolist()
    return MassProperties(float(numbers[0]), numbers[1:4], [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def are_bodies(values: Array) -> bool:
    """True if each row of ten numbers is a body's, by the rules of `MassProperties`; a doubtful one is not."""
    m, (cx, cy, cz), (xx, yy, zz, xy, xz, yz) = values[:, 0], values[:, 1:4].T, values[:, 4:].T
    with np.errstate(all="ignore"):
        mx, my, mz = m * cx, m * cy, m * cz
        slack = 0.5 * ROUNDING * np.maximum(np.abs(values[:, 4:]).max(axis=1), (mx * cx + my * cy + mz * cz)) + SMALLEST
        xx, yy, zz = xx - (my * cy + mz * cz), yy - (mx * cx + mz * cz), zz - (mx * cx + my * cy)
        xy, xz, yz = xy + mx * cy, xz + mx * cz, yz + my * cz
        half = 0.5 * (xx + yy + zz) + 0.5 * slack  # half of the slack of the single check: what is between is looked at alone
        a, b, c = half - xx, half - yy, half - zz
        b = b - xy / a * xy
        yz = yz + xy / a * xz
        sound = (a > 0.0) & (b > 0.0) & (c - xz / a * xz - yz / b * yz > 0.0) & (m > 0.0)
    return bool(sound.all() and np.isfinite(values).all())
