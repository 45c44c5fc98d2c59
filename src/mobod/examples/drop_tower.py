"""Drop tower: a gondola falls and is braked by copper fins between magnets; the fins heat up.

The ride of amusement parks, and a subsystem of the user's own beside the mechanics: `Fins` has an auxiliary variable, the
fins' temperature T. Only as much of the fins as is between the magnets brakes, so that what heats them depends on the height
q; hot copper conducts worse, so that the brake depends on the temperature:

    C dT/dt = F v - h (T - T_air)        F = s(q) 2 F_max v v_c / (v^2 + v_c^2)        v_c = v_0 (1 + a (T - T_air))

with the drag of eddy currents after Wouterse 1991. It never stops the gondola: that sinks to the ground at a walking pace.
"""

import numpy as np
import numpy.typing as npt

import mobod as mb

MASS = 1200.0  # kg
GRAVITY = 9.81
START = 60.0  # m
TOP, OVERLAP = 26.0, 2.0  # height of the upmost magnets, m, and how long the fins take to be wholly between them
PEAK_FORCE, PEAK_SPEED = 3.5 * MASS * GRAVITY, 12.0  # the drag is strongest at this speed
HEAT_CAPACITY = 60.0 * 385.0  # of 60 kg of copper, J/K
AIR, TO_AIR = 293.0, 400.0  # temperature, K, and W/K
RESISTIVITY = 0.0039  # its growth, 1/K
TIME = 7.0  # that `mobod simulate drop_tower` simulates


class Fins(mb.Subsystem):
    """Copper fins on the gondola, and their temperature."""

    def __init__(self, system: mb.MultibodySystem, gondola: mb.mobilizer.Slider) -> None:
        super().__init__(system, "fin temperature")
        self.gondola = gondola
        self.temperature = self.drag = 0

    def realize_topology(self, state: mb.State) -> None:
        """Allocate the z, and room for the drag force, which the brake below applies."""
        self.temperature = self.allocate_z(state, [AIR])
        self.drag = self.allocate_lazy_cache_entry(state, mb.Stage.VELOCITY, 0.0, variables=["z"])

    def calc_drag(self, state: mb.State) -> float:
        """Drag against the motion, N: computed once for each q, u and z."""
        if not self.is_cache_value_realized(state, self.drag):
            q, v = self.gondola.get_length(state), self.gondola.get_rate(state)
            warmth = self.get_z(state)[self.temperature] - AIR
            critical = PEAK_SPEED * (1.0 + RESISTIVITY * warmth)
            s = min(max((TOP - q) / OVERLAP, 0.0), 1.0)
            share = s * s * (3.0 - 2.0 * s)
            self.upd_cache_entry(state, self.drag, share * 2.0 * PEAK_FORCE * v * critical / (v * v + critical * critical))
            self.mark_cache_value_realized(state, self.drag)
        return float(self.get_cache_entry(state, self.drag))

    def realize_dynamics(self, state: mb.State) -> None:
        """All that the drag takes from the gondola heats the fins."""
        heat = self.calc_drag(state) * self.gondola.get_rate(state) - TO_AIR * (self.get_z(state)[self.temperature] - AIR)
        self.upd_z_dot(state)[self.temperature] = heat / HEAT_CAPACITY


class Brake(mb.force.CustomImplementation):
    """The force of the fins on the gondola."""

    def __init__(self, fins: Fins) -> None:
        self.fins = fins

    def calc_force(
        self,
        state: mb.State,
        body_forces: npt.NDArray[np.float64],
        particle_forces: npt.NDArray[np.float64],
        mobility_forces: npt.NDArray[np.float64],
    ) -> None:
        """Against the motion of the slider."""
        self.fins.gondola.apply_one_mobility_force(state, 0, -self.fins.calc_drag(state), mobility_forces)


def build() -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, with the gondola at rest below the top."""
    system = mb.MultibodySystem("drop tower")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, -GRAVITY, 0))
    upward = mb.Rotation.about_axis(np.pi / 2, "z")  # a slider slides along x
    gondola = mb.mobilizer.Slider(matter.ground, make_gondola(), X_PF=mb.Transform(upward), name="height")
    fins = Fins(system, gondola)
    mb.force.Custom(forces, Brake(fins), name="brake")

    height = START + 4
    tower = mb.decoration.Brick((0.5, (height - TOP) / 2, 0.5), color="#bbbbbb")
    matter.ground.add_body_decoration(tower, mb.Transform((0, (height + TOP) / 2, 0)))
    magnets = mb.decoration.Brick((0.7, TOP / 2, 0.7), color="#cc3333")
    matter.ground.add_body_decoration(magnets, mb.Transform((0, TOP / 2, 0)))

    state = system.realize_topology()
    gondola.set_length(state, START)
    return system, state


def make_gondola() -> mb.body.Rigid:
    """Make a ring of seats about the tower."""
    gondola = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.cylinder_along_x(2.5, 0.8)))
    across = mb.Transform(mb.Rotation.about_axis(np.pi / 2, "y"))  # a torus lies about its z
    gondola.add_decoration(mb.decoration.Torus(2.5, 0.9, color="#4477aa"), across)
    return gondola
