"""From the description of a mechanism to a model."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

from numpy.typing import ArrayLike

from ... import force
from ..mesh_files import MeshFinder
from ..model import Model
from ..parts import LinkMass, plural
from ..report import outside
from . import surfaces
from .acting import add_forces, put_inside
from .bodies import Bodies
from .description import NUM_Q, Mechanism
from .idle import find_idle
from .looks import Looks
from .masses import find_masses
from .mimicry import couple
from .options import Options
from .order import Branch, find_order
from .reading import RESISTANCE_LEFT_OUT

_KEEP = "weld_massless=False"


def build(mechanism: Mechanism, options: Options, gravity: ArrayLike) -> Model:
    """Make a system of a mechanism.

    Parameters
    ----------
    mechanism : Mechanism
        What a file says. Its report goes on in the model.
    options : Options
        What becomes of what acts at joints, of mimicry, of collision shapes.
    gravity : (3,) array_like
        Acceleration of free fall in Ground, length/time^2.

    Returns
    -------
    Model
        The system with the file's names. The reader adds what is the format's own, then calls ``model.report.finish``.

    Raises
    ------
    ModelError
        What the file describes cannot be, or is refused by ``strict``.

    Warns
    -----
    UserWarning
        Inertias that no body has, faults of the file, and joints that move no mass, which are welded: once each.
    """
    if options.collision:
        surfaces.check_meshes(options.collision_meshes)
        materials = surfaces.check_materials(options.collision_material, options.link_materials, mechanism.links)
    report, path = mechanism.report, mechanism.path
    order = find_order(mechanism)
    masses = find_masses(mechanism, order.branches, options.strict)
    if mechanism.faults:
        warnings.warn(f"{path}: {'; '.join(mechanism.faults)}", stacklevel=outside())
    welded = _weld_idle(mechanism, order.branches, masses, options.weld_massless)
    looks = Looks(MeshFinder(path, options.package_dirs))
    made = Bodies(mechanism, order, masses, welded, looks)
    looks.report(mechanism, options.strict)
    pull = force.Gravity(made.forces, made.matter, gravity)
    for link, mobod in [*made.of_link.items(), *made.shadows]:
        if not mechanism.links[link].gravity:
            pull.set_default_body_is_excluded(mobod, True)
    coordinates = list(made.axes.values())
    rotors = sum(one.joint.rotor_inertia > 0.0 and one.joint.kind != "universal" for one in coordinates)
    for joint in mechanism.joints.values():
        if joint.rotor_inertia > 0.0 and (joint.kind == "universal" or NUM_Q.get(joint.kind)):
            line = f"{joint.place}: the rotor of joint {joint.name!r} is left out: it has several coordinates"
            report.lose(line, RESISTANCE_LEFT_OUT)
    if rotors:
        report.append(f"rotors of {plural(rotors, 'joint', 'joints')}: in the mass matrix")
    model = Model(
        name=mechanism.name,
        system=made.system,
        matter=made.matter,
        forces=made.forces,
        gravity=pull,
        bodies=made.of_link,
        coordinates=made.coordinates,
        speeds=made.speeds,
        report=report,
        angles={one.name for one in coordinates if one.angular},
        constraints=made.constraints,
    )
    add_forces(model, mechanism, coordinates, options)
    if options.joint_limits:
        put_inside(mechanism, coordinates, made.constraints, options.mimic)
    couple(model, mechanism, made.axes, options)
    if options.collision:
        surfaces.add_surfaces(model, mechanism, order, welded, materials, options, looks.finder)
    return model


def _weld_idle(
    mechanism: Mechanism, branches: Sequence[Branch], masses: Mapping[str, LinkMass], weld_massless: bool
) -> set[str]:
    """Links to weld to what carries them, since they would move without moving any mass; none if these are kept."""
    report, links = mechanism.report, mechanism.links
    idle, light = find_idle(branches, masses, {name for name, link in links.items() if link.static})
    if not weld_massless:
        _report_kept(mechanism, [*light, *idle])
        return set()
    base = next((branch.link for branch in [*light, *idle] if branch.joint is None and branch.link == mechanism.root), None)
    if base is not None or light:
        name = base if base is not None else light[0].link
        what = "the base cannot float: the root link" if name == mechanism.root else "a link cannot move freely: link"
        raise mechanism.fail(
            links[name].place,
            f"{what} {name!r} has too little mass of its own: some of its motions move none; give it an <inertial>, "
            f"fix it to a link that has one, or keep it for kinematics alone ({_KEEP})",
        )
    joints = [branch.joint for branch in idle if branch.joint is not None]
    if joints:
        names = ", ".join(repr(joint.name) for joint in joints)
        remedy = f"give their links an <inertial>; {_KEEP} keeps them, for kinematics"
        warnings.warn(f"{mechanism.path}: joints that move no mass are welded: {names} ({remedy})", stacklevel=outside())
    free = [links[branch.link] for branch in idle if branch.joint is None]
    if free:
        names = ", ".join(repr(link.name) for link in free)
        warnings.warn(f"{mechanism.path}: free links without any mass are welded to Ground: {names}", stacklevel=outside())
    for branch in idle:
        if branch.joint is None:
            link = links[branch.link]
            report.depart(f"{link.place}: link {link.name!r} and what hangs on it have no mass; it is welded to Ground")
        else:
            report.depart(
                f"{branch.joint.place}: joint {branch.joint.name!r} moves no mass ({branch.link!r} and what hangs "
                f"on it do not resist it) and is welded; {_KEEP} keeps it, for kinematics"
            )
    return {branch.link for branch in idle}


def _report_kept(mechanism: Mechanism, branches: Sequence[Branch]) -> None:
    """Say which motions have no equation of motion."""
    for branch in branches:
        link = mechanism.links[branch.link]
        place, what = (
            (link.place, f"link {link.name!r} has too little mass to move freely")
            if branch.joint is None
            else (branch.joint.place, f"joint {branch.joint.name!r} moves no mass")
        )
        mechanism.report.append(f"{place}: {what}; kept, as was asked: positions and velocities, no accelerations")
