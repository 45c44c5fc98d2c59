"""Sensitivities: derivatives of a motion by its initial values and by numbers of the model, at each of its times."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np

from ..algebra.arrays import Array


@dataclasses.dataclass(frozen=True, eq=False)
class Sensitivities:
    """Derivatives of a motion, a column a quantity; what `simulate` finds with ``sensitivities=[...]``.

    Those of the motions of an `Ensemble` have another axis in front, of the states.

    Attributes
    ----------
    names : list of str
        Of the columns: ``"pole.q"`` for an initial displacement by a speed, ``"pole.u"`` for an initial speed, ``"z[0]"``, and
        parameters as ``"spring.stiffness"``.
    q : (nt, nu, n) array
        Of q, as displacements: dq = N v, a row a speed.
    u, z : (nt, nu, n), (nt, nz, n) arrays
    of_q : (nt, nq, n) array
        Of q as it is stored, quaternions by their four numbers.
    particle_locations, particle_velocities : (nt, np, 3, n) arrays

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> motion = mb.simulate(system, state, 0.5, sensitivities=["gravity_0.magnitude"])
    >>> motion.sensitivities.names, motion.sensitivities.q.shape
    (['gravity_0.magnitude'], (201, 2, 1))
    """

    names: list[str]
    q: Array
    u: Array
    z: Array
    of_q: Array
    particle_locations: Array
    particle_velocities: Array

    INNER = frozenset({"arrays", "each"})

    def __repr__(self) -> str:
        of = f"of {len(self.q)} motions " if self.q.ndim == 4 else ""
        return f"<Sensitivities {of}at {self.q.shape[-3]} times by {', '.join(self.names)}>"

    def arrays(self) -> dict[str, Array]:
        """The arrays by name."""
        return {name: getattr(self, name) for name in ARRAYS}

    def each(self, change: Callable[[Array], Array]) -> Sensitivities:
        """The same of arrays that *change* makes of these."""
        return Sensitivities(self.names, **{name: change(array) for name, array in self.arrays().items()})


#: The attributes that are arrays.
ARRAYS = ("q", "u", "z", "of_q", "particle_locations", "particle_velocities")


def parts_of(rows: Array, sizes: Sequence[int]) -> dict[str, Array]:
    """The arrays in rows ``(..., m, n)`` of displacements and y, of these `Variations.sizes`: views."""
    v, of_q, of_u, of_z, *of_particles = np.split(rows, np.cumsum(sizes), axis=-2)[:6]
    each = (part.reshape(*rows.shape[:-2], sizes[-1] // 3, 3, rows.shape[-1]) for part in of_particles)
    return dict(zip(ARRAYS, (v, of_u, of_z, of_q, *each), strict=True))
