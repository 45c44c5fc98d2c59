"""Small systems of rigid contact whose motion is known."""

import numpy as np

import mobod as mb

G = 9.81


def empty(gravity=(0.0, 0.0, -G)):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    forces = mb.GeneralForceSubsystem(system)
    mb.force.UniformGravity(forces, matter, gravity)
    return system, matter


def solid(mass=1.0, inertia=(0.4, 0.4, 0.4)):
    return mb.body.Rigid(mb.MassProperties(mass, (0, 0, 0), mb.UnitInertia(*inertia)))


def ball_over_floor(height=1.0, restitution=0.0, **friction):
    """A ball of radius 1 that can move freely; its centre at *height* + 1."""
    system, matter = empty()
    ball = mb.mobilizer.Free(matter.ground, solid(), name="ball")
    mb.contact.SpherePlane(matter.ground, (0, 0, 1), 0.0, ball, (0, 0, 0), 1.0, restitution, name="floor", **friction)
    state = system.realize_topology()
    q = state.q.copy()
    q[6] = 1.0 + height
    state.q = q
    return system, state, ball


def point_on_slope(angle, mu, **friction):
    """A point mass on a plane whose normal is turned by *angle*; q is along x, y and z of Ground."""
    system, matter = empty()
    mass = mb.mobilizer.Translation(matter.ground, solid(), name="mass")
    n = np.sin(angle), 0.0, np.cos(angle)
    mb.contact.PointPlane(matter.ground, n, 0.0, mass, (0, 0, 0), static_friction=mu, name="slope", **friction)
    return system, system.realize_topology(), mass


def cradle(n=3, restitution=1.0, speed=1.0):
    """Balls of radius 0.5 in a row that touch, on sliders; the first comes with *speed*."""
    system, matter = empty((0, 0, 0))
    balls = []
    for k in range(n):
        X = mb.Transform((1.0 * k, 0, 0))
        balls.append(mb.mobilizer.Slider(matter.ground, solid(), X_PF=X, name=f"ball{k}"))
    for k in range(n - 1):
        mb.contact.SphereSphere(balls[k], (0, 0, 0), 0.5, balls[k + 1], (0, 0, 0), 0.5, restitution, name=f"gap{k}")
    state = system.realize_topology()
    u = np.zeros(n)
    u[0] = speed
    state.u = u
    return system, state


def stack(n=10, mu=0.5, gap=0.0, masses=None):
    """Cubes of side 1 on each other, four corners each; free in space."""
    system, matter = empty()
    below, boxes = matter.ground, []
    for k in range(n):
        mass = 1.0 if masses is None else masses[k]
        box = mb.mobilizer.Free(matter.ground, solid(mass, (1 / 6, 1 / 6, 1 / 6)), name=f"box{k}")
        height = 0.0 if k == 0 else 0.5
        for i, (x, y) in enumerate([(0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)]):
            mb.contact.PointPlane(below, (0, 0, 1), height, box, (x, y, -0.5), static_friction=mu, name=f"corner{k}{'abcd'[i]}")
        below = box
        boxes.append(box)
    state = system.realize_topology()
    q = state.q.copy()
    for k in range(n):
        q[7 * k + 6] = 0.5 + k + gap * (k + 1)
    state.q = q
    return system, state, boxes


def planar(half_width, half_height, mu=0.0, corners=(), inertia=None):
    """A body in a vertical plane, y up, over the floor at y = 0, which *corners* touch: q is the angle, x and y."""
    system, matter = empty((0.0, -G, 0.0))
    k = (half_width**2 + half_height**2) / 3.0 if inertia is None else inertia
    body = mb.mobilizer.Planar(matter.ground, solid(1.0, (k, k, k)), name="body")
    for name, point in corners:
        mb.contact.PointPlane(matter.ground, (0, 1, 0), 0.0, body, (*point, 0.0), static_friction=mu, name=name)
    return system, system.realize_topology(), body


def rod(angle, mu, speed):
    """A rod of length 2 that stands on the floor with its lower end, and slides there."""
    system, state, body = planar(1.0, 0.0, mu, [("tip", (-1.0, 0.0))])
    state.q = [angle, 0.0, np.sin(angle)]
    state.u = [0.0, speed, 0.0]
    return system, state, body


def run(system, state, time, integrator=None, accuracy=1e-8):
    """The state at *time*, and the integrator: by events unless another is given."""
    integrator = integrator or mb.integrator.RungeKuttaMerson(system, accuracy=accuracy)
    stepper = mb.TimeStepper(system, integrator)
    stepper.initialize(state)
    stepper.step_to(time)
    return stepper.state, integrator


def stepped(system, state, time, h=1e-3):
    """The same by `TimeStepping`."""
    return run(system, state, time, mb.integrator.TimeStepping(system, fixed_step_size=h))


def pulled_blocks(places, speeds, mu=0.5, k=40.0, height=0.0, angle=0.0):
    """Cubes of side 1 on four corners each, at *places* on the floor, where it is level at *angle* 0; springs pull along x.

    Their ends move at *speeds*, so that their forces are k times speed times time, at a *height* above the cubes' middle.
    """
    system, matter = empty((G * np.sin(angle), 0.0, -G * np.cos(angle)))
    cubes = []
    for i, (place, speed) in enumerate(zip(places, speeds, strict=True)):
        cube = mb.mobilizer.Free(matter.ground, solid(1.0, (1 / 6, 1 / 6, 1 / 6)), name=f"cube{i}")
        below, z = (cubes[i - 1], 0.5) if place[2] > 0.5 else (matter.ground, 0.0)
        for x, y in ((0.5, 0.5), (0.5, -0.5), (-0.5, 0.5), (-0.5, -0.5)):
            mb.contact.PointPlane(below, (0, 0, 1), z, cube, (x, y, -0.5), static_friction=mu, name=f"cube{i} {x} {y}")
        hand = mb.mobilizer.Slider(matter.ground, solid(), X_PF=mb.Transform(np.add(place, (2.0, 0.0, height))))
        mb.motion.Steady(hand, speed)
        mb.force.TwoPointLinearSpring(system.forces, cube, (0, 0, height), hand, (0, 0, 0), k, 2.0)
        cubes.append(cube)
    state = system.realize_topology()
    for cube, place in zip(cubes, places, strict=True):
        cube.set_q_to_fit_translation(state, place)
    return system, state
