"""The bundled cars: they stand on their weight, and go where they are to go."""

import numpy as np

import mobod as mb
from mobod.examples import car, speed_bump


def test_a_car_stands_on_its_weight_and_changes_lanes():
    system, state = car.build()
    tyres = [one for one in system.all_forces() if isinstance(one, mb.force.MagicFormulaTyre)]
    system.realize(state, mb.Stage.ACCELERATION)
    weight = 9.81 * (car.MASS + 4 * (car.CARRIER + car.WHEEL) + 2 * car.KNUCKLE)
    assert np.isclose(sum(one.calc_forces(state)[0, 2] for one in tyres), weight, rtol=1e-3)
    assert np.abs(state.u_dot[:6]).max() < 0.01  # it rolls, with the resistance of its tyres
    run = mb.simulate(system, state, 8.0, accuracy=1e-4)
    off = np.interp(run.q[:, 4], *car.lane_change().T) - run.q[:, 5]
    assert np.abs(off).max() < 1.0 and abs(off[-1]) < 0.3
    assert np.abs(run.u[:, 3] - car.SPEED).max() < 0.1 * car.SPEED


def test_a_car_brakes_in_a_bend():
    """A driver who is told another speed brakes by what the tyres bear: the wheels do not lock, and the car does not spin."""
    x = np.linspace(0.0, 80.0, 81)
    path = np.column_stack([x, 3.0 * np.sin(x / 12.0)])
    system, state = car.build(path, 12.0)
    system.forces.get_force("driver").set_parameter(state, "speed", 8.0)
    run = mb.simulate(system, state, 4.0, accuracy=1e-4)
    off = np.interp(run.q[:, 4], *path.T) - run.q[:, 5]
    assert np.abs(off).max() < 1.0 and abs(off[-1]) < 0.3
    assert abs(np.hypot(run.u[-1, 3], run.u[-1, 4]) - 8.0) < 0.5


def test_a_car_goes_over_a_bump():
    system, state = speed_bump.build()
    run = mb.simulate(system, state, speed_bump.TIME, accuracy=1e-4)
    height = run.q[:, 6]
    assert 0.03 < height.max() - height[0] < 1.2 * speed_bump.RISE
    assert abs(height[-1] - height[0]) < 0.01 and run.q[-1, 4] > speed_bump.PLACE + speed_bump.LENGTH
