"""Rotor inertia: R on the diagonal of M, in all that follows from M. Truth: dense algebra of a tree without it, and MuJoCo.

1e-9 of the largest entry behind the mass matrix, roundings times its condition; else 1e-12 or so.
"""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod.simulation.fingerprint import start_fingerprint, system_fingerprint

m = mb.mobilizer


def without(model):
    """A state at the same q and u without rotor inertia, and R."""
    state, R = model.state.copy(), np.zeros(len(model.state.u))
    for body in model.bodies[1:]:
        first, n = body.get_first_u_index(state), body.get_num_u(state)
        R[first : first + n] = body.get_rotor_inertia(state)
        body.set_rotor_inertia(state, np.zeros(n))
    model.system.realize(state)
    return state, R


def bias(model, state):
    """Forces of the velocities, less those applied to bodies."""
    F = model.system.get_rigid_body_forces(state)
    return model.matter.calc_residual_force_ignoring_constraints(state, None, F, np.zeros(len(state.u)))


def test_it_is_added_to_the_diagonal_and_all_follows_from_that(make, close):
    model = make.tree(rotors=True)
    state, matter = model.randomize(), model.matter
    plain, R = without(model)
    assert R.any()
    M = matter.calc_m(plain) + np.diag(R)
    close(matter.calc_m(state), M, 1e-13)
    close(state.u_dot, np.linalg.solve(M, -bias(model, plain)), 1e-9)
    energy = matter.calc_kinetic_energy(plain) + 0.5 * R @ state.u**2
    close(matter.calc_kinetic_energy(state), energy, 1e-13)
    close(energy, 0.5 * state.u @ M @ state.u, 1e-12)
    reactions = matter.calc_mobilizer_reaction_forces(state)
    close(reactions, matter.calc_mobilizer_reaction_forces_using_freebody_method(state), 1e-9)
    momentum = matter.calc_system_momentum_about_ground_origin
    close(momentum(state), momentum(plain), 1e-14)
    for body in model.bodies[1:]:  # what of a reaction is along a mobility moves the rotor
        for i in range(body.get_num_u(state)):
            along = np.sum(body.get_h_col(state, i) * body.find_mobilizer_reaction_on_body_at_origin_in_ground(state))
            assert (
                abs(along + body.get_one_u_dot(state, i) * R[body.get_first_u_index(state) + i])
                < 1e-9 * np.abs(reactions).max()
            )


def test_known_motions_take_the_force_that_moves_the_rotor(make, close):
    model = make.tree(4, [m.Ball, m.Universal, m.Pin, m.Planar], rotors=True)
    pin = next(body for body in model.bodies if isinstance(body, m.Pin))
    pin.set_default_rotor_inertia(1.5)
    mb.motion.Sinusoid(pin, mb.Motion.Level.POSITION, 0.3, 2.0, 0.1)
    state = model.made().randomize(mb.Stage.MODEL)
    ball = next(body for body in model.bodies if isinstance(body, m.Ball))
    ball.lock_at(state, make.vector(), mb.Motion.Level.ACCELERATION)
    ball.set_rotor_inertia(state, [1.0, 2.0, 3.0])
    model.system.prescribe(state, mb.Stage.POSITION)
    model.system.prescribe(state, mb.Stage.VELOCITY)
    model.system.realize(state)
    plain, R = without(model)
    known, free = model.matter.get_known_u_dot_index(state), model.matter.get_free_u_dot_index(state)
    M = model.matter.calc_m(plain) + np.diag(R)
    rest = -bias(model, plain) - M @ state.u_dot
    close(rest[free], np.zeros(len(free)), 1e-9, scale=np.abs(rest).max())
    close(model.matter.find_motion_forces(state)[known], rest[known], 1e-9)
    ball.unlock(state)  # and is not eliminated as a block, for its rotors
    model.system.realize(state)
    rest = (-bias(model, state) - M @ state.u_dot)[ball.u_slice(state)]
    close(rest, np.zeros(3), 1e-9, scale=np.abs(M @ state.u_dot).max())


def test_constraints_feel_it(make, close):
    model = make.tree(5, [m.Ball, m.Free, m.Universal, m.Gimbal, m.Cylinder], rotors=True)
    bodies = model.bodies
    mb.constraint.Rod(bodies[2], (0.1, 0.2, 0.3), bodies[5], (0, 0.3, 0), 1.0)
    mb.constraint.Ball(bodies[1], (0.5, 0, 0), bodies[4], (0.4, 0, 0))
    state = model.made().randomize()
    matter = model.matter
    G, M = matter.calc_g(state), matter.calc_m(state)
    close(matter.calc_projected_m_inv(state), G @ np.linalg.solve(M, G.T), 1e-9)
    rows = len(G)
    whole = np.block([[M, G.T], [G, np.zeros((rows, rows))]])
    found = np.linalg.solve(whole, np.concatenate([-bias(model, state), -matter.calc_bias_for_acceleration_constraints(state)]))
    close(np.concatenate([state.u_dot, state.multipliers]), found, 1e-8)


@pytest.mark.parametrize("restitution", [0.5, 0.0])
@pytest.mark.parametrize("stepped", [False, True])
def test_impacts_feel_it(stepped, restitution, make, close):
    model = make.tree(0)
    first = m.Pin(model.matter.ground, make.body())
    second = m.Pin(first, make.body(), X_PF=mb.Transform((1, 0, 0)))
    for body, rotor in ((first, 0.7), (second, 0.4)):
        body.set_default_rotor_inertia(rotor)
    mb.contact.HardStopUpper(first, 0, 0.5, restitution=restitution)
    state = model.made().state
    first.set_angle(state, 0.5 - 1e-9)
    second.set_angle(state, 0.8)
    u = np.array([2.0, -1.0])
    state.u = u
    model.system.realize(state, mb.Stage.POSITION)
    column = np.linalg.inv(model.matter.calc_m(state))[:, 0]
    integrator = mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-6)
    if stepped:
        integrator = mb.integrator.TimeStepping(model.system, fixed_step_size=1e-6)
    stepper = mb.TimeStepper(model.system, integrator)
    stepper.initialize(state)
    stepper.step_to(2e-6)
    after = u - (1.0 + restitution) * u[0] * column / column[0]
    close(stepper.state.u, after, 2e-3 if stepped else 1e-4, scale=1.0)  # the rest: 2 us of acceleration, a gap of 1 nm


@pytest.mark.parametrize("kind", [m.Pin, m.Ball, m.Free, m.Bushing, m.Planar, m.Translation], ids=lambda kind: kind.__name__)
def test_a_state_with_its_own_is_the_system_built_so(kind, make, close):
    model = make.tree(0)
    base = m.Universal(model.matter.ground, make.body())
    body = make.mobilized_body(kind, base)
    make.mobilized_body(m.Pin, body)
    model.made().randomize()
    n, system = body.facts.num_u, model.system
    R = make.rng.uniform(0.5, 1.0, n)
    state, untouched = model.state.copy(), model.state
    before, M = untouched.u_dot.copy(), model.matter.calc_m(untouched) + np.diag([0, 0, *R, 0])
    body.set_rotor_inertia(state, R)
    assert state.stage == mb.Stage.MODEL and np.array_equal(body.get_rotor_inertia(state), R[0] if n == 1 else R)
    for one in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        one.system.realize(one)
        assert not np.allclose(one.u_dot, before, rtol=1e-3)
        close(one.u_dot, np.linalg.solve(M, -bias(model, untouched)), 1e-9)
    other = start_fingerprint(state), system_fingerprint(system)["numbers"]
    found = one.u_dot
    for value in ([1.0] * n, R.tolist(), tuple(R), R):  # once its own, they are written in compiled code
        body.set_rotor_inertia(state, value)
        assert state.stage == mb.Stage.MODEL
    with pytest.raises(mb.ModelError, match="rotor inertia"):
        body.set_rotor_inertia(state, -R)
    system.realize(state)
    assert np.array_equal(state.u_dot, found)
    body.set_rotor_inertia(state, np.zeros(n))
    system.realize(state)
    close(state.u_dot, before, 1e-13)
    body.set_rotor_inertia(state, tuple(R))
    system.realize(state)
    assert np.array_equal(state.u_dot, found)
    body.set_rotor_inertia(state, np.zeros(n))
    system.realize(state)
    assert np.array_equal(untouched.u_dot, before) and start_fingerprint(state) != other[0]
    assert body.set_default_rotor_inertia(R) is body
    with pytest.raises(mb.TopologyError, match="realize_topology"):
        system.realize(untouched)
    fresh = system.realize_topology()
    assert system_fingerprint(system)["numbers"] != other[1]
    fresh.q, fresh.u = state.q, state.u
    system.realize(fresh)
    close(fresh.u_dot, found, 1e-12)
    clone = body.clone_for_new_parent(model.matter.ground)
    assert np.array_equal(clone.get_default_rotor_inertia(), body.get_default_rotor_inertia())
    again = pickle.loads(pickle.dumps(system)).matter.bodies[2]
    assert np.array_equal(again.get_default_rotor_inertia(), body.get_default_rotor_inertia())


def test_each_state_of_an_ensemble_may_have_its_own(make, close):
    """Also where some states have none, and others would be eliminated as a block."""
    model = make.tree(5, [m.Ball, m.Free, m.Pin, m.Weld, m.Planar], rotors=True)
    ball, pin = (next(b for b in model.bodies if isinstance(b, kind)) for kind in (m.Ball, m.Pin))
    ball.set_default_rotor_inertia(np.zeros(3))
    state = model.made().randomize()
    ensemble = mb.Ensemble(model.system, 9, state=state)
    alone = [state.copy() for _ in range(9)]

    def compare():
        ensemble.realize(mb.Stage.ACCELERATION)
        M = ensemble.calc_m()
        for i, one in enumerate(alone):
            model.system.realize(one)
            close(ensemble.u_dot[i], one.u_dot, 1e-9)
            close(M[i], model.matter.calc_m(one), 1e-12)
            again = ensemble.get_state(i)
            assert all(np.array_equal(body.get_rotor_inertia(again), body.get_rotor_inertia(one)) for body in model.bodies)
            model.system.realize(again)
            close(again.u_dot, one.u_dot, 1e-9)

    compare()
    for body in (ball, pin, ball):  # the second time the ball is back to none in all states
        n, some = body.facts.num_u, not np.any(ball.get_rotor_inertia(alone[0]))
        values = [make.rng.uniform(0.0, 1.0, n) * (some and i % 2 == 0) for i in range(9)]
        ensemble.set_each(body.set_rotor_inertia, values)
        for one, value in zip(alone, values, strict=True):
            body.set_rotor_inertia(one, value)
        compare()


def test_a_rotor_moves_what_has_no_mass(make):
    model = make.tree(0)
    mb.mobilizer.Ball(model.matter.ground, mb.body.Massless(), name="light")
    light = model.bodies["light"]
    state = model.made().state
    with pytest.raises(mb.ModelError, match="light"):
        model.system.realize(state)
    light.set_rotor_inertia(state, [1.0, 2.0, 4.0])
    mb.force.MobilityConstantForce(model.forces, light, 1, 3.0)
    state = model.made().state
    light.set_rotor_inertia(state, [1.0, 2.0, 4.0])
    model.system.realize(state)
    assert np.allclose(state.u_dot, [0.0, 1.5, 0.0], rtol=1e-15)
    light.set_rotor_inertia(state, [1.0, 0.0, 4.0])
    with pytest.raises(mb.ModelError, match=r"mobility 1 of 'light' has no inertia.*rotor inertia"):
        model.system.realize(state)


def test_energy_is_kept(make):
    model = make.tree(5, [m.Ball, m.Universal, m.Pin, m.Planar, m.Slider], rotors=True)
    state = model.randomize()
    before = model.system.calc_energy(state)
    stepper = mb.TimeStepper(model.system, mb.integrator.RungeKuttaMerson(model.system, accuracy=1e-9))
    stepper.initialize(state)
    stepper.step_to(0.5)
    model.system.realize(stepper.state)
    scale = model.matter.calc_kinetic_energy(stepper.state) + abs(before)
    assert abs(model.system.calc_energy(stepper.state) - before) < 1e-7 * scale  # the accuracy, times steps


def test_accelerations_have_derivatives_by_it(make, close):
    """-M^-1 e udot: M udot is linear in it. Also of mobilizers that have none, and are eliminated as a block."""
    model = make.tree(4, [m.Ball, m.Universal, m.Free, m.Pin])
    model.bodies[2].set_default_rotor_inertia(np.full(model.bodies[2].facts.num_u, 0.5))
    state = model.made().randomize()
    M_inv = model.matter.calc_m_inv(state)
    for body in model.bodies[1:]:
        found = model.system.calc_parameter_derivatives(state, [body.set_rotor_inertia])
        part = body.u_slice(state)
        close(found, -M_inv[:, part] * state.u_dot[part], 1e-9)


def test_what_cannot_be_is_refused_and_changes_nothing(make):
    model = make.tree(0)
    pin, ball, weld = (kind(model.matter.ground, make.body(), name=kind.__name__) for kind in (m.Pin, m.Ball, m.Weld))
    pin.set_default_rotor_inertia(0.5)
    state = model.made().randomize()
    refused = [
        (pin, -1.0, mb.ModelError, "zero or more"),
        (pin, np.inf, mb.ModelError, "finite"),
        (ball, [1.0, np.nan, 0.0], mb.ModelError, "finite"),
        (ball, 1.0, ValueError, "3 numbers"),
        (pin, [1.0, 2.0], ValueError, "1 number"),
        (weld, 1.0, ValueError, "0 numbers"),
        (pin, "heavy", TypeError, "real numbers"),
        (model.matter.ground, 1.0, ValueError, "0 numbers"),
    ]
    for body, value, error, says in refused:
        with pytest.raises(error, match=f"rotor inertia of '{body.name}'.*{says}"):
            body.set_rotor_inertia(state, value)
        with pytest.raises(error, match=f"rotor inertia of '{body.name}'.*{says}"):
            body.set_default_rotor_inertia(value)
    assert state.stage == mb.Stage.ACCELERATION
    assert pin.get_rotor_inertia(state) == pin.get_default_rotor_inertia() == 0.5
    weld.set_rotor_inertia(state, [])
    assert weld.get_rotor_inertia(state).shape == (0,)
    pin.set_rotor_inertia(state, [0.25])
    assert pin.get_rotor_inertia(state) == 0.25 and pin.get_default_rotor_inertia() == 0.5


# ---------------------------------------------------------------------------------------------- MuJoCo's armature

JOINTS = {"hinge": (m.Pin, 'axis="0 0 1"'), "slide": (m.Slider, 'axis="1 0 0"'), "ball": (m.Ball, ""), "free": (m.Free, "")}


@pytest.mark.parametrize("free", [False, True])
def test_it_is_mujocos_armature(free, make, close):
    """Random trees of hinges, slides, balls and a free base: M, and udot at rest in gravity."""
    mujoco = pytest.importorskip("mujoco")
    rng, n = make.rng, 12
    model = make.tree(0)
    model.gravity.set_default_gravity_vector((0, 0, -9.81))
    parents, xml = [int(rng.integers(0, b + 1)) for b in range(n)], {}
    kinds = ["free" if free and b == 0 else ["hinge", "slide", "ball"][rng.integers(3)] for b in range(n)]
    if free:
        parents[1:] = [max(1, p) for p in parents[1:]]
    for b, (name, p) in enumerate(zip(kinds, parents, strict=True)):
        kind, axis = JOINTS[name]
        X, armature = mb.Transform() if name == "free" else make.frame(), rng.uniform(0.0, 0.5)
        mass = make.mass_properties()
        body = kind(model.bodies[p], mb.body.Rigid(mass), X_PF=X, name=f"b{b + 1}")
        body.set_default_rotor_inertia(np.full(body.facts.num_u, armature))
        (xx, xy, xz), (_, yy, yz), (_, _, zz) = np.asarray(mass.central_inertia)
        pos, quat = X.p, X.R.to_quaternion()
        xml[b + 1] = (
            f'<body name="b{b + 1}" pos="{text(pos)}" quat="{text(quat)}"><joint type="{name}" armature="{armature!r}" {axis}/>'
            f'<inertial pos="{text(mass.com)}" mass="{float(mass.mass)!r}" fullinertia="{text([xx, yy, zz, xy, xz, yz])}"/>'
        )

    def written(b):
        return xml[b] + "".join(written(c + 1) for c in range(n) if parents[c] == b) + "</body>"

    whole = "".join(written(c + 1) for c in range(n) if parents[c] == 0)
    theirs = mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler autolimits="false" balanceinertia="false"/><worldbody>{whole}</worldbody></mujoco>'
    )
    data = mujoco.MjData(theirs)
    state = model.made().randomize(mb.Stage.MODEL)
    state.u = np.zeros(len(state.u))
    turn = np.eye(len(state.u))  # u = turn @ qvel: angular velocities are in the body's frame there
    at = np.zeros(len(state.u), int)
    for body in model.bodies[1:]:
        joint = theirs.body(body.name).jntadr[0]
        q, adr, dof = body.get_q_as_vector(state), theirs.jnt_qposadr[joint], theirs.jnt_dofadr[joint]
        part = body.u_slice(state)
        at[part] = dof + (np.array([3, 4, 5, 0, 1, 2]) if isinstance(body, m.Free) else np.arange(body.facts.num_u))
        data.qpos[adr : adr + len(q)] = [*q[4:], *q[:4]] if isinstance(body, m.Free) else q
        if len(q) >= 4:
            i = part.start
            turn[i : i + 3, i : i + 3] = np.asarray(mb.Rotation.from_quaternion(q[:4]))
    mujoco.mj_forward(theirs, data)
    model.system.realize(state)
    M = np.zeros((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, M)
    close(turn.T @ model.matter.calc_m(state) @ turn, M[np.ix_(at, at)], 1e-12)
    close(turn.T @ state.u_dot, data.qacc_smooth[at], 1e-9)


def text(values):
    return " ".join(repr(float(x)) for x in values)
