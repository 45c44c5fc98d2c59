"""What remembers its past does so in steps of `TimeStepping`, too, whether kernels or Python take them."""

import pytest

import mobod as mb

G, H, HEIGHT = 10.0, 0.01, 0.7


def height_after(n):
    """Of n steps of a fall: speeds first, then places by the new speeds."""
    return HEIGHT - 0.5 * G * H**2 * n * (n + 1)


@pytest.mark.parametrize("surfaces", [False, True])
def test_a_falling_box_is_remembered(surfaces):
    system = mb.MultibodySystem("fall")
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -G))
    inertia = mb.MassProperties(1.0, (0, 0, 0), mb.Inertia(1, 1, 1))
    box = mb.mobilizer.Translation(matter.ground, mb.body.Rigid(inertia))
    if surfaces:
        material = mb.contact.Material(1e6, 1.0, 0.5)
        for body, shape in ((matter.ground, mb.contact.HalfSpace()), (box, mb.contact.Sphere(0.1))):
            body.add_contact_surface(mb.contact.Surface(shape, material, thickness=0.01))
        mb.CompliantContactSubsystem(system)
    height = mb.measure.Coordinate(matter, box, 2)
    late, least = mb.measure.Delay(matter, height, 0.1), mb.measure.Minimum(matter, height)
    state = system.realize_topology()
    box.set_one_q(state, 2, HEIGHT)
    stepper = mb.TimeStepper(system, mb.integrator.TimeStepping(system, fixed_step_size=H))
    stepper.initialize(state)
    for n in range(11, 20):
        stepper.step_to(n * H)
        assert height.get_value(stepper.state) == pytest.approx(height_after(n), abs=1e-12)
        assert late.get_value(stepper.state) == pytest.approx(height_after(n - 10), abs=1e-9)
        assert least.get_value(stepper.state) == pytest.approx(height_after(n), abs=1e-12)
