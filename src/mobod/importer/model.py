"""A model that came from a file: the system, and what the file says besides."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..value.attributes import Sealed

if TYPE_CHECKING:
    from ..force import Gravity, MobilityLinearDamper, MobilityLinearStop
    from ..force.contact.subsystem import CompliantContactSubsystem
    from ..force.subsystem import GeneralForceSubsystem
    from ..mobilizer.base import MobilizedBody
    from ..state.state import State
    from ..system.matter import SimbodyMatterSubsystem
    from ..system.system import MultibodySystem
    from .urdf_document import Joint, Link


@dataclass(eq=False, kw_only=True)
class Model(Sealed):
    """A multibody system built from a file, with the file's names.

    Attributes
    ----------
    name : str
        The robot's name.
    system : MultibodySystem
    matter : SimbodyMatterSubsystem
    forces : GeneralForceSubsystem
    gravity : force.Gravity
        The one force in the system, unless damping or limits are asked for; more can be added.
    bodies : dict of str to MobilizedBody
        By the name of the link; each body's origin is the link's frame.
    coordinates, speeds : dict of str to int
        Where in `State.q` and `State.u` each coordinate and each speed is, in that order. They are
        named after the joint, `name[i]` where it has several: (angle, x, y) for a planar joint; for
        a floating one and for a floating base, which is named after the root link, a quaternion (w,
        x, y, z) and a position, and an angular and a linear velocity.
    links, joints : dict of str to Link, Joint
        What the file says of each, as data: shapes to draw; limits, damping and friction, of which only
        `dampers` and `stops` are simulated; mimicry, which is, unless `load_urdf` was told otherwise.
    root : str
        Name of the root link.
    report : list of str
        What was dropped or approximated, a sentence each.
    dampers, stops : dict of str to force.MobilityLinearDamper, force.MobilityLinearStop
        By the name of the joint, where they were asked for.
    contacts : CompliantContactSubsystem or None
        What finds and applies the forces of collision shapes, where they were asked for.
    """

    name: str
    system: MultibodySystem
    matter: SimbodyMatterSubsystem
    forces: GeneralForceSubsystem
    gravity: Gravity
    bodies: dict[str, MobilizedBody]
    coordinates: dict[str, int]
    speeds: dict[str, int]
    links: dict[str, Link]
    joints: dict[str, Joint]
    root: str
    report: list[str]
    dampers: dict[str, MobilityLinearDamper] = field(default_factory=dict)
    stops: dict[str, MobilityLinearStop] = field(default_factory=dict)
    contacts: CompliantContactSubsystem | None = None

    def default_state(self) -> State:
        """Return a new state with all coordinates and speeds at zero (quaternions at no rotation).

        Joints that mimic others are where these say, which an offset makes different from zero.

        Returns
        -------
        State
            Realized through `Stage.MODEL`.
        """
        return self.system.realize_topology()

    def __repr__(self) -> str:
        """Name, and how much there is of it."""
        return (
            f"<Model {self.name!r}: {len(self.bodies)} bodies, {len(self.coordinates)} coordinates, {len(self.speeds)} speeds>"
        )
