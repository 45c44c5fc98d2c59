"""Ensemble: many states at once are the same states one by one."""

import pickle

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.ensemble import work_sharing

RESULTS = {
    "q_dot": Stage.VELOCITY,
    "u_dot": Stage.ACCELERATION,
    "q_dot_dot": Stage.ACCELERATION,
    "z_dot": Stage.DYNAMICS,
    "body_transforms": Stage.POSITION,
    "body_velocities": Stage.VELOCITY,
    "body_accelerations": Stage.ACCELERATION,
}


class Wind(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[1:, 1, 0] += 2.0 + state.time


def one_by_one(system, state, name):
    """The same result of one state."""
    bodies = system.matter.bodies
    if name == "body_transforms":
        return [np.asarray(body.get_body_transform(state)) for body in bodies]
    if name == "body_velocities":
        return [body.get_body_velocity(state) for body in bodies]
    if name == "body_accelerations":
        return [body.get_body_acceleration(state) for body in bodies]
    return getattr(state, name)


def filled(model, n, *, state=None, **settings):
    ensemble = mb.Ensemble(model.system, n, state=state, **settings)
    template = model.state if state is None else state
    ensemble.time = np.linspace(0.0, 1.0, n)
    states = [model.randomize(Stage.MODEL, state=template.copy()) for _ in range(n)]
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    return ensemble


@pytest.fixture(params=["built-in", "custom", "euler"])
def model(request, make):
    model = make.tree()
    if request.param == "custom":
        mb.force.Custom(model.forces, Wind())
        model.made()
    if request.param == "euler":
        model.matter.set_use_euler_angles(model.state, True)
        model.system.realize_model(model.state)
    return model


@pytest.mark.parametrize("n", [1, 7, 8, 9, 23])
def test_every_result_of_every_state_is_that_of_the_state_alone(n, model, close):
    ensemble = filled(model, n, state=model.state)
    ensemble.realize()
    nb, nq, nu = model.matter.get_num_bodies(), len(model.state.q), len(model.state.u)
    shapes = {
        "q_dot": (nq,), "u_dot": (nu,), "q_dot_dot": (nq,), "z_dot": (0,),
        "body_transforms": (nb, 4, 4), "body_velocities": (nb, 2, 3), "body_accelerations": (nb, 2, 3),
    }  # fmt: skip
    assert not ensemble.failed.any() and ensemble.failed.shape == (n,) and len(ensemble) == n
    for name, shape in shapes.items():
        assert getattr(ensemble, name).shape == (n, *shape)
    for i in range(n):
        state = ensemble.get_state(i)
        assert state.time == ensemble.time[i] and np.array_equal(state.q, ensemble.q[i])
        model.system.realize(state)
        for name in shapes:
            # rounding, times the condition of the mass matrix
            close(getattr(ensemble, name)[i], one_by_one(model.system, state, name), 1e-9)


def test_threads_give_the_same_bits_as_one(make, monkeypatch):
    monkeypatch.setattr(work_sharing.Helpers, "_pays", lambda *given: True)  # however little there is to do
    model = make.tree()
    runs = []
    for threads in (1, 2, 3, 50):
        ensemble = mb.Ensemble(model.system, 61, threads=threads)
        rng = np.random.default_rng(5)
        ensemble.q, ensemble.u = rng.uniform(-1, 1, ensemble.q.shape), rng.normal(size=ensemble.u.shape)
        ensemble.realize()
        runs.append([getattr(ensemble, name).copy() for name in RESULTS])
        ensemble.u = ensemble.u
        ensemble.realize(threads=2)
        runs.append([getattr(ensemble, name).copy() for name in RESULTS])
    for run in runs[1:]:
        for a, b in zip(runs[0], run, strict=True):
            assert np.array_equal(a, b)


def test_a_state_has_the_same_bits_in_any_lane_and_company(make):
    model = make.tree(6)
    ensemble = filled(model, 24)
    ensemble.realize()
    order = make.rng.permutation(24)
    other = mb.Ensemble(model.system, 24)
    other.time, other.q, other.u = ensemble.time[order], ensemble.q[order], ensemble.u[order]
    other.realize()
    assert np.array_equal(other.u_dot, ensemble.u_dot[order])


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("what", ["q", "u", "time"])
def test_a_bad_state_is_flagged_and_does_not_stop_the_others(what, bad, make, close):
    model = make.tree(6)
    ensemble = filled(model, 20)
    ensemble.realize()
    good = ensemble.u_dot.copy()
    values = getattr(ensemble, what).copy()
    values[13] = bad
    setattr(ensemble, what, values)
    ensemble.realize()
    assert np.flatnonzero(ensemble.failed).tolist() == [13]
    others = np.arange(20) != 13
    close(ensemble.u_dot[others], good[others], 1e-9)
    values[13] = 0.5
    setattr(ensemble, what, values)
    ensemble.realize()
    assert not ensemble.failed.any(), "good again"


def test_a_bad_state_is_flagged_beside_custom_forces(make):
    model = make.tree(4)
    mb.force.Custom(model.forces, Wind())
    ensemble = filled(model.made(), 5)
    q = ensemble.q.copy()
    q[2, 0] = np.nan
    ensemble.q = q
    ensemble.realize()
    assert np.flatnonzero(ensemble.failed).tolist() == [2]
    assert np.all(np.isnan(ensemble.u_dot[2])) and np.all(np.isfinite(np.delete(ensemble.u_dot, 2, axis=0)))
    assert np.all(np.isfinite(np.delete(ensemble.body_accelerations, 2, axis=0)))
    assert np.isnan(ensemble.body_accelerations[2]).any() and np.isnan(ensemble.q_dot[2]).any()


@pytest.mark.parametrize(("name", "stage"), RESULTS.items())
def test_results_need_their_stage_and_say_how_to_get_it(name, stage, make):
    ensemble = filled(make.tree(4), 3)
    ensemble.realize(Stage(stage - 1))
    with pytest.raises(mb.StageError, match=rf"{name} needs Stage\.{stage.name}.*ensemble\.realize\(Stage\.{stage.name}\)"):
        getattr(ensemble, name)
    ensemble.realize(stage)
    getattr(ensemble, name)


@pytest.mark.parametrize(
    ("name", "stage"), [("time", Stage.INSTANCE), ("q", Stage.TIME), ("u", Stage.POSITION), ("z", Stage.VELOCITY)]
)
def test_assigning_lowers_the_stage_and_checks_the_shape(name, stage, make):
    ensemble = filled(make.tree(4), 3)
    ensemble.realize()
    values = getattr(ensemble, name)
    with pytest.raises(ValueError, match=f"ensemble.{name}"):
        setattr(ensemble, name, np.zeros((4, *values.shape[1:])))
    assert ensemble.stage == Stage.ACCELERATION, "what failed changed nothing"
    assert not values.flags.writeable
    setattr(ensemble, name, values)
    assert ensemble.stage == stage
    ensemble.realize(Stage.TOPOLOGY)
    assert ensemble.stage == stage, "less than is there changes nothing"


def test_results_are_those_of_the_values_assigned_last(make, close):
    model = make.tree(4)
    ensemble = filled(model, 9)
    ensemble.realize()
    old = ensemble.body_velocities.copy()
    ensemble.u = 2.0 * ensemble.u
    ensemble.realize()
    close(ensemble.body_velocities, 2.0 * old, 1e-12)  # rounding


@pytest.mark.parametrize("lumped", [True, False])
def test_all_states_share_the_templates_choices_and_parameters(lumped, make, close):
    """Where gravity is the only force, and welds are lumped, too."""
    model = make.tree(4)
    if not lumped:
        mb.force.GlobalDamper(model.forces, model.matter, 0.5)
        model.made()
    state = model.randomize(Stage.MODEL)
    model.gravity.set_gravity_vector(state, (50.0, 0, 0))
    for body in model.matter.bodies[1:]:
        body.set_body_mass_properties(state, mb.MassProperties(3.0, (0, 0.1, 0), mb.UnitInertia.brick(0.4, 0.5, 0.6)))
        body.set_inboard_frame(state, mb.Transform((0.1, 0.2, 0.3)))
    ensemble = mb.Ensemble(model.system, 9, state=state)
    model.gravity.set_gravity_vector(state, (0, 0, 0))  # afterwards: the ensemble has a copy
    ensemble.realize()
    expected = ensemble.get_state(0)
    model.system.realize(expected)
    assert np.array_equal(model.gravity.get_gravity_vector(expected), (50, 0, 0))
    close(ensemble.u_dot, np.tile(expected.u_dot, (9, 1)), 1e-9)
    assert np.array_equal(ensemble.q, np.tile(state.q, (9, 1))), "they start where the template is"


def test_states_taken_out_are_their_own(make):
    ensemble = filled(make.tree(4), 3)
    q = ensemble.q.copy()
    state = ensemble.get_state(-1)
    assert np.array_equal(state.q, q[2])
    state.q = np.zeros(len(state.q))
    assert np.array_equal(ensemble.q, q)
    for i in (3, -4):
        with pytest.raises(IndexError, match="3 states"):
            ensemble.get_state(i)


@pytest.mark.parametrize("n", [0, -1, 1.5])
def test_sizes_that_cannot_be_are_refused(n, make):
    model = make.tree(2)
    with pytest.raises(ValueError, match="n ="):
        mb.Ensemble(model.system, n)
    for threads in (0, -2, 1.5):
        with pytest.raises(ValueError, match="threads"):
            mb.Ensemble(model.system, 3, threads=threads)
        with pytest.raises(ValueError, match="threads"):
            mb.Ensemble(model.system, 3).realize(threads=threads)


def test_a_template_below_model_is_refused(make):
    model = make.tree(4)
    model.matter.set_use_euler_angles(model.state, True)
    with pytest.raises(mb.StageError, match="realize_model"):
        mb.Ensemble(model.system, 3, state=model.state)


def test_an_ensemble_realizes_the_topology_where_nobody_has(make):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Pin(matter.ground, make.body())
    ensemble = mb.Ensemble(system, 3)
    ensemble.realize()
    assert ensemble.u_dot.shape == (3, 1) and "ACCELERATION" in repr(ensemble)


def test_a_pickle_goes_on_as_its_ensemble_does():
    """With parameters, of which kernels have the addresses, and what failed; at MODEL."""
    system, state = mb.examples.double_pendulum.build()
    ensemble = mb.Ensemble(system, 37, state=state, threads=2)
    ensemble.q = np.linspace(-1.0, 1.0, 74).reshape(37, 2)
    ensemble.set_each(system.matter.bodies[1].set_rotor_inertia, np.linspace(0.1, 1.0, 37))
    ensemble.upd_u()[4] = np.nan
    ensemble.realize()
    other = pickle.loads(pickle.dumps(ensemble))
    assert other.stage == mb.Stage.MODEL and np.flatnonzero(other.failed).tolist() == [4]
    for one in (ensemble, other):
        one.step(0.1)
    assert np.array_equal(ensemble.q, other.q, equal_nan=True)


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ((None, 3), TypeError, "system of an ensemble has to be a MultibodySystem, .*, not None"),
        ((..., "many"), ValueError, "n = 'many'"),
        ((..., 2.5), ValueError, "n = 2.5"),
    ],
)
def test_what_an_ensemble_is_made_of_is_checked(arguments, error, says):
    system, _ = mb.examples.double_pendulum.build()
    with pytest.raises(error, match=says):
        mb.Ensemble(*[system if one is ... else one for one in arguments])
