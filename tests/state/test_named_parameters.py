"""Parameters of users' functions by name: given as a mapping, read, changed and differentiated by it."""

import numpy as np
import pytest

import mobod as mb


def spring_force(t, X, V, q, u, parameters):
    k, c = parameters
    return (), ((-k * q[0][0] - c * u[0][0],),)


@pytest.fixture
def model():
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    body = mb.mobilizer.Slider(matter.ground, mb.body.Particle(2.0), name="body")
    functions = mb.force.CompiledFunctions(spring_force, mobilizers=[body], parameters={"k": 4.0, "c": 0.5})
    spring = mb.force.Custom(mb.GeneralForceSubsystem(system), compiled=functions, name="spring")
    return system, body, spring


def test_one_parameter_is_read_and_changed_by_its_name_and_the_others_stay(model):
    system, _, spring = model
    state = system.realize_topology()
    assert spring.parameter_names == ("k", "c") and spring.get_parameter(state, "k") == 4.0
    spring.set_parameter(state, "k", 8.0)
    np.testing.assert_array_equal(spring.get_parameters(state), [8.0, 0.5])
    spring.set_parameters(state, {"c": 0.25})
    np.testing.assert_array_equal(spring.get_parameters(state), [8.0, 0.25])
    state.q, state.u = [1.0], [2.0]
    system.realize(state)
    assert state.u_dot[0] == pytest.approx(-(8.0 + 0.5) / 2.0)
    spring.set_default_parameters({"c": 0.75})
    np.testing.assert_array_equal(spring.get_default_parameters(), [4.0, 0.75])


def test_a_name_that_is_not_there_is_told_with_one_that_is(model):
    system, _, spring = model
    state = system.realize_topology()
    with pytest.raises(ValueError, match=r"no parameter 'kk'; did you mean k\?"):
        spring.set_parameter(state, "kk", 1.0)
    with pytest.raises(ValueError, match="name is a word"):
        mb.force.ParticleField(system.forces, lambda t, r, v, parameters: r, parameters={"two words": 1.0})
    plain = mb.force.CompiledFunctions(spring_force, mobilizers=[system.matter.bodies["body"]], parameters=[4.0, 0.5])
    other = mb.force.Custom(system.forces, compiled=plain)
    with pytest.raises(ValueError, match="have no names"):
        other.get_parameter(system.realize_topology(), "k")


def test_derivatives_and_sensitivities_take_the_names(model):
    system, _, _ = model
    state = system.realize_topology()
    state.q, state.u = [1.0], [2.0]
    system.realize(state)
    np.testing.assert_allclose(system.calc_parameter_derivatives(state, ["spring.k"]), [[-0.5]])
    np.testing.assert_allclose(system.calc_parameter_derivatives(state, ["spring.parameters"]), [[-0.5, -1.0]])
    motion = mb.simulate(system, state, 0.5, sensitivities=["spring.parameters"])
    assert list(motion.sensitivities.names) == ["spring.k", "spring.c"]


def test_every_kind_of_users_functions_takes_names():
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)

    def line(q, parameters):
        o = 0.0 * q[0]
        return ((1.0 + o, o, o), (o, 1.0 + o, o), (o, o, 1.0 + o)), (parameters[0] * q[0], o, o)

    bead = mb.mobilizer.Custom(
        matter.ground, mb.body.Particle(1.0), transform=line, num_q=1, parameters={"slope": 2.0}, name="bead"
    )
    turned = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
    drive = mb.motion.Custom(
        turned, compiled=mb.motion.CompiledFunctions(lambda t, p: (p[0] * t,), parameters={"speed": 3.0, "unused": 0.0})
    )
    free = mb.mobilizer.Slider(matter.ground, mb.body.Particle(1.0))
    held = mb.constraint.Custom(
        compiled=mb.constraint.CompiledFunctions(
            lambda X, q, p: (q[0][0] - p[0],), mobilizers=[free], parameters={"place": 0.5}
        )
    )
    law = mb.control.Custom(
        forces, lambda u, parameters: -parameters[0] * u[:1], [bead], sample_time=0.1, parameters={"gain": 2.0}
    )
    measure = mb.measure.Custom(
        matter,
        compiled=mb.measure.CompiledFunctions(
            lambda t, X, V, q, u, p: p[0] * q[0][0], mb.Stage.POSITION, mobilizers=[free], parameters={"scale": 3.0}
        ),
    )
    state = system.realize_topology()
    for one, name, value in ((bead, "slope", 2.0), (drive, "speed", 3.0), (held, "place", 0.5), (law, "gain", 2.0)):
        assert one.get_parameter(state, name) == value
        one.set_parameter(state, name, 1.5)
        assert one.get_parameter(state, name) == 1.5
    assert held.get_constrained_q_index(state, 0, 0) == held.get_constrained_u_index(state, 0, 0) == 0
    system.project(state)
    system.realize(state)
    assert turned.get_u(state) == pytest.approx(1.5) and free.get_q(state) == pytest.approx(1.5)
    assert measure.get_value(state) == pytest.approx(4.5)
    np.testing.assert_array_equal(drive.get_parameters(state), [1.5, 0.0])
    assert bead.clone_for_new_parent(turned).parameter_names == ("slope",)
