"""What operators of the matter are given: forms of numbers, none at all, and states that are not theirs."""

import contextlib
import gc
import tracemalloc
import warnings

import numpy as np
import pytest

import mobod as mb
from mobod import Stage
from mobod.tree import inverse_dynamics, jacobian, rates


@pytest.fixture
def model(make):
    model = make.tree(6)
    model.randomize()
    return model


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


def unaligned(values):
    raw = np.zeros(values.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(values.shape)
    raw[...] = values
    return raw


#: Operators of one vector or more of mobilities, or of body forces.
CALLS = {
    "multiply_by_system_jacobian": (jacobian.multiply_by_system_jacobian, "u"),
    "multiply_by_system_jacobian_transpose": (jacobian.multiply_by_system_jacobian_transpose, "F"),
    "calc_body_acceleration_from_u_dot": (inverse_dynamics.calc_body_acceleration_from_u_dot, "u"),
    "calc_residual_force_ignoring_constraints": (inverse_dynamics.calc_residual_force, "u", "F", "u"),
    "calc_tree_equivalent_mobility_forces": (inverse_dynamics.calc_tree_equivalent_mobility_forces, "F"),
    "calc_q_dot": (rates.multiply_by_n, "u"),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("form", [read_only, unaligned, lambda v: np.repeat(v, 2, axis=0)[::2], lambda v: v.astype(">f8")])
def test_no_form_of_an_array_has_a_kernel_compiled_anew(name, form, model):
    """``state.u`` is read-only: passing it on is the most natural call there is, and took seconds the first time."""
    kernel, *names = CALLS[name]
    shapes = {"u": len(model.state.u), "F": (model.matter.get_num_bodies(), 2, 3)}
    given = [model.rng.normal(size=shapes[n]) for n in names]
    expected = getattr(model.matter, name)(model.state, *given)
    compiled = len(kernel.dispatcher.signatures)
    assert np.array_equal(getattr(model.matter, name)(model.state, *map(form, given)), expected)
    assert len(kernel.dispatcher.signatures) == compiled


class Own(np.ndarray):
    pass


OTHER_FORMS = {
    "list": list,
    "integers": lambda v: v,
    "numbers of another width": lambda v: v.astype(np.float32),
    "of the other byte order": lambda v: v.astype(">f8"),
    "unaligned": unaligned,
    "every other one": lambda v: np.repeat(v, 2)[::2],
    "backwards": lambda v: v[::-1].copy()[::-1],
    "a class of its own": lambda v: v.view(Own),
    "an equal dtype": lambda v: v.astype(np.dtype("f8", metadata={"unit": "rad"})),
    "read-only": read_only,
    "numbers of Python": lambda v: tuple(v.tolist()),
}


@pytest.mark.parametrize("form", OTHER_FORMS)
def test_kernels_that_look_at_arrays_themselves_take_only_plain_ones(form, close):
    """q, u and u_dot in any form are as though assigned; whole numbers, so that integers are equal to them."""
    system, state = mb.examples.double_pendulum.build()
    plain = state.copy()
    q, u, u_dot = np.array([1.0, 2.0]), np.array([-3.0, 4.0]), np.array([5.0, -6.0])
    plain.q, plain.u = q, u
    system.realize(plain)
    of = OTHER_FORMS[form]
    numbers = (lambda v: v.astype(np.int64)) if form == "integers" else of
    for calls in range(2):  # of a state that has not been realized, and of one that has
        system.realize(state, q=numbers(q), u=numbers(u))
        assert np.array_equal(state.q, q) and np.array_equal(state.u_dot, plain.u_dot), calls
        state.q = state.u = 0.0, 0.0
        expected = system.calc_inverse_dynamics(plain, u_dot)
        assert np.array_equal(system.calc_inverse_dynamics(state, numbers(u_dot), q=numbers(q), u=numbers(u)), expected)
        assert np.array_equal(system.calc_inverse_dynamics(state, numbers(u_dot)), expected)
        expected = system.matter.multiply_by_m_inv(plain, u_dot)
        assert np.array_equal(system.matter.multiply_by_m_inv(state, numbers(u_dot)), expected)
        state.q = state.u = 0.0, 0.0
        state.q, state.u = numbers(q), numbers(u)
        assert np.array_equal(state.q, q) and np.array_equal(state.u, u) and state.stage == Stage.TIME
        state.q = state.u = 0.0, 0.0
        found = system.calc_forward_dynamics_derivatives(state, q=numbers(q), u=numbers(u))
        assert np.array_equal(found.q, system.calc_forward_dynamics_derivatives(plain).q)


def test_what_kernels_return_is_new_each_time_and_the_caller_s():
    system, state = mb.examples.double_pendulum.build()
    q, u, u_dot = np.array([0.3, 0.4]), np.array([1.0, 2.0]), np.array([5.0, -6.0])

    def results():
        derivatives = system.calc_forward_dynamics_derivatives(state, q=q, u=u)
        assert type(derivatives) is type(system.calc_forward_dynamics_derivatives(state))
        missing = system.calc_inverse_dynamics(state, u_dot, q=q, u=u)
        return [missing, system.matter.multiply_by_m_inv(state, u_dot), *derivatives]

    expected = [np.array(result) for result in results()]
    for result, value in zip(results(), expected, strict=True):
        assert type(result) is np.ndarray and result.flags.carray and result.flags.owndata
        assert result.shape == value.shape and np.array_equal(result, value)
        result[...] = np.nan
    assert all(map(np.array_equal, results(), expected))


def test_calls_that_kernels_refuse_leave_no_arrays_behind(quick_collections):
    system, state = mb.examples.double_pendulum.build()
    good, bad = np.array([0.3, 0.4]), np.array([0.3, np.nan])
    calls = [
        lambda: system.calc_inverse_dynamics(state, good, q=bad, u=good),
        lambda: system.calc_forward_dynamics_derivatives(state, q=good, u=bad),
        lambda: system.calc_forward_dynamics_derivatives(state, q=good, u=good),
    ]

    def run(times):
        for _ in range(times):
            for call in calls:
                with contextlib.suppress(mb.ModelError):
                    call()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before, after = run(5), run(400)
    finally:
        tracemalloc.stop()
    assert after - before < 400 * 50  # an array is 112 bytes and its numbers


@pytest.mark.parametrize("wrong", [1.0, "no", object(), np.zeros(3), np.zeros((2, 1)), np.zeros(()), np.zeros(2, complex)])
def test_what_is_no_vector_of_the_state_s_length_leaves_the_state(wrong):
    system, state = mb.examples.double_pendulum.build()
    good = np.array([0.3, 0.4])
    system.realize(state, q=good, u=good)
    before = np.array(state.u_dot)
    for call in (
        lambda: system.calc_inverse_dynamics(state, wrong),
        lambda: system.calc_inverse_dynamics(state, wrong, q=2.0 * good, u=good),
        lambda: system.realize(state, q=wrong, u=2.0 * good),
        lambda: system.realize(state, q=2.0 * good, u=wrong),
        lambda: system.calc_inverse_dynamics(state, good, q=2.0 * good, u=wrong),
        lambda: system.calc_forward_dynamics_derivatives(state, q=wrong, u=2.0 * good),
    ):
        with pytest.raises((TypeError, ValueError), match=r"u_dot|state\.[qu]"):
            call()
        assert state.stage == Stage.ACCELERATION and np.array_equal(state.u_dot, before) and np.array_equal(state.q, good)


def test_a_state_that_was_saved_and_the_state_s_own_arrays(close):
    """Arrays that come out of a file describe their numbers by an object of their own."""
    import pickle

    system, state = mb.examples.double_pendulum.build()
    other = pickle.loads(pickle.dumps(state))
    q, u = pickle.loads(pickle.dumps((np.array([0.3, 0.4]), np.array([1.0, 2.0]))))
    system.realize(state, q=q, u=u)
    other.system.realize(other, q=q, u=u)
    assert np.array_equal(other.u_dot, state.u_dot)
    system.realize(other_state := state.copy(), q=state.q, u=state.u)
    assert np.array_equal(other_state.u_dot, state.u_dot)
    system.realize(state, q=state.q_values, u=state.u_values)
    assert np.array_equal(other_state.u_dot, state.u_dot)
    found = system.calc_inverse_dynamics(state, u, q=state.q, u=state.u)
    assert np.array_equal(found, other.system.calc_inverse_dynamics(other, u))


def test_part_of_a_system_in_python_takes_q_and_u_step_by_step():
    """A subsystem's hook is called though earlier states of the system were realized by a kernel alone."""
    system, state = mb.examples.double_pendulum.build()
    system.realize(state, q=np.array([0.3, 0.4]), u=np.zeros(2))
    calls = []

    class Watch(mb.Subsystem):
        def realize_position(self, state):
            calls.append(np.array(state.q))

    Watch(system, "watch")
    state = system.realize_topology()
    system.realize(state, q=np.array([0.1, 0.2]), u=np.zeros(2))
    system.calc_inverse_dynamics(state, np.zeros(2), q=np.array([0.5, 0.6]), u=np.zeros(2))
    assert [q.tolist() for q in calls] == [[0.1, 0.2], [0.5, 0.6]]


@pytest.mark.parametrize("form", [read_only, unaligned])
def test_no_form_of_stations_has_a_jacobian_compiled_anew(form, model):
    stations = model.rng.normal(size=(2, 3))
    expected = model.matter.calc_frame_jacobian(model.state, [1, 2], stations)
    compiled = len(jacobian.calc_frame_jacobian.dispatcher.signatures)
    assert np.array_equal(model.matter.calc_frame_jacobian(model.state, [1, 2], form(stations)), expected)
    assert len(jacobian.calc_frame_jacobian.dispatcher.signatures) == compiled


@pytest.mark.parametrize("stations", [[], np.zeros(0), np.zeros((0, 3))])
@pytest.mark.parametrize("bodies", [[], (), np.zeros(0, np.int64)])
def test_no_task_at_all_has_empty_results(bodies, stations, model):
    matter, state, nu = model.matter, model.state, len(model.state.u)
    ensemble = mb.Ensemble(model.system, 3, state=state)
    ensemble.realize(Stage.VELOCITY)
    assert matter.calc_station_jacobian(state, bodies, stations).shape == (0, nu)
    assert matter.calc_frame_jacobian(state, bodies, stations).shape == (0, nu)
    assert matter.multiply_by_station_jacobian(state, bodies, stations, state.u).shape == (0, 3)
    assert matter.multiply_by_frame_jacobian(state, bodies, stations, state.u).shape == (0, 2, 3)
    assert matter.calc_bias_for_station_jacobian(state, bodies, stations).shape == (0, 3)
    assert not matter.multiply_by_station_jacobian_transpose(state, bodies, stations, []).any()
    assert not matter.multiply_by_frame_jacobian_transpose(state, bodies, stations, []).any()
    assert ensemble.calc_station_jacobian(bodies, stations).shape == (3, 0, nu)
    with pytest.raises(ValueError, match="stations"):
        matter.calc_station_jacobian(state, [1], [])


@pytest.mark.parametrize("bad", ["abc", [[1.0], [1.0, 2.0]], {}, "complex", "times"])
def test_what_is_no_number_is_refused_by_the_argument_s_name(bad, model):
    matter, state, before = model.matter, model.state, model.state.y.copy()
    ensemble = mb.Ensemble(model.system, 2, state=state)
    ensemble.realize(Stage.VELOCITY)
    arrays = {"complex": np.ones(len(state.u), complex), "times": np.zeros(len(state.u), "m8[s]")}
    bad = arrays.get(bad, bad) if isinstance(bad, str) else bad
    for name, call in {
        "a": lambda: matter.multiply_by_m(state, bad),
        "u": lambda: matter.calc_q_dot(state, bad),
        "udot": lambda: matter.calc_q_dot_dot(state, bad),
        "known_udot": lambda: matter.calc_residual_force(state, None, None, bad),
        "body_forces": lambda: matter.calc_tree_equivalent_mobility_forces(state, bad),
        "stations": lambda: matter.calc_station_jacobian(state, 1, bad),
        "f_GP": lambda: matter.multiply_by_station_jacobian_transpose(state, 1, np.zeros(3), bad),
        "all_u": lambda: matter.pack_free_u(state, bad),
        "state.q": lambda: setattr(state, "q", bad),
        "state.u": lambda: setattr(state, "u", bad),
        "ensemble.q": lambda: setattr(ensemble, "q", bad),
    }.items():
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((TypeError, ValueError), match=f"^{name} has to be real numbers"):
                call()
    assert np.array_equal(state.y, before) and state.stage == Stage.ACCELERATION


LAZY = ["position_kinematics", "velocity_kinematics", "composite_body_inertias", "articulated_body_inertias"]


@pytest.mark.parametrize("name", [*LAZY, "articulated_body_velocity"])
def test_whether_something_is_realized_is_not_told_of_others_states(name, model, make):
    ask = getattr(model.matter, f"is_{name}_realized")
    with pytest.raises(mb.TopologyError, match=f"is_{name}_realized.*another system"):
        ask(make.tree(2).randomize())
    ask(model.state)
    mb.mobilizer.Pin(model.matter.ground, make.body())
    with pytest.raises(mb.TopologyError, match="changed after"):
        ask(model.state)


def test_matter_without_a_system_says_that_a_state_is_not_its(model, make):
    orphan = mb.SimbodyMatterSubsystem()
    body = mb.mobilizer.Pin(orphan.ground, make.body())
    state, u = model.state, model.state.u
    for call in (
        lambda: orphan.calc_m(state),
        lambda: orphan.multiply_by_m(state, u),
        lambda: orphan.calc_residual_force(state),
        lambda: orphan.calc_mobilizer_reaction_forces(state),
        lambda: orphan.is_position_kinematics_realized(state),
        lambda: body.get_body_transform(state),
        lambda: body.get_body_velocity(state),
        lambda: body.get_body_acceleration(state),
    ):
        with pytest.raises(mb.TopologyError, match="another system"):
            call()
    system = mb.MultibodySystem()
    system.adopt_subsystem(orphan)
    own = system.realize_topology()
    system.realize(own, Stage.POSITION)
    assert orphan.calc_m(own).shape == (1, 1) and body.get_body_transform(own).p.shape == (3,)
    with pytest.raises(mb.TopologyError, match="another system"):
        orphan.calc_m(state)


@pytest.mark.parametrize(
    ("stage", "name", "given"),
    [
        (Stage.POSITION, "calc_composite_body_inertias", ()),
        (Stage.POSITION, "get_composite_body_inertia", (1,)),
        (Stage.POSITION, "calc_system_central_inertia_in_ground", ()),
        (Stage.VELOCITY, "calc_system_central_momentum", ()),
        (Stage.VELOCITY, "calc_system_mass_center_velocity_in_ground", ()),
        (Stage.VELOCITY, "get_mobilizer_coriolis_acceleration", (1,)),
        (Stage.VELOCITY, "get_mobilizer_centrifugal_forces", (1,)),
        (Stage.ACCELERATION, "get_motion_multipliers", ()),
        (Stage.ACCELERATION, "calc_motion_power", ()),
        (Stage.INSTANCE, "pack_free_u", (np.zeros(1),)),
        (Stage.INSTANCE, "unpack_free_q", (np.zeros(1),)),
    ],
)
@pytest.mark.filterwarnings("ignore:get_mobilizer_centrifugal_forces")
def test_a_refusal_names_what_was_asked(stage, name, given, make):
    model = make.tree(3)
    if stage > Stage.INSTANCE:
        model.randomize(Stage(stage - 1))
    with pytest.raises(mb.StageError, match=f"^{name} needs Stage.{stage.name}"):
        getattr(model.matter, name)(model.state, *given)


def test_motion_errors_are_the_matter_s_beside_others_variables(make):
    """A subsystem's q and u follow the bodies': the mask of what is prescribed has none for them."""

    class Tank(mb.Subsystem):
        def realize_topology(self, state):
            self.allocate_q(state, [2.0, 1.0])
            self.allocate_u(state, [0.0, 1.0, 2.0])

    model = make.tree(3, (mb.mobilizer.Pin, mb.mobilizer.Slider))
    Tank(model.system, "tank")
    state = model.made().state
    model.bodies[2].lock_at(state, 0.5)
    state.q, state.u = np.arange(5.0), np.arange(6.0)
    model.system.realize(state, Stage.VELOCITY)
    assert np.array_equal(model.matter.calc_motion_errors(state, Stage.POSITION), [0.5])
    assert np.array_equal(model.matter.calc_motion_errors(state, Stage.VELOCITY), [1.0])


@pytest.mark.filterwarnings("ignore:get_mobilizer_centrifugal_forces")
def test_mobilizer_centrifugal_forces_are_those_of_the_formula(model, close):
    """P a + b, of the body's own Coriolis acceleration a and gyroscopic force b."""
    matter, state = model.matter, model.state
    for b in range(1, matter.get_num_bodies()):
        P = np.asarray(matter.get_articulated_body_inertia(state, b))
        expected = P @ matter.get_mobilizer_coriolis_acceleration(state, b).ravel()
        expected += matter.get_gyroscopic_force(state, b).ravel()
        close(matter.get_mobilizer_centrifugal_forces(state, b).ravel(), expected, 1e-13)
    assert not matter.get_mobilizer_centrifugal_forces(state, 0).any()


def test_a_mass_matrix_without_an_inverse_is_refused_by_the_mobility_s_name(make):
    """They gave NaN, of whichever entries the massless pin had to do with; realizing accelerations said what is wrong."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    pin = mb.mobilizer.Pin(matter.ground, make.body())
    loose = mb.mobilizer.Pin(pin, mb.body.Massless(), name="loose")
    mb.mobilizer.Pin(matter.ground, make.body())
    state = system.realize_topology()
    system.realize(state, Stage.DYNAMICS)
    for _ in range(2):  # what failed once is not taken for done
        for call in (
            lambda: matter.calc_m_inv(state),
            lambda: matter.multiply_by_m_inv(state, np.ones(3)),
            lambda: matter.get_articulated_body_inertia(state, 1),
            lambda: matter.calc_acceleration(state),
        ):
            with pytest.raises(mb.ModelError, match="mobility 0 of 'loose' has no inertia to move"):
                call()
    loose.lock(state)  # then nobody asks what it weighs
    system.realize(state, Stage.DYNAMICS)
    for inverse in (matter.calc_m_inv(state), matter.calc_m_inv(state.copy())):
        assert np.isfinite(inverse).all() and not inverse[1].any()
    assert np.isfinite(matter.multiply_by_m_inv(state, np.ones(3))).all()


def test_empty_arguments_of_an_ensemble_s_operators_stand_for_zeros(model):
    ensemble = mb.Ensemble(model.system, 9, state=model.state)
    ensemble.realize(Stage.VELOCITY)
    expected = ensemble.calc_residual_force_ignoring_constraints()
    assert np.array_equal(ensemble.calc_residual_force_ignoring_constraints([], [], []), expected)
    assert not ensemble.multiply_by_m([]).any()


@pytest.mark.parametrize("kind", [mb.mobilizer.Gimbal, mb.mobilizer.Bushing])
def test_products_with_the_inverse_refuse_singular_angles_as_the_matrix_does(kind):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = kind(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 2, 2.5))))
    state = system.realize_topology()
    n = len(state.u)
    body.set_one_q(state, 1, np.pi / 2)
    system.realize(state, Stage.POSITION)
    for _ in range(2):
        for call in (lambda: matter.multiply_by_m_inv(state, np.ones(n)), lambda: matter.calc_m_inv(state)):
            with pytest.raises(mb.ModelError, match=r"mobility 2 of .* moves nothing that its others do not"):
                call()
    body.set_one_q(state, 1, 0.3)
    system.realize(state, Stage.POSITION)
    assert np.isnan(matter.multiply_by_m_inv(state, np.full(n, np.nan))).all(), "what was given so"


def test_a_quaternion_of_zeros_is_named():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.mobilizer.Free(matter.ground, mb.body.Rigid(), name="plate")
    state = system.realize_topology()
    state.q = np.zeros(7)
    with pytest.raises(mb.ModelError, match=r"quaternion of 'plate', q\[0\] to q\[3\], is zero"):
        system.realize(state)


@pytest.mark.parametrize("bad", [object(), [object()], "3", None])
def test_what_is_no_number_is_a_type_error(bad, model):
    state = model.state
    before = state.y.copy(), state.time
    body = next(body for body in model.bodies if body.facts.num_u > 1)
    for call in (lambda: body.set_q(state, bad), lambda: setattr(state, "time", bad), lambda: setattr(state, "q", bad)):
        with pytest.raises(TypeError, match=r"has to be (a number|real numbers)"):
            call()
    assert np.array_equal(state.y, before[0]) and state.time == before[1]
