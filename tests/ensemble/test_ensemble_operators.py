"""Operators of an Ensemble: each state's are those of the State alone."""

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.ensemble import work_sharing


class Wind(mb.force.CustomImplementation):
    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        body_forces[1:, 1, 0] += 2.0 + state.time


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


def filled(model, n, **settings):
    ensemble = mb.Ensemble(model.system, n, state=model.state, **settings)
    states = [model.randomize(Stage.MODEL, state=model.state.copy()) for _ in range(n)]
    ensemble.q, ensemble.u = [s.q for s in states], [s.u for s in states]
    ensemble.realize(Stage.VELOCITY)
    return ensemble


def calls(model, n):
    """Operator, arguments (those with a leading axis n one a state), keywords by name."""
    rng, nu, nb = model.rng, len(model.state.u), model.matter.get_num_bodies()
    body, tasks, stations = model.bodies[-1], [1, nb - 1, 0], rng.normal(size=(3, 3))
    u, f, udot = rng.normal(size=(3, n, nu))
    F = rng.normal(size=(n, nb, 2, 3))
    return [
        ("calc_m", (), ()),
        ("calc_m_inv", (), ()),
        ("multiply_by_m", (), (u,)),
        ("multiply_by_m_inv", (), (u,)),
        ("calc_residual_force_ignoring_constraints", (), (f, F, udot)),
        ("multiply_by_station_jacobian", (tasks, stations), (u,)),
        ("multiply_by_station_jacobian", (body, stations[0]), (u,)),
        ("multiply_by_frame_jacobian", (tasks, stations), (u,)),
        ("calc_station_jacobian", (tasks, stations), ()),
        ("calc_station_jacobian", (body, stations[0]), ()),
        ("calc_frame_jacobian", (tasks, stations), ()),
        ("calc_bias_for_station_jacobian", (tasks, stations), ()),
        ("calc_bias_for_frame_jacobian", (body, stations[0]), ()),
        ("multiply_by_station_jacobian_transpose", (tasks, stations), (rng.normal(size=(n, 3, 3)),)),
        ("multiply_by_station_jacobian_transpose", (body, stations[0]), (rng.normal(size=(n, 3)),)),
        ("multiply_by_frame_jacobian_transpose", (tasks, stations), (rng.normal(size=(n, 3, 2, 3)),)),
    ]


def test_every_operator_of_every_state_is_that_of_the_state_alone(model, close):
    n = 11
    ensemble = filled(model, n)
    states = [ensemble.get_state(i) for i in range(n)]
    for state in states:
        model.system.realize(state, Stage.VELOCITY)
    for name, before, given in calls(model, n):
        found = getattr(ensemble, name)(*before, *given)
        for i, state in enumerate(states):
            alone = getattr(model.matter, name)(state, *before, *(array[i] for array in given))
            # rounding, times the condition of the mass matrix
            close(found[i], alone, 1e-8 if name in ("calc_m_inv", "multiply_by_m_inv") else 1e-11)
        assert len(found) == n
    assert ensemble.stage == Stage.VELOCITY


def test_stations_and_rates_of_every_state_are_those_of_the_state_alone(make, close):
    model = make.tree(6)
    ensemble = filled(model, 11)
    ensemble.realize()
    bodies, stations = model.bodies[-2:], make.rng.normal(size=(2, 3))
    for what in ("location", "velocity", "acceleration"):
        found = getattr(ensemble, f"find_station_{what}_in_ground")(bodies, stations)
        bare = getattr(ensemble, f"find_station_{what}_in_ground")(bodies[1], stations[1])
        assert np.array_equal(found[:, 1], bare)
        for i in (0, 10):
            state = ensemble.get_state(i)
            model.system.realize(state, Stage.ACCELERATION)
            for body, station, row in zip(bodies, stations, found[i], strict=True):
                close(row, getattr(body, f"find_station_{what}_in_ground")(state, station), 1e-9)
            close(ensemble.y_dot[i], state.y_dot, 1e-9)
            assert np.array_equal(ensemble.y[i], state.y)
    assert ensemble.system is model.system


def test_jacobians_of_one_body_after_another(make):
    """Columns of what does not carry a body are zeros, whichever body was asked for before."""
    model = make.tree(6)
    ensemble = filled(model, 5)
    for name in ("calc_frame_jacobian", "calc_station_jacobian"):
        for body in model.bodies[:0:-1]:
            task = body, make.rng.normal(size=3)
            assert np.array_equal(getattr(ensemble, name)(*task), getattr(ensemble.copy(), name)(*task))


def test_one_argument_serves_all_states_and_none_is_zero(make, close):
    model = make.tree(6)
    ensemble = filled(model, 5)
    v = make.rng.normal(size=len(model.state.u))
    close(ensemble.multiply_by_m(v), ensemble.multiply_by_m(np.tile(v, (5, 1))), 1e-15)
    zero = ensemble.calc_residual_force_ignoring_constraints(np.zeros_like(v), np.zeros((7, 2, 3)), np.zeros_like(v))
    assert np.array_equal(ensemble.calc_residual_force_ignoring_constraints(), zero)


def test_arguments_may_be_views_and_stay_as_they_are(make):
    model = make.tree(6)
    ensemble = filled(model, 16)  # no row to be filled up: arrays are taken as they are
    nu = len(model.state.u)
    wide = make.rng.normal(size=(16, 2 * nu))
    plain = np.ascontiguousarray(wide[:, ::2])
    expected, before = ensemble.multiply_by_m_inv(plain), plain.copy()
    frozen = plain.copy()
    frozen.flags.writeable = False
    for v in (wide[:, ::2], frozen, np.asfortranarray(plain), plain.tolist(), plain.astype(">f8")):
        assert np.array_equal(ensemble.multiply_by_m_inv(v), expected)
    assert np.array_equal(plain, before)


def test_threads_give_the_same_bits_as_one(make, monkeypatch):
    monkeypatch.setattr(work_sharing.Helpers, "_pays", lambda *given: True)  # however little there is to do
    model = make.tree(6)
    one, three = filled(model, 50), mb.Ensemble(model.system, 50, threads=3)
    three.q, three.u = one.q, one.u
    three.realize(Stage.POSITION)
    assert np.array_equal(one.calc_m_inv(), three.calc_m_inv())


@pytest.mark.parametrize("custom", [False, True])
def test_a_bad_state_has_results_that_are_not_finite_and_spoils_no_other(custom, make, close):
    model = make.tree(6)
    if custom:
        mb.force.Custom(model.forces, Wind())
        model.made()
    ensemble = filled(model, 12)
    good = ensemble.calc_m()
    q = ensemble.q.copy()
    q[7] = np.nan
    ensemble.q = q
    ensemble.realize(Stage.POSITION)
    M = ensemble.calc_m()
    assert not np.all(np.isfinite(M[7]))
    others = np.arange(12) != 7
    close(M[others], good[others], 1e-12)


def test_operators_say_what_stage_they_need(make):
    model = make.tree(4)
    ensemble = mb.Ensemble(model.system, 3)
    for name, before, given in calls(model, 3):
        needs = Stage.VELOCITY if "bias" in name or "residual" in name else Stage.POSITION
        ensemble.q = ensemble.q
        ensemble.realize(Stage(needs - 1))
        with pytest.raises(mb.StageError, match=rf"{name} needs Stage.{needs.name}"):
            getattr(ensemble, name)(*before, *given)


def test_wrong_shapes_and_bodies_are_refused(make):
    model = make.tree(4)
    ensemble = filled(model, 3)
    with pytest.raises(ValueError, match=r"a has shape \(3, "):
        ensemble.multiply_by_m(np.zeros((2, len(model.state.u))))
    with pytest.raises(ValueError, match="applied_body_forces"):
        ensemble.calc_residual_force_ignoring_constraints(None, np.zeros((3, 2, 3)))
    with pytest.raises(ValueError, match="stations"):
        ensemble.calc_station_jacobian([1, 2], np.zeros((3, 3)))
    with pytest.raises(mb.TopologyError, match="another system"):
        ensemble.calc_station_jacobian(make.tree(2).bodies[1], np.zeros(3))
    mb.mobilizer.Pin(model.matter.ground, make.body())
    with pytest.raises(mb.TopologyError):
        ensemble.calc_m()
