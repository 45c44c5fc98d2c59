"""Access of a kind of constraint: it reads its bodies and parameters, and writes its errors and its rows of G."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..algebra import mat33, vec3
from ..algebra.memory import load3, load9, load_spatial, store_spatial
from ..algebra.scalar import load, store, zero
from ..compiling import Routine, generic
from ..function.users import routine_of_kind
from .protocol import POSITIONS


def by_address(positions: Callable[..., None], velocities: Callable[..., None]) -> Routine:
    """The routine of a kind, of ``positions(model, c)`` and ``velocities(model, c)``; see `protocol` for what each writes."""
    return routine_of_kind(kernel, positions, velocities)


def kernel(positions: Callable[..., None], velocities: Callable[..., None]) -> Callable[..., int]:
    """The kernel of which `by_address` makes a routine."""

    def equations(model: Any, c: int, what: int) -> int:
        if what == POSITIONS:
            positions(model, c)
        else:
            velocities(model, c)
        return 0

    return equations


@generic
def body(model: Any, c: int, i: int) -> int:
    """Index of constrained body *i*."""
    return model.constrained_bodies[model.first_constrained_body[c] + i]


@generic
def integer(model: Any, c: int, i: int) -> int:
    """Number *i* of the constraint's integers."""
    return model.constraint_integers[model.constraint_first_integer[c] + i]


@generic
def number(model: Any, c: int, i: int) -> Any:
    """Number *i* of the constraint's parameters."""
    return load(model.constraint_numbers, model.constraint_first_number[c] + i, 0)


@generic
def vector(model: Any, c: int, i: int) -> Any:
    """Three numbers of the constraint's parameters, from *i* on."""
    first = model.constraint_first_number[c] + i
    numbers = model.constraint_numbers
    return load(numbers, first, 0), load(numbers, first + 1, 0), load(numbers, first + 2, 0)


@generic
def matrix(model: Any, c: int, i: int) -> Any:
    """Nine numbers of the constraint's parameters, from *i* on: a rotation row by row."""
    x, y, z = vector(model, c, i), vector(model, c, i + 3), vector(model, c, i + 6)
    return *x, *y, *z


@generic
def from_origin(model: Any, b: int, station: Any) -> Any:
    """A station of body b from b's origin, in Ground."""
    return mat33.mul_vec(load9(model.R_GB, b, 0), station)


@generic
def velocity_at(model: Any, b: int, r: Any) -> Any:
    """Velocity in Ground of the material point of body b that is at *r* from its origin."""
    w, v = load_spatial(model.V_GB, b)
    return vec3.add(v, vec3.cross(w, r))


@generic
def centripetal(model: Any, b: int, r: Any) -> Any:
    """Centripetal acceleration of that point: w x (w x r)."""
    w = load3(model.V_GB, b, 0)
    return vec3.cross(w, vec3.cross(w, r))


@generic
def put_position_error(model: Any, c: int, k: int, error: Any) -> None:
    """The error of position equation *k*."""
    store(model.position_error, model.first_row[c] + k, 0, error)


@generic
def put_velocity_offset(model: Any, c: int, k: int, offset: Any) -> None:
    """The velocity error of equation *k* less its row of G times u: zero for most kinds, which need not write it."""
    store(model.velocity_offset, model.first_row[c] + k, 0, offset)


@generic
def put_acceleration_offset(model: Any, c: int, k: int, offset: Any) -> None:
    """The acceleration error of equation *k* less its row of G times udot."""
    store(model.acceleration_offset, model.first_row[c] + k, 0, offset)


@generic
def put_wrench(model: Any, c: int, k: int, i: int, torque: Any, force: Any) -> None:
    """Wrench of a unit multiplier of equation *k* on constrained body *i*: at its origin, in Ground."""
    place = model.first_wrench[c] + k * model.num_constrained_bodies[c] + i
    store_spatial(model.wrenches, place, torque, force)


@generic
def put_force(model: Any, c: int, k: int, i: int, r: Any, force: Any) -> None:
    """The same of a force at *r* from the body's origin."""
    put_wrench(model, c, k, i, vec3.cross(r, force), force)


# ---------------------------------------------------------------------------------------------- of mobilizers


@generic
def mobilizer(model: Any, c: int, i: int) -> int:
    """Index of the body of constrained mobilizer *i*."""
    return model.constrained_mobilizers[model.first_mobilizer[c] + i]


@generic
def coordinate(model: Any, c: int, i: int, j: int) -> Any:
    """Coordinate *j* of constrained mobilizer *i*: of those that the modelling choice has."""
    return load(model.q, model.first_q[mobilizer(model, c, i)] + j, 0)


@generic
def coordinate_rate(model: Any, c: int, i: int, j: int) -> Any:
    """Its rate; known at VELOCITIES."""
    return load(model.q_dot, model.first_q[mobilizer(model, c, i)] + j, 0)


@generic
def speed(model: Any, c: int, i: int, j: int) -> Any:
    """Speed *j* of constrained mobilizer *i*."""
    return load(model.u, model.first_u[mobilizer(model, c, i)] + j, 0)


@generic
def coordinate_place(model: Any, c: int, k: int, i: int, j: int) -> int:
    """The place of the derivative of position error *k* by coordinate *j* of constrained mobilizer *i*."""
    place = model.first_coordinate[c] + k * model.num_coordinates[c] + j
    for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + i):
        place += model.num_q[model.constrained_mobilizers[at]]
    return place


@generic
def speed_place(model: Any, c: int, k: int, i: int, j: int) -> int:
    """The place of the coefficient in equation *k* of speed *j* of constrained mobilizer *i*."""
    place = model.first_speed[c] + k * model.num_speeds[c] + j
    for at in range(model.first_mobilizer[c], model.first_mobilizer[c] + i):
        place += model.num_u[model.constrained_mobilizers[at]]
    return place


@generic
def put_coordinate_coefficient(model: Any, c: int, k: int, i: int, j: int, x: Any) -> None:
    """The derivative of position error *k* by coordinate *j* of constrained mobilizer *i*."""
    store(model.coordinate_coefficients, coordinate_place(model, c, k, i, j), 0, x)


@generic
def add_coordinate_coefficient(model: Any, c: int, k: int, i: int, j: int, x: Any) -> None:
    """The same added to what is there, for functions that take a coordinate more than once."""
    place = coordinate_place(model, c, k, i, j)
    store(model.coordinate_coefficients, place, 0, load(model.coordinate_coefficients, place, 0) + x)


@generic
def put_speed_coefficient(model: Any, c: int, k: int, i: int, j: int, x: Any) -> None:
    """The coefficient of speed *j* of constrained mobilizer *i* in equation *k*, which is not a position equation."""
    store(model.speed_coefficients, speed_place(model, c, k, i, j), 0, x)


@generic
def add_speed_coefficient(model: Any, c: int, k: int, i: int, j: int, x: Any) -> None:
    """The same added to what is there."""
    place = speed_place(model, c, k, i, j)
    store(model.speed_coefficients, place, 0, load(model.speed_coefficients, place, 0) + x)


@generic
def clear_coordinate_coefficients(model: Any, c: int) -> None:
    """Set all coordinate coefficients to zero."""
    for at in range(model.num_p[c] * model.num_coordinates[c]):
        store(model.coordinate_coefficients, model.first_coordinate[c] + at, 0, zero(load(model.time, 0, 0)))


@generic
def clear_speed_coefficients(model: Any, c: int) -> None:
    """Set all speed coefficients, of velocity and acceleration equations, to zero."""
    first, n = model.first_speed[c], model.num_speeds[c]
    for at in range(model.num_p[c] * n, (model.num_p[c] + model.num_v[c] + model.num_a[c]) * n):
        store(model.speed_coefficients, first + at, 0, zero(load(model.time, 0, 0)))
