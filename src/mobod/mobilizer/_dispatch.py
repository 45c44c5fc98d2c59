"""Dispatch by kind of mobilizer: a branch for the kinds that nearly all mechanisms use, a call by address for the others.

A branch loads q as scalars, calls the functions of the kind's file and stores what they return. These kinds' hinge columns
are constant in F: `Tree` writes them once. Every branch costs all users compile time, so the other kinds have routines,
compiled when a model first has one and called by address: `routine`. So has the reversal of mobilizers: `reversal`.
"""

from typing import Any

from ..algebra import angles
from ..algebra.record import call_routine
from ..compiling import generic
from . import ball, free, pin, slider, translation
from .access import ask_positions, ask_velocities, q1, store_transform, vector3, vector4
from .routine import BY_ADDRESS


@generic
def position(model: Any, b: int, row: int) -> None:
    """Store X_FM of body b in *row*, and H_FM where it depends on q."""
    kind, i = model.kind[b], model.first_q[b]
    if kind == pin.KIND:
        store_transform(model, row, pin.turned(angles.prepared(model.q, i, model.sine, model.cosine)))
    elif kind == slider.KIND:
        store_transform(model, row, slider.transform(q1(model, b)))
    elif kind == translation.KIND:
        store_transform(model, row, translation.transform(vector3(model.q, i)))
    elif kind == ball.KIND:
        store_transform(model, row, ball.transform(vector4(model.q, i)))
    elif kind == free.KIND:
        store_transform(model, row, free.transform(vector4(model.q, i), vector3(model.q, i + 4)))
    elif kind == BY_ADDRESS:
        call_routine(model.kinematics[b], model, b, ask_positions(row))
    if model.reversal[b] != 0:
        call_routine(model.reversal[b], model, b, ask_positions(row))


@generic
def velocity(model: Any, b: int, row: int) -> None:
    """Store HDot_FM u of body b, whose X_FM (in *row*) and H_FM are known; called only where it can differ from zero."""
    if model.kind[b] == BY_ADDRESS:
        call_routine(model.kinematics[b], model, b, ask_velocities(row))
    if model.reversal[b] != 0:
        call_routine(model.reversal[b], model, b, ask_velocities(row))
