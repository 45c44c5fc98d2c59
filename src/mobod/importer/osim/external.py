"""Measured forces on a model: what a file of external loads says becomes forces that are functions of time."""

from __future__ import annotations

import os

import numpy as np

from ... import function
from ...algebra.arrays import Array
from ...errors import ModelError
from ...function import Function
from ...mobilizer.base import MobilizedBody
from ...value import Transform
from ...value.checks import suggest
from ..external_loads import ExternalForce, read_external_loads
from ..model import Model
from .coordinates import free_name
from .elements.pushes import PrescribedForce


def add_external_loads(model: Model, path: str | os.PathLike[str]) -> list[PrescribedForce]:
    """Add the forces of a file of external loads to a model, before its topology.

    Parameters
    ----------
    model : Model
        What they act on.
    path : path
        Of the file with the element ``ExternalLoads``, which names the file of data.

    Returns
    -------
    list of PrescribedForce
        Each a cubic spline through the data, and a straight line beyond.

    Raises
    ------
    ModelError
        A force acts on a body, or is in the axes of one, that is not there.
    """
    return [_add(model, one, os.fspath(path)) for one in read_external_loads(path)]


def _add(model: Model, load: ExternalForce, path: str) -> PrescribedForce:
    body = _body(model, load, load.body, path)
    force_in = _body(model, load, load.force_in, path), Transform()
    point_in = (body if load.point is None else _body(model, load, load.point_in, path)), Transform()
    functions = [one for values in (load.force, load.point, load.torque) for one in _functions(load.time, values)]
    name = free_name(load.name, {one.name for one in model.forces.elements})
    given = load.force is not None, load.force is not None and load.point is not None, load.torque is not None
    return PrescribedForce(model.forces, body, functions, force_in, point_in, given=given, name=name)


def _body(model: Model, load: ExternalForce, name: str, path: str) -> MobilizedBody:
    body = model.bodies.get(name)
    if body is None:
        near = suggest(name, list(model.bodies))
        raise ModelError(f"{path}: the external force {load.name!r} names the body {name!r}, and there is none; {near}")
    return body


def _functions(time: Array, values: Array | None) -> list[Function]:
    if values is None or not np.any(values):
        return [function.Constant(0.0, 1)] * 3
    columns = [np.ascontiguousarray(column) for column in values.T]
    if len(time) == 1:
        return [function.Constant(float(column[0]), 1) for column in columns]
    if len(time) < 4:
        return [function.PiecewiseLinear(time, column) for column in columns]
    return [function.GCVSpline(3, time, column) for column in columns]
