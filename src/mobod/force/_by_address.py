"""Kinds of force called by address: a kind's functions made into one routine, compiled when a model first has the kind.

A routine gets the record, the first element of a run, and four times the element after its last, plus what is asked: FORCES,
which it adds to body_forces, mobility_forces and particle_forces of the record, and writes its z_dot; ENERGY, the elements'
potential energies, or POWER, what they dissipate, into `work_e`, which is zero before. One call serves a whole run of elements,
at the speed of an array. What it returns is of no account.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._jit import Routine, generic, routine
from ..algebra.scalar import store

#: What a routine is asked for.
FORCES, ENERGY, POWER = 0, 1, 2

#: The `kind` of all force elements that are called by address, and of the one that is not.
BY_ADDRESS, GRAVITY = -1, 1


def by_address(
    add: Callable[..., Any],
    energy: Callable[..., Any] | None = None,
    power: Callable[..., Any] | None = None,
    *,
    with_z: bool = False,
) -> Routine:
    """The routine of a kind, of functions of the record and of the places where an element's integers and numbers start.

    ``add(model, integers, numbers)`` adds the forces. ``energy(model, integers, numbers)`` gives the potential energy and
    ``power(model, integers, numbers)`` the power that is dissipated, where there can be any. With *with_z* each takes the
    place of the first z as a last argument, and *add* writes z_dot.
    """
    force, of_energy, of_power = (_with_z(f) if f is not None and not with_z else f for f in (add, energy, power))
    if of_energy is not None and of_power is not None:
        run = _all_three(force, of_energy, of_power)
    elif of_energy is not None:
        run = _with_energy(force, of_energy)
    elif of_power is not None:
        run = _with_power(force, of_power)
    else:
        run = _forces_only(force)
    run.__module__, run.__qualname__ = add.__module__, "run"  # the name of its file in the cache
    return routine(run)


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


def _storing_loop(function: Any) -> Any:
    @generic
    def keep(model: Any, first: int, end: int) -> None:
        for e in range(first, end):
            if model.force_enabled[e] == 1:
                i, x, z = model.force_first_integer[e], model.force_first_number[e], model.force_first_z[e]
                store(model.work_e, e, 0, function(model, i, x, z))

    return keep


def _all_three(add: Any, energy: Any, power: Any) -> Callable[..., int]:
    forces, energies, powers = _loop(add), _storing_loop(energy), _storing_loop(power)

    def run(model: Any, first: int, end_and_what: int) -> int:
        end, what = end_and_what >> 2, end_and_what & 3
        if what == FORCES:
            forces(model, first, end)
        elif what == ENERGY:
            energies(model, first, end)
        else:
            powers(model, first, end)
        return 0

    return run


def _with_energy(add: Any, energy: Any) -> Callable[..., int]:
    forces, energies = _loop(add), _storing_loop(energy)

    def run(model: Any, first: int, end_and_what: int) -> int:
        end, what = end_and_what >> 2, end_and_what & 3
        if what == FORCES:
            forces(model, first, end)
        elif what == ENERGY:
            energies(model, first, end)
        return 0

    return run


def _with_power(add: Any, power: Any) -> Callable[..., int]:
    forces, powers = _loop(add), _storing_loop(power)

    def run(model: Any, first: int, end_and_what: int) -> int:
        end, what = end_and_what >> 2, end_and_what & 3
        if what == FORCES:
            forces(model, first, end)
        elif what == POWER:
            powers(model, first, end)
        return 0

    return run


def _forces_only(add: Any) -> Callable[..., int]:
    forces = _loop(add)

    def run(model: Any, first: int, end_and_what: int) -> int:
        if end_and_what & 3 == FORCES:
            forces(model, first, end_and_what >> 2)
        return 0

    return run
