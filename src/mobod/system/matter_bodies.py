"""The bodies of a matter subsystem: finding them by object, index or name, and arrays with an entry for each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..algebra.arrays import Array, ArrayLike
from ..decoration.geometry import as_color
from ..decoration.rubber_band_line import RubberBandLine
from ..errors import ModelError, TopologyError
from ..mobilizer.base import MobilizedBody
from ..mobilizer.coordinates import check_which
from ..mobilizer.ground import Ground
from ..value.checks import behaved, flag, name_among, numbers, positive, suggest, vector
from .particles import ParticleSubsystem

if TYPE_CHECKING:
    from ..state.state import State
    from .system import MultibodySystem

_FLOAT64 = np.dtype(np.float64)


class Bodies(Sequence[MobilizedBody]):
    """The mobilized bodies by index or by name, Ground first: ``matter.bodies[1]``, ``matter.bodies["upper"]``."""

    def __init__(self, bodies: list[MobilizedBody], names: dict[str, MobilizedBody]) -> None:
        self.body_list, self._names = bodies, names

    @overload
    def __getitem__(self, key: int | str) -> MobilizedBody: ...
    @overload
    def __getitem__(self, key: slice) -> list[MobilizedBody]: ...
    def __getitem__(self, key: int | str | slice) -> MobilizedBody | list[MobilizedBody]:
        if isinstance(key, str):
            try:
                return self._names[key]
            except KeyError:
                import difflib

                moved = [body.name for body in self.body_list if body.joint_name == key]
                if moved:
                    raise KeyError(f"there is no body {key!r}; the joint of that name moves {moved[0]!r}") from None
                near = difflib.get_close_matches(key, self._names)
                some = ", ".join(list(self._names)[:8]) + (", ..." if len(self._names) > 8 else "")
                hint = f"did you mean {near[0]!r}?" if near else f"there are {some}"
                raise KeyError(f"there is no body {key!r}; {hint}") from None
        try:
            return self.body_list[key]
        except IndexError:
            n = len(self.body_list)
            raise IndexError(f"there are {n} bodies, Ground included, numbers 0 to {n - 1}; no number {key}") from None
        except TypeError:
            raise TypeError(f"a body is found by its index, its name or a slice, not by {key!r}") from None

    def __len__(self) -> int:
        return len(self.body_list)

    def __iter__(self) -> Iterator[MobilizedBody]:
        return iter(self.body_list)

    def __contains__(self, item: object) -> bool:
        return item in self._names if isinstance(item, str) else any(item is body for body in self.body_list)

    def __repr__(self) -> str:
        names = ", ".join(list(self._names)[:8])
        return f"<{len(self)} bodies: {names}{', ...' if len(self) > 8 else ''}>"


class HasBodies(ParticleSubsystem):
    """The part of `SimbodyMatterSubsystem` that has the bodies."""

    body_list: list[MobilizedBody]
    _names: dict[str, MobilizedBody]
    _ground: Ground
    _show_default_geometry: bool
    rubber_band_lines: list[RubberBandLine]

    def adopt(self, body: MobilizedBody, name: str | None) -> tuple[int, str]:
        """Take a new body; its index and its name."""
        index = len(self.body_list)
        own = name_among(self._names, "body", name, type(body).__name__, index)
        self.body_list.append(body)
        self._names[own] = body
        self.invalidate_topology()
        return index, own

    def find_body(self, mobod: Any) -> MobilizedBody:
        """A body named by object, by index or by name."""
        if isinstance(mobod, MobilizedBody):
            if mobod.matter is not self:
                raise TopologyError(f"{mobod!r} is a body of another system")
            return mobod
        if isinstance(mobod, str):
            return self.bodies[mobod]
        try:
            i = mobod.__index__()
        except (AttributeError, TypeError):  # an array is none
            raise TypeError(f"a body is named by object, index or name, not by {mobod!r}") from None
        if not 0 <= i < len(self.body_list):
            raise IndexError(f"there are {len(self.body_list)} bodies, Ground included; no number {i}")
        return self.body_list[i]

    def find_mobility(self, given: Any, what: str = "a mobility") -> tuple[MobilizedBody, int]:
        """A mobility given as ``(body, number)``, as a body, by object or name, that has one alone, or by its own name."""
        if isinstance(given, str) and given not in self._names:
            named = self.mobilities_by_name()
            if given not in named:
                raise KeyError(f"there is no mobility {given!r}; {suggest(given, list(named))}")
            return named[given]
        if isinstance(given, (MobilizedBody, str)):
            body = self.find_body(given)
            if body.facts.num_u == 0:
                raise ModelError(f"{what} is one of a body's mobilities, and {body!r} has none")
            if body.facts.num_u != 1:
                raise ModelError(f"{what} is one of {body.facts.num_u} of {body!r}: say which, ({body.name!r}, 0)")
            return body, 0
        if not isinstance(given, (tuple, list)) or len(given) != 2:
            raise TypeError(f"{what} is a pair of a mobilized body and a number, or a body with one mobility, not {given!r}")
        body = self.find_body(given[0])
        return body, check_which("which_u", given[1], body)

    def mobilities_by_name(self) -> dict[str, tuple[MobilizedBody, int]]:
        """Those that one word names: ``shoulder`` or ``hip[1]``, as tables have them, or a body that has one alone."""
        bodies = self.body_list
        named = {name: (body, i) for body in bodies for i, name in enumerate(body.name_each(body.facts.num_u))}
        return named | {body.name: (body, 0) for body in bodies if body.facts.num_u == 1}

    def singularities(self, state: State) -> dict[str, str]:
        """By the body's name, what to say of each mobilizer that is near a singular configuration."""
        found = {body.name: body.singularity(state) for body in self.body_list[1:]}
        return {name: text for name, text in found.items() if text}

    @property
    def bodies(self) -> Bodies:
        """The mobilized bodies, by index or by name."""
        return Bodies(self.body_list, self._names)

    @property
    def ground(self) -> Ground:
        """Body 0, that all others are connected to in the end."""
        return self._ground

    def get_ground(self) -> Ground:
        """Body 0, that all others are connected to in the end."""
        return self._ground

    def upd_ground(self) -> Ground:
        """Body 0; the same object as `get_ground` gives."""
        return self._ground

    def get_mobilized_body(self, index: int | str) -> MobilizedBody:
        """A body by its index, Ground being 0, or by its name; `IndexError`, or `KeyError`, where there is none."""
        return self.find_body(index)

    def upd_mobilized_body(self, index: int | str) -> MobilizedBody:
        """A body by its index or name; the same object as `get_mobilized_body` gives."""
        return self.get_mobilized_body(index)

    def get_num_bodies(self) -> int:
        """Number of mobilized bodies, Ground included."""
        return len(self.body_list)

    def get_num_mobilities(self) -> int:
        """Number of mobilities: nu. Needs a realized topology."""
        return self._realized_system("get_num_mobilities").tree_for(False).nu

    def get_total_q_alloc(self) -> int:
        """Room for q, quaternions included. Needs a realized topology."""
        return self._realized_system("get_total_q_alloc").tree_for(False).nq

    def _realized_system(self, asked: str) -> MultibodySystem:
        system = self.get_system()
        if not system.system_topology_has_been_realized():
            raise TopologyError(f"{asked} needs a realized topology; call system.realize_topology()")
        return system

    def set_show_default_geometry(self, show: bool) -> None:
        """Set whether pictures show joints and sticks for bodies without decorations of their own."""
        self._show_default_geometry = flag("show", show)

    def get_show_default_geometry(self) -> bool:
        """True if pictures show joints and sticks for bodies without decorations of their own."""
        return self._show_default_geometry

    def add_rubber_band_line(
        self,
        points: Sequence[tuple[MobilizedBody | int | str, Any]],
        *,
        color: Any = "red",
        line_width: float = 2.0,
        name: str = "lines",
    ) -> RubberBandLine:
        """Draw a line through points of several bodies, straight from one to the next: a muscle, a cable, a rope.

        It does nothing but show; `force.TwoPointLinearSpring`, tendons and other forces along lines are drawn without it.

        Parameters
        ----------
        points : sequence of (body, station)
            Two or more, in order; a station is ``(3,)``, in its body, or a function of the state, which is at POSITION, that
            gives one, or None where the point is no part of the line.
        color : str or (3,) array_like
        line_width : float
            In points.
        name : str
            Under which pages show it or do not, with all others of the same name.

        Returns
        -------
        RubberBandLine

        Raises
        ------
        ModelError, ValueError, TypeError, KeyError, IndexError
            If there are fewer than two points, or one is none of this matter's bodies or no vector.

        Examples
        --------
        >>> import mobod as mb
        >>> system, state = mb.examples.double_pendulum.build()
        >>> system.matter.add_rubber_band_line([("ground", (0, 1, 0)), ("lower", (0, 0, 0))], color="orange", name="cable")
        <RubberBandLine 'cable' through 2 points>
        """
        placed = [(self.find_body(body), station) for body, station in points]
        if len(placed) < 2:
            raise ModelError(f"a rubber-band line has two points or more, got {len(placed)}")
        ends = [
            (int(body.index), station if callable(station) else vector("a point of a rubber-band line", station))
            for body, station in placed
        ]
        line = RubberBandLine(ends, as_color("color", color), positive("line_width", line_width), str(name))
        self.rubber_band_lines.append(line)
        return line

    def mobility_vector(self, state: State, what: str, value: ArrayLike | None) -> Array:
        """A contiguous ``(nu,)`` array, only to be read; zeros for None or an empty one."""
        tree = state.tree
        if value is None:
            return tree.no_mobility_forces
        nu = tree.nu
        if isinstance(value, np.ndarray) and value.shape == (nu,) and value.dtype is _FLOAT64:
            # as nearly all come, the conversions taking as long as a sweep; copied for the reason that `behaved` gives
            return value if value.flags.carray and type(value) is np.ndarray else np.array(value)
        array = numbers(what, value)
        if array.shape != (nu,):
            if array.size == 0:
                return tree.no_mobility_forces
            raise ValueError(f"{what} has shape ({nu},), one number a mobility, got {array.shape}")
        return behaved(array)

    def _body_forces(self, state: State, what: str, value: ArrayLike | None) -> Array:
        """Rows of six, one a body, contiguous, only to be read; zeros for None or an empty array."""
        if value is None:
            return state.tree.no_body_forces
        nb = len(self.body_list)
        array = numbers(what, value)
        if array.shape != (nb, 2, 3):
            if array.size == 0:
                return state.tree.no_body_forces
            raise ValueError(f"{what} has shape ({nb}, 2, 3), one spatial vector a body, Ground first; got {array.shape}")
        return behaved(array).reshape(nb, 6)
