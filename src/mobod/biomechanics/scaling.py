"""Scaling a model to a subject: by distances of markers, measured and in the model, and markers put where they were seen.

A measurement's factor is the mean over its pairs of  distance measured / distance in the model's default pose.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ..algebra.arrays import Array
from ..errors import ModelError
from ..importer.formats import as_model
from ..importer.model import Model
from ..importer.xml_element import Element
from ..motion_data import Table, read_trc
from ..value.checks import all_known, positive, suggest
from ..value.stage import Stage
from .kinematics import inverse_kinematics

AXES = "XYZ"


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """Distances between markers that say how large some bodies are.

    Parameters
    ----------
    pairs : sequence of (str, str)
        Of markers.
    bodies : mapping of str to str, or sequence of str
        Which bodies they scale, and along which of their axes, such as ``{"femur_r": "Y"}``; a sequence means all axes.
    name : str

    Examples
    --------
    >>> import mobod as mb
    >>> thigh = mb.biomechanics.Measurement(pairs=[("hip", "knee")], bodies={"femur": "y"})
    >>> thigh.pairs
    [('hip', 'knee')]
    """

    pairs: Sequence[tuple[str, str]]
    bodies: Mapping[str, str] | Sequence[str]
    name: str = ""


def scale(
    model: Model | str | os.PathLike[str],
    static_markers: Table | str | os.PathLike[str] | None = None,
    *,
    measurements: Sequence[Measurement] = (),
    factors: Mapping[str, float | npt.ArrayLike] | None = None,
    mass: float | None = None,
    keep_masses: bool = False,
    start: float = -np.inf,
    end: float = np.inf,
    place_markers: bool = True,
    pose_markers: Table | str | os.PathLike[str] | None = None,
    fixed: Sequence[str] | None = None,
    weights: Mapping[str, float] | None = None,
    coordinates: Mapping[str, float] | None = None,
    coordinate_weights: float | Mapping[str, float] = 1.0,
) -> Model:
    """Scale a model to a subject who stood still, and put its markers where they were seen.

    Parameters
    ----------
    model : Model or path
        From `load_osim`; it stays as it is.
    static_markers : Table or path, optional
        Markers of the subject standing still; needed for measurements and to place markers.
    measurements : sequence of biomechanics.Measurement
        In their order: later ones replace factors of earlier ones.
    factors : mapping of str to number or (3,) array_like, optional
        Of bodies by name, given by hand, in place of measured ones.
    mass : float, optional
        Of the subject: all masses are multiplied so that they add up to it.
    keep_masses : bool
        Whether bodies keep their parts of the mass; otherwise each is multiplied by its three factors first.
    start, end : float
        The part of the recording that is averaged.
    place_markers : bool
        Whether markers are moved, after scaling, to where they were seen in the pose that fits them best.
    pose_markers : Table or path, optional
        Markers of the pose in which they are placed, all of which is averaged; the part of *static_markers* unless given.
    fixed : sequence of str, optional
        Markers that stay on their bodies; those that the model's file says are fixed, unless given.
    weights, coordinates, coordinate_weights
        Of that pose, see `inverse_kinematics`.

    Returns
    -------
    Model
        A new one. ``data["scale_factors"]`` has the factors of each body, ``data["measurements"]`` the factor of each
        measurement, ``data["static_pose"]`` the fit of the static pose. `mobod.write_osim` writes it.

    Raises
    ------
    ModelError
        If the model is not from an OpenSim file, or a body or factor cannot be.
    ValueError
        If a marker of a measurement is missing in the model or the recording.

    Notes
    -----
    What is scaled, and how, is what OpenSim's scale tool does: joint frames, markers, mass centers, inertias, meshes, points of
    muscles, surfaces that they wrap over, and functions of joints' translations; lengths of fibers, tendons, springs and
    ligaments by that of their path in the default pose, wrapped over cylinders, spheres and ellipsoids as OpenSim does.

    Examples
    --------
    A thigh that is a tenth longer and thicker, by hand:

    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> leg = mb.load(files("mobod") / "examples" / "leg6dof9musc.osim")
    >>> subject = mb.scale(leg, factors={"femur_r": 1.1}, mass=70.0)
    >>> subject.data["scale_factors"]["femur_r"]
    array([1.1, 1.1, 1.1])
    """
    from ..importer.formats import load_quietly

    model = as_model(model)
    source = model.data.get("source")
    if source is None:
        raise ModelError(f"the model {model.name!r} is not from an OpenSim file, which scaling starts from")
    recorded = _recorded(static_markers, start, end)
    posed = recorded if pose_markers is None else _recorded(pose_markers, -np.inf, np.inf)
    seen = None if posed is None else _still(posed)
    measured = [_factor(model, recorded, one, k) for k, one in enumerate(measurements)]
    of_bodies: dict[str, Array] = {}
    for one, factor in zip(measurements, measured, strict=True):
        bodies = one.bodies if isinstance(one.bodies, Mapping) else dict.fromkeys(one.bodies, AXES)
        all_known("a measurement scales the body", bodies, model.bodies, ModelError)
        for body, axes in bodies.items():
            for axis in axes.upper():
                if axis not in AXES:
                    raise ValueError(f"the axes of the body {body!r} are some of X, Y and Z, not {axes!r}")
                of_bodies.setdefault(body, np.ones(3))[AXES.index(axis)] = factor
    for which, given in (factors or {}).items():
        of_bodies[which] = np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), (3,)))
    if mass is not None:
        mass = positive("the mass of the subject", mass)
    scaled = load_quietly(source, scale_factors=of_bodies, mass=mass, keep_masses=keep_masses)
    names = {body.index: name for name, body in model.bodies.items()}
    for name, (on, station) in model.markers.items():
        if name not in scaled.markers:  # added by hand
            own = of_bodies.get(names.get(on.index, ""), np.ones(3))
            scaled.markers[name] = scaled.matter.bodies[on.index], np.asarray(station) * own
    _write_markers(scaled)
    scaled.data["scale_factors"] = of_bodies
    scaled.data["measurements"] = {one.name or str(k): f for k, (one, f) in enumerate(zip(measurements, measured, strict=True))}
    if place_markers and seen is not None:
        stay = fixed_markers(scaled.data["document"]) if fixed is None else fixed
        _place(scaled, seen, stay, weights, coordinates, coordinate_weights)
    return scaled


def _recorded(markers: Any, start: float, end: float) -> Table | None:
    """The recording, or the part of it that is asked for."""
    if markers is None:
        return None
    table: Table = markers if isinstance(markers, Table) else read_trc(markers)
    return table.between(start, end) if np.isfinite(start) or np.isfinite(end) else table


def _still(table: Table) -> Table:
    """The mean of a recording, at one time."""
    columns = {}
    for label in table.labels:
        there = np.isfinite(table[label]).all(axis=1)
        if table[label].shape[1:] == (3,) and there.any():
            columns[label] = table[label][there].mean(axis=0)[None]
    return Table([table.time[0]], columns, name=table.name)


def _factor(model: Model, seen: Table | None, one: Measurement, k: int) -> float:
    if seen is None:
        raise ValueError("measurements need static_markers")
    if not one.pairs:
        raise ValueError(f"the measurement {one.name or k} has no pair of markers")
    state, ratios = model.default_state(), []
    model.system.realize(state, Stage.POSITION)
    for pair in one.pairs:
        for name in pair:
            for what, known in (("the model", [*model.markers]), ("the recording", seen.labels)):
                if name not in known:
                    remedy = "" if known else "; model.markers[name] = (body, place) adds one"
                    raise ValueError(
                        f"the measurement {one.name or k} needs the marker {name!r} in {what}; {suggest(name, known)}{remedy}"
                    )
        places = [body.find_station_location_in_ground(state, p) for body, p in (model.markers[name] for name in pair)]
        apart = float(np.linalg.norm(places[0] - places[1]))
        if not apart > 0.0:
            raise ValueError(f"the markers {pair[0]!r} and {pair[1]!r} are at one place in the model: they measure nothing")
        ratios.append(float(np.nanmean(np.linalg.norm(seen[pair[0]] - seen[pair[1]], axis=1))) / apart)
    return float(np.mean(ratios))


def _place(scaled: Model, seen: Table, fixed: Sequence[str], weights: Any, coordinates: Any, coordinate_weights: Any) -> None:
    """Move markers to where they were seen in the pose that fits them."""
    all_known("fixed names", fixed, scaled.markers)
    pose = inverse_kinematics(
        scaled, seen, weights=weights, coordinates=coordinates, coordinate_weights=coordinate_weights, accuracy=1e-8
    )
    scaled.data["static_pose"] = pose
    state = pose.states[0]
    scaled.system.realize(state, Stage.POSITION)
    for name, (body, _) in list(scaled.markers.items()):
        if name in seen and name not in fixed:
            station = body.find_station_at_ground_point(state, seen[name][0])
            scaled.markers[name] = body, station
    _write_markers(scaled)


def fixed_markers(document: Element) -> list[str]:
    """The markers that a document says are fixed."""
    return [
        one.attributes.get("name", "") for one in document.below() if one.tag == "Marker" and one.text_of("fixed") == "true"
    ]


def _write_markers(scaled: Model) -> None:
    """Put the markers' places into the document, too, and those that it lacks."""
    document: Element = scaled.data["document"]
    names = {body.index: f"/bodyset/{name}" for name, body in scaled.bodies.items()}
    left = dict(scaled.markers)
    for one in document.below():
        name = one.attributes.get("name", "")
        if one.tag == "Marker" and name in left:
            body, station = left.pop(name)
            for child in one.children:
                if child.tag == "location":
                    child.text = _written(station)
                elif child.tag == "socket_parent_frame":
                    child.text = names.get(body.index, "/ground")
    if not left:
        return
    held = next((one for one in document.children if one.tag == "MarkerSet"), None)
    if held is None:
        held = Element("MarkerSet", {"name": "markerset"}, document.line)
        document.children.append(held)
    objects = next((one for one in held.children if one.tag == "objects"), None)
    if objects is None:
        objects = Element("objects", {}, held.line)
        held.children.append(objects)
    for name, (body, station) in left.items():
        frame = Element("socket_parent_frame", {}, held.line, [], names.get(body.index, "/ground"))
        place = Element("location", {}, held.line, [], _written(station))
        objects.children.append(Element("Marker", {"name": name}, held.line, [frame, place]))


def _written(station: Array) -> str:
    return " ".join(map(repr, np.asarray(station).tolist()))
