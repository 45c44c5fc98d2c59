"""Car: a family car with suspension and four tyres changes lanes at 80 km/h, by a driver who follows a path.

Each wheel hangs on a carrier that slides along the body's z, with spring, damper and anti-roll bar; the front ones steer. The
tyres are by Pacejka's Magic Formula. The path is that of a double lane change: 3.5 m to the left, and back.
"""

import os
from collections.abc import Mapping

import numpy as np

import mobod as mb

#: A tyre of the size 205/60 R15, in the ISO axes: numbers of the common size, of no particular make.
TYRE = {
    "FITTYP": 61, "UNLOADED_RADIUS": 0.313, "FNOMIN": 4000.0, "VERTICAL_STIFFNESS": 2e5, "VERTICAL_DAMPING": 100.0,
    "LONGITUDINAL_STIFFNESS": 2.8e5, "LATERAL_STIFFNESS": 1.2e5, "BREFF": 8.0, "DREFF": 0.24, "FREFF": 0.01,
    "PCX1": 1.65, "PDX1": 1.15, "PDX2": -0.06, "PEX1": 0.3, "PKX1": 21.0, "PKX3": 0.2,
    "PCY1": 1.3, "PDY1": 1.0, "PDY2": -0.12, "PEY1": -0.9, "PEY2": -0.5, "PKY1": -17.0, "PKY2": 1.9, "PKY6": -0.9,
    "PVY3": -0.2, "RBX1": 12.0, "RBX2": -10.0, "RCX1": 1.1, "RBY1": 7.0, "RBY2": 4.0, "RCY1": 1.08,
    "QBZ1": 9.0, "QBZ2": -1.1, "QCZ1": 1.18, "QDZ1": 0.1, "QEZ1": -1.6, "QSY1": 0.01,
}  # fmt: skip
SPEED = 80.0 / 3.6
MASS, WHEEL, CARRIER, KNUCKLE = 1300.0, 20.0, 10.0, 5.0
RADIUS = TYRE["UNLOADED_RADIUS"]
WHEELBASE, TRACK, AHEAD, HEIGHT = 2.7, 1.5, 1.2, 0.55  # AHEAD: the front axle of the mass center; HEIGHT of that
STIFFNESS, DAMPING, ROLL_BAR = 25e3, 2e3, 15e3
TORQUE = 500.0  # of each driven wheel, the most: less than half of what its tyre's grip bears
TIME = 8.0  # that `mobod simulate car` simulates


def lane_change() -> np.ndarray:
    """Points of the path: 3.5 m to the left between 30 and 65 m, and back between 90 and 125 m."""
    x = np.linspace(0.0, 400.0, 401)
    s = np.clip((x - 30.0) / 35.0, 0.0, 1.0) - np.clip((x - 90.0) / 35.0, 0.0, 1.0)
    return np.column_stack([x, 3.5 * s**3 * (10.0 + s * (6.0 * s - 15.0))])


def build(
    path: np.ndarray | None = None,
    speed: float = SPEED,
    road: mb.contact.HeightField | None = None,
    tyre: str | os.PathLike[str] | Mapping[str, float] = TYRE,
) -> tuple[mb.MultibodySystem, mb.State]:
    """Build it, rolling along x at the speed: on a plane, or a road; along the lane change, or a path; on any tyre's file."""
    system = mb.MultibodySystem("car")
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.Gravity(forces, matter, (0, 0, -9.81))
    matter.set_show_default_geometry(False)
    body = add_body(matter)
    steering, driven, wheels = [], [], []
    for axle, x in (("front", AHEAD), ("rear", AHEAD - WHEELBASE)):
        carriers = []
        for side, y in (("left", 0.5 * TRACK), ("right", -0.5 * TRACK)):
            carrier = parent = add_carrier(forces, body, f"{axle} {side}", x, y)
            carriers.append(carrier)
            if axle == "front":
                knuckle = mb.body.Rigid(mb.MassProperties(5.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
                parent = mb.mobilizer.Pin(carrier, knuckle, name=f"steering {side}")
                steering.append((parent, 0))
            wheel = add_wheel(parent, f"wheel {axle} {side}")
            wheels.append(wheel)
            if axle == "rear":
                driven.append((wheel, 0))
            made = mb.force.MagicFormulaTyre(forces, wheel, tyre, road=road, mirrored=y < 0.0, name=f"tyre {axle} {side}")
        bar = mb.force.transmission.Coordinates(forces, [(carriers[0], 0, 1.0), (carriers[1], 0, -1.0)])
        mb.force.TransmissionSpring(forces, bar, stiffness=ROLL_BAR, name=f"{axle} anti-roll bar")
    most = np.array([np.inf, np.inf, TORQUE, TORQUE])  # of what steers, and of what drives
    mb.control.Driver(
        forces, body, lane_change() if path is None else path, speed, steering=steering, driven=driven, wheelbase=WHEELBASE,
        rear_axle=(AHEAD - WHEELBASE, 0.0, 0.0), limits=(-most, most), name="driver",
    )  # fmt: skip
    state = system.realize_topology()
    radius = made.get_radius(state)
    body.set_q_to_fit_translation(state, (0.0, 0.0, HEIGHT + radius - RADIUS))
    body.set_u_to_fit_linear_velocity(state, (speed, 0.0, 0.0))
    for wheel in wheels:
        wheel.set_rate(state, speed / radius)
    return system, state


def loads() -> tuple[float, float]:
    """The loads on the spring of a front wheel at rest, and on that of a rear one."""
    front = (WHEELBASE - AHEAD) / WHEELBASE
    return 0.5 * MASS * 9.81 * front, 0.5 * MASS * 9.81 * (1.0 - front)


def add_body(matter: mb.SimbodyMatterSubsystem) -> mb.MobilizedBody:
    """The body of the car, about its mass center."""
    shell = mb.body.Rigid(mb.MassProperties(MASS, (0, 0, 0), mb.UnitInertia.brick((1.9, 0.75, 0.5))))
    shell.add_decoration(mb.decoration.Brick((2.1, 0.72, 0.22), color="#4477aa"), mb.Transform((-0.15, 0.0, 0.0)))
    shell.add_decoration(mb.decoration.Brick((1.0, 0.66, 0.22), color="#99bbdd"), mb.Transform((-0.45, 0.0, 0.42)))
    return mb.mobilizer.Free(matter.ground, shell, name="body")


def add_carrier(forces: mb.GeneralForceSubsystem, body: mb.MobilizedBody, name: str, x: float, y: float) -> mb.MobilizedBody:
    """A wheel carrier: it slides along the body's z, on a spring and a damper that bear the car at its middle."""
    load = loads()[x < 0.0]
    weight = 9.81 * (CARRIER + WHEEL + (KNUCKLE if x > 0.0 else 0.0))
    z = RADIUS - (load + weight) / TYRE["VERTICAL_STIFFNESS"] - HEIGHT
    upright = mb.Rotation.about_axis(-0.5 * np.pi, "y")
    hub = mb.body.Rigid(mb.MassProperties(CARRIER, (0, 0, 0), mb.UnitInertia.sphere(0.1)))
    carrier = mb.mobilizer.Slider(body, hub, X_PF=mb.Transform(upright, (x, y, z)), X_BM=mb.Transform(upright), name=name)
    mb.force.MobilityLinearSpring(forces, carrier, 0, STIFFNESS, -load / STIFFNESS, name=f"spring {name}")
    mb.force.MobilityLinearDamper(forces, carrier, 0, DAMPING, name=f"damper {name}")
    return carrier


def add_wheel(parent: mb.MobilizedBody, name: str) -> mb.mobilizer.Pin:
    """A wheel that turns about y."""
    rim = mb.body.Rigid(mb.MassProperties(WHEEL, (0, 0, 0), mb.UnitInertia.cylinder_along_y(0.8 * RADIUS, 0.1)))
    rim.add_decoration(mb.decoration.Cylinder(RADIUS, 0.1, color="#333333"))
    rim.add_decoration(mb.decoration.Brick((0.2, 0.105, 0.03), color="#dddddd"))
    about_y = mb.Transform(mb.Rotation.about_axis(-0.5 * np.pi, "x"))
    return mb.mobilizer.Pin(parent, rim, X_PF=about_y, X_BM=about_y, name=name)
