"""Setters that loops call: what a state's own numbers get in compiled code, and what is refused there as it was at first.

A setter's first call in a state checks in Python and gives the state numbers of its own; later ones are put in at once.
"""

import re

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.errors import ModelError, StageError, TopologyError
from mobod.simulation.fingerprint import part_fingerprint, users_fingerprint

SIX, POINT = np.arange(6.0).reshape(2, 3), np.array((0.1, 0.2, 0.3))


def build():
    """A system with an element of each family, and its setters by name: the call, a good value, another, wrong ones."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    rigid = mb.body.Rigid(mb.MassProperties(1.0, (0.0, 0.1, 0.0), mb.UnitInertia.sphere(0.3)))
    ball = mb.mobilizer.Ball(matter.ground, rigid)
    place = mb.mobilizer.Translation(matter.ground, rigid)
    pins = [mb.mobilizer.Pin(ball, rigid) for _ in range(3)]
    screw = mb.mobilizer.Screw(pins[0], rigid, pitch=0.1)
    discrete = mb.force.DiscreteForces(forces, matter)
    motors = mb.force.Actuators(forces, [(pin, 0) for pin in pins])
    single = mb.force.MobilityDiscreteForce(forces, pins[1], 0)
    spring = mb.force.MobilityLinearSpring(forces, pins[2], 0, 1.0, 0.0)
    push = mb.force.ConstantForce(forces, pins[2], POINT, POINT)
    gravity = mb.force.Gravity(forces, matter, (0, -9.81, 0))
    control = mb.control.Custom(forces, lambda u, parameters: -parameters[0] * u, sample_time=0.01, parameters=np.zeros(2))
    rod = mb.constraint.Rod(pins[2], POINT, place, POINT, 1.0)
    steady = mb.motion.Steady(screw, 0.3)
    one, nu, nb = 0.5, 3 + 3 + 3 + 1, 7
    row, rows, three = np.arange(float(nu)), np.arange(6.0 * nb).reshape(nb, 2, 3), np.arange(3.0)
    numbers = {
        "set_angle": (pins[0].set_angle, one, [np.ones(2), "1", None]),
        "set_rate": (pins[0].set_rate, one, [np.ones(2), "1", None]),
        "set_q": (place.set_q, three, [np.ones(2), np.ones((1, 3)), 1.0, "1"]),
        "set_u": (place.set_u, three, [np.ones(2), np.ones((1, 3)), 1.0, "1"]),
        "set_q of one": (pins[0].set_q, one, [np.ones(2), "1"]),
        "set_one_q": (lambda s, v: place.set_one_q(s, 2, v), one, [np.ones(2), "1", None]),
        "set_one_u": (lambda s, v: place.set_one_u(s, 2, v), one, [np.ones(2), "1", None]),
        "pitch": (screw.set_pitch, one, [np.ones(2), "1", None, np.nan, True]),
        "efforts": (motors.set_efforts, three, [np.ones(2), np.ones((3, 1)), np.array((0.0, np.nan, 1.0)), "1"]),
        "mobility forces": (discrete.set_all_mobility_forces, row, [np.ones(2), row[:, None], row * np.nan, "1"]),
        "mobility force": (lambda s, v: discrete.set_one_mobility_force(s, place, 1, v), one, [np.ones(2), np.nan, "1", None]),
        "body forces": (discrete.set_all_body_forces, rows, [np.ones(2), rows[:3], rows.reshape(nb, 3, 2), rows * np.nan, "1"]),
        "body force": (lambda s, v: discrete.set_one_body_force(s, ball, v), SIX, [SIX.T, SIX.ravel(), SIX * np.nan, 1.0]),
        "discrete": (single.set_mobility_force, one, [np.ones(2), np.inf, "1", None]),
        "stiffness": (spring.set_stiffness, one, [-1.0, np.nan, np.ones(1), "1", True]),
        "force": (push.set_force, POINT, [1.0, np.ones(4), POINT[:, None], POINT * np.nan, "abc"]),
        "station": (push.set_station, POINT, [1.0, np.ones(4), POINT[:, None], POINT * np.nan, "abc"]),
        "gravity": (gravity.set_gravity_vector, POINT, [1.0, np.ones(4), POINT[:, None], POINT * np.nan, "abc"]),
        "parameters": (control.set_parameters, three[:2], [1.0, np.ones(3), np.ones((2, 1)), np.full(2, np.nan)]),
        "length": (rod.set_length, one, [0.0, -1.0, np.nan, np.ones(2), "1"]),
        "rate of a motion": (steady.set_rate, one, [np.inf, np.ones(2), "1"]),
    }
    return system, numbers, discrete, (ball, place, pins, rod)


SYSTEM, SETTERS, DISCRETE, (BALL, PLACE, PINS, ROD) = build()


@pytest.fixture(scope="module", autouse=True)
def default_state():
    """Not when tests are collected, which each process does, and would compile for it."""
    global STATE
    STATE = SYSTEM.realize_topology()


each_setter = pytest.mark.parametrize("name", SETTERS)


def contents(state):
    own = {name: array.tobytes() for name, array in state.own_fields.items()}
    return own, state.y.tobytes(), state.stage, state.valid, state.instance_token


def settled(name):
    """A state whose numbers are its own, realized."""
    state, (call, good, wrong) = STATE.copy(), SETTERS[name]
    call(state, good)
    SYSTEM.realize(state, Stage.TIME)
    return state, call, good, wrong


@each_setter
def test_numbers_come_to_where_the_first_call_puts_them(name):
    state, call, good, _ = settled(name)
    other = 0.75 * np.array(good) + 0.125 if np.ndim(good) else 0.75 * good
    call(state, other)
    fresh = STATE.copy()  # whose first call looks at the value, a list
    SYSTEM.realize(fresh, Stage.TIME)
    call(fresh, np.array(other).tolist())
    assert state.y.tobytes() == fresh.y.tobytes() and state.own_fields.keys() == fresh.own_fields.keys()
    for field, array in state.own_fields.items():
        np.testing.assert_allclose(array, fresh.own_fields[field], rtol=4e-16, atol=0.0)  # of gravity, its size is rounded
    assert (state.stage, state.valid) == (fresh.stage, fresh.valid)


@each_setter
def test_what_is_wrong_is_refused_as_at_first_and_changes_nothing(name):
    state, call, _, wrong = settled(name)
    for value in wrong:
        with pytest.raises((TypeError, ValueError)) as at_first:
            call(STATE.copy(), value)
        before = contents(state)
        with pytest.raises(type(at_first.value), match=re.escape(str(at_first.value))):
            call(state, value)
        assert contents(state) == before


@each_setter
def test_states_of_others_and_of_before_are_refused(name):
    system, setters, *_ = build()
    state = system.realize_topology()
    (call, good, _), foreign = setters[name], STATE.copy()
    call(state, good)
    for one in (foreign, settled(name)[0]):
        before = contents(one)
        with pytest.raises(TopologyError, match="another system"):
            call(one, good)
        assert contents(one) == before
    system.matter.bodies[1].set_default_q((1.0, 0.0, 0.0, 0.0))
    for _ in range(2):
        before = contents(state)
        with pytest.raises(TopologyError, match="was changed after this state was made"):
            call(state, good)
        assert contents(state) == before
        call(system.realize_topology(), good)


@each_setter
def test_angles_in_place_of_a_quaternion_move_no_number(name):
    """Places among q differ between two states of one system, and a setter is called for both in turns."""
    state, call, good, _ = settled(name)
    angles = STATE.copy()
    call(angles, good)
    SYSTEM.matter.set_use_euler_angles(angles, True)
    if "force" not in name and name not in ("efforts", "discrete", "gravity", "stiffness", "station", "parameters"):
        with pytest.raises(StageError, match=r"needs Stage\.MODEL"):
            call(angles, good)
    SYSTEM.realize_model(angles)
    for _ in range(3):
        for one in (state, angles):
            call(one, good)
    assert angles.q.size == state.q.size - 1
    np.testing.assert_array_equal(angles.q[3:], state.q[4:])
    np.testing.assert_array_equal(angles.u, state.u)
    for field, array in state.own_fields.items():
        np.testing.assert_array_equal(array, angles.own_fields[field])


def test_no_place_beyond_a_bodys_own():
    state = STATE.copy()
    for i in (3, -1, 10**30):
        for call in (PLACE.set_one_q, PLACE.set_one_u):
            before = contents(state)
            with pytest.raises(IndexError, match="has 3"):
                call(state, i, 1.0)
            assert contents(state) == before
    DISCRETE.set_one_mobility_force(state, PLACE, 0, 1.0)
    DISCRETE.set_one_body_force(state, PLACE, SIX)
    before = contents(state)
    for body, which, error in [(PLACE, 3, IndexError), (PLACE, -1, IndexError), (PLACE, True, TypeError), ("pin", 0, KeyError)]:
        with pytest.raises(error):
            DISCRETE.set_one_mobility_force(state, body, which, 1.0)
    for no_body in (ROD, None, 1.5, build()[3][1]):
        with pytest.raises((TypeError, TopologyError)):
            DISCRETE.set_one_mobility_force(state, no_body, 0, 1.0)
        with pytest.raises((TypeError, TopologyError)):
            DISCRETE.set_one_body_force(state, no_body, SIX)
    assert contents(state) == before
    DISCRETE.set_one_mobility_force(state, int(PLACE), 1, 2.0)  # by its index
    assert DISCRETE.get_one_mobility_force(state, PLACE, 1) == 2.0


def test_locks_hold():
    state = STATE.copy()
    PLACE.lock(state)
    before = contents(state)
    for call, value in [(PLACE.set_q, np.ones(3)), (PLACE.set_u, np.ones(3)), (lambda s, v: PLACE.set_one_q(s, 0, v), 1.0)]:
        with pytest.raises(ModelError, match="locked"):
            call(state, value)
    assert contents(state) == before
    PINS[0].set_angle(state, 0.5)
    assert PINS[0].get_angle(state) == 0.5


def test_forces_are_cleared():
    state = STATE.copy()
    for _ in range(2):
        for clear in (
            DISCRETE.clear_all_forces,
            lambda s: (DISCRETE.clear_all_mobility_forces(s), DISCRETE.clear_all_body_forces(s)),
        ):
            DISCRETE.set_all_mobility_forces(state, np.ones(10))
            DISCRETE.set_all_body_forces(state, np.ones((7, 2, 3)))
            clear(state)
            assert not DISCRETE.get_all_mobility_forces(state).any() and not DISCRETE.get_all_body_forces(state).any()


def test_a_part_that_was_set_is_the_same_part():
    """Checkpoints compare attributes of users' own classes."""

    class Own(mb.force.MobilityLinearSpring):
        pass

    system = mb.examples.double_pendulum.build()[0]
    spring = Own(system.forces, system.matter.bodies[1], 0, 1.0, 0.0)
    state, before = system.realize_topology(), users_fingerprint(system)
    spring.set_stiffness(state, 2.0)
    assert users_fingerprint(system) == before


def test_an_attribute_of_a_users_handler_is_its_own_whatever_its_name():
    class Counts(mb.event.PeriodicHandler):
        placed = 0

        def handle_event(self, state, accuracy):
            self.placed += 1

    handler = Counts(0.1)
    handler.placed = 1
    before = part_fingerprint(handler)
    handler.placed = 2
    assert part_fingerprint(handler) != before
