"""From an SDF file to a multibody system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from ... import contact
from ...value.attributes import named_arguments
from ..mechanism import Options, build
from ..model import Model
from ..parts import plural
from .describe import Description
from .reader import read_sdf

#: The format's own, where a world says nothing.
_GRAVITY = (0.0, 0.0, -9.8)


@named_arguments
def load_sdf(
    path: str | os.PathLike[str],
    *,
    strict: bool = False,
    gravity: ArrayLike | None = None,
    package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    joint_damping: bool = True,
    joint_limits: bool = True,
    joint_friction: bool | None = None,
    stop_stiffness: float | None = None,
    stop_dissipation: float | None = None,
    mimic: bool = True,
    weld_massless: bool = True,
    collision: bool | None = None,
    collision_material: contact.Material | None = None,
    link_materials: Mapping[str, contact.Material] | None = None,
    collision_meshes: str = "hull",
    exclude_overlapping: bool = True,
) -> Model:
    """Build a multibody system from an SDF file: a model, or a world with all models in it.

    Every link becomes a body with its origin at the link frame. Names of nested models' parts, and of models in a world, are
    ``model::link``, ``model::joint``.

    Parameters
    ----------
    path : str or path-like
        The file, of SDFormat 1.0 to 1.12.
    strict : bool, default: False
        Whether what is wrong with the file, and put up with otherwise, is an error: inertias that no body has, included models
        and meshes that are not there, and all else that is approximated or left out.
    gravity : (3,) array_like, optional
        Acceleration of free fall in Ground, length/time^2. Unless given, the world's, or (0, 0, -9.8), the format's default.
    package_dirs : path or sequence of paths, optional
        Folders in which ``model://NAME/...`` and ``package://NAME/...`` are looked for first. Then come the folders above the
        file, and those of the environment's ``GZ_SIM_RESOURCE_PATH``, ``GAZEBO_MODEL_PATH``, ``SDF_PATH`` and ROS's.
    joint_damping : bool, default: True
        Whether axes with ``<damping>`` have a `force.MobilityLinearDamper`. Springs (``<spring_stiffness>``) always act.
    joint_limits : bool, default: True
        Whether axes with limits have a `force.MobilityLinearStop`. One that zero is outside of starts at its limit, and one
        whose two limits are the same is locked there.
    joint_friction : bool, optional
        Whether axes with ``<friction>`` have a `force.MobilityDryFriction`. Unless given they do not, and a warning says so.
    stop_stiffness, stop_dissipation : float, optional
        Of all stops. Unless given, those of the file's ``<limit>``, or such that a stop gives way to the joint's greatest
        effort by 0.02 rad or 2 mm, with a dissipation of 1.
    mimic : bool, default: True
        Whether axes that mimic others are coupled to them, each by a `constraint.CoordinateCoupler` that is named after its
        coordinate; ``"mimic of NAME"`` where the joint closes a loop, as the weld that does so has that name.
    weld_massless : bool, default: True
        Whether joints that move no mass are welded, see `load_urdf`.
    collision : bool, optional
        Whether links touch each other: collision shapes become surfaces of contact, see `load_urdf`, which has these too.
        Unless given they do not, and a warning says so.
    collision_material, link_materials, collision_meshes, exclude_overlapping
        See `load_urdf`. Links of one model touch each other only if its ``<self_collide>`` says so, those that a joint connects
        not even then.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated, with lines.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        A file is broken, or describes something that cannot be. The message starts with the file and the line.

    Warns
    -----
    UserWarning
        Inertias that no body has, and what else is wrong with the file and was put up with; joints that move no mass, which are
        welded.

    Notes
    -----
    Links of static models are welded to Ground. Links that no joint connects to the world are free: their coordinates are named
    after the link, a quaternion and a position, and start at the link's pose in the file. A ball joint has a quaternion. Frames
    of the file are in `Model.frames`, collision shapes in ``Model.data["collisions"]``, what joints say in
    ``Model.data["joints"]``.

    Where a joint closes a loop, a part of the link that it carries is a body of its own, ``link (joint)``.

    Examples
    --------
    >>> import mobod as mb
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "one.sdf"
    >>> text = "<sdf version='1.7'><model name='one'><link name='box'><inertial><mass>2</mass></inertial></link></model></sdf>"
    >>> number = path.write_text(text)
    >>> model = mb.load_sdf(path)
    >>> list(model.bodies)
    ['box']
    """
    options = Options.among("load_sdf", locals())
    document = read_sdf(path, package_dirs=options.package_dirs, collisions=bool(collision), strict=bool(strict))
    description = Description(document)
    own = document.top.gravity
    model = build(description.mechanism, options, gravity if gravity is not None else _GRAVITY if own is None else own)
    model.frames.update(description.find_frames(model.matter, model.bodies))
    model.data.update(description.find_data())
    count = sum(len(link.collisions) for link in description.mechanism.links.values())
    if count and not collision:
        what = plural(count, "collision shape", "collision shapes")
        if collision is None:
            which = "collision=True makes surfaces of them"
            document.report.lose(f"{what}: kept as data; {which}", "collision shapes, which touch nothing", count, which)
        else:
            document.report.append(f"{what}: kept as data, as was asked")
    document.report.finish(document.path, bool(strict))
    return model
