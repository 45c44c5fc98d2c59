"""Many states, and their motions, as arrays with names: `xarray.Dataset`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..simulation.names import coordinate_names, speed_names

if TYPE_CHECKING:
    from ..system.system import MultibodySystem
    from .ensemble_trajectory import EnsembleTrajectory

#: Names of the dimensions after those of state and time, by variable or result; others get numbers.
_DIMENSIONS = {
    **dict.fromkeys(("q", "q_dot", "q_dot_dot"), ("coordinate",)),
    **dict.fromkeys(("u", "u_dot", "get_mobility_forces", "mobility_forces", "motion_forces"), ("speed",)),
    **dict.fromkeys(("z", "z_dot"), ("auxiliary",)),
    **dict.fromkeys(("mass_center", "mass_center_velocity"), ("axis",)),
    **dict.fromkeys(("momentum", "central_momentum"), ("part", "axis")),
    "body_transforms": ("body", "row", "column"),
    **dict.fromkeys(("body_velocities", "body_accelerations", "reactions", "contact_wrenches"), ("body", "part", "axis")),
    **dict.fromkeys(("calc_mobilizer_reaction_forces", "get_rigid_body_forces"), ("body", "part", "axis")),
    **dict.fromkeys(("particle_locations", "particle_velocities", "particle_accelerations"), ("particle", "axis")),
}
_SPATIAL = {"part": ["angular", "linear"], "axis": ["x", "y", "z"]}


def xarray(asked: str) -> Any:
    """The package xarray, for what was asked."""
    try:
        import xarray as module
    except ImportError as error:
        raise ImportError(f"{asked} needs xarray: pip install mobod[xarray]") from error
    return module


def of_states(system: MultibodySystem, ensemble: Any, found: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Variables and results of an ensemble, along the dimension ``state``."""
    module = xarray("Ensemble.to_xarray")
    state, n = ensemble.get_state(0), len(ensemble)
    labels = {
        "state": np.arange(n),
        "coordinate": coordinate_names(system, state),
        "speed": speed_names(system, state),
        "body": [body.name for body in system.get_matter_subsystem().bodies],
        **_SPATIAL,
    }
    arrays = {name: (("state", *_dimensions(name, array.shape[1:])), array.copy()) for name, array in found.items()}
    return module.Dataset(arrays, coords=_those_used(labels, arrays))


def of_motions(motions: EnsembleTrajectory) -> Any:
    """Motions by name, along the dimensions ``state`` and ``time``."""
    module = xarray("EnsembleTrajectory.to_xarray")
    own_times = motions.time.ndim == 2
    labels = {
        "state": np.arange(len(motions)),
        "coordinate": list(motions.coordinate_names),
        "speed": list(motions.speed_names),
        "auxiliary": list(motions.auxiliary_names),
        **_SPATIAL,
        **({} if own_times else {"time": motions.time}),
    }
    if motions.quantities and motions.state_of is not None:
        labels["body"] = [body.name for body in motions.state_of(0).system.get_matter_subsystem().bodies]
    along = ("state", "report") if own_times else ("state", "time")
    arrays: dict[str, Any] = {}
    for name in ("q", "u", "z", "particle_locations", "particle_velocities"):
        found = np.asarray(getattr(motions, name)[:])
        if found.size:
            arrays[name] = (*along, *_dimensions(name, found.shape[2:])), found
    if motions.sensitivities is not None:
        labels["by"] = motions.sensitivities.names
        for name, values in motions.sensitivities.arrays().items():
            of = {"q": "u", "of_q": "q"}.get(name, name)  # displacements are one a speed
            if (found := np.asarray(values[:])).size:
                arrays[f"sensitivities_{name}"] = (*along, *_dimensions(of, found.shape[2:-1]), "by"), found
    if own_times:
        arrays["time"] = along, motions.time
    events = motions.events
    if len(events):
        for name in ("state", "time", "name", "kind", "direction", "witness", "energy"):
            arrays[f"event_{name}"] = "event", events[name]
    arrays["end_time"], arrays["failed"] = ("state", motions.end_time), ("state", motions.failed)
    for name, values in motions.statistics.items():
        if isinstance(values, np.ndarray):
            arrays[name] = "state", values
    for name, values in motions.quantities.items():
        own = f"quantity.{name}" if name in arrays or name in labels else name
        arrays[own] = (*along, *_dimensions(own, values.shape[2:])), values
    return module.Dataset(arrays, coords=_those_used(labels, arrays))


def _dimensions(name: str, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Names of a row's dimensions."""
    known = _DIMENSIONS.get(name, ())
    return known if len(known) == len(shape) else tuple(f"{name}_{i}" for i in range(1, len(shape) + 1))


def _those_used(labels: dict[str, Any], arrays: dict[str, Any]) -> dict[str, Any]:
    """The labels of dimensions that some array has."""
    used = {
        dimension
        for dimensions, _ in arrays.values()
        for dimension in ([dimensions] if isinstance(dimensions, str) else dimensions)
    }
    return {name: values for name, values in labels.items() if name in used}
