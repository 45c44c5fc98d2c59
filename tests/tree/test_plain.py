"""The fast sweeps against `plain.py`: the same dynamics in a page of NumPy, by 6 x 6 matrices.

Tolerances are of the largest entry: 1e-12 where nothing is divided by the mass matrix, else 1e-9, roundings times its
condition.
"""

import numpy as np
import plain
import pytest

import mobod as mb

DIRECTIONS = {"mixed": None, "forward": mb.Direction.FORWARD, "reverse": mb.Direction.REVERSE}
SHAPES = [(f"{name}{shape}", name, shape) for name in DIRECTIONS for shape in ("", "-euler", "-chain", "-prescribed")]


@pytest.fixture(params=SHAPES, ids=lambda case: case[0])
def model(request, make):
    """A random tree of every kind, realized, under gravity and random forces on bodies and mobilities."""
    _, direction, shape = request.param
    model = make.tree(chain=shape == "-chain", direction=DIRECTIONS[direction], rotors=shape in ("-chain", "-prescribed"))
    state, matter = model.state, model.matter
    if shape == "-euler":
        matter.set_use_euler_angles(state, True)
        model.system.realize_model(state)
    model.randomize()
    if shape == "-prescribed":
        for body in model.bodies[1::3]:
            body.lock_at(state, make.vector(body.get_num_u(state)), mb.Motion.Level.ACCELERATION)
        for body in model.bodies[2::6]:
            body.lock(state)
        model.system.realize(state)
    return model


def split(model, values):
    """A vector of nu numbers by bodies."""
    first = [body.get_first_u_index(model.state) for body in model.bodies[1:]]
    return [np.zeros(0), *np.split(values, first[1:])]


def applied(model):
    """Forces on bodies and mobilities, random ones on top of the system's."""
    F = model.system.get_rigid_body_forces(model.state).reshape(-1, 6)
    f = model.system.get_mobility_forces(model.state)
    return F + model.rng.normal(size=F.shape), f + model.rng.normal(size=f.shape)


def read(model):
    tree = plain.links(model.bodies, model.state)
    return tree, plain.positions(tree)


def test_positions_and_velocities(model, close):
    state, matter = model.state, model.matter
    tree, bodies = read(model)
    V, a, b = plain.velocities(tree, bodies)
    for body, own, V_GB, a_B, b_B in zip(model.bodies, bodies, V, a, b, strict=True):
        close(own.R_GB, body.get_body_rotation(state), 1e-12)
        close(own.p_GB, body.get_body_origin_location(state), 1e-12)
        close(V_GB, body.get_body_velocity(state).ravel(), 1e-12)
        if body is not model.bodies[0]:
            close(a_B, matter.get_mobilizer_coriolis_acceleration(state, body).ravel(), 1e-10)
            close(b_B, matter.get_gyroscopic_force(state, body).ravel(), 1e-12)
        for i in range(body.get_num_u(state)):
            close(own.H[:, i], body.get_h_col(state, i).ravel(), 1e-12)


def test_articulated_inertias(model, close):
    tree, bodies = read(model)
    prescribed = given(model)
    P, _, _ = plain.articulated_inertias(tree, bodies, prescribed)
    for body, own in zip(model.bodies[1:], P[1:], strict=True):
        close(np.asarray(model.matter.get_articulated_body_inertia(model.state, body)), own, 1e-9)


def given(model):
    """udot of the bodies that are locked."""
    known = set(model.matter.get_known_u_dot_index(model.state).tolist())
    parts = split(model, model.state.u_dot)
    return {
        b: parts[b]
        for b, body in enumerate(model.bodies)
        if b > 0 and len(parts[b]) and body.get_first_u_index(model.state) in known
    }


def test_accelerations(model, close):
    tree, bodies = read(model)
    F, f = applied(model)
    udot, A = plain.accelerations(tree, bodies, (list(F), split(model, f)), given(model))
    fast, A_GB = model.matter.calc_acceleration(model.state, f, F.reshape(-1, 2, 3))
    close(fast, np.concatenate(udot), 1e-9)
    close(A_GB.reshape(-1, 6), A, 1e-9)


def test_inverse_dynamics(model, close):
    tree, bodies = read(model)
    F, f = applied(model)
    udot = model.rng.normal(size=len(f))
    residual = plain.inverse_dynamics(tree, bodies, (list(F), split(model, f)), split(model, udot))
    fast = model.matter.calc_residual_force(model.state, f, F.reshape(-1, 2, 3), udot)
    close(fast, np.concatenate(residual), 1e-10)


def test_mass_matrix(model, close):
    tree, bodies = read(model)
    close(model.matter.calc_m(model.state), np.block(plain.mass_matrix(tree, bodies)), 1e-12)


def test_the_plain_twin_is_its_own_inverse(model, close):
    """Forces that inverse dynamics finds for udot make forward dynamics give it: no fast sweep is needed to check the plain."""
    tree, bodies = read(model)
    F, f = applied(model)
    udot = split(model, model.rng.normal(size=len(f)))
    tau = plain.inverse_dynamics(tree, bodies, (list(F), split(model, f)), udot)
    forces = [a + b for a, b in zip(split(model, f), tau, strict=True)]
    found, _ = plain.accelerations(tree, bodies, (list(F), forces))
    close(np.concatenate(found), np.concatenate(udot), 1e-8)
