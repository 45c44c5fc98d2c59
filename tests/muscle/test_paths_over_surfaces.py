"""Paths over surfaces: beside OpenSim, in lanes, with tangents, in constraints, as pictures; muscles of files that act."""

import re
import warnings
from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose

import mobod as mb
from kinds.legs import SEED, WAYS, wrapped
from mobod.force.transmission import _over_cylinder, _over_ellipsoid

T = mb.force.transmission
CONDITIONAL = """<Thelen2003Muscle name="moving"><path><GeometryPath><PathPointSet><objects>
<PathPoint name="m1"><socket_parent_frame>/ground</socket_parent_frame><location>0.1 0.9 0.05</location></PathPoint>
<ConditionalPathPoint name="m2"><socket_parent_frame>/bodyset/thigh</socket_parent_frame><location>0.08 -0.2 0.05</location>
<socket_coordinate>/jointset/knee_joint/knee</socket_coordinate><range>-0.5 0.5</range></ConditionalPathPoint>
<MovingPathPoint name="m3"><socket_parent_frame>/bodyset/shank</socket_parent_frame>
<socket_x_coordinate>/jointset/knee_joint/knee</socket_x_coordinate>
<socket_y_coordinate>/jointset/knee_joint/knee</socket_y_coordinate>
<socket_z_coordinate>/jointset/knee_joint/knee</socket_z_coordinate>
<x_location><LinearFunction><coefficients>0.02 0.05</coefficients></LinearFunction></x_location>
<y_location><SimmSpline><x>-2 -1 0 1 2</x><y>0.01 0.02 -0.01 0.03 0.01</y></SimmSpline></y_location>
<z_location><Constant><value>0.03</value></Constant></z_location></MovingPathPoint>
</objects></PathPointSet></GeometryPath></path>
<optimal_fiber_length>0.25</optimal_fiber_length><tendon_slack_length>0.5</tendon_slack_length></Thelen2003Muscle>"""
SIDES = "x", "-x", "y", "-y", "z", "-z"
#: The range of the knee, and a narrower one.
WIDE, NARROW = (f"<default_value>-0.3</default_value><range>{ends}</range>" for ends in ("-2 2", "-0.3 0.4"))
#: Of OpenSim's iterations on ellipsoids and tori, and on what follows from them.
ROUGH = ("WrapEllipsoid", "WrapTorus")


@pytest.fixture(scope="module")
def leg(tmp_path_factory):
    path = tmp_path_factory.mktemp("leg") / "leg.osim"
    text = wrapped(np.random.default_rng(SEED))
    path.write_text(text.replace("<ForceSet><objects>", f"<ForceSet><objects>{CONDITIONAL}", 1))
    return path


def poses(model, rng, count):
    state = model.default_state()
    for _ in range(count):
        state.q, state.u = rng.uniform(-1.5, 1.5, 2), rng.normal(size=2)
        model.system.realize(state, mb.Stage.VELOCITY)
        yield state


def is_rough(name):
    return any(kind in ROUGH for kind, _, _ in WAYS.get(name, ()))


def test_lengths_speeds_and_arms_are_opensims(leg):
    """Where OpenSim takes a moving point's force by its x-coordinate alone, the coordinate is the same for all three here.

    Poses stay: in one of 300 OpenSim's search for the place on a torus ends elsewhere.
    """
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    model, theirs = mb.load_osim(leg, strict=True), osim.Model(str(leg))
    s, bent = theirs.initSystem(), set()
    coordinates = theirs.getCoordinateSet()
    for state in poses(model, np.random.default_rng(7), 12):
        for k in range(2):
            coordinates.get(k).setValue(s, float(state.q[k]), False)
            coordinates.get(k).setSpeedValue(s, float(state.u[k]))
        theirs.realizeVelocity(s)
        for name, muscle in model.muscles.items():
            path = theirs.getMuscles().get(name).getGeometryPath()
            if path.getCurrentPath(s).getSize() > 2:
                bent.add(name)
            of_length, of_speed = (3e-5, 5e-3) if is_rough(name) else (1e-12, 1e-11)
            assert_allclose(muscle.get_length(state), path.getLength(s), rtol=0.0, atol=of_length, err_msg=name)
            assert_allclose(
                muscle.get_lengthening_speed(state), path.getLengtheningSpeed(s), rtol=0, atol=of_speed, err_msg=name
            )
            arms = [path.computeMomentArm(s, coordinates.get(k)) for k in range(2)]
            assert_allclose(muscle.calc_moment_arms(state), arms, rtol=0.0, atol=of_speed, err_msg=name)
            assert_allclose(model.calc_moment_arm(state, name, "knee"), arms[1], rtol=0.0, atol=of_speed, err_msg=name)
    assert bent == {*WAYS, "moving"}


@pytest.mark.parametrize(
    ("ways", "tolerance"),
    [
        ({f"{a}{b}": [("WrapCylinder", a, "hybrid"), ("WrapCylinder", b, "hybrid")] for a in SIDES for b in SIDES}, 1e-9),
        ({f"{a}{m}": [("WrapEllipsoid", a, m)] for a in SIDES for m in ("hybrid", "midpoint", "axial")}, 3e-5),
    ],
    ids=["two cylinders", "ellipsoid"],
)
def test_lengths_over_halves_of_surfaces_are_opensims(tmp_path, ways, tolerance):
    """Also the long way round, and where OpenSim's search begins on the far side and ends at the other point of touch.

    Sometimes that search ends nowhere: OpenSim's length is NaN then.
    """
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    path, rng = tmp_path / "leg.osim", np.random.default_rng(SEED)
    path.write_text(wrapped(rng, ways))
    model, theirs = mb.load_osim(path), osim.Model(str(path))
    s = theirs.initSystem()
    for state in poses(model, rng, 40):
        for k in range(2):
            theirs.getCoordinateSet().get(k).setValue(s, float(state.q[k]), False)
        theirs.realizePosition(s)
        for name, muscle in model.muscles.items():
            length, own = muscle.get_length(state), theirs.getMuscles().get(name).getGeometryPath().getLength(s)
            assert np.isfinite(length)
            if np.isfinite(own):
                assert_allclose(length, own, rtol=0.0, atol=tolerance, err_msg=name)


def test_points_of_touch_next_to_an_end_are_where_opensims_search_ends(tmp_path):
    """Next to an end on the surface are both points of touch: the search may take that behind it, and ends early there."""
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    path, rng = tmp_path / "leg.osim", np.random.default_rng(3)
    text = wrapped(rng, {f"near{k}": [("WrapEllipsoid", "all", "hybrid")] for k in range(12)})
    turn = np.asarray(mb.Rotation.from_body_fixed_xyz((0.2, 0.3, -0.4)))
    for k in range(12):
        middle = np.array(re.search(f'"near{k}0"><translation>(.*?)<', text)[1].split(), float)
        way = rng.normal(size=3)
        place = middle + turn @ (way * (0.05, 0.08, 0.06) * (1.0 + rng.uniform(5e-5, 1e-3)) / np.linalg.norm(way))
        text = re.sub(f'(near{k}_thigh">.*?<location>).*?<', rf"\g<1>{' '.join(map(repr, place.tolist()))}<", text, count=1)
    path.write_text(text)
    model, theirs = mb.load_osim(path), osim.Model(str(path))
    s = theirs.initSystem()
    for state in poses(model, rng, 60):
        for k in range(2):
            theirs.getCoordinateSet().get(k).setValue(s, float(state.q[k]), False)
        theirs.realizePosition(s)
        lengths = [theirs.getMuscles().get(name).getGeometryPath().getLength(s) for name in model.muscles]
        assert_allclose([muscle.get_length(state) for muscle in model.muscles.values()], lengths, rtol=0.0, atol=1e-3)


def test_nearest_points_of_ellipsoids_are_on_the_normals_there(rng):
    """Also of points next to a plane of symmetry, inside, where the equation for them is flat at its root."""
    for _ in range(300):
        radii = rng.uniform(0.5, 1.5, 3)
        point = radii * rng.uniform(-0.5, 0.5, 3)
        point[np.argmin(radii)] *= 10.0 ** rng.uniform(-6, 0)
        found = np.array(_over_ellipsoid.nearest(tuple(point), tuple(radii), -1))
        normal = found / radii**2
        assert abs(found @ normal - 1.0) < 1e-7
        away = found - point
        assert np.linalg.norm(np.cross(away, normal)) < 1e-7 * np.linalg.norm(away) * np.linalg.norm(normal)


def test_steps_along_a_spiral_are_those_made_one_by_one(monkeypatch):
    """Uncompiled: segments over a half cylinder whose ends slide, with and without steps that do not wait for each other."""
    segments, rng = [], np.random.default_rng(SEED)
    while len(segments) < 600:
        a, b, radius = rng.normal(scale=0.12, size=3), rng.normal(scale=0.12, size=3), rng.uniform(0.02, 0.07)
        if min(np.hypot(*a[:2]), np.hypot(*b[:2])) > radius:
            axis, sign = int(rng.integers(3)), int(rng.choice([-1, 1]))
            segments.append((True, tuple(a.tolist()), tuple(b.tolist()), float(radius), 0.3, axis, sign, False))
    found = [_over_cylinder.over_cylinder(*segment) for segment in segments]
    monkeypatch.setattr(_over_cylinder, "_on", lambda alike, low, high, done, *_: (low, high, done))
    for segment, one in zip(segments, found, strict=True):
        other = _over_cylinder.over_cylinder(*segment)
        assert one[0] == other[0]
        assert_allclose(np.hstack(one[1:]), np.hstack(other[1:]), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("as_opensim", [False, True])
def test_moving_points_stand_still_beyond_the_range_of_their_coordinate(leg, rng, as_opensim):
    """OpenSim's do, but in its speeds and forces the slope of the function goes on, which `as_opensim` repeats.

    Its `getLocation` takes the coordinate within its range, `getVelocity` and `getdPointdQ` as it is. Ours are the gradient of
    the length. Behind the moving point is one of its own body: the piece between has no share in OpenSim's generalized force.
    """
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    path = leg.with_name("narrow.osim")
    assert WIDE in leg.read_text()
    behind = """</MovingPathPoint><PathPoint name="m4"><socket_parent_frame>/bodyset/shank</socket_parent_frame>
    <location>0.03 -0.2 0.04</location></PathPoint>"""
    path.write_text(leg.read_text().replace(WIDE, NARROW).replace("</MovingPathPoint>", behind, 1))
    model, theirs = mb.load_osim(path, as_opensim=as_opensim), osim.Model(str(path))
    s, muscle, beyond, h = theirs.initSystem(), model.muscles["moving"], 0, 1e-6
    coordinates, own = theirs.getCoordinateSet(), theirs.getMuscles().get("moving").getGeometryPath()
    for state in poses(model, rng, 40):
        for k in range(2):
            coordinates.get(k).setValue(s, float(state.q[k]), False)
            coordinates.get(k).setSpeedValue(s, float(state.u[k]))
        theirs.realizeVelocity(s)
        assert_allclose(muscle.get_length(state), own.getLength(s), rtol=0.0, atol=1e-12)
        station = model.data["muscles"]["moving"].points[2].calc_station(state)
        assert_allclose(station[0], 0.05 + 0.02 * min(max(state.q[1], -0.3), 0.4), rtol=0.0, atol=1e-15)
        beyond += not -0.3 < state.q[1] < 0.4
        if as_opensim:
            assert_allclose(muscle.get_lengthening_speed(state), own.getLengtheningSpeed(s), rtol=0.0, atol=1e-11)
            arms = [own.computeMomentArm(s, coordinates.get(k)) for k in range(2)]
            assert_allclose(muscle.calc_moment_arms(state), arms, rtol=0.0, atol=1e-11)
        elif min(abs(state.q[1] - end) for end in (-0.5, -0.3, 0.4, 0.5)) > 1e-4:
            near, lengths = state.copy(), []
            for sign in (1.0, -1.0):
                near.q = state.q + sign * h * state.u
                model.system.realize(near, mb.Stage.POSITION)
                lengths.append(muscle.get_length(near))
            assert_allclose((lengths[0] - lengths[1]) / (2 * h), muscle.get_lengthening_speed(state), rtol=0.0, atol=1e-8)
            assert_allclose(-muscle.calc_moment_arms(state) @ state.u, muscle.get_lengthening_speed(state), atol=1e-12)
    assert 0 < beyond < 40  # of three in four on the average


def test_forces_and_rates_are_opensims(leg, rng):
    """At equal coordinates, speeds, activations, fiber lengths and excitations."""
    osim = pytest.importorskip("opensim")
    osim.Logger.setLevelString("Off")
    model, theirs = mb.load_osim(leg), osim.Model(str(leg))
    s = theirs.initSystem()
    for state in poses(model, rng, 4):
        for k in range(2):
            theirs.getCoordinateSet().get(k).setValue(s, float(state.q[k]), False)
            theirs.getCoordinateSet().get(k).setSpeedValue(s, float(state.u[k]))
        theirs.realizeVelocity(s)
        controls = theirs.updControls(s)
        for name, muscle in model.muscles.items():
            own = theirs.getMuscles().get(name)
            muscle.set_excitation(state, rng.uniform(0.0, 1.0))
            for variable in muscle.state_variables:
                value = rng.uniform(0.1, 1.0) if variable == "activation" else muscle.get_optimal_fiber_length(state)
                muscle.set_state_variable(state, variable, value)
                theirs.setStateVariableValue(s, f"{own.getAbsolutePathString()}/{variable}", value)
            own.setControls(osim.Vector(1, muscle.get_excitation(state)), controls)
        theirs.setControls(s, controls)
        theirs.markControlsAsValid(s)
        theirs.realizeAcceleration(s)
        model.system.realize(state)
        for name, muscle in model.muscles.items():
            if is_rough(name):
                continue
            own = theirs.getMuscles().get(name)
            scale = muscle.get_default_max_isometric_force()
            assert_allclose(muscle.get_tendon_force(state), own.getActuation(s), rtol=1e-9, atol=1e-9 * scale)
            for variable in muscle.state_variables:
                rate = theirs.getStateVariableDerivativeValue(s, f"{own.getAbsolutePathString()}/{variable}")
                assert_allclose(muscle.get_state_variable_derivative(state, variable), rate, rtol=1e-8, atol=1e-9)


def test_power_is_force_times_speed_and_arms_are_the_gradient(leg, rng):
    """The gradient where points of touch are exact: over a sphere, and over nothing."""
    model = mb.load_osim(leg)
    h = 1e-6
    for state in poses(model, rng, 6):
        for name, muscle in model.muscles.items():
            arms, speed = muscle.calc_moment_arms(state), muscle.get_lengthening_speed(state)
            if len(WAYS.get(name, ())) > 1:
                continue  # OpenSim's speed is of pieces between points of one body, too, which pull at nothing
            assert_allclose(-arms @ state.u, speed, rtol=0.0, atol=1e-12, err_msg=name)
            moved = state.copy()
            lengths = []
            for sign in (1.0, -1.0):
                moved.q = state.q + sign * h * state.u
                model.system.realize(moved, mb.Stage.POSITION)
                lengths.append(muscle.get_length(moved))
            if name in ("sphere", "moving") and abs(lengths[0] - lengths[1]) < 1e-3:
                assert_allclose((lengths[0] - lengths[1]) / (2.0 * h), speed, rtol=1e-6, atol=2e-6, err_msg=name)


def test_lanes_and_tangents_are_those_of_a_state(leg, rng):
    """By muscles whose derivatives along paths other tests compile, too."""
    path = leg.with_name("millard.osim")
    path.write_text(leg.read_text().replace("Thelen2003Muscle", "Millard2012EquilibriumMuscle"))
    model = mb.load_osim(path)
    state = model.default_state()
    many = rng.uniform(-1.2, 1.2, (9, 2)), rng.normal(size=(9, 2))
    ensemble = mb.Ensemble(model.system, 9, state=state)
    ensemble.q, ensemble.u = many
    ensemble.realize()
    for k in range(9):
        state.q, state.u = many[0][k], many[1][k]
        model.system.realize(state)
        assert_allclose(ensemble.u_dot[k], state.u_dot, rtol=1e-11, atol=1e-9)
        assert_allclose(ensemble.z_dot[k], state.z_dot, rtol=1e-11, atol=1e-9)
    smooth = [name for name in model.muscles if len(WAYS.get(name, ())) < 2 and not is_rough(name)]
    for name, muscle in model.muscles.items():
        if name not in smooth:
            muscle.disable(state)
    state.q, state.u = (0.4, -0.35), (0.5, -0.7)
    model.system.realize(state)
    found, h = model.system.calc_forward_dynamics_derivatives(state), 1e-6
    for which, own in (("q", found.q), ("u", found.u)):
        for k in range(2):
            sides = []
            for sign in (1.0, -1.0):
                moved = state.copy()
                value = np.array(getattr(moved, which))
                value[k] += sign * h
                setattr(moved, which, value)
                model.system.realize(moved)
                sides.append(moved.u_dot.copy())
            assert_allclose(own[:, k], (sides[0] - sides[1]) / (2.0 * h), rtol=2e-5, atol=1e-4)


def test_taut_paths_are_smooth_and_opensims_where_those_are_shortest(leg):
    """OpenSim's are on spheres and cylinders (1e-4: its tolerance of 0.1 degrees), and nearly on ellipsoids."""
    model, theirs = mb.load_osim(leg, wrapping="geodesic"), mb.load_osim(leg)
    other = theirs.default_state()
    for state in poses(model, np.random.default_rng(1), 10):
        other.q = state.q
        theirs.system.realize(other, mb.Stage.POSITION)
        near, h = state.copy(), 1e-6
        for name, muscle in model.muscles.items():
            if "torus" in name:  # hollow along the path: there may be none
                try:
                    assert np.isfinite(muscle.get_length(state))
                except mb.ModelError as error:
                    assert f"'{name}' has no solution over obstacle 0, the WrapTorus" in str(error)
                continue
            length, rate = muscle.get_length(state), muscle.get_lengthening_speed(state)
            if name in ("cylinder", "sphere", "ellipsoid", "axial", "midpoint", "moving"):
                difference = length - theirs.muscles[name].get_length(other)
                assert -3e-4 < difference < (1e-9 if name in ("cylinder", "sphere", "moving") else 1e-6), name
            sides = []
            for sign in (1.0, -1.0):
                near.q = state.q + sign * h * state.u
                model.system.realize(near, mb.Stage.POSITION)
                sides.append(muscle.get_length(near))
            assert_allclose((sides[0] - sides[1]) / (2.0 * h), rate, rtol=1e-6, atol=1e-7, err_msg=name)
    with pytest.raises(ValueError, match="'opensim' or 'geodesic', not 'taut'"):
        mb.load_osim(leg, wrapping="taut")


def test_points_of_pictures_lie_on_the_path(leg, rng):
    """A bend's polygon is a little shorter than the bend, and begins and ends at the muscle's ends.

    In the two poses that are given the ends of a bend over half a torus, and half an ellipsoid, are not on the surface.
    """
    model = mb.load_osim(leg)
    known = model.default_state()

    def at(q):
        known.q = q
        model.system.realize(known, mb.Stage.VELOCITY)
        return known

    given = (0.11449305, -0.47018739), (0.70669181, 0.51056046)
    for state in chain(poses(model, rng, 6), map(at, given)):
        for name, muscle in model.muscles.items():
            points = muscle.calc_path_points(state)
            length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
            if len(WAYS.get(name, ())) < 2 and muscle.get_length(state) > 0.0 and "sphere" not in name:
                assert 0.99 * muscle.get_length(state) < length < muscle.get_length(state) + 2e-5, name
            assert len(points) in (2, 3) or len(points) > 12


def test_muscles_act_or_are_data(leg):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, data = mb.load_osim(leg), mb.load_osim(leg, muscles="data")
    assert list(model.muscles) == ["moving", *WAYS] and not data.muscles
    assert data.data["muscles"]["two"].kind == "Thelen2003Muscle" and len(model.muscles["two"].wraps) == 2
    assert model.data["control ranges"]["two"] == (0.01, 1.0)
    state, other = model.default_state(), data.default_state()
    model.system.realize(state)
    data.system.realize(other)
    assert np.abs(state.u_dot - other.u_dot).max() > 1.0
    with pytest.raises(ValueError, match="'act' or 'data', not 'maybe'"):
        mb.load_osim(leg, muscles="maybe")
    with pytest.raises(KeyError, match="did you mean two"):
        model.calc_moment_arm(state, "tow", "knee")


def test_time_constants_of_a_process_are_repeated_where_asked(leg):
    """OpenSim keeps those of the first DeGrooteFregly2016Muscle for all; here each has its own unless `as_opensim`."""
    made, kind = "", "DeGrooteFregly2016Muscle"
    for k in range(2):
        own = f"<activation_time_constant>0.0{k + 1}</activation_time_constant>" + (
            "<activation_dynamics_smoothing>10</activation_dynamics_smoothing>" if k else ""
        )
        made += CONDITIONAL.replace("Thelen2003Muscle", kind).replace('"moving">', f'"kept{k}">{own}')
    path = leg.with_name("kept.osim")
    path.write_text(leg.read_text().replace("<ForceSet><objects>", f"<ForceSet><objects>{made}", 1))
    for as_opensim, wanted in ((False, [(0.01, 0.1), (0.02, 10.0)]), (True, [(0.01, 0.1)] * 2)):
        muscles = mb.load_osim(path, as_opensim=as_opensim).muscles
        found = [
            (one.get_default_activation_time_constant(), one.get_default_activation_dynamics_smoothing())
            for one in (muscles["kept0"], muscles["kept1"])
        ]
        assert found == wanted
    with pytest.raises(TypeError, match="as_opensim"):
        mb.load_osim(path, as_opensim="yes")


def test_equilibrium_of_all_muscles_or_none(leg):
    model = mb.load_osim(leg)
    state = model.default_state()
    before = state.z.copy()
    with pytest.raises(mb.ConvergenceError, match="has no equilibrium"):
        for muscle in model.muscles.values():
            muscle.set_state_variable(state, "activation", 1.0)
            before = state.z.copy()
            muscle.set_tendon_slack_length(state, 3.0)
        model.equilibrate_muscles(state)
    assert_allclose(state.z, np.where(state.z == 1.0, 1.0, before))


def half_cylinder(heights, *more):
    """The length of a path to and fro between x of -0.3 and 0.3, over the lower half of a cylinder, and *more* surfaces."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    pin = mb.mobilizer.Pin(matter.ground, mb.body.Rigid(mb.MassProperties(1.0, (0, 0, 0), mb.UnitInertia(1, 1, 1))))
    cylinder = T.WrapCylinder(body=matter.ground, radius=0.1, length=1.0, quadrant="-y")
    ends = [((matter.ground, pin)[k % 2], ((-0.3, 0.3)[k % 2], y, 0)) for k, y in enumerate(heights)]
    path = T.Path(forces, ends, [T.PathWrap(cylinder), *(T.PathWrap(make(matter.ground)) for make in more)])
    mb.force.CableSpring(forces, path, 1.0, 0.1)
    state = system.realize_topology()
    system.realize(state, mb.Stage.VELOCITY)
    return path.calc_length(state)


def over_half(*heights):
    """Of one piece the angle over the cylinder, and its length."""
    reach, turn = np.hypot(0.3, heights), np.pi + np.arctan2(heights, 0.3).sum()
    turn -= np.arccos(0.1 / reach).sum()
    return turn, np.sqrt(reach**2 - 0.01).sum() + 0.1 * turn


def test_no_surface_takes_what_lies_over_another():
    """A sphere in a cylinder, on the chord between the points of touch: OpenSim tries no segment whose ends are of one."""
    turn, expected = over_half(0.05, 0.05)
    frame = mb.Transform((0, -0.1 * np.cos(0.5 * turn), 0))
    found = half_cylinder([0.05, 0.05], lambda ground: T.WrapSphere(body=ground, radius=0.02, frame=frame))
    assert_allclose(found, expected, rtol=1e-12)


def test_of_pieces_with_both_ends_beyond_a_half_cylinder_the_least_lengthened_goes_over_it():
    """Through it though both go: by OpenSim's rules the first has to where one of its ends is on the half that counts."""
    assert_allclose(half_cylinder([0.05, 0.05, 0.01]), 0.6 + over_half(0.05, 0.01)[1], rtol=1e-12)
    assert_allclose(half_cylinder([0.05, -0.05, 0.01]), over_half(0.05, -0.05)[1] + np.hypot(0.6, 0.06), rtol=1e-12)


def test_what_is_left_out_of_simple_paths_makes_no_difference(rng):
    """Points of one body that follow each other, and one surface: beside the same with surfaces that do not act."""
    system = mb.MultibodySystem()
    matter, forces = mb.SimbodyMatterSubsystem(system), mb.GeneralForceSubsystem(system)
    bodies = [matter.ground]
    for _ in range(2):
        body = mb.body.Rigid(mb.MassProperties(1.0, (0, -0.2, 0), mb.UnitInertia(0.1, 0.1, 0.1)))
        bodies.append(mb.mobilizer.Pin(bodies[-1], body, X_PF=mb.Transform(p=(0, -0.1, 0))))
    springs, wound = [], 0
    for _ in range(24):
        points = [(bodies[k], rng.uniform(-0.2, 0.2, 3)) for k in np.sort(rng.integers(0, 3, 6))]
        points.append((bodies[2], rng.uniform(-0.2, 0.2, 3)))
        begin, end = np.sort(rng.choice(7, 2, replace=False)).tolist()
        for around in (False, True):
            side, made = str(rng.choice(["all", "-x", "+y"])), []
            own = [T.WrapSphere(body=bodies[1], radius=0.08, quadrant=side)] * around
            for idle in (0, 1):
                still = [T.WrapSphere(body=bodies[1], radius=0.1, active=False)] * idle
                wraps = [T.PathWrap(surface, first=begin, last=end) for surface in (*own, *still)]
                path = T.Path(forces, points, wraps)
                made.append((path, mb.force.CableSpring(forces, path, 10.0, 0.1)))
            springs.append(made)
    state = system.realize_topology()
    for _ in range(4):
        state.q, state.u = rng.uniform(-1.0, 1.0, 2), rng.normal(size=2)
        system.realize(state)
        for (path, spring), (other, same) in springs:
            wound += len(path.find_bends(state))
            assert_allclose(path.calc_length(state), other.calc_length(state), rtol=1e-14)
            assert_allclose(path.calc_speed(state), other.calc_speed(state), rtol=0.0, atol=1e-14)
            own, others = spring.calc_force_contribution(state), same.calc_force_contribution(state)
            assert_allclose(own[0], others[0], rtol=0.0, atol=1e-12)
            assert_allclose(path.calc_path_points(state), other.calc_path_points(state), rtol=0.0, atol=1e-14)
    assert wound > 0


def test_wrong_paths_are_refused():
    system, _ = mb.examples.double_pendulum.build()
    forces, (ground, upper, lower) = system.forces, system.matter.bodies
    ball, still = T.WrapSphere(body=upper, radius=0.1), [mb.function.Constant(0.0)] * 3
    points = [(ground, (0, 0, 0)), (lower, (0, 0, 0))]
    for wrong, message in (
        (([(ground, (0, 0, 0))],), "two points or more"),
        ((points, [T.PathWrap(ball, "best")]), "'hybrid', 'midpoint' or 'axial'"),
        ((points, [T.PathWrap(ball, last=2)]), "numbers 0 to 1"),
        ((points, [T.PathWrap(T.WrapSphere(body=upper, radius=0.0))]), "radius of a WrapSphere"),
        ((points, [T.PathWrap(T.WrapTorus(body=upper, inner_radius=0.2, outer_radius=0.1))]), "outer_radius"),
        ((points, [T.PathWrap(T.WrapSphere(body=upper, radius=0.1, quadrant="+w"))]), "quadrant"),
        (([*points, T.MovingPoint(upper, [mb.function.Constant(0.0)], [(upper, 0)])],), "three functions"),
        (([*points, T.MovingPoint(upper, still, [(upper, 0)] * 3, ranges=[(1.0, 0.0)] * 3)],), "pairs of numbers in order"),
    ):
        with pytest.raises(mb.ModelError, match=message):
            T.Path(forces, *wrong)
    with pytest.raises(TypeError, match="a WrapSphere"):
        T.Path(forces, points, [T.PathWrap("ball")])
    with pytest.raises(TypeError, match="a PathWrap"):
        T.Path(forces, points, [ball])
    lonely = T.Path(forces, points)
    state = system.realize_topology()
    system.realize(state)
    with pytest.raises(mb.ModelError, match="with the force that acts along it"):
        lonely.calc_length(state)
