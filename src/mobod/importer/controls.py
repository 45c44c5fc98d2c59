"""Controls over time, from OpenSim's files: which function drives which muscle or actuator.

A table (``.sto``) has a column an actuator, between whose rows controls are straight. A ``ControlSet`` (``.xml``) has controls
with nodes, straight between them and, unless it says otherwise, beyond; or in steps: a node's value holds from the node before
it on. It may have ranges too, whose ends are numbers, or have nodes as well.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import function
from ..algebra.arrays import Array
from ..errors import ModelError
from ..function import Function
from ..motion_data import Table, read_sto
from ..value import checks
from ..value.files import as_path
from .model import Model
from .opensim_file import all_named, first_named, flag_of, number_of, read_opensim_file
from .xml_element import Element

#: What labels of controls may end with.
_ENDS = (".excitation", ".control")
#: The range of a control in OpenSim of whose ends a file says one.
_USUAL = (0.02, 1.0)


@dataclass(kw_only=True)
class Controls:
    """The content of files of controls.

    Attributes
    ----------
    functions : dict of str to Function
        Of time, by the actuator's name.
    ranges : dict of str to (float, float)
        Where the file gives any.
    limits : dict of str to (Function, Function)
        Least and largest control over time, where the file has nodes of one of them.

    Examples
    --------
    >>> import mobod as mb
    >>> table = mb.Table([0.0, 1.0], {"soleus_r": [0.1, 0.5]})
    >>> controls = mb.biomechanics.read_controls(table)
    >>> round(controls.functions["soleus_r"].calc_value([0.5]), 12)
    0.3
    """

    functions: dict[str, Function] = field(default_factory=dict)
    ranges: dict[str, tuple[float, float]] = field(default_factory=dict)
    limits: dict[str, tuple[Function, Function]] = field(default_factory=dict)


def read_controls(source: Table | str | os.PathLike[str]) -> Controls:
    """Read a file of controls of OpenSim's, or a table.

    Parameters
    ----------
    source : path or Table
        A table over time (``.sto``, ``.mot``) with a column an actuator, or a ``ControlSet`` (``.xml``). Labels may be names,
        paths of components, or end with ``.excitation``.

    Returns
    -------
    Controls
        A function of time by the actuator's name, and ranges.

    Raises
    ------
    ModelError, ValueError
        If the file is broken, or a control has no nodes; with file and line.

    Examples
    --------
    >>> import mobod as mb
    >>> list(read_controls(mb.Table([0.0, 1.0], {"/forceset/soleus_r": [0.1, 0.5]})).functions)
    ['soleus_r']
    """
    if isinstance(source, Table):
        return _of_table(source)
    path = as_path("controls", source)
    return _of_table(read_sto(path)) if path.suffix.lower() != ".xml" else _of_xml(path)


def plain_name(label: str) -> str:
    """The actuator's name in a label of controls."""
    name = label.rpartition("/")[2]
    return next((name.removesuffix(end) for end in _ENDS if name.endswith(end)), name)


def _of_table(table: Table) -> Controls:
    found = Controls()
    for label in table.labels:
        column = np.asarray(table[label], float)
        if column.ndim != 1:
            raise ValueError(f"the column {label!r} of a table of controls is a number a time, not of shape {column.shape[1:]}")
        found.functions[plain_name(label)] = straight(table.time, column)
    return found


def straight(time: Array, values: Array) -> Function:
    """Straight between the rows, and constant beyond."""
    if len(time) == 1:
        return function.Constant(float(values[0]), 1)
    return function.GCVSpline(1, time, values)


def _of_xml(path: Any) -> Controls:
    root = read_opensim_file(path)
    held = root if root.tag == "ControlSet" else first_named(root, "ControlSet")
    if held is None:
        raise ModelError(f"{path}:{root.line}: this file holds no ControlSet")
    found = Controls()
    for one in all_named(held, "ControlConstant"):
        name = plain_name(one.attributes.get("name", ""))
        found.functions[name] = function.Constant(number_of(path, one, "value", 0.0), 1)
        _keep_range(path, one, name, found)
    for one in all_named(held, "ControlLinear"):
        name = plain_name(one.attributes.get("name", ""))
        _keep_range(path, one, name, found)
        driving = _of_nodes(path, one, "x_nodes")
        if driving is not None:  # files of ranges have controls without nodes
            found.functions[name] = driving
        ends = [_of_nodes(path, one, tag) for tag in ("min_nodes", "max_nodes")]
        if ends != [None, None]:
            constant = [function.Constant(value, 1) for value in found.ranges.get(name, _USUAL)]
            found.limits[name] = ends[0] or constant[0], ends[1] or constant[1]
    return found


def _of_nodes(path: Any, one: Element, tag: str) -> Function | None:
    """The function through one kind of nodes of a control; None where it has none."""
    nodes = first_named(one, tag)
    rows = [
        (number_of(path, node, "t", 0.0), number_of(path, node, "value", 0.0))
        for node in (all_named(nodes, "ControlLinearNode") if nodes is not None else ())
    ]
    if not rows:
        return None
    time, values = np.array(sorted(rows, key=lambda row: row[0])).T
    later = np.diff(time) > 0.0
    if not later.any():
        return function.Constant(float(values[-1]), 1)
    ends = np.r_[True, later] | np.r_[later, True]  # nodes at one time are a jump, from the first to the last of them
    time, values = time[ends], values[ends]
    time[:-1][np.diff(time) == 0.0] = np.nextafter(time[:-1][np.diff(time) == 0.0], -np.inf)
    if flag_of(one, "use_steps"):
        return function.PiecewiseConstant(np.array([time[0] - 1.0, *time[:-1]]), np.array([values[0], *values[1:]]))
    if flag_of(one, "extrapolate", True) and later[0] and later[-1]:
        return function.PiecewiseLinear(time, values)
    return straight(time, values)


def _keep_range(path: Any, one: Element, name: str, found: Controls) -> None:
    texts = [one.text_of(tag) for tag in ("default_min", "default_max")]
    low, high = number_of(path, one, "default_min", _USUAL[0]), number_of(path, one, "default_max", _USUAL[1])
    if any(texts) and low <= high:
        found.ranges[name] = low, high


def set_controls(model: Model, controls: Any) -> None:
    """See `Model.set_controls`."""
    from .osim.elements.driven import check_driven, drive

    if isinstance(controls, Mapping):
        made = Controls(functions={name: _function(name, value) for name, value in controls.items()})
    else:
        made = controls if isinstance(controls, Controls) else read_controls(controls)
    known = {**model.actuators, **model.muscles}
    for name in made.functions:
        if name not in known:
            raise ModelError(
                f"the controls drive {name!r}, and the model has no such actuator; {checks.suggest(name, [*known])}; "
                "mobod.biomechanics.add_forces, or --actuators, adds those of a file"
            )
    for name in made.functions:  # all of them first: what is refused changes nothing
        check_driven(f"controls of {name!r}", known[name])
    for name, one in made.functions.items():
        drive(f"controls of {name!r}", known[name], one)
    ranges = model.data.setdefault("control ranges", {})
    ranges.update({name: value for name, value in made.ranges.items() if name in known})
    kept = model.data.setdefault("controls", {})
    kept.update(made.functions)
    if isinstance(model.data.get("document"), Element):
        from .osim.keep_controls import keep_in_document

        model.report += keep_in_document(model.data["document"], kept)


def _function(name: str, value: Any) -> Function:
    kind: Any = Function
    if isinstance(value, kind):
        return value
    return function.Constant(checks.finite(f"the control of {name!r}", value), 1)
