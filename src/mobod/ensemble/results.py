"""Results of realizing many states: rates, accelerations, poses and velocities of bodies."""

from __future__ import annotations

import functools

import numpy as np

from ..algebra.arrays import Array
from ..state.state import State
from ..state.storage import read_only
from ..value.stage import Stage
from . import batch
from .running import Running


class Results(Running):
    """The part of `Ensemble` that hands out results."""

    __slots__ = ()

    def _collected(self, asked: str, stage: Stage, what: int, columns: int) -> Array:
        """A result that `realize` does not keep for every state: recomputed when it is first read."""
        self._need(asked, stage)
        found = self._results.get(what)
        if found is None:
            alone = functools.partial(_of_one, what)
            found = self._results[what] = self._collect(("collect", what), stage, columns, batch.collect, (what,), alone)
        return read_only(found[: self._n])

    @property
    def u_dot(self) -> Array:
        """Accelerations ``(n, nu)``, which keep constraints; NaN or infinite where `failed`. Needs ACCELERATION."""
        self._need("u_dot", Stage.ACCELERATION)
        return read_only(self._u_dot[: self._n])

    @property
    def particle_accelerations(self) -> Array:
        """Accelerations of the particles ``(n, np, 3)``, in Ground. Needs ACCELERATION."""
        self._need("particle_accelerations", Stage.ACCELERATION)
        return read_only(self._particle_accelerations[: self._n].reshape(self._n, -1, 3))

    @property
    def q_dot(self) -> Array:
        """Rates of q ``(n, nq)``. Needs VELOCITY."""
        return self._collected("q_dot", Stage.VELOCITY, batch.Q_DOT, self._q.shape[1])

    @property
    def q_dot_dot(self) -> Array:
        """Second rates of q ``(n, nq)``. Needs ACCELERATION."""
        return self._collected("q_dot_dot", Stage.ACCELERATION, batch.Q_DOT_DOT, self._q.shape[1])

    @property
    def z_dot(self) -> Array:
        """Rates of z ``(n, nz)``. Needs DYNAMICS."""
        self._need("z_dot", Stage.DYNAMICS)
        if not self._z.shape[1]:
            return np.zeros((self._n, 0))
        return self._collected("z_dot", Stage.DYNAMICS, batch.Z_DOT, self._z.shape[1])

    @property
    def y(self) -> Array:
        """All variables, q, then u, then z ``(n, nq + nu + nz)``: a copy."""
        return np.concatenate([part[: self._n] for part in (self._q, self._u, self._z)], axis=1)

    @property
    def y_dot(self) -> Array:
        """Rates of all variables ``(n, nq + nu + nz)``: q_dot, u_dot, z_dot. Needs ACCELERATION."""
        self._need("y_dot", Stage.ACCELERATION)
        return np.concatenate([self.q_dot, self.u_dot, self.z_dot], axis=1)

    @property
    def body_transforms(self) -> Array:
        """X_GB of every body ``(n, nb, 4, 4)``. Needs POSITION."""
        nb = self._template.tree.nb
        flat = self._collected("body_transforms", Stage.POSITION, batch.BODY_TRANSFORMS, 16 * nb)
        X = flat.reshape(self._n, nb, 4, 4).copy()
        X[:, :, 3, 3] = 1.0
        return X

    @property
    def body_velocities(self) -> Array:
        """V_GB of every body ``(n, nb, 2, 3)``. Needs VELOCITY."""
        nb = self._template.tree.nb
        flat = self._collected("body_velocities", Stage.VELOCITY, batch.BODY_VELOCITIES, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)

    @property
    def body_accelerations(self) -> Array:
        """A_GB of every body ``(n, nb, 2, 3)``. Needs ACCELERATION."""
        nb = self._template.tree.nb
        flat = self._collected("body_accelerations", Stage.ACCELERATION, batch.BODY_ACCELERATIONS, 6 * nb)
        return flat.reshape(self._n, nb, 2, 3)


#: The fields of a record that results are copied from.
_FIELDS = {
    batch.Q_DOT: "q_dot",
    batch.Q_DOT_DOT: "q_dot_dot",
    batch.Z_DOT: "z_dot",
    batch.BODY_VELOCITIES: "V_GB",
    batch.BODY_ACCELERATIONS: "A_GB",
}


def _of_one(what: int, state: State) -> Array:
    """A result of one state, which is realized."""
    record = state.record
    if what != batch.BODY_TRANSFORMS:
        found: Array = getattr(record, _FIELDS[what])
        return found
    X = np.zeros((state.tree.nb, 4, 4))
    X[:, :3, :3], X[:, :3, 3] = record.R_GB.reshape(-1, 3, 3), record.p_GB
    return X
