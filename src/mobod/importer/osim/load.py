"""From an OpenSim file to a multibody system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...errors import ModelError
from ...value import checks
from ...value.attributes import named_arguments
from ..model import Model
from ..report import Report
from ..xml_element import Element
from .build import Builder
from .document import Item, read_document
from .geodesics import find_sections
from .path_lengths import has_lengths, measure, scale_lengths
from .scaling import scale_document
from .upgrade import upgrade


def _built(name: str, element: Element) -> Builder:
    """The system that a document describes, to be measured."""
    builder = Builder(Item(name, element), name, False, (), Report(), muscles_act=False)
    builder.build()
    return builder


@named_arguments
def load_osim(
    path: str | os.PathLike[str],
    *,
    gravity: npt.ArrayLike | None = None,
    strict: bool = False,
    mesh_dirs: Sequence[str | os.PathLike[str]] = (),
    external_loads: str | os.PathLike[str] | None = None,
    scale_factors: Mapping[str, npt.ArrayLike] | None = None,
    mass: float | None = None,
    keep_masses: bool = False,
    muscles: Literal["act", "data"] = "act",
    wrapping: Literal["opensim", "geodesic"] = "opensim",
    as_opensim: bool = False,
) -> Model:
    """Build a multibody system from an OpenSim model file.

    Files of all versions from 1.6 on are read, and mean what they mean to OpenSim 4.6: the same coordinates, in the same order,
    with the same signs.

    Parameters
    ----------
    path : str or path-like
        The file, ``.osim``.
    gravity : (3,) array_like, optional
        In place of the file's; length/time^2.
    strict : bool, default: False
        Whether what is left out or approximated, such as a muscle or an element or property that is not known, or an inertia
        that no body can have, is an error rather than a line of the report.
    mesh_dirs : sequence of path-like
        Folders in which, and in whose folder ``Geometry``, meshes are looked for, after the model's own.
    external_loads : path-like, optional
        A file of external loads, whose forces act on the bodies that it names, as cubic splines of time through its data.
    scale_factors : mapping of str to number or (3,) array_like, optional
        Of bodies, by name, along their axes: the model is scaled so before it is built; see `biomechanics.scale`.
    mass : float, optional
        Of the whole model: all masses and inertias are multiplied by one factor.
    keep_masses : bool, default: False
        Whether scaled bodies keep their masses.
    muscles : {"act", "data"}
        Whether muscles act, as in OpenSim, or are data alone.
    wrapping : {"opensim", "geodesic"}
        How paths bend over wrap objects: by OpenSim's rules, whose lengths jump at times, or as taut lines, in geodesics; see
        Notes.
    as_opensim : bool, default: False
        Whether faults of OpenSim's muscles are repeated, for a laboratory that has to repeat old results; see Notes.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file is broken, or describes something that cannot be, with the path and the line first. Or *strict*, and
        something is left out.

    Notes
    -----
    Muscles act: `Model.muscles` has them by name, at no excitation until a state says otherwise; `Model.equilibrate_muscles`
    finds the lengths of their fibers. What the file says of them is in ``model.data["muscles"]``, and the ranges of their
    controls in ``model.data["control ranges"]``. Controllers that prescribe functions of time, and sets of controls, drive
    them; `Model.set_controls` does so, too. Other controllers, and probes, are left out. In `Model.default_state`, Ball and
    Free joints have angles for coordinates, as OpenSim's have; coordinates that are locked, prescribed or coupled are so.

    With *as_opensim* moving points of paths have OpenSim's rates and forces, which do not fit its lengths: beyond the range of
    their coordinate, where they stand still, the slope of their function goes on, all their forces act on the first of their
    three coordinates, and pieces of the path to points of the same body have no share in these. All
    `DeGrooteFregly2016Muscle` have the time constants of the first, as in a process of OpenSim's.
    `static_optimization` has an option of this name, too.

    Paths that are taut have an order of surfaces of their own: each wrap object belongs to the piece of the path that OpenSim
    bends over it most often, among the default pose and a few others, and to one side: that of its quadrant, or on which
    OpenSim's path first bent over it. Cylinders are endless, methods of ellipsoids do not matter. Lengths differ from
    OpenSim's where its rules are no shortest ways, on ellipsoids and tori above all.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib
    >>> model = mb.load_osim(pathlib.Path(mb.examples.__path__[0]) / "leg6dof9musc.osim")
    >>> len(model.muscles), len(model.bodies) > 5
    (9, True)
    """
    checks.flags("load_osim", strict=strict, keep_masses=keep_masses, as_opensim=as_opensim)
    name = os.fspath(path)
    element, version = read_document(name)
    if element.tag != "Model":
        tool = "; load the model that its <model_file> names" if element.tag.endswith("Tool") else ""
        raise ModelError(f"{name}:{element.line}: the document holds a <{element.tag}>, not a <Model>{tool}")
    report = Report(upgrade(element, version, name))
    if scale_factors is not None or mass is not None:
        factors = {
            body: np.array(np.broadcast_to(np.asarray(given, dtype=np.float64), (3,)))
            for body, given in (scale_factors or {}).items()
        }
        before = measure(_built(name, element)) if factors and has_lengths(element) else None
        report += scale_document(element, factors, mass=mass, keep_masses=keep_masses)
        if before is not None:
            scale_lengths(_built(name, element), before)
    document = Item(name, element)
    checks.among("muscles of load_osim", muscles, ("act", "data"))
    checks.among("wrapping of load_osim", wrapping, ("opensim", "geodesic"))
    sections = find_sections(_built(name, element)) if wrapping == "geodesic" else None
    builder = Builder(document, name, bool(strict), mesh_dirs, report, gravity, muscles == "act", sections, as_opensim)
    model = builder.build()
    model.data["source"], model.data["document"] = name, element
    report.finish(name, bool(strict))
    given = {"gravity": gravity, "mesh_dirs": mesh_dirs, "external_loads": external_loads, "as_opensim": as_opensim}
    model.data["read with"] = given
    _add_loads(model)
    return model


def _add_loads(model: Model) -> None:
    path = model.data["read with"]["external_loads"]
    if path is not None:
        from .external import add_external_loads

        model.data["external loads"] = [*model.data.get("external loads", []), *add_external_loads(model, path)]


def model_of_document(old: Model, document: Element, **settings: Any) -> Model:
    """A model of a document that was made from another model's, read with the same settings but for those given."""
    given, name, report = old.data["read with"] | settings, old.data["source"], Report()
    settings = {"as_opensim": given.get("as_opensim", False)} | {name: given[name] for name in ("mesh_dirs", "gravity")}
    builder = Builder(Item(name, document), name, False, report=report, **settings)
    model = builder.build()
    model.data["source"], model.data["document"], model.data["read with"] = name, document, given
    model.report[:0] = [line for line in old.report if line not in report]
    _add_loads(model)
    return model
