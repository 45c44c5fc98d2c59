"""Outputs of linear models that are differentiated exactly: stations, and recorded quantities up to velocities and energies.

Duals give the derivatives of poses, velocities, inertias and energies of bodies and elements. What is made of these is a
polynomial, whose derivative along them is the imaginary part of its value a tiny imaginary step away, without rounding of
differences. Source: Squire and Trapp 1998.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..algebra.record import DualRows
from ..force._dispatch import ENERGY, scalars
from ..state.state import State
from ..system import parameter_tangents, tangents

#: Fields of the record that outputs are made of.
_FIELDS = ("R_GB", "p_GB", "V_GB", "mass", "com_G", "inertia_G", "rotor_inertia", "u", "mobility_forces", "work_e")
_STEP = 1e-30

Fields = Mapping[str, Any]


def station(b: int, place: Array) -> Callable[[Fields], Any]:
    """The location in Ground of a station on body b."""
    return lambda x: x["p_GB"][b] + x["R_GB"][b].reshape(3, 3) @ place


def _parts(x: Fields) -> tuple[Any, ...]:
    """Mass, first moment, w, v, I w, and linear momentum, of each body but Ground."""
    m, c, w, v = x["mass"][1:], x["com_G"][1:], x["V_GB"][1:, :3], x["V_GB"][1:, 3:]
    xx, yy, zz, xy, xz, yz = x["inertia_G"][1:].T
    a, b, d = w.T
    Iw = np.stack([xx * a + xy * b + xz * d, xy * a + yy * b + yz * d, xz * a + yz * b + zz * d], 1)
    return m, m * c, w, v, Iw, m * (v + np.cross(w, c))


def _mass_center(x: Fields) -> Any:
    m, mc, *_ = _parts(x)
    return (m * x["p_GB"][1:] + mc).sum(0) / m.sum()


def _mass_center_velocity(x: Fields) -> Any:
    m, *_, P = _parts(x)
    return P.sum(0) / m.sum()


def _momentum(x: Fields) -> Any:
    _, mc, _, v, Iw, P = _parts(x)
    L = Iw + np.cross(mc, v) + np.cross(x["p_GB"][1:], P)
    return np.stack([L.sum(0), P.sum(0)])


def _central_momentum(x: Fields) -> Any:
    L, P = _momentum(x)
    return np.stack([L - np.cross(_mass_center(x), P), P])


def _kinetic_energy(x: Fields) -> Any:
    m, mc, w, v, Iw, _ = _parts(x)
    of_bodies = (w * Iw).sum() + (m * v * v).sum() + 2.0 * (v * np.cross(w, mc)).sum()
    u = x["u"][: len(x["rotor_inertia"])]
    return 0.5 * (of_bodies + (x["rotor_inertia"] * u * u).sum())


#: By the names of recorded quantities.
NAMED: dict[str, Callable[[Fields], Any]] = {
    "kinetic_energy": _kinetic_energy,
    "potential_energy": lambda x: x["work_e"].sum(),
    "mass_center": _mass_center,
    "mass_center_velocity": _mass_center_velocity,
    "momentum": _momentum,
    "central_momentum": _central_momentum,
    "mobility_forces": lambda x: x["mobility_forces"][:, 0],
}


class ExactOutputs:
    """Derivatives of fields of the record, by displacements, u, z and turns of lines, and by settings.

    Parameters
    ----------
    system : MultibodySystem
        Without parts in Python.
    state : State
        At ACCELERATION.
    settings : list of Setting
    """

    def __init__(self, system: Any, state: State, settings: list[Any]) -> None:
        turned, m = tangents.turns(state), 2 * state.tree.nu + state.tree.nz
        more = len(state.z_view) - state.tree.nz  # measures integrate those, on which no output here depends
        self._values, self._runs = dict.fromkeys(_FIELDS, np.zeros(0)), state.tree.compiled_runs
        u_dot = state.u_dot_view[: state.tree.nu]
        every = self._observe(
            m + 1 + turned.shape[1], lambda see: tangents.of_residual(system, state, u_dot, None, see, turned=turned)
        )
        still = {name: np.zeros_like(field) for name, field in every[0].items()}
        self.by_state = [*every[:m], *[still] * more, *every[m + 1 :]]
        self.by_settings: list[Fields] = []
        if settings:
            seeds = [seed for setting in settings for seed in setting.seeds(state)]
            self.by_settings = self._observe(len(seeds), lambda see: parameter_tangents.of_seeds(system, state, seeds, see))

    def _observe(self, n: int, run: Callable[[Any], Any]) -> list[Fields]:
        """The tangents of the fields, a column each."""
        found: list[Fields] = []

        def see(record: Any, count: int) -> None:
            scalars(record, ENERGY, self._runs)
            fields = {name: getattr(record, name) for name in _FIELDS}
            for name, field in fields.items():
                self._values[name] = np.array(field.values if isinstance(field, DualRows) else field)
            for k in range(count):
                found.append(
                    {name: np.array(field.tangents[:, :, k]) for name, field in fields.items() if isinstance(field, DualRows)}
                )

        run(see)
        return found[:n]

    def differentiate(self, output: Callable[[Fields], Any], columns: list[Fields]) -> Array:
        """Derivatives of an output ``(size, columns)``."""
        found = []
        for tangent in columns:
            x = {name: value + _STEP * 1j * tangent.get(name, 0.0) for name, value in self._values.items()}
            found.append(np.ravel(np.imag(output(x)) / _STEP))
        size = np.size(output(self._values))
        return np.array(found, np.float64).reshape(len(columns), size).T


__all__ = ["NAMED", "ExactOutputs", "station"]
