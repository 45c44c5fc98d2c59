"""Dry friction of a mobility: it holds, breaks away, slides and loses energy as Coulomb's does; closed forms and balances."""

import numpy as np
import pytest

import mobod as mb

F, m = mb.force, mb.mobilizer
G = 9.81


def slider(size, *, mass=2.0, slope=0.0, **settings):
    """A block on a rail down a slope; x points down. Also what pushes it along the rail besides."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    F.Gravity(forces, matter, (G * np.sin(slope), -G * np.cos(slope), 0))
    block = m.Slider(matter.ground, mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    return system, block, F.MobilityDryFriction(forces, block, 0, size, **settings)


def test_a_block_on_a_slope_stays_for_1000_seconds():
    """Friction is a tenth above its weight. It settles in the first hundred seconds; its size is 1."""
    system, _, friction = slider(1.1 * G, slope=np.pi / 6)
    motion = mb.simulate(system, system.realize_topology(), 1000.0, accuracy=1e-8, report_interval=100.0)
    assert np.ptp(motion.q[1:, 0]) < 1e-9
    slid = [q - friction.get_bristle_deflection(one) for q, one in zip(motion.q[1:, 0], motion.states[1:], strict=True)]
    assert np.ptp(slid) < 1e-11 and 0.0 < slid[0] < 1e-3, "it gave when gravity set in, and no load makes it creep"


@pytest.mark.parametrize("settings", [{"deflection": 1e-4}, {"friction": "stribeck", "transition_velocity": 1e-3}], ids=str)
@pytest.mark.parametrize("accuracy", [1e-3, 1e-6])
def test_it_stops_after_v_squared_by_twice_its_deceleration(settings, accuracy):
    system, _, _ = slider(5.0, **settings)
    state = system.realize_topology()
    state.u = (1.5,)
    motion = mb.simulate(system, state, 2.0, accuracy=accuracy)
    stop = 1.5**2 * 2.0 / (2 * 5.0)
    assert motion.q[-1, 0] == pytest.approx(stop, abs=3e-4)  # the bristle gives, or it creeps below the transition velocity
    assert abs(motion.u[-1, 0]) < 1e-3


def test_what_it_dissipates_is_friction_times_the_way_it_slides():
    system, _, friction = slider(5.0, deflection=1e-3, transition_velocity=0.01)
    state = system.realize_topology()
    state.u = (1.5,)
    motion = mb.simulate(system, state, 2.0, accuracy=1e-8, audit="steps")
    end = motion.states[-1]
    system.realize(end)
    slid = motion.q[-1, 0] - friction.get_bristle_deflection(end)
    lost = 0.5 * 2.0 * 1.5**2 - system.calc_energy(end)
    assert 5.0 * slid < lost < 5.0 * (slid + 1e-3)  # the bristle's own energy goes into its damping at the end
    assert abs(motion.audit.energy_error) < 1e-5 * motion.audit.energy_scale


def test_presliding_has_no_loop_and_sliding_one_of_its_closed_form():
    """A driven block: the loop's area is friction times what it slides; within the deflection it is elastic."""
    x = 1e-3
    for amplitude in (0.8 * x, 10 * x):
        system, block, friction = slider(5.0, deflection=x, transition_velocity=100.0)
        mb.motion.Sinusoid(block, mb.Motion.Level.POSITION, amplitude, 1.0, 0.0)
        state = system.realize_topology()
        system.prescribe(state, mb.Stage.POSITION)
        # from one end of its way to the same end, after it has slid once
        motion = mb.simulate(system, state, 2.5 * np.pi, accuracy=1e-9, report_interval=np.pi / 4000)
        force = []
        for one in motion.states[2000:]:
            system.realize(one)
            force.append(friction.calc_force_contribution(one)[2][0])
        area = -np.trapezoid(force, motion.q[2000:, 0])
        bent = friction.get_bristle_deflection(motion.states[-1])
        if amplitude < x:
            assert abs(area) < 1e-3 * 5.0 * x and bent == pytest.approx(amplitude, rel=1e-6)
        else:
            assert x < bent < 1.25 * x
            assert area == pytest.approx(4 * 5.0 * (amplitude - bent), rel=1e-3)


def test_it_breaks_away_at_static_friction_and_slides_at_dynamic_friction():
    for load, holds in ((0.98, True), (1.02, False)):
        system, block, friction = slider(4.0, static_friction_ratio=1.5, transition_velocity=0.01)
        push = F.MobilityConstantForce(system.all_forces()[0].get_force_subsystem(), block, 0, load * 6.0)
        state = system.realize_topology()
        y = next(y.real for y in np.roots([3, 0, -10, 0, 15, -8 * 0.98]) if abs(y.imag) < 1e-12 and 0.0 < y.real < 1.0)
        friction.set_bristle_deflection(state, 1e-3 * y)  # where it carries 0.98 of what it can
        motion = mb.simulate(system, state, 4.0, accuracy=1e-6, report_interval=0.5)
        if holds:
            assert motion.q[-1, 0] < 1e-3 and abs(motion.u[-1, 0]) < 1e-5
        else:
            a = np.diff(motion.u[4:, 0]) / 0.5
            assert a == pytest.approx((push.get_default_force() - 4.0) / 2.0, rel=1e-4)


def test_viscous_friction_adds_to_it():
    for law in ("bristle", "stribeck"):
        system, _, _ = slider(3.0, slope=np.pi / 2, viscous_friction=4.0, friction=law)
        motion = mb.simulate(system, system.realize_topology(), 20.0, accuracy=1e-6)
        assert motion.u[-1, 0] == pytest.approx((2.0 * G - 3.0) / 4.0, rel=1e-5)  # the end speed


def test_it_holds_a_mobility_whose_speed_is_no_coordinates_rate(make):
    """A ball, three times: a pendulum held out sideways; and freed where friction is too little."""
    model = make.tree(0)
    model.gravity.set_default_gravity_vector((0, -G, 0))
    arm = m.Ball(model.matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (1, 0, 0), mb.UnitInertia(0.1, 1.1, 1.1))))
    frictions = [F.MobilityDryFriction(model.forces, arm, i, 1.2 * G) for i in range(3)]
    model.made()
    held = mb.simulate(model.system, model.state, 20.0, accuracy=1e-7, report_interval=5.0)
    assert np.ptp(held.q[1:], axis=0).max() < 1e-7
    assert 0.0 > frictions[2].get_bristle_deflection(held.states[-1]) > -1e-3
    frictions[2].set_friction_force(model.state, 0.8 * G)
    assert mb.simulate(model.system, model.state, 1.0, accuracy=1e-5).u[-1, 2] < -0.1


def test_the_bristle_is_the_states(make):
    system, block, friction = slider(5.0)
    state = system.realize_topology()
    friction.set_bristle_deflection(state, 5e-4)
    assert friction.get_bristle_deflection(state) == 5e-4 and state.z[0] == 0.5
    system.realize(state)
    force = friction.calc_force_contribution(state)[2][0]
    assert force == -5.0 * 0.5 * (15.0 - 2.5 + 3.0 / 16.0) / 8.0
    block.set_rate(state, 1e-9)
    with pytest.raises(mb.ModelError, match=r"deflection of .* has to be finite"):
        friction.set_bristle_deflection(state, np.nan)
    _, _, smooth = other = slider(5.0, friction="stribeck")
    state = other[0].realize_topology()
    assert smooth.get_bristle_deflection(state) == 0.0 and len(state.z) == 0
    with pytest.raises(mb.ModelError, match="has no bristle; its friction is 'stribeck'"):
        smooth.set_bristle_deflection(state, 0.1)
    with pytest.raises(mb.ModelError, match="'bristle' or 'stribeck', not 'coulomb'"):
        slider(5.0, friction="coulomb")


def test_many_states_slide_as_each_alone(close):
    system, _, _ = slider(5.0, static_friction_ratio=1.3, viscous_friction=0.1)
    ensemble = mb.Ensemble(system, 24)
    ensemble.u = np.linspace(-0.1, 0.1, 24)[:, None]
    ensemble.z = np.tile(np.linspace(-1.4, 1.4, 8), 3)[:, None]
    ensemble.realize(mb.Stage.ACCELERATION)
    for i in range(24):
        one = ensemble.get_state(i)
        system.realize(one)
        close(np.concatenate([ensemble.u_dot[i], ensemble.z_dot[i]]), np.concatenate([one.u_dot, one.z_dot]), 1e-13)
