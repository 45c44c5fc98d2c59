"""Path: from point to point, over surfaces where they are in the way: what muscles, ligaments and cables pull along.

l = sum of straight pieces and of those over surfaces        l' = -sum over stops of (e_out - e_in) . v

with e the directions from a stop and to it, v the velocity of the stop's point of its body; a moving point's own velocity in
the body is part of v, and its share of a force along the path is a force on its coordinates. See `_stops`, and `_rounds` for
how surfaces are taken.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...algebra import mat33, vec3
from ...algebra.arrays import Array
from ...algebra.beside import add_scaled_row, address_of
from ...algebra.masks import both, in_any, pick3
from ...algebra.memory import add_spatial, load3, load9, load_spatial, store3
from ...algebra.record import attach, call_routine
from ...algebra.scalar import bare, load, load_lane, store, store_lane, where, zero
from ...compiling import compiled, generic
from ...decoration.rubber_band_line import End, Line
from ...errors import ModelError
from ...function import Constant, Function
from ...mobilizer.access import vector9
from ...state.state import State
from ...value import checks
from ...value.stage import Stage
from .. import one_coordinate
from ..base import Force, body_index, mobility
from ..subsystem import GeneralForceSubsystem
from ._bends import bend as bend_in_lines, geodesic
from ._course import Course, TautCourse, WrappingCourse
from ._geodesic import form_of, gradient
from ._geodesics import first_of_taut
from ._over_once import range_of, walk
from ._rounds import MOST_BESIDE, PATH, number_of_rows, place, placed_at
from ._segments import CAPSULE, ELLIPSOID, FAR, NOWHERE, TORUS, straight
from ._stops import (
    ALONG,
    AS_OPENSIM,
    COLUMN,
    CONDITIONAL,
    FIXED,
    FORM,
    HEAD,
    LENGTH,
    MOVES,
    MOVING,
    NEXT,
    OF_FUNCTION,
    OF_MOVE,
    OF_POINT,
    OF_SURFACE,
    OVER,
    PLACE,
    PULL,
    ROWS,
    STILL,
    STOPS,
    THERE,
    WOUND,
    body_of,
    get3,
    is_pulled,
    jet_of,
    placed,
    put3,
    row,
)
from ._taut import CURVED, HINTED, MOST, RESIDUAL, TOUCHED, WIDE
from .base import Span, Transmission, put_bend, seeded
from .surfaces import METHODS, OF_FRAME, ConditionalPoint, MovingPoint, PathWrap, _Surface, hint_of, numbers_of_frame, side_of

#: Rows of a list of pulls. A stop takes four at most, and has more numbers; so has a function of coordinates.
MOST_PULLS = 1024
#: How deep inside a surface a point counts as inside, in parts of the size.
_INSIDE = 1e-10
#: From which depth on a line goes through a surface, in such parts; at so many points it is looked for along it.
_THROUGH, _ALONG_LINES = 1e-6, 129
#: A bend whose middle moves by less than this part of its distance from the surface's center goes the same way.
_SAME_WAY = 1e-3


@generic
def length(model: Any, i: int, x: int) -> Any:
    """The length; leaves the stops for `speed` and `apply`. Integers: the number of the path's course."""
    f = model.force_integers[i]
    call_routine(model.function_routine[f], model, f, 0)
    return load(model.function_value, LENGTH, 0)


@generic
def number_of_stops(model: Any, f: int) -> int:
    """Largest number of stops."""
    i = model.function_first_integer[f]
    return model.function_integers[i] + 2 * model.function_integers[i + 1]


@generic
def number_of_coordinates(model: Any, f: int) -> int:
    """Of how many coordinates the length is a function; 0 of a path from point to point."""
    i = model.function_first_integer[f]
    return model.function_integers[i + HEAD] if model.function_integers[i + 2] == OF_FUNCTION else 0


@generic
def coordinate_of(model: Any, f: int, k: int) -> Any:
    """Body and number of coordinate k, and the slope of the length by it."""
    j = model.function_first_integer[f] + HEAD + 1 + 2 * k
    return model.function_integers[j], model.function_integers[j + 1], load(model.function_value, STOPS + k, 0)


@generic
def moves(model: Any, f: int, stop: int) -> bool:
    """True if a stop is a moving point."""
    i = model.function_first_integer[f]
    return stop < model.function_integers[i] and model.function_integers[i + HEAD + OF_POINT * stop + 1] == MOVING


@generic
def pull_in_frame(model: Any, f: int, stop: int, column: int) -> Any:
    """The pull at a moving point, in the frame in which it moves, and the first of its further integers."""
    i = model.function_first_integer[f]
    j = i + HEAD + OF_POINT * stop
    x = model.function_first_number[f] + model.function_integers[j + 2]
    g = mat33.transpose_mul_vec(load9(model.R_GB, model.function_integers[j], 0), get3(model, row(stop) + column))
    return mat33.transpose_mul_vec(vector9(model.function_numbers, x), g), i + model.function_integers[j + 3]


@generic
def along_of(model: Any, f: int) -> int:
    """The place of the pulls that its speed counts."""
    column: int = model.function_integers[model.function_first_integer[f] + COLUMN]
    return column


@generic
def _acts(model: Any, f: int, stop: int, there: Any) -> bool:
    """False where nothing pulls at a stop: at a still point, and where a path, of no lane, touches its one surface."""
    i = model.function_first_integer[f]
    n, m = model.function_integers[i], model.function_integers[i + 1]
    # a stop left out between two of one body would join these, and a lane's sums depend on its neighbours
    return is_pulled(model, f, stop) if stop < n or m != 1 else in_any(bare(there) > 0.0)


@generic
def _rate_of(model: Any, b: int, moment: Any, pull: Any) -> Any:
    """The power of a moment and a force on a body."""
    w, v = load_spatial(model.V_GB, b)
    return vec3.dot(pull, v) + vec3.dot(moment, w)


@generic
def speed(model: Any, i: int, x: int) -> Any:
    """The rate of the length, of which `length` has left the stops."""
    f = model.force_integers[i]
    total, column = zero(load(model.time, 0, 0)), along_of(model, f)
    around, along, last = (total, total, total), (total, total, total), -1
    for stop in range(number_of_stops(model, f)):
        if _acts(model, f, stop, load(model.function_value, row(stop) + THERE, 0)):
            b, own_along = body_of(model, f, stop), get3(model, row(stop) + column)
            s = vec3.sub(get3(model, row(stop) + PLACE), load3(model.p_GB, b, 0))
            own_around = vec3.cross(s, own_along)
            if b == last:  # stops of one body that follow each other are taken together
                around, along = vec3.add(around, own_around), vec3.add(along, own_along)
            else:
                if last >= 0:
                    total = total - _rate_of(model, last, around, along)
                around, along, last = own_around, own_along, b
            if moves(model, f, stop):
                g, e = pull_in_frame(model, f, stop, column)
                first, second = _moved(model, f, e, g[0]), _moved(model, f, e + OF_MOVE, g[1])
                total = total - (first + second + _moved(model, f, e + 2 * OF_MOVE, g[2]))
    if last >= 0:
        total = total - _rate_of(model, last, around, along)
    for k in range(number_of_coordinates(model, f)):
        b, which, slope = coordinate_of(model, f, k)
        total = total + slope * one_coordinate.rate_of(model, b, which)
    return total


@generic
def _moved(model: Any, f: int, e: int, g: Any) -> Any:
    rate = one_coordinate.rate_of(model, model.function_integers[e], model.function_integers[e + 1])
    return g * jet_of(model, f, e)[1] * rate


@generic
def _moving_pull(model: Any, f: int, stop: int) -> Any:
    """The pull at a moving point, in its frame; its further integers, and how many there are to the next coordinate's."""
    g, e = pull_in_frame(model, f, stop, along_of(model, f))
    of_each = OF_MOVE
    if model.function_integers[e + AS_OPENSIM] != 0:
        # pieces between points of one body do not count, though the point moves, and all is a force on the first coordinate
        g, e = pull_in_frame(model, f, stop, PULL)
        of_each = 0
    return g, e, of_each


@generic
def apply(model: Any, i: int, x: int, force: Any) -> None:
    """A force that lengthens the path, of which `length` has left the stops."""
    f, o = model.force_integers[i], zero(load(model.time, 0, 0))
    moment, pull, last = (o, o, o), (o, o, o), -1
    for stop in range(number_of_stops(model, f)):
        if _acts(model, f, stop, load(model.function_value, row(stop) + THERE, 0)):
            b, own_pull = body_of(model, f, stop), get3(model, row(stop) + PULL)
            s = vec3.sub(get3(model, row(stop) + PLACE), load3(model.p_GB, b, 0))
            own_moment = vec3.cross(s, own_pull)
            if b == last:
                moment, pull = vec3.add(moment, own_moment), vec3.add(pull, own_pull)
            else:
                if last >= 0:
                    add_spatial(model.body_forces, last, vec3.scale(-force, moment), vec3.scale(-force, pull))
                moment, pull, last = own_moment, own_pull, b
        if moves(model, f, stop):
            g, e, of_each = _moving_pull(model, f, stop)
            for k in range(3):
                c = e + of_each * k
                slope = jet_of(model, f, e + OF_MOVE * k)[1]
                where_to = model.function_integers[c], model.function_integers[c + 1]
                one_coordinate.push_on(model, where_to[0], where_to[1], -force * g[k] * slope)
    if last >= 0:
        add_spatial(model.body_forces, last, vec3.scale(-force, moment), vec3.scale(-force, pull))
    for k in range(number_of_coordinates(model, f)):
        b, which, slope = coordinate_of(model, f, k)
        one_coordinate.push_on(model, b, which, force * slope)


@generic
def number_of_pulls(model: Any, i: int) -> int:
    """The number of rows that `list_pulls` needs at most. Integers as `length`'s."""
    found: int = model.function_integers[model.function_first_integer[model.force_integers[i]] + ROWS]
    return found


@generic
def _three(rows: Any, at: int, lane: int) -> Any:
    return load_lane(rows, at, 0, lane), load_lane(rows, at + 1, 0, lane), load_lane(rows, at + 2, 0, lane)


@generic
def _list_moving(model: Any, f: int, stop: int, column: int, pulls: Any, end: int) -> Any:
    """As `list_pulls`, of the coordinates that move a point."""
    g, e = pull_in_frame(model, f, stop, column)
    first, second = _moved(model, f, e, g[0]), _moved(model, f, e + OF_MOVE, g[1])
    rate = first + second + _moved(model, f, e + 2 * OF_MOVE, g[2])
    g, e, of_each = _moving_pull(model, f, stop)
    for k in range(3):
        c = e + of_each * k
        slope = jet_of(model, f, e + OF_MOVE * k)[1]
        end = _list_one(model, model.function_integers[c], model.function_integers[c + 1], g[k] * slope, pulls, end)
    return rate, end


@generic
def list_pulls(model: Any, i: int, rows: Any, lane: int, pulls: Any, end: int) -> Any:
    """The rate of the length, and what a unit of tension does, as rows of *pulls* from *end* on; where these end.

    A row is a body, -1, and the moment and force on it; or a body, the number of a coordinate, and the force on that. For one
    state of float64, of which `length` has left the stops in `function_value`, or `go_beside` in a lane of other *rows*.
    """
    f = model.force_integers[i]
    total, column = zero(load(model.time, 0, 0)), along_of(model, f)
    moment, pull, last = (total, total, total), (total, total, total), -1
    for stop in range(number_of_stops(model, f)):
        if _acts(model, f, stop, load_lane(rows, row(stop) + THERE, 0, lane)):
            b, own_pull = body_of(model, f, stop), _three(rows, row(stop) + PULL, lane)
            s = vec3.sub(_three(rows, row(stop) + PLACE, lane), load3(model.p_GB, b, 0))
            own_moment = vec3.cross(s, own_pull)
            if b == last:  # of stops of one body that follow each other there is one row
                moment, pull = vec3.add(moment, own_moment), vec3.add(pull, own_pull)
            else:
                if last >= 0:
                    rate, end = _list_body(model, last, moment, pull, column, pulls, end)
                    total = total - rate
                moment, pull, last = own_moment, own_pull, b
            if column != PULL:
                along = _three(rows, row(stop) + column, lane)
                total = total - _rate_of(model, b, vec3.cross(s, along), along)
            if moves(model, f, stop):
                put3(model, row(stop) + PULL, own_pull)
                put3(model, row(stop) + column, _three(rows, row(stop) + column, lane))
                rate, end = _list_moving(model, f, stop, column, pulls, end)
                total = total - rate
    if last >= 0:
        rate, end = _list_body(model, last, moment, pull, column, pulls, end)
        total = total - rate
    for k in range(number_of_coordinates(model, f)):
        b, which, slope = coordinate_of(model, f, k)
        total = total + slope * one_coordinate.rate_of(model, b, which)
        end = _list_one(model, b, which, -slope, pulls, end)
    return total, end


@generic
def _list_body(model: Any, b: int, moment: Any, pull: Any, column: int, pulls: Any, end: int) -> Any:
    """As `list_pulls`, of a body; no rate where another column than that of the pulls counts for it."""
    store(pulls, end, 0, 1.0 * b)
    store(pulls, end, 1, -1.0)
    store3(pulls, end, 2, moment)
    store3(pulls, end, 5, pull)
    rate = zero(moment[0])
    if column == PULL:
        rate = _rate_of(model, b, moment, pull)
    return rate, end + 1


@generic
def _list_one(model: Any, b: int, which: int, force: Any, pulls: Any, end: int) -> int:
    store(pulls, end, 0, 1.0 * b)
    store(pulls, end, 1, 1.0 * which)
    store(pulls, end, 2, force)
    return end + 1


@generic
def pull_listed(model: Any, pulls: Any, first: int, end: int, tension: Any) -> None:
    """Let a tension act as `list_pulls` has listed it."""
    for k in range(first, end):
        b, which = int(load(pulls, k, 0)), int(load(pulls, k, 1))
        if which < 0:
            add_scaled_row(model.body_forces, b, tension, pulls, k, 2)
        else:
            one_coordinate.push_on(model, b, which, tension * load(pulls, k, 2))


@generic
def path_form(model: Any, i: int) -> int:
    """The form of a path: those of one form, other than 0, can go their ways eight at a time. Integers as `length`'s."""
    form: int = model.function_integers[model.function_first_integer[model.force_integers[i]] + FORM]
    return form


@generic
def put_beside(model: Any, i: int, rows: Any, lane: int) -> None:
    """Let a path be one of eight, in `MOST_BESIDE` rows of lanes."""
    store_lane(rows, PATH, 0, lane, 1.0 * model.force_integers[i])


@generic
def leave_out(rows: Any, lane: int) -> None:
    """Let a lane have no path; the first has one."""
    store_lane(rows, PATH, 0, lane, -1.0)


@generic
def go_beside(model: Any, i: int, rows: Any) -> None:
    """Let eight paths go their ways, of which there is one at i."""
    f = model.force_integers[i]
    call_routine(model.function_routine[f], model, f, address_of(rows))


@generic
def length_beside(rows: Any, lane: int) -> Any:
    """As `length`, of one of eight that have gone their ways."""
    return load_lane(rows, LENGTH, 0, lane)


@generic
def bends(model: Any, f: int) -> Any:
    """1 where a path over one surface bends, else 0."""
    call_routine(model.function_routine[f], model, f, 0)
    return bare(load(model.function_value, row(model.function_integers[model.function_first_integer[f]]) + THERE, 0))


@generic
def bend(model: Any, i: int, x: int, asks: int) -> None:
    """Behind which point a path over one surface bends, and how, see `routines.along_spans`."""
    f = model.force_integers[i]
    at = placed_at(model.function_integers[model.function_first_integer[f]], 1, 0)
    place(model, f)
    first, last = range_of(model, f)
    o = zero(load(model.function_value, at, 0))
    best, least, length, out_of, into = zero(bare(o)) + NOWHERE, o + FAR, o, (o, o, o), (o, o, o)
    for k in range(first, last):
        for end in range(2):
            put3(model, row(k + end) + PLACE, seeded(model, get3(model, row(k + end) + PLACE), 3 * end))
        behind, longer, touch, leave, over = walk(model, f, at, k, k + 1)
        better = both(behind >= 0.0, longer < least)
        to, d = straight(get3(model, row(k) + PLACE), touch)
        back, e = straight(leave, get3(model, row(k + 1) + PLACE))
        best, least, length = where(better, behind, best), where(better, longer, least), where(better, to + over + back, length)
        out_of, into = pick3(better, d, out_of), pick3(better, e, into)
        for end in range(2):
            put3(model, row(k + end) + PLACE, placed(model, f, k + end)[0])
    put_bend(model, out_of, into, length, best)


class Listed(NamedTuple):
    """Functions by which many paths of one state of float64 act together."""

    length: Any = length
    number_of_pulls: Any = number_of_pulls
    list_pulls: Any = list_pulls
    pull_listed: Any = pull_listed
    path_form: Any = path_form
    put_beside: Any = put_beside
    leave_out: Any = leave_out
    go_beside: Any = go_beside
    length_beside: Any = length_beside


@compiled
def _call(block: Any, i: int, which: int, force: float) -> Any:
    """The length or its rate; or let a force act. *i* is where the number of the course is."""
    model = attach(block)
    found = length(model, i, 0)
    if which == 1:
        found = speed(model, i, 0)
    elif which == 2:
        apply(model, i, 0, force)
    return found


class AlongCourse(Transmission):
    """Transmission along a course: see `_course`. The force that acts along it has it as its first function."""

    FUNCTIONS = (length, speed, apply)
    BEND = staticmethod(bend)
    is_linear = True

    def listed(self) -> Listed | None:
        """As `Transmission.listed`, of paths of not too many points."""
        numbers = self.used_functions[0][0].get_argument_size()
        return Listed() if numbers <= MOST_PULLS else None

    def _own(self, state: State) -> Any:
        found = super()._own(state)
        found.force_integers = np.array([self._user().first_function], np.int64)
        return found

    def _call(self, state: State, which: int, force: float = 0.0) -> float:
        if state.tree.calls_python:
            return super()._call(state, which, force)
        return float(_call(state, self._user().span[1] - 1, which, force))

    def _user(self) -> Force:
        if self.user is None:
            raise ModelError(f"{self!r} is computed with the force that acts along it, and there is none yet")
        return self.user


class Path(AlongCourse):
    """From point to point, over surfaces where they are in the way: what muscles, ligaments and cables pull along.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    points : sequence
        Its points in order, two or more, each ``(body, station)``, a `ConditionalPoint`, or a `MovingPoint`.
    wraps : sequence of PathWrap
        The surfaces that it may bend over, in the order in which they take their turns.
    ratio : float
        Length, speed and generalized force are multiplied by it.
    wrapping : {"opensim", "geodesic"}
        By OpenSim's rules, or as a taut line, in geodesics over the surfaces: smooth, in a fixed order; see `CableSpan`.

    Raises
    ------
    ModelError
        If there are fewer than two points, a size is not above zero, or a range, method or way of wrapping is none.
    TypeError, ValueError, IndexError, TopologyError
        If a body is none, or of another system, a station no vector, or a function none of one coordinate.

    Notes
    -----
    A force above zero lengthens the path; a muscle pulls with forces below zero. How surfaces are taken is as in OpenSim 4.6,
    where lengths and directions jump at times: see the reference of forces. Coincident points of different bodies have no
    direction, and no force.

    Examples
    --------
    A rope over a cylinder at an elbow:

    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> lower = system.matter.bodies["lower"]
    >>> T = mb.force.transmission
    >>> pulley = T.WrapCylinder(body=lower, radius=0.1, length=1.0, frame=mb.Transform(p=(0, 0, 0)))
    >>> rope = T.Path(system.forces, [(system.matter.ground, (0.2, 0.1, 0)), (lower, (0.2, -0.5, 0))], [T.PathWrap(pulley)])
    >>> spring = mb.force.TransmissionSpring(system.forces, rope, stiffness=10.0)
    >>> state = system.realize_topology()
    >>> state.q = 0.3, 0.4
    >>> system.realize(state)
    >>> bool(rope.calc_length(state) > 0.0), rope.calc_path_points(state).shape[1]
    (True, 3)
    """

    INNER = frozenset("calc_points_and_surfaces find_bends ranges used_functions".split())
    #: What it may bend over, each once.
    surfaces: tuple[Any, ...]

    def __init__(
        self,
        forces: GeneralForceSubsystem,
        points: Sequence[Any],
        wraps: Iterable[PathWrap] = (),
        *,
        ratio: float = 1.0,
        wrapping: str = "opensim",
    ) -> None:
        places, taken = [_point(forces, one) for one in points], list(wraps)
        checks.among("wrapping of a Path", wrapping, ("opensim", "geodesic"), ModelError)
        self._is_taut = wrapping == "geodesic"
        if self._is_taut:
            taken = _in_order(taken)
        if len(places) < 2:
            raise ModelError(f"a Path has two points or more; got {len(places)}")
        comes_and_goes = any(one[1] == CONDITIONAL for one in places)
        is_wound = not taken and any(isinstance(one, MovingPoint) and one.as_opensim for one in points)
        moves = any(one[1] == MOVING for one in places)
        is_plain = not (comes_and_goes or moves)
        what = WOUND if is_wound else 1 if comes_and_goes else MOVES if moves else 0
        counts_all = is_wound or len(taken) > (0 if self._is_taut or moves else 1)
        rows = sum(4 if one[1] == MOVING else 1 for one in places) + 2 * len(taken)
        integers = [len(places), len(taken), what, 0, ALONG if counts_all else PULL, rows]
        numbers: list[float] = []
        further: list[int] = []
        head, moving = HEAD + OF_POINT * len(places) + OF_SURFACE * len(taken), []
        for n, ((b, kind, own, coordinates, functions), point) in enumerate(zip(places, points, strict=True)):
            integers += [b, kind, len(numbers), head + len(further)]
            for k, mobility_of in enumerate(coordinates):
                further += mobility_of
                if functions:
                    moving.append((functions[k], [0]))
                    further += [len(moving), len(numbers) + OF_FRAME + 2 * k, int(point.as_opensim)]
            numbers += own
            if kind == FIXED:  # in place of `TO_NEXT`
                next_one = places[min(n + 1, len(places) - 1)]
                is_of_body = next_one[0] == b and next_one[1] == FIXED
                numbers.append(math.dist(own, next_one[2]) if is_of_body else 0.0)
        nothing: tuple[Any, ...] = ()
        self.surfaces = nothing
        for wrap in taken:
            frame_and_sizes = self._surface_of(forces, wrap, len(places), integers, len(numbers))
            numbers += frame_and_sizes
        #: Between which points each of its wraps is.
        self.ranges = [
            (0 if one.first is None else one.first, len(places) - 1 if one.last is None else one.last) for one in taken
        ]
        for n in _still_points(places, self.ranges) if is_plain and not counts_all else ():
            integers[HEAD + OF_POINT * n + 1] = STILL
            integers[ROWS] -= 1
        if taken and not self._is_taut and number_of_rows(len(places), len(taken)) <= MOST_BESIDE:
            integers[FORM] = _form(integers)
        over_surfaces = TautCourse if self._is_taut else WrappingCourse
        kind_of_course = over_surfaces if taken else WrappingCourse if is_wound else Course
        course = kind_of_course([*integers, *further], numbers)
        self._of_wraps = [one.surface for one in taken]
        self._has_hint = [one.hint is not None for one in taken]
        #: Which of the surfaces that it was given each is.
        self._which = [k - sum(isinstance(one, _Again) for one in taken[: k + 1]) for k in range(len(taken))]
        around: tuple[Any, ...] = self.surfaces
        self._bodies = [b for b, *_ in places] + [body_index(forces, "a body", surface.body) for surface in around]
        self._mobilizers = [place[0] for *_, coordinates, _ in places for place in coordinates]
        #: The numbers of its moving points; of their coordinates places, and between which values they count.
        self._moving = [k for k, one in enumerate(places) if one[1] == MOVING]
        self._of_moving = [place for k in self._moving for place in places[k][3]]
        self._ends = np.array([places[k][2][OF_FRAME:] for k in self._moving]).reshape(-1, 2)
        #: Which surface and point have been told of, where the point is inside.
        self._told: set[tuple[int, int]] = set()
        super().__init__(forces, [], [], ratio)
        self.is_between = self._is_taut or len(taken) < 2  # over several surfaces OpenSim's rate depends on how all turn
        self.may_jump = bool(taken) or comes_and_goes or bool(np.isfinite(self._ends).any())
        self.used_functions = [(course, [0] * course.get_argument_size()), *moving]

    def spans(self) -> list[Span] | None:
        """From each point to the next, where all of them are fixed, and over one surface at most, by OpenSim's rules."""
        course: Any = self.used_functions[0][0]
        integers = course.pack()[0]
        n, m, what = integers[:3]
        if type(self).FUNCTIONS is not Path.FUNCTIONS or self._is_taut or what != 0 or m > 1:
            return None
        points = [integers[HEAD + OF_POINT * k : HEAD + OF_POINT * (k + 1)] for k in range(n)]
        found = [Span((one[0], other[0], -1), (one[2], other[2])) for one, other in pairwise(points)]
        if m == 1 and integers[HEAD + OF_POINT * n + 8] != 0:
            first, last = self.ranges[0]
            for k in range(first, last):
                (one, other, _), places = found[k].bodies, found[k].stations
                surface = integers[HEAD + OF_POINT * n + 1]
                found[k] = Span((one, other, surface), places, asks=0 if k == first else -1, which=k)
        return found

    def reach(self) -> tuple[list[int], list[int]]:
        """Bodies of points and surfaces; of coordinates."""
        return self._bodies, self._mobilizers

    def _surface_of(
        self, forces: GeneralForceSubsystem, wrap: PathWrap, n: int, integers: list[int], first_number: int
    ) -> list[float]:
        """The integers of a surface and how it is taken, and its numbers."""
        surface = checks.instance("a wrap of a Path", wrap, PathWrap, "a PathWrap of a surface").surface
        checks.instance(
            "the surface of a PathWrap", surface, _Surface, "a WrapSphere, WrapCylinder, WrapEllipsoid or WrapTorus"
        )
        if surface.KIND == CAPSULE and not self._is_taut:
            raise ModelError("a WrapCapsule is an obstacle of taut paths; take wrapping='geodesic', or a CableSpan")
        checks.among("the method of a PathWrap", wrap.method, METHODS, ModelError)
        ends = (0 if wrap.first is None else wrap.first), (n - 1 if wrap.last is None else wrap.last)
        if not all(isinstance(end, int) and 0 <= end < n for end in ends):
            raise ModelError(f"a PathWrap is between two of its path's {n} points, numbers 0 to {n - 1}; got {ends}")
        if surface not in self.surfaces:
            self.surfaces = (*self.surfaces, surface)
        body = body_index(forces, "body of a surface", surface.body)
        which, active = self.surfaces.index(surface), int(checks.flag("active", surface.active))
        side, sizes = side_of(surface.quadrant), surface.sizes()
        method, hint = METHODS[wrap.method], list[float]()
        if self._is_taut:
            method, hint = hint_of(wrap, side)
            method = -1 if isinstance(wrap, _Again) else method
        integers += [surface.KIND, body, *side, method, *ends, which, active, first_number]
        return [*numbers_of_frame("frame of a surface", surface.frame), *sizes, *[0.0] * (3 - len(sizes)), *hint]

    def _evaluate(self, state: State, asked: str, stage: Stage, which: int) -> float:
        found = super()._evaluate(state, asked, stage, which)
        if found != found and (why := self.why_not_finite(state)) is not None:
            raise ModelError(why)
        return found

    def why_not_finite(self, state: State) -> str | None:
        """Over which surface a taut path has no solution, and the remedy: after the path, or its force, was evaluated."""
        if not (self._is_taut and self.ranges):
            return None
        if math.isfinite(state.record.function_value[LENGTH, 0]):  # as the force's last evaluation has left it
            return None
        own = self._of_taut(state)
        bad = [
            (abs(one[RESIDUAL : RESIDUAL + 4]).max() + (one[CURVED] < 0.0) + (one[CURVED + 3] < 0.0), w)
            for w, one in enumerate(own)
            if one[TOUCHED] > 0.5
        ]
        w = max(bad)[1] if bad else 0
        is_hollow = min(own[w][CURVED], own[w][CURVED + 3]) < 0.0
        why = "goes along a hollow of it, where no taut line touches" if is_hollow else "finds no way on which it is shortest"
        return (
            f"{self._title()} has no solution over {self._title_of(w)}: it {why}. Keep it off by a via point or a hint, or "
            "leave the obstacle out"
        )

    def find_ways_through(self, state: State) -> list[str]:
        """Surfaces that a taut path goes through, by a point inside or for want of a way, and hints it skips; each once."""
        if not (self._is_taut and self.ranges) or self.user is None:
            return []
        with np.errstate(divide="ignore", invalid="ignore"):
            super()._evaluate(state, "calc_length", Stage.POSITION, 0)
        own = self._of_taut(state)
        touched, inside = own[:, TOUCHED] > 0.5, dict[tuple[int, int], str]()
        for w, k, span in self._points_inside(state):
            between = range(span[0], w + 1) if k < self.ranges[w][0] + 1 else range(w, span[1])
            if not any(touched[v] for v in between):  # with another surface between it does not matter
                inside[self._which[w], k] = (
                    f"point {k} of {self._title()} is inside {self._title_of(w)}, which so counts for nothing: "
                    "move the point out, or leave the obstacle out"
                )
        through = {
            (self._which[w], -1): f"{self._title()} goes through {self._title_of(w)}, over which no way was found: keep it off "
            "by a via point or a hint, move obstacles that overlap apart, or leave the obstacle out"
            for w in self._gone_through(state)
            if all(self._which[w] != which for which, _ in inside)
        }
        through |= {
            (self._which[w], -2): f"{self._title()} leaves out the hint on {self._title_of(w)}: with it no shortest way was "
            "found; a via point holds it there"
            for w in np.flatnonzero(~touched & (own[:, HINTED] == 0.0)).tolist()
            if self._has_hint[w]
        }
        found = [text for key, text in (inside | through).items() if key not in self._told]
        self._told.update(inside, through)
        return found

    def _points_inside(self, state: State) -> list[tuple[int, int, tuple[int, int]]]:
        """Surfaces and points beside them that are inside, and the range of the surfaces between the same points."""
        numbers = state.record.function_value[:, 0]
        there = [k for k in range(len(self._bodies) - len(self.surfaces)) if numbers[row(k) + THERE] > 0.5]
        found = []
        for w, (first, _) in enumerate(self.ranges):
            if w > 0 and self._which[w] == self._which[w - 1]:
                continue
            begin, end = max((k for k in there if k <= first), default=-1), min((k for k in there if k > first), default=-1)
            same = [v for v, (other, _) in enumerate(self.ranges) if begin <= other < end]
            for k in (begin, end):
                if k >= 0 and self._outside(state, w, numbers[row(k) + PLACE : row(k) + PLACE + 3]) < -_INSIDE:
                    found.append((w, k, (same[0], same[-1] + 1)))
        return found

    def _gone_through(self, state: State) -> list[int]:
        """Surfaces that a straight piece of the path goes through, next to them in its order."""
        record, f, found = state.record, int(self._own(state).force_integers[0]), list[int]()
        if not math.isfinite(record.function_value[LENGTH, 0]):
            return found
        n, order, point = len(self._bodies) - len(self.surfaces), _order(record, f), 0
        for k, (stop, behind) in enumerate(pairwise(order)):
            point = stop if stop < n else point
            if stop >= n and (stop - n) % 2 == 0:  # over a surface
                continue
            end = next(one for one in order[k + 1 :] if one < n)
            first, last = 0 if stop < n else (stop - n) // 2, len(self.ranges) - 1 if behind < n else (behind - n) // 2
            p, q = _place_of(record, f, stop), _place_of(record, f, behind)
            line = p + np.linspace(0.0, 1.0, _ALONG_LINES)[:, None] * (q - p)
            between = [w for w in range(first, last + 1) if point <= self.ranges[w][0] < end]
            found += [w for w in between if self._outside(state, w, line) < -_THROUGH]
        return found

    def _outside(self, state: State, w: int, points: Array) -> float:
        """Of points in Ground, (..., 3), the least value of a surface's function, in parts of its size: below zero inside."""
        (R, p), surface = self._pose_of_surface(state, w), self._of_wraps[w]
        sizes = [*surface.sizes(), 0.0, 0.0][:3]
        value, _ = gradient(surface.KIND, form_of(surface.KIND, sizes), tuple(((points - p) @ R).T))
        return float(np.min(value) / (1.0 if surface.KIND == ELLIPSOID else sizes[0] ** 2))

    def _of_taut(self, state: State) -> Array:
        """The numbers of each surface as `_taut` has left them, of the last evaluation."""
        n, m = len(self._bodies) - len(self.surfaces), len(self.ranges)
        first = first_of_taut(n, m)
        return np.array(state.record.function_value[WIDE * first : WIDE * (first + m), 0]).reshape(m, WIDE)

    def _title(self) -> str:
        return f"the taut path of {type(self.user).__name__} {self.user.name!r}" if self.user is not None else "a taut path"

    def _title_of(self, w: int) -> str:
        surface = self._of_wraps[w]
        return f"obstacle {self._which[w]}, the {self._kind_of(surface)} of {surface.body.name!r}"

    def calc_path_points(self, state: State) -> Array:
        """The points of the path at a state, (n, 3) in Ground, bends as polygons. Needs POSITION."""
        self.calc_length(state)
        record, f = state.record, int(self._own(state).force_integers[0])
        i, x = int(record.function_first_integer[f]), int(record.function_first_number[f])
        n = int(record.function_integers[i])
        numbers = record.function_value[:, 0]
        order = _order(record, f)
        places = [_place_of(record, f, stop) for stop in order]
        found: list[Any] = []
        for k, stop in enumerate(order):
            found.append(places[k])
            if stop >= n and (stop - n) % 2 == 0:
                j = i + HEAD + OF_POINT * n + OF_SURFACE * ((stop - n) // 2)
                own = record.function_numbers[x + int(record.function_integers[j + 9]) :, 0][:15]
                b = int(record.function_integers[j + 1])
                R_GB, p_GB = state.R_GB[b], record.p_GB[b, :3].ravel()
                R, p = R_GB @ own[:9].reshape(3, 3), p_GB + R_GB @ own[9:12]
                ends = [(place - p) @ R for place in places[k - 1 : k + 3]]
                kind, over = int(record.function_integers[j]), float(numbers[row(stop + 1) + OVER])
                if self._is_taut:
                    way = -numbers[row(stop) + PULL : row(stop) + PULL + 3] @ R
                    found += list(geodesic(kind, own[12:], ends[1], way, over) @ R.T + p)
                else:
                    found += list(bend_in_lines(kind, own[12:], ends, over) @ R.T + p)
        return np.array(found).reshape(-1, 3)

    def find_bends(self, state: State) -> list[tuple[int, int, Array]]:
        """Of each surface that it bends over: its number, the point before, the middle of the bend in the surface's frame."""
        self.calc_length(state)
        record, f = state.record, int(self._own(state).force_integers[0])
        n, numbers, found, point = int(record.function_integers[record.function_first_integer[f]]), record.function_value, [], 0
        for stop in _order(record, f):
            if stop < n:
                point = stop
            elif (stop - n) % 2 == 0:
                ends = [numbers[row(one) + PLACE : row(one) + PLACE + 3, 0] for one in (stop, stop + 1)]
                w = (stop - n) // 2
                R, p = self._pose_of_surface(state, w)
                found.append((w, point, (0.5 * (ends[0] + ends[1]) - p) @ R))
        return found

    def explain_jump(self, before: State, after: State) -> str:
        """Over which surface it comes to go otherwise, or that a conditional point comes or goes, or a moving one stops."""
        bends, points = [], []
        for state in (before, after):
            bends.append({w: middle for w, _, middle in self.find_bends(state)})
            record = state.record
            f = int(self._own(state).force_integers[0])
            n = int(record.function_integers[record.function_first_integer[f]])
            points.append([stop for stop in _order(record, f) if stop < n])
        if points[0] != points[1]:
            number = min(set(points[0]) ^ set(points[1]))
            return f", as its conditional point {number} {'comes in' if number in points[1] else 'goes'}; MovingPoint is smooth"
        if self._is_taut and (through := self.find_ways_through(after) or self.find_ways_through(before)):
            return f", as {through[0]}"
        stops = [self._stands_still(state) for state in (before, after)]
        if (stops[0] != stops[1]).any():
            number = self._moving[int(np.argmax(stops[0] != stops[1])) // 3]
            return f", as its moving point {number} comes to the end of its coordinate's range, beyond which it stands still"
        for w in sorted(bends[0].keys() | bends[1].keys()):
            one, other = bends[0].get(w), bends[1].get(w)
            if one is not None and other is not None and np.linalg.norm(other - one) < _SAME_WAY * np.linalg.norm(one):
                continue
            does = "comes upon" if one is None else "leaves" if other is None else "changes its way over"
            surface = self._of_wraps[w]
            return f", as it {does} the {self._kind_of(surface)} of {surface.body.name!r}; {self._remedy(w)}"
        return f"; {self._remedy()}"

    def _kind_of(self, surface: Any) -> str:
        return type(surface).__name__

    def _stands_still(self, state: State) -> Array:
        """Of each coordinate of each moving point whether it is beyond its range."""
        q = np.array([state.q[int(state.tree.first_q[b]) + which] for b, which in self._of_moving])
        return np.asarray((q < self._ends[:, 0]) | (q > self._ends[:, 1]))

    def _remedy(self, w: int | None = None) -> str:
        """Against jumps over surfaces, or over one of them."""
        if self._is_taut and w is not None and self._has_hint[w]:
            return "its hint counts for less than half a turn to either end, and no turns are remembered: add a via point"
        side = "a hint" if self._is_taut else "a quadrant"
        taut = "" if self._is_taut else ", and wrapping='geodesic' jumps only between two ways that are equally short"
        return f"{side} keeps it on one side{taut}"

    def calc_points_and_surfaces(self, state: State) -> tuple[list[Array], list[Array]]:
        """All its points, and the middles of its surfaces, in Ground."""
        self.calc_length(state)
        record, f = state.record, int(self._own(state).force_integers[0])
        points = [_place_of(record, f, k) for k in range(len(self._bodies) - len(self.surfaces))]
        return points, [self._pose_of_surface(state, w)[1] for w in range(len(self.ranges))]

    def _pose_of_surface(self, state: State, w: int) -> tuple[Array, Array]:
        record, f = state.record, int(self._own(state).force_integers[0])
        i, x = int(record.function_first_integer[f]), int(record.function_first_number[f])
        j = i + HEAD + OF_POINT * int(record.function_integers[i]) + OF_SURFACE * w
        own = record.function_numbers[x + int(record.function_integers[j + 9]) :, 0][:12]
        b = int(record.function_integers[j + 1])
        R_GB, p_GB = state.R_GB[b], record.p_GB[b, :3].ravel()
        return R_GB @ own[:9].reshape(3, 3), p_GB + R_GB @ own[9:12]

    def calc_lines(self, state: State) -> list[Line]:
        """Its polygon, in Ground."""
        ends: list[End] = [(0, point) for point in self.calc_path_points(state)]
        return list(pairwise(ends))


def _still_points(places: Sequence[Any], ranges: Sequence[tuple[int, int]]) -> list[int]:
    """Points, all of them fixed, with neighbours of their own body alone and no surface between."""
    last, bends = len(places) - 1, {k for first, end in ranges for k in range(first, end)}  # by the point before
    same = [k not in bends and places[k][0] == places[k + 1][0] for k in range(last)]
    return [k for k in range(last + 1) if (k == 0 or same[k - 1]) and (k == last or same[k])]


def _form(integers: list[int]) -> int:
    """A number of what two paths have in common that differ in bodies, points and numbers alone."""
    n, m = integers[:2]
    surfaces = [integers[HEAD + OF_POINT * n + OF_SURFACE * w :][:OF_SURFACE] for w in range(m)]
    common = [(kind, *rest) for kind, _, *rest, _ in surfaces]
    digest = hashlib.blake2b(repr((n, integers[2], integers[COLUMN], common)).encode(), digest_size=6).digest()
    return 1 + int.from_bytes(digest, "big")  # a whole number as a float64, too


class _Again(PathWrap):
    """The wrap before once more: a taut path may touch a torus in two places."""


def _in_order(wraps: Sequence[PathWrap]) -> list[PathWrap]:
    """The wraps that count, in the order of the path, tori twice; no more than there may be."""
    taken = [checks.instance("a wrap of a Path", wrap, PathWrap, "a PathWrap of a surface") for wrap in wraps]
    taken = sorted((wrap for wrap in taken if wrap.surface.active), key=lambda wrap: wrap.first or 0)
    found: list[PathWrap] = []
    for wrap in taken:
        found += [wrap, _Again(**vars(wrap))] if wrap.surface.KIND == TORUS else [wrap]
    if len(found) > MOST:
        raise ModelError(
            f"a taut Path goes over {MOST} surfaces at most, where a torus counts twice; got {len(found)}. Make two paths of it"
        )
    return found


def _place_of(record: Any, f: int, stop: int) -> Array:
    """Where a stop is."""
    if not is_pulled(record, f, stop):
        return np.array(placed(record, f, stop)[0])
    return np.array(record.function_value[row(stop) + PLACE : row(stop) + PLACE + 3, 0])


def _order(record: Any, f: int) -> list[int]:
    """The stops that are part of a path, in order."""
    i = int(record.function_first_integer[f])
    n, m = int(record.function_integers[i]), int(record.function_integers[i + 1])
    numbers = record.function_value[:, 0]
    there = [k for k in range(n) if numbers[row(k) + THERE] > 0.5]
    if m == 0 or len(there) < 2:
        return there
    order = [there[0]]
    while (after := int(numbers[row(order[-1]) + NEXT])) != NOWHERE:
        order.append(after)
    return order


def _point(forces: GeneralForceSubsystem, one: Any) -> tuple[int, int, list[float], list[list[int]], list[Function]]:
    """Body, kind, numbers, coordinates and functions of a point."""
    if isinstance(one, MovingPoint):
        b = body_index(forces, "body of a point", one.body)
        functions, coordinates = [_of_one(f) for f in one.functions], list(one.coordinates)
        if len(functions) != 3 or len(coordinates) != 3:
            raise ModelError(
                f"a MovingPoint has three functions and three coordinates; got {len(functions)} and {len(coordinates)}"
            )
        places = [list(mobility(forces, mobod, which, "which_q")) for mobod, which in coordinates]
        checks.flag("as_opensim", one.as_opensim)
        own = [*numbers_of_frame("frame of a MovingPoint", one.frame), *_ends_of_ranges(one)]
        return b, MOVING, own, places, functions
    if isinstance(one, ConditionalPoint):
        b = body_index(forces, "body of a point", one.body)
        station = checks.vector("a point of a Path", one.station).tolist()
        bounds = [checks.finite(f"{what} of a ConditionalPoint", getattr(one, what)) for what in ("low", "high")]
        place = list(mobility(forces, one.mobod, one.which_q, "which_q"))
        return b, CONDITIONAL, [*station, *bounds], [place], []
    body, place = one
    return body_index(forces, "body of a point", body), FIXED, checks.vector("a point of a Path", place).tolist(), [], []


def _ends_of_ranges(point: MovingPoint) -> list[float]:
    """Between which numbers each of three coordinates counts, six numbers."""
    if point.ranges is None:
        return [-np.inf, np.inf] * 3
    found = checks.shaped("ranges of a MovingPoint", point.ranges, (3, 2))
    if not (found[:, 0] <= found[:, 1]).all():
        raise ModelError(f"ranges of a MovingPoint are three pairs of numbers in order; got {found.tolist()}")
    return [float(end) for end in found.ravel()]


def _of_one(function: Any) -> Function:
    """A function of one coordinate; a constant may be of none."""
    kind: Any = Function
    checks.instance("a function of a MovingPoint", function, kind, "a function of one coordinate, of mobod.function")
    size = function.get_argument_size()
    if size == 0:
        return Constant(float(function.calc_value([])), 1)
    if size != 1:
        raise ValueError(f"a function of a MovingPoint is of one coordinate; {function!r} has {size} arguments")
    return function
