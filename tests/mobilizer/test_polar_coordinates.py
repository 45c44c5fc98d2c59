"""BendStretch and SphericalCoords: textbook accelerations in polar and spherical coordinates, up to the pole, and their fits.

A particle at M's origin has the accelerations of the coordinates' definition; a body has none of their singularities.
"""

import itertools

import numpy as np
import pytest

import mobod as mb

G = np.array([1.0, -9.0, 2.0])
EXACT = 1e-12


def rotation(axis, angle):
    return np.asarray(mb.Rotation.about_axis(angle, axis))


def particle(kind, **settings):
    system = mb.MultibodySystem()
    matter = mb.SimbodyMatterSubsystem(system)
    mb.force.Gravity(mb.GeneralForceSubsystem(system), matter, G)
    body = kind(matter.ground, mb.body.Particle(3.0), name="bead", **settings)
    return system, body, system.realize_topology()


# ---------------------------------------------------------------------------------------------- a particle


@pytest.mark.parametrize("radius", [1.0, -0.7, 1e-3, 1e-9, -1e-30, 1e-100, 1e-150])
def test_a_particle_in_polar_coordinates(radius, rng, close):
    """r'' = a_r + r t'^2, r t'' = a_t - 2 r' t': right however near to the pole."""
    system, body, state = particle(mb.mobilizer.BendStretch)
    angle, rate, radial_rate = rng.uniform(-3.0, 3.0, 3)
    body.set_q(state, (angle, radius))
    body.set_u(state, (rate, radial_rate))
    system.realize(state)
    s, c = np.sin(angle), np.cos(angle)
    expected = [(G[1] * c - G[0] * s - 2 * radial_rate * rate) / radius, G[0] * c + G[1] * s + radius * rate**2]
    close(state.u_dot[0], expected[0], 1e-11)
    close(state.u_dot[1], expected[1], 1e-11, 10.0)


@pytest.mark.parametrize("radius", [1.0, 1e-3, 1e-9, -1e-30, 1e-70])  # its fourth power has to be a double
@pytest.mark.parametrize("zenith", [0.8, -2.0, 1e-3, 1e-6])
def test_a_particle_in_spherical_coordinates(radius, zenith, rng, close):
    """Near the pole in both ways: at no radius, and on the axis.

    r'' = a_r + r (z'^2 + sin^2(z) a'^2), r z'' = a_z - 2 r' z' + r sin(z) cos(z) a'^2,
    r sin(z) a'' = a_a - 2 a' (r' sin(z) + r cos(z) z').
    """
    system, body, state = particle(mb.mobilizer.SphericalCoords)
    azimuth = rng.uniform(-3.0, 3.0)
    az, ze, r = rng.uniform(-2.0, 2.0, 3)
    body.set_q(state, (azimuth, zenith, radius))
    body.set_u(state, (az, ze, r))
    system.realize(state)
    R = rotation((0, 0, 1), azimuth) @ rotation((0, 1, 0), zenith)
    a_z, a_a, a_r = G @ R
    s, c = np.sin(zenith), np.cos(zenith)
    close(state.u_dot[0], (a_a - 2 * az * (r * s + radius * c * ze)) / (radius * s), 1e-9)  # digits that sin(z) costs
    close(state.u_dot[1], (a_z - 2 * r * ze + radius * s * c * az**2) / radius, 1e-11)
    close(state.u_dot[2], a_r + radius * (ze**2 + (s * az) ** 2), 1e-11, 10.0)


def test_a_particle_on_the_pole_is_named():
    """There the angle moves nothing: no acceleration can be told, and the message says whose."""
    for kind, q in (
        (mb.mobilizer.BendStretch, (0.3, 0.0)),
        (mb.mobilizer.SphericalCoords, (0.3, 0.4, 0.0)),
        (mb.mobilizer.SphericalCoords, (0.3, 0.0, 2.0)),
    ):
        system, body, state = particle(kind)
        body.set_q(state, q)
        system.realize(state, mb.Stage.DYNAMICS)
        with pytest.raises(mb.ModelError, match="'bead'"):
            system.realize(state)
        assert state.stage == mb.Stage.DYNAMICS and np.array_equal(body.get_q(state), q)


# ---------------------------------------------------------------------------------------------- a body


@pytest.mark.parametrize(
    ("kind", "pole"),
    [
        (mb.mobilizer.BendStretch, (0.3, 0.0)),
        (mb.mobilizer.SphericalCoords, (0.3, 0.8, 0.0)),
        (mb.mobilizer.SphericalCoords, (0.3, 0.0, 0.9)),
        (mb.mobilizer.SphericalCoords, (0.3, 0.0, 0.0)),
    ],
)
@pytest.mark.parametrize("direction", mb.Direction, ids=lambda d: d.name.lower())
def test_a_body_passes_the_pole_without_noticing(kind, pole, direction, make, close):
    """Accelerations on the pole are the limit of those beside it, on every side."""
    model = make.tree(0)
    base = mb.mobilizer.Free(model.matter.ground, make.body())
    body = kind(base, make.body(), X_PF=make.frame(), X_BM=make.frame(), direction=direction)
    mb.mobilizer.Pin(body, make.body(), X_PF=make.frame())
    model.gravity.set_default_gravity_vector(G)
    state = model.made().randomize(mb.Stage.MODEL)
    body.set_q(state, pole)
    model.system.realize(state)
    on_the_pole = state.u_dot.copy()
    assert np.all(np.isfinite(on_the_pole))
    for _ in range(4):
        body.set_q(state, pole + 1e-10 * make.vector(len(pole)))
        model.system.realize(state)
        close(state.u_dot, on_the_pole, 1e-6)  # 1e-10 times the condition of the mass matrix, up to 1e3, and a margin


# ---------------------------------------------------------------------------------------------- what SphericalCoords may choose

CHOICES = list(itertools.product([False, True], [False, True], "xz", [False, True]))


@pytest.mark.parametrize(("azimuth_negated", "zenith_negated", "axis", "radial_negated"), CHOICES)
def test_signs_offsets_and_axis_mean_what_they_say(azimuth_negated, zenith_negated, axis, radial_negated, rng, make, close):
    """Given to the constructor, or set before the topology is realized."""
    offsets = dict(zip(("azimuth_offset", "zenith_offset"), rng.uniform(-2.0, 2.0, 2), strict=True))
    model = make.tree(0)
    made = mb.mobilizer.SphericalCoords(
        model.matter.ground,
        make.body(),
        azimuth_negated=azimuth_negated,
        zenith_negated=zenith_negated,
        radial_axis=axis,
        radial_negated=radial_negated,
        **offsets,
    )
    changed = mb.mobilizer.SphericalCoords(model.matter.ground, make.body(), **offsets)
    assert changed.set_negate_azimuth(azimuth_negated).set_negate_zenith(zenith_negated) is changed
    assert changed.set_negate_radial(radial_negated).set_radial_axis(axis) is changed
    state = model.made().state
    q = rng.uniform(-2.0, 2.0, 3)
    R = rotation((0, 0, 1), (-1) ** azimuth_negated * q[0] + offsets["azimuth_offset"])
    R = R @ rotation((0, 1, 0), (-1) ** zenith_negated * q[1] + offsets["zenith_offset"])
    p = (-1) ** radial_negated * q[2] * R[:, "xyz".index(axis)]
    for body in (made, changed, made.clone_for_new_parent(make.tree(0).matter.ground)):
        assert body.is_azimuth_negated() is azimuth_negated and body.is_zenith_negated() is zenith_negated
        assert body.is_radial_negated() is radial_negated and body.get_radial_axis() == axis
    for body in (made, changed):
        body.set_angles(state, q[:2])
        body.set_radius(state, q[2])
        assert np.array_equal(body.get_q(state), q), "the accessors' angles and radius are q itself"
    model.system.realize(state, mb.Stage.POSITION)
    for body in (made, changed):
        X = body.get_mobilizer_transform(state)
        close(np.asarray(X.R), R, EXACT)
        close(np.asarray(X.p), p, EXACT)


def test_a_choice_is_a_topological_change(make):
    model = make.tree(0)
    body = mb.mobilizer.SphericalCoords(model.matter.ground, make.body())
    for change in (
        lambda: body.set_negate_azimuth(True),
        lambda: body.set_negate_zenith(True),
        lambda: body.set_negate_radial(True),
        lambda: body.set_radial_axis("x"),
        lambda: body.set_default_angles((1, 2)),
        lambda: body.set_default_radius(3),
    ):
        state = model.system.realize_topology()
        assert change() is body
        with pytest.raises(mb.TopologyError, match="realize_topology"):
            model.system.realize(state)
    assert np.array_equal(body.get_default_q(), (1, 2, 3)) and body.get_default_translation() == body.get_default_radius() == 3


def test_choices_that_cannot_be_are_refused(make):
    model = make.tree(0)
    ground, part = model.matter.ground, make.body()
    body = mb.mobilizer.SphericalCoords(ground, part, azimuth_negated=True)
    state = model.system.realize_topology()
    for axis in ("y", "X", 0, None, ["x"]):
        with pytest.raises(ValueError, match="radial axis"):
            body.set_radial_axis(axis)
        with pytest.raises(ValueError, match="radial axis"):
            mb.mobilizer.SphericalCoords(ground, part, radial_axis=axis)
    for setter in (body.set_negate_azimuth, body.set_negate_zenith, body.set_negate_radial):
        with pytest.raises(TypeError, match="True or False"):
            setter("no")
    for keyword, bad, error in (
        ("azimuth_negated", 1, TypeError),
        ("radial_negated", None, TypeError),
        ("azimuth_offset", np.nan, mb.ModelError),
        ("zenith_offset", np.inf, mb.ModelError),
        ("zenith_offset", "half", TypeError),
    ):
        with pytest.raises(error, match=keyword.replace("_offset", " offset")):
            mb.mobilizer.SphericalCoords(ground, part, **{keyword: bad})
    with pytest.raises(ValueError, match="angles"):
        body.set_angles(state, (1, 2, 3))
    model.system.realize(state)  # the topology is as it was
    assert model.matter.get_num_bodies() == 2 and body.is_azimuth_negated() and body.get_radial_axis() == "z"


# ---------------------------------------------------------------------------------------------- fits


@pytest.fixture(params=[mb.mobilizer.BendStretch, mb.mobilizer.SphericalCoords], ids=lambda kind: kind.__name__)
def single(request, make):
    model = make.tree(0)
    model.body = make.mobilized_body(request.param, model.matter.ground, direction=mb.Direction.FORWARD)
    return model.made()


def place(model):
    model.system.realize(model.state, mb.Stage.POSITION)
    return model.body.get_mobilizer_transform(model.state)


def test_a_place_is_reached_with_a_positive_radius(single, make, close):
    for _ in range(20):
        single.randomize(mb.Stage.MODEL)
        p = make.vector(size=2.0)
        single.body.set_q_to_fit_translation(single.state, p)
        if isinstance(single.body, mb.mobilizer.BendStretch):
            p[2] = 0.0
        close(np.asarray(place(single).p), p, EXACT)
        assert single.body.get_q(single.state)[-1] > 0.0


def test_a_place_that_is_reached_without_turning_turns_nothing(single, close):
    """Where the radius is negative, and where the azimuth of the place says nothing of that of M."""
    body, state = single.body, single.state
    for q in ([0.3, 0.7, -0.4], [2.0, -0.2, 0.5], [-1.0, 1e-9, -2.0], [0.6, 0.5, 0.0], [3.0, 0.0, 1.0]):
        body.set_q(state, q[-body.get_num_q(state) :])
        X = place(single)
        before = body.get_q(state)
        body.set_one_q(state, len(before) - 1, 5.0)
        body.set_q_to_fit_translation(state, X.p)
        close(body.get_q(state), before, EXACT, 1.0)
        # a place that is off by rounding of a file's seven digits: the radius keeps its sign
        body.set_q_to_fit_translation(state, X.p + 1e-7 * np.array([1.0, -1.0, 1.0]) * np.linalg.norm(X.p))
        across = np.hypot(*X.p[:2])  # of a place near the axis the azimuth is anything
        assert body.get_q(state)[-1] * before[-1] >= 0.0
        close(np.asarray(place(single).R), np.asarray(X.R), 1e-6 / max(across, 1e-6))


def test_on_the_axis_the_azimuth_stays(make, close):
    model = make.tree(0)
    model.body = mb.mobilizer.SphericalCoords(model.matter.ground, make.body(), azimuth_offset=0.5)
    model.made()
    model.body.set_q(model.state, (1.2, 0.7, 1.0))
    model.body.set_q_to_fit_translation(model.state, (0, 0, 3))
    close(model.body.get_q(model.state), (1.2, 0.0, 3.0), EXACT)
    model.body.set_q_to_fit_translation(model.state, (0, 0, 0))
    close(model.body.get_q(model.state), (1.2, 0.0, 0.0), EXACT)


def test_the_nearest_orientation_of_azimuth_and_zenith_is_the_best_of_all(make):
    """Against a search through all angles."""
    angles = np.linspace(-np.pi, np.pi, 121)
    a, b = (x.ravel() for x in np.meshgrid(angles, angles))
    zero = np.zeros_like(a)
    sa, ca, sb, cb = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
    every = np.stack([ca * cb, -sa, ca * sb, sa * cb, ca, sa * sb, -sb, zero, cb], axis=1)
    model = make.tree(0)
    body = make.mobilized_body(mb.mobilizer.SphericalCoords, model.matter.ground, direction=mb.Direction.FORWARD)
    model.made()
    for _ in range(50):
        R = make.rotation()
        body.set_q_to_fit_rotation(model.state, R)
        model.system.realize(model.state, mb.Stage.POSITION)
        likeness = np.sum(np.asarray(R) * np.asarray(body.get_mobilizer_transform(model.state).R))
        assert likeness >= np.max(every @ np.asarray(R).ravel()) - 1e-12
