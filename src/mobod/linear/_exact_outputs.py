"""Outputs of linear models differentiated exactly: stations, recorded quantities up to velocities and energies, measures.

Duals give the derivatives of poses, velocities, inertias and energies of bodies and elements. What is made of these is a
polynomial, whose derivative along them is the imaginary part of its value a tiny imaginary step away, without rounding of
differences. Source: Squire and Trapp 1998.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..algebra.arrays import Array
from ..derivative.coordinates import turns
from ..derivative.equations import variables
from ..derivative.jvp import calling, jvp
from ..derivative.measures import Differentiated
from ..derivative.routines import calc_residual
from ..derivative.settings import seeds_of
from ..force.dispatch import ENERGY, scalars
from ..measure.base import Measure, NotCompiled
from ..state.fields import PARAMETERS
from ..state.state import State
from .inputs import Inputs
from .manifold import displacements_and_turns


class ExactMeasures:
    """Each derivative of the rates of z ``(nz, ...)``, and of the measures.

    Parameters
    ----------
    system : MultibodySystem
        Without parts in Python.
    state : State
        At ACCELERATION.
    inputs : Inputs
    measures : sequence of Measure
        Those that are known to Python alone are left out.
    by_state, by_inputs : (nu, n), (nu, m) arrays
        Derivatives of u_dot.

    Attributes
    ----------
    z_by_state, z_by_inputs : (nz, n), (nz, m) arrays
    """

    def __init__(
        self, system: Any, state: State, inputs: Inputs, measures: Sequence[Measure], by_state: Array, by_inputs: Array
    ) -> None:
        known = [one for one in dict.fromkeys(measures) if _is_compiled(system, state, one)]
        of = Differentiated(system, state.tree, known)
        nu, nz, n, m = state.tree.nu, len(state.z_view), by_state.shape[1], by_inputs.shape[1]
        every, of_model = np.eye(n, n + m), list[Any]([()] * m if inputs.of_settings else ())
        for k, seeds in zip(inputs.of_settings, seeds_of(inputs.settings, state), strict=True):
            of_model[k] = seeds
        of_q = displacements_and_turns(state) @ every[np.r_[:nu, 2 * nu + nz : n]]
        changes = {"q": of_q, "u": every[nu : 2 * nu], "z": every[2 * nu : 2 * nu + nz]}
        by = of.along(state, changes, np.hstack([by_state, by_inputs]), of_model)
        self.z_by_state, self.z_by_inputs = by.z_dot[:, :n], by.z_dot[:, n:]
        self._found = {id(one): (value[:, :n], value[:, n:]) for one, value in zip(known, by.values, strict=True)}

    def of(self, measure: Any) -> tuple[Array, Array] | None:
        """Derivatives of a measure by states and by inputs; None where it is known to Python alone."""
        return self._found.get(id(measure))


def _is_compiled(system: Any, state: State, measure: Measure) -> bool:
    """True if kernels can compute a measure."""
    try:
        Differentiated(system, state.tree, [measure])
    except NotCompiled:
        return False
    return True


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
    state : State
        At ACCELERATION, of a system without parts in Python.
    settings : list of Setting
    """

    def __init__(self, state: State, settings: list[Any]) -> None:
        self._values: dict[str, Any] = {}
        of_model = seeds_of(settings, state)
        seeds, places = variables(state, turned=turns(state), more=len(of_model))
        m, more = places["time"].start, len(state.z_view) - state.tree.nz  # measures integrate those: no output here has them
        every, end = self._fields(state, seeds, of_model), places["model"].start
        self.by_state = {
            name: np.concatenate([part[..., :m], np.zeros((*part.shape[:-1], more)), part[..., m + 1 : end]], -1)
            for name, part in every.items()
        }
        self.by_settings = {name: part[..., end:] for name, part in every.items()}

    def _fields(self, state: State, seeds: Mapping[str, Array], of_model: Sequence[Any]) -> Fields:
        """Derivatives of the fields, of the shapes of these with a column a direction behind."""

        def evaluate(record: Any, kind: Mapping[str, Any]) -> int:
            status = calling(calc_residual)(record, kind)
            scalars(record, ENERGY, state.tree.compiled_runs)
            return status

        def see(record: Any, columns: slice) -> None:
            fields = {name: getattr(record, name) for name in _FIELDS}
            self._values = {name: np.array(getattr(field, "values", field)) for name, field in fields.items()}

        outputs = {name: len(getattr(state.record, name)) for name in _FIELDS if of_model or name not in PARAMETERS}
        at = {"u_dot": state.u_dot_view[: state.tree.nu]}
        found = jvp(state, seeds, evaluate, outputs, of_model=of_model, at=at, observe=see)
        return {name: part.reshape(*self._values[name].shape, part.shape[-1]) for name, part in found.items()}

    def differentiate(self, output: Callable[[Fields], Any], by: Fields) -> Array:
        """Derivatives of an output ``(size, n)``, from those of the fields."""
        found, n = [], by["u"].shape[-1]
        for k in range(n):
            x = {name: value + (_STEP * 1j * by[name][..., k] if name in by else 0.0) for name, value in self._values.items()}
            found.append(np.ravel(np.imag(output(x)) / _STEP))
        return np.array(found, np.float64).reshape(n, np.size(output(self._values))).T
