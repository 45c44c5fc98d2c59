"""Setters that are no declared parameter's take arrays too, and make of them what they make of each row."""

import numpy as np
import pytest

import mobod as mb
from mobod.state.fields import PARAMETERS, SHORTCUTS

N = 11
F = mb.force


class Parts:
    def __init__(self):
        self.rng = np.random.default_rng(7)
        self.system = mb.MultibodySystem()
        self.matter = mb.SimbodyMatterSubsystem(self.system)
        self.forces = mb.GeneralForceSubsystem(self.system)
        link = mb.body.Rigid(mb.MassProperties(1.0, (0, 0.1, 0), mb.UnitInertia(1, 1, 1)))
        self.pin = mb.mobilizer.Pin(self.matter.ground, link, name="pin")
        self.ball = mb.mobilizer.Ball(self.pin, link, name="ball")
        self.bead = mb.mobilizer.Translation(self.ball, mb.body.Particle(2.0), name="bead")
        self.gravity = F.Gravity(self.forces, self.matter, (0, -9.81, 0))
        self.stop = F.MobilityLinearStop(self.forces, self.pin, 0, 2.0, 0.1, -1.0, 1.0)
        self.actuators = F.Actuators(self.forces, [(self.pin, 0), (self.ball, 2)])
        self.discrete = F.DiscreteForces(self.forces, self.matter)
        self.sphere = F.SmoothSphereHalfSpace(
            self.forces, self.ball, (0, 0, 0), 0.5, self.matter.ground, mb.Transform(), mb.contact.Material(1e6)
        )
        self.rope = mb.contact.Rope(self.matter.ground, (0, 1, 0), self.ball, (0, 0, 0), 2.0, 0.5)
        self.hard_stop = mb.contact.HardStopUpper(self.pin, 0, 1.0, 0.5)
        self.matter.add_particles([1.0, 2.0], [(0, 0, 0), (1, 0, 0)])
        self.steady = mb.motion.Steady(self.ball, [1.0, 2.0, 3.0])
        self.law = mb.control.PD(self.forces, [(self.pin, 0), (self.bead, 1)], kp=3.0, kd=0.1, sample_time=0.1)
        self.hand = mb.control.Impedance(
            *(self.forces, self.ball), stiffness=1.0, damping=1.0, target=mb.Transform(), sample_time=0.1
        )
        points = [(self.matter.ground, (0.1, 0.3, 0)), (self.pin, (0, 0.2, 0.1))]
        path = mb.force.transmission.StraightPath(self.forces, [(points, 1.0)])
        self.muscle = mb.muscle.RigidTendon(self.forces, path, 100.0, 0.15, 0.05, name="muscle")
        self.state = self.system.realize_topology()

    def positive(self, *shape):
        return self.rng.uniform(0.5, 1.5, (N, *shape))

    def signed(self, *shape):
        return self.rng.uniform(-1.0, 1.0, (N, *shape))

    def transforms(self):
        turns = [mb.Rotation.about_axis(a[0], (1.0, 2.0, a[1])) for a in self.signed(2)]
        return [mb.Transform(R, p) for R, p in zip(turns, self.signed(3), strict=True)]

    def masses(self):
        shapes = [mb.UnitInertia.brick(half).shift_from_centroid(com) for half, com in self.pairs()]
        return [mb.MassProperties(m, com, G) for m, com, G in zip(self.positive(), self.coms, shapes, strict=True)]

    def pairs(self):
        self.coms = self.signed(3)
        return zip(self.positive(3), self.coms, strict=True)


def ten(m):
    I = np.asarray(m.inertia)
    return np.array([m.mass, *m.com, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def friction(p):
    values = p.positive(5)
    values[:, 3] = 0.5 * values[:, 2]
    return values


#: The setter, values for each state, and how the setter is called with one of these where that is not plain.
CASES = {
    "mass properties": (lambda p: p.pin.set_body_mass_properties, Parts.masses, None),
    "mass properties as arrays": (
        lambda p: p.ball.set_body_mass_properties,
        lambda p: np.array([ten(m) for m in p.masses()]),
        lambda setter, state, x: setter(state, mb.MassProperties(x[0], x[1:4], mb.Inertia(*x[4:7], xy=x[7], xz=x[8], yz=x[9]))),
    ),
    "mass of a particle": (
        lambda p: p.bead.set_body_mass_properties,
        lambda p: np.concatenate([p.positive(1), np.zeros((N, 9))], axis=1),
        lambda setter, state, x: setter(state, mb.MassProperties(x[0], x[1:4], np.zeros((3, 3)))),
    ),
    "inboard frame": (lambda p: p.ball.set_inboard_frame, Parts.transforms, None),
    "outboard frame": (lambda p: p.ball.set_outboard_frame, lambda p: np.array(p.transforms()), None),
    "outboard location": (lambda p: p.pin.set_outboard_frame, lambda p: p.signed(3), None),
    "outboard rotation": (
        lambda p: p.pin.set_outboard_frame,
        # every second one is to be made orthonormal
        lambda p: np.array([np.asarray(X.R) * (1.0 + i % 2 * 4.5e-7) for i, X in enumerate(p.transforms())]),
        None,
    ),
    "rotor inertia": (lambda p: p.pin.set_rotor_inertia, Parts.positive, None),
    "rotor inertias": (lambda p: p.ball.set_rotor_inertia, lambda p: p.positive(3), None),
    "some rotor inertias": (lambda p: p.ball.set_rotor_inertia, lambda p: p.positive(3) * (np.arange(N) % 2)[:, None], None),
    "efforts": (lambda p: p.actuators.set_efforts, lambda p: p.signed(2), None),
    "mobility forces": (lambda p: p.discrete.set_all_mobility_forces, lambda p: p.signed(7), None),
    "body forces": (lambda p: p.discrete.set_all_body_forces, lambda p: p.signed(4, 2, 3), None),
    "bounds": (
        lambda p: p.stop.set_bounds,
        lambda p: p.positive(2) * (-1.0, 1.0),
        lambda setter, state, x: setter(state, *x),
    ),
    "material of a stop": (
        lambda p: p.stop.set_material_properties,
        lambda p: p.positive(2),
        lambda setter, state, x: setter(state, *x),
    ),
    "material of a sphere": (
        lambda p: p.sphere.set_material,
        friction,
        lambda setter, state, x: setter(state, mb.contact.Material(*x)),
    ),
    "materials of a sphere": (
        lambda p: p.sphere.set_material,
        lambda p: [mb.contact.Material(*x) for x in friction(p)],
        None,
    ),
    "excitation of a muscle": (lambda p: p.muscle.set_excitation, Parts.positive, None),
    "strength of a muscle": (lambda p: p.muscle.set_max_isometric_force, Parts.positive, None),
    "fibers of a muscle": (lambda p: p.muscle.set_optimal_fiber_length, Parts.positive, None),
    "gravity": (lambda p: p.gravity.set_magnitude, Parts.positive, None),
    "length of a rope": (lambda p: p.rope.set_length, Parts.positive, None),
    "value of a stop": (lambda p: p.hard_stop.set_value, Parts.signed, None),
    "masses of particles": (lambda p: p.matter.set_all_particle_masses, lambda p: p.positive(2), None),
    "parameters of a law": (lambda p: p.law.set_parameters, lambda p: p.signed(6), None),
    "targets": (lambda p: p.law.set_target, lambda p: p.signed(2), None),
    "one target": (lambda p: p.law.set_target, Parts.signed, None),
    "target pose": (lambda p: p.hand.set_target, Parts.transforms, None),
    "rate of a motion": (lambda p: p.steady.set_rate, Parts.signed, None),
}


@pytest.mark.parametrize("case", CASES)
def test_arrays_give_what_the_setter_makes_of_each_row(case, monkeypatch):
    find, draw, call = CASES[case]
    parts = Parts()
    setter, values = find(parts), draw(parts)
    at_once, by_hand = (mb.Ensemble(parts.system, N, state=parts.state) for _ in range(2))
    by_hand.set_each((lambda s, x: call(setter, s, x)) if call else (lambda s, x: setter(s, x)), list(values))
    monkeypatch.setattr(mb.Ensemble, "_set_one_by_one", None)
    at_once.set_each(setter, values)
    changed = 0
    for i in range(N):
        found, expected = at_once.get_state(i), by_hand.get_state(i)
        for name in PARAMETERS:
            np.testing.assert_allclose(found.field(name), expected.field(name), rtol=1e-13, atol=1e-15)
            changed += not np.array_equal(found.field(name), parts.state.field(name))
        for name in SHORTCUTS:
            assert np.array_equal(found.field(name), expected.field(name)), name
        for name in ("prescribed", "prescribed_level"):
            assert np.array_equal(found.field(name), expected.field(name)), name
    assert changed
    if not isinstance(values, list):
        bad = values.copy()
        bad[4] = np.nan
        monkeypatch.undo()
        with pytest.raises((mb.ModelError, ValueError)) as caught:
            at_once.set_each(setter, bad)
        assert "this is for state 4 of the ensemble" in caught.value.__notes__[0]
        assert np.array_equal(at_once.get_state(10).field("mass"), found.field("mass"))


def test_what_an_array_says_of_a_body_is_checked():
    parts = Parts()
    ensemble = mb.Ensemble(parts.system, N, state=parts.state)
    good = np.array([ten(m) for m in parts.masses()])
    for column, value, says in (
        (0, -1.0, "must not be negative"),
        (4, 100.0, "no body|negative moment"),
        (1, np.inf, "finite"),
    ):
        bad = good.copy()
        bad[7, column] = value
        with pytest.raises(mb.ModelError, match=says) as caught:
            ensemble.set_each(parts.pin.set_body_mass_properties, bad)
        assert "state 7" in caught.value.__notes__[0]
    with pytest.raises(mb.ModelError, match="Particle"):
        ensemble.set_each(parts.bead.set_body_mass_properties, good)
    with pytest.raises(mb.ModelError, match="Ground"):
        ensemble.set_each(parts.matter.ground.set_body_mass_properties, good)
    with pytest.raises(ValueError, match="each of 11 states needs a value; there are 3"):
        ensemble.set_each(parts.pin.set_body_mass_properties, good[:3])
    with pytest.raises(TypeError, match=r"an array \(11, ...\); got 3.0"):
        ensemble.set_each(parts.pin.set_rotor_inertia, 3.0)
    with pytest.raises(ValueError, match=r"ten numbers a row.*got a row of shape \(9,\)"):
        ensemble.set_each(parts.pin.set_body_mass_properties, good[:, :9])
    reflected = np.tile(np.diag([1.0, 1.0, -1.0, 1.0]), (N, 1, 1))
    with pytest.raises(mb.ModelError, match="right-handed"):
        ensemble.set_each(parts.pin.set_inboard_frame, reflected)
    assert ensemble.stage == mb.Stage.MODEL and not ensemble.get_state(0).own_fields


def test_discrete_forces_change_in_place_and_lower_the_ensemble_to_velocity():
    parts = Parts()
    ensemble = mb.Ensemble(parts.system, N, state=parts.state)
    ensemble.set_each(parts.actuators.set_efforts, np.zeros((N, 2)))
    ensemble.realize()
    at_rest = ensemble.u_dot.copy()
    efforts = parts.signed(2)
    ensemble.set_each(parts.actuators.set_efforts, efforts)
    assert ensemble.stage == mb.Stage.VELOCITY
    ensemble.realize()
    for i in (0, 10):
        state = ensemble.get_state(i)
        assert np.array_equal(parts.actuators.get_efforts(state), efforts[i])
        parts.system.realize(state)
        np.testing.assert_allclose(ensemble.u_dot[i], state.u_dot, rtol=1e-9, atol=1e-9)
    assert not np.allclose(ensemble.u_dot, at_rest)


def test_a_variable_that_measures_and_events_look_at_differs_by_state():
    system, state = mb.examples.double_pendulum.build()
    speed = mb.measure.Variable(system.matter, mb.Stage.DYNAMICS, 1.0)
    way = mb.measure.Integrate(system.matter, speed)
    state = system.realize_topology()
    ensemble, by_hand = (mb.Ensemble(system, 3, state=state) for _ in range(2))
    ensemble.realize()
    ensemble.set_each(speed.set_value, [1, 2, 3])
    assert ensemble.stage == mb.Stage.MODEL
    ensemble.step(0.5)
    np.testing.assert_allclose(ensemble.get_measures(way), [0.5, 1.0, 1.5])
    assert ensemble.copy().simulate(0.5, report_interval=0.5).statistics["in_lanes"].all()
    by_hand.set_each(lambda s, x: speed.set_value(s, x), [1, 2, 3])
    assert by_hand.get_measures(speed).tolist() == ensemble.get_measures(speed).tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(mb.ModelError, match="has to be finite; got") as caught:
        ensemble.set_each(speed.set_value, [1.0, np.nan, 3.0])
    assert "this is for state 1" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="has to be a number; got shape"):
        ensemble.set_each(speed.set_value, np.ones((3, 2)))
    assert ensemble.get_measures(speed).tolist() == [1.0, 2.0, 3.0]


def test_choices_that_states_share_are_named():
    parts = Parts()
    ensemble = mb.Ensemble(parts.system, N, state=parts.state)
    for setter, says in (
        (lambda state, lock: lock and parts.pin.lock(state), "share which mobilizers are locked"),
        (lambda state, off: off and parts.stop.disable(state), "share which forces are disabled"),
    ):
        with pytest.raises(ValueError, match=says) as caught:
            ensemble.set_each(setter, np.arange(N) == 2)
        assert "state 2" in caught.value.__notes__[0]


def test_what_a_measure_remembers_is_set_for_each():
    system, _ = mb.examples.double_pendulum.build()
    highest = mb.measure.Maximum(system.matter, mb.measure.Coordinate(system.matter, system.matter.bodies[1], 0))
    state = system.realize_topology()
    ensemble = mb.Ensemble(system, 3, state=state)
    ensemble.set_each(highest.set_value, [-9.0, 8.0, 9.0])
    ensemble.realize()
    assert ensemble.get_measures(highest)[1:].tolist() == [8.0, 9.0]
    begun = ensemble.copy()
    ensemble.simulate(0.2, report_interval=0.2)
    for i, found in enumerate(ensemble.get_measures(highest)):
        one = begun.get_state(i)
        stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, accuracy=1e-3))
        stepper.initialize(one)
        stepper.step_to(0.2)
        assert found == highest.get_value(stepper.state)
    with pytest.raises(mb.ModelError):
        ensemble.set_each(highest.set_value, [1.0, 2.0, np.inf])
    assert ensemble.get_measures(highest)[2] == begun.get_measures(highest)[2]


@pytest.mark.parametrize("names", [["pin.mass", "muscle.excitation"], ["muscle.excitation", "muscle.max_isometric_force"]])
def test_derivatives_by_numbers_that_states_have_of_their_own(names, monkeypatch, close):
    """Those of each state alone; seeds are made once, unless other numbers follow from them."""
    parts = Parts()
    system, state = parts.system, parts.state
    ensemble = mb.Ensemble(system, N, state=state)
    ensemble.set_each(parts.muscle.set_excitation, np.linspace(0.1, 0.9, N))
    ensemble.q = state.q + 0.03 * np.arange(N)[:, None]
    ensemble.realize()
    expected = []
    for i in range(N):
        one = ensemble.get_state(i)
        system.realize(one)
        expected.append(system.calc_parameter_derivatives(one, names))
    assert np.abs(expected).max(axis=(0, 1)).all()
    if "pin.mass" in names:
        monkeypatch.setattr(mb.Ensemble, "_state", None)
    close(ensemble.calc_parameter_derivatives(names), np.array(expected), 1e-12)
