"""Springs and dampers of joints, against MuJoCo's: hinge, slide, ball and free joints, linear and polynomial; energy."""

import numpy as np
import pytest

import mobod as mb

F, m = mb.force, mb.mobilizer


def mujocos(joint, stiffness, damping, q, v, rest):
    """MuJoCo's spring and damper forces, and energy, of one joint at a pose; *rest* is that of its spring."""
    mujoco = pytest.importorskip("mujoco", minversion="4.0")
    text = (
        '<mujoco><option><flag energy="enable" gravity="disable"/></option><worldbody><body>'
        f'<joint type="{joint}" stiffness="{stiffness}" damping="{damping}"/><geom size="1"/></body></worldbody></mujoco>'
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    model.qpos_spring[:], data.qpos[:], data.qvel[:] = rest, q, v
    mujoco.mj_forward(model, data)
    return data.qfrc_spring.copy(), data.qfrc_damper.copy(), data.energy[0]


def one(make, kind, **settings):
    model = make.tree(0, gravity=False)
    return model, kind(model.matter.ground, make.body(), X_PF=make.frame(), X_BM=make.frame(), **settings)


@pytest.mark.parametrize("joint", ["hinge", "slide"])
def test_polynomials_are_mujocos(joint, make):
    for x in (0.7, -0.4):
        model, body = one(make, m.Pin if joint == "hinge" else m.Slider)
        spring = F.MobilityPolynomialSpring(model.forces, body, 0, 1.0, 10.0, 100.0, 0.2)
        damper = F.MobilityPolynomialDamper(model.forces, body, 0, 2.0, 3.0, 4.0)
        state = model.made().state
        state.q, state.u = (x,), (-x,)
        model.system.realize(state)
        f_spring, f_damper, energy = mujocos(joint, "1 10 100", "2 3 4", x, -x, 0.2)
        assert spring.calc_force_contribution(state)[2] == pytest.approx(f_spring, rel=1e-14)
        assert damper.calc_force_contribution(state)[2] == pytest.approx(f_damper, rel=1e-14)
        assert spring.calc_potential_energy_contribution(state) == pytest.approx(energy, rel=1e-14)
        assert damper.calc_power_dissipation(state) == pytest.approx(x * f_damper[0], rel=1e-14)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 1e-3, 0.7, 3.1, 3.14159265, 4.0])
def test_a_ball_joints_spring_is_mujocos(angle, make):
    """Also near half a turn, where it turns the other way beyond; MuJoCo's speeds are in the body's frame."""
    for direction in mb.Direction:
        model, body = one(make, m.Ball, direction=direction)
        rest, axis = make.rotation(), make.unit_vector()
        spring = F.MobilityOrientationSpring(model.forces, body, 1.0, rest, quadratic_stiffness=10.0, cubic_stiffness=100.0)
        state = model.made().state
        R = mb.Rotation.about_axis(angle, axis) @ rest
        body.set_q_to_fit_rotation(state, R)
        model.system.realize(state)
        f, _, energy = mujocos("ball", "1 10 100", "0", R.to_quaternion(), np.zeros(3), rest.to_quaternion())
        torque = np.asarray(R) @ f
        if direction is mb.Direction.REVERSE:
            torque = -np.asarray(R).T @ torque  # u is F's angular velocity in M
        rounding = 1e-12 * np.abs(f).max() + 2e-15  # of angles
        assert spring.calc_force_contribution(state)[2] == pytest.approx(torque, abs=rounding)
        assert spring.calc_potential_energy_contribution(state) == pytest.approx(energy, rel=1e-12, abs=1e-15)


def test_a_free_joints_springs_are_mujocos(make):
    """Its rotation, and linear springs of its three translations; with Euler angles too."""
    model, body = one(make, m.Free)
    F.MobilityOrientationSpring(model.forces, body, 3.0)
    for i in range(3):
        F.MobilityLinearSpring(model.forces, body, 4 + i, 3.0, 0.0)
        F.MobilityLinearDamper(model.forces, body, i, 0.5)
        F.MobilityLinearDamper(model.forces, body, 3 + i, 0.5)
    state = model.made().randomize()
    quaternion, place = state.q[:4], state.q[4:]
    R = np.asarray(mb.Rotation.from_quaternion(quaternion))
    rest = [0, 0, 0, 1, 0, 0, 0]
    v = [*state.u[3:], *(R.T @ state.u[:3])]
    f_spring, f_damper, energy = mujocos("free", "3", "0.5", [*place, *quaternion], v, rest)
    f = f_spring + f_damper
    expected = np.concatenate([R @ f[3:], f[:3]])
    assert model.system.get_mobility_forces(state) == pytest.approx(expected, abs=1e-12)
    assert model.system.calc_potential_energy(state) == pytest.approx(energy, rel=1e-12)


def test_it_keeps_energy_and_swings_at_its_frequency(make):
    model, body = one(make, m.Ball)
    F.MobilityOrientationSpring(model.forces, body, 3.0, make.rotation(), cubic_stiffness=1.0)
    m.Pin(body, make.body(), X_PF=make.frame())
    state = model.made().randomize()
    before = model.system.calc_energy(state)
    end = mb.simulate(model.system, state, 2.0, accuracy=1e-9).states[-1]
    model.system.realize(end)
    assert model.system.calc_energy(end) == pytest.approx(before, rel=1e-7)


def test_every_kind_turns_back_and_euler_angles_make_no_difference(make, close):
    """Power is the loss of energy, whatever the mobilizer: a torque on its body, the opposite on its parent."""
    model = make.tree()
    turning = [body for body in model.bodies[1:] if body.facts.num_u]
    springs = [F.MobilityOrientationSpring(model.forces, body, 2.0, cubic_stiffness=0.3) for body in turning]
    state = model.made().randomize()
    for body, spring in zip(turning, springs, strict=True):
        R = body.get_mobilizer_transform(state).R
        angle, axis = R.to_angle_axis()
        torque = -(2.0 + 0.3 * angle**2) * angle * np.asarray(axis)
        power = spring.calc_force_contribution(state)[2] @ state.u
        assert power == pytest.approx(torque @ body.get_mobilizer_velocity(state)[0], abs=1e-11)
    euler = model.matter.convert_to_euler_angles(state)
    model.system.realize(euler)
    close(model.system.get_mobility_forces(euler), model.system.get_mobility_forces(state), 1e-11)


def test_what_cannot_turn_is_refused(make):
    model, body = one(make, m.Weld, name="fixed")
    with pytest.raises(mb.ModelError, match=r"'fixed'.* has no mobilities"):
        F.MobilityOrientationSpring(model.forces, body, 1.0)
