"""Second derivatives of u_dot along a direction, of every kind of part, against differences of sixth order."""

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import OF_BODIES, Pair
from kinds.forces import one_in, realized_with_all
from mobod import Stage


def assert_second(state, rng, close, tolerance, h=4e-4):
    system, matter = state.system, state.system.matter
    nu, nz = len(state.u), len(state.z)
    direction = {"q": rng.normal(size=nu), "u": rng.normal(size=nu), "z": rng.normal(size=nz)}
    N = np.array([matter.multiply_by_n(state, False, e) for e in np.eye(nu)]).T

    def at(h):
        other = state.copy()
        other.q, other.u = state.q + h * (N @ direction["q"]), state.u + h * direction["u"]
        if nz:
            other.z = state.z + h * direction["z"]
        system.normalize_quaternions(other)
        system.realize(other)
        return system.calc_forward_dynamics_derivatives(other)

    found = system.calc_forward_dynamics_second_derivatives(state, **direction)
    sides = [(at(k * h), at(-k * h), k) for k in (1, 2, 3)]
    for name, value in found._asdict().items():
        rates = [(getattr(a, name) - getattr(b, name)) / (2 * k * h) for a, b, k in sides]
        close(value, 1.5 * rates[0] - 0.6 * rates[1] + 0.1 * rates[2], tolerance)


def test_quaternions_and_springs(make, close):
    model = make.tree(4, [mb.mobilizer.Pin, mb.mobilizer.Free, mb.mobilizer.Universal])
    mb.force.TwoPointLinearSpring(model.forces, model.matter.ground, (2, 0, 0), model.bodies[-1], (0, 1, 0), 5.0, 0.5)
    model.made()
    assert_second(model.randomize(), make.rng, close, 1e-7)


@pytest.mark.long
@pytest.mark.parametrize("angles", ["quaternions", "euler"])
def test_all_mobilizers_with_locks(make, close, angles):
    model = make.tree(rotors=True)
    state = model.state
    if angles == "euler":
        model.matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize(Stage.MODEL)
    model.bodies[3].lock(state)
    model.system.realize(state)
    assert_second(state, make.rng, close, 1e-6)


@pytest.mark.long
@pytest.mark.parametrize("share", [12, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_all_forces(share, make, close):
    _, _, state = realized_with_all(make, one_in(share, make.rng))
    assert_second(state, make.rng, close, 1e-6, 1e-4)


@pytest.mark.long
@pytest.mark.parametrize("name", OF_BODIES)
def test_all_constraints(name, make, close):
    pair = Pair(make, name)
    assert_second(pair.randomize_independent(), make.rng, close, 1e-6)


@pytest.mark.long
def test_a_motion_of_time(make, close):
    model = make.tree(3, [mb.mobilizer.Pin, mb.mobilizer.Slider, mb.mobilizer.Universal])
    mb.motion.Sinusoid(model.bodies[1], mb.Motion.Level.POSITION, 0.7, 1.3, 0.2)
    model.made()
    assert_second(model.randomize(), make.rng, close, 1e-6)
