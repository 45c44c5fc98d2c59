"""Kinds of force called by address: a kind's functions made into one routine, compiled when a model first has the kind.

A routine takes the record, the first element of a run, the one after its last, and a request: FORCES adds
to body_forces, mobility_forces and particle_forces of the record, and writes z_dot; ENERGY and POWER write the potential
energies, or the powers dissipated, into `work_e`, which is zero before. One call serves a whole run of elements. Its return
value is unused.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..algebra.scalar import load, store, zero
from ..compiling import Routine, RoutineWithOneApart, generic
from ..function.users import routine_of_kind
from .pools import number

#: The requests to a routine.
FORCES, ENERGY, POWER = 0, 1, 2

#: The requests to the routine of a force along a path, see `along_path` and `along_spans`; the last one is of the first bend.
GEOMETRY, RATE, LAW, BEND = 0, 1, 2, 3

#: The `kind` of all force elements that are called by address, and of the one that is not.
BY_ADDRESS, GRAVITY = -1, 1


def by_address(
    add: Callable[..., Any],
    energy: Callable[..., Any] | None = None,
    power: Callable[..., Any] | None = None,
    *,
    with_z: bool = False,
    of_one: Callable[..., Any] | None = None,
) -> Routine:
    """The routine of a kind, of functions of the record and of the places where an element's integers and numbers start.

    ``add(model, integers, numbers)`` adds the forces. ``energy(model, integers, numbers)`` gives the potential energy and
    ``power(model, integers, numbers)`` the power dissipated; None where they are zero. With *with_z* each takes the place of
    the first z as a last argument, and *add* writes z_dot.

    ``of_one(model, first, end)`` adds the forces of a whole run of elements in one state of float64, in place of *add*.
    """
    if of_one is None or energy is None or power is None:
        return routine_of_kind(partial(kernel, with_z=with_z), add, energy, power, shape=with_z)
    whole, run = kernel(add, energy, power, with_z=with_z), _all_three(of_one, _storing_loop(energy), _storing_loop(power))
    for made, name in ((whole, "run"), (run, "run.of_one")):
        made.__module__, made.__qualname__ = add.__module__, f"{add.__qualname__}.{name}"
    return RoutineWithOneApart(whole, run)


def kernel(
    add: Callable[..., Any], energy: Callable[..., Any] | None, power: Callable[..., Any] | None, *, with_z: bool = False
) -> Callable[..., int]:
    """The function that `by_address` makes a routine of."""
    force, of_energy, of_power = (_with_z(f) if f is not None and not with_z else f for f in (add, energy, power))
    return _all_three(_loop(force), _storing_loop(of_energy), _storing_loop(of_power))


def _with_z(function: Callable[..., Any]) -> Callable[..., Any]:
    @generic
    def without_z(model: Any, integers: int, numbers: int, z: int) -> Any:
        return function(model, integers, numbers)

    return without_z


def _loop(function: Any) -> Any:
    @generic
    def apply(model: Any, first: int, end: int) -> None:
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                function(model, model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e])

    return apply


@generic
def _nothing(model: Any, first: int, end: int) -> None:
    """Of what is zero nothing is stored."""


def _storing_loop(function: Any) -> Any:
    if function is None:
        return _nothing

    @generic
    def keep(model: Any, first: int, end: int) -> None:
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
                store(model.work_e, e, 0, function(model, i, x, z))

    return keep


def _all_three(forces: Any, energies: Any, powers: Any) -> Callable[..., int]:
    def run(model: Any, first: int, end: int, what: int) -> int:
        if what == FORCES:
            forces(model, first, end)
        elif what == ENERGY:
            energies(model, first, end)
        else:
            powers(model, first, end)
        return 0

    return run


def along_path(force: Callable[..., Any], path: Any, ratio: int, head: int) -> Routine:
    """The routine of a force that is a function of one length, its rate, the force's z and time, for derivatives.

    ``force(model, integers, numbers, z, length, speed)`` is its law, *path* the length, speed and apply of a transmission,
    whose ratio is number *ratio* of the force's, and whose integers are behind *head* ones. The routine leaves in the first
    numbers of Ground's wrench, which pushes nothing: of the GEOMETRY length and rate, and adds the forces of a unit along the
    path to bodies and mobilities; the RATE again, after the GEOMETRY at other velocities; the force along the path by its LAW,
    at the length and rate that stand there.
    """
    length, speed, apply = path

    @generic
    def act(model: Any, i: int, x: int, z: int, what: int) -> None:
        out, own, of_path, n = model.body_forces, number(model, x + ratio), i + head, x + ratio + 1
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))
        elif what == RATE:
            store(out, 0, 0, own * speed(model, of_path, n))
        else:
            own_length = own * length(model, of_path, n)
            own_speed = own * speed(model, of_path, n)
            apply(model, of_path, n, own + zero(own_length))
            store(out, 0, 0, own_length)
            store(out, 0, 1, own_speed)

    act.__module__, act.__qualname__ = force.__module__, f"{force.__qualname__}.along.{length.__module__.rpartition('.')[2]}"
    return routine_of_kind(_along, act)


def along_spans(force: Callable[..., Any], bend: Callable[..., Any] | None, ratio: int, head: int) -> Routine:
    """The same of a force along a path whose spans are known, for Duals: its LAW; and from BEND on how spans bend.

    ``bend(model, integers, numbers, asks)`` of the transmission leaves the directions out of the first point and into the
    second, in Ground, in Ground's wrench, and in that of the next body the length between the points and which span bends, -1
    for none, see `transmission.base.Span`; None where none does. Tangents are by the places of both, in Ground.
    """

    @generic
    def act(model: Any, i: int, x: int, z: int, what: int) -> None:
        out = model.body_forces
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))

    @generic
    def act_or_bend(model: Any, i: int, x: int, z: int, what: int) -> None:
        out = model.body_forces
        if what == LAW:
            store(out, 0, 0, force(model, i, x, z, load(out, 0, 0), load(out, 0, 1)))
        else:
            bend(model, i + head, x + ratio + 1, what - BEND)  # type: ignore[misc]

    made, of_bends = (act, "") if bend is None else (act_or_bend, f".{bend.__module__.rpartition('.')[2]}")
    made.__module__, made.__qualname__ = force.__module__, f"{force.__qualname__}.along_spans{of_bends}"
    return routine_of_kind(_along, made)


#: What a routine of `on_body` leaves in `control_work`: changes of a torque and a force at a point of the body, row by row, by
#: turns of the body and shifts of that point, beyond what turning along with the body changes them by, then by the body's
#: angular velocity and the point's velocity; these themselves; where their axes are in Ground, a column each; the point, from
#: the body's origin; changes by each z.
BY_MOTION, BY_VELOCITY, WRENCH, AXES, POINT, BY_Z = 0, 36, 72, 78, 87, 90
#: How many z it may have; numbers in all.
MOST_Z_ON_BODY, NUMBERS_ON_BODY = 2, 102


def on_body(leave: Callable[..., Any]) -> Routine:
    """The routine, for derivatives, of a force on one body that depends on that body's motion, and on z of its own.

    ``leave(model, integers, numbers, z, rows)`` leaves `NUMBERS_ON_BODY` numbers, all along the same axes.
    """
    return routine_of_kind(_on_body, leave)


def _on_body(leave: Any) -> Callable[..., int]:
    def run(model: Any, e: int, unused: int) -> int:
        i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
        leave(model, i, x, z, model.control_work)
        return 0

    return run


@generic
def leave_row(rows: Any, k: int, value: Any, by_motion: Any, by_velocity: Any) -> None:
    """Number k of six of a wrench, and its changes, six by each."""
    store(rows, WRENCH + k, 0, value)
    for j, x in enumerate(by_motion):
        store(rows, BY_MOTION + 6 * k + j, 0, x)
    for j, x in enumerate(by_velocity):
        store(rows, BY_VELOCITY + 6 * k + j, 0, x)


@generic
def leave_place(rows: Any, R: Any, p: Any) -> None:
    """Axes and point."""
    for j, x in enumerate(R):
        store(rows, AXES + j, 0, x)
    for j, x in enumerate(p):
        store(rows, POINT + j, 0, x)


def _along(act: Any) -> Callable[..., int]:
    def run(model: Any, e: int, what: int) -> int:
        act(model, model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e], what)
        return 0

    return run
