"""Errors of a plan, by running it: each interval from its first state, as an integrator would, to where the plan is at its end.

All intervals are states of one `Ensemble`, and take steps of the method of Runge and Kutta of fourth order, under the forces
that the plan has in between. Differences are weighed as integrators weigh theirs: a variable's own size, and 1.
"""

from __future__ import annotations

import numpy as np

from ..algebra.arrays import Array
from .mesh import Mesh
from .part import Part

#: Steps a run takes in an interval at first, for each order of the scheme, and at most then; they are doubled until that
#: changes an error by less than this share, or there are so many: a tendon is stiff.
_STEPS_BY_ORDER, _FIRST_STEPS, _SHARE, _MOST_STEPS = 2, 8, 0.1, 1024
#: Errors that are too small for that to matter.
_SMALL = 1e-9
#: Into how many an interval is divided at most.
_MOST = 4


def errors(part: Part) -> Array:
    """The relative error of each interval ``(k,)``; infinite where the system is too stiff for such runs."""
    steps = min(_STEPS_BY_ORDER * part.mesh.scheme.order, _FIRST_STEPS)
    found = _errors(part, steps)
    while steps < _MOST_STEPS:
        steps *= 2
        before, found = found, _errors(part, steps)
        with np.errstate(invalid="ignore"):
            changes = ~(np.abs(found - before) <= np.maximum(_SHARE * found, _SMALL))
        if np.isfinite(found).all() and not changes.any():
            return found
    return np.where(changes & (found > 1.0), np.inf, found)


def _errors(part: Part, steps: int) -> Array:
    """Those that runs of so many steps find."""
    phase, mesh, T = part.phase, part.mesh, part.duration
    dynamics, nx = phase.dynamics, phase.nx
    first = mesh.nodes[:, 0]
    x, t0 = part.y[first, :nx].copy(), part.t[0]
    inside = part.y[mesh.nodes, nx:]
    scheme = mesh.scheme
    h = T * mesh.sizes / steps

    def rates(x: Array, at: float) -> Array:
        force = scheme.interpolate(inside, np.array([at]))[:, 0]
        t = t0 + T * (mesh.ends[:-1] + at * mesh.sizes)
        return dynamics.rates(np.hstack([x, force]), t, part.p)

    with np.errstate(over="ignore", invalid="ignore"):  # where steps are too long
        for i in range(steps):
            a, step = i / steps, h[:, None]
            k1 = rates(x, a)
            k2 = rates(x + 0.5 * step * k1, a + 0.5 / steps)
            k3 = rates(x + 0.5 * step * k2, a + 0.5 / steps)
            k4 = rates(x + step * k3, a + 1.0 / steps)
            x += step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        off = np.abs(x - part.y[mesh.nodes[:, -1], :nx]) / np.maximum(1.0, np.abs(part.y[:, :nx]).max(axis=0))
    return np.nan_to_num(off.max(axis=1, initial=0.0), nan=np.inf)


def refined(mesh: Mesh, errors: Array, accuracy: float) -> Mesh:
    """A mesh whose intervals with larger errors than *accuracy* are divided as the scheme's order says."""
    ends = [0.0]
    for first, last, error in zip(mesh.ends[:-1], mesh.ends[1:], errors, strict=True):
        many = 1
        if error > accuracy:
            wanted = min(float(error) / accuracy, 1e12) ** (1.0 / mesh.scheme.order)
            many = int(np.clip(np.ceil(1.1 * wanted), 2, _MOST))
        ends += np.linspace(first, last, many + 1)[1:].tolist()
    return Mesh(mesh.scheme, np.array(ends))
