"""From a URDF file to a multibody system."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from ... import contact
from ...value import checks
from ...value.attributes import named_arguments
from ..mechanism import Options, build
from ..model import Model
from .describe import describe
from .reader import read_urdf


@named_arguments
def load_urdf(
    path: str | os.PathLike[str],
    *,
    floating_base: bool = False,
    gravity: ArrayLike = (0.0, 0.0, -9.81),
    strict: bool = False,
    package_dirs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] = (),
    joint_damping: bool = True,
    joint_limits: bool = True,
    joint_friction: bool | None = None,
    stop_stiffness: float | None = None,
    stop_dissipation: float = 1.0,
    mimic: bool = True,
    weld_massless: bool = True,
    collision: bool = False,
    collision_material: contact.Material | None = None,
    link_materials: Mapping[str, contact.Material] | None = None,
    collision_meshes: str = "hull",
    exclude_overlapping: bool = True,
) -> Model:
    """Build a multibody system from a URDF file.

    Every link becomes a body with its origin at the link's frame, named after the link; links are
    numbered depth first, in the order of the file.

    Parameters
    ----------
    path : str or path-like
        The file, plain URDF (of a xacro file, what `xacro` makes of it).
    floating_base : bool, default: False
        Whether the root link is free to move; it is welded to Ground otherwise.
    gravity : (3,) array_like, default: (0, 0, -9.81)
        Acceleration of free fall in Ground, length/time^2. URDF files have none.
    strict : bool, default: False
        Whether what is wrong with the file, and put up with otherwise, is an error: inertias that no body has, missing mesh
        files, an ``<inertial>`` without ``<mass>``, a mesh's scale of four numbers, blank lines before the XML declaration;
        and all else that is approximated or left out.
    package_dirs : path or sequence of paths, optional
        Folders in which ``package://NAME/...`` is looked for first, each the package's own or one that holds it. Then come the
        folders above the file, and those of the environment's ``ROS_PACKAGE_PATH`` and ``AMENT_PREFIX_PATH``.
    joint_damping : bool, default: True
        Whether joints with ``<dynamics damping="...">`` have a `force.MobilityLinearDamper`. Without it, and without stops,
        what moves is the bare mechanism, which gravity alone pulls at.
    joint_limits : bool, default: True
        Whether revolute and prismatic joints with limits have a `force.MobilityLinearStop`. One that zero is outside of is at
        its limit in `Model.default_state`; one whose two limits are the same is locked there.
    joint_friction : bool, optional
        Whether joints with ``<dynamics friction="...">`` have a `force.MobilityDryFriction`. Unless given they do not, and a
        warning says so.
    stop_stiffness : float, optional
        Of all stops, force*length/angle or force/length. Unless given, such that a stop gives way to the joint's greatest
        effort by 0.02 rad or 2 mm.
    stop_dissipation : float, default: 1
        Of all stops, see `force.MobilityLinearStop`; 1 loses most of the energy of an impact at a few rad/s.
    mimic : bool, default: True
        Whether joints that mimic others are coupled to them, each by a `constraint.CoordinateCoupler` that is
        named after it. Else all joints are independent, and mimicry is data.
    weld_massless : bool, default: True
        Whether joints that move no mass are welded. Else they are kept, for kinematics: positions, velocities and Jacobians
        are theirs, and realizing accelerations is an error until something that they move has inertia.
    collision : bool, default: False
        Whether links touch each other, and what else there is: their collision shapes (boxes, cylinders, spheres, meshes,
        and capsules, which are not of the format) become contact surfaces, and the system has a `CompliantContactSubsystem`,
        found in `Model.contacts`. Links that a joint connects do not touch, nor does what is fixed to these.
    collision_material : contact.Material, optional
        Of all surfaces; a rubber unless given, see `importer.mechanism.surfaces.MATERIAL`.
    link_materials : dict of str to contact.Material, optional
        Of some links' surfaces, by the name of the link.
    collision_meshes : {"hull", "mesh", "none"}
        What becomes of collision meshes: their convex hulls, the meshes themselves, or nothing.
    exclude_overlapping : bool, default: True
        Whether links whose surfaces overlap at the default pose are told not to touch; the report names them.

    Returns
    -------
    Model
        The system with the file's names, and a report on what was dropped or approximated.

    Raises
    ------
    OSError
        The file cannot be opened or read.
    ModelError
        The file is broken, or describes something that cannot be. The message starts with the path
        and the line. Or *link_materials* has a link, or *collision_meshes* a word, that is not known.
    TypeError
        If what should be a contact material is none.

    Warns
    -----
    UserWarning
        Joints that move no mass, such as those of massless leaves, have no equation of motion; they are welded unless
        *weld_massless* says otherwise. Inertias that no body has (a principal moment above the sum of the other two, by more
        than 1 %) are used as they are; one warning names all links that have them. One more names all other faults of the file.
    ModelWarning
        If the file says what moves the model and is not simulated: once, with counts and options.

    Notes
    -----
    Limits, damping and friction are in `Model.joints` as data too, transmissions in ``Model.data["transmissions"]``. What these
    say of rotors (``<drake:rotor_inertia>`` and ``<drake:gear_ratio>``, or ``<mechanicalReduction>``) is in the mass matrix: a
    joint with one actuator has its rotor's inertia times the square of the reduction.

    A link without mass is welded only if dynamics asks for it: inside a chain, as in a ball joint
    made of three hinges, it needs none. One with an inertia and no mass keeps it, counted with the link to which it is
    fixed; where it can move, a mass of a millionth of a millionth of its inertia stands for none.

    Meshes are drawn (STL, OBJ, DAE, VTP, and what trimesh reads), in the colours of the URDF file, or else their own.

    Examples
    --------
    >>> from importlib.resources import files
    >>> import mobod as mb
    >>> model = mb.load_urdf(files("mobod") / "examples" / "panda.urdf")
    >>> list(model.coordinates)[:2]
    ['panda_joint1', 'panda_joint2']
    >>> state = model.default_state()
    >>> state.upd_q()[model.coordinates["panda_joint4"]] = -2.0
    """
    options = Options.among("load_urdf", locals())
    checks.flags("load_urdf", floating_base=floating_base, collision=collision)
    document = read_urdf(path, collisions=bool(collision), strict=bool(strict))
    model = build(describe(document, bool(floating_base)), options, gravity)
    model.links, model.joints = document.links, document.joints
    model.root = next(iter(model.bodies))
    if document.transmissions:
        model.data["transmissions"] = document.transmissions
    model.report.finish(document.path, bool(strict))
    return model
