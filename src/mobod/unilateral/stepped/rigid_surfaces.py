"""RigidSurfaces: surfaces that touch without giving way, for `integrator.TimeStepping`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...algebra.scalar import load_lane
from ...compiling import generic
from ...contact.access import DEPTH, Pair
from ...errors import ModelError
from ...force.contact.element import ContactElement
from ...force.contact.fields import Placed
from ...force.contact.law import STRIBECK, TABLE, add_up, frictions, law, respond
from ...force.contact.may_touch import placed_surfaces
from ...force.contact.resistance import RATE
from ...force.subsystem import GeneralForceSubsystem

if TYPE_CHECKING:
    from ...value.annotations import MultibodySystem


@generic
def _tell(model: Any, pair: Pair, asked: Any) -> None:
    count, lane = asked[1], pair[2]
    mu = frictions(model, pair[0], pair[1], lane)
    for row in range(count):
        x = load_lane(model.contact_point, row, DEPTH, lane)
        respond(model, pair, asked, row, x, 0.5, 0.0 * x, 0.0 * x, 0.0 * x, mu, STRIBECK)
    add_up(model, pair, count)


@law
def without_force(model: Any, pair: Pair, asked: Any) -> int:
    """The law of rigid surfaces: no force by the state; what touches can be asked for."""
    if asked[2] == TABLE:
        _tell(model, pair, asked)
    return asked[1]


class RigidSurfaces(GeneralForceSubsystem):
    """Surfaces that touch rigidly, found by the narrow phase; `mb.contact.rigid` makes it.

    Parameters
    ----------
    system : MultibodySystem
    may_touch : callable
        ``may_touch(a, b)`` of two surfaces.
    restitution, capture_speed, transition_velocity : float
    """

    INNER = frozenset({"element"})

    def __init__(
        self,
        system: MultibodySystem,
        may_touch: Callable[[Placed, Placed], bool],
        restitution: float,
        capture_speed: float,
        transition_velocity: float,
    ) -> None:
        super().__init__(system)
        numbers = [transition_velocity, 0.0, RATE, restitution, capture_speed]
        self.element = ContactElement(self, without_force, numbers, self._surfaces, may_touch, name="rigid contact")

    def _surfaces(self) -> list[Placed]:
        return placed_surfaces(self.get_system().get_matter_subsystem().body_list)


def refuse_stepped(system: MultibodySystem) -> None:
    """Raise `ModelError` if some rigid surfaces can only be stepped."""
    for forces in system.force_subsystems:
        if isinstance(forces, RigidSurfaces):
            shapes = sorted({type(one.surface.geometry).__name__ for one in forces.element.surfaces})
            raise ModelError(
                f"contact.rigid has left surfaces of this system (shapes: {', '.join(shapes)}) to "
                "integrator.TimeStepping(system, fixed_step_size=h), as there are no events for pairs of them; take that, or a "
                "CompliantContactSubsystem in place of contact.rigid"
            )
