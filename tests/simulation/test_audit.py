"""The audit of a run: its balance of energy, momentum, residuals, error, and what it warns of."""

import numpy as np
import pytest

import mobod as mb
from mobod.simulation.energy_accounts import integrate


class Damper(mb.force.CustomImplementation):
    """-c u on every mobility: it has no potential energy, so that all it does is work."""

    def __init__(self, c=0.3):
        self.c = c

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces -= self.c * state.u


class Spring(mb.force.CustomImplementation):
    """-k q on the first mobility, with its potential energy times *honesty*, and a push that depends on time."""

    def __init__(self, honesty=1.0, push=0.0):
        self.honesty, self.push = honesty, push

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[0] += self.push * np.cos(2.0 * state.time) - 20.0 * state.q[0]

    def calc_potential_energy(self, state):
        return self.honesty * 10.0 * state.q[0] ** 2


def pendulum(*parts, gravity=(0.0, -9.81, 0.0), joint=mb.mobilizer.Pin):
    """Two rods, with custom forces."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, gravity)
    rod = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.5, 0), mb.UnitInertia(1.0, 0.5, 1.0)))
    upper = joint(matter.ground, rod, name="upper")
    mb.mobilizer.Pin(upper, rod, X_PF=mb.Transform((0, -1, 0)), name="lower")
    for n, part in enumerate(parts):
        mb.force.Custom(forces, part, name=f"part {n}")
    state = system.realize_topology()
    state.u = np.linspace(1.0, 2.0, len(state.u))
    return system, state


def test_a_conservative_system_needs_no_ledger():
    system, state = mb.examples.chain.build()
    run = mb.simulate(system, state, 1.0, accuracy=1e-7)
    audit = run.audit
    assert audit.work == {} and audit.unaccounted == [] and audit.warnings == [] and audit.energy_uncertainty == 0.0
    assert 0.0 < audit.energy_error < 1e-4 * audit.energy_scale
    assert audit is run.audit
    lines = str(audit).splitlines()
    assert lines[0].startswith("energy change ") and lines[-1].split() == ["warnings", "none"]
    assert len(lines) < 10 and all(line[17] == " " for line in lines)


@pytest.mark.parametrize("audit", ["reports", "steps"])
def test_what_a_damper_takes_is_what_the_energy_loses(audit):
    system, state = pendulum(Damper())
    run = mb.simulate(system, state, 2.0, accuracy=1e-8, audit=audit)
    found = run.audit
    assert found.energy_change < -1.0 and found.work["part 0"] == pytest.approx(found.energy_change, abs=1e-4)
    assert found.energy_error < 1e-6 and found.energy_uncertainty == 0.0 and not found.work_is_sampled
    assert found.warnings == []


def test_a_run_that_was_read_is_audited_along_its_reports(tmp_path):
    system, state = pendulum(Damper())
    mb.simulate(system, state, 2.0, accuracy=1e-8).save(tmp_path / "run.npz")
    found = mb.Trajectory.load(tmp_path / "run.npz", system=system).audit
    assert found.work["part 0"] == pytest.approx(found.energy_change, abs=1e-4)
    assert found.work_is_sampled and 0.0 < found.energy_error < found.energy_uncertainty + 1e-6
    assert "energy balance    open by" in str(found) and "energy error" not in str(found) and found.warnings == []


@pytest.mark.parametrize("audit", ["reports", "steps"])
def test_what_drives_is_told_from_what_is_stored(audit):
    """The spring's energy is in the potential, so that its own work is only what it was pushed with."""
    system, state = pendulum(Spring(push=1.5), Damper())
    run = mb.simulate(system, state, 2.0, accuracy=1e-8, audit=audit, report_interval=0.002)
    found = run.audit
    assert set(found.work) == {"part 0", "part 1"} and found.work["part 1"] < 0.0
    assert sum(found.work.values()) == pytest.approx(found.energy_change, abs=1e-6)
    assert found.energy_error < 2e-6 and found.warnings == []
    power = [1.5 * np.cos(2.0 * t) * u for t, u in zip(run.time, run.u[:, 0], strict=True)]
    assert found.work["part 0"] == pytest.approx(np.trapezoid(power, run.time), abs=1e-4)


@pytest.mark.parametrize("audit", ["reports", "steps"])
def test_a_motion_does_work(audit):
    system, state = pendulum(Damper())
    mb.motion.Sinusoid(system.matter.bodies["upper"], mb.Motion.Level.POSITION, 0.5, 3.0, 0.0)
    state = system.realize_topology()
    run = mb.simulate(system, state, 2.0, accuracy=1e-8, audit=audit, report_interval=0.005)
    found = run.audit
    assert set(found.work) == {"part 0", "motions"} and abs(found.work["motions"]) > 0.1
    assert found.energy_error < 1e-5 * found.energy_scale


def test_a_disabled_force_has_no_account():
    system, state = pendulum(Damper(), Damper())
    system.get_subsystem(1).get_force(1).disable(state)
    assert set(mb.simulate(system, state, 0.2).audit.work) == {"part 1"}


def test_many_forces_are_one_account():
    system, state = pendulum(*[Damper(0.01) for _ in range(30)], Spring())
    run = mb.simulate(system, state, 0.5, accuracy=1e-8)
    assert set(run.audit.work) == {"31 forces"}
    assert run.audit.energy_error < 1e-6


def test_the_sum_of_powers_knows_how_well_it_is_known():
    for n, rough in ((11, True), (201, False)):
        times = np.linspace(0.0, 2.0, n)
        integrals, uncertainty = integrate(times, np.cos(9.0 * times)[:, None])
        error = np.abs(integrals[:, 0] - np.sin(9.0 * times) / 9.0).max()
        assert error <= uncertainty and (uncertainty > 1e-2) == rough
    assert integrate(np.array([1.0]), np.ones((1, 2)))[1] == 0.0
    integrals, uncertainty = integrate(np.array([0.0, 2.0]), np.ones((2, 1)))
    assert integrals[-1, 0] == 2.0 and uncertainty > 0.0, "two rows tell nothing of what is between them"


# ---------------------------------------------------------------------------------------------- momentum


class Between(mb.force.CustomImplementation):
    """Equal and opposite forces at the origins of two bodies, along the line between them."""

    def __init__(self, a, b):
        self.a, self.b = a, b

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        line = self.b.get_body_origin_location(state) - self.a.get_body_origin_location(state)
        body_forces[self.a.get_mobilized_body_index(), 1] += 3.0 * line
        body_forces[self.b.get_mobilized_body_index(), 1] -= 3.0 * line


@pytest.mark.parametrize(
    ("joint", "gravity", "angular", "linear"),
    [
        (mb.mobilizer.Free, (0, 0, 0), True, True),
        (mb.mobilizer.Free, (0, -9.81, 0), False, False),
        (mb.mobilizer.Translation, (0, 0, 0), False, True),
        (mb.mobilizer.Pin, (0, 0, 0), False, False),
    ],
)
def test_momentum_is_looked_at_where_it_is_conserved(joint, gravity, angular, linear):
    system, state = pendulum(joint=joint, gravity=gravity)
    a, b = system.matter.bodies["upper"], system.matter.bodies["lower"]
    mb.force.Custom(system.get_subsystem(1), Between(a, b))
    values = state.q.copy(), state.u.copy()
    state = system.realize_topology()
    state.q, state.u = values
    audit = mb.simulate(system, state, 1.0, accuracy=1e-8).audit
    for found, conserved in ((audit.angular_momentum_change, angular), (audit.linear_momentum_change, linear)):
        assert (found is not None) == conserved
        assert found is None or found < 1e-6


def test_a_change_of_momentum_is_told_beside_what_the_parts_have():
    """A fixed step far too long loses momentum: as much as the states say, of two bodies whose momenta add up to none."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.brick((0.1, 0.2, 0.3))))
    a, b = (mb.mobilizer.Free(matter.ground, ball, name=name) for name in "ab")
    mb.force.TwoPointLinearSpring(forces, a, (0, 0.1, 0), b, (0.1, 0, 0), 40.0, 0.5)
    state = system.realize_topology()
    for body, side in ((a, 1.0), (b, -1.0)):
        body.set_q_to_fit_translation(state, (0, side, 0))
        body.set_u_to_fit_velocity(state, ((side, 0, side), (side, 0, 0)))
    integrator = mb.integrator.ExplicitEuler(system, fixed_step_size=0.01)
    motion = mb.simulate(system, state, 1.0, integrator=integrator, report_interval=0.1)
    momenta, scales = [], []
    for moved in motion.states:
        system.realize(moved, mb.Stage.VELOCITY)
        momenta.append(matter.calc_system_momentum_about_ground_origin(moved))
        whole = matter.calc_system_mass_properties_in_ground(moved)
        twice = 2.0 * matter.calc_kinetic_energy(moved)
        scales.append([np.sqrt(twice * np.trace(np.asarray(whole.inertia))), np.sqrt(twice * whole.mass)])
    changes = np.linalg.norm(np.array(momenta) - momenta[0], axis=-1).max(axis=0) / np.max(scales, axis=0)
    assert changes[0] > 1e-4
    np.testing.assert_allclose(motion.audit.angular_momentum_change, changes[0], rtol=1e-6)
    np.testing.assert_allclose(motion.audit.linear_momentum_change, changes[1], rtol=1e-6, atol=1e-15)


def test_a_motion_of_the_base_passes_momentum_on():
    system, _ = pendulum(joint=mb.mobilizer.Free, gravity=(0, 0, 0))
    mb.motion.Steady(system.matter.bodies["upper"], [0.1] * 6)
    audit = mb.simulate(system, system.realize_topology(), 0.2).audit
    assert audit.linear_momentum_change is None and audit.angular_momentum_change is None


@pytest.mark.parametrize(
    ("to_ground", "disabled", "conserved"), [(False, False, True), (True, False, False), (True, True, True)]
)
def test_only_constraints_on_ground_that_are_switched_on_pass_momentum_on(to_ground, disabled, conserved):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.3)))
    a, b = (mb.mobilizer.Free(matter.ground, ball, name=name) for name in "ab")
    mb.constraint.Rod(matter.ground if to_ground else a, (0, 0, 0), b, (0, 0.1, 0), 1.1, disabled_by_default=disabled)
    state = system.realize_topology()
    b.set_q_to_fit_translation(state, (0, 1, 0))
    a.set_u_to_fit_linear_velocity(state, (2, 0, 0))
    b.set_u_to_fit_linear_velocity(state, (-1, 0, 0))
    audit = mb.simulate(system, state, 0.5, accuracy=1e-7).audit
    for found in (audit.angular_momentum_change, audit.linear_momentum_change):
        assert (found is not None) == conserved
        assert found is None or found < 1e-5
    assert not [text for text in audit.warnings if "momentum" in text]


# ---------------------------------------------------------------------------------------------- warnings


def warnings_of(audit, word):
    return [text for text in audit.warnings if word in text]


def test_steps_that_are_too_long_are_said_so():
    system, state = pendulum()
    integrator = mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.2)
    audit = mb.simulate(system, state, 10.0, integrator=integrator).audit
    assert warnings_of(audit, "steps of 0.2 are too long; try 0.05")


def test_a_force_whose_potential_energy_is_another_is_no_surprise():
    """Whatever is said to be stored, the ledger's account of a custom force makes up for it."""
    system, state = pendulum(Spring(honesty=0.5))
    audit = mb.simulate(system, state, 1.0, accuracy=1e-8, audit="steps").audit
    assert audit.energy_error < 1e-6 and abs(audit.work["part 0"]) > 0.05


def test_reports_that_are_too_far_apart_are_said_so(tmp_path):
    system, state = pendulum(Damper())
    mb.simulate(system, state, 5.0, accuracy=1e-6, report_interval=1.0).save(tmp_path / "run.npz")
    audit = mb.Trajectory.load(tmp_path / "run.npz", system=system).audit
    assert warnings_of(audit, "audit='steps'") and audit.energy_uncertainty > 0.0 and "known to" in str(audit)
    assert not warnings_of(audit, "is off by"), "what is not known is not blamed on the integration"


class Ratchet(mb.force.CustomImplementation):
    """A force that jumps so often while a coordinate grows by one."""

    def __init__(self, teeth=10.0):
        self.teeth = teeth

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[0] += 50.0 * (-1.0) ** np.floor(self.teeth * state.q[0])


def test_steps_tried_in_vain_are_said_so():
    system, state = pendulum(Ratchet())
    audit = mb.simulate(system, state, 2.0, accuracy=1e-7).audit
    assert warnings_of(audit, "were tried in vain: a force is discontinuous")


def test_what_makes_steps_fail_is_looked_for_in_the_model():
    system, state = mb.examples.bricard.build()
    (warning,) = mb.simulate(system, state, 8.0, accuracy=1e-4).audit.warnings
    assert "an equation of 'ring' is redundant, and contradicts" in warning and "try 1e-06" in warning
    finer = mb.simulate(system, state, 8.0, accuracy=1e-6)
    assert finer.audit.warnings == [] and finer.statistics["steps_attempted"] < 300
    system, state = stopped_arm()
    audit = mb.simulate(system, state, 10.0, accuracy=1e-4).audit
    (advice,) = warnings_of(audit, "'mobilitylinearstop_1' is hit within a step, or stiff; softer ones take fewer steps")
    assert "TimeStepping" in advice and "BDF" not in advice


def test_what_bounces_is_not_sent_to_a_multistep_method():
    system, _ = pendulum(Ratchet(300.0))  # fewer jumps are seen through by the steps' length
    matter = system.get_matter_subsystem()
    mb.CompliantContactSubsystem(system)
    for body, place in ((matter.ground, (0, 5, 0)), (matter.bodies["upper"], (0, 0, 0))):
        body.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), mb.contact.Material(1e6)), place)
    audit = mb.simulate(system, system.realize_topology(), 0.5, accuracy=1e-5).audit
    (advice,) = warnings_of(audit, "were tried in vain: surfaces that bounce take short steps")
    assert "TimeStepping" in advice and "BDF" not in advice


def test_quaternions_that_are_no_unit_are_said_so(make):
    system, state = mb.examples.tumbling_handle.build()
    run = mb.simulate(system, state, 0.1)
    q = run.q.copy()
    first = next(i for i, name in enumerate(run.coordinate_names) if name.endswith("[0]"))
    q[7, first] += 1e-3
    bent = mb.Trajectory(
        system=system,
        time=run.time,
        q=q,
        u=run.u,
        energy=run.energy,
        coordinate_names=run.coordinate_names,
        speed_names=run.speed_names,
        state=state,
    )
    assert run.audit.position_residual < 1e-12
    assert warnings_of(bent.audit, f"at time {run.time[7]:.6g}") and bent.audit.position_residual > 1e-6


# ---------------------------------------------------------------------------------------------- error of the whole run


def test_the_error_of_a_run_is_estimated_by_a_finer_one(tmp_path):
    system, state = mb.examples.double_pendulum.build()
    run = mb.simulate(system, state, 10.0, accuracy=1e-4, estimate_error=True)
    exact = mb.simulate(system, state, 10.0, accuracy=1e-11)
    estimate = run.audit.error_estimate
    apart = np.abs(run.q - exact.q)
    beyond = run.time[(apart > 0.01).any(axis=1)]
    assert estimate.reference == "accuracy 1e-05" and estimate.tolerance == 0.01
    assert estimate.horizon == pytest.approx(beyond[0], abs=1.0) and estimate.horizon_of in run.coordinate_names
    assert warnings_of(run.audit, "chaotic") and "global error" in str(run.audit)
    on_disk = mb.simulate(system, state, 10.0, accuracy=1e-4, estimate_error=0.01, record_to=tmp_path / "run.h5")
    assert np.array_equal(on_disk.audit.error_estimate.largest, estimate.largest)


def test_with_fixed_steps_the_finer_one_has_half_of_them():
    system, state = pendulum()
    integrator = mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.01)
    estimate = mb.simulate(system, state, 1.0, integrator=integrator, estimate_error=True).audit.error_estimate
    assert estimate.reference == "steps of 0.005" and np.isinf(estimate.horizon) and 0.0 < estimate.largest.max() < 1e-4


def test_no_bit_of_a_run_depends_on_its_audit():
    system, state = pendulum(Damper())
    plain = mb.simulate(system, state, 1.0, accuracy=1e-6)
    audited = mb.simulate(system, state, 1.0, accuracy=1e-6, audit="steps", estimate_error=True)
    assert np.array_equal(plain.q, audited.q) and np.array_equal(plain.energy, audited.energy)
    assert plain.statistics["evaluations"] == audited.statistics["evaluations"]


def test_without_a_system_only_the_energy_is_looked_at(tmp_path):
    system, state = pendulum(Damper())
    run = mb.simulate(system, state, 1.0)
    run.save(tmp_path / "run.npz")
    alone, again = mb.Trajectory.load(tmp_path / "run.npz"), mb.Trajectory.load(tmp_path / "run.npz", system=system)
    assert alone.audit.energy_error == run.energy_drift and "has no system" in alone.audit.unaccounted[0]
    assert again.audit.work == pytest.approx(run.audit.work, rel=1e-4)


def stopped_arm():
    """An arm that is thrown between two stiff stops."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -9.8, 0))
    link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    arm = mb.mobilizer.Pin(matter.ground, link, X_BM=mb.Transform((0, 1, 0)))
    mb.force.MobilityLinearStop(forces, arm, 0, 1e5, 5.0, -0.3, 0.3)
    state = system.realize_topology()
    arm.set_angle(state, 0.29)
    arm.set_rate(state, 3.0)
    return system, state


def test_the_work_of_stops_is_followed_step_by_step(tmp_path):
    """Stops act for a tenth of a report: along reports the balance is off, which is no error of the run."""
    system, state = stopped_arm()
    run = mb.simulate(system, state, 2.0, report_interval=0.05)
    run.save(tmp_path / "run.npz")
    rough = mb.Trajectory.load(tmp_path / "run.npz", system=system).audit
    for fine in (run.audit, mb.simulate(system, state, 2.0, report_interval=0.05, audit="steps").audit):
        assert rough.work_is_sampled and not fine.work_is_sampled
        assert fine.energy_error < 1e-3 * fine.energy_scale < 0.1 * rough.energy_error
        assert not warnings_of(fine, "energy")
        (work,) = fine.work.values()
        assert work == pytest.approx(fine.energy_change, abs=1e-3 * fine.energy_scale)
    assert all("audit='steps'" in text for text in rough.warnings if "energy" in text) and rough.warnings


def test_reports_between_steps_are_not_taken_for_the_integration():
    """With steps of a quarter of a swing, reports between them are off by much more than the steps."""
    system, state = pendulum()
    run = mb.simulate(system, state, 3.0, integrator=mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.25))
    ends = mb.simulate(
        system, state, 3.0, integrator=mb.integrator.RungeKuttaMerson(system, fixed_step_size=0.25), report_interval=0.25
    )
    assert run.audit.energy_error == pytest.approx(ends.energy_drift, rel=1e-9)
    assert run.audit.energy_error < 0.9 * run.energy_drift


def test_an_audit_leaves_the_run_and_what_users_see_of_it_alone():
    """Repeating the run warns of nothing again, calls no reporter, and does not need what the caller does with the state."""
    system, state = stopped_arm()
    run = mb.simulate(system, state, 1.0)
    state.q = state.q + 1.0
    q, counts = run.q.copy(), dict(run.statistics)
    loop = mb.integrator.RungeKuttaMerson.kernel.dispatcher
    compiled = list(loop.signatures)
    assert run.audit.energy_error < 1e-3 * run.audit.energy_scale
    assert list(loop.signatures) == compiled, "the loop over steps is not compiled again for times that are read-only"
    assert np.array_equal(run.q, q) and run.statistics == counts

    seen = []

    class Look(mb.event.PeriodicReporter):
        def handle_event(self, state):
            seen.append(state.time)

    system.add_event_reporter(Look(0.1))
    run = mb.simulate(system, system.realize_topology(), 1.0)
    number = len(seen)
    assert run.audit.work_is_sampled and len(seen) == number > 5


def test_a_run_that_cannot_be_repeated_is_audited_along_its_reports():
    class Forgetful(mb.force.CustomImplementation):
        """A force that, against the rules, changes from run to run."""

        drag = 0.0

        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces -= self.drag * state.u

    force = Forgetful()
    system, state = pendulum(force)
    run = mb.simulate(system, state, 1.0)
    force.drag = 1.0
    assert run.audit.work_is_sampled


def test_the_work_of_impulses_is_what_is_left_of_the_balance():
    """A ball that falls and is braked by a damper: what its surface takes is neither its law's power nor the damper's work.

    A step takes the ball into the floor by up to its speed times the step, which is where energy can rise.
    """
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    mb.force.GlobalDamper(forces, matter, 0.1)
    mb.CompliantContactSubsystem(system)
    rubber = mb.contact.Material(1e5, dissipation=0.5)
    matter.ground.add_contact_surface(mb.contact.Surface(mb.contact.HalfSpace(), rubber))
    ball = mb.mobilizer.Free(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1))))
    ball.add_contact_surface(mb.contact.Surface(mb.contact.Sphere(0.1), rubber))
    state = system.realize_topology()
    ball.set_q_to_fit_translation(state, (0, 0, 0.5))
    step = mb.integrator.TimeStepping(system, fixed_step_size=1e-3)
    run = mb.simulate(system, state, 1.0, integrator=step, report_interval=1e-3)
    audit = run.audit
    lost = audit.energy_change - audit.work["globaldamper_1"]
    assert audit.work["contacts, stops and ropes"] == pytest.approx(lost, abs=1e-9 * abs(lost)) and lost < -1.0
    heights = run.q[:, 6]
    entered = 0.4 * 4 / 3 * 1e5 / 8**0.5 * 0.1**0.5 * max(0.1 - heights.min(), 0.0) ** 2.5
    assert 0.0 <= audit.energy_error < entered and audit.energy_error < 0.1 * abs(lost) and audit.warnings == []
    del run.run_settings  # as of a file
    run.run_settings = None
    sampled = mb.simulation.audit.make_audit(run)
    assert sampled.work_is_sampled and sampled.work["contacts, stops and ropes"] == pytest.approx(lost, rel=0.02)


def test_what_a_controller_did_is_left_out_where_reports_cannot_tell():
    """Not zero: what it held is in no row of a run with a handler of one's own, which is not repeated."""
    system, _ = mb.examples.double_pendulum.build()
    mb.control.PD(system.forces, kp=40.0, kd=5.0, sample_time=0.01, name="servo")

    class Kick(mb.event.ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.1 if state.time < 0.1 else np.inf

        def handle_event(self, state, accuracy):
            state.u = (1.0, 0.0)

    system.add_event_handler(Kick())
    state = system.realize_topology()
    state.q = (0.5, 0.3)
    by_reports, by_steps = (mb.simulate(system, state, 0.3, audit=how).audit for how in ("reports", "steps"))
    assert "servo" not in by_reports.work and any("the work of servo" in text for text in by_reports.unaccounted)
    assert abs(by_steps.work["servo"]) > 0.01 and not by_steps.unaccounted


def test_a_plane_loop_is_not_blamed_for_steps_in_vain():
    """The equations across the plane are redundant wherever the loop is; what fails are steps onto the teeth's flanks."""
    system, _ = mb.examples.four_bar.build()
    crank = system.matter.bodies["crank"]
    wheel = mb.body.Rigid(mb.MassProperties(0.5, (0, 0, 0), mb.UnitInertia.cylinder_along_z(0.03, 0.02)))
    pinion = mb.mobilizer.Pin(system.matter.ground, wheel, name="pinion")
    mesh = mb.force.transmission.Coordinates(system.forces, [(pinion, 0, 0.03), (crank, 0, 0.12)])
    teeth = {"stiffness": 1e6, "dissipation": 2.0, "rest_range": (-1e-4, 1e-4)}
    mb.force.TransmissionSpring(system.forces, mesh, **teeth, name="teeth")
    curve = mb.function.Table([-50.0, 0.0, 100.0, 150.0], [3.0, 3.0, 2.5, 0.0], interpolation="linear")
    cycle = mb.function.Table(
        [0.0, 1.0, 1.01, 1.5, 1.51, 2.0], [1.0, 1.0, 0.0, 0.0, 1.0, 1.0], interpolation="linear", periodic=True
    )
    mb.force.Motor(system.forces, pinion, 0, curve, duty_cycle=cycle)
    mb.force.MobilityLinearDamper(system.forces, system.matter.bodies["rocker"], 0, 3.0)
    state = system.realize_topology()
    coupler, rocker = mb.examples.four_bar.close(1.0)
    state.q = [1.0, coupler - 1.0, rocker, -4.0]
    warnings = mb.simulate(system, state, 2.0, accuracy=1e-5, report_interval=0.1).audit.warnings
    assert any("'teeth' is hit within a step" in one for one in warnings) and not any("redundant" in one for one in warnings)


@pytest.mark.parametrize("num_forces", [1, 26])
def test_the_work_of_friction_of_contacts_that_slip_is_followed(num_forces, tmp_path):
    """A mass slides on a floor by events, till it sticks: all its energy goes into friction, along its way.

    Of many forces in one account, friction is still none.
    """
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mass = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    for _ in range(num_forces):
        mb.force.ConstantForce(forces, mass, (0, 0, 0), (0, 0, -2.0 * 9.81 / num_forces))
    mb.contact.PointPlane(matter.ground, (0, 0, 1), 0.0, mass, (0, 0, 0), static_friction=0.3, dynamic_friction=0.2)
    state = system.realize_topology()
    state.u = (0.6, 0.8, 0.0)
    motion = mb.simulate(system, state, 1.0, accuracy=1e-7)
    audit = motion.audit
    assert audit.work["friction of contacts that slip"] == pytest.approx(-1.0, abs=1e-6)
    assert audit.energy_error < 1e-6 and audit.warnings == []
    motion.save(tmp_path / "motion.h5")
    state.u = (0.0, 0.0, -0.1)  # what an impact takes where the run begins is gone from its first row
    for way in ("reports", "steps"):
        struck = mb.simulate(system, state, 0.1, accuracy=1e-7, audit=way)
        assert "struck" in struck.events["kind"].tolist() and struck.audit.energy_error < 1e-9
        assert abs(sum(struck.audit.work.values())) < 1e-9
    read = mb.Trajectory.load(tmp_path / "motion.h5", system=system).audit  # rows do not tell what slips
    assert any("friction of contacts that slip" in one for one in read.unaccounted)
    assert not any("discontinuous" in one for one in read.warnings)
