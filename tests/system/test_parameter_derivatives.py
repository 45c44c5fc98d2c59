"""Derivatives of u_dot by every number of a model, against differences along a random change of all numbers at once.

Differences of sixth order, at 1e-7 of the largest entry: contacts and frictions have curvatures of 1e4.
"""

import warnings

import numpy as np
import pytest

import mobod as mb
from kinds.constraints import OF_BODIES, Pair
from kinds.forces import one_in, realized_with_all
from mobod.ensemble import batch_element_derivatives

SIX = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)]


def sixth_order(f, h=4e-4):
    first, second, third = ((f(k * h) - f(-k * h)) / (2 * k * h) for k in (1, 2, 3))
    return 1.5 * first - 0.6 * second + 0.1 * third


def turned(v, h):
    """The rotation about v by h |v|."""
    return mb.Rotation.about_axis(h * np.linalg.norm(v), v) if np.linalg.norm(v) else mb.Rotation()


def displaced(X, v, h):
    """A frame turned about its own axes, its origin moved; to first order in h."""
    return mb.Transform(X.R @ turned(v[:3], h), np.asarray(X.p) + h * v[3:])


def make_rounder(state, bodies):
    """Away from rods and plates, from where half of all changes make an inertia that no body has."""
    for body, m in [(body, body.get_body_mass_properties(state)) for body in bodies]:
        inertia = np.asarray(m.inertia)
        inertia = mb.Inertia(inertia + 0.05 * np.trace(inertia) * np.eye(3))
        body.set_body_mass_properties(state, mb.MassProperties(m.mass, m.com, inertia))
    state.system.realize(state)


class Changes:
    """A random change of every number of elements, and of bodies: names, weights, and a function that makes it."""

    def __init__(self, rng, state, elements, bodies=()):
        self.names, self.weights, self._steps = [], [], []
        for element in elements:
            for name in element.PARAMETERS:
                if isinstance(element, mb.force.Gravity) and name == "gravity_vector":
                    continue  # the same as direction and magnitude; see below
                self._of_element(rng, element, name, getattr(element, f"get_{name}")(state))
        make_rounder(state, bodies)
        for body in bodies:
            self._of_body(rng, state, body)

    def _add(self, name, weights, step):
        self.names.append(name)
        self.weights += list(np.ravel(weights))
        self._steps.append(step)

    def _of_element(self, rng, element, name, value):
        setter, full = getattr(element, f"set_{name}"), f"{element.name}.{name}"
        if isinstance(value, mb.Transform):
            v = rng.uniform(-1, 1, 6)
            self._add(full, v, lambda state, h: setter(state, displaced(value, v, h)))
        elif isinstance(value, mb.Rotation):
            v = rng.uniform(-1, 1, 3)
            self._add(full, v, lambda state, h: setter(state, value @ turned(v, h)))
        else:  # by a part of itself, so that it stays what is allowed
            v = rng.uniform(-1, 1, np.shape(value)) * np.where(np.isfinite(value), value, 0.0)
            now = np.asarray(value) if np.ndim(value) else value
            self._add(full, v, lambda state, h: setter(state, now + h * v if np.any(v) else now))

    def _of_body(self, rng, state, body):
        m = body.get_body_mass_properties(state)
        by_mass, by_com, by_inertia = m.mass * rng.uniform(), rng.uniform(-0.01, 0.01, 3), np.zeros((3, 3))
        six = 0.01 * rng.uniform(size=6)
        for x, (i, j) in zip(six, SIX, strict=True):
            by_inertia[i, j] = by_inertia[j, i] = x

        def step(state, h):
            inertia = mb.Inertia(np.asarray(m.inertia) + h * by_inertia)
            body.set_body_mass_properties(state, mb.MassProperties(m.mass + h * by_mass, m.com + h * by_com, inertia))

        for name, weights in (("mass", by_mass), ("com", by_com), ("inertia", six)):
            self._add(f"{body.name}.{name}", weights, step if name == "mass" else lambda state, h: None)
        rotors = np.atleast_1d(body.get_rotor_inertia(state))
        v = rng.uniform(0.1, 0.2, len(rotors)) * rotors  # from zero on there is one side only
        self._add(f"{body.name}.rotor_inertia", v, lambda state, h: body.set_rotor_inertia(state, rotors + h * v))
        for which in ("inboard", "outboard"):
            X, set_, w = getattr(body, f"get_{which}_frame")(state), getattr(body, f"set_{which}_frame"), rng.uniform(-1, 1, 6)
            self._add(f"{body.name}.{which}_frame", w, lambda state, h, X=X, set_=set_, w=w: set_(state, displaced(X, w, h)))

    def assert_derivatives(self, state, close, tolerance=1e-7):
        system = state.system

        def at(h):
            other = state.copy()
            for step in self._steps:
                step(other, h)
            system.realize(other)
            return np.array(other.u_dot)

        found = system.calc_parameter_derivatives(state, self.names)
        assert found.shape == (len(state.u), len(self.weights))
        close(found @ self.weights, sixth_order(at), tolerance)


def test_mobilizers_with_forces_and_their_frames(make, close):
    """A few kinds with parameters of their own, and elements of which setters normalize or compute others."""
    kinds = [mb.mobilizer.Screw, mb.mobilizer.Ellipsoid, mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Weld]
    model = make.tree(5, kinds, rotors=True)
    F, (a, b, c) = mb.force, model.bodies[1:4]
    made = [
        F.TwoPointLinearSpring(model.forces, a, make.vector(), b, make.vector(), 20.0, 0.4),
        F.LinearBushing(model.forces, b, make.frame(), c, make.frame(), make.rng.uniform(1, 2, 6), make.rng.uniform(1, 2, 6)),
        F.MobilityLinearSpring(model.forces, next(body for body in (a, b, c) if body.facts.num_q), 0, 3.0, 0.2),
    ]
    model.made()
    state = model.randomize()
    Changes(make.rng, state, [*made, model.gravity, *model.bodies[1:]], model.bodies[1:]).assert_derivatives(state, close)


def test_ensembles_have_those_of_their_states(make, close, monkeypatch):
    """Through a constraint and a motion, by numbers that states have of their own and by others; to the bit for any n.

    Those by inertial parameters take no dual numbers.
    """
    model = make.tree(5, [mb.mobilizer.Free, mb.mobilizer.Pin, mb.mobilizer.Universal])
    a, b, c = model.bodies[1:4]
    spring = mb.force.TwoPointLinearSpring(model.forces, a, make.vector(), b, make.vector(), 20.0, 0.4, name="spring")
    rod = mb.constraint.Rod(model.matter.ground, make.vector(), c, make.vector(), 1.5)
    driven = next(body for body in model.bodies if type(body).__name__ == "Universal")
    mb.motion.Sinusoid(driven, mb.Motion.Level.ACCELERATION, 0.8, 2.0, 0.3)
    model.made()
    names = [f"{rod.name}.length", "spring.stiffness", "spring.station1", f"{driven.name}.motion.amplitude"]
    names += [f"{a.name}.{one}" for one in ("mass", "com", "inertia", "inboard_frame", "rotor_inertia")]
    names += [f"{c.name}.{one}" for one in ("mass", "com", "inertia")]
    states = [model.randomize(state=model.state.copy()) for _ in range(9)]
    own = {spring.set_stiffness: make.rng.uniform(1.0, 2.0, 9), a.set_inboard_frame: [make.frame() for _ in states]}
    own[c.set_body_mass_properties] = [make.mass_properties() for _ in states]
    for set_own, values in own.items():
        for state, value in zip(states, values, strict=True):
            set_own(state, value)
    u_dot = make.rng.normal(size=len(states[0].u))
    alone, regressors = [], []
    for state in states:
        model.system.realize(state)
        alone.append(model.system.calc_parameter_derivatives(state, names))
        regressors.append(model.matter.calc_inertial_parameter_regressor(state, u_dot))

    def ensemble_of(which, threads):
        found = mb.Ensemble(model.system, len(which), state=model.state, threads=threads)
        for set_own, values in own.items():
            found.set_each(set_own, [values[i] for i in which])
        found.realize(q=[states[i].q for i in which], u=[states[i].u for i in which])
        return found

    ensemble = ensemble_of(range(9), 2)
    found = ensemble.calc_parameter_derivatives(names)
    close(found, np.array(alone), 1e-9)
    np.testing.assert_array_equal(ensemble.calc_inertial_parameter_regressor(u_dot), regressors)
    np.testing.assert_array_equal(ensemble_of(range(7, 9), 1).calc_parameter_derivatives(names), found[7:])
    assert ensemble.calc_parameter_derivatives([]).shape == (9, len(u_dot), 0)
    q = np.array(ensemble.q)
    q[2] = np.nan
    ensemble.q = q
    ensemble.realize()
    again = ensemble.calc_parameter_derivatives(names)
    assert np.isnan(again[2]).all()
    np.testing.assert_array_equal(np.delete(again, 2, 0), np.delete(found, 2, 0))
    monkeypatch.setattr(batch_element_derivatives, "calc_parameter_derivatives", None)
    close(np.delete(ensemble.calc_parameter_derivatives(names[4:7]), 2, 0), np.delete(again, 2, 0)[..., 6:16], 1e-12)


@pytest.mark.parametrize("name", ["Weld", "PointOnLine"])
def test_constraints_and_frames(name, make, close):
    pair = Pair(make, name)
    state = pair.randomize_independent()
    Changes(make.rng, state, [pair.constraint], pair.matter.bodies[1:]).assert_derivatives(state, close)


def test_the_vector_of_gravity(close):
    """Direction and magnitude follow from it."""
    system, state = mb.examples.double_pendulum.build()
    gravity = system.all_forces()[0]
    state.q = (0.3, 0.4)
    gravity.set_gravity_vector(state, (2.0, -9.0, 1.0))
    system.realize(state)
    found = system.calc_parameter_derivatives(state, [gravity.set_gravity_vector])

    def at(h):
        other = state.copy()
        gravity.set_gravity_vector(other, np.array([2.0, -9.0, 1.0]) + h * np.array([1.0, 2.0, -1.0]))
        system.realize(other)
        return np.array(other.u_dot)

    close(found @ [1.0, 2.0, -1.0], sixth_order(at), 1e-9)


def test_beside_a_part_in_python_directions_start_from_where_they_are(make, close):
    """Setters make them of length 1 after each change, so that changes do not add up."""

    class Nothing(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            pass

    found, drawn = [], make.rng.bit_generator.state
    for in_python in (False, True):
        make.rng.bit_generator.state = drawn  # both are alike
        model = make.tree(2, [mb.mobilizer.Pin, mb.mobilizer.Universal])
        if in_python:
            mb.force.Custom(model.forces, Nothing())
        names = [f"{model.gravity.name}.down_direction", f"{model.bodies[1].name}.inboard_frame"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(model.system.calc_parameter_derivatives(model.made().randomize(), names))
    close(found[1], found[0], 1e-8)


def test_bad_names():
    system, state = mb.examples.double_pendulum.build()
    system.realize(state)
    for given, error, says in (
        (["upper"], ValueError, "not 'upper'"),
        (["uper.mass"], ValueError, "no element 'uper' for 'uper.mass'; did you mean upper"),
        (["upper.mas"], ValueError, "it has mass, com, inertia, inboard_frame"),
        ([3], TypeError, "not 3"),
        ("upper.mass", TypeError, r"such as \['upper.mass'\]"),
        (None, TypeError, "parameters has to be a list"),
    ):
        with pytest.raises(error, match=says):
            system.calc_parameter_derivatives(state, given)
    assert system.calc_parameter_derivatives(state, []).shape == (2, 0)


@pytest.mark.parametrize("field", [False, True])
def test_weight_that_a_force_holds(field, make, close):
    """Gravity compensation depends on masses, and so does a field that is no `Gravity`: no regressor knows that."""
    model = make.tree(3, [mb.mobilizer.Pin, mb.mobilizer.Universal, mb.mobilizer.Slider])
    if field:
        mb.force.UniformGravity(model.forces, model.matter, (1.0, -5.0, 0.2))
    else:
        mb.force.GravityCompensation(model.forces, {model.bodies[2]: 0.7}, (0, -9.8, 0.2))
    model.made()
    state = model.randomize()
    Changes(make.rng, state, [], model.bodies[1:]).assert_derivatives(state, close)


@pytest.mark.long
def test_all_mobilizers(make, close):
    model = make.tree(rotors=True)
    state = model.randomize()
    Changes(make.rng, state, model.bodies[1:], model.bodies[1:]).assert_derivatives(state, close)


@pytest.mark.long
@pytest.mark.parametrize("share", [12, pytest.param(1, marks=pytest.mark.exhaustive)])
def test_all_forces(share, make, close):
    model, made, state = realized_with_all(make, one_in(share, make.rng))
    for force in [*made, model.gravity]:
        changes = Changes(make.rng, state, [force])
        if changes.names:
            changes.assert_derivatives(state, close, 1e-6)
    Changes(make.rng, state, [], model.bodies[1:]).assert_derivatives(state, close)


@pytest.mark.long
@pytest.mark.parametrize("name", OF_BODIES)
def test_all_constraints(name, make, close):
    pair = Pair(make, name)
    state = pair.randomize_independent()
    Changes(make.rng, state, [pair.constraint], pair.matter.bodies[1:]).assert_derivatives(state, close)


def test_a_rotor_on_a_welded_body_has_no_columns():
    """Beside a force that weighs all masses its inertia, which nothing turns, is a parameter of no number."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.body.Rigid(mb.MassProperties(1.0, (0.0, 0.2, 0.0), mb.Inertia(0.1, 0.1, 0.1)))
    pin = mb.mobilizer.Pin(matter.ground, body)
    mb.mobilizer.Weld(pin, body, name="w")
    mb.force.Thermostat(forces, matter, 1.0, 2.0, 0.5, num_excluded_dofs=0)
    state = system.realize_topology()
    state.u = [1.0]
    system.realize(state)
    assert system.calc_parameter_derivatives(state, ["w.rotor_inertia"]).shape == (1, 0)
