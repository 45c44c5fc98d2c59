"""Measures against Simbody's: a pendulum on a driven slider, stepped alike, so that also what depends on steps agrees.

Both engines take steps of 1/256 with Merson's method; what differs is rounding. Some measures are extrapolated or divide by the
step, which enlarges it.
"""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import mobod as mb
from mobod import Stage, measure

FILE = Path(__file__).parent.parent / "reference" / "measures.json.gz"
with gzip.open(FILE, "rt") as stream:
    RECORDED = json.load(stream)
TIMES, VALUES = RECORDED["times"], {name: np.array(values) for name, values in RECORDED["values"].items()}

# trajectories of 750 steps agree to 1e-12; estimated derivatives divide by the step, and alternate
TOLERANCE = {"slope": 1e-8, "slope_of_wave": 1e-8, "slope3": 1e-8}
# functions of the state alone, which can be asked of the recorded states
OF_STATE = (
    *("constant", "time", "wave", "wave_1", "wave_2", "wave_3", "angle", "rate", "place", "speed", "plus", "minus", "scale"),
    *("plus3", "variable"),
)


class Plant:
    """The system of ``generate_measures.cpp``; `measures` by the names there, with the derivative that is asked for."""

    def __init__(self):
        self.system = system = mb.MultibodySystem()
        matter = mb.SimbodyMatterSubsystem(system)
        forces = mb.GeneralForceSubsystem(system)
        mb.force.Gravity(forces, matter, (0, -9.81, 0))
        cart = mb.body.Rigid(mb.MassProperties(2.0, (0, 0, 0), mb.UnitInertia(1, 1, 1)))
        rod = mb.body.Rigid(mb.MassProperties(1.5, (0, -0.6, 0), mb.Inertia(0.7, 0.2, 0.9)))
        slider = mb.mobilizer.Slider(matter.ground, cart)
        self.pin = pin = mb.mobilizer.Pin(slider, rod)
        mb.motion.Sinusoid(slider, mb.Motion.Level.POSITION, 0.2, 3.0, 0.1)
        tip = (0.1, -1.0, 0.2)

        # the operands of Simbody's run have no derivatives; these have none either
        def of(function, stage, shape=()):
            return measure.Function(matter, function, stage, shape=shape)

        angle, rate = of(pin.get_angle, Stage.POSITION), of(pin.get_rate, Stage.VELOCITY)
        place = of(lambda state: pin.find_station_location_in_ground(state, tip), Stage.POSITION, (3,))
        speed = of(lambda state: pin.find_station_velocity_in_ground(state, tip), Stage.VELOCITY, (3,))
        variable = measure.Variable(matter, Stage.POSITION, 0.75)
        wave = measure.Sinusoid(matter, 1.2, 5.0, 0.3)
        plus = angle + wave
        integral = measure.Integrate(matter, angle, measure.Constant(matter, 0.4))
        again = measure.Integrate(matter, integral, angle)
        of_wave = measure.Integrate(matter, wave, measure.Constant(matter, 0.0))
        slope_of_wave = measure.Differentiate(matter, wave)
        slope_of_wave.set_force_use_approximation(True)
        extremes = {
            "maximum": measure.Maximum(matter, angle),
            "minimum": measure.Minimum(matter, rate),
            "max_abs": measure.MaxAbs(matter, rate),
            "min_abs": measure.MinAbs(matter, rate),
            "maximum3": measure.Maximum(matter, place),
        }
        delays = {
            "delay": measure.Delay(matter, angle, 0.3171),
            "delay_short": measure.Delay(matter, angle, 0.0172),
            "delay3": measure.Delay(matter, speed, 0.25),
        }
        for delay in delays.values():  # all that Simbody 3.7 does
            delay.set_use_linear_interpolation_only(True)
        self.extremes, self.variable, self.result = extremes, variable, measure.Result(matter, Stage.TIME, Stage.REPORT)
        self.measures = {
            "constant": (measure.Constant(matter, 2.5), 0),
            "time": (measure.Time(matter), 0),
            "variable": (variable, 0),
            **{name: (wave, order) for order, name in enumerate(("wave", "wave_1", "wave_2", "wave_3"))},
            "angle": (angle, 0),
            "rate": (rate, 0),
            "place": (place, 0),
            "speed": (speed, 0),
            "plus": (plus, 0),
            "minus": (angle - variable, 0),
            "scale": (-3.0 * plus, 0),
            "plus3": (place + speed, 0),
            "integral": (integral, 0),
            "integral_1": (integral, 1),
            "integral_of_wave": (of_wave, 0),
            "integral_of_wave_2": (of_wave, 2),
            "integral3": (measure.Integrate(matter, place, measure.Constant(matter, (1, 2, 3))), 0),
            "again": (again, 0),
            "again_2": (again, 2),
            "slope": (measure.Differentiate(matter, angle), 0),
            "slope_of_wave": (slope_of_wave, 0),
            "slope3": (measure.Differentiate(matter, place), 0),
            **{name: (one, 0) for name, one in (extremes | delays).items()},
        }
        self.state = system.realize_topology()
        pin.set_angle(self.state, 1.1)
        pin.set_rate(self.state, -0.4)
        variable.set_value(self.state, 0.5)


@pytest.fixture(scope="module")
def run():
    """All that was recorded, as mobod has it."""
    plant = Plant()
    stepper = mb.TimeStepper(plant.system, mb.integrator.RungeKuttaMerson(plant.system, fixed_step_size=RECORDED["step_size"]))
    stepper.initialize(plant.state)
    found = {name: [] for name in VALUES}
    for time in TIMES:
        stepper.step_to(time)
        state = stepper.state
        for name, (one, order) in plant.measures.items():
            found[name].append(one.get_value(state, order))
        for name, one in plant.extremes.items():
            when = one.get_time_of_extreme_value(state)
            found[f"{name}_time"].append(np.max(when))  # Simbody has one time for a vector: that of its last change
        plant.result.set_value(state, 2.0 * state.time)
        found["result"].append(plant.result.get_value(state))
        found["q"].append(state.q[:2].copy())
        found["u"].append(state.u[:2].copy())
    assert stepper.integrator.get_num_steps_taken() == RECORDED["steps_taken"]
    return found


@pytest.mark.parametrize("name", VALUES)
def test_along_a_simulation_values_are_simbodys(name, run):
    recorded = VALUES[name]
    scale = max(1.0, np.abs(recorded).max())
    np.testing.assert_allclose(np.array(run[name]), recorded, rtol=0, atol=TOLERANCE.get(name, 1e-10) * scale)


def test_at_given_states_values_are_simbodys_to_rounding():
    plant = Plant()
    state = plant.state
    for k, time in enumerate(TIMES):
        state.time, state.q, state.u = time, VALUES["q"][k], VALUES["u"][k]
        plant.system.realize(state, Stage.VELOCITY)
        for name in OF_STATE:
            one, order = plant.measures[name]
            np.testing.assert_allclose(one.get_value(state, order), VALUES[name][k], rtol=0, atol=1e-12, err_msg=name)
