"""CompliantContactSubsystem: finds the surfaces that touch, and applies their forces."""

from __future__ import annotations

import warnings
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...algebra.arrays import Array
from ...contact import access
from ...contact.access import SUMS
from ...contact.shape import TRIANGLE_MESH
from ...contact.surface import surface_velocity
from ...errors import ModelError
from ...value import checks
from ...value.stage import Stage
from ..subsystem import GeneralForceSubsystem
from .element import ContactElement, tabulate
from .fields import Placed
from .force_plate import ForcePlate
from .law import compliant, sticking
from .may_touch import MayTouch, parents_of, placed_surfaces
from .resistance import RATE

if TYPE_CHECKING:
    from ...mobilizer.base import MobilizedBody
    from ...state.state import State
    from ...value.annotations import MultibodySystem


def _row(numbers: tuple[str, ...], vectors: tuple[str, ...]) -> np.dtype[Any]:
    """The type of a row with these numbers and vectors besides those of every contact."""
    fields: list[Any] = [(name, np.int64) for name in ("surface1", "surface2", "body1", "body2", "id", *numbers)]
    fields += [(name, np.float64, (3,)) for name in ("point", "normal")]
    fields += [(name, np.float64) for name in ("depth", "depth_rate")]
    fields += [(name, np.float64, (3,)) for name in ("slip", "force", *vectors)]
    return np.dtype([*fields, *((name, np.float64) for name in ("potential_energy", "power_dissipation"))])


#: A row of `get_contacts`, and of `get_contact_points`.
CONTACT, CONTACT_POINT = _row((), ("moment",)), _row(("feature",), ())


class CompliantContactSubsystem(GeneralForceSubsystem, ForcePlate):
    """Finds which surfaces of bodies touch, and applies the forces of materials that give way.

    A body carries surfaces, ``body.add_contact_surface(surface, X_BS)``; a system has one such subsystem for all of them. Two
    surfaces on one body, on a body and its parent (unless that is Ground), of one clique or of two bodies that are
    excluded do not touch.

    Parameters
    ----------
    system : MultibodySystem
        The system to join.
    transition_velocity : float
        The slip speed at which friction is largest, above zero; length/time.
    transition_rate : float
        The angular velocity from which on rolling and spinning resistance are largest, above zero; 1/time.
    friction : {"stribeck", "bristle"}
        The law of friction. That of Stribeck is a function of the slip speed, which creeps where it should stick; bristles
        stick, and remember at the ends of steps how far they are bent: `force.contact.bristle` says how, and of what order of
        accuracy that is.
    max_bristles : int, optional
        How many points of contact can be remembered at once; by default 16 a surface, at least 64. More are an error.

    bristle_relaxation : float
        The time in which a bent bristle straightens at most, above zero: the larger, the better vibration of what sticks is
        damped, and the shorter the steps where little mass is pressed on hard.

    Raises
    ------
    TypeError, ModelError
        If the transition velocity or the relaxation is no number above zero; if *friction* is no law's name, or *max_bristles*
        below 1; if the system has one.

    Examples
    --------
    >>> import mobod as mb
    >>> system = mb.MultibodySystem()
    >>> matter = mb.SimbodyMatterSubsystem(system)
    >>> forces = mb.GeneralForceSubsystem(system)
    >>> gravity = mb.force.Gravity(forces, matter, (0, 0, -9.81))
    >>> contacts = mb.CompliantContactSubsystem(system)
    >>> rubber = mb.contact.Material(stiffness=1e5, dissipation=0.5, static_friction=0.9)
    >>> _ = matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    >>> ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    >>> _ = ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
    >>> state = system.realize_topology()
    >>> ball.set_q_to_fit_translation(state, (0, 0, 0.099))
    >>> system.realize(state, mb.Stage.VELOCITY)
    >>> contacts.get_contacts(state)["depth"]
    array([0.001])
    """

    INNER = frozenset({"element", "rules"})

    def __init__(
        self,
        system: MultibodySystem,
        *,
        transition_velocity: float = 0.01,
        transition_rate: float = RATE,
        friction: str = "stribeck",
        max_bristles: int | None = None,
        bristle_relaxation: float = 1e-3,
    ) -> None:
        speed = checks.positive("transition_velocity", transition_velocity)
        checks.among("friction", friction, ("stribeck", "bristle"), ModelError)
        rate = checks.positive("transition_rate", transition_rate)
        time = checks.positive("bristle_relaxation", bristle_relaxation)
        rows = None if max_bristles is None else checks.integer("max_bristles", max_bristles, 1)
        for other in getattr(system, "force_subsystems", ()):
            if isinstance(other, CompliantContactSubsystem):
                raise ModelError("the system has a CompliantContactSubsystem; of two, each would press on all surfaces")
        super().__init__(system)
        self._adjacent_touch = False
        self._excluded: set[tuple[int, int]] = set()
        self._parents: list[int] = []
        law = compliant if friction == "stribeck" else sticking
        self.element = ContactElement(
            self, law, [speed, time, rate], self._surfaces_of_topology, self._may_touch, check=_needs_a_layer, name="contact"
        )
        self.element.bristle_rows = rows if friction == "bristle" else 0

    # ------------------------------------------------------------------------------------------ which pairs

    def set_adjacent_bodies_touch(self, touch: bool) -> None:
        """Set whether a body and its parent can touch; not unless set. A topological change.

        Raises
        ------
        ModelError
            After `contact.rigid`, which goes by it.
        """
        self._refuse_after_rigid("set_adjacent_bodies_touch")
        self._adjacent_touch = checks.flag("touch", touch)
        self.invalidate_topology()

    def exclude(self, body1: MobilizedBody, body2: MobilizedBody) -> None:
        """Say that two bodies do not touch. A topological change.

        Raises
        ------
        TypeError, TopologyError
            If one is no body of the system's.
        ModelError
            After `contact.rigid`, which goes by it.
        """
        self._refuse_after_rigid("exclude")
        matter = self.get_system().get_matter_subsystem()
        a, b = (int(matter.find_body(body).index) for body in (body1, body2))
        self._excluded.add((min(a, b), max(a, b)))
        self.invalidate_topology()

    @property
    def surfaces(self) -> tuple[Placed, ...]:
        """All surfaces, body by body, each with its body's index, X_BS and its name: what the rows of `get_contacts` number."""
        return tuple(self._find_surfaces())

    def _find_surfaces(self) -> list[Placed]:
        bodies = self.get_system().get_matter_subsystem().body_list
        self._parents = parents_of(bodies)
        return placed_surfaces(bodies)

    def _surfaces_of_topology(self) -> list[Placed]:
        """The same, with a warning where some are rigid."""
        placed, rigid = self._find_surfaces(), self._rigid_pairs()
        if rigid:
            may_touch = MayTouch(self._parents, self._excluded, self._adjacent_touch)
            both = [(a, b) for a, b in combinations(placed, 2) if may_touch(a, b) and {a.identity, b.identity} in rigid]
            if both:
                a, b = both[0]
                more = f", and {len(both) - 1} pairs more," if len(both) > 1 else ""
                warnings.warn(
                    f"contact.rigid has made {a.name!r} and {b.name!r}{more} rigid: the CompliantContactSubsystem applies no "
                    "forces between them",
                    stacklevel=2,
                )
        return placed

    def _rigid_pairs(self) -> set[frozenset[tuple[int, int]]]:
        return self.get_system().get_matter_subsystem().rigid_pairs

    def _refuse_after_rigid(self, asked: str) -> None:
        if self._rigid_pairs():
            raise ModelError(f"{asked}: contact.rigid has made contacts by what it was told before; call {asked} before it")

    def rules(self) -> MayTouch:
        """The rules by which surfaces may touch."""
        self._parents = parents_of(self.get_system().get_matter_subsystem().body_list)
        return MayTouch(self._parents, self._excluded, self._adjacent_touch)

    def _may_touch(self, a: Placed, b: Placed) -> bool:
        if frozenset((a.identity, b.identity)) in self._rigid_pairs():
            return False
        return MayTouch(self._parents, self._excluded, self._adjacent_touch)(a, b)

    # ------------------------------------------------------------------------------------------ results

    def get_num_contacts(self, state: State) -> int:
        """Number of pairs of surfaces that touch. Needs POSITION."""
        return len(self._tables(state, "get_num_contacts", Stage.POSITION)[0])

    def get_contacts(self, state: State) -> npt.NDArray[Any]:
        """Contacts, a row each two surfaces, in Ground. Needs VELOCITY.

        Returns
        -------
        structured array
            ``surface1 < surface2``, places in `surfaces`; ``body1, body2``; ``id``, which two surfaces keep while they touch;
            ``point`` (3), the center of pressure; ``normal`` (3), from 1 to 2; ``depth``, the greatest of its points, and
            ``depth_rate``, above zero while the depth grows; ``slip`` (3), the tangential velocity of 2 from 1; ``force`` (3)
            and ``moment`` (3) about the point, on body 2; ``potential_energy``; ``power_dissipation``, what becomes heat.
        """
        table = self._tables(state, "get_contacts", Stage.VELOCITY)[0]
        if not len(table):
            return np.zeros(0, CONTACT)
        rows = self._identified(table, CONTACT)
        sign = np.where(table[:, 0] > table[:, 1], -1.0, 1.0)[:, None]
        sums = table[:, 3:]
        for name, column in SUMS.items():
            width = 3 if CONTACT[name].shape else 1
            rows[name] = sums[:, column : column + 3] if width == 3 else sums[:, column]
        rows["moment"] -= np.cross(rows["point"], rows["force"])
        for name in ("force", "moment", "normal", "slip"):
            rows[name] *= sign
        return rows

    def get_contact_points(self, state: State) -> npt.NDArray[Any]:
        """The points at which surfaces touch, of a mesh one each face, in Ground. Needs VELOCITY.

        Returns
        -------
        structured array
            As of `get_contacts`, without moments, with ``feature``: a number that a corner, a face or an edge keeps.
        """
        points = self._tables(state, "get_contact_points", Stage.VELOCITY)[1]
        rows = self._identified(points, CONTACT_POINT)
        sign = np.where(points[:, 0] > points[:, 1], -1.0, 1.0)[:, None]
        found = points[:, 2:]
        rows["feature"] = found[:, access.FEATURE]
        vectors = {"point": access.PLACE, "normal": access.NORMAL, "slip": access.SLIP, "force": access.FORCE}
        for name, column in vectors.items():
            rows[name] = found[:, column : column + 3] * (1.0 if name == "point" else sign)
        for name, column in (
            ("depth", access.DEPTH),
            ("depth_rate", access.RATE),
            ("potential_energy", access.ENERGY),
            ("power_dissipation", access.POWER),
        ):
            rows[name] = found[:, column]
        return rows

    def _identified(self, table: Array, kind: np.dtype[Any]) -> npt.NDArray[Any]:
        """Rows with the surfaces, bodies and ids filled in."""
        rows = np.zeros(len(table), kind)
        pair = table[:, :2].astype(np.int64) - self.element.first_surface
        body = np.array([one.body for one in self.element.surfaces], np.int64)
        rows["surface1"], rows["surface2"] = pair.min(axis=1, initial=1 << 30), pair.max(axis=1, initial=0)
        rows["body1"], rows["body2"] = body[rows["surface1"]], body[rows["surface2"]]
        rows["id"] = rows["surface1"] * len(body) + rows["surface2"]
        return rows

    def _tables(self, state: State, asked: str, stage: Stage) -> tuple[Array, Array]:
        """The rows of all contacts and of all their points, as `element.tabulate` writes them, ordered by surfaces."""
        state.check_owner(self.get_system(), asked)
        if state.stage_number < stage:
            state.refuse(asked, stage)
        counts = np.zeros(2, np.int64)
        sizes = [len(self.element.surfaces) + 8, 4 * len(self.element.surfaces) + 32]
        while self.element.surfaces:
            table, points = np.zeros((sizes[0], 3 + 32)), np.zeros((sizes[1], 2 + 32))
            tabulate(state.block, self.element.element, table, points, counts)
            if counts[0] <= sizes[0] and counts[1] <= sizes[1]:
                table, points = table[: counts[0]], points[: counts[1]]
                return table[_in_order(table)], points[_in_order(points)]
            sizes = [max(size, 2 * int(count)) for size, count in zip(sizes, counts, strict=True)]
        return np.zeros((0, 3 + 32)), np.zeros((0, 2 + 32))

    def forget_bristles(self, state: State) -> None:
        """Reset the bristles of friction that sticks, as not bent: after a state was moved by hand.

        The state falls to VELOCITY at most.
        """
        state.check_owner(self.get_system(), "forget_bristles")
        state.record.bristle_memory[:] = state.record.bristle_next[:] = 0.0
        state.lower_to(int(Stage.VELOCITY))
        state.own_numbers()

    # ------------------------------------------------------------------------------------------ moving surfaces

    def get_surface_velocity(self, state: State, surface: int | str) -> Array:
        """The velocity of a surface's material from its body in this state, ``(3,)`` in the surface's frame. Needs MODEL.

        Parameters
        ----------
        state : State
        surface : int or str
            Its place in `surfaces`, or its name.
        """
        return self._velocity_of(state, "get_surface_velocity", surface).copy()

    def set_surface_velocity(self, state: State, surface: int | str, velocity: npt.ArrayLike) -> None:
        """Set the velocity of a surface's material along it, in this state alone, which falls to MODEL at most.

        Friction that sticks begins anew, with bristles that are not bent.

        Parameters
        ----------
        state : State
        surface : int or str
            Its place in `surfaces`, or its name.
        velocity : array_like (3,)
            In the surface's frame; length/time.

        Raises
        ------
        ModelError
            If there is no such surface, or it was made without a velocity, by which kernels know what moves.
        """
        new = surface_velocity(velocity)
        place = self.element.surfaces[self._place_of_surface("set_surface_velocity", surface)]
        if place.surface.velocity is None:
            raise ModelError(
                f"set_surface_velocity: {place.name!r} has none; give its contact.Surface one, velocity=(0, 0, 0) if it stands "
                "at first"
            )
        self._velocity_of(state, "set_surface_velocity", surface, True)[:] = new
        self.forget_bristles(state)

    def _place_of_surface(self, asked: str, surface: int | str) -> int:
        names = [one.name for one in self.element.surfaces]
        if isinstance(surface, str):
            if names.count(surface) != 1:
                raise ModelError(f"{asked}: {names.count(surface)} surfaces have the name {surface!r}; there are {names}")
            return names.index(surface)
        return checks.integer(f"the surface of {asked}", surface, 0, len(names) - 1)

    def _velocity_of(self, state: State, asked: str, surface: int | str, change: bool = False) -> Array:
        numbers = self.element.number_run(state, asked, change)
        first = self.element.fields.first_numbers[self._place_of_surface(asked, surface)] + access.VELOCITY
        return numbers[first : first + 3]

    # ------------------------------------------------------------------------------------------ energy

    def set_track_dissipated_energy(self, track: bool) -> None:
        """Add up the energy that contacts turn into heat, as an auxiliary variable of states. A topological change."""
        self.element.tracks_energy = checks.flag("track", track)
        self.invalidate_topology()

    def get_track_dissipated_energy(self) -> bool:
        """True if they do."""
        return self.element.tracks_energy

    def get_dissipated_energy(self, state: State) -> float:
        """The energy that contacts have turned into heat since the state's beginning, mass*length^2/time^2.

        Raises
        ------
        ModelError
            Unless `set_track_dissipated_energy` was called.
        """
        return float(state.z[self._place_of_energy(state, "get_dissipated_energy")])

    def set_dissipated_energy(self, state: State, energy: float) -> None:
        """Set that energy in a state, to zero say."""
        place, value = self._place_of_energy(state, "set_dissipated_energy"), checks.finite("energy", energy)
        state.upd_z()[place] = value

    def _place_of_energy(self, state: State, asked: str) -> int:
        state.check_owner(self.get_system(), asked)
        if not self.element.tracks_energy:
            raise ModelError(f"{asked}: the energy is not added up; call set_track_dissipated_energy(True) before the topology")
        return self.element.first_z


def _needs_a_layer(a: Placed, b: Placed) -> None:
    """Refuse a mesh and another surface of which neither has a thickness: the force of a face is by its strain."""
    if TRIANGLE_MESH in (a.surface.geometry.KIND, b.surface.geometry.KIND) and not (a.surface.thickness or b.surface.thickness):
        raise ModelError(
            f"{a.name!r} and {b.name!r} may touch, and neither says how thick its elastic layer is; give the mesh a thickness, "
            "contact.Surface(..., thickness=h)"
        )


def _in_order(table: Array) -> npt.NDArray[np.int64]:
    """The order of rows by their surfaces, the lower first; rows of one pair stay as they are."""
    if len(table) < 2:
        return np.arange(len(table))
    low, high = table[:, :2].min(axis=1, initial=np.inf), table[:, :2].max(axis=1, initial=-1.0)
    return np.lexsort((high, low))
