"""CompiledFunctions: a force that its user writes as functions of numbers; checked, frozen, and made into a routine.

Integers: the bodies, then the mobilizers. Numbers: the parameters.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy.typing as npt

from ..algebra.memory import add_spatial
from ..algebra.scalar import load, zero
from ..compiling import Routine, generic
from ..errors import ModelError
from ..function import users
from ..function.users.surroundings import Counts, called, places
from ..function.users.unrolled import unrolled
from ..state.named_parameters import names_and_values
from .base import body_index
from .routines import kernel

Function = Callable[..., Any]

#: What has been tried out with all scalars, by fingerprint, name and shape: once is enough for a thousand elements.
_tried: set[Any] = set()
#: The arguments of each function.
ARGUMENTS = {
    "force": ("t", "X", "V", "q", "u", "parameters"),
    "potential_energy": ("t", "X", "q", "parameters"),
    "power_dissipation": ("t", "X", "V", "q", "u", "parameters"),
}


@dataclasses.dataclass(frozen=True, eq=False)
class CompiledFunctions:
    """A force as functions of numbers and tuples, for ``Custom(forces, compiled=CompiledFunctions(...))``.

    The functions are written as those of `mobod.mobilizer.CompiledFunctions`: with ``+ - * / **``, comparisons and what is in
    `mobod.algebra`, ``where(condition, a, b)`` in place of ``if`` on a number. They are called with numbers, with eight states
    at a time and with dual numbers, may call other functions that are written so, and are frozen when the force is made, with
    the values of outer variables that they use.

    What they get:

    - *t*, the time;
    - *X*, for each of *bodies* the pair (R, p): R_GB as nine numbers by rows, and p_GB;
    - *V*, for each of *bodies* the pair (w, v): angular and linear velocity of its origin, in Ground;
    - *q* and *u*, for each of *mobilizers* a tuple of its coordinates, or speeds;
    - *parameters*, a tuple.

    Parameters
    ----------
    force : callable
        ``force(t, X, V, q, u, parameters) -> (F, f)``: F has for each of *bodies* the pair (torque, force), in Ground, the
        force at the body's origin; f has for each of *mobilizers* a tuple of generalized forces, one a speed. With no bodies
        F is ``()``, with no mobilizers f.
    potential_energy : callable, optional
        ``potential_energy(t, X, q, parameters) -> number``. The force has none unless given.
    power_dissipation : callable, optional
        ``power_dissipation(t, X, V, q, u, parameters) -> number``: what is turned into heat. Nothing unless given.
    bodies : sequence of MobilizedBody
        The bodies that it acts on, or whose motion it depends on; Ground may be among them.
    mobilizers : sequence of MobilizedBody
        The bodies whose mobilizers' mobilities it acts on, or whose coordinates or speeds it depends on.
    parameters : sequence of float, or mapping of str to float
        In a default state; a state can have its own, see `Custom.set_parameters`. A mapping gives them names, by which
        `Custom.set_parameter` changes one; functions get the values as a tuple in the mapping's order.
    depends_only_on_positions : bool
        Whether the force is a function of X, q and the parameters alone: it is not recomputed when only u changes.

    Examples
    --------
    >>> import mobod as mb
    >>> system, state = mb.examples.double_pendulum.build()
    >>> def torque(t, X, V, q, u, parameters):
    ...     ((rate,),) = u
    ...     return (), ((-parameters[0] * rate * rate * rate,),)
    >>> functions = mb.force.CompiledFunctions(torque, mobilizers=[system.matter.bodies["lower"]], parameters=[0.5])
    >>> drag = mb.force.Custom(system.forces, compiled=functions)
    >>> state = system.realize_topology()
    >>> state.u = 0.0, 2.0
    >>> system.realize(state)
    >>> drag.calc_force_contribution(state)[2].round(3)
    array([ 0., -4.])
    """

    force: Callable[..., Any]
    potential_energy: Callable[..., Any] | None = None
    power_dissipation: Callable[..., Any] | None = None
    bodies: Sequence[Any] = ()
    mobilizers: Sequence[Any] = ()
    parameters: npt.ArrayLike | Mapping[str, float] = ()
    depends_only_on_positions: bool = False


def looked_up(forces: Any, functions: Any) -> tuple[list[int], Counts, list[float]]:
    """The integers, the shape and the parameters of compiled functions."""
    bodies = [body_index(forces, "one of bodies", body) for body in functions.bodies]
    mobilizers = [body_index(forces, "one of mobilizers", body) for body in functions.mobilizers]
    matter = forces.get_system().get_matter_subsystem()
    facts = [matter.body_list[b].facts for b in mobilizers]
    for b, one in zip(mobilizers, facts, strict=True):
        if one.has_quaternion:
            raise ModelError(
                f"{matter.body_list[b]!r} has a quaternion or three angles, as a state chooses, so that its q has no "
                "fixed size: name it among bodies, and apply a torque"
            )
    parameters = users.check_parameters(names_and_values(functions.parameters)[1])
    return bodies + mobilizers, Counts.of(len(bodies), facts, len(parameters)), parameters


def routine_of(functions: CompiledFunctions, shape: Counts, parameters: tuple[float, ...], each: bool = False) -> Routine:
    """The routine of users' functions, which are checked and frozen; of *each* of many sets of bodies and mobilizers, if so."""
    users.check_number_of_parameters(shape.num_parameters)
    frozen = {
        name: users.freeze(f, name, arguments)
        for name, arguments in ARGUMENTS.items()
        if (f := getattr(functions, name)) is not None
    }
    if "force" not in frozen:
        raise ModelError("CompiledFunctions needs a force; the other functions are optional")
    for name, f in frozen.items():
        tried = f.fingerprint, name, shape
        check, known = functools.partial(_check_force if name == "force" else _check_number, f, shape), tried in _tried
        users.try_out(f, places(ARGUMENTS[name], shape, parameters), shape.counts, check, numbers_only=known)
        if f.fingerprint is not None:
            _tried.add(tried)
    return users.routine_of("forces" if each else "force", frozen, shape, lambda: _kernel(frozen, shape, each))


def _kernel(frozen: dict[str, users.Frozen], shape: Counts, each: bool) -> Function:
    of = {name: called(f.function, ARGUMENTS[name], shape, "force_integers", "force_numbers") for name, f in frozen.items()}
    lines = ["F, f = force(model, i, x)"]
    for k in range(shape.num_bodies):
        lines.append(f"add_spatial(model.body_forces, model.force_integers[i + {k}], F[{k}][0], F[{k}][1])")
    for j, n in enumerate(shape.num_u):
        lines.append(f"u{j} = model.first_u[model.force_integers[i + {shape.num_bodies + j}]]")
        for k in range(n):
            place = f"u{j} + {k}"
            lines.append(f"store(model.mobility_forces, {place}, 0, load(model.mobility_forces, {place}, 0) + f[{j}][{k}])")
    add = unrolled("model, i, x", *lines, force=of["force"], add_spatial=add_spatial)
    energy, power = of.get("potential_energy"), of.get("power_dissipation")
    if each:
        size = shape.num_bodies + len(shape.num_u)
        return kernel(_on_each(add, size), energy and _sum_over_each(energy, size), power and _sum_over_each(power, size))
    return kernel(add, energy, power)


def _on_each(add: Function, size: int) -> Function:
    """*add* for all sets, of as many bodies and mobilizers: see `for_each`."""

    @generic
    def of_all(model: Any, i: int, x: int) -> None:
        for k in range(model.force_integers[i]):
            add(model, i + 2 + size * k, x + model.force_integers[i + 1] * k)

    return of_all


def _sum_over_each(function: Function, size: int) -> Function:
    """The sum of a function over all sets."""

    @generic
    def of_all(model: Any, i: int, x: int) -> Any:
        total = zero(load(model.time, 0, 0))
        for k in range(model.force_integers[i]):
            total = total + function(model, i + 2 + size * k, x + model.force_integers[i + 1] * k)
        return total

    return of_all


def _check_number(f: users.Frozen, shape: Counts, value: Any, arguments: Any) -> None:
    users.check_tuples(f"{f.what} has to return a number", value, ())


def _check_force(f: users.Frozen, shape: Counts, value: Any, arguments: Any) -> None:
    if not (isinstance(value, tuple) and len(value) == 2):
        raise ModelError(
            f"{f.what} has to return a pair (F, f), of forces on bodies and of generalized forces; it returned {value!r}"
        )
    F, g = value
    n, m = shape.num_bodies, len(shape.num_u)
    users.check_tuples(f"F of {f.what} has to be a tuple of {n} pairs (torque, force), each of three numbers", F, (n, 2, 3))
    users.check_tuples(
        f"f of {f.what} has to be a tuple of {m} tuples, of {list(shape.num_u)} numbers", g, [(k,) for k in shape.num_u]
    )
