"""Messages near a singular configuration: a warning when steps collapse, and the mobilizer's name in the error."""

import warnings

import numpy as np
import pytest

import mobod as mb
from mobod import ModelError


class Nothing(mb.force.CustomImplementation):
    """A force that adds nothing: makes its system run interpreted."""

    def calc_force(self, state, body_forces, particle_forces, mobility_forces):
        pass


def body():
    """A sphere about its origin: free of torques its angular velocity stays."""
    return mb.body.Rigid(mb.MassProperties(1.0, (0.0, 0.0, 0.0), mb.UnitInertia.sphere(0.5)))


def driven(kind=mb.mobilizer.Gimbal, miss=1e-3, *, euler=False, interpreted=False):
    """A body whose z axis passes F's x axis at 0.48 *miss* rad after half a second; beside it one that stays at zero."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    if interpreted:
        mb.force.Custom(forces, Nothing())
    settings = {"radii": (1e-9, 1e-9, 1e-9)} if kind is mb.mobilizer.Ellipsoid else {}
    arm = kind(matter.ground, body(), name="arm", **settings)
    mb.mobilizer.Gimbal(matter.ground, body(), name="idle")
    state = system.realize_topology()
    matter.set_use_euler_angles(state, euler)
    system.realize_model(state)
    arm.set_q_to_fit_rotation(state, mb.Rotation.from_body_fixed_xyz((0.0, np.pi / 2 - 0.5, 0.3)))
    arm.set_u_to_fit_angular_velocity(state, (0.0, 1.0, miss))
    return system, state


def stepper_of(system, state, **settings):
    stepper = mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system, **settings))
    stepper.initialize(state)
    return stepper


@pytest.mark.parametrize("kind", [mb.mobilizer.Gimbal, mb.mobilizer.Bushing], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("miss", [1e-3, 1e-5, 1e-8])
def test_a_gimbal_driven_through_its_singularity_warns_once_and_gets_through(kind, miss, close):
    """And moves as a Ball (or a Free) does, to the accuracy."""
    smooth = mb.mobilizer.Ball if kind is mb.mobilizer.Gimbal else mb.mobilizer.Free
    poses = []
    for chosen in (kind, smooth):
        system, state = driven(chosen, miss)
        stepper = stepper_of(system, state, accuracy=1e-9)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            stepper.step_to(0.4)
            assert not caught
            stepper.step_to(1.0)
            stepper.step_to(1.2)
        poses.append(np.asarray(system.matter.bodies["arm"].get_body_transform(stepper.state)))
        if chosen is kind:
            (warning,) = caught
            assert issubclass(warning.category, RuntimeWarning) and warning.filename == __file__
            text = str(warning.message)
            assert "'arm'" in text and "q[1]" in text and "singular" in text and "idle" not in text
            assert text.startswith("at time 0.4") or text.startswith("at time 0.5")
        else:
            assert not caught
    close(poses[0], poses[1], 1e-6, 1.0)  # thousands of steps, of which the worst conditioned lose some digits


@pytest.mark.parametrize("kind", [mb.mobilizer.Ball, mb.mobilizer.Free, mb.mobilizer.Ellipsoid], ids=lambda k: k.__name__)
def test_angles_in_place_of_a_quaternion_warn_too(kind):
    system, state = driven(kind, euler=True)
    with pytest.warns(RuntimeWarning, match=r"'arm' .* singular configuration.*set_use_euler_angles"):
        stepper_of(system, state, accuracy=1e-6).step_to(1.0)
    system, state = driven(kind)
    stepper_of(system, state, accuracy=1e-6).step_to(1.0)  # no warning, which would be an error here


def test_warnings_change_nothing():
    """To the bit, whether heard, raised and gone on from, or from `simulate`."""
    system, state = driven()
    ends = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stepper = stepper_of(system, state, accuracy=1e-6)
        stepper.step_to(1.0)
        ends.append((stepper.state.y.copy(), stepper.integrator.get_num_steps_taken()))
    stepper = stepper_of(system, state, accuracy=1e-6)
    with pytest.raises(RuntimeWarning, match="arm"):  # pytest.ini makes warnings errors
        stepper.step_to(1.0)
    assert stepper.state.stage == mb.Stage.ACCELERATION and 0.4 < stepper.time < 0.6
    stepper.step_to(1.0)
    ends.append((stepper.state.y.copy(), stepper.integrator.get_num_steps_taken()))
    with pytest.warns(RuntimeWarning, match="arm") as caught:
        run = mb.simulate(system, state, 1.0, accuracy=1e-6)
    assert caught[0].filename == __file__
    ends.append((np.concatenate([run.q[-1], run.u[-1]]), run.steps_taken))
    for y, steps in ends[1:]:
        assert np.array_equal(y, ends[0][0]) and steps == ends[0][1]


def test_interpreted_systems_warn_as_compiled_ones_do():
    texts = []
    for interpreted in (False, True):
        system, state = driven(interpreted=interpreted)
        stepper = stepper_of(system, state, accuracy=1e-4)
        with pytest.warns(RuntimeWarning, match="arm") as caught:
            stepper.step_to(1.0)
        texts.append(str(caught[0].message)[:12])
    assert texts[0] == texts[1]


def test_steps_that_come_down_elsewhere_warn_of_nothing():
    """A force that turns on a stiff spring, with no mobilizer near a singular configuration."""

    class Stop(mb.force.CustomImplementation):
        def calc_force(self, state, body_forces, particle_forces, mobility_forces):
            mobility_forces[0] -= 1e10 * max(0.0, state.q[0] - 0.5)

    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Custom(mb.GeneralForceSubsystem(system), Stop())
    mb.mobilizer.Slider(matter.ground, body())
    mb.mobilizer.Gimbal(matter.ground, body())
    state = system.realize_topology()
    state.u = [1.0, 0.0, 0.0, 0.0]
    stepper = stepper_of(system, state, accuracy=1e-6)
    stepper.step_to(0.6)
    assert stepper.state.u[0] < 0.0, "bounced"


def test_the_error_names_the_mobilizer_when_steps_cannot_be_short_enough():
    system, state = driven()
    stepper = stepper_of(system, state, accuracy=1e-6, min_step_size=3e-3)
    with pytest.raises(mb.ConvergenceError, match=r"'arm' \(Gimbal\) is .* degrees from .*q\[1\].* is 8.* degrees"):
        stepper.step_to(1.0)
    assert stepper.state.stage == mb.Stage.ACCELERATION and 0.3 < stepper.time < 0.6


def test_the_error_names_the_mobilizer_when_a_step_ends_at_the_singular_angle():
    """Steps of a quarter at unit rate: the fourth is at 90 degrees, where there is no acceleration."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    ball = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(1.0)))
    arm = mb.mobilizer.Gimbal(matter.ground, ball, name="arm")
    state = system.realize_topology()
    arm.set_angles(state, (0.0, np.pi / 2 - 1.0, 0.0))
    arm.set_rates(state, (0.0, 1.0, 0.0))
    stepper = stepper_of(system, state, fixed_step_size=0.25)
    with pytest.raises(mb.ConvergenceError, match=r"not finite .*'arm' \(Gimbal\).*singular"):
        stepper.step_to(2.0)
    assert stepper.time == 0.75 and arm.get_angles(stepper.state)[1] == pytest.approx(np.pi / 2 - 0.25)


def test_a_limit_of_steps_names_the_mobilizer():
    system, state = driven()
    stepper = stepper_of(system, state, accuracy=1e-8, internal_step_limit=300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(mb.ConvergenceError, match=r"internal_step_limit.*'arm' \(Gimbal\)"):
            stepper.step_to(1.0)


def test_a_start_at_the_singular_angle_is_named_before_the_first_step():
    system, state = driven()
    system.matter.bodies["arm"].set_one_q(state, 1, np.pi / 2)
    with pytest.raises(mb.ModelError, match=r"mobility 2 of 'arm'.*singular"):
        mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)).initialize(state)


@pytest.mark.parametrize("links", [5, 6])
def test_more_massless_links_than_one_body_has_inertia_for_are_named(links):
    """A body at the end of seven hinges moves in six ways: one of them moves nothing that the others do not."""
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.UniformGravity(mb.GeneralForceSubsystem(system), matter, (0, 0, -9.81))
    rng, parent = np.random.default_rng(4), matter.ground
    for k in range(links + 1):
        X_PF = mb.Transform(mb.Rotation.about_axis(1.0, rng.normal(size=3)), rng.normal(size=3))
        parent = mb.mobilizer.Pin(parent, mb.body.Massless() if k < links else body(), X_PF=X_PF, name=f"hinge{k}")
    state = system.realize_topology()
    if links == 5:
        return mb.TimeStepper(system, mb.integrator.RungeKuttaMerson(system)).initialize(state)
    with pytest.raises(ModelError, match="the mass matrix is singular: 'hinge0' moves as the mobilizers beyond it do"):
        mb.simulate(system, state, 0.1)
    ensemble = mb.Ensemble(system, 3, state=state)
    for run in (ensemble.simulate, ensemble.step):
        with pytest.raises(ModelError, match="the mass matrix is singular: 'hinge0'"):
            run(0.1)
    ensemble.set_each(matter.bodies["hinge0"].set_rotor_inertia, [0.1, 0.2, 0.3])
    ensemble.step(0.01)
    assert not ensemble.failed.any()
