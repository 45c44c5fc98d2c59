"""Walker: two straight legs walk down a slope of half a degree by themselves, step after step.

The simplest walking model (Garcia, Chatterjee, Ruina and Coleman 1998): a mass at the hip, feet of almost none, no motor. On a
slope of 0.009 rad it walks with a stance angle of 0.2003109 at each heel strike. Its feet pass through the ground at midstance,
as those of a walker without knees must. Lengths in legs, times in sqrt(leg/g).
"""

import numpy as np
from numpy.typing import NDArray

import mobod as mb

SLOPE = 0.009
HIP, FOOT = 1.0, 1e-7  # masses; the limit of light feet is the model
#: Just after a heel strike of the periodic walk: the stance leg's angle from the slope's normal, and its rate.
ANGLE, RATE = 0.2003109, -0.1998325
TOE = (0.0, -1.0, 0.0)  # in the frame of each leg
SHORTEST = 0.1  # step; where the legs pass each other the swing foot crosses the ground too
TIME = 23.0  # that `mobod simulate walker` simulates, five steps


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, just after a heel strike."""
    return build_at(ANGLE, RATE, (1.0 - np.cos(2.0 * ANGLE)) * RATE)


def build_at(angle: float, rate: float, swing_rate: float) -> tuple[mb.MultibodySystem, mb.State]:
    """Build it just after a heel strike, with the stance angle, its rate, and that of the angle between the legs."""
    system = mb.MultibodySystem("walker")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (np.sin(SLOPE), -np.cos(SLOPE), 0))  # x down the slope, y its normal
    first = mb.mobilizer.Planar(matter.ground, make_leg(HIP, "#0077bb"), name="first")
    second = mb.mobilizer.Pin(first, make_leg(0.0, "#ee7733"), name="second")
    matter.ground.add_body_decoration(mb.decoration.Line((-0.5, 0, 0), (3, 0, 0), color="#444444"))
    feet = Feet(matter, (first, second))
    system.add_event_handler(feet)
    state = system.realize_topology()
    first.set_q(state, (angle, -np.sin(angle), np.cos(angle)))
    first.set_u(state, (rate, -np.cos(angle) * rate, -np.sin(angle) * rate))
    # the swing leg is behind, as far as the stance leg is ahead
    second.set_angle(state, -2.0 * angle)
    second.set_rate(state, -swing_rate)
    return system, state


def make_leg(hip: float, color: str) -> mb.body.Body:
    """Make a leg, its frame at the hip."""
    toe = np.array(TOE)
    mass = hip + FOOT
    leg = mb.body.Rigid(mb.MassProperties(mass, FOOT * toe / mass, mb.Inertia(FOOT, 0, FOOT)))
    leg.add_decoration(mb.decoration.Line((0, 0, 0), TOE, color=color, line_width=4))
    leg.add_decoration(mb.decoration.Sphere(0.03, color=color), mb.Transform(TOE))
    if hip:
        leg.add_decoration(mb.decoration.Sphere(0.08, color="#444444"))
    return leg


class Feet(mb.event.TriggeredHandler):
    """One foot is pinned to the ground; where the other one strikes it, they change places, by an inelastic impact."""

    def __init__(self, matter: mb.SimbodyMatterSubsystem, legs: tuple[mb.MobilizedBody, mb.MobilizedBody]) -> None:
        super().__init__(mb.Stage.POSITION)
        self.matter, self.legs, self.stance = matter, legs, 0
        self.pins = [
            mb.constraint.Ball(matter.ground, (0, 0, 0), leg, TOE, disabled_by_default=number > 0)
            for number, leg in enumerate(legs)
        ]
        #: Of each heel strike: the time, the stance angle just after it, and its rate.
        self.strikes: list[tuple[float, float, float]] = []

    def get_value(self, state: mb.State) -> float:
        """Height of the swing foot."""
        return float(self.legs[1 - self.stance].find_station_location_in_ground(state, TOE)[1])

    def handle_event(self, state: mb.State, accuracy: float) -> None:
        """Exchange the feet, if the swing foot is ahead."""
        toes = [leg.find_station_location_in_ground(state, TOE) for leg in self.legs]
        if toes[1 - self.stance][0] - toes[self.stance][0] < SHORTEST:
            return  # the legs pass each other
        self.pins[self.stance].disable(state)
        self.stance = 1 - self.stance
        toe = toes[self.stance]
        self.pins[self.stance].set_station1(state, (toe[0], toe[1], 0.0))
        # by the impulse at the new stance foot that stops it; the other foot, which nothing holds, leaves the ground
        self.pins[self.stance].enable(state)
        state.system.realize(state, mb.Stage.VELOCITY)
        leg = self.legs[self.stance]
        axis = -leg.express_vector_in_ground_frame(state, TOE)
        rate = float(leg.get_body_angular_velocity(state)[2])
        self.strikes.append((state.time, float(np.arctan2(-axis[0], axis[1])), rate))


def calc_eigenvalues(step: float = 1e-5) -> NDArray[np.complex128]:
    """The eigenvalues, by differences, of the map from step to step; within the unit circle, as here, the walk is stable."""
    start = np.array([ANGLE, RATE])
    columns = [(_next(start + change) - _next(start - change)) / (2.0 * step) for change in step * np.eye(2)]
    return np.linalg.eigvals(np.transpose(columns)).astype(complex)


def _next(angle_and_rate: NDArray[np.float64]) -> NDArray[np.float64]:
    """The stance angle and its rate after one step; the swing leg's rate after an impact is not free."""
    angle, rate = angle_and_rate
    system, state = build_at(angle, rate, (1.0 - np.cos(2.0 * angle)) * rate)
    (feet,) = (handler for handler in system.get_event_handlers() if isinstance(handler, Feet))
    mb.simulate(system, state, 5.0, accuracy=1e-9)
    return np.array(feet.strikes[0][1:])
