"""Records with tangents: every kernel on Duals gives the derivatives of what it gives on float64, and the same values.

Against differences of fourth order 1e-7 of the largest entry, as in `test_laws`: their truncation and rounding, times the
derivatives of trees whose mass matrices have conditions of 1e3. Values to 1e-13, or 1e-10 behind the mass matrix: the same
operations, but multiply and add may be fused elsewhere.
"""

import numpy as np
import pytest
from test_lanes import CALLS, EVERYTHING, NT, SHAPES, kernel_named

import mobod as mb
from mobod.algebra.record import DualRows
from mobod.tree import inverse_dynamics, realize as _realize

DIFFERENCE = 1e-7
POSITIONS = ("R_GB", "p_GB", "p_PB_G", "p_BM_G", "H", "com_G", "inertia_G")
VELOCITIES = ("q_dot", "V_GB", "coriolis", "centrifugal")
ACCELERATIONS = ("u_dot", "q_dot_dot", "A_GB")
FORWARD, REVERSE = mb.Direction


@pytest.fixture(params=[(d, e) for d in ("forward", "reverse", "mixed") for e in ("quaternions", "euler")], ids="-".join)
def model(request, make):
    """A random tree of every kind under gravity, realized."""
    direction, angles = request.param
    n, mixed = len(mb.mobilizer.KINDS) + 2, direction == "mixed"
    tree = make.tree(n, direction={"forward": FORWARD, "reverse": REVERSE}.get(direction), rotors=mixed)
    if angles == "euler":
        tree.matter.set_use_euler_angles(tree.state, True)
        tree.system.realize_model(tree.state)
    tree.randomize()
    return tree


@pytest.fixture
def one(make):
    """A tree of every kind with quaternions, realized."""
    tree = make.tree(len(mb.mobilizer.KINDS), direction=None)
    tree.randomize()
    return tree


def with_tangents(state):
    """A record with tangents, at the state's time, q and u."""
    record = state.tree.new_record(with_tangents=True)
    for name in ("time", "q", "u"):
        getattr(record, name)[:] = getattr(state.record, name)
    return record


def realize(record):
    address = _realize.advance.address(with_tangents=record.with_tangents)
    assert _realize.realize(record, address, 0, EVERYTHING) == _realize.DONE
    return record


def moved(record, dq, du, h):
    """A record of float64, realized where q and u have gone h along a direction."""
    other = record.copy()
    other.q[:, 0] += h * dq
    other.u[:, 0] += h * du
    return realize(other)


def results(record, names):
    return np.concatenate([np.ravel(getattr(record, name)) for name in names])


def tangents(record, names):
    return np.concatenate([getattr(record, name).tangents.reshape(-1, 8) for name in names])


def test_tangents_by_every_coordinate_and_speed_are_differences(model, close, derivative):
    """All of the Jacobian of udot, and of what leads to it, eight columns a call."""
    state = model.state
    record, nq, n = with_tangents(state), len(state.q), len(state.q) + len(state.u)
    for first in range(0, n, 8):
        columns = range(first, min(first + 8, n))
        for k, j in enumerate(columns):
            (record.q if j < nq else record.u).tangents[j if j < nq else j - nq, 0, k] = 1.0
        realize(record)
        record.q.tangents[:] = record.u.tangents[:] = 0.0
        for k, j in enumerate(columns):
            direction = np.eye(n)[j]
            for names in (POSITIONS, VELOCITIES, ACCELERATIONS):
                expected = derivative(
                    lambda h, d=direction, names=names: results(moved(state.record, d[:nq], d[nq:], h), names)
                )
                noise = 0.01 * np.abs(results(state.record, names)).max()  # what does not change has differences of rounding
                close(tangents(record, names)[:, k], expected, DIFFERENCE, max(noise, np.abs(expected).max()))


def test_values_are_those_of_float64(model, close):
    record = with_tangents(model.state)
    record.q.tangents[:] = record.u.tangents[:] = 1.0
    realize(record)
    for names, tolerance in ((POSITIONS + VELOCITIES, 1e-13), (ACCELERATIONS, 1e-10)):
        for name in names:
            close(getattr(record, name).values, getattr(model.state.record, name), tolerance)


def test_nothing_has_a_tangent_that_was_given_none(one):
    """Constants of the tree, columns written once, and whatever an earlier realization left."""
    record = with_tangents(one.state)
    record.q.tangents[:] = record.u.tangents[:] = 1.0
    realize(record)
    assert record.u_dot.tangents.any() and record.H.tangents.any()
    record.q.tangents[:] = record.u.tangents[:] = 0.0
    realize(record)
    for name in (*POSITIONS, *VELOCITIES, *ACCELERATIONS, "R_FM", "p_FM", "H_FM", "body_forces", "gain", "d_inverse"):
        assert not getattr(record, name).tangents.any(), name


def test_a_new_record_is_at_the_default_coordinates_without_tangents(one):
    tree = one.state.tree
    plain, duals = tree.new_record(), tree.new_record(with_tangents=True)
    for name in ("q", "R_FM", "R_GB", "H_FM", "H_MF"):
        assert np.array_equal(getattr(duals, name).values, getattr(plain, name))
    assert np.count_nonzero(duals.buffer) == np.count_nonzero(plain.buffer), "nothing but the values"


def test_time_has_tangents_too(one):
    """Nothing built in depends on time; what does will find its tangent."""
    record = with_tangents(one.state)
    record.time.tangents[0, 0, 3] = 1.0
    realize(record)
    assert not record.u_dot.tangents.any() and record.time.tangents[0, 0, 3] == 1.0


def test_realization_of_duals_in_plain_python_is_the_compiled_one(one, close):
    compiled = with_tangents(one.state)
    compiled.q.tangents[:] = one.rng.normal(size=compiled.q.tangents.shape)
    compiled.u.tangents[:] = one.rng.normal(size=compiled.u.tangents.shape)
    plain = compiled.copy()
    realize(compiled)
    assert _realize.advance.python(plain, 0, EVERYTHING) == _realize.DONE
    for name in (*POSITIONS, *VELOCITIES, *ACCELERATIONS):
        a, b = getattr(plain, name), getattr(compiled, name)
        close(a.values, b.values, 1e-9)
        close(a.tangents, b.tangents, 1e-9)


def test_inverse_dynamics_of_forward_dynamics_leaves_nothing_and_no_tangent(one, close):
    """Compiled, with fields of Duals as arguments: an identity in q and u, so that its derivatives vanish too."""
    record = with_tangents(one.state)
    record.q.tangents[:] = one.rng.normal(size=record.q.tangents.shape)
    record.u.tangents[:] = one.rng.normal(size=record.u.tangents.shape)
    realize(record)
    residual = DualRows.zeros(len(one.state.u))
    arguments = (record.mobility_forces, record.body_forces, record.u_dot, residual)
    inverse_dynamics.calc_residual_force(record, *(field.array for field in arguments))
    scale = np.abs(record.body_forces.tangents).max()
    close(residual.values, np.zeros_like(residual.values), 1e-10, np.abs(record.body_forces.values).max())
    close(residual.tangents, np.zeros_like(residual.tangents), 1e-10, max(scale, np.abs(record.u_dot.tangents).max()))


def argument_of(what, counts, rng):
    """A random array of float64, or the number or indices that a kernel takes."""
    if what == "bodies":
        return rng.integers(0, counts["nb"], NT)
    if not isinstance(what, str):
        return what
    shape = tuple(counts.get(n, n) for n in SHAPES[what])
    return np.zeros(shape) if "(" in what else rng.normal(size=shape)


def is_field(argument):
    return isinstance(argument, np.ndarray) and argument.dtype == np.float64


def as_duals(argument):
    """The same numbers, as constants."""
    if not is_field(argument):
        return argument
    rows = argument.reshape(len(argument), -1)
    field = DualRows.zeros(*rows.shape)
    field[:] = rows
    return field


@pytest.mark.parametrize("call", CALLS, ids=lambda call: "-".join(map(str, call)))
def test_every_kernel_carries_tangents(call, one, close, derivative):
    """In plain Python, along one direction of q and u, its arguments held: values and tangents of all that it fills."""
    kernel, state = kernel_named(call[0]), one.state
    record, counts = with_tangents(state), state.tree.counts
    dq, du = one.rng.normal(size=len(state.q)), one.rng.normal(size=len(state.u))
    record.q.tangents[:, 0, 5], record.u.tangents[:, 0, 5] = dq, du
    given = [argument_of(what, counts, one.rng) for what in call[1:]]
    filled = ("q", "composite", "articulated", "body_forces")  # by kernels without arguments

    def of_float64(h):
        other, taken = moved(state.record, dq, du, h), [a.copy() if is_field(a) else a for a in given]
        for name in ("composite", "articulated"):
            getattr(other, name)[:] = 0.0
        kernel(other, *taken)
        return np.concatenate([a.ravel() for a in taken if is_field(a)] + [getattr(other, name).ravel() for name in filled])

    realize(record)
    record.composite[:] = record.articulated[:] = 0.0
    taken = [as_duals(a) for a in given]
    kernel.python(record, *taken)
    fields = [a for a in taken if isinstance(a, DualRows)] + [getattr(record, name) for name in filled]
    close(np.concatenate([field.values.ravel() for field in fields]), of_float64(0.0), 1e-10)
    close(np.concatenate([field.tangents[..., 5].ravel() for field in fields]), derivative(of_float64), DIFFERENCE)
    assert not any(np.delete(field.tangents, 5, axis=-1).any() for field in fields)


def test_what_is_not_finite_is_reported(one):
    record = with_tangents(one.state)
    record.q.values[1] = np.nan
    assert _realize.realize(record, _realize.advance.address(with_tangents=True), 0, EVERYTHING) == _realize.BAD_INPUT


def test_lanes_with_tangents_are_refused(one):
    with pytest.raises(ValueError, match="a record with tangents for each state"):
        one.state.tree.new_record(in_lanes=True, with_tangents=True)


def test_a_record_with_tangents_is_copied_whole(one):
    record = with_tangents(one.state)
    record.q.tangents[:] = 3.0
    other = record.copy()
    assert other.with_tangents and np.array_equal(other.buffer, record.buffer) and other.buffer is not record.buffer
    assert np.array_equal(realize(other).u_dot.tangents, realize(record).u_dot.tangents)
