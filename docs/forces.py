"""The picture of the laws of forces: what each element of a kind exerts, over what it depends on.

Kept beside the pages: ``python docs/forces.py`` makes it anew.
"""

from pathlib import Path

import numpy as np

import mobod as mb

PICTURE = Path(__file__).parent / "images" / "forces.png"
POINT = mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia.sphere(0.1)))


def law(make, values, speeds=False):
    """The generalized force on a slider along x, over its place or, of *speeds*, its speed."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    body = mb.mobilizer.Slider(matter.ground, POINT)
    make(forces, matter.ground, body)
    state, found = system.realize_topology(), []
    for value in values:
        state.q, state.u = ([0.0], [value]) if speeds else ([value], [0.0])
        system.realize(state, mb.Stage.DYNAMICS)
        f = system.get_mobility_forces(state)
        found.append((f + matter.multiply_by_system_jacobian_transpose(state, system.get_rigid_body_forces(state)))[0])
    return np.array(found)


MATERIAL = mb.contact.Material(1e4, dissipation=0.5, static_friction=0.8, dynamic_friction=0.6)
FLOOR = mb.Transform(mb.Rotation.about_axis(np.pi / 2, (0, 1, 0)), (0, 0, 0))  # z of the half-space along x
WAY, SPEED, GAP = np.linspace(-1.0, 1.0, 201), np.linspace(-1.0, 1.0, 401), np.linspace(0.0, 0.15, 151)
f = mb.force


def spring_along(forces, ground, body):
    """A rope that pulls once it is longer than 1."""
    path = f.transmission.StraightPath(forces, [([(ground, (-1.0, 0, 0)), (body, (0, 0, 0))], 1.0)])
    f.TransmissionSpring(forces, path, stiffness=1.0, rest_range=(0.0, 1.0))


def servo(forces, ground, body):
    """A motor that holds its place, as far as its strength goes."""
    f.Actuator(
        forces, f.transmission.Coordinates(forces, [(body, 0, 1.0)]), gain=(4, 0, 0), bias=(0, -4, 0), force_range=(-2, 2)
    )


def bushing(forces, ground, body):
    """An elastic joint."""
    f.LinearBushing(forces, ground, mb.Transform(), body, mb.Transform(), [2.0] * 6, [0.0] * 6)


def drag(forces, ground, body):
    """A cube of side 1 in air."""
    f.BoxDrag(forces, body, (1.0, 1.0, 1.0), density=1.2)


def contact(kind):
    """A sphere of radius 0.1 on a half-space whose normal is x, at the height of its centre."""

    def make(forces, ground, body):
        if kind is f.SmoothSphereHalfSpace:
            kind(forces, body, (0, 0, 0), 0.1, ground, FLOOR, MATERIAL)
        else:
            surfaces = [(ground, mb.contact.Surface(mb.contact.HalfSpace(), MATERIAL), FLOOR)]
            kind(forces, [*surfaces, (body, mb.contact.Surface(mb.contact.Sphere(0.1), MATERIAL))])

    return make


#: Title, over what, how it is made, and other elements drawn beside it.
PLACE, RATE, HEIGHT = "place", "speed", "height"
LAWS = [
    ("MobilityLinearSpring", PLACE, lambda s, g, b: f.MobilityLinearSpring(s, b, 0, 2.0, 0.25)),
    ("MobilityPolynomialSpring", PLACE, lambda s, g, b: f.MobilityPolynomialSpring(s, b, 0, 0.5, 0.0, 4.0, 0.0)),
    ("MobilityLinearStop", PLACE, lambda s, g, b: f.MobilityLinearStop(s, b, 0, 10.0, 0.0, -0.5, 0.7)),
    ("TwoPointLinearSpring", PLACE, lambda s, g, b: f.TwoPointLinearSpring(s, g, (-1.2, 0, 0), b, (0, 0, 0), 2.0, 1.0)),
    ("TwoPointConstantForce", PLACE, lambda s, g, b: f.TwoPointConstantForce(s, g, (-1.2, 0, 0), b, (0, 0, 0), 1.0)),
    ("LinearBushing", PLACE, bushing),
    ("TransmissionSpring, slack below 1", PLACE, spring_along),
    ("Actuator, a servo within limits", PLACE, servo),
    ("MobilityLinearDamper", RATE, lambda s, g, b: f.MobilityLinearDamper(s, b, 0, 1.0)),
    ("MobilityPolynomialDamper", RATE, lambda s, g, b: f.MobilityPolynomialDamper(s, b, 0, 0.2, 0.0, 2.0)),
    ("TwoPointLinearDamper", RATE, lambda s, g, b: f.TwoPointLinearDamper(s, g, (-1, 0, 0), b, (0, 0, 0), 1.0)),
    (
        "MobilityDryFriction, Stribeck",
        RATE,
        lambda s, g, b: f.MobilityDryFriction(
            s, b, 0, 1.0, static_friction_ratio=1.4, viscous_friction=0.3, friction="stribeck"
        ),
    ),
    ("BoxDrag", RATE, drag),
    ("SmoothSphereHalfSpace", HEIGHT, contact(f.SmoothSphereHalfSpace)),
    ("HuntCrossley", HEIGHT, contact(f.HuntCrossley)),
    ("ExponentialSpring", HEIGHT, lambda s, g, b: f.ExponentialSpring(s, FLOOR, b, (0, 0, 0))),
]


def make_picture():
    """A panel for each law."""
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(4, 4, figsize=(10, 9), layout="constrained")
    for panel, (title, over, make) in zip(axes.flat, LAWS, strict=True):
        values = {PLACE: WAY, RATE: SPEED, HEIGHT: np.linspace(0.0, 0.03, 151) if "Exp" in title else GAP}[over]
        panel.plot(values, law(make, values, speeds=over is RATE), color="#3355cc")
        panel.axhline(0.0, color="#888888", lw=0.6)
        panel.set_title(title, fontsize=9)
        panel.set_xlabel(over, fontsize=8)
        panel.set_ylabel("force", fontsize=8)
        panel.tick_params(labelsize=7)
    figure.savefig(PICTURE, dpi=100)
    with Image.open(PICTURE) as image:
        image.convert("RGB").quantize(64).save(PICTURE, optimize=True)


if __name__ == "__main__":
    make_picture()
    print(PICTURE.name, PICTURE.stat().st_size)
