"""Records of the kinds of mobilizers, by which tests go."""

import dataclasses
from collections.abc import Callable

import numpy as np

import mobod as mb
from kinds import Changeable, Records

m = mb.mobilizer
#: For `Mobilizer.reference`.
SIMBODY = "cases of Simbody's"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Mobilizer:
    """The record of a kind of mobilizer.

    Parameters
    ----------
    kind : type
        The class.
    settings : callable
        ``settings(rng)``: random values of all keywords that its constructor has beside those of every kind.
    accessors : dict
        What it has a ``get_<name>(state)`` and a ``set_<name>(state, value)`` of: ``value(make)`` draws one.
    changeable : dict
        Its keywords that a state can change, each a `Changeable`.
    start : Transform
        Where M is in F at the start, with the settings that it has unless others are given.
    quaternion : bool
        Whether its first four coordinates are a quaternion.
    reversal : Transform or None
        The turn of F and M under which the reversed kind moves as the forward one does; None where no turn makes it do so.
    singular : list
        Its q at which columns of H_FM are dependent, `singularity` speaks, and accelerations are refused.
    reference : str
        `SIMBODY`, or where the truth of its tests comes from instead.
    """

    kind: type
    settings: Callable
    accessors: dict
    changeable: dict
    start: mb.Transform
    quaternion: bool
    reversal: mb.Transform | None
    singular: list
    reference: str


def nothing(rng):
    return {}


def number(make):
    return make.rng.normal()


def positive(make):
    return float(make.rng.uniform(0.5, 2.0))


def positives(make):
    return make.rng.uniform(0.5, 2.0, 3)


def numbers(*shape):
    return lambda make: make.rng.normal(size=shape)


def rotation(make):
    return make.rotation()


def pose(make):
    return make.frame()


def spherical_settings(rng):
    return {
        "azimuth_offset": rng.uniform(-1.0, 1.0),
        "azimuth_negated": bool(rng.integers(2)),
        "zenith_offset": rng.uniform(-1.0, 1.0),
        "zenith_negated": bool(rng.integers(2)),
        "radial_axis": "xz"[rng.integers(2)],
        "radial_negated": bool(rng.integers(2)),
    }


IDENTITY = mb.Transform()
QUARTER = np.pi / 2

#: In the order of `mobod.mobilizer.KINDS`, or any other.
MOBILIZERS = Records(
    "mobilizer",
    Mobilizer(
        kind=m.Pin,
        settings=nothing,
        accessors={"angle": number, "rate": number},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Slider,
        settings=nothing,
        accessors={"length": number, "rate": number},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Screw,
        settings=lambda rng: {"pitch": rng.uniform(-1.0, 1.0)},
        accessors={"angle": number, "rate": number, "pitch": number},
        changeable={"pitch": Changeable(one=0.7, other=1.3, refused=[np.nan, np.inf, "coarse", (1, 2), None])},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Cylinder,
        settings=nothing,
        accessors={"angle": number, "length": number, "angular_rate": number, "length_rate": number},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Universal,
        settings=nothing,
        accessors={"angles": numbers(2), "rates": numbers(2)},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        # Ry Rx becomes Rx Ry again
        reversal=mb.Transform(mb.Rotation.about_axis(np.pi, np.array([1.0, 1.0, 0.0]) / np.sqrt(2.0))),
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.BendStretch,
        settings=nothing,
        accessors={"angle": number, "length": number, "angular_rate": number, "length_rate": number},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=None,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Planar,
        settings=nothing,
        accessors={"angle": number, "translation": numbers(2), "angular_rate": number, "velocity": numbers(2)},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Gimbal,
        settings=nothing,
        accessors={"angles": numbers(3), "rotation": rotation, "rates": numbers(3)},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[(0.3, QUARTER, -0.4), (0.3, -QUARTER, -0.4), (0.3, 5.0 * QUARTER, 0.0)],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Bushing,
        settings=nothing,
        accessors={
            "angles": numbers(3),
            "translation": numbers(3),
            "transform": pose,
            "angular_rates": numbers(3),
            "velocity": numbers(3),
        },
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[(0.3, QUARTER, -0.4, 1.0, 2.0, 3.0), (0.3, -QUARTER, -0.4, 0.0, 0.0, 0.0)],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Translation,
        settings=nothing,
        accessors={"translation": numbers(3), "velocity": numbers(3)},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.SphericalCoords,
        settings=spherical_settings,
        accessors={"angles": numbers(2), "radius": number, "angular_rates": numbers(2), "radial_rate": number},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=None,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Ball,
        settings=nothing,
        accessors={"rotation": rotation, "angular_velocity": numbers(3)},
        changeable={},
        start=IDENTITY,
        quaternion=True,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Ellipsoid,
        settings=lambda rng: {"radii": rng.uniform(0.3, 1.2, 3)},
        accessors={"rotation": rotation, "angular_velocity": numbers(3), "radii": positives},
        changeable={
            "radii": Changeable(
                one=(0.7, 0.5, 0.4),
                other=(0.6, 0.9, 1.3),
                refused=[1.0, (1, 2), (1, 2, 0), (1, np.nan, 1), (1, -np.inf, 1), "round", None],
            )
        },
        start=mb.Transform((0, 0, 0.25)),
        quaternion=True,
        reversal=None,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Free,
        settings=nothing,
        accessors={"translation": numbers(3), "transform": pose, "velocity": numbers(2, 3)},
        changeable={},
        start=IDENTITY,
        quaternion=True,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.LineOrientation,
        settings=nothing,
        accessors={"rotation": rotation, "angular_velocity": numbers(2)},
        changeable={},
        start=IDENTITY,
        quaternion=True,
        reversal=None,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.FreeLine,
        settings=nothing,
        accessors={
            "translation": numbers(3),
            "transform": pose,
            "angular_velocity": numbers(2),
            "linear_velocity": numbers(3),
        },
        changeable={},
        start=IDENTITY,
        quaternion=True,
        reversal=None,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.Weld,
        settings=nothing,
        accessors={},
        changeable={},
        start=IDENTITY,
        quaternion=False,
        reversal=IDENTITY,
        singular=[],
        reference=SIMBODY,
    ),
    Mobilizer(
        kind=m.CantileverFreeBeam,
        settings=lambda rng: {"length": rng.uniform(0.5, 1.5)},
        accessors={"angles": numbers(3), "rates": numbers(3), "length": positive},
        changeable={"length": Changeable(one=0.7, other=1.3, refused=[0.0, -1.0, np.nan, np.inf, "long", (1, 2, 3)])},
        start=mb.Transform((0, 0, 1)),
        quaternion=False,
        reversal=None,
        singular=[],
        reference="the beam's own equations and differences: Simbody 3.7 has no such kind",
    ),
)
