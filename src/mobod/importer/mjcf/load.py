"""A system from an MJCF file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import contact, force
from ...force.subsystem import GeneralForceSubsystem
from ...system.matter import SimbodyMatterSubsystem
from ...system.system import MultibodySystem
from ...value import checks
from ..model import Model
from . import limits, options, passive
from .actuators import Actuators
from .bodies import Tree
from .compiled import compile_file
from .conversion import Conversion
from .custom import add_custom, report_looks
from .equality import add_constraints
from .geoms import add_decorations
from .keyframes import add_keyframes
from .sensors import add_sensors
from .sites import find_sites
from .source import plural
from .tendons import Tendons


def load_mjcf(
    path: str | os.PathLike[str],
    *,
    gravity: ArrayLike | None = None,
    strict: bool = False,
    joint_friction: bool = True,
    joint_limits: bool = True,
    stop_stiffness: float | None = None,
    stop_dissipation: float = 1.0,
    collision: bool | None = None,
    collision_material: contact.Material | None = None,
) -> Model:
    """Build a multibody system from an MJCF file, the format of MuJoCo.

    MuJoCo's own package parses and compiles the file, so that defaults, includes, attachments, replicas, frames and inertias
    from geoms are as MuJoCo has them: ``pip install mobod[mjcf]``.

    Parameters
    ----------
    path : str or path-like
        The file.
    gravity : (3,) array_like, optional
        In place of the file's; length/time^2.
    strict : bool, default: False
        Refuse a file that names files which cannot be found, has inertias that no body has, muscles and other actuators that
        are not simulated, or anything else that is approximated or left out. Otherwise balls stand for missing meshes, such
        inertias are kept as they are, such actuators are data, and the report says so.
    joint_friction : bool, default: True
        Whether dry friction (frictionloss) is simulated, by a `force.MobilityDryFriction` each, found in `Model.frictions`.
    joint_limits : bool, default: True
        Whether limits of joints and tendons are simulated, by compliant stops, found in `Model.stops`.
    stop_stiffness : float, optional
        Of all stops, force*length/angle or force/length. Unless given, that of MuJoCo's constraint: the square of the frequency
        of its solref, times the inertia that the limit feels at qpos0.
    stop_dissipation : float, default: 1
        Of all stops, tendons' too; see `force.MobilityLinearStop`. One over the speed of the coordinate, or of the tendon.
    collision : bool, optional
        Whether geoms become surfaces of contact, and the system has a `CompliantContactSubsystem`, found in `Model.contacts`.
        What may touch is as the file says: contype, conaffinity, exclusions and pairs. Unless given they do not, and a warning
        says so.
    collision_material : contact.Material, optional
        Of all surfaces; unless given a stiff one with each geom's sliding friction.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated. Sites are `Model.frames`. In
        `Model.data` there are further "mujoco", a `Conversion` of states to MuJoCo's numbers and back; "controls", which sets
        all controls at once; "tendons" and "sensors" by name; "gravity_compensation" and "drag"; "ranges" of limited joints;
        "options"; "custom" and "user", what the file holds for its user.

    Raises
    ------
    ImportError
        If MuJoCo's package is not installed.
    OSError
        The file cannot be opened.
    ModelError
        The file is malformed; the message starts with the path and the line, where MuJoCo says it. Or *strict* refuses it.

    Warns
    -----
    ModelWarning
        If the file says what moves the model and is not simulated: once, with counts and options.

    Notes
    -----
    q of hinges and slides are MuJoCo's qpos, their reference included, and `Model.default_state` is qpos0. A body with several
    joints is a chain of mobilizers on massless bodies. Equality constraints are hard, where MuJoCo's are soft. Elements that
    are left out are in the report.

    Examples
    --------
    >>> model = mb.load_mjcf("robot.xml")  # doctest: +SKIP
    >>> state = model.default_state()  # doctest: +SKIP
    >>> model.actuators["elbow"].set_control(state, 0.5)  # doctest: +SKIP
    """
    checks.flags("load_mjcf", strict=strict, joint_friction=joint_friction, joint_limits=joint_limits)
    if collision is not None:
        checks.flags("load_mjcf", collision=collision)
    stiffness = None if stop_stiffness is None else checks.not_negative("stop_stiffness", stop_stiffness)
    dissipation = checks.not_negative("stop_dissipation", stop_dissipation)
    source = compile_file(path, bool(strict))
    m = source.m
    system = MultibodySystem()
    matter = SimbodyMatterSubsystem(system)
    forces = GeneralForceSubsystem(system)
    pull = np.zeros(3) if source.disabled("GRAVITY") else np.array(m.opt.gravity)
    tree = Tree(source, matter)
    coordinates, speeds, angles = tree.name_coordinates()
    data: dict[str, Any] = {"options": options.kept(source)}
    model = Model(
        name=source.spec.modelname,
        system=system,
        matter=matter,
        forces=forces,
        gravity=force.Gravity(forces, matter, pull if gravity is None else gravity),
        bodies=dict(zip(source.bodies[1:], tree.bodies[1:], strict=True)),
        coordinates=coordinates,
        speeds=speeds,
        angles=angles,
        report=source.report,
        data=data,
    )
    sites = find_sites(source, tree)
    model.frames |= dict(zip(source.sites, sites, strict=True))
    add_decorations(source, tree)
    passive.add_joint_forces(source, tree, model)
    if not (source.disabled("SPRING") and source.disabled("DAMPER")):  # both off are all passive forces off
        passive.add_gravity_compensation(source, tree, model)
        passive.add_drag(source, tree, model)
    if joint_friction:
        limits.add_friction(source, tree, model)
    elif np.any(m.dof_frictionloss):
        source.note("frictionloss of joints: not simulated, as was asked")
    limits.add_stops(source, tree, model, bool(joint_limits), stiffness, dissipation)
    tendons = Tendons(source, tree, sites, model)
    tendons.add_forces(bool(joint_limits), stiffness, dissipation, bool(joint_friction))
    actuators = Actuators(source, tree, sites, tendons, model)
    data["mujoco"] = Conversion(model, tree.joints, actuators.activations, m.nq, m.nv)
    add_constraints(source, tree, sites, model)
    add_keyframes(source, tree, model)
    add_sensors(source, tree, sites, model)
    if collision:
        from .collision import add_surfaces

        add_surfaces(source, tree, model, collision_material)
    elif count := int(np.count_nonzero((m.geom_contype != 0) | (m.geom_conaffinity != 0))):
        drawn = f"{plural(count, 'geom')} of contact drawn only"
        if collision is None:
            which = "collision=True makes surfaces of them"
            source.lose(f"{drawn}: {which}", "geoms of contact, which touch nothing", count, which)
        else:
            source.note(f"{drawn}, as was asked")
    add_custom(source, model)
    report_looks(source)
    options.report(source)
    source.report.finish(source.path, bool(strict))
    return model
