"""Accessors of unilateral contacts, and the arguments that they refuse."""

import numpy as np
import pytest
from touching_models import G, ball_over_floor, empty, point_on_slope, run, solid, stepped

import mobod as mb

NAN = float("nan")


@pytest.fixture
def parts():
    system, matter = empty()
    return (
        system,
        matter,
        mb.mobilizer.Free(matter.ground, solid(), name="body"),
        mb.mobilizer.Pin(matter.ground, solid(), name="pin"),
    )


def kinds(matter, body, pin, **more):
    frame, floor = mb.Transform(), matter.ground
    return {
        "PointPlane": lambda: mb.contact.PointPlane(floor, (0, 0, 1), 0.0, body, (0, 0, 0), **more),
        "SpherePlane": lambda: mb.contact.SpherePlane(floor, (0, 0, 1), 0.0, body, (0, 0, 0), 1.0, **more),
        "SphereSphere": lambda: mb.contact.SphereSphere(floor, (0, 0, 0), 1.0, body, (0, 0, 0), 1.0, **more),
        "EdgeEdge": lambda: mb.contact.EdgeEdge(floor, frame, 1.0, body, frame, 1.0, **more),
        "HardStopUpper": lambda: mb.contact.HardStopUpper(pin, 0, 1.0, **more),
        "HardStopLower": lambda: mb.contact.HardStopLower(pin, 0, 1.0, **more),
        "Rope": lambda: mb.contact.Rope(floor, (0, 0, 0), body, (0, 0, 0), 1.0, **more),
    }


NAMES = ["PointPlane", "SpherePlane", "SphereSphere", "EdgeEdge", "HardStopUpper", "HardStopLower", "Rope"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("restitution", [-0.1, 1.1, NAN, None, "1"])
def test_restitution_out_of_range_is_refused(parts, name, restitution):
    _, matter, body, pin = parts
    with pytest.raises((mb.ModelError, TypeError), match="restitution"):
        kinds(matter, body, pin, restitution=restitution)[name]()
    assert matter.get_num_constraints() == 0 and matter.get_num_unilateral_contacts() == 0


@pytest.mark.parametrize("name", NAMES[:4])
@pytest.mark.parametrize(
    ("friction", "says"),
    [
        ({"static_friction": -0.1}, "static_friction"),
        ({"static_friction": NAN}, "static_friction"),
        ({"static_friction": 0.1, "dynamic_friction": 0.2}, "cannot exceed"),
        ({"static_friction": 0.1, "dynamic_friction": -0.2}, "dynamic_friction"),
        ({"static_friction": 0.1, "viscous_friction": -1.0}, "viscous_friction"),
    ],
)
def test_friction_out_of_range_is_refused(parts, name, friction, says):
    _, matter, body, pin = parts
    with pytest.raises(mb.ModelError, match=says):
        kinds(matter, body, pin, **friction)[name]()
    assert matter.get_num_constraints() == 0 and matter.get_num_unilateral_contacts() == 0


def test_geometry_that_is_none_is_refused(parts):
    _, matter, body, pin = parts
    floor = matter.ground
    for make in (
        lambda: mb.contact.PointPlane(floor, (0, 0, 0), 0.0, body, (0, 0, 0)),
        lambda: mb.contact.PointPlane(floor, (0, NAN, 1), 0.0, body, (0, 0, 0)),
        lambda: mb.contact.PointPlane(floor, (0, 0, 1), NAN, body, (0, 0, 0)),
        lambda: mb.contact.SpherePlane(floor, (0, 0, 1), 0.0, body, (0, 0, 0), -1.0),
        lambda: mb.contact.SphereSphere(floor, (0, 0, 0), 0.0, body, (0, 0, 0), 1.0),
        lambda: mb.contact.Rope(floor, (0, 0, 0), body, (0, 0, 0), 0.0),
        lambda: mb.contact.HardStopUpper(pin, 0, NAN),
        lambda: mb.contact.JointFriction(pin, 0, -1.0, 0.1),
        lambda: mb.contact.JointFriction(pin, 0, 1.0, -0.1),
    ):
        with pytest.raises(mb.ModelError):
            make()
    with pytest.raises(mb.TopologyError):
        mb.contact.PointPlane(body, (0, 0, 1), 0.0, body, (0, 0, 0))
    with pytest.raises((TypeError, AttributeError)):
        mb.contact.HardStopUpper("pin", 0, 1.0)


def test_friction_has_one_or_two_directions(parts):
    _, matter, body, _ = parts
    ball = mb.constraint.Ball(matter.ground, (0, 0, 0), body, (0, 0, 0), name="three")
    with pytest.raises(mb.ModelError, match=r"'three'.*has 3 equations"):
        mb.StateLimitedFriction(ball, static_friction=0.5)


@pytest.mark.parametrize("name", NAMES)
def test_rates_are_the_derivatives_of_the_gap(parts, name, rng, derivative):
    system, matter, body, pin = parts
    contact = kinds(matter, body, pin)[name]()
    state = system.realize_topology()
    state.q, state.u = rng.normal(size=8) + np.array([0, 0, 0, 0, 2, 2, 2, 0]), rng.normal(size=7)
    system.normalize_quaternions(state)
    system.realize(state)
    h = 1e-5

    def gap(t):
        other = state.copy()
        other.q = state.q + t * state.q_dot + 0.5 * t * t * state.q_dot_dot
        system.normalize_quaternions(other)
        system.realize(other)
        return contact.calc_gap(other)

    assert contact.calc_gap_rate(state) == pytest.approx(derivative(gap, h), abs=1e-7)  # edges may be nearly parallel
    second = (16.0 * (gap(h) + gap(-h)) - gap(2.0 * h) - gap(-2.0 * h) - 30.0 * gap(0.0)) / (12.0 * h**2)
    assert contact.calc_gap_acceleration(state) == pytest.approx(second, abs=1e-4)
    sign = contact.get_sign_convention()
    assert (contact.get_perr(state), contact.get_verr(state), contact.get_aerr(state)) == (
        sign * contact.calc_gap(state), sign * contact.calc_gap_rate(state), sign * contact.calc_gap_acceleration(state)
    )  # fmt: skip
    assert contact.is_proximal(state, 1e3) == contact.is_within(state) and not contact.is_proximal(state, -1e3)
    assert contact.where_to_display(state).shape == (3,) and np.isfinite(contact.where_to_display(state)).all()


def test_contacts_of_the_matter():
    system, state, _ = ball_over_floor(0.0, 0.3, static_friction=0.5)
    matter = system.matter
    contact = matter.get_unilateral_contact(0)
    assert matter.upd_unilateral_contact(0) is contact and matter.get_num_unilateral_contacts() == 1
    assert contact.name == "floor" and contact.get_unilateral_contact_index() == 0
    for bad in (-1, 1):
        with pytest.raises(IndexError):
            matter.get_unilateral_contact(bad)
    with pytest.raises(mb.ModelError, match="already"):
        mb.contact.HardStopUpper(matter.bodies["ball"], 4, 1.0, name="floor")
    assert not contact.is_enabled(state) and contact.get_contact_multiplier_index(state) == -1
    assert contact.enable(state) and contact.is_enabled(state) and not contact.enable(state)
    assert contact.get_contact_multiplier_index(state) == 0 and contact.get_friction_multiplier_indices(state) == (1, 2)
    system.realize(state)
    assert contact.calc_normal_force(state) == pytest.approx(G) and contact.calc_friction_force(state) == pytest.approx((0, 0))
    assert contact.enable_sliding(state, (1.0, 0.0)) and contact.is_sliding(state)
    assert contact.get_friction_multiplier_indices(state) == (-1, -1)
    assert contact.disable(state) and not contact.disable(state)


def test_effective_coefficients_are_the_references():
    system, state, _ = ball_over_floor(0.0, 0.3, static_friction=0.5, dynamic_friction=0.4, viscous_friction=0.1)
    contact = system.matter.get_unilateral_contact(0)
    cor = [contact.calc_effective_cor(state, 0.1, 1.0, v) for v in (0.0, 0.1, 0.5, 1.0, 2.0)]
    assert cor == pytest.approx([0.0, 0.0, 1.0 - 0.7 * 0.5, 0.3, 0.3])
    cof = [contact.calc_effective_cof(state, 0.01, v) for v in (0.0, 0.01, 1.0)]
    assert cof == pytest.approx([0.5, 0.5, 0.5]) and contact.get_dynamic_friction() == 0.4
    for asked in (contact.set_capture_speed, contact.set_transition_speed):
        with pytest.raises(mb.ModelError):
            asked(-1.0)


def test_a_system_without_contacts_compiles_none_of_it():
    """No kernel or routine of contact; of what kernels reach, only what steps ask whether there is any."""
    import subprocess
    import sys

    code = """
import mobod as mb
system, state = mb.examples.double_pendulum.build()
mb.simulate(system, state, 0.1)
from mobod.algebra.object_access import KernelForCallers
from mobod.compiling import fingerprint
from mobod.compiling.kernels import marked
from mobod.compiling.routines import interpreted
def is_contact(function):
    return any(part in ("contact", "unilateral") for part in function.__module__.split("."))
def is_ready(one):
    return one.code is not None if isinstance(one, KernelForCallers) else "dispatcher" in vars(one)
ready = [one.python for one in marked if is_ready(one)]
assert ready and interpreted
assert not [one for one in [*ready, *interpreted.values()] if is_contact(one)]
reached = list(ready)
for one in reached:
    reached += [other for other in fingerprint._facts(one)[1] if other not in reached]
found = {one.__name__ for one in reached if is_contact(one)}
assert found == {"begin_bristles", "finish_bristles", "_copy", "permitted_step"}, found
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_run_can_be_taken_up_where_a_checkpoint_was_written(tmp_path):
    ends = []
    for resumed in (False, True):
        system, state, _ = point_on_slope(np.arctan(0.5), 0.3)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
        stepper.initialize(state)
        stepper.step_to(0.3)
        if resumed:
            stepper.save_checkpoint(tmp_path / "run")
            system, _, _ = point_on_slope(np.arctan(0.5), 0.3)
            stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-6))
            stepper.load_checkpoint(tmp_path / "run")
        stepper.step_to(0.6)
        ends.append(stepper.state.q.copy())
    assert ends[0].tolist() == ends[1].tolist()


def test_simulate_and_recordings_take_both():
    for integrator in (mb.integrator.RungeKuttaMerson, None):
        system, state, _ = ball_over_floor(0.5, 0.5)
        method = integrator(system) if integrator else mb.integrator.TimeStepping(system, fixed_step_size=2e-3)
        trajectory = mb.simulate(system, state, 1.0, integrator=method, report_interval=0.1)
        assert len(trajectory.time) == 11 and trajectory.q[-1, 6] == pytest.approx(1.1, abs=0.11)


@pytest.mark.parametrize("go", [run, stepped])
def test_what_is_held_and_struck_is_explained_or_stays(go):
    system, state, ball = ball_over_floor(0.0, 0.0)
    u = state.u.copy()
    u[5] = -1.0
    state.u = u
    ball.lock(state)
    end, _ = go(system, state, 0.1)
    assert end.q == pytest.approx(state.q)


class _Push(mb.force.CustomImplementation):
    """A force in Python."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        mobility_forces[3] += 2.0

    def calc_potential_energy(self, state):
        return 0.0


@pytest.mark.parametrize("go", [run, stepped])
def test_contact_with_parts_in_python_and_with_other_events(go):
    system, matter = empty()
    ball = mb.mobilizer.Free(matter.ground, solid(), name="ball")
    mb.contact.SpherePlane(matter.ground, (0, 0, 1), -1.0, ball, (0, 0, 0), 1.0, 0.0, 0.5)
    mb.force.Custom(system.force_subsystems[0], _Push())
    kicked = []

    class Kick(mb.event.ScheduledHandler):
        def get_next_event_time(self, state, include_current_time):
            return 0.5 if not kicked else np.inf

        def handle_event(self, state, accuracy):
            kicked.append(state.time)
            u = state.u.copy()
            u[5] += 1.0
            state.u = u

    system.add_event_handler(Kick())
    end, _ = go(system, system.realize_topology(), 0.6)
    assert kicked == [0.5] and end.q[6] == pytest.approx(0.1 - 0.5 * G * 0.01, abs=2e-3)
    assert end.u[3] > 0.5 * 2.0 * 5.0 / 7.0


def test_a_start_that_violates_contacts_is_warned_of(parts):
    """By name and depth; what closes would jump by that. Not what nothing moves, and not within the constraint tolerance."""
    system, matter, body, pin = parts
    for axis, height, name in zip(np.eye(3), (0.7, 1e-6, -1.0), ("deep", "rounding", "open"), strict=True):
        mb.contact.PointPlane(matter.ground, axis, height, body, (0, 0, 0), name=name)
    mb.contact.HardStopLower(pin, 0, 0.3, name="stop")
    state = system.realize_topology()
    for method in (mb.integrator.RungeKuttaMerson(system), mb.integrator.TimeStepping(system)):
        pin.lock(state)
        with pytest.warns(UserWarning, match=r"violated where the run begins: 'deep' by 0\.7\. They"):
            mb.TimeStepper(system, method).initialize(state)
        pin.unlock(state)
        with pytest.warns(UserWarning, match=r"'deep' by 0\.7, 'stop' by 0\.3\. They"):
            mb.TimeStepper(system, method).initialize(state)
