"""Mass properties in a state, and parameters that each state of an ensemble has its own of: as systems built so."""

import copy
import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import Stage

#: Rounding, times the condition of the mass matrix.
ROUNDING = 1e-9


def branched(mass_properties):
    """Ground, a Universal, a Weld on it, and a Ball on the weld: the middle body can be massless."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    gravity = mb.force.Gravity(forces, matter, (0.5, -9.8, 1.0))
    sphere = mb.MassProperties(1.3, (0.1, 0.2, -0.1), mb.UnitInertia(1, 1, 1).shift_from_centroid((0.1, 0.2, -0.1)))
    first = mb.mobilizer.Universal(matter.ground, mb.body.Rigid(sphere), X_BM=mb.Transform((0, 1, 0)), name="first")
    middle = mb.mobilizer.Pin(first, mb.body.Rigid(mass_properties), X_PF=mb.Transform((0.3, 0, 0.1)), name="middle")
    mb.mobilizer.Ball(middle, mb.body.Rigid(sphere), X_PF=mb.Transform((0.2, 0.5, 0)), name="last")
    return system, gravity


def everything(system, state):
    """Results that mass properties have a part in."""
    matter = system.matter
    matter.realize_composite_body_inertias(state)
    return {
        "u_dot": state.u_dot,
        "M": matter.calc_m(state),
        "energy": [system.calc_kinetic_energy(state), system.calc_potential_energy(state)],
        "momentum": matter.calc_system_momentum_about_ground_origin(state),
        "mass": [matter.calc_system_mass(state)],
        "center": matter.calc_system_mass_center_location_in_ground(state),
        "composite": np.array([np.asarray(matter.get_composite_body_inertia(state, b)) for b in matter.bodies[1:]]),
        "centrifugal": np.array([matter.get_total_centrifugal_forces(state, b) for b in matter.bodies[1:]]),
        "momenta": np.array([b.calc_body_momentum_about_body_origin_in_ground(state) for b in matter.bodies[1:]]),
    }


def test_mass_properties_set_in_a_state_give_what_a_system_built_so_gives(make, close):
    old, new, massless = make.mass_properties(), make.mass_properties(), mb.MassProperties(0, (0, 0, 0), mb.Inertia(0, 0, 0))
    system, _ = branched(old)
    body, state = system.matter.bodies["middle"], system.realize_topology()
    untouched = state.copy()
    q, u = make.rng.normal(size=len(state.q)), make.rng.normal(size=len(state.u))
    for properties in (
        new,
        massless,
        old,
        massless,
        new,
    ):  # to no mass and back, in one state: nothing is left of the one before
        body.set_body_mass_properties(state, properties)
        assert state.stage == Stage.MODEL
        state.q, state.u = q, u
        system.project_q(state)
        system.realize(state)
        assert body.get_body_mass_properties(state).mass == properties.mass
        np.testing.assert_allclose(np.asarray(body.get_body_mass_properties(state).inertia), np.asarray(properties.inertia))
        built, _ = branched(properties)
        expected = built.realize_topology()
        expected.q, expected.u = state.q, u
        built.realize(expected)
        for name, value in everything(built, expected).items():
            close(everything(system, state)[name], value, ROUNDING)
    assert body.get_default_mass_properties().mass == old.mass
    system.realize(untouched)
    assert body.get_body_mass(untouched) == old.mass


def test_a_body_built_massless_can_be_given_mass(make, close):
    nothing, something = mb.MassProperties(0, (0, 0, 0), mb.Inertia(0, 0, 0)), make.mass_properties()
    (system, _), (built, _) = branched(nothing), branched(something)
    state, expected = system.realize_topology(), built.realize_topology()
    system.realize(state)
    system.matter.bodies["middle"].set_body_mass_properties(state, something)
    for one in (state, expected):
        one.u = np.arange(1.0, 7.0)
    system.realize(state)
    built.realize(expected)
    for name, value in everything(built, expected).items():
        close(everything(system, state)[name], value, ROUNDING)


def test_mass_properties_of_a_state_go_with_its_copies(make):
    system, _ = branched(make.mass_properties())
    body, state, heavy = system.matter.bodies["middle"], system.realize_topology(), make.mass_properties()
    body.set_body_mass_properties(state, heavy)
    system.realize(state)
    for other in (state.copy(), copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
        theirs = other.system.matter.bodies["middle"]
        other.system.realize(other)
        assert theirs.get_body_mass(other) == heavy.mass and np.array_equal(other.u_dot, state.u_dot)
    system.matter.set_use_euler_angles(state, True)
    system.realize_model(state)
    system.realize(state)
    assert body.get_body_mass(state) == heavy.mass
    trajectory = mb.simulate(system, state, 0.1, report_interval=0.05)
    last = trajectory.states[-1]
    system.realize(last)
    assert body.get_body_mass(last) == heavy.mass and trajectory.energy_drift < 1e-3


def test_bad_mass_properties_are_refused_and_the_state_is_as_it_was(make):
    system, _ = branched(make.mass_properties())
    matter = system.matter
    point = mb.mobilizer.Translation(matter.ground, mb.body.Particle(2.0), name="point")
    state = system.realize_topology()
    system.realize(state)
    with pytest.raises(mb.ModelError, match="mass properties of Ground"):
        matter.ground.set_body_mass_properties(state, make.mass_properties())
    with pytest.raises(TypeError, match="MassProperties"):
        matter.bodies["middle"].set_body_mass_properties(state, 3.0)
    with pytest.raises(mb.ModelError, match="Particle"):
        point.set_body_mass_properties(state, make.mass_properties())
    with pytest.raises(mb.ModelError, match="has to be finite"):
        matter.bodies["middle"].set_body_mass_properties(state, matter.ground.get_default_mass_properties())
    other, _ = branched(make.mass_properties())
    with pytest.raises(mb.TopologyError, match="another system"):
        matter.bodies["middle"].set_body_mass_properties(other.realize_topology(), make.mass_properties())
    assert state.stage == Stage.ACCELERATION and not state.own_fields
    matter.bodies["last"].set_body_mass_properties(state, mb.MassProperties(0, (0, 0, 0), mb.Inertia(0, 0, 0)))
    with pytest.raises(mb.ModelError, match="'last' has no inertia to move"):
        system.realize(state)


# ------------------------------------------------------------------------------------------ one value a state


@pytest.fixture
def model(make):
    model = make.tree()
    model.randomize(Stage.MODEL)
    return model


def check_one_by_one(system, ensemble, setters, close):
    """Every result of every state is that of the state alone, with the same values set in it."""
    ensemble.realize()
    assert not ensemble.failed.any()
    for i in range(len(ensemble)):
        state = ensemble._template.copy()
        for setter, values in setters:
            setter(state, values[i])
        state.time, state.q, state.u = ensemble.time[i], ensemble.q[i], ensemble.u[i]
        system.realize(state)
        close(ensemble.u_dot[i], state.u_dot, ROUNDING)
        close(ensemble.q_dot_dot[i], state.q_dot_dot, ROUNDING)
        A = [body.get_body_acceleration(state) for body in system.matter.bodies]
        close(ensemble.body_accelerations[i], A, ROUNDING)
        X = [np.asarray(body.get_body_transform(state)) for body in system.matter.bodies]
        close(ensemble.body_transforms[i], X, ROUNDING)
        own = ensemble.get_state(i)
        system.realize(own)
        close(own.u_dot, state.u_dot, ROUNDING)


@pytest.mark.parametrize("n", [1, 8, 19])
def test_masses_frames_and_parameters_of_each_state(n, model, make, close):
    system, bodies = model.system, model.matter.bodies
    kinds = {type(body).__name__: body for body in bodies[1:]}
    heavy, moved, screw, ellipsoid = bodies[3], bodies[5], kinds["Screw"], kinds["Ellipsoid"]
    ensemble = mb.Ensemble(system, n, state=model.state)
    ensemble.realize()
    setters = [
        (heavy.set_body_mass_properties, [make.mass_properties() for _ in range(n)]),
        (moved.set_inboard_frame, [make.frame() for _ in range(n)]),
        (moved.set_outboard_frame, [make.frame() for _ in range(n)]),
        (screw.set_pitch, make.rng.uniform(-1.0, 1.0, n)),
        (ellipsoid.set_radii, make.rng.uniform(0.3, 1.2, (n, 3))),
        (model.gravity.set_magnitude, make.rng.uniform(0.0, 12.0, n)),
    ]
    ensemble.set_body_mass_properties(heavy, setters[0][1])
    ensemble.set_inboard_frame(moved, setters[1][1])
    ensemble.set_outboard_frame(moved, setters[2][1])
    assert ensemble.stage == Stage.MODEL
    for setter, values in setters[3:]:
        ensemble.set_each(setter, values)
    states = [model.randomize(Stage.MODEL, state=model.state.copy()) for _ in range(n)]
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    check_one_by_one(system, ensemble, setters, close)
    u_dot = ensemble.u_dot.copy()
    ensemble.time = ensemble.time
    ensemble.realize(threads=2)
    assert np.array_equal(ensemble.u_dot, u_dot)


def test_a_body_may_be_massless_in_some_states_or_in_all(make, close):
    nothing, something = mb.MassProperties(0, (0, 0, 0), mb.Inertia(0, 0, 0)), make.mass_properties()
    system, _ = branched(nothing)
    body, state = system.matter.bodies["middle"], system.realize_topology()
    state.u = np.arange(1.0, 7.0)
    ensemble = mb.Ensemble(system, 9, state=state)
    for values in ([nothing, something] * 4 + [nothing], [something] * 9, [nothing] * 9, [something] * 8 + [nothing]):
        ensemble.set_body_mass_properties(body, values)
        check_one_by_one(system, ensemble, [(body.set_body_mass_properties, values)], close)


def test_a_system_with_python_forces_has_parameters_of_each_state_too(make, close):
    class Push(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces += 0.3

    system, _ = branched(make.mass_properties())
    mb.force.Custom(system.get_subsystem(1), Push())
    body, state = system.matter.bodies["middle"], system.realize_topology()
    ensemble, masses = mb.Ensemble(system, 3, state=state), [make.mass_properties() for _ in range(3)]
    ensemble.set_body_mass_properties(body, masses)
    check_one_by_one(system, ensemble, [(body.set_body_mass_properties, masses)], close)


def test_what_cannot_differ_from_state_to_state_is_refused_and_nothing_changes(make):
    system, gravity = branched(make.mass_properties())
    body, state = system.matter.bodies["middle"], system.realize_topology()
    ensemble, good = mb.Ensemble(system, 3, state=state), make.mass_properties()
    ensemble.set_body_mass_properties(body, [good, make.mass_properties(), make.mass_properties()])
    ensemble.realize()
    before = ensemble.u_dot.copy()
    with pytest.raises(ValueError, match="each of 3 states needs a value; there are 2"):
        ensemble.set_inboard_frame(body, [mb.Transform()] * 2)
    with pytest.raises(TypeError, match="MassProperties") as caught:
        ensemble.set_body_mass_properties(body, [good, good, 7.0])
    assert "state 2 of the ensemble" in caught.value.__notes__[0]
    with pytest.raises(ValueError, match="share which forces are disabled"):
        ensemble.set_each(lambda state, on: None if on else gravity.disable(state), [True, False, True])
    with pytest.raises(ValueError, match=r"assign ensemble\.time, q"):
        ensemble.set_each(body.set_q, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="Euler angles"):
        ensemble.set_each(system.matter.set_use_euler_angles, [True, True, True])
    assert ensemble.stage == Stage.ACCELERATION and np.array_equal(ensemble.u_dot, before)
    ensemble.time = ensemble.time
    ensemble.realize()
    assert np.array_equal(ensemble.u_dot, before)


def test_a_body_that_is_changed_afterwards_changes_no_state():
    """A `Body` handed out can be changed, of which nobody hears: states go on with what the system was built of."""
    system, _ = branched(mb.MassProperties(0.7, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
    middle = system.matter.get_mobilized_body("middle")
    body, state = middle.upd_body(), system.realize_topology()
    system.realize(state, Stage.INSTANCE)
    before = middle.get_body_mass_properties(state), middle.calc_body_central_inertia(state)
    body.set_default_rigid_body_mass_properties(mb.MassProperties(7.0, (1, 0, 0), mb.UnitInertia(3, 3, 3)))
    assert middle.get_body_mass(state) == middle.get_body_mass_properties(state).mass == 0.7
    assert (middle.get_body_mass_properties(state), middle.calc_body_central_inertia(state)) == before


def test_the_token_of_each_change_of_an_instance_variable_is_equal_to_no_other():
    """What is kept of a state, such as its witnesses' numbers, is found by it."""
    system, _ = mb.examples.double_pendulum.build()
    spring = mb.force.MobilityLinearSpring(system.forces, system.matter.bodies["lower"], 0, 1.0, 0.0)
    state, tokens = system.realize_topology(), []
    for k in range(3):
        spring.set_stiffness(state, 1.0 + k)
        tokens.append(state.instance_token)
    assert len(set(tokens)) == 3
