"""Transmission: what every kind shares.

A new kind is a file beside this one. It provides

1. compiled functions ``length(model, i, x)``, ``speed(model, i, x)`` and ``apply(model, i, x, f)``: l, its speed, and the
   generalized force of f, all without the ratio, from integers i and numbers x on. Forces call ``length`` first: it may leave
   in the record's scratch what the others read;
2. a class derived from `Transmission` with these functions as ``FUNCTIONS``, whose constructor sets ``integers`` and
   ``numbers``, and ``used_functions`` where they evaluate any: a force has them before its own, and the number of the first
   stands behind the integers. The first number of an element is the ratio, which `law` applies. Where what ``length`` leaves
   is gone when that of the next element is there, forces that are computed side by side ask for what is `listed`.

Power is f times the speed, whatever the kind.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...algebra.arrays import Array
from ...algebra.memory import load3, store3
from ...algebra.scalar import store, store_tangent
from ...compiling import generic
from ...decoration.rubber_band_line import Line
from ...errors import ModelWarning, TopologyError
from ...function.routines import Use
from ...mobilizer.base import MobilizedBody
from ...state.state import State
from ...value import Transform, checks
from ...value.attributes import Sealed
from ...value.callers import callers_level
from ...value.frames import frame_or_none
from ...value.stage import Stage
from ..base import Force, body_index, mobility
from ..subsystem import GeneralForceSubsystem

#: What a kind provides: length, speed, apply.
Functions = tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]
#: So many surfaces that paths go through are told in a warning.
MOST_TOLD = 3


class Span(NamedTuple):
    """Part of a path from a point to the next, both fixed to bodies, straight or over a surface, for derivatives.

    Attributes
    ----------
    bodies : tuple of int
        Those of both points, and of the surface that it may bend over, or -1.
    stations : tuple of int
        Places of the points' first numbers, among the transmission's behind its ratio, or those of its first function.
    weight : int
        Place of what its length is multiplied by among the transmission's numbers, or -1 for 1.
    asks : int
        What its kind's ``BEND`` is asked for, -1 for nothing: the spans up to the next that asks share the answer.
    which : int
        Its number among those of which the answer says which bends.
    reads : tuple of int
        Other bodies that the answer depends on, but not with a slope.
    pose : int
        1 where it is no part of a path but all of a `RelativePose`, whose weights of rotation are fixed in the reference frame,
        2 where they are in the other: the bodies are then those of its integers, and its numbers begin at the first station.
    """

    bodies: tuple[int, int, int]
    stations: tuple[int, int]
    weight: int = -1
    asks: int = -1
    which: int = 0
    reads: tuple[int, ...] = ()
    pose: int = 0


class Transmission(Sealed):
    """Transmission of a force that depends on one length. Base class of every kind in `mobod.force.transmission`.

    Parameters
    ----------
    forces : GeneralForceSubsystem
        Of the system whose bodies it names.
    ratio : float
        Length and speed are multiplied by it, and so is the generalized force of a force: a gear.
    """

    INNER = frozenset(
        "BEND FUNCTIONS calc_lines calc_moment_arm_of explain_jump find_ways_through forces integers is_between is_linear "
        "is_of_coordinates listed may_jump numbers reach serve spans used_functions user why_not_finite".split()
    )

    FUNCTIONS: ClassVar[Functions]
    #: How spans bend, see `routines.along_spans`; None where none do.
    BEND: ClassVar[Callable[..., Any] | None] = None
    integers: list[int]
    numbers: list[float]
    #: The functions that it evaluates, its forces' first.
    used_functions: Sequence[Use] = ()
    #: A force that acts along it.
    user: Force | None = None
    #: Whether the generalized force of f is f times that of a unit.
    is_linear = False
    #: Whether it stays as it is, and its rate too, where all the bodies that it names move as one.
    is_between = False
    #: Whether length and rate are of coordinates alone, while forces act on bodies, and turn with these, and add up to nothing.
    is_of_coordinates = False
    #: Whether the length or its slopes may jump as the bodies move.
    may_jump = False

    def __init__(self, forces: GeneralForceSubsystem, integers: list[int], numbers: list[float], ratio: float) -> None:
        self.forces, self.integers = forces, integers
        self.numbers = [checks.finite(f"ratio of a {type(self).__name__}", ratio), *numbers]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of ratio {self.numbers[0]:g}>"

    def serve(self, force: Force) -> None:
        """Act for a force, which has its functions before its own."""
        force.used_functions = [*self.used_functions, *force.used_functions]
        self.user = force

    def listed(self) -> Any:
        """Functions by which many act together in one state, see `path.Listed`; None where there are none."""
        return None

    def reach(self) -> tuple[list[int], list[int]] | None:
        """The bodies that it goes along, and those of whose mobilizers it takes coordinates; None where it may be any."""
        return None

    def spans(self) -> list[Span] | None:
        """Its spans, if it is made of such, and its forces act along them; None where its kind does not say so."""
        return None

    def calc_length(self, state: State) -> float:
        """The length, times the ratio. Needs POSITION."""
        return self._evaluate(state, "calc_length", Stage.POSITION, 0)

    def calc_speed(self, state: State) -> float:
        """The speed, times the ratio. Needs VELOCITY."""
        return self._evaluate(state, "calc_speed", Stage.VELOCITY, 1)

    def calc_lines(self, state: State) -> list[Line]:
        """Its lines at a state at POSITION: straight lines between stations of bodies, where it is a path."""
        return []

    def calc_moment_arms(self, state: State) -> Array:
        """The generalized force of a unit tension, (nu,): minus the gradient of the length, times the ratio. Needs POSITION."""
        self._ready(state, "calc_moment_arms", Stage.POSITION)
        forces, arms = self.calc_unit_pull(state)
        matter = self.forces.get_system().get_matter_subsystem()
        return np.asarray(arms + matter.multiply_by_system_jacobian_transpose(state, forces))

    def calc_unit_pull(self, state: State) -> tuple[Array, Array]:
        """The forces of a unit tension on bodies (nb, 2, 3), in Ground at their origins, and on mobilities (nu,).

        Needs POSITION.
        """
        self._ready(state, "calc_unit_pull", Stage.POSITION)
        record = state.record
        kept = [array.copy() for array in (record.body_forces, record.mobility_forces)]
        try:
            record.body_forces[:], record.mobility_forces[:] = 0.0, 0.0
            self._call(state, 2, -self.numbers[0])
            return record.body_forces.reshape(-1, 2, 3).copy(), record.mobility_forces[:, 0].copy()
        finally:
            record.body_forces[:], record.mobility_forces[:] = kept

    def calc_moment_arm(self, state: State, mobod: MobilizedBody, which_u: int = 0) -> float:
        """The moment arm about one mobility, with the others moving as constraints ask: what OpenSim calls one.

        That is the generalized force of a unit tension on the mobility and on those coupled to it: minus the length's rate at
        unit speed of the mobility, where all speeds are those next to it that fulfil the constraints. Motions and locks hold
        nothing. Needs POSITION.

        Parameters
        ----------
        state : State
        mobod : MobilizedBody
            Whose mobility.
        which_u : int
            Its number among the body's.

        Returns
        -------
        float
            Zero, too, where the constraints hold the mobility still.
        """
        b, which = mobility(self.forces, mobod, which_u, "which_u")
        return self.calc_moment_arm_of(state, int(state.tree.first_u[b]) + which)

    def calc_moment_arm_of(self, state: State, place: int) -> float:
        """`calc_moment_arm` of the mobility at a place in u."""
        return float(self.calc_moment_arms(state) @ coupling(self.forces, state, place))

    def calc_path_points(self, state: State) -> Array:
        """The points of its path at a state, (n, 3) in Ground; none where it is no path. Needs POSITION."""
        self._ready(state, "calc_path_points", Stage.POSITION)
        ends = [end for line in self.calc_lines(state) for end in line]
        found = [state.R_GB[b] @ np.asarray(s) + state.record.p_GB[b, :3].ravel() for b, s in ends]
        kept = [p for k, p in enumerate(found) if k == 0 or not np.array_equal(p, found[k - 1])]
        return np.array(kept).reshape(-1, 3)

    def explain_jump(self, before: State, after: State) -> str:
        """Why it jumps between two states that are next to each other, and the remedy: the end of a sentence."""
        return ""

    def why_not_finite(self, state: State) -> str | None:
        """Why its length is not finite in a state, where it knows."""
        return None

    def find_ways_through(self, state: State) -> list[str]:
        """Sentences about what it goes through and should go over, which each are found once."""
        return []

    def _ready(self, state: State, asked: str, stage: Stage) -> None:
        state.check_owner(self.forces.get_system(), asked)
        if state.stage_number < stage:
            state.refuse(asked, stage)

    def _evaluate(self, state: State, asked: str, stage: Stage, which: int) -> float:
        self._ready(state, asked, stage)
        return float(self.numbers[0] * self._call(state, which))

    def _call(self, state: State, which: int, force: float = 0.0) -> float:
        """The length, or its rate; or let a force act on bodies and mobilities."""
        own = self._own(state)
        length = self.FUNCTIONS[0](own, 0, 1)
        if which == 0:
            return float(length)
        if which == 1:
            return float(self.FUNCTIONS[1](own, 0, 1))
        self.FUNCTIONS[2](own, 0, 1, force)
        return float(length)

    def _own(self, state: State) -> Any:
        """A state's record, in which the pools of forces' numbers are this transmission's."""
        return _OwnNumbers(state.record, np.array(self.integers, np.int64), np.array(self.numbers)[:, None])


class _OwnNumbers:
    """A record, but for the pools of forces' integers and numbers: those of a transmission."""

    def __init__(self, record: Any, integers: Any, numbers: Any) -> None:
        self._record, self.force_integers, self.force_numbers = record, integers, numbers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record, name)


@generic
def seeded(model: Any, p: Any, first: int) -> Any:
    """A point as Duals, whose tangents are by its own places from *first* on; for `Transmission.BEND`."""
    rows = model.body_forces
    store3(rows, 0, 0, p)
    for c in range(3):
        store_tangent(rows, 0, c, first + c, 1.0)
    return load3(rows, 0, 0)


@generic
def put_bend(model: Any, out_of: Any, into: Any, length: Any, which: Any) -> None:
    """Leave the answer of a `Transmission.BEND`."""
    rows = model.body_forces
    store3(rows, 0, 0, out_of)
    store3(rows, 0, 3, into)
    store(rows, 1, 0, length)
    store(rows, 1, 1, which)


def coupling(forces: GeneralForceSubsystem, state: State, place: int) -> Array:
    """The speeds (nu,) next to one that is 1 that constraints allow, by its own; zero where they hold it still."""
    matter = forces.get_system().get_matter_subsystem()
    found = np.zeros(len(state.u))
    found[place] = 1.0
    if not matter.constraints:
        return found
    if state.stage < Stage.VELOCITY:  # rows of all constraints are ready then
        state = state.copy()
        forces.get_system().realize(state, Stage.VELOCITY)
    G = matter.calc_g(state)
    found -= np.linalg.pinv(G, rcond=1e-10) @ (G @ found)
    return np.zeros(len(found)) if abs(found[place]) < 1e-9 else found / found[place]


def warn_of_ways_through(paths: Iterable[Transmission], state: State) -> None:
    """Warn, once for each, of what paths go through and should go over."""
    found = [text for path in paths for text in path.find_ways_through(state)]
    if found:
        more = f"; and {len(found) - MOST_TOLD} more" if len(found) > MOST_TOLD else ""
        warnings.warn("; ".join(found[:MOST_TOLD]) + more, ModelWarning, stacklevel=callers_level())


def check_transmission(forces: GeneralForceSubsystem, what: Any) -> Transmission:
    """Refuse what is none, and one of another system."""
    checks.instance("transmission", what, Transmission, "mobod.force.transmission.Coordinates(...)")
    if what.forces.get_system() is not forces.get_system():
        raise TopologyError(f"{what!r} is made of bodies of another system")
    return what


def placed(forces: GeneralForceSubsystem, name: str, body: Any, frame: Transform | None) -> tuple[int, list[float]]:
    """A body's index, and a frame on it as twelve numbers: rotation, then place."""
    X = frame_or_none(f"frame of {name}", frame)
    return body_index(forces, name, body), [*np.asarray(X.R).ravel().tolist(), *np.asarray(X.p).tolist()]
