"""Laws with a nominal system of their own: what they are given is the model's, at the plant's coordinates and speeds."""

import numpy as np
import pytest

import mobod as mb

T = 0.01


def arm(payload=0.0, beside=True, seed=3):
    """Three oblique pins, the last with a payload, beside a free box."""
    print("seed", seed)
    rng = np.random.default_rng(seed)
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.81, 0))
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    if beside:
        mb.mobilizer.Free(matter.ground, ball, name="box")
    parent = matter.ground
    for k in range(3):
        turn = mb.Rotation.about_axis(rng.normal(), "x") @ mb.Rotation.about_axis(rng.normal(), "y")
        mass = 1.0 + (payload if k == 2 else 0.0)
        shape = mb.UnitInertia.brick((0.4, 0.1, 0.1)).shift_from_centroid((0.4, 0, 0))
        part = mb.body.Rigid(mb.MassProperties(mass, (0.4, 0, 0), shape))
        parent = mb.mobilizer.Pin(parent, part, X_PF=mb.Transform(turn, (0.8 if k else 0, 0, 0)), name=f"joint{k}")
    return system


def seen(q, u, M, bias, gravity, which, J, a, X, V, true, memory):
    memory[:9] = M.reshape(9)
    memory[9:12], memory[12:15] = bias, gravity
    memory[15:18], memory[18:21], memory[21:24] = q, u, which
    memory[24:42], memory[42:48], memory[48:64], memory[64:70] = J.reshape(18), a, X.reshape(16), V
    memory[70:86] = true.reshape(16)
    return (M @ (-50.0 * q - 14.0 * u) + bias - gravity)[which]


def test_a_law_is_given_what_the_model_says():
    system, model = arm(2.0), arm(beside=False)
    last = model.get_matter_subsystem().bodies["joint2"]
    frames = {
        name: getattr(mb.control, kind)(last, (0.3, 0.1, 0.2))
        for name, kind in (("J", "Jacobian"), ("a", "JacobianBias"), ("X", "Pose"), ("V", "Velocity"))
    }
    frames["true"] = mb.control.Pose(system.get_matter_subsystem().bodies["joint2"], (0.3, 0.1, 0.2))
    controller = mb.control.Custom(
        system.forces, seen, sample_time=T, model=model, inputs=frames, memory=np.zeros(86), name="law"
    )
    state, rng = system.realize_topology(), np.random.default_rng(1)
    q, u = rng.normal(size=3), rng.normal(size=3)
    state.q, state.u = [*state.q[:7], *q], [*rng.normal(size=6), *u]
    system.realize(state)
    controller.sample(state)
    memory = controller.get_memory(state)

    of_model, matter = model.realize_topology(), model.get_matter_subsystem()
    of_model.q, of_model.u = q, u
    model.realize(of_model)
    M, p = matter.calc_m(of_model), np.array([0.3, 0.1, 0.2])
    V = last.get_body_velocity(of_model)
    bias = memory[9:12]
    expected = [
        (memory[:9].reshape(3, 3), M),
        (memory[12:15], matter.calc_gravity_forces(of_model)),
        (memory[15:18], q),
        (memory[18:21], u),
        (memory[21:24], [0, 1, 2]),
        (memory[24:42].reshape(6, 3), matter.calc_frame_jacobian(of_model, last, p)),
        (memory[42:48], matter.calc_bias_for_frame_jacobian(of_model, last, p).ravel()),
        (memory[48:64].reshape(4, 4)[:3, 3], last.find_station_location_in_ground(of_model, p)),
        (memory[67:70], last.find_station_velocity_in_ground(of_model, p)),
        (memory[64:67], V[0]),
        # M udot + bias = gravity, as nothing else acts
        (M @ of_model.u_dot + bias, matter.calc_gravity_forces(of_model)),
    ]
    for found, wanted in expected:
        assert np.abs(found - np.asarray(wanted)).max() < 1e-12
    assert np.abs(memory[48:64] - memory[70:86]).max() < 1e-12  # of one geometry
    efforts = M @ (-50.0 * q - 14.0 * u) + bias - matter.calc_gravity_forces(of_model)
    assert np.abs(controller.get_efforts(state) - efforts).max() < 1e-10
    assert np.abs(controller.calc_efforts(state) - efforts).max() < 1e-10


def hold(q, u, M, bias, gravity, which):
    return (M @ (-50.0 * q - 14.0 * u) + bias - gravity)[which]


def controlled(payload, model):
    system = arm(payload, beside=False)
    mb.control.Custom(system.forces, hold, sample_time=T, model=model)
    state = system.realize_topology()
    state.q = (0.5, -0.3, 0.4)
    return system, state


def test_a_payload_that_the_model_has_not_pulls_the_arm_down():
    """Where it comes to rest, feedback by the model's M holds the payload's weight: M Kp q = the weight not known."""
    model = arm(beside=False)
    known = mb.simulate(*controlled(0.0, model), 4.0).q[-1]
    assert np.abs(known).max() < 1e-3
    assert np.abs(mb.simulate(*controlled(0.5, None), 4.0).q[-1]).max() < 1e-3  # the plant's own
    system, state = controlled(0.5, model)
    end = mb.simulate(system, state, 6.0).states[-1]
    of_model, matter = model.realize_topology(), model.get_matter_subsystem()
    of_model.q = end.q
    model.realize(of_model, mb.Stage.VELOCITY)
    system.realize(end, mb.Stage.VELOCITY)
    unknown = system.get_matter_subsystem().calc_gravity_forces(end) - matter.calc_gravity_forces(of_model)
    assert np.abs(end.q).max() > 0.05 and np.abs(end.u).max() < 1e-4
    assert np.abs(matter.calc_m(of_model) @ (50.0 * end.q) - unknown).max() < 1e-3


def test_states_of_an_ensemble_are_as_alone():
    system, state = controlled(0.5, arm(beside=False))
    rng, n = np.random.default_rng(2), 11
    q = state.q + 0.2 * rng.normal(size=(n, 3))
    many = mb.Ensemble(system, n, state=state, threads=2)
    many.q = q
    motions = many.simulate(0.3, accuracy=1e-6)
    for i in (0, 7, 10):
        state.q = q[i]
        alone = mb.simulate(system, state, 0.3, accuracy=1e-6)
        assert np.abs(motions.q[i][-1] - alone.q[-1]).max() < 1e-5


def test_the_packages_own_laws_take_a_model():
    model = arm(beside=False)
    for kind, settings in (
        ("GravityCompensation", {}),
        ("ComputedTorque", {"reference": [mb.function.Constant(0.1)] * 3, "kp": 50.0, "kd": 14.0}),
        (
            "Impedance",
            {"body": "joint2", "stiffness": 5.0, "damping": 1.0, "target": mb.Transform((1, 1, 0))},
        ),
    ):
        ends = []
        for system in (arm(0.0), arm(0.7)):
            controller = getattr(mb.control, kind)(system.forces, sample_time=T, model=model, **settings)
            state = system.realize_topology()
            state.q = [*state.q[:7], 0.3, 0.2, 0.1]
            system.realize(state)
            ends.append(controller.calc_efforts(state))
        assert len(ends[0]) == 3 and np.array_equal(*ends)  # whatever the plant is
        plain = arm(0.0, beside=False)
        controller = getattr(mb.control, kind)(plain.forces, sample_time=T, **settings)
        state = plain.realize_topology()
        state.q = 0.3, 0.2, 0.1
        plain.realize(state)
        assert np.abs(controller.calc_efforts(state) - ends[0]).max() < 1e-10


def test_a_linear_model_goes_through_a_law_with_a_model():
    """The truth: differences of the acceleration under the efforts that the law gives there."""
    system, state = controlled(0.5, arm(beside=False))
    (law,) = (force for force in system.forces.elements if isinstance(force, mb.control.Custom))
    system.realize(state)
    loop = mb.linearize(system, state, closed_loop=True)

    def acceleration(x):
        here = state.copy()
        here.q, here.u = x[:3], x[3:]
        system.realize(here)
        law.sample(here)
        system.realize(here)
        return here.u_dot

    x, h = np.concatenate([state.q, state.u]), 1e-5
    slopes = [(acceleration(x + h * e) - acceleration(x - h * e)) / (2 * h) for e in np.eye(6)]
    assert np.abs(loop.A[3:] - np.transpose(slopes)).max() < 1e-5 * np.abs(slopes).max()


def test_models_that_do_not_fit_are_refused():
    system = arm()
    other = mb.examples.double_pendulum.build()[0]
    with pytest.raises(TypeError, match=r"has to be a mobod\.MultibodySystem"):
        mb.control.GravityCompensation(system.forces, sample_time=T, model="arm")
    with pytest.raises(mb.ModelError, match="plant itself"):
        mb.control.GravityCompensation(system.forces, sample_time=T, model=system)
    with pytest.raises(mb.ModelError, match="has no counterpart"):
        mb.control.GravityCompensation(system.forces, sample_time=T, model=other)
    with pytest.raises(mb.ModelError, match="mobilizer 1 of the plant"):
        mb.control.GravityCompensation(system.forces, [("box", 0)], sample_time=T, model=arm(beside=False))
        system.realize_topology()
    wrong = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(wrong)
    mb.mobilizer.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1))), name="joint0")
    with pytest.raises(mb.ModelError, match="different kinds"):
        mb.control.GravityCompensation(arm().forces, sample_time=T, model=wrong)
