"""Forces of joints and of gravity compensation by themselves: MuJoCo's passive forces, but those of tendons.

| of a joint | becomes |
| --- | --- |
| stiffness of a hinge or slide | `force.MobilityLinearSpring` |
| stiffness of a ball | `force.MobilityOrientationSpring` |
| stiffness of a free joint | likewise, and three `force.TransmissionSpring` of its place |
| damping | `force.MobilityLinearDamper` of each speed |
| terms of higher powers | `force.TransmissionSpring`; of a free joint's place left out, and reported |

Where the file gives the medium a density or a viscosity, its drag is `force.BoxDrag` and `force.EllipsoidDrag`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import force
from ...algebra.arrays import Array
from ...force import transmission
from ...value import Transform
from ..model import Model
from .bodies import BALL, FREE, Joint, Tree
from .source import Source, plural, rotation_of

#: Below this a mass, or a box's side squared, counts as nothing: MuJoCo's mjMINVAL.
SMALLEST = 1e-15


def add_drag(source: Source, tree: Tree, model: Model) -> None:
    """Drag of the medium on every body with mass: by its geoms that ask for it, else by the box of its inertia."""
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


_AXES = np.eye(3)


def add_joint_forces(source: Source, tree: Tree, model: Model) -> None:
    """Springs, dampers and armature of all joints."""
    m = source.m
    springs, dampers = not source.disabled("SPRING"), not source.disabled("DAMPER")
    stiffness, k_poly = m.jnt_stiffness.tolist(), np.array(m.jnt_stiffnesspoly)
    damping, d_poly = m.dof_damping.tolist(), np.array(m.dof_dampingpoly)
    armature = m.dof_armature.tolist()
    shared = m.jnt_actuatorid.tolist()
    for j, joint in enumerate(tree.joints):
        i = joint.dof
        d, dp, a = damping[i], d_poly[i], armature[i]
        if shared[j] != -1:
            d += float(source.inherited("damping", "joint", j))
            dp = dp + source.inherited("dampingpoly", "joint", j)
            a += float(source.inherited("armature", "joint", j))
        if a:
            joint.mobod.set_default_rotor_inertia(np.full(joint.mobod.facts.num_u, a) if joint.kind in (FREE, BALL) else a)
        if springs and (stiffness[j] or k_poly[j].any()):
            _add_spring(source, model, joint, stiffness[j], k_poly[j])
        if dampers and (d or dp.any()):
            _add_damper(model, joint, d, dp)


def _add_spring(source: Source, model: Model, joint: Joint, k: float, poly: Any) -> None:
    forces, mobod, rest = model.forces, joint.mobod, source.m.qpos_spring[joint.qpos :]
    name = f"{joint.name} spring"
    if joint.kind not in (FREE, BALL):
        at = float(rest[0])
        if poly.any() or k < 0.0:
            own = transmission.Coordinates(forces, [(mobod, 0, 1.0)])
            spring: Any = force.TransmissionSpring(
                forces, own, stiffness=k, rest_range=(at, at), higher_stiffness=poly, name=name
            )
        else:
            spring = force.MobilityLinearSpring(forces, mobod, 0, k, at, name=name)
        model.springs[joint.name] = spring
        return
    shift = 3 if joint.kind == FREE else 0
    model.springs[joint.name] = force.MobilityOrientationSpring(
        forces,
        mobod,
        k,
        rotation_of(rest[shift : shift + 4]),
        quadratic_stiffness=float(poly[0]),
        cubic_stiffness=float(poly[1]),
        name=name,
    )
    if joint.kind != FREE:
        return
    if poly.any():
        source.depart(
            f"joint {joint.name!r}: the higher terms of its stiffness are left out of the spring that holds its place"
        )
    parent, M = mobod.get_parent_mobilized_body(), mobod.get_default_outboard_frame()
    for k_axis, axis in enumerate(_AXES):
        along = transmission.RelativePose(forces, mobod, parent, M, translation=axis)
        own_name, at = f"{joint.name}[{3 + k_axis}]", float(rest[k_axis])
        model.springs[own_name] = force.TransmissionSpring(
            forces, along, stiffness=k, rest_range=(at, at), name=f"{own_name} spring"
        )


def _add_damper(model: Model, joint: Joint, d: float, poly: Any) -> None:
    forces, mobod = model.forces, joint.mobod
    n = mobod.facts.num_u
    for which in range(n):
        own = joint.name if n == 1 else f"{joint.name}[{which}]"
        if not poly.any() and d >= 0.0:
            model.dampers[own] = force.MobilityLinearDamper(forces, mobod, which, d, name=f"{own} damper")
            continue
        axis = _AXES[which % 3]
        through: transmission.Transmission
        if n == 1:
            through = transmission.Coordinates(forces, [(mobod, 0, 1.0)])
        elif which < 3:  # of the angular velocity in the body
            M, F = mobod.get_default_outboard_frame(), mobod.get_default_inboard_frame()
            through = transmission.RelativePose(
                forces, mobod, mobod.get_parent_mobilized_body(), M, F, rotation=axis, rotation_in_frame=True
            )
        else:
            through = transmission.BodyWrench(forces, mobod, force=axis, force_in_ground=True)
        model.dampers[own] = force.TransmissionSpring(
            forces, through, damping=d, higher_damping=poly, rest_range=(-np.inf, np.inf), name=f"{own} damper"
        )


def add_gravity_compensation(source: Source, tree: Tree, model: Model) -> None:
    """One element for all bodies that say so; none where no body rises by it, as MuJoCo has it."""
    m = source.m
    chosen = np.flatnonzero(np.array(m.body_gravcomp)).tolist()
    pull = model.gravity.get_default_gravity_vector()
    if not m.ngravcomp or not np.any(pull):
        return
    fractions = {tree.bodies[b]: float(m.body_gravcomp[b]) for b in chosen if b > 0}
    model.data["gravity_compensation"] = force.GravityCompensation(model.forces, fractions, pull, name="gravity compensation")
    count = int(np.count_nonzero(m.jnt_actgravcomp))
    if count:
        source.depart(
            f"actuatorgravcomp of {plural(count, 'joint')}: gravity compensation acts beside the actuators, outside of "
            "their limits"
        )
