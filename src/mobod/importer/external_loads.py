"""External loads: measured forces on bodies over time, such as those of force plates, from OpenSim's file and its data.

An element says which body a force acts on, and by the beginnings of labels (``ground_force_v`` for ``ground_force_vx``) which
columns of the data are the force, its point of application and a torque; force and point each in the axes of a body.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..algebra.arrays import Array
from ..errors import ModelError
from ..motion_data import Table, read_sto
from ..value.checks import among, not_negative, suggest, unit
from ..value.files import as_path
from .opensim_file import all_named, beside, first_named, flag_of, read_opensim_file
from .xml_element import Element

GROUND = "ground"


@dataclass(frozen=True, eq=False, kw_only=True)
class ExternalForce:
    """A measured force on a body.

    Attributes
    ----------
    name : str
    body : str
        Which it acts on.
    force, point, torque : (nt, 3) arrays or None
        At the times; what is not there is zero. The point of application unless given is the body's origin.
    time : (nt,) array
    force_in, point_in : str
        Bodies in whose axes force and torque are, and in whose frame the point; ``"ground"`` unless given.

    Examples
    --------
    >>> import numpy as np
    >>> import mobod as mb
    >>> push = mb.biomechanics.ExternalForce(name="push", body="foot", time=np.array([0.0, 1.0]), force=np.zeros((2, 3)))
    >>> push.force.shape
    (2, 3)
    """

    name: str
    body: str
    time: Array
    force: Array | None = None
    point: Array | None = None
    torque: Array | None = None
    force_in: str = GROUND
    point_in: str = GROUND


@dataclass(frozen=True, kw_only=True)
class Contact:
    """A constraint of contact between a body and Ground, which takes the place of a measured force on that body.

    Attributes
    ----------
    kind : {"rolling", "point", "weld"}
        The body rolls on a plane through the contact point, without slip in it or spin about its normal, as long as it presses
        on the plane and friction holds it; the point is held in all directions; or the whole body is.
    surface_normal : (3,) sequence
        Of the plane of rolling, in Ground.
    friction_coefficient : float
        Of rolling: forces in the plane above this part of the normal force let the body slip, and spin.
    contact_radius : float
        Of rolling: a torque about the normal above this times the greatest friction lets it spin; length.
    name : str
        That of the measured force unless given.
    body : str
        Which body it is meant for; that of the measured force unless given.

    Notes
    -----
    Names and defaults are those of OpenSim's RollingOnSurfaceConstraint, PointConstraint and WeldConstraint.

    Examples
    --------
    >>> import mobod as mb
    >>> mb.biomechanics.Contact(friction_coefficient=0.65).kind
    'rolling'
    """

    kind: str = "rolling"
    surface_normal: Sequence[float] = (0.0, 1.0, 0.0)
    friction_coefficient: float = 0.5
    contact_radius: float = 0.01
    name: str = ""
    body: str = ""

    def __post_init__(self) -> None:
        among("kind", self.kind, ("rolling", "point", "weld"))
        object.__setattr__(self, "surface_normal", tuple(unit("surface_normal", self.surface_normal).tolist()))
        not_negative("friction_coefficient", self.friction_coefficient, ValueError)
        not_negative("contact_radius", self.contact_radius, ValueError)


@dataclass(frozen=True, kw_only=True)
class Applied:
    """Columns of a table that are a force on a body.

    Parameters
    ----------
    body : str
        Which it acts on.
    force, point, torque : str
        What the labels of its columns begin with: ``"ground_force_v"`` for ``ground_force_vx``, ``ground_force_vy`` and
        ``ground_force_vz``, or the label of a column of vectors. Empty where there is none.
    force_in, point_in : str
        Bodies in whose axes force and torque are, and in whose frame the point.
    name : str

    Examples
    --------
    >>> import mobod as mb
    >>> left = mb.biomechanics.Applied(body="foot", force="force_v", point="force_p", torque="moment_")
    >>> left.body, left.force_in
    ('foot', 'ground')
    """

    body: str
    force: str = ""
    point: str = ""
    torque: str = ""
    force_in: str = GROUND
    point_in: str = GROUND
    name: str = ""


def external_forces(table: Table, applied: Sequence[Applied]) -> list[ExternalForce]:
    """The forces that columns of a table are."""
    found = []
    for one in applied:
        force, point, torque = (vector(table, start) if start else None for start in (one.force, one.point, one.torque))
        name = one.name or one.force or one.torque
        found.append(
            ExternalForce(
                name=name,
                body=one.body,
                time=table.time,
                force=force,
                point=point,
                torque=torque,
                force_in=one.force_in or GROUND,
                point_in=one.point_in or GROUND,
            )
        )
    return found


def vector(table: Table, start: str) -> Array:
    """Three columns whose labels begin so, or one of vectors; gaps are zero."""
    if start in table and table[start].shape[1:] == (3,):
        return _without_gaps(np.array(table[start]))
    for ends in (("x", "y", "z"), ("_x", "_y", "_z"), ("1", "2", "3"), ("_1", "_2", "_3")):
        labels = [start + end for end in ends]
        if all(label in table for label in labels):
            return _without_gaps(np.stack([table[label] for label in labels], axis=1))
    labels = [label for label in table.labels if label.startswith(start)]
    if len(labels) == 3 and all(table[label].ndim == 1 for label in labels):  # as OpenSim takes them, whatever they end in
        return _without_gaps(np.stack([table[label] for label in labels], axis=1))
    raise ValueError(f"the loads have no columns {start}x, {start}y and {start}z; {suggest(start + 'x', table.labels)}")


def _without_gaps(rows: Array) -> Array:
    gaps = np.isnan(rows)
    if gaps.any():
        rows[gaps] = 0.0
    return rows


def read_external_loads(path: str | os.PathLike[str], *, data: Table | None = None) -> list[ExternalForce]:
    """Read OpenSim's file of external loads, and the data that it names.

    Parameters
    ----------
    path : path
        Of the file with the element ``ExternalLoads``.
    data : Table, optional
        In place of the file that it names.

    Returns
    -------
    list of ExternalForce
        Those that apply.

    Raises
    ------
    ModelError
        If the file says something that cannot be, with file and line.
    ValueError
        If the data lacks columns, or cannot be read.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import numpy as np
    >>> import mobod as mb
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "loads.xml"
    >>> written = path.write_text(
    ...     "<OpenSimDocument><ExternalLoads><objects><ExternalForce name='right'>"
    ...     "<applied_to_body>calcn_r</applied_to_body><force_identifier>force_v</force_identifier>"
    ...     "<point_identifier>force_p</point_identifier></ExternalForce></objects></ExternalLoads></OpenSimDocument>"
    ... )
    >>> plate = mb.Table([0.0, 1.0], {f"force_{v}{axis}": np.ones(2) for v in "vp" for axis in "xyz"})
    >>> loads = mb.biomechanics.read_external_loads(path, data=plate)
    >>> loads[0].body
    'calcn_r'
    """
    path = as_path("path", path)
    root = read_opensim_file(path)
    loads = first_named(root, "ExternalLoads") if root.tag != "ExternalLoads" else root
    if loads is None:
        raise ModelError(f"{path}:{root.line}: there is no <ExternalLoads> in this file")
    if data is None:
        name = loads.text_of("datafile")
        if not name or name.lower() == "unassigned":
            raise ModelError(f"{path}:{loads.line}: the <ExternalLoads> name no <datafile>")
        data = read_sto(beside(path, name), degrees=False)  # whatever they are called, none are angles
    applied = []
    for element in all_named(loads, "ExternalForce"):
        if flag_of(element, "isDisabled") or not flag_of(element, "appliesForce", True):
            continue
        body = element.text_of("applied_to_body")
        if not body:
            raise ModelError(f"{path}:{element.line}: this <ExternalForce> names no <applied_to_body>")
        applied.append(
            Applied(
                body=_last(body),
                force=_identifier(element, "force_identifier"),
                point=_identifier(element, "point_identifier"),
                torque=_identifier(element, "torque_identifier"),
                force_in=_last(element.text_of("force_expressed_in_body") or GROUND),
                point_in=_last(element.text_of("point_expressed_in_body") or GROUND),
                name=element.attributes.get("name", ""),
            )
        )
    try:
        return external_forces(data, applied)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _identifier(element: Element, tag: str) -> str:
    text = element.text_of(tag)
    return "" if text.lower() in ("unassigned", "none", "") else text


def _last(name: str) -> str:
    """The name at the end of a path such as ``/bodyset/calcn_r``."""
    return name.rsplit("/", 1)[-1]
