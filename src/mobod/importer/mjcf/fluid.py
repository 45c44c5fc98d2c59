"""Drag of the medium, where the file gives it a density or a viscosity: `force.BoxDrag` and `force.EllipsoidDrag`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import force
from ...algebra.arrays import Array
from ...value import Transform
from ..model import Model
from .bodies import Tree
from .source import Source, rotation_of

#: Below this a mass, or a box's side squared, counts as nothing: MuJoCo's mjMINVAL.
SMALLEST = 1e-15


def add_drag(source: Source, tree: Tree, model: Model) -> None:
    """Of every body with mass: by its geoms that ask for it, else by the box of its inertia."""
    m = source.m
    if not (m.opt.viscosity or m.opt.density):
        return
    fluid: dict[str, Any] = {"viscosity": float(m.opt.viscosity), "density": float(m.opt.density), "wind": np.array(m.opt.wind)}
    found: dict[str, Any] = {}
    coefficients = np.array(m.geom_fluid)
    for b in range(1, m.nbody):
        if m.body_mass[b] < SMALLEST or m.body_weldid[b] == 0:
            continue
        first, count = int(m.body_geomadr[b]), int(m.body_geomnum[b])
        geoms = [g for g in range(first, first + count) if coefficients[g, 0] > 0.0]
        for g in geoms:
            frame = Transform.trusted(rotation_of(m.geom_quat[g]), np.array(m.geom_pos[g]))
            _, blunt, slender, angular, kutta, magnus, *virtual = coefficients[g].tolist()
            own = (blunt, slender, angular, kutta, magnus)
            name = f"{source.bodies[b]} drag of {source.geoms[g]}"
            found[name] = force.EllipsoidDrag(
                model.forces,
                tree.bodies[b],
                _semi_axes(source, g),
                frame,
                coefficients=own,
                virtual_masses=virtual[:3],
                virtual_inertias=virtual[3:],
                **fluid,
                name=name,
            )
        if not geoms:
            frame = Transform.trusted(rotation_of(m.body_iquat[b]), np.array(m.body_ipos[b]))
            name = f"{source.bodies[b]} drag"
            sides = _box(np.array(m.body_inertia[b]), float(m.body_mass[b]))
            found[name] = force.BoxDrag(model.forces, tree.bodies[b], sides, frame, **fluid, name=name)
    model.data["drag"] = found


def _box(moments: Array, mass: float) -> Array:
    """Sides of the box that has these moments of inertia."""
    others = moments.sum() - 2.0 * moments
    return np.asarray(np.sqrt(6.0 * np.maximum(others, SMALLEST) / mass))


def _semi_axes(source: Source, g: int) -> Array:
    m, kinds = source.m, source.mujoco.mjtGeom
    size, kind = np.array(m.geom_size[g]), int(m.geom_type[g])
    if kind == kinds.mjGEOM_SPHERE:
        return np.full(3, size[0])
    if kind == kinds.mjGEOM_CAPSULE:
        return np.array([size[0], size[0], size[0] + size[1]])
    if kind == kinds.mjGEOM_CYLINDER:
        return np.array([size[0], size[0], size[1]])
    return size
