"""The way into kernels of one state, which look at what a caller has given themselves: see `algebra.object_access`."""

from collections.abc import Callable
from typing import Any

from ..algebra import object_access as objects
from ..algebra.record import call_routine
from ..algebra.scalar import load, store
from ..compiling import generic
from ..state.fields import Record
from ..state.validity import ACCELERATIONS, EVERYTHING, KEPT_FORCES
from ..tree import inverse_dynamics
from ..tree.realize import DONE, NOT_PLAIN, advance_with, all_finite, takes_long


def kernel_of(find: Callable[..., None]) -> objects.KernelForCallers:
    """A kernel that lets ``find(model, fresh, inverse, u_dot, whole, by_q, by_u, by_z, by_forces, by_time)`` write results."""

    # fmt: off
    @objects.compiled_for_callers
    def calc_derivatives(
        block: Any, routine: Any, valid: Any, own_q: Any, own_u: Any, q: Any, u: Any, forces: Any, u_dot: Any, whole: Any,
        kind: Any, by_z: Any,
    ) -> Any:
        # fmt: on
        """Derivatives of a state's udot: new arrays in a new tuple of this *kind*, by q, u, z, forces, time; or a status.

        By z they are written into *by_z*. What is not *valid* of the state *routine* computes first, `realize.advance` by its
        address. q and u are as a caller has given them: they become the state's own, unless they are these. *forces* act on the
        mobilities beside the elements', for this call alone, unless they are empty. Where there are *u_dot*, derivatives by q
        and u are those of what is missing for these, of a state whose forces are valid. It is one kernel because both find the
        same, which takes most of the time to compile. *whole* is a tuple of what does not change from call to call.
        """
        if not (objects.is_like(q, own_q) and objects.is_like(u, own_u)):
            return objects.as_object(NOT_PLAIN)
        known = objects.number(valid)
        fresh = known & ACCELERATIONS == 0  # what constraints factor is as their accelerations have left it
        model, status, more = objects.record_of(block), DONE, not objects.is_row(forces, own_u, 0)
        n, inverse = model.nu, not objects.is_row(u_dot, own_u, 0)
        if more and not (objects.is_row(forces, own_u, n) and all_finite(objects.numbers(forces), n)):
            return objects.as_object(NOT_PLAIN)
        objects.copy(q, own_q)
        objects.copy(u, own_u)
        by_q, by_u, by_forces = objects.new_matrix(n), objects.new_matrix(n), objects.new_matrix(n)
        by_time = objects.new_row(n)
        found = objects.new_tuple(kind, (by_q, by_u, objects.keep(by_z), by_forces, by_time))
        if objects.is_nothing(found):
            return found
        released = objects.release_gil(takes_long(model))
        if more:
            status = advance_with(model, objects.integer(routine), known, EVERYTHING | KEPT_FORCES, objects.numbers(forces))
        elif known & EVERYTHING != EVERYTHING:
            status = call_routine(objects.integer(routine), model, known, EVERYTHING | KEPT_FORCES)
        if status == DONE:
            Dq, Du, Df, Dt = objects.matrix(by_q), objects.matrix(by_u), objects.matrix(by_forces), objects.numbers(by_time)
            find(model, fresh, inverse, objects.numbers(u_dot), whole, Dq, Du, objects.matrix(by_z), Df, Dt)
        objects.acquire_gil(released)
        if status == DONE:
            return found
        objects.drop(found)
        return objects.as_object(status)

    return calc_derivatives


@generic
def both_in(whole: Any, k: int) -> Any:
    """Scratch by two names, a column at a time and eight."""
    return objects.matrix(objects.item(whole, k)), objects.blocks(objects.item(whole, k + 1))


@generic
def put_accelerations(model: Record, given: bool, u_dot: Any, udot: Any, A: Any) -> None:
    """The *u_dot* that is given, or the state's own, and the accelerations of bodies with it."""
    for i in range(model.nu):
        if given:
            store(udot, i, 0, load(u_dot, i, 0))
        else:
            store(udot, i, 0, load(model.u_dot, i, 0))
    if given:
        inverse_dynamics.calc_body_acceleration_from_u_dot(model, udot, A)
    else:
        for b in range(model.nb):
            for i in range(6):
                store(A, b, i, load(model.A_GB, b, i))
