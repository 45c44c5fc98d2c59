"""Mechanisms that are each other's equal, deep and broad trees, massless bodies, and a second opinion from Pinocchio."""

import time

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

HALF = np.pi / 2.0


def empty(gravity=(1.0, -9.0, 3.0)):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, gravity)
    return system, matter


def test_a_universal_is_two_pins_with_a_massless_body_between(make, close):
    """Pins turn about z: the first with x for its z, the second with y."""
    body, X_PF, X_BM = make.body(), make.frame(), make.frame()
    x, y = mb.Rotation.about_axis(HALF, "y"), mb.Rotation.about_axis(-HALF, "x")  # they take z to x, z to y
    one, matter = empty()
    universal = mb.mobilizer.Universal(matter.ground, body, X_PF=X_PF, X_BM=X_BM)
    two, matter2 = empty()
    first = mb.mobilizer.Pin(matter2.ground, mb.body.Massless(), X_PF=X_PF @ mb.Transform(x), X_BM=mb.Transform(x))
    second = mb.mobilizer.Pin(first, body, X_PF=mb.Transform(y), X_BM=X_BM @ mb.Transform(y))
    q, u = make.vector(2), make.vector(2)
    states = []
    for system in (one, two):
        state = system.realize_topology()
        state.q, state.u = q, u
        system.realize(state)
        states.append(state)
    close(states[1].u_dot, states[0].u_dot, 1e-11)
    for get in ("get_body_velocity", "get_body_acceleration"):
        close(getattr(second, get)(states[1]), getattr(universal, get)(states[0]), 1e-11)
    close(np.asarray(second.get_body_transform(states[1])), np.asarray(universal.get_body_transform(states[0])), 1e-14)
    close(matter2.calc_m(states[1]), matter.calc_m(states[0]), 1e-12)


def test_a_planar_is_two_sliders_and_a_pin_with_massless_bodies_between(make, close):
    body, X_PF, X_BM = make.body(), make.frame(), make.frame()
    one, matter = empty()
    planar = mb.mobilizer.Planar(matter.ground, body, X_PF=X_PF, X_BM=X_BM)
    two, matter2 = empty()
    along_y = mb.Transform(mb.Rotation.about_axis(HALF, "z"))  # takes x to y
    first = mb.mobilizer.Slider(matter2.ground, mb.body.Massless(), X_PF=X_PF)
    middle = mb.mobilizer.Slider(first, mb.body.Massless(), X_PF=along_y, X_BM=along_y)
    last = mb.mobilizer.Pin(middle, body, X_BM=X_BM)
    (angle, x, y), (w, vx, vy) = make.vector(3), make.vector(3)
    s, t = one.realize_topology(), two.realize_topology()
    s.q, s.u, t.q, t.u = (angle, x, y), (w, vx, vy), (x, y, angle), (vx, vy, w)
    one.realize(s)
    two.realize(t)
    close(t.u_dot[[2, 0, 1]], s.u_dot, 1e-11)
    close(last.get_body_acceleration(t), planar.get_body_acceleration(s), 1e-11)


def test_a_free_is_a_translation_and_a_ball(make, close):
    body, X_PF, X_BM = make.body(), make.frame(), make.frame()
    one, matter = empty()
    free = mb.mobilizer.Free(matter.ground, body, X_PF=X_PF, X_BM=X_BM)
    two, matter2 = empty()
    moved = mb.mobilizer.Translation(matter2.ground, mb.body.Massless(), X_PF=X_PF)
    ball = mb.mobilizer.Ball(moved, body, X_BM=X_BM)
    quaternion, p, w, v = make.quaternion(), make.vector(), make.vector(), make.vector()
    s, t = one.realize_topology(), two.realize_topology()
    s.q, s.u, t.q, t.u = (*quaternion, *p), (*w, *v), (*p, *quaternion), (*v, *w)
    one.realize(s)
    two.realize(t)
    close(t.u_dot, s.u_dot[[3, 4, 5, 0, 1, 2]], 1e-11)
    close(t.q_dot_dot, s.q_dot_dot[[4, 5, 6, 0, 1, 2, 3]], 1e-11)
    close(ball.get_body_acceleration(t), free.get_body_acceleration(s), 1e-11)


def test_welded_bodies_are_one_body(make, close):
    """Mass, mass center and inertia of both, in one frame."""
    first, second, X = make.mass_properties(), make.mass_properties(), make.frame()
    one, matter = empty()
    X_PF, X_BM = make.frame(), make.frame()
    hinge = mb.mobilizer.Ball(matter.ground, mb.body.Rigid(first), X_PF=X_PF, X_BM=X_BM)
    mb.mobilizer.Weld(hinge, mb.body.Rigid(second), X_PF=X)
    R, p = np.asarray(X.R), np.asarray(X.p)
    mass, com = first.mass + second.mass, first.mass * np.asarray(first.com) + second.mass * (R @ second.com + p)
    c = R @ second.com + p
    inertia = np.asarray(first.inertia) + R @ np.asarray(second.central_inertia) @ R.T
    inertia = inertia + second.mass * (c @ c * np.eye(3) - np.outer(c, c))
    two, matter2 = empty()
    both = mb.body.Rigid(mb.MassProperties(mass, com / mass, mb.Inertia(inertia)))
    mb.mobilizer.Ball(matter2.ground, both, X_PF=X_PF, X_BM=X_BM)
    q, u = make.quaternion(), make.vector(size=5.0)
    states = []
    for system in (one, two):
        state = system.realize_topology()
        state.q, state.u = q, u
        system.realize(state)
        states.append(state)
    close(states[0].u_dot, states[1].u_dot, 1e-11)
    close(matter.calc_m(states[0]), matter2.calc_m(states[1]), 1e-13)


def test_where_bodies_are_mentioned_first_does_not_matter(make, close):
    """The same tree, its branches made in two orders."""
    parts = [(make.frame(), make.frame(), make.body()) for _ in range(4)]

    def build(order):
        system, matter = empty()
        made = {}
        for name in order:
            X_PF, X_BM, body = parts["abcd".index(name)]
            parent = {"a": matter.ground, "b": made.get("a"), "c": made.get("a"), "d": made.get("b")}[name]
            kind = {"a": mb.mobilizer.Free, "b": mb.mobilizer.Pin, "c": mb.mobilizer.Universal, "d": mb.mobilizer.Slider}[name]
            made[name] = kind(parent, body, X_PF=X_PF, X_BM=X_BM, name=name)
        return system, made

    q = {"a": [*make.quaternion(), *make.vector()], "b": make.vector(1), "c": make.vector(2), "d": make.vector(1)}
    u = {"a": make.vector(6), "b": make.vector(1), "c": make.vector(2), "d": make.vector(1)}
    results = []
    for order in ("abcd", "acbd"):
        system, made = build(order)
        state = system.realize_topology()
        for name, body in made.items():
            body.set_q_from_vector(state, q[name])
            body.set_u_from_vector(state, u[name])
        system.realize(state)
        results.append(np.concatenate([made[name].get_u_dot_as_vector(state) for name in "abcd"]))
    close(results[1], results[0], 1e-10)


# ---------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize("shape", ["chain", "comb", "star"])
def test_five_thousand_bodies_build_and_move(shape, make):
    """No recursion, and no time that grows with the square: a thousand bodies take 0.1 s, so ten times that and four more
    for slow and busy machines. It is this process's own time, as a machine may stop it for seconds.
    """
    n = 5000
    system, matter = empty((0, -9.8, 0))
    body = mb.body.Rigid(
        mb.MassProperties(1.0, (0.01, 0.02, 0), mb.UnitInertia(0.1, 0.1, 0.1).shift_from_centroid((0.01, 0.02, 0)))
    )
    X = mb.Transform((0.0, 0.1, 0.0))
    start = time.process_time()
    parent = matter.ground
    for b in range(n):
        made = mb.mobilizer.Pin(parent, body, X_BM=X)
        parent = {"chain": made, "comb": made if b % 2 else parent, "star": matter.ground}[shape]
    state = system.realize_topology()
    assert time.process_time() - start < 4.0 * n / 1000.0
    state.q, state.u = make.vector(n, 0.1), make.vector(n, 0.1)
    system.realize(state)
    f, F = system.get_mobility_forces(state), system.get_rigid_body_forces(state)
    residual = matter.calc_residual_force_ignoring_constraints(state, f, F, state.u_dot)
    weight = np.abs(matter.calc_tree_equivalent_mobility_forces(state, F)).max()
    assert np.abs(residual).max() <= 1e-9 * weight  # thousands of roundings, of forces as large as the weight of all
    assert matter.bodies[n].get_level_in_multibody_tree() == {"chain": n, "comb": n // 2, "star": 1}[shape]
    f = matter.multiply_by_m(state, state.u)
    again = matter.multiply_by_m(state, matter.multiply_by_m_inv(state, f))
    assert np.abs(again - f).max() <= 1e-9 * np.abs(f).max()  # what a backward stable solution leaves


# ---------------------------------------------------------------------------------------------- mass, or none


@pytest.mark.parametrize("kind", [k for k in mb.mobilizer.KINDS if k.facts.num_u], ids=lambda k: k.__name__)
def test_a_massless_body_left_free_at_the_end_is_named(kind, make):
    system, matter = empty()
    base = mb.mobilizer.Pin(matter.ground, make.body(), name="base", X_BM=make.frame())
    kind(base, mb.body.Massless(), name="feather", X_PF=make.frame(), X_BM=make.frame())
    mb.mobilizer.Pin(base, make.body(), name="other", X_BM=make.frame())
    state = system.realize_topology()
    system.realize(state, Stage.DYNAMICS)
    before = state.y.copy()
    with pytest.raises(mb.ModelError, match="'feather' has no inertia"):
        system.realize(state)
    assert state.stage == Stage.DYNAMICS and np.array_equal(state.y, before)
    with pytest.raises(mb.ModelError, match="feather"):
        mb.simulate(system, state, 1.0)


def test_a_massless_body_welded_to_one_with_mass_is_no_trouble(make, close):
    one, matter = empty()
    arm, X, X_BM = make.body(), make.frame(), make.frame()
    pin = mb.mobilizer.Pin(matter.ground, arm, X_BM=X_BM)
    plate = mb.mobilizer.Weld(pin, mb.body.Massless(), X_PF=X)
    two, matter2 = empty()
    mb.mobilizer.Pin(matter2.ground, arm, X_BM=X_BM)
    s, t = one.realize_topology(), two.realize_topology()
    one.realize(s)
    two.realize(t)
    close(s.u_dot, t.u_dot, 1e-13)
    expected = pin.find_frame_acceleration_in_ground(s, X)
    close(plate.get_body_acceleration(s), expected, 1e-13)


@pytest.mark.parametrize("order", ["light, heavy, light", "heavy, light", "light, light", "light"])
def test_what_is_welded_on_with_and_without_mass_is_carried(order, make, close):
    """Leaves and links between, on Ground too: u_dot takes the forces that inverse dynamics, by other sweeps, finds missing."""
    system, matter = empty()
    base = mb.mobilizer.Weld(matter.ground, make.body(), X_PF=make.frame())
    pin = mb.mobilizer.Pin(base, make.body(), X_PF=make.frame(), X_BM=make.frame())
    link = mb.mobilizer.Weld(pin, mb.body.Massless(), X_PF=make.frame())
    hand = mb.mobilizer.Pin(link, make.body(), X_PF=make.frame())
    light, lamp = mb.body.Rigid(mb.MassProperties(0.0, (0, 0, 0), mb.Inertia(0.0, 0.0, 0.0))), link
    for name in order.split(", "):
        lamp = mb.mobilizer.Weld(hand, make.body() if name == "heavy" else light, X_PF=make.frame())
    state = system.realize_topology()
    for _ in range(2):  # what the first pose leaves behind is no part of the second
        state.q, state.u = make.vector(2), make.vector(2)
        system.realize(state)
    scale = np.abs(system.calc_inverse_dynamics(state, np.zeros(2))).max()
    assert np.abs(system.calc_inverse_dynamics(state, state.u_dot)).max() < 1e-13 * max(scale, 1.0)
    close(matter.calc_m(state) @ matter.calc_m_inv(state), np.eye(2), 1e-12)
    before = np.array(state.u_dot)
    lamp.set_body_mass_properties(state, make.mass_properties())  # what had no mass may get some in a state
    system.realize(state)
    assert np.abs(system.calc_inverse_dynamics(state, state.u_dot)).max() < 1e-12 * max(scale, 1.0)
    assert not np.allclose(state.u_dot, before)


def test_a_particle_on_a_pin_through_it_has_nothing_to_turn(make):
    system, matter = empty()
    mb.mobilizer.Pin(matter.ground, mb.body.Particle(2.0), name="bead")
    with pytest.raises(mb.ModelError, match="'bead' has no inertia"):
        system.realize(system.realize_topology())


# ---------------------------------------------------------------------------------------------- Pinocchio


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_random_tree_moves_in_pinocchio_as_here(base, make, close):
    """Pins, sliders, balls and welds, on Ground or on a free body, with rotors. Its speeds are of M in M, ours of M in F."""
    pin = pytest.importorskip("pinocchio")
    gravity = make.vector(size=9.0)
    system, matter = empty(gravity)
    theirs = pin.Model()
    theirs.gravity.linear = gravity
    kinds = {
        mb.mobilizer.Pin: pin.JointModelRZ,
        mb.mobilizer.Slider: pin.JointModelPX,
        mb.mobilizer.Ball: pin.JointModelSpherical,
        mb.mobilizer.Free: pin.JointModelFreeFlyer,
    }
    names = list(kinds)[:3]
    chosen = ([mb.mobilizer.Free] if base == "free" else []) + [names[i] for i in make.rng.integers(0, 3, 10)]
    joints = [0]  # theirs, of each body of ours
    for b, kind in enumerate(chosen):
        parent = int(make.rng.integers(0, b + 1)) if b else 0
        X_PF, X_BM, properties = make.frame(), make.frame(), make.mass_properties()
        body = kind(matter.bodies[parent], mb.body.Rigid(properties), X_PF=X_PF, X_BM=X_BM)
        n, rotor = body.facts.num_u, make.rng.uniform(0.0, 0.5)  # the same about all axes; along them rates differ
        body.set_default_rotor_inertia([rotor] * 3 + [0.0] * 3 if n == 6 else [rotor] * n)
        # their joint frame is our M: bodies, and the placements of children, are in it
        above = matter.bodies[parent]
        X_MP = mb.Transform() if parent == 0 else ~above.get_default_outboard_frame()
        placement = X_MP @ X_PF
        joint = theirs.addJoint(joints[parent], kinds[kind](), pin.SE3(np.asarray(placement)), f"joint{b}")
        R, X_MB = np.asarray(X_BM.R), ~X_BM
        central = np.asarray(properties.central_inertia)
        inertia = pin.Inertia(properties.mass, X_MB @ np.asarray(properties.com), R.T @ central @ R)
        theirs.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        joints.append(joint)
    state = system.realize_topology()
    q, v = np.zeros(theirs.nq), np.zeros(theirs.nv)
    turns = []  # of each mobilized body: our u to their v
    for body, joint in zip(matter.bodies[1:], joints[1:], strict=True):
        first_q, first_v = theirs.joints[joint].idx_q, theirs.joints[joint].idx_v
        if isinstance(body, (mb.mobilizer.Ball, mb.mobilizer.Free)):
            w, x, y, z = quaternion = make.quaternion()
            p, u = make.vector(body.facts.num_q - 4), make.vector(body.facts.num_u)
            body.set_q(state, [*quaternion, *p])
            body.set_u(state, u)
            R = np.asarray(mb.Rotation.from_quaternion(quaternion))
            q[first_q : first_q + 4 + len(p)] = [*p, x, y, z, w]
            w_M, v_M = R.T @ u[:3], R.T @ u[3:] if len(u) == 6 else []
            v[first_v : first_v + len(u)] = [*v_M, *w_M]
        else:
            q[first_q], v[first_v] = make.rng.normal(size=2)
            body.set_q(state, q[first_q])
            body.set_u(state, v[first_v])
        turns.append((body, first_v))
        n = body.facts.num_u
        theirs.armature[first_v + n - min(n, 3) : first_v + n] = np.atleast_1d(body.get_default_rotor_inertia())[:3]
    system.realize(state)
    data = theirs.createData()
    a = pin.aba(theirs, data, q, v, np.zeros(theirs.nv))
    pin.forwardKinematics(theirs, data, q, v, a)
    for body, joint in zip(matter.bodies[1:], joints[1:], strict=True):
        X_GM = body.get_body_transform(state) @ body.get_outboard_frame(state)
        close(data.oMi[joint].homogeneous, np.asarray(X_GM), 1e-12)
        V = pin.getVelocity(theirs, data, joint, pin.LOCAL_WORLD_ALIGNED)
        A = pin.getClassicalAcceleration(theirs, data, joint, pin.LOCAL_WORLD_ALIGNED)
        frame = body.get_outboard_frame(state)
        close([V.angular, V.linear], body.find_frame_velocity_in_ground(state, frame), 1e-11)
        close([A.angular, A.linear], body.find_frame_acceleration_in_ground(state, frame), 1e-9)
    close(pin.computeKineticEnergy(theirs, data, q, v), matter.calc_kinetic_energy(state), 1e-11)
    close(pin.computePotentialEnergy(theirs, data, q), system.calc_potential_energy(state), 1e-11, 100.0)
    pin.centerOfMass(theirs, data, q, v)
    close(data.com[0], matter.calc_system_mass_center_location_in_ground(state), 1e-12)
